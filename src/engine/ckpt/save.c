/* engine/ckpt/save.c - savers: claim, shards, metadata, in this order. README.md has the crash argument. */
#include "engine/ckpt/save.h"

#include "base/limits.h"
#include "base/pool.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/publish.h"
#include "engine/ckpt/shard.h"
#include "engine/ckpt/write.h"
#include "format/ckpt_about.h"
#include "format/ckpt_name.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

SHERD_AUTO_DEFINE(sherd_ckpt_saver, sherd_ckpt_saver_abort)

struct sherd_ckpt_saver {
	sherd_store *store;
	char *prefix;
	sherd_ckpt_save_options options;
	sherd_set_id set_id;
	uint32_t world;
	bool by_ranks;
	ckpt_hold hold;
	bool holding;
	ckpt_committed before; /* what stands under the prefix, to be replaced */
	pthread_mutex_t lock;  /* guards written */
	uint8_t *written;      /* by rank: this saver committed the shard */
	sherd_meter own_meter, *meter;
};

int sherd_set_id_random(sherd_set_id *out, sherd_error *err)
{
	sherd_set_id id;
	if (getrandom(id.bytes, sizeof(id.bytes), 0) != sizeof(id.bytes))
		return sherd_fail(err, SHERD_EIO, "io", "the system gives no random numbers");
	*out = id;
	return SHERD_OK;
}

static int shard_key(const sherd_ckpt_saver *s, uint32_t rank, sherd_buf *key, sherd_error *err)
{
	sherd_ckpt_name_shard(key, s->prefix, rank, s->hold.claim.named_by_set ? &s->set_id : NULL);
	return sherd_buf_check(key, err);
}

int sherd_ckpt_world_check(uint32_t world, sherd_error *err)
{
	uint32_t most = sherd_limits_or_default(NULL).shards;
	if (world > most)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument",
		                  "a set of %" PRIu32 " shards: at most %" PRIu32 " can be read again", world, most);
	return SHERD_OK;
}

/* Limits are a reader's; what the defaults would refuse is not written. */
static int check_options(const char *prefix, const sherd_ckpt_save_options *o, sherd_error *err)
{
	if (!*sherd_str_leaf(prefix))
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "'%.100s' names no checkpoint", prefix);
	/* Whoever opens it would look for the checkpoint that the object belongs to. */
	if (sherd_ckpt_name_parse(prefix).kind != SHERD_CKPT_NAME_OTHER)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument",
		                  "'%.100s' is the name of an object of a checkpoint, not a prefix", prefix);
	TRY(sherd_ckpt_world_check(o->world, err));
	if (o->layout == SHERD_CKPT_LAYOUT_CSHARP && (o->replace || o->take_over))
		return sherd_fail(err, SHERD_EINVAL, "bad-argument",
		                  "the C# layout knows only the plain names, so nothing can be replaced or taken over");
	return o->about ? sherd_ckpt_about_check(o->about, err) : SHERD_OK;
}

static int already_committed(sherd_error *err)
{
	return sherd_fail(err, SHERD_EEXIST, "exists",
	                  "the checkpoint exists already; replace it, or choose another name");
}

/* Nothing may be committed, unless it is to be replaced. A set cannot replace itself: its shards would be taken for
 * the ones that are there, whatever they hold. */
