/* The input says what is done to a database and to a naive graph: they must agree. The first byte chooses the layout,
 * each of the others is one choice. */
#include "form.h"
#include "support/graph_play.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

enum { MOST_STEPS = 200 };

typedef struct input {
	const uint8_t *data;
	size_t len, at;
} input;

/* After the end all choices are 0. */
static unsigned choose(void *arg, unsigned below)
{
	input *in = arg;
	return in->at < in->len ? in->data[in->at++] % below : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const sherd_graph_layout layouts[] = {{.shards = 1},
	                                             {.shards = 2},
	                                             {.shards = 8},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 3}};
	input in = {data, len, 0};
	graph_play *p = graph_play_open(&layouts[choose(&in, 5)], choose, &in);
	for (unsigned steps = 0; in.at < in.len && steps < MOST_STEPS; steps++)
		graph_play_step(p);
	graph_play_check(p);
	graph_play_close(p);
	return 0;
}
