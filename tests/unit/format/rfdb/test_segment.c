#include "support/fixtures.h"
#include "support/rfdb_files.h"
#include "support/scratch.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/rfdb/id.h"
#include "format/rfdb/segment.h"

#include <stdlib.h>
#include <string.h>

static shd_rfdb_segment opened(const shd_buf *raw)
{
	shd_rfdb_segment s = {0};
	assert_ok(shd_rfdb_segment_open(raw->data, raw->len, &s, err));
	return s;
}

static bool same(shd_str a, shd_str b)
{
	return shd_str_compare(a, b) == 0;
}

TEST(nodes_are_read_as_they_were_written)
{
	SHD_AUTO_BUF raw = {0};
	char text[256];
	rfdb_make_nodes(333, false, &raw);
	shd_rfdb_segment s = opened(&raw);
	assert_ok(shd_rfdb_segment_check(&s, err));
	assert_int_equal(s.rows, 333);
	for (uint64_t i = 0; i < s.rows; i++) {
		shd_rfdb_node want = rfdb_node(i, text), got;
		assert_ok(shd_rfdb_segment_node(&s, i, &got, err));
		assert_true(got.id == want.id && got.content_hash == want.content_hash);
		assert_true(same(got.semantic_id, want.semantic_id) && same(got.type, want.type));
		assert_true(same(got.name, want.name) && same(got.file, want.file) &&
		            same(got.metadata, want.metadata));
		assert_true(shd_rfdb_bloom_has(&s.bloom, want.id));
		assert_int_equal(shd_rfdb_zone_has(&s.zone, "file", want.file), SHD_RFDB_YES);
	}
	shd_rfdb_node none;
	assert_refused(SHERD_ECORRUPT, "out-of-range", shd_rfdb_segment_node(&s, 333, &none, err));
}

TEST(edges_are_read_as_they_were_written)
{
	SHD_AUTO_BUF raw = {0};
	rfdb_make_edges(200, false, &raw);
	shd_rfdb_segment s = opened(&raw);
	assert_ok(shd_rfdb_segment_check(&s, err));
	for (uint64_t i = 0; i < s.rows; i++) {
		shd_rfdb_edge want = rfdb_edge(i), got;
		assert_ok(shd_rfdb_segment_edge(&s, i, &got, err));
		assert_true(got.src == want.src && got.dst == want.dst);
		assert_true(same(got.type, want.type) && same(got.metadata, want.metadata));
		assert_true(shd_rfdb_bloom_has(&s.bloom, want.src) && shd_rfdb_bloom_has(&s.dst_bloom, want.dst));
	}
	shd_rfdb_edge none;
	assert_refused(SHERD_ECORRUPT, "out-of-range", shd_rfdb_segment_edge(&s, UINT64_MAX, &none, err));
}

TEST(an_empty_segment_is_one)
{
	for (int kind = 0; kind < 2; kind++) {
		SHD_AUTO_BUF raw = {0};
		shd_rfdb_writer w;
		shd_rfdb_writer_init(&w, (shd_rfdb_kind)kind);
		rfdb_finish(&w, &raw);
		shd_rfdb_segment s = opened(&raw);
		assert_int_equal(s.kind, kind);
		assert_int_equal(s.rows, 0);
		assert_ok(shd_rfdb_segment_check(&s, err));
		assert_true(shd_rfdb_segment_sorted(&s));
		assert_int_equal(shd_rfdb_segment_seek(&s, 5), 0);
		shd_rfdb_writer_done(&w);
	}
}

TEST(sorted_segments_are_searched)
{
	SHD_AUTO_BUF nodes = {0}, edges = {0}, loose = {0};
	rfdb_make_nodes(5000, true, &nodes);
	rfdb_make_edges(5000, true, &edges);
	rfdb_make_nodes(5000, false, &loose);
	shd_rfdb_segment s = opened(&nodes), e = opened(&edges), l = opened(&loose);
	assert_true(shd_rfdb_segment_sorted(&s) && shd_rfdb_segment_sorted(&e));
	assert_false(shd_rfdb_segment_sorted(&l));
	for (uint64_t row = 0; row < s.rows; row++) {
		shd_u128 id = shd_rfdb_segment_id(&s, row);
		assert_int_equal(shd_rfdb_segment_seek(&s, id), row);
		assert_int_equal(shd_rfdb_segment_seek(&s, id + 1), row + 1);
	}
	for (uint64_t row = 1; row < e.rows; row++) {
		shd_u128 id = shd_rfdb_segment_id(&e, row);
		uint64_t first = shd_rfdb_segment_seek(&e, id);
		assert_true(first <= row && shd_rfdb_segment_id(&e, first) == id);
		assert_true(first == 0 || shd_rfdb_segment_id(&e, first - 1) < id);
	}
	assert_int_equal(shd_rfdb_segment_seek(&s, 0), 0);
	assert_int_equal(shd_rfdb_segment_seek(&s, ~(shd_u128)0), s.rows);
	for (uint64_t row = 0; row < l.rows; row++)
		assert_true(shd_rfdb_segment_seek(&l, shd_rfdb_segment_id(&l, row)) <= l.rows);
}

