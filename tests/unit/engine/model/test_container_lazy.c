/* What opening a container and reading one of its arrays fetches from the store. */
#include "support/fail_store.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/model.h>

#include <stdio.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

enum { ARRAYS = 2000, SMALL = 16, LARGE = 8192, PAGE = 4096, SHARDS = 4 };

static int give(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)offset, (void)err;
	memset(buf, (int)(array % 251), len);
	return SHERD_OK;
}

static sherd_store *open_store(void)
{
	sherd_store *inner = NULL;
	assert_ok(sherd_store_open_memory(&inner, err));
	return fail_store_over(inner);
}

/* A container of ARRAYS constants, "a0" and so on, of so many bytes each. */
static void save(sherd_store *store, uint64_t bytes, uint32_t shards)
{
	static char names[ARRAYS][16];
	static sherd_model_variable variables[ARRAYS];
	static sherd_tensor arrays[ARRAYS];
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	const sherd_model_save_options o = {.shards = shards};
	for (int i = 0; i < ARRAYS; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "a%d", i);
		variables[i] = (sherd_model_variable){.name = names[i],
		                                      .kind = SHERD_VARIABLE_CONSTANT,
		                                      .dtype = SHERD_U8,
		                                      .has_id = true,
		                                      .id = {i + 1, 0},
		                                      .array = (size_t)i};
		arrays[i] = (sherd_tensor){.dtype = SHERD_U8, .ndim = 1, .shape = &bytes};
	}
	const sherd_model_graph graph = {.variable_count = ARRAYS, .variables = variables};
	const sherd_model_parts parts = {.graph = &graph, .arrays = arrays, .array_count = ARRAYS, .read = give};
	assert_ok(sherd_model_make(&m, &parts, err));
	assert_ok(sherd_model_save(m, store, "m", &o, err));
}

/* Bytes fetched by opening, and by reading the array in the middle after that. */
static void measure(uint64_t bytes, uint32_t shards, uint64_t *opening, uint64_t *reading)
{
	sherd_store *store = open_store();
	uint8_t got[LARGE], want[LARGE];
	save(store, bytes, shards);
	{
		SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		uint64_t before = fail_store_read_bytes(store);
		assert_ok(sherd_model_open(&m, store, "m", NULL, err));
		assert_ok(sherd_bundle_of_model(&b, m, err));
		*opening = fail_store_read_bytes(store) - before;
		assert_ok(sherd_bundle_read(b, ARRAYS / 2, 0, got, (size_t)bytes, err));
		*reading = fail_store_read_bytes(store) - before - *opening;
	}
	sherd_store_close(store);
	memset(want, (ARRAYS / 2) % 251, sizeof(want));
	assert_memory_equal(got, want, bytes);
}

TEST(opening_reads_no_more_when_arrays_are_larger)
{
	uint64_t small, large, reading;
	measure(SMALL, 1, &small, &reading);
	measure(LARGE, 1, &large, &reading);
	assert_true(small > 0);
	assert_int_equal(large, small);
}

/* The index has far more than that: 24 bytes an array for its entries alone. */
TEST(one_array_of_many_is_found_by_reading_a_few_pages)
{
	for (uint32_t shards = 1; shards <= SHARDS; shards += SHARDS - 1) {
		uint64_t opening, reading;
		measure(LARGE, shards, &opening, &reading);
		assert_in_range(reading, LARGE, LARGE + 4 * PAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opening_reads_no_more_when_arrays_are_larger),
		cmocka_unit_test(one_array_of_many_is_found_by_reading_a_few_pages),
	};
	return cmocka_run_group_tests_name("container_lazy", tests, NULL, NULL);
}
