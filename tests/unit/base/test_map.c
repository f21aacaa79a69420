#include "base/map.h"

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

TEST(names_are_found_under_their_numbers_and_only_once)
{
	enum { COUNT = 5000 };
	shd_map m = {0};
	char(*names)[24] = calloc(COUNT, sizeof(*names));
	bool ok;
	assert_non_null(names);
	for (size_t i = 0; i < COUNT; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "name %zu", i * 7919);
		assert_true(shd_map_add(&m, shd_str_of(names[i]), i, &ok) == SHD_MAP_NONE);
		assert_true(ok);
	}
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(shd_map_find(&m, shd_str_of(names[i])), i);
		assert_int_equal(shd_map_add(&m, shd_str_of(names[i]), 99999, &ok), i);
		assert_true(ok);
	}
	assert_int_equal(m.count, COUNT);
	assert_true(shd_map_find(&m, shd_str_of("name 1")) == SHD_MAP_NONE);
	shd_map_done(&m);
	free(names);
}

TEST(a_map_with_room_for_all_moves_nothing)
{
	enum { COUNT = 1000 };
	char names[COUNT][8];
	for (size_t room = 0; room <= COUNT; room += 250) {
		shd_map m = {0};
		bool ok;
		assert_true(shd_map_reserve(&m, room));
		const void *slots = m.slots;
		for (size_t i = 0; i < COUNT; i++) {
			(void)snprintf(names[i], sizeof(names[i]), "%zu", i);
			assert_true(shd_map_add(&m, shd_str_of(names[i]), i, &ok) == SHD_MAP_NONE && ok);
			if (i < room)
				assert_ptr_equal(m.slots, slots);
		}
		assert_true(shd_map_reserve(&m, 2 * COUNT) && shd_map_reserve(&m, 1));
		for (size_t i = 0; i < COUNT; i++)
			assert_int_equal(shd_map_find(&m, shd_str_of(names[i])), i);
		shd_map_done(&m);
	}
}

TEST(an_empty_map_has_nothing_and_the_empty_name_is_a_name)
{
	shd_map m = {0};
	bool ok;
	assert_true(shd_map_find(&m, SHD_STR("a")) == SHD_MAP_NONE);
	assert_true(shd_map_add(&m, SHD_STR(""), 5, &ok) == SHD_MAP_NONE);
	assert_int_equal(shd_map_find(&m, SHD_STR("")), 5);
	assert_true(shd_map_find(&m, SHD_STR("\0")) == SHD_MAP_NONE);
	shd_map_done(&m);
	shd_map_done(&m);
}

TEST(a_hash_depends_on_every_byte_the_length_and_the_seed)
{
	uint8_t data[70] = {0};
	for (size_t len = 0; len <= sizeof(data); len++) {
		uint64_t h = shd_hash(1, data, len);
		assert_true(h == shd_hash(1, data, len));
		assert_true(h != shd_hash(2, data, len));
		if (len)
			assert_true(h != shd_hash(1, data, len - 1));
		for (size_t i = 0; i < len; i++) {
			data[i] = 1;
			assert_true(h != shd_hash(1, data, len));
			data[i] = 0;
		}
	}
}

/* These bytes, taken as a number, are a constant of the hash. */
TEST(no_part_of_a_text_hides_another)
{
	static const char one[] = "abcdefgh\x15\x7c\x4a\x7f\xb9\x79\x37\x9e",
			  two[] = "ABCDEFGH\x15\x7c\x4a\x7f\xb9\x79\x37\x9e";
	assert_true(shd_hash(7, one, 16) != shd_hash(7, two, 16));
}

TEST(a_hash_does_not_depend_on_where_the_bytes_stand)
{
	uint8_t room[64 + 8], text[40];
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 11);
	for (size_t at = 0; at < 8; at++) {
		memcpy(room + at, text, sizeof(text));
		assert_true(shd_hash(7, room + at, sizeof(text)) == shd_hash(7, text, sizeof(text)));
	}
}

TEST(seeds_differ)
{
	assert_true(shd_hash_seed() != shd_hash_seed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_under_their_numbers_and_only_once),
		cmocka_unit_test(a_map_with_room_for_all_moves_nothing),
		cmocka_unit_test(an_empty_map_has_nothing_and_the_empty_name_is_a_name),
		cmocka_unit_test(a_hash_depends_on_every_byte_the_length_and_the_seed),
		cmocka_unit_test(no_part_of_a_text_hides_another),
		cmocka_unit_test(a_hash_does_not_depend_on_where_the_bytes_stand),
		cmocka_unit_test(seeds_differ),
	};
	return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
