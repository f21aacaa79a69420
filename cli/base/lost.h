/* cli/base/lost.h - what --partial goes on without: a warning each, or "lost" in the document. */
#pragma once

#include "base/doc.h"
#include "base/place.h"

#include <sherd/bundle.h>

typedef struct cli_lost {
	cli_state *cli;
	const cli_place *place;
	cli_doc list; /* an array that is still open */
	bool any;     /* something was told */
} cli_lost;

/* To be given as lost and lost_arg, where --partial was; the place is open by then. */
void cli_lost_tell(void *arg, const sherd_error *lost);
void cli_lost_done(cli_lost *lost);
#define CLI_AUTO_LOST __attribute__((cleanup(cli_lost_done))) cli_lost

/* SHERD_ECORRUPT when something was told and nothing is left. */
int cli_lost_check(const cli_lost *lost, const sherd_bundle *left, sherd_error *err);
/* Leaves of a bundle what is whole to the last byte, and tells the rest. SHERD_ECORRUPT when nothing of it is, or when
 * not all is that was asked for by name. */
int cli_lost_sift(sherd_bundle **out, cli_lost *lost, const sherd_bundle *from, bool by_name, sherd_error *err);
