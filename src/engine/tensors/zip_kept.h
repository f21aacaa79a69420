/* engine/tensors/zip_kept.h - small parts of a compressed entry, kept when the stream comes past them.
 *
 * Arrays are read in an order of their own, and each step back inflates again what lies between two points. Most arrays
 * of a model are small: those are kept as soon as they were passed, so that they are never gone back for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHD_ZIP_KEPT_MOST (64u << 10)  /* bytes of one part */
#define SHD_ZIP_KEPT_TOTAL (16u << 20) /* and of all of them */

typedef struct shd_zip_part {
	uint64_t at;
	uint32_t len, have; /* bytes of it, from its beginning, that were passed */
	uint8_t *bytes;     /* NULL: none yet */
} shd_zip_part;

typedef struct shd_zip_kept {
	shd_zip_part *parts; /* by their place, none over another */
	size_t count;
} shd_zip_kept;

/* Takes the parts over, which are in any order and were allocated by malloc(); those that are too much are left out. */
void shd_zip_kept_init(shd_zip_kept *k, shd_zip_part *parts, size_t count);
void shd_zip_kept_done(shd_zip_kept *k);
/* The stream came past these bytes. */
void shd_zip_kept_pass(shd_zip_kept *k, uint64_t at, const uint8_t *bytes, size_t len);
/* Gives bytes that are kept, all of them or none. */
bool shd_zip_kept_give(const shd_zip_kept *k, uint64_t at, void *out, size_t len);
