#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

SHD_AUTO_DEFINE(ckpt_sample, ckpt_sample_free)

#define SAMPLE SHD_AUTO(ckpt_sample, ckpt_sample_free)

static void save_at(sherd_store *store, const char *prefix, int64_t time_ns)
{
	SAMPLE s = ckpt_sample_small((uint64_t)time_ns, 1);
	sherd_ckpt_save_options o = ckpt_sample_options(s, time_ns);
	assert_ok(sherd_ckpt_save(store, prefix, s->shards, &o, err));
}

typedef struct heard {
	char text[256];
} heard;

static void hear(void *arg, const sherd_ckpt_pruned *p)
{
	static const char *const fates[] = {"", " cleared", " left"};
	heard *h = arg;
	size_t n = strlen(h->text);
	(void)snprintf(h->text + n, sizeof(h->text) - n, "%s%s %s%s", n ? ", " : "", p->prefix,
	               sherd_ckpt_state_name(p->was), fates[p->fate]);
	assert_true((p->fate == SHERD_CKPT_LEFT) == (*p->why != 0));
}

static void assert_pruned_by(sherd_store *store, sherd_ckpt_prune_options o, const char *removed)
{
	heard h = {""};
	o.pruned = hear;
	o.arg = &h;
	assert_ok(sherd_ckpt_prune(store, "", &o, err));
	assert_string_equal(h.text, removed);
}

static void assert_pruned(sherd_store *store, size_t keep, const char *removed)
{
	assert_pruned_by(store, (sherd_ckpt_prune_options){.keep = keep}, removed);
}

TEST(the_newest_are_kept_and_the_older_ones_go)
{
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 4);
	save_at(STORE, "c", 3);
	save_at(STORE, "d", 2);
	assert_pruned(STORE, 5, "");
	assert_pruned(STORE, 4, "");
	assert_pruned(STORE, 2, "d committed, a committed");
	assert_keys(STORE, "b.metadata.json b_shard_0.shard c.metadata.json c_shard_0.shard");
	assert_pruned(STORE, 1, "c committed");
	assert_pruned(STORE, 1, "");
	assert_keys(STORE, "b.metadata.json b_shard_0.shard");
}

TEST(keeping_none_is_refused)
{
	save_at(STORE, "a", 1);
	assert_refused(SHERD_EINVAL, "bad-argument",
	               sherd_ckpt_prune(STORE, "", &(sherd_ckpt_prune_options){.keep = 0}, err));
	assert_keys(STORE, "a.metadata.json a_shard_0.shard");
}

TEST(what_is_being_written_stays)
{
	SAMPLE s = ckpt_sample_small(7, 2);
	sherd_ckpt_saver *saver = NULL, *replacing = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	save_at(STORE, "new", 9);
	save_at(STORE, "old", 1);
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	assert_ok(sherd_ckpt_saver_shard(saver, 0, s->shards[0].items, s->shards[0].count, err));
	o.replace = true;
	assert_ok(sherd_ckpt_saver_open(&replacing, STORE, "old", &o, err));
	assert_pruned(STORE, 1, "old committed left");
	assert_keys(STORE, "m.saving m_shard_0.shard new.metadata.json new_shard_0.shard "
	                   "old.metadata.json old.saving old_shard_0.shard");
	sherd_ckpt_saver_abort(replacing);
	assert_ok(sherd_ckpt_saver_shard(saver, 1, s->shards[1].items, s->shards[1].count, err));
	assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
	assert_sample(s, STORE, "m");
}

static void die(sherd_store *store, const char *prefix, bool replace)
{
	SAMPLE s = ckpt_sample_small(7, 2);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	o.replace = replace;
	assert_ok(shd_ckpt_saver_begin(&saver, store, prefix, &o, false, NULL, err));
	assert_ok(sherd_ckpt_saver_shard(saver, 0, s->shards[0].items, s->shards[0].count, err));
	assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
}

