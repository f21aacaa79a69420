/* Every call that may take long is cancelled at every step where it asks: nothing is left behind, nothing is lost. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"
#include "codec/sha256.h"
#include "format/ckpt/meta.h"
#include "format/ckpt/shard.h"
#include "engine/ckpt/save.h"

#include <sherd/convert.h>
#include <sherd/rows.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

/* Lets a call ask `left` times, then cancels it, and counts what it was told. */
typedef struct patience {
	unsigned left;
	uint64_t done, total;
} patience;

static bool ask(void *arg, uint64_t done, uint64_t total)
{
	patience *p = arg;
	p->done = done;
	p->total = total;
	return p->left-- > 0;
}

typedef int action(sherd_store *store, const sherd_progress *progress, sherd_error *err);
typedef void check(sherd_store *store);

/* Cancels at each step in turn, with a look at what is left; returns at how many, after it came to its end. */
static unsigned cancel_everywhere(sherd_store *store, action *act, check *after)
{
	for (unsigned n = 0; n < 10000; n++) {
		patience p = {.left = n};
		sherd_progress progress = {.update = ask, .arg = &p};
		sherd_error err = {0};
		int rc = act(store, &progress, &err);
		if (rc == SHERD_OK)
			return n;
		if (rc != SHERD_ECANCELLED)
			fail_msg("step %u: %s: %s", n, err.object, err.message);
		assert_string_equal(err.reason, "cancelled");
		after(store);
	}
	fail_msg("it never ends");
	return 0;
}

static ckpt_sample *sample; /* of the running case */

static void set_is_whole(sherd_store *store)
{
	assert_sample(sample, store, "m");
}

static void nothing_is_there(sherd_store *store)
{
	assert_keys(store, "");
}

static int open_set(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	return sherd_ckpt_open(&c, store, "m", &(sherd_ckpt_options){.progress = progress}, err);
}

static int open_bundle(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	return sherd_bundle_open(&b, store, "m", &(sherd_bundle_options){.progress = progress}, err);
}

static int list_sets(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	sherd_ckpt_list *list;
	TRY(sherd_ckpt_list_open(&list, store, "", &(sherd_ckpt_options){.progress = progress}, err));
	sherd_ckpt_list_close(list);
	return SHERD_OK;
}

static int verify_set(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	sherd_report *r;
	TRY(sherd_verify(&r, store, "m", &(sherd_verify_options){.progress = progress}, err));
	size_t errors = sherd_report_errors(r);
	sherd_report_close(r);
	return errors ? shd_fail(err, SHERD_ECORRUPT, "wrong", "errors were found") : SHERD_OK;
}

static int verify_quickly(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	sherd_report *r;
	TRY(sherd_verify(&r, store, "m", &(sherd_verify_options){.quick = true, .progress = progress}, err));
	sherd_report_close(r);
	return SHERD_OK;
}

TEST(looking_at_a_set_can_be_cancelled_at_every_shard)
{
	static action *const acts[] = {open_set, open_bundle, list_sets, verify_set, verify_quickly};
	static const unsigned least[] = {5, 5, 6, 5, 5};
	SAMPLE s = ckpt_sample_full(3, 5);
	sample = s;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	for (size_t i = 0; i < COUNT_OF(acts); i++)
		assert_true(cancel_everywhere(STORE, acts[i], set_is_whole) >= least[i]);
}

static int save_set(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(sample, 0);
	o.progress = progress;
	return sherd_ckpt_save(store, "m", sample->shards, &o, err);
}

TEST(a_save_can_be_cancelled_until_it_is_published)
{
	SAMPLE s = ckpt_sample_full(3, 3);
	sample = s;
	/* Each shard is written, and found again when the set is published. */
	assert_true(cancel_everywhere(STORE, save_set, nothing_is_there) >= 6);
	set_is_whole(STORE);
}

static ckpt_sample *older;

static int replace_set(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	sherd_ckpt_save_options o = ckpt_sample_options(sample, 0);
	o.progress = progress;
	o.replace = true;
	return sherd_ckpt_save(store, "m", sample->shards, &o, err);
}

static void older_is_whole(sherd_store *store)
{
	assert_sample(older, store, "m");
	assert_keys(store, "m.metadata.json m_shard_0.shard m_shard_1.shard");
}

