/* format/rfdb/sidecar_layout.h - where things lie in a sidecar, for the files that read, check and build it. */
#pragma once

#include "format/rfdb/sidecar.h"

#define SIDECAR_MAGIC 0x5844494452454853u /* "SHERDIDX" */

enum {
	SIDECAR_TABLE = 64,
	SIDECAR_ENTRY = 24,
	SIDECAR_SECTIONS = 4,
	SIDECAR_CRC = SIDECAR_TABLE + SIDECAR_ENTRY * SIDECAR_SECTIONS,
	SIDECAR_GROUPS_HEAD = 8,

	SIDECAR_BY_ID = 0,
	SIDECAR_NODES_BY_TYPE = 1,
	SIDECAR_BY_FILE = 2,
	SIDECAR_BY_NAME = 3,
	SIDECAR_BY_DST = 1,
	SIDECAR_EDGES_BY_TYPE = 2
};

/* Where a section's entry in the table lies. */
static inline size_t sidecar_entry(int section)
{
	return SIDECAR_TABLE + SIDECAR_ENTRY * (size_t)section;
}

static inline uint64_t sidecar_groups_size(uint64_t groups, uint64_t rows)
{
	return SIDECAR_GROUPS_HEAD + 4 * groups + 4 * (groups + 1) + 4 * rows;
}

/* The CRC by which a segment is recognised. */
uint32_t shd_rfdb_sidecar_quick(const shd_rfdb_segment *s);
