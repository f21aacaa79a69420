/* Which server and whose credentials: settings, environment, shared files; and names in buckets. */
#include "s3/config.h"
#include "s3/s3.h"

#include "support/s3_server.h"
#include "support/scratch.h"
#include "support/test.h"

#include <sherd/s3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static char *folder;

static void write_text(const char *name, const char *text)
{
	char path[512];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	(void)setenv(strcmp(name, "config") == 0 ? "AWS_CONFIG_FILE" : "AWS_SHARED_CREDENTIALS_FILE", path, 1);
}

static int config_begin(void **state)
{
	static const char *const all[] = {"AWS_ACCESS_KEY_ID",
	                                  "AWS_SECRET_ACCESS_KEY",
	                                  "AWS_SESSION_TOKEN",
	                                  "AWS_REGION",
	                                  "AWS_DEFAULT_REGION",
	                                  "AWS_ENDPOINT_URL",
	                                  "AWS_PROFILE",
	                                  "AWS_ENDPOINT_URL_S3",
	                                  "AWS_CA_BUNDLE",
	                                  "AWS_DEFAULT_PROFILE",
	                                  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	                                  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	                                  "AWS_EC2_METADATA_DISABLED",
	                                  "SHERD_S3_PATH_STYLE"};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++)
		(void)unsetenv(all[i]);
	folder = scratch_make();
	write_text("credentials", "");
	write_text("config", "");
	return 0;
}

static int config_end(void **state)
{
	(void)state;
	scratch_remove(folder);
	return 0;
}

static int find(shd_s3_config *c, const sherd_pair *own, size_t count, sherd_error *err)
{
	sherd_store_options options = {.own = own, .own_count = count};
	*c = (shd_s3_config){0};
	int rc = shd_s3_config_find(c, "bucket", &options, err);
	if (rc < 0)
		shd_s3_config_free(c);
	return rc;
}

TEST(the_environment_says_who_and_where)
{
	shd_s3_config c;
	assert_ok(find(&c, NULL, 0, err));
	assert_true(c.by_role);
	shd_s3_config_free(&c);
	(void)setenv("AWS_ACCESS_KEY_ID", "AKID", 1);
	(void)setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
	assert_ok(find(&c, NULL, 0, err));
	assert_string_equal(c.origin, "https://bucket.s3.us-east-1.amazonaws.com");
	assert_string_equal(c.host, "bucket.s3.us-east-1.amazonaws.com");
	assert_string_equal(c.base, "");
	assert_true(c.aws);
	assert_string_equal(c.credentials.id, "AKID");
	assert_string_equal(c.credentials.secret, "hush");
	assert_null(c.credentials.token);
	shd_s3_config_free(&c);
	(void)setenv("AWS_DEFAULT_REGION", "eu-west-1", 1);
	(void)setenv("AWS_SESSION_TOKEN", "token", 1);
	(void)setenv("AWS_ENDPOINT_URL", "http://localhost:9000/", 1);
	assert_ok(find(&c, NULL, 0, err));
	assert_string_equal(c.region, "eu-west-1");
	assert_string_equal(c.credentials.token, "token");
	assert_string_equal(c.origin, "http://localhost:9000");
	assert_string_equal(c.base, "/bucket");
	assert_false(c.aws);
	shd_s3_config_free(&c);
	(void)setenv("AWS_ENDPOINT_URL_S3", "https://here/s3", 1);
	(void)setenv("AWS_REGION", "", 1);
	assert_ok(find(&c, (sherd_pair[]){{"region", "x"}, {"path-style", "false"}}, 2, err));
	assert_string_equal(c.region, "x");
	assert_string_equal(c.origin, "https://bucket.here");
	assert_string_equal(c.base, "/s3");
	shd_s3_config_free(&c);
}

