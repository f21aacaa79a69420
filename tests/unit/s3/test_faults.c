/* What goes wrong on the wire: right in the end, or a clean failure, and never a falsehood. */
#include "base/error.h"
#include "s3/upload.h"
#include "support/s3_server.h"
#include "support/test.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static s3_server *server;
static sherd_store *store;

static int begin_as(const s3_quirks *quirks)
{
	server = s3_server_start(quirks);
	store = s3_server_store(server, "dir", "request-timeout=5", "part-size=5242880", NULL);
	return 0;
}

static int begin(void **state)
{
	(void)state;
	return begin_as(NULL);
}

static int begin_deaf(void **state)
{
	(void)state;
	return begin_as(&(s3_quirks){.deaf_delete = true, .unquoted = true, .angry = true});
}

static int end(void **state)
{
	(void)state;
	sherd_store_close(store);
	s3_server_stop(server);
	return 0;
}

static void put(const char *key, const char *text)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, text, strlen(text), err));
}

static void assert_text(const char *key, const char *text)
{
	char *data = NULL;
	size_t len = 0;
	assert_ok(sherd_store_get(&data, &len, store, key, 1 << 20, err));
	assert_string_equal(data, text);
	free(data);
}

static const s3_fault passing[] = {S3_RESET, S3_500, S3_503, S3_429, S3_RESET_DONE, S3_DONE_500};

TEST(what_passes_is_tried_again)
{
	put("x", "one");
	for (size_t i = 0; i < COUNT_OF(passing); i++) {
		sherd_stat stat;
		s3_server_fail(server, "", "dir/x", passing[i], 2);
		assert_text("x", "one");
		s3_server_fail(server, "", "dir/x", passing[i], 2);
		assert_ok(sherd_store_stat(&stat, store, "x", err));
		assert_int_equal(stat.size, 3);
	}
	assert_int_equal(s3_server_left(server), 0);
}

TEST(a_new_object_whose_answer_was_lost_has_won)
{
	put("first", "");
	for (size_t i = 0; i < COUNT_OF(passing); i++) {
		char key[16], identity[72] = "?";
		sherd_stat stat;
		(void)snprintf(key, sizeof(key), "x%zu", i);
		s3_server_fail(server, "PUT", key, passing[i], 1);
		sherd_writer *w = NULL;
		assert_ok(sherd_store_write(&w, store, key, &(sherd_write_options){.identity = identity}, err));
		assert_ok(sherd_writer_append(w, "mine", 4, err));
		assert_ok(sherd_writer_commit(w, err));
		assert_text(key, "mine");
		assert_ok(sherd_store_stat(&stat, store, key, err));
		assert_string_equal(stat.identity, identity);
		s3_server_fail(server, "PUT", key, passing[i], 1);
		assert_refused(passing[i] == S3_RESET || passing[i] == S3_RESET_DONE ? SHERD_EUNKNOWN : SHERD_EEXIST,
		               passing[i] == S3_RESET || passing[i] == S3_RESET_DONE ? "unknown-outcome" : "exists",
		               sherd_store_put(store, key, SHERD_WRITE_NEW, "other", 5, err));
		assert_text(key, "mine");
	}
}

TEST(a_replacement_whose_answer_was_lost_is_settled_by_reading)
{
	put("x", "0");
	for (size_t i = 0; i < COUNT_OF(passing); i++) {
		char text[8], identity[72];
		sherd_stat stat;
		(void)snprintf(text, sizeof(text), "%zu", i + 1);
		assert_ok(sherd_store_stat(&stat, store, "x", err));
		sherd_write_options o = {
			.mode = SHERD_WRITE_REPLACE, .if_identity = stat.identity, .identity = identity};
		sherd_writer *w = NULL;
		assert_ok(sherd_store_write(&w, store, "x", &o, err));
		assert_ok(sherd_writer_append(w, text, 1, err));
		s3_server_fail(server, "PUT", "dir/x", passing[i], 1);
		assert_ok(sherd_writer_commit(w, err));
		assert_text("x", text);
		assert_string_not_equal(stat.identity, identity);
		assert_ok(sherd_store_stat(&stat, store, "x", err));
		assert_string_equal(stat.identity, identity);
	}
}

