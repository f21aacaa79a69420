/* M-12: what the document says of odd containers, each with the word that it gives. */
#include "support/container_make.h"
#include "support/memory_store.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "codec/crc32.h"
#include "engine/model/container.h"
#include "engine/model/container_set.h"

#include <stdlib.h>
#include <string.h>

enum { DIRECTORY = 74, ENTRY = 32, COUNT_AT = 66, HEADER_CRC = SHD_CONTAINER_FRONT - SHD_SECTION_CRC };

static uint8_t *load(size_t *len)
{
	char *raw;
	container_write(store, "m", false, &(sherd_model_save_options){.replace = true}, 0);
	assert_ok(sherd_store_get(&raw, len, store, "m", 1 << 20, err));
	return (uint8_t *)raw;
}

/* The section i of the file. */
static shd_container_section section(const uint8_t *raw, uint32_t i)
{
	const uint8_t *e = raw + DIRECTORY + (size_t)i * ENTRY;
	shd_container_section s = {.type = e[0], .flags = e[1], .offset = shd_get_u64(e + 8)};
	s.stored = shd_get_u64(e + 16);
	return s;
}

/* Puts all checksums right. */
static void mend(uint8_t *raw)
{
	uint32_t count = shd_get_u32(raw + COUNT_AT);
	for (uint32_t i = 0; i < count; i++) {
		shd_container_section s = section(raw, i);
		uint8_t *payload = raw + shd_section_payload(&s), *index = payload;
		if (!(s.flags & SHD_SECTION_HAS_CRC))
			continue;
		for (uint64_t k = 0; s.type == SHD_SECTION_ARRAYS && k < shd_get_u64(index); k++) {
			uint8_t *e = index + SHD_CONTAINER_INDEX_HEAD + k * SHD_CONTAINER_ENTRY;
			shd_put_u32(e + 20, shd_crc32(0, index + shd_get_u64(e + 8), shd_get_u32(e + 16)));
		}
		uint32_t crc = shd_crc32(shd_section_crc_begin(&s), payload, (size_t)s.stored);
		shd_put_u32(payload + s.stored, crc);
		shd_put_u32(raw + DIRECTORY + (size_t)i * ENTRY + 4, crc);
	}
	shd_put_u32(raw + HEADER_CRC, shd_crc32(0, raw + 16, HEADER_CRC - 16));
}

/* The record of the array that has this name, in the file. */
static uint8_t *record_of(uint8_t *raw, const char *name)
{
	shd_container_section s = section(raw, shd_get_u32(raw + COUNT_AT) - 1);
	uint8_t *index = raw + shd_section_payload(&s);
	for (uint64_t k = 0; k < shd_get_u64(index); k++) {
		const uint8_t *e = index + SHD_CONTAINER_INDEX_HEAD + k * SHD_CONTAINER_ENTRY;
		uint8_t *r = index + shd_get_u64(e + 8);
		uint32_t len = shd_get_u32(r + 16), key = shd_get_u32(r + 20), whole = shd_get_u32(e + 16);
		if (len == strlen(name) && memcmp(r + whole - key - len, name, len) == 0)
			return r;
	}
	fail();
	return NULL;
}

static void more_sections(uint8_t *raw)
{
	shd_put_u32(raw + COUNT_AT, 30);
}

static void no_index(uint8_t *raw)
{
	for (uint32_t i = 0; i < shd_get_u32(raw + COUNT_AT); i++) {
		shd_container_section s = section(raw, i);
		if (s.type == SHD_SECTION_ARRAYS)
			raw[DIRECTORY + i * ENTRY] = raw[s.offset] = 9;
	}
}

static void flag_bits(uint8_t *raw)
{
	shd_container_section s = section(raw, 1);
	raw[DIRECTORY + ENTRY + 1] = raw[s.offset + 9] |= 0x20;
}

static void unknown_role(uint8_t *raw)
{
	record_of(raw, "w")[2] = 4;
}

/* Entries 0 and 1 change places; records stay where they are. */
static void wrong_order(uint8_t *raw)
{
	shd_container_section s = section(raw, shd_get_u32(raw + COUNT_AT) - 1);
	uint8_t *entries = raw + shd_section_payload(&s) + SHD_CONTAINER_INDEX_HEAD, kept[SHD_CONTAINER_ENTRY];
	memcpy(kept, entries, sizeof(kept));
	memmove(entries, entries + sizeof(kept), sizeof(kept));
	memcpy(entries + sizeof(kept), kept, sizeof(kept));
}

static void too_many_chunks(uint8_t *raw)
{
	shd_put_u32(record_of(raw, "large") + 24, 100);
}

static void no_chunk_size(uint8_t *raw)
{
	shd_put_u32(record_of(raw, "large") + 24, 0);
}

