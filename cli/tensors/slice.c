#include "tensors/slice.h"

#include "base/value.h"
#include "base/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Values that lie at most NEAR bytes apart are read together, STRETCH at a time. */
enum { NEAR = 4096, STRETCH = 256 << 10 };

/* ---- what was asked for */

static void take_dimension(cli_slice *s, uint32_t d, uint64_t first, uint64_t count, uint64_t step)
{
	s->first[d] = first;
	s->count[d] = count;
	s->step[d] = step;
}

/* An optional number; false when there is something else. */
static bool take_number(const char **at, bool *there, int64_t *out)
{
	char *end;
	errno = 0;
	long long v = strtoll(*at, &end, 10);
	*there = end != *at;
	if (*there && (errno || (!(**at >= '0' && **at <= '9') && **at != '-')))
		return false;
	*out = v;
	*at = end;
	*at += strspn(*at, " ");
	return true;
}

/* As Python does: from the end where it is negative, and within the dimension. */
static uint64_t clamp(int64_t v, uint64_t size)
{
	uint64_t back = v < 0 ? (uint64_t) - (v + 1) + 1 : 0;
	if (v < 0)
		return back > size ? 0 : size - back;
	return (uint64_t)v > size ? size : (uint64_t)v;
}

static int refuse_slice(const sherd_tensor *t, const char *text, sherd_error *err)
{
	return cli_fail(err, SHERD_EINVAL, "bad-range",
	                "[%.64s] is no slice of %.100s: numbers, A:B or A:B:STEP with commas between", text, t->name);
}

/* One item: 3, -1, 2:5, :, ::2. */
static int take_slice_item(cli_slice *s, uint32_t d, const sherd_tensor *t, const char **at, const char *text,
                           sherd_error *err)
{
	uint64_t size = t->shape[d];
	int64_t numbers[3] = {0, 0, 1};
	bool there[3] = {false, false, false};
	int given = 0;
	for (; given < 3; given++) {
		if (!take_number(at, &there[given], &numbers[given]))
			return refuse_slice(t, text, err);
		if (given == 2 || **at != ':')
			break;
		*at += 1 + strspn(*at + 1, " ");
	}
	if (!given && !there[0])
		return refuse_slice(t, text, err);
	if (!given) {
		uint64_t first = clamp(numbers[0], size);
		if (numbers[0] < 0 ? (uint64_t) - (numbers[0] + 1) >= size : first >= size)
			return cli_fail(err, SHERD_EINVAL, "bad-range",
			                "%" PRId64 " is not within dimension %u of %.100s, which has %" PRIu64,
			                numbers[0], d, t->name, size);
		s->dropped[d] = true;
		take_dimension(s, d, first, 1, 1);
		return SHERD_OK;
	}
	if (there[2] && numbers[2] < 1)
		return cli_fail(err, SHERD_EINVAL, "bad-range", "a step is at least 1");
	uint64_t from = there[0] ? clamp(numbers[0], size) : 0, to = there[1] ? clamp(numbers[1], size) : size;
	uint64_t step = there[2] ? (uint64_t)numbers[2] : 1;
	take_dimension(s, d, from, to > from ? (to - from - 1) / step + 1 : 0, step);
	return SHERD_OK;
}

static void finish_slice(cli_slice *s, const sherd_tensor *t)
{
	s->ndim = 0;
	for (uint32_t d = 0; d < t->ndim; d++)
		if (!s->dropped[d])
			s->shape[s->ndim++] = s->count[d];
	s->row = s->ndim ? s->shape[s->ndim - 1] : 1;
	s->rows = 1;
	for (uint32_t d = 0; d + 1 < s->ndim; d++)
		if (!s->shape[d] || __builtin_mul_overflow(s->rows, s->shape[d], &s->rows))
			s->rows = 0; /* what has so many has a dimension of 0 too */
}

void cli_slice_whole(cli_slice *out, const sherd_tensor *tensor)
{
	*out = (cli_slice){0};
	for (uint32_t d = 0; d < tensor->ndim; d++)
		take_dimension(out, d, 0, tensor->shape[d], 1);
	finish_slice(out, tensor);
}

/* Items of the text, "..." not counted. */
static uint32_t count_items(const char *text)
{
	uint32_t count = *text ? 1 : 0;
	for (const char *at = text; *at; at++)
		count += *at == ',';
	return count - (strstr(text, "...") != NULL);
}

