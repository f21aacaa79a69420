/* engine/graph/keep/present.c - which versions can be opened. */
#include "engine/graph/disk/chain.h"

/* ---- segments that are there */

typedef struct listing {
	graph_present *present;
	bool failed;
} listing;

static bool see(void *arg, const char *name, const sherd_stat *stat)
{
	listing *l = arg;
	sherd_rfdb_file file;
	sherd_str key = sherd_str_of(name);
	(void)stat;
	if (!sherd_rfdb_file_parse(key, &file) || file.is_sidecar)
		return true;
	bool ok = false;
	key.ptr = sherd_arena_str(&l->present->arena, key);
	if (key.ptr)
		(void)sherd_map_add(&l->present->map, key, 0, &ok);
	l->failed = !ok;
	return ok;
}

int sherd_graph_list_present(const graph_place *p, graph_present *out, sherd_error *err)
{
	listing l = {.present = out};
	TRY(sherd_graph_place_list(p, SHERD_RFDB_SEGMENTS, see, &l, err));
	return l.failed ? sherd_fail_nomem(err) : SHERD_OK;
}

const sherd_rfdb_descriptor *sherd_graph_find_absent(const graph_present *present, const sherd_rfdb_manifest *m)
{
	const sherd_rfdb_descriptors *lists[] = {&m->nodes, &m->edges, &m->l1_nodes, &m->l1_edges};
	for (size_t l = 0; l < COUNT_OF(lists); l++)
		for (size_t i = 0; i < lists[l]->count; i++) {
			const sherd_rfdb_descriptor *d = &lists[l]->items[i];
			char name[SHERD_RFDB_NAME_MAX];
			sherd_rfdb_segment_name(d->shard, d->id, d->kind, name);
			if (sherd_map_find(&present->map, sherd_str_of(name)) == SHERD_MAP_NONE)
				return d;
		}
	return NULL;
}

void sherd_graph_present_done(graph_present *present)
{
	sherd_map_done(&present->map);
	sherd_arena_done(&present->arena);
}

/* ---- versions */

static bool is_fatal(int rc)
{
	return rc == SHERD_ENOMEM || rc == SHERD_EIO || rc == SHERD_ECANCELLED;
}

static int keep_tags(graph_snapshots *s, const sherd_rfdb_tags *from, sherd_rfdb_tags *to, sherd_error *err)
{
	sherd_rfdb_tag *tags = sherd_arena_alloc(&s->arena, from->count + 1, sizeof(*tags));
	bool ok = tags;
	for (size_t i = 0; ok && i < from->count; i++) {
		tags[i] = from->items[i];
		tags[i].key.ptr = sherd_arena_str(&s->arena, from->items[i].key);
		tags[i].value.ptr = sherd_arena_str(&s->arena, from->items[i].value);
		ok = tags[i].key.ptr && tags[i].value.ptr;
	}
	*to = (sherd_rfdb_tags){tags, from->count};
	return ok ? SHERD_OK : sherd_fail_nomem(err);
}

static int take_one(graph_snapshots *s, sherd_buf *list, const sherd_rfdb_manifest *m, sherd_error *err)
{
	sherd_rfdb_snapshot one = {.version = m->version, .created_at = m->created_at, .stats = m->stats};
	TRY(keep_tags(s, &m->tags, &one.tags, err));
	sherd_buf_append(list, &one, sizeof(one));
	return sherd_buf_check(list, err);
}

static int take_all(graph_snapshots *s, graph_chain *chain, const graph_present *present, const sherd_buf *files,
                    sherd_error *err)
{
	const graph_manifest_file *list = (const graph_manifest_file *)(const void *)files->data;
	for (size_t i = 0; i < files->len / sizeof(*list); i++) {
		sherd_error failure = {0};
		int rc = sherd_graph_chain_step(chain, &list[i], &failure);
		if (is_fatal(rc)) {
			if (err)
				*err = failure;
			return rc;
		}
		if (rc <= 0)
			continue;
		if (!sherd_graph_find_absent(present, &chain->manifest))
			TRY(take_one(s, &s->list, &chain->manifest, err));
		else if (chain->manifest.tags.count)
			TRY(take_one(s, &s->tagged, &chain->manifest, err));
	}
	return SHERD_OK;
}

int sherd_graph_take_snapshots(const graph_place *p, uint64_t up_to, graph_snapshots *out, sherd_error *err)
{
	SHERD_AUTO_BUF files = {0};
	graph_present present = {0};
	graph_chain chain = {.place = p};
	*out = (graph_snapshots){0};
	int rc = sherd_graph_list_manifests(p, up_to, &files, err);
	if (rc == SHERD_OK)
		rc = sherd_graph_list_present(p, &present, err);
	if (rc == SHERD_OK)
		rc = take_all(out, &chain, &present, &files, err);
	sherd_graph_chain_done(&chain);
	sherd_graph_present_done(&present);
	if (rc < 0)
		sherd_graph_snapshots_done(out);
	return rc;
}

void sherd_graph_snapshots_done(graph_snapshots *s)
{
	sherd_buf_done(&s->list);
	sherd_buf_done(&s->tagged);
	sherd_arena_done(&s->arena);
}
