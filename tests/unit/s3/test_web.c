/* Objects of any server, by http://. */
#include "support/s3_server.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/s3.h>
#include <sherd/sys/backend.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 300000 };

typedef struct fixture {
	s3_server *server;
	sherd_store *bucket; /* where objects are put */
	char bytes[LENGTH];
} fixture;

static int begin(void **state)
{
	static const s3_quirks quirks = {.everybody = true};
	fixture *f = calloc(1, sizeof(*f));
	for (size_t i = 0; i < LENGTH; i++)
		f->bytes[i] = (char)(i * 2654435761u >> 11);
	f->server = s3_server_start(&quirks);
	f->bucket = s3_server_store(f->server, "dir", NULL);
	assert_ok(sherd_store_put(f->bucket, "big", SHERD_WRITE_NEW, f->bytes, LENGTH, err));
	*state = f;
	return 0;
}

static int end(void **state)
{
	fixture *f = *state;
	sherd_store_close(f->bucket);
	s3_server_stop(f->server);
	free(f);
	return 0;
}

static int open_url(const fixture *f, const char *path, sherd_store **out, char **key, sherd_error *err)
{
	char uri[256];
	const sherd_pair own[] = {{"retry-delay", "0.001"}, {"retries", "3"}, {"request-timeout", "2"}};
	const sherd_store_options options = {
		.schemes = sherd_s3_component()->schemes, .own = own, .own_count = COUNT_OF(own)};
	(void)snprintf(uri, sizeof(uri), "%s%s", s3_server_endpoint(f->server), path);
	return sherd_store_open(out, key, uri, &options, err);
}

static sherd_store *opened(const fixture *f, const char *path, const char *want)
{
	sherd_store *store = NULL;
	char *key = NULL;
	assert_ok(open_url(f, path, &store, &key, err));
	assert_string_equal(key, want);
	sherd_free(key);
	return store;
}

static int read_all(const fixture *f, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_reader *r = NULL;
	char *buf = malloc(LENGTH);
	int rc = sherd_store_read(&r, store, key, err);
	if (rc == SHERD_OK)
		rc = sherd_reader_size(r) == LENGTH ? sherd_reader_at(r, 0, buf, LENGTH, err) : SHERD_ECORRUPT;
	if (rc == SHERD_OK)
		assert_memory_equal(buf, f->bytes, LENGTH);
	sherd_reader_close(r);
	free(buf);
	return rc;
}

TEST(an_object_is_read_by_ranges_and_opened_by_one_request)
{
	const fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/big", "big");
	sherd_reader *r = NULL;
	sherd_stat stat = {0};
	char buf[100];
	unsigned before = s3_server_requests(f->server);
	assert_ok(sherd_store_read(&r, store, "big", err));
	assert_ok(sherd_reader_at(r, 1000, buf, sizeof(buf), err));
	assert_int_equal(s3_server_requests(f->server) - before, 1);
	assert_ok(sherd_reader_at(r, 200000, buf, sizeof(buf), err));
	assert_memory_equal(buf, f->bytes + 200000, sizeof(buf));
	assert_int_equal(s3_server_requests(f->server) - before, 2);
	assert_ok(sherd_store_stat(&stat, store, "big", err));
	assert_int_equal(stat.size, LENGTH);
	assert_true(stat.mtime_ns > 0);
	assert_string_equal(stat.identity, sherd_reader_identity(r));
	sherd_reader_close(r);
	assert_ok(read_all(f, store, "big", err));
	sherd_store_close(store);
}

TEST(what_goes_wrong_on_the_way_is_asked_for_again)
{
	static const s3_fault faults[] = {S3_RESET, S3_500, S3_503, S3_429, S3_TRUNCATED, S3_SHORT};
	const fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/big?token=1", "big");
	for (size_t i = 0; i < COUNT_OF(faults); i++) {
		s3_server_fail(f->server, "GET", "big", faults[i], 2);
		assert_ok(read_all(f, store, "big", err));
		assert_int_equal(s3_server_left(f->server), 0);
	}
	sherd_store_close(store);
}

