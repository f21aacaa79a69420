/* Each engine on a store without locks that loses the answer to the write of its head, or delivers it late: who is told
 * that it succeeded has its set there, and who is told that nobody knows finds it whole when the write arrives. */
#include "support/ckpt_sample.h"
#include "support/fail_store.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/late_store.h"
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/safetensors.h"

#include <sherd/convert.h>
#include <sherd/rows.h>
#include <sherd/verify.h>

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

/* ---- one small set each */

static float rows_value = 1;

static int save_rows(sherd_store *s, sherd_error *err)
{
	const float values[] = {rows_value, 2, 3, 4};
	sherd_rows_writer *w;
	TRY(sherd_rows_writer_open(&w, s, "r", 2, NULL, err));
	int rc = sherd_rows_writer_append(w, SHERD_F32, values, 2, err);
	if (rc == SHERD_OK)
		return sherd_rows_writer_commit(w, err);
	sherd_rows_writer_abort(w);
	return rc;
}

static int save_ckpt(sherd_store *s, sherd_error *err)
{
	static uint64_t seed; /* another set each time */
	ckpt_sample *sample = ckpt_sample_small(++seed, 2);
	int rc = ckpt_sample_save(sample, s, "c", err);
	ckpt_sample_free(sample);
	return rc;
}

static bool replacing;
static uint32_t files = 2;

static int save_tensors(sherd_store *s, const char *key, sherd_format format, sherd_error *err)
{
	static const uint64_t shape[] = {4};
	static const sherd_tensor tensors[] = {{"a", SHERD_U8, 1, shape, 4}, {"b", SHERD_U8, 1, shape, 4}};
	const sherd_convert_options o = {.shards = files, .replace = replacing};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) source = NULL;
	SHD_AUTO_BUF out = {0};
	size_t order[2];
	TRY(shd_safetensors_encode(tensors, 2, NULL, 0, &out, order, err));
	shd_buf_append(&out, "abcdefgh", 8);
	TRY(sherd_store_put(store, "source", SHERD_WRITE_REPLACE, out.data, out.len, err));
	TRY(sherd_bundle_open(&source, store, "source", NULL, err));
	return sherd_convert(source, s, key, format, &o, err);
}

static int save_index(sherd_store *s, sherd_error *err)
{
	return save_tensors(s, "m", SHERD_FORMAT_SAFETENSORS_INDEX, err);
}

static int save_container(sherd_store *s, sherd_error *err)
{
	return save_tensors(s, "q", SHERD_FORMAT_SAMEDIFF_CONTAINER, err);
}

static int save_sdnb(sherd_store *s, sherd_error *err)
{
	return save_tensors(s, "d.sdnb", SHERD_FORMAT_SDNB, err);
}

static int add_node(sherd_store *s, sherd_error *err)
{
	SCOPED_GRAPH g = NULL;
	const sherd_graph_node n = graph_node("a", "F", "a", "a.js");
	sherd_stat stat;
	if (sherd_store_stat(&stat, store, "g/current.json", NULL) < 0)
		TRY(sherd_graph_create(store, "g", NULL, 0, err));
	TRY(sherd_graph_open(&g, s, "g", NULL, err));
	TRY(sherd_graph_add_nodes(g, &n, 1, err));
	return sherd_graph_flush(g, NULL, err);
}

typedef struct engine {
	const char *name, *key, *head;
	int (*save)(sherd_store *s, sherd_error *err);
	bool once;         /* its head is written in pieces, and cannot be written again */
	bool mute;         /* and does not tell whose it is */
	const char *claim; /* NULL: none */
	const char *part;  /* one that it writes; NULL: whose name depends */
} engine;

static const engine engines[] = {
	{"rows", "r", "r/rows.manifest.json", save_rows, false, false, "r/rows.packing", "r/part-00000.shard"},
	{"checkpoints", "c", "c.metadata.json", save_ckpt, false, false, "c.saving", "c_shard_0.shard"},
	{"indexed shards", "m", "m.safetensors.index.json", save_index, false, false, "m.safetensors.saving",
         "m-00001-of-00002.safetensors"},
	{"graphs", "g", "g/current.json", add_node, false, false, NULL, NULL},
	{"containers", "q.sdc", "q.shard0-of-2.sdc", save_container, true, false, "q.shard.saving",
         "q.shard1-of-2.sdc"},
	{"shards of SDNB", "d.sdnb", "d.shard0-of-2.sdnb", save_sdnb, true, true, "d.sdnb.saving",
         "d.shard1-of-2.sdnb"},
};

/* ---- what is there */

