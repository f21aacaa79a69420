/* Two who use one database without a lock between them, in every order of their steps: on a store that cannot lock, and
 * after somebody has removed LOCK. Whoever is told that it worked has not lost anything to the other; whoever is
 * refused finds the database as the other left it, and can begin again.
 *
 * Every order where SHD_KILLS asks for much (make crash), else every 23rd. */
#include "support/environment.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"
#include "support/turn_store.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they do */

typedef struct deed {
	const char *name;
	turn_fn *act;
	const char *adds;  /* the node that is there afterwards, or NULL */
	bool must_succeed; /* whatever the other one does */
} deed;

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

/* For writing. Then somebody removes LOCK, where there is one. */
static int open_writer(sherd_graph **out, sherd_store *store, sherd_error *err)
{
	TRY(sherd_graph_open(out, store, "db", NULL, err));
	return sherd_store_remove(store, "db/LOCK", err);
}

static int add(sherd_store *store, const char *id, const char *file, sherd_error *err)
{
	SCOPED_GRAPH g = NULL;
	const sherd_graph_node n = graph_node(id, "F", id, file);
	TRY(open_writer(&g, store, err));
	TRY(sherd_graph_add_nodes(g, &n, 1, err));
	return sherd_graph_flush(g, NULL, err);
}

static int add_left(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	return add(store, "left", "src/left.js", err);
}

static int add_right(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	return add(store, "right", "lib/right.js", err);
}

/* An edit. */
static int update(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	const sherd_graph_node n = graph_node("edited", "F", "edited", "src/edited.js");
	TRY(open_writer(&g, store, err));
	TRY(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
	return sherd_graph_flush(g, NULL, err);
}

static int spill(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	const sherd_graph_node n = graph_node("spilled", "F", "spilled", "a.js");
	TRY(open_writer(&g, store, err));
	TRY(sherd_graph_add_nodes(g, &n, 1, err));
	TRY(sherd_graph_spill(g, err));
	return sherd_graph_flush(g, NULL, err);
}

static int compact(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	TRY(open_writer(&g, store, err));
	return sherd_graph_compact(g, NULL, err);
}

static int collect(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	TRY(open_writer(&g, store, err));
	return sherd_graph_gc(g, NULL, NULL, err);
}

static int tag(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	TRY(open_writer(&g, store, err));
	int rc = sherd_graph_set_tag(g, 3, "kept", "yes", err);
	return rc == SHERD_ENOTFOUND ? SHERD_ECONFLICT : rc; /* collected before */
}

static int look(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH g = NULL;
	TRY(sherd_graph_open(&g, store, "db", &(sherd_graph_options){.read_only = true}, err));
	int rc = sherd_graph_exists(g, graph_id("base"), err);
	return rc == 0 ? shd_fail(err, SHERD_ECORRUPT, "lost", "a node is gone") : rc;
}

static int verify(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	TRY(sherd_verify(&r, store, "db", NULL, err));
	if (!sherd_report_errors(r))
		return SHERD_OK;
	*err = *sherd_report_error(r, 0);
	return SHERD_ECORRUPT;
}

enum { COLLECT = 5, VERIFY = 8 };

static const deed deeds[] = {
	{"add", add_left, "left", false},
	{"add another", add_right, "right", false},
	{"update", update, "edited", false},
	{"spill", spill, "spilled", false},
	{"compact", compact, NULL, false},
	[COLLECT] = {"collect", collect, NULL, false},
	{"tag", tag, NULL, false},
	{"read", look, NULL, true},
	[VERIFY] = {"verify", verify, NULL, true},
};

/* ---- what is there afterwards */

static sherd_store *base;

static int make_base(void **state)
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
	return 0;
}

