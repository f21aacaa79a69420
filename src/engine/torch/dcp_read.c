/* engine/torch/dcp_read.c - bytes of tensors that are cut into chunks. */
#include "engine/torch/dcp.h"

#include "engine/tensors/blame.h"
#include "engine/tensors/strided.h"
#include "engine/torch/slice.h"
#include "engine/torch/zip.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

enum { MOST_ELEMENT = 16 };

/* ---- files */

static int dcp_read_open_file(const shd_dcp_bundle *b, uint32_t file, sherd_reader **out, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	const shd_dcp_file *f = &b->files[file];
	int rc = sherd_store_read(&reader, b->store, f->key, err);
	if (rc < 0 && rc != SHERD_ENOTFOUND)
		return rc;
	if (rc < 0 || strcmp(sherd_reader_identity(reader), f->identity) != 0)
		return shd_in_object(
			err, shd_fail(err, SHERD_ECONFLICT, "changed", "it was replaced while it was read"), f->key);
	*out = TAKE(reader);
	return SHERD_OK;
}

int shd_dcp_take(shd_dcp_bundle *b, uint32_t file, shd_dcp_slot **slot, sherd_reader **out, sherd_error *err)
{
	shd_dcp_slot *s = &b->slots[file % SHD_DCP_OPEN];
	int rc = SHERD_OK;
	*slot = NULL;
	*out = NULL;
	(void)pthread_mutex_lock(&b->lock);
	if (!s->users && (!s->reader || s->file != file)) {
		sherd_reader *reader = NULL;
		rc = dcp_read_open_file(b, file, &reader, err);
		if (rc == SHERD_OK) {
			sherd_reader_close(s->reader);
			s->reader = reader;
			s->file = file;
		}
	}
	if (rc == SHERD_OK && s->file == file) {
		s->users++;
		*slot = s;
		*out = s->reader;
	}
	(void)pthread_mutex_unlock(&b->lock);
	return rc < 0 || *out ? rc : dcp_read_open_file(b, file, out, err);
}

void shd_dcp_give(shd_dcp_bundle *b, shd_dcp_slot *slot, sherd_reader *reader)
{
	if (!slot) {
		sherd_reader_close(reader);
		return;
	}
	(void)pthread_mutex_lock(&b->lock);
	slot->users--;
	(void)pthread_mutex_unlock(&b->lock);
}

/* ---- chunks */

static int bad_chunk(const shd_dcp_entry *e, const shd_dcp_chunk *c, const char *what, sherd_error *err)
{
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-piece", c->item.offset, "a chunk of %.128s %s", e->name, what);
}

/* The archive holds one tensor, which is the chunk. */
static int match_chunk(const shd_torch_zip *z, const shd_dcp_entry *e, const shd_dcp_chunk *c, sherd_error *err)
{
	const shd_torch_view *v = z->state.views;
	if (!z->state.single)
		return bad_chunk(e, c, "is no tensor in its file", err);
	if (v->type != e->type)
		return bad_chunk(e, c, "is of another type in its file", err);
	uint32_t ndim = e->ndim || e->type->packed == 1 ? z->state.tensors[0].ndim : 0;
	if (ndim != e->ndim || (e->ndim && memcmp(v->shape, c->shape, e->ndim * sizeof(*c->shape)) != 0))
		return bad_chunk(e, c, "has another shape in its file", err);
	if (z->big || v->conj || v->neg)
		return bad_chunk(e, c, "is stored in a way that chunks never are", err);
	return SHERD_OK;
}

/* Where the storage's bytes lie in the archive. */
static int find_bytes(shd_torch_zip *z, uint64_t *out, sherd_error *err)
{
	const shd_zip_entry *entry = z->members[z->state.views[0].storage].entry;
	uint8_t raw[SHD_ZIP_LOCAL + SHD_ZIP_MOST_NAME];
	if (entry->method != SHD_ZIP_STORED)
		return shd_fail(err, SHERD_EUNSUPPORTED, "bad-codec", "%.128s is compressed", entry->name);
	TRY(sherd_reader_at(z->archive.reader, entry->head, raw, SHD_ZIP_LOCAL + strlen(entry->name), err));
	return shd_zip_decode_local(raw, entry, out, err);
}

