/* Archives of NumPy arrays: what is read of them, and what is written. */
#include "support/corpus.h"
#include "support/memory_store.h"
#include "support/sdnb_make.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "base/pool.h"
#include "format/tensor/safetensors.h"

#include <sherd/convert.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

enum { COUNT = 40, BYTES = 300000 };

static int open_input(const uint8_t *data, size_t len, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	TRY(sherd_store_put(store, "x.npz", SHERD_WRITE_REPLACE, data, len, err));
	TRY(sherd_bundle_open(&b, store, "x.npz", NULL, err));
	assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_NPZ);
	return SHERD_OK;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/npz", open_input, 15, 15, 1);
}

static void put_corpus(const char *name, const char *key)
{
	char path[128];
	size_t len;
	(void)snprintf(path, sizeof(path), "tests/corpus/npz/%s.npz", name);
	uint8_t *data = source_file_read(path, &len);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
	free(data);
}

TEST(an_archive_of_arrays_is_known_whatever_its_name)
{
	sherd_format format;
	put_corpus("y_two_deflated", "a.zip");
	assert_ok(sherd_detect(&format, store, "a.zip", err));
	assert_int_equal(format, SHERD_FORMAT_NPZ);
	put_corpus("n_half", "a.zip");
	assert_ok(sherd_detect(&format, store, "a.zip", err));
	assert_int_equal(format, SHERD_FORMAT_NPZ);
	/* With other things in it, and when there is nothing in it, its name tells. */
	put_corpus("y_bytes_beside", "a.zip");
	assert_refused(SHERD_EUNSUPPORTED, "foreign-format", sherd_detect(&format, store, "a.zip", err));
	put_corpus("y_none", "a.zip");
	assert_refused(SHERD_EUNSUPPORTED, "foreign-format", sherd_detect(&format, store, "a.zip", err));
}

TEST(what_is_no_array_is_bytes)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) c = NULL;
	char text[6];
	put_corpus("y_bytes_beside", "b.npz");
	assert_ok(sherd_bundle_open(&b, store, "b.npz", NULL, err));
	size_t notes = sherd_bundle_find(b, "notes.txt");
	assert_int_equal(sherd_bundle_tensor(b, notes)->dtype, SHERD_U8);
	assert_ok(sherd_bundle_read(b, notes, 0, text, sizeof(text), err));
	assert_memory_equal(text, "hello\n", 6);
	assert_int_equal(sherd_bundle_tensor(b, sherd_bundle_find(b, "nothing"))->bytes, 0);
	put_corpus("y_array_without_ending", "c.npz");
	assert_ok(sherd_bundle_open(&c, store, "c.npz", NULL, err));
	assert_int_equal(sherd_bundle_tensor(c, sherd_bundle_find(c, "b"))->dtype, SHERD_I16);
}

static uint8_t byte_of(size_t tensor, uint64_t at)
{
	return (uint8_t)(at / 1000 + tensor);
}

/* A bundle of tensors of bytes. */
static sherd_bundle *make_source(const char *const *names, size_t count, uint64_t bytes)
{
	SHD_AUTO_BUF file = {0};
	sherd_tensor *tensors = calloc(count, sizeof(*tensors));
	size_t *order = calloc(count, sizeof(*order));
	sherd_bundle *b;
	for (size_t i = 0; i < count; i++)
		tensors[i] = (sherd_tensor){names[i], SHERD_U8, 1, &bytes, bytes};
	assert_ok(shd_safetensors_encode(tensors, count, NULL, 0, &file, order, err));
	for (size_t i = 0; i < count; i++)
		for (uint64_t k = 0; k < bytes; k++)
			shd_buf_u8(&file, byte_of(order[i], k));
	assert_ok(sherd_store_put(store, "s.safetensors", SHERD_WRITE_REPLACE, file.data, file.len, err));
	assert_ok(sherd_bundle_open(&b, store, "s.safetensors", NULL, err));
	free(tensors);
	free(order);
	return b;
}

static sherd_bundle *make_many(void)
{
	static char text[COUNT][16];
	const char *names[COUNT];
	for (size_t i = 0; i < COUNT; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "t%02zu", i);
		names[i] = text[i];
	}
	return make_source(names, COUNT, BYTES);
}

