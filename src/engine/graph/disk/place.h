/* engine/graph/disk/place.h - the folder of a database on its store. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/limits.h>
#include <sherd/store.h>

typedef struct graph_place {
	sherd_store *store;
	char *folder; /* "" or "a/b/" */
	sherd_limits limits;
} graph_place;

/* folder is "" or "a/b". */
int shd_graph_place_init(graph_place *out, sherd_store *store, const char *folder, const sherd_limits *limits,
                         sherd_error *err);
int shd_graph_place_copy(graph_place *out, const graph_place *p, sherd_error *err);
void shd_graph_place_done(graph_place *p);

/* A key of the store. */
typedef struct graph_key {
	char text[SHERD_MAX_KEY + 1];
} graph_key;
/* SHERD_EINVAL, "bad-key", when it is too long. */
int shd_graph_place_key(const graph_place *p, const char *name, graph_key *out, sherd_error *err);

/* A whole document, in the arena. identity: of the object that it was read from, 72 bytes; or NULL. Failures name the
 * object. */
int shd_graph_place_get(const graph_place *p, const char *name, shd_arena *arena, shd_str *text, char *identity,
                        sherd_error *err);
/* Durable when it returns. */
int shd_graph_place_write(const graph_place *p, const char *name, const sherd_write_options *options,
                          const shd_buf *text, sherd_error *err);
int shd_graph_place_put(const graph_place *p, const char *name, sherd_write_mode mode, const shd_buf *text,
                        sherd_error *err);
int shd_graph_place_remove(const graph_place *p, const char *name, sherd_error *err);
/* Only what has the identity: 0, or 1 when something else has the name. */
int shd_graph_place_remove_if(const graph_place *p, const char *name, const char *identity, sherd_error *err);
/* Folders, on stores that have any; nothing on others. */
int shd_graph_place_mkdir(const graph_place *p, const char *name, sherd_error *err);
int shd_graph_place_rmdir(const graph_place *p, const char *name, sherd_error *err);
/* 1 when it is there, 0 when not. */
int shd_graph_place_has(const graph_place *p, const char *name, sherd_error *err);

/* Calls each() for every name below the folder that begins with prefix, in byte order; it returns false to stop. */
typedef bool graph_name_fn(void *arg, const char *name, const sherd_stat *stat);
int shd_graph_place_list(const graph_place *p, const char *prefix, graph_name_fn *each, void *arg, sherd_error *err);
