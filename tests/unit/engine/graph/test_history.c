/* What the versions of a database say, each of them, and what it costs to look at all. */
#include "support/ckpt_place.h"
#include "support/fail_store.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "format/rfdb/manifest.h"
#include "format/rfdb/writer.h"

#include <sherd/verify.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
#define SCOPED_REPORT SHD_AUTO(sherd_report, sherd_report_close)

/* Two nodes and an edge in one shard, version 2; another node in version 3. */
static sherd_store *sample(void)
{
	sherd_store *store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = 1}, NULL);
	graph_add_node(g, "a", "F", "a", "src/a.js");
	graph_add_node(g, "b", "M", "b", "lib/b.js");
	graph_add_node(g, "c", "C", "c", "main.js");
	graph_add_edge(g, "a", "b", "CALLS", "");
	graph_flush(g);
	graph_add_node(g, "d", "F", "d", "lib/d.js");
	graph_flush(g);
	return store;
}

typedef struct rewriting {
	shd_arena arena;
	char *text;
	shd_rfdb_manifest m;
	shd_rfdb_descriptor nodes[4];
} rewriting;

static void take(rewriting *r, sherd_store *store, const char *key)
{
	size_t len;
	*r = (rewriting){0};
	r->text = object_get(store, key, &len);
	assert_ok(shd_rfdb_manifest_decode(r->text, len, NULL, &r->arena, &r->m, err));
	for (size_t i = 0; i < r->m.nodes.count; i++)
		r->nodes[i] = r->m.nodes.items[i];
	r->m.nodes.items = r->nodes;
}

static void put(rewriting *r, sherd_store *store, const char *key)
{
	SHD_AUTO_BUF text = {0};
	shd_rfdb_manifest_encode(&r->m, &text);
	object_put(store, key, text.data, text.len);
	shd_arena_done(&r->arena);
	free(r->text);
}

static void reverse(shd_rfdb_texts *t, shd_str *out)
{
	for (size_t i = 0; i < t->count; i++)
		out[i] = t->items[t->count - 1 - i];
	t->items = out;
}

/* S-8. */
TEST(lists_of_a_segment_may_be_in_any_order)
{
	static const char *const files[] = {"src/a.js", "lib/b.js", "main.js"}, *const types[] = {"F", "M", "C"};
	SCOPED_STORE store = sample();
	shd_str f[3], t[3];
	rewriting r;
	take(&r, store, "db/manifests/000002.json");
	assert_int_equal(r.nodes[0].files.count, 3);
	assert_true(r.nodes[0].has_sha256);
	reverse(&r.nodes[0].files, f);
	reverse(&r.nodes[0].types, t);
	put(&r, store, "db/manifests/000002.json");
	SCOPED_GRAPH g = graph_open(store, "db", &(sherd_graph_options){.version = 2});
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		assert_int_equal(graph_count(g, NULL, files[i], NULL), 1);
		assert_int_equal(graph_count(g, types[i], NULL, NULL), 1);
	}
}

static void assert_error_in(sherd_store *store, const char *key, const char *reason)
{
	SCOPED_REPORT r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	assert_int_equal(sherd_report_errors(r), 1);
	assert_string_equal(sherd_report_error(r, 0)->reason, reason);
	assert_string_equal(sherd_report_error(r, 0)->object, key);
}

/* S-9. */
TEST(every_version_is_held_against_its_counts_and_lists)
{
	const shd_rfdb_count invented[] = {{{"F", 1}, 1000}};
	const shd_str other[] = {{"no.js", 5}};
	for (int lists = 0; lists < 2; lists++) {
		SCOPED_STORE store = sample();
		rewriting r;
		take(&r, store, "db/manifests/000002.json");
		if (lists) {
			r.nodes[0].files = (shd_rfdb_texts){other, 1};
		} else {
			r.m.counts.of[SHD_RFDB_NODES].items = invented;
			r.m.counts.of[SHD_RFDB_NODES].count = 1;
		}
		put(&r, store, "db/manifests/000002.json");
		assert_error_in(store, lists ? "db/segments/00/seg_000001_nodes.seg" : "db/manifests/000002.json",
		                lists ? "bad-manifest" : "bad-count");
	}
}

/* ---- many versions */

enum { VERSIONS = 500 };

static void make_history(sherd_store *store)
{
	SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = 1}, NULL);
	for (unsigned i = 0; i < VERSIONS; i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "v%u", i);
		const sherd_graph_node n = graph_node("a", "F", name, "a.js");
		assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
		graph_flush(g);
	}
}

