/* bench_s3 - a bucket against a bare libcurl program that makes the same requests: upload and download of one object,
 * rows streamed, and what the look at a large file costs.
 *
 * The server is that of AWS_ENDPOINT_URL (tools/bench starts Ceph's radosgw), the bucket that of SHERD_BENCH_S3. Bodies
 * are hashed by both, as that server wants it. MiB of an object: SHERD_BENCH_MIB (1024). */
#include "measure.h"

#include "s3/sign.h"

#include <sherd/rows.h>
#include <sherd/s3.h>

#include <curl/curl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PART = 16 << 20, RANGE = 8 << 20, PARTS_AT_ONCE = 3, RANGES_AT_ONCE = 8, WIDTH = 1024 };

#define TRY_OR_FAIL(call)                                            \
	do {                                                         \
		sherd_error e_ = {0}, *err = &e_;                    \
		if ((call) < 0)                                      \
			bench_fail("%s: %s", e_.object, e_.message); \
	} while (0)

static const char *bucket; /* s3://name/prefix */
static size_t size;
static char *bytes, *back;

static const char *setting(const char *name)
{
	const char *value = getenv(name);
	if (!value)
		bench_fail("%s is not set: tools/bench s3 starts a server", name);
	return value;
}

static sherd_store *open_bucket(const char *folder)
{
	const sherd_store_options options = {.schemes = sherd_s3_component()->schemes};
	sherd_store *store = NULL;
	char uri[512], *key = NULL;
	(void)snprintf(uri, sizeof(uri), "%s/%s", bucket, folder);
	TRY_OR_FAIL(sherd_store_open(&store, &key, uri, &options, err));
	sherd_free(key);
	return store;
}

/* ---- the bare program */

typedef struct bare {
	CURL *easy;
	struct curl_slist *lines;
	char *at; /* where the answer goes */
	size_t room, got;
	size_t part; /* of an upload */
	char etag[80];
} bare;

static size_t bare_take(char *from, size_t one, size_t count, void *arg)
{
	bare *b = arg;
	(void)one;
	size_t n = count < b->room - b->got ? count : b->room - b->got;
	memcpy(b->at + b->got, from, n);
	b->got += n;
	return count;
}

static size_t bare_head(char *from, size_t one, size_t count, void *arg)
{
	bare *b = arg;
	(void)one;
	if (count > 8 && strncasecmp(from, "ETag: \"", 7) == 0)
		(void)snprintf(b->etag, sizeof(b->etag), "%.*s", (int)strcspn(from + 7, "\""), from + 7);
	return count;
}

