/* format/samediff/era.h - which version's tables a SameDiff file has (docs/formats/samediff-legacy.md, Versions).
 *
 * A file does not tell its version. Its tables do: the fields that they have, and what those can be. */
#pragma once

#include "codec/flatbuf.h"

typedef enum shd_samediff_era {
	SHD_SAMEDIFF_ERA_NOW = 0,      /* 1.0.0-beta4 and later; or damaged beyond telling */
	SHD_SAMEDIFF_ERA_BETA3 = 1,    /* 1.0.0-beta2 and beta3 */
	SHD_SAMEDIFF_ERA_BEFORE = 2,   /* older */
	SHD_SAMEDIFF_ERA_SNAPSHOT = 3, /* between beta3 and beta4: some of both, and numbers of neither */
} shd_samediff_era;

/* Looks at the root and at a few variables and operations; never fails, and leaves the reader as it was. */
shd_samediff_era shd_samediff_era_of(shd_flatbuf *fb, const shd_flat_table *root);
