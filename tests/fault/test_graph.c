/* Every operation of the graph engine with the nth allocation, operation of the store or system call failing, for every
 * n. The database is as it was or as it should be, the writer's buffer too, and what failed works the next time. */
#include "support/ckpt_place.h"
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/fail_sys.h"
#include "support/graph_make.h"
#include "support/graph_moved.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local/local.h"

#include <sherd/verify.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const sherd_graph_layout layouts[] = {{.shards = 2}, {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1}};

/* ---- the database that all begin with */

static void update(sherd_graph *g, const char *file, const char *id, const char *name)
{
	const sherd_graph_node n = graph_node(id, "F", name, file);
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
}

static sherd_store *make_template(const sherd_graph_layout *layout)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	sherd_graph *g = graph_create(store, "db", layout, NULL);
	graph_add_node(g, "a", "F", "a", "a.js");
	graph_add_node(g, "b", "F", "b", "src/b.js");
	graph_add_node(g, "c", "M", "c", "lib/c.js");
	graph_add_node(g, "e", "M", "e", "lib/e.js");
	graph_add_edge(g, "a", "b", "CALLS", "");
	graph_add_edge(g, "b", "c", "CALLS", "{\"__file_context\":\"lib/e.js\"}");
	graph_add_edge(g, "c", "b", "HAS", "{}");
	graph_flush(g);
	update(g, "src/b.js", "b", "again");
	graph_flush(g);
	sherd_graph_close(g);
	return store;
}

typedef struct copying {
	sherd_store *from, *to;
} copying;

static bool copy_one(void *arg, const char *key, const sherd_stat *stat)
{
	const copying *c = arg;
	(void)stat;
	object_copy(c->from, c->to, key);
	return true;
}

static void copy_all(sherd_store *from, sherd_store *to)
{
	copying c = {from, to};
	assert_ok(sherd_store_list(from, "", "", copy_one, &c, err));
}

/* ---- what is done */

typedef struct act {
	const char *name;
	void (*prepare)(sherd_graph *g); /* may be NULL */
	int (*run)(sherd_graph *g, sherd_error *err);
	enum { READS, CHANGES, COMMITS } kind;
} act;

static void change(sherd_graph *g)
{
	graph_add_node(g, "a", "F", "moved", "lib/a.js");
	graph_add_node(g, "d", "F", "d", "deep/er/d.js");
	graph_add_edge(g, "d", "a", "CALLS", "");
	const sherd_graph_id c = graph_id("c");
	assert_ok(sherd_graph_delete_nodes(g, &c, 1, NULL, err));
}

static void change_file(sherd_graph *g)
{
	update(g, "lib/c.js", "new", "new");
}

static void change_and_spill(sherd_graph *g)
{
	change(g);
	assert_ok(sherd_graph_spill(g, err));
	change_file(g);
}

static int flush(sherd_graph *g, sherd_error *err)
{
	return sherd_graph_flush(g, NULL, err);
}

static int compact(sherd_graph *g, sherd_error *err)
{
	return sherd_graph_compact(g, NULL, err);
}

static int collect(sherd_graph *g, sherd_error *err)
{
	return sherd_graph_gc(g, NULL, NULL, err);
}

static int tag(sherd_graph *g, sherd_error *err)
{
	return sherd_graph_set_tag(g, 2, "key", "value", err);
}

static int add_nodes(sherd_graph *g, sherd_error *err)
{
	sherd_graph_node nodes[] = {graph_node("x", "F", "x", "src/x.js"), graph_node("a", "F", "y", "src/y.js")};
	nodes[1].exported = true;
	return sherd_graph_add_nodes(g, nodes, 2, err);
}

static int add_edges(sherd_graph *g, sherd_error *err)
{
	const sherd_graph_edge edges[] = {graph_edge("a", "c", "NEW", ""), graph_edge("b", "z", "NEW", "{}")};
	return sherd_graph_add_edges(g, edges, 2, err);
}

static int delete_nodes(sherd_graph *g, sherd_error *err)
{
	const sherd_graph_id ids[] = {graph_id("b"), graph_id("e")};
	return sherd_graph_delete_nodes(g, ids, 2, NULL, err);
}

static int delete_edges(sherd_graph *g, sherd_error *err)
{
	const sherd_graph_edge edges[] = {graph_edge("a", "b", "CALLS", ""), graph_edge("c", "b", "HAS", "")};
	return sherd_graph_delete_edges(g, edges, 2, NULL, err);
}