/* A request, signed as the server wants it. */
static void bare_begin(CURLM *multi, bare *b, const char *method, const char *path, const char *query, const void *body,
                       size_t len, const char *range)
{
	char url[1024], line[512], date[SHD_S3_DATE_TEXT], hash[SHD_S3_HASH_HEX];
	const char *endpoint = setting("AWS_ENDPOINT_URL"), *host = strstr(endpoint, "://") + 3;
	shd_s3_text sign = {0};
	b->easy = b->easy ? b->easy : curl_easy_init();
	curl_easy_reset(b->easy);
	curl_slist_free_all(b->lines);
	b->got = 0;
	shd_s3_date(time(NULL), date);
	shd_s3_hash(body, len, hash);
	const sherd_pair headers[] = {{"host", host}, {"x-amz-content-sha256", hash}, {"x-amz-date", date}};
	shd_s3_sign(&sign, &(shd_s3_signing){method, path, query, hash, date, setting("AWS_REGION"), "s3", headers, 3},
	            setting("AWS_ACCESS_KEY_ID"), setting("AWS_SECRET_ACCESS_KEY"));
	(void)snprintf(line, sizeof(line), "x-amz-content-sha256: %s", hash);
	b->lines = curl_slist_append(NULL, line);
	(void)snprintf(line, sizeof(line), "x-amz-date: %s", date);
	b->lines = curl_slist_append(b->lines, line);
	(void)snprintf(line, sizeof(line), "Authorization: %s", sign.data);
	b->lines = curl_slist_append(b->lines, line);
	b->lines = curl_slist_append(b->lines, "Expect:");
	b->lines = curl_slist_append(b->lines, "Content-Type:");
	(void)snprintf(url, sizeof(url), "%s%s%s%s", endpoint, path, *query ? "?" : "", query);
	(void)curl_easy_setopt(b->easy, CURLOPT_URL, url);
	(void)curl_easy_setopt(b->easy, CURLOPT_HTTPHEADER, b->lines);
	(void)curl_easy_setopt(b->easy, CURLOPT_CUSTOMREQUEST, method);
	(void)curl_easy_setopt(b->easy, CURLOPT_WRITEFUNCTION, bare_take);
	(void)curl_easy_setopt(b->easy, CURLOPT_WRITEDATA, b);
	(void)curl_easy_setopt(b->easy, CURLOPT_HEADERFUNCTION, bare_head);
	(void)curl_easy_setopt(b->easy, CURLOPT_HEADERDATA, b);
	(void)curl_easy_setopt(b->easy, CURLOPT_BUFFERSIZE, 256L << 10);
	(void)curl_easy_setopt(b->easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
	(void)curl_easy_setopt(b->easy, CURLOPT_PRIVATE, b);
	if (range)
		(void)curl_easy_setopt(b->easy, CURLOPT_RANGE, range);
	if (*method == 'P') {
		(void)curl_easy_setopt(b->easy, CURLOPT_POSTFIELDS, len ? body : "");
		(void)curl_easy_setopt(b->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	}
	(void)curl_multi_add_handle(multi, b->easy);
	shd_s3_text_free(&sign);
}

/* Waits for one that ends. */
static bare *bare_next(CURLM *multi)
{
	for (;;) {
		int running, left;
		long status = 0;
		(void)curl_multi_perform(multi, &running);
		CURLMsg *m = curl_multi_info_read(multi, &left);
		if (m && m->msg == CURLMSG_DONE) {
			bare *b = NULL;
			(void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&b);
			(void)curl_easy_getinfo(m->easy_handle, CURLINFO_RESPONSE_CODE, &status);
			if (m->data.result != CURLE_OK || status >= 300)
				bench_fail("the bare program was told %ld", status);
			(void)curl_multi_remove_handle(multi, b->easy);
			return b;
		}
		(void)curl_multi_poll(multi, NULL, 0, 1000, NULL);
	}
}

static void bare_done(CURLM *multi, bare *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		curl_easy_cleanup(list[i].easy);
		curl_slist_free_all(list[i].lines);
	}
	(void)curl_multi_cleanup(multi);
}

static void bare_path(char out[512], const char *name)
{
	(void)snprintf(out, 512, "/%s/%s", bucket + 5, name);
}

static double bare_upload(void)
{
	CURLM *multi = curl_multi_init();
	bare list[PARTS_AT_ONCE] = {0}, one = {0};
	char path[512], query[512], answer[4096] = "", id[256] = "", *etags = calloc(size / PART + 1, 80);
	size_t parts = size / PART, next = 0, done = 0;
	double start = bench_now();
	bare_path(path, "bare");
	one.at = answer;
	one.room = sizeof(answer) - 1;
	bare_begin(multi, &one, "POST", path, "uploads=", NULL, 0, NULL);
	(void)bare_next(multi);
	const char *from = strstr(answer, "<UploadId>");
	if (from)
		(void)snprintf(id, sizeof(id), "%.*s", (int)strcspn(from + 10, "<"), from + 10);
	for (size_t i = 0; i < PARTS_AT_ONCE + parts; i++) {
		bare *b = i < PARTS_AT_ONCE ? &list[i] : bare_next(multi);
		if (i >= PARTS_AT_ONCE) {
			memcpy(etags + 80 * b->part, b->etag, 80);
			done++;
		}
		if (next == parts)
			continue;
		shd_s3_text text = {0};
		shd_s3_text_encode(&text, id, false);
		(void)snprintf(query, sizeof(query), "partNumber=%zu&uploadId=%s", next + 1, text.data);
		shd_s3_text_free(&text);
		b->part = next;
		bare_begin(multi, b, "PUT", path, query, bytes + next * PART, PART, NULL);
		next++;
	}
	shd_s3_text body = {0}, text = {0};
	shd_s3_text_say(&body, "<CompleteMultipartUpload>");
	for (size_t i = 0; i < parts; i++)
		shd_s3_text_say(&body, "<Part><PartNumber>%zu</PartNumber><ETag>&quot;%s&quot;</ETag></Part>", i + 1,
		                etags + 80 * i);
	shd_s3_text_say(&body, "</CompleteMultipartUpload>");
	shd_s3_text_encode(&text, id, false);
	(void)snprintf(query, sizeof(query), "uploadId=%s", text.data);
	bare_begin(multi, &one, "POST", path, query, body.data, body.len, NULL);
	(void)bare_next(multi);
	bare_begin(multi, &one, "HEAD", path, "", NULL, 0, NULL);
	(void)curl_easy_setopt(one.easy, CURLOPT_NOBODY, 1L);
	(void)bare_next(multi);
	double seconds = bench_now() - start;
	shd_s3_text_free(&body);
	shd_s3_text_free(&text);
	free(etags);
	bare_done(multi, list, PARTS_AT_ONCE);
	curl_easy_cleanup(one.easy);
	curl_slist_free_all(one.lines);
	return done == parts ? seconds : -1;
}

/* Ranges of an object, some at a time, to one place. */
static double bare_download(const char *name, size_t all)
{
	CURLM *multi = curl_multi_init();
	bare list[RANGES_AT_ONCE] = {0};
	char path[512], range[64];
	size_t next = 0, under_way = 0;
	double start = bench_now();
	bare_path(path, name);
	for (size_t i = 0; i < RANGES_AT_ONCE || under_way > 0; i++) {
		bare *b = i < RANGES_AT_ONCE ? &list[i] : bare_next(multi);
		under_way -= i >= RANGES_AT_ONCE;
		if (next >= all)
			continue;
		size_t n = all - next < RANGE ? all - next : RANGE;
		(void)snprintf(range, sizeof(range), "%zu-%zu", next, next + n - 1);
		b->at = back + next;
		b->room = n;
		bare_begin(multi, b, "GET", path, "", NULL, 0, range);
		next += n;
		under_way++;
	}
	double seconds = bench_now() - start;
	bare_done(multi, list, RANGES_AT_ONCE);
	return seconds;
}

/* ---- ours */

static double our_upload(void)
{
	double start = bench_now();
	sherd_store *store = open_bucket("");
	const sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .size_hint = size};
	sherd_writer *w = NULL;
	TRY_OR_FAIL(sherd_store_write(&w, store, "ours", &options, err));
	for (size_t at = 0; at < size; at += 4 << 20)
		TRY_OR_FAIL(sherd_writer_append(w, bytes + at, 4 << 20, err));
	TRY_OR_FAIL(sherd_writer_commit(w, err));
	sherd_store_close(store);
	return bench_now() - start;
}

