/* Power loss at every point of what changes a graph database: whatever the disk shows afterwards, every version is what
 * it was, the current one is that before or that after, verification is content, and the next writer works and leaves
 * nothing of the loss behind.
 *
 * The next writer comes after every state when SHERD_KILLS asks for much (make crash), else after every fifth. */
#include "support/ckpt_place.h"
#include "support/crash_sys.h"
#include "support/fail_sys.h"
#include "support/graph_make.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local.h"

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
	assert_ok(sherd_graph_create(store, "db", &layout, 1000, err));
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

typedef struct scenario {
	const char *name;
	void (*before)(sherd_store *store);
	void (*act)(sherd_store *store);
} scenario;

static const scenario scenarios[] = {
	{"create", nothing, create},  {"flush", fill, add},
	{"update", fill, update_one}, {"spill and flush", fill, spill_and_add},
	{"compact", fill, compact},   {"collect", fill_more, collect},
	{"tag", fill, tag},           {"reshard", nothing, reshard},
};

/* ---- what may be left */

typedef struct checked {
	const scenario *scenario;
	char *dumps[VERSIONS];  /* what each version holds */
	uint64_t before, after; /* current versions; 0: there is no database */
	bool finished;          /* the power went after the act had returned */
	size_t states;
	bool saw_before, saw_after;
	char wrong[512]; /* the first complaint */
} checked;

__attribute__((format(printf, 2, 3))) static void complain(checked *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (!c->wrong[0])
		(void)vsnprintf(c->wrong, sizeof(c->wrong), fmt, ap);
	va_end(ap);
}

static bool note_number(void *arg, const sherd_graph_snapshot *s)
{
	uint64_t *list = arg;
	assert_true(s->version < VERSIONS);
	list[s->version] = s->version;
	return true;
}

/* Calls see() for every version that can be opened; returns the current one. */
static uint64_t each_version(sherd_store *store, checked *c, void (*see)(checked *c, uint64_t version, char *dump))
{
	sherd_graph *g = NULL;
	sherd_error e = {0};
	const sherd_graph_options current = {.read_only = true};
	uint64_t list[VERSIONS] = {0};
	int rc = sherd_graph_open(&g, store, "db", &current, &e);
	if (rc < 0 && rc != SHERD_ENOTFOUND)
		complain(c, "open: %s: %s", e.object, e.message);
	if (rc < 0)
		return 0;
	uint64_t version = sherd_graph_version(g);
	if (sherd_graph_versions(g, note_number, list, &e) < 0)
		complain(c, "versions: %s: %s", e.object, e.message);
	if (!list[version])
		complain(c, "the current version is not listed");
	sherd_graph_close(g);
	for (uint64_t v = 1; v < VERSIONS; v++) {
		const sherd_graph_options at = {.version = v};
		if (!list[v])
			continue;
		if (sherd_graph_open(&g, store, "db", &at, &e) < 0) {
			complain(c, "version %llu: %s: %s", (unsigned long long)v, e.object, e.message);
			continue;
		}
		see(c, v, graph_dump(g));
		sherd_graph_close(g);
	}
	return version;
}

static void keep_dump(checked *c, uint64_t version, char *dump)
{
	free(c->dumps[version]);
	c->dumps[version] = dump;
}

static void compare_dump(checked *c, uint64_t version, char *dump)
{
	if (!c->dumps[version])
		complain(c, "version %llu never was", (unsigned long long)version);
	else if (strcmp(dump, c->dumps[version]) != 0)
		complain(c, "version %llu is not what it was", (unsigned long long)version);
	free(dump);
}

static void verify(sherd_store *store, checked *c, const char *when)
{
	sherd_report *r = NULL;
	sherd_error e = {0};
	if (sherd_verify(&r, store, "db", NULL, &e) < 0)
		complain(c, "verify %s: %s", when, e.message);
	const sherd_error *first = r ? sherd_report_error(r, 0) : NULL;
	if (first)
		complain(c, "verify %s: %s: %s", when, first->object, first->message);
	sherd_report_close(r);
}

static bool count_files(const char *key, const sherd_stat *stat, void *arg)
{
	(void)key;
	(void)stat;
	++*(size_t *)arg;
	return true;
}