TEST(what_contradicts_the_format_has_the_word_of_the_document)
{
	static const struct {
		void (*spoil)(uint8_t *raw);
		const char *word;
	} rows[] = {{more_sections, "bad-count"}, {no_index, "no-index"},     {flag_bits, "reserved"},
	            {unknown_role, "bad-role"},   {wrong_order, "bad-index"}, {too_many_chunks, "bad-count"},
	            {no_chunk_size, "too-large"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t len;
		sherd_error first = {.reason = ""};
		uint8_t *raw = load(&len);
		rows[i].spoil(raw);
		mend(raw);
		assert_ok(sherd_store_put(store, "m", SHERD_WRITE_REPLACE, raw, len, err));
		assert_true(container_verify(store, "m", &first) > 0);
		assert_string_equal(first.reason, rows[i].word);
		sherd_free(raw);
	}
}

/* A chunk that is shuffled and not packed, and compatible features of somebody else. */
TEST(odd_but_good_containers_are_read)
{
	size_t len;
	uint8_t *raw = load(&len), *r = record_of(raw, "large"), *c = r + 32 + 8, mixed[160];
	uint8_t *data = raw + shd_get_u64(c);
	for (size_t i = 0; i < 160; i++) /* 40 elements of 4 bytes */
		mixed[i % 4 * 40 + i / 4] = data[i];
	memcpy(data, mixed, sizeof(mixed));
	shd_put_u32(c + 16, shd_crc32(0, data, sizeof(mixed)));
	c[21] = SHD_FILTER_SHUFFLE;
	c[22] = 4;
	raw[26] = 0x80;
	mend(raw);
	assert_ok(sherd_store_put(store, "m", SHERD_WRITE_REPLACE, raw, len, err));
	assert_int_equal(container_verify(store, "m", NULL), 0);
	container_assert(store, "m", false, true);
	sherd_free(raw);
}

TEST(keys_may_be_empty)
{
	static const sherd_pair empty = {"", "value"};
	const sherd_model_save_options o = {.pairs = &empty, .pair_count = 1};
	sherd_model *m = NULL;
	const sherd_pair *pairs;
	container_write(store, "m", false, &o, 0);
	assert_int_equal(container_verify(store, "m", NULL), 0);
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	assert_int_equal(sherd_model_pairs(&pairs, m), 3);
	assert_string_equal(pairs[0].key, "");
	sherd_model_close(m);
}

static const uint64_t none[] = {0}, some[] = {7};

/* An array without bytes is told of by shard 0 and by the shard that it went to, and needs no other shard. */
TEST(arrays_without_bytes_need_shard_0_alone)
{
	static const sherd_tensor arrays[] = {{"full", SHERD_U8, 1, some, 7}, {"none", SHERD_U8, 1, none, 0}};
	static const sherd_model_variable variables[] = {
		{.name = "full", .dtype = SHERD_U8, .has_id = true, .id = {1, 0}, .array = 0},
		{.name = "none", .dtype = SHERD_U8, .has_id = true, .id = {2, 0}, .array = 1}};
	static const sherd_model_graph graph = {.variable_count = 2, .variables = variables};
	const sherd_model_parts parts = {.graph = &graph, .arrays = arrays, .array_count = 2, .read = container_read};
	sherd_model *m = NULL;
	container_record *r = NULL;
	container_file *f = NULL;
	sherd_bundle *b = NULL;
	assert_ok(sherd_model_make(&m, &parts, err));
	assert_ok(sherd_model_save(m, store, "m", &(sherd_model_save_options){.shards = 2}, err));
	sherd_model_close(m);
	assert_ok(shd_container_file_open(&f, store, "m.shard1-of-2.sdc", NULL, err));
	assert_int_equal(f->arrays, 1);
	assert_ok(shd_container_file_find(f, "none", &r, err));
	assert_int_equal(r->array.shard, 1);
	assert_int_equal(r->array.chunk_count, 0);
	assert_int_equal(r->array.chunk_bytes, SHD_CONTAINER_CHUNK);
	shd_container_record_close(r);
	shd_container_file_close(f);
	assert_ok(sherd_store_remove(store, "m.shard1-of-2.sdc", err));
	assert_ok(sherd_bundle_open(&b, store, "m", NULL, err));
	uint8_t got[8];
	assert_ok(sherd_bundle_read(b, 0, 0, got, 7, err));
	assert_ok(sherd_bundle_read(b, 1, 0, got, 0, err));
	sherd_bundle_close(b);
}

static void rename_object(const char *from, const char *to)
{
	char *raw;
	size_t len;
	assert_ok(sherd_store_get(&raw, &len, store, from, 1 << 20, err));
	assert_ok(sherd_store_put(store, to, SHERD_WRITE_REPLACE, raw, len, err));
	assert_ok(sherd_store_remove(store, from, err));
	sherd_free(raw);
}

/* Each stands for the one before; what interrupted saves left of the older ones does not count, whatever the order of
 * names. */
TEST(of_three_sets_the_one_that_no_other_stands_for_is_opened)
{
	static const uint32_t shards[] = {2, 3, 10};
	static const char *const firsts[] = {"m.shard0-of-2.sdc", "m.shard0-of-3.sdc"};
	static const char *const kept[] = {"kept2", "kept3"};
	shd_arena arena = {0};
	const char *key;
	for (size_t i = 0; i < 3; i++) {
		container_write(store, "m", false, &(sherd_model_save_options){.shards = shards[i], .replace = true},
		                0);
		if (i < 2) {
			char *raw;
			size_t len;
			assert_ok(sherd_store_get(&raw, &len, store, firsts[i], 1 << 20, err));
			assert_ok(sherd_store_put(store, kept[i], SHERD_WRITE_NEW, raw, len, err));
			sherd_free(raw);
		}
	}
	for (size_t i = 0; i < 2; i++)
		rename_object(kept[i], firsts[i]);
	assert_ok(shd_container_find_set(store, "m", &arena, &key, err));
	assert_string_equal(key, "m.shard0-of-10.sdc");
	assert_ok(sherd_store_remove(store, "m.shard0-of-3.sdc", err)); /* nothing leads from 10 to 2 any more */
	assert_refused(SHERD_ECORRUPT, "two-sets", shd_container_find_set(store, "m", &arena, &key, err));
	shd_arena_done(&arena);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)
	const struct CMUnitTest tests[] = {
		CASE(what_contradicts_the_format_has_the_word_of_the_document),
		CASE(odd_but_good_containers_are_read),
		CASE(keys_may_be_empty),
		CASE(arrays_without_bytes_need_shard_0_alone),
		CASE(of_three_sets_the_one_that_no_other_stands_for_is_opened),
	};
	return cmocka_run_group_tests_name("container_words", tests, NULL, NULL);
}
