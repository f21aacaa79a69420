/* What processes may expect of each other: one writer, readers that are left alone, locks that end with who held them.
 */
#include "support/fail_sys.h"
#include "support/graph_make.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local/local.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;
static sherd_store *store;

static int make_database(void **state)
{
	(void)state;
	folder = scratch_make();
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	sherd_graph *g = graph_create(store, "db", NULL, NULL);
	for (unsigned i = 0; i < 3; i++) {
		static const char *const names[] = {"first", "second", "third"};
		graph_add_node(g, "a", "F", names[i], "a.js");
		graph_flush(g);
	}
	sherd_graph_close(g);
	return 0;
}

static int remove_database(void **state)
{
	(void)state;
	sherd_store_close(store);
	scratch_remove(folder);
	return 0;
}

/* A process that opens the database and holds it until it is let go, or killed. */
typedef struct holder {
	pid_t process;
	int let_go;
} holder;

static holder hold(const sherd_graph_options *options)
{
	int ready[2], stop[2];
	char byte = 0;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(stop), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		sherd_store *mine = NULL;
		sherd_graph *g = NULL;
		(void)close(stop[1]);
		if (sherd_store_open_local(&mine, folder, NULL, NULL) < 0 ||
		    sherd_graph_open(&g, mine, "db", options, NULL) < 0 || write(ready[1], &byte, 1) != 1)
			_exit(1);
		(void)!read(stop[0], &byte, 1);
		/* A reader still reads what it opened. */
		int found = sherd_graph_exists(g, graph_id("a"), NULL);
		sherd_graph_close(g);
		sherd_store_close(mine);
		_exit(found == 1 ? 0 : 2);
	}
	(void)close(ready[1]);
	(void)close(stop[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return (holder){child, stop[1]};
}

static void let_go(holder h)
{
	int status;
	/* Closing is not enough: processes that began later have this end too. */
	assert_int_equal(write(h.let_go, "", 1), 1);
	(void)close(h.let_go);
	assert_int_equal(waitpid(h.process, &status, 0), h.process);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void end(holder h)
{
	int status;
	assert_int_equal(kill(h.process, SIGKILL), 0);
	assert_int_equal(waitpid(h.process, &status, 0), h.process);
	(void)close(h.let_go);
}

static bool note_version(void *arg, const sherd_graph_snapshot *s)
{
	*(uint64_t *)arg = *(uint64_t *)arg * 10 + s->version;
	return true;
}

/* As digits, one behind the other. */
static uint64_t versions(const sherd_graph *g)
{
	uint64_t list = 0;
	assert_ok(sherd_graph_versions(g, note_version, &list, err));
	return list;
}

TEST(a_second_writer_is_refused_until_the_first_is_gone)
{
	sherd_graph *g = NULL;
	for (int killed = 0; killed < 2; killed++) {
		holder h = hold(NULL);
		assert_refused(SHERD_ECONFLICT, "locked", sherd_graph_open(&g, store, "db", NULL, err));
		/* Who reads is not refused. */
		g = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
		assert_int_equal(graph_count(g, NULL, NULL, "third"), 1);
		sherd_graph_close(g);
		if (killed)
			end(h);
		else
			let_go(h);
		g = graph_open(store, "db", NULL);
		sherd_graph_close(g);
	}
}

TEST(a_writer_is_not_refused_because_of_readers)
{
	holder h = hold(&(sherd_graph_options){.read_only = true});
	sherd_graph *g = graph_open(store, "db", NULL);
	graph_add_node(g, "a", "F", "fourth", "a.js");
	graph_flush(g);
	sherd_graph_close(g);
	let_go(h);
}

TEST(the_collector_honours_who_reads_a_version)
{
	sherd_graph_gc_result result;
	holder h = hold(&(sherd_graph_options){.version = 2}), other = hold(&(sherd_graph_options){.version = 2});
	sherd_graph *g = graph_open(store, "db", NULL);
	assert_int_equal(versions(g), 1234);
	assert_ok(sherd_graph_gc(g, NULL, &result, err));
	assert_int_equal(result.versions, 2);
	assert_int_equal(result.held, 1);
	assert_int_equal(versions(g), 24);
	/* It can still be opened by others, and one of two holders is enough. */
	sherd_graph *reader = graph_open(store, "db", &(sherd_graph_options){.version = 2});
	assert_int_equal(graph_count(reader, NULL, NULL, "first"), 1);
	sherd_graph_close(reader);
	let_go(h);
	assert_ok(sherd_graph_gc(g, NULL, &result, err));
	assert_int_equal(result.held, 1);
	assert_int_equal(versions(g), 24);
	end(other);
	assert_ok(sherd_graph_gc(g, NULL, &result, err));
	assert_int_equal(result.versions, 1);
	assert_int_equal(result.held, 0);
	assert_int_equal(versions(g), 4);
	sherd_graph_close(g);
}

/* A reader of the current version keeps it when it is not current any more. */
TEST(a_reader_of_the_current_version_keeps_it)
{
	sherd_graph_gc_result result;
	holder h = hold(&(sherd_graph_options){.read_only = true});
	sherd_graph *g = graph_open(store, "db", NULL);
	const sherd_graph_id a = graph_id("a");
	assert_ok(sherd_graph_delete_nodes(g, &a, 1, NULL, err));
	graph_flush(g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_ok(sherd_graph_gc(g, NULL, &result, err));
	assert_int_equal(result.held, 1);
	sherd_graph_close(g);
	let_go(h);
}

static bool count_held(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	*(size_t *)arg += strstr(key, ".held-") != NULL;
	return true;
}

static size_t second_names(void)
{
	size_t count = 0;
	assert_ok(sherd_store_list(store, "db/manifests/", "", count_held, &count, err));
	return count;
}

/* A tag replaces the manifest that its readers hold. */
TEST(a_reader_keeps_its_version_although_it_is_tagged)
{
	sherd_graph_gc_result result;
	const sherd_graph_gc_options all = {.untag = true};
	const sherd_graph_options at = {.version = 2};
	holder before = hold(&at);
	sherd_graph *g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_set_tag(g, 2, "release", "one", err));
	holder between = hold(&at);
	assert_ok(sherd_graph_set_tag(g, 2, "release", "two", err));
	assert_ok(sherd_graph_set_tag(g, 2, "release", NULL, err));
	/* One for each who holds a manifest that is not there any more; that of the last tag was nobody's. */
	assert_int_equal(second_names(), 2);
	assert_ok(sherd_graph_gc(g, &all, &result, err));
	assert_int_equal(result.held, 1);
	assert_int_equal(versions(g), 24);
	let_go(between);
	assert_ok(sherd_graph_gc(g, &all, &result, err));
	assert_int_equal(result.held, 1);
	assert_int_equal(second_names(), 1);
	sherd_graph *late = graph_open(store, "db", &at);
	assert_int_equal(graph_count(late, NULL, NULL, "first"), 1);
	end(before);
	/* Now by the manifest itself. */
	assert_ok(sherd_graph_gc(g, &all, &result, err));
	assert_int_equal(result.held, 1);
	assert_int_equal(second_names(), 0);
	sherd_graph_close(late);
	assert_ok(sherd_graph_gc(g, &all, &result, err));
	assert_int_equal(result.held, 0);
	assert_int_equal(versions(g), 4);
	sherd_graph_close(g);
}

/* The writer that tags need not be the one that collects, nor the version an old one. */
TEST(a_reader_keeps_the_current_version_although_it_is_tagged)
{
	sherd_graph_gc_result result;
	const sherd_graph_gc_options all = {.untag = true};
	holder h = hold(&(sherd_graph_options){.read_only = true});
	sherd_graph *g = graph_open(store, "db", NULL);
	assert_ok(sherd_graph_set_tag(g, 0, "release", "one", err));
	sherd_graph_close(g);
	g = graph_open(store, "db", NULL);
	graph_add_node(g, "a", "F", "fourth", "a.js");
	graph_flush(g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_ok(sherd_graph_gc(g, &all, &result, err));
	assert_int_equal(result.held, 1);
	sherd_graph *late = graph_open(store, "db", &(sherd_graph_options){.version = 4});
	assert_int_equal(graph_count(late, NULL, NULL, "third"), 1);
	sherd_graph_close(late);
	let_go(h);
	assert_ok(sherd_graph_gc(g, &all, &result, err));
	assert_int_equal(result.held, 0);
	assert_int_equal(second_names(), 0);
	assert_refused(SHERD_ENOTFOUND, "not-found",
	               sherd_graph_open(&late, store, "db", &(sherd_graph_options){.version = 4}, err));
	sherd_graph_close(g);
}

TEST(tags_leave_nothing_behind_when_nobody_reads)
{
	sherd_graph *g = graph_open(store, "db", NULL);
	for (uint64_t version = 1; version <= 4; version++)
		assert_ok(sherd_graph_set_tag(g, version, "seen", "yes", err));
	assert_int_equal(second_names(), 0);
	sherd_graph_close(g);
}

/* Where the manifest cannot have a second name, a tag must wait for who reads. */
TEST(without_second_names_a_version_that_is_read_is_not_tagged)
{
	fail_sys sys;
	sherd_store *poor = NULL;
	fail_sys_init(&sys);
	sys.refuse = FAIL_SYS_NO_LINK;
	assert_ok(shd_store_open_local_sys(&poor, folder, NULL, &sys.sys, err));
	holder h = hold(&(sherd_graph_options){.version = 2});
	sherd_graph *g = graph_open(poor, "db", NULL);
	assert_refused(SHERD_ECONFLICT, "locked", sherd_graph_set_tag(g, 2, "release", "one", err));
	assert_ok(sherd_graph_set_tag(g, 3, "release", "one", err));
	let_go(h);
	assert_ok(sherd_graph_set_tag(g, 2, "release", "one", err));
	sherd_graph_close(g);
	sherd_store_close(poor);
}

TEST(a_database_is_made_once)
{
	holder h = hold(NULL);
	assert_refused(SHERD_EEXIST, "exists", sherd_graph_create(store, "db", NULL, 1, err));
	let_go(h);
	assert_refused(SHERD_EEXIST, "exists", sherd_graph_create(store, "db", NULL, 1, err));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_database, remove_database)

/* S-5. */
TEST(who_writes_while_LOCK_is_deleted_overwrites_nothing)
{
	sherd_store *other = NULL;
	sherd_graph *a = graph_open(store, "db", NULL);
	graph_add_node(a, "late", "F", "late", "a.js");
	assert_ok(sherd_store_remove(store, "db/LOCK", err));
	assert_ok(sherd_store_open_local(&other, folder, NULL, err));
	sherd_graph *b = graph_open(other, "db", NULL);
	graph_add_node(b, "first", "F", "first", "b.js");
	graph_flush(b);
	for (int tries = 0; tries < 2; tries++)
		assert_refused(SHERD_ECONFLICT, "changed", sherd_graph_flush(a, NULL, err));
	assert_refused(SHERD_ECONFLICT, "changed", sherd_graph_compact(a, NULL, err));
	assert_refused(SHERD_ECONFLICT, "changed", sherd_graph_set_tag(a, 2, "k", "v", err));
	assert_int_equal(sherd_graph_exists(a, graph_id("late"), NULL), 1);
	sherd_graph_close(a);
	graph_add_node(b, "second", "F", "second", "b.js");
	graph_flush(b);
	assert_int_equal(sherd_graph_version(b), 6);
	sherd_graph_close(b);
	a = graph_open(store, "db", NULL);
	graph_add_node(a, "late", "F", "late", "a.js");
	graph_flush(a);
	assert_int_equal(graph_count(a, NULL, NULL, NULL), 4);
	sherd_graph_close(a);
	sherd_store_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_second_writer_is_refused_until_the_first_is_gone),
		CASE(a_writer_is_not_refused_because_of_readers),
		CASE(the_collector_honours_who_reads_a_version),
		CASE(a_reader_of_the_current_version_keeps_it),
		CASE(a_reader_keeps_its_version_although_it_is_tagged),
		CASE(a_reader_keeps_the_current_version_although_it_is_tagged),
		CASE(tags_leave_nothing_behind_when_nobody_reads),
		CASE(without_second_names_a_version_that_is_read_is_not_tagged),
		CASE(a_database_is_made_once),
		CASE(who_writes_while_LOCK_is_deleted_overwrites_nothing),
	};
	return cmocka_run_group_tests_name("contract/graph", tests, NULL, NULL);
}
