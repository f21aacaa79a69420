#include "support/ckpt_sample.h"

#include "base/error.h"
#include "support/test.h"

#include <sherd/verify.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

enum { MOST_TENSORS = 64 };

static void *make(ckpt_sample *s, size_t count, size_t size)
{
	void *p = shd_arena_alloc(&s->arena, count + !count, size);
	if (!p)
		abort();
	memset(p, 0, (count + !count) * size);
	return p;
}

/* SplitMix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t ckpt_sample_random(ckpt_sample *s, uint64_t n)
{
	return next_random(&s->random) % n;
}

static ckpt_sample *new_sample(uint64_t seed, uint32_t world)
{
	ckpt_sample *s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->random = seed;
	s->world = world;
	for (size_t i = 0; i < sizeof(s->set_id.bytes); i++)
		s->set_id.bytes[i] = (uint8_t)ckpt_sample_random(s, 256);
	s->tensors = make(s, MOST_TENSORS, sizeof(*s->tensors));
	s->bytes = make(s, MOST_TENSORS, sizeof(*s->bytes));
	s->shards = make(s, world, sizeof(*s->shards));
	for (uint32_t r = 0; r < world; r++)
		s->shards[r].items = make(s, MOST_TENSORS, sizeof(*s->shards[r].items));
	return s;
}

void ckpt_sample_free(ckpt_sample *s)
{
	if (!s)
		return;
	shd_arena_done(&s->arena);
	free(s);
}

/* ---- whole tensors */

static uint64_t elements_of(uint32_t ndim, const uint64_t *shape)
{
	uint64_t n = 1;
	for (uint32_t d = 0; d < ndim; d++)
		n *= shape[d];
	return n;
}

static size_t add_tensor(ckpt_sample *s, const char *name, sherd_dtype dtype, uint32_t ndim, const uint64_t *shape)
{
	if (s->count == MOST_TENSORS)
		abort();
	sherd_tensor *t = &s->tensors[s->count];
	uint64_t *dims = make(s, ndim, sizeof(*dims));
	if (ndim)
		memcpy(dims, shape, ndim * sizeof(*dims));
	*t = (sherd_tensor){.name = shd_arena_str(&s->arena, shd_str_of(name)), .dtype = dtype, .ndim = ndim};
	t->shape = dims;
	if (!sherd_tensor_bytes(&t->bytes, dtype, ndim, dims))
		abort();
	s->bytes[s->count] = make(s, (size_t)t->bytes, 1);
	for (uint64_t i = 0; i < t->bytes; i++)
		s->bytes[s->count][i] = (uint8_t)ckpt_sample_random(s, 256);
	return s->count++;
}

/* n strings of which some are empty, and some are not ASCII. */
static size_t add_text(ckpt_sample *s, const char *name, uint64_t n)
{
	static const char *const words[] = {"", "a", "Gr\xc3\xbc\xc3\x9f", "\xf0\x9f\xa6\x89", "two words"};
	uint64_t offsets[9] = {0};
	char text[256] = "";
	for (uint64_t i = 0; i < n; i++) {
		strcat(text, words[ckpt_sample_random(s, COUNT_OF(words))]);
		offsets[i + 1] = strlen(text);
	}
	size_t len = (size_t)(8 * (n + 1) + offsets[n]);
	uint64_t *dims = make(s, 1, sizeof(*dims));
	dims[0] = n;
	s->tensors[s->count] = (sherd_tensor){name, SHERD_UTF8, 1, dims, len};
	s->bytes[s->count] = make(s, len, 1);
	memcpy(s->bytes[s->count], offsets, (size_t)(8 * (n + 1)));
	memcpy(s->bytes[s->count] + 8 * (n + 1), text, (size_t)offsets[n]);
	return s->count++;
}

void ckpt_sample_slice(const ckpt_sample *s, size_t tensor, const uint64_t *at, const uint64_t *shape, uint8_t *out)
{
	const sherd_tensor *t = &s->tensors[tensor];
	uint64_t total = elements_of(t->ndim, shape), size = sherd_dtype_element_bytes(t->dtype);
	for (uint64_t i = 0; i < total; i++) {
		uint64_t rest = i, from = 0, step = 1;
		for (uint32_t d = t->ndim; d-- > 0;) {
			from += (at[d] + rest % shape[d]) * step;
			rest /= shape[d];
			step *= t->shape[d];
		}
		memcpy(out + i * size, s->bytes[tensor] + from * size, (size_t)size);
	}
}

