/* format/rfdb/id.h - the 128-bit ids of a graph. docs/formats/rfdb.md, "Ids". */
#pragma once

#include "base/str.h"
#include "base/u128.h"

#define SHD_RFDB_ID_TEXT 40 /* 39 digits and a NUL */

/* Digits that fit 128 bits stand for themselves; any other text is hashed. */
shd_u128 shd_rfdb_id_of(shd_str text);
/* Nothing but digits, at least one, that fit 128 bits. */
bool shd_rfdb_id_parse(shd_str digits, shd_u128 *out);
/* Decimal, without leading zeros. */
void shd_rfdb_id_format(shd_u128 id, char out[SHD_RFDB_ID_TEXT]);
