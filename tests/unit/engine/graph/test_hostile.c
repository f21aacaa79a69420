/* Documents that are whole and lie, and arguments that cannot be right. */
#include "support/ckpt_place.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"
#include "format/rfdb/manifest.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static const sherd_graph_options reading = {.read_only = true};

/* Version 2 in full: three nodes and two edges in one shard; a segment of each kind. */
static sherd_store *sample(void)
{
	sherd_store *store = NULL;
	const sherd_graph_layout one = {.shards = 1};
	assert_ok(sherd_store_open_memory(&store, err));
	SCOPED_GRAPH g = graph_create(store, "db", &one, NULL);
	graph_add_node(g, "a", "F", "a", "src/a.js");
	graph_add_node(g, "b", "M", "b", "main.js");
	graph_add_node(g, "c", "F", "c", "src/c.js");
	graph_add_edge(g, "a", "b", "CALLS", "{}");
	graph_add_edge(g, "b", "c", "HAS", "");
	graph_flush(g);
	return store;
}

/* ---- rewriting documents */

typedef struct rewriting {
	shd_arena arena;
	char *text;
	shd_rfdb_manifest m;
	shd_rfdb_descriptor nodes[3], edges[3]; /* the lists, to be changed */
	shd_rfdb_count counts[4];               /* of nodes */
} rewriting;

static void take(rewriting *r, sherd_store *store)
{
	size_t len;
	*r = (rewriting){0};
	r->text = object_get(store, "db/manifests/000002.json", &len);
	assert_ok(shd_rfdb_manifest_decode(r->text, len, NULL, &r->arena, &r->m, err));
	assert_int_equal(r->m.nodes.count, 1);
	assert_int_equal(r->m.edges.count, 1);
	r->nodes[0] = r->m.nodes.items[0];
	r->edges[0] = r->m.edges.items[0];
	r->m.nodes.items = r->nodes;
	r->m.edges.items = r->edges;
	for (size_t i = 0; i < r->m.counts.of[SHD_RFDB_NODES].count; i++)
		r->counts[i] = r->m.counts.of[SHD_RFDB_NODES].items[i];
	r->m.counts.of[SHD_RFDB_NODES].items = r->counts;
}

static void put(rewriting *r, sherd_store *store, const char *key)
{
	SHD_AUTO_BUF text = {0};
	shd_rfdb_manifest_encode(&r->m, &text);
	object_put(store, key, text.data, text.len);
	shd_arena_done(&r->arena);
	free(r->text);
}

static void put_edit(sherd_store *store, const char *key, const shd_rfdb_edit *e)
{
	SHD_AUTO_BUF text = {0};
	shd_rfdb_edit_encode(e, &text);
	object_put(store, key, text.data, text.len);
}

static void make_current(sherd_store *store, uint64_t version)
{
	SHD_AUTO_BUF text = {0};
	shd_rfdb_current_encode(&(shd_rfdb_current){.version = version}, &text);
	object_put(store, "db/current.json", text.data, text.len);
}

static const char *first_error(sherd_store *store)
{
	static char reason[64];
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	const sherd_error *e = sherd_report_error(r, 0);
	(void)snprintf(reason, sizeof(reason), "%s", e ? e->reason : "");
	sherd_report_close(r);
	return reason;
}

static bool see_node(void *arg, const sherd_graph_node *n)
{
	*(size_t *)arg += n->id.lo != 0;
	return true;
}

static void assert_refuses(sherd_store *store, int code, const char *reason)
{
	sherd_graph *g = NULL;
	assert_refused(code, reason, sherd_graph_open(&g, store, "db", &reading, err));
	assert_refused(code, reason, sherd_graph_open(&g, store, "db", NULL, err));
	assert_string_equal(first_error(store), reason);
}

/* ---- manifests */

