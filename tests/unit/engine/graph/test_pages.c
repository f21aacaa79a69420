/* What a question costs of a graph that memory does not hold: pages that it touches, and how often it waits for them.
 * The same however many segments there are, and however much the system would read ahead. */
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/page_store.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>

/* Nodes of a segment; edges from each; nodes of a file. */
enum { TOGETHER = 3000, DEGREE = 3, IN_FILE = 20, QUESTIONS = 40 };

static int make_small(void **state)
{
	(void)state;
	shd_graph_tuning = (graph_tuning){.run_rows = 1000,
	                                  .run_some_rows = 1000,
	                                  .run_segments = 1,
	                                  .full_nodes = TOGETHER,
	                                  .full_edges = TOGETHER * DEGREE,
	                                  .full_files = TOGETHER};
	return 0;
}

static void name_node(unsigned number, char out[16])
{
	(void)snprintf(out, 16, "n%u", number);
}

/* Edges stay among the nodes that are added together: more of them change no answer. */
static void add_together(sherd_graph *g, unsigned first)
{
	char id[16], to[16], file[24];
	for (unsigned i = 0; i < TOGETHER; i++) {
		name_node(first + i, id);
		(void)snprintf(file, sizeof(file), "d/%u.js", (first + i) / IN_FILE);
		graph_add_node(g, id, "FUNCTION", id, file);
	}
	for (unsigned i = 0; i < TOGETHER; i++)
		for (unsigned k = 0; k < DEGREE; k++) {
			name_node(first + i, id);
			name_node(first + (i * 7 + k * 131 + 1) % TOGETHER, to);
			graph_add_edge(g, id, to, "CALLS", "");
		}
}

static sherd_store *database(unsigned times)
{
	sherd_store *store = memory();
	sherd_graph *g = graph_create(store, "db", &(sherd_graph_layout){.shards = 1}, NULL);
	for (unsigned i = 0; i < times; i++) {
		add_together(g, i * TOGETHER);
		assert_ok(sherd_graph_spill(g, err));
	}
	graph_flush(g);
	assert_int_equal(g->view.lists[SHD_RFDB_NODES].count, times);
	assert_int_equal(g->view.cover.bare_count[SHD_RFDB_NODES], 0);
	sherd_graph_close(g);
	return store;
}

typedef enum question { GET, OUT, IN, BY_NAME, BY_FILE, KINDS } question;

static bool count_node(void *arg, const sherd_graph_node *n)
{
	*(size_t *)arg += n->metadata.len + 1;
	return true;
}

static bool count_edge(void *arg, const sherd_graph_edge *e)
{
	*(size_t *)arg += e->type.len > 0 && e->metadata.len == 0;
	return true;
}

static size_t ask(const sherd_graph *g, question what, unsigned number)
{
	char id[16], file[24];
	size_t count = 0;
	sherd_graph_node node;
	name_node(number, id);
	(void)snprintf(file, sizeof(file), "d/%u.js", number / IN_FILE);
	const sherd_graph_query by_name = {.name = sherd_graph_text_of(id)},
				by_file = {.file = sherd_graph_text_of(file)};
	switch (what) {
	case GET:
		assert_int_equal(sherd_graph_get(&node, g, graph_id(id), NULL), 1);
		assert_int_equal(node.name.len, strlen(id));
		assert_memory_equal(node.name.ptr, id, node.name.len);
		assert_memory_equal(node.file.ptr, file, node.file.len);
		count = node.semantic_id.len + node.type.len + node.metadata.len;
		break;
	case OUT: assert_ok(sherd_graph_outgoing(g, graph_id(id), NULL, count_edge, &count, err)); break;
	case IN: assert_ok(sherd_graph_incoming(g, graph_id(id), NULL, count_edge, &count, err)); break;
	case BY_NAME: assert_ok(sherd_graph_find(g, &by_name, count_node, &count, err)); break;
	default: assert_ok(sherd_graph_find(g, &by_file, count_node, &count, err));
	}
	return count;
}

typedef struct cost {
	size_t answer;
	page_counts pages;
} cost;

/* Each question with nothing in memory but what is private: fences are, after the first of a kind. */
static void measure(sherd_store *store, size_t read_ahead, cost costs[KINDS][QUESTIONS])
{
	sherd_store *pages = page_store_over(store, read_ahead);
	sherd_graph *g = graph_open(pages, "db", &(sherd_graph_options){.read_only = true});
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < g->view.lists[kind].count; i++)
			g->view.lists[kind].items[i]->wide = true;
	for (question what = GET; what < KINDS; what++) {
		(void)ask(g, what, TOGETHER - 1);
		for (unsigned i = 0; i < QUESTIONS; i++) {
			page_store_drop();
			(void)page_store_counts();
			costs[what][i].answer = ask(g, what, i * (TOGETHER / QUESTIONS) + 3);
			costs[what][i].pages = page_store_counts();
		}
	}
	sherd_graph_close(g);
	sherd_store_close(pages);
}

static const size_t ahead[] = {(size_t)128 << 10, (size_t)8 << 20};

static void expect_bounds(question what, const cost *c)
{
	if (what == GET) {
		assert_true(c->pages.touched <= 17);
		assert_true(c->pages.waits <= 4);
	} else if (what == OUT || what == IN) {
		assert_true(c->pages.touched <= 12 + 4 * (what == IN ? c->answer : 0));
		assert_true(c->pages.waits <= 4);
	}
	/* Nothing comes that nobody wanted. */
	assert_true(c->pages.fetched <= c->pages.touched);
}

TEST(a_question_costs_the_same_of_few_and_of_many_segments)
{
	static cost few[KINDS][QUESTIONS], many[KINDS][QUESTIONS];
	SCOPED_STORE small = database(1);
	SCOPED_STORE large = database(16);
	for (size_t a = 0; a < COUNT_OF(ahead); a++) {
		measure(small, ahead[a], few);
		measure(large, ahead[a], many);
		for (question what = GET; what < KINDS; what++)
			for (unsigned i = 0; i < QUESTIONS; i++) {
				assert_int_equal(few[what][i].answer, many[what][i].answer);
				assert_true(few[what][i].answer > 0 || what == IN);
				expect_bounds(what, &few[what][i]);
				expect_bounds(what, &many[what][i]);
				/* A key may stand at the end of a page of the index: then the next one is looked at
				 * too. */
				assert_true(many[what][i].pages.touched <= few[what][i].pages.touched + 1);
				assert_true(many[what][i].pages.waits <= few[what][i].pages.waits + 1);
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_costs_the_same_of_few_and_of_many_segments),
	};
	return cmocka_run_group_tests_name("unit/engine/graph/pages", tests, make_small, NULL);
}
