#include "format/rfdb/zone.h"

#include <stdlib.h>

static sherd_str take(sherd_cursor *c)
{
	uint16_t len = sherd_cursor_u16(c);
	const uint8_t *p = sherd_cursor_bytes(c, len);
	return p ? (sherd_str){(const char *)p, len} : (sherd_str){0};
}

/* ---- reading */

/* Moves behind the head of the field; its number of values, or -1. */
static int64_t enter(sherd_cursor *c, const char *field)
{
	uint32_t fields = sherd_cursor_u32(c);
	for (uint32_t f = 0; f < fields && !c->failed; f++) {
		sherd_str name = take(c);
		uint32_t values = sherd_cursor_u32(c);
		if (!c->failed && sherd_str_is(name, field))
			return values;
		for (uint32_t v = 0; v < values && !c->failed; v++)
			(void)take(c);
	}
	return -1;
}

sherd_rfdb_answer sherd_rfdb_zone_has(const sherd_rfdb_zone *zone, const char *field, sherd_str value)
{
	sherd_cursor c = sherd_cursor_over(zone->data, zone->len);
	int64_t values = enter(&c, field);
	if (values < 0)
		return SHERD_RFDB_UNKNOWN;
	for (int64_t v = 0; v < values; v++) {
		sherd_str s = take(&c);
		if (c.failed)
			return SHERD_RFDB_UNKNOWN;
		if (sherd_str_compare(s, value) == 0)
			return SHERD_RFDB_YES;
	}
	return SHERD_RFDB_NO;
}

bool sherd_rfdb_zone_next(const sherd_rfdb_zone *zone, const char *field, sherd_rfdb_zone_walk *walk, sherd_str *value)
{
	if (!walk->begun) {
		walk->at = sherd_cursor_over(zone->data, zone->len);
		int64_t values = enter(&walk->at, field);
		walk->left = values < 0 ? 0 : (uint32_t)values;
		walk->begun = true;
	}
	if (!walk->left)
		return false;
	sherd_str s = take(&walk->at);
	walk->left = walk->at.failed ? 0 : walk->left - 1;
	if (!walk->at.failed)
		*value = s;
	return !walk->at.failed;
}

static int check_ascent(sherd_str before, sherd_str s, bool first, size_t at, sherd_error *err)
{
	if (!first && sherd_str_compare(before, s) >= 0)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "the zone map does not ascend");
	return SHERD_OK;
}

int sherd_rfdb_zone_check(const sherd_rfdb_zone *zone, sherd_error *err)
{
	sherd_cursor c = sherd_cursor_over(zone->data, zone->len);
	uint32_t fields = sherd_cursor_u32(&c);
	sherd_str name = {0}, value = {0};
	for (uint32_t f = 0; f < fields && !c.failed; f++) {
		sherd_str before = name;
		size_t at = c.pos;
		name = take(&c);
		uint32_t values = sherd_cursor_u32(&c);
		if (!c.failed)
			TRY(check_ascent(before, name, f == 0, at, err));
		for (uint32_t v = 0; v < values && !c.failed; v++) {
			before = value;
			at = c.pos;
			value = take(&c);
			if (!c.failed)
				TRY(check_ascent(before, value, v == 0, at, err));
		}
	}
	return sherd_cursor_end(&c, "the zone map", err);
}

/* ---- writing */

static int compare_values(const void *a, const void *b)
{
	return sherd_str_compare(*(const sherd_str *)a, *(const sherd_str *)b);
}

static bool fits(sherd_rfdb_zone_field *f)
{
	if (f->left_out || f->count > SHERD_RFDB_ZONE_VALUES)
		return false;
	for (size_t i = 0; i < f->count; i++)
		if (f->values[i].len > UINT16_MAX)
			return false;
	return true;
}

static void put(sherd_buf *out, sherd_str s)
{
	sherd_buf_u16(out, (uint16_t)s.len);
	sherd_buf_append(out, s.ptr, s.len);
}

void sherd_rfdb_zone_encode(sherd_rfdb_zone_field *fields, size_t count, sherd_buf *out)
{
	uint32_t kept = 0;
	for (size_t i = 0; i < count; i++)
		kept += fits(&fields[i]);
	sherd_buf_u32(out, kept);
	for (size_t i = 0; i < count; i++) {
		sherd_rfdb_zone_field *f = &fields[i];
		if (!fits(f))
			continue;
		if (f->count)
			qsort(f->values, f->count, sizeof(*f->values), compare_values);
		put(out, sherd_str_of(f->name));
		sherd_buf_u32(out, (uint32_t)f->count);
		for (size_t v = 0; v < f->count; v++)
			put(out, f->values[v]);
	}
}
