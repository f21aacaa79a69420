/* Checkpoints that were not written by us, or not honestly: each is refused with its code, reason, object and byte. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/fail_sys.h"
#include "support/test.h"

#include "base/buf.h"
#include "codec/crc32.h"
#include "codec/sha256.h"
#include "format/ckpt/index.h"
#include "format/ckpt/shard.h"
#include "store/local/local.h"

#include <sherd/verify.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)

typedef struct refusal {
	int code;
	const char *reason, *object;
	uint64_t offset;
} refusal;

/* Opening fails so, and verification reports the same. */
static void assert_hostile(sherd_store *store, const char *prefix, const sherd_ckpt_options *options,
                           const refusal *want, const char *what)
{
	sherd_ckpt *c = NULL;
	sherd_report *r = NULL;
	sherd_error e = {0};
	int rc = sherd_ckpt_open(&c, store, prefix, options, &e);
	sherd_ckpt_close(c);
	if (rc != want->code || strcmp(e.reason, want->reason) != 0 || strcmp(e.object, want->object) != 0 ||
	    e.offset != want->offset || !e.message[0] || strchr(e.message, '\n'))
		fail_msg("%s: got %d %s in %s at %lld: %s", what, rc, e.reason ? e.reason : "-", e.object,
		         (long long)e.offset, e.message);
	sherd_verify_options v = {.limits = options ? options->limits : NULL};
	assert_ok(sherd_verify(&r, store, prefix, &v, err));
	bool found = false;
	for (size_t i = 0; i < sherd_report_errors(r); i++)
		found |= strcmp(sherd_report_error(r, i)->reason, want->reason) == 0;
	if (!found)
		fail_msg("%s: verify says %s", what,
		         sherd_report_errors(r) ? sherd_report_error(r, 0)->reason : "nothing");
	sherd_report_close(r);
}

/* ---- heads of shards */

#define HEAD4 0x52, 0x41, 0x48, 0x53, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0
#define TENSOR(text) "{\"name\": \"t\", \"dataType\": 7, " text "}"
#define SHARD(text) "{\"rank\": 0, \"fileSize\": 28, \"checksum\": \"\", \"tensors\": [" text "]}"
#define META(shards) "{\"version\": \"1.0.0\", \"worldSize\": 1, \"shards\": [" shards "]}"
#define GOOD TENSOR("\"shape\": [8], \"offset\": 0, \"size\": 8")

static void put_plain(sherd_store *store, const char *metadata)
{
	static const uint8_t shard[28] = {HEAD4, 1, 2, 3, 4, 5, 6, 7, 8};
	object_put(store, "p_shard_0.shard", shard, sizeof(shard));
	object_put(store, "p.metadata.json", metadata, strlen(metadata));
}

TEST(heads_that_lie_are_refused)
{
	CKPT honest_one = NULL;
	static const struct {
		size_t at;
		uint8_t byte;
		refusal want;
	} cases[] = {
		{0, 'S', {SHERD_ECORRUPT, "bad-magic", "p_shard_0.shard", 0}},
		{4, 1, {SHERD_ECORRUPT, "bad-rank", "p_shard_0.shard", 4}},
		{7, 0x80, {SHERD_ECORRUPT, "bad-rank", "p_shard_0.shard", 4}},
		{12, 2, {SHERD_ECORRUPT, "bad-count", "p_shard_0.shard", 12}},
		{15, 0xff, {SHERD_ECORRUPT, "bad-count", "p_shard_0.shard", 12}},
		{16, 9, {SHERD_ECORRUPT, "truncated", "p_shard_0.shard", 28}},
		{16, 7, {SHERD_ECORRUPT, "truncated", "p_shard_0.shard", 28}},
		{19, 0x80, {SHERD_ECORRUPT, "truncated", "p_shard_0.shard", 28}},
		{11, 1, {SHERD_ECORRUPT, "bad-checksum", "p_shard_0.shard", 8}},
		{8, 4, {SHERD_ECORRUPT, "truncated", "p_shard_0.shard", 28}},
	};
	put_plain(STORE, META(SHARD(GOOD)));
	assert_ok(sherd_ckpt_open(&honest_one, STORE, "p", NULL, err));
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint8_t shard[28] = {HEAD4, 1, 2, 3, 4, 5, 6, 7, 8};
		char what[32];
		shard[cases[i].at] = cases[i].byte;
		object_put(STORE, "p_shard_0.shard", shard, sizeof(shard));
		(void)snprintf(what, sizeof(what), "byte %zu", cases[i].at);
		assert_hostile(STORE, "p", NULL, &cases[i].want, what);
	}
}

