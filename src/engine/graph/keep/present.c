/* engine/graph/keep/present.c - which versions can be opened. */
#include "engine/graph/disk/chain.h"

/* ---- segments that are there */

typedef struct graph_present {
	shd_map map;
	shd_arena arena; /* of the names */
} graph_present;

typedef struct listing {
	graph_present *present;
	bool failed;
} listing;

static bool present_see(void *arg, const char *name, const sherd_stat *stat)
{
	listing *l = arg;
	shd_rfdb_file file;
	shd_str key = shd_str_of(name);
	(void)stat;
	if (!shd_rfdb_file_parse(key, &file) || file.is_sidecar)
		return true;
	bool ok = false;
	key.ptr = shd_arena_str(&l->present->arena, key);
	if (key.ptr)
		(void)shd_map_add(&l->present->map, key, 0, &ok);
	l->failed = !ok;
	return ok;
}

static int list_present(const graph_place *p, graph_present *out, sherd_error *err)
{
	listing l = {.present = out};
	TRY(shd_graph_place_list(p, SHD_RFDB_SEGMENTS, present_see, &l, err));
	return l.failed ? shd_fail_nomem(err) : SHERD_OK;
}

/* Has every segment of the version its file? */
static bool has_all(const graph_present *present, const shd_rfdb_manifest *m)
{
	const shd_rfdb_descriptor *d;
	for (size_t i = 0; (d = shd_rfdb_manifest_segment(m, i)); i++) {
		char name[SHD_RFDB_NAME_MAX];
		shd_rfdb_segment_name(d->shard, d->id, d->kind, name);
		if (shd_map_find(&present->map, shd_str_of(name)) == SHD_MAP_NONE)
			return false;
	}
	return true;
}

static void present_done(graph_present *present)
{
	shd_map_done(&present->map);
	shd_arena_done(&present->arena);
}

/* ---- versions */

static bool is_fatal(int rc)
{
	return rc == SHERD_ENOMEM || rc == SHERD_EIO || rc == SHERD_ECANCELLED;
}

static int keep_tags(graph_snapshots *s, const shd_rfdb_tags *from, shd_rfdb_tags *to, sherd_error *err)
{
	shd_rfdb_tag *tags = shd_arena_alloc(&s->arena, from->count + 1, sizeof(*tags));
	bool ok = tags;
	for (size_t i = 0; ok && i < from->count; i++) {
		tags[i] = from->items[i];
		tags[i].key.ptr = shd_arena_str(&s->arena, from->items[i].key);
		tags[i].value.ptr = shd_arena_str(&s->arena, from->items[i].value);
		ok = tags[i].key.ptr && tags[i].value.ptr;
	}
	*to = (shd_rfdb_tags){tags, from->count};
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int take_one(graph_snapshots *s, graph_snapshot_vec *list, const shd_rfdb_manifest *m, sherd_error *err)
{
	shd_rfdb_snapshot one = {.version = m->version, .created_at = m->created_at, .stats = m->stats};
	TRY(keep_tags(s, &m->tags, &one.tags, err));
	shd_vec_push(list, one);
	return shd_vec_check(list, err);
}

static int take_all(graph_snapshots *s, graph_chain *chain, const graph_present *present,
                    const graph_manifest_vec *files, sherd_error *err)
{
	for (size_t i = 0; i < files->count; i++) {
		sherd_error failure = {0};
		int rc = shd_graph_chain_step(chain, &files->items[i], &failure);
		if (is_fatal(rc))
			return shd_pass(err, rc, &failure);
		if (rc <= 0)
			continue;
		if (has_all(present, &chain->manifest))
			TRY(take_one(s, &s->list, &chain->manifest, err));
		else if (chain->manifest.tags.count)
			TRY(take_one(s, &s->tagged, &chain->manifest, err));
	}
	return SHERD_OK;
}

int shd_graph_take_snapshots(const graph_place *p, uint64_t up_to, graph_snapshots *out, sherd_error *err)
{
	SHD_AUTO_VEC graph_manifest_vec files = {0};
	SHD_DONE(present_done) graph_present present = {0};
	SHD_DONE(shd_graph_chain_done) graph_chain chain = {.place = p};
	TRY(shd_graph_list_manifests(p, up_to, &files, err));
	TRY(list_present(p, &present, err));
	*out = (graph_snapshots){0};
	int rc = take_all(out, &chain, &present, &files, err);
	if (rc < 0)
		shd_graph_snapshots_done(out);
	return rc;
}

void shd_graph_snapshots_done(graph_snapshots *s)
{
	shd_vec_done(&s->list);
	shd_vec_done(&s->tagged);
	shd_arena_done(&s->arena);
	*s = (graph_snapshots){0};
}
