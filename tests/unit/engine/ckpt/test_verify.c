#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"
#include "format/ckpt/meta.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define REPORT SHD_AUTO(sherd_report, sherd_report_close)

static sherd_report *verify(sherd_store *store, const char *key)
{
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, key, NULL, err));
	return r;
}

static void flip(sherd_store *store, const char *key, uint64_t at)
{
	size_t len;
	char *data = object_get(store, key, &len);
	assert_true(at < len);
	data[at] ^= 1;
	object_put(store, key, data, len);
	sherd_free(data);
}

static void assert_error(const sherd_report *r, size_t i, const char *object, const char *reason)
{
	const sherd_error *e = sherd_report_error(r, i);
	assert_non_null(e);
	assert_string_equal(e->object, object);
	assert_string_equal(e->reason, reason);
	assert_true(e->code < 0 && e->message[0]);
}

static void assert_warning(const sherd_report *r, size_t i, const char *object, const char *reason)
{
	const sherd_error *e = sherd_report_warning(r, i);
	assert_non_null(e);
	assert_string_equal(e->object, object);
	assert_string_equal(e->reason, reason);
}

TEST(a_good_set_has_no_errors_and_no_warnings)
{
	SAMPLE s = ckpt_sample_full(1, 3);
	static const char *const names[] = {"m", "m.metadata.json", "m_shard_1.shard"};
	sherd_stat stat;
	uint64_t bytes = 0;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		REPORT r = verify(STORE, names[i]);
		assert_int_equal(sherd_report_errors(r), 0);
		assert_int_equal(sherd_report_warnings(r), 0);
		assert_null(sherd_report_error(r, 0));
		assert_null(sherd_report_warning(r, 0));
	}
	static const char *const files[] = {"m.metadata.json", "m_shard_0.shard", "m_shard_1.shard", "m_shard_2.shard"};
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		assert_ok(sherd_store_stat(&stat, STORE, files[i], err));
		bytes += stat.size;
	}
	REPORT r = verify(STORE, "m");
	assert_int_equal(sherd_report_checked_bytes(r), bytes);
}

TEST(every_damaged_shard_is_named_whatever_the_workers)
{
	SAMPLE s = ckpt_sample_full(2, 4);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	flip(STORE, "m_shard_3.shard", 130);
	flip(STORE, "m_shard_1.shard", 130);
	for (unsigned workers = 1; workers <= 4; workers++) {
		SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
		REPORT r = NULL;
		assert_ok(sherd_pool_open(&pool, workers, err));
		assert_ok(sherd_verify(&r, STORE, "m", &(sherd_verify_options){.pool = pool}, err));
		assert_int_equal(sherd_report_errors(r), 4);
		assert_error(r, 0, "m_shard_1.shard", "bad-crc");
		assert_error(r, 1, "m_shard_1.shard", "bad-checksum");
		assert_error(r, 2, "m_shard_3.shard", "bad-crc");
		assert_error(r, 3, "m_shard_3.shard", "bad-checksum");
		assert_int_equal(sherd_report_error(r, 0)->offset, 128);
	}
}

TEST(quick_looks_at_sizes_and_heads_only)
{
	SAMPLE s = ckpt_sample_full(2, 2);
	sherd_verify_options quick = {.quick = true};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	flip(STORE, "m_shard_1.shard", 130);
	REPORT a = NULL;
	assert_ok(sherd_verify(&a, STORE, "m", &quick, err));
	assert_int_equal(sherd_report_errors(a), 0);
	flip(STORE, "m_shard_1.shard", 4);
	REPORT b = NULL;
	assert_ok(sherd_verify(&b, STORE, "m", &quick, err));
	assert_error(b, 0, "m_shard_1.shard", "bad-rank");
	assert_ok(sherd_store_remove(STORE, "m_shard_1.shard", err));
	REPORT c = NULL;
	assert_ok(sherd_verify(&c, STORE, "m", &quick, err));
	assert_error(c, 0, "m_shard_1.shard", "missing-shard");
}

static void read_meta(sherd_store *store, const char *key, shd_arena *arena, shd_ckpt_meta *out)
{
	size_t len;
	char *text = object_get(store, key, &len);
	assert_ok(shd_ckpt_meta_decode(text, len, NULL, arena, out, err));
	sherd_free(text);
}

/* Puts a shard of another set of the same id, and what its metadata says of it, in the place of m's: nobody would
 * commit that. */
