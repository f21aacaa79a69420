#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/safetensors.h"

#include <stdlib.h>
#include <string.h>

#define U8_AT(name, begin, end, n) \
	"\"" name "\":{\"dtype\":\"U8\",\"shape\":[" n "],\"data_offsets\":[" begin "," end "]}"

/* Made by the reference implementation, release 0.8.0. */
static const char golden_two[] =
	"\xd0\0\0\0\0\0\0\0{\"__metadata__\":{\"who\":\"me\\t\\\"\\\\/\x7f\xc3\xa9\xe2\x80\xa8\\u0001\"},"
	"\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
	"\"c\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[8,12]},"
	"\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[12,15]}}"
	"\x00\x01\x02\x03\x04\x05\x06\x07\x00\x00\x80?xyz";

/* As the reference writes it, but for F6, which it orders so and has no way of writing from Python. */
static const char golden_all[] =
	"\xe0\x04\0\0\0\0\0\0{\"t07\":{\"dtype\":\"U64\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t08\":{\"dtype\":\"I64\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t12\":{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t15\":{\"dtype\":\"C64\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t11\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t05\":{\"dtype\":\"U32\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t06\":{\"dtype\":\"I32\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t10\":{\"dtype\":\"BF16\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t09\":{\"dtype\":\"F16\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t03\":{\"dtype\":\"U16\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t04\":{\"dtype\":\"I16\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t18\":{\"dtype\":\"F8_E5M2FNUZ\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t17\":{\"dtype\":\"F8_E4M3FNUZ\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t16\":{\"dtype\":\"F8_E8M0\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t13\":{\"dtype\":\"F8_E4M3\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t14\":{\"dtype\":\"F8_E5M2\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t02\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t01\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t21\":{\"dtype\":\"F6_E3M2\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t20\":{\"dtype\":\"F6_E2M3\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t19\":{\"dtype\":\"F4\",\"shape\":[0],\"data_offsets\":[0,0]},"
	"\"t00\":{\"dtype\":\"BOOL\",\"shape\":[0],\"data_offsets\":[0,0]}}  ";

/* Decodes a whole file, as a reader would. */
static int decode_file(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena, shd_safetensors *out,
                       sherd_error *err)
{
	uint64_t header;
	TRY(shd_safetensors_decode_length(data, len < 8 ? len : 8, len, &header, err));
	return shd_safetensors_decode((const char *)data + 8, (size_t)header, len, limits, arena, out, err);
}

/* As decode_file, with the file made of a header and so many bytes of data. */
static int decode_header(const char *header, size_t data, const sherd_limits *limits, shd_arena *arena,
                         shd_safetensors *out, sherd_error *err)
{
	size_t len = strlen(header);
	return shd_safetensors_decode(header, len, 8 + len + data, limits, arena, out, err);
}

TEST(a_file_of_the_reference_implementation_is_read)
{
	shd_arena arena = {0};
	shd_safetensors st;
	assert_ok(decode_file(golden_two, sizeof(golden_two) - 1, NULL, &arena, &st, err));
	assert_int_equal(st.data, 8 + 0xd0);
	assert_int_equal(st.count, 3);
	assert_int_equal(st.pair_count, 1);
	assert_string_equal(st.pairs[0].key, "who");
	assert_string_equal(st.pairs[0].value, "me\t\"\\/\x7f\xc3\xa9\xe2\x80\xa8\x01");
	static const struct {
		const char *name;
		sherd_dtype dtype;
		uint32_t ndim;
		uint64_t bytes, offset;
	} want[] = {{"b", SHERD_F32, 1, 8, 216}, {"c", SHERD_F32, 0, 4, 224}, {"a", SHERD_U8, 1, 3, 228}};
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		const sherd_tensor *t = &st.entries[i].tensor;
		assert_string_equal(t->name, want[i].name);
		assert_int_equal(t->dtype, want[i].dtype);
		assert_int_equal(t->ndim, want[i].ndim);
		assert_int_equal(t->bytes, want[i].bytes);
		assert_int_equal(st.entries[i].offset, want[i].offset);
	}
	assert_int_equal(st.entries[2].tensor.shape[0], 3);
	shd_arena_done(&arena);
}

TEST(we_write_the_bytes_that_the_reference_implementation_writes)
{
	const sherd_tensor tensors[] = {
		{"b", SHERD_F32, 1, (uint64_t[]){2}, 8},
		{"a", SHERD_U8, 1, (uint64_t[]){3}, 3},
		{"c", SHERD_F32, 0, NULL, 4},
	};
	const sherd_pair pair = {"who", "me\t\"\\/\x7f\xc3\xa9\xe2\x80\xa8\x01"};
	SHD_AUTO_BUF out = {0};
	size_t order[3];
	assert_ok(shd_safetensors_encode(tensors, 3, &pair, 1, &out, order, err));
	assert_int_equal(out.len, 8 + 0xd0);
	assert_memory_equal(out.data, golden_two, out.len);
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 2);
	assert_int_equal(order[2], 1);
}

