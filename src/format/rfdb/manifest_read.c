#include "format/rfdb/manifest_read.h"

#include <inttypes.h>

/* ---- texts and lists */

int sherd_rfdb_keep_text(sherd_rfdb_reading *r, sherd_str taken, sherd_str *out, sherd_error *err)
{
	/* What was not escaped lies in the document and stays there. */
	if (taken.ptr >= r->data && taken.ptr <= r->data + r->len) {
		*out = taken;
		return SHERD_OK;
	}
	const char *kept = sherd_arena_str(r->arena, taken);
	if (!kept)
		return sherd_fail_nomem(err);
	*out = (sherd_str){kept, taken.len};
	return SHERD_OK;
}

int sherd_rfdb_take_text(sherd_rfdb_reading *r, sherd_str *out, sherd_error *err)
{
	sherd_str s;
	TRY(sherd_json_string(r->json, &s, err));
	return sherd_rfdb_keep_text(r, s, out, err);
}

/* Takes one item of a list and appends it. */
typedef int take_fn(sherd_rfdb_reading *r, int which, sherd_buf *items, sherd_error *err);

/* Reads a whole list into the arena. */
static int take_list(sherd_rfdb_reading *r, take_fn *take, int which, size_t size, const void **items, size_t *count,
                     sherd_error *err)
{
	SHERD_AUTO_BUF list = {0};
	int rc;
	TRY(sherd_json_array(r->json, err));
	while ((rc = sherd_json_item(r->json, err)) > 0)
		TRY(take(r, which, &list, err));
	TRY(rc);
	TRY(sherd_buf_check(&list, err));
	void *kept = NULL;
	if (list.len && !(kept = sherd_arena_copy(r->arena, list.data, list.len)))
		return sherd_fail_nomem(err);
	*items = kept;
	*count = list.len / size;
	return SHERD_OK;
}

static int take_one_text(sherd_rfdb_reading *r, int which, sherd_buf *items, sherd_error *err)
{
	sherd_str s;
	(void)which;
	TRY(sherd_rfdb_take_text(r, &s, err));
	sherd_buf_append(items, &s, sizeof(s));
	return SHERD_OK;
}

static int take_texts(sherd_rfdb_reading *r, sherd_rfdb_texts *out, sherd_error *err)
{
	const void *items;
	TRY(take_list(r, take_one_text, 0, sizeof(sherd_str), &items, &out->count, err));
	out->items = items;
	return SHERD_OK;
}

static int take_one_id(sherd_rfdb_reading *r, int which, sherd_buf *items, sherd_error *err)
{
	sherd_u128 id;
	(void)which;
	TRY(sherd_json_u128(r->json, &id, err));
	sherd_buf_append(items, &id, sizeof(id));
	return SHERD_OK;
}

int sherd_rfdb_take_ids(sherd_rfdb_reading *r, sherd_rfdb_ids *out, sherd_error *err)
{
	const void *items;
	TRY(take_list(r, take_one_id, 0, sizeof(sherd_u128), &items, &out->count, err));
	out->items = items;
	return SHERD_OK;
}

static int take_one_number(sherd_rfdb_reading *r, int which, sherd_buf *items, sherd_error *err)
{
	uint64_t v;
	(void)which;
	TRY(sherd_json_u64(r->json, &v, err));
	sherd_buf_append(items, &v, sizeof(v));
	return SHERD_OK;
}

int sherd_rfdb_take_numbers(sherd_rfdb_reading *r, sherd_rfdb_numbers *out, sherd_error *err)
{
	const void *items;
	TRY(take_list(r, take_one_number, 0, sizeof(uint64_t), &items, &out->count, err));
	out->items = items;
	return SHERD_OK;
}

/* [source, destination, "TYPE"] */
static int take_one_edge_key(sherd_rfdb_reading *r, int which, sherd_buf *items, sherd_error *err)
{
	sherd_json *j = r->json;
	sherd_rfdb_edge_key key = {0};
	int count = 0, rc;
	(void)which;
	TRY(sherd_json_array(j, err));
	for (; (rc = sherd_json_item(j, err)) > 0; count++) {
		if (count < 2)
			TRY(sherd_json_u128(j, count ? &key.dst : &key.src, err));
		else if (count == 2)
			TRY(sherd_rfdb_take_text(r, &key.type, err));
		else
			break;
	}
	TRY(rc);
	if (rc || count != 3)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-count", sherd_json_offset(j),
		                     "the key of an edge is source, destination and type");
	sherd_buf_append(items, &key, sizeof(key));
	return SHERD_OK;
}

