/* tests/component/s3.sh, which make interop-s3 runs on a real server, on the little one. */
#include "support/s3_server.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

TEST(the_commands_work_on_a_bucket)
{
	static const s3_quirks manners = {.unquoted = true, .deaf_delete = true, .angry = true, .page = 3};
	char script[512];
	s3_server *server = s3_server_start(&manners);
	(void)setenv("AWS_ENDPOINT_URL", s3_server_endpoint(server), 1);
	(void)setenv("AWS_REGION", "here", 1);
	(void)setenv("SHERD_S3_RETRY_DELAY", "0.001", 1);
	sherd_store_close(s3_server_store(server, "", NULL)); /* which says whose credentials */
	(void)snprintf(script, sizeof(script), "sh '%s/tests/component/s3.sh' s3://test/dir", getenv("SHERD_SOURCE"));
	assert_int_equal(system(script), 0); /* NOLINT(cert-env33-c): a script of our own */
	s3_server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_commands_work_on_a_bucket),
	};
	if (!getenv("SHERD_COMMAND") || !getenv("SHERD_SOURCE"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
