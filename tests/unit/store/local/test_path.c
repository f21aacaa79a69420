#include "support/test.h"

#include <sherd/store.h>

#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* root/file, root/dir/, root/tofile -> dir/real, root/todir -> dir, root/dangling */
static char *root;

static int begin(void **state)
{
	(void)state;
	root = scratch_make();
	if (chdir(root) < 0)
		return -1;
	sherd_store *s = NULL;
	int rc = sherd_store_open_local(&s, ".", NULL, NULL);
	if (rc == 0)
		rc = sherd_store_put(s, "file", SHERD_WRITE_NEW, "f", 1, NULL);
	if (rc == 0)
		rc = sherd_store_put(s, "dir/real", SHERD_WRITE_NEW, "r", 1, NULL);
	sherd_store_close(s);
	if (rc == 0)
		rc = symlink("dir/real", "tofile") | symlink("dir", "todir") | symlink("nowhere", "dangling");
	return rc;
}

static int end(void **state)
{
	(void)state;
	int rc = chdir("/");
	scratch_remove(root);
	return rc;
}

/* Opens path; the key must be as given, and the object must hold the text (NULL: must not exist). */
static void assert_opens(const char *path, const char *want_key, const char *text)
{
	sherd_store *s = NULL;
	char *key = NULL, *data = NULL;
	size_t len;
	assert_ok(sherd_store_open(&s, &key, path, NULL, err));
	assert_string_equal(key, want_key);
	if (text) {
		assert_ok(sherd_store_get(&data, &len, s, *key ? key : "real", 10, err));
		assert_string_equal(data, text);
		sherd_free(data);
	} else {
		assert_int_equal(sherd_store_get(&data, &len, s, key, 10, NULL), SHERD_ENOTFOUND);
	}
	sherd_free(key);
	sherd_store_close(s);
}

TEST(a_path_becomes_a_folder_and_a_key)
{
	char absolute[5000];
	assert_opens("file", "file", "f");
	assert_opens("./file", "file", "f");
	assert_opens("dir/../file", "file", "f");
	assert_opens("file:file", "file", "f");
	assert_opens("new", "new", NULL);
	assert_opens("new/", "new", NULL);
	assert_opens("dir/real", "real", "r");
	(void)snprintf(absolute, sizeof(absolute), "file://%s/file", root);
	assert_opens(absolute, "file", "f");
	assert_opens(absolute + 5 + 2, "file", "f");
	(void)snprintf(absolute, sizeof(absolute), "file://localhost%s/file", root);
	assert_opens(absolute, "file", "f");
	assert_opens("/no-such-thing-here", "no-such-thing-here", NULL);
}

TEST(a_folder_has_the_empty_key)
{
	assert_opens("dir", "", "r");
	assert_opens("dir///", "", "r");
	assert_opens("dir/.", "", "r");
	assert_opens("todir", "", "r");
	assert_opens("todir/", "", "r");
	sherd_store *s = NULL;
	char *key = NULL;
	assert_ok(sherd_store_open(&s, &key, ".", NULL, err));
	assert_string_equal(key, "");
	sherd_free(key);
	sherd_store_close(s);
	assert_ok(sherd_store_open(&s, &key, "/", NULL, err));
	assert_string_equal(key, "");
	sherd_free(key);
	sherd_store_close(s);
}

TEST(a_link_that_the_user_named_is_followed)
{
	assert_opens("tofile", "real", "r");
	sherd_store *s = NULL;
	char *key = NULL;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_open(&s, &key, "dangling", NULL, err));
}

