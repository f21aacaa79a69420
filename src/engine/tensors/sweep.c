#include "engine/tensors/sweep.h"

#include "base/vec.h"

#include <pthread.h>

/* What a window may hold. */
#define WINDOW_BYTES ((uint64_t)256 << 20)
enum { WINDOW_ITEMS = 1024, LARGE_PARTS = 256 };

typedef struct scratch {
	struct scratch *next;
	_Alignas(64) uint8_t memory[];
} scratch;

typedef struct sweeping {
	const shd_sweep *sweep;
	SHD_VEC(shd_sweep_part) parts;
	pthread_mutex_t lock;
	scratch *idle;
} sweeping;

static scratch *take_scratch(sweeping *s)
{
	(void)pthread_mutex_lock(&s->lock);
	scratch *found = s->idle;
	if (found)
		s->idle = found->next;
	(void)pthread_mutex_unlock(&s->lock);
	if (found)
		return found;
	size_t size = (sizeof(*found) + s->sweep->scratch + 63) / 64 * 64;
	found = aligned_alloc(64, size);
	if (found)
		memset(found, 0, size);
	return found;
}

static void give_scratch(sweeping *s, scratch *used)
{
	(void)pthread_mutex_lock(&s->lock);
	used->next = s->idle;
	s->idle = used;
	(void)pthread_mutex_unlock(&s->lock);
}

static int sweep_part(void *arg, size_t index, sherd_error *err)
{
	sweeping *s = arg;
	scratch *memory = take_scratch(s);
	if (!memory)
		return shd_fail_nomem(err);
	int rc = s->sweep->part(s->sweep->arg, &s->parts.items[index], memory->memory, err);
	give_scratch(s, memory);
	return rc;
}

/* Adds the parts of an item from there on, at most so many; returns how many. */
static size_t cut_item(sweeping *s, size_t item, uint64_t *at, uint64_t bytes, uint32_t block, size_t count)
{
	size_t number = 0, most = (size_t)(SHD_SWEEP_PART / block) * block;
	for (; *at < bytes && number < count; number++) {
		size_t len = bytes - *at < most ? (size_t)(bytes - *at) : most;
		shd_vec_push(&s->parts, (shd_sweep_part){.item = item, .number = number, .offset = *at, .len = len});
		*at += len;
	}
	return number;
}

static int run_parts(sweeping *s, sherd_error *err)
{
	TRY(shd_vec_check(&s->parts, err));
	return shd_pool_run(s->sweep->pool, s->parts.count, sweep_part, s, err);
}

/* An item in several windows. */
static int run_large(sweeping *s, size_t item, uint64_t bytes, uint32_t block, sherd_error *err)
{
	const shd_sweep *sweep = s->sweep;
	TRY(sweep->begin(sweep->arg, item, LARGE_PARTS, err));
	for (uint64_t at = 0; at < bytes;) {
		s->parts.count = 0;
		(void)cut_item(s, item, &at, bytes, block, LARGE_PARTS);
		TRY(run_parts(s, err));
		if (sweep->merge)
			sweep->merge(sweep->arg, item);
	}
	return sweep->end(sweep->arg, item, err);
}

static int run_window(sweeping *s, size_t *next, sherd_error *err)
{
	const shd_sweep *sweep = s->sweep;
	size_t first = *next, i = first;
	uint64_t held = 0;
	s->parts.count = 0;
	for (; i < sweep->count && i - first < WINDOW_ITEMS && held < WINDOW_BYTES; i++) {
		uint32_t block;
		uint64_t bytes = sweep->bytes(sweep->arg, i, &block), at = 0;
		if (bytes > WINDOW_BYTES && i == first)
			return run_large(s, (*next)++, bytes, block, err);
		if (bytes > WINDOW_BYTES)
			break;
		TRY(sweep->begin(sweep->arg, i, cut_item(s, i, &at, bytes, block, SIZE_MAX), err));
		held += bytes;
	}
	TRY(run_parts(s, err));
	for (; *next < i; (*next)++)
		TRY(sweep->end(sweep->arg, *next, err));
	return SHERD_OK;
}

int shd_sweep_run(const shd_sweep *sweep, sherd_error *err)
{
	sweeping s = {.sweep = sweep, .lock = PTHREAD_MUTEX_INITIALIZER};
	int rc = SHERD_OK;
	for (size_t next = 0; rc == SHERD_OK && next < sweep->count;)
		rc = run_window(&s, &next, err);
	while (s.idle) {
		scratch *used = s.idle;
		s.idle = used->next;
		free(used);
	}
	shd_vec_done(&s.parts);
	return rc;
}