static double our_download(void)
{
	double start = bench_now();
	sherd_store *store = open_bucket("");
	sherd_reader *r = NULL;
	TRY_OR_FAIL(sherd_store_read(&r, store, "ours", err));
	TRY_OR_FAIL(sherd_reader_at(r, 0, back, size, err));
	sherd_reader_close(r);
	sherd_store_close(store);
	return bench_now() - start;
}

/* ---- rows */

static void pack_rows(void)
{
	sherd_store *store = open_bucket("rows/");
	sherd_rows_writer *w = NULL;
	const uint64_t rows = size / (WIDTH * sizeof(float));
	TRY_OR_FAIL(sherd_rows_writer_open(&w, store, "", WIDTH, NULL, err));
	TRY_OR_FAIL(sherd_rows_writer_append(w, SHERD_F32, bytes, rows, err));
	TRY_OR_FAIL(sherd_rows_writer_commit(w, err));
	sherd_store_close(store);
}

static double stream_rows(void)
{
	double start = bench_now();
	sherd_store *store = open_bucket("rows/");
	sherd_rows *rows = NULL;
	sherd_rows_cursor *cursor = NULL;
	sherd_rows_batch b;
	uint64_t count = 0;
	int rc;
	TRY_OR_FAIL(sherd_rows_open_folder(&rows, store, "", NULL, err));
	TRY_OR_FAIL(sherd_rows_cursor_open(&cursor, rows, &(sherd_rows_stream_options){.dtype = SHERD_F32}, err));
	while ((rc = sherd_rows_next(&b, cursor, NULL)) > 0)
		count += b.rows;
	if (rc < 0 || count * WIDTH * sizeof(float) != size)
		bench_fail("the stream ended after %llu rows", (unsigned long long)count);
	sherd_rows_cursor_close(cursor);
	sherd_rows_close(rows);
	sherd_store_close(store);
	return bench_now() - start;
}

/* ---- peers: programs that copy a file to the bucket and back; -1 where one is not here or fails */

static double run_peer(const char *command)
{
	double start = bench_now();
	int rc = system(command); /* NOLINT(concurrency-mt-unsafe,cert-env33-c): a program of the bench */
	return rc == 0 ? bench_now() - start : -1;
}

