#include "engine/model/verify.h"

#include "base/cursor.h"
#include "codec/json.h"
#include "engine/model/container_verify.h"
#include "engine/model/model.h"
#include "engine/model/sdnb.h"
#include "format/nd4j_array.h"
#include "format/samediff_hash.h"

#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHERD_AUTO_DEFINE(container_file, sherd_container_file_close)
SHERD_AUTO_DEFINE(void, free)

typedef struct check {
	sherd_report *report;
	const char *key;
	const sherd_model *model;
	const sherd_model_graph *graph;
	sherd_error *err;
} check;

#define WARN(c, reason, ...) TRY(sherd_report_warn((c)->report, (c)->key, reason, (c)->err, __VA_ARGS__))

static bool shapes_agree(const sherd_model_longs *told, const sherd_tensor *t)
{
	bool same = told->count == t->ndim;
	for (size_t i = 0; same && i < told->count; i++)
		same = told->at[i] == -1 || (uint64_t)told->at[i] == t->shape[i];
	return same;
}

static int check_variable(check *c, const sherd_model_variable *v)
{
	bool held = v->kind == SHERD_VARIABLE_TRAINED || v->kind == SHERD_VARIABLE_CONSTANT;
	if (v->array == SHERD_NO_ARRAY) {
		if (held)
			WARN(c, "no-data", "%s %.128s has no array", sherd_variable_kind_name(v->kind), v->name);
		return SHERD_OK;
	}
	const sherd_tensor *t = &c->model->arrays[v->array];
	if (v->dtype != t->dtype)
		WARN(c, "dtype-mismatch", "%.128s is of type number %u, its array is %s", v->name, v->type,
		     sherd_dtype_describe(t->dtype)->name);
	if (v->shape.at && !shapes_agree(&v->shape, t))
		WARN(c, "shape-mismatch", "the shape of %.128s is not that of its array", v->name);
	return SHERD_OK;
}

static int by_id(const void *a, const void *b)
{
	const sherd_model_id *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->output < y->output ? -1 : x->output > y->output;
}

static int check_ids(check *c)
{
	const sherd_model_graph *g = c->graph;
	size_t count = 0;
	SHERD_AUTO(void, free) room = malloc((g->variable_count + 1) * sizeof(sherd_model_id));
	sherd_model_id *ids = room;
	if (!ids)
		return sherd_fail_nomem(c->err);
	for (size_t i = 0; i < g->variable_count; i++)
		if (g->variables[i].has_id)
			ids[count++] = g->variables[i].id;
	if (count)
		qsort(ids, count, sizeof(*ids), by_id);
	for (size_t i = 1; i < count; i++)
		if (by_id(&ids[i - 1], &ids[i]) == 0)
			WARN(c, "duplicate-id", "two variables are output %d of node %d", ids[i].output, ids[i].node);
	if (count < g->variable_count)
		WARN(c, "no-id", "%zu variables have no id", g->variable_count - count);
	return SHERD_OK;
}

static const char *label(const sherd_model_operation *op)
{
	return op->name ? op->name : "an operation without a name";
}

static int check_number(check *c, const sherd_samediff_hasher *hasher, const sherd_model_operation *op)
{
	if (strcmp(sherd_op_type_name(op->type), "UNKNOWN") == 0)
		WARN(c, "unknown-op", "%.128s is of type number %u", label(op), op->type);
	if (op->type != SHERD_OP_CUSTOM)
		return SHERD_OK;
	if (!op->op) {
		WARN(c, "unknown-op", "%.128s does not tell its op", label(op));
		return SHERD_OK;
	}
	const char *registered = sherd_samediff_registered_name(op->op);
	if (sherd_samediff_hash(hasher, sherd_str_of(registered)) != (uint64_t)op->number)
		WARN(c, "op-mismatch", "%.64s: the number %lld is not that of the op %.64s", label(op),
		     (long long)op->number, op->op);
	return SHERD_OK;
}

static int check_operation(check *c, const sherd_model_operation *op)
{
	for (size_t i = 0; i < op->input_ids.count; i++)
		if (op->input_variables[i] == SHERD_NO_VARIABLE)
			WARN(c, "dangling-input", "input %zu of %.128s is output %d of node %d, which is not there", i,
			     label(op), op->input_ids.at[i].output, op->input_ids.at[i].node);
	for (size_t i = 0; i < op->outputs.count; i++)
		if (op->outputs.at[i] < 0 || (size_t)op->outputs.at[i] >= c->graph->variable_count)
			WARN(c, "dangling-output", "output %zu of %.128s is variable %d, which is not there", i,
			     label(op), op->outputs.at[i]);
	for (size_t i = 0; i < op->output_names.count; i++)
		if (sherd_model_find(c->model, op->output_names.at[i]) == SHERD_NO_VARIABLE)
			WARN(c, "dangling-output", "%.100s makes %.100s, which is no variable", label(op),
			     op->output_names.at[i]);
	return SHERD_OK;
}

static int check_texts(check *c, const sherd_model_texts *names, const char *what)
{
	for (size_t i = 0; i < names->count; i++)
		if (sherd_model_find(c->model, names->at[i]) == SHERD_NO_VARIABLE)
			WARN(c, "unknown-variable", "%s %.128s is no variable", what, names->at[i]);
	return SHERD_OK;
}

