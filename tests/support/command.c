#include "support/command.h"

#include "support/test.h"

#include "base/buf.h"

#include <sys/wait.h>
#include <unistd.h>

__attribute__((noreturn)) static void become(const char *command, const int pipes[2])
{
	(void)dup2(pipes[1], STDOUT_FILENO);
	(void)dup2(pipes[1], STDERR_FILENO);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

char *command_run(const char *command, int *status)
{
	char block[4096];
	SHD_AUTO_BUF text = {0};
	int pipes[2], ended;
	ssize_t n;
	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		become(command, pipes);
	(void)close(pipes[1]);
	while ((n = read(pipes[0], block, sizeof(block))) > 0)
		shd_buf_append(&text, block, (size_t)n);
	(void)close(pipes[0]);
	assert_int_equal(waitpid(child, &ended, 0), child);
	*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
	return shd_buf_take(&text);
}
