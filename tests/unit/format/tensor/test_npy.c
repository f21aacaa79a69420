#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/npy.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACES_16 "                "

static int decode_file(const void *data, size_t len, const sherd_limits *limits, shd_npy *out, sherd_error *err)
{
	uint64_t head;
	TRY(shd_npy_decode_length(data, len < SHD_NPY_FIRST ? len : SHD_NPY_FIRST, len, &head, err));
	return shd_npy_decode(data, (size_t)head, len, limits, out, err);
}

/* A head of the version with this text, for a file with so many bytes of data. */
static int decode_text(int version, const char *text, size_t data, const sherd_limits *limits, shd_npy *out,
                       sherd_error *err)
{
	SHD_AUTO_BUF head = {0};
	shd_buf_append(&head, SHD_NPY_MAGIC, SHD_NPY_MAGIC_BYTES);
	shd_buf_u8(&head, (uint8_t)version);
	shd_buf_u8(&head, 0);
	if (version == 1)
		shd_buf_u16(&head, (uint16_t)strlen(text));
	else
		shd_buf_u32(&head, (uint32_t)strlen(text));
	shd_buf_str(&head, text);
	return shd_npy_decode(head.data, head.len, head.len + data, limits, out, err);
}

/* Heads as NumPy 2.4.6 writes them. */
static const struct {
	sherd_dtype dtype;
	uint32_t ndim;
	uint64_t shape[4];
	uint64_t bytes;
	const char *head;
} golden[] = {
	{SHERD_F32,
         2,
         {2, 3},
         24,
         "v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" SPACES_16 SPACES_16 SPACES_16 "          \n"},
	{SHERD_I64,
         0,
         {0},
         8,
         "v\0{'descr': '<i8', 'fortran_order': False, 'shape': (), }" SPACES_16 SPACES_16 SPACES_16 "              \n"},
	{SHERD_BOOL,
         1,
         {3},
         3,
         "v\0{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }" SPACES_16 SPACES_16 SPACES_16 "            \n"},
	{SHERD_C64,
         2,
         {0, 4},
         0,
         "v\0{'descr': '<c8', 'fortran_order': False, 'shape': (0, 4), }" SPACES_16 SPACES_16 SPACES_16 "          \n"},
};

TEST(we_write_the_bytes_that_numpy_writes)
{
	for (size_t i = 0; i < COUNT_OF(golden); i++) {
		const sherd_tensor t = {"a", golden[i].dtype, golden[i].ndim, golden[i].shape, golden[i].bytes};
		SHD_AUTO_BUF out = {0};
		assert_ok(shd_npy_encode(&t, &out, err));
		assert_int_equal(out.len, 128);
		assert_memory_equal(out.data, SHD_NPY_MAGIC "\x01\x00", 8);
		assert_memory_equal(out.data + 8, golden[i].head, 120);
	}
}

TEST(what_we_write_is_what_we_read)
{
	for (size_t i = 0; i < COUNT_OF(golden); i++) {
		const sherd_tensor t = {"a", golden[i].dtype, golden[i].ndim, golden[i].shape, golden[i].bytes};
		SHD_AUTO_BUF out = {0};
		shd_npy npy;
		assert_ok(shd_npy_encode(&t, &out, err));
		shd_buf_zero(&out, golden[i].bytes);
		assert_ok(decode_file(out.data, out.len, NULL, &npy, err));
		assert_int_equal(npy.dtype, golden[i].dtype);
		assert_int_equal(npy.ndim, golden[i].ndim);
		assert_memory_equal(npy.shape, golden[i].shape, golden[i].ndim * sizeof(uint64_t));
		assert_int_equal(npy.bytes, golden[i].bytes);
		assert_int_equal(npy.data, 128);
		assert_false(npy.swap);
		assert_false(npy.fortran);
	}
}

