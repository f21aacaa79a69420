#include "support/s3_server.h"

#include "support/s3_objects.h"
#include "support/test.h"

#include "base/error.h"
#include "s3/sign.h"

#include <sherd/s3.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 256, MOST_FAULTS = 256, MOST_LATE = 64 };

typedef struct fault {
	char method[8], target[64];
	s3_fault kind;
	int times;
} fault;

typedef struct connection {
	struct s3_server *server;
	pthread_t thread;
	int socket;
	bool used, over; /* the second under the mutex */
} connection;

struct s3_server {
	pthread_mutex_t mutex; /* of all below */
	int socket;
	pthread_t thread;
	bool stopping;
	char endpoint[64];
	s3_objects *objects;
	connection connections[MOST_CONNECTIONS];
	fault faults[MOST_FAULTS];
	size_t fault_count;
	s3_request late[MOST_LATE];
	size_t late_count;
	unsigned requests, roles, unsigned_bodies;
	int role;
	bool everybody;
};

static bool send_all(int socket, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(socket, bytes, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static void request_free(s3_request *r)
{
	shd_s3_text_free(&r->headers);
	free(r->body);
	*r = (s3_request){0};
}

/* Reads up to the empty line, and not beyond; without any "\r". */
static bool read_head(int socket, shd_s3_text *head)
{
	char seen[4096];
	while (head->len < 65536) {
		ssize_t n = recv(socket, seen, sizeof(seen), MSG_PEEK), used = 0;
		if (n <= 0)
			return false;
		bool over = false;
		for (; used < n && !over; used++) {
			if (seen[used] != '\r')
				shd_s3_text_add(head, &seen[used], 1);
			over = head->len >= 2 && memcmp(head->data + head->len - 2, "\n\n", 2) == 0;
		}
		if (recv(socket, seen, (size_t)used, 0) != used)
			return false;
		if (over)
			return true;
	}
	return false;
}

static bool read_request(int socket, s3_request *r)
{
	char length[32], target[8192];
	shd_s3_text head = {0};
	bool whole = read_head(socket, &head) && sscanf(head.data, "%7s %8191s", r->method, target) == 2;
	if (whole) {
		char *query = strchr(target, '?'), *path = target;
		if (strncmp(path, "http://", 7) == 0) /* as proxies are asked */
			path += 7 + strcspn(path + 7, "/");
		(void)snprintf(r->query, sizeof(r->query), "%s", query ? query + 1 : "");
		(void)snprintf(r->path, sizeof(r->path), "%.*s", (int)strcspn(path, "?"), path);
		shd_s3_text_say(&r->headers, "%s", strchr(head.data, '\n') + 1);
		r->len = s3_request_header(r, "content-length", length, sizeof(length)) ? strtoul(length, NULL, 10) : 0;
		r->body = calloc(1, r->len + 1);
		assert_non_null(r->body);
		for (size_t got = 0; whole && got < r->len;) {
			ssize_t n = recv(socket, r->body + got, r->len - got, 0);
			whole = n > 0;
			got += whole ? (size_t)n : 0;
		}
	}
	shd_s3_text_free(&head);
	return whole;
}

/* Signs what came, with the headers that were signed, and compares. */
static bool is_signed(const s3_request *r)
{
	char given[2048], date[32], hash[128], body[SHD_S3_HASH_HEX], names[512] = "";
	char values[SHD_S3_MOST_SIGNED][600];
	sherd_pair headers[SHD_S3_MOST_SIGNED];
	size_t count = 0;
	if (!s3_request_header(r, "authorization", given, sizeof(given)))
		return false;
	(void)s3_request_header(r, "x-amz-date", date, sizeof(date));
	(void)s3_request_header(r, "x-amz-content-sha256", hash, sizeof(hash));
	shd_s3_hash(r->body, r->len, body);
	const char *list = strstr(given, "SignedHeaders=");
	bool plain = strcmp(hash, "UNSIGNED-PAYLOAD") == 0; /* as AWS takes it where the way is encrypted */
	if (!list || (!plain && strcmp(hash, body) != 0))
		return false;
	(void)snprintf(names, sizeof(names), "%.*s", (int)strcspn(list + 14, ","), list + 14);
	char *save = NULL;
	for (char *name = strtok_r(names, ";", &save); name && count < SHD_S3_MOST_SIGNED;
	     name = strtok_r(NULL, ";", &save)) {
		(void)s3_request_header(r, name, values[count], sizeof(values[0]));
		headers[count] = (sherd_pair){name, values[count]};
		count++;
	}
	shd_s3_text want = {0};
	shd_s3_sign(&want,
	            &(shd_s3_signing){r->method, r->path, r->query, plain ? hash : body, date, "here", "s3", headers,
	                              count},
	            "id", "secret");
	bool same = strcmp(want.data, given) == 0 && strstr(list, "host;") &&
	            strstr(list, "x-amz-content-sha256;x-amz-date");
	shd_s3_text_free(&want);
	return same;
}

/* The fault that hits this request, or -1. Under the mutex. */
static int next_fault(s3_server *s, const s3_request *r)
{
	char target[8300];
	(void)snprintf(target, sizeof(target), "%s?%s", r->path, r->query);
	for (size_t i = 0; i < s->fault_count; i++) {
		fault *f = &s->faults[i];
		if (f->times > 0 && (!*f->method || strcmp(f->method, r->method) == 0) && strstr(target, f->target)) {
			f->times--;
			return (int)f->kind;
		}
	}
	return -1;
}

static bool answer_send(int socket, const s3_request *r, const s3_answer *a, int kind)
{
	shd_s3_text head = {0};
	char date[64];
	time_t now = time(NULL);
	struct tm t;
	bool is_head = strcmp(r->method, "HEAD") == 0;
	size_t len = is_head ? (a->status < 300 ? a->length : 0) : a->body.len, sent = is_head ? 0 : len;
	(void)strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &t));
	if (kind == S3_SHORT)
		len = sent = sent / 2;
	if (kind == S3_TRUNCATED)
		sent /= 2;
	shd_s3_text_say(&head, "HTTP/1.1 %d Status\r\nDate: %s\r\n%s", a->status, date, shd_s3_text_of(&a->headers));
	if (a->status != 204)
		shd_s3_text_say(&head, "Content-Length: %zu\r\n", len);
	shd_s3_text_add(&head, "\r\n", 2);
	bool good = send_all(socket, head.data, head.len) && send_all(socket, shd_s3_text_of(&a->body), sent);
	shd_s3_text_free(&head);
	return good && kind != S3_TRUNCATED;
}

