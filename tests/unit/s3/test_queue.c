/* Ranges that are asked for ahead come in order, whatever happens to their requests. */
#include "base/error.h"
#include "support/s3_server.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 3, SIZE = 1500000 };

static s3_server *server;
static sherd_store *store;
static char bytes[SIZE + OBJECTS];
static sherd_reader *readers[OBJECTS];

static int begin(void **state)
{
	(void)state;
	server = s3_server_start(NULL);
	store = s3_server_store(server, "dir", NULL);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 31 >> 4);
	for (int i = 0; i < OBJECTS; i++) {
		char key[8];
		(void)snprintf(key, sizeof(key), "o%d", i);
		assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, bytes + i, SIZE, err));
		assert_ok(sherd_store_read(&readers[i], store, key, err));
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (int i = 0; i < OBJECTS; i++)
		sherd_reader_close(readers[i]);
	sherd_store_close(store);
	s3_server_stop(server);
	return 0;
}

/* All objects from a byte on, one after the other; how many bytes came. */
static size_t read_through(sherd_queue *q, uint64_t from, sherd_error *err, int *rc)
{
	size_t asked = 0, came = 0, each = SIZE - (size_t)from, all = OBJECTS * each;
	*rc = SHERD_OK;
	while (came < all) {
		size_t taken = 1, len = 0;
		while (asked < all && taken) {
			*rc = sherd_queue_ask(&taken, q, readers[asked / each], from + asked % each,
			                      each - asked % each, err);
			if (*rc < 0)
				return came;
			asked += taken;
		}
		const void *data = NULL;
		*rc = sherd_queue_next(&data, &len, q, err);
		if (*rc < 0)
			return came;
		assert_int_equal(*rc, 1);
		assert_memory_equal(data, bytes + came / each + from + came % each, len);
		came += len;
	}
	return came;
}

TEST(pieces_come_in_the_order_in_which_they_were_asked_for)
{
	static const uint64_t from[] = {0, 1, 65535, 65536, 700000, SIZE - 1};
	for (size_t i = 0; i < COUNT_OF(from); i++) {
		sherd_queue *q = NULL;
		sherd_error e;
		int rc;
		assert_ok(sherd_store_queue(&q, store, i % 2 ? 1 << 20 : 1, err));
		s3_server_fail(server, "GET", "dir/o", (s3_fault[]){S3_RESET, S3_503, S3_TRUNCATED}[i % 3], 2);
		assert_int_equal(read_through(q, from[i], &e, &rc), OBJECTS * (SIZE - from[i]));
		const void *data;
		size_t len;
		assert_int_equal(sherd_queue_next(&data, &len, q, NULL), 0);
		sherd_queue_close(q);
	}
	assert_int_equal(s3_server_left(server), 0);
}

TEST(an_object_that_was_replaced_is_an_error_with_its_name_and_byte)
{
	sherd_queue *q = NULL;
	sherd_error e = {0};
	int rc;
	assert_ok(sherd_store_put(store, "o1", SHERD_WRITE_REPLACE, "other", 5, err));
	assert_ok(sherd_store_queue(&q, store, 1 << 20, err));
	assert_true(read_through(q, 100000, &e, &rc) >= SIZE - 100000);
	assert_int_equal(rc, SHERD_ECONFLICT);
	assert_string_equal(e.reason, "replaced");
	assert_string_equal(e.object, "o1");
	assert_int_equal(e.offset, 100000);
	sherd_queue_close(q); /* with others on their way */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pieces_come_in_the_order_in_which_they_were_asked_for, begin, end),
		cmocka_unit_test_setup_teardown(an_object_that_was_replaced_is_an_error_with_its_name_and_byte, begin,
	                                        end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