TEST(a_shard_of_any_other_length_is_refused)
{
	static const uint8_t shard[36] = {HEAD4, 1, 2, 3, 4, 5, 6, 7, 8};
	put_plain(STORE, META(SHARD(GOOD)));
	for (size_t n = 0; n <= sizeof(shard); n++) {
		sherd_ckpt *c = NULL;
		sherd_error e = {0};
		if (n == 28)
			continue;
		object_put(STORE, "p_shard_0.shard", shard, n);
		assert_int_equal(sherd_ckpt_open(&c, STORE, "p", NULL, &e), SHERD_ECORRUPT);
		assert_string_equal(e.reason, n < 28 ? "truncated" : "size-mismatch");
		if (n < 20) /* within the head */
			assert_true(e.offset <= n);
		else
			assert_int_equal(e.offset, n < 28 ? n : 28);
	}
}

/* ---- metadata */

typedef struct lie {
	const char *text;
	int code;
	const char *reason;
	const char *where; /* the text that the offset points to or stands behind; NULL: at 0 */
} lie;

static void assert_lies(sherd_store *store, const lie *lies, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		refusal want = {lies[i].code, lies[i].reason, "p.metadata.json", 0};
		const char *at = lies[i].where ? strstr(lies[i].text, lies[i].where) : lies[i].text;
		assert_non_null(at);
		want.offset = (uint64_t)(at - lies[i].text);
		put_plain(store, lies[i].text);
		assert_hostile(store, "p", NULL, &want, lies[i].text);
	}
}

TEST(tensors_that_lie_are_refused)
{
	static const lie lies[] = {
		{META(SHARD(TENSOR("\"shape\": [8], \"offset\": 1, \"size\": 8"))), SHERD_ECORRUPT, "out-of-range",
	         "{\"name\""},
		{META(SHARD(TENSOR("\"shape\": [8], \"offset\": 18446744073709551615, \"size\": 8"))), SHERD_ECORRUPT,
	         "out-of-range", "{\"name\""},
		{META(SHARD(TENSOR("\"shape\": [9], \"offset\": 0, \"size\": 9"))), SHERD_ECORRUPT, "out-of-range",
	         "{\"name\""},
		{META(SHARD(TENSOR("\"shape\": [7], \"offset\": 0, \"size\": 8"))), SHERD_ECORRUPT, "size-mismatch",
	         "{\"name\""},
		{META(SHARD(TENSOR("\"shape\": [4294967296, 4294967296, 8], \"offset\": 0, \"size\": 0"))),
	         SHERD_ECORRUPT, "bad-shape", "{\"name\""},
		{META(SHARD(TENSOR("\"shape\": [8], \"offset\": 0"))), SHERD_ECORRUPT, "missing-key", "{\"name\""},
		{META(SHARD(TENSOR("\"shape\": [8], \"offset\": 0, \"size\": 8, \"globalShape\": [9]"))),
	         SHERD_ECORRUPT, "bad-piece", "{\"name\""},
		{META(SHARD(
			 TENSOR("\"shape\": [8], \"offset\": 0, \"size\": 8, \"globalShape\": [9], \"globalOffset\": "
	                        "[2]"))),
	         SHERD_ECORRUPT, "bad-piece", "{\"name\""},
		{META(SHARD(TENSOR("\"shape\": [8], \"offset\": 0, \"size\": 8, \"globalShape\": [9, 1], "
	                           "\"globalOffset\": [0, 0]"))),
	         SHERD_ECORRUPT, "bad-piece", "{\"name\""},
		{META(SHARD(GOOD ", " GOOD)), SHERD_ECORRUPT, "bad-count", NULL},
	};
	assert_lies(STORE, lies, COUNT_OF(lies) - 1);
	/* two of one name: the head must agree that there are two */
	uint8_t shard[28] = {HEAD4, 1, 2, 3, 4, 5, 6, 7, 8};
	const char *text = META(SHARD(TENSOR("\"shape\": [4], \"offset\": 0, \"size\": 4") ", " TENSOR(
		"\"shape\": [4], \"offset\": 4, \"size\": 4")));
	refusal want = {SHERD_ECORRUPT, "duplicate-name", "p.metadata.json", 0};
	want.offset = (uint64_t)(strstr(strstr(text, "{\"name\"") + 1, "{\"name\"") - text);
	shard[12] = 2;
	object_put(STORE, "p_shard_0.shard", shard, sizeof(shard));
	object_put(STORE, "p.metadata.json", text, strlen(text));
	assert_hostile(STORE, "p", NULL, &want, "twice");
	/* and two that overlap by a byte */
	text = META(SHARD("{\"name\": \"s\", \"dataType\": 7, \"shape\": [5], \"offset\": 0, \"size\": 5}, " TENSOR(
		"\"shape\": [4], \"offset\": 4, \"size\": 4")));
	want.reason = "overlap";
	want.offset = (uint64_t)(strstr(text, "{\"name\": \"t\"") - text);
	object_put(STORE, "p.metadata.json", text, strlen(text));
	assert_hostile(STORE, "p", NULL, &want, "overlap");
}

