/* Databases that come into being: created, or copied from another. */
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/graph/open/creation.h"
#include "engine/graph/disk/version.h"

#include <sherd/sys/backend.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void put(sherd_store *store, const char *key)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, "x", 1, err));
}

static bool is_there(sherd_store *store, const char *key)
{
	sherd_stat stat;
	return sherd_store_stat(&stat, store, key, NULL) == SHERD_OK;
}

TEST(what_was_not_finished_is_no_database_and_is_cleared_by_the_next)
{
	static const char *const parts[] = {"db/graph.making",
	                                    "db/LOCK",
	                                    "db/db_config.json",
	                                    "db/shard_plan.json",
	                                    "db/manifests/7.json",
	                                    "db/manifests/000002.json",
	                                    "db/notes",
	                                    "db/segments/00/seg_000007_nodes.seg",
	                                    "db/segments/00/seg_000007_nodes.idx"};
	for (int copied = 0; copied < 2; copied++) {
		SCOPED_STORE store = memory();
		SCOPED_GRAPH from = graph_create(store, "from", NULL, NULL);
		sherd_graph *g = NULL;
		graph_add_node(from, "a", "F", "a", "a.js");
		for (size_t i = 0; i < COUNT_OF(parts); i++)
			put(store, parts[i]);
		assert_refused(SHERD_ENOTFOUND, "incomplete", sherd_graph_open(&g, store, "db", NULL, err));
		if (copied)
			assert_ok(sherd_graph_reshard(from, store, "db", NULL, NULL, NULL, err));
		else
			assert_ok(sherd_graph_create(store, "db", NULL, 1, err));
		assert_false(is_there(store, "db/graph.making"));
		assert_false(is_there(store, "db/shard_plan.json"));
		assert_false(is_there(store, "db/segments/00/seg_000007_nodes.seg"));
		assert_false(is_there(store, "db/segments/00/seg_000007_nodes.idx"));
		/* No parts of a database. */
		assert_true(is_there(store, "db/manifests/7.json"));
		assert_true(is_there(store, "db/notes"));
		g = graph_open(store, "db", NULL);
		assert_int_equal(graph_count(g, NULL, NULL, NULL), copied);
		sherd_graph_close(g);
	}
}

TEST(what_is_left_of_a_damaged_database_is_not_overwritten)
{
	static const char *const parts[] = {
		"db/db_config.json",        "db/manifest_index.json",        "db/shard_plan.json",
		"db/manifests/000009.json", "db/manifests/000009.edit.json", "db/segments/03/seg_000001_edges.seg"};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		SCOPED_STORE store = memory();
		SCOPED_GRAPH from = graph_create(store, "from", NULL, NULL);
		put(store, parts[i]);
		assert_refused(SHERD_EEXIST, "leftovers", sherd_graph_create(store, "db", NULL, 1, err));
		assert_refused(SHERD_EEXIST, "leftovers",
		               sherd_graph_reshard(from, store, "db", NULL, NULL, NULL, err));
		assert_true(is_there(store, parts[i]));
		assert_false(is_there(store, "db/graph.making"));
		assert_false(is_there(store, "db/LOCK"));
	}
}

TEST(a_mark_that_stayed_means_nothing_and_is_collected)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH g = graph_create(store, "db", NULL, NULL);
	put(store, "db/graph.making");
	SCOPED_GRAPH reader = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_int_equal(sherd_graph_version(reader), 1);
	assert_refused(SHERD_EEXIST, "exists", sherd_graph_create(store, "db", NULL, 1, err));
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	assert_false(is_there(store, "db/graph.making"));
}

TEST(the_copy_of_an_empty_graph_is_an_empty_graph)
{
	SCOPED_STORE store = memory();
	SCOPED_GRAPH from = graph_create(store, "from", NULL, NULL);
	sherd_graph_reshard_result done;
	assert_ok(sherd_graph_reshard(from, store, "to", NULL, NULL, &done, err));
	SCOPED_GRAPH to = graph_open(store, "to", NULL);
	assert_int_equal(done.nodes + done.edges + done.lost_edges, 0);
	assert_same_graph(from, to);
}

/* Takes a segment of nodes out of the current version, as a program that keeps edges without sources would leave it. */
static void lose_nodes(sherd_store *store)
{
	graph_place place;
	graph_version v;
	SHD_AUTO_BUF text = {0};
	char name[SHD_RFDB_NAME_MAX];
	assert_ok(shd_graph_place_init(&place, store, "db", NULL, err));
	assert_ok(shd_graph_version_load(&v, &place, 2, err));
	shd_rfdb_manifest m = v.manifest;
	assert_int_equal(m.nodes.count, 2);
	m.nodes.count = 1;
	m.counts.known = false;
	shd_rfdb_manifest_encode(&m, &text);
	shd_rfdb_manifest_name(2, false, name);
	assert_ok(shd_graph_place_put(&place, name, SHERD_WRITE_REPLACE, &text, err));
	shd_graph_version_done(&v);
	shd_graph_place_done(&place);
}

