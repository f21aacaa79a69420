/* Fault: every allocation, every operation of the store and every system call fails once, in everything that is done
 * to checkpoints. The error is clear, what was there before is still whole, nothing half-made shows, and without the
 * fault the same call succeeds. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/fail_sys.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local/local.h"
#include "engine/ckpt/save.h"

#include <sherd/verify.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
SHD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)
SHD_AUTO_DEFINE(sherd_ckpt_plan, sherd_ckpt_plan_close)

static ckpt_sample *old, *new; /* two sets, of two shards each */
static sherd_pool *pool;

/* ---- what is done */

static int save_old(sherd_store *store, sherd_error *err)
{
	return ckpt_sample_save(old, store, "m", err);
}

static int save_new(sherd_store *store, sherd_error *err)
{
	return ckpt_sample_save(new, store, "m", err);
}

static int save_tree(sherd_store *store, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(new, 0);
	o.digest = SHERD_DIGEST_BLAKE3;
	return sherd_ckpt_save(store, "m", new->shards, &o, err);
}

static int nothing(sherd_store *store, sherd_error *err)
{
	(void)store, (void)err;
	return SHERD_OK;
}

static int die_in_save(sherd_store *store, sherd_error *err)
{
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(old, 0);
	TRY(shd_ckpt_saver_begin(&saver, store, "m", &o, false, NULL, err));
	TRY(sherd_ckpt_saver_shard(saver, 1, old->shards[1].items, old->shards[1].count, err));
	return sherd_ckpt_saver_finish(saver, NULL, err);
}

static int replace(sherd_store *store, sherd_error *err)
{
	return ckpt_sample_replace(new, store, "m", err);
}

static int save_by_ranks(sherd_store *store, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(new, 0);
	for (uint32_t r = 0; r < 2; r++) {
		sherd_ckpt_saver *saver = NULL;
		TRY(sherd_ckpt_saver_open(&saver, store, "m", &o, err));
		int rc = sherd_ckpt_saver_shard(saver, r, new->shards[r].items, new->shards[r].count, err);
		if (rc < 0) {
			sherd_ckpt_saver_abort(saver);
			return rc;
		}
		TRY(sherd_ckpt_saver_finish(saver, NULL, err));
	}
	return SHERD_OK;
}

/* Both ranks have saved, and died before either published: claim and shards are there. */
static int die_before_publishing(sherd_store *store, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(new, 0);
	for (uint32_t r = 0; r < 2; r++) {
		sherd_ckpt_saver *saver;
		char *shard = NULL;
		size_t len;
		TRY(sherd_ckpt_saver_open(&saver, store, "m", &o, err));
		TRY(sherd_ckpt_saver_shard(saver, r, new->shards[r].items, new->shards[r].count, err));
		if (r == 0) {
			TRY(sherd_ckpt_saver_finish(saver, NULL, err));
			continue;
		}
		TRY(sherd_store_get(&shard, &len, store, "m_shard_1.shard", 1 << 20, err));
		sherd_ckpt_saver_abort(saver); /* which takes its shard along */
		int rc = sherd_store_put(store, "m_shard_1.shard", SHERD_WRITE_NEW, shard, len, err);
		sherd_free(shard);
		TRY(rc);
	}
	return SHERD_OK;
}

static int repair(sherd_store *store, sherd_error *err)
{
	return sherd_ckpt_repair(store, "m", NULL, NULL, err);
}

static int background(sherd_store *store, sherd_error *err)
{
	sherd_ckpt_job *job = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(new, 0);
	o.pool = pool;
	TRY(sherd_ckpt_save_start(&job, store, "m", new->shards, SHERD_JOB_COPY, &o, err));
	int rc = sherd_ckpt_job_wait(job, err);
	sherd_ckpt_job_close(job);
	return rc;
}

static int save_csharp(sherd_store *store, sherd_error *err)
{
	uint64_t n = 4;
	sherd_ckpt_item item = {.tensor = {"t", SHERD_U8, 1, &n, 0}, .data = "abcd"};
	sherd_ckpt_shard_items shards[2] = {{&item, 1}, {NULL, 0}};
	sherd_ckpt_save_options o = {.world = 2, .layout = SHERD_CKPT_LAYOUT_CSHARP};
	return sherd_ckpt_save(store, "m", shards, &o, err);
}