TEST(shard_lists_that_lie_are_refused)
{
#define FILE_AT(path) META("{\"rank\": 0, \"fileSize\": 28, \"checksum\": \"\", \"filePath\": " path "}")
	static const lie lies[] = {
		{FILE_AT("\"../p_shard_0.shard\""), SHERD_ECORRUPT, "bad-path", "\"../"},
		{FILE_AT("\"/tmp/../../x\""), SHERD_ECORRUPT, "bad-path", "\"/tmp"},
		{FILE_AT("\"..\""), SHERD_ECORRUPT, "bad-path", "\"..\""},
		{FILE_AT("\".\""), SHERD_ECORRUPT, "bad-path", "\".\""},
		{FILE_AT("\"folder/\""), SHERD_ECORRUPT, "bad-path", "\"folder"},
		{FILE_AT("\"..\\\\p_shard_0.shard\""), SHERD_ECORRUPT, "bad-path", "\"..\\\\"},
		{FILE_AT("\"C:\\\\run\\\\\""), SHERD_ECORRUPT, "bad-path", "\"C:"},
		{FILE_AT("\"C:\\\\run\\\\..\""), SHERD_ECORRUPT, "bad-path", "\"C:"},
		{"{\"version\": \"1.0.0\", \"worldSize\": 2, \"shards\": [" SHARD(GOOD) "]}", SHERD_ECORRUPT,
	         "missing-shards", "2,"},
		{"{\"version\": \"1.0.0\", \"worldSize\": 4294967295, \"shards\": [" SHARD(GOOD) "]}", SHERD_ECORRUPT,
	         "missing-shards", "4294967295,"},
		{"{\"version\": \"1.0.0\", \"worldSize\": 0, \"shards\": []}", SHERD_ECORRUPT, "missing-shards", "0,"},
		{"{\"version\": \"1.0.0\", \"worldSize\": 1, \"sharding\": {\"shardCount\": 18446744073709551615}, "
	         "\"shards\": [" SHARD(GOOD) "]}",
	         SHERD_ECORRUPT, "missing-shards", "18446744073709551615"},
		{"{\"version\": \"1.0.0\", \"worldSize\": 2, \"shards\": [" SHARD(GOOD) ", " SHARD("") "]}",
	         SHERD_ECORRUPT, "duplicate-rank",
	         "{\"rank\": 0, \"fileSize\": 28, \"checksum\": \"\", \"tensors\": []"},
		{"{\"version\": \"2.0.0\", \"worldSize\": 1, \"shards\": []}", SHERD_EVERSION, "bad-version",
	         "\"2.0.0"},
		{"{\"worldSize\": 1, \"shards\": []}", SHERD_ECORRUPT, "missing-key", NULL},
		{"{\"version\": \"1.0.0\", \"worldSize\": 1, \"timestamp\": \"yesterday\"}", SHERD_ECORRUPT, "bad-time",
	         "\"yesterday"},
		{"{\"version\": \"1.0.0\", \"worldSize\": 1, \"setId\": \"12\"}", SHERD_ECORRUPT, "bad-set-id",
	         "\"12\""},
		{"{\"version\": \"1.0.0\", \"worldSize\": 1, \"worldSize\": 1}", SHERD_ECORRUPT, "duplicate-key",
	         "\"worldSize\": 1}"},
		{"{\"version\": \"1.0.0\", \"worldSize\": -1}", SHERD_ECORRUPT, "bad-number", "-1"},
		{"{\"version\": \"1.0.0\", \"worldSize\": 4294967296}", SHERD_ECORRUPT, "bad-number", "4294967296"},
		{"{\"version\": \"1.0.0\", \"x\": \"\xff\"}", SHERD_ECORRUPT, "bad-utf8", "\xff"},
		{"{\"version\": \"1.0.0\", \"x\": \"\\ud800\"}", SHERD_ECORRUPT, "bad-utf8", "\\ud800"},
		{"{\"version\": \"1.0.0\"} x", SHERD_ECORRUPT, "bad-json", "x"},
	};
	assert_lies(STORE, lies, COUNT_OF(lies));
}

