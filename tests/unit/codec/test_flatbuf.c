#include "support/flat_make.h"
#include "support/test.h"

#include "base/cursor.h"
#include "codec/flatbuf.h"

#include <stdlib.h>

/* A table with a byte, an int, a long, a text, a list of texts, a list of longs, a child and a list of tables. */
typedef struct sample {
	shd_buf buf;
	size_t root, texts, tables;
} sample;

static sample make(void)
{
	sample s = {0};
	static const char *const texts[] = {"one", "", "zwölf"};
	flat_begin(&s.buf);
	s.root = flat_table(&s.buf, "1484444404");
	flat_point(&s.buf, 0, s.root);
	flat_set_u8(&s.buf, s.root, 0, 200);
	flat_set_i32(&s.buf, s.root, 1, -5);
	flat_set_i64(&s.buf, s.root, 2, INT64_MIN + 1);
	flat_add_text(&s.buf, s.root, 3, "hello");
	flat_add_texts(&s.buf, s.root, 4, texts, COUNT_OF(texts));
	flat_add_i64s(&s.buf, s.root, 5, (const int64_t[]){-1, 2, INT64_MAX}, 3);
	flat_set_i32(&s.buf, flat_add_table(&s.buf, s.root, 6, "4"), 0, 77);
	s.tables = flat_add_offsets(&s.buf, s.root, 7, 2);
	for (size_t i = 0; i < 2; i++) {
		size_t t = flat_table(&s.buf, "04");
		flat_point(&s.buf, s.tables + 4 * i, t);
		flat_set_i32(&s.buf, t, 1, (int32_t)i + 10);
	}
	flat_add_i32s(&s.buf, s.root, 9, (const int32_t[]){9, -9}, 2);
	return s;
}

static void check_sample(shd_flatbuf *fb)
{
	shd_arena arena = {0};
	shd_flat_table root = shd_flatbuf_root(fb);
	assert_int_equal(root.slots, 10);
	assert_int_equal(shd_flat_u8(fb, &root, 0, 1), 200);
	assert_int_equal(shd_flat_i32(fb, &root, 1, 0), -5);
	assert_true(shd_flat_i64(fb, &root, 2, 0) == INT64_MIN + 1);
	assert_string_equal(shd_flat_text(fb, &root, 3, &arena), "hello");
	shd_flat_vector texts = shd_flat_list(fb, &root, 4, 4);
	assert_int_equal(texts.count, 3);
	assert_string_equal(shd_flat_element_text(fb, &texts, 1, &arena), "");
	assert_string_equal(shd_flat_element_text(fb, &texts, 2, &arena), "zwölf");
	shd_flat_vector longs = shd_flat_list(fb, &root, 5, 8);
	assert_int_equal(longs.count, 3);
	assert_true(shd_flat_element_i64(fb, &longs, 0) == -1 && shd_flat_element_i64(fb, &longs, 2) == INT64_MAX);
	shd_flat_table child = shd_flat_child(fb, &root, 6);
	assert_int_equal(shd_flat_i32(fb, &child, 0, 0), 77);
	assert_int_equal(shd_flat_i32(fb, &child, 9, 42), 42);
	shd_flat_vector tables = shd_flat_list(fb, &root, 7, 4);
	assert_int_equal(tables.count, 2);
	shd_flat_table second = shd_flat_element(fb, &tables, 1);
	assert_int_equal(shd_flat_i32(fb, &second, 1, 0), 11);
	assert_false(shd_flat_has(fb, &second, 0));
	assert_false(shd_flat_has(fb, &root, 8));
	assert_null(shd_flat_text(fb, &root, 8, &arena));
	assert_true(shd_flat_list(fb, &root, 20, 4).at == 0);
	shd_flat_vector ints = shd_flat_list(fb, &root, 9, 4);
	assert_int_equal(shd_flat_element_i32(fb, &ints, 1), -9);
	assert_int_equal(shd_flat_element_u8(fb, &ints, 0), 9);
	assert_ok(shd_flatbuf_check(fb, err));
	shd_arena_done(&arena);
}