static int load(sherd_store *store, sherd_error *err)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) shard = NULL;
	SHD_AUTO(sherd_ckpt_plan, sherd_ckpt_plan_close) plan = NULL;
	uint8_t got[256];
	TRY(sherd_ckpt_open(&c, store, "m", NULL, err));
	for (size_t i = 0; i < sherd_ckpt_count(c); i++)
		for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++) {
			sherd_ckpt_want want = {.tensor = i, .buf = got};
			sherd_ckpt_load_options o = {.check = (sherd_ckpt_check)check};
			TRY(sherd_ckpt_load(c, &want, 1, &o, err));
			TRY(sherd_ckpt_read(c, i, 0, got, 1, err));
		}
	TRY(sherd_ckpt_plan_open(&plan, c, 3, true, err));
	return sherd_ckpt_open_shard(&shard, store, "m_shard_0.shard", NULL, err);
}

static int reshard(sherd_store *store, sherd_error *err)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	TRY(sherd_ckpt_open(&c, store, "m", NULL, err));
	return sherd_ckpt_reshard(c, store, "n", true, &(sherd_ckpt_save_options){.world = 3}, err);
}

static int two_sets(sherd_store *store, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(new, 1000);
	TRY(ckpt_sample_save(old, store, "m", err));
	return sherd_ckpt_save(store, "n", new->shards, &o, err);
}

static int commit(sherd_store *store, sherd_error *err)
{
	return sherd_ckpt_commit(store, "m", NULL, err);
}

static void note_unreadable(void *arg, const sherd_ckpt_pruned *p)
{
	*(bool *)arg |= p->was == SHERD_CKPT_UNREADABLE;
}

/* What cannot be read is left alone and told. */
static int prune(sherd_store *store, sherd_error *err)
{
	bool unreadable = false;
	sherd_ckpt_prune_options o = {.keep = 1, .pruned = note_unreadable, .arg = &unreadable};
	TRY(sherd_ckpt_prune(store, "", &o, err));
	return unreadable ? shd_fail(err, SHERD_EIO, "io", "some of it cannot be read") : SHERD_OK;
}

static int remove_set(sherd_store *store, sherd_error *err)
{
	return sherd_ckpt_remove(store, "m", NULL, NULL, err);
}

static int lose_metadata(sherd_store *store, sherd_error *err)
{
	TRY(save_new(store, err));
	return sherd_store_remove(store, "m.metadata.json", err);
}

static int verify(sherd_store *store, sherd_error *err)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) alone = NULL;
	TRY(sherd_verify(&r, store, "m", NULL, err));
	TRY(sherd_verify(&alone, store, "m_shard_0.shard", NULL, err));
	if (sherd_report_errors(r) || sherd_report_errors(alone))
		return shd_fail(err, SHERD_EINVAL, "wrong", "a good set has errors");
	return SHERD_OK;
}

static int list(sherd_store *store, sherd_error *err)
{
	SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) l = NULL;
	TRY(sherd_ckpt_list_open(&l, store, "", NULL, err));
	for (size_t i = 0; i < sherd_ckpt_list_count(l); i++)
		if (sherd_ckpt_list_at(l, i)->state == SHERD_CKPT_DAMAGED)
			return shd_fail(err, SHERD_EINVAL, "wrong", "a good set passes for damaged");
	for (size_t i = 0; i < sherd_ckpt_list_count(l); i++)
		if (sherd_ckpt_list_at(l, i)->state == SHERD_CKPT_UNREADABLE)
			return shd_fail(err, SHERD_EIO, "io", "one of them cannot be read");
	return SHERD_OK;
}

static int sets_and_a_dead_save(sherd_store *store, sherd_error *err)
{
	TRY(die_in_save(store, err));
	return ckpt_sample_save(new, store, "n", err);
}

/* What stands under "m" before and after. */
typedef struct op {
	const char *name;
	int (*before)(sherd_store *store, sherd_error *err);
	int (*run)(sherd_store *store, sherd_error *err);
	ckpt_content from, to;
	const char *left; /* the keys that a failure leaves; NULL: as they may be */
} op;

