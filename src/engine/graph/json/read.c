/* engine/graph/json/read.c - records from lines of JSON. */
#include "engine/graph/json/lines.h"

#include "base/limits.h"
#include "codec/json.h"
#include "codec/json_scan.h"
#include "engine/graph/buffer/metadata.h"

#include <stdlib.h>

/* Of a key that was absent or null, ptr is NULL. */
typedef struct fields {
	sherd_graph_text id, semantic_id, node_type, name, file;
	sherd_graph_text src, dst, edge_type;
	sherd_graph_text metadata;
	uint64_t metadata_at;
	uint64_t content_hash;
	bool exported;
} fields;

typedef enum kind { ID, TEXT, METADATA, FLAG, NUMBER } kind;

static const struct field {
	const char *key;
	unsigned records; /* bits of sherd_graph_record */
	kind kind;
	size_t where; /* in struct fields */
} known[] = {
	{"id", SHERD_GRAPH_NODE, ID, offsetof(fields, id)},
	{"semanticId", SHERD_GRAPH_NODE, TEXT, offsetof(fields, semantic_id)},
	{"nodeType", SHERD_GRAPH_NODE, TEXT, offsetof(fields, node_type)},
	{"name", SHERD_GRAPH_NODE, TEXT, offsetof(fields, name)},
	{"file", SHERD_GRAPH_NODE, TEXT, offsetof(fields, file)},
	{"exported", SHERD_GRAPH_NODE, FLAG, offsetof(fields, exported)},
	{"contentHash", SHERD_GRAPH_NODE, NUMBER, offsetof(fields, content_hash)},
	{"src", SHERD_GRAPH_EDGE, ID, offsetof(fields, src)},
	{"dst", SHERD_GRAPH_EDGE, ID, offsetof(fields, dst)},
	{"edgeType", SHERD_GRAPH_EDGE, TEXT, offsetof(fields, edge_type)},
	{"metadata", SHERD_GRAPH_NODE | SHERD_GRAPH_EDGE, METADATA, offsetof(fields, metadata)},
};

int sherd_graph_lines_open(sherd_graph_lines **out, const sherd_limits *limits, sherd_error *err)
{
	sherd_graph_lines *l = calloc(1, sizeof(*l));
	if (!l)
		return shd_fail_nomem(err);
	l->limits = shd_limits_or_default(limits);
	*out = l;
	return SHERD_OK;
}

void sherd_graph_lines_close(sherd_graph_lines *l)
{
	if (!l)
		return;
	shd_arena_done(&l->texts);
	shd_vec_done(&l->nodes);
	shd_vec_done(&l->edges);
	shd_vec_done(&l->sources);
	shd_vec_done(&l->node_at);
	shd_vec_done(&l->edge_at);
	free(l);
}

void sherd_graph_lines_clear(sherd_graph_lines *l)
{
	shd_arena_done(&l->texts);
	l->nodes.count = l->edges.count = l->sources.count = l->node_at.count = l->edge_at.count = 0;
}

size_t sherd_graph_lines_nodes(const sherd_graph_node **out, const sherd_graph_lines *l)
{
	*out = l->nodes.items;
	return l->nodes.count;
}

size_t sherd_graph_lines_edges(const sherd_graph_edge **out, const sherd_graph_lines *l)
{
	*out = l->edges.items;
	return l->edges.count;
}

/* ---- values */

static int json_read_keep(sherd_graph_lines *l, shd_str text, sherd_graph_text *out, sherd_error *err)
{
	const char *copy = text.len ? shd_arena_copy(&l->texts, text.ptr, text.len) : "";
	if (!copy)
		return shd_fail_nomem(err);
	*out = (sherd_graph_text){copy, text.len};
	return SHERD_OK;
}

/* A number stands for its digits; one that does not fit is refused, where digits in quotes would be hashed. */
static int json_read_take_id(sherd_graph_lines *l, shd_json *j, sherd_graph_text *out, sherd_error *err)
{
	shd_str text;
	int type = shd_json_peek(j, err);
	TRY(type);
	if (type == SHD_JSON_NUMBER) {
		unsigned __int128 value;
		char digits[SHERD_GRAPH_ID_TEXT];
		TRY(shd_json_u128(j, &value, err));
		sherd_graph_id_format(digits, (sherd_graph_id){(uint64_t)value, (uint64_t)(value >> 64)});
		return json_read_keep(l, shd_str_of(digits), out, err);
	}
	TRY(shd_json_string(j, &text, err));
	return json_read_keep(l, text, out, err);
}

/* The metadata with its keys sorted, and marked or not. Errors point at the start of what was rewritten. */
static int rewrite(sherd_graph_lines *l, sherd_graph_text json, bool exported, uint64_t at, sherd_graph_text *out,
                   sherd_error *err)
{
	char *text;
	size_t len;
	int rc = sherd_graph_metadata(&text, &len, json, exported, err);
	if (rc < 0 && rc != SHERD_ENOMEM)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-metadata", at,
		                   "metadata of an exported node must be a JSON object");
	TRY(rc);
	rc = json_read_keep(l, (shd_str){text, len}, out, err);
	free(text);
	return rc;
}

