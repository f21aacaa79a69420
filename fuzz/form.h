/* fuzz/form.h - what a target knows of the form of its inputs, so that changes reach what lies past the checksums.
 *
 * An input is cut into pieces, pieces are changed, doubled, dropped and swapped, and what is put together again has the
 * counts, lengths, offsets and checksums that fit. One mutation in eight is made without all this, so that the checks
 * themselves are tried too. */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"

enum { FORM_MOST_PIECES = 512 };

typedef enum form_kind {
	FORM_BYTES, /* of any length */
	FORM_FIXED, /* keeps its length */
	FORM_JSON,  /* text that is changed value by value and stays JSON */
	FORM_OBJECT /* has a form of its own, by which it is changed */
} form_kind;

typedef struct fuzz_form fuzz_form;

typedef struct form_piece {
	form_kind kind;
	uint32_t tag;           /* the format's own */
	const fuzz_form *inner; /* of an object; without one it is bytes */
	shd_buf bytes;
} form_piece;

typedef struct form_pieces {
	size_t count;
	form_piece list[FORM_MOST_PIECES];
} form_pieces;

struct fuzz_form {
	/* Cuts an input that has the form, whatever its checksums say; false when it has not. NULL: nothing to mend. */
	bool (*split)(const uint8_t *data, size_t len, form_pieces *out);
	/* Takes any pieces that split() could have given, in any order and number. */
	void (*join)(const form_pieces *pieces, shd_buf *out);
};

/* Of this target: each has one. */
extern const fuzz_form *const fuzz_target_form;

extern const fuzz_form form_plain; /* nothing to mend: no checksums, lengths or offsets of its own */
extern const fuzz_form form_json, form_sealed;
extern const fuzz_form form_ckpt_shard, form_ckpt_index, form_container, form_rows_shard, form_rfdb_sidecar;
extern const fuzz_form form_safetensors, form_npy, form_zip, form_sdnb, form_gguf;
extern const fuzz_form form_set; /* several objects under their names, each of the form that its name tells */

/* A source of choices that a seed repeats. */
typedef struct form_dice {
	uint64_t state;
} form_dice;
uint32_t form_roll(form_dice *dice, uint32_t below);

/* Adds a piece; false when there is no room for another. data may be NULL when len is 0. */
bool form_add(form_pieces *p, form_kind kind, uint32_t tag, const void *data, size_t len);
void form_clear(form_pieces *p);
/* The first piece with the tag from index on; its index, or count. */
size_t form_find(const form_pieces *p, uint32_t tag, size_t from);
/* Changes one or more pieces. */
void form_change(form_pieces *p, form_dice *dice, size_t most);
/* Changes one value of the text. */
void form_change_json(shd_buf *text, form_dice *dice);
