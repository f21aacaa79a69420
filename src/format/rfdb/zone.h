/* format/rfdb/zone.h - the zone map of a segment: which values some columns have. docs/formats/rfdb.md, "Zone map". */
#ifndef SHERD_FORMAT_RFDB_ZONE_H
#define SHERD_FORMAT_RFDB_ZONE_H

#include "base/buf.h"
#include "base/cursor.h"

/* A field with more distinct values than this, or with a value longer than 65,535 bytes, is left out. */
#define SHERD_RFDB_ZONE_VALUES 10000

typedef enum sherd_rfdb_answer { SHERD_RFDB_NO, SHERD_RFDB_YES, SHERD_RFDB_UNKNOWN } sherd_rfdb_answer;

/* A view into the segment. */
typedef struct sherd_rfdb_zone {
	const uint8_t *data;
	size_t len;
} sherd_rfdb_zone;

/* Walks through the whole map: well-formed, fields and values ascending and once, nothing left over. */
int sherd_rfdb_zone_check(const sherd_rfdb_zone *zone, sherd_error *err);
/* Is the value in the field? UNKNOWN when the field was left out, or the map is damaged in front of it. */
sherd_rfdb_answer sherd_rfdb_zone_has(const sherd_rfdb_zone *zone, const char *field, sherd_str value);

/* One value after the other: 1 and the value, 0 at the end or where the map is damaged. Begin with a zeroed walk. */
typedef struct sherd_rfdb_zone_walk {
	sherd_cursor at;
	uint32_t left;
	bool begun;
} sherd_rfdb_zone_walk;
bool sherd_rfdb_zone_next(const sherd_rfdb_zone *zone, const char *field, sherd_rfdb_zone_walk *walk, sherd_str *value);

/* For the writer: a field and its distinct values, sorted in place here. */
typedef struct sherd_rfdb_zone_field {
	const char *name;
	sherd_str *values;
	size_t count;
	bool left_out; /* values and count do not matter */
} sherd_rfdb_zone_field;
/* fields ascend by name. */
void sherd_rfdb_zone_encode(sherd_rfdb_zone_field *fields, size_t count, sherd_buf *out);

#endif
