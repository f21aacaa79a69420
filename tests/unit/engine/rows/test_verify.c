/* Every kind of damage that a set of rows can have is found and named. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"
#include "format/rows/shard.h"

#include <sherd/rows.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int feed_rows(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	(void)arg, (void)err;
	for (size_t i = 0; i < 3 * count; i++)
		out[i] = (float)(first * 3 + i);
	return SHERD_OK;
}

/* d: three shards of 4, 4 and 2 rows. */
static int fill_store(void **state)
{
	TRY(memory_store_open(state));
	const sherd_rows_pack_options options = {.rows_per_shard = 4};
	return sherd_rows_pack(store, "d", 10, 3, feed_rows, NULL, &options, NULL);
}

static void put(const char *key, const void *data, size_t len)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
}

static void put_shard(const char *key, uint64_t rows, uint64_t width, size_t payload)
{
	uint8_t *raw = calloc(1, SHD_ROWS_HEAD_SIZE + payload);
	assert_non_null(raw);
	shd_rows_head_encode(rows, width, raw);
	put(key, raw, SHD_ROWS_HEAD_SIZE + payload);
	free(raw);
}

static void change(const char *key, size_t offset, uint8_t bits)
{
	char *data;
	size_t len;
	assert_ok(sherd_store_get(&data, &len, store, key, 1 << 20, err));
	data[offset] = (char)(data[offset] ^ bits);
	put(key, data, len);
	sherd_free(data);
}

static void cut(const char *key, size_t by)
{
	char *data;
	size_t len;
	assert_ok(sherd_store_get(&data, &len, store, key, 1 << 20, err));
	put(key, data, len - by);
	sherd_free(data);
}

/* The findings as "word@object": errors, then "|", then warnings. */
static void assert_findings(const char *key, const sherd_verify_options *options, const char *want)
{
	sherd_report *r;
	SHD_AUTO_BUF text = {0};
	assert_ok(sherd_verify(&r, store, key, options, err));
	for (size_t i = 0; i < sherd_report_errors(r); i++) {
		const sherd_error *e = sherd_report_error(r, i);
		assert_true(e->code < 0 && e->message[0]);
		shd_buf_printf(&text, "%s@%s ", e->reason, e->object);
	}
	shd_buf_str(&text, "|");
	for (size_t i = 0; i < sherd_report_warnings(r); i++)
		shd_buf_printf(&text, " %s@%s", sherd_report_warning(r, i)->reason, sherd_report_warning(r, i)->object);
	sherd_report_close(r);
	shd_buf_u8(&text, 0);
	assert_ok(shd_buf_check(&text, err));
	assert_string_equal((const char *)text.data, want);
}

static const sherd_verify_options quick = {.quick = true};

TEST(a_packed_set_is_good_and_all_of_it_is_read)
{
	sherd_report *r;
	sherd_stat manifest;
	assert_findings("d", NULL, "|");
	assert_ok(sherd_store_stat(&manifest, store, "d/rows.manifest.json", err));
	assert_ok(sherd_verify(&r, store, "d", NULL, err));
	assert_int_equal(sherd_report_checked_bytes(r), manifest.size + 96 + 120);
	sherd_report_close(r);
	assert_ok(sherd_verify(&r, store, "d", &quick, err));
	assert_int_equal(sherd_report_checked_bytes(r), manifest.size + 96);
	sherd_report_close(r);
}

TEST(one_flipped_bit_anywhere_in_a_shard_is_found)
{
	for (size_t at = 0; at < 32 + 24; at++) {
		sherd_report *r;
		change("d/part-00002.shard", at, 0x10);
		assert_ok(sherd_verify(&r, store, "d", NULL, err));
		bool hashed = false;
		for (size_t i = 0; i < sherd_report_errors(r); i++) {
			assert_string_equal(sherd_report_error(r, i)->object, "d/part-00002.shard");
			hashed |= strcmp(sherd_report_error(r, i)->reason, at < 32 ? "bad-checksum" : "bad-crc") == 0;
		}
		assert_true(hashed);
		sherd_report_close(r);
		change("d/part-00002.shard", at, 0x10);
	}
	assert_findings("d", NULL, "|");
}