TEST(sizes_and_rows_that_lie_are_refused)
{
	static const uint64_t wrong[] = {0, 1, 2, 4, 1 << 20, UINT64_MAX / 48, UINT64_MAX};
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		for (int what = 0; what < 2; what++) {
			SCOPED_STORE store = sample();
			rewriting r;
			sherd_graph *g = NULL;
			take(&r, store);
			if (what)
				r.nodes[0].rows = wrong[i];
			else
				r.nodes[0].bytes = wrong[i];
			put(&r, store, "db/manifests/000002.json");
			assert_int_equal(sherd_graph_open(&g, store, "db", &reading, NULL), SHERD_ECORRUPT);
			assert_int_equal(sherd_graph_open(&g, store, "db", NULL, NULL), SHERD_ECORRUPT);
			assert_true(first_error(store)[0] != 0);
		}
}

TEST(a_shard_that_is_not_there_is_refused)
{
	static const uint32_t wrong[] = {1, 2, 65534};
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		SCOPED_STORE store = sample();
		rewriting r;
		char key[64];
		take(&r, store);
		r.nodes[0].shard = wrong[i];
		put(&r, store, "db/manifests/000002.json");
		/* Even if its file is there. */
		size_t len;
		char *data = object_get(store, "db/segments/00/seg_000001_nodes.seg", &len);
		(void)snprintf(key, sizeof(key), "db/segments/%02u/seg_000001_nodes.seg", wrong[i]);
		object_put(store, key, data, len);
		sherd_free(data);
		sherd_graph *g = NULL;
		assert_refused(SHERD_ECORRUPT, "out-of-range", sherd_graph_open(&g, store, "db", &reading, err));
		assert_refused(SHERD_ECORRUPT, "out-of-range", sherd_graph_open(&g, store, "db", NULL, err));
		assert_true(first_error(store)[0] != 0);
	}
}

TEST(a_segment_that_is_named_twice_is_refused)
{
	SCOPED_STORE store = sample();
	rewriting r;
	take(&r, store);
	r.nodes[1] = r.nodes[0];
	r.m.nodes.count = 2;
	put(&r, store, "db/manifests/000002.json");
	assert_refuses(store, SHERD_ECORRUPT, "duplicate-id");
}

TEST(a_segment_of_the_other_kind_is_refused)
{
	SCOPED_STORE store = sample();
	rewriting r;
	sherd_graph *g = NULL;
	take(&r, store);
	r.nodes[0] = r.edges[0];
	r.m.edges.count = 0;
	put(&r, store, "db/manifests/000002.json");
	assert_int_equal(sherd_graph_open(&g, store, "db", &reading, NULL), SHERD_ECORRUPT);
	assert_true(first_error(store)[0] != 0);
}

/* Numbers of segments that climb to the end leave none for the next one: it is refused, and nothing is lost. */
TEST(numbers_of_segments_do_not_wrap)
{
	static const uint64_t numbers[] = {UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63};
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		SCOPED_STORE store = sample();
		rewriting r;
		char key[96], name[SHD_RFDB_NAME_MAX];
		size_t len;
		take(&r, store);
		r.nodes[0].id = numbers[i];
		put(&r, store, "db/manifests/000002.json");
		shd_rfdb_segment_name(0, numbers[i], SHD_RFDB_NODES, name);
		(void)snprintf(key, sizeof(key), "db/%s", name);
		char *data = object_get(store, "db/segments/00/seg_000001_nodes.seg", &len);
		object_put(store, key, data, len);
		sherd_free(data);
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		assert_int_equal(graph_count(g, "F", NULL, NULL), 2);
		graph_add_node(g, "new", "F", "new", "src/new.js");
		assert_refused(SHERD_ELIMIT, "too-large", sherd_graph_flush(g, NULL, err));
		assert_int_equal(sherd_graph_pending(g), 1);
		assert_int_equal(sherd_graph_version(g), 2);
	}
}

TEST(numbers_of_versions_do_not_wrap)
{
	SCOPED_STORE store = sample();
	rewriting r;
	char key[96], name[SHD_RFDB_NAME_MAX];
	take(&r, store);
	r.m.version = UINT64_MAX;
	shd_rfdb_manifest_name(UINT64_MAX, false, name);
	(void)snprintf(key, sizeof(key), "db/%s", name);
	put(&r, store, key);
	make_current(store, UINT64_MAX);
	sherd_graph *g = NULL;
	if (sherd_graph_open(&g, store, "db", NULL, NULL) == SHERD_OK) {
		graph_add_node(g, "new", "F", "new", "src/new.js");
		assert_refused(SHERD_ELIMIT, "too-large", sherd_graph_flush(g, NULL, err));
		sherd_graph_close(g);
	}
	SCOPED_GRAPH again = graph_open(store, "db", &reading);
	assert_int_equal(sherd_graph_version(again), UINT64_MAX);
	assert_int_equal(graph_count(again, "F", NULL, NULL), 2);
}