int sherd_rfdb_take_edge_keys(sherd_rfdb_reading *r, sherd_rfdb_edge_keys *out, sherd_error *err)
{
	const void *items;
	TRY(take_list(r, take_one_edge_key, 0, sizeof(sherd_rfdb_edge_key), &items, &out->count, err));
	out->items = items;
	return SHERD_OK;
}

/* ---- a descriptor */

enum { HAS_ID = 1, HAS_TYPE = 2, HAS_ROWS = 4, HAS_BYTES = 8, HAS_ALL = 15 };

static int take_kind(sherd_rfdb_reading *r, sherd_rfdb_kind want, sherd_error *err)
{
	sherd_str s;
	TRY(sherd_json_string(r->json, &s, err));
	if (!sherd_str_is(s, want == SHERD_RFDB_NODES ? "Nodes" : "Edges"))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-type", sherd_json_offset(r->json),
		                     "%.*s in a list of %s", s.len > 32 ? 32 : (int)s.len, s.len ? s.ptr : "",
		                     want == SHERD_RFDB_NODES ? "nodes" : "edges");
	return SHERD_OK;
}

static int take_shard(sherd_rfdb_reading *r, uint32_t *out, sherd_error *err)
{
	int type = sherd_json_peek(r->json, err);
	if (type == SHERD_JSON_NULL)
		return sherd_json_null(r->json, err);
	TRY(sherd_json_u32(r->json, out, err));
	if (*out > UINT16_MAX)
		return sherd_fail_at(err, SHERD_ECORRUPT, "out-of-range", sherd_json_offset(r->json), "shard %" PRIu32,
		                     *out);
	return SHERD_OK;
}

static int take_digest(sherd_rfdb_reading *r, sherd_rfdb_descriptor *d, sherd_error *err)
{
	sherd_str s;
	TRY(sherd_json_string(r->json, &s, err));
	if (!sherd_unhex(s.ptr, s.len, d->sha256, sizeof(d->sha256)))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-text", sherd_json_offset(r->json),
		                     "a SHA-256 is 64 lower-case hexadecimal digits");
	d->has_sha256 = true;
	return SHERD_OK;
}

static int take_descriptor_member(sherd_rfdb_reading *r, sherd_str key, sherd_rfdb_descriptor *d, unsigned *has,
                                  sherd_error *err)
{
	sherd_json *j = r->json;
	if (sherd_str_is(key, "segment_id")) {
		*has |= HAS_ID;
		return sherd_json_u64(j, &d->id, err);
	}
	if (sherd_str_is(key, "segment_type")) {
		*has |= HAS_TYPE;
		return take_kind(r, d->kind, err);
	}
	if (sherd_str_is(key, "record_count")) {
		*has |= HAS_ROWS;
		return sherd_json_u64(j, &d->rows, err);
	}
	if (sherd_str_is(key, "byte_size")) {
		*has |= HAS_BYTES;
		return sherd_json_u64(j, &d->bytes, err);
	}
	if (sherd_str_is(key, "shard_id"))
		return take_shard(r, &d->shard, err);
	if (sherd_str_is(key, d->kind == SHERD_RFDB_NODES ? "node_types" : "edge_types"))
		return take_texts(r, &d->types, err);
	if (sherd_str_is(key, "file_paths"))
		return take_texts(r, &d->files, err);
	if (sherd_str_is(key, "sha256"))
		return take_digest(r, d, err);
	return sherd_json_skip(j, err);
}

static int take_one_descriptor(sherd_rfdb_reading *r, int kind, sherd_buf *items, sherd_error *err)
{
	sherd_rfdb_descriptor d = {.kind = (sherd_rfdb_kind)kind, .shard = SHERD_RFDB_FLAT};
	unsigned has = 0;
	sherd_str key;
	int rc;
	TRY(sherd_json_object(r->json, err));
	uint64_t at = sherd_json_offset(r->json);
	while ((rc = sherd_json_key(r->json, &key, err)) > 0)
		TRY(take_descriptor_member(r, key, &d, &has, err));
	TRY(rc);
	if (has != HAS_ALL)
		return sherd_fail_at(err, SHERD_ECORRUPT, "missing-key", at,
		                     "a segment needs segment_id, segment_type, record_count and byte_size");
	sherd_buf_append(items, &d, sizeof(d));
	return SHERD_OK;
}

int sherd_rfdb_take_descriptors(sherd_rfdb_reading *r, sherd_rfdb_kind kind, sherd_rfdb_descriptors *out,
                                sherd_error *err)
{
	const void *items;
	TRY(take_list(r, take_one_descriptor, (int)kind, sizeof(sherd_rfdb_descriptor), &items, &out->count, err));
	out->items = items;
	return SHERD_OK;
}

/* ---- small objects */