TEST(a_write_that_comes_late_was_not_called_a_failure)
{
	sherd_store *hasty = s3_server_store(server, "dir", "retries=0", NULL);
	assert_ok(sherd_store_put(hasty, "first", SHERD_WRITE_NEW, "", 0, err));
	s3_server_fail(server, "PUT", "dir/x", S3_LATE,
	               2); /* libcurl sends a second time where the connection was used before */
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", sherd_store_put(hasty, "x", SHERD_WRITE_NEW, "late", 4, err));
	assert_int_equal(s3_server_deliver(server), 1);
	assert_text("x", "late");
	/* One that is repeated, and then comes a second time, is refused by its own object. */
	s3_server_fail(server, "PUT", "dir/y", S3_LATE, 1);
	put("y", "mine");
	assert_int_equal(s3_server_deliver(server), 0);
	assert_text("y", "mine");
	sherd_store_close(hasty);
}

TEST(a_late_write_of_another_version_is_refused)
{
	sherd_stat stat;
	put("x", "one");
	assert_ok(sherd_store_stat(&stat, store, "x", err));
	sherd_write_options o = {.mode = SHERD_WRITE_REPLACE, .if_identity = stat.identity};
	sherd_writer *w = NULL;
	assert_ok(sherd_store_write(&w, store, "x", &o, err));
	assert_ok(sherd_writer_append(w, "two", 3, err));
	s3_server_fail(server, "PUT", "dir/x", S3_LATE, 1);
	assert_ok(sherd_writer_commit(w, err));
	assert_ok(sherd_store_put(store, "x", SHERD_WRITE_REPLACE, "three", 5, err));
	assert_int_equal(s3_server_deliver(server), 0);
	assert_text("x", "three");
}

TEST(a_server_that_does_not_answer_is_given_up)
{
	put("x", "one");
	sherd_store *hasty = s3_server_store(server, "dir", "request-timeout=0.05", "retries=1", NULL);
	sherd_stat stat;
	s3_server_fail(server, "HEAD", "dir/x", S3_STALL, 2);
	assert_refused(SHERD_EIO, "timed-out", sherd_store_stat(&stat, hasty, "x", err));
	s3_server_fail(server, "HEAD", "dir/x", S3_STALL, 1);
	assert_ok(sherd_store_stat(&stat, hasty, "x", err));
	s3_server_fail(server, "HEAD", "dir/x", S3_503, 100);
	assert_refused(SHERD_EIO, "io", sherd_store_stat(&stat, hasty, "x", err));
	sherd_store_close(hasty);
	hasty = s3_server_store(server, "dir", "timeout=0.02", NULL);
	assert_refused(SHERD_EIO, "io", sherd_store_stat(&stat, hasty, "x", err));
	sherd_store_close(hasty);
}

TEST(a_range_that_is_not_what_was_asked_for_is_noticed)
{
	size_t size = (size_t)20 << 20;
	char *bytes = malloc(size), *back = malloc(size);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 7 >> 4);
	assert_ok(sherd_store_put(store, "big", SHERD_WRITE_NEW, bytes, size, err));
	sherd_reader *r = NULL;
	assert_ok(sherd_store_read(&r, store, "big", err));
	static const s3_fault faults[] = {S3_TRUNCATED, S3_SHORT, S3_RESET, S3_500};
	for (size_t i = 0; i < COUNT_OF(faults); i++) {
		s3_server_fail(server, "GET", "dir/big", faults[i], 3);
		memset(back, 0, size);
		assert_ok(sherd_reader_at(r, 0, back, size, err));
		assert_memory_equal(back, bytes, size);
	}
	sherd_reader *other = NULL;
	s3_server_fail(server, "GET", "dir/big", S3_OTHER_RANGE, 2);
	assert_ok(sherd_store_read(&other, store, "big", err));
	sherd_reader_close(other);
	s3_server_fail(server, "GET", "dir/big", S3_OTHER_RANGE, 10);
	assert_refused(SHERD_EIO, "io", sherd_store_read(&other, store, "big", err));
	s3_server_calm(server);
	s3_server_fail(server, "GET", "dir/big", S3_NAMELESS, 10);
	assert_refused(SHERD_EIO, "io", sherd_store_read(&other, store, "big", err));
	s3_server_calm(server);
	s3_server_fail(server, "GET", "dir/big", S3_OTHER_RANGE, 1);
	assert_refused(SHERD_EIO, "io", sherd_reader_at(r, 1000000, back, 100, err));
	/* Another object under the key: not a mixture, and not called damage. */
	assert_ok(sherd_store_put(store, "big", SHERD_WRITE_REPLACE, bytes + 1, size - 1, err));
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_reader_at(r, 100000, back, size / 2, err));
	assert_ok(sherd_reader_at(r, 10, back, 1000, err)); /* what came with the opening */
	assert_memory_equal(back, bytes + 10, 1000);
	assert_ok(sherd_store_remove(store, "big", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_reader_at(r, 100000, back, size / 2, err));
	sherd_reader_close(r);
	free(bytes);
	free(back);
}

