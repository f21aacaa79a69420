/* A real process that updates, spills, compacts and collects is killed at random moments. It tells every version that
 * it committed; after each kill those are there and hold what they held, verification is content, and the next writer
 * goes on.
 *
 * What a version holds follows from its number: node i, in a file of its own, is as the last version w with w mod NODES
 * equal to i left it. Version numbers divisible by COMPACT_EVERY change nothing: they are compactions.
 *
 * SHD_KILLS: how often (200), SHD_SEED: which moments. */
#include "support/ckpt_place.h"
#include "support/environment.h"
#include "support/graph_make.h"
#include "support/kill.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"
#include "store/local/local.h"

#include <sherd/verify.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 7, COMPACT_EVERY = 11, COLLECT_EVERY = 9, KEEP = 3 };

static bool changes(uint64_t version)
{
	return version > 1 && version % COMPACT_EVERY != 0;
}

typedef struct names {
	char id[16], file[32], name[32];
} names;

static names names_of(uint64_t version)
{
	names n;
	unsigned node = (unsigned)(version % NODES);
	(void)snprintf(n.id, sizeof(n.id), "n%u", node);
	(void)snprintf(n.file, sizeof(n.file), "d%u/%u", node % 3, node);
	(void)snprintf(n.name, sizeof(n.name), "v%llu", (unsigned long long)version);
	return n;
}

/* ---- the process that is killed */

static int make_version(sherd_graph *g, uint64_t version, sherd_error *err)
{
	names n = names_of(version), to = names_of(version + 1);
	const sherd_graph_node node = graph_node(n.id, "F", n.name, n.file);
	const sherd_graph_edge edge = graph_edge(n.id, to.id, n.name, "");
	if (!changes(version))
		return sherd_graph_compact(g, NULL, err);
	TRY(sherd_graph_update_file(g, node.file, &node, 1, &edge, 1, NULL, err));
	if (version % 5 == 0)
		TRY(sherd_graph_spill(g, err));
	TRY(sherd_graph_flush(g, NULL, err));
	return SHERD_OK;
}

static int work(sherd_graph *g, int out, sherd_error *err)
{
	const sherd_graph_gc_options keep = {.keep = KEEP};
	for (uint64_t version = sherd_graph_version(g);; version++) {
		if (sherd_graph_version(g) != version)
			return shd_fail(err, SHERD_ECORRUPT, "bad-version", "not the version that it should be");
		if (write(out, &version, sizeof(version)) != (ssize_t)sizeof(version))
			return shd_fail(err, SHERD_EIO, "io", "the pipe");
		if (version % COLLECT_EVERY == 0)
			TRY(sherd_graph_gc(g, &keep, NULL, err));
		TRY(make_version(g, version + 1, err));
	}
}

/* Never returns: it is killed, or ends by itself and says what went wrong. */
static void be_killed(const char *folder, int out)
{
	sherd_store *store = NULL;
	sherd_graph *g = NULL;
	sherd_error err = {0};
	int rc = sherd_store_open_local(&store, folder, NULL, &err);
	if (rc == SHERD_OK)
		rc = sherd_graph_open(&g, store, "db", NULL, &err);
	if (rc == SHERD_OK)
		rc = work(g, out, &err);
	fprintf(stderr, "child: %d: %s: %s\n", rc, err.object, err.message);
	_exit(3);
}

/* So many versions after it has opened the database, and some time. Returns the last version that it said it had
 * committed. */
static uint64_t kill_one(const char *folder, uint64_t versions, long nanoseconds)
{
	uint64_t version = 0, last = 0;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		(void)close(ends[0]);
		be_killed(folder, ends[1]);
	}
	(void)close(ends[1]);
	for (uint64_t i = 0; i <= versions; i++)
		assert_int_equal(read(ends[0], &last, sizeof(last)), sizeof(last));
	kill_after(child, nanoseconds);
	while (read(ends[0], &version, sizeof(version)) == (ssize_t)sizeof(version))
		last = version;
	(void)close(ends[0]);
	return last;
}

/* ---- what is there */

static bool see_edge(void *arg, const sherd_graph_edge *e)
{
	const names *n = arg;
	assert_int_equal(e->type.len, strlen(n->name));
	assert_memory_equal(e->type.ptr, n->name, e->type.len);
	return true;
}

static void check_content(const sherd_graph *g, uint64_t version)
{
	sherd_graph_totals totals;
	uint64_t nodes = 0;
	for (uint64_t i = 0; i < NODES; i++) {
		uint64_t last = version;
		while (last > 1 && (last % NODES != i || !changes(last)))
			last--;
		if (last <= 1)
			continue;
		names n = names_of(last);
		assert_int_equal(graph_count(g, "F", n.file, n.name), 1);
		assert_int_equal(graph_count_out(g, n.id, NULL), 1);
		assert_ok(sherd_graph_outgoing(g, graph_id(n.id), NULL, see_edge, &n, err));
		nodes++;
	}
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.nodes, nodes);
	assert_int_equal(totals.edges, nodes);
}

static void verify(sherd_store *store)
{
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
	sherd_report_close(r);
}

static uint64_t check_after_kill(sherd_store *store, uint64_t told, bool all)
{
	const sherd_graph_options current = {.read_only = true};
	sherd_graph *g = graph_open(store, "db", &current);
	uint64_t version = sherd_graph_version(g);
	assert_true(version == told || version == told + 1);
	check_content(g, version);
	sherd_graph_close(g);
	for (uint64_t back = 1; back < KEEP && back < version; back++) {
		const sherd_graph_options old = {.version = version - back};
		g = graph_open(store, "db", &old);
		check_content(g, version - back);
		sherd_graph_close(g);
	}
	if (all)
		verify(store);
	return version;
}

