/* engine/ckpt/job.c - saving in the background. */
#include "engine/ckpt/save.h"

#include "base/arena.h"
#include "base/pool.h"
#include "engine/ckpt/write.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What is copied between two questions whether to go on. */
#define COPY_BYTES ((size_t)64 << 20)

struct sherd_ckpt_job {
	sherd_store *store;
	char *prefix;
	sherd_ckpt_save_options options;
	sherd_set_id set_id;
	sherd_ckpt_about about;
	sherd_ckpt_shard_items *shards;
	uint32_t world;
	sherd_arena arena; /* descriptions, and in copy mode the bytes */
	sherd_meter meter;
	sherd_progress progress; /* ours: asks the caller's, and the cancel flag */
	_Atomic bool cancel;
	sherd_pool_later later;
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
	const char *copy = sherd_arena_str(&j->arena, sherd_str_of(text));
	*ok = *ok && copy;
	return copy;
}

static const void *keep(sherd_ckpt_job *j, const void *bytes, uint64_t len, bool *ok)
{
	if (!bytes)
		return NULL;
	const void *copy = sherd_arena_copy(&j->arena, bytes, len);
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
	sherd_pair *pairs = sherd_arena_alloc(&j->arena, a->field_count + 1, sizeof(*pairs));
	if (!pairs)
		return false;
	for (size_t i = 0; i < a->field_count; i++) {
		pairs[i].key = keep_text(j, a->fields[i].key, &ok);
		pairs[i].value = keep_text(j, a->fields[i].value, &ok);
	}
	j->about.fields = pairs;
	return ok;
}

/* The caller waits for it, so it can be cancelled too; it counts nothing, since nothing is saved yet. */
static int copy_bytes(sherd_ckpt_job *j, sherd_ckpt_item *item, sherd_error *err)
{
	uint64_t bytes = sherd_ckpt_item_bytes(item);
	if (!bytes)
		return SHERD_OK;
	uint8_t *copy = sherd_arena_alloc(&j->arena, bytes, 1);
	if (!copy)
		return sherd_fail_nomem(err);
	for (uint64_t at = 0; at < bytes; at += COPY_BYTES) {
		size_t n = bytes - at < COPY_BYTES ? (size_t)(bytes - at) : COPY_BYTES;
		TRY(sherd_meter_ask(&j->meter, err));
		if (item->data)
			memcpy(copy + at, (const uint8_t *)item->data + at, n);
		else
			TRY(item->read(item->arg, at, copy + at, n, err));
	}
	item->data = copy;
	item->read = NULL;
	return SHERD_OK;
}

static int keep_item(sherd_ckpt_job *j, const sherd_ckpt_item *from, sherd_ckpt_item *to, bool copy, sherd_error *err)
{
	uint64_t dims = from->tensor.ndim * sizeof(uint64_t);
	bool ok = true;
	*to = *from;
	to->tensor.name = keep_text(j, from->tensor.name, &ok);
	to->tensor.shape = keep(j, from->tensor.shape, dims, &ok);
	to->global_shape = keep(j, from->global_shape, dims, &ok);
	to->global_offset = keep(j, from->global_offset, dims, &ok);
	to->extra = keep_text(j, from->extra, &ok);
	if (!ok)
		return sherd_fail_nomem(err);
	return copy ? copy_bytes(j, to, err) : SHERD_OK;
}

static int keep_shards(sherd_ckpt_job *j, const sherd_ckpt_shard_items *shards, bool copy, sherd_error *err)
{
	j->shards = sherd_arena_alloc(&j->arena, j->world, sizeof(*j->shards));
	if (!j->shards)
		return sherd_fail_nomem(err);
	for (uint32_t r = 0; r < j->world; r++) {
		sherd_ckpt_item *items = sherd_arena_alloc(&j->arena, shards[r].count + 1, sizeof(*items));
		if (!items)
			return sherd_fail_nomem(err);
		for (size_t i = 0; i < shards[r].count; i++)
			TRY(keep_item(j, &shards[r].items[i], &items[i], copy, err));
		j->shards[r] = (sherd_ckpt_shard_items){items, shards[r].count};
	}
	return SHERD_OK;
}

static bool ask(void *arg, uint64_t done, uint64_t total)
{
	sherd_ckpt_job *j = arg;
	const sherd_progress *theirs = j->options.progress;
	return !atomic_load(&j->cancel) && (!theirs || !theirs->update || theirs->update(theirs->arg, done, total));
}

static void run(void *arg)
{
	sherd_ckpt_job *j = arg;
	sherd_error err = {0};
	int rc = sherd_meter_add(&j->meter, 0, &err);
	if (rc == SHERD_OK)
		rc = sherd_ckpt_save_metered(j->store, j->prefix, j->shards, &j->options, &j->meter, &err);
	(void)pthread_mutex_lock(&j->lock);
	j->rc = rc;
	j->err = err;
	j->finished = true;
	(void)pthread_cond_broadcast(&j->changed);
	(void)pthread_mutex_unlock(&j->lock);
}

static void free_job(sherd_ckpt_job *j)
{
	sherd_meter_done(&j->meter);
	(void)pthread_cond_destroy(&j->changed);
	(void)pthread_mutex_destroy(&j->lock);
	sherd_arena_done(&j->arena);
	free(j->prefix);
	free(j);
}

static int prepare(sherd_ckpt_job *j, const char *prefix, const sherd_ckpt_shard_items *shards,
                   sherd_ckpt_job_mode mode, sherd_error *err)
{
	bool csharp = j->options.layout == SHERD_CKPT_LAYOUT_CSHARP;
	for (uint32_t r = 0; r < j->world; r++)
		TRY(sherd_ckpt_items_check(shards[r].items, shards[r].count, csharp, err));
	j->prefix = strdup(prefix);
	if (!j->prefix || (j->options.about && !keep_about(j, j->options.about)))
		return sherd_fail_nomem(err);
	if (j->options.about)
		j->options.about = &j->about;
	if (j->options.set_id) {
		j->set_id = *j->options.set_id;
		j->options.set_id = &j->set_id;
	}
	j->meter.total = sherd_ckpt_total_bytes(shards, j->world);
	return keep_shards(j, shards, mode == SHERD_JOB_COPY, err);
}

int sherd_ckpt_save_start(sherd_ckpt_job **out, sherd_store *store, const char *prefix,
                          const sherd_ckpt_shard_items *shards, sherd_ckpt_job_mode mode,
                          const sherd_ckpt_save_options *options, sherd_error *err)
{
	if (!options || !options->pool)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "saving in the background needs a pool");
	sherd_ckpt_job *j = calloc(1, sizeof(*j));
	if (!j)
		return sherd_fail_nomem(err);
	j->store = store;
	j->options = *options;
	j->world = options->world ? options->world : 1;
	j->progress = (sherd_progress){.update = ask, .arg = j};
	sherd_meter_init(&j->meter, &j->progress, 0);
	(void)pthread_mutex_init(&j->lock, NULL);
	(void)pthread_cond_init(&j->changed, NULL);
	int rc = prepare(j, prefix, shards, mode, err);
	if (rc < 0) {
		free_job(j);
		return rc;
	}
	j->later = (sherd_pool_later){.fn = run, .arg = j};
	sherd_pool_submit(options->pool, &j->later);
	*out = j;
	return SHERD_OK;
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

void sherd_ckpt_job_close(sherd_ckpt_job *j)
{
	if (!j)
		return;
	(void)sherd_ckpt_job_wait(j, NULL);
	free_job(j);
}
