#include "support/rfdb_files.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"
#include "codec/crc32.h"
#include "format/rfdb/run.h"

#include <stdlib.h>

enum { PARTS = 4 };

/* Segments, and the run over them. */
typedef struct sample {
	shd_buf raw[PARTS], made;
	shd_rfdb_segment s[PARTS];
	shd_rfdb_run_part parts[PARTS];
	shd_rfdb_table_run run;
} sample;

static int append(void *arg, const void *data, size_t len, sherd_error *err)
{
	shd_buf_append(arg, data, len);
	return shd_buf_check(arg, err);
}

static void build(sample *x, uint64_t memory, shd_buf *out)
{
	uint8_t head[SHD_RFDB_RUN_HEAD];
	uint64_t size;
	const shd_rfdb_run_plan plan = {.parts = x->parts, .count = PARTS, .memory = memory};
	assert_ok(shd_rfdb_run_build(&plan, append, out, head, &size, err));
	assert_int_equal(size, out->len);
	memcpy(out->data, head, sizeof(head));
}

/* Two segments of nodes, two of edges. The second ones repeat rows of the first if they are as large. */
static sample *sample_of(uint64_t first, uint64_t second)
{
	sample *x = calloc(1, sizeof(*x));
	assert_non_null(x);
	for (unsigned i = 0; i < PARTS; i++) {
		uint64_t rows = i % 2 ? second : first;
		if (i < 2)
			rfdb_make_nodes(rows, true, &x->raw[i]);
		else
			rfdb_make_edges(rows, true, &x->raw[i]);
		assert_ok(shd_rfdb_segment_open(x->raw[i].data, x->raw[i].len, &x->s[i], err));
		x->parts[i] = (shd_rfdb_run_part){.about = {.id = i + 7,
		                                            .size = x->raw[i].len,
		                                            .rows = (uint32_t)x->s[i].rows,
		                                            .shard = i % 2,
		                                            .kind = x->s[i].kind},
		                                  .rows = &x->s[i]};
		shd_sha256_of(x->raw[i].data, x->raw[i].len, x->parts[i].about.sha256);
	}
	build(x, 0, &x->made);
	assert_ok(shd_rfdb_run_open(x->made.data, x->made.len, &x->run, err));
	return x;
}

static void sample_done(sample *x)
{
	shd_rfdb_run_done(&x->run);
	for (unsigned i = 0; i < PARTS; i++)
		shd_buf_done(&x->raw[i]);
	shd_buf_done(&x->made);
	free(x);
}

/* Does the table lead from the hash to the row of the part? How often. */
static unsigned led_to(const sample *x, shd_rfdb_run_table table, uint64_t hash, size_t part, uint64_t row)
{
	uint32_t *fences = NULL;
	uint64_t from, to;
	unsigned times = 0;
	assert_ok(shd_rfdb_run_fences(&x->run, table, &fences, err));
	shd_rfdb_run_seek(&x->run.tables[table], fences, hash, &from, &to);
	for (; from < to; from++) {
		size_t at = 0;
		uint32_t found;
		uint64_t inside;
		assert_true(shd_rfdb_run_whole(&x->run, table, from));
		while (shd_rfdb_run_next(shd_rfdb_run_page(&x->run, table, from), hash, &at, &found)) {
			const shd_rfdb_member *m =
				shd_rfdb_run_member(&x->run, shd_rfdb_run_kind(table), found, &inside);
			assert_non_null(m);
			times += m == &x->run.members[part] && inside == row;
		}
	}
	free(fences);
	return times;
}

static uint64_t text_hash(const sample *x, size_t part, shd_rfdb_column column, uint64_t row)
{
	shd_str text;
	assert_true(shd_rfdb_segment_text(&x->s[part], column, row, &text));
	return shd_rfdb_run_hash_text(x->run.seed, text);
}

static void expect_row(const sample *x, size_t part, uint64_t row)
{
	const shd_rfdb_segment *s = &x->s[part];
	uint64_t id = shd_rfdb_run_hash_id(x->run.seed, shd_rfdb_segment_id(s, row));
	if (s->kind == SHD_RFDB_NODES) {
		assert_int_equal(led_to(x, SHD_RFDB_RUN_IDS, id, part, row), 1);
		assert_int_equal(led_to(x, SHD_RFDB_RUN_NAMES, text_hash(x, part, SHD_RFDB_NAME, row), part, row), 1);
		assert_int_equal(led_to(x, SHD_RFDB_RUN_FILES, text_hash(x, part, SHD_RFDB_FILE, row), part, row), 1);
		return;
	}
	uint64_t dst = shd_rfdb_run_hash_id(x->run.seed, shd_rfdb_segment_dst(s, row));
	bool first = !row || shd_rfdb_segment_id(s, row) != shd_rfdb_segment_id(s, row - 1);
	assert_int_equal(led_to(x, SHD_RFDB_RUN_SOURCES, id, part, row), first);
	assert_int_equal(led_to(x, SHD_RFDB_RUN_DESTINATIONS, dst, part, row), 1);
}

TEST(a_run_leads_to_every_row_of_its_members)
{
	static const uint64_t sizes[][2] = {{1, 1}, {3, 100}, {900, 2000}};
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		sample *x = sample_of(sizes[i][0], sizes[i][1]);
		for (size_t part = 0; part < PARTS; part++)
			for (uint64_t row = 0; row < x->s[part].rows; row += 1 + row / 50)
				expect_row(x, part, row);
		sample_done(x);
	}
}

