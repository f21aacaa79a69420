/* engine/graph/view/locate.h - where each node of a view stands, for those who ask often: one look instead of one into
 * the filter of every segment and a search.
 *
 * Made in memory after many questions, so that opening and asking a few costs nothing for it; only for views that it is
 * small for. Usable from several threads at once. */
#pragma once

#include "base/u128.h"

#include <stdatomic.h>

struct graph_view;
struct graph_row;

typedef struct graph_locator {
	_Atomic(struct graph_places *) places; /* NULL: not made yet */
	_Atomic uint64_t asked;                /* until then */
} graph_locator;

/* 1 and the newest row with the id, 0 when there is none, -1 when there is no locator (yet). */
int shd_graph_locate(const struct graph_view *v, shd_u128 id, struct graph_row *out);
void shd_graph_locator_done(graph_locator *l);