static bool add_up(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key;
	*(uint64_t *)arg += stat->size;
	return true;
}

static uint64_t bytes_of(sherd_store *store, const char *prefix)
{
	uint64_t sum = 0;
	assert_ok(sherd_store_list(store, prefix, "", add_up, &sum, err));
	return sum;
}

/* S-10: reading each version from its base on took 16 times as many. */
TEST(verifying_many_versions_reads_each_manifest_a_few_times)
{
	SCOPED_STORE store = fail_store_over(memory());
	SCOPED_REPORT r = NULL;
	make_history(store);
	uint64_t before = fail_store_read_bytes(store);
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	assert_in_range(fail_store_read_bytes(store) - before, 1, 5 * bytes_of(store, "db/manifests/"));
}

TEST(collecting_what_all_stays_rewrites_nothing)
{
	SCOPED_STORE store = memory();
	make_history(store);
	uint64_t before = bytes_of(store, "db/manifests/");
	sherd_graph_gc_result result;
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_gc(g, &(sherd_graph_gc_options){.keep = 2 * VERSIONS}, &result, err));
	assert_int_equal(result.versions, 0);
	assert_int_equal(bytes_of(store, "db/manifests/"), before);
}

/* As a crash leaves it between the full manifest and the end of its edit, and as a tag does. */
TEST(an_edit_beside_its_full_manifest_is_collected_unless_somebody_reads_by_it)
{
	static const char edit[] = "db/manifests/000002.edit.json";
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", NULL, NULL);
	const sherd_graph_node n = graph_node("a", "F", "a", "a.js");
	sherd_graph_gc_result result;
	sherd_stat stat;
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
	graph_flush(g);
	sherd_graph *reader = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_ok(sherd_graph_set_tag(g, 2, "key", "value", err));
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	assert_ok(sherd_store_stat(&stat, store, edit, err));
	sherd_graph_close(reader);
	assert_ok(sherd_graph_gc(g, NULL, &result, err));
	assert_int_equal(result.files, 1);
	assert_int_equal(result.bytes, stat.size);
	assert_int_equal(sherd_store_stat(&stat, store, edit, NULL), SHERD_ENOTFOUND);
	SCOPED_GRAPH again = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_same_graph(g, again);
}

TEST(a_damaged_index_is_no_reason_to_go_back_to_an_older_version)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", &(sherd_graph_layout){.shards = 1}, NULL);
	sherd_graph_repair_result result;
	graph_add_node(g, "a", "F", "a", "a.js");
	graph_flush(g);
	sherd_graph_close(TAKE(g));
	assert_ok(sherd_store_put(store, "db/segments/00/seg_000001_nodes.idx", SHERD_WRITE_REPLACE, "x", 1, err));
	assert_ok(sherd_graph_repair(store, "db", NULL, &result, err));
	assert_int_equal(result.found, 2);
	assert_int_equal(result.whole, 2);
	assert_int_equal(result.version, 2);
}

static size_t errors_of(sherd_store *store, bool *given_up)
{
	SCOPED_REPORT r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	*given_up = false;
	for (size_t i = 0; i < sherd_report_warnings(r); i++)
		*given_up |= strcmp(sherd_report_warning(r, i)->reason, "given-up") == 0;
	return sherd_report_errors(r);
}

/* Manifests and segments of the version that is current, and of one before. */
TEST(after_a_repair_the_database_verifies)
{
	static const struct {
		const char *object;
		uint64_t whole, older;
	} damages[] = {{"db/manifests/000003.json", 2, 0},
	               {"db/manifests/000002.json", 3, 1},
	               {"db/segments/00/seg_000003_nodes.seg", 2, 0},
	               {"db/segments/00/seg_000001_nodes.seg", 3, 1}};
	for (size_t i = 0; i < COUNT_OF(damages); i++) {
		SCOPED_STORE store = sample();
		sherd_graph_repair_result result;
		bool given_up;
		object_put(store, damages[i].object, "{", 1);
		assert_true(errors_of(store, &given_up) > 0 && !given_up);
		assert_ok(
			sherd_graph_repair(store, "db", &(sherd_graph_repair_options){.dry_run = true}, &result, err));
		assert_int_equal(result.older, damages[i].older);
		assert_true(errors_of(store, &given_up) > 0);
		assert_ok(sherd_graph_repair(store, "db", NULL, &result, err));
		assert_int_equal(result.whole, damages[i].whole);
		assert_int_equal(result.older, damages[i].older);
		assert_int_equal(result.version, 4);
		assert_true(errors_of(store, &given_up) == 0 && given_up);
		assert_ok(sherd_graph_repair(store, "db", NULL, &result, err));
		assert_int_equal(result.version, 4);
		assert_int_equal(result.older, 0);
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		graph_add_node(g, "e", "F", "e", "lib/e.js");
		graph_flush(g);
		assert_true(errors_of(store, &given_up) == 0 && given_up);
		assert_ok(sherd_graph_gc(g, NULL, NULL, err));
		assert_int_equal(errors_of(store, &given_up), 0);
		/* What is damaged now was not given up. */
		object_put(store, "db/manifests/000005.json", "{", 1);
		assert_true(errors_of(store, &given_up) > 0);
	}
}

