/* Fault: every allocation of reading and writing JSON fails once; nothing leaks, the code says so. */
#include "codec/json.h"
#include "codec/seal.h"

#include "base/error.h"
#include "support/fail_malloc.h"
#include "support/test.h"

/* Many keys, escapes, depth and a double, so that every place that allocates is reached. */
static int write_document(shd_buf *b, sherd_error *err)
{
	shd_json_writer w;
	shd_json_writer_init(&w, b);
	shd_json_put_object(&w, false);
	for (int i = 0; i < 40; i++) {
		char key[] = {'k', 'e', 'y', '\n', (char)('0' + i), 0};
		shd_json_put_key(&w, key);
		shd_json_put_u64(&w, (uint64_t)i);
	}
	shd_json_put_key(&w, "deep");
	for (int i = 0; i < 20; i++)
		shd_json_put_array(&w, i > 3);
	shd_json_put_double(&w, 0.1);
	shd_json_put_string(&w, SHD_STR("a\x01text that is longer than those before\n"));
	for (int i = 0; i < 20; i++)
		shd_json_put_array_end(&w);
	shd_seal_put(&w);
	return shd_buf_check(b, err);
}

static int read_deep(shd_json *j, sherd_error *err)
{
	shd_str text;
	double v;
	for (int i = 0; i < 20; i++) {
		TRY(shd_json_array(j, err));
		TRY(shd_json_item(j, err));
	}
	TRY(shd_json_double(j, &v, err));
	TRY(shd_json_item(j, err));
	TRY(shd_json_string(j, &text, err));
	assert_true(v == 0.1);
	assert_int_equal(text.len, 40);
	for (int i = 0; i < 20; i++)
		TRY(shd_json_item(j, err));
	return SHERD_OK;
}

static int read_document(const shd_buf *b, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_str key;
	int rc;
	TRY(shd_json_open(&j, b->data, b->len, NULL, err));
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(shd_str_is(key, "deep") ? read_deep(j, err) : shd_json_skip(j, err));
	TRY(rc);
	return shd_json_end(j, err);
}

static int round_trip(sherd_error *err)
{
	SHD_AUTO_BUF b = {0};
	TRY(write_document(&b, err));
	assert_int_equal(shd_seal_check(b.data, b.len), SHD_SEAL_GOOD);
	TRY(read_document(&b, err));
	return shd_json_check(b.data, b.len, NULL, err);
}

TEST(every_allocation_may_fail)
{
	/* Buffers of the writer, and for each reader itself, its levels, keys, table and two texts. */
	assert_true(fail_malloc_each(round_trip) > 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
	return cmocka_run_group_tests_name("json_oom", tests, NULL, NULL);
}