static int look_at_committed(sherd_ckpt_saver *s, sherd_error *err)
{
	TRY(sherd_ckpt_committed(s->store, s->prefix, &s->before, err));
	if (!s->before.there)
		return SHERD_OK;
	if (!s->options.replace)
		return sherd_in_object(err, already_committed(err), s->prefix);
	if (s->before.has_set_id && sherd_set_id_equal(&s->before.set_id, &s->set_id))
		return sherd_in_object(err,
		                       sherd_fail(err, SHERD_EEXIST, "exists",
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
	ckpt_files files = {0};
	*kind = NO_ORPHANS;
	TRY(sherd_ckpt_files_open(&files, s->store, s->prefix, err));
	int rc = SHERD_OK;
	for (size_t i = 0; i < files.count && rc == SHERD_OK && *kind != SOME_DESCRIBED; i++) {
		ckpt_owner owner;
		rc = sherd_ckpt_file_owner(s->store, &files.list[i], &owner, err);
		if (rc == SHERD_OK)
			rc = sherd_meter_ask(s->meter, err);
		if (rc == SHERD_OK && !(owner.known && sherd_set_id_equal(&owner.set_id, &s->set_id)))
			*kind = owner.known ? SOME_DESCRIBED : ALL_MUTE;
	}
	sherd_ckpt_files_done(&files);
	return rc;
}

/* SHERD_OK when there are none. */
static int orphans_in_the_way(const sherd_ckpt_saver *s, orphans kind, sherd_error *err)
{
	bool csharp = s->options.layout == SHERD_CKPT_LAYOUT_CSHARP; /* which cannot take over */
	if (kind == NO_ORPHANS)
		return SHERD_OK;
	int rc = sherd_fail(err, SHERD_ECONFLICT, "orphans", "shards without metadata are in the way: %s, or %s",
	                    kind == SOME_DESCRIBED ? "repair them" : "remove them",
	                    csharp ? "choose another name" : "take over");
	return sherd_in_object(err, rc, s->prefix);
}

/* Shards of the C# layout carry no set id, so the dead claim of such a save gives all of that kind away: none may be
 * there before it. */
static int look_before_csharp(sherd_ckpt_saver *s, sherd_error *err)
{
	orphans kind;
	int rc = sherd_ckpt_clear_dead(s->store, s->prefix, s->options.take_over_after_ns, s->meter, err);
	if (rc == SHERD_ECONFLICT) /* which the claim will say better */
		return SHERD_OK;
	TRY(rc);
	TRY(look_for_orphans(s, &kind, err));
	return orphans_in_the_way(s, kind, err);
}

static int claim(sherd_ckpt_saver *s, sherd_error *err)
{
	sherd_ckpt_claim mine = sherd_ckpt_claim_of_us(&s->set_id, s->world, s->options.time_ns);
	orphans before = NO_ORPHANS, now = NO_ORPHANS;
	mine.csharp = s->options.layout == SHERD_CKPT_LAYOUT_CSHARP;
	mine.replace = s->options.replace;
	mine.by_ranks = s->by_ranks;
	TRY(look_at_committed(s, err));
	/* Looked at before the claim is made, so that the claim can say how the shards will be called. */
	if (!s->before.there && s->options.take_over)
		TRY(look_for_orphans(s, &before, err));
	mine.named_by_set = s->before.there || before != NO_ORPHANS;
	if (mine.csharp)
		TRY(look_before_csharp(s, err));
	ckpt_force force = {s->options.take_over, s->options.take_over_after_ns};
	TRY(sherd_ckpt_hold(&s->hold, s->store, s->prefix, &mine, &force, s->meter, err));
	s->holding = true;
	TRY(look_at_committed(s, err));
	if (s->hold.created && !s->hold.claim.named_by_set)
		TRY(look_for_orphans(s, &now, err));
	return orphans_in_the_way(s, now, err);
}

static int make_saver(sherd_ckpt_saver **out, sherd_store *store, const char *prefix, const sherd_ckpt_save_options *o,
                      sherd_error *err)
{
	sherd_ckpt_saver *s = calloc(1, sizeof(*s));
	if (!s)
		return sherd_fail_nomem(err);
	(void)pthread_mutex_init(&s->lock, NULL);
	s->options = *o;
	s->store = store;
	s->world = o->world ? o->world : 1;
	s->prefix = strdup(prefix);
	s->written = calloc(s->world, 1);
	sherd_meter_init(&s->own_meter, o->progress, 0);
	s->meter = &s->own_meter;
	*out = s;
	if (!s->prefix || !s->written)
		return sherd_fail_nomem(err);
	if (o->set_id)
		s->set_id = *o->set_id;
	else
		TRY(sherd_set_id_random(&s->set_id, err));
	return SHERD_OK;
}

static void free_saver(sherd_ckpt_saver *s)
{
	sherd_meter_done(&s->own_meter);
	(void)pthread_mutex_destroy(&s->lock);
	free(s->prefix);
	free(s->written);
	free(s);
}

int sherd_ckpt_saver_begin(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                           const sherd_ckpt_save_options *options, bool by_ranks, sherd_meter *meter, sherd_error *err)
{
	SHERD_AUTO(sherd_ckpt_saver, sherd_ckpt_saver_abort) s = NULL;
	sherd_ckpt_save_options o = options ? *options : (sherd_ckpt_save_options){0};
	TRY(check_options(prefix, &o, err));
	TRY(make_saver(&s, store, prefix, &o, err));
	s->by_ranks = by_ranks && s->world > 1;
	if (meter)
		s->meter = meter;
	TRY(claim(s, err));
	*out = TAKE(s);
	return SHERD_OK;
}

int sherd_ckpt_saver_open(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                          const sherd_ckpt_save_options *options, sherd_error *err)
{
	if (options && options->layout == SHERD_CKPT_LAYOUT_CSHARP)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                  "shards of the C# layout do not describe themselves: save the whole set in one call");
	return sherd_ckpt_saver_begin(out, store, prefix, options, true, NULL, err);
}

/* The key is taken: by this very shard, saved before? */
static int compare_with_present(const sherd_ckpt_saver *s, uint32_t rank, const char *key, const char *checksum,
                                sherd_error *err)
{
	sherd_arena arena = {0};
	sherd_ckpt_index index;
	ckpt_shard there;
	bool found = false, same = false;
	int rc =
		sherd_ckpt_shard_find(&there, s->store, s->prefix, rank, &s->set_id, NULL, &arena, &index, &found, err);
	if (rc == SHERD_OK && found) {
		same = strcmp(there.checksum, checksum) == 0;
		sherd_ckpt_shard_done(&there);
	}
	sherd_arena_done(&arena);
	if (rc == SHERD_OK && !same)
		rc = sherd_in_object(err,
		                     sherd_fail(err, SHERD_ECONFLICT, "conflict", "%s",
		                                found ? "this rank saved other bytes before"
		                                      : "a shard of another set, or something else, has this name"),
		                     key);
	return rc;
}

int sherd_ckpt_saver_write(sherd_ckpt_saver *s, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                           uint64_t *file_size, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	ckpt_written written;
	TRY(shard_key(s, rank, &key, err));
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
	int rc = sherd_ckpt_write_shard(s->store, &spec, &written, err);
	if (rc == SHERD_EEXIST && !spec.csharp)
		return compare_with_present(s, rank, spec.key, written.checksum, err);
	TRY(rc);
	(void)pthread_mutex_lock(&s->lock);
	s->written[rank] = 1;
	(void)pthread_mutex_unlock(&s->lock);
	if (file_size)
		*file_size = written.file_size;
	return SHERD_OK;
}

int sherd_ckpt_saver_shard(sherd_ckpt_saver *s, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                           sherd_error *err)
{
	if (rank >= s->world)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "rank %" PRIu32 " of %" PRIu32, rank, s->world);
	TRY(sherd_ckpt_items_check(items, count, false, err));
	return sherd_ckpt_saver_write(s, rank, items, count, NULL, err);
}

