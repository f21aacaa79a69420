/* Fault: every allocation fails once while files of torch are opened and read; and hostile pickles take no more memory
 * than their bytes justify. */
#include "support/fail_malloc.h"
#include "support/memory_store.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/dcp/metadata.h"
#include "format/pickle/pickle.h"
#include "format/torch/state.h"

#include <sherd/bundle.h>
#include <sherd/convert.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

static int open_and_read(sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(sherd_bundle_open(&b, store, "x.pt", NULL, err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		uint8_t buf[1024];
		TRY(sherd_bundle_read(b, i, 0, buf, (size_t)sherd_bundle_tensor(b, i)->bytes, err));
	}
	return SHERD_OK;
}

/* After a failure nothing is there. */
static int write_again(sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_stat stat;
	const sherd_convert_options o = {.replace = true};
	TRY(sherd_bundle_open(&b, store, "x.pt", NULL, err));
	int rc = sherd_convert(b, store, "w.pt", SHERD_FORMAT_TORCH, &o, err);
	if (rc < 0)
		assert_int_equal(sherd_store_stat(&stat, store, "w.pt", NULL), SHERD_ENOTFOUND);
	return rc;
}

static int write_folder(sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) made = NULL;
	const sherd_convert_options o = {.replace = true, .shards = 2};
	uint8_t one;
	TRY(sherd_bundle_open(&b, store, "x.pt", NULL, err));
	TRY(sherd_convert(b, store, "f", SHERD_FORMAT_DCP, &o, err));
	TRY(sherd_bundle_open(&made, store, "f", NULL, err));
	return sherd_bundle_read(made, 0, 0, &one, 1, err);
}

TEST(every_allocation_may_fail)
{
	static const char *const files[] = {"tests/corpus/torch/y_views.pt", "tests/corpus/torch/y_checkpoint.pt",
	                                    "tests/corpus/torch/y_legacy_views.pt"};
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		size_t len;
		SHD_AUTO_FREE uint8_t *data = source_file_read(files[i], &len);
		assert_ok(sherd_store_put(store, "x.pt", SHERD_WRITE_REPLACE, data, len, err));
		assert_true(fail_malloc_each(open_and_read) > 20);
		(void)sherd_store_remove(store, "w.pt", NULL);
		assert_true(fail_malloc_each(write_again) > 20);
		assert_true(fail_malloc_each(write_folder) > 20);
	}
}

/* Bytes that decoding asks for, and then looking for tensors; at most so many times those of the pickle. */
static void check_memory(const uint8_t *bytes, size_t len)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_pickle p;
	shd_torch_state s;
	fail_malloc_at(0);
	int rc = shd_pickle_decode(bytes, len, &arena, &p, NULL);
	size_t asked = fail_malloc_bytes();
	/* Lists that grow ask for twice what they keep; beyond that, what the header says. */
	if (asked > (size_t)2 * SHD_PICKLE_MEMORY * len + (1u << 20))
		fail_msg("%zu bytes of pickle %02x%02x%02x... take %zu", len, bytes[0], bytes[1], bytes[2], asked);
	if (rc < 0)
		return;
	fail_malloc_at(0);
	(void)shd_torch_state_of(&p, NULL, &arena, &s, NULL);
	asked = fail_malloc_bytes();
	if (asked > (size_t)4 * SHD_TORCH_SPREAD * len + (8u << 20))
		fail_msg("the values of %zu bytes of pickle %02x%02x%02x... take %zu", len, bytes[0], bytes[1],
		         bytes[2], asked);
}

static int open_onnx(sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	uint8_t buf[64];
	TRY(sherd_bundle_open(&b, store, "x.onnx", NULL, err));
	return sherd_bundle_read(b, 0, 0, buf, 4, err);
}

TEST(every_allocation_may_fail_while_onnx_is_read)
{
	static const char *const files[] = {"tests/corpus/onnx/y_raw.onnx", "tests/corpus/onnx/y_typed.onnx",
	                                    "tests/corpus/onnx/y_sparse.onnx"};
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		size_t len;
		SHD_AUTO_FREE uint8_t *data = source_file_read(files[i], &len);
		assert_ok(sherd_store_put(store, "x.onnx", SHERD_WRITE_REPLACE, data, len, err));
		assert_true(fail_malloc_each(open_onnx) > 10);
	}
}

TEST(hostile_pickles_take_memory_in_proportion)
{
	/* One instruction again and again, after something to work on. */
	static const struct {
		const char *before, *again;
		size_t len;
	} cases[] = {
		{"", "]", 1},
		{"", "}", 1},
		{"", ")", 1},
		{"", "(", 1},
		{"", "N", 1},
		{"K\1", "2", 1},
		{"", "\x8f", 1},
		{"]q", "\x94", 1},
		{"]", "Na", 2},
		{"}", "NNs", 3},
		{"cos\na\n)R", "2)R", 3},
		{"]", "]a", 2},
		{"ca\nb\n", "ca\nb\n", 5},
		{"]", "(e", 2},
		{"}", "(u", 2},
		{"]\x94", "h", 1},
		{"", "Va\n", 3},
		{"", "S''\n", 4},
		{"", "\x82\x01", 2},
		{"", "(cos\na\no", 8},
		{"", "K\1\x85", 3},
		{"", "(l", 2},
		{"", "(d", 2},
		{"K\1", "\x94", 1},
	};
	enum { LEN = 200000 };
	SHD_AUTO_FREE uint8_t *bytes = malloc(LEN + 64);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t n = strlen(cases[i].before);
		memcpy(bytes, cases[i].before, n);
		while (n < LEN) {
			memcpy(bytes + n, cases[i].again, cases[i].len);
			n += cases[i].len;
		}
		bytes[n++] = '.';
		check_memory(bytes, n);
	}
}

static void check_corpus_file(const char *name, const uint8_t *data, size_t len)
{
	(void)name;
	check_memory(data, len);
	fail_malloc_at(0);
	assert_ok(sherd_store_put(store, "x.pt", SHERD_WRITE_REPLACE, data, len, err));
	size_t before = fail_malloc_bytes();
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	(void)sherd_bundle_open(&b, store, "x.pt", NULL, NULL);
	if (fail_malloc_bytes() - before > (size_t)1000 * len + (16u << 20))
		fail_msg("opening %s, %zu bytes, takes %zu", name, len, fail_malloc_bytes() - before);
}

static void check_metadata(const char *name, const uint8_t *data, size_t len)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0}, temporary = {0};
	shd_dcp_metadata m;
	fail_malloc_at(0);
	(void)shd_dcp_metadata_decode(data, len, NULL, &arena, &temporary, &m, NULL);
	if (fail_malloc_bytes() > (size_t)3 * SHD_PICKLE_MEMORY * len + (1u << 20))
		fail_msg("%s, %zu bytes, takes %zu", name, len, fail_malloc_bytes());
}

TEST(hostile_files_take_memory_in_proportion)
{
	(void)source_folder_each("tests/corpus/pickle", check_corpus_file);
	(void)source_folder_each("tests/corpus/torch", check_corpus_file);
	(void)source_folder_each("tests/corpus/dcp", check_metadata);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_allocation_may_fail, memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(every_allocation_may_fail_while_onnx_is_read, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test(hostile_pickles_take_memory_in_proportion),
		cmocka_unit_test_setup_teardown(hostile_files_take_memory_in_proportion, memory_store_open,
	                                        memory_store_close),
	};
	return cmocka_run_group_tests_name("torch", tests, NULL, NULL);
}
