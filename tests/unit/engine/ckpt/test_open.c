#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/fail_store.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)
#define CKPT SHD_AUTO(sherd_ckpt, sherd_ckpt_close)

TEST(prefix_metadata_and_shard_name_the_same_checkpoint)
{
	static const char *const names[] = {"d/m", "d/m.metadata.json", "d/m_shard_0.shard", "d/m_shard_1.shard"};
	SAMPLE s = ckpt_sample_full(1, 2);
	assert_ok(ckpt_sample_save(s, STORE, "d/m", err));
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		CKPT c = NULL;
		assert_ok(sherd_ckpt_open(&c, STORE, names[i], NULL, err));
		assert_null(ckpt_sample_differs(s, c));
	}
}

TEST(workers_make_no_difference)
{
	SAMPLE s = ckpt_sample_full(2, 5);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	for (unsigned workers = 1; workers <= 4; workers++) {
		SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
		CKPT c = NULL;
		assert_ok(sherd_pool_open(&pool, workers, err));
		assert_ok(sherd_ckpt_open(&c, STORE, "m", &(sherd_ckpt_options){.pool = pool}, err));
		assert_null(ckpt_sample_differs(s, c));
	}
}

TEST(a_checkpoint_says_what_was_said_about_it)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_pair fields[] = {{"run", "a \"b\""}, {"", ""}, {"\xc3\xa4", "\n"}};
	sherd_ckpt_about about = {
		.has_ddp_rank = true,
		.ddp_rank = 3,
		.strategy = "ddp",
		.precision = "bf16",
		.strategy_info = "{\"a\": [1, 2]}",
		.has_epoch = true,
		.epoch = 4,
		.has_step = true,
		.step = 5000000000,
		.has_learning_rate = true,
		.learning_rate = 3e-4,
		.optimizer_type = "adamw",
		.optimizer_state = "{\"beta\": 0.9}",
		.fields = fields,
		.field_count = COUNT_OF(fields),
		.extra = "\"format\": \"multishard\"",
		.sharding_extra = "\"mesh\": [2]",
		.training_extra = "\"seed\": 18446744073709551616",
	};
	sherd_ckpt_save_options o = ckpt_sample_options(s, 1767960000123456789);
	CKPT c = NULL;
	o.about = &about;
	assert_ok(sherd_ckpt_save(STORE, "m", s->shards, &o, err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_sample(s, STORE, "m");
	const sherd_ckpt_info *info = sherd_ckpt_describe(c);
	assert_string_equal(info->version, "1.0.0");
	assert_string_equal(info->timestamp, "2026-01-09T12:00:00.123456789Z");
	assert_int_equal(info->time_ns, 1767960000123456789);
	assert_int_equal(info->world, 2);
	assert_true(info->has_set_id && info->sealed);
	assert_memory_equal(&info->set_id, &s->set_id, sizeof(s->set_id));
	assert_int_equal(info->about.ddp_rank, 3);
	assert_string_equal(info->about.strategy, "ddp");
	assert_string_equal(info->about.precision, "bf16");
	assert_string_equal(info->about.strategy_info, "{\"a\": [1, 2]}");
	assert_int_equal(info->about.epoch, 4);
	assert_int_equal(info->about.step, 5000000000);
	assert_true(info->about.learning_rate == 3e-4);
	assert_string_equal(info->about.optimizer_type, "adamw");
	assert_string_equal(info->about.optimizer_state, "{\"beta\": 0.9}");
	assert_string_equal(info->about.extra, about.extra);
	assert_string_equal(info->about.sharding_extra, about.sharding_extra);
	assert_string_equal(info->about.training_extra, about.training_extra);
	assert_int_equal(info->about.field_count, COUNT_OF(fields));
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		assert_string_equal(info->about.fields[i].key, fields[i].key);
		assert_string_equal(info->about.fields[i].value, fields[i].value);
	}
}