TEST(tensors_are_ordered_by_type_as_the_reference_implementation_does_it)
{
	static const sherd_dtype dtypes[] = {
		SHERD_BOOL,        SHERD_U8,      SHERD_I8,      SHERD_U16,    SHERD_I16,     SHERD_U32,
		SHERD_I32,         SHERD_U64,     SHERD_I64,     SHERD_F16,    SHERD_BF16,    SHERD_F32,
		SHERD_F64,         SHERD_F8_E4M3, SHERD_F8_E5M2, SHERD_C64,    SHERD_F8_E8M0, SHERD_F8_E4M3FNUZ,
		SHERD_F8_E5M2FNUZ, SHERD_F4,      SHERD_F6_E2M3, SHERD_F6_E3M2};
	static const uint64_t none[] = {0};
	char names[COUNT_OF(dtypes)][4];
	sherd_tensor tensors[COUNT_OF(dtypes)];
	size_t order[COUNT_OF(dtypes)];
	for (unsigned i = 0; i < COUNT_OF(dtypes); i++) {
		names[i][0] = 't';
		names[i][1] = (char)('0' + i / 10);
		names[i][2] = (char)('0' + i % 10);
		names[i][3] = 0;
		tensors[i] = (sherd_tensor){names[i], dtypes[i], 1, none, 0};
	}
	SHD_AUTO_BUF out = {0};
	assert_ok(shd_safetensors_encode(tensors, COUNT_OF(dtypes), NULL, 0, &out, order, err));
	assert_int_equal(out.len, sizeof(golden_all) - 1);
	assert_memory_equal(out.data, golden_all, out.len);
	assert_int_equal(order[0], 7);
	assert_int_equal(order[COUNT_OF(dtypes) - 1], 0);
}

TEST(a_file_without_tensors_is_a_file)
{
	SHD_AUTO_BUF out = {0};
	shd_arena arena = {0};
	shd_safetensors st;
	assert_ok(shd_safetensors_encode(NULL, 0, NULL, 0, &out, NULL, err));
	assert_int_equal(out.len, 16);
	assert_memory_equal(out.data, "\x08\0\0\0\0\0\0\0{}      ", 16);
	assert_ok(decode_file(out.data, out.len, NULL, &arena, &st, err));
	assert_int_equal(st.count, 0);
	assert_int_equal(st.pair_count, 0);
	shd_arena_done(&arena);
}

TEST(tensors_come_in_the_order_of_their_data_and_empty_ones_as_in_the_header)
{
	static const char header[] = "{" U8_AT("z", "1", "1", "0") "," U8_AT("m", "1", "3", "2") "," U8_AT(
		"y", "0", "0", "0") "," U8_AT("a", "0", "1", "1") "," U8_AT("x", "0", "0", "0") "}";
	static const char *const want[] = {"y", "x", "a", "z", "m"};
	shd_arena arena = {0};
	shd_safetensors st;
	assert_ok(decode_header(header, 3, NULL, &arena, &st, err));
	assert_int_equal(st.count, 5);
	for (size_t i = 0; i < COUNT_OF(want); i++)
		assert_string_equal(st.entries[i].tensor.name, want[i]);
	shd_arena_done(&arena);
}

/* What is accepted although no writer does it. */
TEST(unusual_but_valid_headers_are_read)
{
	static const struct {
		const char *header;
		size_t data, tensors, pairs;
	} cases[] = {
		{"{}", 0, 0, 0},
		{"{}\n\t ", 0, 0, 0},
		{"{\"__metadata__\":null}", 0, 0, 0},
		{"{\"__metadata__\":{}}", 0, 0, 0},
		{"{" U8_AT("a", "0", "1", "1") ",\"__metadata__\":{\"k\":\"v\",\"\":\"\"}}", 1, 1, 2},
		{"{" U8_AT("", "0", "1", "") "}", 1, 1, 0},
		{"{\"a\":{\"data_offsets\":[0,1],\"shape\":[1],\"x\":{\"y\":[]},\"dtype\":\"\\u00558\"}}", 1, 1, 0},
		{"{" U8_AT("a", "0", "0", "18446744073709551615,18446744073709551615,0") "}", 0, 1, 0},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_arena arena = {0};
		shd_safetensors st;
		assert_ok(decode_header(cases[i].header, cases[i].data, NULL, &arena, &st, err));
		assert_int_equal(st.count, cases[i].tensors);
		assert_int_equal(st.pair_count, cases[i].pairs);
		shd_arena_done(&arena);
	}
}

