/* format/samediff/era.h - which version's tables a SameDiff file has (docs/formats/samediff-legacy.md, Versions).
 *
 * A file does not tell its version. Its tables do: the fields that they have, and what those can be. */
#ifndef SHERD_FORMAT_SAMEDIFF_ERA_H
#define SHERD_FORMAT_SAMEDIFF_ERA_H

#include "codec/flatbuf.h"

typedef enum sherd_samediff_era {
	SHERD_SAMEDIFF_ERA_NOW = 0,      /* 1.0.0-beta4 and later; or damaged beyond telling */
	SHERD_SAMEDIFF_ERA_BETA3 = 1,    /* 1.0.0-beta2 and beta3 */
	SHERD_SAMEDIFF_ERA_BEFORE = 2,   /* older */
	SHERD_SAMEDIFF_ERA_SNAPSHOT = 3, /* between beta3 and beta4: some of both, and numbers of neither */
} sherd_samediff_era;

/* Looks at the root and at a few variables and operations; never fails, and leaves the reader as it was. */
sherd_samediff_era sherd_samediff_era_of(sherd_flatbuf *fb, const sherd_flat_table *root);

#endif
