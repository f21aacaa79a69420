#include "engine/tensors/gguf.h"

#include "base/limits.h"
#include "engine/tensors/blame.h"
#include "engine/tensors/bundle.h"
#include "format/tensor/gguf.h"

#include <stdio.h>
#include <stdlib.h>

/* How much of a file is read for its head at first; four times as much whenever that is not all of it. */
enum { FIRST_READ = 1 << 18 };

/* One file of a set, or the only one. */
typedef struct gguf_file {
	sherd_reader *reader;
	shd_arena arena; /* of the head */
	shd_gguf head;
} gguf_file;

typedef struct gguf_place {
	uint32_t file;
	uint64_t offset; /* in it */
} gguf_place;

typedef struct gguf_bundle {
	sherd_bundle base;
	gguf_file *files;
	uint32_t file_count;
	const gguf_place *places; /* of the tensors */
	sherd_pair *pairs;        /* to be freed */
} gguf_bundle;

static int gguf_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                          sherd_error *err)
{
	const gguf_bundle *b = (const gguf_bundle *)bundle;
	const gguf_place *p = &b->places[index];
	return sherd_reader_at(b->files[p->file].reader, p->offset + offset, buf, len, err);
}

static int gguf_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	const gguf_bundle *b = (const gguf_bundle *)bundle;
	const gguf_place *p = &b->places[index];
	return sherd_reader_map(out, b->files[p->file].reader, p->offset, (size_t)bundle->tensors[index].bytes, err);
}

static const char *gguf_file_of(const sherd_bundle *bundle, size_t index)
{
	const gguf_bundle *b = (const gguf_bundle *)bundle;
	return b->file_count > 1 ? shd_str_leaf(sherd_reader_key(b->files[b->places[index].file].reader)) : NULL;
}

static void gguf_close(sherd_bundle *bundle)
{
	gguf_bundle *b = (gguf_bundle *)bundle;
	for (uint32_t i = 0; i < b->file_count; i++) {
		sherd_reader_close(b->files[i].reader);
		shd_arena_done(&b->files[i].arena);
	}
	free(b->files);
	sherd_free(b->pairs);
}

static const shd_bundle_ops gguf_ops = {
	.read = gguf_read_part, .map = gguf_map, .file = gguf_file_of, .close = gguf_close};

/* ---- heads */

/* Nothing tells how long a head is: more is read until all of it is there. */
static int decode_head(gguf_file *f, const sherd_limits *limits, sherd_error *err)
{
	uint64_t size = sherd_reader_size(f->reader), most = shd_limits_or_default(limits).metadata_bytes;
	uint64_t len = size < FIRST_READ ? size : FIRST_READ;
	for (;;) {
		SHD_AUTO_FREE void *raw = malloc(len ? (size_t)len : 1);
		if (!raw)
			return shd_fail_nomem(err);
		TRY(sherd_reader_at(f->reader, 0, raw, (size_t)len, err));
		int more = shd_gguf_decode(raw, (size_t)len, size, limits, &f->arena, &f->head, err);
		if (more <= 0)
			return more;
		shd_arena_done(&f->arena);
		if (len >= most)
			return shd_fail_at(err, SHERD_ELIMIT, "too-long", len, "a head of more than %llu bytes",
			                   (unsigned long long)most);
		len = size / 4 < len ? size : len * 4;
		len = len < most ? len : most;
	}
}

static int read_head(gguf_file *f, const sherd_limits *limits, sherd_error *err)
{
	return shd_in_reader(err, decode_head(f, limits, err), f->reader);
}

/* ---- the files of a set */

