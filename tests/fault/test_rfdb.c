/* Fault: every allocation fails once while the parts of a graph database are made and read. */
#include "support/fail_malloc.h"
#include "support/test.h"

#include "base/error.h"
#include "format/rfdb/manifest.h"
#include "format/rfdb/plan.h"
#include "format/rfdb/sidecar.h"
#include "format/rfdb/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void every_allocation(int (*work)(sherd_error *err), long at_least)
{
	long nth = 0;
	bool hit;
	do {
		sherd_error err = {0};
		fail_malloc_at(++nth);
		int rc = work(&err);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		assert_int_equal(rc, hit ? SHERD_ENOMEM : SHERD_OK);
		assert_int_equal(err.code, rc);
	} while (hit);
	assert_true(nth > at_least);
}

/* ---- segments and sidecars */

static int append(void *arg, const void *data, size_t len, sherd_error *err)
{
	shd_buf_append(arg, data, len);
	return shd_buf_check(arg, err);
}

static int add_rows(shd_rfdb_writer *w, sherd_error *err)
{
	for (unsigned i = 0; i < 200; i++) {
		char text[32];
		int n = snprintf(text, sizeof(text), "text %u", i);
		shd_str s = {text, (size_t)n};
		const shd_rfdb_node node = {(shd_u128)(i * 77 % 200) << 80, i, s, SHD_STR("T"), s, s, SHD_STR("")};
		const shd_rfdb_edge edge = {node.id, i, s, SHD_STR("")};
		TRY(w->kind == SHD_RFDB_NODES ? shd_rfdb_writer_node(w, &node, err)
		                              : shd_rfdb_writer_edge(w, &edge, err));
	}
	return SHERD_OK;
}

static int make_segment(shd_rfdb_kind kind, shd_buf *raw, sherd_error *err)
{
	shd_rfdb_writer w;
	uint64_t size;
	shd_rfdb_writer_init(&w, kind);
	int rc = add_rows(&w, err);
	if (rc >= 0)
		rc = shd_rfdb_writer_finish(&w, append, raw, &size, err);
	shd_rfdb_writer_done(&w);
	return rc;
}

static int work_on_segment(shd_rfdb_kind kind, sherd_error *err)
{
	SHD_AUTO_BUF raw = {0}, built = {0};
	shd_rfdb_segment s;
	shd_rfdb_sidecar x;
	TRY(make_segment(kind, &raw, err));
	TRY(shd_rfdb_segment_open(raw.data, raw.len, &s, err));
	TRY(shd_rfdb_segment_check(&s, err));
	TRY(shd_rfdb_sidecar_build(&s, NULL, &built, err));
	TRY(shd_rfdb_sidecar_open(built.data, built.len, &x, err));
	return shd_rfdb_sidecar_check(&x, &s, NULL, err);
}

static int work_on_nodes(sherd_error *err)
{
	return work_on_segment(SHD_RFDB_NODES, err);
}

static int work_on_edges(sherd_error *err)
{
	return work_on_segment(SHD_RFDB_EDGES, err);
}

TEST(segments_and_sidecars_report_lack_of_memory)
{
	every_allocation(work_on_nodes, 40);
	every_allocation(work_on_edges, 30);
}

/* ---- manifests */

static int round_trip(const shd_rfdb_manifest *m, const shd_rfdb_edit *e, shd_arena *arena, sherd_error *err)
{
	SHD_AUTO_BUF text = {0}, change = {0}, index = {0};
	shd_rfdb_manifest base, out;
	shd_rfdb_edit edit;
	shd_rfdb_index x = {.latest = 2, .segments = e->removed_nodes}, y;
	shd_rfdb_manifest_encode(m, &text);
	TRY(shd_buf_check(&text, err));
	shd_rfdb_edit_encode(e, &change);
	TRY(shd_buf_check(&change, err));
	shd_rfdb_index_encode(&x, &index);
	TRY(shd_buf_check(&index, err));
	TRY(shd_rfdb_manifest_decode(text.data, text.len, NULL, arena, &base, err));
	TRY(shd_rfdb_edit_decode(change.data, change.len, NULL, arena, &edit, err));
	TRY(shd_rfdb_index_decode(index.data, index.len, NULL, arena, &y, err));
	TRY(shd_rfdb_manifest_apply(&base, &edit, 1, arena, &out, err));
	return shd_rfdb_manifest_check(&out, err);
}

static int work_on_manifests(sherd_error *err)
{
	static const shd_str texts[] = {{"\"a\"", 3}, {"b", 1}};
	static const shd_rfdb_descriptor segments[] = {{.id = 1, .types = {texts, 2}, .files = {texts, 2}},
	                                               {.id = 2, .files = {texts, 1}}};
	static const shd_u128 ids[] = {5, 6, 7};
	static const shd_rfdb_edge_key keys[] = {{1, 2, {"\n", 1}}, {3, 4, {"T", 1}}};
	static const shd_rfdb_tag tags[] = {{{"\t", 1}, {"v", 1}}};
	static const shd_rfdb_count counts[] = {{{"\"", 1}, 1}};
	static const uint64_t numbers[] = {1, 9};
	const shd_rfdb_manifest m = {.version = 1,
	                             .nodes = {segments, 2},
	                             .dead_nodes = {ids, 3},
	                             .dead_edges = {keys, 2},
	                             .tags = {tags, 1},
	                             .counts = {true, {{counts, 1}, {counts, 1}}, true}};
	const shd_rfdb_edit e = {.version = 2,
	                         .parent = 1,
	                         .added_nodes = {segments, 1},
	                         .removed_nodes = {numbers, 2},
	                         .undead_nodes = {ids, 1},
	                         .undead_edges = {keys, 1}};
	shd_arena arena = {0};
	int rc = round_trip(&m, &e, &arena, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(manifests_report_lack_of_memory)
{
	every_allocation(work_on_manifests, 30);
}

/* ---- plans */

static int work_on_plan(sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	static char names[300][16];
	shd_str files[300];
	shd_rfdb_plan plan, back;
	for (size_t i = 0; i < 300; i++)
		files[i] = (shd_str){
			names[i], (size_t)snprintf(names[i], sizeof(names[i]), "%s%zu/f", i % 2 ? "a/" : "a_", i / 2)};
	shd_rfdb_plan_init(&plan, 1);
	shd_rfdb_plan_init(&back, 1);
	int rc = shd_rfdb_plan_extend(&plan, files, 300, NULL, err);
	if (rc >= 0) {
		shd_rfdb_plan_encode(&plan, &text);
		rc = shd_buf_check(&text, err);
	}
	if (rc >= 0)
		rc = shd_rfdb_plan_decode(text.data, text.len, NULL, &back, err);
	shd_rfdb_plan_done(&plan);
	shd_rfdb_plan_done(&back);
	return rc;
}

TEST(plans_report_lack_of_memory)
{
	every_allocation(work_on_plan, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_and_sidecars_report_lack_of_memory),
		cmocka_unit_test(manifests_report_lack_of_memory),
		cmocka_unit_test(plans_report_lack_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
