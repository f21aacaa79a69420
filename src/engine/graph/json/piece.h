/* engine/graph/json/piece.h - a source of lines, cut at ends of lines into pieces that are parsed by themselves. */
#pragma once

#include "base/buf.h"
#include "engine/graph/json/lines.h"

/* Where pieces are cut depends on the bytes alone, not on how much each read brings. */
typedef struct graph_cut {
	const sherd_graph_source *source;
	uint64_t longest; /* line */
	uint64_t offset;  /* of what comes next */
	shd_buf rest;     /* what was read of it already */
	bool end;
	bool too_long; /* rc is about the line that comes next */
	int rc;        /* of reading, told after the lines before it */
	sherd_error err;
} graph_cut;

void shd_graph_cut_init(graph_cut *c, const sherd_graph_source *source, const sherd_limits *limits);
void shd_graph_cut_done(graph_cut *c);
/* The next whole lines instead of text: 1, or 0 at the end. */
int shd_graph_cut_next(graph_cut *c, shd_buf *text, sherd_error *err);

typedef struct graph_piece {
	shd_buf text;
	sherd_graph_record what;
	sherd_graph_lines *lines; /* the records of text, once it is parsed; owned */
	uint64_t end;             /* offset of what follows it */
	int rc;                   /* of reading, or of the line lines->at */
	bool of_line;
	sherd_error err;
} graph_piece;

int shd_graph_piece_init(graph_piece *p, const sherd_limits *limits, sherd_error *err);
void shd_graph_piece_done(graph_piece *p);
/* The next piece, not yet parsed; false at the end. What cannot be read is a piece too, and the last one. */
bool shd_graph_piece_cut(graph_piece *p, graph_cut *c);
/* Parses it, unless it could not be read. */
void shd_graph_piece_parse(void *piece);
/* What went wrong with it, which begins after so many lines of the source. */
int shd_graph_piece_check(const graph_piece *p, uint64_t before, sherd_error *err);