/* An @ stands before the byte that the error must name, and is not part of the header. */
static const struct {
	const char *header;
	size_t data;
	int code;
	const char *reason;
} bad_headers[] = {
	{"@ {}", 0, SHERD_ECORRUPT, "bad-magic"},
	{"@", 0, SHERD_ECORRUPT, "bad-magic"},
	{"@[]", 0, SHERD_ECORRUPT, "bad-magic"},
	{"{}@x", 0, SHERD_ECORRUPT, "bad-json"},
	{"{\"a\":@1}", 0, SHERD_ECORRUPT, "bad-type"},
	{"{\"a\":@[\"U8\",[1],[0,1]]}", 1, SHERD_ECORRUPT, "bad-type"},
	{"{\"a\":@{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, SHERD_ECORRUPT, "missing-key"},
	{"{\"a\":@{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, SHERD_ECORRUPT, "missing-key"},
	{"{\"a\":@{\"dtype\":\"U8\",\"shape\":[1]}}", 1, SHERD_ECORRUPT, "missing-key"},
	{"{\"a\":{\"dtype\":@\"\",\"shape\":[2],\"data_offsets\":[0,1]}}", 1, SHERD_EUNSUPPORTED, "bad-dtype"},
	{"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":@[0,1]}}", 1, SHERD_ECORRUPT, "bad-shape"},
	{"{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":@[0,4]}}", 4, SHERD_ECORRUPT, "size-mismatch"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[@1.0],\"data_offsets\":[0,1]}}", 1, SHERD_ECORRUPT, "bad-number"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[@-1],\"data_offsets\":[0,1]}}", 1, SHERD_ECORRUPT, "bad-number"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,@1e0]}}", 1, SHERD_ECORRUPT, "bad-number"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,@18446744073709551616]}}", 1, SHERD_ECORRUPT,
         "bad-number"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":@[0]}}", 1, SHERD_ECORRUPT, "bad-offsets"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,@1]}}", 1, SHERD_ECORRUPT, "bad-offsets"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":@[1,0]}}", 1, SHERD_ECORRUPT, "bad-offsets"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":@[0,2]}}", 2, SHERD_ECORRUPT, "size-mismatch"},
	{"{\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":@[0,15]}}", 15, SHERD_ECORRUPT, "size-mismatch"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":@[0,0]}}", 0, SHERD_ECORRUPT,
         "overflow"},
	{"{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":@[0,0]}}", 0, SHERD_ECORRUPT,
         "overflow"},
	{"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":@[1,2]}}", 2, SHERD_ECORRUPT, "hole"},
	{"{" U8_AT("a", "0", "2", "2") ",\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":@[3,4]}}", 4,
         SHERD_ECORRUPT, "hole"},
	{"{" U8_AT("a", "0", "2", "2") ",\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":@[1,3]}}", 3,
         SHERD_ECORRUPT, "overlap"},
	{"{" U8_AT("a", "0", "2", "2") ",\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":@[1,1]}}", 2,
         SHERD_ECORRUPT, "overlap"},
	{"{" U8_AT("a", "0", "1", "1") ",@" U8_AT("a", "1", "2", "1") "}", 2, SHERD_ECORRUPT, "duplicate-key"},
	{"{\"a\":{\"dtype\":\"U8\",@\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, SHERD_ECORRUPT,
         "duplicate-key"},
	{"{\"__metadata__\":{\"k\":\"v\",@\"\\u006b\":\"w\"}}", 0, SHERD_ECORRUPT, "duplicate-key"},
	{"{\"__metadata__\":{},@\"__metadata__\":{}}", 0, SHERD_ECORRUPT, "duplicate-key"},
	{"{\"__metadata__\":{\"k\":@1}}", 0, SHERD_ECORRUPT, "bad-type"},
	{"{\"__metadata__\":@[]}", 0, SHERD_ECORRUPT, "bad-type"},
	{"{\"__metadata__\":{@\"k\\u0000\":\"v\"}}", 0, SHERD_ECORRUPT, "bad-name"},
	{"{\"__metadata__\":{\"k\":@\"v\\u0000\"}}", 0, SHERD_ECORRUPT, "bad-name"},
	{"{@\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, SHERD_ECORRUPT, "bad-name"},
	{"{\"a@\xff\":1}", 0, SHERD_ECORRUPT, "bad-utf8"},
	{"{" U8_AT("a", "0", "3", "3") "}", 2, SHERD_ECORRUPT, "truncated"},
	{"{" U8_AT("a", "0", "18446744073709551615", "18446744073709551615") "}", 2, SHERD_ECORRUPT, "truncated"},
	{"{" U8_AT("a", "0", "1", "1") "}@", 3, SHERD_ECORRUPT, "trailing-bytes"},
	{"{}@", 1, SHERD_ECORRUPT, "trailing-bytes"},
};

