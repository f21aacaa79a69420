#include "format/onnx/model.h"

#include "base/limits.h"
#include "base/map.h"
#include "codec/json.h"
#include "format/onnx/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	IR_VERSION = 1,
	PRODUCER = 2,
	PRODUCER_VERSION = 3,
	DOMAIN = 4,
	MODEL_VERSION = 5,
	GRAPH = 7,
	OPSET = 8,
	PROPS = 14
};
enum { GRAPH_NAME = 2, INITIALIZER = 5, SPARSE = 15 };

/* A model being read. */
typedef struct walker {
	shd_onnx_fields fields;
	sherd_limits limits;
	shd_onnx_budget budget;
	shd_arena *arena;
	SHD_VEC(shd_onnx_tensor) tensors;
	SHD_VEC(sherd_value) values;
	SHD_VEC(const char *) sparse;
	shd_map keys; /* of values */
	bool graph;
} walker;

/* The first value of a key counts. */
static int model_add_value(walker *w, sherd_value v, sherd_error *err)
{
	bool ok = true;
	if (strcmp(v.key, SHERD_TYPES_KEY) == 0 ||
	    shd_map_add(&w->keys, shd_str_of(v.key), w->values.count, &ok) != SHD_MAP_NONE)
		return ok ? SHERD_OK : shd_fail_nomem(err);
	shd_vec_push(&w->values, v);
	return ok && !w->values.failed ? SHERD_OK : shd_fail_nomem(err);
}

static int model_add_text(walker *w, const char *key, const char *text, sherd_error *err)
{
	const char **items = shd_arena_copy(w->arena, &text, sizeof(text));
	if (!items)
		return shd_fail_nomem(err);
	return model_add_value(w, (sherd_value){.key = key, .type = SHERD_UTF8, .count = 1, .items = items}, err);
}

static int add_number_value(walker *w, const char *key, uint64_t v, sherd_error *err)
{
	const int64_t *item = shd_arena_copy(w->arena, &v, sizeof(v));
	if (!item)
		return shd_fail_nomem(err);
	return model_add_value(w, (sherd_value){.key = key, .type = SHERD_I64, .count = 1, .items = item}, err);
}

static int add_text_field(walker *w, const char *key, const shd_onnx_field *field, sherd_error *err)
{
	const char *text;
	TRY(shd_onnx_text(&w->fields, field, w->limits.metadata_bytes, w->arena, &text, err));
	return *text ? model_add_text(w, key, text, err) : SHERD_OK;
}

/* metadata_props: key and value. */
static int take_prop(walker *w, shd_onnx_span message, sherd_error *err)
{
	const char *texts[2] = {"", ""};
	shd_onnx_field field;
	int rc;
	while ((rc = shd_onnx_next(&w->fields, &message, &field, err)) > 0)
		if (field.number == 1 || field.number == 2)
			TRY(shd_onnx_text(&w->fields, &field, w->limits.metadata_bytes, w->arena,
			                  &texts[field.number - 1], err));
	TRY(rc);
	return model_add_text(w, texts[0], texts[1], err);
}

/* onnx.opset, onnx.opset.DOMAIN: a version. */
static int take_opset(walker *w, shd_onnx_span message, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	const char *domain = "";
	uint64_t version = 0;
	shd_onnx_field field;
	int rc;
	while ((rc = shd_onnx_next(&w->fields, &message, &field, err)) > 0)
		if (field.number == 1)
			TRY(shd_onnx_text(&w->fields, &field, w->limits.name_bytes, w->arena, &domain, err));
		else if (field.number == 2)
			version = field.value;
	TRY(rc);
	shd_buf_printf(&key, "onnx.opset%s%s", *domain ? "." : "", domain);
	TRY(shd_buf_check(&key, err));
	const char *kept = shd_arena_str(w->arena, (shd_str){(const char *)key.data, key.len});
	return kept ? add_number_value(w, kept, version, err) : shd_fail_nomem(err);
}

/* The name of a sparse initialiser is that of its values. */
static int take_sparse(walker *w, shd_onnx_span message, sherd_error *err)
{
	const char *name = "";
	shd_onnx_field field;
	int rc;
	while ((rc = shd_onnx_next(&w->fields, &message, &field, err)) > 0)
		if (field.number == 1 && field.wire == 2)
			TRY(shd_onnx_take_name(&w->fields, field.bytes, &w->limits, w->arena, &name, err));
	TRY(rc);
	shd_vec_push(&w->sparse, name);
	return shd_vec_check(&w->sparse, err);
}