TEST(every_kind_of_field_is_read)
{
	sample s = make();
	shd_flatbuf fb;
	shd_flatbuf_over(&fb, s.buf.data, s.buf.len);
	check_sample(&fb);
	shd_buf_done(&s.buf);
}

/* An object with the sample far behind its root, so that pages matter. */
typedef struct source {
	const uint8_t *data;
	size_t len;
	size_t fetched, calls;
	size_t fail_from; /* bytes from here on cannot be read */
} source;

static int fetch(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	source *s = arg;
	s->calls++;
	s->fetched += len;
	if (offset + len > s->fail_from)
		return shd_fail(err, SHERD_EIO, "io", "no");
	assert_true(offset + len <= s->len);
	memcpy(buf, s->data + offset, len);
	return SHERD_OK;
}

TEST(pages_give_the_same_and_leave_payloads_alone)
{
	sample s = make();
	for (size_t gap = 0; gap < 17; gap++) {
		SHD_AUTO_BUF far = {0};
		shd_flatbuf fb;
		/* Values lie on both sides of the end of a page for some of these. */
		size_t shift = gap ? (16 << 10) - 8 * gap : 0;
		shd_buf_zero(&far, shift);
		shd_buf_append(&far, s.buf.data, s.buf.len);
		shd_buf_zero(&far, 1 << 20);
		shd_put_u32(far.data, (uint32_t)(shift + s.root));
		source from = {.data = far.data, .len = far.len, .fail_from = SIZE_MAX};
		assert_ok(shd_flatbuf_open(&fb, fetch, &from, far.len, err));
		check_sample(&fb);
		assert_true(from.fetched <= 3 << 14);
		shd_flatbuf_done(&fb);
	}
	shd_buf_done(&s.buf);
}

TEST(a_failure_to_fetch_is_reported_as_it_is)
{
	sample s = make();
	shd_flatbuf fb;
	source from = {.data = s.buf.data, .len = s.buf.len, .fail_from = 0};
	assert_ok(shd_flatbuf_open(&fb, fetch, &from, s.buf.len, err));
	assert_true(shd_flatbuf_root(&fb).pos == 0);
	assert_refused(SHERD_EIO, "io", shd_flatbuf_check(&fb, err));
	shd_flatbuf_done(&fb);
	shd_buf_done(&s.buf);
}

/* Reads all of the sample whatever it says. */
static int walk(const void *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_flatbuf fb;
	shd_flatbuf_over(&fb, data, len);
	shd_flat_table root = shd_flatbuf_root(&fb);
	(void)shd_flat_i64(&fb, &root, 2, 0);
	(void)shd_flat_text(&fb, &root, 3, &arena);
	shd_flat_vector texts = shd_flat_list(&fb, &root, 4, 4);
	for (uint32_t i = 0; i < texts.count && fb.rc >= 0; i++)
		(void)shd_flat_element_text(&fb, &texts, i, &arena);
	shd_flat_vector longs = shd_flat_list(&fb, &root, 5, 8);
	for (uint32_t i = 0; i < longs.count && fb.rc >= 0; i++)
		(void)shd_flat_element_i64(&fb, &longs, i);
	shd_flat_vector tables = shd_flat_list(&fb, &root, 7, 4);
	for (uint32_t i = 0; i < tables.count && fb.rc >= 0; i++) {
		shd_flat_table t = shd_flat_element(&fb, &tables, i);
		(void)shd_flat_i32(&fb, &t, 1, 0);
	}
	shd_arena_done(&arena);
	return shd_flatbuf_check(&fb, err);
}