/* Ids that are not spread like hashes: small numbers, and a few that are huge. */
TEST(ids_of_any_kind_are_found)
{
	SHD_AUTO_BUF raw = {0};
	shd_rfdb_writer w;
	shd_rfdb_node node = {0};
	shd_rfdb_writer_init(&w, SHD_RFDB_NODES);
	node.semantic_id = node.type = node.name = node.file = node.metadata = SHD_STR("x");
	for (uint64_t i = 0; i < 3000; i++) {
		node.id = i < 2990 ? (shd_u128)i * 3 : ~(shd_u128)0 - (3000 - i) * 5;
		assert_ok(shd_rfdb_writer_node(&w, &node, err));
	}
	rfdb_finish(&w, &raw);
	shd_rfdb_writer_done(&w);
	shd_rfdb_segment s = opened(&raw);
	for (uint64_t i = 0; i < 3000; i++)
		assert_int_equal(shd_rfdb_segment_seek(&s, shd_rfdb_segment_id(&s, i)), i);
	assert_int_equal(shd_rfdb_segment_seek(&s, 10), 4);
}

TEST(the_writer_lists_what_a_descriptor_needs)
{
	shd_rfdb_writer w;
	char text[256];
	shd_str *files, *types;
	size_t file_count, type_count;
	shd_rfdb_writer_init(&w, SHD_RFDB_NODES);
	assert_ok(shd_rfdb_writer_reserve(&w, 100, err));
	for (uint64_t i = 0; i < 100; i++) {
		shd_rfdb_node node = rfdb_node(i, text);
		assert_ok(shd_rfdb_writer_node(&w, &node, err));
	}
	assert_ok(shd_rfdb_writer_values(&w, SHD_RFDB_ZONE_FILES, &files, &file_count, err));
	assert_ok(shd_rfdb_writer_values(&w, SHD_RFDB_ZONE_TYPES, &types, &type_count, err));
	assert_int_equal(type_count, 4);
	assert_true(shd_str_is(types[0], "CLASS") && shd_str_is(types[3], "VARIABLE"));
	for (size_t i = 1; i < file_count; i++)
		assert_true(shd_str_compare(files[i - 1], files[i]) < 0);
	SHD_AUTO_BUF raw = {0};
	rfdb_finish(&w, &raw);
	shd_rfdb_segment s = opened(&raw);
	assert_int_equal(shd_rfdb_writer_size(&w), raw.len - s.zone.len);
	free(files);
	free(types);
	shd_rfdb_writer_done(&w);
}

/* A sink with room for *arg bytes. */
static int full(void *arg, const void *data, size_t len, sherd_error *err)
{
	(void)data;
	size_t *left = arg;
	if (len > *left)
		return shd_fail(err, SHERD_EIO, "no-space", "full");
	*left -= len;
	return SHERD_OK;
}

TEST(what_the_sink_refuses_is_reported)
{
	shd_rfdb_writer w;
	uint64_t size = 1;
	shd_rfdb_writer_init(&w, SHD_RFDB_EDGES);
	for (size_t room = 0; room < 100; room += 33) {
		size_t left = room;
		assert_refused(SHERD_EIO, "no-space", shd_rfdb_writer_finish(&w, full, &left, &size, err));
	}
	assert_int_equal(size, 1);
	shd_rfdb_writer_done(&w);
}

/* ---- damage */

/* Whatever a damaged segment is taken for, reading all of it does not leave its bytes. */
static void read_all(const shd_rfdb_segment *s)
{
	for (uint64_t i = 0; i < s->rows; i++) {
		shd_rfdb_node node;
		shd_rfdb_edge edge;
		if (s->kind == SHD_RFDB_NODES)
			(void)shd_rfdb_segment_node(s, i, &node, NULL);
		else
			(void)shd_rfdb_segment_edge(s, i, &edge, NULL);
	}
	(void)shd_rfdb_segment_check(s, NULL);
	(void)shd_rfdb_segment_sorted(s);
	(void)shd_rfdb_segment_seek(s, 7);
}

