/* Ranks that save what they hold, one call each. */
#include "support/ckpt_place.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/ckpt.h>

#include <pthread.h>
#include <string.h>
#include <time.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)

#define POOL SHD_AUTO(sherd_pool, sherd_pool_close)
#define DIMS(...) ((const uint64_t[]){__VA_ARGS__})

static const sherd_set_id set = {{1, 2, 3}}, other_set = {{9}};

static int save(sherd_store *store, uint32_t rank, const sherd_ckpt_item *items, size_t count, int64_t time_ns,
                sherd_ckpt_save_result *saved, sherd_error *err)
{
	sherd_ckpt_save_options o = {.world = 2, .set_id = &set, .time_ns = time_ns};
	return sherd_ckpt_save_rank(store, "m", rank, items, count, &o, saved, err);
}

static const sherd_ckpt_item mine[] = {
	{.tensor = {"a", SHERD_U8, 1, DIMS(4), 0}, .data = "aaaa"},
	{.tensor = {"common", SHERD_U8, 1, DIMS(4), 0}, .data = "same"},
};
static const sherd_ckpt_item theirs[] = {
	{.tensor = {"b", SHERD_U8, 1, DIMS(4), 0}, .data = "bbbb"},
	{.tensor = {"common", SHERD_U8, 1, DIMS(4), 0}, .data = "same"},
};

static void assert_value(const sherd_ckpt *c, const char *name, const char *want)
{
	char got[8] = "";
	size_t at = sherd_ckpt_find(c, name);
	assert_true(at != SHERD_NO_TENSOR);
	assert_ok(sherd_ckpt_read(c, at, 0, got, strlen(want), err));
	assert_string_equal(got, want);
}

TEST(every_rank_saves_what_it_holds)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	sherd_ckpt_save_result saved;
	assert_ok(save(STORE, 1, theirs, 2, 5, &saved, err));
	assert_true(!saved.committed && !saved.repeated && saved.tensors == 2 && saved.bytes == 8);
	assert_ok(save(STORE, 0, mine, 2, 7, &saved, err));
	assert_true(saved.committed && !saved.repeated);
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_int_equal(sherd_ckpt_count(c), 3);
	assert_value(c, "a", "aaaa");
	assert_value(c, "b", "bbbb");
	assert_value(c, "common", "same");
}

/* A rank that was killed and is started again, before the commit and after it, at another time of the day. */
TEST(a_rank_may_save_the_same_again)
{
	sherd_ckpt_save_result saved;
	assert_ok(save(STORE, 0, mine, 2, 1, NULL, err));
	assert_ok(save(STORE, 0, mine, 2, 2, &saved, err));
	assert_true(saved.repeated && !saved.committed);
	assert_ok(save(STORE, 1, theirs, 2, 3, &saved, err));
	assert_true(saved.committed && !saved.repeated);
	for (uint32_t r = 0; r < 2; r++) {
		assert_ok(save(STORE, r, r ? theirs : mine, 2, 4, &saved, err));
		assert_true(saved.repeated && saved.committed && saved.tensors == 2);
	}
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
}