static int check_training(check *c)
{
	sherd_error found = {0};
	const char *text = c->graph->training;
	if (!text)
		return SHERD_OK;
	int rc = sherd_json_check(text, strlen(text), NULL, &found);
	if (rc == SHERD_ENOMEM)
		return sherd_fail_nomem(c->err);
	if (rc < 0)
		WARN(c, "bad-json", "the training configuration: %.200s", found.message);
	return SHERD_OK;
}

static int check_graph(check *c)
{
	const sherd_model_graph *g = c->graph;
	sherd_samediff_hasher hasher;
	sherd_samediff_hasher_init(&hasher);
	for (size_t i = 0; i < g->variable_count; i++)
		TRY(check_variable(c, &g->variables[i]));
	TRY(check_ids(c));
	for (size_t i = 0; i < g->operation_count; i++) {
		TRY(check_number(c, &hasher, &g->operations[i]));
		TRY(check_operation(c, &g->operations[i]));
	}
	TRY(check_texts(c, &g->placeholders, "the placeholder"));
	TRY(check_texts(c, &g->losses, "the loss"));
	for (size_t i = 0; i < g->updater_count; i++)
		if (sherd_model_find(c->model, g->updaters[i].parameter) == SHERD_NO_VARIABLE)
			WARN(c, "unknown-variable", "the updated %.128s is no variable", g->updaters[i].parameter);
	return check_training(c);
}

/* The offsets of texts must rise, from 0 to the end; opening checked the first and the last only. */
static int check_offsets(const sherd_bundle *b, size_t index, sherd_error *err)
{
	const sherd_tensor *t = sherd_bundle_tensor(b, index);
	uint64_t texts = 0, before = 0, end = 0;
	uint8_t raw[512 * 8];
	(void)sherd_tensor_bytes(SHERD_U8, t->ndim, t->shape, &texts);
	end = t->bytes - 8 * (texts + 1);
	for (uint64_t i = 0; i <= texts;) {
		uint64_t n = texts + 1 - i < sizeof(raw) / 8 ? texts + 1 - i : sizeof(raw) / 8;
		TRY(sherd_bundle_read(b, index, 8 * i, raw, (size_t)(8 * n), err));
		for (uint64_t k = 0; k < n; k++) {
			uint64_t offset = sherd_get_u64(raw + 8 * k);
			if (offset < before || offset > end)
				return sherd_fail(err, SHERD_ECORRUPT, "bad-offsets", "text %llu of %.128s",
				                  (unsigned long long)(i + k), t->name);
			before = offset;
		}
		i += n;
	}
	return SHERD_OK;
}

static int check_arrays(check *c)
{
	SHERD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(sherd_bundle_of_model(&b, c->model, c->err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		sherd_error found = {0};
		if (sherd_bundle_tensor(b, i)->dtype != SHERD_UTF8)
			continue;
		TRY(sherd_report_take(c->report, check_offsets(b, i, &found), &found, c->key, c->err));
		c->report->checked += sherd_bundle_tensor(b, i)->bytes;
	}
	return SHERD_OK;
}

/* What stands behind a manifest is of no use to anyone. */
static int check_trailing(check *c)
{
	sherd_format format = c->model->format;
	uint64_t trailing = format == SHERD_FORMAT_SDNB || format == SHERD_FORMAT_SDZ
	                            ? ((const sherd_sdnb_model *)c->model)->trailing
	                            : 0;
	if (trailing)
		WARN(c, "trailing-bytes", "%llu bytes behind the manifest", (unsigned long long)trailing);
	return SHERD_OK;
}

/* What opening said, unless a look at the file alone finds the same damage and more. */
static int report_unopened(sherd_report *r, sherd_store *store, const char *key, int rc, const sherd_error *found,
                           const sherd_verify_options *o, sherd_error *err)
{
	SHERD_AUTO(container_file, sherd_container_file_close) f = NULL;
	sherd_container_shards info = {0};
	sherd_arena arena = {0};
	size_t before = sherd_report_errors(r);
	bool readable = sherd_container_file_open(&f, store, key, o->limits, NULL) == SHERD_OK;
	if (readable)
		readable = sherd_container_file_shards(f, &arena, &info, NULL) == SHERD_OK;
	sherd_arena_done(&arena);
	if (readable)
		TRY(sherd_container_verify_file(r, f, info.shard, o, err));
	return sherd_report_errors(r) > before ? SHERD_OK : sherd_report_take(r, rc, found, key, err);
}

int sherd_model_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                       sherd_error *err)
{
	SHERD_AUTO(sherd_model, sherd_model_close) model = NULL;
	sherd_error found = {0};
	int rc = sherd_model_open(&model, store, key, &(sherd_model_options){.limits = o->limits}, &found);
	if (rc < 0)
		return report_unopened(r, store, key, rc, &found, o, err);
	check c = {.report = r, .key = key, .model = model, .graph = &model->graph, .err = err};
	bool container = model->format == SHERD_FORMAT_SAMEDIFF_CONTAINER;
	size_t before = sherd_report_errors(r);
	TRY(check_graph(&c));
	if (container)
		TRY(sherd_container_verify_model(r, (const sherd_container_model *)model, o, err));
	if (!o->quick && sherd_report_errors(r) == before)
		TRY(check_arrays(&c));
	TRY(check_trailing(&c));
	if (model->format == SHERD_FORMAT_SDZ) { /* its entries have checksums, which are held against all bytes */
		r->checked += o->quick ? model->checked : 0;
		return SHERD_OK;
	}
	r->checked += model->checked;
	if (container)
		return SHERD_OK;
	return sherd_report_warn(r, key, "no-checksum", err,
	                         "the format has no checksums: only its structure was checked");
}