TEST(shards_and_pieces_are_described)
{
	SAMPLE s = ckpt_sample_full(3, 4);
	CKPT c = NULL;
	const sherd_ckpt_piece *pieces = NULL;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m.metadata.json", NULL, err));
	assert_int_equal(sherd_ckpt_shards(c), 4);
	assert_null(sherd_ckpt_shard_at(c, 4));
	assert_null(sherd_ckpt_tensor(c, s->count));
	assert_true(sherd_ckpt_find(c, "nobody") == SHERD_NO_TENSOR);
	assert_int_equal(sherd_ckpt_pieces(&pieces, c, s->count), 0);
	for (uint32_t r = 0; r < 4; r++) {
		const sherd_ckpt_shard *shard = sherd_ckpt_shard_at(c, r);
		assert_int_equal(shard->rank, r);
		assert_int_equal(shard->data_offset, 88);
		assert_int_equal(shard->file_size, shard->data_offset + shard->data_size);
		assert_int_equal(shard->tensors, s->shards[r].count);
		assert_int_equal(strlen(shard->checksum), 64);
	}
	for (size_t i = 0; i < s->count; i++) {
		uint64_t sum = 0;
		size_t n = sherd_ckpt_pieces(&pieces, c, i);
		for (size_t k = 0; k < n; k++) {
			sum += pieces[k].bytes;
			if (pieces[k].bytes)
				assert_int_equal((88 + pieces[k].offset) % 64, 0);
		}
		assert_int_equal(sum, sherd_ckpt_tensor(c, i)->bytes);
	}
}

TEST(one_shard_opens_by_itself)
{
	SAMPLE s = ckpt_sample_full(4, 3);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	for (uint32_t r = 0; r < 3; r++) {
		CKPT c = NULL;
		char key[32];
		(void)snprintf(key, sizeof(key), "m_shard_%u.shard", r);
		assert_ok(sherd_ckpt_open_shard(&c, STORE, key, NULL, err));
		assert_int_equal(sherd_ckpt_count(c), s->shards[r].count);
		assert_int_equal(sherd_ckpt_describe(c)->world, 3);
		assert_memory_equal(&sherd_ckpt_describe(c)->set_id, &s->set_id, sizeof(s->set_id));
		for (size_t i = 0; i < s->shards[r].count; i++) {
			const sherd_ckpt_item *item = &s->shards[r].items[i];
			uint8_t got[4096];
			assert_string_equal(sherd_ckpt_tensor(c, i)->name, item->tensor.name);
			assert_int_equal(sherd_ckpt_tensor(c, i)->bytes, item->tensor.bytes);
			sherd_ckpt_want want = {.tensor = i, .buf = got};
			assert_ok(sherd_ckpt_load(c, &want, 1, NULL, err));
			assert_memory_equal(got, item->data, item->tensor.bytes);
		}
	}
}

TEST(what_is_not_there_is_told_from_what_is_not_committed)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	CKPT c = NULL;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_ok(sherd_ckpt_saver_shard(saver, 0, s->shards[0].items, s->shards[0].count, err));
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_ckpt_open(&c, STORE, "m", NULL, err));
	sherd_ckpt_saver_abort(saver);
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_ckpt_open(&c, STORE, "m", NULL, err));
	/* a prefix that only begins alike */
	assert_ok(ckpt_sample_save(s, STORE, "m_shard_1", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_sample(s, STORE, "m_shard_1");
}

TEST(metadata_may_leave_file_paths_and_tensors_to_the_shards)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	CKPT c = NULL;
	sherd_stat stat;
	char text[512];
	size_t len;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_ok(sherd_store_stat(&stat, STORE, "m_shard_0.shard", err));
	len = (size_t)snprintf(text, sizeof(text),
	                       "{\"version\": \"1.0.0\", \"worldSize\": 1, \"shards\": [{\"rank\": 0, "
	                       "\"fileSize\": %u, \"checksum\": \"%s\"}]}",
	                       (unsigned)stat.size, sherd_ckpt_shard_at(c, 0)->checksum);
	object_put(STORE, "m.metadata.json", text, len);
	assert_sample(s, STORE, "m");
}

/* Every read counts: metadata, and one head a shard; never data. */
TEST(opening_reads_metadata_and_heads_only)
{
	const uint64_t n = 1u << 20;
	uint8_t *bytes = calloc(1, (size_t)n);
	sherd_ckpt_item item = {.tensor = {"x", SHERD_U8, 1, &n, n}, .data = bytes};
	sherd_ckpt_item other = item;
	other.tensor.name = "y";
	sherd_ckpt_shard_items shards[2] = {{&item, 1}, {&other, 1}};
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *store = fail_store_over(inner);
	assert_ok(sherd_ckpt_save(store, "m", shards, &(sherd_ckpt_save_options){.world = 2}, err));
	/* open and read each of three objects once */
	CKPT c = NULL;
	fail_store_at(store, 7);
	assert_ok(sherd_ckpt_open(&c, store, "m", NULL, err));
	assert_false(fail_store_hit(store));
	fail_store_at(store, 0);
	sherd_ckpt_close(TAKE(c));
	sherd_store_close(store);
	free(bytes);
}

