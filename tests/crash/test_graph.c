/* Power loss at every point of what changes a graph database: whatever the disk shows afterwards, every version is what
 * it was, the current one is that before or that after, verification is content, and the next writer works and leaves
 * nothing of the loss behind.
 *
 * The next writer comes after every state when SHD_KILLS asks for much (make crash), else after every fifth. */
#include "support/ckpt_place.h"
#include "support/crash_walk.h"
#include "support/environment.h"
#include "support/fail_sys.h"
#include "support/graph_make.h"
#include "support/graph_moved.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSIONS = 16 };

static sherd_graph_layout layout = {.shards = 2};
static bool thorough;

/* ---- what is done */

static void create(sherd_store *store)
{
	assert_ok(sherd_graph_create(store, "db", &layout, 1000000000, err));
}

static void update(sherd_graph *g, const char *file, const char *id, const char *name)
{
	const sherd_graph_node n = graph_node(id, "F", name, file);
	const sherd_graph_edge e = graph_edge(id, "a", "CALLS", "{\"__file_context\":\"a.js\"}");
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, &e, 1, NULL, err));
}

/* Version 2: three nodes and edges in both shards; 3: an edit of it with a tombstone. */
static void fill(sherd_store *store)
{
	create(store);
	sherd_graph *g = graph_open(store, "db", NULL);
	graph_add_node(g, "a", "F", "a", "a.js");
	graph_add_node(g, "b", "F", "b", "src/b.js");
	graph_add_node(g, "c", "M", "c", "lib/c.js");
	graph_add_edge(g, "a", "b", "CALLS", "");
	graph_add_edge(g, "b", "c", "CALLS", "{}");
	graph_flush(g);
	update(g, "src/b.js", "b", "again");
	graph_flush(g);
	sherd_graph_close(g);
}

static void add(sherd_store *store)
{
	sherd_graph *g = graph_open(store, "db", NULL);
	graph_add_node(g, "a", "F", "moved", "lib/a.js");
	graph_add_node(g, "d", "F", "d", "deep/er/d.js");
	graph_add_edge(g, "d", "a", "CALLS", "");
	graph_flush(g);
	sherd_graph_close(g);
}

static void update_one(sherd_store *store)
{
	sherd_graph *g = graph_open(store, "db", NULL);
	update(g, "lib/c.js", "other", "new");
	graph_flush(g);
	sherd_graph_close(g);
}

static void spill_and_add(sherd_store *store)
{
	sherd_graph *g = graph_open(store, "db", NULL);
	graph_add_node(g, "d", "F", "d", "src/d.js");
	assert_ok(sherd_graph_spill(g, err));
	graph_add_edge(g, "d", "c", "CALLS", "");
	graph_flush(g);
	sherd_graph_close(g);
}

static void compact(sherd_store *store)
{
	sherd_graph *g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_compact(g, NULL, err));
	sherd_graph_close(g);
}

/* Nodes lie by hash, the planner goes by directory and knows none yet. */
static void fill_and_misplace(sherd_store *store)
{
	fill(store);
	graph_plan_by_directory(store, "db");
}

static void compact_and_move(sherd_store *store)
{
	sherd_graph *g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_compact(g, NULL, err));
	graph_check_placed(g);
	sherd_graph_close(g);
}

static void fill_more(sherd_store *store)
{
	fill(store);
	update_one(store);
	compact(store);
	update_one(store);
}

static void collect(sherd_store *store)
{
	sherd_graph *g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	sherd_graph_close(g);
}

static void tag(sherd_store *store)
{
	sherd_graph *g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_set_tag(g, 3, "key", "value", err));
	assert_ok(sherd_graph_set_tag(g, 2, "key", "value", err));
	sherd_graph_close(g);
}

static void nothing(sherd_store *store)
{
	(void)store;
}

static void reshard(sherd_store *store)
{
	const sherd_graph_layout other = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	const sherd_graph_reshard_options small = {.memory = 700};
	sherd_graph *from = NULL;
	assert_ok(sherd_graph_open_ephemeral(&from, NULL, NULL, err));
	graph_add_random(from, 3, 3, 2, 5);
	assert_ok(sherd_graph_reshard(from, store, "db", &other, &small, NULL, err));
	sherd_graph_close(from);
}

static void repair(sherd_store *store)
{
	assert_ok(sherd_graph_repair(store, "db", NULL, NULL, err));
}

static bool note_segment(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	char *newest = arg;
	if (strstr(key, "_nodes.seg") && (!*newest || strcmp(strrchr(key, '/'), strrchr(newest, '/')) > 0))
		(void)snprintf(newest, SHERD_MAX_KEY + 1, "%s", key);
	return true;
}