/* One byte further on, of the same length. */
static void ask_further_on(s3_request *r)
{
	char range[64];
	unsigned long long from, to;
	shd_s3_text headers = {0};
	(void)s3_request_header(r, "range", range, sizeof(range));
	s3_request_range(range, &from, &to);
	shd_s3_text_say(&headers, "range: bytes=%llu-%llu\n%s", from + 1, to + 1, r->headers.data);
	shd_s3_text_free(&r->headers);
	r->headers = headers;
}

static void forget_names(shd_s3_text *headers)
{
	static const char *const names[] = {"ETag:", "x-amz-meta-sherd-write:"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char *line = strstr(headers->data, names[i]);
		if (line)
			memset(line, '-', strcspn(line, ":"));
	}
}

static void forget_range(s3_request *r)
{
	char *line = strcasestr(r->headers.data, "range:");
	if (line)
		memset(line, '-', strcspn(line, ":"));
}

static void send_away(const s3_request *r, int kind, s3_answer *a)
{
	const char *origin = kind == S3_ELSEWHERE ? "https://127.0.0.1"
	                     : kind == S3_NOWHERE ? "http://127.0.0.1:1"
	                                          : "";
	a->status = 302;
	shd_s3_text_say(&a->headers, "Location: %s%s?%s\r\n", origin, r->path, *origin ? "hush=1" : "away");
}

