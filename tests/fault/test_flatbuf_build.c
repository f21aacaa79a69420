/* Fault: every allocation fails once while a FlatBuffer is made. */
#include "support/fail_malloc.h"
#include "support/test.h"

#include "codec/flatbuf_build.h"

static int make(sherd_error *err)
{
	shd_flatbuf_builder b;
	uint64_t size;
	enum { COUNT = 200 };
	shd_flatbuf_build_init(&b);
	size_t root = shd_flatbuf_build_table(&b, 0, "484");
	size_t list = shd_flatbuf_build_offsets(&b, shd_flatbuf_build_field(&b, root, 0), COUNT);
	shd_flatbuf_build_i64(&b, root, 1, 5);
	shd_flatbuf_build_text(&b, shd_flatbuf_build_field(&b, root, 2), "text");
	for (size_t i = 0; i < COUNT; i++) {
		char widths[] = "4000000000000000000000000000000001";
		widths[i % 32 + 1] = '1'; /* many vtables */
		size_t t = shd_flatbuf_build_table(&b, list + 4 * i, widths);
		shd_flatbuf_build_u8(&b, t, (unsigned)(i % 32 + 1), 1);
		shd_flatbuf_build_span(&b, shd_flatbuf_build_field(&b, t, 0), i, 8);
	}
	int rc = shd_flatbuf_build_finish(&b, INT32_MAX, &size, err);
	shd_flatbuf_build_done(&b);
	return rc;
}

TEST(every_allocation_may_fail)
{
	assert_true(fail_malloc_each(make) > 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
	return cmocka_run_group_tests_name("flatbuf_build", tests, NULL, NULL);
}
