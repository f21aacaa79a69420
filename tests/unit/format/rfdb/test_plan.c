#include "support/test.h"

#include "format/rfdb/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by hash */

TEST(the_hash_planner_gives_the_shards_of_the_real_server)
{
	static const struct {
		const char *file;
		uint16_t of2, of4, of8, of16;
	} known[] = {
		{"main.js", 1, 3, 7, 15},           {"src/app.ts", 0, 0, 4, 12},        {"src//app.ts", 0, 0, 4, 12},
		{"src/auth/login.ts", 1, 1, 5, 13}, {"src/api/routes.ts", 0, 2, 2, 10},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		shd_str file = shd_str_of(known[i].file);
		assert_int_equal(shd_rfdb_hash_shard(file, 1), 0);
		assert_int_equal(shd_rfdb_hash_shard(file, 2), known[i].of2);
		assert_int_equal(shd_rfdb_hash_shard(file, 4), known[i].of4);
		assert_int_equal(shd_rfdb_hash_shard(file, 8), known[i].of8);
		assert_int_equal(shd_rfdb_hash_shard(file, 16), known[i].of16);
	}
}

/* ---- by directory */

enum { MANY = 64 };

typedef struct project {
	shd_str files[MANY];
	uint16_t shards[MANY];
	size_t count;
} project;

/* Files, each ended by a blank. */
static project project_of(const char *text)
{
	project p = {0};
	while (*text) {
		size_t n = strcspn(text, " ");
		p.files[p.count++] = (shd_str){text, n};
		text += n + (text[n] == ' ');
	}
	return p;
}

#define AUTO_PLAN __attribute__((cleanup(shd_rfdb_plan_done))) shd_rfdb_plan

static void extend(shd_rfdb_plan *plan, project *p)
{
	assert_ok(shd_rfdb_plan_extend(plan, p->files, p->count, p->shards, err));
}

static shd_rfdb_plan plan_of(uint32_t min_files, project *p)
{
	shd_rfdb_plan plan;
	shd_rfdb_plan_init(&plan, min_files);
	extend(&plan, p);
	return plan;
}

static void expect_shard(const shd_rfdb_plan *plan, const char *file, const char *name)
{
	uint16_t shard;
	assert_true(shd_rfdb_plan_find(plan, shd_str_of(file), &shard));
	assert_string_equal(shd_rfdb_plan_name(plan, shard), name);
}

/* Every file is found where it was put. */
static void expect_shards(const shd_rfdb_plan *plan, const project *p)
{
	for (size_t i = 0; i < p->count; i++) {
		uint16_t shard;
		assert_true(shd_rfdb_plan_find(plan, p->files[i], &shard));
		assert_true(shard < plan->shard_count);
		assert_int_equal(shard, p->shards[i]);
	}
}

TEST(plan_single_directory)
{
	project p = project_of("src/a.ts src/b.ts src/c.ts");
	AUTO_PLAN plan = plan_of(0, &p);
	assert_int_equal(plan.shard_count, 1);
	expect_shard(&plan, "src/a.ts", "src");
	assert_null(shd_rfdb_plan_name(&plan, 1));
}

TEST(plan_multiple_directories)
{
	project p =
		project_of("src/auth/login.ts src/auth/register.ts src/api/routes.ts src/api/handlers.ts src/app.ts");
	AUTO_PLAN plan = plan_of(1, &p);
	assert_int_equal(plan.shard_count, 3);
	expect_shard(&plan, "src/auth/login.ts", "src_auth");
	expect_shard(&plan, "src/api/routes.ts", "src_api");
	expect_shard(&plan, "src/app.ts", "src");
	expect_shards(&plan, &p);
}

TEST(plan_nested_directories)
{
	project p = project_of("a/b/c/d/1 a/b/c/d/2 a/b/c/d/3 a/1 a/2 a/3 a/b/c/1");
	AUTO_PLAN plan = plan_of(3, &p);
	assert_int_equal(plan.shard_count, 2);
	expect_shard(&plan, "a/b/c/d/1", "a_b_c_d");
	expect_shard(&plan, "a/b/c/1", "a"); /* up twice: a/b has no files and one is too few */
}

TEST(plan_small_directory_merged)
{
	project p = project_of("src/a.ts src/b.ts src/c.ts src/lonely/d.ts");
	AUTO_PLAN plan = plan_of(3, &p);
	assert_int_equal(plan.shard_count, 1);
	expect_shard(&plan, "src/lonely/d.ts", "src");
}

