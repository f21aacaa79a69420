/* tests/support/samediff_old_make.h - SameDiff graphs with the tables of versions before 1.0.0-beta4, made by hand. */
#pragma once

#include "base/buf.h"

/* Versions by what their tables look like. */
typedef enum samediff_age {
	SAMEDIFF_BETA3,
	SAMEDIFF_BETA2,
	SAMEDIFF_BETA2_ONLY_CUSTOM, /* as BETA2, with operations that later versions have, too */
	SAMEDIFF_SHORT_SHAPES,      /* to 1.0.0-beta: shapes of 32 bits */
	SAMEDIFF_SHORT_ID,          /* 2017: the graph's id, too */
	SAMEDIFF_SNAPSHOT,          /* October 2018: later variables, older operations */
	SAMEDIFF_SHIFTED,           /* a few days later: the op's name where types of outputs are now */
} samediff_age;

/* Variables w (F32 [2, 3]: 1 to 6, in Fortran order), p (I32 [2, 3, 2], permuted: value 100i+10j+k at [i, j, k]) and h
 * (F16 [2], little-endian: 1, -2); operations t = tanh(w), s = t + 2.5, m = mmul(s, w), of which the file has no
 * results but that of s: 0.5, and, of those that tell no names of results, m:1. */
void samediff_make_old(shd_buf *b, samediff_age age);
