/* engine/graph/buffer/buffer.h - what a writer has added and deleted since the last flush.
 *
 * A dead entry hides what the version below has under its key. Each node stands here once. Edges are a log, in which
 * the last entry of a key counts, until it is settled: then each key stands in it once. Whoever only adds never needs
 * that, and a flush sorts them anyway. Texts are copied and stay until it is done with. */
#pragma once

#include "base/map.h"
#include "engine/graph/view/ids.h"
#include "engine/graph/view/keys.h"
#include "format/rfdb/segment.h"

typedef struct graph_new_node {
	shd_rfdb_node node; /* of a dead one only the id counts */
	bool dead;
} graph_new_node;

/* 64 bytes: there are many, and they are gone through again and again. */
typedef struct graph_new_edge {
	shd_rfdb_edge_key key; /* first, for graph_keys */
	shd_str metadata;      /* ptr NULL: dead */
} graph_new_edge;

static inline bool graph_edge_is_dead(const graph_new_edge *e)
{
	return !e->metadata.ptr;
}

/* The next entry with the same source, destination; GRAPH_IDS_NONE at the end. */
typedef struct graph_links {
	uint32_t next_out, next_in;
} graph_links;

/* The first and the last node of a file. */
typedef struct graph_ends {
	uint32_t first, last;
} graph_ends;

#define GRAPH_RECENT 32

typedef struct graph_buffer {
	graph_new_node *nodes;
	graph_new_edge *edges;
	size_t node_count, node_room, edge_count, edge_room;
	bool only_updates; /* it holds replacements of files and nothing else */
	graph_ids by_id;   /* to nodes */
	shd_arena arena;
	shd_map texts; /* types and files, each copied once */
	/* Copies by where they were given from: texts that repeat mostly come from one place. */
	struct {
		const char *from;
		shd_str copy;
	} recent[GRAPH_RECENT];
	/* Made when first asked for, for the entries below `settled`: edges by key, and which of them may speak of a
	 * file in their metadata. */
	graph_keys by_key;
	SHD_VEC(uint32_t) contexts;
	size_t settled;
	/* The same, below `chained`, which is not above `settled`: the edges from and to an id. */
	graph_ids by_src, by_dst;   /* to places in heads */
	SHD_VEC(uint32_t) heads;    /* the first entry of a chain */
	SHD_VEC(graph_links) links; /* for each entry that is chained */
	size_t chained;
	/* The same, below `filed`: the nodes of a file, in the order in which they came. */
	shd_map by_file; /* to places in file_ends */
	SHD_VEC(graph_ends) file_ends;
	SHD_VEC(uint32_t) file_links; /* the next one of the file, for each node that is filed */
	size_t filed;
} graph_buffer;

/* Room for so many more; false when memory is out. */
bool shd_graph_buffer_reserve(graph_buffer *b, size_t nodes, size_t edges);
/* Add or replace. False when memory is out. */
bool shd_graph_buffer_put_edge(graph_buffer *b, const shd_rfdb_edge *edge);
/* The same for a node, in two steps, since many are faster one step after the other: copies of the texts that are its
 * own; then the entry. */
bool shd_graph_buffer_copy_node(graph_buffer *b, shd_rfdb_node *node);
bool shd_graph_buffer_take_node(graph_buffer *b, const shd_rfdb_node *node);
bool shd_graph_buffer_kill_node(graph_buffer *b, shd_u128 id);
bool shd_graph_buffer_kill_edge(graph_buffer *b, const shd_rfdb_edge_key *key);

/* From now on each key of an edge stands once, until one is added. False when memory is out. */
bool shd_graph_buffer_settle(graph_buffer *b);

/* NULL when the key does not stand here; a dead entry does. For edges it must be settled. */
const graph_new_node *shd_graph_buffer_node(const graph_buffer *b, shd_u128 id);
const graph_new_edge *shd_graph_buffer_edge(const graph_buffer *b, const shd_rfdb_edge_key *key);

/* Settles, and puts edges that came since into the chains. False when memory is out. */
bool shd_graph_buffer_chain(graph_buffer *b);
/* The first entry of the chain of edges from (to) an id, GRAPH_IDS_NONE when there is none. */
uint32_t shd_graph_buffer_first(const graph_buffer *b, shd_u128 id, bool incoming);
uint32_t shd_graph_buffer_next(const graph_buffer *b, uint32_t entry, bool incoming);

/* Puts nodes that came since into the chains of their files. False when memory is out. */
bool shd_graph_buffer_file(graph_buffer *b);
/* The entries of a file, dead ones and some of other files among them; GRAPH_IDS_NONE at the end. */
uint32_t shd_graph_buffer_first_of(const graph_buffer *b, shd_str file);
uint32_t shd_graph_buffer_next_of(const graph_buffer *b, uint32_t entry);

void shd_graph_buffer_done(graph_buffer *b); /* empties it: it can be used again */
