/* engine/tensors/rename.h - names changed as sed does: s/A/B/. */
#pragma once

#include "base/buf.h"

typedef struct shd_renames shd_renames;

/* Each of the texts is s/A/B/ or s/A/B/g, with any other character for '/'; A is an extended regular expression of
 * POSIX, in B & and \0 stand for all that fits, \1 to \9 for what the parentheses hold. SHERD_EINVAL, with its index,
 * of one that is not so. */
int shd_renames_open(shd_renames **out, const char *const *texts, size_t count, sherd_error *err);
void shd_renames_close(shd_renames *renames); /* NULL is fine */
SHD_AUTO_DEFINE(shd_renames, shd_renames_close)

/* The name after all of them, one after the other, with its NUL, into an empty buffer. */
int shd_renames_apply(const shd_renames *renames, const char *name, shd_buf *out, sherd_error *err);
