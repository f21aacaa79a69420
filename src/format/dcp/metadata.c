#include "format/dcp/metadata.h"

#include "base/limits.h"
#include "base/map.h"

#include <stdlib.h>

enum { MOST_ATTRIBUTES = 64 };

#define MODULE "torch.distributed.checkpoint.metadata."

/* Metadata being read. */
typedef struct decoder {
	shd_pickle *pickle;
	sherd_limits limits;
	shd_arena *arena;
	shd_dcp_metadata *out;
	shd_map names; /* of entries */
	/* Places, by entry and offset. */
	SHD_VEC(shd_dcp_item) items;
	shd_map places;
	shd_map file_names;
	SHD_VEC(const char *) files;
} decoder;

static int bad_metadata(shd_pickle_value v, const char *what, sherd_error *err)
{
	if (shd_pickle_has_node(v))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-metadata", v.node->at, "%s", what);
	return shd_fail(err, SHERD_ECORRUPT, "bad-metadata", "%s", what);
}

/* Is it an object, or the result of a call, of this class? */
static bool is_of(const decoder *d, shd_pickle_value v, const char *name)
{
	const shd_pickle_call *call = shd_pickle_call_of(v);
	return call && v.kind != SHD_PICKLE_PERSID && call->callee.kind == SHD_PICKLE_GLOBAL &&
	       strcmp(d->pickle->globals[call->callee.len].name, name) == 0;
}

/* An attribute of an object. Objects may be shared: none is found where there are too many to look through each time.
 */
static shd_pickle_value attribute(shd_pickle_value v, const char *name)
{
	const shd_pickle_call *call = shd_pickle_call_of(v);
	const shd_pickle_list *pairs = call ? shd_pickle_pairs(call->state) : NULL;
	bool few = pairs && pairs->count / 2 <= MOST_ATTRIBUTES;
	return few ? shd_pickle_find(call->state, name) : (shd_pickle_value){0};
}

/* The numbers of a torch.Size, a tuple or a list. */
static int size_list(const decoder *d, shd_pickle_value v, const shd_pickle_list **out, sherd_error *err)
{
	const shd_pickle_value *args;
	if (is_of(d, v, "torch.Size") && shd_pickle_tuple(shd_pickle_call_of(v)->args, &args) == 1)
		v = args[0];
	if (v.kind != SHD_PICKLE_TUPLE && v.kind != SHD_PICKLE_LIST)
		return bad_metadata(v, "a size is no tuple of numbers", err);
	*out = &v.node->items;
	if ((*out)->count > d->limits.dims)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-dims", v.node->at, "%zu dimensions, the limit is %u",
		                   (*out)->count, d->limits.dims);
	return SHERD_OK;
}

static int metadata_take_numbers(const decoder *d, shd_pickle_value v, uint64_t *out, size_t *count, sherd_error *err)
{
	static const shd_pickle_list none;
	const shd_pickle_list *list = &none;
	shd_pickle_value item = {0};
	TRY(size_list(d, v, &list, err));
	*count = 0;
	for (shd_pickle_cursor c = shd_pickle_walk(list); shd_pickle_next(&c, &item);) {
		if (item.kind != SHD_PICKLE_INT || item.integer < 0)
			return bad_metadata(v, "a size or offset is no whole number from 0 on", err);
		out[(*count)++] = (uint64_t)item.integer;
	}
	return SHERD_OK;
}

