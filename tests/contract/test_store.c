/* The contract of the store, once per backend. */
#include "base/error.h"
#include "support/backends.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIG ((size_t)5 << 20)

static void put(sherd_store *s, const char *key, const char *text)
{
	assert_ok(sherd_store_put(s, key, SHERD_WRITE_NEW, text, strlen(text), err));
}

static void assert_holds(sherd_store *s, const char *key, const char *text)
{
	char *data = NULL;
	size_t len = 0;
	assert_ok(sherd_store_get(&data, &len, s, key, 1 << 20, err));
	assert_int_equal(len, strlen(text));
	assert_string_equal(data, text);
	sherd_free(data);
}

static void assert_absent(sherd_store *s, const char *key)
{
	sherd_stat stat;
	sherd_reader *r = NULL;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, s, key, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_read(&r, s, key, err));
}

/* Keys joined by '|', as list() gives them. */
typedef struct keys {
	char text[4096];
	size_t count, stop_at;
} keys;

static bool add_key(void *arg, const char *key, const sherd_stat *stat)
{
	keys *k = arg;
	assert_true(stat->identity[0] != 0);
	(void)snprintf(k->text + strlen(k->text), sizeof(k->text) - strlen(k->text), "%s%s", k->count ? "|" : "", key);
	return ++k->count != k->stop_at;
}

static void assert_lists(sherd_store *s, const char *prefix, const char *after, const char *want)
{
	keys k = {.text = ""};
	assert_ok(sherd_store_list(s, prefix, after, add_key, &k, err));
	assert_string_equal(k.text, want);
}

static sherd_writer *writer_of(sherd_store *s, const char *key, const sherd_write_options *options)
{
	sherd_writer *w = NULL;
	assert_ok(sherd_store_write(&w, s, key, options, err));
	return w;
}

TEST(an_object_is_invisible_until_commit)
{
	sherd_writer *w = writer_of(STORE, "d/x", NULL);
	assert_ok(sherd_writer_append(w, "hello", 5, err));
	assert_absent(STORE, "d/x");
	assert_lists(STORE, "", "", "");
	assert_ok(sherd_writer_commit(w, err));
	assert_holds(STORE, "d/x", "hello");
	assert_lists(STORE, "", "", "d/x");
}

TEST(an_aborted_writer_leaves_nothing)
{
	sherd_writer *w = writer_of(STORE, "d/x", NULL);
	assert_ok(sherd_writer_append(w, "hello", 5, err));
	sherd_writer_abort(w);
	w = writer_of(STORE, "d/x", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE});
	sherd_writer_abort(w);
	sherd_writer_abort(NULL);
	assert_absent(STORE, "d/x");
	assert_lists(STORE, "", "", "");
}

TEST(a_new_object_does_not_replace)
{
	put(STORE, "x", "one");
	sherd_stat before, after;
	assert_ok(sherd_store_stat(&before, STORE, "x", err));
	assert_refused(SHERD_EEXIST, "exists", sherd_store_put(STORE, "x", SHERD_WRITE_NEW, "two", 3, err));
	assert_ok(sherd_store_stat(&after, STORE, "x", err));
	assert_string_equal(before.identity, after.identity);
	assert_holds(STORE, "x", "one");
	assert_lists(STORE, "", "", "x");
}

TEST(a_replacement_changes_content_and_identity)
{
	char seen[16][72];
	for (int i = 0; i < 16; i++) {
		char text[16];
		(void)snprintf(text, sizeof(text), "%07d", i);
		assert_ok(sherd_store_put(STORE, "x", SHERD_WRITE_REPLACE, text, 7, err));
		assert_holds(STORE, "x", text);
		sherd_stat stat;
		assert_ok(sherd_store_stat(&stat, STORE, "x", err));
		assert_int_equal(stat.size, 7);
		assert_true(stat.mtime_ns > 0);
		memcpy(seen[i], stat.identity, sizeof(seen[i]));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(seen[i], seen[j]);
	}
	assert_lists(STORE, "", "", "x");
}

