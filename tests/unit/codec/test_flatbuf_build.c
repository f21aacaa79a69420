#include "support/test.h"

#include "base/cursor.h"
#include "codec/flatbuf.h"
#include "codec/flatbuf_build.h"

/* The whole file: what was made, and the spans, each filled with its number. */
static shd_buf assemble(shd_flatbuf_builder *b)
{
	shd_buf file = {0};
	const shd_flatbuf_span *spans;
	uint64_t size = 0;
	assert_ok(shd_flatbuf_build_finish(b, INT32_MAX, &size, err));
	shd_buf_append(&file, b->out.data, b->out.len);
	for (size_t i = 0, n = shd_flatbuf_build_spans(b, &spans); i < n; i++) {
		assert_true(spans[i].at >= file.len + 4 && spans[i].at % spans[i].align == 0);
		shd_buf_zero(&file, (size_t)(spans[i].at - 4 - file.len));
		shd_buf_u32(&file, (uint32_t)spans[i].len);
		for (uint64_t k = 0; k < spans[i].len; k++)
			shd_buf_u8(&file, (uint8_t)(i + 1));
	}
	assert_true(size >= file.len && size % 8 == 0);
	shd_buf_zero(&file, (size_t)(size - file.len));
	return file;
}

TEST(what_is_made_is_read_back)
{
	shd_flatbuf_builder b;
	shd_arena arena = {0};
	shd_flatbuf fb;
	shd_flatbuf_build_init(&b);
	size_t root = shd_flatbuf_build_table(&b, 0, "14844444400");
	shd_flatbuf_build_u8(&b, root, 0, 250);
	shd_flatbuf_build_i32(&b, root, 1, -7);
	shd_flatbuf_build_i64(&b, root, 2, INT64_MIN);
	shd_flatbuf_build_text(&b, shd_flatbuf_build_field(&b, root, 3), "täxt");
	shd_flatbuf_build_i32s(&b, shd_flatbuf_build_field(&b, root, 4), (const int32_t[]){1, -2, 3}, 3);
	shd_flatbuf_build_i64s(&b, shd_flatbuf_build_field(&b, root, 5), (const int64_t[]){-9}, 1);
	shd_flatbuf_build_f64s(&b, shd_flatbuf_build_field(&b, root, 6), (const double[]){0.5}, 1);
	shd_flatbuf_build_bytes(&b, shd_flatbuf_build_field(&b, root, 7), "", 0);
	shd_flatbuf_build_span(&b, shd_flatbuf_build_field(&b, root, 8), 5, 64);
	shd_buf file = assemble(&b);
	shd_flatbuf_over(&fb, file.data, file.len);
	shd_flat_table t = shd_flatbuf_root(&fb);
	assert_int_equal(t.slots, 9); /* absent ones at the end take no place */
	assert_int_equal(shd_flat_u8(&fb, &t, 0, 0), 250);
	assert_int_equal(shd_flat_i32(&fb, &t, 1, 0), -7);
	assert_true(shd_flat_i64(&fb, &t, 2, 0) == INT64_MIN);
	assert_string_equal(shd_flat_text(&fb, &t, 3, &arena), "täxt");
	shd_flat_vector v = shd_flat_list(&fb, &t, 4, 4);
	assert_true(v.count == 3 && shd_flat_element_i32(&fb, &v, 1) == -2 && v.at % 4 == 0);
	v = shd_flat_list(&fb, &t, 5, 8);
	assert_true(v.count == 1 && shd_flat_element_i64(&fb, &v, 0) == -9 && v.at % 8 == 0);
	v = shd_flat_list(&fb, &t, 6, 8);
	assert_true(v.count == 1 && shd_flat_element_i64(&fb, &v, 0) == 0x3fe0000000000000);
	v = shd_flat_list(&fb, &t, 7, 1);
	assert_true(v.at && v.count == 0);
	v = shd_flat_span(&fb, &t, 8);
	assert_true(v.count == 5 && v.at % 64 == 0);
	assert_memory_equal(file.data + v.at, "\1\1\1\1\1", 5);
	assert_ok(shd_flatbuf_check(&fb, err));
	shd_arena_done(&arena);
	shd_buf_done(&file);
	shd_flatbuf_build_done(&b);
}

