/* Files of torch.save(): what is read of them, and what is not believed. */
#include "support/corpus.h"
#include "support/memory_store.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "base/pool.h"

#include <sherd/bundle.h>
#include <sherd/convert.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static int open_input(const uint8_t *data, size_t len, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(sherd_store_put(store, "x.pt", SHERD_WRITE_REPLACE, data, len, err));
	TRY(sherd_bundle_open(&b, store, "x.pt", NULL, err));
	sherd_format format = sherd_bundle_format(b);
	assert_true(format == SHERD_FORMAT_TORCH || format == SHERD_FORMAT_TORCH_LEGACY);
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(b, i);
		SHD_AUTO_FREE uint8_t *all = malloc((size_t)t->bytes + 1);
		TRY(sherd_bundle_read(b, i, 0, all, (size_t)t->bytes, err));
		/* Byte by byte it is the same. */
		for (size_t k = 0; k < t->bytes; k++) {
			uint8_t one;
			TRY(sherd_bundle_read(b, i, k, &one, 1, err));
			assert_int_equal(one, all[k]);
		}
	}
	return SHERD_OK;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/torch", open_input, 29, 30, 1);
}

static sherd_bundle *open_corpus(const char *name)
{
	char path[128];
	size_t len;
	sherd_bundle *b;
	(void)snprintf(path, sizeof(path), "tests/corpus/torch/%s.pt", name);
	SHD_AUTO_FREE uint8_t *data = source_file_read(path, &len);
	assert_ok(sherd_store_put(store, "c.pt", SHERD_WRITE_REPLACE, data, len, err));
	assert_ok(sherd_bundle_open(&b, store, "c.pt", NULL, err));
	return b;
}

static void read_floats(const sherd_bundle *b, const char *name, float *out, size_t count)
{
	size_t i = sherd_bundle_find(b, name);
	assert_int_not_equal(i, SHERD_NO_TENSOR);
	assert_int_equal(sherd_bundle_tensor(b, i)->bytes, count * sizeof(float));
	assert_ok(sherd_bundle_read(b, i, 0, out, count * sizeof(float), err));
}

TEST(views_are_read_in_c_order)
{
	static const char *const files[] = {"y_views", "y_legacy_views"};
	for (size_t f = 0; f < COUNT_OF(files); f++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_corpus(files[f]);
		float got[116];
		read_floats(b, "t", got, 60);
		for (size_t i = 0; i < 60; i++)
			assert_int_equal(got[i], i % 5 * 12 + i / 5);
		read_floats(b, "step", got, 30);
		for (size_t i = 0; i < 30; i++)
			assert_true(got[i] == (float)(i * 2));
		read_floats(b, "exp", got, 84);
		for (size_t i = 0; i < 84; i++)
			assert_true(got[i] == (float)(i % 12));
		read_floats(b, "unfold", got, 116);
		for (size_t i = 0; i < 116; i++)
			assert_int_equal(got[i], i / 4 * 2 + i % 4);
		read_floats(b, "conj", got, 8);
		assert_true(got[2] == 1 && got[3] == -1 && got[6] == 1 && got[7] == -3);
		read_floats(b, "neg", got, 4);
		assert_true(got[1] == -1 && got[3] == -3);
		assert_int_not_equal(sherd_bundle_find(b, "sparse.indices"), SHERD_NO_TENSOR);
		assert_int_not_equal(sherd_bundle_find(b, "csr.compressed_indices"), SHERD_NO_TENSOR);
	}
}

TEST(big_endian_files_are_turned)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) little = open_corpus("y_hand");
	uint8_t a[24], z[24];
	const void *map;
	assert_ok(sherd_bundle_read(little, 0, 0, a, 24, err));
	SHD_AUTO(sherd_bundle, sherd_bundle_close) big = open_corpus("y_big_endian");
	assert_ok(sherd_bundle_read(big, 0, 0, z, 24, err));
	for (size_t i = 0; i < 24; i++)
		assert_int_equal(a[i], z[i / 4 * 4 + 3 - i % 4]);
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&map, big, 0, err));
}

