/* engine/graph/flush/emit.c - the segment of one shard and kind: rows, the object, its index.
 *
 * Targets are written at the same time by different threads; they share nothing that changes. */
#include "engine/graph/flush/emit.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

const graph_segment *shd_graph_emit_merged(const graph_flush *f, const graph_target *t, uint64_t number, size_t *place)
{
	*place = t->merged.items[number - 1];
	return f->graph->view.lists[t->kind].items[*place];
}

int shd_graph_emit_asks(const graph_flush *f, const graph_target *t, uint64_t number, sherd_error *err)
{
	size_t place;
	const graph_segment *s = shd_graph_emit_merged(f, t, number, &place);
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(s, GRAPH_BY_ID, &x, err));
	bool hidden = !x->sorted || !f->graph->view.one_shard;
	for (size_t i = s->first; i < place; i++)
		hidden = hidden || !f->merge[t->kind][i];
	return hidden;
}

typedef struct output {
	sherd_writer *writer;
	shd_sha256 sha256;
} output;

static int emit_put(void *arg, const void *data, size_t len, sherd_error *err)
{
	output *o = arg;
	shd_sha256_add(&o->sha256, data, len);
	return sherd_writer_append(o->writer, data, len, err);
}

static int copy_texts(shd_arena *arena, const shd_rfdb_writer *w, int field, shd_rfdb_texts *out, sherd_error *err)
{
	shd_str *made;
	size_t count;
	TRY(shd_rfdb_writer_values(w, field, &made, &count, err));
	SHD_AUTO_FREE const shd_str *values = made;
	shd_str *copies = shd_arena_alloc(arena, count + 1, sizeof(*copies));
	if (!copies)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		copies[i] = (shd_str){shd_arena_str(arena, values[i]), values[i].len};
		if (!copies[i].ptr)
			return shd_fail_nomem(err);
	}
	*out = (shd_rfdb_texts){copies, count};
	return SHERD_OK;
}

/* No file had the number when we took it: whoever uses it writes to the database too. */
static int check_free(int rc, sherd_error *err)
{
	return rc == SHERD_EEXIST ? shd_graph_head_fail(err) : rc;
}

/* Files that a descriptor lists. Manifests are read and written as a whole, and must not grow with the files of a
 * graph; those of larger segments are in their zone maps and sidecars. */
enum { MOST_LISTED = 256 };

/* The segment as an object; about describes it, its texts in the arena. */
static int store_segment(const graph_flush *f, graph_target *t, shd_rfdb_writer *w, shd_arena *arena,
                         shd_rfdb_descriptor *about, sherd_error *err)
{
	const graph_place *p = &f->graph->place;
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	output o = {0};
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	graph_key current; /* who may use that may use this */
	TRY(shd_graph_place_key(p, SHD_RFDB_CURRENT, &current, err));
	const sherd_write_options options = {.identity = t->segment, .like = current.text, .fleeting = t->is_piece};
	*about = (shd_rfdb_descriptor){
		.id = t->id, .kind = t->kind, .shard = t->shard, .rows = w->rows, .has_sha256 = true};
	TRY(copy_texts(arena, w, SHD_RFDB_ZONE_TYPES, &about->types, err));
	if (about->kind == SHD_RFDB_NODES && w->zone[SHD_RFDB_ZONE_FILES].count <= MOST_LISTED)
		TRY(copy_texts(arena, w, SHD_RFDB_ZONE_FILES, &about->files, err));
	shd_rfdb_segment_name(about->shard, about->id, about->kind, name);
	TRY(shd_graph_place_key(p, name, &key, err));
	shd_sha256_init(&o.sha256);
	TRY(shd_in_object(err, sherd_store_write(&writer, p->store, key.text, &options, err), key.text));
	o.writer = writer;
	TRY(shd_in_object(err, shd_rfdb_writer_finish(w, emit_put, &o, &about->bytes, err), key.text));
	shd_sha256_finish(&o.sha256, about->sha256);
	return check_free(shd_in_object(err, sherd_writer_commit(TAKE(writer), err), key.text), err);
}

static int store_sidecar(const graph_flush *f, graph_target *t, const graph_segment *s, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	char name[SHD_RFDB_NAME_MAX];
	const sherd_write_options options = {.mode = SHERD_WRITE_NEW, .identity = t->sidecar};
	TRY(shd_rfdb_sidecar_build(&s->rows, s->about.sha256, &text, err));
	shd_rfdb_sidecar_name(s->about.shard, s->about.id, s->about.kind, name);
	return check_free(shd_graph_place_write(&f->graph->place, name, &options, &text, err), err);
}

/* Rows of the version among others are not in the filter of what was spilled. */
static bool all_young(const graph_flush *f, const graph_target *t)
{
	bool young = true;
	for (size_t i = 0; i < t->merged.count; i++)
		young = young && f->graph->view.lists[t->kind].items[t->merged.items[i]]->young;
	return young;
}

static int store_target(const graph_flush *f, graph_target *t, shd_rfdb_writer *w, sherd_error *err)
{
	shd_rfdb_descriptor about;
	shd_arena arena = {0};
	graph_segment *made = NULL;
	const graph_place *p = &f->graph->place;
	int rc = store_segment(f, t, w, &arena, &about, err);
	/* The sidecar is built from what was stored. */
	if (rc == SHERD_OK)
		rc = shd_graph_segment_open_rows(&made, p, &about, f->purpose == GRAPH_COMPACT, err);
	if (rc == SHERD_OK && t->is_piece)
		shd_graph_segment_sorted(made);
	if (rc == SHERD_OK && !t->is_piece)
		rc = store_sidecar(f, t, made, err);
	if (rc == SHERD_OK && !t->is_piece)
		rc = shd_graph_segment_open_index(made, p, err);
	if (rc < 0 || !made) {
		shd_graph_segment_close(made);
		shd_arena_done(&arena);
		return rc;
	}
	made->arena = arena;
	made->young = f->purpose == GRAPH_SPILL && all_young(f, t);
	made->piece = t->is_piece;
	made->file_count = w->zone[SHD_RFDB_ZONE_FILES].count;
	t->made = made;
	return SHERD_OK;
}

int shd_graph_flush_emit(graph_flush *f, graph_target *t, sherd_error *err)
{
	shd_rfdb_writer w;
	if (t->rows >= (uint64_t)1 << GRAPH_ROW_BITS)
		return shd_fail(err, SHERD_ELIMIT, "too-many-rows", "too many rows for one segment");
	shd_rfdb_writer_init(&w, t->kind);
	for (uint64_t n = 1; n <= t->merged.count; n++) {
		size_t place;
		shd_graph_segment_scan(shd_graph_emit_merged(f, t, n, &place));
	}
	int rc = t->kind == SHD_RFDB_NODES ? shd_graph_emit_nodes(f, t, &w, err) : shd_graph_emit_edges(f, t, &w, err);
	if (rc == SHERD_OK && w.rows)
		rc = store_target(f, t, &w, err);
	shd_rfdb_writer_done(&w);
	return rc;
}
