/* What is cleared, and what is left alone, when a claim is found dead. In these stores a claim that was put there
 * without a lock is dead. */
#include "support/test.h"

#include "base/buf.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "format/ckpt/name.h"

#include <sherd/ckpt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

static const sherd_set_id id_x = {{1}}, id_y = {{2}};
static const float values[] = {1, 2, 3, 4};
static const uint64_t shape[] = {4};
static const sherd_ckpt_item item = {.tensor = {"w", SHERD_F32, 1, shape, 0}, .data = values};
static const sherd_ckpt_shard_items both[] = {{&item, 1}, {&item, 1}};

static sherd_store *new_store(void)
{
	sherd_store *store;
	assert_ok(sherd_store_open_memory(&store, err));
	return store;
}

static void save(sherd_store *store, const char *prefix, const sherd_set_id *id, bool replace)
{
	const sherd_ckpt_save_options o = {.world = 2, .set_id = id, .replace = replace};
	assert_ok(sherd_ckpt_save(store, prefix, both, &o, err));
}

static void put_claim(sherd_store *store, shd_ckpt_claim claim)
{
	SHD_AUTO_BUF text = {0};
	claim.world = 2;
	shd_ckpt_claim_encode(&claim, &text);
	assert_ok(sherd_store_put(store, "a.saving", SHERD_WRITE_REPLACE, text.data, text.len, err));
}

static bool count_one(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key;
	(void)stat;
	++*(size_t *)arg;
	return true;
}

static size_t count(sherd_store *store, const char *start)
{
	size_t n = 0;
	assert_ok(sherd_store_list(store, start, "", count_one, &n, err));
	return n;
}

/* A copy of a shard of one prefix under a name of another. */
static void copy(sherd_store *store, const char *from, const char *to)
{
	char *data;
	size_t len;
	assert_ok(sherd_store_get(&data, &len, store, from, 1 << 20, err));
	assert_ok(sherd_store_put(store, to, SHERD_WRITE_NEW, data, len, err));
	sherd_free(data);
}

TEST(a_dead_save_is_cleared_by_its_set_id)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	save(store, "a", &id_x, false);
	assert_ok(sherd_store_remove(store, "a.metadata.json", err));
	put_claim(store, (shd_ckpt_claim){.set_id = id_y});
	assert_ok(shd_ckpt_clear_dead(store, "a", 0, NULL, err));
	assert_int_equal(count(store, "a"), 2);
	put_claim(store, (shd_ckpt_claim){.set_id = id_x});
	assert_ok(shd_ckpt_clear_dead(store, "a", 0, NULL, err));
	assert_int_equal(count(store, "a"), 0);
}

TEST(the_shards_of_a_repair_that_died_stay)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	save(store, "a", &id_x, false);
	assert_ok(sherd_store_remove(store, "a.metadata.json", err));
	put_claim(store, (shd_ckpt_claim){.set_id = id_x, .repairing = true});
	assert_ok(sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 1}, err));
	assert_int_equal(count(store, "a.saving"), 0);
	assert_int_equal(count(store, "a_shard_"), 2);
	assert_ok(sherd_ckpt_repair(store, "a", NULL, NULL, err));
	assert_ok(sherd_ckpt_open(&ckpt, store, "a", NULL, err));
}

TEST(a_removal_that_died_is_finished_once_the_metadata_is_gone)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	save(store, "a", &id_x, false);
	assert_ok(sherd_store_remove(store, "a.metadata.json", err));
	put_claim(store, (shd_ckpt_claim){.set_id = id_x, .removing = true});
	assert_ok(shd_ckpt_clear_dead(store, "a", 0, NULL, err));
	assert_int_equal(count(store, "a"), 0);
}

TEST(a_removal_that_died_before_the_metadata_went_leaves_the_set)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	save(store, "a", &id_x, false);
	put_claim(store, (shd_ckpt_claim){.set_id = id_x, .removing = true});
	assert_ok(shd_ckpt_clear_dead(store, "a", 0, NULL, err));
	assert_int_equal(count(store, "a.saving"), 0);
	assert_ok(sherd_ckpt_open(&ckpt, store, "a", NULL, err));
}

