/* engine/rows/verify.h - checks of rows. */
#pragma once

#include "engine/tensors/report.h"

/* A folder ("" or "a/b"), its manifest, or one shard. */
int shd_rows_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                    sherd_error *err);
/* A folder of residual_shard_bf16, or its manifest. */
int shd_rows_verify_bf16(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                         sherd_error *err);
