#include "support/memory_store.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/npy.h"
#include "format/tensor/safetensors.h"

#include <sherd/bundle.h>

#include <stdlib.h>
#include <string.h>

static void put(const char *key, const void *data, size_t len)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
}

static void put_text(const char *key, const char *text)
{
	put(key, text, strlen(text));
}

/* Byte i of a tensor is the first letter of its name plus i. */
static void put_safetensors(const char *key, const sherd_tensor *tensors, size_t count, const sherd_pair *pairs,
                            size_t pair_count)
{
	SHD_AUTO_BUF out = {0};
	size_t order[8];
	assert_true(count <= COUNT_OF(order));
	assert_ok(shd_safetensors_encode(tensors, count, pairs, pair_count, &out, order, err));
	for (size_t i = 0; i < count; i++)
		for (uint64_t b = 0; b < tensors[order[i]].bytes; b++)
			shd_buf_u8(&out, (uint8_t)(tensors[order[i]].name[0] + (int)b));
	put(key, out.data, out.len);
}

static void assert_content(const sherd_bundle *b, size_t index, uint8_t first)
{
	uint8_t got[256];
	const sherd_tensor *t = sherd_bundle_tensor(b, index);
	assert_non_null(t);
	assert_true(t->bytes <= sizeof(got));
	assert_ok(sherd_bundle_read(b, index, 0, got, (size_t)t->bytes, err));
	for (size_t i = 0; i < t->bytes; i++)
		assert_int_equal(got[i], (uint8_t)(first + i));
}

static const sherd_tensor sample[] = {
	{"a", SHERD_U8, 2, (const uint64_t[]){3, 2}, 6},
	{"b", SHERD_F32, 1, (const uint64_t[]){4}, 16},
	{"c", SHERD_I64, 0, NULL, 8},
	{"e", SHERD_F64, 2, (const uint64_t[]){0, 9}, 0},
};
static const sherd_pair sample_pairs[] = {{"format", "pt"}, {"who", "me"}};

TEST(a_safetensors_file_is_a_bundle)
{
	sherd_bundle *b;
	const sherd_pair *pairs;
	put_safetensors("d/m.safetensors", sample, 4, sample_pairs, 2);
	assert_ok(sherd_bundle_open(&b, store, "d/m.safetensors", NULL, err));
	assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_SAFETENSORS);
	assert_int_equal(sherd_bundle_count(b), 4);
	static const char *const order[] = {"c", "e", "b", "a"};
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(sherd_bundle_tensor(b, i)->name, order[i]);
		assert_int_equal(sherd_bundle_find(b, order[i]), i);
		assert_content(b, i, (uint8_t)order[i][0]);
	}
	assert_null(sherd_bundle_tensor(b, 4));
	assert_int_equal(sherd_bundle_find(b, "d"), SHERD_NO_TENSOR);
	assert_int_equal(sherd_bundle_pairs(&pairs, b), 2);
	assert_string_equal(pairs[1].key, "who");
	uint8_t part[3];
	assert_ok(sherd_bundle_read(b, 3, 2, part, 3, err));
	assert_memory_equal(part, "cde", 3);
	sherd_bundle_close(b);
	sherd_bundle_close(NULL);
}