TEST(small_ones_together_make_their_parent_large)
{
	project p = project_of("src/a/1 src/b/1 src/c/1 doc/x/1 doc/y/1");
	uint16_t shard;
	AUTO_PLAN plan = plan_of(3, &p);
	assert_int_equal(plan.shard_count, 2);
	expect_shard(&plan, "src/a/1", "src");
	expect_shard(&plan, "src/new", "src");
	expect_shard(&plan, "doc/x/1", "_root");
	/* Nothing was seen in doc itself, so it may still become large. */
	assert_false(shd_rfdb_plan_find(&plan, SHD_STR("doc/z"), &shard));
}

TEST(a_file_that_comes_twice_counts_once)
{
	project p = project_of("few/1 few/2 many/1 few/1 many/2 few/2 many/3 few/1 many/4 many/1 up/a/1 up/b/1 up/a/1");
	AUTO_PLAN plan = plan_of(3, &p);
	assert_int_equal(plan.shard_count, 2);
	expect_shard(&plan, "few/1", "_root");
	expect_shard(&plan, "many/1", "many");
	expect_shard(&plan, "up/a/1", "_root"); /* two files below up, not three */
	expect_shards(&plan, &p);
}

TEST(plan_deterministic)
{
	project p = project_of("x/1 a/b/1 a_b/1 a/b/2 a_b/2 y/1 y/2 main z/q/1 z/q/2"), q = p;
	SHD_AUTO_BUF first = {0}, second = {0};
	for (size_t i = 0; i < p.count; i++)
		q.files[i] = p.files[p.count - 1 - i];
	AUTO_PLAN one = plan_of(2, &p), other = plan_of(2, &q);
	shd_rfdb_plan_encode(&one, &first);
	shd_rfdb_plan_encode(&other, &second);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
}

TEST(plan_stability)
{
	project p = project_of("src/1 src/2 src/3 src/x/1 lib/1"),
		more = project_of("src/x/2 src/x/3 src/x/4 src/1 lib/2 lib/3 new/1 new/2 new/3 src/y/1");
	AUTO_PLAN plan = plan_of(3, &p);
	expect_shard(&plan, "src/x/1", "src");
	expect_shard(&plan, "lib/1", "_root");
	extend(&plan, &more);
	expect_shards(&plan, &p);
	expect_shard(&plan, "src/x/4", "src");
	expect_shard(&plan, "lib/3", "_root");
	expect_shard(&plan, "new/1", "new");
	expect_shard(&plan, "src/y/1", "src"); /* joins a parent that had its shard before */
}

TEST(plan_completeness)
{
	project p = project_of("1 ./2 /3 a/4 a/b/5 a/b/c/6 /a/7 ../8 a//b/9 a/./b/10 . / ..");
	AUTO_PLAN plan = plan_of(2, &p);
	expect_shards(&plan, &p);
}

