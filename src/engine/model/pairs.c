#include "engine/model/pairs.h"

#include "base/buf.h"
#include "codec/json.h"

#include <inttypes.h>
#include <stdlib.h>

/* A pair and its rank: of equal keys the last given counts. */
typedef struct given {
	sherd_pair pair;
	size_t order;
} given;

static int by_key(const void *left, const void *right)
{
	const given *a = left, *b = right;
	int order = strcmp(a->pair.key, b->pair.key);
	return order ? order : a->order < b->order ? -1 : 1;
}

static int model_pairs_check_text(const char *text, sherd_error *err)
{
	size_t bad;
	if (!text || strlen(text) > UINT32_MAX || !shd_utf8_valid(text, strlen(text), &bad))
		return shd_fail(err, SHERD_EINVAL, "bad-utf8", "a pair of metadata is no text");
	return SHERD_OK;
}

static int model_pairs_take(given *list, size_t *n, const sherd_pair *pairs, size_t count, sherd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		TRY(model_pairs_check_text(pairs[i].key, err));
		if (pairs[i].value)
			TRY(model_pairs_check_text(pairs[i].value, err));
		list[*n] = (given){pairs[i], *n};
		++*n;
	}
	return SHERD_OK;
}

/* These come first, so that any other counts. */
static int take_own(given *list, size_t *n, const sherd_model_save_options *o, shd_arena *arena, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	if (o->framework) {
		TRY(model_pairs_check_text(o->framework, err));
		list[(*n)++] = (given){{SHD_PAIR_FRAMEWORK, o->framework}, 0};
	}
	if (!o->time_ns && !o->timed)
		return SHERD_OK;
	shd_buf_printf(&text, "%" PRId64, o->time_ns / 1000000);
	TRY(shd_buf_check(&text, err));
	const char *value = shd_arena_str(arena, (shd_str){(const char *)text.data, text.len});
	if (!value)
		return shd_fail_nomem(err);
	list[*n] = (given){{SHD_PAIR_CREATION_TIME, value}, *n};
	++*n;
	return SHERD_OK;
}

static size_t keep_last(given *list, size_t n, sherd_pair *out)
{
	size_t kept = 0;
	if (n)
		qsort(list, n, sizeof(*list), by_key);
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n || strcmp(list[i].pair.key, list[i + 1].pair.key) != 0;
		if (last && list[i].pair.value)
			out[kept++] = list[i].pair;
	}
	return kept;
}

int shd_model_join_pairs(const sherd_pair *pairs, size_t count, const sherd_model_save_options *options,
                         shd_arena *arena, const sherd_pair **out, size_t *out_count, sherd_error *err)
{
	size_t n = 0, most = count + options->pair_count + 2;
	SHD_AUTO_FREE given *list = calloc(most, sizeof(*list));
	sherd_pair *result = shd_arena_alloc(arena, most, sizeof(*result));
	if (!list || !result)
		return shd_fail_nomem(err);
	TRY(take_own(list, &n, options, arena, err));
	TRY(model_pairs_take(list, &n, pairs, count, err));
	TRY(model_pairs_take(list, &n, options->pairs, options->pair_count, err));
	*out_count = keep_last(list, n, result);
	*out = result;
	return SHERD_OK;
}