TEST(equal_vtables_are_kept_once)
{
	shd_flatbuf_builder b;
	enum { COUNT = 100 };
	shd_flatbuf_build_init(&b);
	size_t root = shd_flatbuf_build_table(&b, 0, "4");
	size_t list = shd_flatbuf_build_offsets(&b, shd_flatbuf_build_field(&b, root, 0), COUNT);
	size_t before = b.out.len;
	for (int32_t i = 0; i < COUNT; i++) {
		size_t t = shd_flatbuf_build_table(&b, list + 4 * (size_t)i, i % 2 ? "44" : "444");
		shd_flatbuf_build_i32(&b, t, 1, i);
	}
	assert_true(b.out.len - before <= COUNT * 20 + 40);
	shd_buf file = assemble(&b);
	shd_flatbuf fb;
	shd_flatbuf_over(&fb, file.data, file.len);
	shd_flat_table t = shd_flatbuf_root(&fb);
	shd_flat_vector v = shd_flat_list(&fb, &t, 0, 4);
	assert_int_equal(v.count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		shd_flat_table e = shd_flat_element(&fb, &v, i);
		assert_int_equal(e.slots, i % 2 ? 2 : 3);
		assert_int_equal(shd_flat_i32(&fb, &e, 1, -1), i);
	}
	assert_ok(shd_flatbuf_check(&fb, err));
	shd_buf_done(&file);
	shd_flatbuf_build_done(&b);
}

/* Tables of random fields, every one aligned, every value where it was put. */
TEST(fields_of_any_widths_are_aligned)
{
	uint64_t seed = 0x9e3779b97f4a7c15u;
	for (int round = 0; round < 2000; round++) {
		static const char kinds[] = "0148";
		char widths[SHD_FLATBUF_MOST_FIELDS + 1] = "";
		shd_flatbuf_builder b;
		shd_flatbuf fb;
		size_t count = (size_t)round % SHD_FLATBUF_MOST_FIELDS + 1;
		for (size_t i = 0; i < count; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			widths[i] = kinds[seed >> 62];
		}
		shd_flatbuf_build_init(&b);
		size_t t = shd_flatbuf_build_table(&b, 0, widths);
		for (unsigned i = 0; i < count; i++) {
			size_t at = widths[i] == '0' ? 0 : shd_flatbuf_build_field(&b, t, i);
			assert_true(widths[i] == '0' || at % (size_t)(widths[i] - '0') == 0);
			if (widths[i] == '1')
				shd_flatbuf_build_u8(&b, t, i, (uint8_t)(i + 1));
			else if (widths[i] == '4')
				shd_flatbuf_build_i32(&b, t, i, -(int32_t)i - 1);
			else if (widths[i] == '8')
				shd_flatbuf_build_i64(&b, t, i, INT64_MAX - i);
		}
		shd_buf file = assemble(&b);
		shd_flatbuf_over(&fb, file.data, file.len);
		shd_flat_table root = shd_flatbuf_root(&fb);
		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(shd_flat_has(&fb, &root, i), widths[i] != '0');
			if (widths[i] == '1')
				assert_int_equal(shd_flat_u8(&fb, &root, i, 0), i + 1);
			else if (widths[i] == '4')
				assert_int_equal(shd_flat_i32(&fb, &root, i, 0), -(int32_t)i - 1);
			else if (widths[i] == '8')
				assert_true(shd_flat_i64(&fb, &root, i, 0) == INT64_MAX - i);
		}
		assert_ok(shd_flatbuf_check(&fb, err));
		shd_buf_done(&file);
		shd_flatbuf_build_done(&b);
	}
}

TEST(what_does_not_fit_is_refused)
{
	static const struct {
		uint64_t first, second, most;
		bool fits;
	} cases[] = {
		{1000, 1000, 2100, true},           {1000, 1000, 2024, false},
		{UINT64_MAX, 0, UINT64_MAX, false}, {0, UINT64_MAX, UINT64_MAX, false},
		{UINT32_MAX, 0, UINT64_MAX, false}, {UINT32_MAX - 100, 0, UINT64_MAX, true},
		{INT32_MAX, 0, INT32_MAX, false},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_flatbuf_builder b;
		uint64_t size = 0;
		sherd_error e = {0};
		shd_flatbuf_build_init(&b);
		size_t t = shd_flatbuf_build_table(&b, 0, "44");
		shd_flatbuf_build_span(&b, shd_flatbuf_build_field(&b, t, 0), cases[i].first, 4);
		shd_flatbuf_build_span(&b, shd_flatbuf_build_field(&b, t, 1), cases[i].second, 4);
		int rc = shd_flatbuf_build_finish(&b, cases[i].most, &size, &e);
		if (cases[i].fits)
			assert_true(rc == SHERD_OK && size <= cases[i].most);
		else
			assert_true(rc == SHERD_EUNSUPPORTED && e.reason && strcmp(e.reason, "too-large") == 0);
		shd_flatbuf_build_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_made_is_read_back),
		cmocka_unit_test(equal_vtables_are_kept_once),
		cmocka_unit_test(fields_of_any_widths_are_aligned),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};
	return cmocka_run_group_tests_name("flatbuf_build", tests, NULL, NULL);
}