int cli_slice_parse(cli_slice *out, const sherd_tensor *tensor, const char *text, sherd_error *err)
{
	const char *at = text + strspn(text, " ");
	uint32_t d = 0, items = count_items(at);
	bool skipped = false;
	cli_slice_whole(out, tensor);
	if (items > tensor->ndim)
		return cli_fail(err, SHERD_EINVAL, "bad-range", "[%.64s] has %u dimension%s, and %.100s has %u", text,
		                items, items == 1 ? "" : "s", tensor->name, tensor->ndim);
	while (*at) {
		if (strncmp(at, "...", 3) == 0 && !skipped) {
			skipped = true;
			d += tensor->ndim - items;
			at += 3 + strspn(at + 3, " ");
		} else if (d < tensor->ndim) {
			TRY(take_slice_item(out, d++, tensor, &at, text, err));
		} else {
			return refuse_slice(tensor, text, err);
		}
		if (*at && *at != ',')
			return refuse_slice(tensor, text, err);
		if (*at == ',' && !*(at += 1 + strspn(at + 1, " ")))
			return refuse_slice(tensor, text, err);
	}
	finish_slice(out, tensor);
	return SHERD_OK;
}

/* ---- reading */

int cli_slice_open(cli_slice_reader *out, const sherd_bundle *bundle, size_t index, const cli_slice *slice,
                   sherd_error *err)
{
	*out = (cli_slice_reader){
		.bundle = bundle, .index = index, .tensor = sherd_bundle_tensor(bundle, index), .slice = slice};
	out->buf = malloc(STRETCH);
	return out->buf ? SHERD_OK : cli_no_memory(err);
}

void cli_slice_close(cli_slice_reader *reader)
{
	free(reader->buf);
	reader->buf = NULL;
}

/* The block at a byte of the tensor; end bounds what else may be read with it. */
static int fetch_block(cli_slice_reader *r, uint64_t byte, uint64_t end, size_t size, const uint8_t **out,
                       sherd_error *err)
{
	if (byte < r->at || byte + size > r->at + r->len) {
		uint64_t most = end - byte < STRETCH ? end - byte : STRETCH;
		TRY(cli_watch_check(err));
		r->len = 0;
		TRY(sherd_bundle_read(r->bundle, r->index, byte, r->buf, (size_t)most, err));
		r->at = byte;
		r->len = (size_t)most;
	}
	*out = r->buf + (byte - r->at);
	return SHERD_OK;
}

/* Elements of the tensor before the first value of a row, and how far apart its values are. */
static uint64_t locate_row(const cli_slice_reader *r, uint64_t row, uint64_t *apart)
{
	const cli_slice *s = r->slice;
	uint64_t stride = 1, at = 0;
	bool last = true;
	*apart = 1;
	for (uint32_t d = r->tensor->ndim; d-- > 0;) {
		uint64_t place = s->first[d];
		if (!s->dropped[d] && last) {
			*apart = s->step[d] * stride;
			last = false;
		} else if (!s->dropped[d]) {
			place += row % s->count[d] * s->step[d];
			row /= s->count[d];
		}
		at += place * stride;
		stride *= r->tensor->shape[d];
	}
	return at;
}

int cli_slice_read(cli_slice_reader *reader, uint64_t row, uint64_t from, uint64_t to, cli_slice_fn *each, void *arg,
                   sherd_error *err)
{
	const sherd_dtype_info *type = sherd_dtype_describe(reader->tensor->dtype);
	uint64_t apart, first = locate_row(reader, row, &apart), per = type->block_elements;
	bool together = apart * type->block_bytes / per <= NEAR;
	uint64_t last = from < to ? first + (to - 1) * apart : first, end = (last / per + 1) * type->block_bytes;
	for (uint64_t i = from; i < to && !cli_out_failed(); i++) {
		uint64_t element = first + i * apart, byte = element / per * type->block_bytes;
		const uint8_t *raw;
		TRY(fetch_block(reader, byte, together ? end : byte + type->block_bytes, type->block_bytes, &raw, err));
		uint8_t bits = per > 1 ? cli_value_unpack(type, raw, (uint32_t)(element % per)) : 0;
		each(arg, per > 1 ? &bits : raw);
	}
	return SHERD_OK;
}
