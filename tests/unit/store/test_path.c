#include "support/test.h"

#include <sherd/store.h>

#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	assert_ok(sherd_store_open_path(&s, &key, path, NULL, err));
	assert_string_equal(key, want_key);
	if (text) {
		assert_ok(sherd_store_get(s, *key ? key : "real", 10, &data, &len, err));
		assert_string_equal(data, text);
		free(data);
	} else {
		assert_int_equal(sherd_store_get(s, key, 10, &data, &len, NULL), SHERD_ENOTFOUND);
	}
	free(key);
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
	assert_ok(sherd_store_open_path(&s, &key, ".", NULL, err));
	assert_string_equal(key, "");
	free(key);
	sherd_store_close(s);
	assert_ok(sherd_store_open_path(&s, &key, "/", NULL, err));
	assert_string_equal(key, "");
	free(key);
	sherd_store_close(s);
}

TEST(a_link_that_the_user_named_is_followed)
{
	assert_opens("tofile", "real", "r");
	sherd_store *s = NULL;
	char *key = NULL;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_open_path(&s, &key, "dangling", NULL, err));
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
		assert_refused(cases[i].code, cases[i].reason,
		               sherd_store_open_path(&s, &key, cases[i].path, NULL, err));
		assert_null(s);
		assert_null(key);
	}
}

TEST(the_parent_is_made_when_asked)
{
	sherd_store *s = NULL;
	char *key = NULL;
	assert_ok(sherd_store_open_path(&s, &key, "p/q/new", &(sherd_local_options){.create = true}, err));
	assert_string_equal(key, "new");
	assert_ok(sherd_store_put(s, key, SHERD_WRITE_NEW, "n", 1, err));
	free(key);
	sherd_store_close(s);
	assert_opens("p/q/new", "new", "n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_becomes_a_folder_and_a_key),
		cmocka_unit_test(a_folder_has_the_empty_key),
		cmocka_unit_test(a_link_that_the_user_named_is_followed),
		cmocka_unit_test(what_cannot_be_opened_is_refused),
		cmocka_unit_test(the_parent_is_made_when_asked),
	};
	return cmocka_run_group_tests_name("unit/store/path", tests, begin, end);
}