TEST(what_is_outside_a_tensor_is_not_read)
{
	sherd_bundle *b;
	uint8_t byte;
	put_safetensors("m", sample, 4, NULL, 0);
	assert_ok(sherd_bundle_open(&b, store, "m", NULL, err));
	assert_refused(SHERD_EINVAL, "out-of-range", sherd_bundle_read(b, 4, 0, &byte, 1, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_bundle_read(b, 3, 6, &byte, 1, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_bundle_read(b, 3, UINT64_MAX, &byte, 1, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_bundle_read(b, 1, 0, &byte, 1, err));
	assert_ok(sherd_bundle_read(b, 3, 6, &byte, 0, err));
	const void *bytes;
	assert_refused(SHERD_EINVAL, "out-of-range", sherd_bundle_map(&bytes, b, 4, err));
	sherd_bundle_close(b);
}

TEST(tensors_are_mapped_when_they_are_aligned)
{
	char *folder = scratch_make();
	sherd_store *local;
	sherd_bundle *b;
	const void *bytes;
	static const char odd[] = "\x7f\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
				  "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]}}";
	SHD_AUTO_BUF file = {0};
	shd_buf_append(&file, odd, sizeof(odd) - 1);
	while (file.len < 8 + 0x7f)
		shd_buf_u8(&file, ' ');
	shd_buf_append(&file, "12345", 5);
	assert_ok(sherd_store_open_local(&local, folder, NULL, err));
	assert_ok(sherd_store_put(local, "odd", SHERD_WRITE_NEW, file.data, file.len, err));
	assert_ok(sherd_bundle_open(&b, local, "odd", NULL, err));
	assert_ok(sherd_bundle_map(&bytes, b, 0, err));
	assert_memory_equal(bytes, "1", 1);
	/* 8 + 127 + 1 = 136 is a multiple of 4; one byte less of padding and it is not. */
	assert_ok(sherd_bundle_map(&bytes, b, 1, err));
	assert_memory_equal(bytes, "2345", 4);
	sherd_bundle_close(b);
	file.data[0] = 0x7e;
	memmove(file.data + 8 + 0x7e, file.data + 8 + 0x7f, 5);
	assert_ok(sherd_store_put(local, "odder", SHERD_WRITE_NEW, file.data, file.len - 1, err));
	assert_ok(sherd_bundle_open(&b, local, "odder", NULL, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&bytes, b, 1, err));
	uint8_t copy[4];
	assert_ok(sherd_bundle_read(b, 1, 0, copy, 4, err));
	assert_memory_equal(copy, "2345", 4);
	sherd_bundle_close(b);
	sherd_store_close(local);
	scratch_remove(folder);
}

TEST(an_error_names_the_object_and_the_byte)
{
	sherd_bundle *b;
	sherd_error e = {0};
	put("bad", "\x02\0\0\0\0\0\0\0{}x", 11);
	assert_int_equal(sherd_bundle_open(&b, store, "bad", NULL, &e), SHERD_ECORRUPT);
	assert_string_equal(e.object, "bad");
	assert_int_equal(e.offset, 10);
	assert_string_equal(e.reason, "trailing-bytes");
	put("long", "\x40\0\0\0\0\0\0\0{}", 10);
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_bundle_open(&b, store, "long", NULL, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_bundle_open(&b, store, "absent", NULL, err));
	const sherd_limits small = {.metadata_bytes = 10};
	put_safetensors("m", sample, 4, NULL, 0);
	assert_refused(SHERD_ELIMIT, "too-long",
	               sherd_bundle_open(&b, store, "m", &(sherd_bundle_options){.limits = &small}, err));
}

static void put_index_set(void)
{
	put_safetensors("m/2.safetensors", sample, 2, sample_pairs, 1);
	put_safetensors("m/1.safetensors", sample + 2, 2, sample_pairs, 2);
	put_text("m/i.json",
	         "{\"metadata\":{\"total_size\":30,\"who\":\"index\"},\"weight_map\":{\"a\":\"2.safetensors\","
	         "\"b\":\"2.safetensors\",\"c\":\"1.safetensors\",\"e\":\"1.safetensors\"}}");
}

TEST(an_index_and_its_files_are_one_bundle)
{
	sherd_bundle *b;
	const sherd_pair *pairs;
	put_index_set();
	assert_ok(sherd_bundle_open(&b, store, "m/i.json", NULL, err));
	assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_SAFETENSORS_INDEX);
	assert_int_equal(sherd_bundle_count(b), 4);
	static const char *const order[] = {"c", "e", "b", "a"};
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(sherd_bundle_tensor(b, i)->name, order[i]);
		assert_content(b, i, (uint8_t)order[i][0]);
	}
	const void *bytes;
	if (sherd_store_caps(store) & SHERD_CAP_MAP) {
		assert_ok(sherd_bundle_map(&bytes, b, 3, err));
		assert_memory_equal(bytes, "abcdef", 6);
	}
	assert_int_equal(sherd_bundle_pairs(&pairs, b), 2);
	assert_string_equal(pairs[0].value, "index");
	assert_string_equal(pairs[1].value, "pt");
	sherd_bundle_close(b);
}

TEST(an_index_that_does_not_agree_with_its_files_is_refused)
{
	sherd_bundle *b;
	sherd_error e = {0};
	put_index_set();
	put_text("m/i.json",
	         "{\"weight_map\":{\"a\":\"2.safetensors\",\"b\":\"2.safetensors\",\"x\":\"2.safetensors\"}}");
	assert_refused(SHERD_ECORRUPT, "bad-index", sherd_bundle_open(&b, store, "m/i.json", NULL, err));
	put_text("m/i.json", "{\"weight_map\":{\"a\":\"2.safetensors\"}}");
	assert_int_equal(sherd_bundle_open(&b, store, "m/i.json", NULL, &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "bad-index");
	assert_string_equal(e.object, "m/2.safetensors");
	put_text("m/i.json", "{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"2.safetensors\",\"c\":\"1.safetensors\","
	                     "\"e\":\"1.safetensors\"}}");
	assert_refused(SHERD_ECORRUPT, "bad-index", sherd_bundle_open(&b, store, "m/i.json", NULL, err));
	put_text("m/i.json", "{\"weight_map\":{\"a\":\"3.safetensors\"}}");
	assert_int_equal(sherd_bundle_open(&b, store, "m/i.json", NULL, &e), SHERD_EINCOMPLETE);
	assert_string_equal(e.reason, "missing-shard");
	assert_string_equal(e.object, "m/3.safetensors");
	put_text("m/i.json", "{\"weight_map\":{\"a\":\".sherd-tmp-1\"}}");
	assert_refused(SHERD_ECORRUPT, "bad-path", sherd_bundle_open(&b, store, "m/i.json", NULL, err));
	put_text("m/i.json", "{\"weight_map\":{}}");
	assert_ok(sherd_bundle_open(&b, store, "m/i.json", NULL, err));
	assert_int_equal(sherd_bundle_count(b), 0);
	sherd_bundle_close(b);
}

/* An array file with the head that NumPy would give it, and data in which each byte differs from its neighbours. */
static void put_npy(const char *key, const char *descr, const char *fortran, const char *shape, uint64_t bytes)
{
	SHD_AUTO_BUF out = {0};
	SHD_AUTO_BUF text = {0};
	shd_buf_printf(&text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape);
	shd_buf_append(&out, SHD_NPY_MAGIC "\x01\x00", 8);
	shd_buf_u16(&out, (uint16_t)text.len);
	shd_buf_append(&out, text.data, text.len);
	for (uint64_t i = 0; i < bytes; i++)
		shd_buf_u8(&out, (uint8_t)(i * 167 + (i >> 8) * 13 + (i >> 16)));
	put(key, out.data, out.len);
}

static uint8_t npy_byte(uint64_t i)
{
	return (uint8_t)(i * 167 + (i >> 8) * 13 + (i >> 16));
}

/* What byte i of the array must be, by the plain definition of both orders. */
static uint8_t npy_expected(uint64_t i, uint32_t element, uint32_t swap, bool fortran, uint32_t ndim,
                            const uint64_t *shape)
{
	uint64_t index = i / element, in = i % element, place = 0, weight = 1, rest = index;
	uint64_t at[8];
	for (uint32_t d = ndim; d-- > 0;) {
		at[d] = rest % shape[d];
		rest /= shape[d];
	}
	for (uint32_t d = 0; d < ndim; d++) {
		place += at[d] * weight;
		weight *= shape[d];
	}
	if (!fortran)
		place = index;
	in = in / swap * swap + (swap - 1 - in % swap);
	if (swap == 1)
		in = i % element;
	return npy_byte(place * element + in);
}

static void check_npy_range(const sherd_bundle *b, uint64_t offset, size_t len, uint32_t swap, bool fortran)
{
	const sherd_tensor *t = sherd_bundle_tensor(b, 0);
	uint32_t element = sherd_dtype_element_bytes(t->dtype);
	/* Exactly as long, so that a sanitizer sees a byte too many. */
	uint8_t *got = malloc(len ? len : 1);
	assert_non_null(got);
	assert_ok(sherd_bundle_read(b, 0, offset, got, len, err));
	for (size_t i = 0; i < len; i++)
		if (got[i] != npy_expected(offset + i, element, swap, fortran, t->ndim, t->shape))
			fail_msg("byte %llu of a range at %llu", (unsigned long long)(offset + i),
			         (unsigned long long)offset);
	free(got);
}

TEST(an_array_is_a_bundle_of_one_named_after_its_file)
{
	sherd_bundle *b;
	put_npy("d/w.npy", "<i2", "False", "(2, 3)", 12);
	assert_ok(sherd_bundle_open(&b, store, "d/w.npy", NULL, err));
	assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_NPY);
	assert_int_equal(sherd_bundle_count(b), 1);
	assert_int_equal(sherd_bundle_find(b, "w"), 0);
	check_npy_range(b, 0, 12, 1, false);
	const sherd_pair *pairs;
	assert_int_equal(sherd_bundle_pairs(&pairs, b), 0);
	sherd_bundle_close(b);
	put_npy("plain", "<i2", "False", "(6,)", 12);
	assert_ok(sherd_bundle_open(&b, store, "plain", NULL, err));
	assert_string_equal(sherd_bundle_tensor(b, 0)->name, "plain");
	sherd_bundle_close(b);
}

TEST(every_range_of_a_foreign_order_reads_as_ours)
{
	static const struct {
		const char *descr, *fortran, *shape;
		uint64_t bytes;
		uint32_t swap;
	} cases[] = {
		{">i2", "False", "(3, 2)", 12, 2},   {">f8", "False", "(3,)", 24, 8},
		{">c8", "False", "(2, 2)", 32, 4},   {"<f4", "True", "(3, 2)", 24, 1},
		{"|u1", "True", "(2, 3, 4)", 24, 1}, {">u4", "True", "(2, 3, 2)", 48, 4},
		{">c8", "True", "(2, 1, 3)", 48, 4}, {"<i8", "True", "(1, 5)", 40, 1},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_bundle *b;
		bool fortran = strcmp(cases[i].fortran, "True") == 0;
		put_npy("x.npy", cases[i].descr, cases[i].fortran, cases[i].shape, cases[i].bytes);
		assert_ok(sherd_bundle_open(&b, store, "x.npy", NULL, err));
		for (uint64_t from = 0; from <= cases[i].bytes; from++)
			for (uint64_t to = from; to <= cases[i].bytes; to++)
				check_npy_range(b, from, (size_t)(to - from), cases[i].swap, fortran);
		const void *bytes;
		assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&bytes, b, 0, err));
		sherd_bundle_close(b);
	}
}