TEST(a_quick_look_does_not_hash)
{
	change("d/part-00001.shard", 40, 1);
	assert_findings("d", &quick, "|");
	assert_findings("d", NULL, "bad-crc@d/part-00001.shard |");
}

TEST(a_missing_shard_is_an_error_and_one_too_many_a_warning)
{
	assert_ok(sherd_store_remove(store, "d/part-00001.shard", err));
	put_shard("d/extra.shard", 1, 3, 12);
	put("d/sub/x.shard", "x", 1);
	put("d/notes.txt", "x", 1);
	assert_findings("d", NULL, "missing-shard@d/part-00001.shard | stray-shard@d/extra.shard");
}

TEST(a_shard_of_another_size_is_an_error)
{
	cut("d/part-00001.shard", 4);
	assert_findings("d", &quick, "truncated@d/part-00001.shard |");
	put_shard("d/part-00001.shard", 4, 3, 48 + 5);
	assert_findings("d", &quick, "size-mismatch@d/part-00001.shard | trailing-bytes@d/part-00001.shard");
	put_shard("d/part-00001.shard", 3, 4, 48);
	assert_findings("d", &quick, "bad-count@d/part-00001.shard width-mismatch@d/part-00001.shard |");
}

TEST(a_damaged_manifest_does_not_hide_damaged_shards)
{
	change("d/rows.manifest.json", 30, 1);
	change("d/part-00000.shard", 0, 1);
	assert_findings("d", NULL, "bad-seal@d/rows.manifest.json bad-magic@d/part-00000.shard |");
}

TEST(a_set_without_manifest_is_good_with_a_warning)
{
	assert_ok(sherd_store_remove(store, "d/rows.manifest.json", err));
	assert_findings("d", NULL, "| no-manifest@d/rows.manifest.json");
	put_shard("d/z.shard", 1, 5, 20);
	put_shard("d/zz.shard", 0, 3, 0);
	put("d/zzz_shard_0.shard", "RAHS....", 8);
	assert_findings("d", NULL,
	                "width-mismatch@d/z.shard | no-manifest@d/rows.manifest.json left-out@d/zzz_shard_0.shard");
}

TEST(what_a_reader_tolerates_is_a_warning)
{
	put_shard("e/a.shard", 2, 3, 25);
	change("e/a.shard", 29, 1);
	assert_findings("e", NULL, "| no-manifest@e/rows.manifest.json reserved@e/a.shard trailing-bytes@e/a.shard");
	assert_findings("e/a.shard", NULL, "| reserved@e/a.shard trailing-bytes@e/a.shard no-checksum@e/a.shard");
}

TEST(every_refusal_of_a_reader_is_an_error)
{
	put_shard("e/a.shard", 2, 3, 24);
	put("e/b.shard", "plain text that is no shard of anything", 39);
	put_shard("e/c.shard", 2, 3, 24);
	change("e/c.shard", 24, 2);
	put_shard("e/d.shard", 2, 0, 24);
	put_shard("e/e.shard", UINT64_MAX, 3, 24);
	put("e/f.shard", "", 0);
	assert_findings("e", NULL,
	                "bad-magic@e/b.shard bad-dtype@e/c.shard bad-width@e/d.shard truncated@e/e.shard "
	                "truncated@e/f.shard | no-manifest@e/rows.manifest.json");
}

TEST(a_set_without_rows_is_an_error)
{
	put_shard("e/a.shard", 0, 3, 0);
	assert_findings("e", NULL, "empty@e | no-manifest@e/rows.manifest.json");
	put_shard("a.shard", 0, 3, 0);
	assert_findings("", NULL, "empty@. | no-manifest@rows.manifest.json");
}

TEST(a_set_that_is_being_packed_is_incomplete_until_its_manifest_is_there)
{
	put("e/rows.packing", "", 0);
	assert_findings("e", NULL, "incomplete@e/rows.packing |");
	put_shard("e/part-00000.shard", 2, 3, 23);
	assert_findings("e", NULL, "incomplete@e/rows.packing truncated@e/part-00000.shard |");
	put("d/rows.packing", "", 0);
	assert_findings("d", NULL, "| claimed@d/rows.packing");
}

