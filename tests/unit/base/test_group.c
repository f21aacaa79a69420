/* What a group tells of a failure outlives the group. */
#include "base/group.h"

#include "support/test.h"

#include <string.h>

static int gather_alone(void *arg, const void *mine, size_t len, void *all, sherd_error *err)
{
	(void)arg, (void)err;
	memcpy(all, mine, len);
	return SHERD_OK;
}

static int share_alone(void *arg, uint32_t from, void *data, size_t len, sherd_error *err)
{
	(void)arg, (void)from, (void)data, (void)len, (void)err;
	return SHERD_OK;
}

TEST(an_error_outlives_its_group)
{
	sherd_error failure = {0};
	sherd_group g = {.size = 1, .gather = gather_alone, .share = share_alone};
	int rc = sherd_group_agree(&g, shd_fail(&failure, SHERD_EIO, "io", "the device is gone"), &failure);
	memset(&g, 'x', sizeof(g));
	assert_int_equal(rc, SHERD_EIO);
	assert_string_equal(failure.reason, "io");
	assert_string_equal(failure.message, "rank 0: the device is gone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_outlives_its_group),
	};
	return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
