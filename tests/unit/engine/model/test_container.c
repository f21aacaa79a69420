#include "support/container_make.h"
#include "support/memory_store.h"
#include "support/samediff_make.h"
#include "support/test.h"

#include "codec/crc32.h"
#include "engine/tensors/bundle.h"
#include "engine/model/container.h"

#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(void, free)

static const sherd_model_save_options packed = {.compress = SHERD_COMPRESS_DEFLATE};

TEST(a_container_comes_back)
{
	sherd_format format;
	container_write(store, "m.sdc", true, NULL, 0);
	container_assert(store, "m.sdc", true, true);
	assert_ok(sherd_detect(&format, store, "m.sdc", err));
	assert_int_equal(format, SHERD_FORMAT_SAMEDIFF_CONTAINER);
	assert_int_equal(container_verify(store, "m.sdc", NULL), 0);
}

TEST(every_level_comes_back_and_is_smaller)
{
	sherd_stat plain, small;
	container_write(store, "plain", true, NULL, 0);
	assert_ok(sherd_store_stat(&plain, store, "plain", err));
	for (int level = 0; level <= 12; level += 3) {
		sherd_model_save_options o = {.compress = SHERD_COMPRESS_DEFLATE, .level = level, .replace = true};
		container_write(store, "m", true, &o, 0);
		container_assert(store, "m", true, true);
		assert_int_equal(container_verify(store, "m", NULL), 0);
		assert_ok(sherd_store_stat(&small, store, "m", err));
		assert_true(small.size < plain.size * 3 / 4);
	}
}

TEST(pieces_of_any_size_give_the_same_bytes)
{
	static const size_t pieces[] = {1000, 1 << 20, (1 << 20) + 1, 3333333};
	char *want, *got;
	size_t want_len, len;
	container_write(store, "m", true, NULL, 0);
	assert_ok(sherd_store_get(&want, &want_len, store, "m", 1 << 24, err));
	for (size_t i = 0; i < COUNT_OF(pieces); i++) {
		sherd_model_save_options o = {.replace = true};
		container_write(store, "m", true, &o, pieces[i]);
		assert_ok(sherd_store_get(&got, &len, store, "m", 1 << 24, err));
		assert_int_equal(len, want_len);
		assert_memory_equal(got, want, len);
		sherd_free(got);
	}
	sherd_free(want);
}

static void assert_ranges(const char *key)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	assert_ok(sherd_bundle_open(&b, store, key, NULL, err));
	size_t at = sherd_bundle_find(b, "large");
	uint64_t bytes = sherd_bundle_tensor(b, at)->bytes, c = SHD_CONTAINER_CHUNK;
	const uint64_t edges[] = {0, 1, 7, c - 1, c, c + 1, 2 * c, 3 * c - 5, 3 * c, bytes - 1, bytes};
	SHD_AUTO(void, free) got = malloc((size_t)bytes);
	SHD_AUTO(void, free) want = malloc((size_t)bytes);
	for (size_t i = 0; i < COUNT_OF(edges); i++)
		for (size_t k = i; k < COUNT_OF(edges); k++) {
			size_t len = (size_t)(edges[k] - edges[i]);
			assert_ok(sherd_bundle_read(b, at, edges[i], got, len, err));
			(void)container_read(NULL, CONTAINER_LARGE, edges[i], want, len, NULL);
			assert_memory_equal(got, want, len);
		}
}

TEST(any_range_can_be_read)
{
	container_write(store, "plain", true, NULL, 0);
	container_write(store, "packed", true, &packed, 0);
	assert_ranges("plain");
	assert_ranges("packed");
}

TEST(small_steps_give_what_one_large_one_gives)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	container_write(store, "m", true, &packed, 0);
	assert_ok(sherd_bundle_open(&b, store, "m", NULL, err));
	size_t step = 99991;
	for (uint64_t at = 0; at + step <= sherd_bundle_tensor(b, CONTAINER_LARGE)->bytes; at += step) {
		static uint8_t got[99991], want[99991];
		char small[24], wanted[24];
		assert_ok(sherd_bundle_read(b, CONTAINER_LARGE, at, got, step, err));
		(void)container_read(NULL, CONTAINER_LARGE, at, want, step, NULL);
		assert_memory_equal(got, want, step);
		assert_ok(sherd_bundle_read(b, 0, 1, small, 22, err)); /* another array in between */
		(void)container_read(NULL, 0, 1, wanted, 22, NULL);
		assert_memory_equal(small, wanted, 22);
	}
}

TEST(arrays_that_are_not_packed_are_mapped_at_multiples_of_64)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) p = NULL;
	container_write(store, "plain", true, NULL, 0);
	container_write(store, "packed", true, &packed, 0);
	assert_ok(sherd_bundle_open(&b, store, "plain", NULL, err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		const uint8_t *bytes = NULL;
		uint8_t want[4];
		const container_record *r;
		assert_ok(sherd_bundle_map((const void **)&bytes, b, i, err));
		assert_ok(shd_container_model_record((const shd_container_model *)b->model, i, &r, err));
		assert_int_equal(r->array.chunks[0].offset % 64, 0);
		(void)container_read(NULL, i, 0, want, sizeof(want), NULL);
		assert_memory_equal(bytes, want, sizeof(want));
	}
	const void *none;
	assert_ok(sherd_bundle_open(&p, store, "packed", NULL, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&none, p, CONTAINER_LARGE, err));
}