TEST(a_removal_that_died_leaves_another_set_alone)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	save(store, "a", &id_y, false);
	put_claim(store, (shd_ckpt_claim){.set_id = id_x, .removing = true});
	assert_ok(shd_ckpt_clear_dead(store, "a", 0, NULL, err));
	assert_int_equal(count(store, "a.saving"), 0);
	assert_ok(sherd_ckpt_open(&ckpt, store, "a", NULL, err));
}

TEST(tidying_touches_nothing_when_another_has_claimed)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	SHD_AUTO_BUF stray = {0};
	save(store, "a", &id_x, false);
	save(store, "b", &id_y, false);
	shd_ckpt_name_shard(&stray, "a", 0, &id_y);
	copy(store, "b_shard_0.shard", (const char *)stray.data);

	put_claim(store, (shd_ckpt_claim){.set_id = id_y, .named_by_set = true});
	assert_ok(shd_ckpt_clear_unnamed(store, "a", &id_x, err));
	assert_int_equal(count(store, "a_shard_"), 3);
	assert_ok(sherd_store_remove(store, "a.saving", err));
	assert_ok(shd_ckpt_clear_unnamed(store, "a", &id_x, err));
	assert_int_equal(count(store, "a_shard_"), 3);

	put_claim(store, (shd_ckpt_claim){.set_id = id_x});
	assert_ok(shd_ckpt_clear_unnamed(store, "a", &id_x, err));
	assert_int_equal(count(store, "a_shard_"), 2);
	assert_int_equal(count(store, (const char *)stray.data), 0);
}

TEST(a_replacement_that_died_after_its_metadata_is_tidied)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	save(store, "a", &id_x, false);
	save(store, "old", &id_y, false);
	save(store, "a", &id_y, true);
	copy(store, "old_shard_0.shard", "a_shard_0.shard");
	put_claim(store, (shd_ckpt_claim){.set_id = id_y, .named_by_set = true});
	assert_ok(shd_ckpt_clear_dead(store, "a", 0, NULL, err));
	assert_int_equal(count(store, "a_shard_"), 2);
	assert_int_equal(count(store, "a.saving"), 0);
	assert_ok(sherd_ckpt_open(&ckpt, store, "a", NULL, err));
}

static void save_at(sherd_store *store, const char *prefix, int64_t time_ns, bool replace)
{
	const sherd_ckpt_save_options o = {.world = 2, .time_ns = time_ns, .replace = replace};
	assert_ok(sherd_ckpt_save(store, prefix, both, &o, err));
}

static void replace_the_next(void *arg, const sherd_ckpt_pruned *pruned)
{
	if (pruned->fate == SHERD_CKPT_LEFT) {
		assert_string_equal(pruned->prefix, "a");
		return;
	}
	assert_string_equal(pruned->prefix, "b");
	assert_int_equal(pruned->was, SHERD_CKPT_COMMITTED);
	save_at(arg, "a", 9, true);
}

TEST(a_set_that_is_replaced_after_prune_has_listed_it_is_kept)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	save_at(store, "a", 1, false);
	save_at(store, "b", 2, false);
	save_at(store, "c", 3, false);
	/* "b" goes first; "a" would be next, but is the newest of all by then. */
	assert_ok(sherd_ckpt_prune(
		store, "", &(sherd_ckpt_prune_options){.keep = 1, .pruned = replace_the_next, .arg = store}, err));
	assert_int_equal(count(store, "b"), 0);
	assert_int_equal(count(store, "a.saving"), 0);
	assert_ok(sherd_ckpt_open(&ckpt, store, "a", NULL, err));
	assert_int_equal(sherd_ckpt_describe(ckpt)->time_ns, 9);
}

