/* format/samediff/sdnb.h - the head of an SDNB file, and the names of those that a model is divided over
 * (docs/formats/sdnb.md).
 *
 *	0	head, 32 bytes, big-endian: magic, version, place of the manifest, place of the graph
 *	32	the graph, FlatBuffers
 *		arrays that the graph does not hold itself
 *		the manifest, which tells where those lie */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "format/samediff/java_manifest.h"

#define SHD_SDNB_MAGIC "SDNB"
#define SHD_SDNB_HEAD 32
#define SHD_SDNB_ALIGN 64 /* where we place arrays; others place them anywhere */
#define SHD_SDNB_SUFFIX ".sdnb"

typedef struct shd_sdnb_head {
	uint64_t manifest, manifest_bytes;
} shd_sdnb_head;

/* raw is the first SHD_SDNB_HEAD bytes, fewer when the file has no more. */
int shd_sdnb_head_decode(const uint8_t *raw, size_t len, uint64_t file_size, shd_sdnb_head *out, sherd_error *err);
void shd_sdnb_head_encode(const shd_sdnb_head *head, uint8_t raw[SHD_SDNB_HEAD]);

/* Holds the places of the arrays against each other and the manifest; *graph_end is where the graph ends at the
 * latest. */
int shd_sdnb_check_places(const shd_java_manifest_entry *entries, size_t count, const shd_sdnb_head *head,
                          uint64_t *graph_end, sherd_error *err);

/* <base>.shard<index>-of-<count>, with .sdnb after it or not. */
typedef struct shd_sdnb_name {
	shd_str base; /* of the name that was parsed */
	uint32_t index, count;
} shd_sdnb_name;

/* false when the name is none of a shard: index below count, no leading zeros. */
bool shd_sdnb_name_parse(shd_str name, shd_sdnb_name *out);