/* The key of a file of the set whose first file has this key; SHERD_EINCOMPLETE when that is not named as one. */
static int name_file(const char *first, uint64_t number, uint64_t count, shd_buf *out, sherd_error *err)
{
	char ending[64];
	(void)snprintf(ending, sizeof(ending), "-%05u-of-%05llu.gguf", 1u, (unsigned long long)count);
	shd_str key = shd_str_of(first);
	if (!shd_str_ends(key, ending))
		return shd_fail(
			err, SHERD_EINCOMPLETE, "missing-shard",
			"this is the first of %llu files, and its name does not end in %s: the others cannot be found",
			(unsigned long long)count, ending);
	shd_buf_append(out, first, key.len - strlen(ending));
	shd_buf_printf(out, "-%05llu-of-%05llu.gguf", (unsigned long long)number, (unsigned long long)count);
	return shd_buf_end(out, err);
}

static int check_file(const gguf_bundle *b, uint32_t number, sherd_error *err)
{
	const shd_gguf *first = &b->files[0].head, *head = &b->files[number].head;
	if (head->split_count == first->split_count && head->split_no == number)
		return SHERD_OK;
	return shd_fail(err, SHERD_ECORRUPT, "other-set", "it says that it is file %llu of %llu, and not %u of %llu",
	                (unsigned long long)head->split_no + 1, (unsigned long long)head->split_count, number + 1,
	                (unsigned long long)first->split_count);
}

static int open_file(gguf_bundle *b, sherd_store *store, const char *first, uint32_t number, const sherd_limits *limits,
                     sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	sherd_error failure;
	gguf_file *f = &b->files[number];
	TRY(name_file(first, number + 1, b->files[0].head.split_count, &key, err));
	int rc = sherd_store_read(&f->reader, store, (const char *)key.data, &failure);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(&failure, SHERD_EINCOMPLETE, "missing-shard", "a file of the set is not there");
	if (rc < 0)
		return shd_in_object(err, shd_pass(err, rc, &failure), (const char *)key.data);
	TRY(read_head(f, limits, err));
	return shd_in_reader(err, check_file(b, number, err), f->reader);
}

/* The first file opens all of them, any other one itself alone. */
static int gguf_open_files(gguf_bundle *b, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	uint32_t most = shd_limits_or_default(options->limits).shards;
	b->files = calloc(1, sizeof(*b->files));
	if (!b->files)
		return shd_fail_nomem(err);
	b->file_count = 1;
	TRY(shd_evidence_take_reader(e, &b->files[0].reader, err));
	TRY(read_head(&b->files[0], options->limits, err));
	uint64_t count = b->files[0].head.split_no ? 1 : b->files[0].head.split_count;
	if (count <= 1)
		return SHERD_OK;
	if (count > most)
		return shd_fail(err, SHERD_ELIMIT, "too-many-shards", "a set of %llu files", (unsigned long long)count);
	SHD_DONE(shd_meter_done) shd_meter meter;
	shd_meter_init(&meter, options->progress, count);
	for (uint32_t i = 1; i < count; i++) {
		/* One by one: a count is believed as far as there are files. */
		gguf_file *files = realloc(b->files, (i + (size_t)1) * sizeof(*files));
		if (!files)
			return shd_fail_nomem(err);
		b->files = files;
		b->files[i] = (gguf_file){0};
		b->file_count = i + 1;
		TRY(open_file(b, e->store, e->key, i, options->limits, err));
		TRY(shd_meter_add(&meter, 1, err));
	}
	return SHERD_OK;
}

/* ---- the bundle */

static int gguf_take_tensors(gguf_bundle *b, sherd_error *err)
{
	size_t count = 0, n = 0;
	for (uint32_t i = 0; i < b->file_count; i++)
		count += b->files[i].head.count;
	sherd_tensor *tensors = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*tensors));
	gguf_place *places = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*places));
	if (!tensors || !places)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < b->file_count; i++)
		for (size_t k = 0; k < b->files[i].head.count; k++, n++) {
			const shd_gguf_entry *entry = &b->files[i].head.entries[k];
			tensors[n] = entry->tensor;
			places[n] = (gguf_place){.file = i, .offset = entry->offset};
		}
	uint64_t told = b->files[0].head.split_tensors;
	if (b->file_count > 1 && told && told != count)
		return shd_fail(err, SHERD_ECORRUPT, "bad-count", "all files together have %zu tensors, not %llu",
		                count, (unsigned long long)told);
	b->base.tensors = tensors;
	b->base.count = count;
	b->places = places;
	return shd_bundle_finish(&b->base, err);
}

