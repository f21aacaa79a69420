/* The sets of tests/golden/rows: writing them again gives the same bytes, and opening them gives what was written; that
 * of version 1 is only read. With SHD_GOLDEN_OUT=FOLDER in the environment they are also written there, to be looked
 * at and committed when the format has changed on purpose. */
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/rows.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/golden/rows"

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)

enum { WIDTH = 3, ROWS = 5 };

/* Exact in every type: a tie, a subnormal F16, negative zero and an infinity are among them. */
static const double values[ROWS * WIDTH] = {1, -2, 0.5, 3, 4, 5, -0.0, 0x1p-24, 65504, 1.0 / 0.0, 96, 97, 98, 99, 100};

static const struct golden {
	const char *name;
	sherd_dtype dtype;
	bool residual;
} sets[] = {
	{"f32", SHERD_F32, false},
	{"f16", SHERD_F16, false},
	{"bf16", SHERD_BF16, false},
	{"residual", SHERD_BF16, true},
};

/* Three rows, two of them in a shard of their own; then two more, appended where that can be. */
static void write_set(sherd_store *store, const struct golden *g)
{
	sherd_rows_writer_options options = {.dtype = g->dtype, .residual = g->residual, .rows_per_shard = 2};
	sherd_rows_writer *w;
	assert_ok(sherd_rows_writer_open(&w, store, g->name, WIDTH, &options, err));
	assert_ok(sherd_rows_writer_append(w, SHERD_F64, values, g->residual ? ROWS : 3, err));
	assert_ok(sherd_rows_writer_commit(w, err));
	if (g->residual)
		return;
	options.append = true;
	assert_ok(sherd_rows_writer_open(&w, store, g->name, WIDTH, &options, err));
	assert_ok(sherd_rows_writer_append(w, SHERD_F64, values + 3 * WIDTH, ROWS - 3, err));
	assert_ok(sherd_rows_writer_commit(w, err));
}

static bool compare(void *arg, const char *key, const sherd_stat *stat)
{
	char path[512], *data;
	size_t len, want;
	(void)stat;
	(void)snprintf(path, sizeof(path), FOLDER "/%s", key);
	assert_ok(sherd_store_get(&data, &len, arg, key, 1 << 20, err));
	uint8_t *golden = source_file_read(path, &want);
	if (len != want || memcmp(data, golden, len) != 0)
		fail_msg("%s is not what it was", key);
	sherd_free(data);
	free(golden);
	return true;
}

TEST(writing_them_again_gives_the_same_bytes)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	const char *out = getenv("SHERD_GOLDEN_OUT");
	if (out)
		assert_ok(sherd_store_open_local(&store, out, &(sherd_local_options){.create = true}, err));
	else
		assert_ok(sherd_store_open_memory(&store, err));
	for (size_t i = 0; i < COUNT_OF(sets); i++)
		write_set(store, &sets[i]);
	if (!out)
		assert_ok(sherd_store_list(store, "", "", compare, store, err));
}

static void assert_rows(sherd_store *store, const char *name)
{
	sherd_rows *set;
	sherd_rows_cursor *cursor;
	sherd_rows_batch b;
	sherd_report *report;
	size_t seen = 0;
	assert_ok(sherd_verify(&report, store, name, NULL, err));
	assert_int_equal(sherd_report_errors(report), 0);
	sherd_report_close(report);
	assert_ok(sherd_rows_open_any(&set, store, name, NULL, err));
	assert_int_equal(sherd_rows_total(set), ROWS);
	assert_ok(sherd_rows_cursor_open(&cursor, set, NULL, err));
	while (sherd_rows_next(&b, cursor, NULL) > 0) {
		for (size_t i = 0; i < b.rows * WIDTH; i++, seen++) {
			double want = values[seen];
			if (sherd_rows_dtype(set) == SHERD_BF16 && want == 65504)
				want = 65536;
			assert_memory_equal((const double *)b.data + i, &want, sizeof(want));
		}
	}
	assert_int_equal(seen, ROWS * WIDTH);
	sherd_rows_cursor_close(cursor);
	sherd_rows_close(set);
}

TEST(they_are_read_as_they_were_written_version_1_too)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	char path[512];
	(void)snprintf(path, sizeof(path), "%s/" FOLDER, getenv("SHERD_SOURCE"));
	assert_ok(sherd_store_open_local(&store, path, NULL, err));
	for (size_t i = 0; i < COUNT_OF(sets); i++)
		assert_rows(store, sets[i].name);
	assert_rows(store, "v1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_them_again_gives_the_same_bytes),
		cmocka_unit_test(they_are_read_as_they_were_written_version_1_too),
	};
	return cmocka_run_group_tests_name("golden/rows", tests, NULL, NULL);
}