TEST(profiles_are_those_of_the_shared_files)
{
	write_text("credentials", "[default]\naws_access_key_id = one\naws_secret_access_key= s1\n"
	                          "[work]\naws_access_key_id=two\naws_secret_access_key=s2\naws_session_token=t2\n");
	write_text("config",
	           "# a comment\n[default]\nregion = r1\n[profile work]\nregion=r2\nendpoint_url = http://h:1\n"
	           "s3 =\n  addressing_style = virtual\n  max_bandwidth = 1\nca_bundle = /ca.pem\n"
	           "[profile keys]\naws_access_key_id=three\naws_secret_access_key=s3\n");
	shd_s3_config c;
	assert_ok(find(&c, NULL, 0, err));
	assert_string_equal(c.credentials.id, "one");
	assert_string_equal(c.region, "r1");
	shd_s3_config_free(&c);
	(void)setenv("AWS_PROFILE", "work", 1);
	assert_ok(find(&c, NULL, 0, err));
	assert_string_equal(c.credentials.id, "two");
	assert_string_equal(c.credentials.secret, "s2");
	assert_string_equal(c.credentials.token, "t2");
	assert_string_equal(c.region, "r2");
	assert_string_equal(c.origin, "http://bucket.h:1");
	assert_string_equal(c.ca_bundle, "/ca.pem");
	shd_s3_config_free(&c);
	assert_ok(find(&c, (sherd_pair[]){{"profile", "keys"}}, 1, err));
	assert_string_equal(c.credentials.id, "three");
	shd_s3_config_free(&c);
	assert_refused(SHERD_ENOTFOUND, "not-found", find(&c, (sherd_pair[]){{"profile", "nobody"}}, 1, err));
}

TEST(bad_settings_are_refused_without_a_secret)
{
	static const sherd_pair bad[] = {
		{"endpoint", "ftp://host"}, {"endpoint", "https://"}, {"endpoint", "https://me:hush@host"},
		{"region", "a b"},          {"path-style", "yes"},    {"timeout", "-1"},
		{"timeout", "soon"},        {"retries", "1e9"},       {"part-size", "1"},
		{"alone", "maybe"}};
	(void)setenv("AWS_ACCESS_KEY_ID", "AKID", 1);
	(void)setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		shd_s3_config c;
		sherd_error e = {0};
		assert_int_equal(find(&c, &bad[i], 1, &e), SHERD_EINVAL);
		assert_string_equal(e.reason, "bad-setting");
		assert_null(strstr(e.message, "hush"));
	}
	(void)setenv("AWS_ACCESS_KEY_ID", "id\nX-Other: 1", 1);
	shd_s3_config c;
	assert_refused(SHERD_EINVAL, "bad-setting", find(&c, NULL, 0, err));
	assert_ok(find(&c, (sherd_pair[]){{"unsigned", "true"}}, 1, err));
	assert_null(c.credentials.id);
	shd_s3_config_free(&c);
}

/* What a URI opens: root and key, joined by '|'. */
static void assert_opens(const char *endpoint, const char *uri, bool beside, const char *want)
{
	sherd_pair own[] = {{"endpoint", endpoint}, {"region", "here"}};
	sherd_store_options options = {
		.own = own, .own_count = 2, .beside = beside, .schemes = sherd_s3_component()->schemes};
	sherd_store *store = NULL;
	char *key = NULL, got[256];
	assert_ok(sherd_store_open(&store, &key, uri, &options, err));
	(void)snprintf(got, sizeof(got), "%s|%s|%s", sherd_store_label(store), ((shd_s3 *)store)->root, key);
	assert_string_equal(got, want);
	free(key);
	sherd_store_close(store);
}