TEST(nesting_is_limited)
{
	SHD_AUTO_BUF text = {0};
	refusal want = {SHERD_ELIMIT, "too-deep", "p.metadata.json", 0};
	shd_buf_str(&text, "{\"version\": \"1.0.0\", \"x\": ");
	size_t start = text.len;
	for (int i = 0; i < 10000; i++)
		shd_buf_u8(&text, '[');
	for (int i = 0; i < 10000; i++)
		shd_buf_u8(&text, ']');
	shd_buf_str(&text, "}");
	object_put(STORE, "p.metadata.json", text.data, text.len);
	want.offset = start + 63; /* within the outer object: 64 levels */
	assert_hostile(STORE, "p", NULL, &want, "nested");
}

TEST(limits_are_kept)
{
	sherd_limits limits = {.metadata_bytes = 64};
	sherd_ckpt_options options = {.limits = &limits};
	refusal want = {SHERD_ELIMIT, "too-long", "p.metadata.json", SHERD_NO_OFFSET};
	put_plain(STORE, META(SHARD(GOOD)));
	assert_hostile(STORE, "p", &options, &want, "metadata too long");
	limits = (sherd_limits){.name_bytes = 3};
	SAMPLE s = ckpt_sample_small(1, 1);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	sherd_ckpt *c = NULL;
	assert_refused(SHERD_ELIMIT, "name-too-long", sherd_ckpt_open(&c, STORE, "m", &options, err));
	assert_refused(SHERD_ELIMIT, "name-too-long",
	               sherd_ckpt_open_shard(&c, STORE, "m_shard_0.shard", &options, err));
	limits = (sherd_limits){.dims = 1};
	assert_refused(SHERD_ELIMIT, "too-many-dims", sherd_ckpt_open(&c, STORE, "m", &options, err));
	assert_refused(SHERD_ELIMIT, "too-many-dims",
	               sherd_ckpt_open_shard(&c, STORE, "m_shard_0.shard", &options, err));
	limits = (sherd_limits){.metadata_bytes = 64};
	assert_refused(SHERD_ELIMIT, "too-long", sherd_ckpt_open_shard(&c, STORE, "m_shard_0.shard", &options, err));
	limits = (sherd_limits){.shards = 1};
	SAMPLE two = ckpt_sample_small(1, 2);
	assert_ok(ckpt_sample_save(two, STORE, "n", err));
	assert_refused(SHERD_ELIMIT, "too-many-shards", sherd_ckpt_open(&c, STORE, "n", &options, err));
}

static double seconds(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

TEST(a_gigabyte_of_metadata_is_refused_unread)
{
	char path[4096];
	refusal want = {SHERD_ELIMIT, "too-long", "p.metadata.json", SHERD_NO_OFFSET};
	(void)snprintf(path, sizeof(path), "%s/p.metadata.json", FOLDER);
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	(void)close(fd);
	double start = seconds();
	assert_hostile(STORE, "p", NULL, &want, "1 GB");
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, STORE, "p.metadata.json", NULL, err));
	assert_int_equal(sherd_report_errors(r), 1);
	sherd_report_close(r);
	assert_true(seconds() - start < 1);
}

/* ---- shards that describe themselves, wrongly */

typedef struct forgery {
	shd_ckpt_index index;
	uint32_t head_rank, head_count;
	uint64_t claims; /* data bytes, 0: the truth */
	int64_t trailer; /* added to the index's length after all checksums were made; 0: the truth */
} forgery;

