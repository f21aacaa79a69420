/* Stores by their names. */
#include "support/test.h"

#include <sherd/sys/backend.h>

#include <stdlib.h>
#include <string.h>

/* A store from outside: the key is what follows the bucket, "twice://bucket/a/b". */
static int twice_open(sherd_store **out, char **key, const char *uri, const sherd_store_options *options,
                      sherd_error *err)
{
	const char *region = sherd_store_setting(options, "region");
	if (region && strcmp(region, "here") != 0)
		return sherd_fail(err, SHERD_EIO, "no-region", "there is no region %s", region);
	const char *slash = strchr(uri + strlen("twice://"), '/');
	char *copy = strdup(slash ? slash + 1 : "");
	assert_non_null(copy);
	*key = copy;
	return sherd_store_open_memory(out, err);
}

static const char *const twice_settings[] = {"region", "endpoint-url", NULL};
static const sherd_scheme twice = {.name = "twice", .settings = twice_settings, .open = twice_open};
static const sherd_scheme *const schemes[] = {&twice, NULL};

static void open_and_close(const char *uri, const char *want_key, const char *want_label)
{
	sherd_store *s = NULL;
	char *key = NULL;
	assert_ok(sherd_store_open(&s, &key, uri, &(sherd_store_options){.schemes = schemes}, err));
	assert_string_equal(key, want_key);
	assert_string_equal(sherd_store_label(s), want_label);
	sherd_free(key);
	sherd_store_close(s);
}

TEST(the_scheme_chooses_the_store)
{
	open_and_close("mem://a/b", "a/b", "mem://");
	open_and_close("mem://", "", "mem://");
	open_and_close("twice://bucket/a/b", "a/b", "twice://bucket/");
	open_and_close("twice://bucket", "", "twice://bucket/");
	/* A plain path may hold a colon. */
	open_and_close("mem:x", "mem:x", "");
	open_and_close("twice:x", "twice:x", "");
}

TEST(a_scheme_that_nobody_knows_is_told_those_that_are)
{
	sherd_store *s = NULL;
	char *key = NULL;
	sherd_error e = {0};
	assert_int_equal(sherd_store_open(&s, &key, "s3://b/k", &(sherd_store_options){.schemes = schemes}, &e),
	                 SHERD_EUNSUPPORTED);
	assert_string_equal(e.reason, "unsupported-scheme");
	assert_string_equal(e.object, "s3://b/k");
	assert_string_equal(e.message, "s3:// cannot be opened here, only file, mem, twice");
	assert_int_equal(sherd_store_open(&s, &key, "twice://b/k", NULL, &e), SHERD_EUNSUPPORTED);
	assert_string_equal(e.message, "twice:// cannot be opened here, only file, mem");
	assert_null(s);
	assert_null(key);
	size_t count = 0;
	for (const sherd_scheme *const *at = sherd_store_schemes(); *at; at++)
		count += strcmp((*at)->name, "file") == 0 || strcmp((*at)->name, "mem") == 0;
	assert_int_equal(count, 2);
}

static int open_with(const char *uri, const char *name, const char *value, sherd_error *e)
{
	const sherd_pair own[] = {{"region", "nowhere"}, {name, value}};
	bool both = strcmp(name, "region") == 0;
	sherd_store_options options = {.own = both ? own : own + 1, .own_count = both ? 2 : 1, .schemes = schemes};
	sherd_store *s = NULL;
	char *key = NULL;
	int rc = sherd_store_open(&s, &key, uri, &options, e);
	if (rc == SHERD_OK) {
		sherd_free(key);
		sherd_store_close(s);
	}
	return rc;
}

TEST(settings_belong_to_the_store)
{
	sherd_error e = {0};
	assert_int_equal(open_with("twice://b/k", "region", "here", &e), SHERD_OK); /* the last one counts */
	assert_int_equal(open_with("twice://b/k", "follow-symlinks", "true", &e), SHERD_EINVAL);
	assert_string_equal(e.reason, "bad-setting");
	assert_string_equal(e.message, "stores of twice:// have no setting \"follow-symlinks\"");
	assert_int_equal(open_with("x", "region", "here", &e), SHERD_EINVAL);
	assert_int_equal(open_with("mem://x", "endpoint-url", "here", &e), SHERD_EINVAL);
	assert_int_equal(open_with("x", "follow-symlinks", "perhaps", &e), SHERD_EINVAL);
	assert_string_equal(e.message, "follow-symlinks is true or false, not \"perhaps\"");
	assert_int_equal(open_with("x", "follow-symlinks", "true", &e), SHERD_OK);
}

static void assert_named(const sherd_store *of, const sherd_store *store, const char *key, const char *object,
                         const char *want)
{
	sherd_error e = {.code = SHERD_ECORRUPT, .reason = "test", .store = of};
	(void)strcpy(e.object, object);
	sherd_store_name_error(store, key, &e);
	assert_string_equal(e.object, want);
	assert_null(e.store); /* the object is no key any more, and the store may be closed from now on */
}

TEST(an_error_is_named_as_the_user_would)
{
	sherd_store *a = NULL, *b = NULL;
	char *key_a = NULL, *key_b = NULL;
	assert_ok(sherd_store_open(&a, &key_a, "mem://run", NULL, err));
	assert_ok(sherd_store_open(&b, &key_b, "/", NULL, err));
	assert_named(NULL, a, key_a, "", "mem://run");
	assert_named(a, a, key_a, "run.json", "mem://run.json");
	assert_named(b, a, key_a, "other", "/other");
	assert_named(b, a, key_a, "", "/");
	assert_named(NULL, a, "", "", "mem://");
	assert_named(a, b, key_b, "x/y", "mem://x/y");
	assert_named(NULL, b, key_b, ".", "/");
	assert_named(NULL, NULL, NULL, "x", "x");
	assert_named(NULL, NULL, NULL, "", "");
	char longer[256], want[256] = "...";
	memset(longer, 'l', 255);
	longer[255] = 0;
	memcpy(want + 3, longer, 253);
	want[255] = 0;
	assert_named(a, a, key_a, longer, want);
	sherd_free(key_a);
	sherd_free(key_b);
	sherd_store_close(a);
	sherd_store_close(b);
	assert_ok(sherd_store_open_memory(&a, err));
	assert_string_equal(sherd_store_label(a), "");
	sherd_store_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_scheme_chooses_the_store),
		cmocka_unit_test(a_scheme_that_nobody_knows_is_told_those_that_are),
		cmocka_unit_test(settings_belong_to_the_store),
		cmocka_unit_test(an_error_is_named_as_the_user_would),
	};
	return cmocka_run_group_tests_name("unit/store/open", tests, NULL, NULL);
}
