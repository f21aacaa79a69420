/* Names changed as sed does. */
#include "engine/tensors/rename.h"

#include "support/test.h"

static void check(const char *rule, const char *name, const char *want)
{
	SHD_AUTO(shd_renames, shd_renames_close) r = NULL;
	SHD_AUTO_BUF out = {0};
	assert_ok(shd_renames_open(&r, &rule, 1, err));
	assert_ok(shd_renames_apply(r, name, &out, err));
	assert_string_equal((const char *)out.data, want);
}

TEST(names_change_as_sed_changes_them)
{
	check("s/a/b/", "aaa", "baa");
	check("s/a/b/g", "aaa", "bbb");
	check("s/^model\\.//", "model.layers.0", "layers.0");
	check("s|/|.|g", "a/b/c", "a.b.c");
	check("s/\\//./g", "a/b", "a.b");
	check("s/(h)\\.([0-9]+)/\\2-\\1-&/", "x.h.12.w", "x.12-h-h.12.w");
	check("s/x*/-/g", "abc", "-a-b-c-");
	check("s/$/.end/", "a", "a.end");
	check("s/z/y/", "abc", "abc");
	check("s/a//", "a", "");
	check("s/(a)|b/[\\1]/g", "ab", "[a][]");
	check("s/a/\\&\\\\/", "a", "&\\");
	check("s/^a/b/g", "aaa", "baa");
}

TEST(rules_come_one_after_the_other)
{
	static const char *const rules[] = {"s/a/b/", "s/b/c/g"};
	SHD_AUTO(shd_renames, shd_renames_close) r = NULL;
	SHD_AUTO_BUF out = {0};
	assert_ok(shd_renames_open(&r, rules, 2, err));
	assert_ok(shd_renames_apply(r, "ab", &out, err));
	assert_string_equal((const char *)out.data, "cc");
}

TEST(what_is_no_rule_is_refused_with_its_index)
{
	static const char *const wrong[] = {"",        "s",        "x/a/b/", "s/a",      "s/a/b",
	                                    "s/a/b/x", "s/a/b/gg", "s/[/b/", "s\\a\\b\\"};
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		const char *const rules[] = {"s/a/b/", wrong[i]};
		shd_renames *r;
		sherd_error e = {0};
		assert_int_equal(shd_renames_open(&r, rules, 2, &e), SHERD_EINVAL);
		assert_int_equal(e.index, 1);
	}
}

TEST(names_do_not_grow_without_end)
{
	static const char *const rules[] = {"s/a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/g",
	                                    "s/a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/g",
	                                    "s/a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/g"};
	SHD_AUTO(shd_renames, shd_renames_close) r = NULL;
	SHD_AUTO_BUF out = {0};
	assert_ok(shd_renames_open(&r, rules, 3, err));
	assert_refused(SHERD_EINVAL, "name-too-long", shd_renames_apply(r, "a", &out, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_change_as_sed_changes_them),
		cmocka_unit_test(rules_come_one_after_the_other),
		cmocka_unit_test(what_is_no_rule_is_refused_with_its_index),
		cmocka_unit_test(names_do_not_grow_without_end),
	};
	return cmocka_run_group_tests_name("rename", tests, NULL, NULL);
}
