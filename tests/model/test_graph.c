/* Random histories of a database, and what a naive graph makes of them: support/graph_play.c. */
#include "support/environment.h"
#include "support/graph_play.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"
#include "engine/graph/graph.h"

#include <inttypes.h>
#include <time.h>

enum { CHECK_EVERY = 9 };

static unsigned roll(void *arg, unsigned below)
{
	uint64_t *state = arg;
	*state = shd_splitmix64(*state);
	return (unsigned)(*state >> 33) % below;
}

static void play(uint64_t seed, const sherd_graph_layout *layout, unsigned steps)
{
	graph_play *p = graph_play_open(layout, roll, &seed);
	for (unsigned i = 0; i < steps; i++) {
		graph_play_step(p);
		if (i % CHECK_EVERY == 0)
			graph_play_check(p);
	}
	graph_play_close(p);
}

/* SHD_SEED: which histories; SHD_HISTORIES: how many (10). */
TEST(a_database_holds_what_a_naive_graph_would)
{
	static const sherd_graph_layout layouts[] = {{.shards = 1},
	                                             {.shards = 2},
	                                             {.shards = 8},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1},
	                                             {.planner = SHERD_GRAPH_DIRECTORY}};
	uint64_t seed = environment_number("SHERD_SEED", (uint64_t)time(NULL)),
		 count = environment_number("SHERD_HISTORIES", 10);
	static const graph_tuning small = {.run_rows = 3,
	                                   .run_some_rows = 1,
	                                   .run_segments = 1,
	                                   .full_nodes = 6,
	                                   .full_edges = 9,
	                                   .full_files = 4};
	const graph_tuning large = shd_graph_tuning;
	print_message("SHERD_SEED=%" PRIu64 "\n", seed);
	for (uint64_t i = 0; i < count; i++) {
		/* Every other history in the shape that large databases have: merged pieces, indexes over many
		 * segments. */
		shd_graph_tuning = i % 2 ? small : large;
		play(shd_splitmix64(seed) + i, &layouts[i % COUNT_OF(layouts)], 500);
	}
	shd_graph_tuning = large;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_database_holds_what_a_naive_graph_would),
	};
	return cmocka_run_group_tests_name("model/graph", tests, NULL, NULL);
}