TEST(large_arrays_in_fortran_order_are_read_in_parts)
{
	static const struct {
		const char *shape;
		uint64_t bytes;
	} cases[] = {
		{"(9000, 3, 100)", 5400000}, /* columns longer than a gap that is read over */
		{"(300, 50, 200)", 6000000}, /* many short columns */
		{"(1000000, 2)", 4000000},   /* columns longer than the window */
		{"(2, 1500, 1000)", 6000000},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_bundle *b;
		put_npy("x.npy", ">i2", "True", cases[i].shape, cases[i].bytes);
		assert_ok(sherd_bundle_open(&b, store, "x.npy", NULL, err));
		check_npy_range(b, 0, (size_t)cases[i].bytes, 2, true);
		check_npy_range(b, 12345, 100, 2, true);
		check_npy_range(b, 12345, 6789, 2, true);
		check_npy_range(b, cases[i].bytes - 99999, 99999, 2, true);
		check_npy_range(b, cases[i].bytes / 2, 1, 2, true);
		sherd_bundle_close(b);
	}
}

TEST(a_selection_by_name_keeps_the_stored_order)
{
	sherd_bundle *b, *s;
	put_safetensors("m", sample, 4, sample_pairs, 2);
	assert_ok(sherd_bundle_open(&b, store, "m", NULL, err));
	const char *names[] = {"a", "c", "a"};
	sherd_bundle_select_options want = {.names = names, .name_count = 3};
	assert_ok(sherd_bundle_select(&s, b, &want, err));
	assert_int_equal(sherd_bundle_count(s), 2);
	assert_string_equal(sherd_bundle_tensor(s, 0)->name, "c");
	assert_content(s, 0, 'c');
	assert_content(s, 1, 'a');
	assert_int_equal(sherd_bundle_find(s, "a"), 1);
	assert_int_equal(sherd_bundle_find(s, "b"), SHERD_NO_TENSOR);
	const sherd_pair *pairs;
	assert_int_equal(sherd_bundle_pairs(&pairs, s), 2);
	sherd_bundle_close(s);
	names[1] = "nobody";
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_bundle_select(&s, b, &want, err));
	want.name_count = 0;
	assert_ok(sherd_bundle_select(&s, b, &want, err));
	assert_int_equal(sherd_bundle_count(s), 0);
	sherd_bundle_close(s);
	assert_ok(sherd_bundle_select(&s, b, NULL, err));
	assert_int_equal(sherd_bundle_count(s), 4);
	sherd_bundle_close(s);
	sherd_bundle_close(b);
}

