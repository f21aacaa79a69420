/* engine/rows/cursor_text.h - a position as text. docs/formats/rows.md, "Cursor".
 *
 *	rows1:POSITION:NUMBER:BATCH:TOTAL:WIDTH:ORDER:SAMPLE:CRC
 *
 * POSITION in the delivery order and NUMBER of the next batch, both after whole
 * rounds; BATCH rows a batch; TOTAL rows and WIDTH of the set; ORDER is "-" or
 * SEED/WINDOW in hexadecimal; SAMPLE is "-", "all" or the threshold in
 * hexadecimal; CRC is the CRC-32 of all before its colon, 8 hexadecimal digits.
 * The other numbers are decimal. */
#ifndef SHERD_ENGINE_ROWS_CURSOR_TEXT_H
#define SHERD_ENGINE_ROWS_CURSOR_TEXT_H

#include "engine/rows/sequence.h"

void sherd_rows_text_write(const rows_sequence *s, char out[SHERD_ROWS_CURSOR_TEXT]);
/* Sets the start of the sequence. The text must be of this set, order and sample; SHERD_EINVAL tells what differs.
 * same_batch: so must the batch size be, else it is taken from the text. */
int sherd_rows_text_resume(rows_sequence *s, const char *text, bool same_batch, sherd_error *err);

#endif