TEST(edges_that_cannot_be_copied_are_counted)
{
	SCOPED_STORE store = memory();
	const sherd_graph_layout directories = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	sherd_graph_reshard_result done;
	sherd_graph *g = graph_create(store, "db", &directories, NULL);
	graph_add_node(g, "a", "F", "a", "a/a.js");
	graph_add_node(g, "b", "F", "b", "b/b.js");
	graph_add_edge(g, "a", "b", "CALLS", "");
	graph_add_edge(g, "a", "b", "READS", "");
	graph_add_edge(g, "b", "a", "CALLS", "");
	graph_add_edge(g, "b", "a", "READS", "");
	graph_flush(g);
	sherd_graph_close(g);
	lose_nodes(store);
	SCOPED_GRAPH from = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_ok(sherd_graph_reshard(from, store, "new", NULL, NULL, &done, err));
	assert_int_equal(done.nodes, 1);
	assert_int_equal(done.edges, 2);
	assert_int_equal(done.lost_edges, 2);
	SCOPED_GRAPH to = graph_open(store, "new", NULL);
	assert_int_equal(graph_count_out(to, "a", NULL) + graph_count_out(to, "b", NULL), 2);
}

/* ---- several at once: a local store where something happens before LOCK is made */

typedef struct racing {
	char *folder;
	sherd_store *store;
	const struct sherd_store_ops *genuine;
	struct sherd_store_ops ops;
} racing;

static racing race_of; /* the table of a store has no place for an argument */
static sherd_lock *winner;
static int vanishings;

static void race_begin(int (*create_locked)(sherd_lock **, sherd_store *, const char *, const void *, size_t,
                                            sherd_lock_mode, sherd_error *))
{
	racing *r = &race_of;
	r->folder = scratch_make();
	assert_ok(sherd_store_open_local(&r->store, r->folder, NULL, err));
	r->genuine = r->store->ops;
	r->ops = *r->genuine;
	r->ops.create_locked = create_locked;
	r->store->ops = &r->ops;
}

static void race_end(void)
{
	race_of.store->ops = race_of.genuine;
	sherd_store_close(race_of.store);
	scratch_remove(race_of.folder);
}

static bool has_folder(const char *name)
{
	char path[512];
	struct stat st;
	(void)snprintf(path, sizeof(path), "%s/%s", race_of.folder, name);
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Another one is first, and has come as far as its folders. */
static int come_second(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                       sherd_lock_mode mode, sherd_error *e)
{
	assert_ok(race_of.genuine->create_locked(&winner, store, key, "", 0, SHERD_LOCK_EXCLUSIVE, err));
	assert_ok(sherd_store_mkdir(store, "db/manifests", err));
	assert_ok(sherd_store_mkdir(store, "db/segments", err));
	return race_of.genuine->create_locked(out, store, key, data, len, mode, e);
}

TEST(who_is_refused_leaves_the_folders_of_who_makes_the_database)
{
	race_begin(come_second);
	assert_refused(SHERD_ECONFLICT, "locked", sherd_graph_create(race_of.store, "db", NULL, 1, err));
	assert_true(has_folder("db/manifests"));
	assert_true(has_folder("db/segments"));
	assert_true(is_there(race_of.store, "db/LOCK"));
	sherd_lock_release(winner);
	race_of.store->ops = race_of.genuine;
	assert_ok(sherd_graph_create(race_of.store, "db", NULL, 1, err));
	race_end();
}

/* Another one has given up and removed the folder that LOCK was about to lie in. */
static int find_no_folder(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                          sherd_lock_mode mode, sherd_error *e)
{
	if (vanishings-- > 0)
		return shd_fail_os(e, ENOENT, "cannot open the folder db");
	return race_of.genuine->create_locked(out, store, key, data, len, mode, e);
}

TEST(a_folder_that_somebody_else_gave_up_is_made_again)
{
	vanishings = 3;
	race_begin(find_no_folder);
	assert_ok(sherd_graph_create(race_of.store, "db", NULL, 1, err));
	race_end();
}

TEST(who_gives_up_leaves_a_LOCK_of_somebody_else)
{
	char *folder = scratch_make();
	SCOPED_STORE store = NULL;
	graph_place place;
	graph_creation m;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	assert_ok(shd_graph_place_init(&place, store, "db", NULL, err));
	for (int other = 0; other < 2; other++) {
		assert_ok(shd_graph_creation_begin(&m, &place, NULL, 1, err));
		if (other) {
			assert_ok(sherd_store_remove(store, "db/LOCK", err));
			put(store, "db/LOCK");
		}
		assert_int_equal(shd_graph_creation_end(&m, SHERD_EIO), SHERD_EIO);
		assert_true(is_there(store, "db/LOCK") == (other == 1));
	}
	shd_graph_place_done(&place);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_finished_is_no_database_and_is_cleared_by_the_next),
		cmocka_unit_test(what_is_left_of_a_damaged_database_is_not_overwritten),
		cmocka_unit_test(a_mark_that_stayed_means_nothing_and_is_collected),
		cmocka_unit_test(the_copy_of_an_empty_graph_is_an_empty_graph),
		cmocka_unit_test(edges_that_cannot_be_copied_are_counted),
		cmocka_unit_test(who_is_refused_leaves_the_folders_of_who_makes_the_database),
		cmocka_unit_test(a_folder_that_somebody_else_gave_up_is_made_again),
		cmocka_unit_test(who_gives_up_leaves_a_LOCK_of_somebody_else),
	};
	return cmocka_run_group_tests_name("engine/graph_creation", tests, NULL, NULL);
}