TEST(a_save_in_the_csharp_layout_gives_no_orphans_away)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	const sherd_ckpt_save_options o = {.world = 2, .layout = SHERD_CKPT_LAYOUT_CSHARP};
	assert_ok(sherd_ckpt_save(store, "a", both + 0, &(sherd_ckpt_save_options){.layout = SHERD_CKPT_LAYOUT_CSHARP},
	                          err));
	assert_ok(sherd_store_remove(store, "a.metadata.json", err));
	assert_refused(SHERD_ECONFLICT, "orphans", sherd_ckpt_save(store, "a", both, &o, err));
	assert_int_equal(count(store, "a"), 1);
	/* A dead one's own are cleared. */
	put_claim(store, (shd_ckpt_claim){.set_id = id_x, .csharp = true});
	const sherd_ckpt_item once[] = {{.tensor = {"v", SHERD_F32, 1, shape, 0}, .data = values}};
	const sherd_ckpt_shard_items apart[] = {{&item, 1}, {once, 1}};
	assert_ok(sherd_ckpt_save(store, "a", apart, &o, err));
	assert_int_equal(count(store, "a"), 3);
}

TEST(a_checked_load_fails_when_the_index_is_lost)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	char *data;
	size_t len;
	float got[4];
	save(store, "a", &id_x, false);
	assert_ok(sherd_store_get(&data, &len, store, "a_shard_0.shard", 1 << 20, err));
	data[len - 8] ^= 1;
	assert_ok(sherd_store_put(store, "a_shard_0.shard", SHERD_WRITE_REPLACE, data, len, err));
	sherd_free(data);
	assert_ok(sherd_ckpt_open(&ckpt, store, "a", NULL, err));
	const sherd_ckpt_want want = {.tensor = 0, .buf = got};
	assert_refused(SHERD_ECORRUPT, "no-index", sherd_ckpt_load(ckpt, &want, 1, NULL, err));
}

TEST(further_members_that_are_ours_or_no_json_are_refused_before_anything_is_written)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	sherd_ckpt_item bad = item;
	const sherd_ckpt_shard_items one = {&bad, 1};
	bad.extra = "\"offset\": 3";
	assert_refused(SHERD_EINVAL, "duplicate-key", sherd_ckpt_save(store, "a", &one, NULL, err));
	bad.extra = "\"x\": }";
	assert_refused(SHERD_EINVAL, "bad-json", sherd_ckpt_save(store, "a", &one, NULL, err));
	const sherd_ckpt_about about = {.extra = "\"shards\": []"};
	bad.extra = NULL;
	assert_refused(SHERD_EINVAL, "duplicate-key",
	               sherd_ckpt_save(store, "a", &one, &(sherd_ckpt_save_options){.about = &about}, err));
	assert_int_equal(count(store, ""), 0);
}

/* ---- metadata that somebody copied or renamed: its shards have the names of another prefix */

static void rename_metadata(sherd_store *store, const char *from, const char *to)
{
	copy(store, from, to);
	assert_ok(sherd_store_remove(store, from, err));
}

static void assert_opens(sherd_store *store, const char *prefix)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	assert_ok(sherd_ckpt_open(&ckpt, store, prefix, NULL, err));
}

TEST(a_replacement_leaves_shards_that_copied_metadata_names)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	save(store, "run/a", &id_x, false);
	save(store, "run/deep/er", &id_x, false); /* a folder in between */
	copy(store, "run/a.metadata.json", "run/z.metadata.json");
	save(store, "run/a", &id_y, true);
	assert_int_equal(count(store, "run/a_shard_"), 4);
	assert_int_equal(count(store, "run/a.saving"), 0);
	assert_opens(store, "run/a");
	assert_opens(store, "run/z");
	/* Once nobody names them they are strays, which go when that is asked for. */
	assert_ok(sherd_ckpt_remove(store, "run/z", NULL, NULL, err));
	assert_ok(sherd_ckpt_prune(store, "run/", &(sherd_ckpt_prune_options){.keep = 1, .orphaned = true}, err));
	assert_int_equal(count(store, "run/a_shard_"), 2);
	assert_opens(store, "run/a");
}

