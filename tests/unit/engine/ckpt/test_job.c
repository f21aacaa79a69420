#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define POOL SHD_AUTO(sherd_pool, sherd_pool_close)

/* Holds the job when it has saved its first bytes until it is let go. */
typedef struct gate {
	sem_t reached, open;
	bool met;
} gate;

static bool wait_at(void *arg, uint64_t done, uint64_t total)
{
	gate *g = arg;
	(void)total;
	if (done && !g->met) {
		g->met = true;
		(void)sem_post(&g->reached);
		(void)sem_wait(&g->open);
	}
	return true;
}

static void gate_init(gate *g)
{
	g->met = false;
	(void)sem_init(&g->reached, 0, 0);
	(void)sem_init(&g->open, 0, 0);
}

static sherd_ckpt_job *start(sherd_store *store, const ckpt_sample *s, sherd_pool *pool, sherd_ckpt_job_mode mode,
                             const sherd_progress *progress)
{
	sherd_ckpt_job *job = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.pool = pool;
	o.progress = progress;
	assert_ok(sherd_ckpt_save_start(&job, store, "m", s->shards, mode, &o, err));
	return job;
}

static uint64_t total_bytes(const ckpt_sample *s)
{
	uint64_t n = 0;
	for (uint32_t r = 0; r < s->world; r++)
		for (size_t i = 0; i < s->shards[r].count; i++)
			n += s->shards[r].items[i].tensor.bytes;
	return n;
}

TEST(a_job_saves_as_a_call_would)
{
	for (unsigned workers = 1; workers <= 3; workers++)
		for (int mode = SHERD_JOB_COPY; mode <= SHERD_JOB_BORROW; mode++) {
			SAMPLE s = ckpt_sample_full(workers, 3);
			POOL pool = NULL;
			uint64_t done = 0, total = 0;
			assert_ok(sherd_pool_open(&pool, workers, err));
			sherd_ckpt_job *job = start(STORE, s, pool, (sherd_ckpt_job_mode)mode, NULL);
			assert_ok(sherd_ckpt_job_wait(job, err));
			assert_ok(sherd_ckpt_job_wait(job, err));
			assert_true(sherd_ckpt_job_poll(job, &done, &total));
			assert_int_equal(done, total);
			assert_int_equal(total, total_bytes(s));
			sherd_ckpt_job_close(job);
			assert_sample(s, STORE, "m");
			assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
			assert_ok(sherd_store_remove(STORE, "m_shard_0.shard", err));
			assert_ok(sherd_store_remove(STORE, "m_shard_1.shard", err));
			assert_ok(sherd_store_remove(STORE, "m_shard_2.shard", err));
		}
	sherd_ckpt_job_close(NULL);
}

TEST(a_copying_job_keeps_nothing_of_the_callers)
{
	SAMPLE s = ckpt_sample_full(4, 2);
	SAMPLE truth = ckpt_sample_full(4, 2);
	POOL pool = NULL;
	gate g;
	gate_init(&g);
	char strategy[] = "fsdp", prefix[] = "m", field[] = "value";
	sherd_pair pair = {"key", field};
	sherd_set_id id = s->set_id;
	sherd_ckpt_about about = {.strategy = strategy, .fields = &pair, .field_count = 1};
	sherd_ckpt_job *job = NULL;
	assert_ok(sherd_pool_open(&pool, 1, err));
	sherd_ckpt_save_options o = {.world = 2, .set_id = &id, .about = &about, .pool = pool};
	sherd_progress progress = {wait_at, &g};
	o.progress = &progress;
	assert_ok(sherd_ckpt_save_start(&job, STORE, prefix, s->shards, SHERD_JOB_COPY, &o, err));
	(void)sem_wait(&g.reached);
	assert_false(sherd_ckpt_job_poll(job, NULL, NULL));
	/* everything but the progress object is the caller's again */
	for (uint32_t r = 0; r < 2; r++)
		for (size_t i = 0; i < s->shards[r].count; i++) {
			sherd_ckpt_item *item = (sherd_ckpt_item *)&s->shards[r].items[i];
			memset((void *)(uintptr_t)item->data, 0xee, (size_t)item->tensor.bytes);
			memset((void *)(uintptr_t)item->tensor.shape, 0xee, item->tensor.ndim * sizeof(uint64_t));
			memset(item, 0, sizeof(*item));
		}
	memset(strategy, 'x', 4);
	memset(field, 'x', 5);
	memset(&id, 0xee, sizeof(id));
	memset(&about, 0, sizeof(about));
	prefix[0] = 'x';
	o = (sherd_ckpt_save_options){0};
	(void)sem_post(&g.open);
	assert_ok(sherd_ckpt_job_wait(job, err));
	sherd_ckpt_job_close(job);
	assert_sample(truth, STORE, "m");
}