TEST(an_upload_in_parts_survives_and_leaves_nothing)
{
	size_t size = ((size_t)5 << 20) * 5 + 77, len = 0;
	char *bytes = malloc(size), *back = NULL;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 13 >> 5);
	static const s3_fault faults[] = {S3_RESET, S3_503, S3_DONE_500};
	for (size_t i = 0; i < COUNT_OF(faults); i++)
		s3_server_fail(server, "", "partNumber=", faults[i], 2);
	s3_server_fail(server, "POST", "uploadId", S3_200_ERROR, 1);
	char identity[72] = "";
	sherd_write_options o = {.mode = SHERD_WRITE_REPLACE, .head = 10, .identity = identity};
	sherd_writer *w = NULL;
	assert_ok(sherd_store_write(&w, store, "big", &o, err));
	assert_ok(sherd_writer_append(w, "0123456789", 10, err));
	assert_ok(sherd_writer_append(w, bytes + 10, size - 10, err));
	assert_ok(sherd_writer_fill(w, 0, bytes, 10, err));
	assert_int_equal(s3_server_uploads(server), 1);
	assert_refused(SHERD_EIO, "io", sherd_writer_commit(w, err));
	assert_int_equal(s3_server_uploads(server), 0);

	s3_server_fail(server, "POST", "uploadId", S3_RESET_DONE, 1);
	assert_ok(sherd_store_write(&w, store, "big", &o, err));
	assert_ok(sherd_writer_append(w, "0123456789", 10, err));
	assert_ok(sherd_writer_append(w, bytes + 10, size - 10, err));
	assert_ok(sherd_writer_fill(w, 0, bytes, 10, err));
	assert_ok(sherd_writer_commit(w, err));
	assert_ok(sherd_store_get(&back, &len, store, "big", size, err));
	assert_int_equal(len, size);
	assert_memory_equal(back, bytes, size);
	sherd_stat stat;
	assert_ok(sherd_store_stat(&stat, store, "big", err));
	assert_string_equal(stat.identity, identity);

	/* Done, and nobody can look at it: its identity is that of the answer. */
	s3_server_fail(server, "HEAD", "dir/big", S3_403, 1);
	assert_ok(sherd_store_write(&w, store, "big", &o, err));
	assert_ok(sherd_writer_append(w, bytes, size, err));
	assert_ok(sherd_writer_commit(w, err));
	assert_ok(sherd_store_stat(&stat, store, "big", err));
	assert_string_equal(stat.identity, identity);

	assert_true(shd_s3_upload_part((shd_s3 *)store, UINT64_MAX) < (size_t)1 << 30);
	assert_ok(sherd_store_write(&w, store, "big", &o, err));
	assert_ok(sherd_writer_append(w, bytes, size, err));
	sherd_writer_abort(w);
	assert_int_equal(s3_server_uploads(server), 0);
	assert_int_equal(s3_server_left(server), 0);
	free(back);
	free(bytes);
}

TEST(what_is_exclusive_is_one_put_however_large)
{
	size_t size = ((size_t)5 << 20) + 5, len = 0;
	char *bytes = malloc(size), *back = NULL;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 11 >> 3);
	sherd_writer *w = NULL;
	assert_ok(sherd_store_write(&w, store, "big", &(sherd_write_options){.head = 4}, err));
	assert_ok(sherd_writer_append(w, "0123", 4, err));
	assert_ok(sherd_writer_append(w, bytes + 4, size - 4, err));
	assert_ok(sherd_writer_fill(w, 0, bytes, 4, err));
	s3_server_fail(server, "PUT", "dir/big", S3_RESET, 1);
	assert_ok(sherd_writer_commit(w, err));
	assert_ok(sherd_store_get(&back, &len, store, "big", size, err));
	assert_int_equal(len, size);
	assert_memory_equal(back, bytes, size);
	assert_ok(sherd_store_write(&w, store, "big", NULL, err));
	assert_ok(sherd_writer_append(w, bytes, size, err));
	assert_refused(SHERD_EEXIST, "exists", sherd_writer_commit(w, err));
	free(back);
	free(bytes);
}

static bool count_keys(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	++*(int *)arg;
	return true;
}