TEST(what_dead_saves_left_is_cleared)
{
	save_at(STORE, "a", 1);
	die(STORE, "dead", false);
	die(STORE, "a", true);
	assert_pruned(STORE, 3, "a committed cleared, dead dead");
	assert_keys(STORE, "a.metadata.json a_shard_0.shard");
}

TEST(orphans_and_damaged_ones_stay)
{
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	save_at(STORE, "c", 3);
	assert_ok(sherd_store_remove(STORE, "a.metadata.json", err));
	object_put(STORE, "b.metadata.json", "{", 1);
	assert_pruned(STORE, 1, "");
	assert_keys(STORE, "a_shard_0.shard b.metadata.json b_shard_0.shard c.metadata.json c_shard_0.shard");
}

static void cut_object(sherd_store *store, const char *key, size_t len)
{
	size_t had;
	char *data = object_get(store, key, &had);
	assert_true(len < had);
	object_put(store, key, data, len);
	sherd_free(data);
}

/* The newest has lost a shard, the next one most of one: nothing whole goes for them. */
TEST(what_is_kept_is_whole)
{
	SAMPLE whole = ckpt_sample_small(2, 1);
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	save_at(STORE, "c", 3);
	save_at(STORE, "d", 4);
	assert_ok(sherd_store_remove(STORE, "d_shard_0.shard", err));
	cut_object(STORE, "c_shard_0.shard", 100);
	assert_pruned(STORE, 2, "");
	assert_pruned(STORE, 1, "a committed");
	assert_sample(whole, STORE, "b");
	assert_keys(STORE, "b.metadata.json b_shard_0.shard c.metadata.json c_shard_0.shard d.metadata.json");
}

/* A head that another set's shard could have: magic, rank and checksum are looked at, not only the size. */
TEST(a_kept_set_has_the_heads_that_its_metadata_names)
{
	static const size_t fields[] = {0, 4, 20, 76};
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		size_t len;
		save_at(STORE, "old", 1);
		save_at(STORE, "new", 2);
		char *data = object_get(STORE, "new_shard_0.shard", &len);
		data[fields[i]] ^= 1;
		object_put(STORE, "new_shard_0.shard", data, len);
		sherd_free(data);
		assert_pruned(STORE, 1, "");
		assert_ok(sherd_ckpt_remove(STORE, "new", NULL, NULL, err));
		assert_ok(sherd_ckpt_remove(STORE, "old", NULL, NULL, err));
	}
	assert_keys(STORE, "");
}

/* 127 bytes, dated 2261, no shards: it must not cost every real checkpoint. */
TEST(metadata_of_the_year_2261_removes_nothing)
{
	static const char text[] = "{\"version\": \"1.0.0\", \"timestamp\": \"2261-01-01T00:00:00Z\", "
				   "\"worldSize\": 1, \"shards\": [{\"rank\": 0, \"fileSize\": 9, \"tensors\": []}]}";
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	object_put(STORE, "z.metadata.json", text, sizeof(text) - 1);
	assert_pruned(STORE, 2, "");
	assert_pruned(STORE, 1, "a committed");
	assert_keys(STORE, "b.metadata.json b_shard_0.shard z.metadata.json");
}

/* A clock that ran ahead: the set is whole, but its time does not make it the newest. */
TEST(what_is_dated_in_the_future_is_left_alone_and_not_counted)
{
	save_at(STORE, "ahead", 1000);
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	save_at(STORE, "c", 3);
	assert_pruned_by(STORE, (sherd_ckpt_prune_options){.keep = 2, .now_ns = 50},
	                 "ahead committed left, a committed");
	assert_pruned_by(STORE, (sherd_ckpt_prune_options){.keep = 1, .now_ns = 2},
	                 "ahead committed left, c committed left");
	assert_pruned_by(STORE, (sherd_ckpt_prune_options){.keep = 1}, "c committed, b committed");
	assert_keys(STORE, "ahead.metadata.json ahead_shard_0.shard");
}