/* ---- their way into shards */

static sherd_ckpt_item *new_item(ckpt_sample *s, uint32_t rank)
{
	sherd_ckpt_shard_items *shard = &s->shards[rank];
	return (sherd_ckpt_item *)&shard->items[shard->count++];
}

static void put_whole(ckpt_sample *s, size_t tensor, uint32_t rank)
{
	*new_item(s, rank) = (sherd_ckpt_item){.tensor = s->tensors[tensor], .data = s->bytes[tensor]};
}

static void put_piece(ckpt_sample *s, size_t tensor, uint32_t rank, const uint64_t *at, const uint64_t *shape)
{
	const sherd_tensor *t = &s->tensors[tensor];
	sherd_ckpt_item *item = new_item(s, rank);
	uint64_t *dims = make(s, t->ndim, sizeof(*dims)), *offset = make(s, t->ndim, sizeof(*offset));
	memcpy(dims, shape, t->ndim * sizeof(*dims));
	memcpy(offset, at, t->ndim * sizeof(*offset));
	item->tensor = *t;
	item->tensor.shape = dims;
	if (!sherd_tensor_bytes(&item->tensor.bytes, t->dtype, t->ndim, dims))
		abort();
	uint8_t *bytes = make(s, (size_t)item->tensor.bytes, 1);
	ckpt_sample_slice(s, tensor, at, shape, bytes);
	item->data = bytes;
	item->global_shape = t->shape;
	item->global_offset = offset;
}

/* A grid of cuts[d] pieces along each dimension, one piece a rank; ranks beyond get replicas of random pieces. Where a
 * dimension is shorter than its cuts, some pieces are empty. */
static void put_cut(ckpt_sample *s, size_t tensor, const uint32_t *cuts, bool replicas)
{
	const sherd_tensor *t = &s->tensors[tensor];
	uint32_t pieces = 1;
	for (uint32_t d = 0; d < t->ndim; d++)
		pieces *= cuts[d];
	for (uint32_t r = 0; r < s->world && (r < pieces || replicas); r++) {
		uint64_t at[SHERD_MAX_DIMS], shape[SHERD_MAX_DIMS];
		uint32_t rest = r < pieces ? pieces - 1 - r : (uint32_t)ckpt_sample_random(s, pieces);
		for (uint32_t d = t->ndim; d-- > 0;) {
			uint64_t k = rest % cuts[d];
			rest /= cuts[d];
			at[d] = t->shape[d] * k / cuts[d];
			shape[d] = t->shape[d] * (k + 1) / cuts[d] - at[d];
		}
		put_piece(s, tensor, r, at, shape);
	}
}

ckpt_sample *ckpt_sample_small(uint64_t seed, uint32_t world)
{
	ckpt_sample *s = new_sample(seed, world);
	size_t rows = add_tensor(s, "rows", SHERD_U16, 2, (uint64_t[]){2 * (uint64_t)world, 3});
	put_cut(s, rows, (uint32_t[]){world, 1}, false);
	put_whole(s, add_tensor(s, "whole", SHERD_U8, 1, (uint64_t[]){5 + seed % 7}), (uint32_t)(seed % world));
	size_t copy = add_tensor(s, "copy", SHERD_I32, 0, NULL);
	for (uint32_t r = 0; r < world; r++)
		put_whole(s, copy, r);
	return s;
}

static void add_every_type(ckpt_sample *s)
{
	for (int d = SHERD_BOOL; d < SHERD_UTF8; d++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "type.%s", sherd_dtype_describe((sherd_dtype)d)->name);
		uint64_t shape[2] = {1 + ckpt_sample_random(s, 6), 1 + ckpt_sample_random(s, 5)};
		size_t t = add_tensor(s, name, (sherd_dtype)d, 2, shape);
		put_whole(s, t, (uint32_t)ckpt_sample_random(s, s->world));
	}
	put_whole(s, add_text(s, "type.UTF8", 5), (uint32_t)ckpt_sample_random(s, s->world));
	put_whole(s, add_text(s, "no strings", 0), (uint32_t)ckpt_sample_random(s, s->world));
}