/* Of a key that comes again in another file the first value counts. */
static int gguf_take_pairs(gguf_bundle *b, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	SHD_AUTO_VEC SHD_VEC(sherd_value) all = {0};
	for (uint32_t i = 0; i < b->file_count; i++)
		for (size_t k = 0; k < b->files[i].head.value_count; k++) {
			const sherd_value *v = &b->files[i].head.values[k];
			bool ok = true;
			if (shd_map_add(&seen, shd_str_of(v->key), k, &ok) == SHD_MAP_NONE)
				shd_vec_push(&all, *v);
			if (!ok)
				return shd_fail_nomem(err);
		}
	TRY(shd_vec_check(&all, err));
	TRY(sherd_pairs_of_values(&b->pairs, &b->base.pair_count, all.items, all.count, err));
	b->base.pairs = b->pairs;
	return SHERD_OK;
}

static int gguf_open(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	TRY(shd_bundle_new(&base, sizeof(gguf_bundle), &gguf_ops, SHERD_FORMAT_GGUF, err));
	gguf_bundle *b = (gguf_bundle *)base;
	TRY(gguf_open_files(b, e, options, err));
	TRY(shd_in_object(err, gguf_take_tensors(b, err), e->key));
	TRY(shd_in_object(err, gguf_take_pairs(b, err), e->key));
	*out = TAKE(base);
	return SHERD_OK;
}

/* Heads are all that can be checked. */
static int gguf_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                       sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	SHD_DONE(shd_evidence_done) shd_evidence e = {.store = store, .key = key};
	const sherd_bundle_options options = {.limits = o->limits, .progress = o->progress};
	sherd_error found = {0};
	int rc = gguf_open(&bundle, &e, &options, &found);
	TRY(shd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	const gguf_bundle *b = (const gguf_bundle *)bundle;
	for (uint32_t i = 0; i < b->file_count; i++)
		r->checked += b->files[i].head.data;
	if (b->file_count == 1 && b->files[0].head.split_count > 1)
		TRY(shd_report_warn(r, key, "left-out", err,
		                    "this is file %llu of %llu of a set: the others were not looked at",
		                    (unsigned long long)b->files[0].head.split_no + 1,
		                    (unsigned long long)b->files[0].head.split_count));
	return shd_report_warn(r, key, "no-checksum", err,
	                       "the format has no checksums: only its structure was checked");
}

#define GGUF_DTYPES                                                                              \
	(SHERD_DTYPE_BIT(SHERD_F32) | SHERD_DTYPE_BIT(SHERD_F16) | SHERD_DTYPE_BIT(SHERD_BF16) | \
	 SHERD_DTYPE_BIT(SHERD_F64) | SHERD_DTYPE_BIT(SHERD_I8) | SHERD_DTYPE_BIT(SHERD_I16) |   \
	 SHERD_DTYPE_BIT(SHERD_I32) | SHERD_DTYPE_BIT(SHERD_I64))

const shd_format_entry shd_format_gguf = {
	.info = {.id = SHERD_FORMAT_GGUF,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "gguf",
                 .noun = "a GGUF file",
                 .endings = {{".gguf", SHERD_ENDING_OBJECT}},
                 .written = true,
                 .holds = SHERD_HOLDS_PAIRS | SHERD_HOLDS_MANY | SHERD_HOLDS_EMPTY_NAMES | SHERD_HOLDS_BLOCKS |
                          SHERD_HOLDS_TYPED,
                 .takes = SHERD_TAKES_REPLACE,
                 .dtypes = GGUF_DTYPES,
                 .most_dims = SHD_GGUF_DIMS,
                 .most_name = SHD_GGUF_NAME},
	.magic = {SHD_GGUF_MAGIC, sizeof(SHD_GGUF_MAGIC) - 1},
	.open = gguf_open,
	.verify = gguf_verify,
	.write = shd_write_gguf,
};