/* Removes the object before the request comes to it. */
static void come_first(s3_server *s, const s3_request *r, int kind)
{
	s3_answer a = {0};
	s3_request other = {.body = r->body, .len = r->len};
	(void)snprintf(other.method, sizeof(other.method), "%s", kind == S3_MARKED ? "PUT" : "DELETE");
	memcpy(other.path, r->path, sizeof(other.path));
	shd_s3_text_say(&other.headers, "x-amz-meta-sherd-removed: 1\n");
	s3_objects_answer(s->objects, &other, &a);
	shd_s3_text_free(&other.headers);
	shd_s3_text_free(&a.headers);
	shd_s3_text_free(&a.body);
}

/* Does what is asked, as far as the fault lets it. */
static void act(s3_server *s, s3_request *r, int kind, s3_answer *a)
{
	switch (kind) {
	case S3_RESET:
	case S3_STALL: break;
	case S3_500: s3_answer_error(a, 500, "InternalError"); break;
	case S3_503: s3_answer_error(a, 503, "SlowDown"); break;
	case S3_429: s3_answer_error(a, 429, "TooManyRequests"); break;
	case S3_502: s3_answer_error(a, 502, "BadGateway"); break;
	case S3_EXPIRED: s3_answer_error(a, 400, "ExpiredToken"); break;
	case S3_403: s3_answer_error(a, 403, "AccessDenied"); break;
	case S3_200_ERROR: s3_answer_error(a, 200, "InternalError"); break;
	case S3_AWAY:
	case S3_NOWHERE:
	case S3_ELSEWHERE: send_away(r, kind, a); break;
	case S3_LATE:
		assert_true(s->late_count < MOST_LATE);
		s->late[s->late_count++] = *r;
		*r = (s3_request){0};
		break;
	default:
		if (kind == S3_ALL)
			forget_range(r);
		if (kind == S3_OTHER_RANGE)
			ask_further_on(r);
		if (kind == S3_REMOVED || kind == S3_MARKED)
			come_first(s, r, kind);
		s3_objects_answer(s->objects, r, a);
	}
	if (kind == S3_NAMELESS)
		forget_names(&a->headers);
	if (kind == S3_DONE_500 || kind == S3_DONE_502)
		s3_answer_error(a, kind == S3_DONE_500 ? 500 : 502, "InternalError");
}

/* What an instance or a container is given; 403 without the token of it. */
static void answer_role(s3_server *s, const s3_request *r, int kind, s3_answer *a)
{
	static const char path[] = "/latest/meta-data/iam/security-credentials/";
	char token[64], until[64];
	time_t end = time(NULL) + s->role;
	struct tm t;
	bool container = strcmp(r->path, "/role") == 0;
	(void)s3_request_header(r, container ? "authorization" : "x-aws-ec2-metadata-token", token, sizeof(token));
	(void)strftime(until, sizeof(until), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&end, &t));
	a->status = 200;
	if (strcmp(r->method, "PUT") == 0 && strcmp(r->path, "/latest/api/token") == 0)
		shd_s3_text_say(&a->body, "tok/en==");
	else if (strcmp(token, "tok/en==") != 0 || kind == S3_403)
		s3_answer_error(a, 403, "AccessDenied");
	else if (strcmp(r->path, path) == 0)
		shd_s3_text_say(&a->body, "some-role\n");
	else {
		s->roles++;
		shd_s3_text_say(&a->body,
		                "{\n \"Code\" : \"Success\", \"AccessKeyId\" : \"id\",\"SecretAccessKey\":\"secret\",\n"
		                "\"Token\": \"for\\/a\\/while\", \"Expiration\" : \"%s\"}",
		                until);
	}
}