TEST(counts_that_lie_are_told_by_verify_and_hurt_nobody)
{
	static const uint64_t wrong[] = {0, 1, 3, UINT64_MAX};
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		SCOPED_STORE store = sample();
		rewriting r;
		sherd_graph_totals totals;
		take(&r, store);
		r.counts[0].count = wrong[i];
		put(&r, store, "db/manifests/000002.json");
		assert_string_equal(first_error(store), "bad-count");
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		assert_ok(sherd_graph_stats(&totals, g, err));
		/* Deleting more than is counted does not wrap round. */
		const sherd_graph_id ids[] = {graph_id("a"), graph_id("b"), graph_id("c")};
		assert_ok(sherd_graph_delete_nodes(g, ids, 3, NULL, err));
		graph_flush(g);
		assert_int_equal(graph_count(g, NULL, NULL, NULL), 0);
	}
}

TEST(types_that_are_counted_twice_are_no_harm)
{
	SCOPED_STORE store = sample();
	rewriting r;
	size_t n = 0;
	take(&r, store);
	r.counts[2] = r.counts[1];
	r.counts[3] = r.counts[0];
	r.m.counts.of[SHD_RFDB_NODES].count = 4;
	put(&r, store, "db/manifests/000002.json");
	assert_true(first_error(store)[0] != 0);
	sherd_graph *g = NULL;
	if (sherd_graph_open(&g, store, "db", &reading, NULL) == SHERD_OK)
		assert_ok(sherd_graph_find(g, NULL, see_node, &n, err));
	sherd_graph_close(g);
}

/* A list that leaves out what is in the segment hides it from searches. */
TEST(lists_of_files_and_types_that_lie_are_told)
{
	static const shd_str other[] = {SHD_STR("other")};
	for (int what = 0; what < 3; what++) {
		SCOPED_STORE store = sample();
		rewriting r;
		take(&r, store);
		if (what == 0)
			r.nodes[0].files = (shd_rfdb_texts){other, 1};
		else if (what == 1)
			r.nodes[0].types = (shd_rfdb_texts){other, 1};
		else
			r.edges[0].types = (shd_rfdb_texts){other, 1};
		put(&r, store, "db/manifests/000002.json");
		assert_string_equal(first_error(store), "bad-manifest");
	}
}

TEST(edits_that_lead_round_or_nowhere_are_refused)
{
	const struct {
		uint64_t version, parent;
		const char *reason;
	} cases[] = {{3, 3, "bad-version"},          {3, 4, "bad-version"}, {3, 1, "bad-version"},
	             {3, UINT64_MAX, "bad-version"}, {4, 3, "bad-version"}, {2, 1, "bad-version"}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SCOPED_STORE store = sample();
		const shd_rfdb_edit e = {.version = cases[i].version, .parent = cases[i].parent};
		put_edit(store, "db/manifests/000003.edit.json", &e);
		make_current(store, 3);
		assert_refuses(store, SHERD_ECORRUPT, cases[i].reason);
	}
	SCOPED_STORE store = sample();
	const shd_rfdb_edit e = {.version = 9, .parent = 8};
	put_edit(store, "db/manifests/000009.edit.json", &e);
	make_current(store, 9);
	sherd_graph *g = NULL;
	assert_true(sherd_graph_open(&g, store, "db", &reading, NULL) < 0);
	assert_true(sherd_graph_open(&g, store, "db", NULL, NULL) < 0);
	assert_true(first_error(store)[0] != 0);
}

