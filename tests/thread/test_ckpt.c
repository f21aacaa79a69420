/* Threads: a shared open checkpoint, savers of several ranks and of several sets, jobs, and readers beside them all. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)
SHD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)
#define POOL SHD_AUTO(sherd_pool, sherd_pool_close)

enum { THREADS = 6 };

/* What the threads of a test share. Complaints are counted, since assertions belong to the main thread. */
typedef struct crew {
	sherd_store *store;
	const ckpt_sample *sample;
	const sherd_ckpt *ckpt;
	sherd_ckpt_saver *saver;
	sherd_pool *pool;
	_Atomic unsigned wrong, won;
	_Atomic bool stop;
} crew;

typedef struct member {
	crew *crew;
	uint32_t number;
	pthread_t thread;
} member;

static void run_crew(crew *c, void *(*work)(void *))
{
	member members[THREADS];
	for (uint32_t i = 0; i < THREADS; i++) {
		members[i] = (member){.crew = c, .number = i};
		assert_int_equal(pthread_create(&members[i].thread, NULL, work, &members[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		(void)pthread_join(members[i].thread, NULL);
	assert_int_equal(c->wrong, 0);
}

static void *read_shared(void *arg)
{
	member *m = arg;
	for (int i = 0; i < 20; i++)
		if (ckpt_sample_differs(m->crew->sample, m->crew->ckpt))
			m->crew->wrong++;
	return NULL;
}

TEST(an_open_checkpoint_is_shared_by_readers)
{
	SAMPLE s = ckpt_sample_full(1, 4);
	CKPT c = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	crew all = {.store = STORE, .sample = s, .ckpt = c};
	run_crew(&all, read_shared);
}

static void *load_with_pool(void *arg)
{
	member *m = arg;
	uint8_t got[4096];
	for (int i = 0; i < 20; i++)
		for (size_t t = 0; t < sherd_ckpt_count(m->crew->ckpt); t++) {
			sherd_ckpt_want want = {.tensor = t, .buf = got};
			sherd_ckpt_load_options o = {.pool = m->crew->pool, .check = (sherd_ckpt_check)(i % 3)};
			if (sherd_ckpt_load(m->crew->ckpt, &want, 1, &o, NULL) < 0)
				m->crew->wrong++;
		}
	return NULL;
}

TEST(loads_share_a_pool)
{
	SAMPLE s = ckpt_sample_full(2, 3);
	CKPT c = NULL;
	POOL pool = NULL;
	assert_ok(sherd_pool_open(&pool, 3, err));
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	crew all = {.store = STORE, .sample = s, .ckpt = c, .pool = pool};
	run_crew(&all, load_with_pool);
}

static void *write_rank(void *arg)
{
	member *m = arg;
	const sherd_ckpt_shard_items *mine = &m->crew->sample->shards[m->number];
	if (sherd_ckpt_saver_shard(m->crew->saver, m->number, mine->items, mine->count, NULL) < 0)
		m->crew->wrong++;
	return NULL;
}

TEST(one_saver_serves_threads_of_several_ranks)
{
	SAMPLE s = ckpt_sample_full(3, THREADS);
	crew all = {.store = STORE, .sample = s};
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	bool committed = false;
	assert_ok(sherd_ckpt_saver_open(&all.saver, STORE, "m", &o, err));
	run_crew(&all, write_rank);
	assert_ok(sherd_ckpt_saver_finish(all.saver, &committed, err));
	assert_true(committed);
	assert_sample(s, STORE, "m");
}

static void *save_rank(void *arg)
{
	member *m = arg;
	const sherd_ckpt_shard_items *mine = &m->crew->sample->shards[m->number];
	sherd_ckpt_save_options o = ckpt_sample_options(m->crew->sample, 0);
	o.digest = (sherd_digest)(m->number % 2);
	sherd_ckpt_saver *saver = NULL;
	bool committed = false;
	if (sherd_ckpt_saver_open(&saver, m->crew->store, "m", &o, NULL) < 0 ||
	    sherd_ckpt_saver_shard(saver, m->number, mine->items, mine->count, NULL) < 0 ||
	    sherd_ckpt_saver_finish(saver, &committed, NULL) < 0)
		m->crew->wrong++;
	m->crew->won += committed;
	return NULL;
}

TEST(ranks_of_one_set_save_by_themselves)
{
	SAMPLE s = ckpt_sample_full(4, THREADS);
	crew all = {.store = STORE, .sample = s};
	run_crew(&all, save_rank);
	assert_true(all.won >= 1);
	assert_sample(s, STORE, "m");
}

static void *save_own(void *arg)
{
	member *m = arg;
	SAMPLE s = ckpt_sample_small(100 + m->number, 2);
	int rc = ckpt_sample_save(s, m->crew->store, "m", NULL);
	if (rc == SHERD_OK)
		m->crew->won++;
	else if (rc != SHERD_ECONFLICT && rc != SHERD_EEXIST)
		m->crew->wrong++;
	return NULL;
}

TEST(of_several_sets_one_wins)
{
	for (int round = 0; round < 20; round++) {
		crew all = {.store = STORE};
		run_crew(&all, save_own);
		assert_int_equal(all.won, 1);
		assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
		assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
		assert_ok(sherd_store_remove(STORE, "m_shard_0.shard", err));
		assert_ok(sherd_store_remove(STORE, "m_shard_1.shard", err));
	}
}

/* One replaces again and again, one lists and prunes, the others open: every one finds a whole set. */
static void *live_together(void *arg)
{
	member *m = arg;
	crew *c = m->crew;
	if (m->number == 0) {
		for (uint64_t i = 1; i <= 40; i++) {
			SAMPLE s = ckpt_sample_small(i, 2);
			int rc = ckpt_sample_replace(s, c->store, "m", NULL);
			if (rc < 0 && rc != SHERD_ECONFLICT)
				c->wrong++;
		}
		c->stop = true;
		return NULL;
	}
	while (!c->stop) {
		SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
		CKPT open = NULL;
		if (m->number == 1 && sherd_ckpt_prune(c->store, "", &(sherd_ckpt_prune_options){.keep = 1}, NULL) < 0)
			c->wrong++;
		if (m->number == 2 && sherd_ckpt_list_open(&list, c->store, "", NULL, NULL) < 0)
			c->wrong++;
		if (m->number > 2 && sherd_ckpt_open(&open, c->store, "m", NULL, NULL) < 0)
			c->wrong++;
		for (size_t i = 0; open && i < sherd_ckpt_count(open); i++) {
			uint8_t got[64];
			sherd_ckpt_want want = {.tensor = i, .buf = got};
			if (sherd_ckpt_load(open, &want, 1, NULL, NULL) < 0)
				c->wrong++;
		}
	}
	return NULL;
}

TEST(readers_always_find_a_whole_set_while_it_is_replaced)
{
	SAMPLE s = ckpt_sample_small(1000, 2);
	crew all = {.store = STORE};
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	run_crew(&all, live_together);
}

static void *come_and_go(void *arg)
{
	member *m = arg;
	crew *c = m->crew;
	for (uint64_t i = 0; m->number == 0 && i < 150; i++) {
		SAMPLE s = ckpt_sample_small(i, 1);
		char prefix[16];
		sherd_ckpt_save_options o = ckpt_sample_options(s, (int64_t)i);
		(void)snprintf(prefix, sizeof(prefix), "s%u", (unsigned)i);
		if (sherd_ckpt_save(c->store, prefix, s->shards, &o, NULL) < 0 ||
		    sherd_ckpt_prune(c->store, "", &(sherd_ckpt_prune_options){.keep = 1}, NULL) < 0)
			c->wrong++;
	}
	if (m->number == 0)
		c->stop = true;
	while (!c->stop) {
		SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
		if (sherd_ckpt_list_open(&list, c->store, "", NULL, NULL) < 0)
			c->wrong++;
		for (size_t i = 0; list && i < sherd_ckpt_list_count(list); i++)
			if (sherd_ckpt_list_at(list, i)->state == SHERD_CKPT_DAMAGED)
				c->wrong++;
	}
	return NULL;
}

TEST(nothing_passes_for_damaged_while_sets_come_and_go)
{
	crew all = {.store = STORE};
	run_crew(&all, come_and_go);
}

static void *save_in_background(void *arg)
{
	member *m = arg;
	SAMPLE s = ckpt_sample_full(200 + m->number, 2);
	char prefix[16];
	sherd_ckpt_job *job = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	(void)snprintf(prefix, sizeof(prefix), "job%u", m->number);
	o.pool = m->crew->pool;
	o.digest = (sherd_digest)(m->number / 2 % 2);
	if (sherd_ckpt_save_start(&job, m->crew->store, prefix, s->shards, (sherd_ckpt_job_mode)(m->number % 2), &o,
	                          NULL) < 0) {
		m->crew->wrong++;
		return NULL;
	}
	uint64_t done = 0, total = 0;
	(void)sherd_ckpt_job_poll(job, &done, &total);
	if (m->number == 3)
		sherd_ckpt_job_cancel(job);
	int rc = sherd_ckpt_job_wait(job, NULL);
	if (rc < 0 && !(m->number == 3 && rc == SHERD_ECANCELLED))
		m->crew->wrong++;
	sherd_ckpt_job_close(job);
	if (rc == SHERD_OK && ckpt_sample_missing(s, m->crew->store, prefix))
		m->crew->wrong++;
	return NULL;
}

TEST(jobs_share_a_pool)
{
	for (unsigned workers = 1; workers <= 3; workers++) {
		POOL pool = NULL;
		sherd_store *store = NULL;
		assert_ok(sherd_store_open_memory(&store, err));
		assert_ok(sherd_pool_open(&pool, workers, err));
		crew all = {.store = store, .pool = pool};
		run_crew(&all, save_in_background);
		sherd_store_close(store);
	}
}

int main(void)
{
	scratch_in_memory();
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(an_open_checkpoint_is_shared_by_readers),
		CASE_ON_BOTH(loads_share_a_pool),
		CASE_ON_BOTH(one_saver_serves_threads_of_several_ranks),
		CASE_ON_BOTH(ranks_of_one_set_save_by_themselves),
		CASE_ON_BOTH(of_several_sets_one_wins),
		CASE_ON_BOTH(readers_always_find_a_whole_set_while_it_is_replaced),
		CASE_ON_BOTH(nothing_passes_for_damaged_while_sets_come_and_go),
		CASE_IN_MEMORY(jobs_share_a_pool),
	};
	return cmocka_run_group_tests_name("thread/ckpt", tests, NULL, NULL);
}
