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

int shd_rfdb_take_text(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	return shd_rfdb_keep_text(arg, s, field, err);
}

static int take_texts(void *arg, void *field, shd_json *j, sherd_error *err)
{
	const shd_rfdb_reading *r = arg;
	shd_rfdb_texts *out = field;
	SHD_AUTO_VEC SHD_VEC(shd_str) list = {0};
	shd_str text;
	int rc;
	TRY(shd_json_array(j, err));
	while ((rc = shd_json_item(j, err)) > 0) {
		TRY(shd_rfdb_take_text(arg, &text, j, err));
		shd_vec_push(&list, text);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

int shd_rfdb_take_ids(void *arg, void *field, shd_json *j, sherd_error *err)
{
	const shd_rfdb_reading *r = arg;
	shd_rfdb_ids *out = field;
	SHD_AUTO_VEC shd_rfdb_id_vec list = {0};
	shd_u128 id;
	int rc;
	TRY(shd_json_array(j, err));
	while ((rc = shd_json_item(j, err)) > 0) {
		TRY(shd_json_u128(j, &id, err));
		shd_vec_push(&list, id);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

int shd_rfdb_take_numbers(void *arg, void *field, shd_json *j, sherd_error *err)
{
	const shd_rfdb_reading *r = arg;
	shd_rfdb_numbers *out = field;
	SHD_AUTO_VEC shd_rfdb_number_vec list = {0};
	uint64_t number;
	int rc;
	TRY(shd_json_array(j, err));
	while ((rc = shd_json_item(j, err)) > 0) {
		TRY(shd_json_u64(j, &number, err));
		shd_vec_push(&list, number);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

/* [source, destination, "TYPE"] */
static int take_edge_key(shd_rfdb_reading *r, shd_rfdb_edge_key *key, shd_json *j, sherd_error *err)
{
	int count = 0, rc;
	TRY(shd_json_array(j, err));
	for (; (rc = shd_json_item(j, err)) > 0; count++) {
		if (count < 2)
			TRY(shd_json_u128(j, count ? &key->dst : &key->src, err));
		else if (count == 2)
			TRY(shd_rfdb_take_text(r, &key->type, j, err));
		else
			break;
	}
	TRY(rc);
	if (rc || count != 3)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", shd_json_offset(j),
		                   "the key of an edge is source, destination and type");
	return SHERD_OK;
}

int shd_rfdb_take_edge_keys(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_reading *r = arg;
	shd_rfdb_edge_keys *out = field;
	SHD_AUTO_VEC shd_rfdb_edge_key_vec list = {0};
	shd_rfdb_edge_key key;
	int rc;
	TRY(shd_json_array(j, err));
	while ((rc = shd_json_item(j, err)) > 0) {
		TRY(take_edge_key(r, &key, j, err));
		shd_vec_push(&list, key);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

/* ---- a descriptor */

static int take_kind(void *arg, void *field, shd_json *j, sherd_error *err)
{
	const shd_rfdb_descriptor *d = field;
	shd_str s;
	(void)arg;
	TRY(shd_json_string(j, &s, err));
	if (!shd_str_is(s, d->kind == SHD_RFDB_NODES ? "Nodes" : "Edges"))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", shd_json_offset(j), "%.*s in a list of %s",
		                   s.len > 32 ? 32 : (int)s.len, s.len ? s.ptr : "",
		                   d->kind == SHD_RFDB_NODES ? "nodes" : "edges");
	return SHERD_OK;
}

static int manifest_read_take_shard(void *arg, void *field, shd_json *j, sherd_error *err)
{
	uint32_t *out = field;
	(void)arg;
	if (shd_json_peek(j, err) == SHD_JSON_NULL)
		return shd_json_null(j, err);
	TRY(shd_json_u32(j, out, err));
	if (*out > UINT16_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", shd_json_offset(j), "shard %" PRIu32, *out);
	return SHERD_OK;
}

static int take_node_types(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_descriptor *d = field;
	return d->kind == SHD_RFDB_NODES ? take_texts(arg, &d->types, j, err) : shd_json_skip(j, err);
}

static int take_edge_types(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_descriptor *d = field;
	return d->kind == SHD_RFDB_EDGES ? take_texts(arg, &d->types, j, err) : shd_json_skip(j, err);
}

static int take_digest(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_descriptor *d = field;
	shd_str s;
	(void)arg;
	TRY(shd_json_string(j, &s, err));
	if (!shd_unhex(s.ptr, s.len, d->sha256, sizeof(d->sha256)))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(j),
		                   "a SHA-256 is 64 lower-case hexadecimal digits");
	d->has_sha256 = true;
	return SHERD_OK;
}

static const shd_json_member descriptor_members[] = {
	{"segment_id", SHD_JSON_U64, offsetof(shd_rfdb_descriptor, id), .needed = true},
	{"segment_type", .take = take_kind, .needed = true},
	{"record_count", SHD_JSON_U64, offsetof(shd_rfdb_descriptor, rows), .needed = true},
	{"byte_size", SHD_JSON_U64, offsetof(shd_rfdb_descriptor, bytes), .needed = true},
	{"shard_id", .take = manifest_read_take_shard, .at = offsetof(shd_rfdb_descriptor, shard)},
	{"node_types", .take = take_node_types},
	{"edge_types", .take = take_edge_types},
	{"file_paths", .take = take_texts, .at = offsetof(shd_rfdb_descriptor, files)},
	{"sha256", .take = take_digest},
	{0},
};

static int take_descriptors(shd_rfdb_reading *r, shd_rfdb_kind kind, shd_rfdb_descriptors *out, shd_json *j,
                            sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_descriptor_vec list = {0};
	int rc;
	TRY(shd_json_array(j, err));
	while ((rc = shd_json_item(j, err)) > 0) {
		shd_rfdb_descriptor d = {.kind = kind, .shard = SHD_RFDB_FLAT};
		TRY(shd_json_members(j, descriptor_members, r, &d, err));
		shd_vec_push(&list, d);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

int shd_rfdb_take_node_segments(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return take_descriptors(arg, SHD_RFDB_NODES, field, j, err);
}

int shd_rfdb_take_edge_segments(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return take_descriptors(arg, SHD_RFDB_EDGES, field, j, err);
}

/* ---- small objects */

int shd_rfdb_take_tags(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_reading *r = arg;
	shd_rfdb_tags *out = field;
	SHD_AUTO_VEC SHD_VEC(shd_rfdb_tag) list = {0};
	shd_rfdb_tag tag;
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		TRY(shd_rfdb_keep_text(r, key, &tag.key, err));
		TRY(shd_rfdb_take_text(r, &tag.value, j, err));
		shd_vec_push(&list, tag);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

int shd_rfdb_take_stats(void *arg, void *field, shd_json *j, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"total_nodes", SHD_JSON_U64, offsetof(shd_rfdb_stats, nodes)},
		{"total_edges", SHD_JSON_U64, offsetof(shd_rfdb_stats, edges)},
		{"node_segment_count", SHD_JSON_U32, offsetof(shd_rfdb_stats, node_segments)},
		{"edge_segment_count", SHD_JSON_U32, offsetof(shd_rfdb_stats, edge_segments)},
		{0},
	};
	return shd_json_members(j, members, arg, field, err);
}

int shd_rfdb_take_compaction(void *arg, void *field, shd_json *j, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"manifest_version", SHD_JSON_U64, offsetof(shd_rfdb_compaction, version)},
		{"timestamp_ms", SHD_JSON_U64, offsetof(shd_rfdb_compaction, time_ms)},
		{"l0_segments_merged", SHD_JSON_U32, offsetof(shd_rfdb_compaction, merged)},
		{0},
	};
	if (shd_json_peek(j, err) == SHD_JSON_NULL)
		return shd_json_null(j, err);
	return shd_json_members(j, members, arg, field, err);
}

static int take_counts_of(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_reading *r = arg;
	shd_rfdb_types *out = field;
	SHD_AUTO_VEC SHD_VEC(shd_rfdb_count) list = {0};
	shd_rfdb_count c;
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		TRY(shd_rfdb_keep_text(r, key, &c.type, err));
		TRY(shd_json_u64(j, &c.count, err));
		shd_vec_push(&list, c);
	}
	TRY(rc);
	return shd_vec_keep(&list, r->arena, out, err);
}

int shd_rfdb_take_counts(void *arg, void *field, shd_json *j, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"nodes", .at = offsetof(shd_rfdb_counts, of[SHD_RFDB_NODES]), .take = take_counts_of},
		{"edges", .at = offsetof(shd_rfdb_counts, of[SHD_RFDB_EDGES]), .take = take_counts_of},
		{"placed", SHD_JSON_BOOL, offsetof(shd_rfdb_counts, placed)},
		{0},
	};
	((shd_rfdb_counts *)field)->known = true;
	return shd_json_members(j, members, arg, field, err);
}

int shd_rfdb_take_seal(const void *data, size_t len, shd_seal *out, sherd_error *err)
{
	shd_seal seal = shd_seal_check(data, len);
	if (seal == SHD_SEAL_BROKEN)
		return shd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document is not the one that was sealed");
	*out = seal;
	return SHERD_OK;
}