TEST(a_cancelled_job_leaves_nothing)
{
	SAMPLE s = ckpt_sample_full(5, 2);
	POOL pool = NULL;
	gate g;
	gate_init(&g);
	sherd_progress progress = {wait_at, &g};
	assert_ok(sherd_pool_open(&pool, 2, err));
	sherd_ckpt_job *job = start(STORE, s, pool, SHERD_JOB_BORROW, &progress);
	(void)sem_wait(&g.reached);
	sherd_ckpt_job_cancel(job);
	(void)sem_post(&g.open);
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_ckpt_job_wait(job, err));
	assert_true(sherd_ckpt_job_poll(job, NULL, NULL));
	sherd_ckpt_job_close(job);
	assert_keys(STORE, "");
}

TEST(a_job_cancelled_before_it_began_leaves_nothing)
{
	SAMPLE s = ckpt_sample_small(5, 2);
	SAMPLE other = ckpt_sample_small(6, 2);
	POOL pool = NULL;
	gate g;
	gate_init(&g);
	sherd_progress progress = {wait_at, &g};
	assert_ok(sherd_pool_open(&pool, 1, err));
	sherd_ckpt_job *first = start(STORE, s, pool, SHERD_JOB_COPY, &progress);
	(void)sem_wait(&g.reached);
	sherd_ckpt_job *second = start(STORE, other, pool, SHERD_JOB_COPY, NULL);
	sherd_ckpt_job_cancel(second);
	(void)sem_post(&g.open);
	assert_ok(sherd_ckpt_job_wait(first, err));
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_ckpt_job_wait(second, err));
	sherd_ckpt_job_close(first);
	sherd_ckpt_job_close(second);
	assert_sample(s, STORE, "m");
}

static bool stop_now(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return false;
}

TEST(the_copying_before_a_job_can_be_cancelled)
{
	SAMPLE s = ckpt_sample_small(5, 2);
	POOL pool = NULL;
	sherd_progress stop = {.update = stop_now};
	sherd_ckpt_job *job = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	assert_ok(sherd_pool_open(&pool, 1, err));
	o.pool = pool;
	o.progress = &stop;
	assert_refused(SHERD_ECANCELLED, "cancelled",
	               sherd_ckpt_save_start(&job, STORE, "m", s->shards, SHERD_JOB_COPY, &o, err));
	assert_null(job);
	assert_keys(STORE, "");
}

static sherd_ckpt_job *start_staged(sherd_store *store, const char *prefix, const ckpt_sample *s, sherd_pool *pool,
                                    sherd_ckpt_staging *staging)
{
	sherd_ckpt_job *job = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.pool = pool;
	o.staging = staging;
	assert_ok(sherd_ckpt_save_start(&job, store, prefix, s->shards, SHERD_JOB_COPY, &o, err));
	return job;
}

TEST(copies_go_into_the_same_memory_again)
{
	SAMPLE large = ckpt_sample_full(5, 2);
	SAMPLE small = ckpt_sample_small(6, 2);
	POOL pool = NULL;
	sherd_ckpt_staging *staging = NULL;
	assert_ok(sherd_pool_open(&pool, 2, err));
	assert_ok(sherd_ckpt_staging_open(&staging, err));
	assert_int_equal(sherd_ckpt_staging_bytes(staging), 0);
	uint64_t most = 0;
	for (int i = 0; i < 6; i++) {
		const ckpt_sample *s = i % 2 ? small : large;
		char prefix[8];
		(void)snprintf(prefix, sizeof(prefix), "m%d", i);
		sherd_ckpt_job *job = start_staged(STORE, prefix, s, pool, staging);
		assert_ok(sherd_ckpt_job_wait(job, err));
		sherd_ckpt_job_close(job);
		assert_sample(s, STORE, prefix);
		most = most ? most : sherd_ckpt_staging_bytes(staging);
		assert_true(most >= total_bytes(large));
		assert_int_equal(sherd_ckpt_staging_bytes(staging), most); /* it does not grow */
	}
	sherd_ckpt_staging_close(staging);
	sherd_ckpt_staging_close(NULL);
}

TEST(one_job_has_the_staging_at_a_time)
{
	SAMPLE s = ckpt_sample_small(5, 2);
	POOL pool = NULL;
	sherd_ckpt_staging *staging = NULL;
	sherd_ckpt_job *job = NULL, *other = NULL;
	gate g;
	gate_init(&g);
	sherd_progress progress = {wait_at, &g};
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	assert_ok(sherd_pool_open(&pool, 2, err));
	assert_ok(sherd_ckpt_staging_open(&staging, err));
	o.pool = pool;
	o.staging = staging;
	o.progress = &progress;
	assert_ok(sherd_ckpt_save_start(&job, STORE, "a", s->shards, SHERD_JOB_COPY, &o, err));
	(void)sem_wait(&g.reached);
	o.progress = NULL;
	assert_refused(SHERD_ECONFLICT, "conflict",
	               sherd_ckpt_save_start(&other, STORE, "b", s->shards, SHERD_JOB_COPY, &o, err));
	(void)sem_post(&g.open);
	assert_ok(sherd_ckpt_job_wait(job, err));
	/* free again when the job is finished, before it is closed */
	other = start_staged(STORE, "b", s, pool, staging);
	assert_ok(sherd_ckpt_job_wait(other, err));
	sherd_ckpt_job_close(job);
	sherd_ckpt_job_close(other);
	assert_sample(s, STORE, "a");
	assert_sample(s, STORE, "b");
	sherd_ckpt_staging_close(staging);
}