static int keep_numbers(decoder *d, shd_pickle_value v, const uint64_t **out, size_t *count, sherd_error *err)
{
	uint64_t numbers[SHERD_MAX_DIMS];
	TRY(metadata_take_numbers(d, v, numbers, count, err));
	*out = shd_arena_copy(d->arena, numbers, *count * sizeof(numbers[0]));
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

/* ---- places: (name, offset) -> (file, offset, length) */

/* A path that leads nowhere but into the folder. */
static bool metadata_is_inside(shd_str path)
{
	if (!path.len || memchr(path.ptr, 0, path.len) || memchr(path.ptr, '\\', path.len))
		return false;
	for (size_t i = 0, part = 0; i <= path.len; i++) {
		if (i < path.len && path.ptr[i] != '/')
			continue;
		shd_str p = {path.ptr + part, i - part};
		if (!p.len || shd_str_is(p, ".") || shd_str_is(p, ".."))
			return false;
		part = i + 1;
	}
	return true;
}

static int take_file(decoder *d, shd_pickle_value v, uint32_t *out, sherd_error *err)
{
	bool ok = true;
	if (v.kind != SHD_PICKLE_TEXT || !metadata_is_inside(shd_pickle_text(v)))
		return shd_fail(err, SHERD_ECORRUPT, "bad-path",
		                "the path of a file leads out of the folder, or is none");
	size_t at = shd_map_find(&d->file_names, shd_pickle_text(v));
	if (at == SHD_MAP_NONE) {
		const char *name = shd_arena_str(d->arena, shd_pickle_text(v));
		if (!name)
			return shd_fail_nomem(err);
		at = d->files.count;
		shd_vec_push(&d->files, name);
		(void)shd_map_add(&d->file_names, shd_str_of(name), at, &ok);
		if (!ok || d->files.failed)
			return shd_fail_nomem(err);
	}
	*out = (uint32_t)at;
	return SHERD_OK;
}

static int metadata_take_item(decoder *d, shd_pickle_value v, shd_dcp_item *out, sherd_error *err)
{
	shd_pickle_value offset = attribute(v, "offset"), length = attribute(v, "length");
	shd_pickle_value transforms = attribute(v, "transform_descriptors");
	if (!is_of(d, v, "torch.distributed.checkpoint.filesystem._StorageInfo") || offset.kind != SHD_PICKLE_INT ||
	    length.kind != SHD_PICKLE_INT || offset.integer < 0 || length.integer < 0)
		return bad_metadata(v, "no place in a file", err);
	if (transforms.kind != SHD_PICKLE_NONE && (!shd_pickle_has_node(transforms) || transforms.node->items.count))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-codec", v.node->at,
		                   "items are compressed or otherwise changed: save them without extensions");
	out->offset = (uint64_t)offset.integer;
	out->length = (uint64_t)length.integer;
	return take_file(d, attribute(v, "relative_path"), &out->file, err);
}

/* The key of a place: the entry's number, then the offset, if any. */
static shd_str place_key(uint64_t *key, size_t entry, size_t ndim)
{
	key[0] = entry;
	return (shd_str){(const char *)key, (ndim + 1) * sizeof(*key)};
}

static int metadata_take_place(decoder *d, shd_pickle_value index, shd_pickle_value info, sherd_error *err)
{
	uint64_t key[SHERD_MAX_DIMS + 2];
	size_t ndim = 0;
	bool ok = true;
	shd_dcp_item item;
	shd_pickle_value name = attribute(index, "fqn"), offset = attribute(index, "offset");
	if (!is_of(d, index, MODULE "MetadataIndex") || name.kind != SHD_PICKLE_TEXT)
		return bad_metadata(index, "no index of an entry", err);
	size_t entry = shd_map_find(&d->names, shd_pickle_text(name));
	if (entry == SHD_MAP_NONE)
		return bad_metadata(index, "the place of an entry that is not there", err);
	if (offset.kind != SHD_PICKLE_NONE)
		TRY(metadata_take_numbers(d, offset, key + 1, &ndim, err));
	TRY(metadata_take_item(d, info, &item, err));
	shd_str text = place_key(key, entry, ndim);
	const char *kept = shd_arena_copy(d->arena, text.ptr, text.len);
	if (!kept)
		return shd_fail_nomem(err);
	if (shd_map_add(&d->places, (shd_str){kept, text.len}, d->items.count, &ok) != SHD_MAP_NONE)
		return bad_metadata(index, "an entry has two places", err);
	shd_vec_push(&d->items, item);
	return ok && !d->items.failed ? SHERD_OK : shd_fail_nomem(err);
}

/* ---- entries */

