/* base/group.h - the library's side of sherd_group. */
#pragma once

#include "base/error.h"

#include <sherd/group.h>

/* Everybody's len bytes to everybody. A failure is the group's end. */
int shd_group_gather(sherd_group *g, const void *mine, size_t len, void *all, sherd_error *err);

/* Where a call fails by itself, the others of the group, if there is one, hear of it; returns what all say then. */
static inline int shd_group_tell(sherd_group *group, int rc, sherd_error *err)
{
	return group && rc < 0 && !group->failed ? sherd_group_agree(group, rc, err) : rc;
}
