#include "support/test.h"

#include "format/rfdb/path.h"

typedef struct row {
	const char *path, *parent;
} row;

static void expect(const row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		shd_str parent = shd_rfdb_path_parent(shd_str_of(rows[i].path));
		if (!shd_str_is(parent, rows[i].parent))
			fail_msg("the parent of %s is %.*s, not %s", rows[i].path, (int)parent.len, parent.ptr,
			         rows[i].parent);
	}
}

TEST(awkward_paths_have_the_parents_that_rust_gives_them)
{
	/* Measured with Path::parent. */
	static const row measured[] = {
		{"", ""},
		{"main.js", ""},
		{"./main.js", "."},
		{"src/app.ts", "src"},
		{"src//app.ts", "src"},
		{"src/./app.ts", "src"},
		{"./src/app.ts", "./src"},
		{"src/../app.ts", "src/.."},
		{"/main.js", "/"},
		{"/", ""},
		{"//x.js", "/"},
		{"src/", ""},
		{"src/auth/", "src"},
		{"src/auth//", "src"},
		{"a/b/.", "a"},
		{"a/b/..", "a/b"},
		{"..", ""},
		{"../x.js", ".."},
		{".", ""},
		{"src\\win\\a.js", ""},
		{"C:\\a\\b.js", ""},
		{"__enrichment__/linker/src/a/x.js", "__enrichment__/linker/src/a"},
		{"a/b/./", "a"},
		{"/a//b//c.js", "/a//b"},
		{"./", ""},
		{"a/.", ""},
		{"a/./b/c", "a/./b"},
	};
	expect(measured, sizeof(measured) / sizeof(measured[0]));
}

TEST(dots_and_separators_count_only_where_they_say_something)
{
	static const row more[] = {
		{"///", ""},     {"/.", ""},      {"/./x", "/"}, {"./.", ""},    {"././x", "."},
		{"a/.b", "a"},   {".a/b", ".a"},  {"a/b.", "a"}, {"a/...", "a"}, {"..//..", ".."},
		{"a/././.", ""}, {"a//./b", "a"}, {"/..", "/"},  {"//a//", "/"}, {"a/b/c/././", "a/b"},
	};
	expect(more, sizeof(more) / sizeof(more[0]));
}

TEST(a_parent_is_a_prefix_that_needs_no_nul)
{
	const char path[] = {'a', '/', 0, '/', 'b'};
	shd_str parent = shd_rfdb_path_parent((shd_str){path, sizeof(path)});
	assert_ptr_equal(parent.ptr, path);
	assert_int_equal(parent.len, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(awkward_paths_have_the_parents_that_rust_gives_them),
		cmocka_unit_test(dots_and_separators_count_only_where_they_say_something),
		cmocka_unit_test(a_parent_is_a_prefix_that_needs_no_nul),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