static int update_file(sherd_graph *g, sherd_error *err)
{
	const sherd_graph_node nodes[] = {graph_node("e", "F", "x", "lib/e.js"), graph_node("f", "F", "f", "lib/e.js")};
	const sherd_graph_edge edge = graph_edge("f", "a", "NEW", "");
	return sherd_graph_update_file(g, nodes[0].file, nodes, 2, &edge, 1, NULL, err);
}

static bool count_node(void *arg, const sherd_graph_node *n)
{
	*(size_t *)arg += n->id.lo != 0;
	return true;
}

static bool count_edge(void *arg, const sherd_graph_edge *e)
{
	*(size_t *)arg += e->src.lo != 0;
	return true;
}

static bool count_id(void *arg, sherd_graph_id id, uint32_t depth)
{
	(void)depth;
	*(size_t *)arg += id.lo != 0;
	return true;
}

static bool count_type(void *arg, sherd_graph_text type, uint64_t count)
{
	*(size_t *)arg += type.len && count;
	return true;
}

static bool count_version(void *arg, const sherd_graph_snapshot *s)
{
	*(size_t *)arg += s->version != 0;
	return true;
}

static int read_all(sherd_graph *g, sherd_error *err)
{
	size_t n = 0;
	const sherd_graph_query q = {.type = sherd_graph_text_of("F"), .name = sherd_graph_text_of("again")};
	const sherd_graph_walk_options walk = {.direction = SHERD_GRAPH_BOTH, .depth = 3};
	const sherd_graph_id b = graph_id("b");
	sherd_graph_totals totals;
	sherd_graph_shard shard;
	TRY(sherd_graph_find(g, NULL, count_node, &n, err));
	TRY(sherd_graph_find(g, &q, count_node, &n, err));
	TRY(sherd_graph_edges(g, NULL, count_edge, &n, err));
	TRY(sherd_graph_incoming(g, b, NULL, count_edge, &n, err));
	TRY(sherd_graph_outgoing(g, b, NULL, count_edge, &n, err));
	TRY(sherd_graph_bfs(g, &b, 1, &walk, count_id, &n, err));
	TRY(sherd_graph_neighbours(g, b, &walk, count_id, &n, err));
	TRY(sherd_graph_count_nodes(g, count_type, &n, err));
	TRY(sherd_graph_count_edges(g, count_type, &n, err));
	TRY(sherd_graph_stats(&totals, g, err));
	TRY(sherd_graph_shard_stats(&shard, g, 1, err));
	TRY(sherd_graph_versions(g, count_version, &n, err));
	assert_true(n > 10);
	return SHERD_OK;
}

static int reshard(sherd_graph *g, sherd_error *err)
{
	const sherd_graph_reshard_options small = {.memory = 500};
	sherd_store *store = NULL;
	TRY(sherd_store_open_memory(&store, err));
	int rc = sherd_graph_reshard(g, store, "new", &layouts[1], &small, NULL, err);
	sherd_store_close(store);
	return rc;
}

static const act acts[] = {
	{"flush", change, flush, COMMITS},
	{"flush of an update", change_file, flush, COMMITS},
	{"flush after a spill", change_and_spill, flush, COMMITS},
	{"spill", change, sherd_graph_spill, READS},
	{"compact", change, compact, COMMITS},
	{"collect", NULL, collect, COMMITS},
	{"tag", NULL, tag, COMMITS},
	{"add nodes", change_file, add_nodes, CHANGES},
	{"add edges", change_file, add_edges, CHANGES},
	{"delete nodes", change_file, delete_nodes, CHANGES},
	{"delete edges", change_file, delete_edges, CHANGES},
	{"update a file", change_file, update_file, CHANGES},
	{"read", change_file, read_all, READS},
	{"reshard", change, reshard, READS},
};

/* ---- trying */

typedef struct trial {
	const act *act;
	char *before, *changed, *after; /* dumps: committed, with the buffer, after the act */
	size_t whole, broken;           /* writers after a failure */
} trial;

static char *dump_of(sherd_store *store)
{
	const sherd_graph_options o = {.read_only = true};
	sherd_graph *g = graph_open(store, "db", &o);
	char *dump = graph_dump(g);
	sherd_graph_close(g);
	return dump;
}

static void assert_dump(const char *want, char *got)
{
	assert_string_equal(got, want);
	free(got);
}

static void verify(sherd_store *store)
{
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
	sherd_report_close(r);
}

