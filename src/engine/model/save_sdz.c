#include "base/buf.h"
#include "engine/model/sdnb_out.h"
#include "engine/model/sdz.h"

#include <stdio.h>

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

typedef struct archive {
	const shd_sdnb_out *files;
	shd_zip_entry *entries;
	uint32_t count;
	sherd_writer *writer;
	uint64_t at;
	const char *key;
	sherd_pool *pool;
	shd_meter meter;
} archive;

/* to NULL: only its CRC is made. */
static int write_entry(archive *a, uint32_t i, sherd_writer *to, sherd_error *err)
{
	const shd_sdnb_target target = {.writer = to, .at = a->at, .pool = a->pool, .meter = &a->meter};
	return shd_in_object(err, shd_sdnb_put(&a->files[i], &target, &a->entries[i].crc, err), a->key);
}

static int write_local(archive *a, uint32_t i, sherd_error *err)
{
	SHD_AUTO_BUF head = {0};
	a->entries[i].head = a->at;
	shd_zip_put_local(&head, &a->entries[i], SHD_SDNB_ALIGN);
	TRY(shd_buf_check(&head, err));
	TRY(sherd_writer_put(a->writer, a->at, head.data, head.len, err));
	a->at += head.len;
	return SHERD_OK;
}

/* The head of the first entry lies at the front of the object, where it can be filled in when its CRC is known. */
static int fill_first(archive *a, sherd_error *err)
{
	SHD_AUTO_BUF head = {0};
	shd_zip_put_local(&head, &a->entries[0], SHD_SDNB_ALIGN);
	TRY(shd_buf_check(&head, err));
	return sherd_writer_fill(a->writer, 0, head.data, head.len, err);
}

/* The heads of the others cannot be changed any more: their bytes are made twice. */
static int write_entries(archive *a, sherd_error *err)
{
	size_t part;
	TRY(sherd_writer_places(&part, a->writer, err));
	for (uint32_t i = 0; i < a->count; i++) {
		if (i)
			TRY(write_entry(a, i, NULL, err));
		TRY(write_local(a, i, err));
		TRY(write_entry(a, i, a->writer, err));
		a->at += a->files[i].size;
	}
	return fill_first(a, err);
}

static int write_directory(archive *a, sherd_error *err)
{
	SHD_AUTO_BUF directory = {0};
	shd_zip_put_directory(&directory, a->entries, a->count, a->at);
	TRY(shd_buf_check(&directory, err));
	a->at += directory.len;
	return sherd_writer_append(a->writer, directory.data, directory.len, err);
}

static int name_entries(archive *a, shd_arena *arena, sherd_error *err)
{
	for (uint32_t i = 0; i < a->count; i++) {
		char name[64] = "model";
		if (a->count > 1)
			(void)snprintf(name, sizeof(name), "model.shard%u-of-%u" SHD_SDNB_SUFFIX, i, a->count);
		a->entries[i] = (shd_zip_entry){.name = shd_arena_str(arena, shd_str_of(name)),
		                                .stored = a->files[i].size,
		                                .size = a->files[i].size};
		if (!a->entries[i].name)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

static uint64_t expected_size(const archive *a)
{
	uint64_t size = 0;
	for (uint32_t i = 0; i < a->count; i++)
		size += a->files[i].size + 2 * (uint64_t)(SHD_ZIP_LOCAL + SHD_SDNB_ALIGN + SHD_SDZ_MOST_NAME);
	return size;
}

static uint64_t count_work(const archive *a)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < a->count; i++)
		total += a->files[i].size * (i ? 2 : 1);
	return total;
}

int shd_model_save_sdz(const sherd_model *model, sherd_store *store, const char *key, const sherd_model_save_options *o,
                       sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	shd_sdnb_out *files;
	archive a = {.count = o->shards > 1 ? o->shards : 1, .key = key, .pool = o->pool};
	if (a.count > SHD_SDZ_MOST_ENTRIES)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "an archive cannot hold %u shards", a.count);
	TRY(shd_sdnb_lay_out(model, o, a.count, &arena, &files, err));
	a.files = files;
	a.entries = shd_arena_alloc(&arena, a.count, sizeof(*a.entries));
	if (!a.entries)
		return shd_fail_nomem(err);
	TRY(name_entries(&a, &arena, err));
	const sherd_write_options options = {.mode = o->replace ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                                     .head = SHD_ZIP_LOCAL + SHD_SDZ_MOST_NAME + SHD_SDNB_ALIGN,
	                                     .size_hint = expected_size(&a),
	                                     .if_identity = o->replace ? o->if_identity : NULL};
	TRY(sherd_store_write(&writer, store, key, &options, err));
	a.writer = writer;
	shd_meter_init(&a.meter, o->progress, count_work(&a));
	int rc = write_entries(&a, err);
	shd_meter_done(&a.meter);
	TRY(rc);
	TRY(write_directory(&a, err));
	TRY(sherd_writer_commit(TAKE(writer), err));
	if (o->written)
		*o->written = a.at;
	return SHERD_OK;
}
