#include "format/rfdb/synced.h"

#include "format/rfdb/manifest_read.h"

typedef struct synced_reading {
	shd_rfdb_reading r; /* first: takers of texts are handed it */
	shd_rfdb_synced *out;
} synced_reading;

static int take_synced_line(void *arg, void *field, shd_json *j, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"place", .take = shd_rfdb_take_text, .at = offsetof(shd_rfdb_synced_with, place), .needed = true},
		{"version", SHD_JSON_U64, offsetof(shd_rfdb_synced_with, here), .needed = true},
		{"theirs", SHD_JSON_U64, offsetof(shd_rfdb_synced_with, there), .needed = true},
		{"print", SHD_JSON_SHA256, offsetof(shd_rfdb_synced_with, print), .needed = true},
		{0},
	};
	synced_reading *s = arg;
	shd_rfdb_synced_with line = {0};
	(void)field;
	TRY(shd_json_members(j, members, &s->r, &line, err));
	if (s->out->count == SHD_RFDB_MOST_SYNCED)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", shd_json_offset(j), "more than %d places",
		                   SHD_RFDB_MOST_SYNCED);
	s->out->items[s->out->count++] = line;
	return SHERD_OK;
}

static int take_synced_lines(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return shd_json_items(j, take_synced_line, arg, field, err);
}

int shd_rfdb_synced_decode(const void *data, size_t len, shd_arena *arena, shd_rfdb_synced *out, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"synced", .take = take_synced_lines, .needed = true},
		{0},
	};
	shd_rfdb_synced found = {0};
	synced_reading s = {.r = {.data = data, .len = len, .arena = arena}, .out = &found};
	TRY(shd_json_sealed(data, len, NULL, members, &s, &found, err));
	*out = found;
	return SHERD_OK;
}

void shd_rfdb_synced_encode(const shd_rfdb_synced *synced, shd_buf *out)
{
	shd_json_writer w;
	char print[SHD_SHA256_HEX + 1];
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key_array(&w, "synced", false);
	for (size_t i = 0; i < synced->count; i++) {
		const shd_rfdb_synced_with *line = &synced->items[i];
		shd_hex(line->print, sizeof(line->print), print);
		shd_json_put_object(&w, true);
		shd_json_put_key(&w, "place");
		shd_json_put_string(&w, line->place);
		shd_json_put_key_u64(&w, "version", line->here);
		shd_json_put_key_u64(&w, "theirs", line->there);
		shd_json_put_key_text(&w, "print", print);
		shd_json_put_object_end(&w);
	}
	shd_json_put_array_end(&w);
	shd_seal_put(&w);
}

const shd_rfdb_synced_with *shd_rfdb_synced_find(const shd_rfdb_synced *synced, shd_str place)
{
	for (size_t i = synced->count; i-- > 0;)
		if (shd_str_compare(synced->items[i].place, place) == 0)
			return &synced->items[i];
	return NULL;
}

void shd_rfdb_synced_put(shd_rfdb_synced *synced, const shd_rfdb_synced_with *with)
{
	size_t kept = 0;
	bool there = shd_rfdb_synced_find(synced, with->place);
	for (size_t i = !there && synced->count == SHD_RFDB_MOST_SYNCED; i < synced->count; i++)
		if (shd_str_compare(synced->items[i].place, with->place) != 0)
			synced->items[kept++] = synced->items[i];
	synced->items[kept] = *with;
	synced->count = kept + 1;
}