static int find_place(const decoder *d, size_t entry, const uint64_t *at, size_t ndim, bool tensor, shd_dcp_item *out,
                      sherd_error *err)
{
	uint64_t key[SHERD_MAX_DIMS + 2];
	if (ndim)
		memcpy(key + 1, at, ndim * sizeof(*at));
	size_t found = shd_map_find(&d->places, place_key(key, entry, tensor ? ndim : 0));
	if (found == SHD_MAP_NONE || !d->items.items)
		return shd_fail(err, SHERD_ECORRUPT, "missing-piece", "%s %.128s is in no file",
		                tensor ? "a chunk of" : "", d->out->entries[entry].name);
	*out = d->items.items[found];
	return SHERD_OK;
}

static int by_first(const void *a, const void *b)
{
	const shd_dcp_chunk *x = a, *y = b;
	return x->at[0] < y->at[0] ? -1 : x->at[0] > y->at[0];
}

static int take_chunk(decoder *d, size_t entry, shd_pickle_value v, shd_dcp_chunk *out, sherd_error *err)
{
	const shd_dcp_entry *e = &d->out->entries[entry];
	size_t offsets = 0, sizes = 0;
	if (!is_of(d, v, MODULE "ChunkStorageMetadata"))
		return bad_metadata(v, "no chunk of a tensor", err);
	TRY(keep_numbers(d, attribute(v, "offsets"), &out->at, &offsets, err));
	TRY(keep_numbers(d, attribute(v, "sizes"), &out->shape, &sizes, err));
	if (offsets != e->ndim || sizes != e->ndim)
		return bad_metadata(v, "a chunk has another number of dimensions than its tensor", err);
	for (uint32_t k = 0; k < e->ndim; k++)
		if (out->at[k] > e->shape[k] || out->shape[k] > e->shape[k] - out->at[k])
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-piece", v.node->at,
			                   "a chunk of %.128s reaches out of it", e->name);
	return find_place(d, entry, out->at, e->ndim, true, &out->item, err);
}

static int metadata_take_type(const decoder *d, shd_pickle_value v, const shd_torch_dtype **out, sherd_error *err)
{
	const shd_pickle_call *call = shd_pickle_call_of(v);
	const shd_pickle_value *items;
	size_t n = call ? shd_pickle_tuple(call->state, &items) : 0;
	if (n < 5 || !is_of(d, v, MODULE "TensorProperties") || items[0].kind != SHD_PICKLE_GLOBAL)
		return bad_metadata(v, "no properties of a tensor", err);
	const char *name = d->pickle->globals[items[0].len].name;
	*out = shd_str_starts(shd_str_of(name), "torch.") ? shd_torch_dtype_by_name(shd_str_of(name + 6)) : NULL;
	return *out ? SHERD_OK : bad_metadata(v, "no type of elements that is known here", err);
}

static int metadata_take_tensor(decoder *d, size_t entry, shd_pickle_value v, size_t *left, sherd_error *err)
{
	shd_dcp_entry *e = &d->out->entries[entry];
	shd_pickle_value chunks = attribute(v, "chunks"), item;
	size_t ndim = 0;
	TRY(metadata_take_type(d, attribute(v, "properties"), &e->type, err));
	TRY(keep_numbers(d, attribute(v, "size"), &e->shape, &ndim, err));
	e->ndim = (uint32_t)ndim;
	if (chunks.kind != SHD_PICKLE_LIST && chunks.kind != SHD_PICKLE_TUPLE)
		return bad_metadata(v, "the chunks of a tensor are no list", err);
	/* One list may stand for many tensors: places do not. */
	if (chunks.node->items.count > *left)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", chunks.node->at,
		                   "more chunks than there are places");
	*left -= chunks.node->items.count;
	e->chunks = shd_arena_alloc(d->arena, chunks.node->items.count + 1, sizeof(*e->chunks));
	if (!e->chunks)
		return shd_fail_nomem(err);
	for (shd_pickle_cursor c = shd_pickle_walk(&chunks.node->items); shd_pickle_next(&c, &item);)
		TRY(take_chunk(d, entry, item, &e->chunks[e->chunk_count++], err));
	if (e->ndim && e->chunk_count)
		qsort(e->chunks, e->chunk_count, sizeof(*e->chunks), by_first);
	return shd_dcp_check_tiles(e, err);
}