static void check_nothing_is_left(sherd_store *store, const char *folder)
{
	sherd_graph_totals totals;
	sherd_graph *g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	assert_ok(sherd_graph_stats(&totals, g, err));
	sherd_graph_close(g);
	size_t segments = object_count(store, "db/segments/");
	size_t manifests = object_count(store, "db/manifests/");
	assert_int_equal(segments, 2 * totals.segments);
	assert_in_range(manifests, 1, 2); /* one that was an edit has a full one beside it */
	verify(store);
	assert_int_equal(scratch_temporaries(folder), 0);
}

static void kill_many(uint64_t kills, const sherd_graph_layout *layout, long longest)
{
	uint64_t seed = environment_number("SHERD_SEED", (uint64_t)time(NULL)), dice = seed, version = 1;
	char *folder = scratch_make();
	sherd_store *store = NULL;
	print_message("SHERD_SEED=%llu\n", (unsigned long long)seed);
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	assert_ok(sherd_graph_create(store, "db", layout, 1000000000, err));
	for (uint64_t i = 0; i < kills; i++) {
		dice = shd_splitmix64(dice);
		uint64_t told = kill_one(folder, dice % 3, (long)(dice >> 20) % longest);
		assert_true(told >= version);
		version = check_after_kill(store, told, i % 8 == 0);
	}
	print_message("%llu versions\n", (unsigned long long)version);
	assert_true(version > kills / 2);
	check_nothing_is_left(store, folder);
	sherd_store_close(store);
	scratch_remove(folder);
}

TEST(a_process_that_is_killed_loses_nothing_that_was_committed)
{
	const sherd_graph_layout directories = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	kill_many(environment_number("SHERD_KILLS", 200) / 8, &directories, 30000000);
}

/* Where syncs cost nothing the moments fall between other steps. */
TEST(so_it_is_where_syncs_cost_nothing)
{
	const sherd_graph_layout two = {.shards = 2};
	scratch_in_memory();
	kill_many(environment_number("SHERD_KILLS", 200) - environment_number("SHERD_KILLS", 200) / 8, &two, 3000000);
}

/* ---- a copy */

static void be_killed_copying(const char *folder, const sherd_graph_layout *layout)
{
	const sherd_graph_reshard_options small = {.memory = 4000};
	sherd_store *store = NULL;
	sherd_graph *from = NULL;
	sherd_error err = {0};
	int rc = sherd_store_open_local(&store, folder, NULL, &err);
	if (rc == SHERD_OK)
		rc = sherd_graph_open(&from, store, "db", &(sherd_graph_options){.read_only = true}, &err);
	if (rc == SHERD_OK)
		rc = sherd_graph_reshard(from, store, "new", layout, &small, NULL, &err);
	if (rc < 0)
		fprintf(stderr, "child: %d: %s: %s\n", rc, err.object, err.message);
	_exit(rc < 0 ? 3 : 0);
}

static void kill_copying(const char *folder, const sherd_graph_layout *layout, long nanoseconds)
{
	struct timespec t = {.tv_nsec = nanoseconds};
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child)
		be_killed_copying(folder, layout);
	(void)nanosleep(&t, NULL);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
}

static bool remove_file(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	assert_ok(sherd_store_remove(arg, key, err));
	return true;
}

/* A whole database, or none and then it can be made again. */
static bool check_copy(sherd_store *store, const sherd_graph *from, const sherd_graph_layout *layout)
{
	sherd_graph *to = NULL;
	sherd_graph_gc_result collected;
	bool whole = sherd_graph_open(&to, store, "new", NULL, NULL) == SHERD_OK;
	if (!whole) {
		assert_int_equal(sherd_graph_open(&to, store, "new", NULL, NULL), SHERD_ENOTFOUND);
		assert_ok(sherd_graph_reshard(from, store, "new", layout, NULL, NULL, err));
		to = graph_open(store, "new", NULL);
		/* What the dead one had written is gone already. */
		assert_ok(sherd_graph_gc(to, &(sherd_graph_gc_options){.keep = 2}, &collected, err));
		assert_int_equal(collected.files, 0);
	}
	assert_same_graph(from, to);
	sherd_graph_close(to);
	assert_ok(sherd_store_list(store, "new/", "", remove_file, store, err));
	return whole;
}

TEST(a_copy_that_is_killed_is_whole_or_can_be_made_again)
{
	static const sherd_graph_layout layouts[] = {{.shards = 3}, {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1}};
	uint64_t kills = environment_number("SHERD_KILLS", 200) / 4, whole = 0;
	uint64_t seed = environment_number("SHERD_SEED", (uint64_t)time(NULL)), dice = seed;
	scratch_in_memory();
	char *folder = scratch_make();
	sherd_store *store = NULL;
	print_message("SHERD_SEED=%llu\n", (unsigned long long)seed);
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	sherd_graph *from = graph_create(store, "db", NULL, NULL);
	graph_add_random(from, 100, 300, 20, 4);
	graph_flush(from);
	for (uint64_t i = 0; i < kills; i++) {
		dice = shd_splitmix64(dice);
		kill_copying(folder, &layouts[i % 2], (long)(dice >> 20) % 40000000);
		whole += check_copy(store, from, &layouts[i % 2]);
	}
	print_message("%llu of %llu whole\n", (unsigned long long)whole, (unsigned long long)kills);
	assert_true(whole < kills);
	sherd_graph_close(from);
	sherd_store_close(store);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_is_killed_loses_nothing_that_was_committed),
		cmocka_unit_test(so_it_is_where_syncs_cost_nothing),
		cmocka_unit_test(a_copy_that_is_killed_is_whole_or_can_be_made_again),
	};
	return cmocka_run_group_tests_name("crash/graph_kill", tests, NULL, NULL);
}