static void exchange_shard(sherd_store *store, uint32_t rank, const char *from, const char *to)
{
	SHD_AUTO_BUF text = {0};
	shd_arena arena = {0};
	shd_ckpt_meta mine, theirs;
	size_t len;
	read_meta(store, "m.metadata.json", &arena, &mine);
	read_meta(store, "n.metadata.json", &arena, &theirs);
	mine.shards[rank] = theirs.shards[rank];
	mine.shards[rank].file = to;
	shd_ckpt_meta_encode(&mine, false, &text);
	object_put(store, "m.metadata.json", text.data, text.len);
	char *shard = object_get(store, from, &len);
	object_put(store, to, shard, len);
	sherd_free(shard);
	shd_arena_done(&arena);
}

/* The two replicas differ and every checksum is right: only comparing them tells. */
TEST(replicas_that_differ_are_an_error)
{
	uint64_t n = 3;
	sherd_ckpt_item a = {.tensor = {"x", SHERD_U8, 1, &n, 0}, .data = "abc"};
	sherd_ckpt_item b = {.tensor = {"x", SHERD_U8, 1, &n, 0}, .data = "abd"};
	sherd_ckpt_shard_items same[2] = {{&a, 1}, {&a, 1}}, others[2] = {{&b, 1}, {&b, 1}};
	sherd_set_id id = {{1}};
	sherd_ckpt_save_options o = {.world = 2, .set_id = &id};
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	uint8_t got[3];
	assert_ok(sherd_ckpt_save(STORE, "m", same, &o, err));
	assert_ok(sherd_ckpt_save(STORE, "n", others, &o, err));
	exchange_shard(STORE, 1, "n_shard_1.shard", "m_shard_1.shard");
	REPORT r = verify(STORE, "m");
	assert_int_equal(sherd_report_errors(r), 1);
	assert_error(r, 0, "m_shard_1.shard", "replica-mismatch");
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_ok(sherd_ckpt_read(c, 0, 0, got, 3, err));
	assert_memory_equal(got, "abc", 3); /* the lowest rank is read */
}

TEST(bad_text_is_an_error_although_its_checksums_are_right)
{
	uint64_t two = 2;
	struct {
		uint64_t offsets[3];
		char text[8];
	} good = {{0, 1, 8}, "abcdefgh"}, backwards = {{0, 9, 8}, "abcdefgh"}, late = {{1, 2, 8}, "abcdefgh"},
	  shorter = {{0, 1, 7}, "abcdefgh"},
	  broken = {{0, 1, 8},
	            "abcd\xff"
	            "fgh"},
	  whole = {{0, 3, 8},
	           "a\xc3\xa9"
	           "defgh"},
	  halved = {{0, 2, 8},
	            "a\xc3\xa9"
	            "defgh"},
	  empty_at_the_end = {{0, 8, 8}, "abcdef\xc3\xa9"};
	const struct {
		const void *data;
		const char *reason;
	} cases[] = {{&good, NULL},          {&backwards, "bad-offsets"},
	             {&late, "bad-offsets"}, {&shorter, "bad-offsets"},
	             {&broken, "bad-utf8"},  {&whole, NULL},
	             {&halved, "bad-utf8"},  {&empty_at_the_end, NULL}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_ckpt_item item = {.tensor = {"x", SHERD_UTF8, 1, &two, 32}, .data = cases[i].data};
		sherd_ckpt_shard_items shard = {&item, 1};
		char prefix[8];
		(void)snprintf(prefix, sizeof(prefix), "m%zu", i);
		assert_ok(sherd_ckpt_save(STORE, prefix, &shard, NULL, err));
		REPORT r = verify(STORE, prefix);
		assert_int_equal(sherd_report_errors(r), cases[i].reason != NULL);
		if (cases[i].reason)
			assert_string_equal(sherd_report_error(r, 0)->reason, cases[i].reason);
	}
}

