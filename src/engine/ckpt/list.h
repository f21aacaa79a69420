/* engine/ckpt/list.h - what prune needs to know beyond the listing. */
#pragma once

#include <sherd/ckpt.h>

/* index is in range in all of these. */

/* Of the metadata that the listing describes; "" where there was none. */
const char *shd_ckpt_list_identity(const sherd_ckpt_list *list, size_t index);

/* Does the metadata of this one name a file of that prefix, which is another one's? */
bool shd_ckpt_list_borrows(const sherd_ckpt_list *list, size_t index, const char *prefix);
