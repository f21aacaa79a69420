#include "format/pickle/decoder.h"

#include <stdlib.h>

/* Seeded, since a pickle that chose its numbers to lie in one run would take quadratic time. */
static size_t memo_find(const shd_pickle_memo_slot *slots, size_t cap, uint64_t seed, uint32_t number)
{
	size_t i = (size_t)shd_hash(seed, &number, sizeof(number)) & (cap - 1);
	while (slots[i].used && slots[i].number != number)
		i = (i + 1) & (cap - 1);
	return i;
}

static bool memo_grow(shd_pickle_decoder *d)
{
	size_t cap = d->memo_cap ? d->memo_cap * 2 : 64;
	shd_pickle_memo_slot *slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return false;
	if (!d->memo_cap)
		d->memo_seed = shd_hash_seed();
	for (size_t i = 0; i < d->memo_cap; i++)
		if (d->memo[i].used)
			slots[memo_find(slots, cap, d->memo_seed, d->memo[i].number)] = d->memo[i];
	free(d->memo);
	d->memo = slots;
	d->memo_cap = cap;
	return true;
}

int shd_pickle_remember(shd_pickle_decoder *d, uint32_t number, sherd_error *err)
{
	if (!d->stack.count || d->stack.items[d->stack.count - 1].kind == SHD_PICKLE_MARK)
		return shd_pickle_bad(d, err, "there is nothing to remember");
	if (d->memo_count * 4 >= d->memo_cap * 3 && !memo_grow(d))
		return shd_fail_nomem(err);
	shd_pickle_memo_slot *s = &d->memo[memo_find(d->memo, d->memo_cap, d->memo_seed, number)];
	d->memo_count += !s->used;
	*s = (shd_pickle_memo_slot){number, true, d->stack.items[d->stack.count - 1]};
	return SHERD_OK;
}

int shd_pickle_recall(shd_pickle_decoder *d, uint32_t number, sherd_error *err)
{
	const shd_pickle_memo_slot *s =
		d->memo_cap ? &d->memo[memo_find(d->memo, d->memo_cap, d->memo_seed, number)] : NULL;
	if (!s || !s->used)
		return shd_pickle_bad(d, err, "value %u is not remembered", number);
	return shd_pickle_push(d, s->value, err);
}
