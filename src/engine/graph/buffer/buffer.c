#include "engine/graph/buffer/buffer.h"

#include "base/large.h"
#include "engine/graph/buffer/metadata.h"

#include <stdlib.h>

enum { FEW = 64, SOME = 4096, MANY = 1 << 20 };

static void *widen(void *list, size_t count, size_t *room, size_t more, size_t size)
{
	if (count + more <= *room)
		return list;
	/* Copying costs time, and room that is not touched costs nothing: whoever adds many gets room for more. */
	size_t want = FEW;
	while (want < count + more)
		want = want < SOME ? want * 4 : want < MANY ? MANY : want * 4;
	if (want > UINT32_MAX - 1 || want > SIZE_MAX / size)
		return NULL;
	void *larger = shd_large_alloc(want * size);
	if (!larger)
		return NULL;
	if (count)
		memcpy(larger, list, count * size);
	free(list);
	*room = want;
	return larger;
}

bool shd_graph_buffer_reserve(graph_buffer *b, size_t nodes, size_t edges)
{
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
	return shd_graph_ids_reserve(&b->by_id, b->by_id.count + nodes);
}

static bool buffer_copy(graph_buffer *b, shd_str *s)
{
	if (s->len == 0) {
		*s = (shd_str){"", 0};
		return true;
	}
	s->ptr = shd_arena_copy(&b->arena, s->ptr, s->len);
	return s->ptr != NULL;
}

static bool share_by_map(graph_buffer *b, shd_str *s)
{
	size_t found = shd_map_find(&b->texts, *s);
	if (found != SHD_MAP_NONE) {
		s->ptr = (const char *)found; /* values are addresses of the copies */
		return true;
	}
	bool ok = buffer_copy(b, s);
	if (ok)
		(void)shd_map_add(&b->texts, *s, (size_t)s->ptr, &ok);
	return ok;
}

