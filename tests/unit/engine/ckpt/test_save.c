#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

TEST(what_was_saved_comes_back)
{
	for (uint32_t world = 1; world <= 5; world++)
		for (uint64_t seed = 0; seed < 4; seed++) {
			SAMPLE s = ckpt_sample_full(seed, world);
			char prefix[64];
			(void)snprintf(prefix, sizeof(prefix), "w%u/s%u", world, (unsigned)seed);
			assert_ok(ckpt_sample_save(s, STORE, prefix, err));
			assert_sample(s, STORE, prefix);
		}
}

TEST(a_save_leaves_its_shards_and_metadata_and_nothing_else)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
}

TEST(a_set_without_tensors_can_be_saved)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	sherd_ckpt_shard_items none[3] = {{0}};
	assert_ok(sherd_ckpt_save(STORE, "m", none, &(sherd_ckpt_save_options){.world = 3}, err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	assert_int_equal(sherd_ckpt_count(c), 0);
	assert_int_equal(sherd_ckpt_shards(c), 3);
}

static void assert_same_objects(sherd_store *a, sherd_store *b, const char *key)
{
	size_t an, bn;
	char *x = object_get(a, key, &an), *y = object_get(b, key, &bn);
	assert_int_equal(an, bn);
	assert_memory_equal(x, y, an);
	sherd_free(x);
	sherd_free(y);
}

TEST(bytes_do_not_depend_on_the_number_of_workers)
{
	SAMPLE s = ckpt_sample_full(7, 4);
	sherd_store *alone = NULL;
	assert_ok(sherd_store_open_memory(&alone, err));
	assert_ok(ckpt_sample_save(s, alone, "m", err));
	for (unsigned workers = 1; workers <= 4; workers++) {
		SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
		assert_ok(sherd_pool_open(&pool, workers, err));
		sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
		o.pool = pool;
		o.replace = false;
		sherd_store *store = NULL;
		assert_ok(sherd_store_open_memory(&store, err));
		assert_ok(sherd_ckpt_save(store, "m", s->shards, &o, err));
		assert_same_objects(alone, store, "m.metadata.json");
		assert_same_objects(alone, store, "m_shard_0.shard");
		assert_same_objects(alone, store, "m_shard_3.shard");
		sherd_store_close(store);
	}
	sherd_store_close(alone);
}

static int read_from(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	memcpy(buf, (const uint8_t *)arg + offset, len);
	return SHERD_OK;
}

/* Larger than a chunk and than a block of checksums, so that both have borders inside. */
TEST(large_tensors_are_streamed_from_memory_and_from_readers_alike)
{
	const uint64_t n = (33u << 20) + 12345;
	uint8_t *bytes = malloc((size_t)n), *got = malloc((size_t)n);
	for (uint64_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 13);
	sherd_ckpt_item items[2] = {
		{.tensor = {"data", SHERD_U8, 1, &n, n}, .data = bytes},
		{.tensor = {"read", SHERD_U8, 1, &n, 0}, .read = read_from, .arg = bytes},
	};
	sherd_ckpt_shard_items shard = {items, 2};
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	assert_ok(sherd_ckpt_save(STORE, "m", &shard, NULL, err));
	assert_ok(sherd_ckpt_open(&c, STORE, "m", NULL, err));
	for (size_t i = 0; i < 2; i++) {
		sherd_ckpt_want want = {.tensor = i, .buf = got};
		memset(got, 0, (size_t)n);
		assert_ok(sherd_ckpt_load(c, &want, 1, NULL, err));
		assert_memory_equal(got, bytes, n);
	}
	free(bytes);
	free(got);
}

static bool never(void *arg, uint64_t done, uint64_t total)
{
	(void)total;
	return done < *(const uint64_t *)arg;
}

TEST(a_cancelled_save_leaves_nothing)
{
	SAMPLE s = ckpt_sample_full(3, 3);
	for (uint64_t at = 0; at < 1000; at += 97) {
		sherd_progress progress = {never, &at};
		sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
		o.progress = &progress;
		assert_refused(SHERD_ECANCELLED, "cancelled", sherd_ckpt_save(STORE, "m", s->shards, &o, err));
		assert_keys(STORE, "");
	}
}

static int break_down(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)offset, (void)buf, (void)len;
	return shd_fail(err, SHERD_EIO, "gone", "the source is gone");
}