TEST(a_rank_that_saves_something_else_again_is_refused)
{
	sherd_ckpt_item other[] = {mine[0], mine[1]};
	other[0].data = "aaab";
	assert_ok(save(STORE, 0, mine, 2, 1, NULL, err));
	assert_refused(SHERD_ECONFLICT, "conflict", save(STORE, 0, other, 2, 1, NULL, err));
	assert_refused(SHERD_ECONFLICT, "conflict", save(STORE, 0, mine, 1, 1, NULL, err));
	assert_ok(save(STORE, 1, theirs, 2, 1, NULL, err));
	assert_refused(SHERD_ECONFLICT, "conflict", save(STORE, 0, other, 2, 1, NULL, err));
	assert_refused(SHERD_ECONFLICT, "conflict", save(STORE, 1, mine, 2, 1, NULL, err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
}

TEST(a_rank_of_a_replacement_may_come_again)
{
	sherd_ckpt_save_options o = {.world = 2, .set_id = &other_set, .replace = true};
	sherd_ckpt_save_result saved;
	assert_ok(save(STORE, 0, mine, 2, 1, NULL, err));
	assert_ok(save(STORE, 1, theirs, 2, 1, NULL, err));
	for (int again = 0; again < 2; again++)
		for (uint32_t r = 0; r < 2; r++) {
			assert_ok(sherd_ckpt_save_rank(STORE, "m", r, r ? theirs : mine, 2, &o, &saved, err));
			assert_int_equal(saved.repeated, again);
			assert_int_equal(saved.committed, again || r);
		}
	/* the set that was replaced is another one's past */
	assert_refused(SHERD_EEXIST, "exists", save(STORE, 0, mine, 2, 1, NULL, err));
}

TEST(replicas_with_other_bytes_are_refused_when_the_last_rank_comes)
{
	sherd_ckpt_item other[] = {theirs[0], theirs[1]};
	sherd_error e = {0};
	other[1].data = "samf";
	assert_ok(save(STORE, 0, mine, 2, 1, NULL, err));
	assert_int_equal(save(STORE, 1, other, 2, 1, NULL, &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "replica-mismatch");
	assert_non_null(strstr(e.message, "'common': ranks 0 and 1"));
	assert_keys(STORE, "m.saving m_shard_0.shard m_shard_1.shard");
	assert_refused(SHERD_ECORRUPT, "replica-mismatch", sherd_ckpt_commit(STORE, "m", NULL, err));
	assert_keys(STORE, "m.saving m_shard_0.shard m_shard_1.shard");
	/* by the way that the message tells */
	sherd_ckpt_save_options o = {.world = 2, .set_id = &other_set, .take_over = true};
	for (uint32_t r = 0; r < 2; r++)
		assert_ok(sherd_ckpt_save_rank(STORE, "m", r, r ? theirs : mine, 2, &o, NULL, err));
	assert_int_equal(object_count(STORE, "m"), 3);
}

TEST(a_whole_save_with_other_bytes_in_a_replica_leaves_nothing)
{
	sherd_ckpt_item other[] = {theirs[0], theirs[1]};
	const sherd_ckpt_shard_items shards[] = {{mine, 2}, {other, 2}};
	other[1].data = "samf";
	assert_refused(SHERD_ECORRUPT, "replica-mismatch",
	               sherd_ckpt_save(STORE, "m", shards, &(sherd_ckpt_save_options){.world = 2}, err));
	assert_keys(STORE, "");
}

TEST(ranks_that_disagree_about_a_shape_are_named)
{
	sherd_ckpt_item other = {.tensor = {"a", SHERD_U8, 1, DIMS(2), 0}, .data = "aa"};
	sherd_error e = {0};
	assert_ok(save(STORE, 0, mine, 2, 1, NULL, err));
	assert_int_equal(save(STORE, 1, &other, 1, 1, NULL, &e), SHERD_ECORRUPT);
	assert_non_null(strstr(e.message, "ranks 0 and 1"));
	assert_true(e.offset == SHERD_NO_OFFSET);
	assert_keys(STORE, "m.saving m_shard_0.shard m_shard_1.shard");
}

/* What stands there belongs to nobody who can be told: a rank that is refused must not take it for its own set. */
TEST(a_rank_that_is_refused_over_unreadable_metadata_has_committed_nothing)
{
	const sherd_ckpt_about first = {.has_step = true, .step = 1}, second = {.has_step = true, .step = 2};
	sherd_ckpt_save_options o = {.world = 2, .set_id = &set, .replace = true, .about = &first};
	sherd_ckpt_save_result saved = {0};
	assert_ok(sherd_store_put(STORE, "m.metadata.json", SHERD_WRITE_NEW, "no JSON", 7, err));
	assert_ok(sherd_ckpt_save_rank(STORE, "m", 0, mine, 2, &o, &saved, err));
	assert_false(saved.committed);
	o.about = &second;
	assert_refused(SHERD_ECONFLICT, "ranks-disagree",
	               sherd_ckpt_save_rank(STORE, "m", 1, theirs, 2, &o, &saved, err));
	assert_false(saved.committed);
	sherd_stat there;
	assert_ok(sherd_store_stat(&there, STORE, "m.metadata.json", err));
	assert_int_equal(there.size, 7);
	assert_int_equal(object_count(STORE, "m_shard_0"), 1);
	assert_int_equal(object_count(STORE, "m_shard_1"), 0);
}

/* Somebody took the claim away, replaced the checkpoint, and put the claim back. */
TEST(a_rank_that_finds_another_base_than_the_first_one_is_refused)
{
	sherd_ckpt_save_options o = {.world = 2, .set_id = &set, .replace = true};
	const sherd_ckpt_save_options whole = {.world = 1, .replace = true};
	const sherd_ckpt_shard_items all = {mine, 2};
	sherd_ckpt_save_result saved = {0};
	size_t len;
	for (int before = 0; before < 2; before++) {
		if (before)
			assert_ok(sherd_ckpt_save(STORE, "m", &all, &whole, err));
		assert_ok(sherd_ckpt_save_rank(STORE, "m", 0, mine, 2, &o, &saved, err));
		char *claim = object_get(STORE, "m.saving", &len);
		assert_ok(sherd_store_remove(STORE, "m.saving", err));
		sherd_ckpt_save_options later = whole;
		later.take_over = true;
		assert_ok(sherd_ckpt_save(STORE, "m", &all, &later, err));
		object_put(STORE, "m.saving", claim, len);
		sherd_free(claim);
		assert_refused(SHERD_ECONFLICT, "conflict",
		               sherd_ckpt_save_rank(STORE, "m", 1, theirs, 2, &o, &saved, err));
		SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
		assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
		assert_int_equal(sherd_ckpt_shards(c), 1);
		assert_ok(sherd_store_remove(STORE, "m.saving", err));
		assert_ok(sherd_ckpt_remove(STORE, "m", NULL, NULL, err));
	}
}

TEST(a_rank_outside_the_world_is_refused)
{
	assert_refused(SHERD_EINVAL, "bad-argument", save(STORE, 2, mine, 2, 1, NULL, err));
	sherd_ckpt_save_options o = {.world = 2, .set_id = &set, .layout = SHERD_CKPT_LAYOUT_CSHARP};
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", sherd_ckpt_save_rank(STORE, "m", 0, mine, 2, &o, NULL, err));
	assert_keys(STORE, "");
}

/* ---- waiting */

typedef struct later {
	sherd_store *store;
	pthread_t thread;
	int rc;
} later;

static void *save_later(void *arg)
{
	later *l = arg;
	struct timespec t = {.tv_nsec = 30000000};
	(void)nanosleep(&t, NULL);
	l->rc = save(l->store, 1, theirs, 2, 1, NULL, NULL);
	return NULL;
}

TEST(one_can_wait_until_the_last_rank_has_come)
{
	later l = {.store = STORE};
	sherd_error e = {0};
	assert_int_equal(sherd_ckpt_wait(STORE, "m", NULL, 0, NULL, &e), SHERD_EINCOMPLETE);
	assert_string_equal(e.reason, "timed-out");
	assert_ok(save(STORE, 0, mine, 2, 1, NULL, err));
	assert_int_equal(sherd_ckpt_wait(STORE, "m", &set, 1000000, NULL, &e), SHERD_EINCOMPLETE);
	assert_non_null(strstr(e.message, "1 of 2 ranks have saved"));
	assert_int_equal(pthread_create(&l.thread, NULL, save_later, &l), 0);
	assert_ok(sherd_ckpt_wait(STORE, "m", &set, UINT64_MAX, NULL, err));
	(void)pthread_join(l.thread, NULL);
	assert_int_equal(l.rc, SHERD_OK);
	assert_ok(sherd_ckpt_wait(STORE, "m", NULL, 0, NULL, err));
	assert_refused(SHERD_EINCOMPLETE, "timed-out", sherd_ckpt_wait(STORE, "m", &other_set, 0, NULL, err));
}

static bool stop(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return false;
}

TEST(waiting_can_be_cancelled)
{
	sherd_progress progress = {.update = stop};
	sherd_ckpt_options o = {.progress = &progress};
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_ckpt_wait(STORE, "m", NULL, UINT64_MAX, &o, err));
}

/* ---- in the background */

static const sherd_ckpt_save_result *run_job(sherd_store *store, sherd_pool *pool, uint32_t rank,
                                             sherd_ckpt_job_mode mode, sherd_ckpt_job **job)
{
	sherd_ckpt_save_options o = {.world = 2, .set_id = &set, .pool = pool};
	assert_ok(sherd_ckpt_save_rank_start(job, store, "m", rank, rank ? theirs : mine, 2, mode, &o, err));
	assert_ok(sherd_ckpt_job_wait(*job, err));
	return sherd_ckpt_job_result(*job);
}

TEST(a_rank_saves_in_the_background)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	POOL pool = NULL;
	sherd_ckpt_job *job = NULL;
	assert_ok(sherd_pool_open(&pool, 2, err));
	const sherd_ckpt_save_result *saved = run_job(STORE, pool, 0, SHERD_JOB_COPY, &job);
	assert_true(saved && !saved->committed && saved->tensors == 2 && saved->bytes == 8);
	sherd_ckpt_job_close(job);
	saved = run_job(STORE, pool, 1, SHERD_JOB_BORROW, &job);
	assert_true(saved && saved->committed && !saved->repeated);
	sherd_ckpt_job_close(job);
	saved = run_job(STORE, pool, 1, SHERD_JOB_COPY, &job);
	assert_true(saved && saved->committed && saved->repeated);
	sherd_ckpt_job_close(job);
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_int_equal(sherd_ckpt_count(c), 3);
	sherd_ckpt_save_options o = {.world = 2, .set_id = &set, .pool = pool};
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_save_rank_start(&job, STORE, "m", 2, mine, 2, SHERD_JOB_COPY, &o, err));
}

