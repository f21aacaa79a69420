#include "tensors/cat.h"

#include "base/auto.h"
#include "base/value.h"
#include "base/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Reads end at multiples of it: those are chunks of a container, which it holds against their CRC when they are wanted
 * whole. */
enum { CHUNK = 1 << 20 };

/* --range counts rows of a tensor that has them: how many end with a block? */
static int inside_block(const cli_cat *cat, const sherd_dtype_info *type, sherd_error *err)
{
	const sherd_tensor *t = cat->tensor;
	uint64_t row = 1, least = 1;
	for (uint32_t d = 1; d < t->ndim; d++)
		row = row * (t->shape[d] % type->block_elements) % type->block_elements;
	while (least * row % type->block_elements)
		least++;
	return cli_fail(err, SHERD_EUNSUPPORTED, "inside-block",
	                "%.100s is %s: --range must begin and end at multiples of %" PRIu64 " %s", t->name, type->name,
	                least, t->ndim > 1 ? "rows" : "elements");
}

int cli_cat_blocks(const cli_cat *cat, cli_cat_fn *each, void *arg, sherd_error *err)
{
	const sherd_dtype_info *type = sherd_dtype_describe(cat->tensor->dtype);
	uint32_t size = type->block_bytes, per = type->block_elements;
	if (cat->first % per || cat->last % per)
		return inside_block(cat, type, err);
	CLI_AUTO_FREE uint8_t *buf = malloc((size_t)CHUNK + size);
	if (!buf)
		return cli_no_memory(err);
	size_t held = 0; /* bytes of a block whose end is not read yet */
	uint64_t end = cat->last / per * size;
	for (uint64_t at = cat->first / per * size; at < end && !cli_out_failed();) {
		uint64_t stop = (at / CHUNK + 1) * CHUNK;
		size_t n = (size_t)((stop < end ? stop : end) - at);
		TRY(cli_watch_check(err));
		TRY(sherd_bundle_read(cat->bundle, cat->index, at, buf + held, n, err));
		at += n;
		held += n;
		TRY(each(arg, buf, held / size, err));
		memmove(buf, buf + held / size * size, held % size);
		held %= size;
	}
	return SHERD_OK;
}

typedef struct splitting {
	const cli_cat *cat;
	cli_cat_value_fn *each;
	void *arg;
	uint64_t at; /* the next element of the tensor */
} splitting;

static int cat_read_split(void *arg, const uint8_t *raw, size_t count, sherd_error *err)
{
	splitting *s = arg;
	const sherd_dtype_info *type = sherd_dtype_describe(s->cat->tensor->dtype);
	(void)err;
	for (size_t i = 0; i < count; i++, raw += type->block_bytes)
		for (uint32_t k = 0; k < type->block_elements; k++, s->at++) {
			uint8_t bits = type->block_elements > 1 ? cli_value_unpack(type, raw, k) : 0;
			if (s->at >= s->cat->first && s->at < s->cat->last)
				s->each(s->arg, type->block_elements > 1 ? &bits : raw);
		}
	return SHERD_OK;
}

int cli_cat_values(const cli_cat *cat, cli_cat_value_fn *each, void *arg, sherd_error *err)
{
	cli_cat blocks = *cat;
	uint32_t per = sherd_dtype_describe(cat->tensor->dtype)->block_elements;
	blocks.first -= cat->first % per;
	if (cat->first < cat->last && cat->last % per)
		blocks.last += per - cat->last % per;
	else if (cat->first == cat->last)
		blocks.last = blocks.first;
	splitting s = {cat, each, arg, blocks.first};
	return cli_cat_blocks(&blocks, cat_read_split, &s, err);
}

static uint64_t get_u64(const uint8_t *p)
{
	uint64_t v = 0;
	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

/* Where the text of string i begins and ends, counted from the start of the tensor's bytes. */
static int string_ends(const cli_cat *cat, uint64_t strings, uint64_t i, uint64_t ends[2], sherd_error *err)
{
	uint8_t raw[16];
	uint64_t base = (strings + 1) * 8;
	TRY(sherd_bundle_read(cat->bundle, cat->index, i * 8, raw, sizeof(raw), err));
	ends[0] = get_u64(raw);
	ends[1] = get_u64(raw + 8);
	if (ends[0] > ends[1] || ends[1] > cat->tensor->bytes - base)
		return cli_fail(err, SHERD_ECORRUPT, "bad-offsets",
		                "string %" PRIu64 " of %.100s lies outside of the tensor's text", i, cat->tensor->name);
	ends[0] += base;
	ends[1] += base;
	return SHERD_OK;
}

static int one_string(const cli_cat *cat, const uint64_t ends[2], char **buf, size_t *room, cli_cat_string_fn *each,
                      void *arg, sherd_error *err)
{
	size_t len = (size_t)(ends[1] - ends[0]);
	if (len > *room) {
		char *more = realloc(*buf, len);
		if (!more)
			return cli_no_memory(err);
		*buf = more;
		*room = len;
	}
	if (len)
		TRY(sherd_bundle_read(cat->bundle, cat->index, ends[0], *buf, len, err));
	return each(arg, *buf, len, err);
}

int cli_cat_strings(const cli_cat *cat, cli_cat_string_fn *each, void *arg, sherd_error *err)
{
	const sherd_tensor *t = cat->tensor;
	uint64_t strings = 1;
	bool empty = false, over = false;
	for (uint32_t i = 0; i < t->ndim; i++) {
		empty |= !t->shape[i];
		over |= __builtin_mul_overflow(strings, t->shape[i], &strings);
	}
	strings = empty ? 0 : strings;
	/* Nothing is read of what the bytes cannot hold. */
	if (!empty && (over || t->bytes / 8 <= strings))
		return cli_fail(err, SHERD_ECORRUPT, "bad-offsets", "%.100s is too short for its strings", t->name);
	CLI_AUTO_FREE char *buf = NULL;
	size_t room = 0;
	for (uint64_t i = cat->first; strings && i < cat->last; i++) {
		uint64_t ends[2];
		TRY(cli_watch_check(err));
		TRY(string_ends(cat, strings, i, ends, err));
		TRY(one_string(cat, ends, &buf, &room, each, arg, err));
	}
	return SHERD_OK;
}