TEST(a_cancelled_replacement_leaves_the_former_set_alone)
{
	SAMPLE a = ckpt_sample_small(1, 2);
	SAMPLE b = ckpt_sample_small(2, 2);
	older = a;
	sample = b;
	assert_ok(ckpt_sample_save(a, STORE, "m", err));
	assert_true(cancel_everywhere(STORE, replace_set, older_is_whole) >= 4);
	set_is_whole(STORE);
}

/* Every rank saves and leaves; nobody holds the claim. */
static void save_ranks(sherd_store *store, const ckpt_sample *s, uint32_t count)
{
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	for (uint32_t r = 0; r < count; r++) {
		sherd_ckpt_saver *saver;
		assert_ok(shd_ckpt_saver_begin(&saver, store, "m", &o, false, NULL, err));
		assert_ok(sherd_ckpt_saver_shard(saver, r, s->shards[r].items, s->shards[r].count, err));
		assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
	}
}

static int commit_set(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	return sherd_ckpt_commit(store, "m", &(sherd_ckpt_options){.progress = progress}, err);
}

static void shards_and_claim_are_there(sherd_store *store)
{
	assert_keys(store, "m.saving m_shard_0.shard m_shard_1.shard m_shard_2.shard");
}

TEST(a_cancelled_commit_leaves_shards_and_claim)
{
	SAMPLE s = ckpt_sample_small(4, 3);
	size_t len;
	sample = s;
	/* All shards of a save that died just before it would have published. */
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	char *last = object_get(STORE, "m_shard_2.shard", &len);
	for (uint32_t r = 0; r < 3; r++) {
		static const char *const keys[] = {"m_shard_0.shard", "m_shard_1.shard", "m_shard_2.shard"};
		assert_ok(sherd_store_remove(STORE, keys[r], err));
	}
	save_ranks(STORE, s, 2);
	object_put(STORE, "m_shard_2.shard", last, len);
	sherd_free(last);
	assert_true(cancel_everywhere(STORE, commit_set, shards_and_claim_are_there) >= 3);
	set_is_whole(STORE);
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard m_shard_2.shard");
}

static int repair_set(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	return sherd_ckpt_repair(store, "m", &(sherd_ckpt_repair_options){.progress = progress}, NULL, err);
}

static void shards_alone_are_there(sherd_store *store)
{
	assert_keys(store, "m_shard_0.shard m_shard_1.shard");
}

TEST(a_cancelled_repair_leaves_the_shards_and_no_claim)
{
	SAMPLE s = ckpt_sample_small(1, 2);
	sample = s;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	/* Looked at, found and hashed, each. */
	assert_true(cancel_everywhere(STORE, repair_set, shards_alone_are_there) >= 6);
	set_is_whole(STORE);
}

static void dead_save_or_less(sherd_store *store)
{
	sherd_stat stat;
	sherd_ckpt *c;
	/* What died is still known as dead, so that the next one clears the rest of it. */
	assert_ok(sherd_store_stat(&stat, store, "m.saving", err));
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_ckpt_open(&c, store, "m", NULL, err));
}

TEST(clearing_what_a_dead_save_left_can_be_cancelled)
{
	SAMPLE dead = ckpt_sample_small(1, 4);
	SAMPLE s = ckpt_sample_small(2, 2);
	sample = s;
	save_ranks(STORE, dead, 3);
	patience p = {.left = 2};
	sherd_progress progress = {.update = ask, .arg = &p};
	assert_refused(SHERD_ECANCELLED, "cancelled", save_set(STORE, &progress, err));
	dead_save_or_less(STORE);
	assert_ok(save_set(STORE, NULL, err));
	assert_keys(STORE, "m.metadata.json m_shard_0.shard m_shard_1.shard");
	set_is_whole(STORE);
}

static void save_as(sherd_store *store, const ckpt_sample *s, const char *prefix, int64_t time_ns)
{
	sherd_ckpt_save_options o = ckpt_sample_options(s, time_ns);
	assert_ok(sherd_ckpt_save(store, prefix, s->shards, &o, err));
}

static const char *const pruned[] = {"a", "b", "c", "d"};

/* Each is whole, or nothing of it is left. */
static void each_is_whole_or_gone(sherd_store *store)
{
	for (size_t i = 0; i < COUNT_OF(pruned); i++)
		if (object_count(store, pruned[i]) || i == 0)
			assert_sample(sample, store, pruned[i]);
}

