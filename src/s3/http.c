#include "http.h"

#include <sherd/sys/backend.h>

#include <curl/curl.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST_WORKERS = 4,
	MOST_AT_ONCE = 64,
	BEGIN_ANOTHER = 8,
	MOST_HEAD = 64 << 10,
	MOST_ANSWER = 64 << 20,
	LEAST_BYTES_A_MS = 64
};

/* libcurl brings some thirty libraries with it, which no command needs that names no bucket: it is loaded when the
 * first store is opened. */
#define CURL_FUNCTIONS(F)      \
	F(easy_cleanup)        \
	F(easy_getinfo)        \
	F(easy_init)           \
	F(easy_reset)          \
	F(easy_setopt)         \
	F(easy_strerror)       \
	F(free)                \
	F(getdate)             \
	F(global_init)         \
	F(multi_add_handle)    \
	F(multi_cleanup)       \
	F(multi_info_read)     \
	F(multi_init)          \
	F(multi_perform)       \
	F(multi_poll)          \
	F(multi_remove_handle) \
	F(multi_setopt)        \
	F(multi_wakeup)        \
	F(slist_append)        \
	F(slist_free_all)      \
	F(url)                 \
	F(url_cleanup)         \
	F(url_get)             \
	F(url_set)

#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
static struct {
	CURL_FUNCTIONS(CURL_MEMBER)
} loaded_curl, *curl; /* NULL: it could not be loaded */

static void load_curl(void)
{
	void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	bool whole = library;
#define CURL_LOAD(name)                                                      \
	if (whole) {                                                         \
		void *found = dlsym(library, "curl_" #name);                 \
		memcpy(&loaded_curl.name, &found, sizeof(loaded_curl.name)); \
		whole = found;                                               \
	}
	CURL_FUNCTIONS(CURL_LOAD)
	if (whole && loaded_curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		curl = &loaded_curl;
}

static bool has_curl(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, load_curl);
	return curl;
}

typedef struct shd_http_worker {
	struct shd_http *http;
	pthread_t thread;
	CURLM *multi;
	shd_http_request *first, **last; /* not begun yet */
	size_t waiting, under_way;
	shd_http_request *busy[MOST_AT_ONCE];
	CURL *spare[MOST_AT_ONCE];
	size_t spares;
	bool stop;
} shd_http_worker;

struct shd_http {
	pthread_mutex_t mutex; /* of all below, and of requests under way */
	pthread_cond_t done;
	char *ca_bundle;
	long request_ms;
	pid_t owner; /* threads do not live on in a child that was forked */
	shd_http_worker workers[MOST_WORKERS];
	size_t count;
};

const char shd_http_library[] = "libcurl " LIBCURL_VERSION;

int64_t shd_http_clock_ms(void)
{
	struct timespec t = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

long shd_http_bytes_ms(const shd_http_request *r)
{
	return (long)(r->body_len / LEAST_BYTES_A_MS + r->sink_len / LEAST_BYTES_A_MS);
}

static size_t take_head(char *bytes, size_t size, size_t count, void *arg)
{
	shd_http_request *r = arg;
	if (strncmp(bytes, "HTTP/", count < 5 ? count : 5) == 0) {
		shd_s3_text_clear(&r->head); /* the head of an earlier answer, such as 100 */
		r->came_ms = shd_http_clock_ms();
	}
	if (r->head.len + count > MOST_HEAD)
		return 0;
	shd_s3_text_add(&r->head, bytes, count);
	return r->head.failed ? 0 : size * count;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
	shd_http_request *r = arg;
	long status = 0;
	(void)curl->easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	if (r->sink && status >= 200 && status < 300) {
		if (count > r->sink_len - r->got)
			return 0;
		memcpy((char *)r->sink + r->got, bytes, count);
		r->got += count;
		return size * count;
	}
	curl_off_t length = 0;
	if (!r->answer.len)
		(void)curl->easy_getinfo(r->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	if (length > MOST_ANSWER || r->answer.len + count > MOST_ANSWER) {
		r->too_long = true;
		return 0;
	}
	shd_s3_text_add(&r->answer, bytes, count);
	return r->answer.failed ? 0 : size * count;
}

static int is_cancelled(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a, (void)b, (void)c, (void)d;
	return __atomic_load_n(&((shd_http_request *)arg)->cancelled, __ATOMIC_RELAXED);
}

/* libcurl sends a request again by itself when a connection that it used before turns out to be dead. */
/* NOLINTNEXTLINE(readability-non-const-parameter): as libcurl has it */
static int about_to_send(void *arg, char *a, char *b, int c, int d)
{
	(void)a, (void)b, (void)c, (void)d;
	((shd_http_request *)arg)->sends++;
	return CURL_PREREQFUNC_OK;
}

/* Headers may hold a token. */
static void free_lines(struct curl_slist *list)
{
	for (struct curl_slist *l = list; l; l = l->next)
		explicit_bzero(l->data, strlen(l->data));
	curl->slist_free_all(list);
}

static struct curl_slist *lines_of(const shd_s3_text *headers)
{
	struct curl_slist *list = NULL;
	char *text = strdup(shd_s3_text_of(headers)), *save = NULL;
	size_t len = text ? strlen(text) : 0;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		struct curl_slist *more = curl->slist_append(list, line);
		if (!more) {
			free_lines(list);
			list = NULL;
			break;
		}
		list = more;
	}
	if (text)
		explicit_bzero(text, len);
	free(text);
	return list;
}

static void describe(CURL *easy, shd_http_request *r, const shd_http *http)
{
	(void)curl->easy_setopt(easy, CURLOPT_URL, r->url.data);
	(void)curl->easy_setopt(easy, CURLOPT_HTTPHEADER, (struct curl_slist *)r->list);
	(void)curl->easy_setopt(easy, CURLOPT_PRIVATE, r);
	(void)curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head);
	(void)curl->easy_setopt(easy, CURLOPT_HEADERDATA, r);
	(void)curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	(void)curl->easy_setopt(easy, CURLOPT_WRITEDATA, r);
	(void)curl->easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, is_cancelled);
	(void)curl->easy_setopt(easy, CURLOPT_XFERINFODATA, r);
	(void)curl->easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	(void)curl->easy_setopt(easy, CURLOPT_PREREQFUNCTION, about_to_send);
	(void)curl->easy_setopt(easy, CURLOPT_PREREQDATA, r);
	(void)curl->easy_setopt(easy, CURLOPT_MAXAGE_CONN, 20L);
	(void)curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	(void)curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	long most = r->most_ms ? r->most_ms : http->request_ms;
	(void)curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, most < 10000 ? most : 10000L);
	(void)curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, most + shd_http_bytes_ms(r));
	(void)curl->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	(void)curl->easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (most + 999) / 1000);
	(void)curl->easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L << 10);
	(void)curl->easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
	(void)curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r->method);
	if (r->direct)
		(void)curl->easy_setopt(easy, CURLOPT_NOPROXY, "*");
	if (http->ca_bundle)
		(void)curl->easy_setopt(easy, CURLOPT_CAINFO, http->ca_bundle);
	if (strcmp(r->method, "HEAD") == 0) {
		(void)curl->easy_setopt(easy, CURLOPT_NOBODY, 1L);
	} else if (r->body || strcmp(r->method, "PUT") == 0 || strcmp(r->method, "POST") == 0) {
		(void)curl->easy_setopt(easy, CURLOPT_POSTFIELDS, r->body ? r->body : "");
		(void)curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
	}
}

