/* What a power loss leaves of a save: the old model or the new one, whole. */
#include "support/container_make.h"
#include "support/crash_sys.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local.h"

#include <string.h>

SHERD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHERD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

typedef enum verdict { ABSENT, OLD, NEW, WRONG } verdict;

static bool bytes_are_right(const sherd_model *m)
{
	SHERD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
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
	SHERD_AUTO(sherd_model, sherd_model_close) m = NULL;
	const sherd_pair *pairs;
	int rc = sherd_model_open(&m, store, "m", NULL, NULL);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return ABSENT;
	if (rc < 0 || container_verify(store, "m", NULL) != 0 || !bytes_are_right(m))
		return WRONG;
	for (size_t i = sherd_model_pairs(m, &pairs); i-- > 0;)
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

typedef struct exploration {
	uint32_t shards;
	bool committed, replaces;
	size_t states, wrong;
	bool saw[4];
} exploration;

static void check_state(const char *root, void *arg)
{
	exploration *x = arg;
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, root, NULL, err));
	verdict v = look(store);
	x->states++;
	x->saw[v] = true;
	x->wrong += v == WRONG || (x->committed && v != NEW) || (x->replaces && v == ABSENT);
	/* Whatever was left, a save afterwards gives a whole model. */
	if (v != WRONG) {
		save(store, x->shards, true);
		x->wrong += look(store) != NEW;
	}
	sherd_store_close(store);
}

/* old: shards of what is there before; 0: nothing. */
static exploration explore(uint32_t old, uint32_t new, bool drop_syncs)
{
	char *root = scratch_make();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, root, NULL, err));
	if (old)
		save(store, old, false);
	sherd_store_close(store);
	crash_sys *c = crash_sys_new(root);
	crash_sys_drop_syncs(c, drop_syncs, drop_syncs);
	assert_ok(sherd_store_open_local_sys(&store, root, NULL, crash_sys_table(c), err));
	save(store, new, true);
	sherd_store_close(store);
	exploration x = {.shards = new, .replaces = old != 0};
	size_t points = crash_sys_points(c);
	for (size_t k = 0; k <= points; k++) {
		size_t before = x.wrong;
		x.committed = k == points;
		assert_true(crash_sys_states(c, k, check_state, &x) > 0);
		if (x.wrong > before && !drop_syncs)
			print_error("wrong state after \"%s\"\n", crash_sys_describe(c, k ? k - 1 : 0));
	}
	crash_sys_free(c);
	scratch_remove(root);
	return x;
}

TEST(a_first_save_is_there_whole_or_not_at_all)
{
	exploration x = explore(0, 1, false), y = explore(0, 2, false);
	assert_int_equal(x.wrong, 0);
	assert_int_equal(y.wrong, 0);
	assert_true(x.saw[ABSENT] && x.saw[NEW] && y.saw[ABSENT] && y.saw[NEW]);
}

TEST(a_file_is_replaced_in_one_step)
{
	exploration x = explore(1, 1, false);
	assert_int_equal(x.wrong, 0);
	assert_true(x.saw[OLD] && x.saw[NEW]);
}

TEST(a_set_is_replaced_in_one_step)
{
	exploration x = explore(2, 2, false);
	assert_int_equal(x.wrong, 0);
	assert_true(x.saw[OLD] && x.saw[NEW] && x.states > 20);
}

TEST(a_set_of_another_number_of_shards_is_replaced_in_one_step)
{
	exploration x = explore(3, 2, false);
	assert_int_equal(x.wrong, 0);
	assert_true(x.saw[OLD] && x.saw[NEW] && x.states > 20);
}

TEST(without_syncs_a_power_loss_would_show)
{
	exploration x = explore(2, 2, true);
	assert_true(x.wrong > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_save_is_there_whole_or_not_at_all),
		cmocka_unit_test(a_file_is_replaced_in_one_step),
		cmocka_unit_test(a_set_is_replaced_in_one_step),
		cmocka_unit_test(a_set_of_another_number_of_shards_is_replaced_in_one_step),
		cmocka_unit_test(without_syncs_a_power_loss_would_show),
	};
	return cmocka_run_group_tests_name("container", tests, NULL, NULL);
}
