#include "base/cursor.h"
#include "base/limits.h"
#include "engine/tensors/blame.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/files.h"

#include <stdlib.h>

typedef struct safetensors_bundle {
	sherd_bundle base;
	const shd_safetensors_entry *entries;
} safetensors_bundle;

static const safetensors_bundle *self(const sherd_bundle *bundle)
{
	return (const safetensors_bundle *)bundle;
}

static int tensors_safetensors_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf,
                                         size_t len, sherd_error *err)
{
	return sherd_reader_at(bundle->reader, self(bundle)->entries[index].offset + offset, buf, len, err);
}

static int tensors_safetensors_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	const shd_safetensors_entry *e = &self(bundle)->entries[index];
	return sherd_reader_map(out, bundle->reader, e->offset, (size_t)e->tensor.bytes, err);
}

static const shd_bundle_ops ops = {.read = tensors_safetensors_read_part, .map = tensors_safetensors_map};

static int tensors_safetensors_decode(const sherd_reader *reader, const sherd_limits *limits, shd_arena *arena,
                                      shd_safetensors *out, sherd_error *err)
{
	uint8_t first[SHD_SAFETENSORS_HEAD];
	uint64_t size = sherd_reader_size(reader), len;
	size_t have = size < sizeof(first) ? (size_t)size : sizeof(first);
	TRY(sherd_reader_at(reader, 0, first, have, err));
	TRY(shd_safetensors_decode_length(first, have, size, &len, err));
	if (len > shd_limits_or_default(limits).metadata_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "too-long", 0, "a header of %llu bytes", (unsigned long long)len);
	SHD_AUTO_FREE void *header = malloc(len ? (size_t)len : 1);
	if (!header)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, SHD_SAFETENSORS_HEAD, header, (size_t)len, err));
	return shd_safetensors_decode(header, (size_t)len, size, limits, arena, out, err);
}

int shd_bundle_read_safetensors(const sherd_reader *reader, const sherd_limits *limits, shd_arena *arena,
                                shd_safetensors *out, sherd_error *err)
{
	return shd_in_reader(err, tensors_safetensors_decode(reader, limits, arena, out, err), reader);
}

static int tensors_safetensors_open_file(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options,
                                         sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(shd_bundle_new(&b, sizeof(safetensors_bundle), &ops, SHERD_FORMAT_SAFETENSORS, err));
	shd_safetensors head;
	TRY(shd_evidence_take_reader(e, &b->reader, err));
	TRY(shd_bundle_read_safetensors(b->reader, options->limits, &b->arena, &head, err));
	sherd_tensor *tensors = shd_arena_alloc(&b->arena, head.count, sizeof(*tensors));
	if (!tensors)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < head.count; i++)
		tensors[i] = head.entries[i].tensor;
	((safetensors_bundle *)b)->entries = head.entries;
	b->count = head.count;
	b->tensors = tensors;
	b->pair_count = head.pair_count;
	b->pairs = head.pairs;
	TRY(shd_bundle_finish(b, err));
	*out = TAKE(b);
	return SHERD_OK;
}

/* A file that was cut off is still one: the length is not compared with the file's. */
static int probe(shd_evidence *e, sherd_error *err)
{
	(void)err;
	return e->first.len > SHD_SAFETENSORS_HEAD && e->first.ptr[SHD_SAFETENSORS_HEAD] == '{' &&
	       shd_get_u64((const uint8_t *)e->first.ptr) <= SHD_SAFETENSORS_MAX_HEADER;
}

const shd_format_entry shd_format_safetensors = {
	.info = {.id = SHERD_FORMAT_SAFETENSORS,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "safetensors",
                 .noun = "a safetensors file",
                 .endings = {{".safetensors", SHERD_ENDING_OBJECT}},
                 .written = true,
                 .holds = SHERD_HOLDS_PAIRS | SHERD_HOLDS_MANY | SHERD_HOLDS_EMPTY_NAMES | SHERD_HOLDS_OPAQUE,
                 .takes = SHERD_TAKES_REPLACE,
                 .dtypes = SHD_SAFETENSORS_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.probe = probe,
	.open = tensors_safetensors_open_file,
	.write = shd_write_safetensors,
};
