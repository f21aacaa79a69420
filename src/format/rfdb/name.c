#include "format/rfdb/name.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const kinds[] = {"nodes", "edges"};

static void file_name(uint32_t shard, uint64_t id, shd_rfdb_kind kind, const char *suffix, char out[SHD_RFDB_NAME_MAX])
{
	if (shard == SHD_RFDB_FLAT)
		(void)snprintf(out, SHD_RFDB_NAME_MAX, SHD_RFDB_SEGMENTS "seg_%06" PRIu64 "_%s%s", id, kinds[kind],
		               suffix);
	else
		(void)snprintf(out, SHD_RFDB_NAME_MAX, SHD_RFDB_SEGMENTS "%02" PRIu32 "/seg_%06" PRIu64 "_%s%s", shard,
		               id, kinds[kind], suffix);
}

void shd_rfdb_segment_name(uint32_t shard, uint64_t id, shd_rfdb_kind kind, char out[SHD_RFDB_NAME_MAX])
{
	file_name(shard, id, kind, ".seg", out);
}

void shd_rfdb_sidecar_name(uint32_t shard, uint64_t id, shd_rfdb_kind kind, char out[SHD_RFDB_NAME_MAX])
{
	file_name(shard, id, kind, ".idx", out);
}

void shd_rfdb_folder_name(uint32_t shard, char out[SHD_RFDB_NAME_MAX])
{
	(void)snprintf(out, SHD_RFDB_NAME_MAX, SHD_RFDB_SEGMENTS "%02" PRIu32, shard);
}

void shd_rfdb_manifest_name(uint64_t version, bool edit, char out[SHD_RFDB_NAME_MAX])
{
	(void)snprintf(out, SHD_RFDB_NAME_MAX, SHD_RFDB_MANIFESTS "%06" PRIu64 "%s", version,
	               edit ? ".edit.json" : ".json");
}

void shd_rfdb_run_name(uint64_t number, char out[SHD_RFDB_NAME_MAX])
{
	(void)snprintf(out, SHD_RFDB_NAME_MAX, SHD_RFDB_RUNS "%06" PRIu64 ".idx", number);
}

void shd_rfdb_held_name(uint64_t version, uint64_t number, char out[SHD_RFDB_NAME_MAX])
{
	(void)snprintf(out, SHD_RFDB_NAME_MAX, SHD_RFDB_MANIFESTS "%06" PRIu64 ".held-%" PRIu64, version, number);
}

/* ---- taking apart */

static bool rfdb_name_take(shd_str *s, const char *text)
{
	size_t n = strlen(text);
	if (!shd_str_starts(*s, text))
		return false;
	*s = (shd_str){s->ptr + n, s->len - n};
	return true;
}

static bool rfdb_name_take_number(shd_str *s, uint64_t max, uint64_t *out)
{
	size_t n = 0;
	uint64_t v = 0;
	for (; n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9'; n++)
		if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(s->ptr[n] - '0'), &v))
			return false;
	*s = (shd_str){s->ptr + n, s->len - n};
	*out = v;
	return n && v <= max;
}

bool shd_rfdb_manifest_parse(shd_str name, uint64_t *version, bool *edit)
{
	char made[SHD_RFDB_NAME_MAX];
	shd_str s = name;
	uint64_t v;
	if (!rfdb_name_take(&s, SHD_RFDB_MANIFESTS) || !rfdb_name_take_number(&s, UINT64_MAX, &v))
		return false;
	bool is_edit = shd_str_is(s, ".edit.json");
	/* Numbers have one spelling, the one that is written. */
	shd_rfdb_manifest_name(v, is_edit, made);
	if (!shd_str_is(name, made))
		return false;
	*version = v;
	*edit = is_edit;
	return true;
}

bool shd_rfdb_held_parse(shd_str name, uint64_t *version, uint64_t *number)
{
	char made[SHD_RFDB_NAME_MAX];
	shd_str s = name;
	uint64_t v, n;
	if (!rfdb_name_take(&s, SHD_RFDB_MANIFESTS) || !rfdb_name_take_number(&s, UINT64_MAX, &v) ||
	    !rfdb_name_take(&s, ".held-") || !rfdb_name_take_number(&s, UINT64_MAX, &n))
		return false;
	shd_rfdb_held_name(v, n, made);
	if (!shd_str_is(name, made))
		return false;
	*version = v;
	*number = n;
	return true;
}

bool shd_rfdb_file_parse(shd_str name, shd_rfdb_file *out)
{
	char made[SHD_RFDB_NAME_MAX];
	shd_str s = name;
	uint64_t shard = SHD_RFDB_FLAT, id;
	if (!rfdb_name_take(&s, SHD_RFDB_SEGMENTS))
		return false;
	if (!shd_str_starts(s, "seg_") && (!rfdb_name_take_number(&s, UINT16_MAX, &shard) || !rfdb_name_take(&s, "/")))
		return false;
	if (!rfdb_name_take(&s, "seg_") || !rfdb_name_take_number(&s, UINT64_MAX, &id) || !rfdb_name_take(&s, "_"))
		return false;
	shd_rfdb_file f = {.shard = (uint32_t)shard, .id = id, .is_sidecar = shd_str_ends(s, ".idx")};
	f.kind = shd_str_starts(s, kinds[SHD_RFDB_EDGES]) ? SHD_RFDB_EDGES : SHD_RFDB_NODES;
	file_name(f.shard, f.id, f.kind, f.is_sidecar ? ".idx" : ".seg", made);
	if (!shd_str_is(name, made))
		return false;
	*out = f;
	return true;
}

bool shd_rfdb_run_parse(shd_str name, uint64_t *number)
{
	char made[SHD_RFDB_NAME_MAX];
	shd_str s = name;
	uint64_t n;
	if (!rfdb_name_take(&s, SHD_RFDB_RUNS) || !rfdb_name_take_number(&s, UINT64_MAX, &n))
		return false;
	shd_rfdb_run_name(n, made);
	if (!shd_str_is(name, made))
		return false;
	*number = n;
	return true;
}