/* Under the mutex. */
static void finish(shd_http_worker *w, shd_http_request *r)
{
	free_lines(r->list);
	r->list = NULL;
	r->easy = NULL;
	r->under_way = false;
	(void)pthread_cond_broadcast(&w->http->done);
}

static void begin(shd_http_worker *w, shd_http_request *r)
{
	CURL *easy = w->spares ? w->spare[--w->spares] : curl->easy_init();
	r->list = lines_of(&r->headers);
	r->easy = easy;
	if (easy && r->list && !r->url.failed && !r->headers.failed) {
		describe(easy, r, w->http);
		if (curl->multi_add_handle(w->multi, easy) == CURLM_OK) {
			w->busy[w->under_way++] = r;
			return;
		}
	}
	if (easy)
		curl->easy_cleanup(easy);
	(void)snprintf(r->trouble, sizeof(r->trouble), "out of memory");
	finish(w, r);
}

/* Takes requests from the queue as long as there is room. */
static void begin_waiting(shd_http_worker *w)
{
	while (w->first && w->under_way < MOST_AT_ONCE) {
		shd_http_request *r = w->first;
		w->first = r->next;
		if (!w->first)
			w->last = &w->first;
		w->waiting--;
		begin(w, r);
	}
}

static void take_off(shd_http_worker *w, shd_http_request *r)
{
	size_t i = 0;
	while (w->busy[i] != r)
		i++;
	w->busy[i] = w->busy[--w->under_way];
	(void)curl->multi_remove_handle(w->multi, r->easy);
	curl->easy_reset(r->easy);
	w->spare[w->spares++] = r->easy; /* as many as could be under way */
	finish(w, r);
}

