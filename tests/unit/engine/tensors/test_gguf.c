/* GGUF: what is read of it, sets of files, and what is written. */
#include "support/corpus.h"
#include "support/memory_store.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"
#include "format/tensor/safetensors.h"

#include <sherd/convert.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static int open_input(const uint8_t *data, size_t len, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(sherd_store_put(store, "x.gguf", SHERD_WRITE_REPLACE, data, len, err));
	TRY(sherd_bundle_open(&b, store, "x.gguf", NULL, err));
	assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_GGUF);
	return SHERD_OK;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/gguf", open_input, 20, 49, 0);
}

static void put_corpus(const char *name, const char *key)
{
	char path[128];
	size_t len;
	(void)snprintf(path, sizeof(path), "tests/corpus/gguf/%s.gguf", name);
	uint8_t *data = source_file_read(path, &len);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
	free(data);
}

static void assert_pair(const sherd_bundle *b, const char *key, const char *text)
{
	const sherd_pair *pairs;
	size_t count = sherd_bundle_pairs(&pairs, b), i = 0;
	while (i < count && strcmp(pairs[i].key, key) != 0)
		i++;
	assert_true(i < count);
	assert_string_equal(pairs[i].value, text);
}

static const sherd_value *value_of(const sherd_bundle *b, const char *key)
{
	const sherd_value *values;
	size_t count = sherd_bundle_values(&values, b);
	for (size_t i = 0; i < count; i++)
		if (strcmp(values[i].key, key) == 0)
			return &values[i];
	return NULL;
}

TEST(values_keep_their_types)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) c = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) d = NULL;
	put_corpus("y_values", "v.gguf");
	assert_ok(sherd_bundle_open(&b, store, "v.gguf", NULL, err));
	assert_pair(b, "u64", "18446744073709551615");
	assert_pair(b, "str", "gr\xc3\xbc\xc3\x9f");
	assert_pair(b, "inf", "-inf");
	assert_int_equal(value_of(b, "i16")->type, SHERD_I16);
	assert_int_equal(*(const int16_t *)value_of(b, "i16")->items, -30000);
	assert_null(value_of(b, "str"));
	put_corpus("y_arrays", "a.gguf");
	assert_ok(sherd_bundle_open(&c, store, "a.gguf", NULL, err));
	assert_int_equal(value_of(c, "a.str")->count, 3);
	assert_true(value_of(c, "a.u32")->is_array && value_of(c, "a.u32")->type == SHERD_U32);
	assert_int_equal(value_of(c, "a.u32")->count, 0);
	/* What values have no place for. */
	put_corpus("y_text_with_nul", "n.gguf");
	assert_ok(sherd_bundle_open(&d, store, "n.gguf", NULL, err));
	assert_pair(d, "n", "\"a\\u0000b\"");
	assert_pair(d, "a", "[\"x\", \"\\u0000\"]");
	assert_int_equal(value_of(d, "a")->type, SHERD_DTYPE_NONE);
}

/* Whatever is read is written so that the same is read again, and a second time byte for byte. */
static void check_again(const char *name, const uint8_t *data, size_t len)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) c = NULL;
	const sherd_convert_options replace = {.replace = true};
	const sherd_pair *x, *y;
	char *one, *two;
	size_t one_len, two_len;
	if (name[0] != 'y' || strstr(name, "long_name"))
		return;
	assert_ok(sherd_store_put(store, "x.gguf", SHERD_WRITE_REPLACE, data, len, err));
	assert_ok(sherd_bundle_open(&b, store, "x.gguf", NULL, err));
	assert_ok(sherd_convert(b, store, "y.gguf", SHERD_FORMAT_GGUF, &replace, err));
	assert_ok(sherd_bundle_open(&c, store, "y.gguf", NULL, err));
	assert_int_equal(sherd_bundle_count(b), sherd_bundle_count(c));
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(b, i), *u = sherd_bundle_tensor(c, i);
		uint8_t a[1024], z[1024];
		assert_string_equal(t->name, u->name);
		assert_int_equal(t->dtype, u->dtype);
		assert_int_equal(t->ndim, u->ndim);
		assert_memory_equal(t->shape, u->shape, t->ndim * sizeof(uint64_t));
		assert_ok(sherd_bundle_read(b, i, 0, a, (size_t)t->bytes, err));
		assert_ok(sherd_bundle_read(c, i, 0, z, (size_t)t->bytes, err));
		assert_memory_equal(a, z, (size_t)t->bytes);
	}
	assert_int_equal(sherd_bundle_pairs(&x, b), sherd_bundle_pairs(&y, c));
	for (size_t i = 0; i < sherd_bundle_pairs(&x, b); i++) {
		assert_string_equal(x[i].key, y[i].key);
		assert_string_equal(x[i].value, y[i].value);
	}
	assert_ok(sherd_convert(c, store, "z.gguf", SHERD_FORMAT_GGUF, &replace, err));
	assert_ok(sherd_store_get(&one, &one_len, store, "y.gguf", UINT64_MAX, err));
	assert_ok(sherd_store_get(&two, &two_len, store, "z.gguf", UINT64_MAX, err));
	assert_int_equal(one_len, two_len);
	assert_memory_equal(one, two, one_len);
	sherd_free(one);
	sherd_free(two);
}

