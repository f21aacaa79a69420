/* store/cache/sweep.c - the folder stays within its bound: what was not used for longest goes. */
#include "store/cache/cache.h"

#include "base/arena.h"
#include "base/vec.h"

#include <stdlib.h>

typedef struct kept {
	const char *name;
	uint64_t size;
	int64_t used_ns;
	char identity[sizeof(((sherd_stat *)0)->identity)];
} kept;

typedef struct sweeping {
	shd_arena arena;
	SHD_VEC(kept) list;
	uint64_t bytes;
} sweeping;

static bool see_kept(void *arg, const char *key, const sherd_stat *stat)
{
	sweeping *s = arg;
	kept k = {.name = shd_arena_str(&s->arena, shd_str_of(key)), .size = stat->size, .used_ns = stat->mtime_ns};
	memcpy(k.identity, stat->identity, sizeof(k.identity));
	s->bytes += stat->size;
	if (k.name)
		shd_vec_push(&s->list, k);
	return k.name && !s->list.failed;
}

static int by_use(const void *left, const void *right)
{
	const kept *a = left, *b = right;
	return a->used_ns < b->used_ns ? -1 : a->used_ns > b->used_ns;
}

/* Another process may do the same: what is gone is gone. One that was used since it was listed stays. */
static void sweep(shd_cache *c)
{
	sweeping s = {0};
	uint64_t enough = c->most - c->most / 8;
	if (sherd_store_list(c->folder, "", "", see_kept, &s, NULL) == SHERD_OK && s.bytes > c->most && s.list.count) {
		qsort(s.list.items, s.list.count, sizeof(*s.list.items), by_use);
		for (size_t i = 0; i < s.list.count && s.bytes > enough; i++)
			if (sherd_store_remove_if(c->folder, s.list.items[i].name, s.list.items[i].identity, NULL) ==
			    SHERD_OK)
				s.bytes -= s.list.items[i].size;
	}
	atomic_store(&c->held, s.bytes);
	shd_vec_done(&s.list);
	shd_arena_done(&s.arena);
}

void shd_cache_grown(shd_cache *c, uint64_t bytes)
{
	/* One sweep at a time; who comes meanwhile leaves it to that one. */
	if (atomic_fetch_add(&c->held, bytes) + bytes <= c->most || pthread_mutex_trylock(&c->mutex) != 0)
		return;
	sweep(c);
	(void)pthread_mutex_unlock(&c->mutex);
}