static void add_odd_shapes(ckpt_sample *s)
{
	uint64_t deep[SHERD_MAX_DIMS];
	for (size_t d = 0; d < SHERD_MAX_DIMS; d++)
		deep[d] = d % 8 == 3 ? 2 : 1;
	put_whole(s, add_tensor(s, "deep", SHERD_U16, SHERD_MAX_DIMS, deep), 0);
	put_whole(s, add_tensor(s, "scalar", SHERD_F64, 0, NULL), s->world - 1);
	put_whole(s, add_tensor(s, "empty", SHERD_F32, 3, (uint64_t[]){4, 0, 2}), 0);
	put_whole(s, add_tensor(s, "empty too", SHERD_C64, 1, (uint64_t[]){0}), s->world - 1);
}

static void add_odd_names(ckpt_sample *s)
{
	static const char *const names[] = {
		"",
		" ",
		"\n\t\x01\x7f",
		"\"quoted\\\"",
		"../up",
		"\xe2\x82\xac\xf0\x9f\xa6\x89",
		"\xef\xbb\xbf",
		"null",
		"a/b\\c",
	};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		size_t t = add_tensor(s, names[i], SHERD_I16, 1, (uint64_t[]){1 + i});
		put_whole(s, t, (uint32_t)(i % s->world));
	}
}

/* Most pieces along the first dimensions of a world of ranks. */
static void add_cuts(ckpt_sample *s)
{
	uint32_t w = s->world, half = w / 2 ? w / 2 : 1;
	put_cut(s, add_tensor(s, "by rows", SHERD_BF16, 2, (uint64_t[]){7, 3}), (uint32_t[]){w, 1}, false);
	put_cut(s, add_tensor(s, "by columns", SHERD_F32, 2, (uint64_t[]){3, 9}), (uint32_t[]){1, w}, false);
	put_cut(s, add_tensor(s, "grid", SHERD_I32, 3, (uint64_t[]){4, 6, 5}), (uint32_t[]){w >= 2 ? 2 : 1, half, 1},
	        false);
	put_cut(s, add_tensor(s, "grid with replicas", SHERD_U8, 3, (uint64_t[]){3, 5, 7}), (uint32_t[]){1, half, 1},
	        true);
	put_cut(s, add_tensor(s, "fewer rows than ranks", SHERD_U64, 1, (uint64_t[]){1}), (uint32_t[]){w}, false);
	put_cut(s, add_tensor(s, "empty but cut", SHERD_U8, 2, (uint64_t[]){5, 0}), (uint32_t[]){w, 1}, false);
	size_t everywhere = add_tensor(s, "everywhere", SHERD_F16, 2, (uint64_t[]){3, 3});
	for (uint32_t r = 0; r < w; r++)
		put_whole(s, everywhere, r);
}

ckpt_sample *ckpt_sample_full(uint64_t seed, uint32_t world)
{
	ckpt_sample *s = new_sample(seed, world);
	add_every_type(s);
	add_odd_shapes(s);
	add_odd_names(s);
	add_cuts(s);
	return s;
}

ckpt_sample *ckpt_sample_csharp(uint64_t seed, uint32_t world)
{
	static const sherd_dtype types[] = {SHERD_BOOL, SHERD_U8,  SHERD_I8,  SHERD_U16, SHERD_I16,
	                                    SHERD_U32,  SHERD_I32, SHERD_U64, SHERD_I64, SHERD_F16,
	                                    SHERD_BF16, SHERD_F32, SHERD_F64};
	ckpt_sample *s = new_sample(seed, world);
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		uint64_t shape[2] = {1 + ckpt_sample_random(s, 4), ckpt_sample_random(s, 4)};
		size_t t = add_tensor(s, sherd_dtype_describe(types[i])->name, types[i], 2, shape);
		put_whole(s, t, (uint32_t)(i % world));
	}
	return s;
}

/* ---- saving and comparing */