/* Without faults: what it is like before and after. */
static trial rehearse(const act *a, sherd_store *from)
{
	trial t = {.act = a};
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	copy_all(from, store);
	t.before = dump_of(store);
	sherd_graph *g = graph_open(store, "db", NULL);
	if (a->prepare)
		a->prepare(g);
	t.changed = graph_dump(g);
	assert_ok(a->run(g, err));
	t.after = graph_dump(g);
	sherd_graph_close(g);
	sherd_store_close(store);
	return t;
}

/* After a failure of a writer's call with this code. sure: it cannot have happened all the same. */
static void check_writer(trial *t, sherd_store *store, sherd_graph *g, int code, bool sure)
{
	/* A buffer that is not whole any more cannot be committed; a commit that may have happened, not repeated. */
	if (sherd_graph_add_nodes(g, NULL, 0, NULL) < 0) {
		assert_true(code == SHERD_ENOMEM || !sure);
		assert_true(sherd_graph_flush(g, NULL, NULL) < 0);
		t->broken++;
		return;
	}
	t->whole++;
	assert_dump(t->changed, graph_dump(g));
	if (t->act->kind != READS)
		assert_dump(t->before, dump_of(store));
	assert_ok(t->act->run(g, err));
	assert_dump(t->after, graph_dump(g));
}

/* After closing: an old or the new version, whole. */
static void check_database(const trial *t, sherd_store *store, bool finished)
{
	char *dump = dump_of(store);
	if (strcmp(dump, t->act->kind == COMMITS ? t->after : t->before) != 0)
		assert_true(!finished && strcmp(dump, t->before) == 0);
	free(dump);
	verify(store);
}

static void try_act(trial *t, sherd_store *store, void (*arm)(sherd_store *store, long n),
                    bool (*disarm)(sherd_store *store), long n, bool *hit, bool sure)
{
	sherd_error e = {0};
	sherd_graph *g = graph_open(store, "db", NULL);
	if (t->act->prepare)
		t->act->prepare(g);
	char *keys = object_keys(store);
	arm(store, n);
	int rc = t->act->run(g, &e);
	*hit = disarm(store);
	if (rc < 0) {
		assert_true(*hit);
		assert_int_equal(e.code, rc);
		assert_true(e.message[0] != 0);
		if (t->act->run == flush && sure) {
			char *now = object_keys(store);
			assert_string_equal(now, keys);
			free(now);
		}
		check_writer(t, store, g, rc, sure);
	} else {
		assert_dump(t->after, graph_dump(g));
	}
	bool broken = sherd_graph_add_nodes(g, NULL, 0, NULL) < 0;
	sherd_graph_close(g);
	free(keys);
	check_database(t, store, !broken);
}

static void arm_malloc(sherd_store *store, long n)
{
	(void)store;
	fail_malloc_at(n);
}

static bool disarm_malloc(sherd_store *store)
{
	(void)store;
	bool hit = fail_malloc_hit();
	fail_malloc_at(0);
	return hit;
}

static bool disarm_store(sherd_store *store)
{
	bool hit = fail_store_hit(store);
	fail_store_at(store, 0);
	return hit;
}

static void try_one(const act *a, sherd_store *from, bool memory)
{
	trial t = rehearse(a, from);
	bool hit = true;
	long n = 1;
	for (; hit; n++) {
		sherd_store *inner = NULL;
		assert_ok(sherd_store_open_memory(&inner, err));
		copy_all(from, inner);
		sherd_store *store = fail_store_over(inner);
		if (memory)
			try_act(&t, store, arm_malloc, disarm_malloc, n, &hit, true);
		else
			try_act(&t, store, fail_store_at, disarm_store, n, &hit, true);
		sherd_store_close(store);
	}
	if (t.act->kind == COMMITS)
		assert_true(n > 8 && t.broken * 2 < t.whole);
	if (!memory || t.act->run == read_all)
		assert_int_equal(t.broken, 0);
	free(t.before);
	free(t.changed);
	free(t.after);
}

static void try_all(bool memory)
{
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		sherd_store *from = make_template(&layouts[l]);
		for (size_t a = 0; a < COUNT_OF(acts); a++)
			try_one(&acts[a], from, memory);
		sherd_store_close(from);
	}
}

TEST(every_allocation_may_fail)
{
	try_all(true);
}

TEST(every_operation_of_the_store_may_fail)
{
	try_all(false);
}

static int compact_and_move(sherd_graph *g, sherd_error *err)
{
	TRY(sherd_graph_compact(g, NULL, err));
	graph_check_placed(g);
	return SHERD_OK;
}

TEST(so_may_all_of_a_compaction_that_moves_nodes)
{
	const act moving = {"compact and move", change_file, compact_and_move, COMMITS};
	sherd_store *from = make_template(&layouts[0]);
	graph_plan_by_directory(from, "db");
	try_one(&moving, from, true);
	try_one(&moving, from, false);
	sherd_store_close(from);
}