TEST(one_shard_can_be_verified_alone)
{
	assert_findings("d/part-00000.shard", NULL, "| no-checksum@d/part-00000.shard");
	cut("d/part-00000.shard", 1);
	assert_findings("d/part-00000.shard", NULL, "truncated@d/part-00000.shard | no-checksum@d/part-00000.shard");
}

TEST(limits_are_kept)
{
	const sherd_limits limits = {.shards = 2};
	assert_findings("d", &(sherd_verify_options){.limits = &limits}, "too-many-shards@d |");
}

TEST(the_number_of_workers_changes_nothing)
{
	sherd_pool *pool;
	change("d/part-00000.shard", 50, 1);
	change("d/part-00001.shard", 50, 1);
	change("d/part-00002.shard", 50, 1);
	assert_ok(sherd_pool_open(&pool, 4, err));
	for (int i = 0; i < 20; i++)
		assert_findings("d", &(sherd_verify_options){.pool = pool},
		                "bad-crc@d/part-00000.shard bad-crc@d/part-00001.shard "
		                "bad-crc@d/part-00002.shard |");
	sherd_pool_close(pool);
}

typedef struct watcher {
	uint64_t done, total;
	bool stop;
} watcher;

static bool watch(void *arg, uint64_t done, uint64_t total)
{
	watcher *w = arg;
	w->done = done;
	w->total = total;
	return !w->stop;
}

TEST(progress_counts_to_the_end_and_can_cancel)
{
	watcher w = {0};
	const sherd_progress progress = {watch, &w};
	const sherd_verify_options options = {.progress = &progress};
	assert_findings("d", &options, "|");
	assert_int_equal(w.done, 3 * 32 + 120);
	assert_int_equal(w.total, w.done);
	w.stop = true;
	sherd_report *r;
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_verify(&r, store, "d", &options, err));
}

static const char residual[] =
	"{\"format\":\"residual_shard_bf16\",\"format_version\":1,\"dtype\":\"bfloat16\",\"byte_order\":\"little\","
	"\"d_model\":1,\"total_tokens\":3,\"shards\":[{\"file\":\"b.bf16\",\"rows\":2,\"bytes\":4},"
	"{\"file\":\"a.bf16\",\"rows\":1,\"bytes\":2}]}";

TEST(a_foreign_folder_is_checked_by_names_and_sizes)
{
	put("r/manifest.json", residual, strlen(residual));
	put("r/a.bf16", "..", 2);
	put("r/b.bf16", "....", 4);
	assert_findings("r", NULL, "| no-checksum@r");
	put("r/c.bf16", "..", 2);
	put("r/b.bf16", "...", 3);
	put("r/a.bf16", "...", 3);
	assert_findings("r", NULL, "truncated@r/b.bf16 size-mismatch@r/a.bf16 | stray-shard@r/c.bf16 no-checksum@r");
	assert_ok(sherd_store_remove(store, "r/b.bf16", err));
	put("r/a.bf16", "..", 2);
	assert_findings("r", NULL, "missing-shard@r/b.bf16 | stray-shard@r/c.bf16 no-checksum@r");
	put("r/manifest.json", residual, strlen(residual) - 1);
	assert_findings("r", NULL, "truncated@r/manifest.json | no-checksum@r");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fill_store, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_packed_set_is_good_and_all_of_it_is_read),
		CASE(one_flipped_bit_anywhere_in_a_shard_is_found),
		CASE(a_quick_look_does_not_hash),
		CASE(a_missing_shard_is_an_error_and_one_too_many_a_warning),
		CASE(a_shard_of_another_size_is_an_error),
		CASE(a_damaged_manifest_does_not_hide_damaged_shards),
		CASE(a_set_without_manifest_is_good_with_a_warning),
		CASE(what_a_reader_tolerates_is_a_warning),
		CASE(every_refusal_of_a_reader_is_an_error),
		CASE(a_set_without_rows_is_an_error),
		CASE(a_set_that_is_being_packed_is_incomplete_until_its_manifest_is_there),
		CASE(one_shard_can_be_verified_alone),
		CASE(limits_are_kept),
		CASE(the_number_of_workers_changes_nothing),
		CASE(progress_counts_to_the_end_and_can_cancel),
		CASE(a_foreign_folder_is_checked_by_names_and_sizes),
	};
	return cmocka_run_group_tests_name("rows_verify", tests, NULL, NULL);
}