TEST(storages_of_torch_lie_where_they_can_be_mapped)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_corpus("y_views");
	const void *map;
	assert_ok(sherd_bundle_map(&map, b, sherd_bundle_find(b, "x"), err));
	assert_true(((const float *)map)[59] == 59);
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&map, b, sherd_bundle_find(b, "t"), err));
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&map, b, sherd_bundle_find(b, "conj"), err));
}

/* Of two names alike, both are there; what contains itself ends. */
TEST(names_are_made_of_keys)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) same = open_corpus("y_same_names");
	const sherd_pair *pairs;
	assert_int_not_equal(sherd_bundle_find(same, "a.b"), SHERD_NO_TENSOR);
	assert_int_not_equal(sherd_bundle_find(same, "a.b~2"), SHERD_NO_TENSOR);
	assert_int_equal(sherd_bundle_pairs(&pairs, same), 3);
	assert_string_equal(pairs[0].key, "1");
	assert_string_equal(pairs[1].key, "1~2");
	SHD_AUTO(sherd_bundle, sherd_bundle_close) cycle = open_corpus("y_cycle");
	assert_int_equal(sherd_bundle_count(cycle), 1);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) shared = open_corpus("y_shared");
	assert_int_equal(sherd_bundle_count(shared), 2);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) single = open_corpus("y_single");
	assert_string_equal(sherd_bundle_tensor(single, 0)->name, "c");
}

/* What would run code is named first, however it is hidden, and verify warns of it. */
TEST(what_loading_would_do_is_told)
{
	static const struct {
		const char *file, *name;
	} cases[] = {
		{"y_os_system", "os.system"},
		{"y_os_system_popped", "os.system"},
		{"y_stack_global_from_memo", "os.system"},
		{"y_inst", "os.system"},
		{"y_obj", "os.system"},
		{"y_ext", "copyreg.extension.7"},
		{"y_getattr", "__builtin__.getattr"},
		{"y_newobj_ex", "subprocess.Popen"},
		{"y_build_setstate", "os.system"},
		{"y_nested_pickle", "_pickle.loads"},
		{"y_asyncio_subprocess", "asyncio.unix_events._UnixSubprocessTransport._start"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_corpus(cases[i].file);
		SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
		const sherd_global *globals;
		assert_true(sherd_bundle_globals(&globals, b) > 0);
		assert_string_equal(globals[0].name, cases[i].name);
		assert_int_equal(globals[0].verdict, SHERD_DANGEROUS);
		assert_ok(sherd_verify(&r, store, "c.pt", NULL, err));
		assert_int_equal(sherd_report_errors(r), 0);
		assert_string_equal(sherd_report_warning(r, 0)->reason, "dangerous");
		assert_non_null(strstr(sherd_report_warning(r, 0)->message, cases[i].name));
	}
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_corpus("y_hand");
	const sherd_global *globals;
	assert_int_equal(sherd_bundle_globals(&globals, b), 2);
	assert_int_equal(globals[0].verdict, SHERD_HARMLESS);
}

static void verify_file(const char *name, size_t errors, const char *warning)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	char path[128];
	size_t len;
	(void)snprintf(path, sizeof(path), "tests/corpus/torch/%s.pt", name);
	SHD_AUTO_FREE uint8_t *data = source_file_read(path, &len);
	assert_ok(sherd_store_put(store, "v.pt", SHERD_WRITE_REPLACE, data, len, err));
	assert_ok(sherd_verify(&r, store, "v.pt", NULL, err));
	assert_int_equal(sherd_report_errors(r), errors);
	assert_int_equal(sherd_report_warnings(r), warning ? 1 : 0);
	if (warning)
		assert_string_equal(sherd_report_warning(r, 0)->reason, warning);
}

TEST(verify_says_what_it_could_not_check)
{
	verify_file("y_hand", 0, NULL);
	verify_file("y_dtypes", 0, NULL);
	verify_file("y_no_crc", 0, "no-checksum");
	verify_file("y_legacy_dtypes", 0, "no-checksum");
	verify_file("y_trailing", 0, "trailing-bytes");
	verify_file("i_names_differ", 1, NULL);
	verify_file("n_storage_short", 1, NULL);
	verify_file("n_legacy_cut", 1, NULL);
}

