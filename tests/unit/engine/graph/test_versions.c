/* Versions: tags, collection, readers that keep theirs, differences, other layouts, indexes that are lost or wrong. */
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const sherd_graph_options reading = {.read_only = true};

static sherd_store *local(char **folder)
{
	sherd_store *store = NULL;
	*folder = scratch_make();
	assert_ok(sherd_store_open_local(&store, *folder, NULL, err));
	return store;
}

static void add_turn(sherd_graph *g, unsigned turn)
{
	char id[16], file[32];
	(void)snprintf(id, sizeof(id), "t%u", turn);
	(void)snprintf(file, sizeof(file), "d%u/x.js", turn);
	graph_add_node(g, id, "F", id, file);
	graph_add_edge(g, id, "t0", "CALLS", "");
	graph_flush(g);
}

static bool count_snapshot(void *arg, const sherd_graph_snapshot *s)
{
	(void)s;
	++*(size_t *)arg;
	return true;
}

static size_t versions(const sherd_graph *g)
{
	size_t n = 0;
	assert_ok(sherd_graph_versions(g, count_snapshot, &n, err));
	return n;
}

TEST(a_reader_keeps_its_version_while_others_commit_compact_and_collect)
{
	char *folder;
	SCOPED_STORE store = local(&folder);
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	for (unsigned turn = 0; turn < 3; turn++)
		add_turn(g, turn);
	SCOPED_GRAPH reader = graph_open(store, "", &reading);
	char *before = graph_dump(reader);
	for (unsigned turn = 3; turn < 6; turn++)
		add_turn(g, turn);
	assert_ok(sherd_graph_compact(g, NULL, err));
	sherd_graph_gc_result gone;
	assert_ok(sherd_graph_gc(g, NULL, &gone, err));
	assert_int_equal(gone.held, 1);
	assert_int_equal(versions(g), 2);
	char *after = graph_dump(reader);
	assert_string_equal(before, after);
	assert_consistent(reader);
	const sherd_graph_options old = {.version = sherd_graph_version(reader)};
	sherd_graph_close(graph_open(store, "", &old));
	sherd_graph_close(TAKE(reader));
	assert_ok(sherd_graph_gc(g, NULL, &gone, err));
	assert_int_equal(gone.held, 0);
	assert_true(gone.files > 0 && gone.bytes > 0);
	assert_int_equal(versions(g), 1);
	assert_int_equal(sherd_graph_open(&reader, store, "", &old, NULL), SHERD_ENOTFOUND);
	SCOPED_GRAPH again = graph_open(store, "", &reading);
	assert_same_graph(again, g);
	free(before);
	free(after);
	scratch_remove(folder);
}

TEST(tagged_versions_stay_and_are_found)
{
	char *folder;
	SCOPED_STORE store = local(&folder);
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	for (unsigned turn = 0; turn < 4; turn++)
		add_turn(g, turn);
	uint64_t found;
	assert_ok(sherd_graph_set_tag(g, 3, "release", "1.0", err));
	assert_ok(sherd_graph_set_tag(g, 4, "release", "1.1", err));
	assert_ok(sherd_graph_find_tag(&found, g, "release", NULL, err));
	assert_int_equal(found, 4);
	assert_ok(sherd_graph_find_tag(&found, g, "release", "1.0", err));
	assert_int_equal(found, 3);
	assert_ok(sherd_graph_set_tag(g, 4, "release", NULL, err));
	assert_ok(sherd_graph_find_tag(&found, g, "release", NULL, err));
	assert_int_equal(found, 3);
	assert_refused(SHERD_ENOTFOUND, "no-version", sherd_graph_set_tag(g, 9, "a", "b", err));
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	assert_int_equal(versions(g), 2);
	const sherd_graph_options tagged = {.version = 3};
	SCOPED_GRAPH then = graph_open(store, "", &tagged);
	assert_int_equal(graph_count(then, NULL, NULL, NULL), 2);
	sherd_graph_gc_options all = {.untag = true};
	sherd_graph_close(TAKE(then));
	assert_ok(sherd_graph_gc(g, &all, NULL, err));
	assert_int_equal(versions(g), 1);
	scratch_remove(folder);
}

typedef struct difference {
	unsigned nodes[3], edges[3];
} difference;

static bool see_node(void *arg, sherd_graph_difference what, const sherd_graph_node *n)
{
	(void)n;
	((difference *)arg)->nodes[what]++;
	return true;
}

static bool see_edge(void *arg, sherd_graph_difference what, const sherd_graph_edge *e)
{
	(void)e;
	((difference *)arg)->edges[what]++;
	return true;
}

static bool take_time(void *arg, const sherd_graph_snapshot *s)
{
	*(int64_t *)arg = s->time_ns;
	return true;
}