sherd_ckpt_save_options ckpt_sample_options(const ckpt_sample *s, int64_t time_ns)
{
	return (sherd_ckpt_save_options){.world = s->world, .set_id = &s->set_id, .time_ns = time_ns};
}

int ckpt_sample_save(const ckpt_sample *s, sherd_store *store, const char *prefix, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	return sherd_ckpt_save(store, prefix, s->shards, &o, err);
}

int ckpt_sample_replace(const ckpt_sample *s, sherd_store *store, const char *prefix, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.replace = true;
	return sherd_ckpt_save(store, prefix, s->shards, &o, err);
}

/* Of the latest few calls, so that threads do not write over each other's. */
static char problems[64][600];
static _Atomic unsigned next_problem;

__attribute__((format(printf, 1, 2))) static const char *differs(const char *fmt, ...)
{
	va_list ap;
	char *problem = problems[atomic_fetch_add(&next_problem, 1) % COUNT_OF(problems)];
	va_start(ap, fmt);
	(void)vsnprintf(problem, sizeof(problems[0]), fmt, ap);
	va_end(ap);
	return problem;
}

static const char *tensor_differs(const ckpt_sample *s, size_t i, const sherd_ckpt *c)
{
	const sherd_tensor *want = &s->tensors[i];
	size_t at = sherd_ckpt_find(c, want->name);
	sherd_error err = {0};
	if (at == SHERD_NO_TENSOR)
		return differs("no tensor '%s'", want->name);
	const sherd_tensor *t = sherd_ckpt_tensor(c, at);
	if (t->dtype != want->dtype || t->ndim != want->ndim || t->bytes != want->bytes ||
	    (t->ndim && memcmp(t->shape, want->shape, t->ndim * sizeof(*t->shape)) != 0))
		return differs("tensor '%s' has another type or shape", want->name);
	uint8_t *got = malloc((size_t)t->bytes + 1);
	if (!got)
		return differs("no memory");
	sherd_ckpt_want w = {.tensor = at, .buf = got};
	int rc = sherd_ckpt_load(c, &w, 1, NULL, &err);
	bool same = rc == SHERD_OK && memcmp(got, s->bytes[i], (size_t)t->bytes) == 0;
	free(got);
	return same ? NULL : differs("tensor '%s': %s", want->name, rc < 0 ? err.message : "other bytes");
}

const char *ckpt_sample_differs(const ckpt_sample *s, const sherd_ckpt *c)
{
	if (sherd_ckpt_count(c) != s->count)
		return differs("%zu tensors, not %zu", sherd_ckpt_count(c), s->count);
	for (size_t i = 0; i < s->count; i++) {
		const char *p = tensor_differs(s, i, c);
		if (p)
			return p;
	}
	return NULL;
}

const char *ckpt_sample_missing(const ckpt_sample *s, sherd_store *store, const char *prefix)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	sherd_error err = {0};
	if (sherd_ckpt_open(&c, store, prefix, NULL, &err) < 0)
		return differs("cannot open: %s: %s", err.object, err.message);
	const char *p = ckpt_sample_differs(s, c);
	if (p)
		return p;
	if (sherd_verify(&r, store, prefix, NULL, &err) < 0)
		return differs("cannot verify: %s: %s", err.object, err.message);
	const sherd_error *e = sherd_report_error(r, 0);
	return e ? differs("verify: %s: %s", e->object, e->message) : NULL;
}

ckpt_content ckpt_sample_content(sherd_store *store, const char *prefix, const ckpt_sample *old,
                                 const ckpt_sample *new_one)
{
	sherd_ckpt *c = NULL;
	int rc = sherd_ckpt_open(&c, store, prefix, NULL, NULL);
	sherd_ckpt_close(c);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return CONTENT_NONE;
	if (!ckpt_sample_missing(old, store, prefix))
		return CONTENT_OLD;
	return ckpt_sample_missing(new_one, store, prefix) ? CONTENT_OTHER : CONTENT_NEW;
}

void assert_sample(const ckpt_sample *s, sherd_store *store, const char *prefix)
{
	const char *p = ckpt_sample_missing(s, store, prefix);
	if (p)
		fail_msg("%s: %s", prefix, p);
}