/* More strings and more text than are read at a time: the one border that cuts a character is found, at its byte. */
TEST(a_border_within_a_character_is_found_among_many)
{
	enum { STRINGS = 40000, EACH = 8, HEAD = 8 * (STRINGS + 1), BYTES = HEAD + STRINGS * EACH, BAD = 39990 };
	const uint64_t n = STRINGS;
	uint8_t *data = malloc(BYTES);
	assert_non_null(data);
	for (uint64_t i = 0; i <= STRINGS; i++) {
		uint64_t offset = i * EACH + (i == BAD);
		memcpy(data + 8 * i, &offset, sizeof(offset));
		if (i < STRINGS)
			memcpy(data + HEAD + i * EACH,
			       "\xc3\xa9\xe2\x82\xac"
			       "xyz",
			       EACH);
	}
	sherd_ckpt_item item = {.tensor = {"x", SHERD_UTF8, 1, &n, BYTES}, .data = data};
	sherd_ckpt_shard_items shard = {&item, 1};
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	assert_ok(sherd_ckpt_save(STORE, "m", &shard, NULL, err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	REPORT r = verify(STORE, "m");
	assert_int_equal(sherd_report_errors(r), 1);
	assert_error(r, 0, "m_shard_0.shard", "bad-utf8");
	const sherd_ckpt_piece *piece;
	assert_int_equal(sherd_ckpt_pieces(&piece, c, 0), 1);
	assert_int_equal(sherd_report_error(r, 0)->offset,
	                 sherd_ckpt_shard_at(c, 0)->data_offset + piece->offset + HEAD + BAD * EACH + 1);
	free(data);
}

/* Replaces, or removes, the set under the eyes of a verification that has read the metadata. */
typedef struct meddler {
	sherd_store *store;
	const ckpt_sample *next; /* NULL: remove */
	unsigned calls, times;
} meddler;

static bool meddle(void *arg, uint64_t done, uint64_t total)
{
	meddler *m = arg;
	(void)done, (void)total;
	if (m->calls++ >= m->times)
		return true;
	if (m->next) {
		assert_ok(ckpt_sample_replace(m->next, m->store, "m", err));
	} else {
		assert_ok(sherd_store_remove(m->store, "m.metadata.json", err));
		assert_ok(sherd_store_remove(m->store, "m_shard_0.shard", err));
		assert_ok(sherd_store_remove(m->store, "m_shard_1.shard", err));
	}
	return true;
}

TEST(a_set_that_is_replaced_meanwhile_is_verified_again_and_not_called_damaged)
{
	SAMPLE a = ckpt_sample_small(1, 2);
	SAMPLE b = ckpt_sample_small(2, 3);
	meddler m = {.store = STORE, .next = b, .times = 1};
	sherd_progress progress = {.update = meddle, .arg = &m};
	REPORT r = NULL;
	assert_ok(ckpt_sample_save(a, STORE, "m", err));
	assert_ok(sherd_verify(&r, STORE, "m", &(sherd_verify_options){.progress = &progress}, err));
	assert_int_equal(sherd_report_errors(r), 0);
	assert_int_equal(sherd_report_warnings(r), 0);
	assert_sample(b, STORE, "m");
	REPORT still = verify(STORE, "m");
	assert_int_equal(sherd_report_checked_bytes(r), sherd_report_checked_bytes(still));
}

TEST(a_set_that_is_removed_meanwhile_is_not_found)
{
	SAMPLE a = ckpt_sample_small(1, 2);
	meddler m = {.store = STORE, .times = 1};
	sherd_progress progress = {.update = meddle, .arg = &m};
	sherd_report *r = NULL;
	assert_ok(ckpt_sample_save(a, STORE, "m", err));
	assert_refused(SHERD_ENOTFOUND, "not-found",
	               sherd_verify(&r, STORE, "m", &(sherd_verify_options){.progress = &progress}, err));
}

TEST(each_of_many_strays_beside_many_shards_is_named)
{
	enum { SHARDS = 1000, STRAYS = 20000 };
	static sherd_ckpt_shard_items none[SHARDS];
	char key[64];
	assert_ok(sherd_ckpt_save(STORE, "m", none, &(sherd_ckpt_save_options){.world = SHARDS}, err));
	for (unsigned i = 0; i < STRAYS; i++) {
		(void)snprintf(key, sizeof(key), "m_shard_%u.shard", SHARDS + i);
		object_put(STORE, key, "", 0);
	}
	sherd_report *r = NULL;
	sherd_verify_options quick = {.quick = true};
	assert_ok(sherd_verify(&r, STORE, "m", &quick, err));
	assert_int_equal(sherd_report_errors(r), 0);
	assert_int_equal(sherd_report_warnings(r), STRAYS);
	sherd_report_close(r);
}

TEST(strays_and_claims_are_warnings)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	SAMPLE other = ckpt_sample_small(2, 1);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(other, 0);
	o.replace = true;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	object_put(STORE, "m_shard_7.shard", "", 0);
	REPORT r = verify(STORE, "m");
	assert_int_equal(sherd_report_errors(r), 0);
	assert_int_equal(sherd_report_warnings(r), 2);
	assert_warning(r, 0, "m.saving", "claimed");
	assert_warning(r, 1, "m_shard_7.shard", "stray-shard");
	sherd_ckpt_saver_abort(saver);
}

TEST(a_set_that_was_never_committed_is_an_error)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	flip(STORE, "m_shard_1.shard", 130);
	REPORT r = verify(STORE, "m");
	assert_error(r, 0, "m", "incomplete");
	assert_error(r, 1, "m_shard_1.shard", "bad-crc");
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_verify(&r, STORE, "nothing", NULL, err));
}

