/* engine/ckpt/save.c - savers, how they begin: the claim, before the first shard. README.md has the crash argument. */
#include "engine/ckpt/save.h"

#include "base/limits.h"
#include "codec/sha256.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/saver.h"
#include "format/ckpt/about.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

SHD_AUTO_DEFINE(sherd_ckpt_saver, sherd_ckpt_saver_abort)

enum { MOST_TRIES = 8 };

int sherd_set_id_random(sherd_set_id *out, sherd_error *err)
{
	sherd_set_id id;
	if (getrandom(id.bytes, sizeof(id.bytes), 0) != sizeof(id.bytes))
		return shd_fail(err, SHERD_EIO, "io", "the system gives no random numbers");
	*out = id;
	return SHERD_OK;
}

int sherd_set_id_of(sherd_set_id *out, const char *const *texts, size_t count, sherd_error *err)
{
	uint8_t hash[SHD_SHA256_BYTES];
	shd_sha256 h;
	if (!count)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "an id of no text");
	shd_sha256_init(&h);
	for (size_t i = 0; i < count; i++)
		shd_sha256_add(&h, texts[i], strlen(texts[i]) + 1); /* the NUL keeps them apart */
	shd_sha256_finish(&h, hash);
	memcpy(out->bytes, hash, sizeof(out->bytes));
	return SHERD_OK;
}

int shd_ckpt_saver_key(const sherd_ckpt_saver *s, uint32_t rank, shd_buf *key, sherd_error *err)
{
	shd_ckpt_name_shard(key, s->prefix, rank, s->hold.claim.named_by_set ? &s->set_id : NULL);
	return shd_buf_check(key, err);
}

int shd_ckpt_world_check(uint32_t world, sherd_error *err)
{
	uint32_t most = shd_limits_or_default(NULL).shards;
	if (world > most)
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "a set of %" PRIu32 " shards: at most %" PRIu32 " can be read again", world, most);
	return SHERD_OK;
}

int shd_ckpt_rank_check(uint32_t rank, uint32_t world, sherd_error *err)
{
	TRY(shd_ckpt_world_check(world, err));
	return rank < world ? SHERD_OK : shd_fail(err, SHERD_EINVAL, "bad-argument", "rank %u of %u", rank, world);
}

/* Limits are a reader's; what the defaults would refuse is not written. */
static int ckpt_save_check_options(const char *prefix, const sherd_ckpt_save_options *o, sherd_error *err)
{
	if (!*shd_str_leaf(prefix))
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "'%.100s' names no checkpoint", prefix);
	/* Whoever opens it would look for the checkpoint that the object belongs to. */
	if (shd_ckpt_name_parse(prefix).kind != SHD_CKPT_NAME_OTHER)
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "'%.100s' is the name of an object of a checkpoint, not a prefix", prefix);
	TRY(shd_ckpt_world_check(o->world, err));
	if (o->layout == SHERD_CKPT_LAYOUT_CSHARP && (o->replace || o->take_over))
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "the C# layout knows only the plain names, so nothing can be replaced or taken over");
	if ((unsigned)o->digest > SHERD_DIGEST_BLAKE3)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "no digest has number %d", (int)o->digest);
	if (o->layout == SHERD_CKPT_LAYOUT_CSHARP && o->digest != SHERD_DIGEST_SHA256)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "the C# layout has no place for BLAKE3");
	return o->about ? shd_ckpt_about_check(o->about, err) : SHERD_OK;
}

int shd_ckpt_already_committed(const sherd_ckpt_saver *s, sherd_error *err)
{
	int rc = shd_fail(err, SHERD_EEXIST, "exists", "the checkpoint exists already");
	return shd_in_object(err, rc, s->prefix);
}

/* Nothing may be committed, unless it is to be replaced. A set cannot replace itself: its shards would be taken for
 * the ones that are there, whatever they hold. A rank that comes again may find that its set is committed. */
static int look_at_committed(sherd_ckpt_saver *s, sherd_error *err)
{
	TRY(shd_ckpt_committed(s->store, s->prefix, &s->before, err));
	if (!s->before.there)
		return SHERD_OK;
	bool same = s->before.has_set_id && shd_set_id_equal(&s->before.set_id, &s->set_id);
	s->settled = same && s->manner.may_repeat;
	if (s->settled)
		return SHERD_OK;
	if (!s->options.replace)
		return shd_ckpt_already_committed(s, err);
	if (same)
		return shd_in_object(err,
		                     shd_fail(err, SHERD_EEXIST, "exists",
		                              "a set of this id is committed already; a new set needs a new id"),
		                     s->prefix);
	return SHERD_OK;
}