/* Without a name it is called by its number. */
static int take_initializer(walker *w, shd_onnx_span message, sherd_error *err)
{
	shd_onnx_tensor t;
	char number[40];
	TRY(shd_onnx_take_tensor(&w->fields, message, &w->limits, &w->budget, w->arena, &t, err));
	if (!*t.tensor.name) {
		(void)snprintf(number, sizeof(number), "initializer.%zu", w->tensors.count);
		t.tensor.name = shd_arena_str(w->arena, shd_str_of(number));
		if (!t.tensor.name)
			return shd_fail_nomem(err);
	}
	shd_vec_push(&w->tensors, t);
	return shd_vec_check(&w->tensors, err);
}

static int model_take_graph(walker *w, shd_onnx_span message, sherd_error *err)
{
	shd_onnx_field field;
	int rc;
	w->graph = true;
	while ((rc = shd_onnx_next(&w->fields, &message, &field, err)) > 0) {
		if (field.number == INITIALIZER && field.wire == 2)
			TRY(take_initializer(w, field.bytes, err));
		else if (field.number == SPARSE && field.wire == 2)
			TRY(take_sparse(w, field.bytes, err));
		else if (field.number == GRAPH_NAME)
			TRY(add_text_field(w, "onnx.graph", &field, err));
	}
	return rc;
}

static int take_model_field(walker *w, const shd_onnx_field *field, sherd_error *err)
{
	switch (field->number) {
	case IR_VERSION: return add_number_value(w, "onnx.ir_version", field->value, err);
	case PRODUCER: return add_text_field(w, "onnx.producer_name", field, err);
	case PRODUCER_VERSION: return add_text_field(w, "onnx.producer_version", field, err);
	case DOMAIN: return add_text_field(w, "onnx.domain", field, err);
	case MODEL_VERSION: return add_number_value(w, "onnx.model_version", field->value, err);
	case GRAPH:
		return field->wire == 2 ? model_take_graph(w, field->bytes, err) : shd_onnx_bad(field, "no graph", err);
	case OPSET: return field->wire == 2 ? take_opset(w, field->bytes, err) : SHERD_OK;
	case PROPS: return field->wire == 2 ? take_prop(w, field->bytes, err) : SHERD_OK;
	default: return SHERD_OK;
	}
}

static int add_sparse_names(walker *w, sherd_error *err)
{
	if (!w->sparse.count)
		return SHERD_OK;
	const char **names = shd_vec_copy(&w->sparse, w->arena);
	if (!names)
		return shd_fail_nomem(err);
	return model_add_value(w,
	                       (sherd_value){.key = "onnx.sparse_initializers_not_read",
	                                     .type = SHERD_UTF8,
	                                     .is_array = true,
	                                     .count = w->sparse.count,
	                                     .items = names},
	                       err);
}

static int walk_model(walker *w, sherd_error *err)
{
	shd_onnx_span message = {0, w->fields.source->size};
	shd_onnx_field field;
	int rc;
	while ((rc = shd_onnx_next(&w->fields, &message, &field, err)) > 0)
		TRY(take_model_field(w, &field, err));
	TRY(rc);
	if (!w->graph)
		return shd_fail_at(err, SHERD_ECORRUPT, "no-graph", 0, "the model has no graph");
	return add_sparse_names(w, err);
}

int shd_onnx_decode(const shd_onnx_source *source, const sherd_limits *limits, shd_arena *arena, shd_onnx_model *out,
                    sherd_error *err)
{
	walker *w = calloc(1, sizeof(*w));
	if (!w)
		return shd_fail_nomem(err);
	w->fields.source = source;
	w->limits = shd_limits_or_default(limits);
	w->budget.left = w->limits.metadata_bytes;
	w->arena = arena;
	int rc = walk_model(w, err);
	*out = (shd_onnx_model){.tensors = shd_vec_copy(&w->tensors, arena),
	                        .count = w->tensors.count,
	                        .values = shd_vec_copy(&w->values, arena),
	                        .value_count = w->values.count,
	                        .sparse = shd_vec_copy(&w->sparse, arena),
	                        .sparse_count = w->sparse.count};
	if (rc == SHERD_OK && (!out->tensors || !out->values || !out->sparse))
		rc = shd_fail_nomem(err);
	shd_vec_done(&w->tensors);
	shd_vec_done(&w->values);
	shd_vec_done(&w->sparse);
	shd_map_done(&w->keys);
	free(w);
	return rc;
}