/* Metadata that was copied by hand names the shards of another set. */
TEST(shards_that_another_set_names_stay)
{
	size_t len;
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	char *text = object_get(STORE, "a.metadata.json", &len);
	object_put(STORE, "c.metadata.json", text, len);
	sherd_free(text);
	/* c has a's time and the later name */
	assert_pruned(STORE, 2, "a committed left");
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_remove(STORE, "a", NULL, NULL, err));
	assert_pruned(STORE, 1, "c committed, a committed");
	assert_keys(STORE, "b.metadata.json b_shard_0.shard");
}

static void copy_metadata(sherd_store *store, const char *from, const char *to)
{
	size_t len;
	char *text = object_get(store, from, &len);
	object_put(store, to, text, len);
	free(text);
}

/* Whichever of the two comes first in the listing: those of one time are listed by name. */
TEST(a_borrower_that_stays_after_all_protects_its_lender)
{
	SAMPLE s = ckpt_sample_small(7, 2);
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	static const char *const borrowers[] = {"a", "z"};
	o.replace = true;
	for (size_t i = 0; i < COUNT_OF(borrowers); i++) {
		sherd_ckpt_saver *replacing = NULL;
		char metadata[32], expected[64];
		save_at(STORE, "m", 1);
		save_at(STORE, "new", 2);
		(void)snprintf(metadata, sizeof(metadata), "%s.metadata.json", borrowers[i]);
		copy_metadata(STORE, "m.metadata.json", metadata);
		assert_ok(sherd_ckpt_saver_open(&replacing, STORE, borrowers[i], &o, err));
		(void)snprintf(expected, sizeof(expected), "%s committed left, m committed left", borrowers[i]);
		assert_pruned(STORE, 1, expected);
		sherd_ckpt_saver_abort(replacing);
		(void)snprintf(expected, sizeof(expected), "%s committed, m committed", borrowers[i]);
		assert_pruned(STORE, 1, expected);
		assert_keys(STORE, "new.metadata.json new_shard_0.shard");
		assert_ok(sherd_ckpt_remove(STORE, "new", NULL, NULL, err));
	}
}

TEST(orphans_and_damaged_ones_go_when_asked_for)
{
	sherd_ckpt_prune_options o = {.keep = 1, .damaged = true, .orphaned = true, .dry_run = true};
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	save_at(STORE, "c", 3);
	save_at(STORE, "d", 4);
	die(STORE, "e", false);
	assert_ok(sherd_store_remove(STORE, "a.metadata.json", err));
	object_put(STORE, "b.metadata.json", "{", 1);
	assert_ok(sherd_store_remove(STORE, "c_shard_0.shard", err));
	char *before = object_keys(STORE);
	assert_pruned_by(STORE, o, "a orphaned, b damaged, c damaged, e dead");
	assert_keys(STORE, before);
	free(before);
	o.dry_run = false;
	assert_pruned_by(STORE, o, "a orphaned, b damaged, c damaged, e dead");
	assert_keys(STORE, "d.metadata.json d_shard_0.shard");
}

/* Whose they are nobody knows; verify warns of them. */
TEST(strays_beside_a_set_go_when_asked_for)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	sherd_ckpt_prune_options o = {.keep = 1, .orphaned = true, .dry_run = true};
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	object_put(STORE, "a_shard_7.shard", "x", 1);
	object_put(STORE, "a_shard_0.00112233445566778899aabbccddeeff.shard", "x", 1);
	assert_pruned(STORE, 2, "");
	o.keep = 2;
	assert_pruned_by(STORE, o, "a committed cleared");
	assert_int_equal(object_count(STORE, "a_shard_"), 3);
	o.dry_run = false;
	assert_pruned_by(STORE, o, "a committed cleared");
	assert_pruned_by(STORE, o, "");
	assert_keys(STORE, "a.metadata.json a_shard_0.shard b.metadata.json b_shard_0.shard");
	assert_sample(s, STORE, "a");
}

