/* bench/graph_peers.h - the same graph in stores that people use for one.
 *
 * Nodes under their id; edges under source, destination and type, and once more by destination. A value holds all that
 * a record has. Whatever goes wrong ends the program. */
#pragma once

#include "graph_data.h"

typedef struct graph_peer {
	const char *name, *package; /* the Debian package that it needs */
	/* From an empty folder to a durable database, open for reading. NULL: not built in. */
	void *(*load)(const graph_data *d, const char *folder);
	/* What a user would do once before reading much; may be NULL. */
	void (*settle)(void *db);
	/* What was seen of the node; of all edges from (to) it, added up. */
	uint64_t (*get)(void *db, sherd_graph_id id);
	uint64_t (*edges)(void *db, sherd_graph_id id, bool incoming);
	void (*close)(void *db);
} graph_peer;

extern const graph_peer graph_lmdb, graph_sqlite, graph_rocksdb;

/* Ids as keys of 16 bytes, in the order of the numbers. */
enum { GRAPH_KEY_MAX = 64, GRAPH_VALUE_MAX = 512 };
void graph_key_id(sherd_graph_id id, uint8_t out[16]);
sherd_graph_id graph_id_key(const uint8_t key[16]);
/* Of an edge: both ids, the type. reverse: the destination first. */
size_t graph_key_edge(const sherd_graph_edge *e, bool reverse, uint8_t out[GRAPH_KEY_MAX]);
size_t graph_value_node(const sherd_graph_node *n, uint8_t out[GRAPH_VALUE_MAX]);
/* Texts borrow from what they are read out of. */
void graph_node_value(const void *value, sherd_graph_node *out);
void graph_edge_key(const void *key, size_t len, bool reverse, sherd_graph_edge *out);
