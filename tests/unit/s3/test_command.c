/* tests/component/s3.sh, which make interop-s3 runs on a real server, on the little one. */
#include "support/s3_server.h"
#include "support/test.h"

#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Starts "sherd info" as a user that may not read what is root's; -1: it cannot be. */
static pid_t start_command(const char *uri)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0 || access(getenv("SHERD_COMMAND"), X_OK) < 0))
		_exit(77);
	(void)execl(getenv("SHERD_COMMAND"), "sherd", "info", uri, (char *)NULL);
	_exit(77);
}

/* The files of a process that cannot be dumped are root's. */
TEST(the_command_cannot_be_dumped_while_it_holds_secrets)
{
	s3_server *server = s3_server_start(NULL);
	char path[64];
	struct stat stat_of = {0};
	int status = 0;
	(void)setenv("AWS_ENDPOINT_URL", s3_server_endpoint(server), 1);
	sherd_store_close(s3_server_store(server, "", NULL));
	s3_server_fail(server, "", "test", S3_STALL, 1);
	pid_t pid = start_command("s3://test/x"), ended = 0;
	assert_true(pid > 0);
	while (s3_server_left(server) > 0 && (ended = waitpid(pid, &status, WNOHANG)) == 0)
		(void)usleep(1000);
	if (ended) {
		assert_int_equal(WEXITSTATUS(status), 77); /* that user cannot reach it here */
		s3_server_stop(server);
		skip();
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	assert_int_equal(stat(path, &stat_of), 0);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(stat_of.st_uid, 0);
	s3_server_stop(server);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_commands_work_on_a_bucket),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		cmocka_unit_test(the_command_cannot_be_dumped_while_it_holds_secrets),
#endif
	};
	if (!getenv("SHERD_COMMAND") || !getenv("SHERD_SOURCE"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