/* Metadata that was renamed by hand: beside the set that has taken its place its shards look like strays. */
TEST(strays_that_another_set_names_stay)
{
	size_t len;
	sherd_ckpt_prune_options o = {.keep = 3, .orphaned = true};
	save_at(STORE, "a", 1);
	char *text = object_get(STORE, "a.metadata.json", &len);
	object_put(STORE, "c.metadata.json", text, len);
	sherd_free(text);
	char *shard = object_get(STORE, "a_shard_0.shard", &len);
	SAMPLE s = ckpt_sample_small(2, 1);
	sherd_ckpt_save_options again = ckpt_sample_options(s, 2);
	again.replace = true;
	assert_ok(sherd_ckpt_save(STORE, "a", s->shards, &again, err));
	object_put(STORE, "a_shard_0.shard", shard, len);
	sherd_free(shard);
	assert_pruned_by(STORE, o, "a committed left");
	assert_ok(sherd_ckpt_remove(STORE, "c", NULL, NULL, err));
	assert_pruned_by(STORE, o, "a committed cleared");
}

/* Of a folder in which nothing is whole every byte may be wanted. */
TEST(without_a_whole_set_only_dead_saves_are_cleared)
{
	sherd_ckpt_prune_options o = {.keep = 1, .damaged = true, .orphaned = true};
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	die(STORE, "e", false);
	assert_ok(sherd_store_remove(STORE, "a.metadata.json", err));
	object_put(STORE, "b.metadata.json", "{", 1);
	assert_pruned_by(STORE, o, "a orphaned left, b damaged left, e dead");
	assert_keys(STORE, "a_shard_0.shard b.metadata.json b_shard_0.shard");
}

/* Of a later version than ours: not damaged, so not ours to remove. */
TEST(what_cannot_be_read_here_is_never_removed)
{
	sherd_ckpt_prune_options o = {.keep = 1, .damaged = true, .orphaned = true};
	static const char text[] = "{\"version\": \"2.0\", \"worldSize\": 1, \"shards\": []}";
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	object_put(STORE, "a.metadata.json", text, sizeof(text) - 1);
	assert_pruned_by(STORE, o, "a unreadable left");
	assert_keys(STORE, "a.metadata.json a_shard_0.shard b.metadata.json b_shard_0.shard");
}

static void remove_the_kept(void *arg, const sherd_ckpt_pruned *p)
{
	if (strcmp(p->prefix, "b") == 0)
		assert_ok(sherd_ckpt_remove(arg, "c", NULL, NULL, err));
}

TEST(prune_stops_when_what_it_kept_is_gone)
{
	save_at(STORE, "a", 1);
	save_at(STORE, "b", 2);
	save_at(STORE, "c", 3);
	sherd_ckpt_prune_options o = {.keep = 1, .pruned = remove_the_kept, .arg = STORE};
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_prune(STORE, "", &o, err));
	assert_keys(STORE, "a.metadata.json a_shard_0.shard");
}

static void assert_removed(sherd_store *store, const char *prefix, const char *was)
{
	sherd_ckpt_state state;
	assert_ok(sherd_ckpt_remove(store, prefix, NULL, &state, err));
	assert_string_equal(sherd_ckpt_state_name(state), was);
}

