#include "engine/graph/keep/snapshots.h"

#include <stdlib.h>

enum { MOST_TRIES = 100 };

typedef struct listing {
	uint64_t up_to;
	graph_manifest_vec *out;
} listing;

static bool snapshots_see(void *arg, const char *name, const sherd_stat *stat)
{
	const listing *l = arg;
	graph_manifest_file file = {.size = stat->size};
	memcpy(file.identity, stat->identity, sizeof(file.identity));
	if (shd_rfdb_manifest_parse(shd_str_of(name), &file.version, &file.edit) && file.version <= l->up_to)
		shd_vec_push(l->out, file);
	return !l->out->failed;
}

static int snapshots_compare(const void *left, const void *right)
{
	const graph_manifest_file *a = left, *b = right;
	if (a->version != b->version)
		return a->version < b->version ? -1 : 1;
	return (int)a->edit - (int)b->edit;
}

int shd_graph_list_manifests(const graph_place *p, uint64_t up_to, graph_manifest_vec *out, sherd_error *err)
{
	listing l = {.up_to = up_to, .out = out};
	TRY(shd_graph_place_list(p, SHD_RFDB_MANIFESTS, snapshots_see, &l, err));
	TRY(shd_vec_check(out, err));
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), snapshots_compare);
	return SHERD_OK;
}

/* What is known of all versions, out of the index as far as that goes, then out of the manifests themselves. */
typedef struct census {
	const graph_place *place;
	const shd_rfdb_manifest *written; /* in full, a moment ago; or NULL */
	shd_arena arena;
	graph_manifest_vec files;
	shd_rfdb_index old;
	SHD_VEC(shd_rfdb_snapshot) snapshots; /* of full manifests */
	shd_rfdb_number_vec segments;
} census;

static void census_done(census *c)
{
	shd_vec_done(&c->files);
	shd_vec_done(&c->snapshots);
	shd_vec_done(&c->segments);
	shd_arena_done(&c->arena);
}

/* An index that cannot be read is as good as none. */
static void read_old_index(census *c)
{
	shd_str text;
	if (shd_graph_place_get(c->place, SHD_RFDB_INDEX, &c->arena, &text, NULL, NULL) < 0 ||
	    shd_rfdb_index_decode(text.ptr, text.len, &c->place->limits, &c->arena, &c->old, NULL) < 0)
		c->old = (shd_rfdb_index){0};
	shd_vec_append(&c->segments, c->old.segments.items, c->old.segments.count);
}

static const shd_rfdb_snapshot *old_snapshot(const census *c, uint64_t version)
{
	for (size_t i = 0; i < c->old.count; i++)
		if (c->old.snapshots[i].version == version)
			return &c->old.snapshots[i];
	return NULL;
}

static void add_segments(census *c, const shd_rfdb_descriptors *list)
{
	for (size_t i = 0; i < list->count; i++)
		shd_vec_push(&c->segments, list->items[i].id);
}

static void add_full(census *c, uint64_t version, const shd_rfdb_manifest *m)
{
	const shd_rfdb_descriptor *d;
	for (size_t i = 0; (d = shd_rfdb_manifest_segment(m, i)); i++)
		shd_vec_push(&c->segments, d->id);
	shd_vec_push(&c->snapshots,
	             (shd_rfdb_snapshot){
			     .version = version, .created_at = m->created_at, .tags = m->tags, .stats = m->stats});
}

static int read_full(census *c, uint64_t version, shd_str text, sherd_error *err)
{
	shd_rfdb_manifest m;
	TRY(shd_rfdb_manifest_decode(text.ptr, text.len, &c->place->limits, &c->arena, &m, err));
	add_full(c, version, &m);
	return SHERD_OK;
}

static int read_edit(census *c, shd_str text, sherd_error *err)
{
	shd_rfdb_edit e;
	TRY(shd_rfdb_edit_decode(text.ptr, text.len, &c->place->limits, &c->arena, &e, err));
	add_segments(c, &e.added_nodes);
	add_segments(c, &e.added_edges);
	add_segments(c, &e.l1_nodes);
	add_segments(c, &e.l1_edges);
	return SHERD_OK;
}