static void damage(const shd_buf *raw)
{
	shd_rfdb_segment s;
	uint8_t *copy = malloc(raw->len);
	assert_non_null(copy);
	for (size_t i = 0; i < raw->len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(copy, raw->data, raw->len);
			copy[i] ^= (uint8_t)(1u << bit);
			if (shd_rfdb_segment_open(copy, raw->len, &s, NULL) == SHERD_OK)
				read_all(&s);
			else
				assert_true(i < SHD_RFDB_HEAD || i >= 64);
		}
	free(copy);
	for (size_t len = 0; len < raw->len; len++) {
		uint8_t *cut = malloc(len ? len : 1);
		assert_non_null(cut);
		memcpy(cut, raw->data, len);
		assert_true(shd_rfdb_segment_open(cut, len, &s, NULL) < 0);
		free(cut);
	}
}

TEST(no_damage_leads_out_of_the_bytes)
{
	SHD_AUTO_BUF nodes = {0}, edges = {0};
	rfdb_make_nodes(3, true, &nodes);
	rfdb_make_edges(5, false, &edges);
	damage(&nodes);
	damage(&edges);
}

static int reopen(shd_buf *raw, size_t at, uint64_t value, size_t size, sherd_error *err)
{
	uint8_t keep[8];
	shd_rfdb_segment s;
	memcpy(keep, raw->data + at, sizeof(keep));
	for (size_t i = 0; i < size; i++)
		raw->data[at + i] = (uint8_t)(value >> (8 * i));
	int rc = shd_rfdb_segment_open(raw->data, raw->len, &s, err);
	if (rc >= 0)
		rc = shd_rfdb_segment_check(&s, err);
	memcpy(raw->data + at, keep, sizeof(keep));
	return rc;
}

TEST(each_part_has_its_refusal)
{
	SHD_AUTO_BUF raw = {0};
	rfdb_make_nodes(3, true, &raw);
	size_t footer = raw.len - SHD_RFDB_FOOTER;
	assert_ok(reopen(&raw, 0, 'S', 1, err));
	assert_refused(SHERD_ECORRUPT, "bad-magic", reopen(&raw, 0, 'T', 1, err));
	assert_refused(SHERD_EUNSUPPORTED, "bad-version", reopen(&raw, 4, 1, 2, err));
	assert_refused(SHERD_EUNSUPPORTED, "bad-version", reopen(&raw, 4, 3, 2, err));
	assert_refused(SHERD_EVERSION, "bad-version", reopen(&raw, 4, 4, 2, err));
	assert_refused(SHERD_ECORRUPT, "bad-type", reopen(&raw, 6, 2, 1, err));
	assert_refused(SHERD_ECORRUPT, "bad-head", reopen(&raw, 7, 1, 1, err));
	assert_refused(SHERD_ECORRUPT, "bad-head", reopen(&raw, 24, 1, 1, err));
	assert_refused(SHERD_ECORRUPT, "bad-count", reopen(&raw, 8, UINT64_MAX, 8, err));
	assert_refused(SHERD_ECORRUPT, "bad-offsets", reopen(&raw, 8, 2, 8, err));
	assert_refused(SHERD_ECORRUPT, "truncated", reopen(&raw, 16, UINT64_MAX, 8, err));
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", reopen(&raw, 16, footer - 1, 8, err));
	for (size_t field = 0; field < 5; field++)
		assert_refused(SHERD_ECORRUPT, "bad-offsets", reopen(&raw, footer + 8 * field, 40, 8, err));
	assert_refused(SHERD_ECORRUPT, "bad-length", reopen(&raw, footer + 40, 72, 4, err));
	assert_refused(SHERD_ECORRUPT, "bad-magic", reopen(&raw, footer + 44, 0, 4, err));
	assert_refused(SHERD_ECORRUPT, "bad-index", reopen(&raw, 32, 99, 4, err));
	assert_refused(SHERD_ECORRUPT, "bad-head", reopen(&raw, 32 + 60, 1, 1, err)); /* padding */
	assert_refused(SHERD_ECORRUPT, "bad-index", reopen(&raw, 96, 12345, 8, err)); /* an id, not in the filter */
	assert_refused(SHERD_ECORRUPT, "bad-utf8", reopen(&raw, footer - 1, 0xff, 1, err));
}

TEST(bytes_behind_the_end_are_refused)
{
	SHD_AUTO_BUF raw = {0};
	shd_rfdb_segment s;
	rfdb_make_edges(3, true, &raw);
	shd_buf_u8(&raw, 0);
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", shd_rfdb_segment_open(raw.data, raw.len, &s, err));
}

/* ---- the document */

