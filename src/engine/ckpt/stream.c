#include "engine/ckpt/stream.h"

#include "base/large.h"

#include <stdlib.h>

enum { PAGE = 4096 };

void sherd_ckpt_stream_init(ckpt_stream *s, sherd_writer *writer, sherd_pool *pool, uint64_t size_hint)
{
	*s = (ckpt_stream){.writer = writer, .pool = pool, .capacity = STREAM_BYTES};
	if (size_hint < STREAM_BYTES)
		s->capacity = ((size_t)size_hint / PAGE + 1) * PAGE;
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_cond_init(&s->changed, NULL);
}

/* The lock is held on entry and on return. Only one thread at a time comes here. */
static void write_oldest(ckpt_stream *s)
{
	sherd_error err = {0};
	unsigned which = s->oldest;
	int rc = s->rc;
	(void)pthread_mutex_unlock(&s->lock);
	if (rc == SHERD_OK)
		rc = sherd_writer_append(s->writer, s->buffers[which], s->lengths[which], &err);
	(void)pthread_mutex_lock(&s->lock);
	if (rc < 0 && s->rc == SHERD_OK) {
		s->rc = rc;
		s->err = err;
	}
	s->oldest = (which + 1) % STREAM_BUFFERS;
	s->full--;
	(void)pthread_cond_signal(&s->changed);
}

/* On a worker: until nothing is full. */
static void drain(void *arg)
{
	ckpt_stream *s = arg;
	(void)pthread_mutex_lock(&s->lock);
	while (s->full)
		write_oldest(s);
	s->handed = false;
	(void)pthread_cond_signal(&s->changed);
	(void)pthread_mutex_unlock(&s->lock);
}

/* Until at most so many are full. Whoever waits for a worker that has not begun works itself. */
static int wait_for(ckpt_stream *s, unsigned full, sherd_error *err)
{
	(void)pthread_mutex_lock(&s->lock);
	while (s->full > full || (full == 0 && s->handed)) {
		if (s->handed && sherd_pool_withdraw(s->pool, &s->later))
			s->handed = false;
		if (s->handed)
			(void)pthread_cond_wait(&s->changed, &s->lock);
		else if (s->full)
			write_oldest(s);
	}
	int rc = s->rc;
	(void)pthread_mutex_unlock(&s->lock);
	if (rc < 0 && err)
		*err = s->err;
	return rc;
}

/* The buffer that was filled is full; the next one is free afterwards. */
static int hand_over(ckpt_stream *s, sherd_error *err)
{
	if (!s->pool) {
		size_t len = s->used;
		s->used = 0;
		return sherd_writer_append(s->writer, s->buffers[0], len, err);
	}
	(void)pthread_mutex_lock(&s->lock);
	s->lengths[s->filling] = s->used;
	s->full++;
	if (!s->handed) {
		s->handed = true;
		s->later = (sherd_pool_later){.fn = drain, .arg = s};
		sherd_pool_submit(s->pool, &s->later);
	}
	(void)pthread_mutex_unlock(&s->lock);
	s->filling = (s->filling + 1) % STREAM_BUFFERS;
	s->used = 0;
	return wait_for(s, STREAM_BUFFERS - 1, err);
}

/* Large pages lie together in memory, so that the disk is handed few long parts instead of many short ones. */
static uint8_t *make_buffer(size_t capacity)
{
	return capacity < STREAM_BYTES ? aligned_alloc(PAGE, capacity) : sherd_large_alloc(capacity);
}

int sherd_ckpt_stream_room(ckpt_stream *s, uint8_t **out, size_t *room, sherd_error *err)
{
	if (s->used == s->capacity)
		TRY(hand_over(s, err));
	uint8_t **buffer = &s->buffers[s->filling];
	if (!*buffer && !(*buffer = make_buffer(s->capacity)))
		return sherd_fail_nomem(err);
	*out = *buffer + s->used;
	*room = s->capacity - s->used;
	return SHERD_OK;
}

void sherd_ckpt_stream_advance(ckpt_stream *s, size_t len)
{
	s->used += len;
}

int sherd_ckpt_stream_flush(ckpt_stream *s, sherd_error *err)
{
	if (s->used)
		TRY(hand_over(s, err));
	return wait_for(s, 0, err);
}

void sherd_ckpt_stream_done(ckpt_stream *s)
{
	(void)pthread_mutex_lock(&s->lock);
	if (s->full && s->rc == SHERD_OK)
		s->rc = SHERD_ECANCELLED; /* nobody needs the rest any more */
	(void)pthread_mutex_unlock(&s->lock);
	(void)wait_for(s, 0, NULL);
	for (unsigned i = 0; i < STREAM_BUFFERS; i++)
		free(s->buffers[i]);
	(void)pthread_cond_destroy(&s->changed);
	(void)pthread_mutex_destroy(&s->lock);
}