TEST(a_conditional_replacement_needs_the_identity)
{
	put(STORE, "x", "one");
	sherd_stat first;
	assert_ok(sherd_store_stat(&first, STORE, "x", err));
	sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .if_identity = first.identity};
	sherd_writer *a = writer_of(STORE, "x", &options), *b = writer_of(STORE, "x", &options);
	assert_ok(sherd_writer_append(a, "two", 3, err));
	assert_ok(sherd_writer_append(b, "six", 3, err));
	assert_ok(sherd_writer_commit(a, err));
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_writer_commit(b, err));
	assert_holds(STORE, "x", "two");
	assert_ok(sherd_store_remove(STORE, "x", err));
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_writer_commit(writer_of(STORE, "x", &options), err));
	assert_lists(STORE, "", "", "");
}

TEST(a_commit_tells_the_identity_and_only_that_is_removed_by_it)
{
	char first[72] = "?", second[72] = "?";
	sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .identity = first};
	sherd_stat stat;
	assert_ok(sherd_writer_commit(writer_of(STORE, "d/x", &options), err));
	assert_ok(sherd_store_stat(&stat, STORE, "d/x", err));
	assert_string_equal(first, stat.identity);
	options = (sherd_write_options){.mode = SHERD_WRITE_REPLACE, .if_identity = first, .identity = second};
	assert_ok(sherd_writer_commit(writer_of(STORE, "d/x", &options), err));
	assert_string_not_equal(first, second);
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_store_remove_if(STORE, "d/x", first, err));
	assert_lists(STORE, "", "", "d/x");
	assert_ok(sherd_store_remove_if(STORE, "d/x", second, err));
	assert_lists(STORE, "", "", "");
	assert_ok(sherd_store_remove_if(STORE, "d/x", second, err));
	assert_ok(sherd_store_remove_if(STORE, "no/such/folder", second, err));
	options = (sherd_write_options){.identity = first};
	assert_ok(sherd_writer_commit(writer_of(STORE, "d/x", &options), err));
	assert_ok(sherd_store_stat(&stat, STORE, "d/x", err));
	assert_string_equal(first, stat.identity);
}

TEST(reads_give_all_bytes_or_fail_with_the_offset)
{
	put(STORE, "x", "0123456789");
	sherd_reader *r = NULL;
	char buf[16];
	assert_ok(sherd_store_read(&r, STORE, "x", err));
	assert_int_equal(sherd_reader_size(r), 10);
	assert_string_equal(sherd_reader_key(r), "x");
	assert_ok(sherd_reader_at(r, 3, buf, 7, err));
	assert_memory_equal(buf, "3456789", 7);
	assert_ok(sherd_reader_at(r, 10, buf, 0, err));
	assert_fails(SHERD_ECORRUPT, 4, sherd_reader_at(r, 4, buf, 7, err));
	assert_fails(SHERD_ECORRUPT, 11, sherd_reader_at(r, 11, buf, 0, err));
	assert_fails(SHERD_ECORRUPT, UINT64_MAX - 1, sherd_reader_at(r, UINT64_MAX - 1, buf, 7, err));
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_reader_at(r, 1, buf, SIZE_MAX, err));
	sherd_error e = {0};
	assert_int_equal(sherd_reader_at(r, 1, buf, SIZE_MAX, &e), SHERD_ECORRUPT);
	assert_string_equal(e.object, "x");
	sherd_reader_close(r);
	sherd_reader_close(NULL);
}

TEST(what_is_in_memory_already_can_be_peeked_at)
{
	size_t size = (5u << 20) + 77;
	char *text = malloc(size);
	assert_non_null(text);
	for (size_t i = 0; i < size; i++)
		text[i] = (char)(i * 31 >> 3);
	assert_ok(sherd_store_put(STORE, "x", SHERD_WRITE_NEW, text, size, err));
	sherd_reader *r = NULL;
	const void *p = NULL;
	assert_ok(sherd_store_read(&r, STORE, "x", err));
	char *copy = malloc(size);
	assert_non_null(copy);
	assert_ok(sherd_reader_at(r, 0, copy, size, err));
	/* A store may always say no; what it shows is right. */
	for (size_t at = 0; at < size; at += size / 7)
		if (sherd_reader_peek(&p, r, at, size - at)) {
			assert_memory_equal(p, text + at, size - at);
			sherd_reader_advise(r, at, size - at, SHERD_ADVICE_DONE);
			assert_memory_equal(p, text + at, size - at);
		}
	assert_false(sherd_reader_peek(&p, r, 0, 0));
	assert_false(sherd_reader_peek(&p, r, 1, size));
	assert_false(sherd_reader_peek(&p, r, size + 1, 1));
	sherd_reader_close(r);
	free(copy);
	free(text);
}