int sherd_rfdb_take_tags(sherd_rfdb_reading *r, sherd_rfdb_tags *out, sherd_error *err)
{
	SHERD_AUTO_BUF list = {0};
	sherd_rfdb_tag tag;
	sherd_str key;
	int rc;
	TRY(sherd_json_object(r->json, err));
	while ((rc = sherd_json_key(r->json, &key, err)) > 0) {
		TRY(sherd_rfdb_keep_text(r, key, &tag.key, err));
		TRY(sherd_rfdb_take_text(r, &tag.value, err));
		sherd_buf_append(&list, &tag, sizeof(tag));
	}
	TRY(rc);
	TRY(sherd_buf_check(&list, err));
	const void *kept = list.len ? sherd_arena_copy(r->arena, list.data, list.len) : NULL;
	if (list.len && !kept)
		return sherd_fail_nomem(err);
	*out = (sherd_rfdb_tags){kept, list.len / sizeof(tag)};
	return SHERD_OK;
}

int sherd_rfdb_take_stats(sherd_rfdb_reading *r, sherd_rfdb_stats *out, sherd_error *err)
{
	sherd_json *j = r->json;
	sherd_str key;
	int rc;
	TRY(sherd_json_object(j, err));
	while ((rc = sherd_json_key(j, &key, err)) > 0) {
		if (sherd_str_is(key, "total_nodes"))
			TRY(sherd_json_u64(j, &out->nodes, err));
		else if (sherd_str_is(key, "total_edges"))
			TRY(sherd_json_u64(j, &out->edges, err));
		else if (sherd_str_is(key, "node_segment_count"))
			TRY(sherd_json_u32(j, &out->node_segments, err));
		else if (sherd_str_is(key, "edge_segment_count"))
			TRY(sherd_json_u32(j, &out->edge_segments, err));
		else
			TRY(sherd_json_skip(j, err));
	}
	return rc;
}

int sherd_rfdb_take_compaction(sherd_rfdb_reading *r, sherd_rfdb_compaction *out, sherd_error *err)
{
	sherd_json *j = r->json;
	sherd_str key;
	int rc = sherd_json_peek(j, err);
	if (rc == SHERD_JSON_NULL)
		return sherd_json_null(j, err);
	TRY(sherd_json_object(j, err));
	while ((rc = sherd_json_key(j, &key, err)) > 0) {
		if (sherd_str_is(key, "manifest_version"))
			TRY(sherd_json_u64(j, &out->version, err));
		else if (sherd_str_is(key, "timestamp_ms"))
			TRY(sherd_json_u64(j, &out->time_ms, err));
		else if (sherd_str_is(key, "l0_segments_merged"))
			TRY(sherd_json_u32(j, &out->merged, err));
		else
			TRY(sherd_json_skip(j, err));
	}
	return rc;
}

static int take_counts_of(sherd_rfdb_reading *r, const sherd_rfdb_count **out, size_t *count, sherd_error *err)
{
	SHERD_AUTO_BUF list = {0};
	sherd_rfdb_count c;
	sherd_str key;
	int rc;
	TRY(sherd_json_object(r->json, err));
	while ((rc = sherd_json_key(r->json, &key, err)) > 0) {
		TRY(sherd_rfdb_keep_text(r, key, &c.type, err));
		TRY(sherd_json_u64(r->json, &c.count, err));
		sherd_buf_append(&list, &c, sizeof(c));
	}
	TRY(rc);
	TRY(sherd_buf_check(&list, err));
	*out = list.len ? sherd_arena_copy(r->arena, list.data, list.len) : NULL;
	*count = list.len / sizeof(c);
	return list.len && !*out ? sherd_fail_nomem(err) : SHERD_OK;
}

int sherd_rfdb_take_counts(sherd_rfdb_reading *r, sherd_rfdb_counts *out, sherd_error *err)
{
	sherd_str key;
	int rc;
	TRY(sherd_json_object(r->json, err));
	while ((rc = sherd_json_key(r->json, &key, err)) > 0) {
		if (sherd_str_is(key, "nodes"))
			TRY(take_counts_of(r, &out->nodes, &out->node_types, err));
		else if (sherd_str_is(key, "edges"))
			TRY(take_counts_of(r, &out->edges, &out->edge_types, err));
		else if (sherd_str_is(key, "placed"))
			TRY(sherd_json_bool(r->json, &out->placed, err));
		else
			TRY(sherd_json_skip(r->json, err));
	}
	out->known = true;
	return rc;
}

int sherd_rfdb_take_seal(const void *data, size_t len, sherd_seal *out, sherd_error *err)
{
	sherd_seal seal = sherd_seal_check(data, len);
	if (seal == SHERD_SEAL_BROKEN)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document is not the one that was sealed");
	*out = seal;
	return SHERD_OK;
}