TEST(a_container_may_leave_out_the_updater)
{
	sherd_model_save_options o = {.without_updater = true};
	container_write(store, "m", false, &o, 0);
	container_assert(store, "m", false, false);
	assert_int_equal(container_verify(store, "m", NULL), 0);
}

static const char *value_of(const sherd_model *m, const char *key)
{
	const sherd_pair *pairs;
	size_t count = sherd_model_pairs(&pairs, m);
	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].key, key) == 0)
			return pairs[i].value;
	return NULL;
}

TEST(pairs_are_joined_changed_and_taken_away)
{
	const sherd_pair changes[] = {{"author", NULL}, {"model.name", "another"}, {"new", "\xe2\x82\xac"}};
	sherd_model_save_options o = {
		.pairs = changes, .pair_count = COUNT_OF(changes), .time_ns = 1700000000123999999};
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_model, sherd_model_close) again = NULL;
	container_write(store, "m", false, &o, 0);
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	assert_null(value_of(m, "author"));
	assert_string_equal(value_of(m, "model.name"), "another");
	assert_string_equal(value_of(m, "new"), "\xe2\x82\xac");
	assert_string_equal(value_of(m, "creation.time"), "1700000000123");
	assert_ok(sherd_model_save(m, store, "again", &(sherd_model_save_options){.time_ns = 5000000}, err));
	assert_ok(sherd_model_open(&again, store, "again", NULL, err));
	assert_string_equal(value_of(again, "creation.time"), "1700000000123");
}

TEST(saving_what_was_opened_gives_the_same_bytes)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	char *a, *b;
	size_t len, len_b;
	container_write(store, "m", true, NULL, 0);
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	assert_ok(sherd_model_save(m, store, "copy", NULL, err));
	assert_ok(sherd_store_get(&a, &len, store, "m", 1 << 24, err));
	assert_ok(sherd_store_get(&b, &len_b, store, "copy", 1 << 24, err));
	assert_int_equal(len, len_b);
	assert_memory_equal(a, b, len);
	sherd_free(a);
	sherd_free(b);
}

TEST(a_graph_with_every_field_goes_into_a_container)
{
	SHD_AUTO_BUF full = {0};
	SHD_AUTO(sherd_model, sherd_model_close) legacy = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) before = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) after = NULL;
	samediff_make_full(&full);
	assert_ok(sherd_store_put(store, "full.fb", SHERD_WRITE_NEW, full.data, full.len, err));
	assert_ok(sherd_model_open(&legacy, store, "full.fb", NULL, err));
	assert_ok(sherd_model_save(legacy, store, "full.sdc", &packed, err));
	assert_ok(sherd_bundle_open(&before, store, "full.fb", NULL, err));
	assert_ok(sherd_bundle_open(&after, store, "full.sdc", NULL, err));
	assert_int_equal(sherd_bundle_count(after), sherd_bundle_count(before));
	for (size_t i = 0; i < sherd_bundle_count(after); i++) {
		const sherd_tensor *a = sherd_bundle_tensor(before, i), *b = sherd_bundle_tensor(after, i);
		char x[256], y[256];
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->bytes, b->bytes);
		assert_ok(sherd_bundle_read(before, i, 0, x, (size_t)a->bytes, err));
		assert_ok(sherd_bundle_read(after, i, 0, y, (size_t)b->bytes, err));
		assert_memory_equal(x, y, a->bytes);
	}
	assert_int_equal(container_verify(store, "full.sdc", NULL), 0);
}

/* Puts a section of an unknown type into a small container, behind the others. */
static void add_section(const char *key)
{
	char *raw;
	size_t len;
	uint8_t front[SHD_CONTAINER_FRONT];
	shd_container_head h = {0};
	SHD_AUTO_BUF out = {0};
	assert_ok(sherd_store_get(&raw, &len, store, key, 1 << 20, err));
	assert_ok(shd_container_head_decode((uint8_t *)raw, SHD_CONTAINER_FRONT, len, &h, err));
	h.sections[h.count++] = (shd_container_section){
		.type = 77, .flags = SHD_SECTION_HAS_CRC | 2, .offset = len, .stored = 5, .raw = 500};
	shd_container_section *s = &h.sections[h.count - 1];
	uint8_t head[SHD_SECTION_HEAD];
	shd_section_head_encode(s, head);
	s->crc = shd_crc32(shd_section_crc_begin(s), "hello", 5);
	h.file_size = shd_section_end(s);
	shd_container_head_encode(&h, front);
	shd_buf_append(&out, front, sizeof(front));
	shd_buf_append(&out, raw + sizeof(front), len - sizeof(front));
	shd_buf_append(&out, head, sizeof(head));
	shd_buf_append(&out, "hello", 5);
	shd_buf_u32(&out, s->crc);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
	sherd_free(raw);
}

