#include "format/rfdb/name.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const kinds[] = {"nodes", "edges"};

static void file_name(uint32_t shard, uint64_t id, sherd_rfdb_kind kind, const char *suffix,
                      char out[SHERD_RFDB_NAME_MAX])
{
	if (shard == SHERD_RFDB_FLAT)
		(void)snprintf(out, SHERD_RFDB_NAME_MAX, SHERD_RFDB_SEGMENTS "seg_%06" PRIu64 "_%s%s", id, kinds[kind],
		               suffix);
	else
		(void)snprintf(out, SHERD_RFDB_NAME_MAX, SHERD_RFDB_SEGMENTS "%02" PRIu32 "/seg_%06" PRIu64 "_%s%s",
		               shard, id, kinds[kind], suffix);
}

void sherd_rfdb_segment_name(uint32_t shard, uint64_t id, sherd_rfdb_kind kind, char out[SHERD_RFDB_NAME_MAX])
{
	file_name(shard, id, kind, ".seg", out);
}

void sherd_rfdb_sidecar_name(uint32_t shard, uint64_t id, sherd_rfdb_kind kind, char out[SHERD_RFDB_NAME_MAX])
{
	file_name(shard, id, kind, ".idx", out);
}

void sherd_rfdb_folder_name(uint32_t shard, char out[SHERD_RFDB_NAME_MAX])
{
	(void)snprintf(out, SHERD_RFDB_NAME_MAX, SHERD_RFDB_SEGMENTS "%02" PRIu32, shard);
}

void sherd_rfdb_manifest_name(uint64_t version, bool edit, char out[SHERD_RFDB_NAME_MAX])
{
	(void)snprintf(out, SHERD_RFDB_NAME_MAX, SHERD_RFDB_MANIFESTS "%06" PRIu64 "%s", version,
	               edit ? ".edit.json" : ".json");
}

void sherd_rfdb_held_name(uint64_t version, uint64_t number, char out[SHERD_RFDB_NAME_MAX])
{
	(void)snprintf(out, SHERD_RFDB_NAME_MAX, SHERD_RFDB_MANIFESTS "%06" PRIu64 ".held-%" PRIu64, version, number);
}

/* ---- taking apart */

static bool take(sherd_str *s, const char *text)
{
	size_t n = strlen(text);
	if (!sherd_str_starts(*s, text))
		return false;
	*s = (sherd_str){s->ptr + n, s->len - n};
	return true;
}

static bool take_number(sherd_str *s, uint64_t max, uint64_t *out)
{
	size_t n = 0;
	uint64_t v = 0;
	for (; n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9'; n++)
		if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(s->ptr[n] - '0'), &v))
			return false;
	*s = (sherd_str){s->ptr + n, s->len - n};
	*out = v;
	return n && v <= max;
}

bool sherd_rfdb_manifest_parse(sherd_str name, uint64_t *version, bool *edit)
{
	char made[SHERD_RFDB_NAME_MAX];
	sherd_str s = name;
	uint64_t v;
	if (!take(&s, SHERD_RFDB_MANIFESTS) || !take_number(&s, UINT64_MAX, &v))
		return false;
	bool is_edit = sherd_str_is(s, ".edit.json");
	/* Numbers have one spelling, the one that is written. */
	sherd_rfdb_manifest_name(v, is_edit, made);
	if (!sherd_str_is(name, made))
		return false;
	*version = v;
	*edit = is_edit;
	return true;
}

bool sherd_rfdb_held_parse(sherd_str name, uint64_t *version, uint64_t *number)
{
	char made[SHERD_RFDB_NAME_MAX];
	sherd_str s = name;
	uint64_t v, n;
	if (!take(&s, SHERD_RFDB_MANIFESTS) || !take_number(&s, UINT64_MAX, &v) || !take(&s, ".held-") ||
	    !take_number(&s, UINT64_MAX, &n))
		return false;
	sherd_rfdb_held_name(v, n, made);
	if (!sherd_str_is(name, made))
		return false;
	*version = v;
	*number = n;
	return true;
}

bool sherd_rfdb_file_parse(sherd_str name, sherd_rfdb_file *out)
{
	char made[SHERD_RFDB_NAME_MAX];
	sherd_str s = name;
	uint64_t shard = SHERD_RFDB_FLAT, id;
	if (!take(&s, SHERD_RFDB_SEGMENTS))
		return false;
	if (!sherd_str_starts(s, "seg_") && (!take_number(&s, UINT16_MAX, &shard) || !take(&s, "/")))
		return false;
	if (!take(&s, "seg_") || !take_number(&s, UINT64_MAX, &id) || !take(&s, "_"))
		return false;
	sherd_rfdb_file f = {.shard = (uint32_t)shard, .id = id, .is_sidecar = sherd_str_ends(s, ".idx")};
	f.kind = sherd_str_starts(s, kinds[SHERD_RFDB_EDGES]) ? SHERD_RFDB_EDGES : SHERD_RFDB_NODES;
	file_name(f.shard, f.id, f.kind, f.is_sidecar ? ".idx" : ".seg", made);
	if (!sherd_str_is(name, made))
		return false;
	*out = f;
	return true;
}