TEST(a_name_is_an_object_or_a_folder)
{
	s3_server *server = s3_server_start(NULL);
	const char *at = s3_server_endpoint(server);
	sherd_store *store = s3_server_store(server, "", NULL);
	assert_ok(sherd_store_put(store, "dir/run/x", SHERD_WRITE_NEW, "", 0, err));
	sherd_store_close(store);
	assert_opens(at, "s3://test/dir/run", false, "s3://test/dir/run/|dir/run/|");
	assert_opens(at, "s3://test/dir/run", true, "s3://test/dir/|dir/|run");
	assert_opens(at, "s3://test/dir/run/x", false, "s3://test/dir/run/|dir/run/|x");
	assert_opens(at, "s3://test/dir/other", false, "s3://test/dir/|dir/|other");
	assert_opens(at, "s3://test/dir/run/", true, "s3://test/dir/|dir/|run");
	assert_opens(at, "s3://test/new/", false, "s3://test/new/|new/|");
	assert_opens(at, "s3://test/a b?c#d%41", false, "s3://test/||a b?c#d%41");
	assert_opens(at, "s3://test", false, "s3://test/||");
	assert_opens(at, "s3://test/", false, "s3://test/||");
	sherd_pair own[] = {{"endpoint", at}, {"region", "here"}};
	sherd_store_options options = {.own = own, .own_count = 2, .schemes = sherd_s3_component()->schemes};
	char *key;
	assert_refused(SHERD_EINVAL, "bad-path", sherd_store_open(&store, &key, "s3://", &options, err));
	assert_refused(SHERD_EINVAL, "bad-path", sherd_store_open(&store, &key, "s3:///x", &options, err));
	assert_refused(SHERD_EINVAL, "bad-path", sherd_store_open(&store, &key, "s3://a:b/x", &options, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_open(&store, &key, "s3://none/x", &options, err));
	options.beside = true;
	assert_refused(SHERD_ENOTFOUND, "is-folder", sherd_store_open(&store, &key, "s3://test/", &options, err));
	(void)setenv("AWS_SECRET_ACCESS_KEY", "wrong", 1);
	sherd_stat stat;
	assert_ok(sherd_store_open(&store, &key, "s3://test/x", &options, err));
	assert_refused(SHERD_EIO, "permission", sherd_store_stat(&stat, store, key, err));
	free(key);
	sherd_store_close(store);
	s3_server_stop(server);
}

TEST(a_port_that_is_usual_is_signed_as_it_is_sent)
{
	s3_server *server = s3_server_start(NULL);
	sherd_store *store = s3_server_store(server, "", NULL);
	assert_ok(sherd_store_put(store, "dir/x", SHERD_WRITE_NEW, "", 0, err));
	sherd_store_close(store);
	(void)setenv("http_proxy", s3_server_endpoint(server), 1);
	assert_opens("http://store.invalid:80", "s3://test/dir", false, "s3://test/dir/|dir/|");
	assert_opens("http://store.invalid", "s3://test/dir", false, "s3://test/dir/|dir/|");
	(void)unsetenv("http_proxy");
	s3_server_stop(server);
}

TEST(a_server_without_conditions_is_read_and_not_written)
{
	static const s3_quirks deaf = {.deaf_put = true, .deaf_delete = true};
	s3_server *server = s3_server_start(&deaf);
	sherd_store *alone = s3_server_store(server, "d", "alone=true", NULL),
		    *store = s3_server_store(server, "d", NULL);
	assert_ok(sherd_store_put(alone, "x", SHERD_WRITE_NEW, "one", 3, err));
	assert_refused(SHERD_EEXIST, "exists", sherd_store_put(alone, "x", SHERD_WRITE_NEW, "two", 3, err));
	sherd_stat stat;
	assert_ok(sherd_store_stat(&stat, store, "x", err));
	assert_refused(SHERD_EUNSUPPORTED, "no-exclusive", sherd_store_put(store, "y", SHERD_WRITE_NEW, "", 0, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-exclusive", sherd_store_remove_if(store, "x", stat.identity, err));
	assert_ok(sherd_store_remove_if(alone, "x", stat.identity, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "x", err));
	sherd_store_close(alone);
	sherd_store_close(store);
	s3_server_stop(server);
}

static bool go_on(void *arg, const char *key, const sherd_stat *stat)
{
	(void)arg, (void)key, (void)stat;
	return true;
}

TEST(a_list_out_of_order_is_refused)
{
	static const s3_quirks wild = {.wild_lists = true, .no_etag = true};
	s3_server *server = s3_server_start(&wild);
	sherd_store *store = s3_server_store(server, "d", NULL);
	char identity[72] = "";
	sherd_writer *w = NULL;
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_NEW, "", 0, err));
	assert_ok(sherd_store_write(&w, store, "b", &(sherd_write_options){.identity = identity}, err));
	assert_ok(sherd_writer_commit(w, err));
	sherd_stat stat;
	assert_ok(sherd_store_stat(&stat, store, "b", err));
	assert_string_equal(stat.identity, identity); /* which the answer to the write did not tell */
	char *key = NULL;
	sherd_pair own[] = {{"endpoint", s3_server_endpoint(server)}, {"region", "here"}};
	sherd_store_options options = {.own = own, .own_count = 2, .schemes = sherd_s3_component()->schemes};
	sherd_store *other = NULL;
	assert_ok(sherd_store_open(&other, &key, "s3://test/d", &options, err)); /* stops at the first */
	sherd_store_close(other);
	free(key);
	assert_refused(SHERD_EUNSUPPORTED, "bad-list", sherd_store_list(store, "", "", go_on, NULL, err));
	sherd_store_close(store);
	s3_server_stop(server);
}

static bool add_key(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	(void)strcat((char *)arg, key);
	(void)strcat((char *)arg, "|");
	return true;
}

TEST(a_list_that_never_ends_is_refused)
{
	s3_server *server = s3_server_start(&(s3_quirks){.endless = true});
	sherd_store *store = s3_server_store(server, "d", NULL);
	assert_refused(SHERD_EIO, "bad-list", sherd_store_list(store, "", "", go_on, NULL, err));
	sherd_store_close(store);
	s3_server_stop(server);
}

TEST(lists_tell_keys_as_they_are_and_marks_by_looking)
{
	static const s3_quirks all[] = {{.deaf_delete = true},
	                                {.deaf_delete = true, .plain_lists = true},
	                                {.deaf_delete = true, .own_etags = true}};
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		s3_server *server = s3_server_start(&all[i]);
		sherd_store *store = s3_server_store(server, "d", NULL);
		sherd_stat stat;
		char keys[256] = "";
		assert_ok(sherd_store_put(store, "a+b%41", SHERD_WRITE_NEW, "", 0, err));
		assert_ok(sherd_store_put(store, "removed", SHERD_WRITE_NEW, "", 0, err));
		assert_ok(sherd_store_put(store, "same", SHERD_WRITE_NEW, shd_s3_mark, strlen(shd_s3_mark), err));
		assert_ok(sherd_store_stat(&stat, store, "removed", err));
		assert_ok(sherd_store_remove_if(store, "removed", stat.identity, err));
		assert_ok(sherd_store_list(store, "", "", add_key, keys, err));
		assert_string_equal(keys, "a+b%41|same|");
		sherd_store_close(store);
		s3_server_stop(server);
	}
}