static int close_base(void **state)
{
	(void)state;
	sherd_store_close(base);
	return 0;
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

typedef struct order {
	const deed *deeds[2];
	bool locks;
	long first, second;
} order;

static void complain(const order *o, const char *what)
{
	fail_msg("%s %ld, %s %ld, %s: %s", o->deeds[0]->name, o->first, o->deeds[1]->name, o->second,
	         o->locks ? "LOCK removed" : "no locks", what);
}

static bool open_it(void *arg, const sherd_graph_snapshot *s)
{
	SCOPED_GRAPH g = graph_open(arg, "db", &(sherd_graph_options){.version = s->version});
	assert_consistent(g);
	return true;
}

/* Who succeeded is there, who did not is not; and every version that is listed can be read. */
static void check(const order *o, sherd_store *store, const turn_actor actors[2])
{
	sherd_error e = {0};
	SCOPED_GRAPH g = graph_open(store, "db", &(sherd_graph_options){.read_only = true});
	for (unsigned i = 0; i < 2; i++) {
		const deed *d = o->deeds[i];
		uint64_t version;
		if (d->adds && (sherd_graph_exists(g, graph_id(d->adds), NULL) == 1) != (actors[i].rc == SHERD_OK))
			complain(o, actors[i].rc ? "what was refused is there" : "what was committed is lost");
		if (d->act == tag && actors[i].rc == SHERD_OK &&
		    sherd_graph_find_tag(&version, g, "kept", NULL, &e) < 0)
			complain(o, "the tag is lost");
	}
	if (graph_count(g, NULL, NULL, "base") != 1 || graph_count(g, NULL, NULL, "gone") != 0)
		complain(o, "what was there before is not there any more");
	assert_ok(sherd_graph_versions(g, open_it, store, err));
	if (verify(store, NULL, &e) < 0)
		complain(o, e.message);
}

/* Runs them in one order. */
static void run(order *o, long steps[2])
{
	SCOPED_STORE store = memory();
	turn_actor actors[2] = {{.act = o->deeds[0]->act}, {.act = o->deeds[1]->act}};
	assert_ok(sherd_store_list(base, "", "", copy_one, store, err));
	turn_run(store, o->locks, actors, o->first, o->second);
	bool any = false;
	for (unsigned i = 0; i < 2; i++) {
		bool refused = actors[i].rc == SHERD_ECONFLICT && !o->deeds[i]->must_succeed;
		any = any || actors[i].rc == SHERD_OK;
		if (actors[i].rc < 0 && !refused)
			fail_msg("%s: %s: %s: %s %ld, %s %ld", o->deeds[i]->name, actors[i].err.object,
			         actors[i].err.message, o->deeds[0]->name, o->first, o->deeds[1]->name, o->second);
		steps[i] = actors[i].steps;
	}
	if (!any)
		complain(o, "both were refused");
	check(o, store, actors);
	for (unsigned i = 0; i < 2; i++)
		if (actors[i].rc < 0 && o->deeds[i]->act != tag) {
			assert_ok(o->deeds[i]->act(store, NULL, err));
			actors[i].rc = SHERD_OK;
		}
	check(o, store, actors);
}

static unsigned stride(void)
{
	return environment_number("SHERD_KILLS", 0) ? 1 : 23;
}

static void run_all(bool locks)
{
	unsigned runs = 0, every = stride();
	for (size_t a = 0; a < COUNT_OF(deeds); a++)
		for (size_t b = a; b < COUNT_OF(deeds); b++) {
			long steps[2] = {1, 1};
			order o = {.deeds = {&deeds[a], &deeds[b]}, .locks = locks};
			if (deeds[a].must_succeed || (a == b && deeds[a].adds))
				continue;
			for (o.first = 0; o.first <= steps[0]; o.first++)
				for (o.second = o.first % every; o.second <= steps[1]; o.second += every) {
					run(&o, steps);
					runs++;
				}
		}
	print_message("%u orders\n", runs);
}

TEST(two_writers_on_a_store_without_locks_lose_nothing)
{
	run_all(false);
}

TEST(two_writers_after_somebody_removed_LOCK_lose_nothing)
{
	run_all(true);
}

/* S-11: what verify read of a version names segments that the collection removes before verify looks at them. */
TEST(verify_beside_a_collection_raises_no_false_alarm)
{
	sherd_store *before = base;
	long steps[2] = {1, 1};
	order o = {.deeds = {&deeds[COLLECT], &deeds[VERIFY]}};
	(void)make_base(NULL);
	assert_ok(compact(base, NULL, err));
	for (; o.first <= steps[0]; o.first++)
		for (o.second = o.first % stride(); o.second <= steps[1]; o.second += stride())
			run(&o, steps);
	sherd_store_close(base);
	base = before;
}

/* ---- two who make a database */

static int create(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	return sherd_graph_create(store, "new", &(sherd_graph_layout){.shards = 3}, 0, err);
}

static int copy(sherd_store *store, void *arg, sherd_error *err)
{
	(void)arg;
	SCOPED_GRAPH from = NULL;
	const sherd_graph_layout layout = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1};
	TRY(sherd_graph_open(&from, base, "db", &(sherd_graph_options){.read_only = true}, err));
	return sherd_graph_reshard(from, store, "new", &layout, NULL, NULL, err);
}

static void make_two(turn_fn *left, turn_fn *right, long first, long second, long steps[2])
{
	SCOPED_STORE store = memory();
	turn_actor actors[2] = {{.act = left}, {.act = right}};
	turn_fn *winner = NULL;
	turn_run(store, false, actors, first, second);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(actors[i].rc == SHERD_OK || actors[i].rc == SHERD_ECONFLICT ||
		            actors[i].rc == SHERD_EEXIST);
		assert_false(actors[i].rc == SHERD_OK && winner);
		winner = actors[i].rc == SHERD_OK ? actors[i].act : winner;
		steps[i] = actors[i].steps;
	}
	if (!winner) {
		assert_ok(right(store, NULL, err));
		winner = right;
	}
	SCOPED_GRAPH g = graph_open(store, "new", NULL);
	assert_int_equal(graph_count(g, NULL, NULL, "base"), winner == copy);
	assert_int_equal(sherd_graph_layout_of(g).planner, winner == copy ? SHERD_GRAPH_DIRECTORY : SHERD_GRAPH_HASH);
	graph_add_node(g, "more", "F", "more", "a/b/c.js");
	graph_flush(g);
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	assert_ok(sherd_verify(&r, store, "new", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
}

TEST(of_two_who_make_a_database_one_does_and_it_is_whole)
{
	static turn_fn *const makers[][2] = {{create, create}, {create, copy}, {copy, create}, {copy, copy}};
	unsigned every = stride();
	for (size_t i = 0; i < COUNT_OF(makers); i++) {
		long steps[2] = {1, 1};
		for (long first = 0; first <= steps[0]; first++)
			for (long second = first % every; second <= steps[1]; second += every)
				make_two(makers[i][0], makers[i][1], first, second, steps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_writers_on_a_store_without_locks_lose_nothing),
		cmocka_unit_test(two_writers_after_somebody_removed_LOCK_lose_nothing),
		cmocka_unit_test(verify_beside_a_collection_raises_no_false_alarm),
		cmocka_unit_test(of_two_who_make_a_database_one_does_and_it_is_whole),
	};
	return cmocka_run_group_tests_name("graph_turns", tests, make_base, close_base);
}
