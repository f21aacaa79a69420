#include "support/fixtures.h"
#include "support/rfdb_files.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "format/rfdb/sidecar.h"

#include <stdlib.h>
#include <string.h>

/* A segment with its sidecar. */
typedef struct pair {
	shd_buf raw, built;
	shd_rfdb_segment s;
	shd_rfdb_sidecar x;
} pair;

static void pair_open(pair *p)
{
	assert_ok(shd_rfdb_segment_open(p->raw.data, p->raw.len, &p->s, err));
	assert_ok(shd_rfdb_sidecar_build(&p->s, NULL, &p->built, err));
	assert_ok(shd_rfdb_sidecar_open(p->built.data, p->built.len, &p->x, err));
}

static pair pair_of(shd_rfdb_kind kind, uint64_t rows, bool sorted)
{
	pair p = {0};
	if (kind == SHD_RFDB_NODES)
		rfdb_make_nodes(rows, sorted, &p.raw);
	else
		rfdb_make_edges(rows, sorted, &p.raw);
	pair_open(&p);
	return p;
}

static void pair_done(pair *p)
{
	shd_buf_done(&p->raw);
	shd_buf_done(&p->built);
}

TEST(a_sidecar_fits_its_segment)
{
	for (int kind = 0; kind < 2; kind++)
		for (int sorted = 0; sorted < 2; sorted++) {
			static const uint64_t sizes[] = {0, 1, 2, 100, 1000};
			for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
				pair p = pair_of((shd_rfdb_kind)kind, sizes[i], sorted);
				assert_true(shd_rfdb_sidecar_fits(&p.x, &p.s));
				assert_ok(shd_rfdb_sidecar_check(&p.x, &p.s, NULL, err));
				assert_int_equal(p.x.rows, sizes[i]);
				assert_true(p.x.sorted || !sorted);
				pair_done(&p);
			}
		}
}

/* What a walk over all rows finds. */
static uint64_t count_text(const shd_rfdb_segment *s, shd_rfdb_column column, shd_str want)
{
	uint64_t count = 0;
	for (uint64_t row = 0; row < s->rows; row++) {
		shd_str text = {0};
		assert_true(shd_rfdb_segment_text(s, column, row, &text));
		count += shd_str_compare(text, want) == 0;
	}
	return count;
}

static void expect_groups(const pair *p, const shd_rfdb_groups *g)
{
	uint64_t rows = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		shd_rfdb_rows list, found;
		shd_str key, text = {0};
		assert_true(shd_rfdb_groups_at(g, &p->s, i, &key, &list));
		assert_int_equal(list.count, count_text(&p->s, g->column, key));
		for (uint64_t k = 0; k < list.count; k++) {
			assert_true(shd_rfdb_segment_text(&p->s, g->column, shd_rfdb_rows_at(list, k), &text));
			assert_int_equal(shd_str_compare(text, key), 0);
		}
		found = shd_rfdb_groups_find(g, &p->s, key);
		assert_true(found.list == list.list && found.count == list.count);
		rows += list.count;
	}
	assert_int_equal(rows, p->s.rows);
	assert_int_equal(shd_rfdb_groups_find(g, &p->s, SHD_STR("nothing of the kind")).count, 0);
	assert_int_equal(shd_rfdb_groups_find(g, &p->s, SHD_STR("")).count, count_text(&p->s, g->column, SHD_STR("")));
}

TEST(rows_are_found_by_their_strings)
{
	pair nodes = pair_of(SHD_RFDB_NODES, 500, true), edges = pair_of(SHD_RFDB_EDGES, 500, false);
	expect_groups(&nodes, &nodes.x.by_type);
	expect_groups(&nodes, &nodes.x.by_file);
	expect_groups(&nodes, &nodes.x.by_name);
	expect_groups(&edges, &edges.x.by_type);
	pair_done(&nodes);
	pair_done(&edges);
}

TEST(groups_with_a_prefix_stand_together)
{
	pair p = pair_of(SHD_RFDB_NODES, 500, true);
	const shd_rfdb_groups *g = &p.x.by_name;
	uint32_t at = shd_rfdb_groups_seek(g, &p.s, SHD_STR("name4")), count = 0;
	shd_rfdb_rows rows;
	shd_str key;
	while (shd_rfdb_groups_at(g, &p.s, at + count, &key, &rows) && shd_str_starts(key, "name4"))
		count++;
	assert_int_equal(count, 11); /* name4, name40 … name49 */
	assert_int_equal(shd_rfdb_groups_seek(g, &p.s, SHD_STR("zzz")), g->count);
	pair_done(&p);
}

