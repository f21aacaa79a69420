/* Folders of torch.distributed.checkpoint: what metadata may say, and what is written. Chunks are read in cli/convert
 * (dcp). */
#include "support/corpus.h"
#include "support/memory_store.h"
#include "support/source_file.h"
#include "support/test.h"

#include "format/dcp/metadata.h"

#include <sherd/bundle.h>
#include <sherd/convert.h>
#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0}, temporary = {0};
	shd_dcp_metadata m;
	return shd_dcp_metadata_decode(data, len, NULL, &arena, &temporary, &m, err);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/dcp", decode, 6, 10, 0);
}

static sherd_bundle *open_corpus(const char *path)
{
	size_t len;
	sherd_bundle *b;
	SHD_AUTO_FREE uint8_t *data = source_file_read(path, &len);
	assert_ok(sherd_store_put(store, "c.pt", SHERD_WRITE_REPLACE, data, len, err));
	assert_ok(sherd_bundle_open(&b, store, "c.pt", NULL, err));
	return b;
}

/* All values and pairs of a file go there and back, in one file or several, also over another one. */
TEST(what_is_written_is_the_same)
{
	static const uint32_t shards[] = {1, 3, 100};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) from = open_corpus("tests/corpus/torch/y_checkpoint.pt");
	for (size_t k = 0; k < COUNT_OF(shards); k++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
		const sherd_convert_options o = {.replace = k > 0, .shards = shards[k]};
		const sherd_pair *x, *y;
		assert_ok(sherd_convert(from, store, "d/run", SHERD_FORMAT_DCP, &o, err));
		assert_ok(sherd_bundle_open(&b, store, k ? "d/run/.metadata" : "d/run", NULL, err));
		assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_DCP);
		assert_int_equal(sherd_bundle_count(b), sherd_bundle_count(from));
		for (size_t i = 0; i < sherd_bundle_count(b); i++) {
			const sherd_tensor *t = sherd_bundle_tensor(b, i), *u = sherd_bundle_tensor(from, i);
			uint8_t one[256], two[256];
			assert_string_equal(t->name, u->name);
			assert_int_equal(t->bytes, u->bytes);
			assert_ok(sherd_bundle_read(b, i, 0, one, (size_t)t->bytes, err));
			for (size_t at = 0; at < t->bytes; at++)
				assert_ok(sherd_bundle_read(from, i, at, two + at, 1, err));
			assert_memory_equal(one, two, (size_t)t->bytes);
		}
		assert_int_equal(sherd_bundle_pairs(&x, from), sherd_bundle_pairs(&y, b));
		for (size_t i = 0; i < sherd_bundle_pairs(&x, from); i++) {
			assert_string_equal(x[i].key, y[i].key);
			assert_string_equal(x[i].value, y[i].value);
		}
		assert_ok(sherd_verify(&r, store, "d/run", NULL, err));
		assert_int_equal(sherd_report_errors(r), 0);
		assert_int_equal(sherd_report_warnings(r), 1); /* .metadata has no checksum */
	}
	assert_refused(SHERD_EEXIST, "exists", sherd_convert(from, store, "d/run", SHERD_FORMAT_DCP, NULL, err));
}

static bool find_file(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	if (strstr(key, ".distcp"))
		memcpy(arg, key, strlen(key) + 1);
	return true;
}

/* A bit of an item's archive: nothing of it is handed out, and verify tells the file. */
TEST(no_byte_of_a_damaged_chunk_is_handed_out)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) from = open_corpus("tests/corpus/torch/y_single.pt");
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	char file[SHERD_MAX_KEY + 1];
	SHD_AUTO_FREE char *raw = NULL;
	size_t len;
	uint8_t one;
	assert_ok(sherd_convert(from, store, "x", SHERD_FORMAT_DCP, NULL, err));
	assert_ok(sherd_store_list(store, "x/", "", find_file, file, err));
	assert_ok(sherd_store_get(&raw, &len, store, file, UINT64_MAX, err));
	char *at = memmem(raw, len, "\0\0\x80\x3f\0\0\0\x40", 8);
	assert_non_null(at);
	at[3] = (char)(at[3] ^ 1);
	assert_ok(sherd_store_put(store, file, SHERD_WRITE_REPLACE, raw, len, err));
	assert_ok(sherd_bundle_open(&b, store, "x", NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_bundle_read(b, 0, 0, &one, 1, err));
	assert_ok(sherd_verify(&r, store, "x", NULL, err));
	assert_int_equal(sherd_report_errors(r), 1);
}

/* The bytes that docs/formats/dcp.md shows are in what is written. */
TEST(the_example_of_the_document_is_what_is_written)
{
	static const uint64_t shape[] = {2};
	static const uint8_t bytes[] = {1, 2};
	const sherd_tensor t = {.name = "a", .dtype = SHERD_U8, .ndim = 1, .shape = shape, .bytes = 2};
	const void *const data[] = {bytes};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) from = NULL;
	SHD_AUTO_FREE char *raw = NULL;
	size_t len, wanted_len;
	SHD_AUTO_FREE uint8_t *wanted = source_hex_block("docs/formats/dcp.md", &wanted_len);
	assert_ok(sherd_bundle_make(&from, &(sherd_bundle_parts){.tensors = &t, .data = data, .count = 1}, err));
	assert_ok(sherd_convert(from, store, "w", SHERD_FORMAT_DCP, NULL, err));
	assert_ok(sherd_store_get(&raw, &len, store, "w/.metadata", UINT64_MAX, err));
	assert_non_null(memmem(raw, len, wanted, wanted_len));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_corpus_is_judged_as_its_names_say),
		CASE(what_is_written_is_the_same),
		CASE(no_byte_of_a_damaged_chunk_is_handed_out),
		CASE(the_example_of_the_document_is_what_is_written),
	};
	return cmocka_run_group_tests_name("dcp", tests, NULL, NULL);
}