/* Head, 8 bytes of data and an index, with a checksum that is right. */
static void forge(sherd_store *store, const char *key, const forgery *f)
{
	SHD_AUTO_BUF data = {0};
	SHD_AUTO_BUF file = {0};
	uint8_t head[SHD_CKPT_HEAD_SIZE], hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	shd_buf_zero(&data, 40 + 8);
	shd_ckpt_index_encode(&f->index, &data);
	if (f->trailer)
		data.data[data.len - 20] = (uint8_t)(data.data[data.len - 20] + f->trailer);
	shd_sha256_of(data.data, data.len, hash);
	shd_hex(hash, sizeof(hash), hex);
	shd_ckpt_head_encode(f->head_rank, f->head_count, f->claims ? f->claims : data.len, hex, head);
	shd_buf_append(&file, head, sizeof(head));
	shd_buf_append(&file, data.data, data.len);
	object_put(store, key, file.data, file.len);
}

static const uint64_t eight = 8, nine = 9, two_rows = 2, huge_dims[] = {UINT64_MAX, UINT64_MAX};
static const uint32_t crc_of_zeros = 0x6522df69; /* of eight zero bytes */

static forgery honest(shd_ckpt_entry *entry)
{
	*entry = (shd_ckpt_entry){.tensor = {"t", SHERD_U8, 1, &eight, 8}, .offset = 40, .crcs = &crc_of_zeros};
	return (forgery){.index = {.world = 1, .entries = entry, .count = 1}, .head_count = 1};
}

static void assert_forged(sherd_store *store, const forgery *f, int code, const char *reason, const char *what)
{
	sherd_ckpt *c = NULL;
	sherd_error e = {0};
	forge(store, "f_shard_0.shard", f);
	int rc = sherd_ckpt_open_shard(&c, store, "f_shard_0.shard", NULL, &e);
	sherd_ckpt_close(c);
	if (rc != code || strcmp(e.reason, reason) != 0 || strcmp(e.object, "f_shard_0.shard") != 0 ||
	    e.offset == SHERD_NO_OFFSET)
		fail_msg("%s: got %d %s in %s at %lld: %s", what, rc, e.reason ? e.reason : "-", e.object,
		         (long long)e.offset, e.message);
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, "f_shard_0.shard", NULL, err));
	assert_true(sherd_report_errors(r) > 0);
	sherd_report_close(r);
}

/* What is honest but for this change is refused. */
#define LIE(change, code, reason, what)                       \
	do {                                                  \
		f = honest(&e);                               \
		change;                                       \
		assert_forged(STORE, &f, code, reason, what); \
	} while (0)

TEST(indexes_that_lie_are_refused)
{
	shd_ckpt_entry e, two[2];
	forgery f = honest(&e);
	CKPT c = NULL;
	forge(STORE, "f_shard_0.shard", &f);
	assert_ok(sherd_ckpt_open_shard(&c, STORE, "f_shard_0.shard", NULL, err));

	LIE(f.head_rank = 1, SHERD_ECORRUPT, "bad-rank", "head of another rank");
	LIE(f.index.world = 0, SHERD_ECORRUPT, "bad-rank", "rank 0 of 0");
	LIE(f.head_count = 2, SHERD_ECORRUPT, "bad-count", "head of two tensors");
	LIE(f.claims = UINT64_MAX, SHERD_ECORRUPT, "truncated", "2^64-1 bytes of data");
	LIE(f.claims = 100, SHERD_ECORRUPT, "trailing-bytes", "data longer than promised");
	LIE(f.trailer = 1, SHERD_ECORRUPT, "bad-crc", "index longer than it is");
	LIE(e.offset = 1000, SHERD_ECORRUPT, "out-of-range", "offset behind the data");
	LIE(e.offset = UINT64_MAX - 3, SHERD_ECORRUPT, "out-of-range", "offset that overflows");
	LIE(e.offset = 48, SHERD_ECORRUPT, "out-of-range", "data within the index");
	LIE(e.tensor.shape = &nine, SHERD_ECORRUPT, "size-mismatch", "shape of nine");
	LIE((e.tensor.ndim = 2, e.tensor.shape = huge_dims), SHERD_ECORRUPT, "bad-shape", "shape that overflows");
	LIE((e.global_shape = &eight, e.global_offset = &two_rows), SHERD_ECORRUPT, "bad-piece",
	    "piece that leaves its whole");
	LIE(e.tensor.name = "\xc0\x80", SHERD_ECORRUPT, "bad-utf8", "name that is not UTF-8");
	LIE(e.tensor.dtype = (sherd_dtype)200, SHERD_EUNSUPPORTED, "bad-dtype", "unknown type");
	LIE(e.extra = "\"a\": ", SHERD_ECORRUPT, "bad-json", "members that are no JSON");
	LIE(f.index.about = shd_str_of("{\"training\": 1}"), SHERD_ECORRUPT, "bad-type", "training that is no object");

	f = honest(&two[0]);
	two[1] = two[0];
	f.index.entries = two;
	f.index.count = f.head_count = 2;
	assert_forged(STORE, &f, SHERD_ECORRUPT, "overlap", "two tensors in one place");
	two[1].tensor.bytes = 0;
	two[1].tensor.shape = (const uint64_t[]){0};
	assert_forged(STORE, &f, SHERD_ECORRUPT, "duplicate-name", "one name twice");
}

