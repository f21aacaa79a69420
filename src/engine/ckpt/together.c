/* engine/ckpt/together.c - a set saved by a group: rank 0 claims, the others join, all write, and when every shard is
 * durable rank 0 publishes. README.md has the crash argument. */
#include "engine/ckpt/together.h"

#include "base/group.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/saver.h"

#include <stdlib.h>
#include <string.h>

/* What rank 0 decides for all. */
typedef struct decided {
	sherd_set_id set_id;
	int64_t time_ns;
} decided;

typedef struct together {
	sherd_group *group;
	sherd_ckpt_saver *saver; /* NULL: this process has none */
	sherd_ckpt_save_options options;
	ckpt_manner manner;
	decided all;
	shd_part *parts; /* of all ranks */
} together;

static int decide(together *t, sherd_error *err)
{
	sherd_ckpt_save_options *o = &t->options;
	const sherd_set_id *given = o->set_id;
	int rc = SHERD_OK;
	t->all.time_ns = o->time_ns;
	if (given)
		t->all.set_id = *given;
	else if (t->group->rank == 0)
		rc = sherd_set_id_random(&t->all.set_id, err);
	TRY(sherd_group_share(t->group, rc, 0, &t->all, sizeof(t->all), err));
	if (given && !shd_set_id_equal(given, &t->all.set_id))
		rc = shd_fail(err, SHERD_EINVAL, "bad-argument", "rank 0 was given another set id");
	t->manner.may_repeat = given;
	o->set_id = &t->all.set_id;
	o->time_ns = t->all.time_ns;
	return sherd_group_agree(t->group, rc, err);
}

/* Rank 0 makes the claim, so that nobody has to lose a race for it; the others find it there. */
static int claim_together(together *t, sherd_store *store, const char *prefix, shd_meter *meter, sherd_error *err)
{
	bool first = t->group->rank == 0;
	int rc = SHERD_OK;
	if (first)
		rc = shd_ckpt_saver_start(&t->saver, store, prefix, &t->options, &t->manner, meter, err);
	TRY(sherd_group_agree(t->group, rc, err));
	t->options.take_over = false;
	if (!first)
		rc = shd_ckpt_saver_start(&t->saver, store, prefix, &t->options, &t->manner, meter, err);
	return sherd_group_agree(t->group, rc, err);
}

/* Rank 0 learns of every shard, so that it can take all of them back; then the others let go of the claim, and are
 * through: what becomes of the set is rank 0's from here on. */
static int hand_over(together *t, sherd_error *err)
{
	static const shd_part none = {.there = false};
	sherd_group *g = t->group;
	uint8_t done = 1;
	if (g->broken)
		return SHERD_OK;
	TRY(shd_group_gather(g, t->saver ? &t->saver->written[g->rank] : &none, sizeof(none), t->parts, err));
	if (t->saver && g->rank == 0)
		memcpy(t->saver->written, t->parts, g->size * sizeof(*t->parts));
	if (t->saver && g->rank) {
		if (t->saver->holding)
			shd_claim_leave(&t->saver->hold.held);
		shd_ckpt_saver_free(TAKE(t->saver));
	}
	/* Rank 0 waits for that. parts has room, and is not needed any more. */
	return shd_group_gather(g, &done, sizeof(done), t->parts, err);
}

static int write_together(together *t, const sherd_ckpt_shard_items *shard, sherd_ckpt_save_result *out,
                          sherd_error *err)
{
	ckpt_found found = CKPT_FOUND_NONE;
	int rc = shd_ckpt_saver_write(t->saver, t->group->rank, shard->items, shard->count, NULL, &found, err);
	out->repeated = found == CKPT_FOUND_SAME;
	out->rewritten = found == CKPT_FOUND_DAMAGED;
	return sherd_group_agree(t->group, rc, err);
}

/* Between two agreements each process works by itself. */
static int work_together(together *t, sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shard,
                         shd_meter *meter, sherd_ckpt_save_result *out, sherd_error *err)
{
	int rc = claim_together(t, store, prefix, meter, err);
	if (rc == SHERD_OK)
		rc = write_together(t, shard, out, err);
	int handed = hand_over(t, rc < 0 ? NULL : err);
	if (rc < 0 || handed < 0) {
		sherd_ckpt_saver_abort(TAKE(t->saver));
		return rc < 0 ? rc : handed;
	}
	if (t->saver)
		rc = t->saver->settled ? sherd_ckpt_saver_finish(TAKE(t->saver), NULL, err)
		                       : shd_ckpt_saver_finish_whole(TAKE(t->saver), err);
	TRY(sherd_group_agree(t->group, rc, err));
	out->committed = true;
	return SHERD_OK;
}

int shd_ckpt_save_together(sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shard,
                           const char *source, const sherd_ckpt_save_options *options, shd_meter *meter,
                           sherd_ckpt_save_result *out, sherd_error *err)
{
	together t = {.group = options->group, .options = *options, .manner = {.source = source}};
	SHD_AUTO_FREE shd_part *parts = calloc(t.group->size, sizeof(*parts));
	if (!parts)
		return shd_fail_nomem(err);
	t.parts = parts;
	TRY(decide(&t, err));
	return work_together(&t, store, prefix, shard, meter, out, err);
}
