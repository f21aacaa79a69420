/* Fault: every allocation and every operation of the store fails once while bundles are written, opened and read. */
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/npy.h"
#include "format/tensor/safetensors.h"
#include "format/tensor/safetensors_index.h"

#include <sherd/bundle.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)

static const uint64_t shape[] = {3, 4};
static const sherd_tensor tensors[] = {{"a", SHERD_F32, 2, shape, 48}, {"b", SHERD_U8, 1, shape, 3}};
static const sherd_pair pair = {"format", "pt"};

/* A file with both tensors, the index of a set that has only this file, and an array in Fortran order. */
static int encode(shd_buf *file, shd_buf *index, shd_buf *array, sherd_error *err)
{
	const shd_safetensors_index map = {
		.count = 2,
		.entries = (const shd_safetensors_index_entry[]){{"a", 0}, {"b", 0}},
		.file_count = 1,
		.files = (const char *const[]){"f"},
		.pair_count = 1,
		.pairs = &(const sherd_pair){"who", "me"},
	};
	size_t order[2];
	TRY(shd_safetensors_encode(tensors, 2, &pair, 1, file, order, err));
	shd_buf_zero(file, 51);
	TRY(shd_buf_check(file, err));
	TRY(shd_npy_encode(&tensors[0], array, err));
	shd_buf_zero(array, 48);
	TRY(shd_buf_check(array, err));
	memcpy(memmem(array->data, array->len, "False", 5), "True ", 5);
	return shd_safetensors_index_encode(&map, index, err);
}

static int read_all(const sherd_bundle *b, sherd_error *err)
{
	uint8_t bytes[64];
	for (size_t i = 0; i < sherd_bundle_count(b); i++)
		TRY(sherd_bundle_read(b, i, 0, bytes, (size_t)sherd_bundle_tensor(b, i)->bytes, err));
	return SHERD_OK;
}

/* What is read, as a bundle of its own; and a box of each tensor. */
static int load_and_make(const sherd_bundle *b, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) made = NULL;
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	uint8_t bytes[4][64];
	sherd_bundle_want wants[4];
	sherd_tensor copies[4];
	const void *data[4];
	const uint64_t at[SHERD_MAX_DIMS] = {0};
	size_t n = sherd_bundle_count(b) < 4 ? sherd_bundle_count(b) : 4;
	for (size_t i = 0; i < n; i++) {
		copies[i] = *sherd_bundle_tensor(b, i);
		data[i] = bytes[i];
		wants[i] = (sherd_bundle_want){i, at, copies[i].shape, bytes[i]};
	}
	TRY(sherd_pool_open(&pool, 2, err));
	TRY(sherd_bundle_load(b, wants, n, &(sherd_bundle_options){.pool = pool}, err));
	TRY(sherd_bundle_make(&made, &(sherd_bundle_parts){copies, data, n, NULL, 0}, err));
	return read_all(made, err);
}

static int open_and_read(sherd_store *store, const char *key, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) whole = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) part = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) rows = NULL;
	TRY(sherd_bundle_open(&whole, store, key, NULL, err));
	TRY(read_all(whole, err));
	TRY(load_and_make(whole, err));
	TRY(sherd_bundle_select(&part, whole, &(sherd_bundle_select_options){.world = 2}, err));
	TRY(sherd_bundle_select(&rows, whole, &(sherd_bundle_select_options){.world = 2, .rank = 1, .cut = true}, err));
	return read_all(rows, err);
}

static sherd_store *store;

static int read_every_format(sherd_error *err)
{
	TRY(open_and_read(store, "f", err));
	TRY(open_and_read(store, "i.json", err));
	TRY(open_and_read(store, "g.gguf", err));
	return open_and_read(store, "x.npy", err);
}

/* Values of all kinds. */
static int put_gguf(const char *name, const char *key)
{
	size_t len;
	SHD_AUTO_FREE uint8_t *data = source_file_read(name, &len);
	return sherd_store_put(store, key, SHERD_WRITE_NEW, data, len, NULL);
}

static int fill_store(void **state)
{
	(void)state;
	sherd_store *inner;
	SHD_AUTO_BUF file = {0}, index = {0}, array = {0};
	TRY(sherd_store_open_memory(&inner, NULL));
	store = fail_store_over(inner);
	TRY(encode(&file, &index, &array, NULL));
	TRY(sherd_store_put(store, "f", SHERD_WRITE_NEW, file.data, file.len, NULL));
	TRY(put_gguf("tests/corpus/gguf/y_arrays.gguf", "g.gguf"));
	TRY(sherd_store_put(store, "i.json", SHERD_WRITE_NEW, index.data, index.len, NULL));
	return sherd_store_put(store, "x.npy", SHERD_WRITE_NEW, array.data, array.len, NULL);
}

static int drop_store(void **state)
{
	(void)state;
	sherd_store_close(store);
	return 0;
}

static int encode_all(sherd_error *err)
{
	SHD_AUTO_BUF file = {0}, index = {0}, array = {0};
	return encode(&file, &index, &array, err);
}

TEST(every_allocation_of_reading_may_fail)
{
	assert_true(fail_malloc_each(read_every_format) > 39);
}

TEST(every_allocation_of_writing_may_fail)
{
	assert_true(fail_malloc_each(encode_all) > 4);
}

TEST(every_operation_of_the_store_may_fail)
{
	assert_true(fail_store_each(store, read_every_format) > 11);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fill_store, drop_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_allocation_of_reading_may_fail),
		cmocka_unit_test(every_allocation_of_writing_may_fail),
		CASE(every_operation_of_the_store_may_fail),
	};
	return cmocka_run_group_tests_name("bundle_faults", tests, NULL, NULL);
}