TEST(a_map_shows_the_same_bytes)
{
	NEEDS(SHERD_CAP_MAP);
	put(STORE, "x", "0123456789");
	sherd_reader *r = NULL;
	const void *a = NULL, *b = NULL;
	assert_ok(sherd_store_read(&r, STORE, "x", err));
	assert_ok(sherd_reader_map(&a, r, 2, 8, err));
	assert_ok(sherd_reader_map(&b, r, 10, 0, err));
	assert_memory_equal(a, "23456789", 8);
	assert_non_null(b);
	assert_fails(SHERD_ECORRUPT, 2, sherd_reader_map(&a, r, 2, 9, err));
	sherd_reader_close(r);
}

TEST(an_open_reader_survives_removal_and_replacement)
{
	put(STORE, "x", "one");
	sherd_reader *r = NULL, *s = NULL;
	const void *map = NULL;
	char buf[3];
	assert_ok(sherd_store_read(&r, STORE, "x", err));
	if (CAN(SHERD_CAP_MAP))
		assert_ok(sherd_reader_map(&map, r, 0, 3, err));
	assert_ok(sherd_store_put(STORE, "x", SHERD_WRITE_REPLACE, "two", 3, err));
	assert_ok(sherd_store_read(&s, STORE, "x", err));
	assert_ok(sherd_store_remove(STORE, "x", err));
	assert_ok(sherd_reader_at(r, 0, buf, 3, err));
	assert_memory_equal(buf, "one", 3);
	if (map)
		assert_memory_equal(map, "one", 3);
	assert_ok(sherd_reader_at(s, 0, buf, 3, err));
	assert_memory_equal(buf, "two", 3);
	assert_string_not_equal(sherd_reader_identity(r), sherd_reader_identity(s));
	sherd_reader_close(r);
	sherd_reader_close(s);
	assert_absent(STORE, "x");
}