TEST(every_type_is_read_in_every_order_of_bytes)
{
	static const struct {
		const char *name;
		sherd_dtype dtype;
		size_t bytes;
	} types[] = {
		{"b1", SHERD_BOOL, 1}, {"i1", SHERD_I8, 1},  {"u1", SHERD_U8, 1},  {"i2", SHERD_I16, 2},
		{"u2", SHERD_U16, 2},  {"i4", SHERD_I32, 4}, {"u4", SHERD_U32, 4}, {"i8", SHERD_I64, 8},
		{"u8", SHERD_U64, 8},  {"f2", SHERD_F16, 2}, {"f4", SHERD_F32, 4}, {"f8", SHERD_F64, 8},
		{"c8", SHERD_C64, 8},
	};
	for (size_t i = 0; i < COUNT_OF(types); i++)
		for (const char *order = "<>|="; *order; order++) {
			char text[128];
			shd_npy npy;
			(void)snprintf(text, sizeof(text), "{'descr':'%c%s','fortran_order':False,'shape':()}", *order,
			               types[i].name);
			assert_ok(decode_text(1, text, types[i].bytes, NULL, &npy, err));
			assert_int_equal(npy.dtype, types[i].dtype);
			assert_int_equal(npy.swap, *order == '>' && types[i].bytes > 1);
		}
}

TEST(unusual_but_valid_texts_are_read)
{
	static const struct {
		int version;
		const char *text;
		size_t data;
		uint32_t ndim;
		bool fortran;
	} cases[] = {
		{1, "{'shape': (3,), 'fortran_order': True, 'descr': '|u1'}", 3, 1, false},
		{1, "{\"shape\":(3,1),\"descr\":\"|u1\",\"fortran_order\":True,}\n", 3, 2, true},
		{2, " \t{ 'descr' : '|u1' , 'fortran_order' : False , 'shape' : ( 3L , 1L , ) , } \r\n\f", 3, 2, false},
		{3, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1), }      \n", 1, 3, false},
		{1, "{'descr': '<f8', 'fortran_order': True, 'shape': (18446744073709551615,0,9)}", 0, 3, true},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_npy npy;
		assert_ok(decode_text(cases[i].version, cases[i].text, cases[i].data, NULL, &npy, err));
		assert_int_equal(npy.ndim, cases[i].ndim);
		assert_int_equal(npy.fortran, cases[i].fortran);
		assert_int_equal(npy.version, cases[i].version);
		assert_int_equal(npy.bytes, cases[i].data);
	}
}

#define WITH_DESCR(descr) "{'descr': " descr ", 'fortran_order': False, 'shape': (1,)}"
#define WITH_SHAPE(shape) "{'descr': '|u1', 'fortran_order': False, 'shape': " shape "}"

/* An @ stands before the byte that the error must name, and is not part of the text. */
static const struct {
	int version, code;
	const char *text, *reason;
} bad_texts[] = {
	{1, SHERD_ECORRUPT, "@", "bad-header"},
	{1, SHERD_ECORRUPT, "  @[1]", "bad-header"},
	{1, SHERD_ECORRUPT, "{@1: 2}", "bad-header"},
	{1, SHERD_ECORRUPT, "{'descr' @'|u1'}", "bad-header"},
	{1, SHERD_ECORRUPT, "{'descr': '|u1' @'shape': ()}", "bad-header"},
	{1, SHERD_ECORRUPT, "{'descr': '|u1',@,}", "bad-header"},
	{1, SHERD_ECORRUPT, "{@'other': 1}", "bad-header"},
	{1, SHERD_ECORRUPT, "{'descr@\\x20': '|u1'}", "bad-header"},
	{1, SHERD_ECORRUPT, "{'descr': '|u1@", "bad-header"},
	{1, SHERD_ECORRUPT, "{'descr': '|u1\"}@", "bad-header"},
	{1, SHERD_ECORRUPT, "{'descr': '|u1', @'descr': '|u1'}", "duplicate-key"},
	{1, SHERD_ECORRUPT, "{'descr': '|u1', 'shape': ()@}", "missing-key"},
	{1, SHERD_ECORRUPT, "{@}", "missing-key"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("(1,)") " @x", "bad-header"},
	{1, SHERD_ECORRUPT, "{'fortran_order': @1}", "bad-header"},
	{1, SHERD_ECORRUPT, "{'fortran_order': True@ish}", "bad-header"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("@1"), "bad-header"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("(1@)"), "bad-header"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("(@-1,)"), "bad-header"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("(@,)"), "bad-header"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("(1@.0,)"), "bad-header"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("(@01,)"), "bad-header"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("(1 @2)"), "bad-header"},
	{3, SHERD_ECORRUPT, WITH_SHAPE("(1@L,)"), "bad-header"},
	{1, SHERD_ECORRUPT, WITH_SHAPE("(@18446744073709551616,)"), "overflow"},
	{1, SHERD_ECORRUPT, "@" WITH_SHAPE("(4294967296,4294967296)"), "overflow"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@[('a', '<f4')]"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@('<f4', (2,))"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'|O'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'<U3'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'|S3'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'<M8[ns]'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'<c16'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'<f16'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'<V2'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'f4'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'<'"), "bad-dtype"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@''"), "bad-dtype"},
	{1, SHERD_ECORRUPT, WITH_DESCR("@None"), "bad-header"},
	{3, SHERD_ECORRUPT, WITH_DESCR("'@\xff'"), "bad-utf8"},
	{1, SHERD_EUNSUPPORTED, WITH_DESCR("@'\xff'"), "bad-dtype"},
};