TEST(ranks_share_whole_tensors_by_size)
{
	sherd_bundle *b, *s;
	put_safetensors("m", sample, 4, NULL, 0);
	assert_ok(sherd_bundle_open(&b, store, "m", NULL, err));
	/* b has 16 bytes and goes to rank 0; c with 8, a with 6 to rank 1; e, empty, to rank 1, which has less. */
	sherd_bundle_select_options want = {.world = 2};
	assert_ok(sherd_bundle_select(&s, b, &want, err));
	assert_int_equal(sherd_bundle_count(s), 1);
	assert_string_equal(sherd_bundle_tensor(s, 0)->name, "b");
	assert_content(s, 0, 'b');
	sherd_bundle_close(s);
	want.rank = 1;
	assert_ok(sherd_bundle_select(&s, b, &want, err));
	assert_int_equal(sherd_bundle_count(s), 3);
	assert_content(s, 0, 'c');
	assert_content(s, 2, 'a');
	sherd_bundle_close(s);
	want.rank = 2;
	assert_refused(SHERD_EINVAL, "bad-rank", sherd_bundle_select(&s, b, &want, err));
	want = (sherd_bundle_select_options){.rank = 1};
	assert_refused(SHERD_EINVAL, "bad-rank", sherd_bundle_select(&s, b, &want, err));
	sherd_bundle_close(b);
}

