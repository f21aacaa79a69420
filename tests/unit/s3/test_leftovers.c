/* Uploads that nobody finished are found, page by page, and aborted: those below the prefix that are old enough. */
#include "support/s3_server.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PART = 5 << 20 };

/* A process that dies while it writes. */
static void die_writing(s3_server *server, const char *folder, const char *key)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		sherd_store *store = s3_server_store(server, folder, "part-size=5242880", NULL);
		sherd_writer *w = NULL;
		char *bytes = calloc(1, PART);
		const sherd_write_options options = {.mode = SHERD_WRITE_REPLACE};
		if (sherd_store_write(&w, store, key, &options, NULL) < 0)
			_exit(1);
		for (int i = 0; i < 2; i++)
			if (sherd_writer_append(w, bytes, PART, NULL) < 0)
				_exit(2);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(uploads_of_the_dead_are_found_and_aborted)
{
	s3_server *server = s3_server_start(NULL);
	uint64_t count = 0;
	char key[32];
	for (int i = 0; i < 5; i++) {
		(void)snprintf(key, sizeof(key), "run %d.shard", i);
		die_writing(server, "dir", key);
	}
	die_writing(server, "elsewhere", "x");
	assert_int_equal(s3_server_uploads(server), 6);
	sherd_store *store = s3_server_store(server, "dir", NULL);
	assert_ok(sherd_store_abandon(&count, store, "", INT64_C(86400) * 1000000000, false, err));
	assert_int_equal(count, 0); /* none is a day old */
	assert_ok(sherd_store_abandon(&count, store, "", -INT64_C(10) * 1000000000, true, err));
	assert_int_equal(count, 5);
	assert_int_equal(s3_server_uploads(server), 6);
	assert_ok(sherd_store_abandon(&count, store, "run 1", -INT64_C(10) * 1000000000, false, err));
	assert_int_equal(count, 1);
	s3_server_fail(server, "DELETE", "uploadId", S3_500, 2);
	assert_ok(sherd_store_abandon(&count, store, "", -INT64_C(10) * 1000000000, false, err));
	assert_int_equal(count, 4);
	assert_int_equal(s3_server_uploads(server), 1);
	sherd_store_close(store);
	s3_server_stop(server);
}

TEST(stores_that_clear_by_themselves_have_none)
{
	sherd_store *store = NULL;
	uint64_t count = 7;
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_store_abandon(&count, store, NULL, 0, false, err));
	assert_int_equal(count, 0);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uploads_of_the_dead_are_found_and_aborted),
		cmocka_unit_test(stores_that_clear_by_themselves_have_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
