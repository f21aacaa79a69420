#include "engine/ckpt/staging.h"

#include "base/error.h"
#include "base/pool.h"
#include "engine/ckpt/write.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One task: large enough that a copy goes past the caches, small enough that all workers have some. */
#define COPY_BYTES ((uint64_t)16 << 20)
/* Where every copy begins, whatever its type. */
enum { ALIGN = 64 };

struct sherd_ckpt_staging {
	uint8_t *memory;
	_Atomic uint64_t room;
	_Atomic bool taken;
};

/* Part of an item; all of it where somebody else has to read it in order. */
typedef struct copy_task {
	sherd_ckpt_item *item;
	uint8_t *to;
	uint64_t from, bytes;
} copy_task;

typedef struct copying {
	copy_task *tasks;
	shd_meter *meter;
} copying;

int sherd_ckpt_staging_open(sherd_ckpt_staging **out, sherd_error *err)
{
	sherd_ckpt_staging *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	*out = s;
	return SHERD_OK;
}

void sherd_ckpt_staging_close(sherd_ckpt_staging *s)
{
	if (!s)
		return;
	free(s->memory);
	free(s);
}

uint64_t sherd_ckpt_staging_bytes(const sherd_ckpt_staging *s)
{
	return atomic_load(&s->room);
}

void shd_ckpt_unstage(sherd_ckpt_staging *s)
{
	atomic_store(&s->taken, false);
}

static int staging_make_room(sherd_ckpt_staging *s, uint64_t bytes, sherd_error *err)
{
	if (bytes <= s->room)
		return SHERD_OK;
	free(s->memory);
	s->room = 0;
	/* Not by large pages: making them costs more than the copy where memory is in pieces. */
	s->memory = malloc(bytes ? bytes : 1);
	if (!s->memory)
		return shd_fail_nomem(err);
	s->room = bytes;
	return SHERD_OK;
}

/* Called by the workers; counts nothing, since nothing is saved yet, but can be cancelled. */
static int copy_one(void *arg, size_t index, sherd_error *err)
{
	const copying *g = arg;
	const copy_task *t = &g->tasks[index];
	if (t->item->data) {
		TRY(shd_meter_ask(g->meter, err));
		memcpy(t->to, (const uint8_t *)t->item->data + t->from, t->bytes);
		return SHERD_OK;
	}
	for (uint64_t at = 0; at < t->bytes; at += COPY_BYTES) {
		uint64_t n = t->bytes - at < COPY_BYTES ? t->bytes - at : COPY_BYTES;
		TRY(shd_meter_ask(g->meter, err));
		TRY(t->item->read(t->item->arg, at, t->to + at, n, err));
	}
	return SHERD_OK;
}

static uint64_t room_of(const sherd_ckpt_item *item)
{
	uint64_t bytes = shd_ckpt_item_bytes(item);
	return bytes > UINT64_MAX - ALIGN ? bytes : (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t tasks_of(const sherd_ckpt_item *item)
{
	uint64_t bytes = shd_ckpt_item_bytes(item);
	return item->data ? (size_t)((bytes + COPY_BYTES - 1) / COPY_BYTES) : bytes != 0;
}

static size_t plan_item(sherd_ckpt_item *item, uint8_t *to, copy_task *tasks)
{
	uint64_t bytes = shd_ckpt_item_bytes(item);
	size_t n = tasks_of(item);
	for (size_t i = 0; i < n; i++) {
		uint64_t from = i * COPY_BYTES, most = item->data ? COPY_BYTES : bytes;
		copy_task *t = &tasks[i];
		t->item = item;
		t->to = to + from;
		t->from = from;
		t->bytes = bytes - from < most ? bytes - from : most;
	}
	return n;
}

static int staging_copy_all(sherd_ckpt_staging *s, sherd_ckpt_item *const *items, size_t count, sherd_pool *pool,
                            shd_meter *meter, sherd_error *err)
{
	uint64_t bytes = 0, at = 0;
	size_t n = 0, planned = 0;
	for (size_t i = 0; i < count; i++) {
		if (__builtin_add_overflow(bytes, room_of(items[i]), &bytes) || bytes > SIZE_MAX)
			return shd_fail_nomem(err);
		n += tasks_of(items[i]);
	}
	TRY(staging_make_room(s, bytes, err));
	copying g = {.tasks = calloc(n + 1, sizeof(*g.tasks)), .meter = meter};
	if (!g.tasks)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; at += room_of(items[i]), i++)
		planned += plan_item(items[i], s->memory + at, g.tasks + planned);
	int rc = shd_pool_run(pool, n, copy_one, &g, err);
	free(g.tasks);
	at = 0;
	for (size_t i = 0; rc == SHERD_OK && i < count; at += room_of(items[i]), i++) {
		if (shd_ckpt_item_bytes(items[i]))
			items[i]->data = s->memory + at;
		items[i]->read = NULL;
	}
	return rc;
}

int shd_ckpt_stage(sherd_ckpt_staging *s, sherd_ckpt_item *const *items, size_t count, sherd_pool *pool,
                   shd_meter *meter, sherd_error *err)
{
	bool taken = false;
	if (!atomic_compare_exchange_strong(&s->taken, &taken, true))
		return shd_fail(err, SHERD_ECONFLICT, "conflict", "another save has the staging: wait for its end");
	int rc = staging_copy_all(s, items, count, pool, meter, err);
	if (rc < 0)
		shd_ckpt_unstage(s);
	return rc;
}