/* The current version has lost nodes; the one before has not. */
static void fill_and_lose_segment(sherd_store *store)
{
	char newest[SHERD_MAX_KEY + 1] = "";
	fill(store);
	assert_ok(sherd_store_list(store, "db/segments/", "", note_segment, newest, err));
	assert_ok(sherd_store_remove(store, newest, err));
}

static void fill_and_lose_head(sherd_store *store)
{
	fill(store);
	assert_ok(sherd_store_remove(store, "db/current.json", err));
}

static void fill_and_damage_head(sherd_store *store)
{
	fill(store);
	assert_ok(sherd_store_put(store, "db/current.json", SHERD_WRITE_REPLACE, "{", 1, err));
}

static void fill_and_damage_older(sherd_store *store)
{
	fill_more(store);
	assert_ok(sherd_store_put(store, "db/manifests/000002.json", SHERD_WRITE_REPLACE, "{", 1, err));
}

typedef struct scenario {
	const char *name;
	void (*before)(sherd_store *store);
	void (*act)(sherd_store *store);
} scenario;

static const scenario scenarios[] = {
	{"create", nothing, create},
	{"flush", fill, add},
	{"update", fill, update_one},
	{"spill and flush", fill, spill_and_add},
	{"compact", fill, compact},
	{"compact that moves nodes", fill_and_misplace, compact_and_move},
	{"collect", fill_more, collect},
	{"tag", fill, tag},
	{"reshard", nothing, reshard},
	{"repair of a version", fill_and_lose_segment, repair},
	{"repair without a head", fill_and_lose_head, repair},
	{"repair of a head", fill_and_damage_head, repair},
	{"repair of an older version", fill_and_damage_older, repair},
};

/* ---- what may be left */

typedef struct checked {
	const scenario *scenario;
	char *dumps[VERSIONS];  /* what each version holds */
	uint64_t before, after; /* current versions; 0: there is no database */
	bool saw_before, saw_after;
} checked;

static bool note_number(void *arg, const sherd_graph_snapshot *s)
{
	uint64_t *list = arg;
	assert_true(s->version < VERSIONS);
	list[s->version] = s->version;
	return true;
}

/* There is no database, or not yet a repaired one. */
static bool is_absence(const crash_walk *w, int rc)
{
	const checked *c = w->arg;
	return rc == SHERD_ENOTFOUND || (rc == SHERD_ECORRUPT && c->scenario->act == repair);
}

/* Calls see() for every version that can be opened; returns the current one. */
static uint64_t each_version(crash_walk *w, sherd_store *store,
                             void (*see)(crash_walk *w, uint64_t version, char *dump))
{
	sherd_graph *g = NULL;
	sherd_error e = {0};
	const sherd_graph_options current = {.read_only = true};
	uint64_t list[VERSIONS] = {0};
	int rc = sherd_graph_open(&g, store, "db", &current, &e);
	if (rc < 0 && !is_absence(w, rc))
		crash_walk_complain(w, "open: %s: %s", e.object, e.message);
	if (rc < 0)
		return 0;
	uint64_t version = sherd_graph_version(g);
	if (sherd_graph_versions(g, note_number, list, &e) < 0)
		crash_walk_complain(w, "versions: %s: %s", e.object, e.message);
	if (!list[version])
		crash_walk_complain(w, "the current version is not listed");
	sherd_graph_close(g);
	for (uint64_t v = 1; v < VERSIONS; v++) {
		const sherd_graph_options at = {.version = v};
		if (!list[v])
			continue;
		if (sherd_graph_open(&g, store, "db", &at, &e) < 0) {
			crash_walk_complain(w, "version %llu: %s: %s", (unsigned long long)v, e.object, e.message);
			continue;
		}
		see(w, v, graph_dump(g));
		sherd_graph_close(g);
	}
	return version;
}

static void keep_dump(crash_walk *w, uint64_t version, char *dump)
{
	checked *c = w->arg;
	free(c->dumps[version]);
	c->dumps[version] = dump;
}

static void compare_dump(crash_walk *w, uint64_t version, char *dump)
{
	const checked *c = w->arg;
	if (!c->dumps[version])
		crash_walk_complain(w, "version %llu never was", (unsigned long long)version);
	else if (strcmp(dump, c->dumps[version]) != 0)
		crash_walk_complain(w, "version %llu is not what it was", (unsigned long long)version);
	free(dump);
}

static void verify(crash_walk *w, sherd_store *store, const char *when)
{
	sherd_report *r = NULL;
	sherd_error e = {0};
	if (sherd_verify(&r, store, "db", NULL, &e) < 0)
		crash_walk_complain(w, "verify %s: %s", when, e.message);
	const sherd_error *first = r ? sherd_report_error(r, 0) : NULL;
	if (first)
		crash_walk_complain(w, "verify %s: %s: %s", when, first->object, first->message);
	sherd_report_close(r);
}

