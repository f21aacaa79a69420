/* engine/ckpt/job.c - saving in the background. */
#include "engine/ckpt/save.h"
#include "engine/ckpt/staging.h"

#include "base/arena.h"
#include "base/pool.h"
#include "engine/ckpt/write.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct sherd_ckpt_job {
	sherd_store *store;
	char *prefix;
	sherd_ckpt_save_options options;
	sherd_set_id set_id;
	sherd_ckpt_about about;
	sherd_ckpt_shard_items *shards;
	bool alone; /* the shard of this rank only */
	uint32_t rank;
	sherd_ckpt_save_result saved;
	shd_arena arena;             /* descriptions */
	sherd_ckpt_staging *staging; /* in copy mode: has the bytes */
	sherd_ckpt_staging *own_staging;
	bool staged;
	shd_meter meter;
	sherd_progress progress; /* ours: asks the caller's, and the cancel flag */
	_Atomic bool cancel;
	shd_pool_later later;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	bool finished;
	int rc;
	sherd_error err;
};

static const char *keep_text(sherd_ckpt_job *j, const char *text, bool *ok)
{
	if (!text)
		return NULL;
	const char *copy = shd_arena_str(&j->arena, shd_str_of(text));
	*ok = *ok && copy;
	return copy;
}

static const void *job_keep(sherd_ckpt_job *j, const void *bytes, uint64_t len, bool *ok)
{
	if (!bytes)
		return NULL;
	const void *copy = shd_arena_copy(&j->arena, bytes, len);
	*ok = *ok && copy;
	return copy;
}

static bool keep_about(sherd_ckpt_job *j, const sherd_ckpt_about *a)
{
	bool ok = true;
	j->about = *a;
	j->about.strategy = keep_text(j, a->strategy, &ok);
	j->about.precision = keep_text(j, a->precision, &ok);
	j->about.strategy_info = keep_text(j, a->strategy_info, &ok);
	j->about.optimizer_type = keep_text(j, a->optimizer_type, &ok);
	j->about.optimizer_state = keep_text(j, a->optimizer_state, &ok);
	j->about.extra = keep_text(j, a->extra, &ok);
	j->about.sharding_extra = keep_text(j, a->sharding_extra, &ok);
	j->about.training_extra = keep_text(j, a->training_extra, &ok);
	sherd_pair *pairs = shd_arena_alloc(&j->arena, a->field_count + 1, sizeof(*pairs));
	if (!pairs)
		return false;
	for (size_t i = 0; i < a->field_count; i++) {
		pairs[i].key = keep_text(j, a->fields[i].key, &ok);
		pairs[i].value = keep_text(j, a->fields[i].value, &ok);
	}
	j->about.fields = pairs;
	return ok;
}