/* A bit anywhere in the bytes of a storage is told, and nothing of it is handed out. */
TEST(no_byte_of_a_damaged_storage_is_handed_out)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	size_t len;
	uint8_t one;
	SHD_AUTO_FREE uint8_t *data = source_file_read("tests/corpus/torch/y_single.pt", &len);
	uint8_t *at = memmem(data, len, "\0\0\x80\x3f\0\0\0\x40", 8);
	assert_non_null(at);
	at[2] ^= 1;
	assert_ok(sherd_store_put(store, "d.pt", SHERD_WRITE_NEW, data, len, err));
	assert_ok(sherd_bundle_open(&b, store, "d.pt", NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_bundle_read(b, 0, 0, &one, 1, err));
	assert_ok(sherd_verify(&r, store, "d.pt", NULL, err));
	assert_int_equal(sherd_report_errors(r), 1);
	assert_non_null(strstr(sherd_report_error(r, 0)->object, "/data/0"));
}

static int read_every_tensor(void *arg, size_t part, sherd_error *err)
{
	const sherd_bundle *b = arg;
	(void)part;
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		uint8_t buf[512];
		TRY(sherd_bundle_read(b, i, 0, buf, (size_t)sherd_bundle_tensor(b, i)->bytes, err));
	}
	return SHERD_OK;
}

TEST(threads_share_a_file)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = open_corpus("y_views");
	sherd_pool *pool;
	assert_ok(sherd_pool_open(&pool, 4, err));
	assert_ok(shd_pool_run(pool, 16, read_every_tensor, b, err));
	sherd_pool_close(pool);
}

/* Names, types, bytes and pairs of two files are the same. */
static void check_equal(const sherd_bundle *a, const sherd_bundle *b)
{
	const sherd_pair *x, *y;
	assert_int_equal(sherd_bundle_count(a), sherd_bundle_count(b));
	for (size_t i = 0; i < sherd_bundle_count(a); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(a, i), *u = sherd_bundle_tensor(b, i);
		uint8_t one[1024], two[1024];
		assert_string_equal(t->name, u->name);
		assert_string_equal(sherd_tensor_type(t), sherd_tensor_type(u));
		assert_int_equal(t->ndim, u->ndim);
		assert_memory_equal(t->shape, u->shape, t->ndim * sizeof(t->shape[0]));
		assert_int_equal(t->bytes, u->bytes);
		assert_ok(sherd_bundle_read(a, i, 0, one, (size_t)t->bytes, err));
		assert_ok(sherd_bundle_read(b, i, 0, two, (size_t)t->bytes, err));
		assert_memory_equal(one, two, (size_t)t->bytes);
	}
	assert_int_equal(sherd_bundle_pairs(&x, a), sherd_bundle_pairs(&y, b));
	for (size_t i = 0; i < sherd_bundle_pairs(&x, a); i++) {
		assert_string_equal(x[i].key, y[i].key);
		assert_string_equal(x[i].value, y[i].value);
	}
}

TEST(what_is_written_is_the_same)
{
	static const char *const files[] = {"y_dtypes", "y_views", "y_checkpoint", "y_legacy_views", "y_shared"};
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) from = open_corpus(files[i]);
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
		const sherd_convert_options o = {.replace = true};
		assert_ok(sherd_convert(from, store, "w.pt", SHERD_FORMAT_TORCH, &o, err));
		assert_ok(sherd_bundle_open(&b, store, "w.pt", NULL, err));
		check_equal(from, b);
		assert_ok(sherd_verify(&r, store, "w.pt", NULL, err));
		assert_int_equal(sherd_report_errors(r) + sherd_report_warnings(r), 0);
		for (size_t k = 0; k < sherd_bundle_count(b); k++) {
			const void *map;
			assert_ok(sherd_bundle_map(&map, b, k, err));
		}
	}
}

