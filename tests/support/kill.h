/* tests/support/kill.h - the death of a child process. */
#pragma once

#include <sys/types.h>

/* Kills it when that time has passed. Fails the test when it has ended by itself before. */
void kill_after(pid_t child, long nanoseconds);
