/* Two who publish to one place without a lock between them, in every order of their steps, and one beside those who
 * write and collect there. Of two pushers one wins; what it published stays whole, whatever the other one takes back.
 *
 * Every order where SHERD_KILLS asks for much (make crash), else every 3rd. */
#include "support/environment.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"
#include "support/turn_store.h"

#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

/* Databases that came from the same one, and went on by themselves; the last two in the same way. */
static sherd_store *base, *left, *right, *twins[2];

static sherd_store *copy_of_base(const char *id, const char *file)
{
	sherd_store *store = memory();
	assert_ok(sherd_graph_pull(base, "db", store, "db", NULL, NULL, err));
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	graph_add_node(g, id, "F", id, file);
	graph_flush(g);
	return store;
}

static int make_sources(void **state)
{
	(void)state;
	base = memory();
	SCOPED_GRAPH g = graph_create(base, "db", &(sherd_graph_layout){.shards = 2}, NULL);
	graph_add_node(g, "base", "F", "base", "src/base.js");
	graph_flush(g);
	graph_add_node(g, "gone", "F", "gone", "a.js");
	graph_flush(g);
	const sherd_graph_id gone = graph_id("gone");
	assert_ok(sherd_graph_delete_nodes(g, &gone, 1, NULL, err));
	graph_flush(g);
	left = copy_of_base("left", "src/left.js");
	right = copy_of_base("right", "lib/right.js");
	for (unsigned i = 0; i < 2; i++)
		twins[i] = copy_of_base("twin", "src/twin.js");
	return 0;
}

static int close_sources(void **state)
{
	(void)state;
	sherd_store_close(base);
	sherd_store_close(left);
	sherd_store_close(right);
	sherd_store_close(twins[0]);
	sherd_store_close(twins[1]);
	return 0;
}

static int push(sherd_store *store, void *arg, sherd_error *err)
{
	return sherd_graph_push(arg, "db", store, "db", NULL, NULL, err);
}

static int add(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	const sherd_graph_node n = graph_node("added", "F", "added", "src/added.js");
	TRY(sherd_graph_open(&g, store, "db", NULL, err));
	TRY(sherd_graph_add_nodes(g, &n, 1, err));
	return sherd_graph_flush(g, NULL, err);
}

static int collect(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	TRY(sherd_graph_open(&g, store, "db", NULL, err));
	return sherd_graph_gc(g, NULL, NULL, err);
}

static int compact(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	TRY(sherd_graph_open(&g, store, "db", NULL, err));
	return sherd_graph_compact(g, NULL, err);
}

static bool copy_one(void *arg, const char *key, const sherd_stat *stat)
{
	char *data = NULL;
	size_t len;
	(void)stat;
	assert_ok(sherd_store_get(&data, &len, base, key, 1 << 20, err));
	assert_ok(sherd_store_put(arg, key, SHERD_WRITE_NEW, data, len, err));
	sherd_free(data);
	return true;
}

static void check_whole(sherd_store *store)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
}

typedef struct meeting {
	turn_actor actors[2];
	const char *adds[2]; /* the node that is there if it succeeded; or NULL */
	bool exclusive;      /* of the two one wins */
	bool fresh;          /* there is no database yet */
} meeting;

static void meet(const meeting *m, long first, long second, long steps[2])
{
	SCOPED_STORE store = memory();
	turn_actor actors[2] = {m->actors[0], m->actors[1]};
	unsigned won = 0;
	if (!m->fresh)
		assert_ok(sherd_store_list(base, "", "", copy_one, store, err));
	turn_run(store, false, actors, first, second);
	for (unsigned i = 0; i < 2; i++) {
		steps[i] = actors[i].steps;
		won += actors[i].rc == SHERD_OK;
		if (actors[i].rc < 0 && actors[i].rc != SHERD_ECONFLICT && actors[i].rc != SHERD_EEXIST)
			fail_msg("%u at %ld, %ld: %s: %s", i, first, second, actors[i].err.object,
			         actors[i].err.message);
	}
	if (!won && m->fresh) { /* each stood in the other's way; who comes again makes it */
		actors[1].rc = push(store, actors[1].arg, &actors[1].err);
		won = actors[1].rc == SHERD_OK;
	}
	if (!won || (m->exclusive && won != 1))
		fail_msg("%u won at %ld, %ld", won, first, second);
	SCOPED_GRAPH g = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	for (unsigned i = 0; i < 2; i++)
		if (m->adds[i] &&
		    (sherd_graph_exists(g, graph_id(m->adds[i]), NULL) == 1) != (actors[i].rc == SHERD_OK))
			fail_msg("%s at %ld, %ld: %s", m->adds[i], first, second,
			         actors[i].rc ? "is there" : "is lost");
	assert_int_equal(graph_count(g, NULL, NULL, "base"), 1);
	assert_consistent(g);
	check_whole(store);
}

static void meet_in_all_orders(const meeting *m)
{
	unsigned every = environment_number("SHERD_KILLS", 0) ? 1 : 3;
	long steps[2] = {1, 1};
	for (long first = 0; first <= steps[0]; first++)
		for (long second = first % every; second <= steps[1]; second += every)
			meet(m, first, second, steps);
}

TEST(of_two_who_push_one_wins_and_keeps_all_that_it_sent)
{
	const meeting m = {.actors = {{.act = push, .arg = left}, {.act = push, .arg = right}},
	                   .adds = {"left", "right"},
	                   .exclusive = true};
	meet_in_all_orders(&m);
}

/* Who comes second finds that all is said. */
TEST(of_two_who_push_the_same_bytes_none_takes_anything_from_the_other)
{
	const meeting m = {.actors = {{.act = push, .arg = twins[0]}, {.act = push, .arg = twins[1]}}};
	meet_in_all_orders(&m);
}

TEST(of_two_who_push_to_a_new_place_one_makes_it)
{
	const meeting m = {.actors = {{.act = push, .arg = left}, {.act = push, .arg = right}},
	                   .adds = {"left", "right"},
	                   .exclusive = true,
	                   .fresh = true};
	meet_in_all_orders(&m);
}

/* A writer there goes on from what was pushed; what it wrote is refused to be pushed over. */
TEST(who_pushes_beside_a_writer_loses_nothing_of_its)
{
	meeting m = {.actors = {{.act = push, .arg = left}, {.act = add}}, .adds = {NULL, "added"}};
	meet_in_all_orders(&m);
	m = (meeting){.actors = {{.act = add}, {.act = push, .arg = left}}, .adds = {"added", NULL}};
	meet_in_all_orders(&m);
}

TEST(a_push_names_no_segment_that_a_collector_takes)
{
	meeting m = {.actors = {{.act = push, .arg = left}, {.act = collect}}, .adds = {"left", NULL}};
	meet_in_all_orders(&m);
	m = (meeting){.actors = {{.act = collect}, {.act = push, .arg = left}}, .adds = {NULL, "left"}};
	meet_in_all_orders(&m);
	m = (meeting){.actors = {{.act = push, .arg = left}, {.act = compact}}};
	meet_in_all_orders(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_who_push_one_wins_and_keeps_all_that_it_sent),
		cmocka_unit_test(of_two_who_push_the_same_bytes_none_takes_anything_from_the_other),
		cmocka_unit_test(of_two_who_push_to_a_new_place_one_makes_it),
		cmocka_unit_test(who_pushes_beside_a_writer_loses_nothing_of_its),
		cmocka_unit_test(a_push_names_no_segment_that_a_collector_takes),
	};
	return cmocka_run_group_tests_name("graph_push", tests, make_sources, close_sources);
}
