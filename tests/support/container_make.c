#include "support/container_make.h"

#include "base/buf.h"
#include "support/test.h"

#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

enum { LARGE = 900001, SMALL = 40, TYPE_FLOAT = 5, TYPE_INT64 = 10, TYPE_UTF8 = 50 };

static const uint64_t shapes[][2] = {{2, 3}, {0}, {2}, {SMALL}, {2, 3}}, large_shape[] = {LARGE};
static const int64_t dims[][2] = {{2, 3}, {0}, {2}, {SMALL}}, large_dims[] = {LARGE};

static const sherd_tensor small_arrays[CONTAINER_ARRAYS] = {
	{"w", SHERD_F32, 2, shapes[0], 24},
	{"n", SHERD_I64, 0, shapes[1], 8},
	{"texts", SHERD_UTF8, 1, shapes[2], 28},
	{"large", SHERD_F32, 1, shapes[3], 4 * SMALL},
	{"@updater/w/M", SHERD_F32, 2, shapes[4], 24},
};
static sherd_tensor large_arrays[CONTAINER_ARRAYS];

#define VARIABLE(text, what, number, type_, shape_, rank, at)                                                  \
	{                                                                                                      \
		.name = text, .kind = what, .dtype = type_, .type = number, .has_id = true, .id = {at + 1, 0}, \
		.shape = {rank, shape_}, .array = at                                                           \
	}

static const sherd_model_variable small_variables[] = {
	VARIABLE("w", SHERD_VARIABLE_TRAINED, TYPE_FLOAT, SHERD_F32, dims[0], 2, 0),
	VARIABLE("n", SHERD_VARIABLE_CONSTANT, TYPE_INT64, SHERD_I64, dims[1], 0, 1),
	VARIABLE("texts", SHERD_VARIABLE_CONSTANT, TYPE_UTF8, SHERD_UTF8, dims[2], 1, 2),
	VARIABLE("large", SHERD_VARIABLE_TRAINED, TYPE_FLOAT, SHERD_F32, dims[3], 1, 3),
};
static sherd_model_variable large_variables[COUNT_OF(small_variables)];

static const size_t updater_arrays[] = {4};
static const char *const updater_keys[] = {"M"};
static const sherd_model_updater updater = {.parameter = "w", .keys = {1, updater_keys}, .arrays = {1, updater_arrays}};
static const sherd_pair pairs[] = {{"model.name", "a sample"}, {"author", "\xc3\x89mile"}};

static sherd_model_graph graphs[2];
static sherd_model_parts parts[2];

static void make(bool large)
{
	sherd_model_graph *g = &graphs[large];
	*g = (sherd_model_graph){.variable_count = COUNT_OF(small_variables), .updater_count = 1, .updaters = &updater};
	memcpy(large_arrays, small_arrays, sizeof(small_arrays));
	memcpy(large_variables, small_variables, sizeof(small_variables));
	large_arrays[CONTAINER_LARGE].shape = large_shape;
	large_arrays[CONTAINER_LARGE].bytes = 4 * LARGE;
	large_variables[CONTAINER_LARGE].shape.at = large_dims;
	g->variables = large ? large_variables : small_variables;
	parts[large] = (sherd_model_parts){.graph = g,
	                                   .arrays = large ? large_arrays : small_arrays,
	                                   .array_count = CONTAINER_ARRAYS,
	                                   .pairs = pairs,
	                                   .pair_count = COUNT_OF(pairs),
	                                   .read = container_read};
}

const sherd_model_parts *container_parts(bool large)
{
	if (!parts[large].graph)
		make(large);
	return &parts[large];
}

/* Weights: sign, exponent and the upper bits of the mantissa vary little, the lowest bits a lot. */
static uint8_t byte_of(size_t array, uint64_t at)
{
	static const uint8_t texts[] = "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0abcd";
	if (array == 2)
		return texts[at];
	uint64_t mixed = (at / 4 + 1) * 0x9e3779b97f4a7c15u ^ array;
	return at % 4 == 3 ? 0x3c : at % 4 == 2 ? (uint8_t)(mixed >> 60) : (uint8_t)(mixed >> (8 * (at % 4) + 16));
}

int container_read(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg;
	(void)err;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = byte_of(array, offset + i);
	return SHERD_OK;
}

void container_write(sherd_store *store, const char *key, bool large, const sherd_model_save_options *options,
                     size_t piece)
{
	const sherd_model_parts *p = container_parts(large);
	sherd_model_writer *w = NULL;
	assert_ok(sherd_model_writer_open(&w, store, key, p, options, err));
	for (size_t i = 0; i < p->array_count; i++) {
		uint64_t bytes = p->arrays[i].bytes, n;
		uint8_t *data = malloc((size_t)bytes);
		assert_int_equal(container_read(NULL, i, 0, data, (size_t)bytes, NULL), SHERD_OK);
		for (uint64_t at = 0; at < bytes; at += n) {
			n = piece && bytes - at > piece ? piece : bytes - at;
			assert_ok(sherd_model_writer_append(w, i, data + at, (size_t)n, err));
		}
		free(data);
	}
	assert_ok(sherd_model_writer_commit(w, err));
}

void container_assert(sherd_store *store, const char *key, bool large, bool with_updater)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	const sherd_model_parts *p = container_parts(large);
	assert_ok(sherd_model_open(&m, store, key, NULL, err));
	assert_int_equal(sherd_model_format(m), SHERD_FORMAT_SAMEDIFF_CONTAINER);
	assert_int_equal(sherd_model_describe(m)->variable_count, p->graph->variable_count);
	assert_int_equal(sherd_model_describe(m)->updater_count, with_updater);
	assert_ok(sherd_bundle_of_model(&b, m, err));
	assert_int_equal(sherd_bundle_count(b), with_updater ? CONTAINER_ARRAYS : CONTAINER_ARRAYS - 1);
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		size_t at = sherd_bundle_find(b, p->arrays[i].name);
		assert_int_not_equal(at, SHERD_NO_TENSOR);
		const sherd_tensor *t = sherd_bundle_tensor(b, at);
		assert_int_equal(t->dtype, p->arrays[i].dtype);
		assert_int_equal(t->bytes, p->arrays[i].bytes);
		uint8_t *got = malloc((size_t)t->bytes), *want = malloc((size_t)t->bytes);
		assert_ok(sherd_bundle_read(b, at, 0, got, (size_t)t->bytes, err));
		assert_int_equal(container_read(NULL, i, 0, want, (size_t)t->bytes, NULL), SHERD_OK);
		assert_memory_equal(got, want, t->bytes);
		free(got);
		free(want);
	}
}

long container_verify(sherd_store *store, const char *key, sherd_error *first)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	if (sherd_verify(&r, store, key, NULL, first) < 0)
		return -1;
	if (first && sherd_report_errors(r))
		*first = *sherd_report_error(r, 0);
	return (long)sherd_report_errors(r);
}
