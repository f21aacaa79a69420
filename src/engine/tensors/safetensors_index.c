#include "engine/tensors/blame.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/files.h"
#include "engine/tensors/folder.h"
#include "engine/tensors/index_verify.h"
#include "codec/json.h"
#include "engine/publish/head.h"
#include "format/tensor/safetensors_index.h"
#include "format/value.h"

#include <stdlib.h>

enum { MOST_TRIES = 8 }; /* while others replace the set */

/* One file of the set. All are open from the start, so that what was checked is what is read. */
typedef struct piece {
	const char *name;
	uint32_t file; /* in the index */
	sherd_reader *reader;
	shd_safetensors head;
} piece;

typedef struct place {
	uint32_t piece;
	uint64_t offset; /* in its file */
} place;

typedef struct index_bundle {
	sherd_bundle base;
	shd_safetensors_index index;
	piece *pieces; /* by name */
	uint32_t piece_count;
	const place *places; /* of the tensors */
	shd_bundle_index apart;
} index_bundle;

static const sherd_reader *reader_of(const sherd_bundle *bundle, size_t index, uint64_t *offset)
{
	const index_bundle *b = (const index_bundle *)bundle;
	*offset = b->places[index].offset;
	return b->pieces[b->places[index].piece].reader;
}

static int tensors_safetensors_index_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf,
                                               size_t len, sherd_error *err)
{
	uint64_t start;
	const sherd_reader *reader = reader_of(bundle, index, &start);
	return sherd_reader_at(reader, start + offset, buf, len, err);
}

static int tensors_safetensors_index_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	uint64_t start;
	const sherd_reader *reader = reader_of(bundle, index, &start);
	return sherd_reader_map(out, reader, start, (size_t)bundle->tensors[index].bytes, err);
}

static const char *index_file(const sherd_bundle *bundle, size_t index)
{
	const index_bundle *b = (const index_bundle *)bundle;
	return b->pieces[b->places[index].piece].name;
}

static void tensors_safetensors_index_done(sherd_bundle *bundle)
{
	index_bundle *b = (index_bundle *)bundle;
	for (uint32_t i = 0; i < b->piece_count; i++)
		sherd_reader_close(b->pieces[i].reader);
}

static const shd_bundle_ops ops = {.read = tensors_safetensors_index_read_part,
                                   .map = tensors_safetensors_index_map,
                                   .file = index_file,
                                   .close = tensors_safetensors_index_done};

static int tensors_safetensors_index_by_name(const void *left, const void *right)
{
	return strcmp(((const piece *)left)->name, ((const piece *)right)->name);
}

static int tensors_safetensors_index_decode(index_bundle *b, const shd_head *head, const char *key,
                                            const sherd_limits *limits, sherd_error *err)
{
	int rc = shd_safetensors_index_decode(head->text, head->len, limits, &b->base.arena, &b->index, err);
	TRY(shd_in_object(err, rc, key));
	b->pieces = shd_arena_alloc(&b->base.arena, b->index.file_count, sizeof(piece));
	if (!b->pieces)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < b->index.file_count; i++)
		b->pieces[i] = (piece){.name = b->index.files[i], .file = i};
	b->piece_count = b->index.file_count;
	qsort(b->pieces, b->piece_count, sizeof(piece), tensors_safetensors_index_by_name);
	return SHERD_OK;
}

int shd_bundle_open_named(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_error failure;
	int rc = sherd_store_read(out, store, key, &failure);
	if (rc == SHERD_ENOTFOUND)
		return shd_fail(err, SHERD_EINCOMPLETE, "missing-shard",
		                "the index names this file and it is not there");
	if (rc == SHERD_EINVAL)
		return shd_fail(err, SHERD_ECORRUPT, "bad-path", "the index names a file that cannot be: %.128s",
		                failure.message);
	return shd_pass(err, rc, &failure);
}

/* Files lie beside the index. */
static int open_piece(index_bundle *b, piece *p, sherd_store *store, const char *key, const sherd_limits *limits,
                      sherd_error *err)
{
	SHD_AUTO_BUF path = {0};
	shd_buf_append(&path, key, (size_t)(shd_str_leaf(key) - key));
	shd_buf_append(&path, p->name, strlen(p->name) + 1);
	TRY(shd_buf_check(&path, err));
	const char *name = (const char *)path.data;
	TRY(shd_in_object(err, shd_bundle_open_named(&p->reader, store, name, err), name));
	return shd_bundle_read_safetensors(p->reader, limits, &b->base.arena, &p->head, err);
}

static int open_pieces(index_bundle *b, sherd_store *store, const char *key, const sherd_bundle_options *options,
                       sherd_error *err)
{
	SHD_DONE(shd_meter_done) shd_meter meter;
	shd_meter_init(&meter, options->progress, b->piece_count);
	TRY(shd_meter_ask(&meter, err));
	for (uint32_t i = 0; i < b->piece_count; i++) {
		TRY(open_piece(b, &b->pieces[i], store, key, options->limits, err));
		TRY(shd_meter_add(&meter, 1, err));
	}
	return SHERD_OK;
}

