/* engine/ckpt/save_shard.c - the shards of a saver: written once, or found there from before. */
#include "engine/ckpt/saver.h"

#include "engine/ckpt/content.h"
#include "engine/ckpt/shard.h"
#include "engine/ckpt/write.h"

#include <inttypes.h>
#include <string.h>

/* Is a shard of this set and rank there, and what does it hold? */
static int look_for_shard(const sherd_ckpt_saver *s, uint32_t rank, bool *found, uint8_t content[SHERD_SHA256_BYTES],
                          sherd_error *err)
{
	sherd_arena arena = {0};
	sherd_ckpt_index index;
	ckpt_shard there;
	int rc = sherd_ckpt_shard_find(&there, s->store, s->prefix, rank, &s->set_id, NULL, &arena, &index, found, err);
	if (rc == SHERD_OK && *found) {
		*found = index.world == s->world;
		sherd_ckpt_content(index.entries, index.count, index.about, content);
		sherd_ckpt_shard_done(&there);
	}
	sherd_arena_done(&arena);
	return rc;
}

static int other_bytes(const char *key, bool found, sherd_error *err)
{
	return sherd_in_object(err,
	                       sherd_fail(err, SHERD_ECONFLICT, "conflict", "%s",
	                                  found ? "this rank saved other bytes before"
	                                        : "a shard of another set, or something else, has this name"),
	                       key);
}

/* The key is taken: by this very shard, saved before? */
static int compare_with_present(const sherd_ckpt_saver *s, uint32_t rank, const char *key,
                                const uint8_t content[SHERD_SHA256_BYTES], sherd_error *err)
{
	uint8_t there[SHERD_SHA256_BYTES];
	bool found = false;
	TRY(look_for_shard(s, rank, &found, there, err));
	if (found && memcmp(there, content, sizeof(there)) == 0)
		return SHERD_OK;
	return other_bytes(key, found, err);
}

static int missing_of_committed(const sherd_ckpt_saver *s, uint32_t rank, sherd_error *err)
{
	return sherd_in_object(err,
	                       sherd_fail(err, SHERD_ECONFLICT, "conflict",
	                                  "the set is committed, but not with a shard of rank %" PRIu32 " of %" PRIu32
	                                  " that is there and whole",
	                                  rank, s->world),
	                       s->prefix);
}

/* A rank that comes again: what it brings is compared with what is there, without writing it. */
static int repeat(const sherd_ckpt_saver *s, const ckpt_shard_spec *spec, bool *repeated, sherd_error *err)
{
	uint8_t there[SHERD_SHA256_BYTES];
	ckpt_shard_spec dry = *spec;
	ckpt_written got;
	bool found = false;
	TRY(look_for_shard(s, spec->rank, &found, there, err));
	*repeated = found;
	if (!found)
		return s->settled ? missing_of_committed(s, spec->rank, err) : SHERD_OK;
	dry.dry = true;
	TRY(sherd_ckpt_write_shard(s->store, &dry, &got, err));
	return memcmp(there, got.content, sizeof(there)) == 0 ? SHERD_OK : other_bytes(spec->key, true, err);
}

int sherd_ckpt_saver_write(sherd_ckpt_saver *s, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                           ckpt_written *out, bool *repeated, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	ckpt_written written;
	bool again = false;
	TRY(sherd_ckpt_saver_key(s, rank, &key, err));
	ckpt_shard_spec spec = {
		.key = (const char *)key.data,
		.rank = rank,
		.world = s->world,
		.set_id = s->set_id,
		.time_ns = s->options.time_ns,
		.about = rank == 0 ? s->options.about : NULL,
		.items = items,
		.count = count,
		.csharp = s->options.layout == SHERD_CKPT_LAYOUT_CSHARP,
		.pool = s->options.pool,
		.meter = s->meter,
	};
	if (s->manner.may_repeat)
		TRY(repeat(s, &spec, &again, err));
	if (repeated)
		*repeated = again;
	if (again)
		return SHERD_OK;
	int rc = sherd_ckpt_write_shard(s->store, &spec, &written, err);
	if (rc == SHERD_EEXIST && !spec.csharp)
		return compare_with_present(s, rank, spec.key, written.content, err);
	TRY(rc);
	(void)pthread_mutex_lock(&s->lock);
	s->written[rank] = 1;
	(void)pthread_mutex_unlock(&s->lock);
	if (out)
		*out = written;
	return SHERD_OK;
}

int sherd_ckpt_saver_shard(sherd_ckpt_saver *s, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                           sherd_error *err)
{
	if (rank >= s->world)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "rank %" PRIu32 " of %" PRIu32, rank, s->world);
	TRY(sherd_ckpt_items_check(items, count, false, err));
	return sherd_ckpt_saver_write(s, rank, items, count, NULL, NULL, err);
}
