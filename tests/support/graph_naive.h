/* tests/support/graph_naive.h - a graph as simple as can be: arrays over a few ids, files and types.
 *
 * Every node and edge has a stamp, from which its name, type, hash and metadata follow. For programs without cmocka
 * too: what is wrong is said on stderr, and ends the program. */
#pragma once

#include <sherd/graph.h>

#include <stdio.h>
#include <stdlib.h>

enum { NAIVE_IDS = 24, NAIVE_FILES = 13, NAIVE_TYPES = 3, NAIVE_NAMES = 11, NAIVE_NONE = -1 };

typedef struct naive_node {
	unsigned stamp; /* 0: there is none */
	int file;
} naive_node;

typedef struct naive_edge {
	unsigned stamp; /* 0: there is none */
	int context;    /* the file that it is about, or NAIVE_NONE */
} naive_edge;

typedef struct graph_naive {
	naive_node nodes[NAIVE_IDS];
	naive_edge edges[NAIVE_IDS][NAIVE_IDS][NAIVE_TYPES]; /* from, to, type */
} graph_naive;

/* A record as the library takes it, and the texts that it borrows. */
typedef struct naive_record {
	sherd_graph_node node;
	sherd_graph_edge edge;
	char id[48], name[32], metadata[128];
} naive_record;

const char *naive_file(int file);
const char *naive_type(unsigned type); /* of edges */
sherd_graph_id naive_id(unsigned id);
void naive_make_node(unsigned id, naive_node node, naive_record *out);
void naive_make_edge(unsigned src, unsigned dst, unsigned type, naive_edge edge, naive_record *out);

/* With the edges from and to it. */
void naive_remove_node(graph_naive *m, unsigned id);
/* Everything that belongs to a file; nodes that stay keep the edges to them. */
void naive_forget_file(graph_naive *m, int file, const bool stays[NAIVE_IDS]);
sherd_graph_update_result naive_compare(const graph_naive *before, const graph_naive *after);

/* Does every kind of read give what the naive graph holds? `dice` chooses among combinations. */
void naive_check(const graph_naive *m, const sherd_graph *g, unsigned dice);
/* Does the difference of two graphs lead from one to the other? */
void naive_check_diff(const graph_naive *from, const graph_naive *to, const sherd_graph *a, const sherd_graph *b);

#define must(holds)                                                                               \
	do {                                                                                      \
		if (!(holds)) {                                                                   \
			(void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

/* The call sees `err`. */
#define must_ok(call)                                                                               \
	do {                                                                                        \
		sherd_error e_ = {0}, *err = &e_;                                                   \
		if ((call) < 0) {                                                                   \
			(void)fprintf(stderr, "%s:%d: %s: %s: %s: %s\n", __FILE__, __LINE__, #call, \
			              sherd_status_name(e_.code), e_.object, e_.message);           \
			abort();                                                                    \
		}                                                                                   \
	} while (0)