TEST(a_bad_header_is_refused_with_the_byte_that_is_wrong)
{
	for (size_t i = 0; i < COUNT_OF(bad_headers); i++) {
		const char *mark = strchr(bad_headers[i].header, '@');
		size_t at = mark ? (size_t)(mark - bad_headers[i].header) : 0;
		size_t len = strlen(bad_headers[i].header) - (mark != NULL);
		char *header = malloc(len + 1);
		assert_non_null(header);
		memcpy(header, bad_headers[i].header, at);
		memcpy(header + at, bad_headers[i].header + at + (mark != NULL), len - at + 1);
		uint64_t file_size = 8 + len + bad_headers[i].data;
		uint64_t offset = 8 + at;
		if (strcmp(bad_headers[i].reason, "truncated") == 0)
			offset = file_size;
		if (strcmp(bad_headers[i].reason, "trailing-bytes") == 0 && bad_headers[i].data == 3)
			offset += 1;
		shd_arena arena = {0};
		shd_safetensors st;
		sherd_error e = {0};
		int rc = shd_safetensors_decode(header, len, file_size, NULL, &arena, &st, &e);
		if (rc != bad_headers[i].code || strcmp(e.reason, bad_headers[i].reason) != 0 || e.offset != offset)
			fail_msg("%s: %d %s at %lld, not %lld: %s", bad_headers[i].header, rc, e.reason,
			         (long long)e.offset, (long long)offset, e.message);
		shd_arena_done(&arena);
		free(header);
	}
}

TEST(the_length_of_the_header_is_checked_before_it_is_believed)
{
	static const struct {
		const char *raw;
		size_t len;
		uint64_t file_size, offset;
		const char *reason;
	} cases[] = {
		{"", 0, 0, 0, "truncated"},
		{"\x02\0\0\0\0\0\0", 7, 7, 7, "truncated"},
		{"\x03\0\0\0\0\0\0\0", 8, 10, 10, "truncated"},
		{"\x00\xe1\xf5\x05\0\0\0\0", 8, 100000007, 100000007, "truncated"},
		{"\x01\xe1\xf5\x05\0\0\0\0", 8, 1000000000, 0, "bad-length"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff", 8, 10, 0, "bad-length"},
	};
	uint64_t n;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_error e = {0};
		assert_int_equal(shd_safetensors_decode_length(cases[i].raw, cases[i].len, cases[i].file_size, &n, &e),
		                 SHERD_ECORRUPT);
		assert_string_equal(e.reason, cases[i].reason);
		assert_int_equal(e.offset, cases[i].offset);
	}
	assert_ok(shd_safetensors_decode_length("\x00\xe1\xf5\x05\0\0\0\0", 8, 100000008, &n, err));
	assert_int_equal(n, 100000000);
}

TEST(every_truncation_of_a_file_is_noticed)
{
	for (size_t len = 0; len < sizeof(golden_two) - 1; len++) {
		char *part = malloc(len ? len : 1);
		assert_non_null(part);
		memcpy(part, golden_two, len);
		shd_arena arena = {0};
		shd_safetensors st;
		assert_refused(SHERD_ECORRUPT, "truncated", decode_file(part, len, NULL, &arena, &st, err));
		assert_fails(SHERD_ECORRUPT, len, decode_file(part, len, NULL, &arena, &st, err));
		shd_arena_done(&arena);
		free(part);
	}
}

