#include "support/nd4j_make.h"
#include "support/test.h"

#include "base/error.h"
#include "format/samediff/nd4j_array.h"

#include <sherd/bundle.h>

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_store, sherd_store_close)

static shd_arena arena;

static int drop_arena(void **state)
{
	(void)state;
	shd_arena_done(&arena);
	arena = (shd_arena){0};
	return 0;
}

static int decode(const shd_buf *b, shd_nd4j_array *out, sherd_error *err)
{
	return shd_nd4j_array_decode(b->data, b->len < SHD_ND4J_HEAD ? b->len : SHD_ND4J_HEAD, b->len, NULL, &arena,
	                             out, err);
}

TEST(every_type_is_read)
{
	static const struct {
		const char *name;
		sherd_dtype dtype;
	} types[] = {
		{"BOOL", SHERD_BOOL},     {"HALF", SHERD_F16},   {"FLOAT", SHERD_F32},  {"DOUBLE", SHERD_F64},
		{"BYTE", SHERD_I8},       {"SHORT", SHERD_I16},  {"INT", SHERD_I32},    {"LONG", SHERD_I64},
		{"UBYTE", SHERD_U8},      {"UINT16", SHERD_U16}, {"UINT32", SHERD_U32}, {"UINT64", SHERD_U64},
		{"BFLOAT16", SHERD_BF16},
	};
	static const uint64_t data[6] = {0};
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		SHD_AUTO_BUF b = {0};
		shd_nd4j_array a;
		uint32_t size = sherd_dtype_element_bytes(types[i].dtype);
		nd4j_put_shape(&b, 2, (const int64_t[]){2, 3}, 'c', 0);
		nd4j_put_part(&b, types[i].name, 6, data, size);
		assert_ok(decode(&b, &a, err));
		assert_int_equal(a.dtype, types[i].dtype);
		assert_int_equal(a.bytes, 6 * size);
		assert_int_equal(a.data + a.bytes, b.len);
		assert_int_equal(a.swap, size > 1);
		assert_false(a.fortran);
		assert_true(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3);
	}
}

/* Before 1.0.0-beta4 an array was stored by one of four other names, all but LONG_SHAPE with 32-bit shapes. */
TEST(old_arrays_of_every_mode_and_type_are_read)
{
	static const char *const modes[] = {"LONG_SHAPE", "JAVACPP", "HEAP", "DIRECT"};
	static const struct {
		const char *name;
		sherd_dtype dtype;
	} types[] = {{"HALF", SHERD_F16},
	             {"FLOAT", SHERD_F32},
	             {"DOUBLE", SHERD_F64},
	             {"INT", SHERD_I32},
	             {"LONG", SHERD_I64}};
	static const uint64_t data[6] = {0};
	static const int64_t wide[] = {2, 2, 3, 1, 2, 0, 1, 'f'};
	static const int32_t narrow[] = {2, 2, 3, 1, 2, 0, 1, 'f'};
	for (size_t m = 0; m < COUNT_OF(modes); m++)
		for (size_t i = 0; i < COUNT_OF(types); i++) {
			SHD_AUTO_BUF b = {0};
			shd_nd4j_array a;
			uint32_t size = sherd_dtype_element_bytes(types[i].dtype);
			nd4j_put_part_as(&b, modes[m], m ? "INT" : "LONG", 8, m ? (const void *)narrow : wide,
			                 m ? 4 : 8);
			nd4j_put_part_as(&b, modes[(m + i) % COUNT_OF(modes)], types[i].name, 6, data, size);
			assert_true(shd_nd4j_probe(b.data, b.len));
			assert_ok(decode(&b, &a, err));
			assert_int_equal(a.dtype, types[i].dtype);
			assert_true(a.bytes == 6 * size && a.data + a.bytes == b.len && a.fortran && a.swap);
			assert_true(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3);
			for (size_t len = 0; len < b.len; len++) {
				sherd_error e = {0};
				assert_int_equal(shd_nd4j_array_decode(b.data, len, len, NULL, &arena, &a, &e),
				                 SHERD_ECORRUPT);
				assert_true(e.offset <= len);
			}
		}
}

TEST(an_old_array_that_begins_inside_of_its_buffer_is_refused)
{
	SHD_AUTO_BUF b = {0}, wrong = {0}, mixed = {0};
	shd_nd4j_array a;
	sherd_error e = {0};
	nd4j_put_part_as(&b, "JAVACPP", "INT", 6, (const int32_t[]){1, 3, 1, 8, 1, 'c'}, 4);
	nd4j_put_part_as(&b, "JAVACPP", "FLOAT", 3, (const float[]){1, 2, 3}, 4);
	assert_int_equal(decode(&b, &a, &e), SHERD_EUNSUPPORTED);
	assert_string_equal(e.reason, "bad-strides");
	assert_int_equal(e.offset, 9 + 4 + 5 + 4 * 3);
	nd4j_put_part_as(&wrong, "JAVACPP", "INT", 6, (const int32_t[]){1, -3, 1, 0, 1, 'c'}, 4);
	nd4j_put_part_as(&wrong, "JAVACPP", "FLOAT", 3, (const float[]){1, 2, 3}, 4);
	assert_int_equal(decode(&wrong, &a, &e), SHERD_ECORRUPT);
	assert_int_equal(e.offset, 9 + 4 + 5 + 4);
	nd4j_put_part(&mixed, "INT", 6, (const int32_t[]){1, 3, 1, 0, 1, 'c'}, 4);
	nd4j_put_part(&mixed, "FLOAT", 3, (const float[]){1, 2, 3}, 4);
	assert_refused(SHERD_ECORRUPT, "bad-shape", decode(&mixed, &a, err));
}