TEST(a_take_over_leaves_shards_that_renamed_metadata_names)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	save(store, "a", &id_x, false);
	rename_metadata(store, "a.metadata.json", "z.metadata.json");
	const sherd_ckpt_save_options o = {.world = 2, .set_id = &id_y, .take_over = true};
	assert_ok(sherd_ckpt_save(store, "a", both, &o, err));
	assert_int_equal(count(store, "a_shard_"), 4);
	assert_opens(store, "a");
	assert_opens(store, "z");
}

TEST(clearing_a_dead_claim_leaves_shards_that_renamed_metadata_names)
{
	const shd_ckpt_claim claims[] = {
		{.set_id = id_x}, {.set_id = id_x, .removing = true}, {.set_id = id_x, .csharp = true}};
	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
		save(store, "a", &id_x, false);
		rename_metadata(store, "a.metadata.json", "z.metadata.json");
		put_claim(store, claims[i]);
		assert_ok(shd_ckpt_clear_dead(store, "a", 0, NULL, err));
		assert_int_equal(count(store, "a.saving"), 0);
		assert_opens(store, "z");
	}
}

TEST(metadata_that_cannot_be_read_may_name_any_shard_that_it_mentions)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	static const char broken[] = "{\"shards\": [\"a_shard_0.shard\"", other[] = "{\"shards\": [\"b_shard_0.shard\"";
	save(store, "a", &id_x, false);
	assert_ok(sherd_store_put(store, "z.metadata.json", SHERD_WRITE_NEW, broken, sizeof(broken) - 1, err));
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_remove(store, "a", NULL, NULL, err));
	save_at(store, "newer", 5, false);
	save_at(store, "b", 1, false);
	assert_ok(sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 1}, err));
	assert_opens(store, "a");
	assert_int_equal(count(store, "b"), 0);
	save(store, "a", &id_y, true);
	assert_int_equal(count(store, "a_shard_"), 4);
	assert_ok(sherd_store_put(store, "z.metadata.json", SHERD_WRITE_REPLACE, other, sizeof(other) - 1, err));
	assert_ok(sherd_ckpt_remove(store, "a", NULL, NULL, err));
	assert_int_equal(count(store, "a"), 0);
}

TEST(names_with_escapes_are_found_in_copied_metadata)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = new_store();
	static const char prefix[] = "a \"b\"\n";
	SHD_AUTO_BUF from = {0};
	save(store, prefix, &id_x, false);
	shd_ckpt_name_metadata(&from, prefix);
	copy(store, (const char *)from.data, "z.metadata.json");
	save(store, prefix, &id_y, true);
	assert_opens(store, prefix);
	assert_opens(store, "z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_save_is_cleared_by_its_set_id),
		cmocka_unit_test(the_shards_of_a_repair_that_died_stay),
		cmocka_unit_test(a_removal_that_died_is_finished_once_the_metadata_is_gone),
		cmocka_unit_test(a_removal_that_died_before_the_metadata_went_leaves_the_set),
		cmocka_unit_test(a_removal_that_died_leaves_another_set_alone),
		cmocka_unit_test(tidying_touches_nothing_when_another_has_claimed),
		cmocka_unit_test(a_replacement_that_died_after_its_metadata_is_tidied),
		cmocka_unit_test(a_set_that_is_replaced_after_prune_has_listed_it_is_kept),
		cmocka_unit_test(a_save_in_the_csharp_layout_gives_no_orphans_away),
		cmocka_unit_test(a_checked_load_fails_when_the_index_is_lost),
		cmocka_unit_test(further_members_that_are_ours_or_no_json_are_refused_before_anything_is_written),
		cmocka_unit_test(a_replacement_leaves_shards_that_copied_metadata_names),
		cmocka_unit_test(a_take_over_leaves_shards_that_renamed_metadata_names),
		cmocka_unit_test(clearing_a_dead_claim_leaves_shards_that_renamed_metadata_names),
		cmocka_unit_test(metadata_that_cannot_be_read_may_name_any_shard_that_it_mentions),
		cmocka_unit_test(names_with_escapes_are_found_in_copied_metadata),
	};
	return cmocka_run_group_tests_name("ckpt_clear", tests, NULL, NULL);
}
