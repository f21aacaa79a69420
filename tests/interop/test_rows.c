/* A reader that was written from docs/formats/rows.md alone delivers the same batches, cursors and findings. */
#include "support/fixtures.h"
#include "support/command.h"
#include "support/rows_set.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/rng.h"
#include "codec/sha256.h"
#include "format/rows/shard.h"

#include <sherd/rows.h>
#include <sherd/verify.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *folder;
static sherd_store *store;

static int begin(void **state)
{
	(void)state;
	folder = scratch_make();
	return sherd_store_open_local(&store, folder, NULL, NULL);
}

static int end(void **state)
{
	(void)state;
	sherd_store_close(store);
	scratch_remove(folder);
	return 0;
}

/* What the other reader prints; *status is its exit status. */
static char *ask(const char *verb, const char *what, const char *options, int *status)
{
	char *command = NULL;
	assert_true(asprintf(&command, "python3 '%s/tests/interop/read_rows.py' %s '%s%s%s' %s", getenv("SHERD_SOURCE"),
	                     verb, folder, *what ? "/" : "", what, options) > 0);
	char *text = command_run(command, status);
	free(command);
	return text;
}

/* ---- streams */

/* sum += hash, as numbers of 256 bits */
static void add_hash(uint8_t sum[SHD_SHA256_BYTES], const uint8_t hash[SHD_SHA256_BYTES])
{
	unsigned carry = 0;
	for (size_t i = SHD_SHA256_BYTES; i-- > 0;) {
		carry += (unsigned)sum[i] + hash[i];
		sum[i] = (uint8_t)carry;
		carry >>= 8;
	}
}

typedef struct digests {
	shd_sha256 stream;
	uint8_t set[SHD_SHA256_BYTES];
} digests;

static void put_hex(shd_buf *out, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		shd_buf_printf(out, "%02x", ((const uint8_t *)data)[i]);
}

static void put_batch(shd_buf *out, const sherd_rows_batch *b, digests *d)
{
	size_t row_bytes = (size_t)b->width * sizeof(double);
	shd_buf_printf(out, "%" PRIu64 " %s ", b->number, b->padding ? "pad" : "-");
	for (size_t i = 0; i < b->rows; i++) {
		uint64_t id = b->ids ? b->ids[i] : b->first_id + i;
		uint8_t raw[8], hash[SHD_SHA256_BYTES];
		shd_sha256 one;
		shd_buf_printf(out, "%s%" PRIu64, i ? "," : "", id);
		shd_put_u64(raw, id);
		shd_sha256_init(&one);
		shd_sha256_add(&one, raw, sizeof(raw));
		shd_sha256_add(&one, (const uint8_t *)b->data + i * row_bytes, row_bytes);
		shd_sha256_finish(&one, hash);
		add_hash(d->set, hash);
	}
	shd_buf_str(out, " ");
	put_hex(out, b->data, b->rows * row_bytes);
	shd_buf_str(out, "\n");
	shd_sha256_add(&d->stream, b->data, b->rows * row_bytes);
}

/* The same text as the other reader's, by the library. */
static char *stream_text(const sherd_rows *set, const sherd_rows_stream_options *options)
{
	SHD_AUTO_BUF out = {0};
	sherd_rows_cursor *cursor;
	sherd_rows_batch batch;
	sherd_error e;
	digests d = {0};
	uint8_t hash[SHD_SHA256_BYTES];
	int rc;
	shd_sha256_init(&d.stream);
	assert_ok(sherd_rows_cursor_open(&cursor, set, options, err));
	while ((rc = sherd_rows_next(&batch, cursor, &e)) > 0) {
		char text[SHERD_ROWS_CURSOR_TEXT];
		put_batch(&out, &batch, &d);
		assert_ok(sherd_rows_tell(text, cursor, err));
		shd_buf_printf(&out, "cursor %s\n", text);
	}
	assert_int_equal(rc, 0);
	sherd_rows_cursor_close(cursor);
	shd_sha256_finish(&d.stream, hash);
	shd_buf_str(&out, "digest ");
	put_hex(&out, hash, sizeof(hash));
	shd_buf_str(&out, "\nset-digest ");
	put_hex(&out, d.set, sizeof(d.set));
	shd_buf_str(&out, "\n");
	return shd_buf_take(&out);
}