TEST(a_bad_text_is_refused_with_the_byte_that_is_wrong)
{
	for (size_t i = 0; i < COUNT_OF(bad_texts); i++) {
		const char *mark = strchr(bad_texts[i].text, '@');
		assert_non_null(mark);
		size_t at = (size_t)(mark - bad_texts[i].text);
		char text[256];
		(void)snprintf(text, sizeof(text), "%.*s%s", (int)at, bad_texts[i].text, mark + 1);
		shd_npy npy;
		sherd_error e = {0};
		int rc = decode_text(bad_texts[i].version, text, 1, NULL, &npy, &e);
		uint64_t offset = (bad_texts[i].version == 1 ? 10 : 12) + at;
		if (rc != bad_texts[i].code || strcmp(e.reason, bad_texts[i].reason) != 0 || e.offset != offset)
			fail_msg("%s: %d %s at %lld, not %lld: %s", bad_texts[i].text, rc, e.reason,
			         (long long)e.offset, (long long)offset, e.message);
	}
}

TEST(data_must_be_exactly_as_long_as_the_head_says)
{
	shd_npy npy;
	const char *text = WITH_SHAPE("(4,)");
	size_t head = 10 + strlen(text);
	assert_fails(SHERD_ECORRUPT, head + 3, decode_text(1, text, 3, NULL, &npy, err));
	assert_refused(SHERD_ECORRUPT, "truncated", decode_text(1, text, 3, NULL, &npy, err));
	assert_fails(SHERD_ECORRUPT, head + 4, decode_text(1, text, 5, NULL, &npy, err));
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", decode_text(1, text, 5, NULL, &npy, err));
	assert_ok(decode_text(1, text, 4, NULL, &npy, err));
}

TEST(magic_and_version_are_checked)
{
	shd_npy npy;
	uint64_t head;
	assert_fails(SHERD_ECORRUPT, 0, shd_npy_decode_length("\x94NUMPY\1\0\0\0\0\0", 12, 12, &head, err));
	assert_refused(SHERD_ECORRUPT, "bad-magic", shd_npy_decode_length("\x94NUMPY\1\0\0\0\0\0", 12, 12, &head, err));
	static const char *const versions[] = {"\x93NUMPY\0\0\0\0\0\0", "\x93NUMPY\4\0\0\0\0\0",
	                                       "\x93NUMPY\1\1\0\0\0\0"};
	for (size_t i = 0; i < COUNT_OF(versions); i++) {
		assert_fails(SHERD_EVERSION, 6, shd_npy_decode_length(versions[i], 12, 12, &head, err));
		assert_fails(SHERD_EVERSION, 6, shd_npy_decode(versions[i], 12, 12, NULL, &npy, err));
	}
	assert_fails(SHERD_ECORRUPT, 13, shd_npy_decode_length("\x93NUMPY\3\0\xff\xff\xff\xff", 12, 13, &head, err));
	assert_ok(shd_npy_decode_length("\x93NUMPY\2\0\1\0\0\0", 12, 13, &head, err));
	assert_int_equal(head, 13);
}

TEST(every_truncation_of_a_file_is_noticed)
{
	const sherd_tensor t = {"a", SHERD_F32, 2, (uint64_t[]){2, 3}, 24};
	SHD_AUTO_BUF file = {0};
	assert_ok(shd_npy_encode(&t, &file, err));
	shd_buf_zero(&file, 24);
	assert_int_equal(file.len, 152);
	for (size_t len = 0; len < 152; len++) {
		uint8_t *part = malloc(len ? len : 1);
		assert_non_null(part);
		memcpy(part, file.data, len);
		shd_npy npy;
		assert_refused(SHERD_ECORRUPT, "truncated", decode_file(part, len, NULL, &npy, err));
		free(part);
	}
}