static int keep_place(shd_dcp_bundle *b, const shd_dcp_entry *e, const shd_dcp_chunk *c, const shd_torch_view *v,
                      uint64_t at, shd_dcp_place *place, sherd_error *err)
{
	if (atomic_load_explicit(&place->ready, memory_order_acquire))
		return SHERD_OK;
	(void)pthread_mutex_lock(&b->lock);
	const uint64_t *strides = shd_arena_copy(&b->base.arena, v->strides, e->ndim * sizeof(*strides));
	if (strides && !atomic_load_explicit(&place->ready, memory_order_relaxed)) {
		place->at = c->item.offset + at + v->offset;
		place->strides = strides;
		atomic_store_explicit(&place->ready, true, memory_order_release);
	}
	(void)pthread_mutex_unlock(&b->lock);
	return strides ? SHERD_OK : shd_fail_nomem(err);
}

static int look_into(shd_dcp_bundle *b, const shd_dcp_entry *e, const shd_dcp_chunk *c, const sherd_reader *file,
                     shd_torch_zip *z, shd_arena *arena, shd_dcp_place *place, sherd_error *err)
{
	shd_torch_place bytes;
	sherd_reader *slice;
	uint64_t at;
	TRY(shd_slice_open(&slice, file, c->item.offset, c->item.length, err));
	TRY(shd_torch_zip_open(z, slice, NULL, arena, arena, NULL, err));
	TRY(match_chunk(z, e, c, err));
	TRY(shd_torch_zip_place(z, z->state.views[0].storage, NULL, &bytes, err));
	TRY(find_bytes(z, &at, err));
	return place ? keep_place(b, e, c, z->state.views, at, place, err) : SHERD_OK;
}

int shd_dcp_check_chunk(shd_dcp_bundle *b, const shd_dcp_entry *e, const shd_dcp_chunk *c, const sherd_reader *file,
                        shd_dcp_place *place, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_torch_zip z = {0};
	int rc = look_into(b, e, c, file, &z, &arena, place, err);
	shd_torch_zip_done(&z);
	return shd_in_reader(err, rc, file);
}

/* ---- boxes */

/* Elements of a tensor that are being read: the box from lo on, whose elements follow each other in out. */
typedef struct wanted {
	shd_dcp_bundle *bundle;
	size_t entry;
	uint64_t lo[SHERD_MAX_DIMS], n[SHERD_MAX_DIMS];
	uint64_t suffix[SHERD_MAX_DIMS + 1];
	uint8_t *window;
} wanted;

/* What of the box lies in the chunk; false: nothing. */
static bool intersect(const wanted *w, const shd_dcp_entry *e, const shd_dcp_chunk *c, uint64_t *at, uint64_t *len)
{
	for (uint32_t d = 0; d < e->ndim; d++) {
		uint64_t end = w->lo[d] + w->n[d], chunk_end = c->at[d] + c->shape[d];
		at[d] = w->lo[d] > c->at[d] ? w->lo[d] : c->at[d];
		end = end < chunk_end ? end : chunk_end;
		if (at[d] >= end)
			return false;
		len[d] = end - at[d];
	}
	return true;
}

static int read_from_chunk(const wanted *w, size_t chunk, uint8_t *out, sherd_error *err)
{
	const shd_dcp_entry *e = &w->bundle->metadata.entries[w->entry];
	const shd_dcp_chunk *c = &e->chunks[chunk];
	shd_dcp_place *place = &w->bundle->places[w->entry][chunk];
	uint64_t at[SHERD_MAX_DIMS], len[SHERD_MAX_DIMS], from[SHERD_MAX_DIMS], to[SHERD_MAX_DIMS];
	uint64_t size = e->type->bytes, begin = 0;
	shd_dcp_slot *slot;
	sherd_reader *file;
	if (!intersect(w, e, c, at, len))
		return SHERD_OK;
	TRY(shd_dcp_take(w->bundle, c->item.file, &slot, &file, err));
	int rc = atomic_load_explicit(&place->ready, memory_order_acquire)
	                 ? SHERD_OK
	                 : shd_dcp_check_chunk(w->bundle, e, c, file, place, err);
	if (rc == SHERD_OK) {
		for (uint32_t d = 0; d < e->ndim; d++) {
			from[d] = place->strides[d] * size;
			to[d] = w->suffix[d] * size;
			begin += (at[d] - c->at[d]) * from[d];
			out += (at[d] - w->lo[d]) * to[d];
		}
		const shd_strided_box box = {
			.reader = file, .at = place->at + begin, .element = (uint32_t)size, .ndim = e->ndim};
		rc = shd_strided_read_box(&box, len, from, to, w->window, out, err);
	}
	shd_dcp_give(w->bundle, slot, file);
	return rc;
}

