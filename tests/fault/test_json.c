/* Fault: every allocation of reading and writing JSON fails once; nothing leaks, the code says so. */
#include "codec/json.h"
#include "codec/seal.h"

#include "base/error.h"
#include "support/fail_malloc.h"
#include "support/test.h"

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

/* Many keys, escapes, depth and a double, so that every place that allocates is reached. */
static int write_document(sherd_buf *b, sherd_error *err)
{
	sherd_json_writer w;
	sherd_json_writer_init(&w, b);
	sherd_json_put_object(&w, false);
	for (int i = 0; i < 40; i++) {
		char key[] = {'k', 'e', 'y', '\n', (char)('0' + i), 0};
		sherd_json_put_key(&w, key);
		sherd_json_put_u64(&w, (uint64_t)i);
	}
	sherd_json_put_key(&w, "deep");
	for (int i = 0; i < 20; i++)
		sherd_json_put_array(&w, i > 3);
	sherd_json_put_double(&w, 0.1);
	sherd_json_put_string(&w, SHERD_STR("a\x01text that is longer than those before\n"));
	for (int i = 0; i < 20; i++)
		sherd_json_put_array_end(&w);
	sherd_seal_put(&w);
	return sherd_buf_check(b, err);
}

static int read_deep(sherd_json *j, sherd_error *err)
{
	sherd_str text;
	double v;
	for (int i = 0; i < 20; i++) {
		TRY(sherd_json_array(j, err));
		TRY(sherd_json_item(j, err));
	}
	TRY(sherd_json_double(j, &v, err));
	TRY(sherd_json_item(j, err));
	TRY(sherd_json_string(j, &text, err));
	assert_true(v == 0.1);
	assert_int_equal(text.len, 40);
	for (int i = 0; i < 20; i++)
		TRY(sherd_json_item(j, err));
	return SHERD_OK;
}

static int read_document(const sherd_buf *b, sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) j = NULL;
	sherd_str key;
	int rc;
	TRY(sherd_json_open(&j, b->data, b->len, NULL, err));
	TRY(sherd_json_object(j, err));
	while ((rc = sherd_json_key(j, &key, err)) > 0)
		TRY(sherd_str_is(key, "deep") ? read_deep(j, err) : sherd_json_skip(j, err));
	TRY(rc);
	return sherd_json_end(j, err);
}

static int round_trip(sherd_error *err)
{
	SHERD_AUTO_BUF b = {0};
	TRY(write_document(&b, err));
	assert_int_equal(sherd_seal_check(b.data, b.len), SHERD_SEAL_GOOD);
	TRY(read_document(&b, err));
	return sherd_json_check(b.data, b.len, NULL, err);
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