TEST(the_first_failure_of_a_writer_sticks)
{
	sherd_writer *w = writer_of(STORE, "x", &(sherd_write_options){.head = 4});
	assert_ok(sherd_writer_append(w, "abcdef", 6, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_fill(w, 3, "zz", 2, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_append(w, "g", 1, err));
	assert_refused(SHERD_EINVAL, "bad-range", sherd_writer_fill(w, 0, "z", 1, err));
	sherd_error e = {0};
	assert_int_equal(sherd_writer_commit(w, &e), SHERD_EINVAL);
	assert_string_equal(e.reason, "bad-range");
	assert_string_equal(e.object, "x");
	assert_lists(STORE, "", "", "");
	w = writer_of(STORE, "x", NULL);
	assert_int_equal(sherd_writer_append(w, "a", 1, NULL), SHERD_OK);
	assert_int_equal(sherd_writer_append(w, "a", SIZE_MAX, NULL), SHERD_EINVAL);
	assert_refused(SHERD_EINVAL, "too-large", sherd_writer_commit(w, err));
	assert_absent(STORE, "x");
}

TEST(the_head_can_be_filled_before_commit)
{
	enum { HEAD = 300000 };
	char *zero = calloc(1, HEAD);
	sherd_writer *w = writer_of(STORE, "x", &(sherd_write_options){.head = HEAD});
	assert_ok(sherd_writer_append(w, zero, 200000, err));
	assert_ok(sherd_writer_append(w, zero, 100000, err));
	assert_ok(sherd_writer_append(w, "tail", 4, err));
	assert_ok(sherd_writer_fill(w, 0, "AB", 2, err));
	memset(zero, 'q', HEAD);
	/* across the border between what was written and what is still gathered */
	assert_ok(sherd_writer_fill(w, 250000, zero, 30000, err));
	assert_ok(sherd_writer_fill(w, HEAD - 1, "Z", 1, err));
	assert_ok(sherd_writer_commit(w, err));
	char *data = NULL;
	size_t len = 0;
	assert_ok(sherd_store_get(&data, &len, STORE, "x", 1 << 20, err));
	assert_int_equal(len, HEAD + 4);
	assert_memory_equal(data, "AB\0", 3);
	assert_int_equal(data[249999], 0);
	assert_memory_equal(data + 250000, zero, 30000);
	assert_int_equal(data[280000], 0);
	assert_memory_equal(data + HEAD - 1, "Ztail", 5);
	sherd_free(data);
	free(zero);
}

TEST(options_are_checked)
{
	sherd_writer *w = NULL;
	assert_refused(SHERD_EINVAL, "bad-head",
	               sherd_store_write(&w, STORE, "x", &(sherd_write_options){.head = SHERD_MAX_HEAD + 1}, err));
	assert_refused(SHERD_EINVAL, "bad-mode",
	               sherd_store_write(&w, STORE, "x", &(sherd_write_options){.mode = 7}, err));
	assert_refused(SHERD_EINVAL, "bad-mode",
	               sherd_store_write(&w, STORE, "x", &(sherd_write_options){.if_identity = "a"}, err));
	assert_refused(SHERD_EINVAL, "no-writer", sherd_writer_commit(NULL, err));
}

TEST(bad_keys_are_refused_by_every_verb)
{
	char longer[SHERD_MAX_KEY + 2], part[260];
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	for (size_t i = 100; i < sizeof(longer) - 1; i += 100)
		longer[i] = '/';
	memset(part, 'p', 256);
	part[256] = 0;
	const char *bad[] = {"",    "/",      "/a",   "a/",   "a//b", ".",    "..", "./a",
	                     "a/.", "a/../b", "a/..", "../a", part,   longer, NULL, ".sherd-tmp-1/x"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		sherd_stat stat;
		sherd_reader *r = NULL;
		sherd_writer *w = NULL;
		sherd_lock *l = NULL;
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_stat(&stat, STORE, bad[i], err));
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_read(&r, STORE, bad[i], err));
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_write(&w, STORE, bad[i], NULL, err));
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_remove(STORE, bad[i], err));
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_mkdir(STORE, bad[i], err));
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_rmdir(STORE, bad[i], err));
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_lock(&l, STORE, bad[i], SHERD_LOCK_SHARED, err));
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_link(STORE, bad[i], "x", err));
		assert_refused(SHERD_EINVAL, "bad-key", sherd_store_link(STORE, "x", bad[i], err));
		assert_refused(SHERD_EINVAL, "bad-key",
		               sherd_store_create_locked(&l, STORE, bad[i], "", 0, SHERD_LOCK_SHARED, err));
	}
	keys k = {.text = ""};
	assert_refused(SHERD_EINVAL, "bad-key", sherd_store_list(STORE, "../", "", add_key, &k, err));
	assert_refused(SHERD_EINVAL, "bad-key", sherd_store_list(STORE, "/", "", add_key, &k, err));
}

TEST(odd_but_good_keys_work)
{
	char part[256], longest[SHERD_MAX_KEY + 1];
	memset(part, 'p', 255);
	part[255] = 0;
	(void)snprintf(longest, sizeof(longest), "%s/%s/%s/%.254s/q", part, part, part, part);
	assert_int_equal(strlen(longest), SHERD_MAX_KEY);
	const char *good[] = {"...", "..a",    "a b+c", "h\xc3\xa9llo/w\xc3\xb6rld \xe2\x82\xac", "-", "&<%41>?#",
	                      part,  "\xff\n", longest};
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		/* Of S3 the store has what the protocol has: UTF-8, and the folder around it counts. */
		if (((fixture *)*state)->backend->s3 && i >= COUNT_OF(good) - 2) {
			assert_refused(SHERD_EINVAL, "bad-key",
			               sherd_store_put(STORE, good[i], SHERD_WRITE_NEW, "", 0, err));
			continue;
		}
		assert_ok(sherd_store_put(STORE, good[i], SHERD_WRITE_NEW, good[i], strlen(good[i]), err));
		assert_holds(STORE, good[i], good[i]);
		assert_lists(STORE, good[i], "", good[i]);
		assert_ok(sherd_store_remove(STORE, good[i], err));
	}
	assert_lists(STORE, "", "", "");
}