TEST(what_comes_out_does_not_depend_on_the_memory)
{
	sample *x = sample_of(1500, 700);
	for (uint64_t memory = 8; memory < 100000; memory *= 20) {
		SHD_AUTO_BUF again = {0};
		build(x, memory, &again);
		assert_int_equal(again.len, x->made.len);
		assert_memory_equal(again.data, x->made.data, again.len);
	}
	sample_done(x);
}

/* Ids of the samples are the same from the first on. */
TEST(it_knows_whether_an_id_is_in_two_members)
{
	sample *x = sample_of(40, 40);
	assert_false(x->run.unique[SHD_RFDB_NODES] || x->run.unique[SHD_RFDB_EDGES]);
	shd_rfdb_run_done(&x->run);
	x->made.len = 0;
	/* Each kind in one segment. */
	x->parts[1] = x->parts[2];
	uint8_t head[SHD_RFDB_RUN_HEAD];
	uint64_t size;
	const shd_rfdb_run_plan plan = {.parts = x->parts, .count = 2};
	assert_ok(shd_rfdb_run_build(&plan, append, &x->made, head, &size, err));
	memcpy(x->made.data, head, sizeof(head));
	assert_ok(shd_rfdb_run_open(x->made.data, x->made.len, &x->run, err));
	assert_true(x->run.unique[SHD_RFDB_NODES] && x->run.unique[SHD_RFDB_EDGES]);
	sample_done(x);
}

/* Is anything wrong with it that opening, fences and pages tell? */
static bool is_damaged(const sample *x)
{
	shd_rfdb_table_run r;
	if (shd_rfdb_run_open(x->made.data, x->made.len, &r, NULL) < 0)
		return true;
	bool damaged = false;
	for (shd_rfdb_run_table t = 0; t < SHD_RFDB_RUN_TABLES; t++) {
		uint32_t *fences = NULL;
		damaged = damaged || shd_rfdb_run_fences(&r, t, &fences, NULL) < 0;
		free(fences);
		for (uint64_t page = 0; page < r.tables[t].count; page++)
			damaged = damaged || !shd_rfdb_run_whole(&r, t, page);
	}
	shd_rfdb_run_done(&r);
	return damaged;
}

/* But for the zeros between members and pages, which mean nothing: verify compares all of it. */
TEST(every_flipped_bit_is_found)
{
	sample *x = sample_of(20, 30);
	size_t zeros = SHD_RFDB_RUN_HEAD + 64 * PARTS;
	assert_false(is_damaged(x));
	for (size_t i = 0; i < x->made.len; i += i < 400 ? 1 : 37) {
		if (i >= zeros && i < SHD_RFDB_RUN_PAGE)
			continue;
		uint8_t bit = (uint8_t)(1u << i % 8);
		x->made.data[i] ^= bit;
		assert_true(is_damaged(x));
		x->made.data[i] ^= bit;
	}
	for (size_t cut = 0; cut < x->made.len; cut += 1 + cut / 9) {
		shd_rfdb_table_run r;
		assert_true(shd_rfdb_run_open(x->made.data, cut, &r, NULL) < 0);
	}
	sample_done(x);
}

static void expect_refusal(sample *x, size_t at, uint8_t value, const char *reason)
{
	shd_rfdb_table_run r;
	sherd_error e = {0};
	uint8_t kept = x->made.data[at];
	x->made.data[at] = value;
	shd_put_u32(x->made.data + 72, shd_crc32(0, x->made.data + 128, 64 * (size_t)PARTS));
	shd_put_u32(x->made.data + 124, shd_crc32(0, x->made.data, 124));
	assert_true(shd_rfdb_run_open(x->made.data, x->made.len, &r, &e) < 0);
	assert_string_equal(e.reason, reason);
	x->made.data[at] = kept;
}

TEST(heads_that_say_nonsense_are_refused)
{
	sample *x = sample_of(20, 30);
	expect_refusal(x, 0, 'X', "bad-magic");
	expect_refusal(x, 8, 2, "bad-version");
	expect_refusal(x, 10, 4, "bad-head");
	expect_refusal(x, 90, 1, "bad-head");
	expect_refusal(x, 12, 3, "bad-crc"); /* members */
	expect_refusal(x, 15, 200, "truncated");
	expect_refusal(x, 33, 1, "bad-count");     /* entries by id */
	expect_refusal(x, 41, 200, "bad-count");   /* sources */
	expect_refusal(x, 17, 0xff, "bad-length"); /* size */
	expect_refusal(x, 128 + 24, 2, "bad-type");
	expect_refusal(x, 128 + 24, 1, "bad-type"); /* edges before nodes */
	expect_refusal(x, 128 + 16, 0, "bad-count");
	sample_done(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_leads_to_every_row_of_its_members),
		cmocka_unit_test(what_comes_out_does_not_depend_on_the_memory),
		cmocka_unit_test(it_knows_whether_an_id_is_in_two_members),
		cmocka_unit_test(every_flipped_bit_is_found),
		cmocka_unit_test(heads_that_say_nonsense_are_refused),
	};
	return cmocka_run_group_tests_name("unit/format/rfdb/run", tests, NULL, NULL);
}
