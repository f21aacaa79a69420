/* bench_json - our JSON parser against yajl's SAX parser, on the metadata of a large checkpoint.
 *
 * Three readers of the same 20 MB document take turns: ours as a check (shd_json_check), ours as a consumer
 * that takes every value (pull), and yajl with a callback for every event. Ours refuse duplicate keys and report
 * exact offsets meanwhile; all three validate UTF-8. Prints medians in MB/s and the ratio of each pair of runs. */
#include "base/buf.h"
#include "codec/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef HAVE_YAJL
#include <yajl/yajl_parse.h>
#endif

enum { PAIRS = 9, SHARDS = 64, TENSORS = 1100 };

static void put_dims(shd_json_writer *w, const char *key, uint64_t a, uint64_t b)
{
	shd_json_put_key(w, key);
	shd_json_put_array(w, true);
	shd_json_put_u64(w, a);
	shd_json_put_u64(w, b);
	shd_json_put_array_end(w);
}

static void put_tensor(shd_json_writer *w, unsigned shard, unsigned i)
{
	static const char *const parts[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.o_proj", "mlp.gate_proj",
	                                    "mlp.up_proj"};
	char name[96];
	uint64_t rows = 4096u + 512u * (i % 7);
	(void)snprintf(name, sizeof(name), "model.layers.%u.%s.weight_%u", i / 5, parts[i % 5], shard);
	shd_json_put_object(w, false);
	shd_json_put_key(w, "name");
	shd_json_put_string(w, shd_str_of(name));
	shd_json_put_key(w, "dataType");
	shd_json_put_string(w, i % 3 ? SHD_STR("BFloat16") : SHD_STR("Float32"));
	put_dims(w, "shape", rows / SHARDS, 4096);
	put_dims(w, "globalShape", rows, 4096);
	put_dims(w, "globalOffset", rows / SHARDS * shard, 0);
	shd_json_put_key(w, "offset");
	shd_json_put_u64(w, (uint64_t)i * 33554432u);
	shd_json_put_key(w, "size");
	shd_json_put_u64(w, rows * 8192 / SHARDS);
	shd_json_put_object_end(w);
}

