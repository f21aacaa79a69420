#include "format/rfdb/zone.h"

#include <stdlib.h>

static shd_str zone_take(shd_cursor *c)
{
	uint16_t len = shd_cursor_u16(c);
	const uint8_t *p = shd_cursor_bytes(c, len);
	return p ? (shd_str){(const char *)p, len} : (shd_str){0};
}

/* ---- reading */

/* Moves past the head of the field; its number of values, or -1. */
static int64_t enter(shd_cursor *c, const char *field)
{
	uint32_t fields = shd_cursor_u32(c);
	for (uint32_t f = 0; f < fields && !c->failed; f++) {
		shd_str name = zone_take(c);
		uint32_t values = shd_cursor_u32(c);
		if (!c->failed && shd_str_is(name, field))
			return values;
		for (uint32_t v = 0; v < values && !c->failed; v++)
			(void)zone_take(c);
	}
	return -1;
}

shd_rfdb_answer shd_rfdb_zone_has(const shd_rfdb_zone *zone, const char *field, shd_str value)
{
	shd_cursor c = shd_cursor_over(zone->data, zone->len);
	int64_t values = enter(&c, field);
	if (values < 0)
		return SHD_RFDB_UNKNOWN;
	for (int64_t v = 0; v < values; v++) {
		shd_str s = zone_take(&c);
		if (c.failed)
			return SHD_RFDB_UNKNOWN;
		if (shd_str_compare(s, value) == 0)
			return SHD_RFDB_YES;
	}
	return SHD_RFDB_NO;
}

bool shd_rfdb_zone_next(const shd_rfdb_zone *zone, const char *field, shd_rfdb_zone_walk *walk, shd_str *value)
{
	if (!walk->begun) {
		walk->at = shd_cursor_over(zone->data, zone->len);
		int64_t values = enter(&walk->at, field);
		walk->left = values < 0 ? 0 : (uint32_t)values;
		walk->begun = true;
	}
	if (!walk->left)
		return false;
	shd_str s = zone_take(&walk->at);
	walk->left = walk->at.failed ? 0 : walk->left - 1;
	if (!walk->at.failed)
		*value = s;
	return !walk->at.failed;
}

static int check_ascent(shd_str before, shd_str s, bool first, size_t at, sherd_error *err)
{
	if (!first && shd_str_compare(before, s) >= 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "the zone map does not ascend");
	return SHERD_OK;
}

int shd_rfdb_zone_check(const shd_rfdb_zone *zone, sherd_error *err)
{
	shd_cursor c = shd_cursor_over(zone->data, zone->len);
	uint32_t fields = shd_cursor_u32(&c);
	shd_str name = {0}, value = {0};
	for (uint32_t f = 0; f < fields && !c.failed; f++) {
		shd_str before = name;
		size_t at = c.pos;
		name = zone_take(&c);
		uint32_t values = shd_cursor_u32(&c);
		if (!c.failed)
			TRY(check_ascent(before, name, f == 0, at, err));
		for (uint32_t v = 0; v < values && !c.failed; v++) {
			before = value;
			at = c.pos;
			value = zone_take(&c);
			if (!c.failed)
				TRY(check_ascent(before, value, v == 0, at, err));
		}
	}
	return shd_cursor_end(&c, "the zone map", err);
}

/* ---- writing */

static int compare_values(const void *a, const void *b)
{
	return shd_str_compare(*(const shd_str *)a, *(const shd_str *)b);
}

static bool zone_fits(shd_rfdb_zone_field *f)
{
	if (f->left_out || (f->count > SHD_RFDB_ZONE_VALUES && !f->whole))
		return false;
	for (size_t i = 0; i < f->count; i++)
		if (f->values[i].len > UINT16_MAX)
			return false;
	return true;
}

static void zone_put(shd_buf *out, shd_str s)
{
	shd_buf_u16(out, (uint16_t)s.len);
	shd_buf_append(out, s.ptr, s.len);
}

void shd_rfdb_zone_encode(shd_rfdb_zone_field *fields, size_t count, shd_buf *out)
{
	uint32_t kept = 0;
	for (size_t i = 0; i < count; i++)
		kept += zone_fits(&fields[i]);
	shd_buf_u32(out, kept);
	for (size_t i = 0; i < count; i++) {
		shd_rfdb_zone_field *f = &fields[i];
		if (!zone_fits(f))
			continue;
		if (f->count)
			qsort(f->values, f->count, sizeof(*f->values), compare_values);
		zone_put(out, shd_str_of(f->name));
		shd_buf_u32(out, (uint32_t)f->count);
		for (size_t v = 0; v < f->count; v++)
			zone_put(out, f->values[v]);
	}
}