/* Removes a shard that this saver wrote, unless its name is another set's by now. */
static void take_back(sherd_ckpt_saver *s, uint32_t rank)
{
	SHERD_AUTO_BUF key = {0};
	ckpt_owner owner = {0};
	bool mine = false;
	if (shard_key(s, rank, &key, NULL) < 0)
		return;
	ckpt_file file = {.key = (const char *)key.data, .named_by_set = s->hold.claim.named_by_set};
	file.name_id = s->set_id;
	if (s->options.layout == SHERD_CKPT_LAYOUT_CSHARP)
		(void)sherd_ckpt_claimed_by(s->store, s->prefix, &s->set_id, &mine, NULL);
	else
		mine = sherd_ckpt_file_owner(s->store, &file, &owner, NULL) == SHERD_OK && owner.known &&
		       sherd_set_id_equal(&owner.set_id, &s->set_id);
	if (mine)
		(void)sherd_store_remove(s->store, file.key, NULL);
}

/* May another process publish our shards, or have done so? claimed: the claim is ours, and nobody else holds it. When
 * it is another's, somebody of our set may still be about to, unless what stands under the prefix refuses it. */
static bool may_be_needed(const sherd_ckpt_saver *s, bool claimed)
{
	ckpt_committed now;
	if (s->options.layout == SHERD_CKPT_LAYOUT_CSHARP)
		return false; /* of one process, which knows that it did not publish */
	if (sherd_ckpt_committed(s->store, s->prefix, &now, NULL) < 0)
		return true;
	bool changed = now.there != s->before.there || strcmp(now.identity, s->before.identity) != 0;
	bool others = now.has_set_id && !sherd_set_id_equal(&now.set_id, &s->set_id);
	if (changed && now.there && !others)
		return true;
	return !claimed && s->hold.claim.by_ranks && !changed;
}

