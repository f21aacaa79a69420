/* What a power loss leaves of a save: the old model or the new one, whole. */
#include "support/container_make.h"
#include "support/crash_walk.h"
#include "support/test.h"

#include "base/error.h"

#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

typedef enum verdict { ABSENT, OLD, NEW, WRONG } verdict;

static bool bytes_are_right(const sherd_model *m)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	uint8_t got[256], want[256];
	bool right = sherd_bundle_of_model(&b, m, NULL) == SHERD_OK && sherd_bundle_count(b) == CONTAINER_ARRAYS;
	for (size_t i = 0; right && i < CONTAINER_ARRAYS; i++) {
		size_t len = (size_t)sherd_bundle_tensor(b, i)->bytes;
		(void)container_read(NULL, i, 0, want, len, NULL);
		right = sherd_bundle_read(b, i, 0, got, len, NULL) == SHERD_OK && memcmp(got, want, len) == 0;
	}
	return right;
}

/* The model under "m" says of itself which one it is; every byte of it must be right. */
static verdict look(sherd_store *store)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	const sherd_pair *pairs;
	int rc = sherd_model_open(&m, store, "m", NULL, NULL);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return ABSENT;
	if (rc < 0 || container_verify(store, "m", NULL) != 0 || !bytes_are_right(m))
		return WRONG;
	for (size_t i = sherd_model_pairs(&pairs, m); i-- > 0;)
		if (strcmp(pairs[i].key, "which") == 0)
			return strcmp(pairs[i].value, "new") == 0 ? NEW : OLD;
	return WRONG;
}

/* The old one is packed, so that no byte of it could stand for one of the new. */
static void save(sherd_store *store, uint32_t shards, bool new)
{
	const sherd_pair which = {"which", new ? "new" : "old"};
	const sherd_model_save_options o = {.shards = shards,
	                                    .replace = true,
	                                    .compress = new ? SHERD_COMPRESS_NONE : SHERD_COMPRESS_DEFLATE,
	                                    .pairs = &which,
	                                    .pair_count = 1};
	container_write(store, "m", false, &o, 0);
}

typedef struct replacing {
	uint32_t old, new; /* shards; old 0: nothing is there before */
	bool saw[4];
} replacing;

static void save_old(crash_walk *w, sherd_store *store)
{
	const replacing *r = w->arg;
	if (r->old)
		save(store, r->old, false);
}

static void save_new(crash_walk *w, sherd_store *store)
{
	save(store, ((const replacing *)w->arg)->new, true);
}

static void check_state(crash_walk *w, sherd_store *store)
{
	replacing *r = w->arg;
	verdict v = look(store);
	r->saw[v] = true;
	if (v == WRONG || (w->finished && v != NEW) || (r->old && v == ABSENT))
		crash_walk_complain(w, "verdict %d", v);
	/* Whatever was left, a save afterwards gives a whole model. */
	if (v == WRONG)
		return;
	save(store, r->new, true);
	if (look(store) != NEW)
		crash_walk_complain(w, "the next save does not give a whole model");
}

static crash_walk walk(replacing *r)
{
	return (crash_walk){.name = "save", .arg = r, .before = save_old, .act = save_new, .check = check_state};
}

TEST(a_first_save_is_there_whole_or_not_at_all)
{
	for (uint32_t shards = 1; shards <= 2; shards++) {
		replacing r = {.new = shards};
		crash_walk w = walk(&r);
		crash_walk_assert(&w);
		assert_true(r.saw[ABSENT] && r.saw[NEW]);
	}
}

static size_t replace(uint32_t old, uint32_t new)
{
	replacing r = {.old = old, .new = new};
	crash_walk w = walk(&r);
	crash_walk_assert(&w);
	assert_true(r.saw[OLD] && r.saw[NEW]);
	return w.states;
}

TEST(a_file_is_replaced_in_one_step)
{
	assert_true(replace(1, 1) > 1);
}

TEST(a_set_is_replaced_in_one_step)
{
	assert_true(replace(2, 2) > 20);
}

TEST(a_set_of_another_number_of_shards_is_replaced_in_one_step)
{
	assert_true(replace(3, 2) > 20);
}

TEST(a_file_is_replaced_by_a_set_in_one_step)
{
	assert_true(replace(1, 2) > 20);
}

TEST(a_set_is_replaced_by_a_file_in_one_step)
{
	assert_true(replace(2, 1) > 5);
}

TEST(without_syncs_a_power_loss_would_show)
{
	replacing r = {.old = 2, .new = 2};
	crash_walk w = walk(&r);
	crash_walk_assert_caught(&w, true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_save_is_there_whole_or_not_at_all),
		cmocka_unit_test(a_file_is_replaced_in_one_step),
		cmocka_unit_test(a_set_is_replaced_in_one_step),
		cmocka_unit_test(a_set_of_another_number_of_shards_is_replaced_in_one_step),
		cmocka_unit_test(a_file_is_replaced_by_a_set_in_one_step),
		cmocka_unit_test(a_set_is_replaced_by_a_file_in_one_step),
		cmocka_unit_test(without_syncs_a_power_loss_would_show),
	};
	return cmocka_run_group_tests_name("crash/container", tests, NULL, NULL);
}