/* Options of a stream, and the same as arguments. */
typedef struct wish {
	sherd_rows_stream_options stream;
	char arguments[1024];
} wish;

static void wish_argument(wish *w, const char *key, uint64_t value)
{
	size_t at = strlen(w->arguments);
	(void)snprintf(w->arguments + at, sizeof(w->arguments) - at, " %s=%" PRIu64, key, value);
}

static wish random_wish(uint64_t *seed, uint64_t total)
{
	static const char *const tails[] = {"keep", "drop", "pad"};
	wish w = {0};
	sherd_rows_stream_options *s = &w.stream;
#define RANDOM(n) (shd_splitmix64((*seed)++) % (n))
	wish_argument(&w, "batch", s->batch_rows = 1 + RANDOM(9));
	wish_argument(&w, "world", s->world = (uint32_t)(1 + RANDOM(4)));
	wish_argument(&w, "rank", s->rank = (uint32_t)RANDOM(s->world));
	s->tail = (sherd_rows_tail)RANDOM(3);
	(void)snprintf(w.arguments + strlen(w.arguments), 32, " tail=%s", tails[s->tail]);
	if (RANDOM(2))
		wish_argument(&w, "from", s->from = RANDOM(total + 1));
	s->shuffle = RANDOM(2);
	if (s->shuffle) {
		wish_argument(&w, "shuffle", s->seed = shd_splitmix64((*seed)++));
		wish_argument(&w, "window", s->shuffle_window = RANDOM(3) ? RANDOM(total + 5) : 0);
	}
	if (RANDOM(2))
		wish_argument(&w, "epoch", s->epoch = RANDOM(2) ? RANDOM(3) : shd_splitmix64((*seed)++));
	s->sample = RANDOM(3) == 0;
	if (s->sample) {
		s->fraction = (double)RANDOM(12) / 10;
		(void)snprintf(w.arguments + strlen(w.arguments), 64, " sample=%.17g", s->fraction);
	}
#undef RANDOM
	return w;
}

static void assert_same_stream(const sherd_rows *set, const char *where, const wish *w)
{
	int status;
	char *ours = stream_text(set, &w->stream), *theirs = ask("stream", where, w->arguments, &status);
	assert_non_null(ours);
	assert_non_null(theirs);
	if (status != 0 || strcmp(ours, theirs) != 0)
		fail_msg("%s:\n--- ours\n%s--- theirs, status %d\n%s", w->arguments, ours, status, theirs);
	free(ours);
	free(theirs);
}

/* 40 rows of width 2 in shards of 7, 0, 1, 20 and 12. */
static void write_set(const char *where)
{
	static const uint64_t sizes[] = {7, 0, 1, 20, 12};
	double values[40] = {0};
	uint64_t row = 0;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		char key[64];
		for (size_t k = 0; k < 2 * sizes[i]; k++)
			values[k] = (double)(row * 2 + k) / 3;
		(void)snprintf(key, sizeof(key), "%s/%zu.shard", where, i);
		assert_ok(sherd_rows_write_shard(store, key, values, sizes[i], 2, NULL, NULL, err));
		row += sizes[i];
	}
}

TEST(streams_are_the_same_batch_by_batch)
{
	sherd_rows *set;
	uint64_t seed = 20260109;
	write_set("s");
	assert_ok(sherd_rows_open_folder(&set, store, "s", NULL, err));
	for (int i = 0; i < 24; i++) {
		wish w = random_wish(&seed, 40);
		assert_same_stream(set, "s", &w);
	}
	assert_same_stream(set, "s", &(wish){0});
	sherd_rows_close(set);
}

