/* Ids that follow from what is saved. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/ckpt.h>

#include <stdio.h>

static sherd_store *from; /* that the bundles are read from */

static int open_both(void **state)
{
	assert_ok(sherd_store_open_memory(&from, err));
	return memory_store_open(state);
}

static int close_both(void **state)
{
	sherd_store_close(from);
	return memory_store_close(state);
}

static sherd_bundle *bundle_of(const char *name, const float *data, uint64_t rows)
{
	const uint64_t shape[] = {rows, 2};
	const sherd_ckpt_item item = {.tensor = {.name = name, .dtype = SHERD_F32, .ndim = 2, .shape = shape},
	                              .data = data};
	const sherd_ckpt_shard_items shard = {&item, 1};
	const sherd_set_id id = {{1}};
	static unsigned number;
	char prefix[16];
	sherd_bundle *out;
	(void)snprintf(prefix, sizeof(prefix), "%u", number++);
	assert_ok(sherd_ckpt_save(from, prefix, &shard, &(sherd_ckpt_save_options){.set_id = &id}, err));
	assert_ok(sherd_bundle_open(&out, from, prefix, NULL, err));
	return out;
}

static sherd_set_id id_of(const char *prefix, const sherd_bundle *bundle, bool cut,
                          const sherd_ckpt_save_options *options)
{
	sherd_set_id id;
	assert_ok(sherd_set_id_derive(&id, store, prefix, bundle, cut, options, err));
	return id;
}

static const float values[] = {1, 2, 3, 4}, others[] = {1, 2, 3, 5};

TEST(the_same_input_gives_the_same_id_and_any_other_another)
{
	sherd_bundle *const b[] = {bundle_of("w", values, 2), bundle_of("w", values, 2), bundle_of("w", others, 2),
	                           bundle_of("v", values, 2), bundle_of("w", values, 1)};
	const sherd_ckpt_about about = {.has_step = true, .step = 7};
	const sherd_ckpt_save_options plain = {.world = 1, .time_ns = 5}, later = {.world = 1, .time_ns = 6},
				      wider = {.world = 2, .time_ns = 5},
				      stepped = {.world = 1, .time_ns = 5, .about = &about},
				      other = {.world = 1, .time_ns = 5, .layout = SHERD_CKPT_LAYOUT_CSHARP};
	const sherd_set_id ids[] = {id_of("a", b[0], false, &plain),   id_of("a", b[2], false, &plain),
	                            id_of("a", b[3], false, &plain),   id_of("a", b[4], false, &plain),
	                            id_of("b", b[0], false, &plain),   id_of("a", b[0], true, &plain),
	                            id_of("a", b[0], false, &later),   id_of("a", b[0], false, &wider),
	                            id_of("a", b[0], false, &stepped), id_of("a", b[0], false, &other)};
	const sherd_set_id again = id_of("a", b[1], false, &plain);
	char text[SHERD_SET_ID_TEXT];
	assert_memory_equal(&ids[0], &again, sizeof(again));
	for (size_t i = 0; i < COUNT_OF(ids); i++)
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(&ids[i], &ids[k], sizeof(ids[i]));
	sherd_set_id_format(text, &ids[0]);
	assert_string_equal(text, "6e2c4e7b99603510a0d811ee9a1b8fe1"); /* bytes of files rest on it */
	for (size_t i = 0; i < COUNT_OF(b); i++)
		sherd_bundle_close(b[i]);
}

TEST(no_set_replaces_itself)
{
	sherd_bundle *b = bundle_of("w", values, 2);
	sherd_ckpt_save_options options = {.world = 1, .time_ns = 5, .replace = true};
	const sherd_set_id first = id_of("a", b, false, &options);
	options.set_id = &first;
	assert_ok(sherd_ckpt_save_bundle(store, "a", b, false, &options, err));
	options.set_id = NULL;
	const sherd_set_id second = id_of("a", b, false, &options);
	assert_memory_not_equal(&first, &second, sizeof(first));
	options.set_id = &second;
	assert_ok(sherd_ckpt_save_bundle(store, "a", b, false, &options, err));
	options.set_id = NULL;
	const sherd_set_id third = id_of("a", b, false, &options);
	assert_memory_equal(&first, &third, sizeof(first));
	sherd_bundle_close(b);
}

static bool refuse(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return false;
}

TEST(deriving_can_be_cancelled)
{
	sherd_bundle *b = bundle_of("w", values, 2);
	const sherd_progress progress = {.update = refuse};
	const sherd_ckpt_save_options options = {.world = 1, .progress = &progress};
	sherd_set_id id;
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_set_id_derive(&id, store, "a", b, false, &options, err));
	sherd_bundle_close(b);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_both, close_both)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_same_input_gives_the_same_id_and_any_other_another),
		CASE(no_set_replaces_itself),
		CASE(deriving_can_be_cancelled),
	};
	return cmocka_run_group_tests_name("derive", tests, NULL, NULL);
}
