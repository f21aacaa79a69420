/* format/samediff/java_manifest.h - the manifest of an SDNB file: where the arrays after the graph lie
 * (docs/formats/sdnb.md, The manifest).
 *
 * It is a Java object stream: a LinkedHashMap of names to Pairs of Longs. That one grammar is read, with the handles
 * through which such a stream refers to what it held before; any other class is refused. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <sherd/limits.h>

typedef struct shd_java_manifest_entry {
	const char *name; /* UTF-8 */
	uint64_t offset, length;
} shd_java_manifest_entry;

/* Entries in the order of the file; they live in the arena. No two names are alike. Errors count from the manifest. */
int shd_java_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                             shd_java_manifest_entry **out, size_t *count, sherd_error *err);

/* Appends the bytes that Java's own ObjectOutputStream makes of the same map. Names are UTF-8, none of them alike and
 * at most 64 KiB less one byte in Java's form: SHERD_EUNSUPPORTED, "cannot-hold", else. */
int shd_java_manifest_encode(shd_buf *out, const shd_java_manifest_entry *entries, size_t count, sherd_error *err);
