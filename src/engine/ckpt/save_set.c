/* engine/ckpt/save_set.c - a whole set in one call. */
#include "engine/ckpt/save.h"

#include "base/arena.h"
#include "base/pool.h"
#include "base/time.h"
#include "engine/ckpt/saver.h"
#include "engine/ckpt/write.h"
#include "engine/publish/head.h"
#include "format/ckpt/meta.h"
#include "format/ckpt/name.h"

#include <stdlib.h>

typedef struct set_save {
	sherd_ckpt_saver *saver;
	const sherd_ckpt_shard_items *shards;
	ckpt_written *written; /* by rank */
} set_save;

static int write_one(void *arg, size_t rank, sherd_error *err)
{
	const set_save *g = arg;
	return shd_ckpt_saver_write(g->saver, (uint32_t)rank, g->shards[rank].items, g->shards[rank].count,
	                            &g->written[rank], NULL, err);
}

uint64_t shd_ckpt_total_bytes(const sherd_ckpt_shard_items *shards, uint32_t world)
{
	uint64_t total = 0;
	for (uint32_t r = 0; r < world; r++)
		for (size_t i = 0; i < shards[r].count; i++)
			total += shd_ckpt_item_bytes(&shards[r].items[i]);
	return total;
}

static void list_packed(const sherd_ckpt_shard_items *items, shd_ckpt_meta_shard *out)
{
	uint64_t at = 0;
	for (size_t i = 0; i < items->count; i++) {
		shd_ckpt_entry *e = &out->entries[i];
		*e = (shd_ckpt_entry){.tensor = items->items[i].tensor, .offset = at, .extra = items->items[i].extra};
		e->tensor.bytes = shd_ckpt_item_bytes(&items->items[i]);
		at += e->tensor.bytes;
	}
}

/* Shards of the C# layout do not describe themselves, so the metadata comes from what was just written. */
static int publish_csharp(const set_save *g, sherd_store *store, const char *prefix, const sherd_ckpt_save_options *o,
                          shd_arena *arena, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	SHD_AUTO_BUF key = {0};
	char when[SHD_TIME_TEXT];
	uint32_t world = o->world ? o->world : 1;
	shd_ckpt_meta meta = {.version = "1.0.0", .timestamp = when, .world = world, .count = world};
	shd_time_format(o->time_ns, when);
	if (o->about)
		meta.about = *o->about;
	meta.shards = shd_arena_alloc(arena, world, sizeof(*meta.shards));
	if (!meta.shards)
		return shd_fail_nomem(err);
	for (uint32_t r = 0; r < world; r++) {
		SHD_AUTO_BUF file = {0};
		shd_ckpt_meta_shard *m = &meta.shards[r];
		shd_ckpt_name_shard(&file, shd_str_leaf(prefix), r, NULL);
		TRY(shd_buf_check(&file, err));
		*m = (shd_ckpt_meta_shard){.rank = r, .checksum = "", .listed = true};
		m->file_size = g->written[r].file_size;
		m->sha256 = g->written[r].checksum;
		m->file = shd_arena_str(arena, shd_str_of((const char *)file.data));
		m->count = g->shards[r].count;
		m->entries = shd_arena_alloc(arena, m->count + 1, sizeof(*m->entries));
		if (!m->file || !m->entries)
			return shd_fail_nomem(err);
		list_packed(&g->shards[r], m);
	}
	shd_ckpt_meta_encode(&meta, true, &text);
	shd_ckpt_name_metadata(&key, prefix);
	TRY(shd_buf_check(&text, err));
	TRY(shd_buf_check(&key, err));
	shd_published now;
	const shd_publication head = {.store = store,
	                              .key = (const char *)key.data,
	                              .base = g->saver->before.identity,
	                              .text = text.data,
	                              .len = text.len};
	return shd_head_publish(&head, &now, err);
}

static int finish_csharp(set_save *g, sherd_store *store, const char *prefix, const sherd_ckpt_save_options *o,
                         sherd_error *err)
{
	shd_arena arena = {0};
	int rc = publish_csharp(g, store, prefix, o, &arena, err);
	shd_arena_done(&arena);
	return shd_ckpt_saver_published(g->saver, rc, NULL, err);
}

static int save_set_save(set_save *g, sherd_store *store, const char *prefix, const sherd_ckpt_save_options *o,
                         shd_meter *meter, sherd_error *err)
{
	uint32_t world = o->world ? o->world : 1;
	bool csharp = o->layout == SHERD_CKPT_LAYOUT_CSHARP;
	TRY(shd_ckpt_saver_begin(&g->saver, store, prefix, o, false, meter, err));
	int rc = shd_pool_run(o->pool, world, write_one, g, err);
	if (rc < 0) {
		sherd_ckpt_saver_abort(g->saver);
		return rc;
	}
	if (csharp)
		return finish_csharp(g, store, prefix, o, err);
	return shd_ckpt_saver_finish_whole(g->saver, err);
}

int shd_ckpt_save_metered(sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shards,
                          const sherd_ckpt_save_options *options, shd_meter *meter, sherd_error *err)
{
	set_save g = {.shards = shards, .written = calloc(options->world ? options->world : 1, sizeof(*g.written))};
	if (!g.written)
		return shd_fail_nomem(err);
	int rc = save_set_save(&g, store, prefix, options, meter, err);
	free(g.written);
	return rc;
}

int sherd_ckpt_save(sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shards,
                    const sherd_ckpt_save_options *options, sherd_error *err)
{
	sherd_ckpt_save_options o = options ? *options : (sherd_ckpt_save_options){0};
	shd_meter meter;
	TRY(shd_ckpt_items_check(shards, o.world ? o.world : 1, o.layout == SHERD_CKPT_LAYOUT_CSHARP, err));
	shd_meter_init(&meter, o.progress, shd_ckpt_total_bytes(shards, o.world ? o.world : 1));
	int rc = shd_ckpt_save_metered(store, prefix, shards, &o, &meter, err);
	shd_meter_done(&meter);
	return rc;
}