TEST(names_that_collide_are_told_apart)
{
	project p = project_of("a/b/1 a_b/1 _root/1 1 a_b~2/1 a/b_c/1 a_b/c/1 a/b/c/1 a_b_c/1");
	AUTO_PLAN plan = plan_of(1, &p);
	assert_int_equal(plan.shard_count, p.count);
	expect_shard(&plan, "1", "_root");
	expect_shard(&plan, "_root/1", "_root~2");
	expect_shard(&plan, "a/b/1", "a_b");
	for (uint32_t i = 0; i < plan.shard_count; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(shd_rfdb_plan_name(&plan, i), shd_rfdb_plan_name(&plan, k));
}

/* Of so many directories one file each: p0, p0/d, p1, p1/d, ... */
static shd_rfdb_plan plan_of_many(size_t directories)
{
	enum { TEXT = 16 };
	shd_rfdb_plan plan;
	char *text = malloc(directories * TEXT);
	shd_str *files = malloc(directories * sizeof(*files));
	assert_true(text && files);
	for (size_t i = 0; i < directories; i++) {
		char *at = text + i * TEXT;
		files[i] = (shd_str){at, (size_t)snprintf(at, TEXT, i % 2 ? "p%zu/d/1" : "p%zu/1", i / 2)};
	}
	shd_rfdb_plan_init(&plan, 1);
	assert_ok(shd_rfdb_plan_extend(&plan, files, directories, NULL, err));
	free(text);
	free(files);
	return plan;
}

TEST(past_the_last_number_directories_join_their_parent)
{
	project late = project_of("late/1");
	AUTO_PLAN plan = plan_of_many(70000);
	assert_int_equal(plan.shard_count, SHD_RFDB_MAX_SHARDS);
	/* Order of bytes: p9999 and p9999/d come last. */
	expect_shard(&plan, "p9999/1", "_root");
	expect_shard(&plan, "p9999/d/1", "_root");
	extend(&plan, &late);
	expect_shard(&plan, "late/1", "_root");
}

TEST(the_root_finds_room_when_all_other_numbers_are_taken)
{
	project late = project_of("late/1");
	AUTO_PLAN plan = plan_of_many(SHD_RFDB_MAX_SHARDS - 1);
	assert_int_equal(plan.shard_count, SHD_RFDB_MAX_SHARDS - 1);
	extend(&plan, &late);
	assert_int_equal(plan.shard_count, SHD_RFDB_MAX_SHARDS);
	expect_shard(&plan, "late/1", "_root");
}

TEST(a_directory_must_be_utf8)
{
	shd_str file = SHD_STR("\xff/1");
	AUTO_PLAN plan;
	shd_rfdb_plan_init(&plan, 1);
	assert_refused(SHERD_EINVAL, "bad-utf8", shd_rfdb_plan_extend(&plan, &file, 1, NULL, err));
}

/* ---- shard_plan.json */

static const char document[] = "{\n"
			       "  \"format\": \"sherd-shard-plan\",\n"
			       "  \"version\": 1,\n"
			       "  \"min_files\": 2,\n"
			       "  \"shards\": [\n"
			       "    \"_root\",\n"
			       "    \"src\"\n"
			       "  ],\n"
			       "  \"directories\": {\n"
			       "    \"\": 0,\n"
			       "    \"doc\": 0,\n"
			       "    \"src\": 1,\n"
			       "    \"src/a\": 1\n"
			       "  },\n"
			       "  \"sha256\": \"";

TEST(the_document_is_written_and_read)
{
	project p = project_of("main src/1 src/2 src/a/1 doc/1"), more = project_of("src/a/2 src/a/3 x/1 x/2");
	SHD_AUTO_BUF text = {0}, again = {0};
	AUTO_PLAN plan = plan_of(2, &p), back;
	shd_rfdb_plan_init(&back, 0);
	shd_rfdb_plan_encode(&plan, &text);
	assert_ok(shd_buf_check(&text, err));
	assert_memory_equal(text.data, document, strlen(document));
	assert_ok(shd_rfdb_plan_decode(text.data, text.len, NULL, &back, err));
	assert_int_equal(back.min_files, 2);
	shd_rfdb_plan_encode(&back, &again);
	assert_int_equal(again.len, text.len);
	assert_memory_equal(again.data, text.data, text.len);
	extend(&back, &more);
	expect_shard(&back, "src/a/3", "src");
	expect_shard(&back, "x/1", "x");
}

static int decode(const void *data, size_t len, sherd_error *err)
{
	AUTO_PLAN plan;
	shd_rfdb_plan_init(&plan, 0);
	return shd_rfdb_plan_decode(data, len, NULL, &plan, err);
}

TEST(no_flipped_bit_goes_unnoticed)
{
	project p = project_of("main src/1 src/2");
	SHD_AUTO_BUF text = {0};
	AUTO_PLAN plan = plan_of(2, &p);
	shd_rfdb_plan_encode(&plan, &text);
	for (size_t i = 0; i < text.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			text.data[i] ^= (uint8_t)(1u << bit);
			assert_refused(SHERD_ECORRUPT, "bad-seal", decode(text.data, text.len, err));
			text.data[i] ^= (uint8_t)(1u << bit);
		}
	for (size_t len = 0; len < text.len; len++)
		assert_refused(SHERD_ECORRUPT, "bad-seal", decode(text.data, len, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_planner_gives_the_shards_of_the_real_server),
		cmocka_unit_test(plan_single_directory),
		cmocka_unit_test(plan_multiple_directories),
		cmocka_unit_test(plan_nested_directories),
		cmocka_unit_test(plan_small_directory_merged),
		cmocka_unit_test(small_ones_together_make_their_parent_large),
		cmocka_unit_test(a_file_that_comes_twice_counts_once),
		cmocka_unit_test(plan_deterministic),
		cmocka_unit_test(plan_stability),
		cmocka_unit_test(plan_completeness),
		cmocka_unit_test(names_that_collide_are_told_apart),
		cmocka_unit_test(past_the_last_number_directories_join_their_parent),
		cmocka_unit_test(the_root_finds_room_when_all_other_numbers_are_taken),
		cmocka_unit_test(a_directory_must_be_utf8),
		cmocka_unit_test(the_document_is_written_and_read),
		cmocka_unit_test(no_flipped_bit_goes_unnoticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
