#include "support/test.h"

#include "engine/ckpt/stream.h"
#include "support/fail_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = (29 << 20) + 12345 };

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 2654435761u >> 13);
}

/* In steps that grow, so that some cross the end of a buffer. */
static int fill(ckpt_stream *s, size_t length, sherd_error *err)
{
	size_t step = 1;
	for (size_t at = 0; at < length;) {
		uint8_t *room;
		size_t n;
		TRY(sherd_ckpt_stream_room(s, &room, &n, err));
		assert_true(n > 0);
		n = n < step ? n : step;
		n = n < length - at ? n : length - at;
		for (size_t i = 0; i < n; i++)
			room[i] = byte_at(at + i);
		sherd_ckpt_stream_advance(s, n);
		at += n;
		step = step * 3 % 1000003 + 1;
	}
	return sherd_ckpt_stream_flush(s, err);
}

static void check(sherd_store *store, const char *key, size_t length)
{
	char *data;
	size_t len;
	assert_ok(sherd_store_get(store, key, 1u << 30, &data, &len, err));
	assert_int_equal(len, length);
	for (size_t i = 0; i < len; i++)
		if ((uint8_t)data[i] != byte_at(i))
			fail_msg("byte %zu", i);
	free(data);
}

static void write_object(sherd_store *store, size_t length, uint64_t hint)
{
	sherd_writer *writer;
	ckpt_stream s;
	assert_ok(sherd_store_write(store, "o", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE, .size_hint = hint},
	                            &writer, err));
	sherd_ckpt_stream_init(&s, writer, hint);
	assert_ok(fill(&s, length, err));
	sherd_ckpt_stream_done(&s);
	assert_ok(sherd_writer_commit(writer, err));
	check(store, "o", length);
}

TEST(bytes_arrive_whole_and_in_order_whatever_the_hint)
{
	const size_t lengths[] = {0, 1, 4096, STREAM_BYTES, STREAM_BYTES + 1, LENGTH};
	for (int kind = 0; kind < 2; kind++) {
		sherd_store *store;
		char folder[] = "stream.XXXXXX";
		if (kind == 0) {
			assert_ok(sherd_store_open_memory(&store, err));
		} else {
			assert_non_null(mkdtemp(folder));
			assert_ok(sherd_store_open_local(&store, folder, NULL, err));
		}
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
			for (uint64_t hint = 10; hint < 4 * LENGTH; hint *= 30)
				write_object(store, lengths[i], hint);
		assert_ok(sherd_store_remove(store, "o", err));
		sherd_store_close(store);
		if (kind == 1)
			assert_int_equal(rmdir(folder), 0);
	}
}

TEST(a_failed_append_is_reported_and_nothing_hangs)
{
	for (long nth = 1; nth <= 8; nth++) {
		sherd_store *memory, *store;
		sherd_writer *writer;
		ckpt_stream s;
		assert_ok(sherd_store_open_memory(&memory, err));
		store = fail_store_over(memory);
		assert_ok(sherd_store_write(store, "o", NULL, &writer, err));
		sherd_ckpt_stream_init(&s, writer, LENGTH);
		fail_store_at(store, nth);
		assert_refused(SHERD_EIO, "injected", fill(&s, LENGTH, err));
		sherd_ckpt_stream_done(&s);
		sherd_writer_abort(writer);
		sherd_store_close(store);
	}
}

TEST(a_stream_may_be_dropped_at_any_point)
{
	sherd_store *store;
	assert_ok(sherd_store_open_memory(&store, err));
	for (size_t length = 0; length < 8 * STREAM_BYTES; length += STREAM_BYTES / 2) {
		sherd_writer *writer;
		ckpt_stream s;
		assert_ok(sherd_store_write(store, "o", NULL, &writer, err));
		sherd_ckpt_stream_init(&s, writer, LENGTH);
		for (size_t at = 0; at < length; at += STREAM_BYTES / 2) {
			uint8_t *room;
			size_t n;
			assert_ok(sherd_ckpt_stream_room(&s, &room, &n, err));
			memset(room, 1, STREAM_BYTES / 2);
			sherd_ckpt_stream_advance(&s, STREAM_BYTES / 2);
		}
		sherd_ckpt_stream_done(&s);
		sherd_writer_abort(writer);
	}
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_arrive_whole_and_in_order_whatever_the_hint),
		cmocka_unit_test(a_failed_append_is_reported_and_nothing_hangs),
		cmocka_unit_test(a_stream_may_be_dropped_at_any_point),
	};
	return cmocka_run_group_tests_name("ckpt stream", tests, NULL, NULL);
}
