#include "engine/model/graph_verify.h"

#include "base/map.h"
#include "codec/json.h"
#include "format/samediff/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SHOWN = 100 };

/* One graph being checked. Names are known only inside of the graph that has them. */
typedef struct check {
	sherd_report *report;
	const char *key;
	const sherd_model *model;
	const shd_samediff_hasher *hasher;
	const sherd_model_graph *graph;
	shd_buf *path;  /* names of the graphs that lead to the one being checked, with slashes between them */
	shd_map names;  /* of variables to their indices */
	bool tells_ops; /* some operation of the model tells its op; of 1.0.0-beta2 none does */
	sherd_error *err;
} check;

__attribute__((format(printf, 3, 4))) static int warn(const check *c, const char *reason, const char *fmt, ...)
{
	char text[sizeof(c->err->message)];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (c->graph == &c->model->graph)
		return shd_report_warn(c->report, c->key, reason, c->err, "%s", text);
	int shown = c->path->len < PATH_SHOWN ? (int)c->path->len : PATH_SHOWN;
	return shd_report_warn(c->report, c->key, reason, c->err, "graph %.*s: %s", shown, (const char *)c->path->data,
	                       text);
}

#define WARN(c, ...) TRY(warn(c, __VA_ARGS__))

static size_t graph_verify_find(const check *c, const char *name)
{
	return shd_map_find(&c->names, shd_str_of(name)); /* which is SHERD_NO_VARIABLE when there is none */
}
_Static_assert(SHD_MAP_NONE == SHERD_NO_VARIABLE, "what is not found is no variable");

static bool shapes_agree(const sherd_model_longs *told, const sherd_tensor *t)
{
	bool same = told->count == t->ndim;
	for (size_t i = 0; same && i < told->count; i++)
		same = told->at[i] == -1 || (uint64_t)told->at[i] == t->shape[i];
	return same;
}

static int warn_dtype(const check *c, const sherd_model_variable *v, const sherd_tensor *t)
{
	const char *is = sherd_dtype_describe(t->dtype)->name;
	if (v->dtype == SHERD_DTYPE_NONE)
		return warn(c, "dtype-mismatch", "%.128s is of type number %u, its array is %s", v->name, v->type, is);
	return warn(c, "dtype-mismatch", "%.128s is %s, its array is %s", v->name, sherd_dtype_describe(v->dtype)->name,
	            is);
}

static int check_variable(const check *c, const sherd_model_variable *v)
{
	bool held = v->kind == SHERD_VARIABLE_TRAINED || v->kind == SHERD_VARIABLE_CONSTANT;
	if (v->array == SHERD_NO_ARRAY) {
		if (held)
			WARN(c, "no-data", "%s %.128s has no array", sherd_variable_kind_name(v->kind), v->name);
		return SHERD_OK;
	}
	const sherd_tensor *t = &c->model->arrays[v->array];
	if (v->dtype != t->dtype)
		TRY(warn_dtype(c, v, t));
	sherd_model_bytes hollow = c->model->graph.hollow;
	bool dimensionless = !v->shape.count && v->array < hollow.count && hollow.at[v->array];
	if (v->shape.at && !dimensionless && !shapes_agree(&v->shape, t))
		WARN(c, "shape-mismatch", "the shape of %.128s is not that of its array", v->name);
	return SHERD_OK;
}

static int graph_verify_by_id(const void *a, const void *b)
{
	const sherd_model_id *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->output < y->output ? -1 : x->output > y->output;
}

static int check_ids(const check *c)
{
	const sherd_model_graph *g = c->graph;
	size_t count = 0;
	SHD_AUTO_FREE sherd_model_id *ids = malloc((g->variable_count + 1) * sizeof(sherd_model_id));
	if (!ids)
		return shd_fail_nomem(c->err);
	for (size_t i = 0; i < g->variable_count; i++)
		if (g->variables[i].has_id)
			ids[count++] = g->variables[i].id;
	if (count)
		qsort(ids, count, sizeof(*ids), graph_verify_by_id);
	for (size_t i = 1; i < count; i++)
		if (graph_verify_by_id(&ids[i - 1], &ids[i]) == 0)
			WARN(c, "duplicate-id", "two variables are output %d of node %d", ids[i].output, ids[i].node);
	if (count < g->variable_count)
		WARN(c, "no-id", "%zu variable%s no id", g->variable_count - count,
		     g->variable_count - count == 1 ? " has" : "s have");
	return SHERD_OK;
}

static const char *label(const sherd_model_operation *op)
{
	return op->name ? op->name : "an operation without a name";
}

static int check_number(const check *c, const sherd_model_operation *op)
{
	if (strcmp(sherd_op_type_name(op->type), "UNKNOWN") == 0)
		WARN(c, "unknown-op", "%.128s is of type number %u", label(op), op->type);
	if (op->type != SHERD_OP_CUSTOM)
		return SHERD_OK;
	if (!op->op) {
		if (c->tells_ops)
			WARN(c, "unknown-op", "%.128s does not tell its op", label(op));
		return SHERD_OK;
	}
	const char *registered = shd_samediff_registered_name(op->op);
	if (shd_samediff_hash(c->hasher, shd_str_of(registered)) != (uint64_t)op->number)
		WARN(c, "op-mismatch", "%.64s: the number %lld is not that of the op %.64s", label(op),
		     (long long)op->number, op->op);
	return SHERD_OK;
}

static int check_operation(const check *c, const sherd_model_operation *op)
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
		if (graph_verify_find(c, op->output_names.at[i]) == SHERD_NO_VARIABLE)
			WARN(c, "dangling-output", "%.100s makes %.100s, which is no variable", label(op),
			     op->output_names.at[i]);
	return SHERD_OK;
}