TEST(what_is_written_is_read_again)
{
	(void)source_folder_each("tests/corpus/gguf", check_again);
}

TEST(the_example_of_the_document_is_a_file_that_we_write)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	size_t len, written_len;
	char *written;
	uint8_t *bytes = source_hex_block("docs/formats/gguf.md", &len);
	assert_ok(sherd_store_put(store, "e.gguf", SHERD_WRITE_NEW, bytes, len, err));
	assert_ok(sherd_bundle_open(&b, store, "e.gguf", NULL, err));
	assert_int_equal(sherd_bundle_tensor(b, 0)->shape[0], 2);
	assert_int_equal(sherd_bundle_tensor(b, 0)->shape[1], 3);
	assert_ok(sherd_convert(b, store, "f.gguf", SHERD_FORMAT_GGUF, NULL, err));
	assert_ok(sherd_store_get(&written, &written_len, store, "f.gguf", UINT64_MAX, err));
	assert_int_equal(written_len, len);
	assert_memory_equal(written, bytes, len);
	sherd_free(written);
	free(bytes);
}

/* ---- sets */

static void put_text(shd_buf *out, const char *text)
{
	shd_buf_u64(out, strlen(text));
	shd_buf_str(out, text);
}

static void put_u16(shd_buf *out, const char *key, unsigned value)
{
	put_text(out, key);
	shd_buf_u32(out, 2);
	shd_buf_u16(out, (uint16_t)value);
}

/* A file of a set with one tensor of one float. */
static void put_part(const char *key, unsigned number, unsigned count, unsigned tensors, const char *name)
{
	SHD_AUTO_BUF out = {0};
	shd_buf_str(&out, "GGUF");
	shd_buf_u32(&out, 3);
	shd_buf_u64(&out, 1);
	shd_buf_u64(&out, 4);
	put_u16(&out, "split.no", number);
	put_u16(&out, "split.count", count);
	put_u16(&out, "split.tensors.count", tensors);
	put_u16(&out, name, 7);
	put_text(&out, name);
	shd_buf_u32(&out, 1);
	shd_buf_u64(&out, 1);
	shd_buf_u32(&out, 0);
	shd_buf_u64(&out, 0);
	shd_buf_zero(&out, (32 - out.len % 32) % 32);
	shd_buf_u32(&out, number);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
}

static void put_set(void)
{
	put_part("d/m-00001-of-00003.gguf", 0, 3, 3, "a");
	put_part("d/m-00002-of-00003.gguf", 1, 3, 3, "b");
	put_part("d/m-00003-of-00003.gguf", 2, 3, 3, "c");
}

TEST(the_first_file_opens_the_set)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) part = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) report = NULL;
	uint32_t value;
	put_set();
	assert_ok(sherd_bundle_open(&b, store, "d/m-00001-of-00003.gguf", NULL, err));
	assert_int_equal(sherd_bundle_count(b), 3);
	assert_ok(sherd_bundle_read(b, sherd_bundle_find(b, "c"), 0, &value, 4, err));
	assert_int_equal(value, 2);
	assert_string_equal(sherd_bundle_file_of(b, 1), "m-00002-of-00003.gguf");
	assert_pair(b, "a", "7");
	assert_pair(b, "c", "7");
	assert_null(value_of(b, "split.count"));
	assert_ok(sherd_bundle_open(&part, store, "d/m-00002-of-00003.gguf", NULL, err));
	assert_int_equal(sherd_bundle_count(part), 1);
	assert_ok(sherd_verify(&report, store, "d/m-00002-of-00003.gguf", NULL, err));
	assert_string_equal(sherd_report_warning(report, 0)->reason, "left-out");
}

TEST(a_set_with_a_wrong_file_is_refused)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	static const char first[] = "d/m-00001-of-00003.gguf", second[] = "d/m-00002-of-00003.gguf";
	put_set();
	assert_ok(sherd_store_remove(store, second, err));
	assert_refused(SHERD_EINCOMPLETE, "missing-shard", sherd_bundle_open(&b, store, first, NULL, err));
	put_part(second, 2, 3, 3, "b");
	assert_refused(SHERD_ECORRUPT, "other-set", sherd_bundle_open(&b, store, first, NULL, err));
	put_part(second, 1, 2, 3, "b");
	assert_refused(SHERD_ECORRUPT, "other-set", sherd_bundle_open(&b, store, first, NULL, err));
	put_part(second, 1, 3, 3, "a");
	assert_refused(SHERD_ECORRUPT, "duplicate-name", sherd_bundle_open(&b, store, first, NULL, err));
	put_set();
	put_part(first, 0, 3, 9, "a");
	assert_refused(SHERD_ECORRUPT, "bad-count", sherd_bundle_open(&b, store, first, NULL, err));
	put_part("d/other.gguf", 0, 3, 3, "a");
	assert_refused(SHERD_EINCOMPLETE, "missing-shard", sherd_bundle_open(&b, store, "d/other.gguf", NULL, err));
	const sherd_limits few = {.shards = 2};
	const sherd_bundle_options limited = {.limits = &few};
	put_set();
	assert_refused(SHERD_ELIMIT, "too-many-shards", sherd_bundle_open(&b, store, first, &limited, err));
}

