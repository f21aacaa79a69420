/* engine/model/container_parts.h - what a container will hold of a model: the graph, encoded, and its arrays. */
#pragma once

#include "engine/model/model.h"
#include "format/container/digests.h"
#include "format/container/index.h"

typedef struct container_part {
	size_t array;                        /* as the caller numbers it */
	shd_container_array a;               /* without chunks and shard */
	SHD_VEC(shd_container_chunk) chunks; /* as they are written */
	SHD_VEC(shd_digest_value) values;    /* and theirs, in a file with DIGESTS */
	uint64_t given;                      /* bytes of it so far */
} container_part;

/* Lives in the arena, but for the chunks. */
typedef struct container_parts {
	const uint8_t *graph;
	size_t graph_len;
	container_part *list; /* in the order in which a reader of the graph numbers them */
	size_t count;
	size_t *part_of; /* by the caller's number; SHERD_NO_ARRAY: left out */
	size_t array_count;
} container_parts;

/* Encodes the graph, and reads it back: arrays are called what whoever opens the container will call them.
 * SHERD_EUNSUPPORTED as shd_samediff_encode(). */
int shd_container_parts_make(const sherd_model *from, bool without_updater, shd_arena *arena, container_parts *out,
                             sherd_error *err);
void shd_container_parts_done(container_parts *parts);
