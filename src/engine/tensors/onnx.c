/* engine/tensors/onnx.c - initialisers of an ONNX model, in it and in files beside it. docs/formats/onnx.md. */
#include "engine/tensors/onnx.h"

#include "engine/tensors/blame.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/foreign.h"
#include "format/onnx/model.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

enum { MOST_OPEN = 64 }; /* files that stay open; of more than that each is opened when it is read */

typedef struct onnx_file {
	const char *key;
	uint64_t size;
	sherd_reader *reader; /* or NULL */
	char identity[sizeof(((sherd_stat *)0)->identity)];
} onnx_file;

typedef struct onnx_bundle {
	sherd_bundle base;
	sherd_store *store;
	shd_onnx_model model;
	size_t *file_of; /* of each tensor; file_count: none */
	onnx_file *files;
	size_t file_count;
} onnx_bundle;

static int onnx_fetch(const void *source, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	return sherd_reader_at(source, offset, buf, len, err);
}

/* ---- reading */

static int read_beside(const onnx_bundle *b, const onnx_file *f, uint64_t offset, void *buf, size_t len,
                       sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	if (f->reader)
		return sherd_reader_at(f->reader, offset, buf, len, err);
	TRY(sherd_store_read(&reader, b->store, f->key, err));
	if (strcmp(sherd_reader_identity(reader), f->identity) != 0)
		return shd_in_object(
			err, shd_fail(err, SHERD_ECONFLICT, "changed", "it was replaced while it was read"), f->key);
	return sherd_reader_at(reader, offset, buf, len, err);
}

static int onnx_read(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const onnx_bundle *b = (const onnx_bundle *)bundle;
	const shd_onnx_tensor *t = &b->model.tensors[index];
	if (t->values) {
		memcpy(buf, t->values + offset, len);
		return SHERD_OK;
	}
	if (t->location)
		return read_beside(b, &b->files[b->file_of[index]], t->offset + offset, buf, len, err);
	return sherd_reader_at(bundle->reader, t->offset + offset, buf, len, err);
}

static int onnx_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	const onnx_bundle *b = (const onnx_bundle *)bundle;
	const shd_onnx_tensor *t = &b->model.tensors[index];
	const sherd_reader *reader = t->location ? b->files[b->file_of[index]].reader : bundle->reader;
	if (t->values) {
		*out = t->values;
		return SHERD_OK;
	}
	if (!reader)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s is in one of too many files",
		                t->tensor.name);
	return sherd_reader_map(out, reader, t->offset, (size_t)t->tensor.bytes, err);
}

static void onnx_close(sherd_bundle *bundle)
{
	onnx_bundle *b = (onnx_bundle *)bundle;
	for (size_t i = 0; i < b->file_count; i++)
		sherd_reader_close(b->files[i].reader);
}

static const shd_bundle_ops onnx_ops = {.read = onnx_read, .map = onnx_map, .close = onnx_close};

/* ---- files beside the model */

/* A path that leads nowhere but below the model's folder. */
static bool is_beside(const char *path)
{
	for (const char *part = path, *end;; part = end + 1) {
		end = strchrnul(part, '/');
		shd_str p = {part, (size_t)(end - part)};
		if (!p.len || shd_str_is(p, ".") || shd_str_is(p, "..") || memchr(p.ptr, '\\', p.len))
			return false;
		if (!*end)
			return true;
	}
}

static int onnx_add_file(onnx_bundle *b, const char *key, const char *location, sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	sherd_stat stat;
	onnx_file *f = &b->files[b->file_count];
	if (!is_beside(location))
		return shd_fail(err, SHERD_ECORRUPT, "bad-path", "%.128s leads out of the model's folder", location);
	shd_buf_append(&name, key, (size_t)(shd_str_leaf(key) - key));
	shd_buf_append(&name, location, strlen(location) + 1);
	TRY(shd_buf_check(&name, err));
	f->key = shd_arena_copy(&b->base.arena, name.data, name.len);
	if (!f->key)
		return shd_fail_nomem(err);
	int rc = sherd_store_stat(&stat, b->store, f->key, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_EINCOMPLETE, "missing-shard", "the model names this file and it is not there");
	TRY(shd_in_object(err, rc, f->key));
	f->size = stat.size;
	memcpy(f->identity, stat.identity, sizeof(f->identity));
	if (b->file_count < MOST_OPEN)
		TRY(sherd_store_read(&f->reader, b->store, f->key, err));
	b->file_count++;
	return SHERD_OK;
}

static int check_place(const onnx_bundle *b, const shd_onnx_tensor *t, size_t file, sherd_error *err)
{
	const onnx_file *f = &b->files[file];
	if (t->offset <= f->size && t->tensor.bytes <= f->size - t->offset)
		return SHERD_OK;
	return shd_in_object(err,
	                     shd_fail_at(err, SHERD_ECORRUPT, "truncated", f->size,
	                                 "%.128s lies at %llu and has %llu bytes", t->tensor.name,
	                                 (unsigned long long)t->offset, (unsigned long long)t->tensor.bytes),
	                     f->key);
}

