/* Flush, update, compaction, collection and resharding with the nth allocation or operation failing, for every n: what
 * is there afterwards is the version before or the one after, whole. */
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_graph, sherd_graph_close)
SHERD_AUTO_DEFINE(sherd_report, sherd_report_close)
#define GRAPH SHERD_AUTO(sherd_graph, sherd_graph_close)

static const sherd_graph_layout two = {.shards = 2};

static int open_writer(sherd_graph **g, sherd_store *s, sherd_error *err)
{
	return sherd_graph_open(g, s, "db", NULL, err);
}

static int add(sherd_store *s, sherd_error *err)
{
	GRAPH g = NULL;
	const sherd_graph_node nodes[] = {graph_node("c", "F", "c", "src/c.js"), graph_node("a", "F", "a", "main.js")};
	const sherd_graph_edge edge = graph_edge("c", "a", "CALLS", "{}");
	TRY(open_writer(&g, s, err));
	TRY(sherd_graph_add_nodes(g, nodes, 2, err));
	TRY(sherd_graph_add_edges(g, &edge, 1, err));
	return sherd_graph_flush(g, NULL, err);
}

static int update(sherd_store *s, sherd_error *err)
{
	GRAPH g = NULL;
	const sherd_graph_node n = graph_node("b", "F", "again", "src/b.js");
	TRY(open_writer(&g, s, err));
	TRY(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
	return sherd_graph_flush(g, NULL, err);
}

static int compact(sherd_store *s, sherd_error *err)
{
	GRAPH g = NULL;
	TRY(open_writer(&g, s, err));
	TRY(sherd_graph_compact(g, NULL, err));
	return sherd_graph_gc(g, NULL, NULL, err);
}

static int reshard(sherd_store *s, sherd_error *err)
{
	GRAPH g = NULL;
	const sherd_graph_layout layout = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	const sherd_graph_options reading = {.read_only = true};
	const sherd_graph_reshard_options small = {.memory = 300};
	TRY(sherd_graph_open(&g, s, "db", &reading, err));
	return sherd_graph_reshard(g, s, "new", &layout, &small, err);
}

typedef int work_fn(sherd_store *s, sherd_error *err);

/* Two nodes in two files, an edge each way, in two versions. */
static sherd_store *sample(void)
{
	sherd_store *memory = NULL;
	assert_ok(sherd_store_open_memory(&memory, err));
	sherd_store *s = fail_store_over(memory);
	GRAPH g = graph_create(s, "db", &two, NULL);
	graph_add_node(g, "a", "F", "a", "src/a.js");
	graph_add_node(g, "b", "F", "b", "src/b.js");
	graph_add_edge(g, "a", "b", "CALLS", "");
	graph_flush(g);
	graph_add_edge(g, "b", "a", "CALLS", "");
	graph_flush(g);
	return s;
}

static char *state(sherd_store *s)
{
	const sherd_graph_options reading = {.read_only = true};
	GRAPH g = graph_open(s, "db", &reading);
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, s, "db", NULL, err));
	for (size_t i = 0; i < sherd_report_errors(r); i++)
		print_error("%s: %s\n", sherd_report_error(r, i)->object, sherd_report_error(r, i)->message);
	assert_int_equal(sherd_report_errors(r), 0);
	sherd_report_close(r);
	return graph_dump(g);
}

static void assert_one_of(sherd_store *s, const char *before, const char *after, bool done)
{
	char *found = state(s);
	if (strcmp(found, after) != 0 && (done || strcmp(found, before) != 0))
		fail_msg("neither before nor after:\n%s", found);
	free(found);
}

static void survive(work_fn *work)
{
	sherd_store *s = sample();
	char *before = state(s);
	assert_ok(work(s, err));
	char *after = state(s);
	sherd_store_close(s);
	for (int way = 0; way < 2; way++) {
		bool hit = true;
		long n = 0;
		while (hit) {
			sherd_error e = {0};
			s = sample();
			if (way)
				fail_store_at(s, ++n);
			else
				fail_malloc_at(++n);
			int rc = work(s, &e);
			hit = way ? fail_store_hit(s) : fail_malloc_hit();
			fail_store_at(s, 0);
			fail_malloc_at(0);
			if (rc < 0)
				assert_true(hit && e.code == rc && e.reason && e.message[0]);
			assert_one_of(s, before, after, rc == SHERD_OK);
			/* Whatever it was, it can be done now; a copy only when nothing was left in its way. */
			if (work != reshard)
				assert_ok(work(s, err));
			sherd_store_close(s);
			assert_true(n < 20000);
		}
		assert_true(n > 20);
	}
	free(before);
	free(after);
}

TEST(a_flush_that_fails_leaves_the_version_before)
{
	survive(add);
}

TEST(an_update_that_fails_leaves_the_version_before)
{
	survive(update);
}

TEST(a_compaction_or_collection_that_fails_loses_nothing)
{
	survive(compact);
}

TEST(a_copy_that_fails_does_not_touch_its_source)
{
	survive(reshard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flush_that_fails_leaves_the_version_before),
		cmocka_unit_test(an_update_that_fails_leaves_the_version_before),
		cmocka_unit_test(a_compaction_or_collection_that_fails_loses_nothing),
		cmocka_unit_test(a_copy_that_fails_does_not_touch_its_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