TEST(counts_are_checked_before_memory_is_asked_for)
{
	shd_ckpt_entry entry;
	forgery f = honest(&entry);
	SHD_AUTO_BUF raw = {0};
	shd_arena arena = {0};
	shd_ckpt_index out;
	static const struct {
		size_t at;
		const char *reason;
	} fields[] = {{32, "bad-count"}, {36, "truncated"}, {40, "truncated"}, {45, "too-many-dims"}};
	shd_ckpt_index_encode(&f.index, &raw);
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		uint8_t was[4];
		uint8_t *field = raw.data + fields[i].at;
		size_t n = fields[i].at == 45 ? 1 : 4;
		memcpy(was, field, n);
		memset(field, 0x7f, n);
		shd_put_u32(raw.data + raw.len - 12, shd_crc32(0, raw.data, raw.len - 12));
		sherd_error e = {0};
		int rc = shd_ckpt_index_decode(raw.data, raw.len, NULL, &arena, &out, &e);
		memcpy(field, was, n);
		assert_true(rc == SHERD_ECORRUPT || rc == SHERD_ELIMIT);
		if (strcmp(e.reason, fields[i].reason) != 0 && strcmp(e.reason, "name-too-long") != 0)
			fail_msg("field at %zu: %s: %s", fields[i].at, e.reason, e.message);
	}
	shd_arena_done(&arena);
}

/* ---- sets */

TEST(a_shard_of_another_set_is_refused)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE other = ckpt_sample_small(2, 2);
	sherd_store *aside = NULL;
	sherd_ckpt *c = NULL;
	assert_ok(sherd_store_open_memory(&aside, err));
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	other->set_id = s->set_id;
	other->set_id.bytes[3] ^= 1;
	assert_ok(ckpt_sample_save(other, aside, "m", err));
	object_copy(aside, STORE, "m_shard_1.shard");
	sherd_store_close(aside);
	sherd_error e = {0};
	assert_int_equal(sherd_ckpt_open(&c, STORE, "m", NULL, &e), SHERD_ECORRUPT);
	assert_string_equal(e.object, "m_shard_1.shard");
	assert_true(strcmp(e.reason, "bad-checksum") == 0 || strcmp(e.reason, "truncated") == 0 ||
	            strcmp(e.reason, "size-mismatch") == 0);
}

static void put_pieces(sherd_store *store, const char *second)
{
	SHD_AUTO_BUF text = {0};
	uint8_t shard[28] = {HEAD4, 1, 2, 3, 4, 5, 6, 7, 8};
	object_put(store, "q_shard_0.shard", shard, sizeof(shard));
	shard[4] = 1;
	object_put(store, "q_shard_1.shard", shard, sizeof(shard));
	shd_buf_printf(&text,
	               "{\"version\": \"1.0.0\", \"worldSize\": 2, \"shards\": [{\"rank\": 0, \"fileSize\": 28, "
	               "\"checksum\": \"\", \"tensors\": [{\"name\": \"t\", \"dataType\": 7, \"shape\": [2, 4], "
	               "\"offset\": 0, \"size\": 8, \"globalShape\": [4, 4], \"globalOffset\": [0, 0]}]}, {\"rank\": "
	               "1, \"fileSize\": 28, \"checksum\": \"\", \"tensors\": [{\"name\": \"t\", \"dataType\": 7, "
	               "\"offset\": 0, %s}]}]}",
	               second);
	object_put(store, "q.metadata.json", text.data, text.len);
}

