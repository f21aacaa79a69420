/* The layout of the C# code: 4-byte length, no checksum, types as numbers; and foreign sets in general. */
#include "support/fixtures.h"
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"
#include "codec/sha256.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define REPORT SHD_AUTO(sherd_report, sherd_report_close)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)

static int save(sherd_store *store, const char *prefix, const ckpt_sample *s, sherd_error *err)
{
	sherd_ckpt_save_options o = {.world = s->world, .layout = SHERD_CKPT_LAYOUT_CSHARP};
	return sherd_ckpt_save(store, prefix, s->shards, &o, err);
}

TEST(what_was_saved_comes_back)
{
	for (uint32_t world = 1; world <= 4; world++) {
		SAMPLE s = ckpt_sample_csharp(world, world);
		char prefix[8];
		(void)snprintf(prefix, sizeof(prefix), "m%u", world);
		assert_ok(save(STORE, prefix, s, err));
		assert_sample(s, STORE, prefix);
	}
}

TEST(the_golden_file_is_written_to_the_byte)
{
	static const char want[] = "34d8ee1a081ad76d56589cc75de339c229b0bf11c3da0b0ed94a2a393134bff0";
	static const uint8_t head[] = {0x52, 0x41, 0x48, 0x53, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 17, 0, 0, 0};
	uint64_t n = 17;
	sherd_ckpt_item item = {.tensor = {"text", SHERD_U8, 1, &n, 0}, .data = "Test shard 0 data"};
	sherd_ckpt_shard_items shard = {&item, 1};
	sherd_ckpt_save_options o = {.layout = SHERD_CKPT_LAYOUT_CSHARP};
	uint8_t hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	size_t len;
	assert_ok(sherd_ckpt_save(STORE, "m", &shard, &o, err));
	char *data = object_get(STORE, "m_shard_0.shard", &len);
	assert_int_equal(len, 37);
	assert_memory_equal(data, head, sizeof(head));
	shd_sha256_of(data, len, hash);
	shd_hex(hash, sizeof(hash), hex);
	assert_string_equal(hex, want);
	sherd_free(data);
	char *text = object_get(STORE, "m.metadata.json", &len);
	assert_non_null(strstr(text, "\"dataType\": 7"));
	assert_non_null(strstr(text, "\"checksum\": \"\""));
	assert_non_null(strstr(text, "\"fileSize\": 37"));
	assert_null(strstr(text, "setId"));
	sherd_free(text);
}

TEST(what_the_layout_cannot_hold_is_refused)
{
	static const sherd_dtype types[] = {SHERD_F8_E4M3, SHERD_F8_E5M2, SHERD_C64};
	uint64_t n = 2, zero = 0;
	uint8_t data[64] = {0};
	sherd_ckpt_save_options o = {.layout = SHERD_CKPT_LAYOUT_CSHARP};
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		sherd_ckpt_item item = {.tensor = {"x", types[i], 1, &n, 0}, .data = data};
		sherd_ckpt_shard_items shard = {&item, 1};
		assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", sherd_ckpt_save(STORE, "m", &shard, &o, err));
	}
	sherd_ckpt_item text = {.tensor = {"x", SHERD_UTF8, 1, &n, 24}, .data = data};
	sherd_ckpt_item piece = {.tensor = {"x", SHERD_U8, 1, &n, 0}, .data = data};
	piece.global_shape = &n;
	piece.global_offset = &zero;
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
	               sherd_ckpt_save(STORE, "m", &(sherd_ckpt_shard_items){&text, 1}, &o, err));
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
	               sherd_ckpt_save(STORE, "m", &(sherd_ckpt_shard_items){&piece, 1}, &o, err));
	sherd_ckpt_saver *saver = NULL;
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	o.replace = true;
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_save(STORE, "m", &(sherd_ckpt_shard_items){NULL, 0}, &o, err));
	assert_keys(STORE, "");
}

static int zeros(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)offset, (void)err;
	memset(buf, 0, len);
	return SHERD_OK;
}

static bool cancel_early(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)total;
	return done < (1u << 20);
}

/* Refused from the sizes alone: the source would otherwise be cancelled after a megabyte. */
TEST(two_gibibytes_are_refused_before_they_are_written)
{
	uint64_t n = (uint64_t)INT32_MAX + 1;
	sherd_ckpt_item item = {.tensor = {"x", SHERD_U8, 1, &n, 0}, .read = zeros};
	sherd_ckpt_shard_items shard = {&item, 1};
	sherd_progress progress = {.update = cancel_early};
	sherd_ckpt_save_options o = {.layout = SHERD_CKPT_LAYOUT_CSHARP, .progress = &progress};
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", sherd_ckpt_save(STORE, "m", &shard, &o, err));
	assert_keys(STORE, "");
}

TEST(a_second_save_is_refused_and_a_dead_one_cleared)
{
	SAMPLE s = ckpt_sample_csharp(1, 2);
	SAMPLE ours = ckpt_sample_small(2, 1);
	assert_ok(save(STORE, "m", s, err));
	assert_refused(SHERD_EEXIST, "exists", save(STORE, "m", s, err));
	assert_ok(ckpt_sample_replace(ours, STORE, "m", err));
	assert_sample(ours, STORE, "m");
}

static void open_fixture(sherd_store **store, const char *folder)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/checkpoint/%s", fixtures_folder(), folder);
	assert_ok(sherd_store_open_local(store, path, NULL, err));
}

