/* A push and a pull with the nth operation of either store, or the nth allocation, failing, for every n: the target is
 * as it was or as it should be, nothing is left in it, and the next one succeeds. */
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/late_store.h"
#include "support/test.h"

#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

enum { MOST = 5000 };
typedef enum failing { THE_SOURCE, THE_TARGET, MEMORY } failing;

static sherd_store *make_source(void)
{
	sherd_store *store = memory();
	SCOPED_GRAPH g = graph_create(store, "db",
	                              &(sherd_graph_layout){.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1}, NULL);
	graph_add_node(g, "a", "F", "a", "a/a.js");
	graph_add_node(g, "b", "F", "b", "b/b.js");
	graph_add_edge(g, "a", "b", "CALLS", "");
	graph_flush(g);
	return store;
}

static void change(sherd_store *store)
{
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	graph_add_node(g, "c", "F", "c", "c/c.js");
	graph_flush(g);
}

static bool count_one(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	++*(size_t *)arg;
	return true;
}

static size_t count_segments(sherd_store *store)
{
	size_t n = 0;
	assert_ok(sherd_store_list(store, "db/segments/", "", count_one, &n, err));
	return n;
}

static void check_target(sherd_store *store, bool there, const char *node)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	if (!there)
		return;
	SCOPED_GRAPH g = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	assert_int_equal(sherd_graph_exists(g, graph_id("a"), NULL), 1);
	if (node)
		assert_int_equal(sherd_graph_exists(g, graph_id(node), NULL), 1);
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
}

/* One transfer, to a new place or to an old one, that fails at the nth chance; false when there is none. */
static bool try_nth(failing what, long n, bool fresh, bool far)
{
	SCOPED_STORE inner = memory();
	SCOPED_STORE from = fail_store_over(make_source());
	SCOPED_STORE to = fail_store_over(far ? late_store_over(inner) : memory());
	sherd_error e = {0};
	size_t before = 0;
	if (!fresh) {
		assert_ok(sherd_graph_push(from, "db", to, "db", NULL, NULL, err));
		change(from);
		before = count_segments(to);
	}
	fail_store_at(from, what == THE_SOURCE ? n : 0);
	fail_store_at(to, what == THE_TARGET ? n : 0);
	if (what == MEMORY)
		fail_malloc_at(n);
	int rc = sherd_graph_push(from, "db", to, "db", NULL, NULL, &e);
	bool hit = what == MEMORY ? fail_malloc_hit() : fail_store_hit(what == THE_SOURCE ? from : to);
	fail_malloc_at(0);
	fail_store_at(from, 0);
	fail_store_at(to, 0);
	if (!hit)
		assert_int_equal(rc, SHERD_OK);
	/* What removes leftovers may be what failed: there may be more than before, but nothing less. */
	if (rc < 0) {
		assert_int_equal(rc, what == MEMORY ? SHERD_ENOMEM : SHERD_EIO);
		assert_true(count_segments(to) >= before);
		check_target(to, !fresh, NULL);
		assert_ok(sherd_graph_push(from, "db", to, "db", NULL, NULL, err));
	}
	check_target(to, true, fresh ? "b" : "c");
	return hit;
}

static void try_all(failing what)
{
	unsigned ways = what == MEMORY ? 2 : 4; /* the store that is far away needs memory of its own */
	for (unsigned way = 0; way < ways; way++) {
		long n = 1;
		while (try_nth(what, n, way & 1, way & 2))
			assert_true(++n < MOST);
		print_message("%ld chances\n", n - 1);
		assert_true(n > 10);
	}
}

TEST(whatever_fails_at_the_source_nothing_is_lost)
{
	try_all(THE_SOURCE);
}

TEST(whatever_fails_at_the_target_nothing_is_lost)
{
	try_all(THE_TARGET);
}

TEST(whatever_allocation_fails_nothing_is_lost)
{
	try_all(MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_fails_at_the_source_nothing_is_lost),
		cmocka_unit_test(whatever_fails_at_the_target_nothing_is_lost),
		cmocka_unit_test(whatever_allocation_fails_nothing_is_lost),
	};
	return cmocka_run_group_tests_name("graph_transfer", tests, NULL, NULL);
}