static int keep_item(sherd_ckpt_job *j, const sherd_ckpt_item *from, sherd_ckpt_item *to, sherd_error *err)
{
	uint64_t dims = from->tensor.ndim * sizeof(uint64_t);
	bool ok = true;
	*to = *from;
	to->tensor.name = keep_text(j, from->tensor.name, &ok);
	to->tensor.type_name = keep_text(j, from->tensor.type_name, &ok);
	to->tensor.shape = job_keep(j, from->tensor.shape, dims, &ok);
	to->global_shape = job_keep(j, from->global_shape, dims, &ok);
	to->global_offset = job_keep(j, from->global_offset, dims, &ok);
	to->extra = keep_text(j, from->extra, &ok);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

/* The caller waits for it, so it can be cancelled too. */
static int copy_bytes(sherd_ckpt_job *j, sherd_ckpt_item *const *items, size_t count, sherd_error *err)
{
	j->staging = j->options.staging;
	if (!j->staging) {
		TRY(sherd_ckpt_staging_open(&j->own_staging, err));
		j->staging = j->own_staging;
	}
	TRY(shd_ckpt_stage(j->staging, items, count, j->options.pool, &j->meter, err));
	j->staged = true;
	return SHERD_OK;
}

static int keep_shards(sherd_ckpt_job *j, const sherd_ckpt_shard_items *shards, uint32_t shard_count, bool copy,
                       sherd_error *err)
{
	size_t count = 0, n = 0;
	for (uint32_t r = 0; r < shard_count; r++)
		count += shards[r].count;
	j->shards = shd_arena_alloc(&j->arena, shard_count, sizeof(*j->shards));
	sherd_ckpt_item *items = shd_arena_alloc(&j->arena, count + 1, sizeof(*items));
	sherd_ckpt_item **all = shd_arena_alloc(&j->arena, count + 1, sizeof(*all));
	if (!j->shards || !items || !all)
		return shd_fail_nomem(err);
	for (uint32_t r = 0; r < shard_count; r++) {
		j->shards[r] = (sherd_ckpt_shard_items){items + n, shards[r].count};
		for (size_t i = 0; i < shards[r].count; i++, n++) {
			all[n] = &items[n];
			TRY(keep_item(j, &shards[r].items[i], all[n], err));
		}
	}
	return copy ? copy_bytes(j, all, count, err) : SHERD_OK;
}

static bool ask(void *arg, uint64_t done, uint64_t total)
{
	sherd_ckpt_job *j = arg;
	const sherd_progress *theirs = j->options.progress;
	return !atomic_load(&j->cancel) && (!theirs || !theirs->update || theirs->update(theirs->arg, done, total));
}

static void job_run(void *arg)
{
	sherd_ckpt_job *j = arg;
	sherd_error err = {0};
	int rc = shd_meter_add(&j->meter, 0, &err);
	if (rc == SHERD_OK && j->alone)
		rc = shd_ckpt_save_rank_metered(j->store, j->prefix, j->rank, j->shards, NULL, &j->options, &j->meter,
		                                &j->saved, &err);
	else if (rc == SHERD_OK)
		rc = shd_ckpt_save_metered(j->store, j->prefix, j->shards, &j->options, &j->meter, &err);
	if (j->staged)
		shd_ckpt_unstage(j->staging);
	j->staged = false;
	(void)pthread_mutex_lock(&j->lock);
	j->rc = rc;
	j->err = err;
	j->finished = true;
	(void)pthread_cond_broadcast(&j->changed);
	(void)pthread_mutex_unlock(&j->lock);
}

static void free_job(sherd_ckpt_job *j)
{
	shd_meter_done(&j->meter);
	(void)pthread_cond_destroy(&j->changed);
	(void)pthread_mutex_destroy(&j->lock);
	if (j->staged)
		shd_ckpt_unstage(j->staging);
	sherd_ckpt_staging_close(j->own_staging);
	shd_arena_done(&j->arena);
	free(j->prefix);
	free(j);
}

static int job_prepare(sherd_ckpt_job *j, const char *prefix, const sherd_ckpt_shard_items *shards,
                       uint32_t shard_count, sherd_ckpt_job_mode mode, sherd_error *err)
{
	bool csharp = j->options.layout == SHERD_CKPT_LAYOUT_CSHARP;
	TRY(shd_ckpt_items_check(shards, shard_count, csharp, err));
	j->prefix = strdup(prefix);
	if (!j->prefix || (j->options.about && !keep_about(j, j->options.about)))
		return shd_fail_nomem(err);
	if (j->options.about)
		j->options.about = &j->about;
	if (j->options.set_id) {
		j->set_id = *j->options.set_id;
		j->options.set_id = &j->set_id;
	}
	j->meter.total = shd_ckpt_total_bytes(shards, shard_count);
	j->saved = (sherd_ckpt_save_result){.committed = !j->alone, .bytes = j->meter.total};
	for (uint32_t r = 0; r < shard_count; r++)
		j->saved.tensors += shards[r].count;
	return keep_shards(j, shards, shard_count, mode == SHERD_JOB_COPY, err);
}

static int start(sherd_ckpt_job **out, sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shards,
                 const uint32_t *rank, sherd_ckpt_job_mode mode, const sherd_ckpt_save_options *options,
                 sherd_error *err)
{
	uint32_t world = options && options->world ? options->world : 1;
	if (!options || !options->pool)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "saving in the background needs a pool");
	if (options->group)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a group does not save in the background");
	TRY(shd_ckpt_rank_check(rank ? *rank : 0, world, err));
	sherd_ckpt_job *j = calloc(1, sizeof(*j));
	if (!j)
		return shd_fail_nomem(err);
	j->store = store;
	j->options = *options;
	j->alone = rank != NULL;
	j->rank = rank ? *rank : 0;
	j->progress = (sherd_progress){.update = ask, .arg = j};
	shd_meter_init(&j->meter, &j->progress, 0);
	(void)pthread_mutex_init(&j->lock, NULL);
	(void)pthread_cond_init(&j->changed, NULL);
	int rc = job_prepare(j, prefix, shards, rank ? 1 : world, mode, err);
	if (rc < 0) {
		free_job(j);
		return rc;
	}
	j->later = (shd_pool_later){.fn = job_run, .arg = j};
	shd_pool_submit(options->pool, &j->later);
	*out = j;
	return SHERD_OK;
}

int sherd_ckpt_save_start(sherd_ckpt_job **out, sherd_store *store, const char *prefix,
                          const sherd_ckpt_shard_items *shards, sherd_ckpt_job_mode mode,
                          const sherd_ckpt_save_options *options, sherd_error *err)
{
	return start(out, store, prefix, shards, NULL, mode, options, err);
}

int sherd_ckpt_save_rank_start(sherd_ckpt_job **out, sherd_store *store, const char *prefix, uint32_t rank,
                               const sherd_ckpt_item *items, size_t count, sherd_ckpt_job_mode mode,
                               const sherd_ckpt_save_options *options, sherd_error *err)
{
	return start(out, store, prefix, &(sherd_ckpt_shard_items){items, count}, &rank, mode, options, err);
}

bool sherd_ckpt_job_poll(const sherd_ckpt_job *job, uint64_t *done, uint64_t *total)
{
	sherd_ckpt_job *j = (sherd_ckpt_job *)job; /* only its lock is changed */
	if (done)
		*done = atomic_load(&j->meter.done);
	if (total)
		*total = j->meter.total;
	(void)pthread_mutex_lock(&j->lock);
	bool finished = j->finished;
	(void)pthread_mutex_unlock(&j->lock);
	return finished;
}

void sherd_ckpt_job_cancel(sherd_ckpt_job *job)
{
	atomic_store(&job->cancel, true);
}

int sherd_ckpt_job_wait(sherd_ckpt_job *j, sherd_error *err)
{
	(void)pthread_mutex_lock(&j->lock);
	while (!j->finished)
		(void)pthread_cond_wait(&j->changed, &j->lock);
	int rc = j->rc;
	if (rc < 0 && err)
		*err = j->err;
	(void)pthread_mutex_unlock(&j->lock);
	return rc;
}

const sherd_ckpt_save_result *sherd_ckpt_job_result(const sherd_ckpt_job *job)
{
	sherd_ckpt_job *j = (sherd_ckpt_job *)job; /* only its lock is changed */
	(void)pthread_mutex_lock(&j->lock);
	bool good = j->finished && j->rc == SHERD_OK;
	(void)pthread_mutex_unlock(&j->lock);
	return good ? &j->saved : NULL;
}

void sherd_ckpt_job_close(sherd_ckpt_job *j)
{
	if (!j)
		return;
	(void)sherd_ckpt_job_wait(j, NULL);
	free_job(j);
}
