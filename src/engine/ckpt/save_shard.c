/* engine/ckpt/save_shard.c - the shards of a saver: written once, or found there from before. */
#include "engine/ckpt/saver.h"

#include "engine/ckpt/content.h"
#include "engine/ckpt/digest.h"
#include "engine/ckpt/metadata.h"
#include "engine/ckpt/shard.h"
#include "engine/ckpt/training.h"
#include "engine/ckpt/write.h"
#include "format/ckpt/about.h"

#include <inttypes.h>
#include <string.h>

/* The shard of this set and rank that is there. */
typedef struct present {
	bool found;
	ckpt_shard shard;
	shd_ckpt_index index;
	shd_arena arena;
} present;

static int find_present(const sherd_ckpt_saver *s, uint32_t rank, present *out, sherd_error *err)
{
	*out = (present){0};
	int rc = shd_ckpt_shard_find(&out->shard, s->store, s->prefix, rank, &s->set_id, NULL, &out->arena, &out->index,
	                             &out->found, err);
	if (rc < 0) {
		shd_arena_done(&out->arena);
		return rc;
	}
	if (out->found && out->index.world != s->world) {
		shd_ckpt_shard_done(&out->shard);
		out->found = false;
	}
	return SHERD_OK;
}

static void done_present(present *p)
{
	if (p->found)
		shd_ckpt_shard_done(&p->shard);
	shd_arena_done(&p->arena);
}

static int other_bytes(const char *key, bool found, sherd_error *err)
{
	return shd_in_object(err,
	                     shd_fail(err, SHERD_ECONFLICT, "conflict", "%s",
	                              found ? "this rank saved other bytes before"
	                                    : "a shard of another set, or something else, has this name"),
	                     key);
}

/* Does the rank say of the set what it said before? */
static int compare_about(present *there, const ckpt_shard_spec *spec, sherd_error *err)
{
	static const sherd_ckpt_about nothing;
	SHD_AUTO_BUF text = {0};
	sherd_ckpt_about before = {0};
	ckpt_disagreement d;
	if (spec->about)
		shd_ckpt_about_encode(spec->about, &text);
	TRY(shd_buf_check(&text, err));
	shd_str about = there->index.about;
	if (text.len == about.len && (!text.len || memcmp(text.data, about.ptr, about.len) == 0))
		return SHERD_OK;
	if (about.len)
		TRY(shd_ckpt_about_decode(about, NULL, &there->arena, &before, err));
	if (shd_ckpt_disagree(&before, spec->about ? spec->about : &nothing, CKPT_BOTH, &d))
		return shd_fail(err, SHERD_ECONFLICT, "conflict",
		                "the %s was %s when this rank saved before, and is %s now", d.what, d.first, d.second);
	return shd_fail(err, SHERD_ECONFLICT, "conflict",
	                "this rank described the set otherwise before: other fields, or state of the optimizer");
}

static int missing_of_committed(const sherd_ckpt_saver *s, uint32_t rank, sherd_error *err)
{
	return shd_in_object(err,
	                     shd_fail(err, SHERD_ECONFLICT, "conflict",
	                              "the set is committed, but not with a shard of rank %" PRIu32 " of %" PRIu32
	                              " that is there and whole",
	                              rank, s->world),
	                     s->prefix);
}

/* What the metadata says that the shard's data has; "" where nothing is committed. */
static int committed_checksum(const sherd_ckpt_saver *s, uint32_t rank, char out[SHD_CKPT_DIGEST_TEXT],
                              sherd_error *err)
{
	shd_arena arena = {0};
	shd_ckpt_meta meta;
	char identity[72];
	out[0] = 0;
	if (!s->settled)
		return SHERD_OK;
	int rc = shd_ckpt_metadata_read(s->store, s->prefix, NULL, &arena, &meta, identity, err);
	for (size_t i = 0; rc == SHERD_OK && i < meta.count; i++)
		if (meta.shards[i].rank == rank && strlen(meta.shards[i].checksum) < SHD_CKPT_DIGEST_TEXT)
			memcpy(out, meta.shards[i].checksum, strlen(meta.shards[i].checksum) + 1);
	shd_arena_done(&arena);
	return rc;
}

