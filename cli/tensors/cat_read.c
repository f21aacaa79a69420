#include "tensors/cat.h"

#include "base/watch.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CHUNK = 1 << 20 };

int cli_cat_elements(const cli_cat *cat, cli_cat_fn *each, void *arg, sherd_error *err)
{
	uint32_t size = sherd_dtype_element_bytes(cat->tensor->dtype);
	uint8_t *buf = malloc(CHUNK);
	int rc = buf ? SHERD_OK : cli_no_memory(err);
	for (uint64_t at = cat->first; rc == SHERD_OK && at < cat->last && !cli_out_failed();) {
		uint64_t left = cat->last - at, most = CHUNK / size;
		size_t n = (size_t)(left < most ? left : most);
		rc = cli_watch_check(err);
		if (rc == SHERD_OK)
			rc = sherd_bundle_read(cat->bundle, cat->index, at * size, buf, n * size, err);
		if (rc == SHERD_OK)
			rc = each(arg, buf, n, err);
		at += n;
	}
	free(buf);
	return rc;
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
	char *buf = NULL;
	size_t room = 0;
	int rc = SHERD_OK;
	for (uint64_t i = cat->first; rc == SHERD_OK && strings && i < cat->last; i++) {
		uint64_t ends[2];
		rc = cli_watch_check(err);
		if (rc == SHERD_OK)
			rc = string_ends(cat, strings, i, ends, err);
		if (rc == SHERD_OK)
			rc = one_string(cat, ends, &buf, &room, each, arg, err);
	}
	free(buf);
	return rc;
}