TEST(many_marks_are_looked_at_ahead_of_their_turn)
{
	s3_server *server = s3_server_start(&(s3_quirks){.deaf_delete = true, .page = 50});
	sherd_store *store = s3_server_store(server, "d", NULL);
	char keys[1024] = "", want[1024] = "", key[16];
	for (int i = 0; i < 120; i++) {
		sherd_stat stat;
		(void)snprintf(key, sizeof(key), "%03d", i);
		assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, "Removed by nobody.", 18, err));
		assert_ok(sherd_store_stat(&stat, store, key, err));
		if (i % 5)
			assert_ok(sherd_store_remove_if(store, key, stat.identity, err));
		else
			(void)add_key(want, key, NULL);
	}
	s3_server_fail(server, "HEAD", "d/0", S3_503, 7);
	assert_ok(sherd_store_list(store, "", "", add_key, keys, err));
	assert_string_equal(keys, want);
	s3_server_fail(server, "HEAD", "d/045", S3_403, 1);
	keys[0] = 0;
	assert_refused(SHERD_EIO, "permission", sherd_store_list(store, "", "", add_key, keys, err));
	assert_string_equal(keys, "000|005|010|015|020|025|030|035|040|");
	sherd_store_close(store);
	s3_server_stop(server);
}

/* Puts an object, and looks at it twice, as whoever the environment says. */
static int use_role(const char *endpoint, sherd_error *err)
{
	sherd_pair own[] = {{"endpoint", endpoint}, {"region", "here"}};
	sherd_store_options options = {
		.own = own, .own_count = 2, .beside = true, .schemes = sherd_s3_component()->schemes};
	sherd_store *store = NULL;
	sherd_stat stat;
	char *key = NULL;
	TRY(sherd_store_open(&store, &key, "s3://test/x", &options, err));
	int rc = sherd_store_put(store, key, SHERD_WRITE_REPLACE, "one", 3, err);
	for (int i = 0; i < 2 && rc == SHERD_OK; i++)
		rc = sherd_store_stat(&stat, store, key, err);
	sherd_store_close(store);
	free(key);
	return rc;
}

