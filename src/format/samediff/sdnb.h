/* format/samediff/sdnb.h - the head of an SDNB file, and the names of those that a model is divided over
 * (docs/formats/sdnb.md).
 *
 *	0	head, 32 bytes, big-endian: magic, version, place of the manifest, place of the graph
 *	32	the graph, FlatBuffers
 *		arrays that the graph does not hold itself
 *		the manifest, which tells where those lie */
#ifndef SHERD_FORMAT_SAMEDIFF_SDNB_H
#define SHERD_FORMAT_SAMEDIFF_SDNB_H

#include "base/error.h"
#include "base/str.h"
#include "format/samediff/java_manifest.h"

#define SHERD_SDNB_MAGIC "SDNB"
#define SHERD_SDNB_HEAD 32
#define SHERD_SDNB_ALIGN 64 /* where we place arrays; others place them anywhere */
#define SHERD_SDNB_SUFFIX ".sdnb"

typedef struct sherd_sdnb_head {
	uint64_t manifest, manifest_bytes;
} sherd_sdnb_head;

/* raw is the first SHERD_SDNB_HEAD bytes, fewer when the file has no more. */
int sherd_sdnb_head_decode(const uint8_t *raw, size_t len, uint64_t file_size, sherd_sdnb_head *out, sherd_error *err);
void sherd_sdnb_head_encode(const sherd_sdnb_head *head, uint8_t raw[SHERD_SDNB_HEAD]);

/* Holds the places of the arrays against each other and the manifest; *graph_end is where the graph ends at the
 * latest. */
int sherd_sdnb_check_places(const sherd_java_manifest_entry *entries, size_t count, const sherd_sdnb_head *head,
                            uint64_t *graph_end, sherd_error *err);

/* <base>.shard<index>-of-<count>, with .sdnb behind it or not. */
typedef struct sherd_sdnb_name {
	sherd_str base; /* of the name that was parsed */
	uint32_t index, count;
} sherd_sdnb_name;

/* false when the name is none of a shard: index below count, no leading zeros. */
bool sherd_sdnb_name_parse(sherd_str name, sherd_sdnb_name *out);

#endif