/* Members one after the other in small steps, so that more of them are open than there are readers kept. */
static int read_in_steps(void *arg, size_t part, sherd_error *err)
{
	const sherd_bundle *b = arg;
	for (uint64_t at = 0; at < BYTES; at += 50000)
		for (size_t i = part; i < COUNT; i += 4) {
			uint8_t buf[100];
			TRY(sherd_bundle_read(b, i, at, buf, sizeof(buf), err));
			for (size_t k = 0; k < sizeof(buf); k++)
				if (buf[k] != byte_of(i, at + k))
					return shd_fail(err, SHERD_ECORRUPT, "bad-crc", "other bytes");
		}
	return SHERD_OK;
}

TEST(what_is_written_is_read_by_several_threads)
{
	static const sherd_convert_options how[] = {
		{.replace = true},
		{.replace = true, .compress = SHERD_COMPRESS_DEFLATE},
		{.replace = true, .compress = SHERD_COMPRESS_DEFLATE, .level = 6},
	};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) source = make_many();
	sherd_pool *pool;
	assert_ok(sherd_pool_open(&pool, 3, err));
	for (size_t i = 0; i < COUNT_OF(how); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		uint64_t written = 0;
		sherd_convert_options o = how[i];
		o.written = &written;
		assert_ok(sherd_convert(source, store, "a.npz", SHERD_FORMAT_NPZ, &o, err));
		assert_true(i ? written < COUNT * BYTES / 20 : written > COUNT * BYTES);
		assert_ok(sherd_bundle_open(&b, store, "a.npz", NULL, err));
		assert_int_equal(sherd_bundle_count(b), COUNT);
		assert_string_equal(sherd_bundle_tensor(b, COUNT - 1)->name, "t39");
		assert_ok(shd_pool_run(pool, 4, read_in_steps, b, err));
	}
	sherd_pool_close(pool);
}

TEST(stored_members_are_mapped_at_multiples_of_64)
{
	static const char *const names[] = {"a", "bc", "def"};
	const sherd_convert_options packed = {.replace = true, .compress = SHERD_COMPRESS_DEFLATE};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) source = make_source(names, 3, 1001);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) c = NULL;
	const char *base = NULL;
	const void *bytes;
	assert_ok(sherd_convert(source, store, "a.npz", SHERD_FORMAT_NPZ, NULL, err));
	assert_ok(sherd_bundle_open(&b, store, "a.npz", NULL, err));
	for (size_t i = 0; i < 3; i++) {
		assert_ok(sherd_bundle_map(&bytes, b, i, err));
		base = base ? base : bytes;
		assert_int_equal(((const char *)bytes - base) % 64, 0);
		assert_int_equal(((const uint8_t *)bytes)[1000], byte_of(i, 1000));
	}
	assert_ok(sherd_convert(source, store, "a.npz", SHERD_FORMAT_NPZ, &packed, err));
	assert_ok(sherd_bundle_open(&c, store, "a.npz", NULL, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&bytes, c, 0, err));
}

/* Whoever copies damaged bytes makes good checksums of them. */
TEST(no_byte_of_a_damaged_member_is_handed_out)
{
	static const char *const names[] = {"a", "b"};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) source = make_source(names, 2, 1000);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) report = NULL;
	const void *bytes;
	uint8_t one;
	char *raw;
	size_t len;
	assert_ok(sherd_convert(source, store, "d.npz", SHERD_FORMAT_NPZ, NULL, err));
	assert_ok(sherd_store_get(&raw, &len, store, "d.npz", UINT64_MAX, err));
	raw[800] = (char)(raw[800] ^ 1);
	assert_ok(sherd_store_put(store, "d.npz", SHERD_WRITE_REPLACE, raw, len, err));
	sherd_free(raw);
	assert_ok(sherd_bundle_open(&b, store, "d.npz", NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_bundle_read(b, 0, 0, &one, 1, err));
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_bundle_map(&bytes, b, 0, err));
	assert_refused(SHERD_ECORRUPT, "bad-crc", sherd_bundle_prepare(b, NULL, 0, NULL, err));
	assert_ok(sherd_bundle_read(b, 1, 0, &one, 1, err));
	assert_ok(sherd_verify(&report, store, "d.npz", NULL, err));
	assert_int_equal(sherd_report_errors(report), 1);
}

static bool stop_at_once(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *told = arg;
	*told = total;
	return done == UINT64_MAX;
}