/* Reads what is there: its index may be fine, and the bytes in front of it not. */
static int check_bytes(const sherd_ckpt_saver *s, const ckpt_shard *there, const char *wanted, bool *damaged,
                       sherd_error *err)
{
	char text[SHD_CKPT_DIGEST_TEXT];
	shd_meter meter;
	shd_meter_init(&meter, s->options.progress, there->data_size);
	int rc = shd_ckpt_digest_range(there->reader, there->data_offset, there->data_size,
	                               shd_ckpt_digest_of(there->checksum), s->options.pool, &meter, text, err);
	shd_meter_done(&meter);
	TRY(rc);
	*damaged = strcmp(text, there->checksum) != 0 || (wanted && strcmp(text, wanted) != 0);
	return SHERD_OK;
}

/* With the time and digest of the one that is there it becomes the very same bytes: whoever is about to publish it, or
 * has done so, knows their hash. */
static int rewrite(const sherd_ckpt_saver *s, const ckpt_shard_spec *spec, const present *there, const char *wanted,
                   sherd_error *err)
{
	ckpt_shard_spec anew = *spec;
	ckpt_written written;
	anew.key = sherd_reader_key(there->shard.reader);
	anew.time_ns = there->index.time_ns;
	bool blake3 = strlen(there->shard.checksum) > SHD_SHA256_HEX;
	if (there->index.part_log != (blake3 ? SHD_CKPT_PART_LOG : 0))
		return shd_in_object(
			err,
			shd_fail(err, SHERD_ECORRUPT, "bad-checksum",
		                 "the shard is damaged, and its index is not as Sherd would write it anew"),
			anew.key);
	anew.digest = blake3 ? SHERD_DIGEST_BLAKE3 : SHERD_DIGEST_SHA256;
	anew.replaces = sherd_reader_identity(there->shard.reader);
	anew.wanted = wanted;
	return shd_ckpt_write_shard(s->store, &anew, &written, err);
}

/* What a rank that comes again brings is compared with what it saved before, and that with what lies there. */
static int compare_present(const sherd_ckpt_saver *s, const ckpt_shard_spec *spec, present *there, ckpt_found *found,
                           sherd_error *err)
{
	uint8_t content[SHD_SHA256_BYTES];
	char committed[SHD_CKPT_DIGEST_TEXT];
	const char *key = sherd_reader_key(there->shard.reader);
	ckpt_shard_spec dry = *spec;
	ckpt_written got;
	bool damaged = false;
	dry.dry = true;
	TRY(shd_in_object(err, compare_about(there, spec, err), key));
	TRY(shd_ckpt_write_shard(s->store, &dry, &got, err));
	shd_ckpt_content(there->index.entries, there->index.count, content);
	if (memcmp(content, got.content, sizeof(content)) != 0)
		return other_bytes(key, true, err);
	TRY(committed_checksum(s, spec->rank, committed, err));
	const char *wanted = committed[0] ? committed : NULL;
	TRY(check_bytes(s, &there->shard, wanted, &damaged, err));
	*found = damaged ? CKPT_FOUND_DAMAGED : CKPT_FOUND_SAME;
	return damaged ? rewrite(s, spec, there, wanted, err) : SHERD_OK;
}

static int repeat(const sherd_ckpt_saver *s, const ckpt_shard_spec *spec, ckpt_found *found, sherd_error *err)
{
	present there;
	TRY(find_present(s, spec->rank, &there, err));
	int rc = SHERD_OK;
	if (there.found)
		rc = compare_present(s, spec, &there, found, err);
	else if (s->settled)
		rc = missing_of_committed(s, spec->rank, err);
	done_present(&there);
	return rc;
}