TEST(a_source_that_fails_leaves_nothing)
{
	uint64_t n = 10;
	sherd_ckpt_item item = {.tensor = {"x", SHERD_U8, 1, &n, 0}, .read = break_down};
	SAMPLE s = ckpt_sample_small(1, 2);
	sherd_ckpt_shard_items shards[2] = {s->shards[0], {&item, 1}};
	assert_refused(SHERD_EIO, "gone",
	               sherd_ckpt_save(STORE, "m", shards, &(sherd_ckpt_save_options){.world = 2}, err));
	assert_keys(STORE, "");
}

TEST(bad_items_are_refused_before_anything_is_written)
{
	uint64_t n = 4, big[] = {UINT64_MAX, 8}, at = 2, dims[33] = {0};
	uint8_t data[64] = {0};
	const sherd_ckpt_item bad[] = {
		{.tensor = {NULL, SHERD_U8, 1, &n, 0}, .data = data},
		{.tensor = {"x", SHERD_DTYPE_NONE, 1, &n, 0}, .data = data},
		{.tensor = {"x", (sherd_dtype)999, 1, &n, 0}, .data = data},
		{.tensor = {"x", SHERD_U8, 1, NULL, 0}, .data = data},
		{.tensor = {"\xff", SHERD_U8, 1, &n, 0}, .data = data},
		{.tensor = {"x", SHERD_U8, 33, dims, 0}, .data = data},
		{.tensor = {"x", SHERD_U8, 2, big, 0}, .data = data},
		{.tensor = {"x", SHERD_U8, 1, &n, 5}, .data = data},
		{.tensor = {"x", SHERD_U8, 1, &n, 0}},
		{.tensor = {"x", SHERD_U8, 1, &n, 0}, .data = data, .global_shape = &n},
		{.tensor = {"x", SHERD_U8, 1, &n, 0}, .data = data, .global_shape = &n, .global_offset = &at},
		{.tensor = {"x", SHERD_UTF8, 1, &n, 39}, .data = data},
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		sherd_ckpt_shard_items shard = {&bad[i], 1};
		assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_save(STORE, "m", &shard, NULL, err));
	}
	sherd_ckpt_item twice[2] = {{.tensor = {"x", SHERD_U8, 1, &n, 0}, .data = data}};
	twice[1] = twice[0];
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_save(STORE, "m", &(sherd_ckpt_shard_items){twice, 2}, NULL, err));
	const sherd_ckpt_shard_items shards[] = {{twice, 1}, {twice, 2}};
	sherd_error e = {0};
	assert_int_equal(sherd_ckpt_save(STORE, "m", shards, &(sherd_ckpt_save_options){.world = 2}, &e), SHERD_EINVAL);
	assert_int_equal(e.index, 2);
	assert_keys(STORE, "");
}

TEST(pieces_that_do_not_tile_are_not_published)
{
	uint64_t four = 4, two = 2, one = 1, zero = 0;
	uint8_t data[8] = {0};
	sherd_ckpt_item first = {.tensor = {"x", SHERD_U8, 1, &two, 0}, .data = data};
	first.global_shape = &four;
	first.global_offset = &zero;
	sherd_ckpt_item gap = first, overlap = first, type = first;
	gap.tensor.shape = &one;
	gap.global_offset = &two;
	overlap.tensor.shape = &two;
	overlap.global_offset = &one;
	type.tensor.dtype = SHERD_I8;
	type.global_offset = &two;
	const struct {
		sherd_ckpt_item item;
		const char *reason;
	} cases[] = {{gap, "missing-piece"}, {overlap, "overlap"}, {type, "bad-piece"}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_ckpt_shard_items shards[2] = {{&first, 1}, {&cases[i].item, 1}};
		assert_refused(SHERD_ECORRUPT, cases[i].reason,
		               sherd_ckpt_save(STORE, "m", shards, &(sherd_ckpt_save_options){.world = 2}, err));
		assert_keys(STORE, "");
	}
}

/* So many levels of arrays, as a member or as a value. */
static const char *nest(char *room, const char *begin, int levels, const char *end)
{
	char *p = stpcpy(room, begin);
	memset(p, '[', (size_t)levels);
	memset(p + levels, ']', (size_t)levels);
	(void)strcpy(p + 2 * levels, end);
	return room;
}

