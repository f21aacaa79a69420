#include "engine/graph/buffer.h"

#include "base/large.h"
#include "engine/graph/metadata.h"

#include <stdlib.h>

static void *widen(void *list, size_t count, size_t *room, size_t more, size_t size)
{
	if (count + more <= *room)
		return list;
	/* Copying costs more than room that is not touched. */
	size_t want = *room < 64 ? 64 : *room;
	while (want < count + more)
		want *= 4;
	if (want > UINT32_MAX - 1 || want > SIZE_MAX / size)
		return NULL;
	void *larger = sherd_large_alloc(want * size);
	if (!larger)
		return NULL;
	if (count)
		memcpy(larger, list, count * size);
	free(list);
	*room = want;
	return larger;
}

bool sherd_graph_buffer_reserve(graph_buffer *b, size_t nodes, size_t edges)
{
	b->by_key.stride = sizeof(graph_new_edge);
	if (nodes) {
		void *list = widen(b->nodes, b->node_count, &b->node_room, nodes, sizeof(*b->nodes));
		if (!list)
			return false;
		b->nodes = list;
	}
	if (edges) {
		void *list = widen(b->edges, b->edge_count, &b->edge_room, edges, sizeof(*b->edges));
		if (!list)
			return false;
		b->edges = list;
	}
	return sherd_graph_ids_reserve(&b->by_id, b->by_id.count + nodes) &&
	       sherd_graph_keys_reserve(&b->by_key, b->by_key.count + edges);
}

static bool copy(graph_buffer *b, sherd_str *s)
{
	if (s->len == 0) {
		*s = (sherd_str){"", 0};
		return true;
	}
	s->ptr = sherd_arena_copy(&b->arena, s->ptr, s->len);
	return s->ptr != NULL;
}

static bool share_by_map(graph_buffer *b, sherd_str *s)
{
	size_t found = sherd_map_find(&b->texts, *s);
	if (found != SHERD_MAP_NONE) {
		s->ptr = (const char *)found; /* values are addresses of the copies */
		return true;
	}
	bool ok = copy(b, s);
	if (ok)
		(void)sherd_map_add(&b->texts, *s, (size_t)s->ptr, &ok);
	return ok;
}

/* For texts that repeat: one copy of each. before: that of the entry before, which is most often the same. */
static bool share(graph_buffer *b, sherd_str *s, sherd_str before)
{
	if (s->len == before.len && memcmp(s->ptr, before.ptr, s->len) == 0) {
		*s = before;
		return true;
	}
	const char *from = s->ptr;
	size_t place = ((uintptr_t)from >> 3 ^ s->len) % GRAPH_RECENT;
	sherd_str *recent = &b->recent[place].copy;
	if (b->recent[place].from == from && recent->len == s->len && memcmp(recent->ptr, from, s->len) == 0) {
		*s = *recent;
		return true;
	}
	if (!share_by_map(b, s))
		return false;
	b->recent[place].from = from;
	*recent = *s;
	return true;
}

static bool copy_node(graph_buffer *b, sherd_rfdb_node *n)
{
	const sherd_rfdb_node *before = b->node_count ? &b->nodes[b->node_count - 1].node : NULL;
	const sherd_str none = {"", 0};
	return copy(b, &n->semantic_id) && copy(b, &n->name) && copy(b, &n->metadata) &&
	       share(b, &n->type, before ? before->type : none) && share(b, &n->file, before ? before->file : none);
}

static graph_new_node *node_entry(graph_buffer *b, sherd_u128 id)
{
	bool ok;
	if (!sherd_graph_buffer_reserve(b, 1, 0))
		return NULL;
	uint32_t at = sherd_graph_ids_add(&b->by_id, id, (uint32_t)b->node_count, &ok);
	if (!ok)
		return NULL;
	if (at == GRAPH_IDS_NONE)
		at = (uint32_t)b->node_count++;
	return &b->nodes[at];
}

bool sherd_graph_buffer_put_node(graph_buffer *b, const sherd_rfdb_node *node)
{
	sherd_rfdb_node mine = *node;
	if (!copy_node(b, &mine))
		return false;
	graph_new_node *entry = node_entry(b, node->id);
	if (entry)
		*entry = (graph_new_node){.node = mine};
	return entry;
}

bool sherd_graph_buffer_kill_node(graph_buffer *b, sherd_u128 id)
{
	const sherd_str none = {"", 0};
	graph_new_node *entry = node_entry(b, id);
	if (entry)
		*entry = (graph_new_node){.node = {.id = id,
		                                   .semantic_id = none,
		                                   .type = none,
		                                   .name = none,
		                                   .file = none,
		                                   .metadata = none},
		                          .dead = true};
	return entry;
}