/* Chunks are in the order of where they begin: those that end before the box are passed by how far they reach. */
static int dcp_read_box(const wanted *w, uint8_t *out, sherd_error *err)
{
	const shd_dcp_entry *e = &w->bundle->metadata.entries[w->entry];
	const uint64_t *reach = w->bundle->reach[w->entry];
	size_t low = 0, high = e->chunk_count;
	while (e->ndim && low < high) {
		size_t middle = low + (high - low) / 2;
		if (reach[middle] <= w->lo[0])
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < e->chunk_count && (!e->ndim || e->chunks[low].at[0] < w->lo[0] + w->n[0]); low++)
		TRY(read_from_chunk(w, low, out, err));
	return SHERD_OK;
}

/* Elements [first, first+count) of what is left when the dimensions before d are fixed. */
static int dcp_read_part(wanted *w, uint32_t d, uint64_t first, uint64_t count, uint8_t *out, sherd_error *err)
{
	const shd_dcp_entry *e = &w->bundle->metadata.entries[w->entry];
	if (d == e->ndim)
		return dcp_read_box(w, out, err);
	uint64_t below = w->suffix[d];
	if (!below) /* no element can be asked for */
		return SHERD_OK;
	uint64_t row = first / below, skip = first % below;
	w->n[d] = 1;
	if (skip || count < below) {
		uint64_t n = count < below - skip ? count : below - skip;
		w->lo[d] = row++;
		TRY(dcp_read_part(w, d + 1, skip, n, out, err));
		out += n * e->type->bytes;
		count -= n;
	}
	uint64_t rows = count / below, rest = count % below;
	if (rows) {
		w->lo[d] = row;
		w->n[d] = rows;
		for (uint32_t k = d + 1; k < e->ndim; k++) {
			w->lo[k] = 0;
			w->n[k] = e->shape[k];
		}
		TRY(dcp_read_box(w, out, err));
	}
	if (!rest)
		return SHERD_OK;
	w->lo[d] = row + rows;
	w->n[d] = 1;
	return dcp_read_part(w, d + 1, 0, rest, out + rows * below * e->type->bytes, err);
}

int shd_dcp_read(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	shd_dcp_bundle *b = (shd_dcp_bundle *)(uintptr_t)bundle; /* its files have a lock */
	wanted w = {.bundle = b, .entry = b->entry_of[index]};
	const shd_dcp_entry *e = &b->metadata.entries[w.entry];
	uint32_t size = e->type->bytes;
	uint8_t one[MOST_ELEMENT], *out = buf;
	uint64_t below = 1;
	SHD_AUTO_FREE uint8_t *window = malloc(SHD_STRIDED_WINDOW);
	if (!window)
		return shd_fail_nomem(err);
	w.window = window;
	for (uint32_t d = e->ndim; d-- > 0; below *= e->shape[d])
		w.suffix[d] = below;
	while (len) {
		size_t skip = (size_t)(offset % size);
		size_t n = skip || len < size ? (size - skip < len ? size - skip : len) : len - len % size;
		bool part = skip || n < size;
		TRY(dcp_read_part(&w, 0, offset / size, part ? 1 : n / size, part ? one : out, err));
		if (part)
			memcpy(out, one + skip, n);
		out += n;
		offset += n;
		len -= n;
	}
	return SHERD_OK;
}
