/* engine/ckpt/training.h - what all ranks of a set must say alike about the training. */
#pragma once

#include "base/str.h"

#include <sherd/ckpt.h>

/* That part of what a rank says: step, epoch, learning rate, type of the optimizer, strategy, precision. False: it says
 * nothing of it. Borrowed. Documents, custom fields and the rank in data-parallel training are each rank's own. */
bool shd_ckpt_training(const sherd_ckpt_about *about, sherd_ckpt_about *out);

/* Adds what one says and the others have not said. */
void shd_ckpt_training_add(sherd_ckpt_about *said, const sherd_ckpt_about *about);

/* The first thing that two say differently. */
typedef struct ckpt_disagreement {
	const char *what;
	char first[64], second[64]; /* or "not said" */
} ckpt_disagreement;
/* Who must not be silent about what the other one says. */
typedef enum ckpt_must_say { CKPT_NOBODY = 0, CKPT_FIRST = 1, CKPT_BOTH = 3 } ckpt_must_say;
bool shd_ckpt_disagree(const sherd_ckpt_about *first, const sherd_ckpt_about *second, ckpt_must_say who,
                       ckpt_disagreement *out);
