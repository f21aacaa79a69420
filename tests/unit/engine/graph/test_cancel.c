/* What changes or verifies a graph is cancelled at every step where it asks: the version, the files and the buffer are
 * as they were, and it can be done after all. */
#include "support/ckpt_place.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdlib.h>

/* Lets a call ask `left` times, then cancels it. */
static bool ask(void *arg, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return (*(unsigned *)arg)-- > 0;
}

typedef int action(sherd_graph *g, sherd_store *store, const sherd_progress *progress, sherd_error *err);

static int flush(sherd_graph *g, sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	(void)store;
	return sherd_graph_flush(g, &(sherd_graph_commit_options){.progress = progress}, err);
}

static int compact(sherd_graph *g, sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	(void)store;
	return sherd_graph_compact(g, &(sherd_graph_commit_options){.progress = progress}, err);
}

static int reshard(sherd_graph *g, sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	const sherd_graph_reshard_options o = {.memory = 20000, .progress = progress};
	sherd_store *to = NULL;
	(void)store;
	TRY(sherd_store_open_memory(&to, err));
	int rc = sherd_graph_reshard(g, to, "copy", NULL, &o, NULL, err);
	sherd_graph *copy = NULL;
	if (rc == SHERD_OK) {
		copy = graph_open(to, "copy", &(sherd_graph_options){.read_only = true});
		assert_same_graph(g, copy);
	} else if (sherd_graph_open(&copy, to, "copy", &(sherd_graph_options){.read_only = true}, NULL) == SHERD_OK) {
		assert_int_equal(graph_count(copy, NULL, NULL, NULL), 0);
	}
	sherd_graph_close(copy);
	sherd_store_close(to);
	return rc;
}

static int verify(sherd_graph *g, sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	sherd_report *r = NULL;
	(void)g;
	int rc = sherd_verify(&r, store, "db", &(sherd_verify_options){.progress = progress}, err);
	if (rc == SHERD_OK)
		assert_int_equal(sherd_report_errors(r), 0);
	sherd_report_close(r);
	return rc;
}

static void cancel_everywhere(action *act, sherd_graph *g, sherd_store *store)
{
	char *dump = graph_dump(g), *keys = object_keys(store);
	uint64_t version = sherd_graph_version(g), pending = sherd_graph_pending(g);
	unsigned steps = 0;
	for (;; steps++) {
		unsigned left = steps;
		const sherd_progress progress = {.update = ask, .arg = &left};
		sherd_error e = {0};
		int rc = act(g, store, &progress, &e);
		if (rc == SHERD_OK)
			break;
		if (rc != SHERD_ECANCELLED || strcmp(e.reason, "cancelled") != 0)
			fail_msg("step %u: %s: %s", steps, e.object, e.message);
		assert_int_equal(sherd_graph_version(g), version);
		assert_true(sherd_graph_pending(g) >= pending); /* edges may have come along with nodes that move */
		assert_keys(store, keys);
	}
	assert_true(steps > 0);
	char *after = graph_dump(g);
	assert_string_equal(after, dump);
	free(after);
	free(dump);
	free(keys);
}

TEST(what_is_cancelled_leaves_nothing_behind)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	sherd_graph *g = graph_create(store, "db", NULL, NULL);
	graph_add_random(g, 300, 900, 20, 1);
	cancel_everywhere(flush, g, store);
	graph_add_random(g, 100, 300, 20, 2);
	cancel_everywhere(flush, g, store);
	graph_add_node(g, "more", "F", "more", "src/more.js");
	cancel_everywhere(compact, g, store);
	cancel_everywhere(verify, g, store);
	cancel_everywhere(reshard, g, store);
	assert_int_equal(sherd_graph_version(g), 4);
	assert_consistent(g);
	sherd_graph_close(g);
	sherd_store_close(store);
}

/* A collection that is cancelled has done a part of its work; the rest is done next time. */
TEST(a_collection_that_is_cancelled_goes_on_next_time)
{
	sherd_store *store = NULL;
	sherd_graph_gc_result all = {0};
	unsigned steps = 0;
	assert_ok(sherd_store_open_memory(&store, err));
	sherd_graph *g = graph_create(store, "db", NULL, NULL);
	for (unsigned i = 0; i < 6; i++) {
		graph_add_random(g, 200, 400, 20, i);
		graph_flush(g);
	}
	char *dump = graph_dump(g);
	for (int rc = SHERD_ECANCELLED; rc != SHERD_OK; steps++) {
		unsigned left = 1;
		const sherd_progress progress = {.update = ask, .arg = &left};
		rc = sherd_graph_gc(g, &(sherd_graph_gc_options){.progress = &progress}, &all, NULL);
		assert_true(rc == SHERD_OK || rc == SHERD_ECANCELLED);
		sherd_graph *again = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
		char *now = graph_dump(again);
		assert_string_equal(now, dump);
		free(now);
		sherd_graph_close(again);
	}
	assert_true(steps > 10);
	assert_ok(sherd_graph_gc(g, NULL, &all, err));
	assert_int_equal(all.files + all.versions, 0);
	free(dump);
	sherd_graph_close(g);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_cancelled_leaves_nothing_behind),
		cmocka_unit_test(a_collection_that_is_cancelled_goes_on_next_time),
	};
	return cmocka_run_group_tests_name("graph_cancel", tests, NULL, NULL);
}
