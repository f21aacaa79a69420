/* engine/ckpt/files.h - the shard files that stand under a prefix, whoever wrote them. */
#pragma once

#include "base/arena.h"
#include "base/meter.h"
#include "format/ckpt/name.h"

#include <sherd/store.h>

typedef struct ckpt_file {
	const char *key;
	uint32_t rank;
	uint64_t size;
	int64_t mtime_ns;
	const char *identity;
	bool named_by_set; /* its name carries a set id */
	sherd_set_id name_id;
} ckpt_file;

typedef struct ckpt_files {
	shd_arena arena;
	ckpt_file *list;
	size_t count;
} ckpt_files;

int shd_ckpt_files_open(ckpt_files *out, sherd_store *store, const char *prefix, sherd_error *err);
void shd_ckpt_files_done(ckpt_files *files);

/* Whose a file is: its index tells, or nothing does (a foreign or damaged file). */
typedef struct ckpt_owner {
	bool known;
	sherd_set_id set_id;
} ckpt_owner;
int shd_ckpt_file_owner(sherd_store *store, const ckpt_file *file, ckpt_owner *out, sherd_error *err);

/* Leaves those of this set on the list; with set_id NULL those that tell no set. meter may be NULL. */
int shd_ckpt_files_of_set(ckpt_files *files, sherd_store *store, const sherd_set_id *set_id, shd_meter *meter,
                          sherd_error *err);

static inline bool shd_set_id_equal(const sherd_set_id *a, const sherd_set_id *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}
