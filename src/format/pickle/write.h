/* format/pickle/write.h - writing pickles, instruction by instruction. Globals and texts that come again are remembered
 * by the writer and recalled. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

typedef struct shd_pickle_writer {
	shd_buf *out;
	shd_map memo; /* of what was put, by its kind and text */
	shd_arena arena;
	uint32_t count;
	bool failed;
} shd_pickle_writer;

/* Begins with the protocol; shd_pickle_writer_done() in any case. */
void shd_pickle_writer_init(shd_pickle_writer *w, shd_buf *out, uint8_t protocol);
void shd_pickle_writer_done(shd_pickle_writer *w);
/* Ends the pickle; SHERD_ENOMEM when something of it is missing. */
int shd_pickle_writer_end(shd_pickle_writer *w, sherd_error *err);

/* One instruction without an argument: '(', 't', 'u', ... */
void shd_pickle_put_op(shd_pickle_writer *w, uint8_t op);
/* module and name of a global: "torch._utils", "_rebuild_tensor_v2". */
void shd_pickle_put_global(shd_pickle_writer *w, const char *module, const char *name);
/* A text that comes often is remembered. */
void shd_pickle_put_text(shd_pickle_writer *w, const char *text);
void shd_pickle_put_often(shd_pickle_writer *w, const char *text);
void shd_pickle_put_int(shd_pickle_writer *w, uint64_t v);
void shd_pickle_put_bool(shd_pickle_writer *w, bool v);
/* A tuple of whole numbers. */
void shd_pickle_put_numbers(shd_pickle_writer *w, const uint64_t *numbers, size_t count);