TEST(what_a_deaf_server_would_delete_is_marked)
{
	sherd_stat stat;
	int count = 0;
	put("x", "one");
	assert_ok(sherd_store_stat(&stat, store, "x", err));
	assert_ok(sherd_store_put(store, "x", SHERD_WRITE_REPLACE, "two", 3, err));
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_store_remove_if(store, "x", stat.identity, err));
	assert_ok(sherd_store_stat(&stat, store, "x", err));
	s3_server_fail(server, "PUT", "dir/x", S3_RESET_DONE, 1);
	assert_ok(sherd_store_remove_if(store, "x", stat.identity, err));
	sherd_reader *r = NULL;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "x", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_read(&r, store, "x", err));
	assert_ok(sherd_store_list(store, "", "", count_keys, &count, err));
	assert_int_equal(count, 0);
	put("x", "three");
	assert_text("x", "three");
	assert_refused(SHERD_EEXIST, "exists", sherd_store_put(store, "x", SHERD_WRITE_NEW, "four", 4, err));
}

TEST(a_large_body_has_more_time)
{
	size_t size = (size_t)6 << 20;
	char *bytes = calloc(1, size);
	sherd_store *hasty =
		s3_server_store(server, "dir", "request-timeout=0.2", "retries=0", "part-size=5242880", NULL);
	s3_server_fail(server, "PUT", "partNumber=1", S3_SLOW, 1);
	assert_ok(sherd_store_put(hasty, "big", SHERD_WRITE_REPLACE, bytes, size, err));
	assert_int_equal(s3_server_left(server), 0);
	sherd_store_close(hasty);
	free(bytes);
}

/* Signals that somebody sends to the process are not for the threads of the store. */
TEST(threads_of_a_store_take_no_signals)
{
	char name[512], line[256];
	int deaf = 0;
	put("x", "one");
	DIR *tasks = opendir("/proc/self/task");
	assert_non_null(tasks);
	for (struct dirent *d; (d = readdir(tasks));) {
		unsigned long long blocked = 0;
		(void)snprintf(name, sizeof(name), "/proc/self/task/%s/status", d->d_name);
		FILE *f = fopen(name, "r");
		while (f && fgets(line, sizeof(line), f))
			if (strncmp(line, "SigBlk:", 7) == 0)
				blocked = strtoull(line + 7, NULL, 16);
		if (f)
			(void)fclose(f);
		deaf += (blocked >> (SIGINT - 1) & 1) != 0;
	}
	(void)closedir(tasks);
	assert_true(deaf > 0); /* those of the server, and this one, are not */
}

TEST(a_removal_without_an_answer_is_told)
{
	put("x", "one");
	sherd_store *hasty = s3_server_store(server, "dir", "retries=0", NULL);
	s3_server_fail(server, "DELETE", "dir/x", S3_RESET, 1);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", sherd_store_remove(hasty, "x", err));
	assert_text("x", "one");
	assert_ok(sherd_store_remove(hasty, "x", err));
	sherd_store_close(hasty);
}

/* Asks a server for its manners anew while one of its answers goes wrong. */
static void assert_manners(const s3_quirks *quirks, const char *method, int before, s3_fault kind)
{
	shd_s3_manners m = {0};
	sherd_store *other = s3_server_store(server, "dir", "alone=true", NULL);
	s3_server_fail(server, method, "probe", S3_NONE, before);
	s3_server_fail(server, method, "probe", kind, 1);
	assert_ok(shd_s3_ask_manners(&m, (shd_s3 *)other, err));
	assert_int_equal(m.put, !quirks->deaf_put);
	assert_int_equal(m.remove, !quirks->deaf_delete);
	assert_true(m.unquoted == quirks->unquoted || !m.put);
	s3_server_calm(server);
	sherd_store_close(other);
}

TEST(no_single_fault_makes_a_server_look_like_another)
{
	static const s3_quirks servers[] = {{0},
	                                    {.deaf_delete = true},
	                                    {.deaf_put = true, .deaf_delete = true},
	                                    {.no_etag = true, .deaf_delete = true},
	                                    {.unquoted = true, .angry = true, .deaf_delete = true}};
	static const s3_fault faults[] = {S3_RESET, S3_RESET_DONE, S3_500, S3_DONE_500, S3_503, S3_502, S3_DONE_502};
	for (size_t i = 0; i < COUNT_OF(servers); i++) {
		server = s3_server_start(&servers[i]);
		for (size_t f = 0; f < COUNT_OF(faults); f++) {
			for (int before = 0; before < 5; before++)
				assert_manners(&servers[i], "PUT", before, faults[f]);
			assert_manners(&servers[i], "DELETE", 0, faults[f]);
			assert_manners(&servers[i], "HEAD", 0, faults[f]);
		}
		s3_server_stop(server);
	}
}

