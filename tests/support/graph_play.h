/* tests/support/graph_play.h - a database and a naive graph, to which the same is done.
 *
 * Whoever plays says by numbers what is to be done. Over a store in memory; what is wrong ends the program. */
#pragma once

#include "support/graph_naive.h"

typedef struct graph_play graph_play;

/* A number below another one. */
typedef unsigned graph_pick_fn(void *arg, unsigned below);

graph_play *graph_play_open(const sherd_graph_layout *layout, graph_pick_fn *pick, void *arg);
/* One change, commit, collection, opening, ... */
void graph_play_step(graph_play *p);
/* Compares the writer, open readers, the list of versions and one version. */
void graph_play_check(graph_play *p);
/* Commits, opens again, compares and verifies. */
void graph_play_close(graph_play *p);
