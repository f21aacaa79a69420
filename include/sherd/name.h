/* sherd/name.h - names of tensors: which fit a pattern, and the order that people expect. */
#ifndef SHERD_NAME_H
#define SHERD_NAME_H

#include <sherd/export.h>

#include <stdbool.h>

SHERD_BEGIN_DECLS

/* Does the name fit the pattern, all of it? `*` stands for any run of characters, dots and slashes too, `?` for one,
 * `[a-z]` for one of a list, `[!a-z]` for one that is not in it, and `\` takes the next as it is. A pattern that is
 * the name itself fits, whatever is in it. Of a `[` that is never closed the bracket is meant. Takes time in the order
 * of both lengths multiplied, at most. */
SHERD_API bool sherd_name_matches(const char *name, const char *pattern);

/* Natural order: runs of digits compare as numbers, all else by bytes, so that layers.2 stands before layers.10. Less
 * than 0, 0 or more, as strcmp(); 0 only for equal names. */
SHERD_API int sherd_name_compare(const char *left, const char *right);

SHERD_END_DECLS

#endif
