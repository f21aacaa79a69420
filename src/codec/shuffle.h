/* codec/shuffle.h - bytes of equal weight brought together, so that they pack better.
 *
 * Of elements of width bytes first all first bytes, then all second ones, and so on; bytes after the last whole
 * element stay behind all of them. in and out do not overlap. */
#pragma once

#include <stddef.h>

void shd_shuffle(const void *in, size_t len, size_t width, void *out);
void shd_unshuffle(const void *in, size_t len, size_t width, void *out);
