/* Compressed archives: how much is inflated for arrays in any order, and which entry is the model. */
#include "support/fail_store.h"
#include "support/sdnb_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/model.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

enum { ARRAYS = 250, LARGE = 100 << 10, MOST_TIMES = 20 };

/* Every other array is large and zero; small ones hold their number. */
static int give(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)offset, (void)err;
	memset(buf, array % 2 ? 0 : (int)(array / 2 + 1), len);
	return SHERD_OK;
}

/* The model as one SDNB file. */
static char *make_sdnb(size_t *len)
{
	static const uint64_t large[] = {LARGE}, little[] = {4};
	static char names[ARRAYS][16];
	static sherd_model_variable variables[ARRAYS];
	static sherd_tensor arrays[ARRAYS];
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	sherd_store *store;
	char *raw;
	for (int i = 0; i < ARRAYS; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "a%d", i);
		variables[i] = (sherd_model_variable){.name = names[i], .kind = SHERD_VARIABLE_CONSTANT};
		variables[i].dtype = SHERD_U8;
		variables[i].has_id = true;
		variables[i].id.node = i + 1;
		variables[i].array = (size_t)i;
		arrays[i] = (sherd_tensor){.dtype = SHERD_U8, .ndim = 1, .shape = i % 2 ? large : little};
	}
	const sherd_model_graph graph = {.variable_count = ARRAYS, .variables = variables};
	const sherd_model_parts parts = {.graph = &graph, .arrays = arrays, .array_count = ARRAYS, .read = give};
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_model_make(&m, &parts, err));
	assert_ok(sherd_model_save(m, store, "m", &(sherd_model_save_options){.format = SHERD_FORMAT_SDNB}, err));
	assert_ok(sherd_store_get(&raw, len, store, "m", UINT64_MAX, err));
	sherd_store_close(store);
	return raw;
}

/* S-10: an archive of 1 MB took 18 seconds, since every array was gone back for. Here each of the 125 small ones would
 * be; the stream has a point to go on from for every ten of them. */
TEST(small_arrays_of_a_compressed_entry_are_passed_once)
{
	SHD_AUTO_BUF archive = {0};
	sherd_store *inner;
	size_t len;
	char *raw = make_sdnb(&len);
	sdnb_put_deflated(&archive, "model", (const uint8_t *)raw, len);
	free(raw);
	assert_ok(sherd_store_open_memory(&inner, err));
	sherd_store *store = fail_store_over(inner);
	assert_ok(sherd_store_put(store, "m.sdz", SHERD_WRITE_NEW, archive.data, archive.len, err));
	{
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		assert_ok(sherd_bundle_open(&b, store, "m.sdz", NULL, err));
		uint64_t before = fail_store_read_bytes(store);
		for (int i = ARRAYS - 2; i >= 0; i -= 2) {
			uint8_t got[4], want[4];
			char name[16];
			(void)snprintf(name, sizeof(name), "a%d", i);
			size_t at = sherd_bundle_find(b, name);
			memset(want, i / 2 + 1, sizeof(want));
			assert_ok(sherd_bundle_read(b, at, 0, got, sizeof(got), err));
			assert_memory_equal(got, want, sizeof(want));
			assert_ok(sherd_bundle_read(b, at, 1, got, 2, err));
			assert_memory_equal(got, want, 2);
		}
		uint64_t took = fail_store_read_bytes(store) - before;
		print_message("%llu bytes of %zu\n", (unsigned long long)took, archive.len);
		assert_true(took < MOST_TIMES * archive.len);
	}
	sherd_store_close(store);
}

/* an entry as long as the magic is looked at. */
TEST(an_entry_of_exactly_four_bytes_may_be_the_model)
{
	SHD_AUTO_BUF four = {0};
	SHD_AUTO_BUF three = {0};
	sherd_store *store;
	sherd_model *m = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	sdnb_put_deflated(&four, "x", (const uint8_t *)"SDNB", 4);
	sdnb_put_deflated(&three, "x", (const uint8_t *)"SDN", 3);
	assert_ok(sherd_store_put(store, "four.sdz", SHERD_WRITE_NEW, four.data, four.len, err));
	assert_ok(sherd_store_put(store, "three.sdz", SHERD_WRITE_NEW, three.data, three.len, err));
	assert_refused(SHERD_ECORRUPT, "truncated", sherd_model_open(&m, store, "four.sdz", NULL, err));
	assert_refused(SHERD_EUNSUPPORTED, "foreign-format", sherd_model_open(&m, store, "three.sdz", NULL, err));
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_arrays_of_a_compressed_entry_are_passed_once),
		cmocka_unit_test(an_entry_of_exactly_four_bytes_may_be_the_model),
	};
	return cmocka_run_group_tests_name("model_sdz", tests, NULL, NULL);
}