static void judge(shd_http_request *r, CURLcode code)
{
	long status = 0, sent = 0;
	(void)curl->easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	(void)curl->easy_getinfo(r->easy, CURLINFO_REQUEST_SIZE, &sent);
	r->sent = sent > 0;
	r->lost = r->sends > 1 || (r->sent && (code != CURLE_OK || !status));
	r->timed_out = code == CURLE_OPERATION_TIMEDOUT;
	r->hopeless = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
	              code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL || r->too_long;
	bool short_of = r->sink && status >= 200 && status < 300 && r->got != r->sink_len;
	if (code == CURLE_OK && !short_of)
		r->status = status;
	else if (short_of && (code == CURLE_OK || code == CURLE_WRITE_ERROR || code == CURLE_PARTIAL_FILE))
		(void)snprintf(r->trouble, sizeof(r->trouble), "%zu bytes came and not %zu", r->got, r->sink_len);
	else
		(void)snprintf(r->trouble, sizeof(r->trouble), "%s",
		               code == CURLE_WRITE_ERROR ? "the answer is too long" : curl->easy_strerror(code));
}

static void finish_done(shd_http_worker *w)
{
	int left = 0;
	for (CURLMsg *m; (m = curl->multi_info_read(w->multi, &left));) {
		shd_http_request *r = NULL;
		if (m->msg != CURLMSG_DONE)
			continue;
		(void)curl->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&r);
		judge(r, m->data.result);
		take_off(w, r);
	}
	for (size_t i = w->under_way; i-- > 0;)
		if (w->busy[i]->cancelled)
			take_off(w, w->busy[i]);
}

static void *http_work(void *arg)
{
	shd_http_worker *w = arg;
	struct shd_http *http = w->http;
	(void)pthread_mutex_lock(&http->mutex);
	while (!w->stop) {
		begin_waiting(w);
		(void)pthread_mutex_unlock(&http->mutex);
		int running = 0;
		(void)curl->multi_perform(w->multi, &running);
		(void)pthread_mutex_lock(&http->mutex);
		finish_done(w);
		if (w->stop || (w->first && w->under_way < MOST_AT_ONCE))
			continue;
		(void)pthread_mutex_unlock(&http->mutex);
		(void)curl->multi_poll(w->multi, NULL, 0, 60000, NULL);
		(void)pthread_mutex_lock(&http->mutex);
	}
	(void)pthread_mutex_unlock(&http->mutex);
	return NULL;
}

int shd_http_open(shd_http **out, const shd_http_options *options, sherd_error *err)
{
	if (!has_curl())
		return sherd_fail(err, SHERD_EUNSUPPORTED, "no-libcurl", "libcurl.so.4 cannot be loaded");
	shd_http *http = calloc(1, sizeof(*http));
	char *ca = options->ca_bundle ? strdup(options->ca_bundle) : NULL;
	if (!http || (options->ca_bundle && !ca)) {
		free(http);
		free(ca);
		return sherd_fail(err, SHERD_ENOMEM, "no-memory", "out of memory");
	}
	(void)pthread_mutex_init(&http->mutex, NULL);
	(void)pthread_cond_init(&http->done, NULL);
	http->ca_bundle = ca;
	http->request_ms = options->request_ms;
	http->owner = getpid();
	*out = http;
	return SHERD_OK;
}

void shd_http_close(shd_http *http)
{
	if (!http || http->owner != getpid()) /* what a child has of it is its parent's, and may be locked for ever */
		return;
	for (size_t i = 0; i < http->count; i++) {
		shd_http_worker *w = &http->workers[i];
		(void)pthread_mutex_lock(&http->mutex);
		w->stop = true;
		(void)pthread_mutex_unlock(&http->mutex);
		(void)curl->multi_wakeup(w->multi);
		(void)pthread_join(w->thread, NULL);
		while (w->spares)
			curl->easy_cleanup(w->spare[--w->spares]);
		(void)curl->multi_cleanup(w->multi);
	}
	(void)pthread_cond_destroy(&http->done);
	(void)pthread_mutex_destroy(&http->mutex);
	free(http->ca_bundle);
	free(http);
}

static shd_http_worker *add_worker(shd_http *http)
{
	shd_http_worker *w = &http->workers[http->count];
	*w = (shd_http_worker){.http = http, .last = &w->first, .multi = curl->multi_init()};
	if (!w->multi)
		return NULL;
	(void)curl->multi_setopt(w->multi, CURLMOPT_MAXCONNECTS, (long)MOST_AT_ONCE);
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
	int failed = pthread_create(&w->thread, NULL, http_work, w);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		(void)curl->multi_cleanup(w->multi);
		return NULL;
	}
	http->count++;
	return w;
}

