/* engine/tensors/derive_pairs.c - the pairs of several bundles as those of one. */
#include "engine/tensors/derive.h"

typedef SHD_VEC(sherd_value) value_vec;

/* The value of a pair; without a type it is a text. */
static sherd_value value_of_pair(const sherd_pair *pair, const sherd_value *values, size_t count, size_t *next)
{
	if (*next < count && strcmp(values[*next].key, pair->key) == 0)
		return values[(*next)++];
	return (sherd_value){.key = pair->key,
	                     .type = SHERD_UTF8,
	                     .count = 1,
	                     .items = (const char *const *)&pair->value,
	                     .text = pair->value};
}

static bool same_value(const sherd_value *a, const sherd_value *b)
{
	return a->type == b->type && a->is_array == b->is_array && strcmp(a->text, b->text) == 0;
}

static int add_value(value_vec *all, shd_map *seen, const sherd_value *v, size_t source, sherd_prefer prefer,
                     sherd_error *err)
{
	bool ok;
	size_t at = shd_map_add(seen, shd_str_of(v->key), all->count, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	if (at == SHD_MAP_NONE) {
		shd_vec_push(all, *v);
		return SHERD_OK;
	}
	if (!all->items || all->failed)
		return shd_fail_nomem(err);
	if (!prefer && !same_value(&all->items[at], v))
		return shd_fail_of(err, SHERD_EEXIST, "clash", source,
		                   "the sources have different metadata '%.80s': '%.80s' and '%.80s'", v->key,
		                   all->items[at].text, v->text);
	if (prefer == SHERD_PREFER_LAST)
		all->items[at] = *v;
	return SHERD_OK;
}

static int add_values(value_vec *all, shd_map *seen, const sherd_bundle *from, size_t source, sherd_prefer prefer,
                      sherd_error *err)
{
	const sherd_pair *pairs;
	const sherd_value *values;
	size_t pair_count = sherd_bundle_pairs(&pairs, from), value_count, next = 0;
	TRY(shd_bundle_values(from, &values, &value_count, err));
	for (size_t i = 0; i < pair_count; i++) {
		sherd_value v = value_of_pair(&pairs[i], values, value_count, &next);
		if (strcmp(pairs[i].key, SHERD_TYPES_KEY) != 0)
			TRY(add_value(all, seen, &v, source, prefer, err));
	}
	return SHERD_OK;
}

/* What only one source can tell is that of the one that counts. */
static const struct sherd_ckpt_about *about_of(const sherd_bundle *const *from, size_t count, sherd_prefer prefer)
{
	const struct sherd_ckpt_about *about = NULL;
	for (size_t i = 0; i < count; i++)
		if (from[i]->about && (!about || prefer == SHERD_PREFER_LAST))
			about = from[i]->about;
	return about;
}

int shd_derived_take_pairs(shd_derived *b, const sherd_bundle *const *from, size_t count, sherd_prefer prefer,
                           sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	SHD_AUTO_VEC value_vec all = {0};
	b->base.about = about_of(from, count, prefer);
	if (count == 1) {
		b->base.pairs = from[0]->pairs;
		b->base.pair_count = from[0]->pair_count;
		b->base.whole = from[0];
		b->base.index = from[0]->index;
		return SHERD_OK;
	}
	for (size_t i = 0; i < count; i++)
		TRY(add_values(&all, &seen, from[i], i, prefer, err));
	TRY(shd_vec_check(&all, err));
	TRY(sherd_pairs_of_values(&b->pairs, &b->base.pair_count, all.items, all.count, err));
	b->base.pairs = b->pairs;
	return SHERD_OK;
}