static void assert_only_warnings(sherd_store *store, const char *prefix, const char *reason)
{
	REPORT r = NULL;
	bool found = false;
	assert_ok(sherd_verify(&r, store, prefix, NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
	assert_true(sherd_report_warnings(r) > 0);
	for (size_t i = 0; i < sherd_report_warnings(r); i++)
		found |= strcmp(sherd_report_warning(r, i)->reason, reason) == 0;
	assert_true(found);
}

TEST(the_four_byte_fixture_is_read)
{
	(void)fixtures_folder();
	sherd_store *store = NULL;
	char text[18] = "";
	open_fixture(&store, "four-byte-length");
	{
		CKPT c = NULL;
		assert_ok(sherd_ckpt_open(&c, store, "run", NULL, err));
		assert_int_equal(sherd_ckpt_count(c), 1);
		assert_string_equal(sherd_ckpt_tensor(c, 0)->name, "text");
		assert_int_equal(sherd_ckpt_tensor(c, 0)->dtype, SHERD_U8);
		assert_ok(sherd_ckpt_read(c, 0, 0, text, 17, err));
		assert_string_equal(text, "Test shard 0 data");
		assert_false(sherd_ckpt_describe(c)->has_set_id);
		assert_int_equal(sherd_ckpt_describe(c)->about.step, 10);
	}
	assert_only_warnings(store, "run", "no-checksum");
	assert_only_warnings(store, "run", "no-seal");
	sherd_store_close(store);
}

TEST(the_eight_byte_fixture_is_read)
{
	(void)fixtures_folder();
	sherd_store *store = NULL;
	open_fixture(&store, "eight-byte-length");
	{
		CKPT c = NULL;
		assert_ok(sherd_ckpt_open(&c, store, "step-7", NULL, err));
		assert_int_equal(sherd_ckpt_count(c), 4);
		for (size_t i = 0; i < 4; i++) {
			const sherd_tensor *t = sherd_ckpt_tensor(c, i);
			const sherd_ckpt_piece *piece = NULL;
			uint8_t got[64];
			size_t len;
			sherd_ckpt_want want = {.tensor = i, .buf = got};
			assert_ok(sherd_ckpt_load(c, &want, 1,
			                          &(sherd_ckpt_load_options){SHERD_CHECK_DIGEST, NULL, NULL}, err));
			assert_int_equal(sherd_ckpt_pieces(&piece, c, i), 1);
			char *raw = object_get(store, sherd_ckpt_shard_at(c, piece->shard)->file, &len);
			assert_memory_equal(got, raw + 88 + piece->offset, t->bytes);
			sherd_free(raw);
		}
		assert_string_equal(sherd_ckpt_describe(c)->about.fields[0].value, "demo");
	}
	assert_only_warnings(store, "step-7", "no-seal");
	sherd_store_close(store);
}

static void copy_cut(sherd_store *from, sherd_store *to, const char *key, size_t less)
{
	size_t len;
	char *data = object_get(from, key, &len);
	object_put(to, key, data, len - less);
	sherd_free(data);
}

/* An 8-byte shard that lost 4 bytes is as long as a 4-byte shard would be. */
TEST(a_shard_cut_by_four_bytes_is_truncated)
{
	(void)fixtures_folder();
	sherd_store *store = NULL;
	CKPT c = NULL;
	SAMPLE s = ckpt_sample_small(1, 1);
	open_fixture(&store, "eight-byte-length");
	object_copy(store, STORE, "step-7.metadata.json");
	object_copy(store, STORE, "step-7_shard_0.shard");
	copy_cut(store, STORE, "step-7_shard_1.shard", 4);
	sherd_store_close(store);
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_ckpt_open(&c, STORE, "step-7", NULL, err));
	assert_refused(SHERD_ECORRUPT, "truncated",
	               sherd_ckpt_open_shard(&c, STORE, "step-7_shard_1.shard", NULL, err));
	assert_fails(SHERD_ECORRUPT, 124, sherd_ckpt_open_shard(&c, STORE, "step-7_shard_1.shard", NULL, err));
	/* ours, too */
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	copy_cut(STORE, STORE, "m_shard_0.shard", 4);
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_ckpt_open_shard(&c, STORE, "m_shard_0.shard", NULL, err));
	/* and one without a checksum, of which the metadata knows the right size */
	static const char text[] =
		"{\"version\": \"1.0.0\", \"worldSize\": 1, \"shards\": [{\"rank\": 0, \"fileSize\": 32, "
		"\"checksum\": \"\", \"tensors\": [{\"name\": \"t\", \"shape\": [8], \"dataType\": 7, "
		"\"offset\": 0, \"size\": 8}]}]}";
	uint8_t plain[32] = {0x52, 0x41, 0x48, 0x53, [12] = 1, [16] = 8};
	object_put(STORE, "p.metadata.json", text, sizeof(text) - 1);
	object_put(STORE, "p_shard_0.shard", plain, sizeof(plain));
	assert_ok(sherd_ckpt_open(&c, STORE, "p", NULL, err));
	sherd_ckpt_close(TAKE(c));
	object_put(STORE, "p_shard_0.shard", plain, sizeof(plain) - 4);
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_ckpt_open(&c, STORE, "p", NULL, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(what_was_saved_comes_back),
		CASE_ON_BOTH(the_golden_file_is_written_to_the_byte),
		CASE_IN_MEMORY(what_the_layout_cannot_hold_is_refused),
		CASE_IN_MEMORY(two_gibibytes_are_refused_before_they_are_written),
		CASE_ON_BOTH(a_second_save_is_refused_and_a_dead_one_cleared),
		CASE_IN_MEMORY(the_four_byte_fixture_is_read),
		CASE_IN_MEMORY(the_eight_byte_fixture_is_read),
		CASE_IN_MEMORY(a_shard_cut_by_four_bytes_is_truncated),
	};
	return cmocka_run_group_tests_name("ckpt_csharp", tests, NULL, NULL);
}
