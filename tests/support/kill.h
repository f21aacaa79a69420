/* tests/support/kill.h - the death of a child process. */
#ifndef SHD_TEST_KILL_H
#define SHD_TEST_KILL_H

#include <sys/types.h>

/* Kills it when that time has passed. Fails the test when it has ended by itself before. */
void kill_after(pid_t child, long nanoseconds);

#endif