TEST(limits_hold)
{
	shd_npy npy;
	const sherd_limits small = {.dims = 2, .metadata_bytes = 80};
	assert_ok(decode_text(1, WITH_SHAPE("(1,1)"), 1, &small, &npy, err));
	assert_refused(SHERD_ELIMIT, "too-many-dims", decode_text(1, WITH_SHAPE("(1,1,1)"), 1, &small, &npy, err));
	assert_refused(SHERD_ELIMIT, "too-long",
	               decode_text(1, WITH_SHAPE("(1,1)") SPACES_16 SPACES_16, 1, &small, &npy, err));
	SHD_AUTO_BUF text = {0};
	shd_buf_str(&text, "{'descr': '|u1', 'fortran_order': False, 'shape': (");
	for (int i = 0; i < 33; i++)
		shd_buf_str(&text, "1,");
	shd_buf_append(&text, ")}", sizeof(")}"));
	const char *many = (const char *)text.data;
	assert_refused(SHERD_ELIMIT, "too-many-dims", decode_text(1, many, 1, NULL, &npy, err));
}

TEST(what_numpy_has_no_name_for_is_refused)
{
	static const sherd_dtype none[] = {SHERD_BF16, SHERD_F8_E4M3, SHERD_F8_E5M2, SHERD_UTF8, SHERD_DTYPE_NONE};
	SHD_AUTO_BUF out = {0};
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		const sherd_tensor t = {"a", none[i], 1, (uint64_t[]){0}, 0};
		assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", shd_npy_encode(&t, &out, err));
	}
	const sherd_tensor wrong = {"a", SHERD_U8, 1, (uint64_t[]){2}, 3};
	assert_refused(SHERD_EINVAL, "size-mismatch", shd_npy_encode(&wrong, &out, err));
	assert_int_equal(out.len, 0);
}

TEST(the_largest_head_fits_version_1)
{
	uint64_t shape[SHERD_MAX_DIMS];
	for (size_t i = 0; i < COUNT_OF(shape); i++)
		shape[i] = i ? UINT64_MAX : 0;
	const sherd_tensor t = {"a", SHERD_C64, SHERD_MAX_DIMS, shape, 0};
	SHD_AUTO_BUF out = {0};
	shd_npy npy;
	assert_ok(shd_npy_encode(&t, &out, err));
	assert_int_equal(out.len % 64, 0);
	assert_ok(decode_file(out.data, out.len, NULL, &npy, err));
	assert_int_equal(npy.ndim, SHERD_MAX_DIMS);
	assert_memory_equal(npy.shape, shape, sizeof(shape));
}

TEST(the_example_of_the_document_is_a_file_that_we_write)
{
	size_t len;
	uint8_t *bytes = source_hex_block("docs/formats/npy.md", &len);
	shd_npy npy;
	assert_ok(decode_file(bytes, len, NULL, &npy, err));
	assert_int_equal(npy.dtype, SHERD_I16);
	assert_int_equal(npy.bytes, 12);
	assert_memory_equal(bytes + npy.data, "\1\0\2\0\3\0\4\0\5\0\6\0", 12);
	const sherd_tensor t = {"a", npy.dtype, npy.ndim, npy.shape, npy.bytes};
	SHD_AUTO_BUF out = {0};
	assert_ok(shd_npy_encode(&t, &out, err));
	assert_int_equal(out.len, npy.data);
	assert_memory_equal(out.data, bytes, out.len);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(we_write_the_bytes_that_numpy_writes),
		cmocka_unit_test(what_we_write_is_what_we_read),
		cmocka_unit_test(every_type_is_read_in_every_order_of_bytes),
		cmocka_unit_test(unusual_but_valid_texts_are_read),
		cmocka_unit_test(a_bad_text_is_refused_with_the_byte_that_is_wrong),
		cmocka_unit_test(data_must_be_exactly_as_long_as_the_head_says),
		cmocka_unit_test(magic_and_version_are_checked),
		cmocka_unit_test(every_truncation_of_a_file_is_noticed),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(what_numpy_has_no_name_for_is_refused),
		cmocka_unit_test(the_largest_head_fits_version_1),
		cmocka_unit_test(the_example_of_the_document_is_a_file_that_we_write),
	};
	return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