TEST(an_empty_array_may_end_with_its_shape)
{
	static const struct {
		int64_t extras;
		sherd_dtype dtype;
	} cases[] = {
		{8 | 8192, SHERD_F32},   {8 | 16384, SHERD_F64},
		{8 | 131072, SHERD_I32}, {8 | 131072 | 8388608, SHERD_U32},
		{8 | 2048, SHERD_BF16},  {8 | 32768 | 8388608, SHERD_U8},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO_BUF b = {0};
		shd_nd4j_array a;
		nd4j_put_shape(&b, 0, NULL, 'c', cases[i].extras);
		assert_ok(decode(&b, &a, err));
		assert_int_equal(a.dtype, cases[i].dtype);
		assert_true(a.bytes == 0 && a.ndim == 1 && a.shape[0] == 0);
	}
}

/* Big-endian 64-bit, as everything of 8 bytes is here. */
TEST(what_does_not_fit_is_refused)
{
	static const double data[6] = {0};
	static const struct {
		const char *type;
		uint64_t count;
		int64_t dims[2];
		int64_t extras;
		sherd_status code;
		const char *reason;
	} cases[] = {
		{"DOUBLE", 5, {2, 3}, 0, SHERD_ECORRUPT, "size-mismatch"},
		{"DOUBLE", 6, {2, -3}, 0, SHERD_ECORRUPT, "bad-shape"},
		{"DOUBLE", 6, {INT64_MAX, 3}, 0, SHERD_ECORRUPT, "overflow"},
		{"DOUBLE", 6, {2, 3}, 8, SHERD_ECORRUPT, "size-mismatch"},
		{"COMPRESSED", 6, {2, 3}, 0, SHERD_EUNSUPPORTED, "bad-dtype"},
		{"UTF8", 6, {2, 3}, 0, SHERD_EUNSUPPORTED, "bad-dtype"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO_BUF b = {0};
		shd_nd4j_array a;
		nd4j_put_shape(&b, 2, cases[i].dims, 'c', cases[i].extras);
		nd4j_put_part(&b, cases[i].type, cases[i].count, data, 8);
		assert_refused((int)cases[i].code, cases[i].reason, decode(&b, &a, err));
	}
	SHD_AUTO_BUF odd = {0};
	shd_nd4j_array a;
	nd4j_put_shape(&odd, 1, (const int64_t[]){1}, 'x', 0);
	nd4j_put_part(&odd, "DOUBLE", 1, data, 8);
	assert_refused(SHERD_ECORRUPT, "bad-shape", decode(&odd, &a, err));
	odd.data[2] = 'm';
	assert_refused(SHERD_ECORRUPT, "bad-magic", decode(&odd, &a, err));
}

TEST(every_truncation_and_every_longer_file_is_refused)
{
	SHD_AUTO_BUF b = {0};
	shd_nd4j_array a;
	nd4j_put_shape(&b, 1, (const int64_t[]){3}, 'c', 8192);
	nd4j_put_part(&b, "FLOAT", 3, (const float[]){1, 2, 3}, 4);
	assert_ok(decode(&b, &a, err));
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *copy = malloc(len + !len);
		sherd_error e = {0};
		assert_non_null(copy);
		memcpy(copy, b.data, len);
		assert_int_equal(shd_nd4j_array_decode(copy, len, len, NULL, &arena, &a, &e), SHERD_ECORRUPT);
		assert_true(e.offset <= len);
		free(copy);
	}
	shd_buf_u8(&b, 0);
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", decode(&b, &a, err));
}

TEST(a_file_is_a_bundle_of_one_array)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO_BUF file = {0};
	int16_t got[6];
	static const int16_t want[] = {1, 2, 3, 4, 5, 6};
	nd4j_put_shape(&file, 2, (const int64_t[]){2, 3}, 'f', 65536);
	nd4j_put_part(&file, "SHORT", 6, (const int16_t[]){1, 4, 2, 5, 3, 6}, 2);
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_store_put(store, "p/b0.bin", SHERD_WRITE_NEW, file.data, file.len, err));
	assert_ok(sherd_bundle_open(&b, store, "p/b0.bin", NULL, err));
	assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_ND4J_ARRAY);
	assert_int_equal(sherd_bundle_count(b), 1);
	assert_string_equal(sherd_bundle_tensor(b, 0)->name, "b0");
	assert_ok(sherd_bundle_read(b, 0, 0, got, sizeof(got), err));
	assert_memory_equal(got, want, sizeof(got));
}

#define CASE(name) cmocka_unit_test_teardown(name, drop_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_type_is_read),
		CASE(old_arrays_of_every_mode_and_type_are_read),
		CASE(an_old_array_that_begins_inside_of_its_buffer_is_refused),
		CASE(an_empty_array_may_end_with_its_shape),
		CASE(what_does_not_fit_is_refused),
		CASE(every_truncation_and_every_longer_file_is_refused),
		CASE(a_file_is_a_bundle_of_one_array),
	};
	return cmocka_run_group_tests_name("nd4j_array", tests, NULL, NULL);
}
