#include "base/buf.h"
#include "engine/model/sdnb.h"
#include "engine/model/sdnb_out.h"

SHERD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

static int write_file(const sherd_sdnb_out *out, sherd_store *store, const char *key, sherd_write_mode mode,
                      sherd_meter *meter, sherd_error *err)
{
	SHERD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	const sherd_write_options options = {.mode = mode, .size_hint = out->size};
	TRY(sherd_store_write(store, key, &options, &writer, err));
	TRY(sherd_sdnb_write(out, writer, meter, err));
	return sherd_writer_commit(TAKE(writer), err);
}

/* A set being written: its files, of which those before `done` and from 1 on were committed. */
typedef struct set {
	sherd_store *store;
	sherd_str base;
	uint32_t files, done;
	sherd_buf key;
} set;

static int name(set *s, uint32_t index, sherd_error *err)
{
	s->key.len = 0;
	sherd_buf_append(&s->key, s->base.ptr, s->base.len);
	sherd_buf_printf(&s->key, ".shard%u-of-%u" SHERD_SDNB_SUFFIX, index, s->files);
	sherd_buf_u8(&s->key, 0);
	return sherd_buf_check(&s->key, err);
}

/* 1 when the key leads to a set, or to the first file of one. */
static int leads_to_set(set *s, const char *key, sherd_arena *arena, sherd_error *err)
{
	sherd_sdnb_files files = {0};
	sherd_error found;
	sherd_stat stat;
	int rc = sherd_sdnb_find(s->store, key, NULL, arena, &files, &found);
	if (rc == SHERD_EINCOMPLETE) /* all but the first file are what a save that died has left */
		rc = sherd_store_stat(s->store, key, &stat, &found);
	else if (rc == SHERD_OK && !files.sharded)
		return 0;
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINVAL)
		return 0;
	if (rc < 0 && err)
		*err = found;
	return rc < 0 ? rc : 1;
}

/* Nothing may stand there that a reader would take for a set: it could not be exchanged for another in one step. */
static int check_free(set *s, sherd_arena *arena, sherd_error *err)
{
	const char *base = sherd_arena_str(arena, s->base);
	if (!base)
		return sherd_fail_nomem(err);
	TRY(name(s, 0, err));
	int taken = leads_to_set(s, (const char *)s->key.data, arena, err);
	if (!taken)
		taken = leads_to_set(s, base, arena, err);
	TRY(taken);
	if (taken)
		return sherd_fail(err, SHERD_EEXIST, "exists", "a set of %.200s is there: shards are not replaced",
		                  base);
	return SHERD_OK;
}

/* Arrays first; the first file, which has the graph, makes them a set. */
static int write_set(set *s, const sherd_sdnb_out *out, sherd_meter *meter, sherd_error *err)
{
	for (s->done = 1; s->done < s->files; s->done++) {
		TRY(name(s, s->done, err));
		TRY(write_file(&out[s->done], s->store, (const char *)s->key.data, SHERD_WRITE_REPLACE, meter, err));
	}
	TRY(name(s, 0, err));
	return write_file(&out[0], s->store, (const char *)s->key.data, SHERD_WRITE_NEW, meter, err);
}

static void remove_written(set *s)
{
	for (uint32_t i = 1; i < s->done; i++)
		if (name(s, i, NULL) == SHERD_OK)
			(void)sherd_store_remove(s->store, (const char *)s->key.data, NULL);
}

static int save_set(const sherd_sdnb_out *out, sherd_store *store, const char *key, uint32_t files, sherd_meter *meter,
                    sherd_arena *arena, sherd_error *err)
{
	set s = {.store = store, .base = sherd_str_of(key), .files = files};
	if (sherd_str_ends(s.base, SHERD_SDNB_SUFFIX))
		s.base.len -= strlen(SHERD_SDNB_SUFFIX);
	int rc = check_free(&s, arena, err);
	if (rc == SHERD_OK) {
		rc = write_set(&s, out, meter, err);
		if (rc < 0 && rc != SHERD_EEXIST) /* another saver's set, then, whose files these are */
			remove_written(&s);
	}
	sherd_buf_done(&s.key);
	return rc;
}

static int save(const sherd_model *model, sherd_store *store, const char *key, const sherd_model_save_options *o,
                sherd_arena *arena, sherd_error *err)
{
	uint32_t files = o->shards > 1 ? o->shards : 1;
	uint64_t total = 0;
	sherd_sdnb_out *out;
	sherd_meter meter;
	TRY(sherd_sdnb_lay_out(model, o, files, arena, &out, err));
	for (uint32_t i = 0; i < files; i++)
		total += out[i].size;
	sherd_meter_init(&meter, o->progress, total);
	int rc = files > 1
	                 ? save_set(out, store, key, files, &meter, arena, err)
	                 : write_file(out, store, key, o->replace ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW, &meter, err);
	sherd_meter_done(&meter);
	return rc;
}

int sherd_model_save_sdnb(const sherd_model *model, sherd_store *store, const char *key,
                          const sherd_model_save_options *options, sherd_error *err)
{
	sherd_arena arena = {0};
	int rc = save(model, store, key, options, &arena, err);
	sherd_arena_done(&arena);
	return rc;
}
