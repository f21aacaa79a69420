/* Initialisers of ONNX models: raw, as numbers, in other files; and what is not believed. */
#include "support/corpus.h"
#include "support/memory_store.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/bundle.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static int open_input(const uint8_t *data, size_t len, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(sherd_store_put(store, "m/x.onnx", SHERD_WRITE_REPLACE, data, len, err));
	TRY(sherd_bundle_open(&b, store, "m/x.onnx", NULL, err));
	assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_ONNX);
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		uint8_t buf[256];
		TRY(sherd_bundle_read(b, i, 0, buf, (size_t)sherd_bundle_tensor(b, i)->bytes, err));
	}
	return SHERD_OK;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/onnx", open_input, 8, 25, 0);
}

static sherd_bundle *open_bytes(const void *data, size_t len)
{
	sherd_bundle *b;
	assert_ok(sherd_store_put(store, "m/c.onnx", SHERD_WRITE_REPLACE, data, len, err));
	assert_ok(sherd_bundle_open(&b, store, "m/c.onnx", NULL, err));
	return b;
}

static sherd_bundle *open_corpus(const char *name)
{
	char path[128];
	size_t len;
	(void)snprintf(path, sizeof(path), "tests/corpus/onnx/%s.onnx", name);
	SHD_AUTO_FREE uint8_t *data = source_file_read(path, &len);
	return open_bytes(data, len);
}

static void check_bytes(const sherd_bundle *b, const char *name, sherd_dtype dtype, const void *bytes, size_t len)
{
	size_t i = sherd_bundle_find(b, name);
	uint8_t got[64];
	assert_int_not_equal(i, SHERD_NO_TENSOR);
	assert_int_equal(sherd_bundle_tensor(b, i)->dtype, dtype);
	assert_int_equal(sherd_bundle_tensor(b, i)->bytes, len);
	assert_ok(sherd_bundle_read(b, i, 0, got, len, err));
	assert_memory_equal(got, bytes, len);
}

TEST(numbers_become_bytes_of_their_type)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_corpus("y_typed");
	check_bytes(b, "f", SHERD_F32, (const float[]){1.5f, -2}, 8);
	check_bytes(b, "i8", SHERD_I8, (const int8_t[]){-1, 2, 3}, 3);
	check_bytes(b, "u16", SHERD_U16, (const uint16_t[]){65535}, 2);
	check_bytes(b, "i16", SHERD_I16, (const int16_t[]){-300, 7}, 4);
	check_bytes(b, "i32", SHERD_I32, (const int32_t[]){-1, INT32_MAX}, 8);
	check_bytes(b, "i64", SHERD_I64, (const int64_t[]){-1, INT64_C(1) << 62}, 16);
	check_bytes(b, "u32", SHERD_U32, (const uint32_t[]){UINT32_MAX}, 4);
	check_bytes(b, "u64", SHERD_U64, (const uint64_t[]){UINT64_MAX}, 8);
	check_bytes(b, "b", SHERD_BOOL, "\1\0", 2);
	check_bytes(b, "f16", SHERD_F16, "\x00\x3c\x00\x38", 4);
	check_bytes(b, "bf", SHERD_BF16, "\x80\x3f", 2);
	check_bytes(b, "d", SHERD_F64, (const double[]){2.5}, 8);
	check_bytes(b, "c", SHERD_C64, (const float[]){1, 2}, 8);
	check_bytes(b, "s", SHERD_UTF8, "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0abc", 27);
	check_bytes(b, "u4", SHERD_OPAQUE, "\x21\x03", 2);
	check_bytes(b, "f4", SHERD_F4, "\x42", 1);
}

TEST(what_the_model_says_of_itself_is_metadata)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_corpus("y_raw");
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	const sherd_pair *pairs;
	bool author = false, producer = false;
	for (size_t i = 0; i < sherd_bundle_pairs(&pairs, b); i++) {
		author |= strcmp(pairs[i].key, "author") == 0 && strcmp(pairs[i].value, "me") == 0;
		producer |= strcmp(pairs[i].key, "onnx.producer_name") == 0;
	}
	assert_true(author && producer);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) sparse = open_corpus("y_sparse");
	assert_int_equal(sherd_bundle_count(sparse), 1);
	assert_ok(sherd_verify(&r, store, "m/c.onnx", NULL, err));
	assert_int_equal(sherd_report_warnings(r), 2);
	assert_string_equal(sherd_report_warning(r, 0)->reason, "no-checksum");
	assert_string_equal(sherd_report_warning(r, 1)->reason, "left-out");
}

/* dims 2, UINT8, "n", in the file "w" at byte 3. */
static const char beside[] = "\x08\x08\x12\x04test\x3a\x37\x2a\x35\x08\x02\x10\x02\x42\x01n\x70\x01"
			     "\x6a\x12\x0a\x08location\x12\x06sub/wx\x6a\x0b\x0a\x06offset\x12\x01\x33";

TEST(bytes_in_another_file_are_read_there)
{
	char model[sizeof(beside)];
	const void *map;
	sherd_bundle *none;
	memcpy(model, beside, sizeof(beside));
	size_t len = sizeof(beside) - 1;
	/* The lengths of graph and tensor. */
	model[9] = (char)(len - 10);
	model[11] = (char)(len - 12);
	assert_ok(sherd_store_put(store, "m/sub/wx", SHERD_WRITE_NEW, "abcde", 5, err));
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_bytes(model, len);
	check_bytes(b, "n", SHERD_U8, "de", 2);
	assert_ok(sherd_bundle_map(&map, b, 0, err));
	assert_memory_equal(map, "de", 2);
	assert_ok(sherd_store_put(store, "m/sub/wx", SHERD_WRITE_REPLACE, "abcd", 4, err));
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_bundle_open(&none, store, "m/c.onnx", NULL, err));
	assert_ok(sherd_store_remove(store, "m/sub/wx", err));
	assert_refused(SHERD_EINCOMPLETE, "missing-shard", sherd_bundle_open(&none, store, "m/c.onnx", NULL, err));
}

TEST(the_example_of_the_document_is_read)
{
	size_t len;
	SHD_AUTO_FREE uint8_t *data = source_hex_block("docs/formats/onnx.md", &len);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_bytes(data, len);
	check_bytes(b, "a", SHERD_U8, "\1\2", 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_corpus_is_judged_as_its_names_say),     CASE(numbers_become_bytes_of_their_type),
		CASE(what_the_model_says_of_itself_is_metadata), CASE(bytes_in_another_file_are_read_there),
		CASE(the_example_of_the_document_is_read),
	};
	return cmocka_run_group_tests_name("onnx", tests, NULL, NULL);
}