TEST(edges_are_found_by_both_ends)
{
	for (int sorted = 0; sorted < 2; sorted++) {
		pair p = pair_of(SHD_RFDB_EDGES, 800, sorted);
		for (uint64_t row = 0; row < p.s.rows; row++) {
			shd_u128 src = shd_rfdb_segment_id(&p.s, row), dst = shd_rfdb_segment_dst(&p.s, row);
			shd_rfdb_run out = shd_rfdb_sidecar_id(&p.x, &p.s, src);
			shd_rfdb_rows in = shd_rfdb_sidecar_dst(&p.x, &p.s, dst);
			uint64_t outs = 0, ins = 0;
			for (uint64_t i = 0; i < p.s.rows; i++) {
				outs += shd_rfdb_segment_id(&p.s, i) == src;
				ins += shd_rfdb_segment_dst(&p.s, i) == dst;
			}
			assert_int_equal(out.count, outs);
			assert_int_equal(in.count, ins);
			for (uint64_t i = 0; i < out.count; i++)
				assert_true(shd_rfdb_segment_id(&p.s, shd_rfdb_run_at(&out, i)) == src);
			for (uint64_t i = 0; i < in.count; i++)
				assert_true(shd_rfdb_segment_dst(&p.s, shd_rfdb_rows_at(in, i)) == dst);
		}
		assert_int_equal(shd_rfdb_sidecar_id(&p.x, &p.s, 5).count, 0);
		assert_int_equal(shd_rfdb_sidecar_dst(&p.x, &p.s, ~(shd_u128)0).count, 0);
		pair_done(&p);
	}
}

TEST(nodes_are_found_by_id_in_any_order)
{
	char text[256];
	for (int sorted = 0; sorted < 2; sorted++) {
		pair p = pair_of(SHD_RFDB_NODES, 700, sorted);
		for (uint64_t i = 0; i < 700; i++) {
			shd_rfdb_node want = rfdb_node(i, text), got;
			shd_rfdb_run run = shd_rfdb_sidecar_id(&p.x, &p.s, want.id);
			assert_int_equal(run.count, 1);
			assert_ok(shd_rfdb_segment_node(&p.s, shd_rfdb_run_at(&run, 0), &got, err));
			assert_int_equal(shd_str_compare(got.semantic_id, want.semantic_id), 0);
		}
		assert_int_equal(shd_rfdb_sidecar_id(&p.x, &p.s, 1).count, 0);
		pair_done(&p);
	}
}

/* A string table may hold one text twice, though neither we nor the real server write such. */
TEST(one_text_under_two_numbers_is_one_group)
{
	pair p = {0};
	rfdb_make_nodes(8, false, &p.raw);
	shd_rfdb_segment s;
	assert_ok(shd_rfdb_segment_open(p.raw.data, p.raw.len, &s, err));
	/* name5 becomes another name1. */
	uint32_t one = shd_rfdb_segment_string(&s, SHD_RFDB_NAME, 1),
		 five = shd_rfdb_segment_string(&s, SHD_RFDB_NAME, 5);
	uint8_t *entries = p.raw.data + (s.strings.entries - s.data);
	memcpy(entries + 8 * (size_t)five, entries + 8 * (size_t)one, 8);
	pair_open(&p);
	assert_ok(shd_rfdb_sidecar_check(&p.x, &p.s, NULL, err));
	shd_rfdb_rows rows = shd_rfdb_groups_find(&p.x.by_name, &p.s, SHD_STR("name1"));
	assert_int_equal(rows.count, 2);
	assert_true(shd_rfdb_rows_at(rows, 0) == 1 && shd_rfdb_rows_at(rows, 1) == 5);
	pair_done(&p);
}

TEST(another_segment_is_recognised)
{
	pair p = pair_of(SHD_RFDB_NODES, 50, true), q = pair_of(SHD_RFDB_NODES, 51, true),
	     e = pair_of(SHD_RFDB_EDGES, 50, true), u = pair_of(SHD_RFDB_NODES, 50, false);
	assert_false(shd_rfdb_sidecar_fits(&p.x, &q.s));
	assert_false(shd_rfdb_sidecar_fits(&p.x, &e.s));
	assert_int_equal(p.s.size, u.s.size);
	assert_false(shd_rfdb_sidecar_fits(&p.x, &u.s));
	assert_refused(SHERD_ECORRUPT, "size-mismatch", shd_rfdb_sidecar_check(&p.x, &u.s, NULL, err));
	pair_done(&p);
	pair_done(&q);
	pair_done(&e);
	pair_done(&u);
}

TEST(a_segment_that_changed_in_the_middle_is_noticed_by_the_full_check)
{
	pair p = pair_of(SHD_RFDB_EDGES, 3000, true);
	p.raw.data[60000] ^= 1;
	assert_true(shd_rfdb_sidecar_fits(&p.x, &p.s));
	assert_refused(SHERD_ECORRUPT, "bad-checksum", shd_rfdb_sidecar_check(&p.x, &p.s, NULL, err));
	pair_done(&p);
}

/* ---- damage */