static void take_back_all(void *arg, bool claimed)
{
	sherd_ckpt_saver *s = arg;
	if (may_be_needed(s, claimed))
		return;
	for (uint32_t r = 0; r < s->world; r++)
		if (s->written[r])
			take_back(s, r);
}

void sherd_ckpt_saver_abort(sherd_ckpt_saver *s)
{
	if (!s)
		return;
	/* Shards first, claim last: whoever finds the claim dead meanwhile finds the rest through it. */
	if (s->holding)
		sherd_ckpt_forsake(&s->hold, take_back_all, s);
	free_saver(s);
}

/* Is our set what stands under the prefix? When nobody can tell, it may be. */
static bool may_be_published(const sherd_ckpt_saver *s, int rc)
{
	ckpt_committed now;
	if (sherd_ckpt_committed(s->store, s->prefix, &now, NULL) < 0)
		return true;
	/* The C# layout has no set id; but nothing was there before, and EEXIST would tell of another's. */
	if (s->options.layout == SHERD_CKPT_LAYOUT_CSHARP)
		return now.there && rc != SHERD_EEXIST;
	return now.there && (!now.readable || (now.has_set_id && sherd_set_id_equal(&now.set_id, &s->set_id)));
}

/* The set is committed: what follows is tidying, which the next save or prune would do as well. */
static void tidy(sherd_ckpt_saver *s)
{
	int rc = SHERD_OK;
	if (s->before.there || s->hold.took_over || s->hold.claim.named_by_set)
		rc = sherd_ckpt_clear_unnamed(s->store, s->prefix, &s->set_id, NULL);
	if (rc == SHERD_OK)
		(void)sherd_ckpt_drop(&s->hold, NULL);
	else
		sherd_ckpt_release(&s->hold);
	free_saver(s);
}

/* Lets the set be as it is. */
static void leave(sherd_ckpt_saver *s)
{
	sherd_ckpt_release(&s->hold);
	free_saver(s);
}

/* Nobody clears a claim that is held: without it, the save was taken over, or others of the set have published. */
static bool has_lost_claim(const sherd_ckpt_saver *s)
{
	bool mine;
	return sherd_ckpt_claimed_by(s->store, s->prefix, &s->set_id, &mine, NULL) == SHERD_OK && !mine;
}

static int taken_over(const sherd_ckpt_saver *s, sherd_error *err)
{
	return sherd_in_object(
		err, sherd_fail(err, SHERD_ECONFLICT, "conflict", "shards of this save were removed by others"),
		s->prefix);
}

/* By a set that was published first, or by what no store takes for an object. */
static int name_is_taken(const sherd_ckpt_saver *s, sherd_error *err)
{
	ckpt_committed now;
	if (sherd_ckpt_committed(s->store, s->prefix, &now, NULL) == SHERD_OK && !now.there)
		return sherd_in_object(err,
		                       sherd_fail(err, SHERD_EEXIST, "exists",
		                                  "a folder, or something else, has the name of the metadata"),
		                       s->prefix);
	return sherd_in_object(err, already_committed(err), s->prefix);
}

