#include "support/corpus.h"
#include "support/source_file.h"
#include "support/test.h"

#include "format/samediff/java_manifest.h"
#include "format/samediff/java_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static shd_arena arena;

static int drop_arena(void **state)
{
	(void)state;
	shd_arena_done(&arena);
	arena = (shd_arena){0};
	return 0;
}

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	shd_java_manifest_entry *entries;
	size_t count;
	return shd_java_manifest_decode(data, len, NULL, &arena, &entries, &count, err);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/java_manifest", decode, 9, 42, 1);
}

/* Decodes and encodes again: the bytes must be those that Java wrote. */
static size_t same_again(const char *name, shd_java_manifest_entry **entries)
{
	char path[128];
	size_t len, count;
	SHD_AUTO_BUF again = {0};
	(void)snprintf(path, sizeof(path), "tests/corpus/java_manifest/y_%s.ser", name);
	uint8_t *data = source_file_read(path, &len);
	assert_ok(shd_java_manifest_decode(data, len, NULL, &arena, entries, &count, err));
	assert_ok(shd_java_manifest_encode(&again, *entries, count, err));
	assert_int_equal(again.len, len);
	assert_memory_equal(again.data, data, len);
	free(data);
	return count;
}

static void check_entry(const shd_java_manifest_entry *e, const char *name, uint64_t offset, uint64_t length)
{
	assert_string_equal(e->name, name);
	assert_true(e->offset == offset && e->length == length);
}

TEST(what_java_wrote_is_read_and_written_byte_for_byte)
{
	shd_java_manifest_entry *e;
	assert_int_equal(same_again("java17_none", &e), 0);
	assert_int_equal(same_again("java17_one", &e), 1);
	check_entry(&e[0], "layer0.w", 4096, 1 << 20);
	assert_int_equal(same_again("java17_three", &e), 3);
	check_entry(&e[0], "layer0.w", 4096, 1 << 20);
	check_entry(&e[1], "layer1.w", 4096 + (1 << 20), 1 << 20);
	check_entry(&e[2], "layer2.w", 4096 + (2 << 20), 1 << 20);
	assert_int_equal(same_again("java17_backref", &e), 2);
	check_entry(&e[0], "x", 64, 64);
	check_entry(&e[1], "y", 100, 100);
	assert_int_equal(same_again("java17_grown", &e), 25);
	check_entry(&e[7],
	            "\xc3\xa9\xf0\x9f\x98\x80"
	            "7",
	            259, (1 << 20) + 7);
	check_entry(&e[24], "v24", 888, (1 << 20) + 24);
	assert_int_equal(same_again("name_unicode", &e), 1);
	check_entry(&e[0], "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 4096, 1 << 20);
}

/* Beyond the 65,536th handle, and the table of the map has grown several times. */
TEST(many_entries_are_read_as_they_were_written)
{
	enum { MANY = 50000 };
	SHD_AUTO_BUF b = {0};
	shd_java_manifest_entry *given = calloc(MANY, sizeof(*given)), *got;
	size_t count;
	for (size_t i = 0; i < MANY; i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "v%zu", i);
		given[i] = (shd_java_manifest_entry){shd_arena_str(&arena, shd_str_of(name)), i * 7, i % 300};
	}
	assert_ok(shd_java_manifest_encode(&b, given, MANY, err));
	assert_memory_equal(b.data + 119, "\0\1\x80\0w\x08\0\2\0\0\0\0\xc3\x50", 14);
	assert_ok(shd_java_manifest_decode(b.data, b.len, NULL, &arena, &got, &count, err));
	assert_int_equal(count, MANY);
	for (size_t i = 0; i < MANY; i++)
		check_entry(&got[i], given[i].name, given[i].offset, given[i].length);
	free(given);
}

TEST(a_name_too_long_for_java_is_refused)
{
	SHD_AUTO_BUF b = {0}, name = {0};
	for (size_t i = 0; i < 65535; i++)
		shd_buf_u8(&name, 'n');
	shd_buf_append(&name, "\0n", 3);
	shd_java_manifest_entry e = {(const char *)name.data, 1000, 1}, *got;
	size_t count;
	assert_ok(shd_java_manifest_encode(&b, &e, 1, err));
	assert_ok(shd_java_manifest_decode(b.data, b.len, NULL, &arena, &got, &count, err));
	assert_refused(SHERD_ELIMIT, "name-too-long",
	               shd_java_manifest_decode(b.data, b.len, &(sherd_limits){.name_bytes = 65534}, &arena, &got,
	                                        &count, err));
	name.data[65535] = 'n';
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", shd_java_manifest_encode(&b, &e, 1, err));
}

TEST(no_byte_can_be_missing)
{
	size_t len, count;
	shd_java_manifest_entry *entries;
	uint8_t *data = source_file_read("tests/corpus/java_manifest/y_java17_backref.ser", &len);
	for (size_t cut = 0; cut < len; cut++)
		assert_fails(SHERD_ECORRUPT, e_.offset <= cut ? e_.offset : cut,
		             shd_java_manifest_decode(data, cut, NULL, &arena, &entries, &count, err));
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_corpus_is_judged_as_its_names_say, drop_arena),
		cmocka_unit_test_teardown(what_java_wrote_is_read_and_written_byte_for_byte, drop_arena),
		cmocka_unit_test_teardown(many_entries_are_read_as_they_were_written, drop_arena),
		cmocka_unit_test_teardown(a_name_too_long_for_java_is_refused, drop_arena),
		cmocka_unit_test_teardown(no_byte_can_be_missing, drop_arena),
	};
	return cmocka_run_group_tests_name("java_manifest", tests, NULL, NULL);
}