static void put_document(shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key(&w, "formatVersion");
	shd_json_put_u64(&w, 1);
	shd_json_put_key(&w, "shards");
	shd_json_put_array(&w, false);
	for (unsigned shard = 0; shard < SHARDS; shard++) {
		shd_json_put_object(&w, false);
		shd_json_put_key(&w, "rank");
		shd_json_put_u64(&w, shard);
		shd_json_put_key(&w, "checksum");
		shd_json_put_string(&w, SHD_STR("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
		shd_json_put_key(&w, "learningRate");
		shd_json_put_double(&w, 0.0003 / (shard + 1));
		shd_json_put_key(&w, "tensors");
		shd_json_put_array(&w, false);
		for (unsigned i = 0; i < TENSORS; i++)
			put_tensor(&w, shard, i);
		shd_json_put_array_end(&w);
		shd_json_put_object_end(&w);
	}
	shd_json_put_array_end(&w);
	shd_json_put_object_end(&w);
}

/* What each reader must find: so that none can be quick by doing nothing. */
typedef struct tally {
	uint64_t values, keys, bytes;
} tally;

static int take_scalar(shd_json *j, int type, tally *t, sherd_error *err)
{
	shd_str text;
	bool truth;
	t->values++;
	if (type == SHD_JSON_NULL)
		return shd_json_null(j, err);
	if (type == SHD_JSON_TRUE || type == SHD_JSON_FALSE)
		return shd_json_bool(j, &truth, err);
	TRY(type == SHD_JSON_STRING ? shd_json_string(j, &text, err) : shd_json_number(j, &text, err));
	t->bytes += text.len;
	return SHERD_OK;
}

static int take_value(shd_json *j, tally *t, sherd_error *err) // NOLINT(misc-no-recursion)
{
	shd_str key;
	int rc, type = shd_json_peek(j, err);
	TRY(type);
	if (type == SHD_JSON_OBJECT) {
		TRY(shd_json_object(j, err));
		while ((rc = shd_json_key(j, &key, err)) > 0) {
			t->keys++;
			t->bytes += key.len;
			TRY(take_value(j, t, err));
		}
		return rc;
	}
	if (type == SHD_JSON_ARRAY) {
		TRY(shd_json_array(j, err));
		while ((rc = shd_json_item(j, err)) > 0)
			TRY(take_value(j, t, err));
		return rc;
	}
	return take_scalar(j, type, t, err);
}

static int pull(const shd_buf *doc, tally *t, sherd_error *err)
{
	shd_json *j;
	TRY(shd_json_open(&j, doc->data, doc->len, NULL, err));
	int rc = take_value(j, t, err);
	if (rc >= 0)
		rc = shd_json_end(j, err);
	shd_json_close(j);
	return rc;
}

#ifdef HAVE_YAJL
static int on_null(void *arg)
{
	((tally *)arg)->values++;
	return 1;
}

static int on_bool(void *arg, int v)
{
	(void)v;
	return on_null(arg);
}

static int on_number(void *arg, const char *text, size_t len)
{
	(void)text;
	((tally *)arg)->bytes += len;
	return on_null(arg);
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
	(void)text;
	((tally *)arg)->bytes += len;
	return on_null(arg);
}

static int on_key(void *arg, const unsigned char *text, size_t len)
{
	(void)text;
	((tally *)arg)->keys++;
	((tally *)arg)->bytes += len;
	return 1;
}

static int on_bracket(void *arg)
{
	(void)arg;
	return 1;
}

static int sax(const shd_buf *doc, tally *t)
{
	static const yajl_callbacks calls = {.yajl_null = on_null,
	                                     .yajl_boolean = on_bool,
	                                     .yajl_number = on_number,
	                                     .yajl_string = on_string,
	                                     .yajl_start_map = on_bracket,
	                                     .yajl_map_key = on_key,
	                                     .yajl_end_map = on_bracket,
	                                     .yajl_start_array = on_bracket,
	                                     .yajl_end_array = on_bracket};
	yajl_handle h = yajl_alloc(&calls, NULL, t);
	int ok = h && yajl_parse(h, doc->data, doc->len) == yajl_status_ok && yajl_complete_parse(h) == yajl_status_ok;
	if (h)
		yajl_free(h);
	return ok ? 0 : -1;
}
#endif

static double now(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(const double *v)
{
	double sorted[PAIRS];
	memcpy(sorted, v, sizeof(sorted));
	qsort(sorted, PAIRS, sizeof(sorted[0]), by_size);
	return sorted[PAIRS / 2];
}

static void range(const double *v, double *low, double *high)
{
	*low = *high = v[0];
	for (int i = 1; i < PAIRS; i++) {
		*low = v[i] < *low ? v[i] : *low;
		*high = v[i] > *high ? v[i] : *high;
	}
}

typedef struct results {
	double check[PAIRS], pull[PAIRS], peer[PAIRS]; /* MB/s */
	tally ours, theirs;
} results;

static int measure(const shd_buf *doc, results *r)
{
	double mb = (double)doc->len / 1e6, start;
	sherd_error err = {0};
	for (int i = 0; i < PAIRS; i++) {
		r->ours = r->theirs = (tally){0};
		start = now();
		if (shd_json_check(doc->data, doc->len, NULL, &err) < 0)
			return -1;
		r->check[i] = mb / (now() - start);
		start = now();
		if (pull(doc, &r->ours, &err) < 0)
			return -1;
		r->pull[i] = mb / (now() - start);
#ifdef HAVE_YAJL
		start = now();
		if (sax(doc, &r->theirs) < 0)
			return -1;
		r->peer[i] = mb / (now() - start);
		if (memcmp(&r->ours, &r->theirs, sizeof(r->ours)) != 0)
			return -1;
#endif
	}
	return 0;
}

static void report(const results *r, size_t bytes)
{
	double check = median(r->check), taken = median(r->pull);
#ifdef HAVE_YAJL
	double ratios[PAIRS], low, high, peer = median(r->peer);
	for (int i = 0; i < PAIRS; i++)
		ratios[i] = r->pull[i] / r->peer[i];
	range(ratios, &low, &high);
	printf("json, %.1f MB: check %.0f MB/s, pull %.0f MB/s, yajl SAX %.0f MB/s; pull/yajl %.2f (%.2f to %.2f)\n",
	       (double)bytes / 1e6, check, taken, peer, median(ratios), low, high);
	printf("{\"bench\": \"json\", \"bytes\": %zu, \"pairs\": %d, \"check_mb_s\": %.1f, \"pull_mb_s\": %.1f, "
	       "\"peer\": \"yajl-sax\", \"peer_mb_s\": %.1f, \"ratio\": %.3f, \"ratio_low\": %.3f, \"ratio_high\": "
	       "%.3f}\n",
	       bytes, PAIRS, check, taken, peer, median(ratios), low, high);
#else
	double low, high;
	range(r->pull, &low, &high);
	printf("json, %.1f MB: check %.0f MB/s, pull %.0f MB/s (%.0f to %.0f); yajl is missing, nothing compared\n",
	       (double)bytes / 1e6, check, taken, low, high);
	printf("{\"bench\": \"json\", \"bytes\": %zu, \"pairs\": %d, \"check_mb_s\": %.1f, \"pull_mb_s\": %.1f, "
	       "\"peer\": null}\n",
	       bytes, PAIRS, check, taken);
#endif
}

int main(void)
{
	SHD_AUTO_BUF doc = {0};
	static results r;
	put_document(&doc);
	if (doc.failed || measure(&doc, &r) < 0) {
		(void)fprintf(stderr, "bench_json: the readers failed or disagree\n");
		return 1;
	}
	report(&r, doc.len);
	return 0;
}