TEST(a_dry_run_counts_what_is_collected_and_changes_nothing)
{
	SCOPED_STORE store = memory();
	sherd_graph_gc_result told, done;
	make_history(store);
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_compact(g, NULL, err));
	uint64_t before = bytes_of(store, "db/");
	{
		SCOPED_GRAPH reader = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
		assert_ok(sherd_graph_gc(reader, &(sherd_graph_gc_options){.dry_run = true}, &told, err));
	}
	assert_int_equal(bytes_of(store, "db/"), before);
	assert_ok(sherd_graph_gc(g, NULL, &done, err));
	assert_true(done.bytes > 0);
	assert_int_equal(told.bytes, done.bytes);
	assert_int_equal(told.files, done.files);
	assert_int_equal(told.versions, done.versions);
}

/* ---- a hub of another program, in no order */

static int append(void *arg, const void *data, size_t len, sherd_error *err)
{
	shd_buf_append(arg, data, len);
	return shd_buf_check(arg, err);
}

static bool count_edge(void *arg, const sherd_graph_edge *edge)
{
	(void)edge;
	++*(size_t *)arg;
	return true;
}

/* S-10: each edge was held against all others. With so many this would not end. */
TEST(edges_of_a_hub_in_no_order_are_looked_at_once)
{
	enum { EDGES = 200000 };
	SCOPED_STORE store = sample();
	SHD_AUTO_BUF segment = {0};
	shd_rfdb_writer w;
	rewriting r;
	size_t found = 0;
	uint64_t size;
	shd_rfdb_edge edge = {.type = {"CALLS", 5}};
	sherd_graph_id hub = graph_id("a");
	edge.src = (shd_u128)hub.hi << 64 | hub.lo;
	shd_rfdb_writer_init(&w, SHD_RFDB_EDGES);
	for (unsigned i = EDGES; i-- > 0;) {
		edge.dst = i / 2; /* each key twice */
		assert_ok(shd_rfdb_writer_edge(&w, &edge, err));
	}
	assert_ok(shd_rfdb_writer_finish(&w, append, &segment, &size, err));
	shd_rfdb_writer_done(&w);
	object_put(store, "db/segments/00/seg_000099_edges.seg", segment.data, segment.len);
	take(&r, store, "db/manifests/000003.json");
	const shd_rfdb_descriptor one = {.id = 99, .kind = SHD_RFDB_EDGES, .rows = EDGES, .bytes = segment.len};
	r.m.edges = (shd_rfdb_descriptors){&one, 1};
	r.m.counts.known = false;
	put(&r, store, "db/manifests/000003.json");
	SCOPED_GRAPH g = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_ok(sherd_graph_outgoing(g, hub, NULL, count_edge, &found, err));
	assert_int_equal(found, EDGES / 2);
	sherd_graph_totals totals;
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.edges, EDGES / 2);
}

/* ---- versions that are gone */

static bool add_version(void *arg, const sherd_graph_snapshot *s)
{
	char *text = arg;
	(void)snprintf(text + strlen(text), 64 - strlen(text), "%" PRIu64 " ", s->version);
	return true;
}

/* G-3: the real server removes segments that only old edits name. */
TEST(a_version_whose_segments_are_gone_is_a_warning_and_is_not_listed)
{
	SCOPED_STORE store = sample();
	SCOPED_REPORT r = NULL;
	char listed[64] = "";
	{
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		assert_ok(sherd_graph_compact(g, NULL, err));
	}
	assert_ok(sherd_store_remove(store, "db/segments/00/seg_000001_nodes.seg", err));
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	assert_true(sherd_report_warnings(r) >= 1);
	assert_string_equal(sherd_report_warning(r, 0)->reason, "incomplete");
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_versions(g, add_version, listed, err));
	assert_string_equal(listed, "1 3 4 ");
	/* They go like others. */
	assert_ok(sherd_graph_gc(g, &(sherd_graph_gc_options){.keep = 9}, NULL, err));
	sherd_report_close(TAKE(r));
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	assert_int_equal(sherd_report_warnings(r), 0);
}

