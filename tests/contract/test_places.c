/* Objects whose bytes come in any order, from several threads: the contract, once per backend. */
#include "base/error.h"
#include "support/backends.h"
#include "support/place_all.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL = 777, HEAD = 100 };

static uint8_t *pattern(size_t len)
{
	uint8_t *bytes = malloc(len + 1);
	assert_non_null(bytes);
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)((uint64_t)i * 2654435761u >> 13);
	return bytes;
}

static sherd_writer *places_of(sherd_store *s, const char *key, size_t *part)
{
	sherd_writer *w = NULL;
	sherd_write_options options = {.head = HEAD, .size_hint = 100000};
	assert_ok(sherd_store_write(&w, s, key, &options, err));
	assert_ok(sherd_writer_places(part, w, err));
	assert_true(*part > 0);
	return w;
}

static void assert_object(sherd_store *s, const char *key, const uint8_t *bytes, size_t len)
{
	char *data = NULL;
	size_t got = 0;
	assert_ok(sherd_store_get(&data, &got, s, key, len + 1, err));
	assert_int_equal(got, len);
	assert_memory_equal(data, bytes, len);
	sherd_free(data);
}

static void assert_nothing(sherd_store *s, const char *key)
{
	sherd_stat stat;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, s, key, err));
}

static void put_range(sherd_writer *w, const uint8_t *bytes, size_t from, size_t to)
{
	assert_ok(sherd_writer_put(w, from, bytes + from, to - from, err));
}

TEST(bytes_come_in_any_order)
{
	size_t part;
	sherd_writer *w = places_of(STORE, "d/x", &part);
	size_t len = 2 * part + part / 2;
	uint8_t *bytes = pattern(len + TAIL);
	put_range(w, bytes, part + 5, len);
	put_range(w, bytes, HEAD, part - 1);
	assert_nothing(STORE, "d/x");
	put_range(w, bytes, part - 1, part + 5);
	put_range(w, bytes, 0, HEAD);
	assert_ok(sherd_writer_append(w, bytes + len, TAIL, err));
	bytes[3] ^= 1;
	assert_ok(sherd_writer_fill(w, 2, bytes + 2, 20, err));
	assert_ok(sherd_writer_commit(w, err));
	assert_object(STORE, "d/x", bytes, len + TAIL);
	free(bytes);
}

/* Sizes around the ends of parts, nothing at all among them. */
TEST(every_length_arrives)
{
	size_t part;
	sherd_writer_abort(places_of(STORE, "x", &part));
	const size_t lens[] = {0, 1, part - 1, part, part + 1, 2 * part, 2 * part + TAIL};
	uint8_t *bytes = pattern(2 * part + TAIL);
	for (size_t i = 0; i < COUNT_OF(lens); i++) {
		sherd_writer *w = places_of(STORE, "x", &part);
		put_range(w, bytes, 0, lens[i]);
		assert_ok(sherd_writer_commit(w, err));
		assert_object(STORE, "x", bytes, lens[i]);
		assert_ok(sherd_store_remove(STORE, "x", err));
	}
	free(bytes);
}

static void place_by(sherd_store *store, const placing *p)
{
	sherd_writer *w = NULL;
	sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .head = HEAD, .size_hint = 100000};
	assert_ok(sherd_store_write(&w, store, "x", &options, err));
	assert_ok(place_all(w, p, err));
	assert_ok(sherd_writer_append(w, p->bytes + p->len, TAIL, err));
	assert_ok(sherd_writer_fill(w, 0, p->bytes, HEAD, err));
	assert_ok(sherd_writer_commit(w, err));
	assert_object(store, "x", p->bytes, p->len + TAIL);
}

TEST(the_object_is_the_same_whatever_the_threads)
{
	size_t part;
	sherd_writer_abort(places_of(STORE, "x", &part));
	size_t len = 20 * (part < 1 << 20 ? part : 1 << 18) + 4321;
	uint8_t *bytes = pattern(len + TAIL);
	for (unsigned threads = 1; threads <= 16; threads *= 2)
		for (int in_rooms = 0; in_rooms < 2; in_rooms++)
			place_by(STORE, &(placing){bytes, len, part / 3 + 7, threads, in_rooms});
	place_by(STORE, &(placing){bytes, len, 3 * part + 1, 4, false});
	free(bytes);
}

TEST(a_gap_is_no_object)
{
	size_t part;
	uint8_t byte = 0;
	sherd_writer *w = places_of(STORE, "x", &part);
	assert_ok(sherd_writer_put(w, 1, &byte, 1, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_commit(w, err));
	w = places_of(STORE, "x", &part);
	uint8_t *bytes = pattern(3 * part);
	put_range(w, bytes, 0, part - 1);
	put_range(w, bytes, part, 2 * part);
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_append(w, bytes, 1, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_fill(w, 0, bytes, 1, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_commit(w, err));
	assert_nothing(STORE, "x");
	free(bytes);
}

TEST(bytes_come_once)
{
	size_t part;
	sherd_writer *w = places_of(STORE, "x", &part);
	uint8_t *bytes = pattern(3 * part);
	put_range(w, bytes, 0, part);
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_put(w, part - 1, bytes, 1, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_commit(w, err));
	w = places_of(STORE, "x", &part);
	put_range(w, bytes, part, 2 * part);
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_put(w, part, bytes, 1, err));
	sherd_writer_abort(w);
	w = places_of(STORE, "x", &part);
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_placed(w, 0, 1, err));
	sherd_writer_abort(w);
	assert_nothing(STORE, "x");
	free(bytes);
}