static int take_metadata(sherd_graph_lines *l, shd_json *j, fields *f, sherd_error *err)
{
	shd_str text;
	int type = shd_json_peek(j, err);
	TRY(type);
	if (type == SHD_JSON_OBJECT) {
		TRY(shd_json_raw(j, &text, err));
		f->metadata_at = shd_json_offset(j);
		return rewrite(l, (sherd_graph_text){text.ptr, text.len}, shd_graph_is_exported(text), f->metadata_at,
		               &f->metadata, err);
	}
	TRY(shd_json_string(j, &text, err));
	f->metadata_at = shd_json_offset(j);
	return json_read_keep(l, text, &f->metadata, err);
}

static int take_value(sherd_graph_lines *l, shd_json *j, const struct field *field, fields *f, sherd_error *err)
{
	shd_str text;
	void *where = (char *)f + field->where;
	int type = shd_json_peek(j, err);
	TRY(type);
	if (type == SHD_JSON_NULL)
		return shd_json_null(j, err);
	switch (field->kind) {
	case ID: return json_read_take_id(l, j, where, err);
	case METADATA: return take_metadata(l, j, f, err);
	case FLAG: return shd_json_bool(j, where, err);
	case NUMBER: return shd_json_u64(j, where, err);
	case TEXT: break;
	}
	TRY(shd_json_string(j, &text, err));
	return json_read_keep(l, text, where, err);
}

static const struct field *field_of(shd_str key, sherd_graph_record what)
{
	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (shd_str_is(key, known[i].key) && (what == SHERD_GRAPH_ANY || known[i].records & what))
			return &known[i];
	return NULL;
}

static int json_read_take_fields(sherd_graph_lines *l, shd_json *j, sherd_graph_record what, fields *f,
                                 sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		const struct field *field = field_of(key, what);
		TRY(field ? take_value(l, j, field, f, err) : shd_json_skip(j, err));
	}
	TRY(rc);
	return shd_json_end(j, err);
}

/* ---- records */

static int require(sherd_graph_text text, const char *key, const char *what, sherd_error *err)
{
	return text.ptr ? SHERD_OK
	                : shd_fail_at(err, SHERD_ECORRUPT, "missing-key", 0, "\"%s\" of the %s is missing", key, what);
}

static sherd_graph_text or_text(sherd_graph_text text, const char *otherwise)
{
	return text.ptr ? text : sherd_graph_text_of(otherwise);
}

/* TYPE:name@file */
static int name_node(sherd_graph_lines *l, sherd_graph_node *n, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_buf_append(&text, n->type.ptr, n->type.len);
	shd_buf_str(&text, ":");
	shd_buf_append(&text, n->name.ptr, n->name.len);
	shd_buf_str(&text, "@");
	shd_buf_append(&text, n->file.ptr, n->file.len);
	TRY(shd_buf_check(&text, err));
	return json_read_keep(l, (shd_str){(const char *)text.data, text.len}, &n->semantic_id, err);
}

static int add_node(sherd_graph_lines *l, const fields *f, sherd_error *err)
{
	TRY(require(f->id, "id", "node", err));
	sherd_graph_node n = {.id = sherd_graph_id_of(f->id.ptr, f->id.len),
	                      .semantic_id = f->semantic_id,
	                      .type = or_text(f->node_type, "UNKNOWN"),
	                      .name = or_text(f->name, ""),
	                      .file = or_text(f->file, ""),
	                      .metadata = or_text(f->metadata, ""),
	                      .content_hash = f->content_hash,
	                      .exported = true};
	if (!n.semantic_id.ptr)
		TRY(name_node(l, &n, err));
	if (!shd_graph_is_exported((shd_str){n.metadata.ptr, n.metadata.len})) {
		n.exported = f->exported;
		if (n.exported)
			TRY(rewrite(l, n.metadata, true, f->metadata_at, &n.metadata, err));
	}
	shd_vec_push(&l->node_at, l->at);
	TRY(shd_vec_check(&l->node_at, err));
	shd_vec_push(&l->nodes, n);
	TRY(shd_vec_check(&l->nodes, err));
	return SHERD_GRAPH_NODE;
}

static int add_edge(sherd_graph_lines *l, const fields *f, sherd_error *err)
{
	TRY(require(f->src, "src", "edge", err));
	TRY(require(f->dst, "dst", "edge", err));
	const sherd_graph_edge e = {.src = sherd_graph_id_of(f->src.ptr, f->src.len),
	                            .dst = sherd_graph_id_of(f->dst.ptr, f->dst.len),
	                            .type = or_text(f->edge_type, "UNKNOWN"),
	                            .metadata = or_text(f->metadata, "")};
	shd_vec_push(&l->edge_at, l->at);
	TRY(shd_vec_check(&l->edge_at, err));
	shd_vec_push(&l->sources, f->src);
	TRY(shd_vec_check(&l->sources, err));
	shd_vec_push(&l->edges, e);
	TRY(shd_vec_check(&l->edges, err));
	return SHERD_GRAPH_EDGE;
}

int sherd_graph_lines_add(sherd_graph_lines *l, sherd_graph_record what, const char *line, size_t len, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	fields f = {0};
	const uint8_t *begin = (const uint8_t *)line;
	l->at.number++;
	l->at.offset = l->next;
	l->next += len;
	if (!len || json_space_end(begin, begin + len) == begin + len)
		return 0;
	TRY(shd_json_open(&j, line, len, &l->limits, err));
	TRY(json_read_take_fields(l, j, what, &f, err));
	if (what == SHERD_GRAPH_ANY)
		what = f.src.ptr || f.dst.ptr ? SHERD_GRAPH_EDGE : SHERD_GRAPH_NODE;
	return what == SHERD_GRAPH_EDGE ? add_edge(l, &f, err) : add_node(l, &f, err);
}
