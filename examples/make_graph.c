/* Makes a model in memory, out = softmax(in * w + b), and writes it as ND4J 1.0.0-M2.1 loads it: make_graph FOLDER */
#include <sherd/sherd.h>

#include <stdio.h>
#include <string.h>

enum { INPUTS = 4, OUTPUTS = 3, W = 0, B = 1 };

/* Elements are asked for in pieces, whenever they are needed. */
static int read_array(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	const float *const *values = arg;
	memcpy(buf, (const char *)values[array] + offset, len);
	return SHERD_OK;
}

static sherd_model_variable variable(const char *name, sherd_variable_kind kind, int32_t node)
{
	return (sherd_model_variable){.name = name,
	                              .kind = kind,
	                              .dtype = SHERD_F32,
	                              .has_id = true,
	                              .id = {.node = node},
	                              .device = -1,
	                              .array = SHERD_NO_ARRAY};
}

/* An operation has the id of what it makes; it knows what it takes by its ids. */
static sherd_model_operation operation(const char *op, const sherd_model_id *inputs, size_t input_count, int32_t id,
                                       const int32_t *output, const char *const *name)
{
	static const uint8_t type[] = {5};
	return (sherd_model_operation){.id = id,
	                               .name = op,
	                               .op = op,
	                               .type = SHERD_OP_CUSTOM,
	                               .input_ids = {input_count, inputs},
	                               .outputs = {1, output},
	                               .output_names = {1, name},
	                               .output_types = {1, type},
	                               .device = -1,
	                               .scalar = SHERD_NO_ARRAY};
}

static int make(sherd_model **out, const float *const values[], sherd_error *err)
{
	static const int64_t any_rows[] = {-1, INPUTS}, axis[] = {1};
	static const uint64_t w_shape[] = {INPUTS, OUTPUTS}, b_shape[] = {OUTPUTS};
	static const sherd_tensor arrays[] = {{.dtype = SHERD_F32, .ndim = 2, .shape = w_shape},
	                                      {.dtype = SHERD_F32, .ndim = 1, .shape = b_shape}};
	static const char *const names[] = {"product", "sum", "out"}, *const placeholders[] = {"in"};
	static const int32_t indices[] = {3, 4, 5};
	static const sherd_model_id product[] = {{1, 0}, {2, 0}}, sum[] = {{4, 0}, {3, 0}}, softmax[] = {{5, 0}};
	sherd_model_variable variables[] = {
		variable("in", SHERD_VARIABLE_PLACEHOLDER, 1), variable("w", SHERD_VARIABLE_TRAINED, 2),
		variable("b", SHERD_VARIABLE_TRAINED, 3),      variable("product", SHERD_VARIABLE_ARRAY, 4),
		variable("sum", SHERD_VARIABLE_ARRAY, 5),      variable("out", SHERD_VARIABLE_ARRAY, 6),
	};
	sherd_model_operation operations[] = {
		operation("matmul", product, 2, 4, &indices[0], &names[0]),
		operation("add", sum, 2, 5, &indices[1], &names[1]),
		operation("softmax", softmax, 1, 6, &indices[2], &names[2]),
	};
	variables[0].shape = (sherd_model_longs){2, any_rows};
	variables[1].array = W;
	variables[2].array = B;
	operations[2].longs = (sherd_model_longs){1, axis};
	const sherd_model_graph graph = {
		.variable_count = sizeof(variables) / sizeof(variables[0]),
		.variables = variables,
		.operation_count = sizeof(operations) / sizeof(operations[0]),
		.operations = operations,
		.placeholders = {1, placeholders},
	};
	const sherd_model_parts parts = {
		.graph = &graph, .arrays = arrays, .array_count = 2, .read = read_array, .arg = (void *)values};
	return sherd_model_make(out, &parts, err);
}

static int save(const char *folder, const sherd_model *model, sherd_error *err)
{
	const sherd_model_save_options options = {.format = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, .replace = true};
	sherd_store *store = NULL;
	int rc = sherd_store_open_local(&store, folder, &(sherd_local_options){.create = true}, err);
	if (rc == SHERD_OK)
		rc = sherd_model_save(model, store, "made.fb", &options, err);
	sherd_store_close(store);
	return rc;
}

int main(int argc, char **argv)
{
	static const float w[INPUTS * OUTPUTS] = {0.5f, -1, 0.25f, 1, 0.125f, -0.5f, -0.75f, 2, 0, 1.5f, -0.25f, 1};
	static const float b[OUTPUTS] = {0.1f, -0.2f, 0.3f};
	const float *const values[] = {[W] = w, [B] = b};
	sherd_error err = {0};
	sherd_model *model = NULL;
	if (argc != 2) {
		(void)fprintf(stderr, "usage: make_graph FOLDER\n");
		return 2;
	}
	int rc = make(&model, values, &err);
	if (rc == SHERD_OK)
		rc = save(argv[1], model, &err);
	sherd_model_close(model);
	if (rc < 0) {
		(void)fprintf(stderr, "make_graph: %s: %s\n", err.object, err.message);
		return 1;
	}
	return 0;
}