/* The other reader takes the last of two arguments with one key, and epoch and beginning from the cursor. */
static void wish_resume(wish *w, const char *text, const wish *other)
{
	static const char *const tails[] = {"keep", "drop", "pad"};
	w->stream.rank = other->stream.rank;
	w->stream.world = other->stream.world;
	w->stream.tail = other->stream.tail;
	w->stream.from = w->stream.epoch = 0;
	w->stream.resume = text;
	wish_argument(w, "rank", w->stream.rank);
	wish_argument(w, "world", w->stream.world);
	size_t at = strlen(w->arguments);
	(void)snprintf(w->arguments + at, sizeof(w->arguments) - at, " tail=%s resume=%s", tails[w->stream.tail], text);
}

/* Streams with all sorts of options stop after a round, and any rank of another world goes on, with any tail. */
TEST(cursors_of_all_sorts_go_on_in_other_worlds)
{
	sherd_rows *set;
	uint64_t seed = 20261116;
	write_set("s");
	assert_ok(sherd_rows_open_folder(&set, store, "s", NULL, err));
	for (int i = 0; i < 8; i++) {
		sherd_rows_cursor *cursor;
		char text[SHERD_ROWS_CURSOR_TEXT];
		wish w = random_wish(&seed, 40), other = random_wish(&seed, 40);
		assert_ok(sherd_rows_cursor_open(&cursor, set, &w.stream, err));
		assert_true(sherd_rows_next(&(sherd_rows_batch){0}, cursor, NULL) >= 0);
		assert_ok(sherd_rows_tell(text, cursor, err));
		sherd_rows_cursor_close(cursor);
		wish_resume(&w, text, &other);
		assert_same_stream(set, "s", &w);
	}
	sherd_rows_close(set);
}

/* Both know the set by its lineage, and finish the epoch with the rows that it began with. */
TEST(cursors_go_on_over_a_set_that_has_grown)
{
	static const uint64_t sizes[] = {9, 0, 14, 7, 5};
	uint64_t seed = 4242;
	for (int i = 0; i < 8; i++) {
		sherd_rows *set;
		sherd_rows_cursor *cursor;
		char text[SHERD_ROWS_CURSOR_TEXT];
		wish w = random_wish(&seed, 23), other = random_wish(&seed, 23);
		rows_set_make_listed(store, "g", i % 2 ? SHERD_F16 : SHERD_F32, 2, sizes, 3, 2);
		assert_ok(sherd_rows_open_folder(&set, store, "g", NULL, err));
		assert_ok(sherd_rows_cursor_open(&cursor, set, &w.stream, err));
		assert_true(sherd_rows_next(&(sherd_rows_batch){0}, cursor, NULL) >= 0);
		assert_ok(sherd_rows_tell(text, cursor, err));
		sherd_rows_cursor_close(cursor);
		sherd_rows_close(set);
		rows_set_make_listed(store, "g", i % 2 ? SHERD_F16 : SHERD_F32, 2, sizes, COUNT_OF(sizes), 2);
		assert_ok(sherd_rows_open_folder(&set, store, "g", NULL, err));
		wish_resume(&w, text, &other);
		assert_same_stream(set, "g", &w);
		sherd_rows_close(set);
		assert_ok(sherd_store_remove(store, "g/rows.manifest.json", err));
	}
}

TEST(a_cursor_goes_on_in_another_world)
{
	sherd_rows *set;
	sherd_rows_cursor *cursor;
	sherd_rows_batch batch;
	char text[SHERD_ROWS_CURSOR_TEXT];
	write_set("s");
	assert_ok(sherd_rows_open_folder(&set, store, "s", NULL, err));
	const sherd_rows_stream_options two = {.batch_rows = 3, .world = 2, .rank = 1, .shuffle = true, .seed = 9};
	assert_ok(sherd_rows_cursor_open(&cursor, set, &two, err));
	for (int i = 0; i < 3; i++)
		assert_ok(sherd_rows_next(&batch, cursor, err));
	assert_ok(sherd_rows_tell(text, cursor, err));
	sherd_rows_cursor_close(cursor);
	wish w = {.stream = {.world = 3, .rank = 2, .shuffle = true, .seed = 9, .resume = text}};
	(void)snprintf(w.arguments, sizeof(w.arguments), "world=3 rank=2 shuffle=9 resume=%s", text);
	assert_same_stream(set, "s", &w);
	sherd_rows_close(set);
}