TEST(what_cannot_be_opened_is_refused)
{
	static const struct {
		const char *path;
		sherd_status code;
		const char *reason;
	} cases[] = {
		{"s3://bucket/key", SHERD_EUNSUPPORTED, "unsupported-scheme"},
		{"http://host/x", SHERD_EUNSUPPORTED, "unsupported-scheme"},
		{"file://host/x", SHERD_EUNSUPPORTED, "unsupported-scheme"},
		{"", SHERD_EINVAL, "bad-path"},
		{"file:", SHERD_EINVAL, "bad-path"},
		{NULL, SHERD_EINVAL, "bad-path"},
		{"no/such/folder", SHERD_ENOTFOUND, "not-found"},
		{"no/..", SHERD_ENOTFOUND, "not-found"},
		{"file/", SHERD_ENOTFOUND, "not-found"},
		{"file/x", SHERD_ENOTFOUND, "not-found"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sherd_store *s = NULL;
		char *key = NULL;
		assert_refused(cases[i].code, cases[i].reason, sherd_store_open(&s, &key, cases[i].path, NULL, err));
		assert_null(s);
		assert_null(key);
	}
}

TEST(the_parent_is_made_when_asked)
{
	sherd_store *s = NULL;
	char *key = NULL;
	assert_ok(sherd_store_open(&s, &key, "p/q/new", &(sherd_store_options){.create = true}, err));
	assert_string_equal(key, "new");
	assert_ok(sherd_store_put(s, key, SHERD_WRITE_NEW, "n", 1, err));
	sherd_free(key);
	sherd_store_close(s);
	assert_opens("p/q/new", "new", "n");
}

/* Opens path as what lies beside a folder. */
static void assert_opens_beside(const char *path, const char *want_key, const char *want_label)
{
	sherd_store *s = NULL;
	char *key = NULL;
	assert_ok(sherd_store_open(&s, &key, path, &(sherd_store_options){.beside = true}, err));
	assert_string_equal(key, want_key);
	assert_string_equal(sherd_store_label(s), want_label);
	sherd_free(key);
	sherd_store_close(s);
}

TEST(a_folder_can_name_what_lies_beside_it)
{
	assert_opens_beside("dir", "dir", "");
	assert_opens_beside("./dir//", "dir", "./");
	assert_opens_beside("todir", "todir", "");
	assert_opens_beside("dir/real", "real", "dir/");
	assert_opens_beside("file:dir", "dir", "file:");
	static const char *const nothing_beside[] = {".", "..", "/", "dir/.", "file:dir/.."};
	for (size_t i = 0; i < sizeof(nothing_beside) / sizeof(*nothing_beside); i++) {
		sherd_store *s = NULL;
		char *key = NULL;
		assert_refused(
			SHERD_ENOTFOUND, "is-folder",
			sherd_store_open(&s, &key, nothing_beside[i], &(sherd_store_options){.beside = true}, err));
	}
}

static void assert_label(const char *path, const char *want)
{
	sherd_store *s = NULL;
	char *key = NULL;
	assert_ok(sherd_store_open(&s, &key, path, NULL, err));
	assert_string_equal(sherd_store_label(s), want);
	sherd_free(key);
	sherd_store_close(s);
}

TEST(a_store_remembers_what_goes_before_its_keys)
{
	char want[5000];
	assert_label("file", "");
	assert_label("file:file", "file:");
	assert_label("dir", "dir/");
	assert_label("dir/", "dir/");
	assert_label("dir/../file", "dir/../");
	assert_label("/", "/");
	(void)snprintf(want, sizeof(want), "%s/dir/", root);
	assert_label("tofile", want); /* where the link leads */
}

TEST(folders_in_which_nothing_came_to_lie_go_with_the_store)
{
	sherd_store *s = NULL;
	char *key = NULL;
	sherd_store_options create = {.create = true};
	assert_ok(sherd_store_open(&s, &key, "u/v/w/new", &create, err));
	assert_int_equal(access("u/v/w", F_OK), 0);
	sherd_free(key);
	sherd_store_close(s);
	assert_int_equal(access("u", F_OK), -1);
	assert_ok(sherd_store_open(&s, &key, "dir/./v/w/new", &create, err));
	assert_ok(sherd_store_put(s, "kept", SHERD_WRITE_NEW, "n", 1, err));
	sherd_free(key);
	sherd_store_close(s);
	assert_int_equal(access("dir/v/w/kept", F_OK), 0);
	/* A part of the way cannot be made: what was made before it goes at once. */
	char path[320] = "u/v/";
	memset(path + 4, 'l', 300);
	(void)strcpy(path + 304, "/new");
	assert_int_equal(sherd_store_open(&s, &key, path, &create, NULL), SHERD_EIO);
	assert_int_equal(access("u", F_OK), -1);
}

TEST(who_finds_his_folder_gone_again_is_told)
{
	sherd_store *first = NULL, *second = NULL;
	char *key = NULL, *other = NULL;
	sherd_store_options create = {.create = true};
	assert_ok(sherd_store_open(&first, &key, "z/one", &create, err));
	assert_ok(sherd_store_open(&second, &other, "z/two", &create, err));
	sherd_store_close(first);
	/* Why depends on the file system. */
	assert_true(sherd_store_put(second, other, SHERD_WRITE_NEW, "n", 1, NULL) < 0);
	assert_true(sherd_store_put(second, other, SHERD_WRITE_REPLACE, "n", 1, NULL) < 0);
	sherd_store_close(second);
	sherd_free(key);
	sherd_free(other);
}

TEST(an_index_that_is_a_link_stands_for_its_neighbours)
{
	sherd_store *s = NULL;
	char *key = NULL, *data = NULL;
	size_t len;
	assert_int_equal(mkdir("cache", 0777) | mkdir("cache/blobs", 0777) | mkdir("cache/names", 0777), 0);
	assert_ok(sherd_store_open_local(&s, "cache/blobs", NULL, err));
	assert_ok(sherd_store_put(s, "1", SHERD_WRITE_NEW, "index", 5, err));
	assert_ok(sherd_store_put(s, "2", SHERD_WRITE_NEW, "shard", 5, err));
	sherd_store_close(s);
	assert_int_equal(symlink("../blobs/1", "cache/names/m.safetensors.index.json") |
	                         symlink("../blobs/2", "cache/names/m-1.safetensors"),
	                 0);
	assert_ok(sherd_store_open(&s, &key, "cache/names/m.safetensors.index.json", NULL, err));
	assert_string_equal(key, "m.safetensors.index.json");
	assert_ok(sherd_store_get(&data, &len, s, "m-1.safetensors", 10, err));
	sherd_free(data);
	sherd_free(key);
	sherd_store_close(s);
	/* Without that, links that lead out are followed only if one says so. */
	const sherd_pair follow = {"follow-symlinks", "true"};
	for (int i = 0; i < 2; i++) {
		sherd_store_options options = {.own = &follow, .own_count = (size_t)i};
		assert_ok(sherd_store_open(&s, &key, "cache/names", &options, err));
		data = NULL;
		assert_int_equal(sherd_store_get(&data, &len, s, "m-1.safetensors", 10, NULL),
		                 i ? SHERD_OK : SHERD_EUNSUPPORTED);
		sherd_free(data);
		sherd_free(key);
		sherd_store_close(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_becomes_a_folder_and_a_key),
		cmocka_unit_test(a_folder_has_the_empty_key),
		cmocka_unit_test(a_link_that_the_user_named_is_followed),
		cmocka_unit_test(what_cannot_be_opened_is_refused),
		cmocka_unit_test(the_parent_is_made_when_asked),
		cmocka_unit_test(a_folder_can_name_what_lies_beside_it),
		cmocka_unit_test(a_store_remembers_what_goes_before_its_keys),
		cmocka_unit_test(folders_in_which_nothing_came_to_lie_go_with_the_store),
		cmocka_unit_test(who_finds_his_folder_gone_again_is_told),
		cmocka_unit_test(an_index_that_is_a_link_stands_for_its_neighbours),
	};
	return cmocka_run_group_tests_name("unit/store/local/path", tests, begin, end);
}