TEST(the_example_of_the_document_is_what_it_says)
{
	static const shd_rfdb_node nodes[] = {
		{.semantic_id = {"src/api/routes.ts->FUNCTION->route", 34},
	         .type = {"FUNCTION", 8},
	         .name = {"route", 5},
	         .file = {"src/api/routes.ts", 17},
	         .metadata = {"{\"line\":3}", 10}},
		{.semantic_id = {"src/app.ts->MODULE", 18},
	         .type = {"MODULE", 6},
	         .name = {"app.ts", 6},
	         .file = {"src/app.ts", 10},
	         .metadata = {"", 0}},
	};
	SHD_AUTO_BUF raw = {0};
	shd_rfdb_writer w;
	size_t len;
	uint8_t *example = source_hex_block("docs/formats/rfdb.md", &len);
	shd_rfdb_writer_init(&w, SHD_RFDB_NODES);
	for (size_t i = 0; i < 2; i++) {
		shd_rfdb_node node = nodes[i];
		node.id = shd_rfdb_id_of(node.semantic_id);
		assert_ok(shd_rfdb_writer_node(&w, &node, err));
	}
	rfdb_finish(&w, &raw);
	shd_rfdb_writer_done(&w);
	assert_int_equal(len, raw.len);
	assert_memory_equal(example, raw.data, len);
	free(example);
	shd_rfdb_segment s = opened(&raw);
	assert_int_equal(s.ids - s.data, 0x50);
	assert_int_equal(s.hashes - s.data, 0x70);
	assert_int_equal(s.bloom.words - s.data, 0x80 + SHD_RFDB_BLOOM_HEAD);
	assert_int_equal(s.zone.data - s.data, 0x98);
	assert_int_equal(s.strings.entries - s.data, 0xe6 + SHD_RFDB_STRINGS_HEAD);
}

/* ---- the corpus */

static void judge(const char *name, const uint8_t *data, size_t len)
{
	shd_rfdb_segment s;
	sherd_error error = {0};
	int rc = shd_rfdb_segment_open(data, len, &s, &error);
	if (rc >= 0) {
		read_all(&s);
		rc = shd_rfdb_segment_check(&s, &error);
	}
	if ((name[0] == 'y' && rc < 0) || (name[0] == 'n' && rc >= 0))
		fail_msg("%s: %s", name, rc < 0 ? error.message : "accepted");
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	assert_true(source_folder_each("tests/corpus/rfdb_segment", judge) > 35);
}

/* ---- the real server's */

static void rewrite(const char *path, const uint8_t *data, size_t len)
{
	shd_rfdb_segment s;
	shd_rfdb_writer w;
	SHD_AUTO_BUF again = {0};
	assert_ok(shd_rfdb_segment_open(data, len, &s, err));
	assert_ok(shd_rfdb_segment_check(&s, err));
	shd_rfdb_writer_init(&w, s.kind);
	for (uint64_t i = 0; i < s.rows; i++) {
		shd_rfdb_node node;
		shd_rfdb_edge edge;
		if (s.kind == SHD_RFDB_NODES) {
			assert_ok(shd_rfdb_segment_node(&s, i, &node, err));
			assert_ok(shd_rfdb_writer_node(&w, &node, err));
		} else {
			assert_ok(shd_rfdb_segment_edge(&s, i, &edge, err));
			assert_ok(shd_rfdb_writer_edge(&w, &edge, err));
		}
	}
	rfdb_finish(&w, &again);
	if (again.len != len || memcmp(again.data, data, len) != 0)
		fail_msg("%s comes out differently", path);
	shd_rfdb_writer_done(&w);
}

TEST(the_real_servers_segments_come_out_bit_for_bit)
{
	(void)fixtures_folder();
	char *folder = rfdb_unpack("tiny-5n5e");
	assert_int_equal(rfdb_each_file(folder, ".seg", rewrite), 4);
	scratch_remove(folder);
	folder = rfdb_unpack("history");
	assert_int_equal(rfdb_each_file(folder, ".seg", rewrite), 14);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_read_as_they_were_written),
		cmocka_unit_test(edges_are_read_as_they_were_written),
		cmocka_unit_test(an_empty_segment_is_one),
		cmocka_unit_test(sorted_segments_are_searched),
		cmocka_unit_test(ids_of_any_kind_are_found),
		cmocka_unit_test(the_writer_lists_what_a_descriptor_needs),
		cmocka_unit_test(what_the_sink_refuses_is_reported),
		cmocka_unit_test(no_damage_leads_out_of_the_bytes),
		cmocka_unit_test(each_part_has_its_refusal),
		cmocka_unit_test(bytes_behind_the_end_are_refused),
		cmocka_unit_test(the_example_of_the_document_is_what_it_says),
		cmocka_unit_test(the_corpus_is_judged_as_its_names_say),
		cmocka_unit_test(the_real_servers_segments_come_out_bit_for_bit),
	};
	return cmocka_run_group_tests_name("rfdb_segment", tests, NULL, NULL);
}