TEST(times_are_nanoseconds_and_stored_in_seconds_or_milliseconds)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	graph_add_node(g, "a", "F", "a", "a.js");
	const sherd_graph_commit_options when = {.time_ns = 1700000001999999999};
	assert_ok(sherd_graph_flush(g, &when, err));
	graph_add_node(g, "b", "F", "b", "a.js");
	assert_ok(sherd_graph_compact(g, &when, err));
	int64_t at = 0;
	assert_ok(sherd_graph_versions(g, take_time, &at, err));
	assert_int_equal(at, INT64_C(1700000001000000000));
	char *text;
	size_t len;
	assert_ok(sherd_store_get(&text, &len, store, "manifests/000003.json", 1 << 20, err));
	assert_non_null(strstr(text, "\"created_at\": 1700000001,"));
	assert_non_null(strstr(text, "\"timestamp_ms\": 1700000001999,"));
	sherd_free(text);
}

TEST(a_difference_tells_what_was_added_removed_and_changed)
{
	char *folder;
	SCOPED_STORE store = local(&folder);
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	add_turn(g, 0);
	add_turn(g, 1);
	SCOPED_GRAPH before = graph_open(store, "", &reading);
	graph_add_node(g, "t1", "F", "other", "d1/x.js");
	graph_add_edge(g, "t0", "t0", "CALLS", "{}");
	graph_add_node(g, "t2", "F", "t2", "d2/x.js");
	const sherd_graph_edge gone = graph_edge("t1", "t0", "CALLS", "");
	assert_ok(sherd_graph_delete_edges(g, &gone, 1, NULL, err));
	for (int flushed = 0; flushed < 2; flushed++) {
		difference d = {0};
		const sherd_graph_diff_fns fns = {see_node, see_edge, &d};
		assert_ok(sherd_graph_diff(before, g, &fns, err));
		assert_int_equal(d.nodes[SHERD_GRAPH_ADDED], 1);
		assert_int_equal(d.nodes[SHERD_GRAPH_REMOVED], 0);
		assert_int_equal(d.nodes[SHERD_GRAPH_CHANGED], 1);
		assert_int_equal(d.edges[SHERD_GRAPH_ADDED], 0);
		assert_int_equal(d.edges[SHERD_GRAPH_REMOVED], 1);
		assert_int_equal(d.edges[SHERD_GRAPH_CHANGED], 1);
		graph_flush(g);
	}
	scratch_remove(folder);
}

TEST(a_graph_is_copied_into_any_layout_in_small_pieces)
{
	static const sherd_graph_layout layouts[] = {{.shards = 1},
	                                             {.shards = 3},
	                                             {.planner = SHERD_GRAPH_DIRECTORY},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1}};
	char *folder;
	SCOPED_STORE store = local(&folder);
	SCOPED_GRAPH g = graph_create(store, "from", NULL, NULL);
	graph_add_random(g, 400, 1500, 20, 4);
	graph_flush(g);
	for (size_t i = 0; i < COUNT_OF(layouts); i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "to%zu", i);
		const sherd_graph_reshard_options o = {.memory = 40000, .time_ns = 5000000000};
		assert_ok(sherd_graph_reshard(g, store, name, &layouts[i], &o, NULL, err));
		SCOPED_GRAPH to = graph_open(store, name, NULL);
		assert_int_equal(sherd_graph_version(to), 2);
		assert_same_graph(g, to);
		assert_ok(sherd_graph_compact(to, NULL, err));
		assert_same_graph(g, to);
	}
	assert_int_equal(sherd_graph_reshard(g, store, "to0", NULL, NULL, NULL, NULL), SHERD_EEXIST);
	scratch_remove(folder);
}

typedef struct keys {
	char list[64][64];
	size_t count;
} keys;

static bool note_index(void *arg, const char *key, const sherd_stat *stat)
{
	keys *k = arg;
	(void)stat;
	if (strstr(key, ".idx") && k->count < 64)
		(void)snprintf(k->list[k->count++], 64, "%s", key);
	return true;
}

/* Gone, swapped for that of another segment, or damaged: answers stay the same. */
TEST(a_sidecar_that_is_lost_or_wrong_is_built_anew)
{
	char *folder;
	SCOPED_STORE store = local(&folder);
	SCOPED_GRAPH g = graph_create(store, "", NULL, NULL);
	graph_add_random(g, 200, 600, 9, 3);
	graph_flush(g);
	keys k = {0};
	assert_ok(sherd_store_list(store, "segments/", "", note_index, &k, err));
	assert_true(k.count > 6);
	for (size_t i = 0; i < k.count; i++) {
		char *data;
		size_t len;
		assert_ok(
			sherd_store_get(&data, &len, store, k.list[i % 3 == 1 ? (i + 1) % k.count : i], 1 << 20, err));
		if (i % 3 == 0)
			assert_ok(sherd_store_remove(store, k.list[i], err));
		if (i % 3 == 2)
			data[len - 3] ^= 0x10;
		if (i % 3)
			assert_ok(sherd_store_put(store, k.list[i], SHERD_WRITE_REPLACE, data, len, err));
		sherd_free(data);
	}
	SCOPED_GRAPH reader = graph_open(store, "", &reading);
	assert_same_graph(reader, g);
	scratch_remove(folder);
}

