/* What lies in a folder, and how often a store is asked for it. */
#include "engine/tensors/folder.h"

#include "support/fail_store.h"
#include "support/test.h"

#include <stdio.h>

static void put_many(sherd_store *store, unsigned parts, unsigned deep)
{
	char key[64];
	for (unsigned p = 0; p < parts; p++) {
		for (unsigned i = 0; i < deep; i++) {
			(void)snprintf(key, sizeof(key), "f/p%02u/%05u", p, i);
			assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, "", 0, err));
		}
		(void)snprintf(key, sizeof(key), "f/p%02u.npy", p);
		assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, "abc", 3, err));
	}
}

TEST(files_of_a_folder_are_found_between_deep_parts)
{
	sherd_store *inner, *store;
	shd_folder folder;
	assert_ok(sherd_store_open_memory(&inner, err));
	store = fail_store_over(inner);
	put_many(store, 12, 1100);
	assert_ok(shd_folder_open_suffix(&folder, store, "f", ".npy", err));
	assert_int_equal(folder.count, 12);
	for (size_t i = 0; i < folder.count; i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "p%02u.npy", (unsigned)i);
		assert_string_equal(folder.list[i].name, name);
		assert_int_equal(folder.list[i].size, 3);
	}
	/* Begun anew after 1000, 2000, 4000 and 8000 keys at most, not after each thousand. */
	assert_in_range(fail_store_lists(store), 2, 5);
	shd_folder_done(&folder);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_a_folder_are_found_between_deep_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