/* Two tensors that are one storage are written once; views of parts of it are not. */
TEST(shared_storages_are_written_once)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) from = open_corpus("y_shared");
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO_FREE char *raw = NULL;
	size_t len;
	assert_ok(sherd_convert(from, store, "w.pt", SHERD_FORMAT_TORCH, NULL, err));
	assert_ok(sherd_store_get(&raw, &len, store, "w.pt", UINT64_MAX, err));
	assert_non_null(memmem(raw, len, "archive/data/0", 14));
	assert_null(memmem(raw, len, "archive/data/1", 14));
	assert_ok(sherd_bundle_open(&b, store, "w.pt", NULL, err));
	check_equal(from, b);
	assert_refused(SHERD_EEXIST, "exists", sherd_convert(from, store, "w.pt", SHERD_FORMAT_TORCH, NULL, err));
}

TEST(what_torch_lacks_is_refused_before_anything_is_written)
{
	static const uint64_t two[] = {2}, four[] = {4};
	static const uint8_t bytes[32];
	const sherd_tensor bad[] = {
		{.name = "q", .dtype = SHERD_OPAQUE, .ndim = 1, .shape = two, .bytes = 2, .type_name = "qint8"},
		{.name = "o", .dtype = SHERD_OPAQUE, .ndim = 1, .shape = two, .bytes = 2, .type_name = "X"},
		{.name = "c", .dtype = SHERD_OPAQUE, .ndim = 1, .shape = two, .bytes = 31, .type_name = "complex128"},
		{.name = "f", .dtype = SHERD_F6_E2M3, .ndim = 1, .shape = four, .bytes = 3},
		{.name = "", .dtype = SHERD_U8, .ndim = 1, .shape = two, .bytes = 2},
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) from = NULL;
		const void *const data[] = {bytes};
		sherd_stat stat;
		assert_ok(sherd_bundle_make(&from, &(sherd_bundle_parts){.tensors = &bad[i], .data = data, .count = 1},
		                            err));
		assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
		               sherd_convert(from, store, "w.pt", SHERD_FORMAT_TORCH, NULL, err));
		assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "w.pt", err));
	}
}

/* The bytes that docs/formats/torch.md shows. */
TEST(the_example_of_the_document_is_what_is_written)
{
	static const uint64_t shape[] = {2};
	static const uint8_t bytes[] = {1, 2};
	const sherd_tensor t = {.name = "a", .dtype = SHERD_U8, .ndim = 1, .shape = shape, .bytes = 2};
	const void *const data[] = {bytes};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) from = NULL;
	SHD_AUTO_FREE char *raw = NULL;
	size_t len, wanted_len;
	SHD_AUTO_FREE uint8_t *wanted = source_hex_block("docs/formats/torch.md", &wanted_len);
	assert_ok(sherd_bundle_make(&from, &(sherd_bundle_parts){.tensors = &t, .data = data, .count = 1}, err));
	assert_ok(sherd_convert(from, store, "w.pt", SHERD_FORMAT_TORCH, NULL, err));
	assert_ok(sherd_store_get(&raw, &len, store, "w.pt", UINT64_MAX, err));
	assert_int_equal(len, wanted_len);
	assert_memory_equal(raw, wanted, len);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_corpus_is_judged_as_its_names_say),
		CASE(views_are_read_in_c_order),
		CASE(big_endian_files_are_turned),
		CASE(storages_of_torch_lie_where_they_can_be_mapped),
		CASE(names_are_made_of_keys),
		CASE(what_loading_would_do_is_told),
		CASE(verify_says_what_it_could_not_check),
		CASE(no_byte_of_a_damaged_storage_is_handed_out),
		CASE(threads_share_a_file),
		CASE(what_is_written_is_the_same),
		CASE(shared_storages_are_written_once),
		CASE(what_torch_lacks_is_refused_before_anything_is_written),
		CASE(the_example_of_the_document_is_what_is_written),
	};
	return cmocka_run_group_tests_name("torch", tests, NULL, NULL);
}
