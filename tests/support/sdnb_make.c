#include "support/sdnb_make.h"

#include "codec/crc32.h"
#include "codec/deflate.h"
#include "format/zip.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

enum { W, BIG, F, SCALAR, NOTHING, LARGE, W_M, BIG_M, OP, ARRAYS };

static const int64_t unknown_rows[] = {-1, 3};
static const char *const m[] = {"M"};
static const size_t w_m[] = {W_M}, big_m[] = {BIG_M};
static const uint8_t fortran[ARRAYS] = {[F] = 1};
static const char *const losses[] = {"out"}, *const placeholders[] = {"in"};
static const sherd_model_id inputs[] = {{1, 0}, {2, 0}};
static const int32_t no_inputs[1], outputs[] = {7};
static const char *const output_names[] = {"out"};

static const sherd_model_variable variables[] = {
	{"in", SHERD_VARIABLE_PLACEHOLDER, SHERD_F32, 5, true, {1, 0}, {2, unknown_rows}, -1, .array = SHERD_NO_ARRAY},
	{"w", SHERD_VARIABLE_TRAINED, SHERD_F32, 5, true, {2, 0}, .device = -1, .array = W},
	{"big", SHERD_VARIABLE_TRAINED, SHERD_F32, 5, true, {3, 0}, .device = -1, .array = BIG},
	{"f", SHERD_VARIABLE_CONSTANT, SHERD_I16, 8, true, {4, 0}, .device = -1, .array = F},
	{"scalar", SHERD_VARIABLE_CONSTANT, SHERD_I64, 10, true, {5, 0}, .device = -1, .array = SCALAR},
	{"nothing", SHERD_VARIABLE_CONSTANT, SHERD_F64, 6, true, {6, 0}, .device = -1, .array = NOTHING},
	{"large", SHERD_VARIABLE_TRAINED, SHERD_BF16, 17, true, {7, 0}, .device = -1, .array = LARGE},
	{"out", SHERD_VARIABLE_ARRAY, SHERD_F32, 5, true, {100, 0}, .device = -1, .array = SHERD_NO_ARRAY},
};
static const sherd_model_operation operations[] = {{.id = 100,
                                                    .name = "mul",
                                                    .op = "mmul",
                                                    .type = 21,
                                                    .number = -273014250715117663,
                                                    .inputs = {0, no_inputs},
                                                    .input_ids = {2, inputs},
                                                    .outputs = {1, outputs},
                                                    .output_names = {1, output_names},
                                                    .device = -1,
                                                    .scalar = OP}};
static const sherd_model_updater updaters[] = {{"w", {1, m}, {1, w_m}}, {"big", {1, m}, {1, big_m}}};
static const sherd_pair pairs[] = {{"model.name", "sample"}};

static uint8_t byte_of(unsigned seed, size_t array, uint64_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 8) * 3 + (offset >> 17) * 11 + array * 31 + seed);
}

static int read_bytes(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = byte_of((unsigned)(uintptr_t)arg, array, offset + i);
	return SHERD_OK;
}

static const uint64_t rows[] = {2, 3}, none[] = {0, 4};
static const uint64_t big[] = {300, 1000}, large[] = {1024, 600}, big_small[] = {10, 5}, large_small[] = {7, 4};

#define TENSORS(big_shape, big_bytes, large_shape, large_bytes)                                           \
	{                                                                                                 \
		[W] = {"w", SHERD_F32, 2, rows, 24}, [BIG] = {"big", SHERD_F32, 2, big_shape, big_bytes}, \
		[F] = {"f", SHERD_I16, 2, rows, 12}, [SCALAR] = {"scalar", SHERD_I64, 0, NULL, 8},        \
		[NOTHING] = {"nothing", SHERD_F64, 2, none, 0},                                           \
		[LARGE] = {"large", SHERD_BF16, 2, large_shape, large_bytes},                             \
		[W_M] = {"@updater/w/M", SHERD_F32, 2, rows, 24},                                         \
		[BIG_M] = {"@updater/big/M", SHERD_F32, 2, big_shape, big_bytes},                         \
		[OP] = {"@op/mul/scalar", SHERD_F32, 0, NULL, 4},                                         \
	}

static const sherd_tensor full[ARRAYS] = TENSORS(big, 1200000, large, 1228800);
static const sherd_tensor less[ARRAYS] = TENSORS(big_small, 200, large_small, 56);