/* ---- findings */

static int feed_rows(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	(void)arg, (void)err;
	for (size_t i = 0; i < 2 * count; i++)
		out[i] = (float)(2 * first + i);
	return SHERD_OK;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_line(char **lines, size_t *count, const char *kind, const sherd_error *e)
{
	const char *slash = strrchr(e->object, '/');
	assert_true(*count < 32);
	assert_true(asprintf(&lines[(*count)++], "%s %s %s\n", kind, e->reason, slash ? slash + 1 : e->object) > 0);
}

static void assert_same_findings(const char *key, const char *must_have)
{
	SHD_AUTO_BUF out = {0};
	char *lines[32], *ours, *theirs;
	size_t count = 0;
	sherd_report *r;
	int status;
	assert_ok(sherd_verify(&r, store, key, NULL, err));
	for (size_t i = 0; i < sherd_report_errors(r); i++)
		add_line(lines, &count, "error", sherd_report_error(r, i));
	for (size_t i = 0; i < sherd_report_warnings(r); i++)
		add_line(lines, &count, "warning", sherd_report_warning(r, i));
	sherd_report_close(r);
	if (count)
		qsort(lines, count, sizeof(lines[0]), by_text);
	for (size_t i = 0; i < count; i++) {
		shd_buf_str(&out, lines[i]);
		free(lines[i]);
	}
	ours = shd_buf_take(&out);
	theirs = ask("check", key, "", &status);
	assert_int_equal(status, 0);
	assert_string_equal(ours, theirs);
	if (!strstr(ours, must_have))
		fail_msg("%s: nothing of %s in:\n%s", key, must_have, ours);
	free(ours);
	free(theirs);
}

static void put(const char *key, const void *data, size_t len)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
}

static void change(const char *key, size_t offset)
{
	char *data;
	size_t len;
	assert_ok(sherd_store_get(&data, &len, store, key, 1 << 20, err));
	data[offset] = (char)(data[offset] ^ 1);
	put(key, data, len);
	sherd_free(data);
}

TEST(a_packed_set_and_its_damage_are_judged_alike)
{
	const sherd_rows_pack_options options = {.rows_per_shard = 3};
	assert_ok(sherd_rows_pack(store, "p", 10, 2, feed_rows, NULL, &options, err));
	assert_same_findings("p", "");
	change("p/part-00001.shard", 33);
	assert_same_findings("p", "bad-crc");
	change("p/part-00002.shard", 29);
	assert_same_findings("p", "reserved");
	assert_same_findings("p", "bad-checksum");
	change("p/part-00000.shard", 8);
	assert_same_findings("p", "bad-count");
	put("p/rows.packing", "", 0);
	put("p/other.shard", "RAHS", 4);
	assert_same_findings("p", "left-out");
	assert_ok(sherd_rows_write_shard(store, "p/stray.shard", (const double[]){1}, 1, 1, NULL, NULL, err));
	assert_ok(sherd_store_remove(store, "p/part-00003.shard", err));
	assert_same_findings("p", "missing-shard");
	assert_same_findings("p", "stray-shard");
	change("p/rows.manifest.json", 20);
	assert_same_findings("p", "bad-seal");
	assert_ok(sherd_store_remove(store, "p/rows.manifest.json", err));
	assert_same_findings("p", "incomplete");
	assert_ok(sherd_store_remove(store, "p/rows.packing", err));
	assert_same_findings("p", "no-manifest");
}