/* Takes the tensors of all files: each must stand in the index under its file. */
static int take_tensors(index_bundle *b, const shd_map *entries, sherd_tensor *tensors, place *places, sherd_error *err)
{
	size_t n = 0;
	for (uint32_t i = 0; i < b->piece_count; i++) {
		const piece *p = &b->pieces[i];
		for (size_t k = 0; k < p->head.count; k++, n++) {
			const shd_safetensors_entry *e = &p->head.entries[k];
			size_t at = shd_map_find(entries, shd_str_of(e->tensor.name));
			if (at == SHD_MAP_NONE || b->index.entries[at].file != p->file)
				return shd_in_reader(err,
				                     shd_fail(err, SHERD_ECORRUPT, "bad-index",
				                              "%.128s is in this file, but not in the index under it",
				                              e->tensor.name),
				                     p->reader);
			tensors[n] = e->tensor;
			places[n] = (place){.piece = i, .offset = e->offset};
		}
	}
	return SHERD_OK;
}

/* And each tensor of the index must have been found. */
static int check_all_found(const index_bundle *b, sherd_error *err)
{
	for (size_t i = 0; i < b->index.count; i++) {
		const shd_safetensors_index_entry *e = &b->index.entries[i];
		if (sherd_bundle_find(&b->base, e->name) == SHERD_NO_TENSOR)
			return shd_fail(err, SHERD_ECORRUPT, "bad-index", "%.80s is not in %.80s, as the index says",
			                e->name, b->index.files[e->file]);
	}
	return SHERD_OK;
}