/* Asks everything; what comes out is not judged, only that it stays within the bytes. */
static void ask_all(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s)
{
	const shd_rfdb_groups *all[] = {&x->by_type, &x->by_file, &x->by_name};
	for (size_t g = 0; g < 3; g++)
		for (uint32_t i = 0; i < all[g]->count; i++) {
			shd_rfdb_rows rows;
			shd_rfdb_node node;
			shd_str key;
			if (!shd_rfdb_groups_at(all[g], s, i, &key, &rows))
				continue;
			(void)shd_rfdb_groups_find(all[g], s, key);
			for (uint64_t k = 0; k < rows.count && s->kind == SHD_RFDB_NODES; k++)
				(void)shd_rfdb_segment_node(s, shd_rfdb_rows_at(rows, k), &node, NULL);
		}
	for (uint64_t row = 0; row < s->rows; row++) {
		(void)shd_rfdb_sidecar_id(x, s, shd_rfdb_segment_id(s, row));
		if (s->kind == SHD_RFDB_EDGES)
			(void)shd_rfdb_sidecar_dst(x, s, shd_rfdb_segment_dst(s, row));
	}
}

static void flip_all(shd_rfdb_kind kind, bool sorted)
{
	pair p = pair_of(kind, 6, sorted);
	shd_rfdb_sidecar x;
	for (size_t i = 0; i < p.built.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			p.built.data[i] ^= (uint8_t)(1u << bit);
			if (shd_rfdb_sidecar_open(p.built.data, p.built.len, &x, NULL) == SHERD_OK) {
				assert_true(shd_rfdb_sidecar_check(&x, &p.s, NULL, NULL) < 0);
				ask_all(&x, &p.s);
			}
			p.built.data[i] ^= (uint8_t)(1u << bit);
		}
	for (size_t len = 0; len < p.built.len; len++) {
		uint8_t *cut = malloc(len ? len : 1);
		assert_non_null(cut);
		memcpy(cut, p.built.data, len);
		assert_true(shd_rfdb_sidecar_open(cut, len, &x, NULL) < 0 ||
		            shd_rfdb_sidecar_check(&x, &p.s, NULL, NULL) < 0);
		free(cut);
	}
	shd_buf_u8(&p.built, 0);
	assert_ok(shd_rfdb_sidecar_open(p.built.data, p.built.len, &x, err));
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", shd_rfdb_sidecar_check(&x, &p.s, NULL, err));
	pair_done(&p);
}

TEST(no_flipped_bit_and_no_cut_passes_the_check)
{
	flip_all(SHD_RFDB_NODES, true);
	flip_all(SHD_RFDB_NODES, false);
	flip_all(SHD_RFDB_EDGES, true);
	flip_all(SHD_RFDB_EDGES, false);
}

TEST(a_section_can_be_checked_before_its_first_use)
{
	pair p = pair_of(SHD_RFDB_EDGES, 100, true);
	assert_ok(shd_rfdb_sidecar_check_rows(&p.x, &p.x.by_dst, err));
	assert_ok(shd_rfdb_sidecar_check_rows(&p.x, &p.x.by_type.rows, err));
	p.built.data[p.x.by_dst.list - p.built.data + 9] ^= 4;
	assert_refused(SHERD_ECORRUPT, "bad-crc", shd_rfdb_sidecar_check_rows(&p.x, &p.x.by_dst, err));
	assert_ok(shd_rfdb_sidecar_check_rows(&p.x, &p.x.by_type.rows, err));
	pair_done(&p);
}

TEST(a_segment_with_strings_that_are_not_there_gets_no_sidecar)
{
	SHD_AUTO_BUF raw = {0}, out = {0};
	shd_rfdb_segment s;
	rfdb_make_edges(10, true, &raw);
	assert_ok(shd_rfdb_segment_open(raw.data, raw.len, &s, err));
	shd_put_u32(raw.data + 32 + 32 * 10, 99);
	assert_refused(SHERD_ECORRUPT, "bad-index", shd_rfdb_sidecar_build(&s, NULL, &out, err));
}

/* ---- the real server's */

static void build_and_check(const char *path, const uint8_t *data, size_t len)
{
	pair p = {0};
	(void)path;
	shd_buf_append(&p.raw, data, len);
	pair_open(&p);
	assert_ok(shd_rfdb_sidecar_check(&p.x, &p.s, NULL, err));
	ask_all(&p.x, &p.s);
	pair_done(&p);
}

TEST(the_real_servers_segments_get_theirs)
{
	(void)fixtures_folder();
	char *folder = rfdb_unpack("history");
	assert_int_equal(rfdb_each_file(folder, ".seg", build_and_check), 14);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sidecar_fits_its_segment),
		cmocka_unit_test(rows_are_found_by_their_strings),
		cmocka_unit_test(groups_with_a_prefix_stand_together),
		cmocka_unit_test(edges_are_found_by_both_ends),
		cmocka_unit_test(nodes_are_found_by_id_in_any_order),
		cmocka_unit_test(one_text_under_two_numbers_is_one_group),
		cmocka_unit_test(another_segment_is_recognised),
		cmocka_unit_test(a_segment_that_changed_in_the_middle_is_noticed_by_the_full_check),
		cmocka_unit_test(no_flipped_bit_and_no_cut_passes_the_check),
		cmocka_unit_test(a_section_can_be_checked_before_its_first_use),
		cmocka_unit_test(a_segment_with_strings_that_are_not_there_gets_no_sidecar),
		cmocka_unit_test(the_real_servers_segments_get_theirs),
	};
	return cmocka_run_group_tests_name("rfdb_sidecar", tests, NULL, NULL);
}