/* ---- system calls */

static fail_sys sys;
static int sys_errno;

static void arm_sys(sherd_store *store, long n)
{
	(void)store;
	fail_sys_at(&sys, n, NULL, sys_errno);
}

static bool disarm_sys(sherd_store *store)
{
	(void)store;
	bool hit = atomic_load(&sys.hit);
	fail_sys_at(&sys, 0, NULL, 0);
	return hit;
}

TEST(every_system_call_may_fail)
{
	sherd_store *from = make_template(&layouts[0]);
	scratch_in_memory();
	for (size_t a = 0; a < 7; a++) {
		trial t = rehearse(&acts[a], from);
		bool hit = true;
		sys_errno = a % 2 ? ENOSPC : EIO;
		for (long n = 1; hit; n++) {
			char *folder = scratch_make();
			sherd_store *store = NULL;
			fail_sys_init(&sys);
			assert_ok(shd_store_open_local_sys(&store, folder, NULL, &sys.sys, err));
			copy_all(from, store);
			try_act(&t, store, arm_sys, disarm_sys, n, &hit, false);
			sherd_store_close(store);
			scratch_remove(folder);
		}
		free(t.before);
		free(t.changed);
		free(t.after);
	}
	sherd_store_close(from);
}

/* ---- creating, opening, verifying */

static sherd_store *target;

static int create(sherd_error *err)
{
	return sherd_graph_create(target, "db", &layouts[1], 1, err);
}

static bool count_object(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key;
	(void)stat;
	++*(size_t *)arg;
	return true;
}

static size_t count_objects(sherd_store *store)
{
	size_t count = 0;
	assert_ok(sherd_store_list(store, "", "", count_object, &count, err));
	return count;
}

TEST(every_allocation_and_operation_of_creating_may_fail)
{
	for (int memory = 0; memory < 2; memory++) {
		bool hit = true;
		for (long n = 1; hit; n++) {
			sherd_store *inner = NULL;
			sherd_error e = {0};
			assert_ok(sherd_store_open_memory(&inner, err));
			target = fail_store_over(inner);
			if (memory)
				fail_malloc_at(n);
			else
				fail_store_at(target, n);
			int rc = create(&e);
			hit = memory ? disarm_malloc(target) : disarm_store(target);
			/* That a finished database is not marked as one any more may fail, and nobody needs it. */
			if (rc < 0) {
				assert_true(hit);
				assert_int_equal(rc, memory ? SHERD_ENOMEM : SHERD_EIO);
				assert_int_equal(e.code, rc);
				assert_int_equal(count_objects(target), 0);
				assert_ok(create(err));
			}
			verify(target);
			sherd_store_close(target);
		}
	}
}

/* Copies into "new" of a local store while the nth call fails; false when none did. */
static bool fail_to_copy(const sherd_graph *from, sherd_store *local, bool memory, long n)
{
	const sherd_graph_reshard_options small = {.memory = 500};
	sherd_error e = {0};
	sherd_graph *to = NULL;
	target = fail_store_over(local);
	if (memory)
		fail_malloc_at(n);
	else
		fail_store_at(target, n);
	int rc = sherd_graph_reshard(from, target, "new", &layouts[1], &small, NULL, &e);
	bool hit = memory ? disarm_malloc(target) : disarm_store(target);
	if (rc < 0) {
		assert_true(hit);
		assert_int_equal(rc, memory ? SHERD_ENOMEM : SHERD_EIO);
		assert_refused(SHERD_ENOTFOUND, "not-found", sherd_graph_open(&to, target, "new", NULL, err));
	} else {
		to = graph_open(target, "new", NULL);
		assert_int_equal(sherd_graph_version(to), 2);
		assert_same_graph(from, to);
		sherd_graph_close(to);
	}
	return rc < 0 || hit;
}