TEST(list_is_complete_and_in_byte_order)
{
	static const char *const in[] = {"b", "a/c/d", "a.b", "a/b", "a0", "a-", "a/c.x", "\xc3\xa9", "Z", "a/c0"};
	for (size_t i = 0; i < COUNT_OF(in); i++)
		put(STORE, in[i], "x");
	sherd_writer *w = writer_of(STORE, "a/new", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE});
	assert_lists(STORE, "", "", "Z|a-|a.b|a/b|a/c.x|a/c/d|a/c0|a0|b|\xc3\xa9");
	assert_lists(STORE, NULL, NULL, "Z|a-|a.b|a/b|a/c.x|a/c/d|a/c0|a0|b|\xc3\xa9");
	assert_lists(STORE, "a", "", "a-|a.b|a/b|a/c.x|a/c/d|a/c0|a0");
	assert_lists(STORE, "a/", "", "a/b|a/c.x|a/c/d|a/c0");
	assert_lists(STORE, "a/c", "", "a/c.x|a/c/d|a/c0");
	assert_lists(STORE, "a/c/", "", "a/c/d");
	assert_lists(STORE, "a/c/d", "", "a/c/d");
	assert_lists(STORE, "a/c/d/", "", "");
	assert_lists(STORE, "q/", "", "");
	assert_lists(STORE, "", "a/c", "a/c.x|a/c/d|a/c0|a0|b|\xc3\xa9");
	assert_lists(STORE, "", "a/c/d", "a/c0|a0|b|\xc3\xa9");
	assert_lists(STORE, "a", "a/b", "a/c.x|a/c/d|a/c0|a0");
	assert_lists(STORE, "a/", "b", "");
	assert_lists(STORE, "", "\xff", "");
	keys k = {.stop_at = 2};
	assert_ok(sherd_store_list(STORE, "a/", "", add_key, &k, err));
	assert_string_equal(k.text, "a/b|a/c.x");
	sherd_writer_abort(w);
}

TEST(list_tells_what_stat_tells)
{
	put(STORE, "x", "12345");
	sherd_stat stat;
	assert_ok(sherd_store_stat(&stat, STORE, "x", err));
	sherd_reader *r = NULL;
	assert_ok(sherd_store_read(&r, STORE, "x", err));
	assert_string_equal(stat.identity, sherd_reader_identity(r));
	assert_int_equal(stat.size, 5);
	sherd_reader_close(r);
}

TEST(removing_nothing_succeeds)
{
	assert_ok(sherd_store_remove(STORE, "x", err));
	assert_ok(sherd_store_remove(STORE, "no/such/folder", err));
	put(STORE, "a/x", "one");
	assert_ok(sherd_store_remove(STORE, "a/x", err));
	assert_ok(sherd_store_remove(STORE, "a/x", err));
	assert_ok(sherd_store_remove(STORE, "a", err));
	assert_absent(STORE, "a/x");
	put(STORE, "a/x", "two");
	assert_ok(sherd_store_remove(STORE, "a/x/y", err));
	assert_holds(STORE, "a/x", "two");
}

TEST(an_object_may_be_empty)
{
	assert_ok(sherd_store_put(STORE, "x", SHERD_WRITE_NEW, NULL, 0, err));
	assert_holds(STORE, "x", "");
	sherd_reader *r = NULL;
	const void *map = NULL;
	assert_ok(sherd_store_read(&r, STORE, "x", err));
	if (CAN(SHERD_CAP_MAP))
		assert_ok(sherd_reader_map(&map, r, 0, 0, err));
	sherd_reader_close(r);
}

TEST(a_large_object_keeps_every_byte_of_odd_appends)
{
	static const size_t sizes[] = {1, 3, 262143, 262144, 7, 1000001, 262145, 13, 524287};
	char *bytes = malloc(BIG), *back = NULL;
	size_t len = 0;
	uint64_t x = 88172645463325252u;
	for (size_t i = 0; i < BIG; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		bytes[i] = (char)x;
	}
	sherd_writer *w = writer_of(STORE, "big", &(sherd_write_options){.size_hint = BIG});
	for (size_t at = 0, i = 0; at < BIG; i++) {
		size_t n = sizes[i % COUNT_OF(sizes)] < BIG - at ? sizes[i % COUNT_OF(sizes)] : BIG - at;
		assert_ok(sherd_writer_append(w, bytes + at, n, err));
		at += n;
	}
	assert_ok(sherd_writer_commit(w, err));
	assert_ok(sherd_store_get(&back, &len, STORE, "big", BIG, err));
	assert_int_equal(len, BIG);
	assert_memory_equal(back, bytes, BIG);
	sherd_free(back);
	assert_refused(SHERD_ELIMIT, "too-large", sherd_store_get(&back, &len, STORE, "big", BIG - 1, err));
	free(bytes);
}