static int onnx_find_files(onnx_bundle *b, const char *key, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map names = {0};
	b->files = shd_arena_alloc(&b->base.arena, b->model.count + 1, sizeof(*b->files));
	b->file_of = shd_arena_alloc(&b->base.arena, b->model.count + 1, sizeof(*b->file_of));
	if (!b->files || !b->file_of)
		return shd_fail_nomem(err);
	memset(b->files, 0, (b->model.count + 1) * sizeof(*b->files));
	for (size_t i = 0; i < b->model.count; i++) {
		const shd_onnx_tensor *t = &b->model.tensors[i];
		bool ok = true;
		b->file_of[i] = 0;
		if (!t->location)
			continue;
		size_t at = shd_map_add(&names, shd_str_of(t->location), b->file_count, &ok);
		if (!ok)
			return shd_fail_nomem(err);
		b->file_of[i] = at == SHD_MAP_NONE ? b->file_count : at;
		if (at == SHD_MAP_NONE)
			TRY(onnx_add_file(b, key, t->location, err));
		TRY(check_place(b, t, b->file_of[i], err));
	}
	return SHERD_OK;
}

/* ---- opening */

static int onnx_fill(onnx_bundle *b, sherd_error *err)
{
	SHD_AUTO_FREE sherd_pair *pairs = NULL;
	size_t n = 0;
	sherd_tensor *tensors = shd_arena_alloc(&b->base.arena, b->model.count + 1, sizeof(*tensors));
	TRY(sherd_pairs_of_values(&pairs, &n, b->model.values, b->model.value_count, err));
	sherd_pair *kept = shd_arena_alloc(&b->base.arena, n + 1, sizeof(*kept));
	if (!tensors || !kept)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < b->model.count; i++)
		tensors[i] = b->model.tensors[i].tensor;
	for (size_t i = 0; i < n; i++) {
		kept[i].key = shd_arena_str(&b->base.arena, shd_str_of(pairs[i].key));
		kept[i].value = shd_arena_str(&b->base.arena, shd_str_of(pairs[i].value));
		if (!kept[i].key || !kept[i].value)
			return shd_fail_nomem(err);
	}
	b->base.tensors = tensors;
	b->base.count = b->model.count;
	b->base.pairs = kept;
	b->base.pair_count = n;
	return shd_bundle_finish(&b->base, err);
}

static int onnx_open(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	TRY(shd_bundle_new(&base, sizeof(onnx_bundle), &onnx_ops, SHERD_FORMAT_ONNX, err));
	onnx_bundle *b = (onnx_bundle *)base;
	b->store = e->store;
	TRY(shd_evidence_take_reader(e, &base->reader, err));
	const shd_onnx_source source = {
		.size = sherd_reader_size(base->reader), .fetch = onnx_fetch, .source = base->reader};
	int rc = shd_onnx_decode(&source, options->limits, &base->arena, &b->model, err);
	if (rc == SHERD_OK)
		rc = onnx_find_files(b, e->key, err);
	if (rc == SHERD_OK)
		rc = onnx_fill(b, err);
	TRY(shd_in_reader(err, rc, base->reader));
	*out = TAKE(base);
	return SHERD_OK;
}

static int onnx_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                       sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	const sherd_bundle_options options = {.limits = o->limits};
	shd_evidence e = {.store = store, .key = key};
	sherd_error found = {0};
	int rc = onnx_open(&bundle, &e, &options, &found);
	TRY(shd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	const shd_onnx_model *m = &((const onnx_bundle *)bundle)->model;
	TRY(shd_report_warn(r, key, "no-checksum", err, "the format has no checksums: only its structure was checked"));
	for (size_t i = 0; i < m->sparse_count; i++)
		TRY(shd_report_warn(r, key, "left-out", err, "sparse initialiser %.128s is not read", m->sparse[i]));
	return SHERD_OK;
}

/* A protocol buffer has no magic: the version and who made it, or its name and the version. */
static int onnx_probe(shd_evidence *e, sherd_error *err)
{
	bool named = shd_str_ends(shd_str_of(e->key), ".onnx") && e->first.len && e->first.ptr[0] == 8;
	return named ? 1 : shd_probe_onnx(e, err);
}

const shd_format_entry shd_format_onnx = {
	.info = {.id = SHERD_FORMAT_ONNX,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "onnx",
                 .noun = "an ONNX model",
                 .endings = {{".onnx", SHERD_ENDING_OBJECT}}},
	.probe = onnx_probe,
	.open = onnx_open,
	.verify = onnx_verify,
};
