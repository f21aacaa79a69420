/* rows of any stored type are delivered as any other. */
#include "support/ckpt_place.h"
#include "support/rows_set.h"
#include "support/test.h"

#include "base/error.h"
#include "codec/floats.h"

#include <sherd/guard.h>

#include <stdio.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)

enum { WIDTH = 37, TOTAL = 29 };

static const uint64_t sizes[] = {11, 0, 18};
static const sherd_dtype stored[] = {SHERD_F32, SHERD_F16, SHERD_BF16},
			 delivered[] = {SHERD_F64, SHERD_F32, SHERD_F16, SHERD_BF16};

static size_t bytes_of(sherd_dtype dtype)
{
	return sherd_dtype_element_bytes(dtype);
}

/* The row as it must come. */
static void expect(sherd_dtype from, uint64_t id, sherd_dtype to, uint8_t out[8 * WIDTH])
{
	uint8_t raw[4 * WIDTH];
	for (size_t c = 0; c < WIDTH; c++) {
		uint32_t bits = rows_set_bits(id, c);
		memcpy(raw + c * bytes_of(from), &bits, bytes_of(from));
	}
	shd_floats_convert(from, raw, to, out, WIDTH);
}

static void assert_values(const sherd_rows_batch *b, sherd_dtype from)
{
	uint8_t want[8 * WIDTH];
	size_t row = WIDTH * bytes_of(b->dtype);
	for (size_t i = 0; i < b->rows; i++) {
		expect(from, rows_batch_id(b, i), b->dtype, want);
		assert_memory_equal((const uint8_t *)b->data + i * row, want, row);
	}
}

TEST(every_stored_type_comes_as_every_type)
{
	assert_ok(sherd_guard_open(err));
	for (size_t i = 0; i < COUNT_OF(stored); i++) {
		char folder[8];
		(void)snprintf(folder, sizeof(folder), "d%zu", i);
		rows_set_make_listed(STORE, folder, stored[i], 2, sizes, COUNT_OF(sizes), WIDTH);
		ROWS rows = NULL;
		assert_ok(sherd_rows_open_folder(&rows, STORE, folder, NULL, err));
		assert_int_equal(sherd_rows_dtype(rows), stored[i]);
		for (unsigned k = 0; k < 4 * 4 * 2; k++) {
			sherd_rows_stream_options o = {.batch_rows = 4,
			                               .dtype = delivered[k % 4],
			                               .access = (sherd_rows_access)(k / 4 % 4),
			                               .shuffle = k / 16,
			                               .verify = k % 3 == 0};
			CURSOR c = NULL;
			sherd_rows_batch b;
			size_t total = 0;
			assert_ok(sherd_rows_cursor_open(&c, rows, &o, err));
			while (sherd_rows_next(&b, c, NULL) > 0) {
				assert_int_equal(b.dtype, o.dtype);
				assert_values(&b, stored[i]);
				total += b.rows;
			}
			assert_int_equal(total, TOTAL);
			uint8_t room[3 * 8 * WIDTH];
			const uint64_t ids[] = {28, 0, 28};
			assert_ok(sherd_rows_gather(c, ids, 3, room, err));
			assert_values(&(sherd_rows_batch){.rows = 3, .dtype = o.dtype, .data = room, .ids = ids},
			              stored[i]);
		}
	}
	sherd_guard_close();
}

/* What is stored as it is wanted is not copied. */
TEST(the_stored_type_is_a_view_of_the_map)
{
	assert_ok(sherd_guard_open(err));
	for (size_t i = 0; i < COUNT_OF(stored); i++) {
		char folder[8], key[64];
		static const char *const suffixes[] = {"shard", "f16", "bf16"};
		(void)snprintf(folder, sizeof(folder), "d%zu", i);
		(void)snprintf(key, sizeof(key), "%s/part-00000.%s", folder, suffixes[i]);
		rows_set_make_listed(STORE, folder, stored[i], 2, sizes, COUNT_OF(sizes), WIDTH);
		ROWS rows = NULL;
		CURSOR c = NULL;
		sherd_rows_batch a, b;
		assert_ok(sherd_rows_open_folder(&rows, STORE, folder, NULL, err));
		assert_ok(sherd_rows_cursor_open(
			&c, rows, &(sherd_rows_stream_options){.batch_rows = 4, .dtype = stored[i]}, err));
		assert_int_equal(sherd_rows_next(&a, c, NULL), 1);
		assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
		assert_ptr_equal((const uint8_t *)a.data + 4 * WIDTH * bytes_of(stored[i]), b.data);
		/* The memory store maps its own bytes. */
		SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
		const void *map;
		assert_ok(sherd_store_read(&reader, STORE, key, err));
		assert_ok(sherd_reader_map(&map, reader, i ? 0 : 32, 4, err));
		if (!FOLDER)
			assert_ptr_equal(a.data, map);
	}
	sherd_guard_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE_ON_BOTH(every_stored_type_comes_as_every_type),
		CASE_ON_BOTH(the_stored_type_is_a_view_of_the_map),
	};
	return cmocka_run_group_tests_name("rows types", tests, NULL, NULL);
}
