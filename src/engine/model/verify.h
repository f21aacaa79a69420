/* engine/model/verify.h - checking a model. */
#pragma once

#include "engine/tensors/report.h"

/* Structure, then what the parts say of each other, then (unless quick) the offsets of texts; of a container every
 * byte. */
int shd_model_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                     sherd_error *err);