TEST(locks_exclude_and_end)
{
	NEEDS(SHERD_CAP_LOCK);
	sherd_lock *a = NULL, *b = NULL, *c = NULL;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_lock(&a, STORE, "x", SHERD_LOCK_SHARED, err));
	put(STORE, "x", "one");
	assert_ok(sherd_store_lock(&a, STORE, "x", SHERD_LOCK_SHARED, err));
	assert_ok(sherd_store_lock(&b, STORE, "x", SHERD_LOCK_SHARED, err));
	assert_refused(SHERD_ECONFLICT, "locked", sherd_store_lock(&c, STORE, "x", SHERD_LOCK_EXCLUSIVE, err));
	sherd_lock_release(a);
	assert_refused(SHERD_ECONFLICT, "locked", sherd_store_lock(&c, STORE, "x", SHERD_LOCK_EXCLUSIVE, err));
	sherd_lock_release(b);
	assert_ok(sherd_store_lock(&c, STORE, "x", SHERD_LOCK_EXCLUSIVE, err));
	assert_refused(SHERD_ECONFLICT, "locked", sherd_store_lock(&a, STORE, "x", SHERD_LOCK_SHARED, err));
	assert_holds(STORE, "x", "one");
	/* a lock belongs to the object, not to what comes after it */
	assert_ok(sherd_store_put(STORE, "x", SHERD_WRITE_REPLACE, "two", 3, err));
	assert_ok(sherd_store_lock(&a, STORE, "x", SHERD_LOCK_EXCLUSIVE, err));
	sherd_lock_release(a);
	sherd_lock_release(c);
	sherd_lock_release(NULL);
}

TEST(an_object_can_be_created_locked)
{
	NEEDS(SHERD_CAP_LOCK);
	sherd_lock *a = NULL, *b = NULL;
	assert_ok(sherd_store_create_locked(&a, STORE, "d/x", "one", 3, SHERD_LOCK_EXCLUSIVE, err));
	assert_holds(STORE, "d/x", "one");
	assert_refused(SHERD_ECONFLICT, "locked", sherd_store_lock(&b, STORE, "d/x", SHERD_LOCK_SHARED, err));
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_store_create_locked(&b, STORE, "d/x", "two", 3, SHERD_LOCK_EXCLUSIVE, err));
	sherd_lock_release(a);
	assert_ok(sherd_store_lock(&b, STORE, "d/x", SHERD_LOCK_EXCLUSIVE, err));
	assert_ok(sherd_store_remove(STORE, "d/x", err));
	assert_ok(sherd_store_create_locked(&a, STORE, "d/x", "two", 3, SHERD_LOCK_EXCLUSIVE, err));
	sherd_lock_release(b);
	assert_refused(SHERD_ECONFLICT, "locked", sherd_store_lock(&b, STORE, "d/x", SHERD_LOCK_SHARED, err));
	sherd_lock_release(a);
	assert_lists(STORE, "", "", "d/x");
}