TEST(pieces_must_tile_their_whole)
{
	static const struct {
		const char *piece, *reason;
	} cases[] = {
		{"\"shape\": [2, 4], \"size\": 8, \"globalShape\": [4, 4], \"globalOffset\": [2, 0]", NULL},
		{"\"shape\": [2, 4], \"size\": 8, \"globalShape\": [4, 4], \"globalOffset\": [1, 0]", "overlap"},
		{"\"shape\": [2, 3], \"size\": 6, \"globalShape\": [4, 4], \"globalOffset\": [2, 0]", "missing-piece"},
		{"\"shape\": [1, 4], \"size\": 4, \"globalShape\": [4, 4], \"globalOffset\": [3, 0]", "missing-piece"},
		{"\"shape\": [2, 4], \"size\": 8, \"globalShape\": [4, 4], \"globalOffset\": [0, 0]", "missing-piece"},
		{"\"shape\": [2, 4], \"size\": 8, \"globalShape\": [5, 4], \"globalOffset\": [2, 0]", "bad-piece"},
		{"\"shape\": [2, 4], \"size\": 8", "bad-piece"},
		{"\"shape\": [8], \"size\": 8", "bad-piece"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		CKPT c = NULL;
		sherd_error e = {0};
		put_pieces(STORE, cases[i].piece);
		int rc = sherd_ckpt_open(&c, STORE, "q", NULL, &e);
		assert_int_equal(rc, cases[i].reason ? SHERD_ECORRUPT : SHERD_OK);
		if (!cases[i].reason)
			continue;
		assert_string_equal(e.reason, cases[i].reason);
		assert_string_equal(e.object, "q.metadata.json");
	}
}

TEST(a_whole_beside_pieces_overlaps)
{
	static const char text[] = "{\"version\": \"1.0.0\", \"worldSize\": 2, \"shards\": [{\"rank\": 0, "
				   "\"fileSize\": 28, \"checksum\": \"\", "
				   "\"tensors\": [{\"name\": \"t\", \"dataType\": 7, \"shape\": [8], \"offset\": 0, "
				   "\"size\": 8}]}, {\"rank\": 1, "
				   "\"fileSize\": 28, \"checksum\": \"\", \"tensors\": [{\"name\": \"t\", "
				   "\"dataType\": 7, \"shape\": [4], "
				   "\"offset\": 0, \"size\": 4, \"globalShape\": [8], \"globalOffset\": [0]}]}]}";
	CKPT c = NULL;
	put_pieces(STORE, "\"shape\": [8], \"size\": 8");
	object_put(STORE, "q.metadata.json", text, sizeof(text) - 1);
	assert_refused(SHERD_ECORRUPT, "overlap", sherd_ckpt_open(&c, STORE, "q", NULL, err));
}

static void count_lost(void *arg, const sherd_error *lost)
{
	(void)lost;
	(*(size_t *)arg)++;
}

/* Types whose shapes give no size: what counts is the size of the copy that is there. */
TEST(a_lost_shard_does_not_give_the_size_of_what_is_left)
{
	static const char *const types[] = {"\"Opaque:x\"", "\"Utf8\""};
	enum { DATA = 8192, LIE = 4096, REAL = 16 };
	uint8_t shard[20 + DATA] = {HEAD4};
	shard[4] = 1;
	shard[16] = 0;
	shard[17] = DATA >> 8;
	object_put(STORE, "q_shard_1.shard", shard, sizeof(shard));
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		SHD_AUTO_BUF text = {0};
		CKPT c = NULL;
		size_t lost = 0;
		const sherd_ckpt_options options = {.lost = count_lost, .lost_arg = &lost};
		shd_buf_printf(&text, "{\"version\": \"1.0.0\", \"worldSize\": 2, \"shards\": [");
		for (int rank = 0; rank < 2; rank++)
			shd_buf_printf(&text,
			               "%s{\"rank\": %d, \"fileSize\": %zu, \"checksum\": \"\", \"tensors\": "
			               "[{\"name\": \"w\", \"dataType\": %s, \"shape\": [1], \"offset\": 0, "
			               "\"size\": %d}]}",
			               rank ? ", " : "", rank, sizeof(shard), types[i], rank ? REAL : LIE);
		shd_buf_str(&text, "]}");
		object_put(STORE, "q.metadata.json", text.data, text.len);
		assert_ok(sherd_ckpt_open(&c, STORE, "q", &options, err));
		assert_int_equal(lost, 1);
		assert_int_equal(sherd_ckpt_tensor(c, 0)->bytes, REAL);
		for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++) {
			const sherd_ckpt_load_options o = {.check = (sherd_ckpt_check)check};
			uint8_t *room = malloc(REAL);
			const sherd_ckpt_want want = {.tensor = 0, .buf = room};
			assert_ok(sherd_ckpt_load(c, &want, 1, &o, err));
			assert_memory_equal(room, shard + 20, REAL);
			free(room);
		}
	}
}

