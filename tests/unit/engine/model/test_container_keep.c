/* M-8: a container that is written anew stays cut and packed as it was, however that is. M-9: what is told of it. */
#include "support/memory_store.h"
#include "support/test.h"

#include "codec/crc32.h"
#include "codec/deflate.h"
#include "codec/shuffle.h"
#include "engine/model/container.h"
#include "engine/model/container_out.h"
#include "engine/model/container_parts.h"

#include <sherd/convert.h>
#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

/* "small" is cut into chunks of 50,000 bytes that are packed, "large" into one of 3 MiB that is not. */
enum { SMALL = 40000, SMALL_CHUNK = 50000, LARGE = 3 << 18, LARGE_CHUNK = 3 << 20, FEATURES = 0x50 };

static const uint64_t shapes[][1] = {{SMALL}, {LARGE}};

static int give(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)err;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)((offset + i) / 4 % 7 + array);
	return SHERD_OK;
}

static sherd_model *make_model(void)
{
	static const sherd_tensor arrays[] = {{"small", SHERD_F32, 1, shapes[0], 4 * SMALL},
	                                      {"large", SHERD_F32, 1, shapes[1], 4 * LARGE}};
	static const sherd_model_variable variables[] = {
		{.name = "small", .dtype = SHERD_F32, .has_id = true, .id = {1, 0}, .array = 0},
		{.name = "large", .dtype = SHERD_F32, .has_id = true, .id = {2, 0}, .array = 1}};
	static const sherd_model_graph graph = {.variable_count = 2, .variables = variables};
	static const sherd_pair pairs[] = {{"nd4j.format.type", "APPENDED_BLOB"}, {"who", "I"}};
	const sherd_model_parts parts = {
		.graph = &graph, .arrays = arrays, .array_count = 2, .read = give, .pairs = pairs, .pair_count = 2};
	sherd_model *m = NULL;
	assert_ok(sherd_model_make(&m, &parts, err));
	return m;
}

static void put_chunks(container_out *out, size_t array, container_part *p, bool packed)
{
	uint64_t bytes = p->a.tensor.bytes;
	shd_deflate *d = NULL;
	assert_ok(shd_deflate_open(&d, 6, err));
	for (uint64_t at = 0; at < bytes; at += p->a.chunk_bytes) {
		size_t n = bytes - at < p->a.chunk_bytes ? (size_t)(bytes - at) : p->a.chunk_bytes;
		uint8_t *raw = malloc(n + 1), *mixed = malloc(n + 1), *stored = malloc(n + 1);
		shd_container_chunk c = {.offset = out->at, .stored = (uint32_t)n, .raw = (uint32_t)n};
		(void)give(NULL, array, at, raw, n, NULL);
		memcpy(stored, raw, n);
		if (packed) {
			shd_shuffle(raw, n, 4, mixed);
			c.stored = (uint32_t)shd_deflate_pack(d, mixed, n, stored, n - 1);
			c.codec = SHD_CODEC_DEFLATE;
			c.filter = SHD_FILTER_SHUFFLE;
			c.width = 4;
		}
		c.crc = shd_crc32(0, stored, c.stored);
		assert_ok(sherd_writer_put(out->writer, out->at, stored, c.stored, err));
		out->at += c.stored;
		shd_vec_push(&p->chunks, c);
		free(raw);
		free(mixed);
		free(stored);
	}
	shd_deflate_close(d);
}

/* A container as another program might write it. */
static void put_odd(const char *key)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = make_model();
	SHD_AUTO_BUF index = {0};
	static const uint8_t set[SHD_CONTAINER_SET_BYTES] = {1};
	shd_container_array list[2];
	shd_container_peer peer;
	shd_arena arena = {0};
	container_parts parts;
	container_out out;
	assert_ok(shd_container_parts_make(m, false, &arena, &parts, err));
	assert_ok(shd_container_out_begin(&out, store, key, &(sherd_write_options){0}, err));
	out.head.compatible = FEATURES;
	for (size_t i = 0; i < 2; i++) {
		container_part *p = &parts.list[i];
		p->a.chunk_bytes = i ? LARGE_CHUNK : SMALL_CHUNK;
		put_chunks(&out, i, p, i == 0);
		list[i] = p->a;
		list[i].chunks = p->chunks.items;
		list[i].chunk_count = (uint32_t)p->chunks.count;
	}
	shd_container_out_end_data(&out);
	assert_ok(shd_container_out_section(&out, SHD_SECTION_GRAPH, parts.graph, parts.graph_len, 6, err));
	assert_ok(shd_container_index_encode(list, 2, &index, NULL, err));
	assert_ok(shd_container_out_section(&out, SHD_SECTION_ARRAYS, index.data, index.len, 0, err));
	assert_ok(shd_container_out_finish(&out, set, &peer, err));
	shd_container_parts_done(&parts);
	shd_arena_done(&arena);
}

