/* engine/graph/keep/reshard.c - the live graph into a database that is laid out otherwise.
 *
 * Nodes go first, since edges need their sources; each piece is spilled, and all of them become one version at the
 * end, from which on there is a database. */
#include "engine/graph/flush/flush.h"
#include "engine/graph/open/creation.h"
#include "engine/graph/open/open.h"

#include <stdlib.h>

enum { PIECE = 64 << 20, ENTRY = 160 }; /* ENTRY: about what a record takes in the buffer besides its texts */

typedef struct copying {
	sherd_graph *to;
	uint64_t memory, used;
	shd_meter meter;
	sherd_graph_reshard_result result;
	sherd_error *err;
	int rc;
	shd_map files; /* DIRECTORY: all files, planned at once */
	shd_arena arena;
	SHD_VEC(shd_str) list;
} copying;

/* false stops the walk; rc says whether that is a failure. */
static bool count_in(copying *c, uint64_t bytes)
{
	c->used += bytes;
	c->rc = shd_meter_add(&c->meter, 1, c->err);
	if (c->rc == SHERD_OK && c->used >= c->memory) {
		c->rc = sherd_graph_spill(c->to, c->err);
		c->used = 0;
	}
	return c->rc == SHERD_OK;
}

static bool copy_node(void *arg, const sherd_graph_node *node)
{
	copying *c = arg;
	sherd_graph_node n = *node;
	n.exported = false; /* the mark is in the metadata already */
	c->rc = sherd_graph_add_nodes(c->to, &n, 1, c->err);
	c->result.nodes++;
	return c->rc == SHERD_OK &&
	       count_in(c, ENTRY + n.semantic_id.len + n.type.len + n.name.len + n.file.len + n.metadata.len);
}

static bool copy_edge(void *arg, const sherd_graph_edge *edge)
{
	copying *c = arg;
	c->rc = sherd_graph_add_edges(c->to, edge, 1, c->err);
	if (c->rc == SHERD_EINVAL && strcmp(c->err->reason, "unknown-source") == 0) {
		c->result.lost_edges++;
		return count_in(c, 0);
	}
	c->result.edges++;
	return c->rc == SHERD_OK && count_in(c, ENTRY + edge->type.len + edge->metadata.len);
}

static bool note_file(void *arg, const sherd_graph_node *node)
{
	copying *c = arg;
	bool ok = true;
	shd_str file = graph_text_in(node->file);
	if (shd_map_find(&c->files, file) != SHD_MAP_NONE)
		return true;
	file.ptr = shd_arena_str(&c->arena, file);
	if (file.ptr)
		(void)shd_map_add(&c->files, file, 0, &ok);
	shd_vec_push(&c->list, file);
	c->rc = file.ptr && ok && !c->list.failed ? SHERD_OK : shd_fail_nomem(c->err);
	return c->rc == SHERD_OK;
}

/* Directories are judged by all their files, not by those of the first piece. */
static int plan_files(copying *c, const sherd_graph *from, sherd_error *err)
{
	if (c->to->config.planner != SHD_RFDB_DIRECTORY)
		return SHERD_OK;
	TRY(sherd_graph_find(from, NULL, note_file, c, err));
	TRY(c->rc);
	return shd_rfdb_plan_extend(&c->to->plan, c->list.items, c->list.count, NULL, err);
}

static int keep_reshard_copy(copying *c, const sherd_graph *from, int64_t time_ns, sherd_error *err)
{
	sherd_graph_totals totals;
	const sherd_graph_commit_options commit = {.time_ns = time_ns};
	TRY(sherd_graph_stats(&totals, from, err));
	c->meter.total = totals.nodes + totals.edges;
	TRY(plan_files(c, from, err));
	TRY(sherd_graph_find(from, NULL, copy_node, c, err));
	TRY(c->rc);
	TRY(sherd_graph_edges(from, NULL, copy_edge, c, err));
	TRY(c->rc);
	TRY(shd_graph_view_check(&from->view, err));
	return sherd_graph_flush(c->to, &commit, err);
}

/* Version 2, or 1 when there was nothing to copy. */
static int keep_reshard_fill(copying *c, graph_creation *creation, const sherd_graph *from,
                             const sherd_graph_reshard_options *o, sherd_error *err)
{
	TRY(shd_graph_open_creation(&c->to, creation->place, &creation->head, o->pool, err));
	shd_meter_init(&c->meter, o->progress, 0);
	int rc = keep_reshard_copy(c, from, o->time_ns, err);
	shd_meter_done(&c->meter);
	creation->head = c->to->head;
	if (rc == SHERD_OK && c->to->version == 1)
		rc = shd_graph_creation_publish(creation, err);
	/* Folders may have been made for all that were planned. */
	if (creation->shards < c->to->plan.shard_count)
		creation->shards = c->to->plan.shard_count;
	sherd_graph_close(c->to);
	return rc;
}

int sherd_graph_reshard(const sherd_graph *from, sherd_store *store, const char *folder,
                        const sherd_graph_layout *layout, const sherd_graph_reshard_options *options,
                        sherd_graph_reshard_result *result, sherd_error *err)
{
	static const sherd_graph_reshard_options defaults = {0};
	const sherd_graph_reshard_options *o = options ? options : &defaults;
	sherd_error failure = {0};
	copying c = {.memory = o->memory ? o->memory : PIECE, .err = &failure};
	graph_place place;
	graph_creation creation;
	TRY(shd_graph_place_init(&place, store, folder, NULL, err));
	int rc = shd_graph_creation_begin(&creation, &place, layout, o->time_ns, &failure);
	if (rc == SHERD_OK) {
		rc = keep_reshard_fill(&c, &creation, from, o, &failure);
		rc = shd_graph_creation_end(&creation, shd_graph_head_judge(&place, &creation.head, rc, &failure));
	}
	rc = shd_at_index(&failure, shd_in_object(&failure, rc, folder), SHERD_NO_INDEX);
	shd_graph_place_done(&place);
	shd_map_done(&c.files);
	shd_arena_done(&c.arena);
	shd_vec_done(&c.list);
	if (rc < 0 && err)
		*err = failure;
	if (rc == SHERD_OK && result)
		*result = c.result;
	return rc;
}
