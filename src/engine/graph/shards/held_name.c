/* engine/graph/shards/held_name.c - a shard named by what it holds. */
#include "base/map.h"
#include "engine/graph/shards/held.h"
#include "format/rfdb/path.h"

#include <stdlib.h>

typedef struct naming {
	const sherd_graph *graph;
	uint32_t shard;
	shd_map known;         /* directories of live nodes */
	SHD_VEC(shd_str) list; /* the same */
	bool others;           /* some that the planner puts elsewhere */
} naming;

static bool is_known(const naming *n, shd_str file)
{
	return shd_map_find(&n->known, shd_rfdb_path_parent(file)) != SHD_MAP_NONE;
}

static int held_name_note(naming *n, shd_str file, sherd_error *err)
{
	bool ok;
	shd_str directory = shd_rfdb_path_parent(file);
	if (shd_map_add(&n->known, directory, 0, &ok) == SHD_MAP_NONE && ok)
		shd_vec_push(&n->list, directory);
	n->others = n->others || !shd_graph_belongs(n->graph, file, n->shard);
	return ok ? shd_vec_check(&n->list, err) : shd_fail_nomem(err);
}

static int note_held(void *arg, const graph_held *held, sherd_error *err)
{
	naming *n = arg;
	uint64_t at = 0, row;
	int rc = is_known(n, held->file) ? 0 : shd_graph_held_next(n->graph, held, &at, &row, err);
	return rc > 0 ? held_name_note(n, held->file, err) : rc;
}

/* Where every row lives, the list of the manifest says it without a look at the segment. */
static int note_segment(naming *n, size_t place, sherd_error *err)
{
	const sherd_graph *g = n->graph;
	const shd_rfdb_texts *files = &g->view.lists[SHD_RFDB_NODES].items[place]->about.files;
	if (g->buffer.node_count || !files->count || !shd_graph_view_is_plain(&g->view, SHD_RFDB_NODES, place))
		return shd_graph_held_each(g, place, note_held, n, err);
	for (size_t i = 0; i < files->count; i++)
		if (!is_known(n, files->items[i]))
			TRY(held_name_note(n, files->items[i], err));
	return SHERD_OK;
}

static int note_all(naming *n, sherd_error *err)
{
	const sherd_graph *g = n->graph;
	graph_range r = shd_graph_list_shard(&g->view.lists[SHD_RFDB_NODES], n->shard);
	for (size_t i = r.from; i < r.to; i++)
		TRY(note_segment(n, i, err));
	for (size_t i = 0; i < g->buffer.node_count; i++) {
		const graph_new_node *fresh = &g->buffer.nodes[i];
		if (!fresh->dead && !is_known(n, fresh->node.file) && shd_graph_belongs(g, fresh->node.file, n->shard))
			TRY(held_name_note(n, fresh->node.file, err));
	}
	return SHERD_OK;
}

static int held_name_compare(const void *left, const void *right)
{
	return shd_str_compare(*(const shd_str *)left, *(const shd_str *)right);
}

/* As the planner writes the name of a shard. */
static void write_directory(shd_buf *out, shd_str directory)
{
	if (!directory.len)
		shd_buf_append(out, "_root", strlen("_root"));
	for (size_t i = 0; i < directory.len; i++) {
		char c = directory.ptr[i];
		if (c == '/' || !c)
			c = '_';
		shd_buf_append(out, &c, 1);
	}
}

static void write_list(const naming *n, shd_buf *out)
{
	enum { MOST = 3 };
	size_t count = n->list.count;
	for (size_t i = 0; i < count && i < MOST; i++) {
		if (i)
			shd_buf_append(out, ", ", 2);
		write_directory(out, n->list.items[i]);
	}
	if (count > MOST)
		shd_buf_printf(out, " and %zu more", count - MOST);
}

/* Cuts off whole characters. */
static void held_name_copy(char *name, size_t room, const char *text, size_t len)
{
	size_t kept = len < room ? len : room - 1;
	while (kept && kept < len && ((unsigned char)text[kept] & 0xc0) == 0x80)
		kept--;
	memcpy(name, text, kept);
	name[kept] = 0;
}

static int write_name(naming *n, char *name, size_t room, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	const char *planned = shd_rfdb_plan_name(&n->graph->plan, n->shard);
	size_t count = n->list.count;
	*name = 0;
	if (!count)
		return SHERD_OK;
	if (planned && !n->others) {
		held_name_copy(name, room, planned, strlen(planned));
		return SHERD_OK;
	}
	qsort(n->list.items, count, sizeof(shd_str), held_name_compare);
	write_list(n, &text);
	TRY(shd_buf_check(&text, err));
	held_name_copy(name, room, (const char *)text.data, text.len);
	return SHERD_OK;
}

int shd_graph_held_name(const sherd_graph *g, uint32_t shard, char *name, size_t room, sherd_error *err)
{
	naming n = {.graph = g, .shard = shard};
	*name = 0;
	if (g->config.planner != SHD_RFDB_DIRECTORY)
		return SHERD_OK;
	int rc = note_all(&n, err);
	if (rc == SHERD_OK)
		rc = write_name(&n, name, room, err);
	shd_map_done(&n.known);
	shd_vec_done(&n.list);
	return rc;
}