static int read_letters(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	uint64_t *next = arg;
	assert_int_equal(offset, *next); /* in order, by one thread at a time */
	memset(buf, 'r', len);
	*next += len;
	(void)err;
	return SHERD_OK;
}

/* Larger than what one worker copies at once. */
TEST(large_tensors_are_copied_in_parts)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	POOL pool = NULL;
	uint64_t bytes = (40u << 20) + 7, next = 0, read = (33u << 20) + 5;
	uint8_t *data = malloc(bytes), *got = malloc(bytes);
	sherd_ckpt_item items[] = {
		{.tensor = {"a", SHERD_U8, 1, &bytes, 0}, .data = data},
		{.tensor = {"r", SHERD_U8, 1, &read, 0}, .read = read_letters, .arg = &next},
		{.tensor = {"none", SHERD_U8, 1, &(uint64_t){0}, 0}},
	};
	sherd_ckpt_shard_items shard = {items, 3};
	sherd_ckpt_job *job = NULL;
	assert_true(data && got);
	for (uint64_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(i * 31 >> 5);
	assert_ok(sherd_pool_open(&pool, 3, err));
	sherd_ckpt_save_options o = {.pool = pool};
	assert_ok(sherd_ckpt_save_start(&job, STORE, "m", &shard, SHERD_JOB_COPY, &o, err));
	assert_int_equal(next, read);
	assert_ok(sherd_ckpt_job_wait(job, err));
	sherd_ckpt_job_close(job);
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_ok(sherd_ckpt_read(c, 0, 0, got, bytes, err));
	assert_memory_equal(got, data, bytes);
	assert_ok(sherd_ckpt_read(c, 1, 0, got, read, err));
	memset(data, 'r', read);
	assert_memory_equal(got, data, read);
	free(data);
	free(got);
}

TEST(closing_without_waiting_finishes_the_save)
{
	SAMPLE s = ckpt_sample_full(6, 2);
	POOL pool = NULL;
	assert_ok(sherd_pool_open(&pool, 2, err));
	sherd_ckpt_job_close(start(STORE, s, pool, SHERD_JOB_COPY, NULL));
	assert_sample(s, STORE, "m");
}

TEST(a_job_reports_its_failure)
{
	SAMPLE s = ckpt_sample_small(7, 1);
	SAMPLE old = ckpt_sample_small(8, 1);
	POOL pool = NULL;
	assert_ok(sherd_pool_open(&pool, 2, err));
	assert_ok(ckpt_sample_save(old, STORE, "m", err));
	sherd_ckpt_job *job = start(STORE, s, pool, SHERD_JOB_COPY, NULL);
	assert_refused(SHERD_EEXIST, "exists", sherd_ckpt_job_wait(job, err));
	sherd_ckpt_job_close(job);
	assert_sample(old, STORE, "m");
}

TEST(what_cannot_be_saved_is_refused_at_the_start)
{
	SAMPLE s = ckpt_sample_small(7, 1);
	POOL pool = NULL;
	sherd_ckpt_job *job = NULL;
	uint64_t n = 1;
	sherd_ckpt_item bad = {.tensor = {"x", SHERD_U8, 1, &n, 0}};
	sherd_ckpt_shard_items shard = {&bad, 1};
	assert_ok(sherd_pool_open(&pool, 2, err));
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_save_start(&job, STORE, "m", s->shards, SHERD_JOB_COPY, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_save_start(&job, STORE, "m", &shard, SHERD_JOB_COPY,
	                                     &(sherd_ckpt_save_options){.pool = pool}, err));
	assert_keys(STORE, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(a_job_saves_as_a_call_would),
		CASE_ON_BOTH(a_copying_job_keeps_nothing_of_the_callers),
		CASE_ON_BOTH(a_cancelled_job_leaves_nothing),
		CASE_ON_BOTH(a_job_cancelled_before_it_began_leaves_nothing),
		CASE_ON_BOTH(the_copying_before_a_job_can_be_cancelled),
		CASE_ON_BOTH(copies_go_into_the_same_memory_again),
		CASE_ON_BOTH(one_job_has_the_staging_at_a_time),
		CASE_IN_MEMORY(large_tensors_are_copied_in_parts),
		CASE_ON_BOTH(closing_without_waiting_finishes_the_save),
		CASE_ON_BOTH(a_job_reports_its_failure),
		CASE_IN_MEMORY(what_cannot_be_saved_is_refused_at_the_start),
	};
	return cmocka_run_group_tests_name("ckpt_job", tests, NULL, NULL);
}