/* The entry of the key, made if it is not there. */
static graph_new_edge *edge_entry(graph_buffer *b, const sherd_rfdb_edge_key *key)
{
	bool ok;
	sherd_rfdb_edge_key mine = *key;
	const sherd_str none = {"", 0};
	uint32_t at = (uint32_t)b->edge_count;
	if (!sherd_graph_buffer_reserve(b, 0, 1) || !share(b, &mine.type, at ? b->edges[at - 1].key.type : none))
		return NULL;
	uint32_t found = sherd_graph_keys_add(&b->by_key, b->edges, &mine, at, &ok);
	if (found != GRAPH_KEYS_NONE)
		return &b->edges[found];
	if (!ok)
		return NULL;
	b->edges[at] = (graph_new_edge){.key = mine};
	b->edge_count++;
	return &b->edges[at];
}

bool sherd_graph_buffer_put_edge(graph_buffer *b, const sherd_rfdb_edge *edge)
{
	sherd_str metadata = edge->metadata;
	const sherd_rfdb_edge_key key = {.src = edge->src, .dst = edge->dst, .type = edge->type};
	if (!copy(b, &metadata))
		return false;
	graph_new_edge *entry = edge_entry(b, &key);
	if (!entry)
		return false;
	entry->metadata = metadata;
	if (sherd_graph_may_name_file(metadata)) {
		uint32_t at = (uint32_t)(entry - b->edges);
		sherd_buf_append(&b->contexts, &at, sizeof(at));
	}
	return !b->contexts.failed;
}

bool sherd_graph_buffer_kill_edge(graph_buffer *b, const sherd_rfdb_edge_key *key)
{
	graph_new_edge *entry = edge_entry(b, key);
	if (entry)
		entry->metadata = (sherd_str){NULL, 0};
	return entry;
}

const graph_new_node *sherd_graph_buffer_node(const graph_buffer *b, sherd_u128 id)
{
	uint32_t at = sherd_graph_ids_find(&b->by_id, id);
	return at == GRAPH_IDS_NONE ? NULL : &b->nodes[at];
}

const graph_new_edge *sherd_graph_buffer_edge(const graph_buffer *b, const sherd_rfdb_edge_key *key)
{
	uint32_t at = sherd_graph_keys_find(&b->by_key, b->edges, key);
	return at == GRAPH_KEYS_NONE ? NULL : &b->edges[at];
}

/* Puts an entry in front of the chain of its id. There is room for it. */
static void link_edge(graph_buffer *b, graph_ids *heads, sherd_u128 id, uint32_t entry, uint32_t *next)
{
	bool ok;
	uint32_t place = (uint32_t)(b->heads.len / sizeof(uint32_t));
	uint32_t found = sherd_graph_ids_add(heads, id, place, &ok);
	if (found == GRAPH_IDS_NONE) {
		sherd_buf_append(&b->heads, &entry, sizeof(entry));
		return;
	}
	uint32_t *head = (uint32_t *)(void *)b->heads.data + found;
	*next = *head;
	*head = entry;
}

/* An entry is linked twice or not at all: half of it would be done again the next time, and lead back to itself. */
static bool reserve_links(graph_buffer *b)
{
	bool ok = sherd_graph_ids_reserve(&b->by_src, b->by_src.count + 1) &&
	          sherd_graph_ids_reserve(&b->by_dst, b->by_dst.count + 1) &&
	          sherd_buf_reserve(&b->heads, 2 * sizeof(uint32_t)) &&
	          sherd_buf_reserve(&b->links, sizeof(graph_links));
	b->heads.failed = b->links.failed = false; /* what is in them stays */
	return ok;
}

bool sherd_graph_buffer_chain(graph_buffer *b)
{
	for (; b->chained < b->edge_count; b->chained++) {
		const graph_new_edge *e = &b->edges[b->chained];
		uint32_t at = (uint32_t)b->chained;
		graph_links links = {.next_out = GRAPH_IDS_NONE, .next_in = GRAPH_IDS_NONE};
		if (!reserve_links(b))
			return false;
		link_edge(b, &b->by_src, e->key.src, at, &links.next_out);
		link_edge(b, &b->by_dst, e->key.dst, at, &links.next_in);
		sherd_buf_append(&b->links, &links, sizeof(links));
	}
	return true;
}

uint32_t sherd_graph_buffer_first(const graph_buffer *b, sherd_u128 id, bool incoming)
{
	uint32_t place = sherd_graph_ids_find(incoming ? &b->by_dst : &b->by_src, id);
	return place == GRAPH_IDS_NONE ? GRAPH_IDS_NONE : ((const uint32_t *)(const void *)b->heads.data)[place];
}

uint32_t sherd_graph_buffer_next(const graph_buffer *b, uint32_t entry, bool incoming)
{
	const graph_links *links = (const graph_links *)(const void *)b->links.data + entry;
	return incoming ? links->next_in : links->next_out;
}

void sherd_graph_buffer_done(graph_buffer *b)
{
	free(b->nodes);
	free(b->edges);
	sherd_graph_ids_done(&b->by_id);
	sherd_graph_keys_done(&b->by_key);
	sherd_graph_ids_done(&b->by_src);
	sherd_graph_ids_done(&b->by_dst);
	sherd_buf_done(&b->heads);
	sherd_buf_done(&b->links);
	sherd_buf_done(&b->contexts);
	sherd_arena_done(&b->arena);
	sherd_map_done(&b->texts);
	*b = (graph_buffer){0};
}
