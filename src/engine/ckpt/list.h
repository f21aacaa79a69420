/* engine/ckpt/list.h - what prune needs to know beyond the listing. */
#ifndef SHERD_ENGINE_CKPT_LIST_H
#define SHERD_ENGINE_CKPT_LIST_H

#include <sherd/ckpt.h>

/* Of the metadata that the listing describes; "" where there was none. index is in range. */
const char *sherd_ckpt_list_identity(const sherd_ckpt_list *list, size_t index);

#endif
