/* format/rfdb/id.h - the 128-bit ids of a graph. docs/formats/rfdb.md, "Ids". */
#ifndef SHERD_FORMAT_RFDB_ID_H
#define SHERD_FORMAT_RFDB_ID_H

#include "base/str.h"
#include "base/u128.h"

#define SHERD_RFDB_ID_TEXT 40 /* 39 digits and a NUL */

/* Digits that fit 128 bits stand for themselves; any other text is hashed. */
sherd_u128 sherd_rfdb_id_of(sherd_str text);
/* Nothing but digits, at least one, that fit 128 bits. */
bool sherd_rfdb_id_parse(sherd_str digits, sherd_u128 *out);
/* Decimal, without leading zeros. */
void sherd_rfdb_id_format(sherd_u128 id, char out[SHERD_RFDB_ID_TEXT]);

#endif