static int metadata_take_entries(decoder *d, const shd_pickle_list *list, size_t places, sherd_error *err)
{
	shd_pickle_value k = {0}, v = {0};
	size_t i = 0;
	shd_pickle_cursor c = shd_pickle_walk(list);
	while (shd_pickle_next(&c, &k) && shd_pickle_next(&c, &v)) {
		shd_dcp_entry *e = &d->out->entries[i];
		if (is_of(d, v, MODULE "TensorStorageMetadata"))
			TRY(metadata_take_tensor(d, i, v, &places, err));
		else if (is_of(d, v, MODULE "BytesStorageMetadata"))
			TRY(find_place(d, i, NULL, 0, false, &e->item, err));
		else
			return bad_metadata(v, "an entry that is no tensor and no bytes", err);
		i++;
	}
	return SHERD_OK;
}

/* Names first, since places tell them. */
static int metadata_take_names(decoder *d, const shd_pickle_list *list, sherd_error *err)
{
	shd_pickle_value k = {0}, v = {0};
	bool ok = true;
	d->out->entries = shd_arena_alloc(d->arena, list->count / 2 + 1, sizeof(*d->out->entries));
	if (!d->out->entries)
		return shd_fail_nomem(err);
	memset(d->out->entries, 0, (list->count / 2 + 1) * sizeof(*d->out->entries));
	shd_pickle_cursor c = shd_pickle_walk(list);
	while (shd_pickle_next(&c, &k) && shd_pickle_next(&c, &v)) {
		if (k.kind != SHD_PICKLE_TEXT || memchr(k.text, 0, k.len) || k.len > d->limits.name_bytes)
			return bad_metadata(v, "the name of an entry is no text, or too long", err);
		const char *name = shd_arena_str(d->arena, shd_pickle_text(k));
		if (!name)
			return shd_fail_nomem(err);
		if (shd_map_add(&d->names, shd_str_of(name), d->out->count, &ok) != SHD_MAP_NONE)
			return shd_fail(err, SHERD_ECORRUPT, "duplicate-name", "%.128s is there twice", name);
		if (!ok)
			return shd_fail_nomem(err);
		d->out->entries[d->out->count++].name = name;
	}
	return SHERD_OK;
}

static int decode_all(decoder *d, sherd_error *err)
{
	shd_pickle_value root = d->pickle->root, k, v;
	const shd_pickle_list *entries = shd_pickle_pairs(attribute(root, "state_dict_metadata"));
	const shd_pickle_list *places = shd_pickle_pairs(attribute(root, "storage_data"));
	if (!is_of(d, root, MODULE "Metadata") || !entries || !places)
		return bad_metadata(root, "this is no metadata of torch.distributed.checkpoint", err);
	TRY(metadata_take_names(d, entries, err));
	shd_pickle_cursor c = shd_pickle_walk(places);
	while (shd_pickle_next(&c, &k) && shd_pickle_next(&c, &v))
		TRY(metadata_take_place(d, k, v, err));
	TRY(metadata_take_entries(d, entries, places->count / 2, err));
	d->out->file_count = d->files.count;
	d->out->files = shd_vec_copy(&d->files, d->arena);
	return d->out->files ? SHERD_OK : shd_fail_nomem(err);
}

int shd_dcp_metadata_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                            shd_arena *temporary, shd_dcp_metadata *out, sherd_error *err)
{
	*out = (shd_dcp_metadata){0};
	decoder d = {.pickle = &out->pickle, .limits = shd_limits_or_default(limits), .arena = arena, .out = out};
	TRY(shd_pickle_decode(data, len, temporary, &out->pickle, err));
	int rc = decode_all(&d, err);
	shd_map_done(&d.names);
	shd_map_done(&d.places);
	shd_map_done(&d.file_names);
	shd_vec_done(&d.items);
	shd_vec_done(&d.files);
	return rc;
}