/* Removing what is not there, adding what is: an edit cannot make more of a version than is in it. */
TEST(edits_of_segments_that_are_not_there_are_refused_or_harmless)
{
	SCOPED_STORE store = sample();
	static const uint64_t gone[] = {77, UINT64_MAX};
	static const shd_u128 ids[] = {5, 5};
	const shd_rfdb_edit e = {.version = 3,
	                         .parent = 2,
	                         .removed_nodes = {gone, 2},
	                         .dead_nodes = {ids, 2},
	                         .undead_nodes = {ids, 1}};
	size_t n = 0;
	sherd_graph *g = NULL;
	put_edit(store, "db/manifests/000003.edit.json", &e);
	make_current(store, 3);
	if (sherd_graph_open(&g, store, "db", NULL, NULL) == SHERD_OK) {
		assert_ok(sherd_graph_find(g, NULL, see_node, &n, err));
		assert_int_equal(n, 3);
		graph_add_node(g, "new", "F", "new", "src/new.js");
		graph_flush(g);
		assert_consistent(g);
	}
	sherd_graph_close(g);
}

/* Greatest resident size of the process, in MiB. */
static unsigned long long peak(void)
{
	struct rusage use;
	assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
	return (unsigned long long)use.ru_maxrss >> 10;
}

/* Sanitizers keep what is freed, and shadow the rest. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST_MIB = 4096 };
#else
enum { MOST_MIB = 400 };
#endif

/* 33 MB of text. */
TEST(a_million_tombstones_are_borne_and_cleared)
{
	enum { MANY = 1000000 };
	SCOPED_STORE store = sample();
	rewriting r;
	sherd_graph_totals totals;
	sherd_stat stat;
	shd_u128 *ids = malloc(MANY * sizeof(*ids));
	assert_non_null(ids);
	for (size_t i = 0; i < MANY; i++)
		ids[i] = (shd_u128)(i + 1) << 64 | 7;
	take(&r, store);
	r.m.dead_nodes = (shd_rfdb_ids){ids, MANY};
	put(&r, store, "db/manifests/000002.json");
	free(ids);
	assert_ok(sherd_store_stat(&stat, store, "db/manifests/000002.json", err));
	/* Who allows less is told so. */
	const sherd_limits small = {.metadata_bytes = stat.size - 1};
	const sherd_graph_options limited = {.read_only = true, .limits = &small};
	sherd_graph *none = NULL;
	assert_int_equal(sherd_graph_open(&none, store, "db", &limited, NULL), SHERD_ELIMIT);
	unsigned long long before = peak();
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_int_equal(graph_count(g, NULL, NULL, NULL), 3);
	print_message("%llu MiB for %llu of text\n", peak() - before, (unsigned long long)stat.size >> 20);
	assert_true(peak() - before < MOST_MIB);
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.tombstones, MANY);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.tombstones, 0);
	assert_int_equal(totals.nodes, 3);
}

/* ---- configuration */

static void put_config(sherd_store *store, uint16_t shards, shd_rfdb_planner planner)
{
	SHD_AUTO_BUF text = {0};
	const shd_rfdb_config c = {.shards = shards, .planner = planner};
	shd_rfdb_config_encode(&c, &text);
	object_put(store, "db/db_config.json", text.data, text.len);
}

TEST(another_number_of_shards_loses_nothing)
{
	SCOPED_STORE store = sample();
	put_config(store, 65535, SHD_RFDB_HASH);
	{
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		assert_consistent(g);
		graph_add_node(g, "a", "F", "again", "src/a.js");
		graph_flush(g);
		assert_consistent(g);
		assert_int_equal(graph_count(g, NULL, NULL, NULL), 3);
	}
	assert_string_equal(first_error(store), "");
	put_config(store, 0, SHD_RFDB_HASH);
	sherd_graph *g = NULL;
	assert_int_equal(sherd_graph_open(&g, store, "db", &reading, NULL), SHERD_ECORRUPT);
}

TEST(a_planner_without_its_plan_is_for_readers_only)
{
	SCOPED_STORE store = sample();
	sherd_graph *g = NULL;
	put_config(store, 1, SHD_RFDB_DIRECTORY);
	assert_int_equal(sherd_graph_open(&g, store, "db", NULL, NULL), SHERD_ENOTFOUND);
	SCOPED_GRAPH reader = graph_open(store, "db", &reading);
	assert_int_equal(graph_count(reader, NULL, NULL, NULL), 3);
}

