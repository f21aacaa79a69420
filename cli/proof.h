/* cli/proof.h - that what will be loaded is what was saved. */
#ifndef SHERD_CLI_PROOF_H
#define SHERD_CLI_PROOF_H

#include "place.h"

#include <sherd/ckpt.h>

/* All of the checkpoint: every shard by its SHA-256. A part: the blocks that are touched, by their CRC. Fails with the
 * first problem. */
int sherd_proof_selection(sherd_cli *cli, const sherd_place *place, const sherd_ckpt *ckpt,
                          const sherd_bundle_selection *want, sherd_error *err);

#endif
