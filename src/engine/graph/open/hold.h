/* engine/graph/open/hold.h - versions that somebody reads, and how the collector sees it.
 *
 * A reader holds a shared lock on a manifest of its version. Manifests are immutable but for one case, a tag, which
 * replaces a full one: the one before then keeps a second name, NNNNNN.held-K, as long as anybody holds it. */
#pragma once

#include "engine/graph/disk/place.h"
#include "format/rfdb/manifest.h"

/* Holds a version against collection, as long as the lock lives; *out is NULL on stores that cannot lock.
 * SHERD_ENOTFOUND when it is gone, SHERD_ECONFLICT when it is being removed. */
int shd_graph_hold_version(const graph_place *p, uint64_t version, sherd_lock **out, sherd_error *err);

/* Writes the full manifest of a version, in place of the one with the identity; "": where none is. Else
 * SHERD_ECONFLICT, "changed". Who holds the one before is still seen. Where objects have one name only:
 * SHERD_ECONFLICT, "locked", when anybody does. */
int shd_graph_hold_replace(const graph_place *p, const shd_rfdb_manifest *m, const char *identity, sherd_error *err);

/* Calls each() for every version with a manifest that was replaced and is still held; others lose their second name.
 * A version may come several times. */
int shd_graph_hold_list(const graph_place *p, void (*each)(void *arg, uint64_t version), void *arg, sherd_error *err);