/* ---- arguments */

TEST(a_batch_with_one_bad_record_changes_nothing)
{
	SCOPED_STORE store = sample();
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	static const char *const wrong[] = {"[]", "1", "{", "{\"a\":1,\"a\":2}", "{}x", "\"text\""};
	char *before = graph_dump(g);
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		sherd_graph_node nodes[] = {graph_node("x", "F", "x", "x.js"), graph_node("y", "F", "y", "x.js")};
		nodes[1].exported = true;
		nodes[1].metadata = sherd_graph_text_of(wrong[i]);
		assert_true(sherd_graph_add_nodes(g, nodes, 2, NULL) < 0);
		assert_true(sherd_graph_update_file(g, nodes[0].file, nodes, 2, NULL, 0, NULL, NULL) < 0);
	}
	char *after = graph_dump(g);
	assert_string_equal(after, before);
	free(before);
	free(after);
	assert_int_equal(sherd_graph_pending(g), 0);
	graph_add_node(g, "x", "F", "x", "x.js");
	graph_flush(g);
}

/* The mark that exported adds is no change. */
TEST(an_exported_node_that_stays_as_it_was_is_not_changed)
{
	SCOPED_STORE store = sample();
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	sherd_graph_update_result change;
	sherd_graph_node n = graph_node("a", "F", "a", "src/a.js");
	n.exported = true;
	n.metadata = sherd_graph_text_of("{ \"z\": 1, \"a\": 2 }");
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, &change, err));
	assert_int_equal(change.nodes_changed, 1);
	graph_flush(g);
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, &change, err));
	assert_int_equal(change.nodes_changed, 0);
}

TEST(texts_without_an_address_are_empty)
{
	SCOPED_STORE store = sample();
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	const sherd_graph_node n = {.id = {5, 6}};
	const sherd_graph_edge e = {.src = {5, 6}, .dst = {5, 6}};
	const sherd_graph_text none = {0};
	assert_ok(sherd_graph_add_nodes(g, &n, 1, err));
	assert_ok(sherd_graph_add_edges(g, &e, 1, err));
	graph_flush(g);
	assert_consistent(g);
	assert_ok(sherd_graph_update_file(g, none, &n, 1, &e, 1, NULL, err));
	graph_flush(g);
	assert_consistent(g);
	assert_int_equal(graph_count(g, NULL, "", NULL), 1);
	assert_ok(sherd_graph_delete_file(g, none, NULL, err));
	assert_int_equal(graph_count(g, NULL, "", NULL), 0);
	assert_int_equal(graph_count(g, NULL, NULL, NULL), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_rows_that_lie_are_refused),
		cmocka_unit_test(a_shard_that_is_not_there_is_refused),
		cmocka_unit_test(a_segment_that_is_named_twice_is_refused),
		cmocka_unit_test(a_segment_of_the_other_kind_is_refused),
		cmocka_unit_test(numbers_of_segments_do_not_wrap),
		cmocka_unit_test(numbers_of_versions_do_not_wrap),
		cmocka_unit_test(counts_that_lie_are_told_by_verify_and_hurt_nobody),
		cmocka_unit_test(types_that_are_counted_twice_are_no_harm),
		cmocka_unit_test(lists_of_files_and_types_that_lie_are_told),
		cmocka_unit_test(edits_that_lead_round_or_nowhere_are_refused),
		cmocka_unit_test(edits_of_segments_that_are_not_there_are_refused_or_harmless),
		cmocka_unit_test(a_million_tombstones_are_borne_and_cleared),
		cmocka_unit_test(another_number_of_shards_loses_nothing),
		cmocka_unit_test(a_planner_without_its_plan_is_for_readers_only),
		cmocka_unit_test(a_batch_with_one_bad_record_changes_nothing),
		cmocka_unit_test(an_exported_node_that_stays_as_it_was_is_not_changed),
		cmocka_unit_test(texts_without_an_address_are_empty),
	};
	return cmocka_run_group_tests_name("graph_hostile", tests, NULL, NULL);
}
