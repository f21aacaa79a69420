/* cli/lost.h - what --partial goes on without: a warning each, or "lost" in the document. */
#ifndef SHERD_CLI_LOST_H
#define SHERD_CLI_LOST_H

#include "doc.h"
#include "place.h"

#include <sherd/bundle.h>

typedef struct sherd_lost {
	sherd_cli *cli;
	const sherd_place *place;
	sherd_doc list; /* an array that is still open */
} sherd_lost;

/* To be given as lost and lost_arg, where --partial was; the place is open by then. */
void sherd_lost_tell(void *arg, const sherd_error *lost);
void sherd_lost_done(sherd_lost *lost);

#endif