TEST(limits_hold)
{
	shd_arena arena = {0};
	shd_safetensors st;
	const sherd_limits small = {.name_bytes = 3, .dims = 2, .depth = 3, .metadata_bytes = 100};
	assert_refused(SHERD_ELIMIT, "name-too-long",
	               decode_header("{" U8_AT("abcd", "0", "1", "1") "}", 1, &small, &arena, &st, err));
	assert_refused(SHERD_ELIMIT, "too-many-dims",
	               decode_header("{" U8_AT("abc", "0", "1", "1,1,1") "}", 1, &small, &arena, &st, err));
	assert_ok(decode_header("{" U8_AT("abc", "0", "1", "1,1") "}", 1, &small, &arena, &st, err));
	assert_int_equal(decode_header("{\"a\":{\"x\":[[1]]}}", 1, &small, &arena, &st, NULL), SHERD_ELIMIT);
	SHD_AUTO_BUF text = {0};
	shd_buf_str(&text, "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1],\"shape\":[1");
	for (int i = 0; i < 32; i++)
		shd_buf_str(&text, ",1");
	shd_buf_append(&text, "]}}", sizeof("]}}"));
	const char *many = (const char *)text.data;
	assert_int_equal(decode_header(many, 1, &small, &arena, &st, NULL), SHERD_ELIMIT);
	assert_refused(SHERD_ELIMIT, "too-many-dims", decode_header(many, 1, NULL, &arena, &st, err));
	shd_arena_done(&arena);
}

TEST(what_the_format_cannot_hold_is_refused)
{
	const uint64_t one[] = {1};
	static const struct {
		const char *name;
		uint64_t bytes;
		const char *reason;
		sherd_dtype dtype;
		int code;
	} cases[] = {
		{"a", 17, "cannot-hold", SHERD_UTF8, SHERD_EUNSUPPORTED},
		{"a", 1, "cannot-hold", SHERD_DTYPE_NONE, SHERD_EUNSUPPORTED},
		{"__metadata__", 1, "cannot-hold", SHERD_U8, SHERD_EUNSUPPORTED},
		{"a\xff", 1, "bad-utf8", SHERD_U8, SHERD_EINVAL},
		{"a", 2, "size-mismatch", SHERD_U8, SHERD_EINVAL},
	};
	SHD_AUTO_BUF out = {0};
	size_t order[2];
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const sherd_tensor t = {cases[i].name, cases[i].dtype, 1, one, cases[i].bytes};
		assert_refused(cases[i].code, cases[i].reason,
		               shd_safetensors_encode(&t, 1, NULL, 0, &out, order, err));
	}
	const sherd_tensor twice[] = {{"a", SHERD_U8, 1, one, 1}, {"a", SHERD_I8, 1, one, 1}};
	assert_refused(SHERD_EINVAL, "duplicate-key", shd_safetensors_encode(twice, 2, NULL, 0, &out, order, err));
	const sherd_pair pairs[] = {{"k", "v"}, {"k", "w"}};
	assert_refused(SHERD_EINVAL, "duplicate-key", shd_safetensors_encode(NULL, 0, pairs, 2, &out, order, err));
	const uint64_t half[] = {UINT64_C(1) << 62};
	const sherd_tensor large[] = {{"a", SHERD_U8, 1, half, half[0]}, {"b", SHERD_U8, 1, half, half[0]}};
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", shd_safetensors_encode(large, 2, NULL, 0, &out, order, err));
	assert_int_equal(out.len, 0);
}

TEST(the_example_of_the_document_is_a_file_that_we_write)
{
	size_t len;
	uint8_t *bytes = source_hex_block("docs/formats/safetensors.md", &len);
	shd_arena arena = {0};
	shd_safetensors st;
	assert_ok(decode_file(bytes, len, NULL, &arena, &st, err));
	assert_int_equal(st.count, 2);
	const sherd_tensor tensors[] = {st.entries[1].tensor, st.entries[0].tensor};
	assert_string_equal(tensors[0].name, "weight");
	assert_string_equal(tensors[1].name, "step");
	SHD_AUTO_BUF out = {0};
	size_t order[2];
	assert_ok(shd_safetensors_encode(tensors, 2, st.pairs, st.pair_count, &out, order, err));
	assert_int_equal(out.len, st.data);
	assert_memory_equal(out.data, bytes, out.len);
	shd_arena_done(&arena);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_the_reference_implementation_is_read),
		cmocka_unit_test(we_write_the_bytes_that_the_reference_implementation_writes),
		cmocka_unit_test(tensors_are_ordered_by_type_as_the_reference_implementation_does_it),
		cmocka_unit_test(a_file_without_tensors_is_a_file),
		cmocka_unit_test(tensors_come_in_the_order_of_their_data_and_empty_ones_as_in_the_header),
		cmocka_unit_test(unusual_but_valid_headers_are_read),
		cmocka_unit_test(a_bad_header_is_refused_with_the_byte_that_is_wrong),
		cmocka_unit_test(the_length_of_the_header_is_checked_before_it_is_believed),
		cmocka_unit_test(every_truncation_of_a_file_is_noticed),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(what_the_format_cannot_hold_is_refused),
		cmocka_unit_test(the_example_of_the_document_is_a_file_that_we_write),
	};
	return cmocka_run_group_tests_name("safetensors", tests, NULL, NULL);
}
