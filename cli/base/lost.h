/* cli/base/lost.h - what --partial goes on without: a warning each, or "lost" in the document. */
#ifndef SHERD_CLI_BASE_LOST_H
#define SHERD_CLI_BASE_LOST_H

#include "base/doc.h"
#include "base/place.h"

#include <sherd/bundle.h>

typedef struct sherd_lost {
	sherd_cli *cli;
	const sherd_place *place;
	sherd_doc list; /* an array that is still open */
	bool any;       /* something was told */
} sherd_lost;

/* To be given as lost and lost_arg, where --partial was; the place is open by then. */
void sherd_lost_tell(void *arg, const sherd_error *lost);
void sherd_lost_done(sherd_lost *lost);

/* SHERD_ECORRUPT when something was told and nothing is left. */
int sherd_lost_check(const sherd_lost *lost, const sherd_bundle *left, sherd_error *err);
/* Leaves of a bundle what is whole to the last byte, and tells the rest. SHERD_ECORRUPT when nothing of it is, or when
 * not all is that was asked for by name. */
int sherd_lost_sift(sherd_lost *lost, const sherd_bundle *from, bool by_name, sherd_bundle **out, sherd_error *err);

#endif
