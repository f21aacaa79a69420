/* engine/graph/disk/head.h - current.json, the one object that all writers of a database agree on.
 *
 * No lock is trusted alone: stores may have none, and somebody may delete LOCK. So current.json is replaced only if it
 * still is the object that the writer began with; whoever comes second gets SHERD_ECONFLICT, "changed". And nobody
 * removes what another one may be about to publish before current.json was replaced by its like (a fence), from which
 * on that other one is refused. */
#pragma once

#include "engine/graph/disk/place.h"
#include "format/rfdb/manifest.h"

typedef struct graph_head {
	shd_rfdb_current current;
	char identity[72]; /* of the object; "" when there is none */
} graph_head;

/* Whatever is there, a head that somebody is still making the database for among them. SHERD_ENOTFOUND: nothing. */
int shd_graph_head_look(const graph_place *p, graph_head *out, sherd_error *err);
/* The head of a database; SHERD_ENOTFOUND, "incomplete", where one is being made. */
int shd_graph_head_read(const graph_place *p, graph_head *out, sherd_error *err);

/* An object that we wrote. */
typedef struct graph_made {
	const char *name, *identity;
} graph_made;

/* Makes the version current, whose manifest we wrote. *unknown: it failed, and may be current nevertheless, or become
 * so. */
int shd_graph_head_advance(const graph_place *p, graph_head *head, uint64_t version, const graph_made *manifest,
                           bool *unknown, sherd_error *err);
/* The same version again: who began with the head before is refused from now on. */
int shd_graph_head_fence(const graph_place *p, graph_head *head, sherd_error *err);
/* The head of a database that is being made, where there is none; and in place of that of a database. */
int shd_graph_head_create(const graph_place *p, graph_head *head, sherd_error *err);
int shd_graph_head_vacate(const graph_place *p, graph_head *head, sherd_error *err);

/* SHERD_ECONFLICT, "changed". */
int shd_graph_head_fail(sherd_error *err);
/* Is it still what is there? Else SHERD_ECONFLICT, "changed". */
int shd_graph_head_check(const graph_place *p, const graph_head *head, sherd_error *err);
/* What went wrong because others changed the database is that, and not what it looked like: rc, or the above. */
int shd_graph_head_judge(const graph_place *p, const graph_head *head, int rc, sherd_error *err);

/* Things to remove, and which objects they were when they were seen. */
void shd_graph_note(shd_buf *list, const char *name, const sherd_stat *stat);
/* The same of the object that has the name now, if there is one. */
int shd_graph_note_now(const graph_place *p, shd_buf *list, const char *name, sherd_error *err);
/* Before a fence, where stores cannot lock and may tell less of an object in a list than when it is looked at: notes
 * those that are noted as they are now. */
int shd_graph_note_again(const graph_place *p, shd_buf *list, sherd_error *err);
/* Calls each() for all that are noted. */
int shd_graph_noted(const shd_buf *list, int (*each)(void *arg, const char *name, const char *identity), void *arg);
/* Removes those that still are the objects that were seen. */
int shd_graph_remove_noted(const graph_place *p, const shd_buf *list, sherd_error *err);