/* ---- long heads, and what is refused */

/* The keys of a vocabulary are longer than what is read at first. */
TEST(a_long_head_is_read_in_several_steps)
{
	enum { TOKENS = 60000 };
	SHD_AUTO_BUF out = {0};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	shd_buf_str(&out, "GGUF");
	shd_buf_u32(&out, 3);
	shd_buf_u64(&out, 0);
	shd_buf_u64(&out, 1);
	put_text(&out, "tokens");
	shd_buf_u32(&out, 9);
	shd_buf_u32(&out, 8);
	shd_buf_u64(&out, TOKENS);
	for (unsigned i = 0; i < TOKENS; i++) {
		char text[32];
		(void)snprintf(text, sizeof(text), "token %u of many", i);
		put_text(&out, text);
	}
	assert_true(out.len > 1 << 20);
	assert_ok(sherd_store_put(store, "v.gguf", SHERD_WRITE_NEW, out.data, out.len, err));
	assert_ok(sherd_bundle_open(&b, store, "v.gguf", NULL, err));
	assert_int_equal(value_of(b, "tokens")->count, TOKENS);
	assert_string_equal(((const char *const *)value_of(b, "tokens")->items)[TOKENS - 1], "token 59999 of many");
	const sherd_limits little = {.metadata_bytes = 1 << 20};
	const sherd_bundle_options limited = {.limits = &little};
	sherd_bundle *none;
	assert_refused(SHERD_ELIMIT, "too-long", sherd_bundle_open(&none, store, "v.gguf", &limited, err));
}

static sherd_bundle *source_of(const sherd_tensor *t, const sherd_pair *pair)
{
	SHD_AUTO_BUF file = {0};
	size_t order;
	sherd_bundle *b;
	assert_ok(shd_safetensors_encode(t, 1, pair, pair ? 1 : 0, &file, &order, err));
	shd_buf_zero(&file, (size_t)t->bytes);
	assert_ok(sherd_store_put(store, "s.safetensors", SHERD_WRITE_REPLACE, file.data, file.len, err));
	assert_ok(sherd_bundle_open(&b, store, "s.safetensors", NULL, err));
	return b;
}

TEST(what_it_has_no_place_for_is_named)
{
	static const uint64_t ones[5] = {1, 1, 1, 1, 1};
	static char name[66], fits[65];
	memset(name, 'n', sizeof(name) - 1);
	memset(fits, 'n', sizeof(fits) - 1);
	const sherd_tensor cases[] = {
		{"deep", SHERD_F32, 5, ones, 4, NULL},
		{"bytes", SHERD_U8, 1, ones, 1, NULL},
		{"eight", SHERD_F8_E4M3, 1, ones, 1, NULL},
		{name, SHERD_F32, 1, ones, 4, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = source_of(&cases[i], NULL);
		sherd_error e = {0};
		sherd_stat stat;
		assert_int_equal(sherd_convert(b, store, "n.gguf", SHERD_FORMAT_GGUF, NULL, &e), SHERD_EUNSUPPORTED);
		assert_string_equal(e.reason, "cannot-hold");
		assert_non_null(strstr(e.message, cases[i].name));
		assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "n.gguf", err));
	}
	const sherd_tensor last = {fits, SHERD_F32, 4, ones, 4, NULL};
	const sherd_pair alignment = {"general.alignment", "32"};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) good = source_of(&last, NULL);
	assert_ok(sherd_convert(good, store, "n.gguf", SHERD_FORMAT_GGUF, NULL, err));
	/* A text would make a file that nobody reads. */
	SHD_AUTO(sherd_bundle, sherd_bundle_close) odd = source_of(&last, &alignment);
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
	               sherd_convert(odd, store, "o.gguf", SHERD_FORMAT_GGUF, NULL, err));
}

TEST(tensors_are_mapped_where_they_are_aligned)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	const void *bytes;
	put_corpus("y_one", "m.gguf");
	assert_ok(sherd_bundle_open(&b, store, "m.gguf", NULL, err));
	assert_ok(sherd_bundle_map(&bytes, b, 0, err));
	assert_int_equal(((const uint8_t *)bytes)[23], 23);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_corpus_is_judged_as_its_names_say),
		CASE(values_keep_their_types),
		CASE(what_is_written_is_read_again),
		CASE(the_example_of_the_document_is_a_file_that_we_write),
		CASE(the_first_file_opens_the_set),
		CASE(a_set_with_a_wrong_file_is_refused),
		CASE(a_long_head_is_read_in_several_steps),
		CASE(what_it_has_no_place_for_is_named),
		CASE(tensors_are_mapped_where_they_are_aligned),
	};
	return cmocka_run_group_tests_name("gguf", tests, NULL, NULL);
}