/* trusted: what the index says of a version need not be read again. */
static int read_file(census *c, const graph_manifest_file *file, bool trusted, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	shd_str text;
	graph_key key;
	const shd_rfdb_snapshot *known = trusted && !file->edit ? old_snapshot(c, file->version) : NULL;
	if (known) {
		shd_vec_push(&c->snapshots, *known);
		return SHERD_OK;
	}
	if (trusted && file->edit && file->version <= c->old.latest)
		return SHERD_OK;
	if (c->written && !file->edit && file->version == c->written->version) {
		add_full(c, file->version, c->written);
		return SHERD_OK;
	}
	shd_rfdb_manifest_name(file->version, file->edit, name);
	TRY(shd_graph_place_key(c->place, name, &key, err));
	TRY(shd_graph_place_get(c->place, name, &c->arena, &text, NULL, err));
	int rc = file->edit ? read_edit(c, text, err) : read_full(c, file->version, text, err);
	return shd_in_object(err, rc, key.text);
}

/* Versions that can be opened: with a full manifest, or an edit of one that can be. */
static int count_all(census *c, uint64_t up_to, bool trusted, sherd_error *err)
{
	TRY(shd_graph_list_manifests(c->place, up_to, &c->files, err));
	if (trusted)
		read_old_index(c);
	const graph_manifest_file *files = c->files.items;
	uint64_t reached = UINT64_MAX; /* the last version that can be opened */
	for (size_t i = 0; i < c->files.count; i++) {
		if (files[i].version == reached)
			continue;
		if (files[i].edit && files[i].version != reached + 1)
			continue;
		sherd_error failure = {0};
		int rc = read_file(c, &files[i], trusted, &failure);
		if (rc == SHERD_ECORRUPT)
			continue; /* a version that cannot be opened */
		TRY(shd_pass(err, rc, &failure));
		reached = files[i].version;
	}
	TRY(shd_vec_check(&c->segments, err));
	return shd_vec_check(&c->snapshots, err);
}

/* Begins again when a file went between being listed and being read: an edit goes when its version is there in full. */
static int take_census(census *c, uint64_t up_to, bool trusted, sherd_error *err)
{
	const census begun = *c;
	sherd_error failure = {0};
	int rc = count_all(c, up_to, trusted, &failure);
	for (int tries = 0; rc == SHERD_ENOTFOUND && tries < MOST_TRIES; tries++) {
		census_done(c);
		*c = begun;
		rc = count_all(c, up_to, trusted, &failure);
	}
	return shd_pass(err, rc, &failure);
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

static void sort_once(shd_rfdb_number_vec *numbers)
{
	uint64_t *list = numbers->items;
	size_t count = numbers->count, kept = 0;
	if (count)
		qsort(list, count, sizeof(*list), compare_numbers);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || list[i] != list[i - 1])
			list[kept++] = list[i];
	numbers->count = kept;
}

static int compare_tagged(const void *left, const void *right)
{
	const struct shd_rfdb_tagged *a = left, *b = right;
	int order = shd_str_compare(a->key, b->key);
	order = order ? order : shd_str_compare(a->value, b->value);
	return order ? order : (a->version > b->version) - (a->version < b->version);
}

int shd_graph_index_tags(const shd_rfdb_snapshot *list, size_t count, graph_tagged_vec *out, sherd_error *err)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < list[i].tags.count; k++) {
			const struct shd_rfdb_tagged t = {.key = list[i].tags.items[k].key,
			                                  .value = list[i].tags.items[k].value,
			                                  .version = list[i].version};
			shd_vec_push(out, t);
		}
	TRY(shd_vec_check(out, err));
	struct shd_rfdb_tagged *all = out->items;
	size_t found = out->count, kept = 0;
	if (found)
		qsort(all, found, sizeof(*all), compare_tagged);
	for (size_t i = 0; i < found; i++)
		if (i + 1 == found || shd_str_compare(all[i].key, all[i + 1].key) != 0 ||
		    shd_str_compare(all[i].value, all[i + 1].value) != 0)
			all[kept++] = all[i];
	out->count = kept;
	return SHERD_OK;
}

int shd_graph_write_index(const graph_place *p, uint64_t version, bool trusted, const shd_rfdb_manifest *written,
                          sherd_error *err)
{
	SHD_DONE(census_done) census c = {.place = p, .written = written};
	SHD_AUTO_BUF text = {0};
	SHD_AUTO_VEC graph_tagged_vec tagged = {0};
	TRY(take_census(&c, version, trusted, err));
	TRY(shd_graph_index_tags(c.snapshots.items, c.snapshots.count, &tagged, err));
	sort_once(&c.segments);
	const shd_rfdb_index x = {.latest = version,
	                          .tagged = tagged.items,
	                          .tagged_count = tagged.count,
	                          .snapshots = c.snapshots.items,
	                          .count = c.snapshots.count,
	                          .segments = {c.segments.items, c.segments.count}};
	shd_rfdb_index_encode(&x, &text);
	return shd_graph_place_put(p, SHD_RFDB_INDEX, SHERD_WRITE_REPLACE, &text, err);
}