TEST(a_server_may_send_elsewhere_but_not_to_another_scheme)
{
	const fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/big", "big");
	sherd_error e = {0};
	s3_server_fail(f->server, "GET", "big", S3_AWAY, 1);
	assert_ok(read_all(f, store, "big", err));
	s3_server_fail(f->server, "GET", "big", S3_ELSEWHERE, 1);
	assert_int_equal(read_all(f, store, "big", &e), SHERD_EIO);
	assert_string_equal(e.reason, "redirect");
	assert_non_null(strstr(e.message, "https://127.0.0.1/test/dir/big"));
	assert_null(strstr(e.message, "hush"));
	s3_server_calm(f->server);
	s3_server_fail(f->server, "GET", "big", S3_NOWHERE, 100);
	assert_int_equal(read_all(f, store, "big", &e), SHERD_EIO);
	assert_non_null(strstr(e.message, "no answer from http://127.0.0.1:1, where the server sends to: "));
	assert_null(strstr(e.message, "hush"));
	s3_server_calm(f->server);
	s3_server_fail(f->server, "GET", "big", S3_AWAY, 100);
	assert_int_equal(read_all(f, store, "big", &e), SHERD_EIO);
	assert_string_equal(e.reason, "redirect");
	s3_server_calm(f->server);
	sherd_store_close(store);
}

/* The place that it was sent to refuses after a while. */
TEST(who_was_sent_elsewhere_comes_back)
{
	const fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/big", "big");
	sherd_reader *r = NULL;
	char buf[100];
	s3_server_fail(f->server, "GET", "big", S3_AWAY, 1);
	assert_ok(sherd_store_read(&r, store, "big", err));
	s3_server_fail(f->server, "GET", "away", S3_403, 1);
	assert_ok(sherd_reader_at(r, 200000, buf, sizeof(buf), err));
	assert_memory_equal(buf, f->bytes + 200000, sizeof(buf));
	assert_int_equal(s3_server_left(f->server), 0);
	sherd_reader_close(r);
	sherd_store_close(store);
}

TEST(a_server_without_ranges_sends_all)
{
	const fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/big", "big");
	s3_server_fail(f->server, "GET", "big", S3_ALL, 1);
	unsigned before = s3_server_requests(f->server);
	assert_ok(read_all(f, store, "big", err));
	assert_int_equal(s3_server_requests(f->server) - before, 1);
	sherd_store_close(store);
}

TEST(more_than_64_MiB_are_not_taken_from_a_server_without_ranges)
{
	const fixture *f = *state;
	size_t len = ((size_t)64 << 20) + 1;
	char *large = calloc(1, len);
	sherd_writer *w = NULL;
	sherd_error e = {0};
	sherd_reader *r = NULL;
	assert_ok(sherd_store_write(&w, f->bucket, "large", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE}, err));
	assert_ok(sherd_writer_append(w, large, len, err));
	assert_ok(sherd_writer_commit(w, err));
	sherd_store *store = opened(f, "/test/dir/large", "large");
	s3_server_fail(f->server, "GET", "large", S3_ALL, 100); /* a slow answer is asked for again */
	assert_int_equal(sherd_store_read(&r, store, "large", &e), SHERD_EUNSUPPORTED);
	assert_string_equal(e.reason, "no-ranges");
	sherd_store_close(store);
	free(large);
}

TEST(an_object_that_changes_is_an_error_and_no_mixture)
{
	fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/big", "big");
	sherd_reader *r = NULL;
	char buf[100];
	assert_ok(sherd_store_read(&r, store, "big", err));
	f->bytes[250000] ^= 1;
	assert_ok(sherd_store_put(f->bucket, "big", SHERD_WRITE_REPLACE, f->bytes, LENGTH, err));
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_reader_at(r, 250000, buf, sizeof(buf), err));
	sherd_reader_close(r);
	assert_ok(sherd_store_read(&r, store, "big", err));
	assert_ok(sherd_store_remove(f->bucket, "big", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_reader_at(r, 250000, buf, sizeof(buf), err));
	sherd_reader_close(r);
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_read(&r, store, "big", err));
	sherd_store_close(store);
}