/* A copy that fails leaves what was there before, not even a folder more. */
TEST(a_copy_that_fails_leaves_nothing)
{
	sherd_graph *from = NULL;
	assert_ok(sherd_graph_open_ephemeral(&from, NULL, NULL, err));
	graph_add_random(from, 20, 40, 6, 5);
	for (int memory = 0; memory < 2; memory++)
		for (int before = 0; before < 2; before++) {
			bool hit = true;
			long failed = 0;
			for (long n = 1; hit; n += 1 + n / 40) {
				char *folder = scratch_make(), path[PATH_MAX];
				sherd_store *local = NULL;
				assert_ok(sherd_store_open_local(&local, folder, NULL, err));
				if (before)
					assert_ok(sherd_store_put(local, "new/notes", SHERD_WRITE_NEW, "x", 1, err));
				hit = fail_to_copy(from, local, memory, n);
				(void)snprintf(path, sizeof(path), "%s/new", folder);
				sherd_stat stat;
				if (sherd_store_stat(&stat, target, "new/current.json", NULL) < 0) {
					failed++;
					assert_int_equal(count_objects(target), before);
					assert_int_equal(access(path, F_OK), before ? 0 : -1);
				}
				sherd_store_close(target);
				scratch_remove(folder);
			}
			assert_true(failed > 20);
		}
	sherd_graph_close(from);
}

static int open_and_verify(sherd_error *err)
{
	sherd_graph *g = NULL;
	sherd_report *r = NULL;
	TRY(sherd_graph_open(&g, target, "db", NULL, err));
	sherd_graph_close(g);
	TRY(sherd_graph_open(&g, target, "db", &(sherd_graph_options){.version = 3}, err));
	sherd_graph_close(g);
	TRY(sherd_verify(&r, target, "db", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	sherd_report_close(r);
	return SHERD_OK;
}

TEST(every_allocation_of_opening_and_verifying_may_fail)
{
	target = make_template(&layouts[1]);
	assert_true(fail_malloc_each(open_and_verify) > 50);
	sherd_store_close(target);
}

/* ---- repair */

static bool note_segment(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	char *newest = arg;
	if (strstr(key, "_nodes.seg") && (!*newest || strcmp(strrchr(key, '/'), strrchr(newest, '/')) > 0))
		(void)snprintf(newest, SHERD_MAX_KEY + 1, "%s", key);
	return true;
}

/* The last version has lost nodes, or nobody knows which one is the last. */
static sherd_store *make_damaged(sherd_store *from, bool head)
{
	char newest[SHERD_MAX_KEY + 1] = "db/current.json";
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	copy_all(from, store);
	if (!head) {
		newest[0] = 0;
		assert_ok(sherd_store_list(store, "db/segments/", "", note_segment, newest, err));
	}
	assert_ok(sherd_store_remove(store, newest, err));
	return store;
}

/* False when nothing failed. */
static bool fail_to_repair(sherd_store *damaged, bool memory, long n, const char *want)
{
	sherd_error e = {0};
	sherd_graph *g = NULL;
	target = fail_store_over(damaged);
	if (memory)
		fail_malloc_at(n);
	else
		fail_store_at(target, n);
	int rc = sherd_graph_repair(target, "db", NULL, NULL, &e);
	bool hit = memory ? disarm_malloc(target) : disarm_store(target);
	assert_true(rc == SHERD_OK || hit);
	if (rc == SHERD_OK || sherd_graph_open(&g, target, "db", &(sherd_graph_options){.read_only = true}, NULL) == 0)
		assert_dump(want, dump_of(target));
	sherd_graph_close(g);
	assert_ok(sherd_graph_repair(target, "db", NULL, NULL, err));
	assert_dump(want, dump_of(target));
	verify(target);
	sherd_store_close(target);
	return rc < 0 || hit;
}

TEST(a_repair_that_fails_leaves_the_damage_or_the_repaired_and_works_the_next_time)
{
	sherd_store *from = make_template(&layouts[0]);
	for (int head = 0; head < 2; head++) {
		sherd_store *rehearsed = make_damaged(from, head);
		assert_ok(sherd_graph_repair(rehearsed, "db", NULL, NULL, err));
		char *want = dump_of(rehearsed);
		sherd_store_close(rehearsed);
		for (int memory = 0; memory < 2; memory++) {
			long failed = 0;
			for (long n = 1; fail_to_repair(make_damaged(from, head), memory, n, want); n++)
				failed++;
			assert_true(failed > 10);
		}
		free(want);
	}
	sherd_store_close(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_operation_of_the_store_may_fail),
		cmocka_unit_test(so_may_all_of_a_compaction_that_moves_nodes),
		cmocka_unit_test(every_system_call_may_fail),
		cmocka_unit_test(every_allocation_and_operation_of_creating_may_fail),
		cmocka_unit_test(a_copy_that_fails_leaves_nothing),
		cmocka_unit_test(every_allocation_of_opening_and_verifying_may_fail),
		cmocka_unit_test(a_repair_that_fails_leaves_the_damage_or_the_repaired_and_works_the_next_time),
	};
	return cmocka_run_group_tests_name("fault/graph", tests, NULL, NULL);
}