int sherd_ckpt_saver_published(sherd_ckpt_saver *s, int rc, bool *committed, sherd_error *err)
{
	if (rc == SHERD_EINCOMPLETE && has_lost_claim(s))
		rc = taken_over(s, err);
	bool refused = rc == SHERD_EEXIST || rc == SHERD_ECONFLICT;
	if (rc == SHERD_EINCOMPLETE) {
		if (committed)
			*committed = false;
		leave(s);
		return SHERD_OK;
	}
	if (rc < 0 && may_be_published(s, rc)) {
		/* Somebody else of the set was first, or the metadata is there but was not synced. Its shards must
		 * stay. */
		if (!refused) {
			leave(s);
			return rc;
		}
	} else if (rc < 0) {
		if (rc == SHERD_EEXIST)
			rc = name_is_taken(s, err);
		sherd_ckpt_saver_abort(s);
		return rc;
	}
	tidy(s);
	if (committed)
		*committed = true;
	return SHERD_OK;
}

static ckpt_publication publication_of(const sherd_ckpt_saver *s)
{
	return (ckpt_publication){
		.store = s->store,
		.prefix = s->prefix,
		.set_id = s->set_id,
		.world = s->world,
		.replaces = s->before.there ? s->before.identity : NULL,
		.pool = s->options.pool,
		.meter = s->meter,
	};
}

static int publish(const sherd_ckpt_saver *s, sherd_error *err)
{
	ckpt_publication p = publication_of(s);
	return sherd_ckpt_publish(&p, err);
}

int sherd_ckpt_saver_finish(sherd_ckpt_saver *s, bool *committed, sherd_error *err)
{
	return sherd_ckpt_saver_published(s, publish(s, err), committed, err);
}

int sherd_ckpt_saver_finish_whole(sherd_ckpt_saver *s, sherd_error *err)
{
	int rc = publish(s, err);
	if (rc == SHERD_EINCOMPLETE)
		rc = taken_over(s, err);
	return sherd_ckpt_saver_published(s, rc, NULL, err);
}

/* There is no claim to publish for: why? */
static int nothing_to_commit(sherd_store *store, const char *prefix, sherd_error *err)
{
	ckpt_committed now;
	TRY(sherd_ckpt_committed(store, prefix, &now, err));
	if (!now.there)
		return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "no save of this name has begun");
	return sherd_fail(err, SHERD_EEXIST, "exists", "%s",
	                  now.readable ? "the checkpoint is committed already"
	                               : "metadata is there, but cannot be read: repair may help");
}

/* Joins the claim, which alone says whether a committed set may be replaced: who commits was not asked. */
static int begin_commit(sherd_ckpt_saver **out, sherd_store *store, const char *prefix, const sherd_ckpt_options *o,
                        sherd_error *err)
{
	sherd_ckpt_claim theirs;
	bool valid = false;
	int rc = sherd_ckpt_read_claim(store, prefix, &theirs, &valid, err);
	if (rc == SHERD_ENOTFOUND)
		return nothing_to_commit(store, prefix, err);
	TRY(rc);
	if (!valid || theirs.removing || theirs.repairing)
		return sherd_fail(err, SHERD_ECONFLICT, "conflict", "the claim is %s",
		                  !valid            ? "damaged"
		                  : theirs.removing ? "a removal's"
		                                    : "a repair's");
	sherd_ckpt_save_options options = {
		.world = theirs.world,
		.set_id = &theirs.set_id,
		.replace = theirs.replace,
		.pool = o->pool,
		.progress = o->progress,
	};
	TRY(sherd_ckpt_saver_begin(out, store, prefix, &options, theirs.by_ranks, NULL, err));
	(*out)->own_meter.total = theirs.world;
	return SHERD_OK;
}

int sherd_ckpt_commit(sherd_store *store, const char *prefix, const sherd_ckpt_options *options, sherd_error *err)
{
	SHERD_AUTO(sherd_ckpt_saver, sherd_ckpt_saver_abort) s = NULL;
	sherd_ckpt_options o = options ? *options : (sherd_ckpt_options){0};
	TRY(sherd_in_object(err, begin_commit(&s, store, prefix, &o, err), prefix));
	ckpt_publication p = publication_of(s);
	p.limits = o.limits;
	p.counts_shards = true;
	int rc = sherd_ckpt_publish(&p, err);
	if (rc == SHERD_EINCOMPLETE) {
		/* The ranks that are missing may still come: their claim stays. */
		sherd_ckpt_release(&s->hold);
		s->holding = false;
		return rc;
	}
	return sherd_ckpt_saver_published(TAKE(s), rc, NULL, err);
}