/* The variable that an output is: by its name, else by its index; or SHERD_NO_VARIABLE. */
static size_t output_of(const check *c, const sherd_model_operation *op, size_t index)
{
	if (op->output_names.count)
		return graph_verify_find(c, op->output_names.at[index]);
	int32_t v = op->outputs.at[index];
	return v >= 0 && (size_t)v < c->graph->variable_count ? (size_t)v : SHERD_NO_VARIABLE;
}

static int check_makers(const check *c)
{
	const sherd_model_graph *g = c->graph;
	SHD_AUTO_FREE const char **makers = calloc(g->variable_count + 1, sizeof(const char *));
	if (!makers)
		return shd_fail_nomem(c->err);
	for (size_t i = 0; i < g->operation_count; i++) {
		const sherd_model_operation *op = &g->operations[i];
		size_t outputs = op->output_names.count ? op->output_names.count : op->outputs.count;
		for (size_t k = 0; k < outputs; k++) {
			size_t v = output_of(c, op, k);
			if (v == SHERD_NO_VARIABLE)
				continue;
			if (makers[v])
				WARN(c, "duplicate-output", "%.64s is made by %.64s, and again by %.64s",
				     g->variables[v].name, makers[v], label(op));
			makers[v] = label(op);
		}
	}
	return SHERD_OK;
}

static int graph_verify_check_texts(const check *c, const sherd_model_texts *names, const char *what)
{
	for (size_t i = 0; i < names->count; i++)
		if (graph_verify_find(c, names->at[i]) == SHERD_NO_VARIABLE)
			WARN(c, "unknown-variable", "%s %.128s is no variable", what, names->at[i]);
	return SHERD_OK;
}

static int check_training(const check *c)
{
	sherd_error found = {0};
	const char *text = c->graph->training;
	if (!text)
		return SHERD_OK;
	int rc = shd_json_check(text, strlen(text), NULL, &found);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(c->err);
	if (rc < 0)
		WARN(c, "bad-json", "the training configuration: %.200s", found.message);
	return SHERD_OK;
}

static int take_names(check *c)
{
	for (size_t i = 0; i < c->graph->variable_count; i++) {
		bool ok;
		(void)shd_map_add(&c->names, shd_str_of(c->graph->variables[i].name), i, &ok);
		if (!ok)
			return shd_fail_nomem(c->err);
	}
	return SHERD_OK;
}

/* This graph alone, without those inside of it. */
static int graph_verify_check_alone(const check *c)
{
	const sherd_model_graph *g = c->graph;
	for (size_t i = 0; i < g->variable_count; i++)
		TRY(check_variable(c, &g->variables[i]));
	TRY(check_ids(c));
	for (size_t i = 0; i < g->operation_count; i++) {
		TRY(check_number(c, &g->operations[i]));
		TRY(check_operation(c, &g->operations[i]));
	}
	TRY(check_makers(c));
	TRY(graph_verify_check_texts(c, &g->placeholders, "the placeholder"));
	TRY(graph_verify_check_texts(c, &g->losses, "the loss"));
	for (size_t i = 0; i < g->updater_count; i++)
		if (graph_verify_find(c, g->updaters[i].parameter) == SHERD_NO_VARIABLE)
			WARN(c, "unknown-variable", "the updated %.128s is no variable", g->updaters[i].parameter);
	return check_training(c);
}

/* Operations call graphs by their names. */
static int check_names_inside(const check *c)
{
	SHD_DONE(shd_map_done) shd_map names = {0};
	for (size_t i = 0; i < c->graph->subgraph_count; i++) {
		bool ok;
		const char *name = c->graph->subgraphs[i].name;
		if (shd_map_add(&names, shd_str_of(name), i, &ok) != SHD_MAP_NONE)
			WARN(c, "duplicate-name", "two graphs inside are called %.128s", name);
		else if (!ok)
			return shd_fail_nomem(c->err);
	}
	return SHERD_OK;
}

/* Calls itself for the graphs inside: opening refused more than SHD_SAMEDIFF_DEPTH of them in each other. */
static int check_graph(check *c)
{
	int rc = take_names(c);
	if (rc == SHERD_OK)
		rc = graph_verify_check_alone(c);
	shd_map_done(&c->names);
	if (rc == SHERD_OK)
		rc = check_names_inside(c);
	size_t before = c->path->len;
	for (size_t i = 0; rc == SHERD_OK && i < c->graph->subgraph_count; i++) {
		check inner = *c;
		inner.graph = c->graph->subgraphs[i].graph;
		shd_buf_printf(c->path, "%s%s", before ? "/" : "", c->graph->subgraphs[i].name);
		rc = shd_buf_check(c->path, c->err);
		if (rc == SHERD_OK)
			rc = check_graph(&inner);
		c->path->len = before;
	}
	return rc;
}

static bool tells_ops(const sherd_model_graph *g)
{
	bool told = false;
	for (size_t i = 0; !told && i < g->operation_count; i++)
		told = g->operations[i].op != NULL;
	for (size_t i = 0; !told && i < g->subgraph_count; i++)
		told = tells_ops(g->subgraphs[i].graph);
	return told;
}

int shd_model_verify_graph(sherd_report *r, const char *key, const sherd_model *model, sherd_error *err)
{
	SHD_AUTO_BUF path = {0};
	shd_samediff_hasher hasher;
	shd_samediff_hasher_init(&hasher);
	check c = {.report = r, .key = key, .model = model, .hasher = &hasher, .err = err};
	c.graph = &model->graph;
	c.tells_ops = tells_ops(c.graph);
	c.path = &path;
	return check_graph(&c);
}