/* For texts that repeat: one copy of each. before: that of the entry before, which is most often the same. */
static bool share(graph_buffer *b, shd_str *s, shd_str before)
{
	if (s->len == before.len && memcmp(s->ptr, before.ptr, s->len) == 0) {
		*s = before;
		return true;
	}
	const char *from = s->ptr;
	size_t place = ((uintptr_t)from >> 3 ^ s->len) % GRAPH_RECENT;
	shd_str *recent = &b->recent[place].copy;
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

bool shd_graph_buffer_copy_node(graph_buffer *b, shd_rfdb_node *node)
{
	return buffer_copy(b, &node->semantic_id) && buffer_copy(b, &node->name) && buffer_copy(b, &node->metadata);
}

/* They are put into chains again when asked for. */
static void forget_files(graph_buffer *b)
{
	shd_map_done(&b->by_file);
	shd_vec_done(&b->file_ends);
	shd_vec_done(&b->file_links);
	b->filed = 0;
}

static graph_new_node *node_entry(graph_buffer *b, shd_u128 id)
{
	bool ok;
	if (!shd_graph_buffer_reserve(b, 1, 0))
		return NULL;
	uint32_t at = shd_graph_ids_add(&b->by_id, id, (uint32_t)b->node_count, &ok);
	if (!ok)
		return NULL;
	if (at == GRAPH_IDS_NONE)
		at = (uint32_t)b->node_count++;
	return &b->nodes[at];
}

bool shd_graph_buffer_take_node(graph_buffer *b, const shd_rfdb_node *node)
{
	shd_rfdb_node mine = *node;
	size_t before = b->node_count;
	const shd_str none = {"", 0};
	const shd_rfdb_node *last = before ? &b->nodes[before - 1].node : NULL;
	if (!share(b, &mine.type, last ? last->type : none) || !share(b, &mine.file, last ? last->file : none))
		return false;
	graph_new_node *entry = node_entry(b, mine.id);
	if (!entry)
		return false;
	/* One that goes to another file stands in the wrong chain. */
	if (b->node_count == before && b->filed && entry->node.file.ptr != mine.file.ptr)
		forget_files(b);
	*entry = (graph_new_node){.node = mine};
	return true;
}

bool shd_graph_buffer_kill_node(graph_buffer *b, shd_u128 id)
{
	const shd_str none = {"", 0};
	size_t before = b->node_count;
	graph_new_node *entry = node_entry(b, id);
	if (!entry)
		return false;
	/* It stays in the chain of its file, for it may come back. */
	shd_str file = b->node_count == before ? entry->node.file : none;
	*entry = (graph_new_node){
		.node = {.id = id, .semantic_id = none, .type = none, .name = none, .file = file, .metadata = none},
		.dead = true};
	return true;
}

static bool log_edge(graph_buffer *b, const shd_rfdb_edge_key *key, shd_str metadata)
{
	shd_rfdb_edge_key mine = *key;
	const shd_str none = {"", 0};
	size_t at = b->edge_count;
	if (!shd_graph_buffer_reserve(b, 0, 1) || !share(b, &mine.type, at ? b->edges[at - 1].key.type : none))
		return false;
	b->edges[at] = (graph_new_edge){.key = mine, .metadata = metadata};
	b->edge_count++;
	return true;
}

bool shd_graph_buffer_put_edge(graph_buffer *b, const shd_rfdb_edge *edge)
{
	shd_str metadata = edge->metadata;
	const shd_rfdb_edge_key key = {.src = edge->src, .dst = edge->dst, .type = edge->type};
	return buffer_copy(b, &metadata) && log_edge(b, &key, metadata);
}

bool shd_graph_buffer_kill_edge(graph_buffer *b, const shd_rfdb_edge_key *key)
{
	return log_edge(b, key, (shd_str){NULL, 0});
}

/* So many entries before they are needed, the memory of the table is asked for. */
enum { AHEAD = 12 };

/* Entry `from` of the log into the table: a new key goes to the place `settled`, a known one to that which it has. */
static bool settle_edge(graph_buffer *b, size_t from)
{
	bool ok;
	uint32_t at = (uint32_t)b->settled;
	const graph_new_edge edge = b->edges[from];
	if (shd_graph_may_name_file(edge.metadata) && !shd_vec_reserve(&b->contexts, 1)) {
		b->contexts.failed = false; /* what is in it stays */
		return false;
	}
	uint32_t found = shd_graph_keys_add(&b->by_key, b->edges, &edge.key, at, &ok);
	if (!ok)
		return false;
	if (found == GRAPH_KEYS_NONE)
		b->settled++;
	else
		at = found;
	b->edges[at] = edge;
	if (shd_graph_may_name_file(edge.metadata))
		shd_vec_push(&b->contexts, at);
	return true;
}

bool shd_graph_buffer_settle(graph_buffer *b)
{
	size_t from = b->settled;
	bool ok = true;
	if (from == b->edge_count)
		return true;
	b->by_key.stride = sizeof(*b->edges);
	if (!shd_graph_keys_reserve(&b->by_key, b->edge_count))
		return false;
	for (; ok && from < b->edge_count; from += ok) {
		if (b->edge_count - from > AHEAD)
			shd_graph_keys_fetch(&b->by_key, &b->edges[from + AHEAD].key);
		ok = settle_edge(b, from);
	}
	/* What is left of the log follows what is settled. */
	memmove(b->edges + b->settled, b->edges + from, (b->edge_count - from) * sizeof(*b->edges));
	b->edge_count -= from - b->settled;
	return ok;
}

const graph_new_node *shd_graph_buffer_node(const graph_buffer *b, shd_u128 id)
{
	uint32_t at = shd_graph_ids_find(&b->by_id, id);
	return at == GRAPH_IDS_NONE ? NULL : &b->nodes[at];
}

const graph_new_edge *shd_graph_buffer_edge(const graph_buffer *b, const shd_rfdb_edge_key *key)
{
	uint32_t at = shd_graph_keys_find(&b->by_key, b->edges, key);
	return at == GRAPH_KEYS_NONE ? NULL : &b->edges[at];
}

/* Puts an entry in front of the chain of its id. There is room for it. */
static void link_edge(graph_buffer *b, graph_ids *heads, shd_u128 id, uint32_t entry, uint32_t *next)
{
	bool ok;
	uint32_t place = (uint32_t)b->heads.count;
	uint32_t found = shd_graph_ids_add(heads, id, place, &ok);
	if (found == GRAPH_IDS_NONE) {
		shd_vec_push(&b->heads, entry);
		return;
	}
	uint32_t *head = b->heads.items + found;
	*next = *head;
	*head = entry;
}

/* An entry is linked twice or not at all: half of it would be done again the next time, and lead back to itself. */
static bool reserve_links(graph_buffer *b)
{
	bool ok = shd_graph_ids_reserve(&b->by_src, b->by_src.count + 1) &&
	          shd_graph_ids_reserve(&b->by_dst, b->by_dst.count + 1) && shd_vec_reserve(&b->heads, 2) &&
	          shd_vec_reserve(&b->links, 1);
	b->heads.failed = b->links.failed = false; /* what is in them stays */
	return ok;
}

bool shd_graph_buffer_chain(graph_buffer *b)
{
	if (!shd_graph_buffer_settle(b))
		return false;
	for (; b->chained < b->edge_count; b->chained++) {
		const graph_new_edge *e = &b->edges[b->chained];
		uint32_t at = (uint32_t)b->chained;
		graph_links links = {.next_out = GRAPH_IDS_NONE, .next_in = GRAPH_IDS_NONE};
		if (!reserve_links(b))
			return false;
		link_edge(b, &b->by_src, e->key.src, at, &links.next_out);
		link_edge(b, &b->by_dst, e->key.dst, at, &links.next_in);
		shd_vec_push(&b->links, links);
	}
	return true;
}

uint32_t shd_graph_buffer_first(const graph_buffer *b, shd_u128 id, bool incoming)
{
	uint32_t place = shd_graph_ids_find(incoming ? &b->by_dst : &b->by_src, id);
	return place == GRAPH_IDS_NONE ? GRAPH_IDS_NONE : b->heads.items[place];
}

uint32_t shd_graph_buffer_next(const graph_buffer *b, uint32_t entry, bool incoming)
{
	const graph_links *links = b->links.items + entry;
	return incoming ? links->next_in : links->next_out;
}

/* Its place in file_ends, made if there is none; SHD_MAP_NONE when memory is out. */
static size_t place_of_file(graph_buffer *b, shd_str file)
{
	bool ok;
	size_t place = b->file_ends.count;
	const graph_ends none = {GRAPH_IDS_NONE, GRAPH_IDS_NONE};
	if (!shd_vec_reserve(&b->file_ends, 1)) {
		b->file_ends.failed = false; /* what is in it stays */
		return SHD_MAP_NONE;
	}
	size_t found = shd_map_add(&b->by_file, file, place, &ok);
	if (!ok || found != SHD_MAP_NONE)
		return found;
	shd_vec_push(&b->file_ends, none);
	return place;
}

bool shd_graph_buffer_file(graph_buffer *b)
{
	const uint32_t none = GRAPH_IDS_NONE;
	for (; b->filed < b->node_count; b->filed++) {
		uint32_t at = (uint32_t)b->filed;
		size_t place = place_of_file(b, b->nodes[at].node.file);
		if (place == SHD_MAP_NONE)
			return false;
		if (!shd_vec_reserve(&b->file_links, 1)) {
			b->file_links.failed = false;
			return false;
		}
		shd_vec_push(&b->file_links, none);
		graph_ends *ends = b->file_ends.items + place;
		if (ends->first == GRAPH_IDS_NONE)
			ends->first = at;
		else
			b->file_links.items[ends->last] = at;
		ends->last = at;
	}
	return true;
}

uint32_t shd_graph_buffer_first_of(const graph_buffer *b, shd_str file)
{
	size_t place = shd_map_find(&b->by_file, file);
	return place == SHD_MAP_NONE ? GRAPH_IDS_NONE : b->file_ends.items[place].first;
}

uint32_t shd_graph_buffer_next_of(const graph_buffer *b, uint32_t entry)
{
	return b->file_links.items[entry];
}

void shd_graph_buffer_done(graph_buffer *b)
{
	free(b->nodes);
	forget_files(b);
	free(b->edges);
	shd_graph_ids_done(&b->by_id);
	shd_graph_keys_done(&b->by_key);
	shd_graph_ids_done(&b->by_src);
	shd_graph_ids_done(&b->by_dst);
	shd_vec_done(&b->heads);
	shd_vec_done(&b->links);
	shd_vec_done(&b->contexts);
	shd_arena_done(&b->arena);
	shd_map_done(&b->texts);
	*b = (graph_buffer){0};
}