static const op ops[] = {
	{"save", nothing, save_new, CONTENT_NONE, CONTENT_NEW, ""},
	{"save with BLAKE3", nothing, save_tree, CONTENT_NONE, CONTENT_NEW, ""},
	{"save over a dead one", die_in_save, save_new, CONTENT_NONE, CONTENT_NEW, NULL},
	{"save by ranks", nothing, save_by_ranks, CONTENT_NONE, CONTENT_NEW, NULL},
	{"save in the background", nothing, background, CONTENT_NONE, CONTENT_NEW, ""},
	{"save for C#", nothing, save_csharp, CONTENT_NONE, CONTENT_OTHER, ""},
	{"replace", save_old, replace, CONTENT_OLD, CONTENT_NEW, "m.metadata.json m_shard_0.shard m_shard_1.shard"},
	{"repair", lose_metadata, repair, CONTENT_NONE, CONTENT_NEW, "m_shard_0.shard m_shard_1.shard"},
	{"commit", die_before_publishing, commit, CONTENT_NONE, CONTENT_NEW,
         "m.saving m_shard_0.shard m_shard_1.shard"},
	{"repair a dead save", die_before_publishing, repair, CONTENT_NONE, CONTENT_NEW, NULL},
	{"load", save_new, load, CONTENT_NEW, CONTENT_NEW, NULL},
	{"load what has BLAKE3", save_tree, load, CONTENT_NEW, CONTENT_NEW, NULL},
	{"reshard", save_new, reshard, CONTENT_NEW, CONTENT_NEW, "m.metadata.json m_shard_0.shard m_shard_1.shard"},
	{"prune", two_sets, prune, CONTENT_OLD, CONTENT_NONE, NULL},
	{"prune a dead save", sets_and_a_dead_save, prune, CONTENT_NONE, CONTENT_NONE, NULL},
	{"remove", two_sets, remove_set, CONTENT_OLD, CONTENT_NONE, NULL},
	{"remove orphans", lose_metadata, remove_set, CONTENT_NONE, CONTENT_NONE, NULL},
	{"verify", save_new, verify, CONTENT_NEW, CONTENT_NEW, NULL},
	{"verify what has BLAKE3", save_tree, verify, CONTENT_NEW, CONTENT_NEW, NULL},
	{"list", sets_and_a_dead_save, list, CONTENT_NONE, CONTENT_NONE, NULL},
};

/* After a run: its outcome, and what stands there. A fault may be overlooked only where it keeps something from being
 * tidied up behind a set that is saved. */
static void check_outcome(const op *o, long nth, bool hit, sherd_store *store, int rc, const sherd_error *e, int want)
{
	if (hit && rc == SHERD_OK && (o->run == load || o->run == verify || o->run == list))
		fail_msg("%s, fault %ld was overlooked", o->name, nth);
	if (!hit && rc < 0)
		fail_msg("%s, without a fault: %s", o->name, e->message);
	ckpt_content now = ckpt_sample_content(store, "m", old, new);
	char *keys = object_keys(store);
	if (rc < 0 && (rc != want || e->code != rc || !e->message[0] || !e->reason))
		fail_msg("%s, fault %ld: got %d (%s), not %d: %s", o->name, nth, rc, e->reason, want, e->message);
	if (rc == SHERD_OK ? now != o->to : now != o->from && now != o->to)
		fail_msg("%s, fault %ld: outcome %d, content %d; left: %s", o->name, nth, rc, now, keys);
	if (rc < 0 && now == o->from && o->left && o->from != o->to && strcmp(keys, o->left) != 0)
		fail_msg("%s, fault %ld: left: %s", o->name, nth, keys);
	free(keys);
}

/* Without the fault the same call succeeds, unless it had come to its end before. */
static void check_again(const op *o, long nth, sherd_store *store)
{
	sherd_error err = {0};
	bool done = o->from != o->to && ckpt_sample_content(store, "m", old, new) == o->to && o->run != prune;
	int rc = done ? SHERD_OK : o->run(store, &err);
	if ((rc == SHERD_EEXIST && o->run == reshard) || (rc == SHERD_ENOTFOUND && o->run == remove_set))
		rc = SHERD_OK;
	if (rc < 0)
		fail_msg("%s, after fault %ld: %s: %s", o->name, nth, err.object, err.message);
	ckpt_content now = ckpt_sample_content(store, "m", old, new);
	if (now != o->to)
		fail_msg("%s, after fault %ld: content %d", o->name, nth, now);
}

static void assert_prepared(const op *o, sherd_store *store)
{
	assert_ok(o->before(store, err));
	assert_int_equal(ckpt_sample_content(store, "m", old, new), o->from);
}

