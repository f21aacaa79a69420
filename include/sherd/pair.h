/* sherd/pair.h - a name and its value, as text. */
#ifndef SHERD_PAIR_H
#define SHERD_PAIR_H

#include <sherd/export.h>

SHERD_BEGIN_DECLS

/* UTF-8, NUL-terminated: what a file carries beside its tensors, or a setting of a store. */
typedef struct sherd_pair {
	const char *key;
	const char *value;
} sherd_pair;

SHERD_END_DECLS

#endif
