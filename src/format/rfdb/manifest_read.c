#include "format/rfdb/manifest_read.h"

#include <inttypes.h>

/* ---- texts and lists */

int shd_rfdb_keep_text(shd_rfdb_reading *r, shd_str taken, shd_str *out, sherd_error *err)
{
	/* What was not escaped lies in the document and stays there. */
	if (taken.ptr >= r->data && taken.ptr <= r->data + r->len) {
		*out = taken;
		return SHERD_OK;
	}
	const char *kept = shd_arena_str(r->arena, taken);
	if (!kept)
		return shd_fail_nomem(err);
	*out = (shd_str){kept, taken.len};
	return SHERD_OK;
}

int shd_rfdb_take_text(shd_rfdb_reading *r, shd_str *out, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(r->json, &s, err));
	return shd_rfdb_keep_text(r, s, out, err);
}

static int take_texts(shd_rfdb_reading *r, shd_rfdb_texts *out, sherd_error *err)
{
	SHD_AUTO_VEC SHD_VEC(shd_str) list = {0};
	shd_str text;
	int rc;
	TRY(shd_json_array(r->json, err));
	while ((rc = shd_json_item(r->json, err)) > 0) {
		TRY(shd_rfdb_take_text(r, &text, err));
		shd_vec_push(&list, text);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

int shd_rfdb_take_ids(shd_rfdb_reading *r, shd_rfdb_ids *out, sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_id_vec list = {0};
	shd_u128 id;
	int rc;
	TRY(shd_json_array(r->json, err));
	while ((rc = shd_json_item(r->json, err)) > 0) {
		TRY(shd_json_u128(r->json, &id, err));
		shd_vec_push(&list, id);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

int shd_rfdb_take_numbers(shd_rfdb_reading *r, shd_rfdb_numbers *out, sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_number_vec list = {0};
	uint64_t number;
	int rc;
	TRY(shd_json_array(r->json, err));
	while ((rc = shd_json_item(r->json, err)) > 0) {
		TRY(shd_json_u64(r->json, &number, err));
		shd_vec_push(&list, number);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

/* [source, destination, "TYPE"] */
static int take_edge_key(shd_rfdb_reading *r, shd_rfdb_edge_key *key, sherd_error *err)
{
	shd_json *j = r->json;
	int count = 0, rc;
	TRY(shd_json_array(j, err));
	for (; (rc = shd_json_item(j, err)) > 0; count++) {
		if (count < 2)
			TRY(shd_json_u128(j, count ? &key->dst : &key->src, err));
		else if (count == 2)
			TRY(shd_rfdb_take_text(r, &key->type, err));
		else
			break;
	}
	TRY(rc);
	if (rc || count != 3)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", shd_json_offset(j),
		                   "the key of an edge is source, destination and type");
	return SHERD_OK;
}

int shd_rfdb_take_edge_keys(shd_rfdb_reading *r, shd_rfdb_edge_keys *out, sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_edge_key_vec list = {0};
	shd_rfdb_edge_key key;
	int rc;
	TRY(shd_json_array(r->json, err));
	while ((rc = shd_json_item(r->json, err)) > 0) {
		TRY(take_edge_key(r, &key, err));
		shd_vec_push(&list, key);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

/* ---- a descriptor */

enum { HAS_ID = 1, HAS_TYPE = 2, HAS_ROWS = 4, HAS_BYTES = 8, HAS_ALL = 15 };

static int take_kind(shd_rfdb_reading *r, shd_rfdb_kind want, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(r->json, &s, err));
	if (!shd_str_is(s, want == SHD_RFDB_NODES ? "Nodes" : "Edges"))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", shd_json_offset(r->json), "%.*s in a list of %s",
		                   s.len > 32 ? 32 : (int)s.len, s.len ? s.ptr : "",
		                   want == SHD_RFDB_NODES ? "nodes" : "edges");
	return SHERD_OK;
}

static int manifest_read_take_shard(shd_rfdb_reading *r, uint32_t *out, sherd_error *err)
{
	int type = shd_json_peek(r->json, err);
	if (type == SHD_JSON_NULL)
		return shd_json_null(r->json, err);
	TRY(shd_json_u32(r->json, out, err));
	if (*out > UINT16_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", shd_json_offset(r->json), "shard %" PRIu32,
		                   *out);
	return SHERD_OK;
}

static int take_digest(shd_rfdb_reading *r, shd_rfdb_descriptor *d, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(r->json, &s, err));
	if (!shd_unhex(s.ptr, s.len, d->sha256, sizeof(d->sha256)))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(r->json),
		                   "a SHA-256 is 64 lower-case hexadecimal digits");
	d->has_sha256 = true;
	return SHERD_OK;
}

static int take_descriptor_member(shd_rfdb_reading *r, shd_str key, shd_rfdb_descriptor *d, unsigned *has,
                                  sherd_error *err)
{
	shd_json *j = r->json;
	if (shd_str_is(key, "segment_id")) {
		*has |= HAS_ID;
		return shd_json_u64(j, &d->id, err);
	}
	if (shd_str_is(key, "segment_type")) {
		*has |= HAS_TYPE;
		return take_kind(r, d->kind, err);
	}
	if (shd_str_is(key, "record_count")) {
		*has |= HAS_ROWS;
		return shd_json_u64(j, &d->rows, err);
	}
	if (shd_str_is(key, "byte_size")) {
		*has |= HAS_BYTES;
		return shd_json_u64(j, &d->bytes, err);
	}
	if (shd_str_is(key, "shard_id"))
		return manifest_read_take_shard(r, &d->shard, err);
	if (shd_str_is(key, d->kind == SHD_RFDB_NODES ? "node_types" : "edge_types"))
		return take_texts(r, &d->types, err);
	if (shd_str_is(key, "file_paths"))
		return take_texts(r, &d->files, err);
	if (shd_str_is(key, "sha256"))
		return take_digest(r, d, err);
	return shd_json_skip(j, err);
}

static int take_descriptor(shd_rfdb_reading *r, shd_rfdb_descriptor *d, sherd_error *err)
{
	unsigned has = 0;
	shd_str key;
	int rc;
	TRY(shd_json_object(r->json, err));
	uint64_t at = shd_json_offset(r->json);
	while ((rc = shd_json_key(r->json, &key, err)) > 0)
		TRY(take_descriptor_member(r, key, d, &has, err));
	TRY(rc);
	if (has != HAS_ALL)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", at,
		                   "a segment needs segment_id, segment_type, record_count and byte_size");
	return SHERD_OK;
}

int shd_rfdb_take_descriptors(shd_rfdb_reading *r, shd_rfdb_kind kind, shd_rfdb_descriptors *out, sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_descriptor_vec list = {0};
	int rc;
	TRY(shd_json_array(r->json, err));
	while ((rc = shd_json_item(r->json, err)) > 0) {
		shd_rfdb_descriptor d = {.kind = kind, .shard = SHD_RFDB_FLAT};
		TRY(take_descriptor(r, &d, err));
		shd_vec_push(&list, d);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

/* ---- small objects */

int shd_rfdb_take_tags(shd_rfdb_reading *r, shd_rfdb_tags *out, sherd_error *err)
{
	SHD_AUTO_VEC SHD_VEC(shd_rfdb_tag) list = {0};
	shd_rfdb_tag tag;
	shd_str key;
	int rc;
	TRY(shd_json_object(r->json, err));
	while ((rc = shd_json_key(r->json, &key, err)) > 0) {
		TRY(shd_rfdb_keep_text(r, key, &tag.key, err));
		TRY(shd_rfdb_take_text(r, &tag.value, err));
		shd_vec_push(&list, tag);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

int shd_rfdb_take_stats(shd_rfdb_reading *r, shd_rfdb_stats *out, sherd_error *err)
{
	shd_json *j = r->json;
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		if (shd_str_is(key, "total_nodes"))
			TRY(shd_json_u64(j, &out->nodes, err));
		else if (shd_str_is(key, "total_edges"))
			TRY(shd_json_u64(j, &out->edges, err));
		else if (shd_str_is(key, "node_segment_count"))
			TRY(shd_json_u32(j, &out->node_segments, err));
		else if (shd_str_is(key, "edge_segment_count"))
			TRY(shd_json_u32(j, &out->edge_segments, err));
		else
			TRY(shd_json_skip(j, err));
	}
	return rc;
}

int shd_rfdb_take_compaction(shd_rfdb_reading *r, shd_rfdb_compaction *out, sherd_error *err)
{
	shd_json *j = r->json;
	shd_str key;
	int rc = shd_json_peek(j, err);
	if (rc == SHD_JSON_NULL)
		return shd_json_null(j, err);
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		if (shd_str_is(key, "manifest_version"))
			TRY(shd_json_u64(j, &out->version, err));
		else if (shd_str_is(key, "timestamp_ms"))
			TRY(shd_json_u64(j, &out->time_ms, err));
		else if (shd_str_is(key, "l0_segments_merged"))
			TRY(shd_json_u32(j, &out->merged, err));
		else
			TRY(shd_json_skip(j, err));
	}
	return rc;
}

static int take_counts_of(shd_rfdb_reading *r, const shd_rfdb_count **out, size_t *count, sherd_error *err)
{
	SHD_AUTO_VEC SHD_VEC(shd_rfdb_count) list = {0};
	shd_rfdb_count c;
	shd_str key;
	int rc;
	TRY(shd_json_object(r->json, err));
	while ((rc = shd_json_key(r->json, &key, err)) > 0) {
		TRY(shd_rfdb_keep_text(r, key, &c.type, err));
		TRY(shd_json_u64(r->json, &c.count, err));
		shd_vec_push(&list, c);
	}
	TRY(rc);
	TRY(shd_vec_check(&list, err));
	*out = shd_vec_copy(&list, r->arena);
	*count = list.count;
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

int shd_rfdb_take_counts(shd_rfdb_reading *r, shd_rfdb_counts *out, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(r->json, err));
	while ((rc = shd_json_key(r->json, &key, err)) > 0) {
		if (shd_str_is(key, "nodes"))
			TRY(take_counts_of(r, &out->nodes, &out->node_types, err));
		else if (shd_str_is(key, "edges"))
			TRY(take_counts_of(r, &out->edges, &out->edge_types, err));
		else if (shd_str_is(key, "placed"))
			TRY(shd_json_bool(r->json, &out->placed, err));
		else
			TRY(shd_json_skip(r->json, err));
	}
	out->known = true;
	return rc;
}

int shd_rfdb_take_seal(const void *data, size_t len, shd_seal *out, sherd_error *err)
{
	shd_seal seal = shd_seal_check(data, len);
	if (seal == SHD_SEAL_BROKEN)
		return shd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document is not the one that was sealed");
	*out = seal;
	return SHERD_OK;
}
