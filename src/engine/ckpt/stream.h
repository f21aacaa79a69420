/* engine/ckpt/stream.h - a writer behind a ring of buffers.
 *
 * Full buffers are written by the store while the caller fills the next one, where the store can do that. All appends
 * but the last are STREAM_BYTES from memory that begins at a page, so that a store can hand them to its device as they
 * are. */
#ifndef SHERD_ENGINE_CKPT_STREAM_H
#define SHERD_ENGINE_CKPT_STREAM_H

#include "base/error.h"

#include <sherd/store.h>

#define STREAM_BYTES ((size_t)4 << 20)
enum { STREAM_BUFFERS = 4 };

typedef struct ckpt_stream {
	sherd_writer *writer;
	uint8_t *buffers[STREAM_BUFFERS];
	size_t capacity;  /* of each */
	unsigned filling; /* which one */
	size_t used;      /* of that one */
} ckpt_stream;

/* size_hint: how many bytes will come, about. The writer stays the caller's, who leaves it alone until flush or done.
 */
void sherd_ckpt_stream_init(ckpt_stream *s, sherd_writer *writer, uint64_t size_hint);
/* Where the next bytes go, and for how many there is room there: at least one. */
int sherd_ckpt_stream_room(ckpt_stream *s, uint8_t **out, size_t *room, sherd_error *err);
/* So many of them are there now. */
void sherd_ckpt_stream_advance(ckpt_stream *s, size_t len);
/* Appends all that is left. */
int sherd_ckpt_stream_flush(ckpt_stream *s, sherd_error *err);
/* Waits for what is being written, and frees. What was not flushed may be dropped. */
void sherd_ckpt_stream_done(ckpt_stream *s);

#endif