TEST(roles_of_instances_and_containers_are_asked_and_asked_anew)
{
	s3_server *lasting = s3_server_start(&(s3_quirks){.role = 3600}),
		  *brief = s3_server_start(&(s3_quirks){.role = 100});
	char url[128];
	(void)setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s3_server_endpoint(lasting), 1);
	assert_ok(use_role(s3_server_endpoint(lasting), err));
	assert_int_equal(s3_server_roles(lasting), 1);
	(void)setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s3_server_endpoint(brief), 1);
	assert_ok(use_role(s3_server_endpoint(brief), err));
	assert_int_equal(s3_server_roles(brief), 1); /* not for every request, as long as they last */
	s3_server_fail(brief, "PUT", "test/x", S3_EXPIRED, 1);
	s3_server_fail(brief, "HEAD", "test/x", S3_EXPIRED, 1);
	assert_ok(use_role(s3_server_endpoint(brief), err));
	assert_int_equal(s3_server_roles(brief), 4);
	s3_server_fail(brief, "PUT", "test/x", S3_EXPIRED, 2);
	assert_refused(SHERD_EIO, "io", use_role(s3_server_endpoint(brief), err));
	s3_server_stop(brief);
	brief = s3_server_start(&(s3_quirks){.role = -1});
	(void)setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s3_server_endpoint(brief), 1);
	assert_ok(use_role(s3_server_endpoint(brief), err));
	assert_true(s3_server_roles(brief) > 3);
	/* Lost, and then nobody may ask again: it may have happened. */
	s3_server_fail(brief, "PUT", "test/x", S3_RESET, 2);
	s3_server_fail(brief, "GET", "some-role", S3_NONE, 8);
	s3_server_fail(brief, "GET", "some-role", S3_403, 1);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", use_role(s3_server_endpoint(brief), err));
	(void)setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
	assert_refused(SHERD_EINVAL, "no-credentials", use_role(s3_server_endpoint(lasting), err));
	(void)snprintf(url, sizeof(url), "%s/role", s3_server_endpoint(lasting));
	(void)setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url, 1);
	assert_refused(SHERD_EINVAL, "no-credentials", use_role(s3_server_endpoint(lasting), err));
	(void)setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "tok/en==", 1);
	assert_ok(use_role(s3_server_endpoint(lasting), err));
	assert_int_equal(s3_server_roles(lasting), 2);
	(void)snprintf(url, sizeof(url), "%s/token", folder);
	(void)setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", url, 1);
	assert_refused(SHERD_EINVAL, "no-credentials", use_role(s3_server_endpoint(lasting), err));
	FILE *f = fopen(url, "w");
	assert_non_null(f);
	assert_true(fputs("tok/en==\n", f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_ok(use_role(s3_server_endpoint(lasting), err));
	static const char *const far[] = {"http://example.com/role",
	                                  "http://localhost:1@evil.invalid/",
	                                  "http://127.evil.invalid/",
	                                  "http://[::1].evil.invalid/",
	                                  "http://localhost.evil.invalid/",
	                                  "ftp://localhost/",
	                                  "localhost/role"};
	for (size_t i = 0; i < COUNT_OF(far); i++) {
		sherd_error e = {0};
		(void)setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", far[i], 1);
		assert_int_equal(use_role(s3_server_endpoint(lasting), &e), SHERD_EINVAL);
		assert_non_null(strstr(e.message, "neither https nor of this machine"));
	}
	s3_server_stop(lasting);
	s3_server_stop(brief);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, config_begin, config_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_environment_says_who_and_where),
		CASE(profiles_are_those_of_the_shared_files),
		CASE(bad_settings_are_refused_without_a_secret),
		CASE(a_name_is_an_object_or_a_folder),
		CASE(a_port_that_is_usual_is_signed_as_it_is_sent),
		CASE(a_server_without_conditions_is_read_and_not_written),
		CASE(a_list_that_never_ends_is_refused),
		CASE(lists_tell_keys_as_they_are_and_marks_by_looking),
		CASE(many_marks_are_looked_at_ahead_of_their_turn),
		CASE(a_list_out_of_order_is_refused),
		CASE(roles_of_instances_and_containers_are_asked_and_asked_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
