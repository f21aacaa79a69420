/* sherd/model_graph.h - what a model is apart from the numbers in its arrays: variables, operations, training.
 *
 * Plain structs that belong to whoever handed them out. Texts are UTF-8, NUL-terminated; a text that is absent is NULL.
 * A list that is absent has a NULL pointer, one that is empty has not. Arrays are named by their index among the
 * tensors of the model's bundle. */
#ifndef SHERD_MODEL_GRAPH_H
#define SHERD_MODEL_GRAPH_H

#include <sherd/dtype.h>
#include <sherd/export.h>
#include <sherd/tensor.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

SHERD_BEGIN_DECLS

#define SHERD_NO_ARRAY SIZE_MAX    /* in place of an array's index: there is none */
#define SHERD_NO_VARIABLE SIZE_MAX /* in place of a variable's index */

typedef struct sherd_model_texts {
	size_t count;
	const char *const *at;
} sherd_model_texts;
typedef struct sherd_model_bytes {
	size_t count;
	const uint8_t *at;
} sherd_model_bytes;
typedef struct sherd_model_ints {
	size_t count;
	const int32_t *at;
} sherd_model_ints;
typedef struct sherd_model_longs {
	size_t count;
	const int64_t *at;
} sherd_model_longs;
typedef struct sherd_model_reals {
	size_t count;
	const double *at;
} sherd_model_reals;
typedef struct sherd_model_arrays {
	size_t count;
	const size_t *at;
} sherd_model_arrays;

/* The numbers are SameDiff's. */
typedef enum sherd_variable_kind {
	SHERD_VARIABLE_TRAINED = 0, /* SameDiff calls it VARIABLE */
	SHERD_VARIABLE_CONSTANT = 1,
	SHERD_VARIABLE_ARRAY = 2, /* made by an operation */
	SHERD_VARIABLE_PLACEHOLDER = 3,
	SHERD_VARIABLE_SEQUENCE = 4
} sherd_variable_kind;

/* An output of a node: variables are known by it to the operations that take them. */
typedef struct sherd_model_id {
	int32_t node, output;
} sherd_model_id;
typedef struct sherd_model_ids {
	size_t count;
	const sherd_model_id *at;
} sherd_model_ids;

typedef struct sherd_model_variable {
	const char *name; /* never NULL; no two alike */
	sherd_variable_kind kind;
	sherd_dtype dtype;       /* SHERD_DTYPE_NONE where type is none of ours */
	uint8_t type;            /* SameDiff's number of it */
	bool has_id;             /* as every genuine variable has */
	sherd_model_id id;       /* zero without one */
	sherd_model_longs shape; /* -1: unknown */
	int32_t device;
	sherd_model_texts control_deps, control_deps_for_op, control_deps_for_variable;
	size_t array; /* or SHERD_NO_ARRAY */
} sherd_model_variable;

#define SHERD_OP_CUSTOM 21 /* the type of most operations: what they do is told by their name */
/* Types of 1.0.0-beta2 and beta3 that later versions do not have, and whose op numbers mean nothing there: theirs, and
 * this. Containers keep them, formats of SameDiff have no place for them. */
#define SHERD_OP_BETA3 200
#define SHERD_OP_BETA3_LAST 210

/* Normally one of the lists is there; none: the value is null. */
typedef struct sherd_model_property {
	const char *name;
	sherd_model_ints ints;
	sherd_model_longs longs;
	sherd_model_reals reals;
	sherd_model_arrays arrays;
	sherd_model_bytes bools;
	sherd_model_texts texts;
	sherd_model_ints shape; /* there when the value is a list, not a single one */
} sherd_model_property;

typedef struct sherd_model_operation {
	int32_t id;
	const char *name; /* of this node */
	const char *op;   /* of what it does: "mmul" */
	uint8_t type;     /* SameDiff's OpType, see sherd_op_type_name(); or SHERD_OP_BETA3 and an older one */
	int64_t number;   /* a hash of the op's name when the type is SHERD_OP_CUSTOM */
	size_t property_count;
	const sherd_model_property *properties;
	sherd_model_ints inputs; /* files of today leave it empty */
	sherd_model_ids input_ids;
	const size_t *input_variables; /* for each of input_ids its variable, or SHERD_NO_VARIABLE */
	sherd_model_ints outputs;      /* indices of variables */
	sherd_model_texts output_names;
	sherd_model_bytes output_types; /* SameDiff's numbers */
	sherd_model_reals reals;
	sherd_model_longs longs;
	sherd_model_bytes bools;
	sherd_model_bytes types; /* SameDiff's numbers */
	sherd_model_texts texts;
	sherd_model_ints dimensions;
	int32_t device, scope_id;
	const char *scope_name;
	size_t scalar; /* an array, or SHERD_NO_ARRAY */
	sherd_model_texts control_deps, variable_control_deps, control_deps_for;
} sherd_model_operation;

/* What an updater remembers of one parameter: arrays by key ("M" and "V" of Adam). */
typedef struct sherd_model_updater {
	const char *parameter;
	sherd_model_texts keys;
	sherd_model_arrays arrays; /* as many as keys */
} sherd_model_updater;

typedef struct sherd_model_sequence {
	const char *name;
	sherd_model_arrays arrays;
} sherd_model_sequence;

typedef struct sherd_model_configuration {
	bool present;
	int64_t id;
	uint8_t execution_mode, profiling_mode, output_mode, direction;
	bool timestats;
	int64_t footprint_forward, footprint_backward;
} sherd_model_configuration;

/* A graph that operations of this one call. */
typedef struct sherd_model_subgraph {
	const char *name;
	const struct sherd_model_graph *graph; /* its arrays are numbered together with those of the whole model */
} sherd_model_subgraph;

typedef struct sherd_model_graph {
	int64_t id;
	size_t variable_count, operation_count, updater_count, sequence_count;
	const sherd_model_variable *variables;
	const sherd_model_operation *operations;
	const sherd_model_updater *updaters;
	const sherd_model_sequence *sequences;
	sherd_model_ids outputs;
	sherd_model_configuration configuration;
	sherd_model_texts placeholders, losses;
	const char *training; /* configuration of training, JSON; NULL: none */
	size_t subgraph_count;
	const sherd_model_subgraph *subgraphs;
	sherd_model_bytes fortran; /* of the whole model: 1 for each array that SameDiff held in Fortran order, to be
	                            * written so again by formats that know it; absent: none */
	sherd_model_bytes hollow;  /* likewise 1 for each empty array that SameDiff held without a dimension of 0: a
	                            * scalar of nothing. Its shape is [0] */
} sherd_model_graph;

/* "VARIABLE", "PLACEHOLDER"; "UNKNOWN" for any other number. */
SHERD_API const char *sherd_variable_kind_name(sherd_variable_kind kind);
/* "CUSTOM", "TRANSFORM_SAME", "BETA3_TRANSFORM"; "UNKNOWN" for any other number. */
SHERD_API const char *sherd_op_type_name(uint8_t type);

SHERD_END_DECLS

#endif