TEST(a_prefix_is_removed_whatever_it_is)
{
	save_at(STORE, "f/a", 1);
	save_at(STORE, "f/ab", 1);
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_ckpt_remove(STORE, "f/b", NULL, NULL, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_ckpt_remove(STORE, "a", NULL, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_remove(STORE, "f/", NULL, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_remove(STORE, "f/a_shard_0.shard", NULL, NULL, err));
	assert_removed(STORE, "f/a", "committed");
	assert_keys(STORE, "f/ab.metadata.json f/ab_shard_0.shard");
	object_put(STORE, "f/ab.metadata.json", "{", 1);
	assert_removed(STORE, "f/ab", "damaged");
	save_at(STORE, "a", 1);
	assert_ok(sherd_store_remove(STORE, "a.metadata.json", err));
	assert_removed(STORE, "a", "orphaned");
	die(STORE, "a", false);
	assert_removed(STORE, "a", "dead");
	/* a dead save beside shards that belong to nobody */
	save_at(STORE, "a", 1);
	die(STORE, "a", true);
	assert_ok(sherd_store_remove(STORE, "a.metadata.json", err));
	assert_removed(STORE, "a", "dead");
	assert_keys(STORE, "");
}

/* Longer than anybody reads, which a removal and a replacement need not do. */
TEST(metadata_that_is_too_long_goes_with_its_shards_and_can_be_replaced)
{
	SAMPLE s = ckpt_sample_small(7, 2);
	sherd_ckpt_save_options o = ckpt_sample_options(s, 7);
	o.replace = true;
	for (int i = 0; i < 2; i++) {
		char path[1100];
		save_at(STORE, "m", 1);
		assert_true((size_t)snprintf(path, sizeof(path), "%s/m.metadata.json", FOLDER) < sizeof(path));
		assert_int_equal(truncate(path, (512 << 20) + 1), 0);
		if (i)
			assert_ok(sherd_ckpt_save(STORE, "m", s->shards, &o, err));
		else
			assert_removed(STORE, "m", "damaged");
		assert_int_equal(object_count(STORE, ""), i ? 3 : 0);
	}
	assert_sample(s, STORE, "m");
}

TEST(what_is_no_object_and_has_the_name_of_metadata_keeps_its_shards)
{
	char path[1100];
	save_at(STORE, "m", 1);
	assert_ok(sherd_store_remove(STORE, "m.metadata.json", err));
	assert_true((size_t)snprintf(path, sizeof(path), "%s/m.metadata.json", FOLDER) < sizeof(path));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(SHERD_EEXIST, "cannot-replace", sherd_ckpt_remove(STORE, "m", NULL, NULL, err));
	assert_keys(STORE, "m_shard_0.shard");
}

TEST(a_removal_waits_for_nobody)
{
	SAMPLE s = ckpt_sample_small(7, 2);
	sherd_ckpt_saver *saver = NULL;
	sherd_ckpt_save_options o = ckpt_sample_options(s, 0);
	save_at(STORE, "m", 1);
	o.replace = true;
	assert_ok(sherd_ckpt_saver_open(&saver, STORE, "m", &o, err));
	assert_refused(SHERD_ECONFLICT, "conflict", sherd_ckpt_remove(STORE, "m", NULL, NULL, err));
	for (uint32_t r = 0; r < 2; r++)
		assert_ok(sherd_ckpt_saver_shard(saver, r, s->shards[r].items, s->shards[r].count, err));
	assert_ok(sherd_ckpt_saver_finish(saver, NULL, err));
	assert_sample(s, STORE, "m");
	assert_removed(STORE, "m", "committed");
	assert_keys(STORE, "");
}

/* The claim of a removal that died at once, before it touched anything. */
static void claim_removal(sherd_store *store, const char *prefix, uint64_t seed)
{
	SAMPLE s = ckpt_sample_small(seed, 1);
	ckpt_hold hold;
	shd_ckpt_claim mine = shd_ckpt_claim_of_us(&s->set_id, 1, 0);
	mine.removing = true;
	assert_ok(shd_ckpt_hold(&hold, store, prefix, &mine, NULL, NULL, err));
	shd_claim_leave(&hold.held);
}

TEST(a_removal_that_died_is_finished)
{
	save_at(STORE, "new", 9);
	save_at(STORE, "old", 1);
	claim_removal(STORE, "old", 1);
	assert_ok(sherd_store_remove(STORE, "old.metadata.json", err));
	assert_pruned(STORE, 5, "old dead");
	assert_keys(STORE, "new.metadata.json new_shard_0.shard");
}

TEST(a_save_finishes_a_removal_that_died)
{
	SAMPLE s = ckpt_sample_small(3, 1);
	save_at(STORE, "old", 1);
	claim_removal(STORE, "old", 1);
	assert_ok(sherd_store_remove(STORE, "old.metadata.json", err));
	assert_ok(ckpt_sample_save(s, STORE, "old", err));
	assert_sample(s, STORE, "old");
	assert_keys(STORE, "old.metadata.json old_shard_0.shard");
}

/* It was old when the removal began; since then the newer one was lost. */
TEST(the_newest_stays_even_if_its_removal_had_begun)
{
	SAMPLE s = ckpt_sample_small(1, 1);
	save_at(STORE, "only", 1);
	claim_removal(STORE, "only", 1);
	assert_pruned(STORE, 1, "only committed cleared");
	assert_keys(STORE, "only.metadata.json only_shard_0.shard");
	assert_sample(s, STORE, "only");
}

TEST(the_set_of_a_removal_that_died_may_be_replaced)
{
	SAMPLE s = ckpt_sample_small(3, 1);
	save_at(STORE, "old", 1);
	claim_removal(STORE, "old", 1);
	assert_ok(ckpt_sample_replace(s, STORE, "old", err));
	assert_sample(s, STORE, "old");
}

TEST(only_this_folder_is_pruned)
{
	save_at(STORE, "a/x", 1);
	save_at(STORE, "a/y", 2);
	save_at(STORE, "b/x", 1);
	assert_ok(sherd_ckpt_prune(STORE, "a/", &(sherd_ckpt_prune_options){.keep = 1}, err));
	assert_keys(STORE, "a/y.metadata.json a/y_shard_0.shard b/x.metadata.json b/x_shard_0.shard");
}

TEST(foreign_sets_are_pruned_too)
{
	SAMPLE s = ckpt_sample_csharp(1, 2);
	sherd_ckpt_save_options o = {.world = 2, .layout = SHERD_CKPT_LAYOUT_CSHARP, .time_ns = 5};
	assert_ok(sherd_ckpt_save(STORE, "old", s->shards, &o, err));
	save_at(STORE, "new", 9);
	assert_pruned(STORE, 1, "old committed");
	assert_keys(STORE, "new.metadata.json new_shard_0.shard");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(the_newest_are_kept_and_the_older_ones_go),
		CASE_ON_BOTH(keeping_none_is_refused),
		CASE_ON_BOTH(what_is_being_written_stays),
		CASE_ON_BOTH(what_dead_saves_left_is_cleared),
		CASE_ON_BOTH(orphans_and_damaged_ones_stay),
		CASE_ON_BOTH(what_is_kept_is_whole),
		CASE_ON_BOTH(a_kept_set_has_the_heads_that_its_metadata_names),
		CASE_ON_BOTH(metadata_of_the_year_2261_removes_nothing),
		CASE_ON_BOTH(what_is_dated_in_the_future_is_left_alone_and_not_counted),
		CASE_ON_BOTH(shards_that_another_set_names_stay),
		CASE_ON_BOTH(a_borrower_that_stays_after_all_protects_its_lender),
		CASE_ON_BOTH(orphans_and_damaged_ones_go_when_asked_for),
		CASE_ON_BOTH(strays_beside_a_set_go_when_asked_for),
		CASE_ON_BOTH(strays_that_another_set_names_stay),
		CASE_ON_BOTH(without_a_whole_set_only_dead_saves_are_cleared),
		CASE_ON_BOTH(what_cannot_be_read_here_is_never_removed),
		CASE_ON_BOTH(prune_stops_when_what_it_kept_is_gone),
		CASE_ON_BOTH(a_prefix_is_removed_whatever_it_is),
		CASE_IN_FOLDER(metadata_that_is_too_long_goes_with_its_shards_and_can_be_replaced),
		CASE_IN_FOLDER(what_is_no_object_and_has_the_name_of_metadata_keeps_its_shards),
		CASE_ON_BOTH(a_removal_waits_for_nobody),
		CASE_ON_BOTH(a_removal_that_died_is_finished),
		CASE_ON_BOTH(a_save_finishes_a_removal_that_died),
		CASE_ON_BOTH(the_newest_stays_even_if_its_removal_had_begun),
		CASE_ON_BOTH(the_set_of_a_removal_that_died_may_be_replaced),
		CASE_ON_BOTH(only_this_folder_is_pruned),
		CASE_ON_BOTH(foreign_sets_are_pruned_too),
	};
	return cmocka_run_group_tests_name("ckpt_prune", tests, NULL, NULL);
}
