/* engine/graph/open/open.h - the parts of opening that other files of the engine use. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/publish/claim.h"

/* LOCK, which one writer at a time holds, ours or the real server; nothing on stores that cannot lock. It stays. */
int shd_graph_claim_writer(shd_claim *out, const graph_place *p, sherd_error *err);
int shd_graph_lock_writer(const graph_place *p, sherd_lock **out, sherd_error *err);

/* A writer at version 1 of a database that is being made: nothing names its version yet, and whoever makes it holds
 * the lock. */
int shd_graph_open_creation(sherd_graph **out, const graph_place *p, const graph_head *head, sherd_pool *pool,
                            sherd_error *err);

/* Removes manifests above the version of the head, which nobody committed: one could become a part of a later version.
 * Whoever was about to commit one is refused from then on. */
int shd_graph_clear_uncommitted(const graph_place *p, graph_head *head, sherd_error *err);