TEST(unknown_sections_are_skipped_checked_and_kept)
{
	static const char *const keys[] = {"m", "copy", "set.shard0-of-2.sdc"};
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	sherd_error first = {0};
	char *raw, *at;
	size_t len;
	container_write(store, "m", false, NULL, 0);
	add_section("m");
	container_assert(store, "m", false, true);
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	assert_ok(sherd_model_save(m, store, "copy", &packed, err));
	assert_ok(sherd_model_save(m, store, "set", &(sherd_model_save_options){.shards = 2}, err));
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		assert_int_equal(container_verify(store, keys[i], NULL), 0);
		assert_ok(sherd_store_get(&raw, &len, store, keys[i], 1 << 20, err));
		assert_non_null(at = memmem(raw, len, "M\5\0\0\0\0\0\0\0\x12hello", 15));
		at[10] ^= 1;
		assert_ok(sherd_store_put(store, keys[i], SHERD_WRITE_REPLACE, raw, len, err));
		assert_int_equal(container_verify(store, keys[i], &first), 1);
		assert_string_equal(first.reason, "bad-crc");
		assert_int_equal(first.offset, at - raw);
		sherd_free(raw);
	}
}

TEST(what_is_there_is_not_replaced_unless_asked)
{
	sherd_model_writer *w;
	container_write(store, "m", false, NULL, 0);
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_model_writer_open(&w, store, "m", container_parts(false), NULL, err));
	sherd_model_save_options o = {.replace = true};
	container_write(store, "m", true, &o, 0);
	container_assert(store, "m", true, true);
}

TEST(a_writer_is_told_what_it_did_wrong)
{
	sherd_model_writer *w;
	sherd_stat stat;
	char zeros[64] = {0};
	const sherd_model_parts *p = container_parts(false);
	assert_ok(sherd_model_writer_open(&w, store, "m", p, NULL, err));
	assert_ok(sherd_model_writer_append(w, 0, zeros, 10, err));
	assert_refused(SHERD_EINVAL, "incomplete", sherd_model_writer_append(w, 1, zeros, 8, err));
	assert_refused(SHERD_EINVAL, "incomplete", sherd_model_writer_commit(w, err));
	assert_ok(sherd_model_writer_open(&w, store, "m", p, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_model_writer_append(w, 0, zeros, 25, err));
	sherd_model_writer_abort(w);
	assert_ok(sherd_model_writer_open(&w, store, "m", p, NULL, err));
	assert_refused(SHERD_EINVAL, "out-of-range", sherd_model_writer_append(w, 5, zeros, 1, err));
	sherd_model_writer_abort(w);
	assert_ok(sherd_model_writer_open(&w, store, "m", p, NULL, err));
	assert_ok(sherd_model_writer_append(w, 0, zeros, 24, err));
	assert_refused(SHERD_EINVAL, "incomplete", sherd_model_writer_commit(w, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "m", err));
	sherd_model_writer_abort(NULL);
}

TEST(options_that_make_no_sense_are_refused)
{
	sherd_model_writer *w;
	const sherd_model_parts *p = container_parts(false);
	const sherd_model_save_options level = {.level = 13}, codec = {.compress = (sherd_compression)2},
				       legacy = {.format = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_model_writer_open(&w, store, "m", p, &level, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_model_writer_open(&w, store, "m", p, &codec, err));
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_model_writer_open(&w, store, "m", p, &legacy, err));
}

static bool stop(void *arg, uint64_t done, uint64_t total)
{
	(void)total;
	*(uint64_t *)arg = done;
	return false;
}

TEST(a_save_can_be_cancelled_and_leaves_nothing)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	uint64_t done = 0;
	sherd_progress progress = {.update = stop, .arg = &done};
	sherd_model_save_options o = {.progress = &progress, .shards = 2};
	sherd_stat stat;
	container_write(store, "m", true, NULL, 0);
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_model_save(m, store, "n", &o, err));
	assert_true(done > 0);
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "n.shard1-of-2.sdc", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "n.shard.saving", err));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)
	const struct CMUnitTest tests[] = {
		CASE(a_container_comes_back),
		CASE(every_level_comes_back_and_is_smaller),
		CASE(pieces_of_any_size_give_the_same_bytes),
		CASE(any_range_can_be_read),
		CASE(small_steps_give_what_one_large_one_gives),
		CASE(arrays_that_are_not_packed_are_mapped_at_multiples_of_64),
		CASE(a_container_may_leave_out_the_updater),
		CASE(pairs_are_joined_changed_and_taken_away),
		CASE(saving_what_was_opened_gives_the_same_bytes),
		CASE(a_graph_with_every_field_goes_into_a_container),
		CASE(unknown_sections_are_skipped_checked_and_kept),
		CASE(what_is_there_is_not_replaced_unless_asked),
		CASE(a_writer_is_told_what_it_did_wrong),
		CASE(options_that_make_no_sense_are_refused),
		CASE(a_save_can_be_cancelled_and_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