/* A set of more shards than a process may have files open, replaced and removed while it is. */
TEST(a_set_of_very_many_shards_opens_and_survives_its_replacement)
{
	enum { WORLD = 700, FILES = 400 };
	SAMPLE s = ckpt_sample_small(1, WORLD);
	SAMPLE next = ckpt_sample_small(2, 1);
	struct rlimit before, few;
	CKPT c = NULL;
	sherd_report *report = NULL;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){.rlim_cur = FILES, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_verify(&report, STORE, "m", NULL, err));
	assert_int_equal(sherd_report_errors(report), 0);
	sherd_report_close(report);
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	assert_ok(sherd_ckpt_repair(STORE, "m", NULL, NULL, err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_null(ckpt_sample_differs(s, c));
	assert_ok(ckpt_sample_replace(next, STORE, "m", err));
	assert_sample(next, STORE, "m");
	assert_null(ckpt_sample_differs(s, c));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

typedef struct told {
	size_t shards, tensors;
} told;

static void hear_lost(void *arg, const sherd_error *lost)
{
	told *t = arg;
	if (strcmp(lost->reason, "missing-piece") == 0)
		t->tensors++;
	else
		t->shards++;
}

/* Whatever shard is gone: every tensor is either there, with its values, or told to be lost. */
TEST(what_is_there_opens_without_the_rest)
{
	for (uint32_t gone = 0; gone < 3; gone++) {
		SHD_AUTO(ckpt_sample, ckpt_sample_free) s = ckpt_sample_full(7, 3);
		SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
		char prefix[8], key[32];
		told t = {0};
		sherd_ckpt_options o = {.lost = hear_lost, .lost_arg = &t};
		(void)snprintf(prefix, sizeof(prefix), "p%u", gone);
		(void)snprintf(key, sizeof(key), "p%u_shard_%u.shard", gone, gone);
		assert_ok(ckpt_sample_save(s, STORE, prefix, err));
		assert_ok(sherd_store_remove(STORE, key, err));
		assert_refused(SHERD_ECORRUPT, "missing-shard", sherd_ckpt_open(&c, STORE, prefix, NULL, err));
		assert_ok(sherd_ckpt_open(&c, STORE, prefix, &o, err));
		assert_int_equal(t.shards, 1);
		assert_true(t.tensors > 0);
		assert_int_equal(sherd_ckpt_count(c) + t.tensors, s->count);
		assert_int_equal(sherd_ckpt_shards(c), 3);
		for (size_t i = 0; i < s->count; i++) {
			size_t at = sherd_ckpt_find(c, s->tensors[i].name);
			if (at == SHERD_NO_TENSOR)
				continue;
			uint8_t *got = malloc(s->tensors[i].bytes + 1);
			sherd_ckpt_want want = {.tensor = at, .buf = got};
			for (int check = 0; check < 3; check++)
				assert_ok(sherd_ckpt_load(c, &want, 1,
				                          &(sherd_ckpt_load_options){.check = (sherd_ckpt_check)check},
				                          err));
			assert_int_equal(sherd_ckpt_tensor(c, at)->bytes, s->tensors[i].bytes);
			assert_memory_equal(got, s->bytes[i], s->tensors[i].bytes);
			free(got);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(prefix_metadata_and_shard_name_the_same_checkpoint),
		CASE_ON_BOTH(what_is_there_opens_without_the_rest),
		CASE_ON_BOTH(workers_make_no_difference),
		CASE_IN_MEMORY(a_checkpoint_says_what_was_said_about_it),
		CASE_ON_BOTH(shards_and_pieces_are_described),
		CASE_ON_BOTH(one_shard_opens_by_itself),
		CASE_ON_BOTH(what_is_not_there_is_told_from_what_is_not_committed),
		CASE_IN_MEMORY(metadata_may_leave_file_paths_and_tensors_to_the_shards),
		CASE_IN_MEMORY(opening_reads_metadata_and_heads_only),
		CASE_ON_BOTH(a_set_of_very_many_shards_opens_and_survives_its_replacement),
	};
	scratch_in_memory();
	return cmocka_run_group_tests_name("ckpt_open", tests, NULL, NULL);
}
