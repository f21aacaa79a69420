#include "base/error.h"

#include "support/test.h"

#include <errno.h>
#include <string.h>

TEST(raising_fills_the_error_and_returns_the_code)
{
	sherd_error err = {.os_errno = 5, .object = "old", .offset = 9};
	assert_int_equal(shd_fail(&err, SHERD_EINVAL, "bad-argument", "%d is %s", 7, "odd"), SHERD_EINVAL);
	assert_int_equal(err.code, SHERD_EINVAL);
	assert_string_equal(err.reason, "bad-argument");
	assert_string_equal(err.message, "7 is odd");
	assert_true(err.offset == SHERD_NO_OFFSET);
	assert_true(err.index == SHERD_NO_INDEX);
	assert_string_equal(err.object, "");
	assert_int_equal(err.os_errno, 0);
	assert_int_equal(shd_fail_at(&err, SHERD_ECORRUPT, "bad-magic", 88, "x"), SHERD_ECORRUPT);
	assert_int_equal(err.offset, 88);
	assert_int_equal(shd_fail_of(&err, SHERD_EINVAL, "bad-argument", 7, "%d", 1), SHERD_EINVAL);
	assert_int_equal(err.index, 7);
	assert_int_equal(shd_at_index(&err, SHERD_OK, 8), SHERD_OK);
	assert_int_equal(err.index, 7);
	assert_int_equal(shd_at_index(&err, SHERD_EINVAL, SHERD_NO_INDEX), SHERD_EINVAL);
	assert_true(err.index == SHERD_NO_INDEX);
	assert_int_equal(shd_fail_nomem(&err), SHERD_ENOMEM);
	assert_string_equal(err.reason, "no-memory");
}

TEST(nobody_needs_to_ask_for_the_error)
{
	assert_int_equal(shd_fail(NULL, SHERD_EIO, "io", "x"), SHERD_EIO);
	assert_int_equal(shd_fail_at(NULL, SHERD_ELIMIT, "too-long", 1, "x"), SHERD_ELIMIT);
	assert_int_equal(shd_fail_os(NULL, ENOENT, "x"), SHERD_ENOTFOUND);
	assert_int_equal(shd_fail_nomem(NULL), SHERD_ENOMEM);
	assert_int_equal(shd_in_object(NULL, SHERD_EIO, "k"), SHERD_EIO);
	assert_int_equal(shd_shift_offset(NULL, SHERD_EIO, 4), SHERD_EIO);
	assert_int_equal(shd_fail_of(NULL, SHERD_EINVAL, "bad-argument", 1, "x"), SHERD_EINVAL);
}

TEST(failures_of_the_system_become_codes_that_a_caller_can_act_on)
{
	static const struct {
		int os_errno;
		sherd_status code;
		const char *reason;
	} cases[] = {
		{ENOENT, SHERD_ENOTFOUND, "not-found"}, {ENOTDIR, SHERD_ENOTFOUND, "not-found"},
		{EEXIST, SHERD_EEXIST, "exists"},       {ENOMEM, SHERD_ENOMEM, "no-memory"},
		{EACCES, SHERD_EIO, "permission"},      {ENOSPC, SHERD_EIO, "no-space"},
		{ELOOP, SHERD_EIO, "symlink"},          {EIO, SHERD_EIO, "io"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_error err = {0};
		assert_int_equal(shd_fail_os(&err, cases[i].os_errno, "cannot open"), cases[i].code);
		assert_string_equal(err.reason, cases[i].reason);
		assert_int_equal(err.os_errno, cases[i].os_errno);
		assert_memory_equal(err.message, "cannot open: ", 13);
		assert_true(err.message[13] != 0);
	}
}

TEST(long_messages_and_keys_are_cut_and_stay_text)
{
	sherd_error err = {0};
	char longest[600];
	memset(longest, 'k', sizeof(longest));
	longest[599] = 0;
	longest[598] = 'z';
	(void)shd_fail(&err, SHERD_EIO, "io", "%s", longest);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	(void)shd_fail_os(&err, EIO, "%s", longest);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_int_equal(shd_in_object(&err, SHERD_EIO, longest), SHERD_EIO);
	assert_int_equal(strlen(err.object), sizeof(err.object) - 1);
	assert_memory_equal(err.object, "...k", 4);
	assert_int_equal(err.object[sizeof(err.object) - 2], 'z');
}

TEST(the_deepest_layer_names_the_object)
{
	sherd_error err = {0};
	(void)shd_fail(&err, SHERD_EIO, "io", "x");
	(void)shd_in_object(&err, SHERD_EIO, "inner");
	(void)shd_in_object(&err, SHERD_EIO, "outer");
	assert_string_equal(err.object, "inner");
	sherd_error untouched = {0};
	assert_int_equal(shd_in_object(&untouched, SHERD_OK, "x"), SHERD_OK);
	assert_string_equal(untouched.object, "");
}

TEST(offsets_move_to_the_start_of_the_object)
{
	sherd_error err = {0};
	int rc = shd_fail_at(&err, SHERD_ECORRUPT, "x", 4, "x");
	assert_int_equal(shd_shift_offset(&err, rc, 100), SHERD_ECORRUPT);
	assert_int_equal(err.offset, 104);
	rc = shd_fail(&err, SHERD_ECORRUPT, "x", "x");
	(void)shd_shift_offset(&err, rc, 100);
	assert_true(err.offset == SHERD_NO_OFFSET);
}

TEST(every_status_has_a_name_of_its_own)
{
	for (int a = SHERD_OK; a >= SHERD_EUNKNOWN; a--) {
		assert_string_not_equal(sherd_status_name((sherd_status)a), "unknown status");
		for (int b = a - 1; b >= SHERD_EUNKNOWN; b--)
			assert_string_not_equal(sherd_status_name((sherd_status)a), sherd_status_name((sherd_status)b));
	}
	assert_string_equal(sherd_status_name((sherd_status)-999), "unknown status");
}

static int forward(int rc, int *reached)
{
	TRY(rc);
	*reached = 1;
	return rc;
}

TEST(try_forwards_failures_only)
{
	int reached = 0;
	assert_int_equal(forward(SHERD_EIO, &reached), SHERD_EIO);
	assert_int_equal(reached, 0);
	assert_int_equal(forward(1, &reached), 1);
	assert_int_equal(reached, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raising_fills_the_error_and_returns_the_code),
		cmocka_unit_test(nobody_needs_to_ask_for_the_error),
		cmocka_unit_test(failures_of_the_system_become_codes_that_a_caller_can_act_on),
		cmocka_unit_test(long_messages_and_keys_are_cut_and_stay_text),
		cmocka_unit_test(the_deepest_layer_names_the_object),
		cmocka_unit_test(offsets_move_to_the_start_of_the_object),
		cmocka_unit_test(every_status_has_a_name_of_its_own),
		cmocka_unit_test(try_forwards_failures_only),
	};
	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