TEST(a_second_name_keeps_locks_in_sight)
{
	sherd_lock *a = NULL, *b = NULL;
	put(STORE, "d/x", "one");
	if (sherd_store_link(STORE, "d/x", "d/y", NULL) == SHERD_EUNSUPPORTED) {
		assert_refused(SHERD_EUNSUPPORTED, "no-link", sherd_store_link(STORE, "d/x", "d/y", err));
		assert_lists(STORE, "", "", "d/x");
		return;
	}
	assert_ok(sherd_store_remove(STORE, "d/y", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_link(STORE, "d/y", "d/x", err));
	put(STORE, "d/z", "other");
	assert_ok(sherd_store_lock(&a, STORE, "d/x", SHERD_LOCK_SHARED, err));
	assert_refused(SHERD_EEXIST, "exists", sherd_store_link(STORE, "d/x", "d/z", err));
	assert_refused(SHERD_EINVAL, "bad-key", sherd_store_link(STORE, "d/x", "y", err));
	assert_refused(SHERD_EINVAL, "bad-key", sherd_store_link(STORE, "d/x", "d/e/y", err));
	assert_ok(sherd_store_link(STORE, "d/x", "d/y", err));
	assert_ok(sherd_store_put(STORE, "d/x", SHERD_WRITE_REPLACE, "two", 3, err));
	assert_holds(STORE, "d/x", "two");
	assert_holds(STORE, "d/y", "one");
	assert_refused(SHERD_ECONFLICT, "locked", sherd_store_lock(&b, STORE, "d/y", SHERD_LOCK_EXCLUSIVE, err));
	assert_ok(sherd_store_lock(&b, STORE, "d/x", SHERD_LOCK_EXCLUSIVE, err));
	sherd_lock_release(b);
	sherd_lock_release(a);
	assert_ok(sherd_store_lock(&b, STORE, "d/y", SHERD_LOCK_EXCLUSIVE, err));
	sherd_lock_release(b);
	assert_ok(sherd_store_remove(STORE, "d/y", err));
	assert_lists(STORE, "", "", "d/x|d/z");
}

TEST(what_a_store_cannot_is_refused)
{
	sherd_reader *r = NULL;
	sherd_lock *l = NULL;
	const void *p = NULL;
	put(STORE, "a/b", "one");
	assert_ok(sherd_store_read(&r, STORE, "a/b", err));
	if (!CAN(SHERD_CAP_MAP))
		assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_reader_map(&p, r, 0, 3, err));
	if (!CAN(SHERD_CAP_LOCK)) {
		assert_refused(SHERD_EUNSUPPORTED, "no-lock",
		               sherd_store_lock(&l, STORE, "a/b", SHERD_LOCK_SHARED, err));
		assert_refused(SHERD_EUNSUPPORTED, "no-lock",
		               sherd_store_create_locked(&l, STORE, "a/c", "", 0, SHERD_LOCK_EXCLUSIVE, err));
	}
	if (!CAN(SHERD_CAP_MKDIR)) {
		assert_refused(SHERD_EUNSUPPORTED, "no-folders", sherd_store_mkdir(STORE, "a/b", err));
		assert_refused(SHERD_EUNSUPPORTED, "no-folders", sherd_store_rmdir(STORE, "a/b", err));
	}
	sherd_queue *q = NULL;
	int rc = sherd_store_queue(&q, STORE, 1 << 20, NULL);
	assert_true(rc == SHERD_OK || rc == SHERD_EUNSUPPORTED);
	sherd_queue_close(q);
	sherd_reader_close(r);
	assert_lists(STORE, "", "", "a/b");
}

TEST(an_error_names_the_store_that_the_caller_opened)
{
	sherd_reader *r = NULL;
	sherd_error e = {0};
	assert_int_equal(sherd_store_read(&r, STORE, "d/x", &e), SHERD_ENOTFOUND);
	assert_string_equal(e.object, "d/x");
	assert_ptr_equal(e.store, STORE);
}