static int tensors_safetensors_index_join(index_bundle *b, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map entries = {0};
	size_t count = 0;
	for (size_t i = 0; i < b->index.count; i++) {
		bool ok;
		(void)shd_map_add(&entries, shd_str_of(b->index.entries[i].name), i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	for (uint32_t i = 0; i < b->piece_count; i++)
		count += b->pieces[i].head.count;
	sherd_tensor *tensors = shd_arena_alloc(&b->base.arena, count, sizeof(*tensors));
	place *places = shd_arena_alloc(&b->base.arena, count, sizeof(*places));
	if (!tensors || !places)
		return shd_fail_nomem(err);
	TRY(take_tensors(b, &entries, tensors, places, err));
	b->base.count = count;
	b->base.tensors = tensors;
	b->places = places;
	TRY(shd_bundle_finish(&b->base, err));
	return check_all_found(b, err);
}

typedef SHD_VEC(sherd_pair) pair_vec;

static int add_pairs(shd_map *seen, const sherd_pair *pairs, size_t count, pair_vec *out, sherd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		bool ok;
		size_t known = shd_map_add(seen, shd_str_of(pairs[i].key), i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
		if (known == SHD_MAP_NONE)
			shd_vec_push(out, pairs[i]);
	}
	return SHERD_OK;
}

/* Numbers and all else that is no text keep their types. */
static int tell_types(index_bundle *b, sherd_pair *out, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_json_writer w;
	bool any = false;
	shd_json_writer_init(&w, &text);
	shd_json_put_object(&w, true);
	for (size_t i = 0; i < b->index.value_count; i++) {
		const char *type = shd_value_type_of_json(shd_str_of(b->index.values[i].value));
		any |= type != NULL;
		if (!type)
			continue;
		shd_json_put_key(&w, b->index.values[i].key);
		shd_json_put_string(&w, shd_str_of(type));
	}
	shd_json_put_object_end(&w);
	TRY(shd_buf_check(&text, err));
	*out = (sherd_pair){SHERD_TYPES_KEY, NULL};
	if (!any)
		return SHERD_OK;
	out->value = shd_arena_str(&b->base.arena, (shd_str){(const char *)text.data, text.len});
	return out->value ? SHERD_OK : shd_fail_nomem(err);
}

/* The pairs of the index, if they are wanted, then those of the files; of a key that comes again the first value
 * counts. */
static int join_pairs(index_bundle *b, bool index, const sherd_pair **out, size_t *count, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	SHD_AUTO_VEC pair_vec all = {0};
	sherd_pair types = {0};
	if (index) {
		TRY(add_pairs(&seen, b->index.pairs, b->index.pair_count, &all, err));
		TRY(tell_types(b, &types, err));
	}
	if (types.value)
		TRY(add_pairs(&seen, &types, 1, &all, err));
	for (uint32_t i = 0; i < b->piece_count; i++)
		TRY(add_pairs(&seen, b->pieces[i].head.pairs, b->pieces[i].head.pair_count, &all, err));
	TRY(shd_vec_check(&all, err));
	*out = shd_vec_copy(&all, &b->base.arena);
	*count = all.count;
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

static int open_set(sherd_bundle **out, sherd_store *store, const char *key, const shd_head *head,
                    const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	TRY(shd_bundle_new(&base, sizeof(index_bundle), &ops, SHERD_FORMAT_SAFETENSORS_INDEX, err));
	index_bundle *b = (index_bundle *)base;
	TRY(tensors_safetensors_index_decode(b, head, key, options->limits, err));
	TRY(open_pieces(b, store, key, options, err));
	TRY(join_pairs(b, true, &base->pairs, &base->pair_count, err));
	TRY(shd_in_object(err, tensors_safetensors_index_join(b, err), key));
	TRY(join_pairs(b, false, &b->apart.pairs, &b->apart.pair_count, err));
	b->apart.values = b->index.values;
	b->apart.value_count = b->index.value_count;
	base->index = &b->apart;
	*out = TAKE(base);
	return SHERD_OK;
}

int shd_bundle_name_index(sherd_store *store, const char *key, shd_buf *out, sherd_error *err)
{
	sherd_stat stat;
	sherd_error failure;
	int rc = sherd_store_stat(&stat, store, key, &failure);
	if (rc < 0 && rc != SHERD_ENOTFOUND)
		return shd_pass(err, rc, &failure);
	shd_buf_str(out, key);
	shd_buf_str(out, rc == SHERD_ENOTFOUND ? SHD_SAFETENSORS_INDEX_SUFFIX : "");
	return shd_buf_end(out, err);
}

/* By the index itself, or by the base that it is named by. */
static int open_index(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO_BUF index = {0};
	bool again = true;
	int rc = SHERD_OK;
	shd_buf_printf(&index, "%s%s", e->key, e->is_object ? "" : SHD_SAFETENSORS_INDEX_SUFFIX);
	TRY(shd_buf_end(&index, err));
	const char *name = (const char *)index.data;
	for (int tries = 0; again && tries < MOST_TRIES; tries++) {
		shd_head head;
		TRY(shd_evidence_take_head(e, name, options->limits, &head, err));
		rc = open_set(out, e->store, name, &head, options, err);
		/* What the index named may have gone because another took its place. */
		again = (rc == SHERD_EINCOMPLETE || rc == SHERD_ECORRUPT) && shd_head_changed(&head, e->store, name);
		free(head.text);
	}
	return shd_in_object(err, rc, name);
}

static int probe_set(shd_evidence *e, sherd_error *err)
{
	return shd_evidence_beside(e, SHD_SAFETENSORS_INDEX_SUFFIX, err);
}

static bool is_damaged(const shd_evidence *e)
{
	return shd_evidence_is_json(e) && shd_str_ends(shd_str_of(e->key), SHD_SAFETENSORS_INDEX_SUFFIX);
}

const shd_format_entry shd_format_safetensors_index = {
	.info = {.id = SHERD_FORMAT_SAFETENSORS_INDEX,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "safetensors-index",
                 .short_name = "index",
                 .noun = "a set of safetensors files",
                 .endings = {{SHD_SAFETENSORS_INDEX_SUFFIX, SHERD_ENDING_HEAD}},
                 .written = true,
                 .holds = SHERD_HOLDS_PAIRS | SHERD_HOLDS_MANY | SHERD_HOLDS_EMPTY_NAMES | SHERD_HOLDS_OPAQUE |
                          SHERD_HOLDS_TYPED,
                 .takes = SHERD_TAKES_SHARDS | SHERD_TAKES_REPLACE,
                 .dtypes = SHD_SAFETENSORS_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.keys = {"weight_map"},
	.is_damaged = is_damaged,
	.probe_set = probe_set,
	.open = open_index,
	.verify = shd_index_verify,
	.write = shd_write_safetensors_index,
};

static int probe_around(shd_evidence *e, sherd_error *err)
{
	shd_folder files;
	TRY(shd_folder_open_suffix(&files, e->store, e->key, SHD_SAFETENSORS_INDEX_SUFFIX, err));
	bool found = files.count > 0;
	shd_folder_done(&files);
	return found;
}

static int refuse_around(const shd_evidence *e, sherd_error *err)
{
	SHD_DONE(shd_folder_done) shd_folder files = {0};
	TRY(shd_folder_open_suffix(&files, e->store, e->key, SHD_SAFETENSORS_INDEX_SUFFIX, err));
	return shd_fail(err, SHERD_ENOTFOUND, "is-folder", "this is a folder: name the index in it, %.128s%s",
	                files.count ? files.list[0].name : "", files.count > 1 ? ", or another" : "");
}

const shd_format_entry shd_format_index_folder = {
	.info = {.noun = "a folder", .advice = "name the index of safetensors files in it"},
	.probe_set = probe_around,
	.refusal = SHERD_ENOTFOUND,
	.reason = "is-folder",
	.refuse = refuse_around,
};