/* The next writer commits and collects; then there are the segments of one version, and its documents. */
static void check_next_writer(crash_walk *w, sherd_store *store)
{
	sherd_graph_totals totals;
	sherd_graph *g = NULL;
	sherd_error e = {0};
	int rc = sherd_graph_open(&g, store, "db", NULL, &e);
	if (is_absence(w, rc)) {
		((const checked *)w->arg)->scenario->act(store);
		rc = sherd_graph_open(&g, store, "db", NULL, &e);
	}
	if (rc < 0) {
		crash_walk_complain(w, "next writer: %s: %s", e.object, e.message);
		return;
	}
	graph_add_node(g, "z", "F", "z", "far/away/z.js");
	graph_flush(g);
	assert_int_equal(sherd_graph_exists(g, graph_id("z"), NULL), 1);
	assert_ok(sherd_graph_gc(g, &(sherd_graph_gc_options){.untag = true}, NULL, err));
	assert_ok(sherd_graph_stats(&totals, g, err));
	sherd_graph_close(g);
	verify(w, store, "after the next writer");
	size_t segments = object_count(store, "db/segments/");
	size_t manifests = object_count(store, "db/manifests/");
	if (segments != 2 * totals.segments || manifests != 1)
		crash_walk_complain(w, "%zu files of %llu segments, %zu manifests", segments,
		                    (unsigned long long)totals.segments, manifests);
	size_t temporary = scratch_temporaries(w->folder);
	if (temporary)
		crash_walk_complain(w, "%zu temporary files stay", temporary);
}

static void check_state(crash_walk *w, sherd_store *store)
{
	checked *c = w->arg;
	uint64_t got = each_version(w, store, compare_dump);
	c->saw_before = c->saw_before || got == c->before;
	c->saw_after = c->saw_after || got == c->after;
	if (got != c->after && (w->finished || got != c->before))
		crash_walk_complain(w, "version %llu is current", (unsigned long long)got);
	if (got && (c->scenario->act != repair || got == c->after))
		verify(w, store, "");
	if (thorough || w->states % 5 == 0)
		check_next_writer(w, store);
}

static void prepare(crash_walk *w, sherd_store *store)
{
	checked *c = w->arg;
	c->scenario->before(store);
	c->before = each_version(w, store, keep_dump);
}

static void act(crash_walk *w, sherd_store *store)
{
	checked *c = w->arg;
	sherd_store *beside = NULL; /* looking is not a part of the act */
	c->scenario->act(store);
	assert_ok(sherd_store_open_local(&beside, w->folder, NULL, err));
	c->after = each_version(w, beside, keep_dump);
	sherd_store_close(beside);
}

static crash_walk walk(checked *c)
{
	return (crash_walk){.name = c->scenario->name, .arg = c, .before = prepare, .act = act, .check = check_state};
}

static void forget(checked *c)
{
	for (size_t i = 0; i < VERSIONS; i++)
		free(c->dumps[i]);
}

static void walk_first(size_t count, unsigned refuse)
{
	size_t states = 0;
	for (size_t i = 0; i < count; i++) {
		checked c = {.scenario = &scenarios[i]};
		crash_walk w = walk(&c);
		w.refuse = refuse;
		crash_walk_assert(&w);
		assert_true(c.saw_before && c.saw_after);
		states += w.states;
		forget(&c);
	}
	print_message("%zu states\n", states);
}

TEST(every_state_shows_the_old_version_or_the_new_one_whole)
{
	walk_first(COUNT_OF(scenarios), 0);
}

TEST(so_it_is_without_nameless_files)
{
	walk_first(thorough ? COUNT_OF(scenarios) : 2, FAIL_SYS_NO_TMPFILE);
}

TEST(so_it_is_with_a_shard_for_each_directory)
{
	layout = (sherd_graph_layout){.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	walk_first(thorough ? COUNT_OF(scenarios) : 2, 0);
	layout = (sherd_graph_layout){.shards = 2};
}

/* The test would notice: without syncs, promises are broken. */
TEST(a_disk_that_is_not_synced_is_caught)
{
	checked c = {.scenario = &scenarios[1]};
	crash_walk w = walk(&c);
	crash_walk_assert_caught(&w, true, false);
	crash_walk_assert_caught(&w, false, true);
	forget(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_shows_the_old_version_or_the_new_one_whole),
		cmocka_unit_test(so_it_is_without_nameless_files),
		cmocka_unit_test(so_it_is_with_a_shard_for_each_directory),
		cmocka_unit_test(a_disk_that_is_not_synced_is_caught),
	};
	scratch_in_memory();
	thorough = environment_number("SHERD_KILLS", 0) > 200;
	return cmocka_run_group_tests_name("crash/graph", tests, NULL, NULL);
}
