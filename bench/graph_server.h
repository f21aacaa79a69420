/* bench/graph_server.h - the same graph in the real server, asked over its socket by bench/graph_server.py.
 *
 * Everything goes through the socket, so that times of single calls are those of a client. Content hashes stay out: its
 * requests have none. What fails there is said in one line, and the benchmark goes on without it. */
#pragma once

#include "graph_data.h"
#include "python.h"

typedef struct graph_server {
	bench_python python;
	char *folder; /* of what is handed over */
} graph_server;

#define GRAPH_SERVER "the server, over its socket"

/* False, with a line for the target `id` that says how to get it, when it is not here. */
bool graph_server_start(graph_server *s, const graph_data *d, const char *id);
void graph_server_stop(graph_server *s);

/* Starts a server on a new database below the folder and loads the graph; seconds from the first request until all is
 * on the disk. It serves the others until it is closed. Like them negative when it failed. */
double graph_server_load(graph_server *s, const char *folder);
void graph_server_close(graph_server *s);

/* Microseconds of looking at nodes at random. what: "node", "out" (edges from it), "in". */
double graph_server_look(graph_server *s, const char *what, double *p99);
/* Milliseconds of replacing all that belongs to the file. */
double graph_server_commit(graph_server *s, const graph_file *f);