/* Written, appended to, damaged: in every type that is stored. */
TEST(sets_of_every_type_are_read_and_judged_alike)
{
	static const sherd_dtype dtypes[] = {SHERD_F32, SHERD_F16, SHERD_BF16};
	static const char *const suffixes[] = {"shard", "f16", "bf16"};
	double values[10];
	for (size_t i = 0; i < 10; i++)
		values[i] = (double)i / 3 - 1;
	for (size_t i = 0; i < COUNT_OF(dtypes); i++) {
		sherd_rows_writer_options options = {.dtype = dtypes[i], .rows_per_shard = 2};
		char where[8], part[32];
		sherd_rows_writer *w;
		sherd_rows *set;
		(void)snprintf(where, sizeof(where), "t%zu", i);
		(void)snprintf(part, sizeof(part), "%s/part-00001.%s", where, suffixes[i]);
		assert_ok(sherd_rows_writer_open(&w, store, where, 2, &options, err));
		assert_ok(sherd_rows_writer_append(w, SHERD_F64, values, 3, err));
		assert_ok(sherd_rows_writer_commit(w, err));
		options.append = true;
		assert_ok(sherd_rows_writer_open(&w, store, where, 2, &options, err));
		assert_ok(sherd_rows_writer_append(w, SHERD_F64, values + 6, 2, err));
		assert_ok(sherd_rows_writer_commit(w, err));
		assert_ok(sherd_rows_open_folder(&set, store, where, NULL, err));
		assert_same_stream(set, where, &(wish){.stream.batch_rows = 2, .arguments = "batch=2"});
		sherd_rows_close(set);
		assert_same_findings(where, "");
		change(part, dtypes[i] == SHERD_F32 ? 33 : 1);
		assert_same_findings(where, "bad-crc");
		put(part, "x", 1);
		assert_same_findings(where, "truncated");
		assert_ok(sherd_store_remove(store, part, err));
		assert_same_findings(where, "missing-shard");
	}
}

TEST(shards_of_the_corpus_are_judged_alike)
{
	static const char *const names[] = {
		"n_31_bytes",   "n_dtype_1",    "n_head_added_wraps", "n_magic_case", "n_one_byte_short", "n_width_0",
		"n_width_huge", "y_golden_3x3", "y_reserved",         "y_trailing",   "y_zero_rows",
	};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char path[512], block[256];
		(void)snprintf(path, sizeof(path), "%s/tests/corpus/rows_shard/%s.shard", getenv("SHERD_SOURCE"),
		               names[i]);
		FILE *file = fopen(path, "rb");
		assert_non_null(file);
		size_t len = fread(block, 1, sizeof(block), file);
		(void)fclose(file);
		/* Beside a good one, so that a folder of rows is what it is. */
		put("c/a.shard", block, len);
		assert_ok(sherd_store_remove(store, "c/b.shard", err));
		assert_ok(sherd_rows_write_shard(store, "c/b.shard", (const double[]){1, 2, 3}, 1, 3, NULL, NULL, err));
		assert_same_findings("c", "no-manifest");
	}
}

TEST(the_fixtures_are_read_alike)
{
	(void)fixtures_folder();
	char path[512];
	sherd_store *foreign;
	sherd_rows *set;
	(void)snprintf(path, sizeof(path), "%s/rows/set", fixtures_folder());
	assert_ok(sherd_store_open_local(&foreign, path, NULL, err));
	assert_ok(sherd_rows_open_folder(&set, foreign, "", NULL, err));
	assert_int_equal(sherd_rows_total(set), 1036);
	char *own = folder;
	folder = path;
	assert_same_stream(set, "", &(wish){0});
	wish w = {.stream = {.batch_rows = 100, .shuffle = true, .seed = 3}, .arguments = "batch=100 shuffle=3"};
	assert_same_stream(set, "", &w);
	folder = own;
	char *text = stream_text(set, NULL);
	/* sha256_of_all_rows_as_le_f64 of set.expected.json */
	assert_non_null(strstr(text, "digest eb341d6a32fcf556b324cd9796018ca8c49685c41d39c3b22e33a23054bb6a30\n"));
	free(text);
	sherd_rows_close(set);
	sherd_store_close(foreign);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(streams_are_the_same_batch_by_batch),          CASE(cursors_of_all_sorts_go_on_in_other_worlds),
		CASE(cursors_go_on_over_a_set_that_has_grown),      CASE(a_cursor_goes_on_in_another_world),
		CASE(a_packed_set_and_its_damage_are_judged_alike), CASE(sets_of_every_type_are_read_and_judged_alike),
		CASE(shards_of_the_corpus_are_judged_alike),        CASE(the_fixtures_are_read_alike),
	};
	return cmocka_run_group_tests_name("interop/rows", tests, NULL, NULL);
}