/* The next writer commits and collects; then there are the segments of one version, and its documents. */
static void check_next_writer(sherd_store *store, const char *folder, checked *c)
{
	sherd_graph_totals totals;
	sherd_graph *g = NULL;
	sherd_error e = {0};
	size_t segments = 0, manifests = 0;
	int rc = sherd_graph_open(&g, store, "db", NULL, &e);
	if (rc == SHERD_ENOTFOUND) {
		c->scenario->act(store);
		rc = sherd_graph_open(&g, store, "db", NULL, &e);
	}
	if (rc < 0) {
		complain(c, "next writer: %s: %s", e.object, e.message);
		return;
	}
	graph_add_node(g, "z", "F", "z", "far/away/z.js");
	graph_flush(g);
	assert_int_equal(sherd_graph_exists(g, graph_id("z"), NULL), 1);
	assert_ok(sherd_graph_gc(g, &(sherd_graph_gc_options){.untag = true}, NULL, err));
	assert_ok(sherd_graph_stats(g, &totals, err));
	sherd_graph_close(g);
	verify(store, c, "after the next writer");
	assert_ok(sherd_store_list(store, "db/segments/", "", count_files, &segments, err));
	assert_ok(sherd_store_list(store, "db/manifests/", "", count_files, &manifests, err));
	if (segments != 2 * totals.segments || manifests != 1)
		complain(c, "%zu files of %llu segments, %zu manifests", segments, (unsigned long long)totals.segments,
		         manifests);
	size_t temporary = scratch_temporaries(folder);
	if (temporary)
		complain(c, "%zu temporary files stay", temporary);
}

static void check_state(const char *folder, void *arg)
{
	checked *c = arg;
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	uint64_t got = each_version(store, c, compare_dump);
	c->states++;
	c->saw_before = c->saw_before || got == c->before;
	c->saw_after = c->saw_after || got == c->after;
	if (got != c->after && (c->finished || got != c->before))
		complain(c, "version %llu is current", (unsigned long long)got);
	if (got)
		verify(store, c, "");
	if (thorough || c->states % 5 == 0)
		check_next_writer(store, folder, c);
	sherd_store_close(store);
}

static checked explore(const scenario *s, unsigned refuse, bool drop_files, bool drop_folders)
{
	char *folder = scratch_make();
	sherd_store *store = NULL;
	checked result = {.scenario = s};
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	s->before(store);
	result.before = each_version(store, &result, keep_dump);
	sherd_store_close(store);
	fail_sys below;
	fail_sys_init(&below);
	below.refuse = refuse;
	crash_sys *c = crash_sys_new_over(folder, &below.sys);
	crash_sys_drop_syncs(c, drop_files, drop_folders);
	assert_ok(sherd_store_open_local_sys(&store, folder, NULL, crash_sys_table(c), err));
	s->act(store);
	sherd_store_close(store);
	size_t points = crash_sys_points(c);
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	result.after = each_version(store, &result, keep_dump);
	sherd_store_close(store);
	for (size_t k = 0; k <= points; k++) {
		bool good = !result.wrong[0];
		result.finished = k == points;
		assert_true(crash_sys_states(c, k, check_state, &result) > 0);
		if (result.wrong[0] && good && !drop_files && !drop_folders)
			print_error("%s, power lost after \"%s\": %s\n", s->name, crash_sys_describe(c, k ? k - 1 : 0),
			            result.wrong);
		if (result.wrong[0])
			break;
	}
	crash_sys_free(c);
	scratch_remove(folder);
	for (size_t i = 0; i < VERSIONS; i++)
		free(result.dumps[i]);
	return result;
}

static void explore_first(size_t count, unsigned refuse)
{
	size_t states = 0;
	for (size_t i = 0; i < count; i++) {
		checked result = explore(&scenarios[i], refuse, false, false);
		if (result.wrong[0])
			fail_msg("%s: %s", scenarios[i].name, result.wrong);
		assert_true(result.saw_before && result.saw_after);
		states += result.states;
	}
	print_message("%zu states\n", states);
}

TEST(every_state_shows_the_old_version_or_the_new_one_whole)
{
	explore_first(COUNT_OF(scenarios), 0);
}

TEST(so_it_is_without_nameless_files)
{
	explore_first(thorough ? COUNT_OF(scenarios) : 2, FAIL_SYS_NO_TMPFILE);
}

TEST(so_it_is_with_a_shard_for_each_directory)
{
	layout = (sherd_graph_layout){.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	explore_first(thorough ? COUNT_OF(scenarios) : 2, 0);
	layout = (sherd_graph_layout){.shards = 2};
}

/* The test would notice: without syncs, promises are broken. */
TEST(a_disk_that_is_not_synced_is_caught)
{
	assert_true(explore(&scenarios[1], 0, true, false).wrong[0] != 0);
	assert_true(explore(&scenarios[1], 0, false, true).wrong[0] != 0);
}

static int in_memory(void **state)
{
	(void)state;
	const char *kills = getenv("SHERD_KILLS");
	scratch_in_memory();
	thorough = kills && strtoul(kills, NULL, 10) > 200;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_shows_the_old_version_or_the_new_one_whole),
		cmocka_unit_test(so_it_is_without_nameless_files),
		cmocka_unit_test(so_it_is_with_a_shard_for_each_directory),
		cmocka_unit_test(a_disk_that_is_not_synced_is_caught),
	};
	return cmocka_run_group_tests_name("crash/graph", tests, in_memory, NULL);
}
