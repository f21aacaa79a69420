#include "engine/ckpt/stream.h"

#include "base/large.h"

#include <stdlib.h>

enum { PAGE = 4096 };

void sherd_ckpt_stream_init(ckpt_stream *s, sherd_writer *writer, uint64_t size_hint)
{
	*s = (ckpt_stream){.writer = writer, .capacity = STREAM_BYTES};
	if (size_hint < STREAM_BYTES)
		s->capacity = ((size_t)size_hint / PAGE + 1) * PAGE;
}

/* The buffer that was filled goes its way; the next one is free afterwards. */
static int hand_over(ckpt_stream *s, sherd_error *err)
{
	TRY(sherd_writer_append_later(s->writer, s->buffers[s->filling], s->used, err));
	s->filling = (s->filling + 1) % STREAM_BUFFERS;
	s->used = 0;
	return sherd_writer_settle(s->writer, STREAM_BUFFERS - 1, err);
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
	return sherd_writer_settle(s->writer, 0, err);
}

void sherd_ckpt_stream_done(ckpt_stream *s)
{
	(void)sherd_writer_settle(s->writer, 0, NULL);
	for (unsigned i = 0; i < STREAM_BUFFERS; i++)
		free(s->buffers[i]);
}
