/* engine/model/container_verify.h - checking every byte of a container. */
#pragma once

#include "engine/model/container.h"
#include "engine/tensors/report.h"

/* Heads and CRCs of sections, the index, every chunk, and that nothing but zeros lies between chunks; quick: heads
 * only. */
int shd_container_verify_file(sherd_report *r, const container_file *f, uint32_t shard, const sherd_verify_options *o,
                              sherd_error *err);
/* The same for each file of an open model; and that graph and index tell of the same arrays. Warns of a claim, and of
 * files under the base that are not of the set. */
int shd_container_verify_model(sherd_report *r, const shd_container_model *m, const sherd_verify_options *o,
                               sherd_error *err);