/* Members are checked on the way in, where it can be told and cancelled; then not again. */
TEST(preparing_checks_members_and_can_be_cancelled)
{
	static const char *const names[] = {"a", "b"};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) source = make_source(names, 2, 1000);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	uint64_t told = 0;
	const sherd_progress progress = {.update = stop_at_once, .arg = &told};
	const sherd_bundle_options cancel = {.progress = &progress};
	assert_ok(sherd_convert(source, store, "p.npz", SHERD_FORMAT_NPZ, NULL, err));
	assert_ok(sherd_bundle_open(&b, store, "p.npz", NULL, err));
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_bundle_prepare(b, NULL, 0, &cancel, err));
	assert_int_equal(told, 2 * (1000 + 128));
	assert_ok(sherd_bundle_prepare(b, NULL, 0, NULL, err));
	told = 1;
	assert_ok(sherd_bundle_prepare(b, NULL, 0, &cancel, err));
	assert_int_equal(told, 1);
}

TEST(names_that_lead_out_are_not_written)
{
	static const char *const bad[] = {"../a", "/a", "a/../b", "a//b"};
	static const char *const good[] = {"a:0", "a\\b", "gr\xc3\xbc\xc3\x9f", "...", "a b\n"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) source = make_source(&bad[i], 1, 8);
		sherd_stat stat;
		assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
		               sherd_convert(source, store, "n.npz", SHERD_FORMAT_NPZ, NULL, err));
		assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "n.npz", err));
	}
	SHD_AUTO(sherd_bundle, sherd_bundle_close) source = make_source(good, COUNT_OF(good), 8);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	assert_ok(sherd_convert(source, store, "n.npz", SHERD_FORMAT_NPZ, NULL, err));
	assert_ok(sherd_bundle_open(&b, store, "n.npz", NULL, err));
	for (size_t i = 0; i < COUNT_OF(good); i++)
		assert_int_not_equal(sherd_bundle_find(b, good[i]), SHERD_NO_TENSOR);
}

/* Packed, 40 KiB of spaces take a hundred bytes: a head is believed as far as what lies there may have made it. */
TEST(a_packed_head_may_not_claim_much_more_than_lies_there)
{
	static const struct {
		size_t spaces;
		bool taken;
	} cases[] = {{40 << 10, true}, {100 << 10, false}};
	static const char text[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }";
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		SHD_AUTO(sherd_report, sherd_report_close) report = NULL;
		SHD_AUTO_BUF head = {0};
		SHD_AUTO_BUF packed = {0};
		shd_buf_append(&head, "\x93NUMPY\2\0", 8);
		shd_buf_u32(&head, (uint32_t)(sizeof(text) - 1 + cases[i].spaces));
		shd_buf_append(&head, text, sizeof(text) - 1);
		for (size_t k = 0; k < cases[i].spaces; k++)
			shd_buf_u8(&head, k + 1 < cases[i].spaces ? ' ' : '\n');
		shd_buf_u8(&head, 7);
		sdnb_put_deflated(&packed, "a.npy", head.data, head.len);
		assert_true(packed.len < 1000);
		assert_ok(sherd_store_put(store, "h.npz", SHERD_WRITE_REPLACE, packed.data, packed.len, err));
		if (cases[i].taken)
			assert_ok(sherd_bundle_open(&b, store, "h.npz", NULL, err));
		else
			assert_refused(SHERD_ELIMIT, "too-long", sherd_bundle_open(&b, store, "h.npz", NULL, err));
		assert_ok(sherd_verify(&report, store, "h.npz", NULL, err));
		assert_int_equal(sherd_report_errors(report), !cases[i].taken);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_corpus_is_judged_as_its_names_say, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(an_archive_of_arrays_is_known_whatever_its_name, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(what_is_no_array_is_bytes, memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(what_is_written_is_read_by_several_threads, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(stored_members_are_mapped_at_multiples_of_64, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(no_byte_of_a_damaged_member_is_handed_out, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(preparing_checks_members_and_can_be_cancelled, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_packed_head_may_not_claim_much_more_than_lies_there,
	                                        memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(names_that_lead_out_are_not_written, memory_store_open,
	                                        memory_store_close),
	};
	return cmocka_run_group_tests_name("npz", tests, NULL, NULL);
}
