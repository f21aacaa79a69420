/* format/pickle/decoder.h - a pickle being decoded: its stack, what it remembers, what it named. */
#pragma once

#include "base/cursor.h"
#include "base/map.h"
#include "format/pickle/pickle.h"

/* A value that is remembered under a number. */
typedef struct shd_pickle_memo_slot {
	uint32_t number;
	bool used;
	shd_pickle_value value;
} shd_pickle_memo_slot;

typedef struct shd_pickle_decoder {
	shd_cursor c;
	size_t op; /* where the instruction begins */
	shd_arena *arena;
	SHD_VEC(shd_pickle_value) stack;
	/* Numbers may be any: a table that grows with what is in it. */
	shd_pickle_memo_slot *memo;
	size_t memo_count, memo_cap;
	uint64_t memo_seed;
	size_t copied; /* values of dictionaries that became arguments of calls */
	SHD_VEC(shd_pickle_global) globals;
	shd_map names; /* of globals */
	uint32_t nodes;
} shd_pickle_decoder;

__attribute__((format(printf, 3, 4))) int shd_pickle_bad(const shd_pickle_decoder *d, sherd_error *err, const char *fmt,
                                                         ...);

int shd_pickle_push(shd_pickle_decoder *d, shd_pickle_value v, sherd_error *err);
int shd_pickle_pop(shd_pickle_decoder *d, shd_pickle_value *out, sherd_error *err);

int shd_pickle_remember(shd_pickle_decoder *d, uint32_t number, sherd_error *err);
int shd_pickle_recall(shd_pickle_decoder *d, uint32_t number, sherd_error *err);

/* Instructions whose argument is text or a length and bytes; 1 when it is none of them. */
int shd_pickle_scalar(shd_pickle_decoder *d, uint8_t op, sherd_error *err);
/* A line of text, without its end. */
int shd_pickle_line(shd_pickle_decoder *d, shd_str *out, sherd_error *err);
/* A decimal number of a line, for memo and the like. */
int shd_pickle_line_u32(shd_pickle_decoder *d, uint32_t *out, sherd_error *err);
/* Text where it is UTF-8, else bytes. */
shd_pickle_value shd_pickle_of_text(shd_str text);