/* Shards of nobody's claim: a set that lost its metadata perhaps. They are not ours to remove. */
typedef enum orphans {
	NO_ORPHANS = 0,
	SOME_DESCRIBED, /* at least one tells its set: repair may help */
	ALL_MUTE        /* of the C# layout, or damaged */
} orphans;

static int look_for_orphans(sherd_ckpt_saver *s, orphans *kind, sherd_error *err)
{
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	*kind = NO_ORPHANS;
	TRY(shd_ckpt_files_open(&files, s->store, s->prefix, err));
	for (size_t i = 0; i < files.count && *kind != SOME_DESCRIBED; i++) {
		ckpt_owner owner;
		TRY(shd_ckpt_file_owner(s->store, &files.list[i], &owner, err));
		TRY(shd_meter_ask(s->meter, err));
		if (!(owner.known && shd_set_id_equal(&owner.set_id, &s->set_id)))
			*kind = owner.known ? SOME_DESCRIBED : ALL_MUTE;
	}
	return SHERD_OK;
}

/* SHERD_OK when there are none. */
static int orphans_in_the_way(const sherd_ckpt_saver *s, orphans kind, sherd_error *err)
{
	bool csharp = s->options.layout == SHERD_CKPT_LAYOUT_CSHARP; /* which cannot take over */
	if (kind == NO_ORPHANS)
		return SHERD_OK;
	int rc = shd_fail(err, SHERD_ECONFLICT, "orphans", "shards without metadata are in the way: %s%s",
	                  kind == SOME_DESCRIBED ? "repair them" : "remove them",
	                  csharp ? ", or choose another name" : "");
	return shd_in_object(err, rc, s->prefix);
}

/* Shards of the C# layout carry no set id, so the dead claim of such a save gives all of that kind away: none may be
 * there before it. */
static int look_before_csharp(sherd_ckpt_saver *s, sherd_error *err)
{
	orphans kind;
	int rc = shd_ckpt_clear_dead(s->store, s->prefix, s->options.take_over_after_ns, s->meter, err);
	if (rc == SHERD_ECONFLICT) /* which the claim will say better */
		return SHERD_OK;
	TRY(rc);
	TRY(look_for_orphans(s, &kind, err));
	return orphans_in_the_way(s, kind, err);
}

/* What is committed, as every process of a set can tell it: where stores can lock, identities are told otherwise on
 * other hosts. */
static void name_base(const ckpt_committed *now, char out[SHERD_SET_ID_TEXT])
{
	if (now->has_set_id)
		sherd_set_id_format(out, &now->set_id);
	else
		(void)snprintf(out, SHERD_SET_ID_TEXT, "%s", now->there ? "other" : "");
}

/* All processes of a set publish it in the place of what was there when the first began: 1; 0 when that has changed
 * since we looked, and the claim is ours alone. */
static int check_base(sherd_ckpt_saver *s, sherd_error *err)
{
	const shd_ckpt_claim *c = &s->hold.claim;
	char base[SHERD_SET_ID_TEXT];
	name_base(&s->before, base);
	if ((!c->has_base || strcmp(base, c->base) == 0) &&
	    (!c->has_base_identity || strcmp(s->before.identity, c->base_identity) == 0))
		return 1;
	if (!s->hold.held.joined)
		return 0;
	return shd_in_object(
		err,
		shd_fail(err, SHERD_ECONFLICT, "conflict",
	                 "another checkpoint was committed, or this one cleared away, since the first rank of "
	                 "this set began: save it as a new set"),
		s->prefix);
}