TEST(a_server_that_fails_is_not_called_one_that_ignores_conditions)
{
	s3_server_fail(server, "PUT", "probe", S3_500, 3);
	assert_refused(SHERD_EIO, "io", sherd_store_put(store, "x", SHERD_WRITE_NEW, "", 0, err));
	put("x", "one");
}

TEST(what_a_gateway_answers_may_come_yet)
{
	sherd_stat stat;
	sherd_store *hasty = s3_server_store(server, "dir", "retries=0", NULL);
	assert_ok(sherd_store_put(hasty, "first", SHERD_WRITE_NEW, "", 0, err));
	s3_server_fail(server, "PUT", "dir/x", S3_502, 1);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", sherd_store_put(hasty, "x", SHERD_WRITE_NEW, "one", 3, err));
	s3_server_fail(server, "PUT", "dir/x", S3_DONE_502, 1);
	assert_ok(sherd_store_put(hasty, "x", SHERD_WRITE_NEW, "one", 3, err));
	s3_server_fail(server, "DELETE", "dir/x", S3_502, 1);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", sherd_store_remove(hasty, "x", err));
	s3_server_fail(server, "DELETE", "dir/x", S3_DONE_502, 1);
	assert_ok(sherd_store_stat(&stat, hasty, "x", err));
	assert_ok(sherd_store_remove_if(hasty, "x", stat.identity, err));
	sherd_store_close(hasty);
}

TEST(what_was_written_without_an_etag_and_cannot_be_seen_is_unknown)
{
	sherd_store *hasty = s3_server_store(server, "dir", "retries=0", NULL);
	assert_ok(sherd_store_put(hasty, "first", SHERD_WRITE_NEW, "", 0, err));
	s3_server_fail(server, "HEAD", "dir/x", S3_500, 1);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", sherd_store_put(hasty, "x", SHERD_WRITE_NEW, "one", 3, err));
	assert_text("x", "one");
	sherd_store_close(hasty);
}

TEST(replacing_what_is_gone_is_a_conflict_also_where_that_is_404)
{
	sherd_stat stat;
	sherd_writer *w = NULL;
	put("x", "one");
	assert_ok(sherd_store_stat(&stat, store, "x", err));
	sherd_write_options o = {.mode = SHERD_WRITE_REPLACE, .if_identity = stat.identity};
	assert_ok(sherd_store_write(&w, store, "x", &o, err));
	s3_server_fail(server, "PUT", "dir/x", S3_503, 1); /* after this PUT it is looked again, and removed then */
	s3_server_fail(server, "PUT", "dir/x", S3_REMOVED, 1);
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_writer_commit(w, err));
}

TEST(two_that_remove_one_object_have_both_removed_it)
{
	sherd_stat stat;
	put("x", "one");
	assert_ok(sherd_store_stat(&stat, store, "x", err));
	s3_server_fail(server, "PUT", "dir/x", S3_MARKED, 1); /* the other one's mark comes first */
	assert_ok(sherd_store_remove_if(store, "x", stat.identity, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "x", err));
}

static int begin_terse(void **state)
{
	(void)state;
	return begin_as(&(s3_quirks){.no_etag = true, .gone_404 = true});
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_passes_is_tried_again),
		CASE(a_new_object_whose_answer_was_lost_has_won),
		CASE(a_replacement_whose_answer_was_lost_is_settled_by_reading),
		CASE(a_write_that_comes_late_was_not_called_a_failure),
		CASE(a_late_write_of_another_version_is_refused),
		CASE(a_server_that_does_not_answer_is_given_up),
		CASE(a_range_that_is_not_what_was_asked_for_is_noticed),
		CASE(an_upload_in_parts_survives_and_leaves_nothing),
		CASE(what_is_exclusive_is_one_put_however_large),
		CASE(a_large_body_has_more_time),
		CASE(threads_of_a_store_take_no_signals),
		CASE(a_removal_without_an_answer_is_told),
		CASE(a_server_that_fails_is_not_called_one_that_ignores_conditions),
		CASE(what_a_gateway_answers_may_come_yet),
		cmocka_unit_test(no_single_fault_makes_a_server_look_like_another),
		cmocka_unit_test_setup_teardown(what_was_written_without_an_etag_and_cannot_be_seen_is_unknown,
	                                        begin_terse, end),
		cmocka_unit_test_setup_teardown(replacing_what_is_gone_is_a_conflict_also_where_that_is_404,
	                                        begin_terse, end),
		cmocka_unit_test_setup_teardown(two_that_remove_one_object_have_both_removed_it, begin_deaf, end),
		cmocka_unit_test_setup_teardown(what_a_deaf_server_would_delete_is_marked, begin_deaf, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