TEST(a_shard_of_another_set_is_recognised)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	SAMPLE twin = ckpt_sample_small(1, 2);
	sherd_store *aside = NULL;
	twin->set_id.bytes[0] ^= 1;
	assert_ok(sherd_store_open_memory(&aside, err));
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(ckpt_sample_save(twin, aside, "m", err));
	object_copy(aside, STORE, "m_shard_1.shard");
	sherd_store_close(aside);
	REPORT r = verify(STORE, "m");
	assert_int_equal(sherd_report_errors(r), 1);
	assert_error(r, 0, "m_shard_1.shard", "bad-checksum");
}

TEST(metadata_of_others_is_held_against_the_data_although_the_shard_has_an_index)
{
	static const char *const offsets[] = {"40", "18446744073709551615", "9223372036854775808", "4096"};
	const uint64_t eight = 8;
	sherd_ckpt_item item = {.tensor = {"t", SHERD_U8, 1, &eight, 8}, .data = "01234567"};
	sherd_ckpt_shard_items shard = {&item, 1};
	assert_ok(sherd_ckpt_save(STORE, "m", &shard, NULL, err));
	size_t len;
	char *head = object_get(STORE, "m_shard_0.shard", &len);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		char text[600];
		int n = snprintf(text, sizeof(text),
		                 "{\"version\": \"1.0.0\", \"worldSize\": 1, \"shards\": [{\"rank\": 0, "
		                 "\"fileSize\": %zu, \"checksum\": \"%.64s\", \"tensors\": [{\"name\": \"t\", "
		                 "\"shape\": [8], \"dataType\": \"UInt8\", \"offset\": %s, \"size\": 8}]}]}",
		                 len, head + 12, offsets[i]);
		object_put(STORE, "m.metadata.json", text, (size_t)n);
		REPORT r = verify(STORE, "m");
		assert_int_equal(sherd_report_errors(r), i > 0);
		if (i)
			assert_error(r, 0, "m.metadata.json", "out-of-range");
	}
	sherd_free(head);
}

static bool stop_now(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return false;
}

TEST(a_verification_can_be_cancelled)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_progress stop = {.update = stop_now};
	sherd_report *r = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_refused(SHERD_ECANCELLED, "cancelled",
	               sherd_verify(&r, STORE, "m", &(sherd_verify_options){.progress = &stop}, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(a_good_set_has_no_errors_and_no_warnings),
		CASE_ON_BOTH(every_damaged_shard_is_named_whatever_the_workers),
		CASE_ON_BOTH(quick_looks_at_sizes_and_heads_only),
		CASE_ON_BOTH(replicas_that_differ_are_an_error),
		CASE_ON_BOTH(bad_text_is_an_error_although_its_checksums_are_right),
		CASE_ON_BOTH(a_border_within_a_character_is_found_among_many),
		CASE_ON_BOTH(a_set_that_is_replaced_meanwhile_is_verified_again_and_not_called_damaged),
		CASE_ON_BOTH(a_set_that_is_removed_meanwhile_is_not_found),
		CASE_IN_MEMORY(each_of_many_strays_beside_many_shards_is_named),
		CASE_ON_BOTH(strays_and_claims_are_warnings),
		CASE_ON_BOTH(a_set_that_was_never_committed_is_an_error),
		CASE_ON_BOTH(a_shard_of_another_set_is_recognised),
		CASE_ON_BOTH(metadata_of_others_is_held_against_the_data_although_the_shard_has_an_index),
		CASE_ON_BOTH(a_verification_can_be_cancelled),
	};
	return cmocka_run_group_tests_name("ckpt_verify", tests, NULL, NULL);
}
