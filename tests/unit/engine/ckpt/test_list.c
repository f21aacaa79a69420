#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/fail_store.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/ckpt/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define LIST SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close)

static void save_at(sherd_store *store, const char *prefix, int64_t time_ns, int64_t step)
{
	SAMPLE s = ckpt_sample_small((uint64_t)time_ns, 1);
	sherd_ckpt_about about = {.has_step = true, .step = step};
	sherd_ckpt_save_options o = ckpt_sample_options(s, time_ns);
	o.about = &about;
	assert_ok(sherd_ckpt_save(store, prefix, s->shards, &o, err));
}

static void assert_listed(const sherd_ckpt_list *list, size_t i, const char *prefix, const char *state)
{
	const sherd_ckpt_listing *c = sherd_ckpt_list_at(list, i);
	assert_non_null(c);
	assert_string_equal(c->prefix, prefix);
	assert_string_equal(sherd_ckpt_state_name(c->state), state);
}

TEST(newest_means_by_time_then_step_then_name)
{
	LIST list = NULL;
	save_at(STORE, "a", 1000, 9);
	save_at(STORE, "b", 3000, 1);
	save_at(STORE, "c", 2000, 7);
	save_at(STORE, "d", 2000, 8);
	save_at(STORE, "e", 2000, 7);
	assert_ok(sherd_ckpt_list_open(&list, STORE, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(list), 5);
	static const char *const order[] = {"b", "d", "e", "c", "a"};
	for (size_t i = 0; i < COUNT_OF(order); i++)
		assert_listed(list, i, order[i], "committed");
	assert_null(sherd_ckpt_list_at(list, 5));
	assert_int_equal(sherd_ckpt_list_at(list, 0)->time_ns, 3000);
	assert_int_equal(sherd_ckpt_list_at(list, 1)->step, 8);
	assert_int_equal(sherd_ckpt_list_at(list, 1)->world, 1);
	assert_string_equal(sherd_ckpt_list_at(list, 1)->timestamp, "1970-01-01T00:00:00.000002Z");
}

TEST(every_state_is_told)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_saver *saver = NULL, *dead = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	LIST list = NULL;
	save_at(STORE, "z-committed", 5, 0);
	save_at(STORE, "damaged", 5, 0);
	object_put(STORE, "damaged.metadata.json", "{\"version\": 1}", 14);
	assert_ok(ckpt_sample_save(s, STORE, "orphaned", err));
	assert_ok(sherd_store_remove(STORE, "orphaned.metadata.json", err));
	assert_ok(shd_ckpt_saver_begin(&dead, STORE, "dead", &o, false, NULL, err));
	assert_ok(sherd_ckpt_saver_shard(dead, 1, s->shards[1].items, s->shards[1].count, err));
	assert_ok(sherd_ckpt_saver_finish(dead, NULL, err));
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "saving", &o, err));
	assert_ok(sherd_ckpt_list_open(&list, STORE, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(list), 5);
	assert_listed(list, 0, "z-committed", "committed");
	assert_listed(list, 1, "damaged", "damaged");
	assert_listed(list, 2, "dead", "dead");
	assert_listed(list, 3, "orphaned", "orphaned");
	assert_listed(list, 4, "saving", "saving");
	assert_true(sherd_ckpt_list_at(list, 1)->problem[0] != 0);
	assert_string_equal(sherd_ckpt_list_at(list, 0)->problem, "");
	sherd_ckpt_saver_abort(saver);
}

TEST(a_replacement_under_way_is_still_committed)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	LIST list = NULL;
	save_at(STORE, "m", 5, 0);
	o.replace = true;
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	assert_ok(sherd_ckpt_list_open(&list, STORE, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(list), 1);
	assert_listed(list, 0, "m", "committed");
	sherd_ckpt_saver_abort(saver);
}

TEST(only_this_folder_is_listed)
{
	LIST here = NULL;
	LIST there = NULL;
	LIST begins = NULL;
	save_at(STORE, "run-1", 1, 0);
	save_at(STORE, "other", 2, 0);
	save_at(STORE, "runs/a", 3, 0);
	save_at(STORE, "runs/b", 4, 0);
	save_at(STORE, "runs/deep/c", 5, 0);
	object_put(STORE, "runs/notes.txt", "", 0);
	object_put(STORE, "runs/x_shard_01.shard", "", 0);
	assert_ok(sherd_ckpt_list_open(&here, STORE, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(here), 2);
	assert_listed(here, 0, "other", "committed");
	assert_ok(sherd_ckpt_list_open(&there, STORE, "runs/", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(there), 2);
	assert_listed(there, 0, "runs/b", "committed");
	assert_ok(sherd_ckpt_list_open(&begins, STORE, "run-", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(begins), 1);
}

TEST(bytes_are_those_of_metadata_and_shards)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_stat a, b, m;
	LIST list = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_store_stat(&a, STORE, "m_shard_0.shard", err));
	assert_ok(sherd_store_stat(&b, STORE, "m_shard_1.shard", err));
	assert_ok(sherd_store_stat(&m, STORE, "m.metadata.json", err));
	assert_ok(sherd_ckpt_list_open(&list, STORE, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_at(list, 0)->bytes, a.size + b.size + m.size);
}

TEST(listing_nothing_gives_nothing)
{
	LIST list = NULL;
	assert_ok(sherd_ckpt_list_open(&list, STORE, "", NULL, err));
	assert_int_equal(sherd_ckpt_list_count(list), 0);
	sherd_ckpt_list_close(NULL);
}

/* Whichever operation fails, the others are listed; and what is whole is not called anything else for good. */
TEST(one_that_cannot_be_read_does_not_hide_the_others)
{
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *store = fail_store_over(inner);
	bool saw = false, hit = true;
	save_at(store, "a", 1000, 1);
	save_at(store, "b", 2000, 2);
	for (long n = 2; hit; n++) { /* the first lists the folder */
		LIST list = NULL;
		size_t committed = 0;
		fail_store_at(store, n);
		assert_ok(sherd_ckpt_list_open(&list, store, "", NULL, err));
		hit = fail_store_hit(store);
		fail_store_at(store, 0);
		assert_int_equal(sherd_ckpt_list_count(list), 2);
		for (size_t i = 0; i < 2; i++) {
			const sherd_ckpt_listing *c = sherd_ckpt_list_at(list, i);
			committed += c->state == SHERD_CKPT_COMMITTED;
			saw |= c->state == SHERD_CKPT_UNREADABLE && *c->problem;
		}
		assert_true(committed >= 1);
		assert_true(hit || committed == 2);
	}
	assert_true(saw);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_IN_MEMORY(one_that_cannot_be_read_does_not_hide_the_others),
		CASE_ON_BOTH(newest_means_by_time_then_step_then_name),
		CASE_ON_BOTH(every_state_is_told),
		CASE_ON_BOTH(a_replacement_under_way_is_still_committed),
		CASE_ON_BOTH(only_this_folder_is_listed),
		CASE_ON_BOTH(bytes_are_those_of_metadata_and_shards),
		CASE_ON_BOTH(listing_nothing_gives_nothing),
	};
	return cmocka_run_group_tests_name("ckpt_list", tests, NULL, NULL);
}
