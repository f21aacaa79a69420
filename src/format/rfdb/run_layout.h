/* format/rfdb/run_layout.h - where things lie in a run, for the files that read and build it. */
#pragma once

#include "format/rfdb/run.h"

#define RUN_MAGIC 0x4e55524452454853u /* "SHERDRUN" */

enum {
	RUN_FLAGS = 10,
	RUN_COUNTS = 32,
	RUN_MEMBERS_CRC = 72,
	RUN_ZEROS = 76,
	RUN_CRC = 124,
	RUN_MEMBER = 64,

	RUN_TAGS = 8,
	RUN_ROWS = RUN_TAGS + 2 * SHD_RFDB_RUN_ENTRIES,
	RUN_NUMBER = RUN_ROWS + 4 * SHD_RFDB_RUN_ENTRIES
};

_Static_assert(RUN_NUMBER + 8 == SHD_RFDB_RUN_PAGE, "a page is filled");

/* The upper 48 bits of a hash order the entries: the upper 32 of them are what a fence has, the lower 16 the tag. */
static inline uint32_t run_fence(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

static inline uint16_t run_tag(uint64_t hash)
{
	return (uint16_t)(hash >> 16);
}

/* Sizes and places of all tables; the size of the file. */
static inline uint64_t run_place(shd_rfdb_pages tables[SHD_RFDB_RUN_TABLES], uint64_t members)
{
	uint64_t page = (SHD_RFDB_RUN_HEAD + RUN_MEMBER * members + SHD_RFDB_RUN_PAGE - 1) / SHD_RFDB_RUN_PAGE;
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++) {
		tables[t].first = page;
		tables[t].count = (tables[t].entries + SHD_RFDB_RUN_ENTRIES - 1) / SHD_RFDB_RUN_ENTRIES;
		page += tables[t].count;
	}
	uint64_t at = page * SHD_RFDB_RUN_PAGE;
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++) {
		tables[t].fences = at;
		at += 4 * tables[t].count + 4;
	}
	return at;
}