static void show_peer(const char *name, const char *up, const char *down, const bench_series ours[2])
{
	bench_series up_rate = {0}, down_rate = {0};
	double up_s = run_peer(up), down_s = up_s < 0 ? -1 : run_peer(down);
	if (up_s < 0 || down_s < 0) {
		bench_missing("S3", name, "apt-get install awscli s3cmd");
		return;
	}
	bench_add(&up_rate, (double)size / up_s / 1e6);
	bench_add(&down_rate, (double)size / down_s / 1e6);
	bench_series first[2] = {{{0}}};
	bench_add(&first[0], bench_median(&ours[0]));
	bench_add(&first[1], bench_median(&ours[1]));
	bench_report(&(bench_row){"S3", "upload", "MB/s", &first[0], name, &up_rate, 0, BENCH_AT_LEAST, 1});
	bench_report(&(bench_row){"S3", "download", "MB/s", &first[1], name, &down_rate, 0, BENCH_AT_LEAST, 1});
}

static void show_peers(const bench_series ours[2])
{
	char file[512], command[4][2048];
	const char *folder = getenv("SHERD_BENCH_DIR") ? getenv("SHERD_BENCH_DIR") : ".";
	const char *endpoint = setting("AWS_ENDPOINT_URL"), *host = strstr(endpoint, "://") + 3;
	(void)snprintf(file, sizeof(file), "%s/peer", folder);
	FILE *f = fopen(file, "we");
	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0)
		bench_fail("%s cannot be written", file);
	(void)snprintf(command[0], sizeof(command[0]), "aws --endpoint-url %s s3 cp --quiet %s %s/peer >&2", endpoint,
	               file, bucket);
	(void)snprintf(command[1], sizeof(command[1]), "aws --endpoint-url %s s3 cp --quiet %s/peer %s >&2", endpoint,
	               bucket, file);
	show_peer("AWS CLI", command[0], command[1], ours);
	char with[512];
	(void)snprintf(with, sizeof(with),
	               "s3cmd -q --no-ssl --host=%s --host-bucket=%s --access_key=%s --secret_key=%s", host, host,
	               setting("AWS_ACCESS_KEY_ID"), setting("AWS_SECRET_ACCESS_KEY"));
	(void)snprintf(command[2], sizeof(command[2]), "%s put %s %s/peer >&2", with, file, bucket);
	(void)snprintf(command[3], sizeof(command[3]), "%s get --force %s/peer %s >&2", with, bucket, file);
	show_peer("s3cmd", command[2], command[3], ours);
	(void)remove(file);
	sherd_store *store = open_bucket("");
	(void)sherd_store_remove(store, "peer", NULL);
	sherd_store_close(store);
}

static double rate(double seconds)
{
	return (double)size / seconds / 1e6;
}

int main(void)
{
	bench_series up[2] = {{{0}}}, down[2] = {{{0}}}, rows[2] = {{{0}}};
	const char *mib = getenv("SHERD_BENCH_MIB");
	size = (mib ? strtoul(mib, NULL, 10) : 1024) / 16 * PART;
	bucket = setting("SHERD_BENCH_S3");
	bytes = malloc(size);
	back = malloc(size);
	if (!bytes || !back || !size || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		bench_fail("no memory");
	for (size_t i = 0; i < size / 4; i++)
		((float *)(void *)bytes)[i] = (float)(i % 1000003);
	bench_begin("s3");
	(void)our_upload(); /* the server makes its pools with the first one */
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&up[0], rate(our_upload()));
		bench_add(&up[1], rate(bare_upload()));
	}
	for (int i = 0; i < bench_pairs(); i++) {
		memset(back, 0, size);
		bench_add(&down[0], rate(our_download()));
		if (memcmp(back, bytes, size) != 0)
			bench_fail("what came back is not what was sent");
		bench_add(&down[1], rate(bare_download("bare", size)));
		if (memcmp(back, bytes, size) != 0)
			bench_fail("the bare program got something else");
	}
	bench_report(&(bench_row){"S1", "upload", "MB/s", &up[0], "bare libcurl", &up[1], 0, BENCH_AT_LEAST, 0.9});
	bench_report(
		&(bench_row){"S1", "download", "MB/s", &down[0], "bare libcurl", &down[1], 0, BENCH_AT_LEAST, 0.9});
	sherd_store *store = open_bucket("");
	TRY_OR_FAIL(sherd_store_remove(store, "ours", err));
	sherd_store_close(store);
	pack_rows();
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&rows[0], rate(stream_rows()));
		bench_add(&rows[1], rate(bare_download("bare", size)));
	}
	bench_report(&(bench_row){"S2", "rows", "MB/s", &rows[0], "bare libcurl", &rows[1], 0, BENCH_AT_LEAST, 0.9});
	const bench_series ours[2] = {up[0], down[0]};
	show_peers(ours);
	bench_end();
	free(bytes);
	free(back);
	return 0;
}