/* A writer that died before current.json named its version left a full manifest: the next edit must not build on it. */
TEST(what_a_dead_writer_left_does_not_become_part_of_a_version)
{
	char *folder, *text;
	size_t len;
	SCOPED_STORE store = local(&folder);
	sherd_graph *g = graph_create(store, "", NULL, NULL);
	add_turn(g, 0);
	assert_ok(sherd_store_get(&text, &len, store, "manifests/000001.json", 1 << 20, err));
	sherd_graph_close(g);
	assert_ok(sherd_store_put(store, "manifests/000003.json", SHERD_WRITE_NEW, text, len, err));
	assert_ok(sherd_store_put(store, "segments/00/seg_000077_nodes.seg", SHERD_WRITE_NEW, text, len, err));
	sherd_free(text);
	g = graph_open(store, "", NULL);
	const sherd_graph_node n = graph_node("t0", "F", "again", "d0/x.js");
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
	graph_flush(g);
	assert_int_equal(sherd_graph_version(g), 3);
	SCOPED_GRAPH reader = graph_open(store, "", &reading);
	assert_int_equal(graph_count(reader, NULL, NULL, "again"), 1);
	sherd_graph_gc_result gone;
	assert_ok(sherd_graph_gc(g, NULL, &gone, err));
	assert_int_equal(sherd_store_stat(&(sherd_stat){0}, store, "segments/00/seg_000077_nodes.seg", NULL),
	                 SHERD_ENOTFOUND);
	sherd_graph_close(g);
	scratch_remove(folder);
}

/* More segments than files may be open: each is mapped and let go. */
/* The store holds 256 descriptors at most, and this database has 800 files that are mapped twice. */
TEST(a_database_of_many_segments_needs_few_open_files)
{
	char *folder;
	SCOPED_STORE store = local(&folder);
	struct rlimit before, few = {.rlim_cur = 330};
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	const sherd_graph_layout many = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	SCOPED_GRAPH g = graph_create(store, "", &many, NULL);
	for (unsigned i = 0; i < 200; i++) {
		char id[16], file[32];
		(void)snprintf(id, sizeof(id), "n%u", i);
		(void)snprintf(file, sizeof(file), "d%u/x.js", i);
		graph_add_node(g, id, "F", id, file);
		graph_add_edge(g, id, "n0", "CALLS", "");
	}
	graph_flush(g);
	SCOPED_GRAPH reader = graph_open(store, "", &reading);
	assert_same_graph(reader, g);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	scratch_remove(folder);
}

TEST(a_segment_that_is_not_there_is_named)
{
	char *folder;
	SCOPED_STORE store = local(&folder);
	sherd_graph *g = graph_create(store, "", NULL, NULL);
	add_turn(g, 0);
	sherd_graph_close(g);
	keys k = {0};
	assert_ok(sherd_store_list(store, "segments/", "", note_index, &k, err));
	char *dot = strstr(k.list[0], ".idx");
	memcpy(dot, ".seg", 5);
	assert_ok(sherd_store_remove(store, k.list[0], err));
	for (int write = 0; write < 2; write++) {
		sherd_error e = {0};
		const sherd_graph_options o = {.read_only = !write};
		assert_int_equal(sherd_graph_open(&g, store, "", &o, &e), SHERD_ECORRUPT);
		assert_string_equal(e.reason, "missing-segment");
		assert_string_equal(e.object, k.list[0]);
	}
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_keeps_its_version_while_others_commit_compact_and_collect),
		cmocka_unit_test(tagged_versions_stay_and_are_found),
		cmocka_unit_test(times_are_nanoseconds_and_stored_in_seconds_or_milliseconds),
		cmocka_unit_test(a_difference_tells_what_was_added_removed_and_changed),
		cmocka_unit_test(a_graph_is_copied_into_any_layout_in_small_pieces),
		cmocka_unit_test(a_sidecar_that_is_lost_or_wrong_is_built_anew),
		cmocka_unit_test(what_a_dead_writer_left_does_not_become_part_of_a_version),
		cmocka_unit_test(a_database_of_many_segments_needs_few_open_files),
		cmocka_unit_test(a_segment_that_is_not_there_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
