/* tests/support/zip_read.h - an archive in memory, read with everything that is checked of it. */
#pragma once

#include "format/zip.h"

typedef struct zip_read_entry {
	shd_zip_entry entry;
	uint64_t data; /* where its bytes lie */
} zip_read_entry;

/* The entries of the archive, at most as many as there is room for; their names live in the arena. */
int zip_read(const uint8_t *data, size_t len, shd_arena *arena, zip_read_entry *out, size_t room, size_t *count,
             sherd_error *err);
