/* store/preread.h - the first bytes of an object, read once. */
#pragma once

#include "base/str.h"

#include <sherd/store.h>

/* Reads the first bytes, len or as many as there are, and keeps them with the reader: sherd_reader_at() gives them
 * without asking the store again. Borrowed until the reader is closed. Before the reader is shared, and once. */
int shd_reader_preread(sherd_reader *reader, size_t len, shd_str *out, sherd_error *err);