/* G-2. */
TEST(a_tagged_version_stays_with_what_is_left_of_it)
{
	SCOPED_STORE store = sample();
	sherd_graph_repair_result repaired;
	sherd_graph_gc_result result;
	sherd_stat stat;
	{
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		assert_ok(sherd_graph_set_tag(g, 3, "release", "1.0", err));
	}
	assert_ok(sherd_store_remove(store, "db/segments/00/seg_000002_edges.seg", err));
	assert_ok(sherd_graph_repair(store, "db", NULL, &repaired, err));
	assert_int_equal(repaired.whole, 1);
	assert_true(repaired.before.known && repaired.before.nodes == 4 && repaired.before.edges == 1);
	assert_true(repaired.after.known && repaired.after.nodes == 0 && repaired.after.edges == 0);
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_gc(g, NULL, &result, err));
	assert_int_equal(result.versions, 2);
	assert_int_equal(result.damaged, 1);
	assert_ok(sherd_store_stat(&stat, store, "db/manifests/000003.json", err));
	assert_ok(sherd_store_stat(&stat, store, "db/segments/00/seg_000003_nodes.seg", err));
	assert_ok(sherd_graph_set_tag(g, 3, "release", NULL, err));
	assert_ok(sherd_graph_gc(g, NULL, &result, err));
	assert_int_equal(result.damaged, 0);
	assert_int_equal(sherd_store_stat(&stat, store, "db/segments/00/seg_000003_nodes.seg", NULL), SHERD_ENOTFOUND);
}

TEST(a_manifest_that_cannot_be_read_keeps_what_it_may_name)
{
	SCOPED_STORE store = sample();
	sherd_graph_gc_result result;
	sherd_stat stat;
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_set_tag(g, 2, "release", "1.0", err));
	object_put(store, "db/manifests/000002.json", "{", 1);
	assert_ok(sherd_graph_gc(g, NULL, &result, err));
	assert_int_equal(result.versions, 1);
	assert_int_equal(result.damaged, 1);
	assert_ok(sherd_store_stat(&stat, store, "db/manifests/000002.json", err));
	assert_ok(sherd_store_stat(&stat, store, "db/segments/00/seg_000001_nodes.seg", err));
	assert_ok(sherd_graph_gc(g, &(sherd_graph_gc_options){.untag = true}, &result, err));
	assert_int_equal(result.versions, 1);
	assert_int_equal(sherd_store_stat(&stat, store, "db/segments/00/seg_000001_nodes.seg", NULL), SHERD_ENOTFOUND);
}

TEST(the_current_version_must_have_its_segments)
{
	SCOPED_STORE store = sample();
	assert_ok(sherd_store_remove(store, "db/segments/00/seg_000002_edges.seg", err));
	assert_error_in(store, "db/segments/00/seg_000002_edges.seg", "missing-segment");
}

/* G-5. */
TEST(a_quick_look_counts_what_it_looked_at)
{
	SCOPED_STORE store = memory();
	{
		SCOPED_GRAPH g = graph_create(store, "db", NULL, NULL);
		graph_add_random(g, 3000, 3000, 20, 1);
		graph_flush(g);
	}
	SCOPED_REPORT quick = NULL;
	SCOPED_REPORT whole = NULL;
	assert_ok(sherd_verify(&quick, store, "db", &(sherd_verify_options){.quick = true}, err));
	assert_ok(sherd_verify(&whole, store, "db", NULL, err));
	assert_true(sherd_report_checked_bytes(whole) >= bytes_of(store, "db/segments/"));
	assert_true(sherd_report_checked_bytes(quick) < sherd_report_checked_bytes(whole) / 10);
}

/* G-6. */
TEST(an_update_that_says_the_same_in_other_words_changes_nothing)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", NULL, NULL);
	sherd_graph_update_result change;
	sherd_graph_node n = graph_node("a", "F", "a", "a.js");
	n.metadata = sherd_graph_text_of("{\"line\":3,\"async\":true,\"__exported\":true}");
	assert_ok(sherd_graph_add_nodes(g, &n, 1, err));
	n.metadata = sherd_graph_text_of("{\"async\": true, \"line\": 3}");
	n.exported = true;
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, &change, err));
	assert_int_equal(change.nodes_changed, 0);
	n.exported = false;
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, &change, err));
	assert_int_equal(change.nodes_changed, 1);
	n.metadata = sherd_graph_text_of("no object");
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, &change, err));
	assert_int_equal(change.nodes_changed, 1);
}