TEST(without_an_ETag_the_time_tells)
{
	const fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/big", "big");
	s3_server_fail(f->server, "GET", "big", S3_NAMELESS, 100);
	assert_ok(read_all(f, store, "big", err));
	/* But caches keep nothing by it. */
	sherd_reader *r = NULL;
	assert_ok(sherd_store_read(&r, store, "big", err));
	assert_memory_equal(sherd_reader_identity(r), "W/", 2);
	sherd_reader_close(r);
	sherd_store_close(store);
}

TEST(what_stands_behind_the_path_makes_another_place_and_is_not_told)
{
	const fixture *f = *state;
	static const char *const paths[] = {"/test/dir/big", "/test/dir/big?id=secret1", "/test/dir/big?id=secret2"};
	sherd_store *stores[COUNT_OF(paths)];
	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		stores[i] = opened(f, paths[i], "big");
		const char *place = stores[i]->ops->place(stores[i]);
		assert_null(strstr(place, "secret"));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(place, stores[k]->ops->place(stores[k]));
	}
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		sherd_store_close(stores[i]);
}

TEST(nothing_is_written_listed_or_removed)
{
	const fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/big", "big");
	sherd_writer *w = NULL;
	assert_refused(SHERD_EUNSUPPORTED, "read-only", sherd_store_write(&w, store, "x", NULL, err));
	assert_refused(SHERD_EUNSUPPORTED, "read-only", sherd_store_remove(store, "big", err));
	assert_refused(SHERD_EUNSUPPORTED, "no-list", sherd_store_list(store, "", "", NULL, NULL, err));
	sherd_store_close(store);
}

TEST(what_is_no_URL_of_a_file_is_refused_without_its_secrets)
{
	static const char *const wrong[] = {"http://",
	                                    "http:///x",
	                                    "https://host",
	                                    "https://host/",
	                                    "http://host/a/",
	                                    "http://name:hush@host/x",
	                                    "http://[/x",
	                                    "http://host/ x",
	                                    "http://host/?hush=1",
	                                    "http://h@ush@host/x?hush"};
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		const sherd_store_options options = {.schemes = sherd_s3_component()->schemes};
		sherd_store *store = NULL;
		char *key = NULL;
		sherd_error e = {0};
		if (sherd_store_open(&store, &key, wrong[i], &options, &e) != SHERD_EINVAL)
			fail_msg("%s", wrong[i]);
		assert_string_equal(e.reason, "bad-path");
		assert_null(strstr(e.object, "hush=") ? e.object : NULL);
		assert_null(strstr(e.object, "name:hush") ? e.object : NULL);
	}
}

TEST(messages_do_not_tell_what_stands_behind_the_path)
{
	const fixture *f = *state;
	sherd_store *store = opened(f, "/test/dir/none?signature=hush", "none");
	sherd_reader *r = NULL;
	sherd_error e = {0};
	assert_int_equal(sherd_store_read(&r, store, "none", &e), SHERD_ENOTFOUND);
	sherd_store_name_error(store, "none", &e);
	assert_null(strstr(e.object, "hush"));
	assert_null(strstr(e.message, "hush"));
	assert_non_null(strstr(e.object, "/test/dir/none"));
	sherd_store_close(store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_object_is_read_by_ranges_and_opened_by_one_request),
		CASE(what_goes_wrong_on_the_way_is_asked_for_again),
		CASE(a_server_may_send_elsewhere_but_not_to_another_scheme),
		CASE(who_was_sent_elsewhere_comes_back),
		CASE(a_server_without_ranges_sends_all),
		CASE(more_than_64_MiB_are_not_taken_from_a_server_without_ranges),
		CASE(an_object_that_changes_is_an_error_and_no_mixture),
		CASE(without_an_ETag_the_time_tells),
		CASE(what_stands_behind_the_path_makes_another_place_and_is_not_told),
		CASE(nothing_is_written_listed_or_removed),
		cmocka_unit_test(what_is_no_URL_of_a_file_is_refused_without_its_secrets),
		CASE(messages_do_not_tell_what_stands_behind_the_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