TEST(folders_can_be_made_where_there_are_any)
{
	NEEDS(SHERD_CAP_MKDIR);
	assert_ok(sherd_store_mkdir(STORE, "a/b/c", err));
	assert_ok(sherd_store_mkdir(STORE, "a/b", err));
	assert_lists(STORE, "", "", "");
	sherd_reader *r = NULL;
	assert_refused(SHERD_ENOTFOUND, "is-folder", sherd_store_read(&r, STORE, "a/b", err));
	put(STORE, "x", "one");
	assert_refused(SHERD_EEXIST, "not-a-folder", sherd_store_mkdir(STORE, "x/y", err));
	/* Only what is empty goes, and is made again by who needs it. */
	put(STORE, "a/b/c/x", "one");
	assert_ok(sherd_store_rmdir(STORE, "a/b/c", err));
	assert_ok(sherd_store_rmdir(STORE, "x", err));
	assert_holds(STORE, "a/b/c/x", "one");
	assert_holds(STORE, "x", "one");
	assert_ok(sherd_store_remove(STORE, "a/b/c/x", err));
	assert_ok(sherd_store_rmdir(STORE, "a/b/c", err));
	assert_ok(sherd_store_rmdir(STORE, "a/b/c", err));
	assert_ok(sherd_store_rmdir(STORE, "no/where", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_read(&r, STORE, "a/b/c", err));
	put(STORE, "a/b/c/x", "two");
	assert_ok(sherd_store_remove(STORE, "a/b/c/x", err));
	assert_refused(SHERD_EEXIST, "not-a-folder", sherd_store_put(STORE, "x/y", SHERD_WRITE_NEW, "", 0, err));
	assert_refused(SHERD_EEXIST, "is-folder", sherd_store_put(STORE, "a/b", SHERD_WRITE_NEW, "", 0, err));
	assert_refused(SHERD_EEXIST, "is-folder", sherd_store_put(STORE, "a/b", SHERD_WRITE_REPLACE, "", 0, err));
	assert_lists(STORE, "", "", "x");
}

TEST(an_age_is_told_by_the_clock_of_the_store)
{
	sherd_stat stat;
	int64_t before = sherd_store_now(STORE);
	put(STORE, "k", "x");
	assert_ok(sherd_store_stat(&stat, STORE, "k", err));
	assert_true(before > 0);
	assert_true(stat.mtime_ns >= before);
	assert_true(sherd_store_now(STORE) >= stat.mtime_ns);
}

TEST(no_temporary_file_stays_behind)
{
	fixture *f = *state;
	put(STORE, "x", "one");
	assert_ok(sherd_store_put(STORE, "x", SHERD_WRITE_REPLACE, "two", 3, err));
	(void)sherd_store_put(STORE, "x", SHERD_WRITE_NEW, "two", 3, NULL);
	sherd_writer_abort(writer_of(STORE, "y", NULL));
	if (!((fixture *)*state)->backend->local)
		return;
	DIR *d = opendir(f->folder);
	int count = 0;
	for (struct dirent *e; (e = readdir(d));)
		count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	assert_int_equal(count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BACKEND_TEST(an_object_is_invisible_until_commit),
		BACKEND_TEST(an_aborted_writer_leaves_nothing),
		BACKEND_TEST(a_new_object_does_not_replace),
		BACKEND_TEST(a_replacement_changes_content_and_identity),
		BACKEND_TEST(a_conditional_replacement_needs_the_identity),
		BACKEND_TEST(a_commit_tells_the_identity_and_only_that_is_removed_by_it),
		BACKEND_TEST(reads_give_all_bytes_or_fail_with_the_offset),
		BACKEND_TEST(what_is_in_memory_already_can_be_peeked_at),
		BACKEND_TEST(a_map_shows_the_same_bytes),
		BACKEND_TEST(an_open_reader_survives_removal_and_replacement),
		BACKEND_TEST(the_first_failure_of_a_writer_sticks),
		BACKEND_TEST(the_head_can_be_filled_before_commit),
		BACKEND_TEST(options_are_checked),
		BACKEND_TEST(bad_keys_are_refused_by_every_verb),
		BACKEND_TEST(odd_but_good_keys_work),
		BACKEND_TEST(list_is_complete_and_in_byte_order),
		BACKEND_TEST(list_tells_what_stat_tells),
		BACKEND_TEST(removing_nothing_succeeds),
		BACKEND_TEST(an_object_may_be_empty),
		BACKEND_TEST(a_large_object_keeps_every_byte_of_odd_appends),
		BACKEND_TEST(locks_exclude_and_end),
		BACKEND_TEST(an_object_can_be_created_locked),
		BACKEND_TEST(a_second_name_keeps_locks_in_sight),
		BACKEND_TEST(what_a_store_cannot_is_refused),
		BACKEND_TEST(an_error_names_the_store_that_the_caller_opened),
		BACKEND_TEST(folders_can_be_made_where_there_are_any),
		BACKEND_TEST(an_age_is_told_by_the_clock_of_the_store),
		BACKEND_TEST(no_temporary_file_stays_behind),
	};
	return run_for_backends(tests, COUNT_OF(tests));
}