/* ---- tag_index */

static void index_of(sherd_store *store, shd_arena *arena, shd_rfdb_index *x, char **text)
{
	size_t len;
	*text = object_get(store, "db/manifest_index.json", &len);
	assert_ok(shd_rfdb_index_decode(*text, len, NULL, arena, x, err));
}

/* G-1. */
TEST(the_index_says_which_version_has_a_tag)
{
	SCOPED_STORE store = sample();
	shd_arena arena = {0};
	shd_rfdb_index x;
	char *text;
	{
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		assert_ok(sherd_graph_set_tag(g, 2, "release", "1.0", err));
		assert_ok(sherd_graph_set_tag(g, 3, "release", "1.1", err));
		assert_ok(sherd_graph_set_tag(g, 2, "by", "me", err));
		assert_ok(sherd_graph_set_tag(g, 3, "by", "me", err));
		/* A commit keeps them. */
		graph_add_node(g, "e", "F", "e", "e.js");
		graph_flush(g);
	}
	index_of(store, &arena, &x, &text);
	assert_int_equal(x.latest, 4);
	assert_int_equal(x.tagged_count, 3);
	assert_true(shd_str_is(x.tagged[0].key, "by") && x.tagged[0].version == 3);
	assert_true(shd_str_is(x.tagged[1].value, "1.0") && x.tagged[1].version == 2);
	assert_true(shd_str_is(x.tagged[2].value, "1.1") && x.tagged[2].version == 3);
	free(text);
	shd_arena_done(&arena);
}

TEST(verify_tells_of_an_index_that_lacks_tags_or_invents_them)
{
	const struct shd_rfdb_tagged wrong[] = {{{"release", 7}, {"1.0", 3}, 3}};
	for (int invents = 0; invents < 2; invents++) {
		SCOPED_STORE store = sample();
		SCOPED_REPORT r = NULL;
		SHD_AUTO_BUF out = {0};
		shd_arena arena = {0};
		shd_rfdb_index x;
		char *text;
		{
			SCOPED_GRAPH g = graph_open(store, "db", NULL);
			assert_ok(sherd_graph_set_tag(g, 2, "release", "1.0", err));
		}
		index_of(store, &arena, &x, &text);
		x.tagged = invents ? wrong : NULL;
		x.tagged_count = (size_t)invents;
		shd_rfdb_index_encode(&x, &out);
		object_put(store, "db/manifest_index.json", out.data, out.len);
		free(text);
		shd_arena_done(&arena);
		assert_ok(sherd_verify(&r, store, "db", NULL, err));
		assert_int_equal(sherd_report_errors(r), invents);
		const sherd_error *e = invents ? sherd_report_error(r, 0) : sherd_report_warning(r, 0);
		assert_string_equal(e->reason, invents ? "bad-index" : "no-tags");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_a_segment_may_be_in_any_order),
		cmocka_unit_test(every_version_is_held_against_its_counts_and_lists),
		cmocka_unit_test(verifying_many_versions_reads_each_manifest_a_few_times),
		cmocka_unit_test(collecting_what_all_stays_rewrites_nothing),
		cmocka_unit_test(after_a_repair_the_database_verifies),
		cmocka_unit_test(a_dry_run_counts_what_is_collected_and_changes_nothing),
		cmocka_unit_test(a_damaged_index_is_no_reason_to_go_back_to_an_older_version),
		cmocka_unit_test(an_edit_beside_its_full_manifest_is_collected_unless_somebody_reads_by_it),
		cmocka_unit_test(edges_of_a_hub_in_no_order_are_looked_at_once),
		cmocka_unit_test(a_version_whose_segments_are_gone_is_a_warning_and_is_not_listed),
		cmocka_unit_test(a_tagged_version_stays_with_what_is_left_of_it),
		cmocka_unit_test(a_manifest_that_cannot_be_read_keeps_what_it_may_name),
		cmocka_unit_test(the_current_version_must_have_its_segments),
		cmocka_unit_test(a_quick_look_counts_what_it_looked_at),
		cmocka_unit_test(an_update_that_says_the_same_in_other_words_changes_nothing),
		cmocka_unit_test(the_index_says_which_version_has_a_tag),
		cmocka_unit_test(verify_tells_of_an_index_that_lacks_tags_or_invents_them),
	};
	return cmocka_run_group_tests_name("graph_history", tests, NULL, NULL);
}