/* The one with the least to do; another one where all have much. */
static shd_http_worker *choose_worker(shd_http *http)
{
	shd_http_worker *best = NULL;
	for (size_t i = 0; i < http->count; i++) {
		shd_http_worker *w = &http->workers[i];
		if (!best || w->waiting + w->under_way < best->waiting + best->under_way)
			best = w;
	}
	bool full = !best || best->waiting + best->under_way >= BEGIN_ANOTHER;
	shd_http_worker *another = full && http->count < MOST_WORKERS ? add_worker(http) : NULL;
	return another ? another : best;
}

bool shd_http_is_forked(const shd_http *http)
{
	return http->owner != getpid();
}

void shd_http_start(shd_http *http, shd_http_request *r)
{
	r->status = 0;
	r->sent = r->lost = r->timed_out = r->hopeless = r->too_long = r->cancelled = false;
	r->trouble[0] = 0;
	r->got = 0;
	r->sends = 0;
	r->next = NULL;
	shd_s3_text_clear(&r->answer);
	shd_s3_text_clear(&r->head);
	(void)pthread_mutex_lock(&http->mutex);
	shd_http_worker *w = choose_worker(http);
	r->worker = w;
	r->under_way = w != NULL;
	if (w) {
		*w->last = r;
		w->last = &r->next;
		w->waiting++;
	} else {
		(void)snprintf(r->trouble, sizeof(r->trouble), "no thread can be started");
	}
	(void)pthread_mutex_unlock(&http->mutex);
	if (w)
		(void)curl->multi_wakeup(w->multi);
}

void shd_http_wait(shd_http *http, shd_http_request *r)
{
	if (shd_http_is_forked(http)) { /* begun by the parent */
		r->under_way = false;
		r->hopeless = true;
		return;
	}
	(void)pthread_mutex_lock(&http->mutex);
	while (r->under_way)
		(void)pthread_cond_wait(&http->done, &http->mutex);
	(void)pthread_mutex_unlock(&http->mutex);
}

void shd_http_cancel(shd_http *http, shd_http_request *r)
{
	if (shd_http_is_forked(http))
		return;
	(void)pthread_mutex_lock(&http->mutex);
	bool under_way = r->under_way;
	__atomic_store_n(&r->cancelled, true, __ATOMIC_RELAXED);
	(void)pthread_mutex_unlock(&http->mutex);
	if (!under_way)
		return;
	(void)curl->multi_wakeup(r->worker->multi);
	shd_http_wait(http, r);
}

void shd_http_clean(shd_http_request *r)
{
	shd_s3_text_free(&r->url);
	shd_s3_text_free(&r->headers);
	shd_s3_text_free(&r->answer);
	shd_s3_text_free(&r->head);
}

bool shd_http_host(const char *url, bool *encrypted, char *out, size_t room)
{
	CURLU *parsed = has_curl() ? curl->url() : NULL;
	char *host = NULL, *scheme = NULL;
	bool good = parsed && curl->url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
	            curl->url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
	            curl->url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK && strlen(host) < room;
	if (good) {
		*encrypted = strcmp(scheme, "https") == 0;
		(void)snprintf(out, room, "%s", host);
	}
	good = good && (*encrypted || strcmp(scheme, "http") == 0);
	if (!parsed)
		return false;
	curl->free(host);
	curl->free(scheme);
	curl->url_cleanup(parsed);
	return good;
}

bool shd_http_resolve(const char *url, const char *location, shd_s3_text *out)
{
	CURLU *parsed = has_curl() ? curl->url() : NULL;
	char *whole = NULL, *scheme = NULL;
	shd_s3_text_clear(out);
	bool good = parsed && curl->url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
	            curl->url_set(parsed, CURLUPART_URL, location, 0) == CURLUE_OK &&
	            curl->url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	            curl->url_get(parsed, CURLUPART_URL, &whole, 0) == CURLUE_OK &&
	            (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
	if (good)
		shd_s3_text_say(out, "%s", whole);
	if (!parsed)
		return false;
	curl->free(whole);
	curl->free(scheme);
	curl->url_cleanup(parsed);
	return good && !out->failed;
}

bool shd_http_header(const shd_http_request *r, const char *name, char *out, size_t room)
{
	size_t len = strlen(name);
	out[0] = 0;
	for (const char *line = shd_s3_text_of(&r->head); *line;) {
		const char *end = line + strcspn(line, "\r\n"), *value = line + len + 1;
		if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
			value += strspn(value, " \t");
			size_t size = value < end ? (size_t)(end - value) : 0;
			if (size >= room)
				return false;
			memcpy(out, value, size);
			out[size] = 0;
			return true;
		}
		line = end + strspn(end, "\r\n");
	}
	return false;
}

int64_t shd_http_time(const shd_http_request *r, const char *name)
{
	char text[64];
	time_t t = shd_http_header(r, name, text, sizeof(text)) ? curl->getdate(text, NULL) : -1;
	return t < 0 ? 0 : (int64_t)t;
}