TEST(every_allocation_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(ops); i++) {
		long nth = 0;
		bool hit;
		do {
			sherd_store *store = NULL;
			sherd_error err = {0};
			if (sherd_store_open_memory(&store, NULL) < 0)
				abort();
			assert_prepared(&ops[i], store);
			fail_malloc_at(++nth);
			int rc = ops[i].run(store, &err);
			hit = fail_malloc_hit();
			fail_malloc_at(0);
			check_outcome(&ops[i], nth, hit, store, rc, &err, SHERD_ENOMEM);
			check_again(&ops[i], nth, store);
			sherd_store_close(store);
		} while (hit);
		assert_true(nth > 10);
	}
}

/* So slow that other threads get memory for what comes after it. */
static int read_slowly(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)offset, (void)err;
	(void)usleep(2000);
	memset(buf, 7, len);
	return SHERD_OK;
}

static sherd_pool *wide;

static int save_in_order(sherd_error *err)
{
	const uint64_t shape[] = {(uint64_t)6 << 20};
	const sherd_ckpt_item item = {.tensor = {.name = "w", .dtype = SHERD_U8, .ndim = 1, .shape = shape},
	                              .read = read_slowly};
	sherd_store *store = NULL;
	sherd_error why = {0};
	TRY(sherd_store_open_memory(&store, err));
	const sherd_ckpt_save_options options = {.pool = wide, .digest = SHERD_DIGEST_BLAKE3};
	int rc = sherd_ckpt_save_rank(store, "m", 0, &item, 1, &options, NULL, &why);
	sherd_store_close(store);
	return shd_pass(err, rc, &why);
}

TEST(who_has_no_memory_for_what_comes_later_says_so)
{
	assert_ok(sherd_pool_open(&wide, 4, err));
	assert_true(fail_malloc_each(save_in_order) > 10);
	sherd_pool_close(wide);
}

TEST(every_operation_of_the_store_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(ops); i++) {
		long nth = 0;
		bool hit;
		do {
			sherd_store *inner = NULL;
			sherd_error err = {0};
			if (sherd_store_open_memory(&inner, NULL) < 0)
				abort();
			sherd_store *store = fail_store_over(inner);
			assert_prepared(&ops[i], store);
			fail_store_at(store, ++nth);
			int rc = ops[i].run(store, &err);
			hit = fail_store_hit(store);
			fail_store_at(store, 0);
			check_outcome(&ops[i], nth, hit, store, rc, &err, SHERD_EIO);
			check_again(&ops[i], nth, store);
			sherd_store_close(store);
		} while (hit);
		assert_true(nth > 3);
	}
}

static void fail_calls(const op *o, const char *only, int os_errno)
{
	long nth = 0;
	bool hit;
	do {
		char *folder = scratch_make();
		sherd_store *store = NULL;
		sherd_error err = {0};
		fail_sys sys;
		fail_sys_init(&sys);
		if (shd_store_open_local_sys(&store, folder, NULL, &sys.sys, NULL) < 0)
			abort();
		assert_prepared(o, store);
		fail_sys_at(&sys, ++nth, only, os_errno);
		int rc = o->run(store, &err);
		hit = atomic_load(&sys.hit);
		fail_sys_at(&sys, 0, NULL, 0);
		/* unlocking may fail unnoticed: the file is closed right behind it */
		if (!(o->run == list && hit && rc == SHERD_OK))
			check_outcome(o, nth, hit, store, rc, &err, SHERD_EIO);
		check_again(o, nth, store);
		sherd_store_close(store);
		scratch_remove(folder);
	} while (hit);
}

TEST(every_system_call_may_fail)
{
	for (size_t i = 0; i < COUNT_OF(ops); i++)
		fail_calls(&ops[i], NULL, EIO);
}

TEST(the_disk_may_be_full_at_any_write)
{
	for (size_t i = 0; i < COUNT_OF(ops); i++)
		fail_calls(&ops[i], "pwrite", ENOSPC);
}

static int make_samples(void **state)
{
	(void)state;
	scratch_in_memory();
	old = ckpt_sample_small(1, 2);
	new = ckpt_sample_small(2, 2);
	return sherd_pool_open(&pool, 2, NULL);
}

static int free_samples(void **state)
{
	(void)state;
	ckpt_sample_free(old);
	ckpt_sample_free(new);
	sherd_pool_close(pool);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(who_has_no_memory_for_what_comes_later_says_so),
		cmocka_unit_test(every_operation_of_the_store_may_fail),
		cmocka_unit_test(every_system_call_may_fail),
		cmocka_unit_test(the_disk_may_be_full_at_any_write),
	};
	return cmocka_run_group_tests_name("ckpt_faults", tests, make_samples, free_samples);
}