/* 1 when the claim is ours, or none is needed; 0 when the state changed under us. */
static int try_claim(sherd_ckpt_saver *s, sherd_error *err)
{
	shd_ckpt_claim mine = shd_ckpt_claim_of_us(&s->set_id, s->world, s->options.time_ns);
	orphans before = NO_ORPHANS, now = NO_ORPHANS;
	mine.csharp = s->options.layout == SHERD_CKPT_LAYOUT_CSHARP;
	mine.replace = s->options.replace;
	mine.by_ranks = s->manner.by_ranks;
	(void)snprintf(mine.source, sizeof(mine.source), "%s", s->manner.source ? s->manner.source : "");
	TRY(look_at_committed(s, err));
	if (s->settled)
		return 1;
	mine.has_base = true;
	name_base(&s->before, mine.base);
	mine.has_base_identity = !shd_can_lock(s->store);
	memcpy(mine.base_identity, s->before.identity, sizeof(mine.base_identity));
	/* Looked at before the claim is made, so that the claim can say how the shards will be called. */
	if (!s->before.there && s->options.take_over)
		TRY(look_for_orphans(s, &before, err));
	mine.named_by_set = s->before.there || before != NO_ORPHANS;
	if (mine.csharp)
		TRY(look_before_csharp(s, err));
	ckpt_force force = {s->options.take_over, s->options.take_over_after_ns};
	TRY(shd_ckpt_hold(&s->hold, s->store, s->prefix, &mine, &force, s->meter, err));
	s->holding = true;
	TRY(look_at_committed(s, err));
	int same = s->settled ? 0 : check_base(s, err);
	TRY(same);
	if (!same) {
		s->holding = false;
		TRY(shd_claim_drop(&s->hold.held, err));
		return s->settled;
	}
	if (!s->hold.held.joined && !s->hold.claim.named_by_set)
		TRY(look_for_orphans(s, &now, err));
	TRY(orphans_in_the_way(s, now, err));
	return 1;
}

static int ckpt_save_claim(sherd_ckpt_saver *s, sherd_error *err)
{
	int rc = 0;
	for (int tries = 0; rc == 0 && tries < MOST_TRIES; tries++)
		rc = try_claim(s, err);
	if (rc == 0)
		rc = shd_in_object(err, shd_fail(err, SHERD_ECONFLICT, "conflict", "others replace it too often"),
		                   s->prefix);
	return rc < 0 ? rc : SHERD_OK;
}

static int make_saver(sherd_ckpt_saver **out, sherd_store *store, const char *prefix, const sherd_ckpt_save_options *o,
                      sherd_error *err)
{
	sherd_ckpt_saver *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	s->options = *o;
	s->store = store;
	s->world = o->world ? o->world : 1;
	s->prefix = strdup(prefix);
	s->written = calloc(s->world, sizeof(*s->written));
	shd_meter_init(&s->own_meter, o->progress, 0);
	s->meter = &s->own_meter;
	*out = s;
	if (!s->prefix || !s->written)
		return shd_fail_nomem(err);
	if (o->set_id)
		s->set_id = *o->set_id;
	else
		TRY(sherd_set_id_random(&s->set_id, err));
	return SHERD_OK;
}

void shd_ckpt_saver_free(sherd_ckpt_saver *s)
{
	shd_meter_done(&s->own_meter);
	free(s->prefix);
	free(s->written);
	free(s);
}

int shd_ckpt_saver_start(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                         const sherd_ckpt_save_options *options, const ckpt_manner *manner, shd_meter *meter,
                         sherd_error *err)
{
	SHD_AUTO(sherd_ckpt_saver, sherd_ckpt_saver_abort) s = NULL;
	sherd_ckpt_save_options o = options ? *options : (sherd_ckpt_save_options){0};
	TRY(ckpt_save_check_options(prefix, &o, err));
	TRY(make_saver(&s, store, prefix, &o, err));
	s->manner = *manner;
	s->manner.by_ranks = manner->by_ranks && s->world > 1;
	if (meter)
		s->meter = meter;
	TRY(ckpt_save_claim(s, err));
	s->manner.source = NULL; /* the caller's, and in the claim by now */
	*out = TAKE(s);
	return SHERD_OK;
}

int shd_ckpt_saver_begin(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                         const sherd_ckpt_save_options *options, bool by_ranks, shd_meter *meter, sherd_error *err)
{
	return shd_ckpt_saver_start(out, store, prefix, options, &(ckpt_manner){.by_ranks = by_ranks}, meter, err);
}

int sherd_ckpt_saver_open(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                          const sherd_ckpt_save_options *options, sherd_error *err)
{
	if (options && options->layout == SHERD_CKPT_LAYOUT_CSHARP)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "shards of the C# layout do not describe themselves: save the whole set in one call");
	ckpt_manner manner = {.by_ranks = true, .may_repeat = true};
	return shd_ckpt_saver_start(out, store, prefix, options, &manner, NULL, err);
}