TEST(a_cancelled_prune_leaves_every_set_whole_or_gone)
{
	SAMPLE s = ckpt_sample_small(3, 3);
	sample = s;
	for (unsigned n = 0;; n++) {
		patience p = {.left = n};
		sherd_progress progress = {.update = ask, .arg = &p};
		sherd_error e = {0};
		for (size_t i = 0; i < COUNT_OF(pruned); i++) {
			sherd_stat stat;
			char key[32];
			(void)snprintf(key, sizeof(key), "%s.metadata.json", pruned[i]);
			if (sherd_store_stat(&stat, STORE, key, NULL) < 0)
				save_as(STORE, s, pruned[i], 100 - (int64_t)i);
		}
		sherd_ckpt_prune_options o = {.keep = 1, .progress = &progress};
		int rc = sherd_ckpt_prune(STORE, "", &o, &e);
		each_is_whole_or_gone(STORE);
		if (rc == SHERD_OK) {
			assert_true(n >= 8);
			break;
		}
		assert_int_equal(rc, SHERD_ECANCELLED);
	}
	assert_keys(STORE, "a.metadata.json a_shard_0.shard a_shard_1.shard a_shard_2.shard");
}

/* ---- a set of others: its shards record one hash for everything, and no index */

enum { FOREIGN = 600 << 10 }; /* hashed in three steps */

static void put_foreign(sherd_store *store)
{
	uint8_t *data = malloc(FOREIGN), head[SHD_CKPT_HEAD_MAX], hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	uint64_t shape = FOREIGN;
	shd_sha256 sha;
	SHD_AUTO_BUF shard = {0};
	SHD_AUTO_BUF text = {0};
	assert_non_null(data);
	memset(data, 7, FOREIGN);
	shd_sha256_init(&sha);
	shd_sha256_add(&sha, data, FOREIGN);
	shd_sha256_finish(&sha, hash);
	shd_hex(hash, sizeof(hash), hex);
	shd_ckpt_head_encode(0, 1, FOREIGN, hex, head);
	shd_buf_append(&shard, head, SHD_CKPT_HEAD_SIZE);
	shd_buf_append(&shard, data, FOREIGN);
	assert_ok(shd_buf_check(&shard, err));
	shd_ckpt_entry entry = {.tensor = {"t", SHERD_U8, 1, &shape, FOREIGN}};
	shd_ckpt_meta_shard m = {.file = "f_shard_0.shard",
	                         .file_size = shard.len,
	                         .checksum = hex,
	                         .entries = &entry,
	                         .count = 1,
	                         .listed = true};
	shd_ckpt_meta meta = {
		.version = "1.0.0", .timestamp = "2026-01-01T00:00:00Z", .world = 1, .shards = &m, .count = 1};
	shd_ckpt_meta_encode(&meta, false, &text);
	assert_ok(shd_buf_check(&text, err));
	object_put(store, "f_shard_0.shard", shard.data, shard.len);
	object_put(store, "f.metadata.json", text.data, text.len);
	free(data);
}

static const sherd_bundle *foreign;

static int save_foreign(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	return sherd_ckpt_save_bundle(store, "m", foreign, false, &(sherd_ckpt_save_options){.progress = progress},
	                              err);
}

static int convert_foreign(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	sherd_convert_options o = {.progress = progress};
	return sherd_convert(foreign, store, "t.npy", SHERD_FORMAT_NPY, &o, err);
}

static int prepare_foreign(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	(void)store;
	size_t first = 0;
	return sherd_bundle_prepare(foreign, &first, 1, &(sherd_bundle_options){.progress = progress}, err);
}

static void only_the_foreign_set_is_there(sherd_store *store)
{
	assert_keys(store, "f.metadata.json f_shard_0.shard");
}

TEST(hashing_a_shard_without_index_can_be_cancelled_before_its_tensors_are_read)
{
	static action *const acts[] = {save_foreign, convert_foreign, prepare_foreign};
	put_foreign(STORE);
	for (size_t i = 0; i < COUNT_OF(acts); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		SHD_AUTO(sherd_bundle, sherd_bundle_close) part = NULL;
		assert_ok(sherd_bundle_open(&b, STORE, "f", NULL, err));
		assert_ok(sherd_bundle_select(&part, b, NULL, err)); /* which passes it on */
		foreign = part;
		patience p = {.left = 2};
		sherd_progress progress = {.update = ask, .arg = &p};
		assert_refused(SHERD_ECANCELLED, "cancelled", acts[i](STORE, &progress, err));
		assert_int_equal(p.total, FOREIGN); /* it was the hash that was cancelled */
		assert_true(cancel_everywhere(STORE, acts[i], only_the_foreign_set_is_there) >= 3);
		(void)sherd_store_remove(STORE, "m.metadata.json", NULL);
		(void)sherd_store_remove(STORE, "m_shard_0.shard", NULL);
		(void)sherd_store_remove(STORE, "t.npy", NULL);
	}
}

