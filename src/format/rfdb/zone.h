/* format/rfdb/zone.h - the zone map of a segment: which values some columns have. docs/formats/rfdb.md, "Zone map". */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"

/* A field with more distinct values than this is left out, unless it is to be whole; so is one with a value longer than
 * 65,535 bytes. */
#define SHD_RFDB_ZONE_VALUES 10000

typedef enum shd_rfdb_answer { SHD_RFDB_NO, SHD_RFDB_YES, SHD_RFDB_UNKNOWN } shd_rfdb_answer;

/* A view into the segment. */
typedef struct shd_rfdb_zone {
	const uint8_t *data;
	size_t len;
} shd_rfdb_zone;

/* Walks through the whole map: well-formed, fields and values ascending and once, nothing left over. */
int shd_rfdb_zone_check(const shd_rfdb_zone *zone, sherd_error *err);
/* Is the value in the field? UNKNOWN when the field was left out, or the map is damaged in front of it. */
shd_rfdb_answer shd_rfdb_zone_has(const shd_rfdb_zone *zone, const char *field, shd_str value);

/* One value after the other: 1 and the value, 0 at the end or where the map is damaged. Begin with a zeroed walk. */
typedef struct shd_rfdb_zone_walk {
	shd_cursor at;
	uint32_t left;
	bool begun;
} shd_rfdb_zone_walk;
bool shd_rfdb_zone_next(const shd_rfdb_zone *zone, const char *field, shd_rfdb_zone_walk *walk, shd_str *value);

/* For the writer: a field and its distinct values, sorted in place here. */
typedef struct shd_rfdb_zone_field {
	const char *name;
	shd_str *values;
	size_t count;
	bool left_out; /* values and count do not matter */
	bool whole;    /* however many there are */
} shd_rfdb_zone_field;
/* fields ascend by name. */
void shd_rfdb_zone_encode(shd_rfdb_zone_field *fields, size_t count, shd_buf *out);