/* False: the connection ends. */
static bool serve(s3_server *s, int socket, s3_request *r)
{
	s3_answer a = {0};
	bool authentic = is_signed(r);
	(void)pthread_mutex_lock(&s->mutex);
	char hash[128];
	s->requests++;
	s->unsigned_bodies += s3_request_header(r, "x-amz-content-sha256", hash, sizeof(hash)) &&
	                      strcmp(hash, "UNSIGNED-PAYLOAD") == 0;
	int kind = next_fault(s, r);
	if (s->role && (strncmp(r->path, "/latest/", 8) == 0 || strcmp(r->path, "/role") == 0))
		answer_role(s, r, kind, &a);
	else if (!authentic && !(s->everybody && (*r->method == 'G' || *r->method == 'H')))
		s3_answer_error(&a, 403, "SignatureDoesNotMatch");
	else
		act(s, r, kind, &a);
	(void)pthread_mutex_unlock(&s->mutex);
	if (kind == S3_SLOW)
		(void)usleep(400000);
	bool goes_on = a.status != 0 && kind != S3_RESET_DONE && answer_send(socket, r, &a, kind);
	if (kind == S3_STALL) {
		char c;
		(void)recv(socket, &c, 1, 0); /* until the other side has enough */
	}
	shd_s3_text_free(&a.headers);
	shd_s3_text_free(&a.body);
	return goes_on;
}

static void *serve_connection(void *arg)
{
	connection *c = arg;
	s3_request r = {0};
	while (read_request(c->socket, &r) && serve(c->server, c->socket, &r))
		request_free(&r);
	request_free(&r);
	(void)shutdown(c->socket, SHUT_RDWR);
	(void)pthread_mutex_lock(&c->server->mutex);
	c->over = true;
	(void)pthread_mutex_unlock(&c->server->mutex);
	return NULL;
}

/* A place for another one; those that are over make room. Under the mutex. */
static connection *connection_room(s3_server *s)
{
	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		connection *c = &s->connections[i];
		if (c->over) {
			(void)pthread_join(c->thread, NULL);
			(void)close(c->socket);
			c->used = c->over = false;
		}
		if (!c->used)
			return c;
	}
	fail_msg("too many connections");
	return NULL;
}

static void *listen_on(void *arg)
{
	s3_server *s = arg;
	for (;;) {
		int socket = accept(s->socket, NULL, NULL), on = 1;
		(void)pthread_mutex_lock(&s->mutex);
		if (socket < 0 || s->stopping) {
			(void)pthread_mutex_unlock(&s->mutex);
			if (socket >= 0)
				(void)close(socket);
			return NULL;
		}
		(void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		connection *c = connection_room(s);
		*c = (connection){.server = s, .socket = socket, .used = true};
		assert_int_equal(pthread_create(&c->thread, NULL, serve_connection, c), 0);
		(void)pthread_mutex_unlock(&s->mutex);
	}
}

s3_server *s3_server_start(const s3_quirks *quirks)
{
	s3_server *s = calloc(1, sizeof(*s));
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	assert_non_null(s);
	(void)pthread_mutex_init(&s->mutex, NULL);
	s->objects = s3_objects_new(quirks);
	s->role = quirks ? quirks->role : 0;
	s->everybody = quirks && quirks->everybody;
	s->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->socket, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(s->socket, 128), 0);
	assert_int_equal(getsockname(s->socket, (struct sockaddr *)&address, &len), 0);
	(void)snprintf(s->endpoint, sizeof(s->endpoint), "http://127.0.0.1:%d", ntohs(address.sin_port));
	assert_int_equal(pthread_create(&s->thread, NULL, listen_on, s), 0);
	return s;
}

void s3_server_stop(s3_server *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	s->stopping = true;
	for (size_t i = 0; i < MOST_CONNECTIONS; i++)
		if (s->connections[i].used)
			(void)shutdown(s->connections[i].socket, SHUT_RDWR);
	(void)pthread_mutex_unlock(&s->mutex);
	(void)shutdown(s->socket, SHUT_RDWR);
	(void)pthread_join(s->thread, NULL);
	(void)close(s->socket);
	for (size_t i = 0; i < MOST_CONNECTIONS; i++)
		if (s->connections[i].used) {
			(void)pthread_join(s->connections[i].thread, NULL);
			(void)close(s->connections[i].socket);
		}
	for (size_t i = 0; i < s->late_count; i++)
		request_free(&s->late[i]);
	s3_objects_free(s->objects);
	(void)pthread_mutex_destroy(&s->mutex);
	free(s);
}