/* Whatever is accepted can be read: text is written deeper than it stands by itself. */
TEST(json_is_as_deep_as_the_metadata_may_be_and_no_deeper)
{
	static const struct {
		size_t at; /* in about; SIZE_MAX: in the tensor */
		int most;
		bool value;
	} places[] = {
		{offsetof(sherd_ckpt_about, extra), 63, false},
		{offsetof(sherd_ckpt_about, sharding_extra), 62, false},
		{offsetof(sherd_ckpt_about, training_extra), 62, false},
		{offsetof(sherd_ckpt_about, strategy_info), 61, true},
		{offsetof(sherd_ckpt_about, optimizer_state), 61, true},
		{SIZE_MAX, 59, false},
	};
	for (size_t i = 0; i < 2 * COUNT_OF(places); i++) {
		char room[200], prefix[] = {(char)('a' + i), 0};
		int levels = places[i / 2].most + (int)(i % 2);
		const char *text =
			places[i / 2].value ? nest(room, "{\"k\": ", levels, "}") : nest(room, "\"k\": ", levels, "");
		sherd_ckpt_about about = {0};
		sherd_ckpt_item item = {.tensor = {"t", SHERD_U8, 0, NULL, 1}, .data = "x"};
		sherd_ckpt_shard_items shard = {&item, 1};
		SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
		if (places[i / 2].at == SIZE_MAX)
			item.extra = text;
		else
			memcpy((char *)&about + places[i / 2].at, &text, sizeof(text));
		const sherd_ckpt_save_options o = {.about = &about};
		if (i % 2) {
			assert_refused(SHERD_EINVAL, "too-deep", sherd_ckpt_save(STORE, prefix, &shard, &o, err));
			continue;
		}
		assert_ok(sherd_ckpt_save(STORE, prefix, &shard, &o, err));
		assert_ok(sherd_ckpt_open(&c, STORE, prefix, NULL, err));
	}
}

TEST(bad_options_are_refused)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	sherd_ckpt_about about = {.strategy_info = "[1]"};
	sherd_ckpt_saver *saver = NULL;
	assert_refused(SHERD_EINVAL, "bad-json",
	               sherd_ckpt_save(STORE, "m", s->shards, &(sherd_ckpt_save_options){.about = &about}, err));
	about = (sherd_ckpt_about){.extra = "\"a\": 1,"};
	assert_refused(SHERD_EINVAL, "bad-json",
	               sherd_ckpt_save(STORE, "m", s->shards, &(sherd_ckpt_save_options){.about = &about}, err));
	about = (sherd_ckpt_about){.has_learning_rate = true, .learning_rate = 1e300 * 1e300};
	assert_refused(SHERD_EINVAL, "bad-number",
	               sherd_ckpt_save(STORE, "m", s->shards, &(sherd_ckpt_save_options){.about = &about}, err));
	about = (sherd_ckpt_about){.fields = (sherd_pair[]){{"a", "b"}, {"a", "c"}}, .field_count = 2};
	assert_refused(SHERD_EINVAL, "duplicate-key",
	               sherd_ckpt_save(STORE, "m", s->shards, &(sherd_ckpt_save_options){.about = &about}, err));
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_saver_open(&saver, STORE, "m", &(sherd_ckpt_save_options){.world = UINT32_MAX}, err));
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_saver_open(&saver, STORE, "m", &(sherd_ckpt_save_options){.world = 1u << 30}, err));
	assert_int_equal(sherd_ckpt_save(STORE, "../m", s->shards, NULL, NULL), SHERD_EINVAL);
	assert_int_equal(sherd_ckpt_save(STORE, "", s->shards, NULL, NULL), SHERD_EINVAL);
	assert_int_equal(sherd_ckpt_save(STORE, "folder/", s->shards, NULL, NULL), SHERD_EINVAL);
	assert_keys(STORE, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(what_was_saved_comes_back),
		CASE_ON_BOTH(a_save_leaves_its_shards_and_metadata_and_nothing_else),
		CASE_ON_BOTH(a_set_without_tensors_can_be_saved),
		CASE_IN_MEMORY(bytes_do_not_depend_on_the_number_of_workers),
		CASE_IN_FOLDER(large_tensors_are_streamed_from_memory_and_from_readers_alike),
		CASE_ON_BOTH(a_cancelled_save_leaves_nothing),
		CASE_ON_BOTH(a_source_that_fails_leaves_nothing),
		CASE_IN_MEMORY(bad_items_are_refused_before_anything_is_written),
		CASE_ON_BOTH(pieces_that_do_not_tile_are_not_published),
		CASE_IN_MEMORY(json_is_as_deep_as_the_metadata_may_be_and_no_deeper),
		CASE_IN_MEMORY(bad_options_are_refused),
	};
	return cmocka_run_group_tests_name("ckpt_save", tests, NULL, NULL);
}