static void assert_whole(const engine *e)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	assert_ok(sherd_verify(&r, store, e->key, NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s: %s", e->name, sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
}

static void with_each(void (*check)(const engine *e, sherd_store *far))
{
	for (size_t i = 0; i < COUNT_OF(engines); i++) {
		void *state = NULL;
		(void)memory_store_open(&state);
		sherd_store *far = late_store_over(store);
		check(&engines[i], far);
		sherd_store_close(far);
		(void)memory_store_close(&state);
	}
}

static void lose_answer(const engine *e, sherd_store *far)
{
	late_store_lose(far, e->head, LATE_DONE, 1);
	if (e->mute)
		assert_refused(SHERD_EUNKNOWN, "unknown-outcome", e->save(far, err));
	else
		assert_ok(e->save(far, err));
	assert_whole(e);
}

TEST(a_lost_answer_is_no_failure)
{
	with_each(lose_answer);
}

static void lose_write(const engine *e, sherd_store *far)
{
	late_store_lose(far, e->head, LATE_NEVER, 2);
	if (e->once)
		return;
	assert_ok(e->save(far, err));
	assert_whole(e);
}

TEST(a_lost_write_is_repeated)
{
	with_each(lose_write);
}

static void deliver_late(const engine *e, sherd_store *far)
{
	late_store_lose(far, e->head, LATE_LATER, 100);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", e->save(far, err));
	assert_int_equal(late_store_deliver(far), 1);
	assert_whole(e);
}

TEST(a_write_that_arrives_after_its_saver_gave_up_finds_all_its_parts)
{
	with_each(deliver_late);
}

static void lose_claim(const engine *e, sherd_store *far)
{
	if (!e->claim)
		return;
	late_store_lose(far, e->claim, LATE_DONE, 1);
	assert_ok(e->save(far, err));
	assert_whole(e);
	sherd_stat stat;
	assert_int_equal(sherd_store_stat(&stat, store, e->claim, NULL), SHERD_ENOTFOUND);
}

TEST(a_claim_whose_answer_was_lost_is_held_and_dropped)
{
	with_each(lose_claim);
}

/* The same model has the same set id, so the one before looks like the one that was lost. */
TEST(a_container_saved_again_is_not_taken_for_the_one_before)
{
	static const engine single = {"a container", "q", "q", save_container, true, false, NULL, NULL};
	const engine *const both[] = {&single, &engines[4]};
	for (size_t i = 0; i < COUNT_OF(both); i++) {
		(void)memory_store_open(state);
		sherd_store *far = late_store_over(store);
		files = i ? 2 : 1;
		assert_ok(save_container(far, err));
		late_store_lose(far, both[i]->head, LATE_NEVER, 1);
		replacing = true;
		assert_refused(SHERD_EUNKNOWN, "unknown-outcome", save_container(far, err));
		replacing = false;
		assert_whole(both[i]);
		sherd_store_close(far);
		(void)memory_store_close(state);
	}
}

TEST(shards_of_a_container_stay_when_nobody_knows_whether_the_file_before_them_went)
{
	(void)memory_store_open(state);
	sherd_store *far = late_store_over(store);
	sherd_stat stat;
	files = 1;
	assert_ok(save_container(far, err));
	files = 2;
	replacing = true;
	late_store_lose_removal(far, "q", LATE_LATER);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", save_container(far, err));
	replacing = false;
	assert_ok(sherd_store_stat(&stat, store, engines[4].claim, err));
	assert_int_equal(late_store_deliver(far), 1);
	assert_whole(&engines[4]);
	sherd_store_close(far);
	(void)memory_store_close(state);
}

/* Takes a pack for dead, clears after it, and packs other rows, whose part has the same name. */
static void pack_instead(void *arg, sherd_store *below)
{
	float before = rows_value;
	sherd_stat stat;
	(void)arg;
	if (sherd_store_stat(&stat, below, "r/rows.manifest.json", NULL) == SHERD_OK)
		return;
	assert_ok(sherd_store_remove(below, "r/rows.packing", err));
	assert_ok(sherd_store_remove(below, "r/part-00000.shard", err));
	rows_value = 9;
	(void)save_rows(below, NULL);
	rows_value = before;
}

TEST(rows_of_another_are_not_taken_for_ones_own_because_their_part_has_the_name)
{
	bool hit = true;
	for (long nth = 1; hit; nth++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		sherd_store *inner = NULL;
		float first = 0;
		assert_ok(sherd_store_open_memory(&inner, err));
		sherd_store *below = fail_store_over(inner), *far = late_store_over(below);
		late_store_lose(far, "r/rows.manifest.json", LATE_NEVER, 1);
		fail_store_call_at(below, nth, pack_instead, NULL);
		int rc = save_rows(far, NULL);
		hit = fail_store_hit(below);
		fail_store_at(below, 0);
		if (rc == SHERD_OK) {
			assert_ok(sherd_bundle_open(&b, inner, "r", NULL, err));
			assert_ok(sherd_bundle_read(b, 0, 0, &first, sizeof(first), err));
			if (first != 1)
				fail_msg("step %ld: another's rows are there, and it was told that its own are", nth);
		}
		sherd_bundle_close(TAKE(b));
		sherd_store_close(far);
		sherd_store_close(below);
	}
}

/* ---- leases */

enum { HOUR_S = 3600 };

/* The write of the first one's head is under way all the time: it began before there was anything. What the second one
 * clears after a day is what that head names. */
static void outlive(const engine *e, sherd_store *far)
{
	if (!e->claim)
		return;
	late_store_lose(far, e->head, LATE_LATER, 4);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", e->save(far, err));
	late_store_set_ahead(far, 23 * HOUR_S * INT64_C(1000000000));
	assert_int_equal(e->save(far, NULL), SHERD_ECONFLICT);
	late_store_set_ahead(far, 25 * HOUR_S * INT64_C(1000000000));
	if (e->mute) { /* whose head has no place to be vacant in */
		sherd_stat before, now;
		assert_ok(sherd_store_stat(&before, store, e->claim, err));
		assert_refused(SHERD_ECONFLICT, "conflict", e->save(far, err));
		assert_ok(sherd_store_stat(&now, store, e->claim, err));
		assert_string_equal(now.identity, before.identity);
		assert_int_equal(late_store_deliver(far), 1);
		assert_whole(e);
		return;
	}
	late_store_lose(far, e->head, LATE_LATER, e->once ? 0 : 4);
	int second = e->save(far, NULL);
	assert_int_equal(second, e->once ? SHERD_OK : SHERD_EUNKNOWN);
	/* Of all writes under way one takes effect, and not the first one's, whose parts are gone. */
	assert_int_equal(late_store_deliver(far), e->once ? 0 : 1);
	assert_whole(e);
}

TEST(a_save_that_was_taken_for_dead_and_cleared_is_refused)
{
	with_each(outlive);
}

/* The same, and nobody saves after it was cleared: a vacant head is no set to whoever reads. */
static void outlive_vacant(const engine *e, sherd_store *far)
{
	sherd_bundle *b = NULL;
	sherd_error e2 = {0};
	if (!e->claim || e->mute || e->once)
		return;
	late_store_lose(far, e->head, LATE_LATER, 4);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", e->save(far, err));
	late_store_set_ahead(far, 25 * HOUR_S * INT64_C(1000000000));
	late_store_lose(far, e->part, LATE_NEVER, 1);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", e->save(far, err));
	assert_int_equal(late_store_deliver(far), 0);
	int rc = sherd_bundle_open(&b, far, e->key, NULL, &e2);
	if (rc != SHERD_ENOTFOUND && rc != SHERD_EINCOMPLETE)
		fail_msg("%s: %d, %s: %s", e->name, rc, e2.object, e2.message);
	assert_ok(sherd_ckpt_prune(far, "", &(sherd_ckpt_prune_options){.keep = 1, .orphaned = true}, err));
	late_store_set_ahead(far, 50 * HOUR_S * INT64_C(1000000000));
	assert_ok(e->save(far, err));
	assert_whole(e);
}

TEST(a_vacant_head_refuses_late_writes_and_is_replaced_by_the_next_save)
{
	with_each(outlive_vacant);
}

/* Who was taken for dead as well, while it cleared: once the head is vacant what is to go has been noted. */
static void succeed_clearer(void *arg, sherd_store *below)
{
	const engine **e = arg;
	sherd_stat stat;
	if (!*e || sherd_store_stat(&stat, below, (*e)->head, NULL) < 0 || stat.size != 30)
		return;
	assert_ok(sherd_store_put(below, (*e)->part, SHERD_WRITE_REPLACE, "another's", 9, err));
	*e = NULL;
}

static bool clear_late(const engine *e, long nth)
{
	sherd_store *inner = NULL;
	const engine *to_do = e;
	sherd_stat stat;
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *below = fail_store_over(inner), *far = late_store_over(below);
	late_store_lose(far, e->head, LATE_NEVER, 4);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", e->save(far, err));
	late_store_set_ahead(far, 25 * HOUR_S * INT64_C(1000000000));
	fail_store_call_at(below, nth, succeed_clearer, (void *)&to_do);
	(void)e->save(far, NULL);
	bool hit = fail_store_hit(below);
	fail_store_at(below, 0);
	if (!to_do && (sherd_store_stat(&stat, inner, e->part, NULL) < 0 || stat.size != 9))
		fail_msg("%s: a clearer removed what came after it, step %ld", e->name, nth);
	sherd_store_close(far);
	sherd_store_close(below);
	return hit;
}

TEST(who_clears_late_leaves_what_has_the_name_by_now)
{
	(void)memory_store_open(state);
	for (size_t i = 0; i < COUNT_OF(engines); i++)
		for (long nth = 1; !engines[i].once && engines[i].part && clear_late(&engines[i], nth);)
			nth++;
	(void)memory_store_close(state);
}

/* A successor may have written the same bytes under the name: what a list tells does not tell them apart. */
TEST(what_graphs_remove_behind_a_fence_was_looked_at_and_not_only_listed)
{
	SCOPED_GRAPH g = NULL;
	sherd_graph_gc_result gone;
	(void)memory_store_open(state);
	sherd_store *far = late_store_over(store);
	late_store_lose(far, "h/manifests/000001.json", LATE_DONE, 100);
	assert_int_not_equal(sherd_graph_create(far, "h", NULL, 0, NULL), SHERD_OK);
	late_store_lose(far, "", LATE_ANSWERED, 0);
	assert_ok(sherd_graph_create(far, "h", NULL, 0, err));
	assert_ok(add_node(far, err));
	late_store_lose(far, "g/current.json", LATE_NEVER, 100);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", add_node(far, err));
	late_store_lose(far, "", LATE_ANSWERED, 0);
	assert_ok(sherd_graph_open(&g, far, "g", NULL, err));
	assert_ok(sherd_graph_gc(g, &(sherd_graph_gc_options){.keep = 9}, &gone, err));
	assert_int_not_equal(gone.files, 0);
	assert_int_equal(late_store_removed_as_listed(far), 0);
	sherd_graph_close(TAKE(g));
	sherd_store_close(far);
	(void)memory_store_close(state);
}

/* ---- the part of another */

/* Takes the save for dead, clears after it, and writes a part of the same name. */
static void clear_by_hand(void *arg, sherd_store *below)
{
	const engine *e = arg;
	static const char *const claims[] = {"r/rows.packing", "c.saving", "m.safetensors.saving", "q.shard.saving",
	                                     "d.sdnb.saving"};
	for (size_t i = 0; i < COUNT_OF(claims); i++)
		assert_ok(sherd_store_remove(below, claims[i], err));
	assert_ok(sherd_store_put(below, e->part, SHERD_WRITE_REPLACE, "another's", 9, err));
}

static bool meet_another(const engine *e, bool locks, long nth)
{
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *below = fail_store_over(inner), *far = late_store_over(below);
	fail_store_call_at(below, nth, clear_by_hand, (void *)(uintptr_t)e);
	int saved = e->save(locks ? below : far, NULL);
	bool hit = fail_store_hit(below);
	fail_store_at(below, 0);
	char *text = NULL;
	size_t len = 0;
	if (hit && saved < 0) {
		int rc = sherd_store_get(&text, &len, inner, e->part, 100, NULL);
		if (rc < 0 || len != 9)
			fail_msg("%s: what another wrote is gone, step %ld", e->name, nth);
	}
	free(text);
	sherd_store_close(far);
	sherd_store_close(below);
	return hit;
}

TEST(who_undoes_leaves_the_part_of_another_that_has_the_same_name)
{
	(void)memory_store_open(state);
	for (size_t i = 0; i < COUNT_OF(engines); i++) {
		bool hit = engines[i].part;
		for (long nth = 1; hit; nth++) {
			hit = meet_another(&engines[i], true, nth);
			hit = meet_another(&engines[i], false, nth) || hit;
		}
	}
	(void)memory_store_close(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_answer_is_no_failure),
		cmocka_unit_test(a_lost_write_is_repeated),
		cmocka_unit_test(a_claim_whose_answer_was_lost_is_held_and_dropped),
		cmocka_unit_test(a_write_that_arrives_after_its_saver_gave_up_finds_all_its_parts),
		cmocka_unit_test(a_save_that_was_taken_for_dead_and_cleared_is_refused),
		cmocka_unit_test(a_vacant_head_refuses_late_writes_and_is_replaced_by_the_next_save),
		cmocka_unit_test(who_clears_late_leaves_what_has_the_name_by_now),
		cmocka_unit_test(what_graphs_remove_behind_a_fence_was_looked_at_and_not_only_listed),
		cmocka_unit_test(a_container_saved_again_is_not_taken_for_the_one_before),
		cmocka_unit_test(shards_of_a_container_stay_when_nobody_knows_whether_the_file_before_them_went),
		cmocka_unit_test(rows_of_another_are_not_taken_for_ones_own_because_their_part_has_the_name),
		cmocka_unit_test(who_undoes_leaves_the_part_of_another_that_has_the_same_name),
	};
	return cmocka_run_group_tests_name("engines", tests, NULL, NULL);
}