TEST(a_cut_gives_every_rank_its_rows_and_all_rows_once)
{
	sherd_bundle *b;
	put_safetensors("m", sample, 4, NULL, 0);
	assert_ok(sherd_bundle_open(&b, store, "m", NULL, err));
	for (uint32_t world = 1; world <= 6; world++) {
		uint64_t next = 0;
		for (uint32_t rank = 0; rank < world; rank++) {
			sherd_bundle *s;
			const sherd_bundle_select_options want = {.rank = rank, .world = world, .cut = true};
			assert_ok(sherd_bundle_select(&s, b, &want, err));
			assert_int_equal(sherd_bundle_count(s), 4);
			size_t a = sherd_bundle_find(s, "a"), c = sherd_bundle_find(s, "c");
			const sherd_tensor *t = sherd_bundle_tensor(s, a);
			assert_int_equal(t->shape[0], (rank + 1) * 3 / world - rank * 3 / world);
			assert_int_equal(t->shape[1], 2);
			assert_int_equal(t->bytes, t->shape[0] * 2);
			assert_content(s, a, (uint8_t)('a' + next));
			next += t->bytes;
			assert_content(s, c, 'c');
			assert_int_equal(sherd_bundle_tensor(s, sherd_bundle_find(s, "e"))->shape[0], 0);
			const void *bytes;
			if (sherd_store_caps(store) & SHERD_CAP_MAP) {
				assert_ok(sherd_bundle_map(&bytes, s, a, err));
				uint8_t first = (uint8_t)('a' + next - t->bytes);
				if (t->bytes)
					assert_memory_equal(bytes, &first, 1);
			}
			sherd_bundle_close(s);
		}
		assert_int_equal(next, 6);
	}
	sherd_bundle_close(b);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_safetensors_file_is_a_bundle),
		CASE(what_is_outside_a_tensor_is_not_read),
		CASE(tensors_are_mapped_when_they_are_aligned),
		CASE(an_error_names_the_object_and_the_byte),
		CASE(an_index_and_its_files_are_one_bundle),
		CASE(an_index_that_does_not_agree_with_its_files_is_refused),
		CASE(an_array_is_a_bundle_of_one_named_after_its_file),
		CASE(every_range_of_a_foreign_order_reads_as_ours),
		CASE(large_arrays_in_fortran_order_are_read_in_parts),
		CASE(a_selection_by_name_keeps_the_stored_order),
		CASE(ranks_share_whole_tensors_by_size),
		CASE(a_cut_gives_every_rank_its_rows_and_all_rows_once),
	};
	return cmocka_run_group_tests_name("bundle", tests, NULL, NULL);
}
