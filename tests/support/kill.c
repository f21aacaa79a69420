#include "support/kill.h"

#include "support/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

void kill_after(pid_t child, long nanoseconds)
{
	const struct timespec t = {.tv_nsec = nanoseconds};
	int status;
	(void)nanosleep(&t, NULL);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
