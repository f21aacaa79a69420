/* engine/rows/cursor_text.h - a position as text. docs/formats/rows.md, "Cursor".
 *
 *	rows2:EPOCH:FROM:POSITION:NUMBER:BATCH:TOTAL:WIDTH:SET:ORDER:SAMPLE:CRC
 *	rows1:POSITION:NUMBER:BATCH:TOTAL:WIDTH:ORDER:SAMPLE:CRC (read only; epoch 0, from 0)
 *
 * POSITION in the delivery order and NUMBER of the next batch, both after whole
 * rounds; FROM is the position at which the stream begins; BATCH rows a batch;
 * TOTAL rows that the epoch began with, WIDTH of the set, SET their lineage in
 * hexadecimal, or "-" when there is no manifest; ORDER is "-" or SEED/WINDOW in
 * hexadecimal; SAMPLE is "-", "all" or the threshold in hexadecimal; CRC is the
 * CRC-32 of all before its colon, 8 hexadecimal digits. The other numbers are
 * decimal. */
#pragma once

#include "engine/rows/sequence.h"

/* The sequence as if it stood at this state. */
void shd_rows_text_write(const rows_sequence *s, const rows_state *at, char out[SHERD_ROWS_CURSOR_TEXT]);
/* Sets the place of the sequence, and its rows to those that the epoch began with. The text must be of this set, or of
 * what it was before appends, of this order and sample; SHERD_EINVAL tells what differs. same_batch: so must the batch
 * size be, else it is taken from the text. */
int shd_rows_text_resume(rows_sequence *s, const char *text, bool same_batch, sherd_error *err);