/* Does what has the shard's name begin as a shard, and is none any more? Nobody can publish it then, and under this
 * claim it is ours. */
static int find_wreck(const sherd_ckpt_saver *s, const char *key, char identity[72], bool *wreck, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_ckpt_index index;
	sherd_stat stat;
	bool has_index;
	TRY(sherd_store_stat(&stat, s->store, key, err));
	sherd_error found = {0};
	int rc = shd_ckpt_shard_index_of(s->store, key, NULL, &arena, &index, &has_index, &found);
	memcpy(identity, stat.identity, sizeof(stat.identity));
	*wreck = rc == SHERD_ECORRUPT && strcmp(found.reason, "bad-magic") != 0;
	return SHERD_OK;
}

/* The key is taken: by this very shard, which another process saved meanwhile, or by what is left of it? */
static int settle_taken(const sherd_ckpt_saver *s, const ckpt_shard_spec *spec, const ckpt_written *written,
                        ckpt_found *found, sherd_error *err)
{
	uint8_t content[SHD_SHA256_BYTES];
	char identity[72];
	bool wreck = false;
	present there;
	TRY(find_present(s, spec->rank, &there, err));
	int rc = there.found ? shd_in_object(err, compare_about(&there, spec, err), spec->key) : SHERD_OK;
	if (rc == SHERD_OK && there.found)
		shd_ckpt_content(there.index.entries, there.index.count, content);
	bool same = there.found && rc == SHERD_OK && memcmp(content, written->content, sizeof(content)) == 0;
	bool any = there.found;
	done_present(&there);
	TRY(rc);
	*found = CKPT_FOUND_SAME;
	if (same)
		return SHERD_OK;
	if (!any && s->manner.may_repeat)
		TRY(find_wreck(s, spec->key, identity, &wreck, err));
	if (!wreck)
		return other_bytes(spec->key, any, err);
	ckpt_shard_spec anew = *spec;
	ckpt_written again;
	anew.replaces = identity;
	*found = CKPT_FOUND_DAMAGED;
	return shd_ckpt_write_shard(s->store, &anew, &again, err);
}

int shd_ckpt_saver_write(sherd_ckpt_saver *s, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                         ckpt_written *out, ckpt_found *found, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	ckpt_written written;
	ckpt_found there = CKPT_FOUND_NONE;
	sherd_ckpt_about training;
	TRY(shd_ckpt_saver_key(s, rank, &key, err));
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
		.digest = s->options.digest,
		.pool = s->options.pool,
		.meter = s->meter,
	};
	/* Whoever publishes sees whether the ranks mean the same. */
	if (rank && s->manner.by_ranks && s->options.about && shd_ckpt_training(s->options.about, &training))
		spec.about = &training;
	if (s->manner.may_repeat)
		TRY(repeat(s, &spec, &there, err));
	if (found)
		*found = there;
	if (there)
		return SHERD_OK;
	int rc = shd_ckpt_write_shard(s->store, &spec, &written, err);
	if (rc == SHERD_EEXIST && !spec.csharp) {
		TRY(settle_taken(s, &spec, &written, &there, err));
		if (found && there == CKPT_FOUND_DAMAGED)
			*found = there;
		return SHERD_OK;
	}
	if (written.part.there)
		s->written[rank] = written.part;
	TRY(rc);
	if (out)
		*out = written;
	return SHERD_OK;
}

int sherd_ckpt_saver_shard(sherd_ckpt_saver *s, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                           sherd_error *err)
{
	if (rank >= s->world)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "rank %" PRIu32 " of %" PRIu32, rank, s->world);
	TRY(shd_ckpt_items_check(&(sherd_ckpt_shard_items){items, count}, 1, false, err));
	return shd_ckpt_saver_write(s, rank, items, count, NULL, NULL, err);
}
