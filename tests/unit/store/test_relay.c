/* What one process read, for others: never together with bytes of what has replaced it. */
#include "store/relay.h"

#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
#define STORE SHD_AUTO(sherd_store, sherd_store_close)
#define READER SHD_AUTO(sherd_reader, sherd_reader_close)

enum { HEAD = 4, SIZE = 8 };

static char *folder;
static sherd_store *inside;

static int setup(void **state)
{
	(void)state;
	folder = scratch_make();
	assert_ok(sherd_store_open_local(&inside, folder, NULL, err));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sherd_store_close(inside);
	scratch_remove(folder);
	return 0;
}

static void put(const char *bytes)
{
	sherd_writer *w = NULL;
	assert_ok(sherd_store_write(&w, inside, "x", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE}, err));
	assert_ok(sherd_writer_append(w, bytes, SIZE, err));
	assert_ok(sherd_writer_commit(w, err));
}

static sherd_reader *read_head(sherd_store *relay, const char *head)
{
	char bytes[HEAD];
	sherd_reader *r = NULL;
	assert_ok(sherd_store_read(&r, relay, "x", err));
	assert_ok(sherd_reader_at(r, 0, bytes, HEAD, err));
	assert_memory_equal(bytes, head, HEAD);
	return r;
}

TEST(bytes_of_another_object_are_refused)
{
	STORE first = NULL;
	STORE other = NULL;
	SHD_AUTO_BUF notes = {0};
	char rest[HEAD];
	put("HEADAAAA");
	assert_ok(shd_relay_open(&first, inside, NULL, err));
	sherd_reader_close(read_head(first, "HEAD"));
	assert_ok(shd_relay_notes(first, &notes, err));
	assert_ok(shd_relay_open(&other, inside, &notes, err));
	{
		READER r = read_head(other, "HEAD");
		assert_ok(sherd_reader_at(r, HEAD, rest, sizeof(rest), err));
		assert_memory_equal(rest, "AAAA", sizeof(rest));
	}
	put("headBBBB");
	READER r = read_head(other, "HEAD");
	assert_refused(SHERD_ECONFLICT, "changed", sherd_reader_at(r, HEAD, rest, sizeof(rest), err));
}

/* The first process begins again when what it reads is replaced meanwhile. */
TEST(what_is_read_again_is_noted_anew)
{
	STORE first = NULL;
	STORE other = NULL;
	SHD_AUTO_BUF notes = {0};
	char rest[HEAD];
	put("HEADAAAA");
	assert_ok(shd_relay_open(&first, inside, NULL, err));
	READER old = read_head(first, "HEAD");
	put("headBBBB");
	sherd_reader_close(read_head(first, "head"));
	assert_ok(sherd_reader_at(old, HEAD, rest, sizeof(rest), err));
	assert_memory_equal(rest, "AAAA", sizeof(rest));
	assert_ok(shd_relay_notes(first, &notes, err));
	assert_ok(shd_relay_open(&other, inside, &notes, err));
	READER r = read_head(other, "head");
	assert_ok(sherd_reader_at(r, HEAD, rest, sizeof(rest), err));
	assert_memory_equal(rest, "BBBB", sizeof(rest));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(bytes_of_another_object_are_refused),
		CASE(what_is_read_again_is_noted_anew),
	};
	return cmocka_run_group_tests_name("relay", tests, NULL, NULL);
}
