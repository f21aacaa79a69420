/* tests/support/threads_group.h - a group whose processes are threads. */
#pragma once

#include <sherd/group.h>

enum { THREADS_GROUP_MOST = 16 };

/* Calls it on so many threads at once, each with a group of its own rank; returns when all are back. */
typedef void threads_group_fn(sherd_group *group, void *arg);
void threads_group_run(uint32_t size, threads_group_fn *fn, void *arg);