TEST(a_rank_that_fails_in_the_background_tells)
{
	POOL pool = NULL;
	sherd_ckpt_job *job = NULL;
	sherd_ckpt_save_options o = {.world = 2, .set_id = &set};
	assert_ok(sherd_pool_open(&pool, 2, err));
	o.pool = pool;
	assert_ok(save(STORE, 0, mine, 2, 1, NULL, err));
	assert_ok(sherd_ckpt_save_rank_start(&job, STORE, "m", 0, theirs, 2, SHERD_JOB_COPY, &o, err));
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_job_wait(job, err));
	assert_null(sherd_ckpt_job_result(job));
	sherd_ckpt_job_close(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(every_rank_saves_what_it_holds),
		CASE_ON_BOTH(a_rank_may_save_the_same_again),
		CASE_ON_BOTH(a_rank_that_saves_something_else_again_is_refused),
		CASE_ON_BOTH(a_rank_of_a_replacement_may_come_again),
		CASE_ON_BOTH(replicas_with_other_bytes_are_refused_when_the_last_rank_comes),
		CASE_ON_BOTH(a_whole_save_with_other_bytes_in_a_replica_leaves_nothing),
		CASE_ON_BOTH(ranks_that_disagree_about_a_shape_are_named),
		CASE_ON_BOTH(a_rank_that_is_refused_over_unreadable_metadata_has_committed_nothing),
		CASE_ON_BOTH(a_rank_that_finds_another_base_than_the_first_one_is_refused),
		CASE_ON_BOTH(a_rank_outside_the_world_is_refused),
		CASE_ON_BOTH(one_can_wait_until_the_last_rank_has_come),
		CASE_IN_MEMORY(waiting_can_be_cancelled),
		CASE_ON_BOTH(a_rank_saves_in_the_background),
		CASE_IN_MEMORY(a_rank_that_fails_in_the_background_tells),
	};
	return cmocka_run_group_tests_name("ckpt_ranks", tests, NULL, NULL);
}
