/* engine/graph/json/lines.h - records that were read from lines, and where those stood. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

#include <sherd/graph_json.h>

typedef struct graph_line {
	const char *name; /* of its source, NULL: none */
	uint64_t number;  /* from 1, after `before` others */
	uint64_t offset;  /* of its first byte in the source */
} graph_line;

struct sherd_graph_lines {
	sherd_limits limits;
	shd_arena texts;
	SHD_VEC(sherd_graph_node) nodes;
	SHD_VEC(sherd_graph_edge) edges;
	SHD_VEC(sherd_graph_text) sources; /* of edges, as their lines say it */
	SHD_VEC(graph_line) node_at, edge_at;
	graph_line at;   /* the line that was added last */
	uint64_t next;   /* offset of the one after it */
	uint64_t before; /* lines of the source that others have */
};

/* The lines that follow are those of a source from this byte on. */
void shd_graph_lines_begin(sherd_graph_lines *l, const char *name, uint64_t offset);
/* Adds whole lines. After a failure `at` is the line that is to blame. */
int shd_graph_lines_parse(sherd_graph_lines *l, sherd_graph_record what, const char *text, size_t len,
                          sherd_error *err);
/* Says in which line rc, a failure, was met, counting its offset from the start of the source. Returns rc. */
int shd_graph_line_blame(const sherd_graph_lines *l, const graph_line *at, int rc, sherd_error *err);
