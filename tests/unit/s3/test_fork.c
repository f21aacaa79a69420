/* A child after fork() has the parent's stores, but none of its threads: it is told, neither hangs nor removes what the
 * parent wrote, and can open stores of its own. */
#include "support/s3_server.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PART = 5 << 20 };

/* The status of a child that does this; it may take some seconds. */
static int in_child(int (*act)(void *arg), void *arg)
{
	int status = 0;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)alarm(60);
		_exit(act(arg));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

typedef struct inherited {
	s3_server *server;
	sherd_store *store;
	sherd_reader *reader;
	sherd_writer *writer;
} inherited;

static int use_all(void *arg)
{
	inherited *i = arg;
	char buf[16];
	sherd_stat stat;
	sherd_error e = {0};
	if (sherd_store_stat(&stat, i->store, "big", &e) != SHERD_EIO || !strstr(e.message, "forked"))
		return 1;
	if (sherd_reader_at(i->reader, 200000, buf, sizeof(buf), &e) != SHERD_EIO)
		return 2;
	if (sherd_store_put(i->store, "new", SHERD_WRITE_NEW, "x", 1, &e) >= 0)
		return 3;
	if (sherd_store_remove(i->store, "big", &e) >= 0)
		return 4;
	sherd_writer_abort(i->writer);
	sherd_reader_close(i->reader);
	sherd_store_close(i->store);
	return 0;
}

static int open_anew(void *arg)
{
	inherited *i = arg;
	sherd_stat stat;
	sherd_store *store = s3_server_store(i->server, "dir", NULL);
	int rc = sherd_store_stat(&stat, store, "big", NULL);
	sherd_store_close(store);
	return rc == SHERD_OK ? 0 : 1;
}

TEST(a_child_neither_hangs_nor_removes_what_its_parent_wrote)
{
	inherited i = {.server = s3_server_start(NULL)};
	char *bytes = calloc(1, PART);
	char buf[16];
	i.store = s3_server_store(i.server, "dir", "part-size=5242880", NULL);
	assert_ok(sherd_store_put(i.store, "big", SHERD_WRITE_NEW, bytes, 300000, err));
	assert_ok(sherd_store_read(&i.reader, i.store, "big", err));
	const sherd_write_options options = {.mode = SHERD_WRITE_REPLACE};
	assert_ok(sherd_store_write(&i.writer, i.store, "upload", &options, err));
	for (int n = 0; n < 3; n++)
		assert_ok(sherd_writer_append(i.writer, bytes, PART, err));
	assert_int_equal(in_child(use_all, &i), 0);
	assert_int_equal(in_child(open_anew, &i), 0);
	assert_int_equal(s3_server_uploads(i.server), 1);
	assert_ok(sherd_reader_at(i.reader, 200000, buf, sizeof(buf), err));
	assert_ok(sherd_writer_append(i.writer, bytes, PART, err));
	assert_ok(sherd_writer_commit(i.writer, err));
	sherd_stat stat;
	assert_ok(sherd_store_stat(&stat, i.store, "upload", err));
	assert_int_equal(stat.size, 4 * PART);
	sherd_reader_close(i.reader);
	sherd_store_close(i.store);
	s3_server_stop(i.server);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_neither_hangs_nor_removes_what_its_parent_wrote),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