TEST(damage_is_refused_at_its_byte)
{
	sample s = make();
	size_t vtable = s.root - shd_get_u32(s.buf.data + s.root), text = flat_field(&s.buf, s.root, 3);
	size_t text_at = text + shd_get_u32(s.buf.data + text);
	const struct {
		size_t at;
		uint32_t value;
		const char *reason;
		uint64_t offset;
	} cases[] = {
		{0, 0, "bad-offsets", 0},                         /* root: nothing */
		{0, 0x7fffffff, "bad-offsets", 0},                /* root outside */
		{0, (uint32_t)s.buf.len, "truncated", s.buf.len}, /* root at the end */
		{s.root, 0x7fffffff, "bad-offsets", s.root},      /* vtable before the buffer */
		{s.root, 0x80000001, "bad-offsets", s.root},      /* vtable behind it */
		{vtable, 3 | 8u << 16, "bad-offsets", vtable},    /* vtable shorter than its head */
		{vtable, 25 | 8u << 16, "bad-offsets", vtable},   /* odd */
		{vtable, 24 | 3u << 16, "bad-offsets", vtable},   /* a table shorter than its head */
		{vtable, 24 | 0xffffu << 16, "truncated", s.root},
		{vtable + 8, 3 | 0xffffu << 16, "bad-offsets", vtable + 8}, /* a field in the head of its table */
		{text, 3, "bad-offsets", text},
		{text, 0xffffffff, "bad-offsets", text},
		{text_at, 4, "bad-text", text_at + 4}, /* does not end there */
		{text_at, 0xffffffff, "truncated", text_at},
		{text_at + 4, 0x6c6c00c3, "bad-text", text_at + 4},
		{text_at + 4, 0x6c6c65c3, "bad-utf8", text_at + 4},
	};
	assert_ok(walk(s.buf.data, s.buf.len, err));
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_error e = {0};
		uint32_t before = shd_get_u32(s.buf.data + cases[i].at);
		shd_put_u32(s.buf.data + cases[i].at, cases[i].value);
		int rc = walk(s.buf.data, s.buf.len, &e);
		shd_put_u32(s.buf.data + cases[i].at, before);
		if (rc != SHERD_ECORRUPT || strcmp(e.reason, cases[i].reason) != 0 || e.offset != cases[i].offset)
			fail_msg("case %zu: %s at %llu: %s", i, e.reason, (unsigned long long)e.offset, e.message);
	}
	shd_buf_done(&s.buf);
}

TEST(every_truncation_is_refused)
{
	sample s = make();
	for (size_t len = 0; len < s.buf.len - 16; len++) {
		uint8_t *copy = malloc(len + 1); /* exactly as long, for a sanitizer to see */
		sherd_error e = {0};
		assert_non_null(copy);
		memcpy(copy, s.buf.data, len);
		uint8_t *exact = realloc(copy, len ? len : 1);
		assert_int_equal(walk(exact, len, &e), SHERD_ECORRUPT);
		assert_true(e.offset <= len);
		free(exact);
	}
	shd_buf_done(&s.buf);
}

TEST(tables_that_meet_again_and_again_are_refused)
{
	SHD_AUTO_BUF b = {0};
	enum { COUNT = 10000 };
	flat_begin(&b);
	size_t root = flat_table(&b, "00000004");
	flat_point(&b, 0, root);
	size_t list = flat_add_offsets(&b, root, 7, COUNT);
	size_t one = flat_table(&b, "04");
	for (size_t i = 0; i < COUNT; i++)
		flat_point(&b, list + 4 * i, one);
	assert_refused(SHERD_ECORRUPT, "overlap", walk(b.data, b.len, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_field_is_read),
		cmocka_unit_test(pages_give_the_same_and_leave_payloads_alone),
		cmocka_unit_test(a_failure_to_fetch_is_reported_as_it_is),
		cmocka_unit_test(damage_is_refused_at_its_byte),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(tables_that_meet_again_and_again_are_refused),
	};
	return cmocka_run_group_tests_name("flatbuf", tests, NULL, NULL);
}