const char *s3_server_endpoint(const s3_server *s)
{
	return s->endpoint;
}

sherd_store *s3_server_store(s3_server *s, const char *path, ...)
{
	char uri[512], copies[16][96], *key = NULL;
	sherd_pair own[20] = {{"endpoint", s->endpoint}, {"region", "here"}, {"retry-delay", "0.001"}};
	size_t count = 3, copied = 0;
	va_list ap;
	va_start(ap, path);
	for (const char *more; (more = va_arg(ap, const char *));) {
		char *copy = copies[copied++];
		(void)snprintf(copy, sizeof(copies[0]), "%s", more);
		char *value = strchr(copy, '=');
		*value = 0;
		own[count++] = (sherd_pair){copy, value + 1};
	}
	va_end(ap);
	(void)setenv("AWS_ACCESS_KEY_ID", "id", 1);
	(void)setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	(void)setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
	(void)setenv("AWS_CONFIG_FILE", "/dev/null", 1);
	(void)snprintf(uri, sizeof(uri), "s3://test/%s%s", path, *path ? "/" : "");
	sherd_store *store = NULL;
	sherd_store_options options = {.own = own, .own_count = count, .schemes = sherd_s3_component()->schemes};
	assert_ok(sherd_store_open(&store, &key, uri, &options, err));
	free(key);
	return store;
}

void s3_server_fail(s3_server *s, const char *method, const char *target, s3_fault kind, int times)
{
	(void)pthread_mutex_lock(&s->mutex);
	assert_true(s->fault_count < MOST_FAULTS);
	fault *f = &s->faults[s->fault_count++];
	*f = (fault){.kind = kind, .times = times};
	(void)snprintf(f->method, sizeof(f->method), "%s", method);
	(void)snprintf(f->target, sizeof(f->target), "%s", target);
	(void)pthread_mutex_unlock(&s->mutex);
}

void s3_server_calm(s3_server *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	s->fault_count = 0;
	(void)pthread_mutex_unlock(&s->mutex);
}

int s3_server_left(s3_server *s)
{
	int left = 0;
	(void)pthread_mutex_lock(&s->mutex);
	for (size_t i = 0; i < s->fault_count; i++)
		left += s->faults[i].times;
	(void)pthread_mutex_unlock(&s->mutex);
	return left;
}

int s3_server_deliver(s3_server *s)
{
	int done = 0;
	(void)pthread_mutex_lock(&s->mutex);
	for (size_t i = 0; i < s->late_count; i++) {
		s3_answer a = {0};
		s3_objects_answer(s->objects, &s->late[i], &a);
		done += a.status < 300;
		shd_s3_text_free(&a.headers);
		shd_s3_text_free(&a.body);
		request_free(&s->late[i]);
	}
	s->late_count = 0;
	(void)pthread_mutex_unlock(&s->mutex);
	return done;
}

unsigned s3_server_unsigned(s3_server *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	unsigned n = s->unsigned_bodies;
	(void)pthread_mutex_unlock(&s->mutex);
	return n;
}

unsigned s3_server_checked(s3_server *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	unsigned n = s3_objects_checked(s->objects);
	(void)pthread_mutex_unlock(&s->mutex);
	return n;
}

unsigned s3_server_requests(s3_server *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	unsigned requests = s->requests;
	(void)pthread_mutex_unlock(&s->mutex);
	return requests;
}

unsigned s3_server_roles(s3_server *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	unsigned roles = s->roles;
	(void)pthread_mutex_unlock(&s->mutex);
	return roles;
}

unsigned s3_server_uploads(s3_server *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	unsigned uploads = s3_objects_uploads(s->objects);
	(void)pthread_mutex_unlock(&s->mutex);
	return uploads;
}