TEST(damage_of_a_shard_without_index_is_found_by_preparing)
{
	put_foreign(STORE);
	size_t len;
	char *bytes = object_get(STORE, "f_shard_0.shard", &len);
	bytes[len - 1] ^= 1;
	object_put(STORE, "f_shard_0.shard", bytes, len);
	sherd_free(bytes);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	assert_ok(sherd_bundle_open(&b, STORE, "f", NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-checksum", sherd_bundle_prepare(b, NULL, 0, NULL, err));
	size_t beyond = 1;
	assert_refused(SHERD_EINVAL, "out-of-range", sherd_bundle_prepare(b, &beyond, 1, NULL, err));
}

/* ---- rows, and sets of safetensors */

static int open_rows(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	sherd_rows *rows;
	TRY(sherd_rows_open_folder(&rows, store, "r", &(sherd_rows_options){.progress = progress}, err));
	sherd_rows_close(rows);
	return SHERD_OK;
}

static void rows_are_there(sherd_store *store)
{
	assert_keys(store, "r/a.shard r/b.shard r/c.shard");
}

static const double *doubles;
enum { MANY_DOUBLES = 600 << 10 };

static int write_rows(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	return sherd_rows_write_shard(store, "d.shard", doubles, MANY_DOUBLES, 1, progress, NULL, err);
}

TEST(opening_and_writing_rows_can_be_cancelled)
{
	static const char *const keys[] = {"r/a.shard", "r/b.shard", "r/c.shard"};
	static const double two[] = {1, 2};
	double *many = calloc(MANY_DOUBLES, sizeof(*many));
	assert_non_null(many);
	doubles = many;
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		assert_ok(sherd_rows_write_shard(STORE, keys[i], two, 1, 2, NULL, NULL, err));
	assert_true(cancel_everywhere(STORE, open_rows, rows_are_there) >= 3);
	assert_true(cancel_everywhere(STORE, write_rows, rows_are_there) >= 3);
	free(many);
}

static int open_index(sherd_store *store, const sherd_progress *progress, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_bundle_options o = {.progress = progress};
	return sherd_bundle_open(&b, store, "x.safetensors.index.json", &o, err);
}

TEST(opening_sharded_safetensors_can_be_cancelled)
{
	SAMPLE s = ckpt_sample_small(3, 1);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_convert_options o = {.shards = 3};
	sample = s;
	assert_ok(ckpt_sample_save(s, STORE, "m", err));
	assert_ok(sherd_bundle_open(&b, STORE, "m", NULL, err));
	assert_ok(sherd_convert(b, STORE, "x", SHERD_FORMAT_SAFETENSORS_INDEX, &o, err));
	assert_true(cancel_everywhere(STORE, open_index, set_is_whole) >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(looking_at_a_set_can_be_cancelled_at_every_shard),
		CASE_ON_BOTH(a_save_can_be_cancelled_until_it_is_published),
		CASE_ON_BOTH(a_cancelled_replacement_leaves_the_former_set_alone),
		CASE_ON_BOTH(a_cancelled_commit_leaves_shards_and_claim),
		CASE_ON_BOTH(a_cancelled_repair_leaves_the_shards_and_no_claim),
		CASE_ON_BOTH(clearing_what_a_dead_save_left_can_be_cancelled),
		CASE_ON_BOTH(a_cancelled_prune_leaves_every_set_whole_or_gone),
		CASE_IN_MEMORY(hashing_a_shard_without_index_can_be_cancelled_before_its_tensors_are_read),
		CASE_IN_MEMORY(damage_of_a_shard_without_index_is_found_by_preparing),
		CASE_IN_MEMORY(opening_and_writing_rows_can_be_cancelled),
		CASE_IN_MEMORY(opening_sharded_safetensors_can_be_cancelled),
	};
	return cmocka_run_group_tests_name("ckpt_cancel", tests, NULL, NULL);
}