TEST(places_come_first_and_are_asked_for)
{
	size_t part, len = 1;
	void *room;
	sherd_writer *w = NULL;
	assert_ok(sherd_store_write(&w, STORE, "x", NULL, err));
	assert_refused(SHERD_EINVAL, "bad-mode", sherd_writer_put(w, 0, "a", 1, err));
	assert_refused(SHERD_EINVAL, "bad-mode", sherd_writer_room(&room, &len, w, 0, err));
	assert_refused(SHERD_EINVAL, "bad-mode", sherd_writer_placed(w, 0, 1, err));
	assert_ok(sherd_writer_append(w, "abc", 3, err));
	assert_refused(SHERD_EINVAL, "bad-mode", sherd_writer_places(&part, w, err));
	assert_ok(sherd_writer_commit(w, err));
	w = places_of(STORE, "y", &part);
	assert_refused(SHERD_EINVAL, "bad-mode", sherd_writer_places(&part, w, err));
	assert_refused(SHERD_EINVAL, "too-large", sherd_writer_put(w, UINT64_MAX - 1, "ab", 2, err));
	sherd_writer_abort(w);
	assert_nothing(STORE, "y");
}

TEST(of_two_objects_that_are_placed_one_wins)
{
	size_t part;
	sherd_writer *a = places_of(STORE, "x", &part), *b = places_of(STORE, "x", &part);
	uint8_t *bytes = pattern(2 * part);
	put_range(a, bytes, 0, 2 * part);
	put_range(b, bytes, 0, part);
	assert_ok(sherd_writer_commit(b, err));
	assert_refused(SHERD_EEXIST, "exists", sherd_writer_commit(a, err));
	assert_object(STORE, "x", bytes, part);
	free(bytes);
}

TEST(what_is_aborted_leaves_nothing)
{
	size_t part;
	sherd_writer *w = places_of(STORE, "x", &part);
	uint8_t *bytes = pattern(3 * part);
	void *room;
	put_range(w, bytes, 0, part + 1);
	put_range(w, bytes, 2 * part, 3 * part);
	size_t len = 5;
	assert_ok(sherd_writer_room(&room, &len, w, part + 1, err));
	sherd_writer_abort(w);
	assert_nothing(STORE, "x");
	free(bytes);
}

typedef struct runner {
	sherd_writer *writer;
	const uint8_t *bytes;
	size_t part;
	int rc;
	sherd_error failure;
} runner;

/* More than a writer holds without the first byte; those of large parts hold few. */
static size_t ahead_of(const runner *r)
{
	return r->part < (size_t)256 << 10 ? 70 : 18;
}

static void *run_ahead(void *arg)
{
	runner *r = arg;
	for (size_t number = 1; number <= ahead_of(r) && r->rc == SHERD_OK; number++)
		r->rc = sherd_writer_put(r->writer, number * r->part, r->bytes, r->part, &r->failure);
	return NULL;
}

TEST(who_is_far_ahead_waits_and_hears_of_a_failure)
{
	runner r = {.rc = SHERD_OK};
	const sherd_error why = {.code = SHERD_ECANCELLED, .reason = "cancelled", .message = "no more"};
	pthread_t thread;
	r.writer = places_of(STORE, "x", &r.part);
	r.bytes = pattern(r.part);
	assert_int_equal(pthread_create(&thread, NULL, run_ahead, &r), 0);
	sherd_writer_give_up(r.writer, &why);
	(void)pthread_join(thread, NULL);
	assert_int_equal(r.rc, SHERD_ECANCELLED);
	assert_string_equal(r.failure.reason, "cancelled");
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_writer_commit(r.writer, err));
	assert_nothing(STORE, "x");
	free((void *)(uintptr_t)r.bytes);
}

TEST(who_is_far_ahead_goes_on_when_the_first_byte_comes)
{
	runner r = {.rc = SHERD_OK};
	pthread_t thread;
	r.writer = places_of(STORE, "x", &r.part);
	uint8_t *bytes = pattern(r.part);
	r.bytes = bytes;
	assert_int_equal(pthread_create(&thread, NULL, run_ahead, &r), 0);
	put_range(r.writer, bytes, 0, r.part);
	(void)pthread_join(thread, NULL);
	assert_int_equal(r.rc, SHERD_OK);
	assert_ok(sherd_writer_commit(r.writer, err));
	sherd_stat stat;
	assert_ok(sherd_store_stat(&stat, STORE, "x", err));
	assert_int_equal(stat.size, (ahead_of(&r) + 1) * r.part);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BACKEND_TEST(bytes_come_in_any_order),
		BACKEND_TEST(every_length_arrives),
		BACKEND_TEST(the_object_is_the_same_whatever_the_threads),
		BACKEND_TEST(a_gap_is_no_object),
		BACKEND_TEST(bytes_come_once),
		BACKEND_TEST(places_come_first_and_are_asked_for),
		BACKEND_TEST(of_two_objects_that_are_placed_one_wins),
		BACKEND_TEST(what_is_aborted_leaves_nothing),
		BACKEND_TEST(who_is_far_ahead_waits_and_hears_of_a_failure),
		BACKEND_TEST(who_is_far_ahead_goes_on_when_the_first_byte_comes),
	};
	return run_for_backends(tests, COUNT_OF(tests));
}