TEST(a_missing_shard_is_named)
{
	SAMPLE s = ckpt_sample_small(1, 3);
	refusal want = {SHERD_ECORRUPT, "missing-shard", "m_shard_2.shard", SHERD_NO_OFFSET};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_store_remove(STORE, "m_shard_2.shard", err));
	assert_hostile(STORE, "m", NULL, &want, "missing");
}

TEST(a_link_out_of_the_folder_is_refused)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	char inside[4096], outside[4096];
	sherd_ckpt *c = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	(void)snprintf(inside, sizeof(inside), "%s/m_shard_0.shard", FOLDER);
	(void)snprintf(outside, sizeof(outside), "%s-outside", FOLDER);
	assert_int_equal(rename(inside, outside), 0);
	assert_int_equal(symlink(outside, inside), 0);
	sherd_error e = {0};
	int rc = sherd_ckpt_open(&c, STORE, "m", NULL, &e);
	(void)unlink(outside);
	assert_true(rc < 0);
	assert_string_equal(e.object, "m_shard_0.shard");
}

/* By the table of system calls, since root may read whatever the modes say. */
TEST(permission_denied_is_told_and_nothing_is_lost)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	sherd_store *store = NULL;
	fail_sys sys;
	long denied = 0;
	bool hit;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	fail_sys_init(&sys);
	assert_ok(shd_store_open_local_sys(&store, FOLDER, NULL, &sys.sys, err));
	do {
		sherd_ckpt *c = NULL;
		sherd_error e = {0};
		fail_sys_at(&sys, ++denied, "open", EACCES);
		int rc = sherd_ckpt_open(&c, store, "m", NULL, &e);
		hit = atomic_load(&sys.hit);
		fail_sys_at(&sys, 0, NULL, 0);
		sherd_ckpt_close(c);
		assert_int_equal(rc, hit ? SHERD_EIO : SHERD_OK);
		assert_int_equal(e.os_errno, hit ? EACCES : 0);
		assert_string_equal(e.object, !hit ? "" : denied == 1 ? "m.metadata.json" : "m_shard_0.shard");
	} while (hit);
	assert_int_equal(denied, 3); /* metadata, shard, none */
	sherd_store_close(store);
	assert_sample(s, STORE, "m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(heads_that_lie_are_refused),
		CASE_IN_MEMORY(a_shard_of_any_other_length_is_refused),
		CASE_IN_MEMORY(tensors_that_lie_are_refused),
		CASE_IN_MEMORY(shard_lists_that_lie_are_refused),
		CASE_IN_MEMORY(nesting_is_limited),
		CASE_IN_MEMORY(limits_are_kept),
		CASE_IN_FOLDER(a_gigabyte_of_metadata_is_refused_unread),
		CASE_IN_MEMORY(indexes_that_lie_are_refused),
		CASE_IN_MEMORY(counts_are_checked_before_memory_is_asked_for),
		CASE_ON_BOTH(a_shard_of_another_set_is_refused),
		CASE_IN_MEMORY(pieces_must_tile_their_whole),
		CASE_IN_MEMORY(a_whole_beside_pieces_overlaps),
		CASE_IN_MEMORY(a_lost_shard_does_not_give_the_size_of_what_is_left),
		CASE_ON_BOTH(a_missing_shard_is_named),
		CASE_IN_FOLDER(a_link_out_of_the_folder_is_refused),
		CASE_IN_FOLDER(permission_denied_is_told_and_nothing_is_lost),
	};
	return cmocka_run_group_tests_name("ckpt_hostile", tests, NULL, NULL);
}