static void assert_odd(const char *key)
{
	SHD_AUTO(sherd_model, sherd_model_close) base = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) report = NULL;
	const container_record *r;
	assert_ok(sherd_verify(&report, store, key, NULL, err));
	assert_int_equal(sherd_report_errors(report), 0);
	assert_ok(sherd_model_open(&base, store, key, NULL, err));
	const shd_container_model *m = (const shd_container_model *)base;
	assert_int_equal(m->file->head.compatible, FEATURES);
	assert_ok(shd_container_model_record(m, 0, &r, err));
	assert_int_equal(r->array.chunk_bytes, SMALL_CHUNK);
	assert_int_equal(r->array.chunk_count, 4);
	assert_int_equal(r->array.chunks[1].codec, SHD_CODEC_DEFLATE);
	assert_int_equal(r->array.chunks[1].filter, SHD_FILTER_SHUFFLE);
	assert_ok(shd_container_model_record(m, 1, &r, err));
	assert_int_equal(r->array.chunk_bytes, LARGE_CHUNK);
	assert_int_equal(r->array.chunk_count, 1);
	assert_int_equal(r->array.chunks[0].codec, SHD_CODEC_NONE);
	const shd_container_section *s = shd_container_find_section(&m->file->head, SHD_SECTION_GRAPH);
	assert_int_equal(s->flags & SHD_SECTION_CODEC, SHD_CODEC_DEFLATE);
}

TEST(meta_split_join_and_convert_keep_what_is_there)
{
	static const sherd_pair pair = {"a", "b"};
	const sherd_model_save_options one = {.as_it_was = true}, two = {.as_it_was = true, .shards = 2};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_model *m = NULL;
	put_odd("odd.sdc");
	assert_odd("odd.sdc");
	assert_ok(sherd_model_set_pairs(store, "odd.sdc", &pair, 1, NULL, err));
	assert_odd("odd.sdc");
	assert_ok(sherd_model_open(&m, store, "odd.sdc", NULL, err));
	assert_ok(sherd_model_save(m, store, "set", &two, err));
	sherd_model_close(m);
	assert_odd("set");
	assert_ok(sherd_model_set_pairs(store, "set", &pair, 1, NULL, err));
	assert_odd("set");
	assert_ok(sherd_model_open(&m, store, "set", NULL, err));
	assert_ok(sherd_model_save(m, store, "joined.sdc", &one, err));
	sherd_model_close(m);
	assert_odd("joined.sdc");
	const sherd_convert_options as_it_was = {.as_it_was = true};
	assert_ok(sherd_bundle_open(&b, store, "joined.sdc", NULL, err));
	assert_ok(sherd_convert(b, store, "c.sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, &as_it_was, err));
	assert_odd("c.sdc");
}

static const char *value_of(const char *key, const char *pair)
{
	static char value[128];
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	const sherd_pair *pairs;
	assert_ok(sherd_model_open(&m, store, key, NULL, err));
	for (size_t i = sherd_model_pairs(&pairs, m); i-- > 0;)
		if (strcmp(pairs[i].key, pair) == 0)
			return strncpy(value, pairs[i].value, sizeof(value) - 1);
	return NULL;
}

TEST(a_container_tells_who_wrote_it_and_when_and_no_layout_of_other_files)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = make_model();
	sherd_model_save_options o = {.timed = true, .framework = "some 1.2"};
	assert_ok(sherd_model_save(m, store, "m.sdc", &o, err));
	assert_string_equal(value_of("m.sdc", "creation.time"), "0");
	assert_string_equal(value_of("m.sdc", "framework.version"), "some 1.2");
	assert_string_equal(value_of("m.sdc", "who"), "I");
	assert_null(value_of("m.sdc", "nd4j.format.type"));
	SHD_AUTO(sherd_model, sherd_model_close) again = NULL;
	o = (sherd_model_save_options){.time_ns = 5000000, .framework = "other 3"};
	assert_ok(sherd_model_open(&again, store, "m.sdc", NULL, err));
	assert_ok(sherd_model_save(again, store, "n.sdc", &o, err));
	assert_string_equal(value_of("n.sdc", "creation.time"), "0");
	assert_string_equal(value_of("n.sdc", "framework.version"), "some 1.2");
}

TEST(what_is_written_and_checked_is_what_lies_there)
{
	static const sherd_format formats[] = {SHERD_FORMAT_SAMEDIFF_CONTAINER, SHERD_FORMAT_SDZ, SHERD_FORMAT_SDNB};
	SHD_AUTO(sherd_model, sherd_model_close) m = make_model();
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		sherd_report *report = NULL;
		sherd_stat stat;
		uint64_t written = 0;
		sherd_model_save_options o = {.format = formats[i], .replace = true, .written = &written};
		o.compress = i ? SHERD_COMPRESS_NONE : SHERD_COMPRESS_DEFLATE;
		assert_ok(sherd_model_save(m, store, "m", &o, err));
		assert_ok(sherd_store_stat(&stat, store, "m", err));
		assert_int_equal(written, stat.size);
		assert_ok(sherd_verify(&report, store, "m", NULL, err));
		if (i < 2) /* the others have no checksums */
			assert_int_equal(sherd_report_checked_bytes(report), stat.size);
		sherd_report_close(report);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)
	const struct CMUnitTest tests[] = {
		CASE(meta_split_join_and_convert_keep_what_is_there),
		CASE(a_container_tells_who_wrote_it_and_when_and_no_layout_of_other_files),
		CASE(what_is_written_and_checked_is_what_lies_there),
	};
	return cmocka_run_group_tests_name("container_keep", tests, NULL, NULL);
}