static const sherd_tensor *tensors(bool small)
{
	return small ? less : full;
}

sherd_model *sdnb_sample(unsigned seed, bool small)
{
	const sherd_model_graph graph = {.variable_count = COUNT_OF(variables),
	                                 .variables = variables,
	                                 .operation_count = 1,
	                                 .operations = operations,
	                                 .updater_count = COUNT_OF(updaters),
	                                 .updaters = updaters,
	                                 .placeholders = {1, placeholders},
	                                 .losses = {1, losses},
	                                 .training = "{\"updater\":{}}",
	                                 .fortran = {ARRAYS, fortran}};
	const sherd_model_parts parts = {.graph = &graph,
	                                 .arrays = tensors(small),
	                                 .array_count = ARRAYS,
	                                 .pairs = pairs,
	                                 .pair_count = 1,
	                                 .read = read_bytes,
	                                 .arg = (void *)(uintptr_t)seed};
	sherd_model *made = NULL;
	return sherd_model_make(&made, &parts, NULL) == SHERD_OK ? made : NULL;
}

static bool same_bytes(const sherd_bundle *b, size_t index, unsigned seed, size_t array, uint64_t bytes)
{
	uint8_t buf[4096];
	for (uint64_t at = 0; at < bytes;) {
		size_t n = bytes - at < sizeof(buf) ? (size_t)(bytes - at) : sizeof(buf);
		if (sherd_bundle_read(b, index, at, buf, n, NULL) < 0)
			return false;
		for (size_t i = 0; i < n; i++)
			if (buf[i] != byte_of(seed, array, at + i))
				return false;
		at += n;
	}
	return true;
}

static const char *graph_difference_of(const sherd_model *model)
{
	const sherd_model_graph *g = sherd_model_describe(model);
	if (g->variable_count != COUNT_OF(variables) || g->operation_count != 1 || g->updater_count != 2)
		return "a count";
	for (size_t i = 0; i < COUNT_OF(variables); i++)
		if (strcmp(g->variables[i].name, variables[i].name) != 0 || g->variables[i].kind != variables[i].kind ||
		    g->variables[i].dtype != variables[i].dtype || g->variables[i].id.node != variables[i].id.node)
			return variables[i].name;
	if (strcmp(g->operations[0].op, "mmul") != 0 || g->operations[0].input_variables[1] != 1)
		return "the operation";
	if (!g->training || strcmp(g->training, "{\"updater\":{}}") != 0 || g->losses.count != 1 ||
	    g->placeholders.count != 1)
		return "the training";
	return NULL;
}

const char *sdnb_sample_difference(const sherd_model *model, unsigned seed, bool small)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	const sherd_tensor *want = tensors(small);
	const char *difference = graph_difference_of(model);
	if (difference)
		return difference;
	if (sherd_bundle_of_model(&b, model, NULL) < 0 || sherd_bundle_count(b) != ARRAYS)
		return "the arrays";
	for (size_t i = 0; i < ARRAYS; i++) {
		size_t index = sherd_bundle_find(b, want[i].name);
		const sherd_tensor *t = sherd_bundle_tensor(b, index);
		if (!t || t->dtype != want[i].dtype || t->ndim != want[i].ndim || t->bytes != want[i].bytes ||
		    (t->ndim && memcmp(t->shape, want[i].shape, t->ndim * sizeof(t->shape[0])) != 0) ||
		    !same_bytes(b, index, seed, i, t->bytes))
			return want[i].name;
		if (i == F && !sherd_model_describe(model)->fortran.at[index])
			return "the order of f";
	}
	return NULL;
}

void sdnb_put_deflated(shd_buf *out, const char *name, const uint8_t *data, size_t len)
{
	shd_deflate *d = NULL;
	SHD_AUTO_BUF packed = {0};
	if (shd_deflate_open(&d, 6, NULL) < 0 || !shd_buf_reserve(&packed, len + len / 8 + 1024))
		abort();
	packed.len = shd_deflate_pack(d, data, len, packed.data, packed.cap);
	shd_deflate_close(d);
	shd_zip_entry e = {.name = name,
	                   .method = SHD_ZIP_DEFLATED,
	                   .crc = shd_crc32(0, data, len),
	                   .stored = packed.len,
	                   .size = len};
	shd_zip_put_local(out, &e, 1);
	shd_buf_append(out, packed.data, packed.len);
	shd_zip_put_directory(out, &e, 1, out->len);
}
