#include "support/memory_store.h"
#include "support/samediff_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/convert.h>
#include <sherd/model.h>
#include <sherd/verify.h>

#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static int fill_store(void **state)
{
	SHD_AUTO_BUF full = {0}, small = {0}, hollow = {0};
	TRY(memory_store_open(state));
	samediff_make_full(&full);
	samediff_make_small(&small);
	samediff_make_hollow(&hollow, "layer/w");
	TRY(sherd_store_put(store, "full.fb", SHERD_WRITE_NEW, full.data, full.len, NULL));
	TRY(sherd_store_put(store, "small", SHERD_WRITE_NEW, small.data, small.len, NULL));
	return sherd_store_put(store, "runs/hollow.fb", SHERD_WRITE_NEW, hollow.data, hollow.len, NULL);
}

TEST(a_graph_is_detected_by_its_bytes)
{
	sherd_format format;
	assert_ok(sherd_detect(&format, store, "small", err));
	assert_int_equal(format, SHERD_FORMAT_SAMEDIFF_FLATBUFFERS);
	assert_ok(sherd_store_put(store, "cut.fb", SHERD_WRITE_REPLACE, "\x18\0\0\0", 4, err));
	assert_ok(sherd_detect(&format, store, "cut.fb", err));
	assert_int_equal(format, SHERD_FORMAT_SAMEDIFF_FLATBUFFERS);
	assert_ok(sherd_store_put(store, "cut", SHERD_WRITE_REPLACE, "\x18\0\0\0", 4, err));
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_detect(&format, store, "cut", err));
}

TEST(arrays_are_handed_out_in_c_order_little_endian)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	assert_ok(sherd_bundle_open(&b, store, "full.fb", NULL, err));
	assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_SAMEDIFF_FLATBUFFERS);
	for (size_t i = 0; i < samediff_row_count; i++) {
		const samediff_row *row = &samediff_rows[i];
		size_t index = sherd_bundle_find(b, row->name);
		assert_int_equal(index, i);
		const sherd_tensor *t = sherd_bundle_tensor(b, index);
		assert_int_equal(t->dtype, row->dtype);
		assert_int_equal(t->bytes, row->want_len);
		for (uint32_t from = 0; from <= row->want_len; from++)
			for (uint32_t to = from; to <= row->want_len; to++) {
				char got[64];
				assert_ok(sherd_bundle_read(b, index, from, got, to - from, err));
				assert_memory_equal(got, row->want + from, to - from);
			}
	}
}

TEST(shapes_are_those_of_the_file)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	assert_ok(sherd_bundle_open(&b, store, "full.fb", NULL, err));
	for (size_t i = 0; i < samediff_row_count; i++) {
		const samediff_row *row = &samediff_rows[i];
		const sherd_tensor *t = sherd_bundle_tensor(b, i);
		if (row->extras & 8 && row->rank == 0) { /* empty, and no dimension says so */
			assert_int_equal(t->ndim, 1);
			assert_int_equal(t->shape[0], 0);
			continue;
		}
		assert_int_equal(t->ndim, row->rank);
		for (uint32_t d = 0; d < row->rank; d++)
			assert_int_equal(t->shape[d], row->dims[d]);
	}
}

TEST(arrays_of_no_variable_have_names_of_their_own)
{
	/* A variable begins with one '@', so these begin with two. */
	static const char *const names[] = {"@@updater/w/M",  "@@updater/w/V",  "@@op/mul/scalar",
	                                    "@@op/mul/all/0", "@@op/mul/all/1", "@@sequence/seq/0"};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	assert_ok(sherd_bundle_open(&b, store, "full.fb", NULL, err));
	assert_int_equal(sherd_bundle_count(b), samediff_row_count + COUNT_OF(names));
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		uint8_t got[4];
		size_t index = samediff_row_count + i;
		assert_string_equal(sherd_bundle_tensor(b, index)->name, names[i]);
		assert_ok(sherd_bundle_read(b, index, 0, got, sizeof(got), err));
		assert_memory_equal(got, "\0\0\x20\x40", sizeof(got));
	}
}

TEST(only_what_lies_as_it_is_wanted_can_be_mapped)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	const void *got;
	assert_ok(sherd_bundle_open(&b, store, "full.fb", NULL, err));
	assert_ok(sherd_bundle_map(&got, b, sherd_bundle_find(b, "bool"), err));
	assert_memory_equal(got, "\1\0\1", 3);
	assert_ok(sherd_bundle_map(&got, b, sherd_bundle_find(b, "le"), err));
	assert_memory_equal(got, "\1\0\0\0\2\0\0\0", 8);
	assert_ok(sherd_bundle_map(&got, b, sherd_bundle_find(b, "empty"), err));
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&got, b, sherd_bundle_find(b, "w"), err));
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&got, b, sherd_bundle_find(b, "u8"), err));
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&got, b, sherd_bundle_find(b, "old"), err));
}

TEST(a_model_tells_its_graph)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	const sherd_pair *pairs;
	assert_ok(sherd_model_open(&m, store, "full.fb", NULL, err));
	const sherd_model_graph *g = sherd_model_describe(m);
	assert_int_equal(sherd_model_format(m), SHERD_FORMAT_SAMEDIFF_FLATBUFFERS);
	assert_int_equal(sherd_model_pairs(&pairs, m), 0);
	assert_int_equal(sherd_model_find(m, "in"), 0);
	assert_int_equal(sherd_model_find(m, "out"), g->variable_count - 1);
	assert_true(sherd_model_find(m, "mul") == SHERD_NO_VARIABLE);
	assert_int_equal(g->operation_count, 1);
	assert_ok(sherd_store_put(store, "x.npy", SHERD_WRITE_REPLACE, "\x93NUMPY\1\0", 8, err));
	sherd_model *none = NULL;
	assert_refused(SHERD_EUNSUPPORTED, "no-graph", sherd_model_open(&none, store, "x.npy", NULL, err));
}

static const char array[] =
	"\0\x10MIXED_DATA_TYPES\0\0\0\0\0\0\0\6\0\4LONG"
	"\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x63"
	"\0\x10MIXED_DATA_TYPES\0\0\0\0\0\0\0\1\0\5FLOAT\x40\x20\0\0";

TEST(arrays_outside_belong_to_variables_without_data)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) without = NULL;
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	const char *key = "runs/hollow_external/layer/w.bin";
	uint8_t got[4];
	assert_ok(sherd_bundle_open(&without, store, "runs/hollow.fb", NULL, err));
	assert_int_equal(sherd_bundle_count(without), 0);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, array, sizeof(array) - 1, err));
	assert_ok(sherd_store_put(store, "runs/hollow_external/other.bin", SHERD_WRITE_NEW, "?", 1, err));
	assert_ok(sherd_store_put(store, "runs/hollow_external/layer/w", SHERD_WRITE_NEW, "?", 1, err));
	assert_ok(sherd_model_open(&m, store, "runs/hollow.fb", NULL, err));
	assert_int_equal(sherd_model_describe(m)->variables[0].array, 0);
	assert_ok(sherd_bundle_of_model(&b, m, err));
	assert_int_equal(sherd_bundle_count(b), 1);
	assert_string_equal(sherd_bundle_tensor(b, 0)->name, "layer/w");
	assert_ok(sherd_bundle_read(b, 0, 0, got, sizeof(got), err));
	assert_memory_equal(got, "\0\0\x20\x40", sizeof(got));
	assert_ok(sherd_verify(&r, store, "runs/hollow.fb", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	assert_int_equal(sherd_report_warnings(r), 1);
	sherd_report_close(r);
	r = NULL;
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, array, sizeof(array) - 2, err));
	assert_ok(sherd_verify(&r, store, "runs/hollow.fb", NULL, err));
	assert_int_equal(sherd_report_errors(r), 1);
	assert_string_equal(sherd_report_error(r, 0)->object, key);
	assert_string_equal(sherd_report_error(r, 0)->reason, "truncated");
	assert_ok(sherd_store_remove(store, key, err));
}

/* What verify says of the full graph with bytes changed: how many errors, and the first warning beyond no-checksum. */
static const char *verify_changed(const char *find, size_t len, const char *put, size_t errors)
{
	static char reason[64];
	SHD_AUTO_BUF full = {0};
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	samediff_make_full(&full);
	uint8_t *at = memmem(full.data, full.len, find, len);
	assert_non_null(at);
	memcpy(at, put, len);
	assert_ok(sherd_store_put(store, "changed.fb", SHERD_WRITE_REPLACE, full.data, full.len, err));
	assert_ok(sherd_verify(&r, store, "changed.fb", NULL, err));
	assert_int_equal(sherd_report_errors(r), errors);
	const sherd_error *e = errors ? sherd_report_error(r, 0) : sherd_report_warning(r, 0);
	(void)strncpy(reason, e->reason, sizeof(reason) - 1);
	return reason;
}

#define VERIFY(find, put, errors) verify_changed(find, sizeof(find) - 1, put "", errors)

TEST(verify_names_what_does_not_fit)
{
	assert_string_equal(VERIFY("mmul", "mmul", 0), "no-checksum");
	assert_string_equal(VERIFY("mmul", "nmul", 0), "op-mismatch");
	assert_string_equal(VERIFY("{\"updater\"", "[\"updater\"", 0), "bad-json");
	assert_string_equal(VERIFY("\3\0\0\0out\0", "\3\0\0\0oui\0", 0), "dangling-output");
	assert_string_equal(VERIFY("\2\0\0\0in\0", "\2\0\0\0im\0", 0), "unknown-variable");
	/* The middle one of the offsets of "text" goes beyond the end. */
	assert_string_equal(VERIFY("\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab",
	                           "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab", 1),
	                    "bad-offsets");
	assert_string_equal(VERIFY("\4\0\0\0bf16", "\4\0\0\0half", 1), "duplicate-name");
}

TEST(a_graph_is_not_lost_unseen)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) again = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) full = NULL;
	sherd_error e = {0};
	assert_ok(sherd_bundle_open(&full, store, "full.fb", NULL, err));
	assert_ok(sherd_bundle_open(&b, store, "small", NULL, err));
	assert_int_equal(sherd_convert(full, store, "s.safetensors", SHERD_FORMAT_SAFETENSORS, NULL, &e),
	                 SHERD_EUNSUPPORTED);
	assert_string_equal(e.reason, "cannot-hold");
	assert_non_null(strstr(e.message, "1 operation"));
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", sherd_convert_check(full, SHERD_FORMAT_NPY, err));
	/* A variable that nothing computes with is its tensor. */
	assert_ok(sherd_convert_check(b, SHERD_FORMAT_NPY, err));
	assert_ok(sherd_convert(b, store, "s.safetensors", SHERD_FORMAT_SAFETENSORS, NULL, err));
	assert_ok(sherd_bundle_open(&again, store, "s.safetensors", NULL, err));
	uint8_t got[8];
	assert_ok(sherd_bundle_read(again, sherd_bundle_find(again, "c"), 0, got, sizeof(got), err));
	assert_memory_equal(got, "\0\0\xc0\x3f\0\0\0\xc0", sizeof(got));
	assert_ok(sherd_convert_check(again, SHERD_FORMAT_NPY, err));
}

TEST(limits_hold_for_graphs)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	const sherd_model_options names = {.limits = &(sherd_limits){.name_bytes = 3}};
	const sherd_model_options dims = {.limits = &(sherd_limits){.dims = 1}};
	const sherd_model_options bytes = {.limits = &(sherd_limits){.metadata_bytes = 1000}};
	assert_refused(SHERD_ELIMIT, "too-large", sherd_model_open(&m, store, "full.fb", &bytes, err));
	assert_refused(SHERD_ELIMIT, "name-too-long", sherd_model_open(&m, store, "full.fb", &names, err));
	assert_refused(SHERD_ELIMIT, "too-many-dims", sherd_model_open(&m, store, "full.fb", &dims, err));
}

TEST(a_name_too_long_to_have_a_folder_beside_it_is_fine)
{
	SHD_AUTO_BUF hollow = {0};
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	char key[253];
	memset(key, 'k', sizeof(key));
	key[sizeof(key) - 1] = 0;
	samediff_make_hollow(&hollow, "w");
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, hollow.data, hollow.len, err));
	assert_ok(sherd_model_open(&m, store, key, NULL, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_is_detected_by_its_bytes),
		cmocka_unit_test(arrays_are_handed_out_in_c_order_little_endian),
		cmocka_unit_test(shapes_are_those_of_the_file),
		cmocka_unit_test(arrays_of_no_variable_have_names_of_their_own),
		cmocka_unit_test(only_what_lies_as_it_is_wanted_can_be_mapped),
		cmocka_unit_test(a_model_tells_its_graph),
		cmocka_unit_test(arrays_outside_belong_to_variables_without_data),
		cmocka_unit_test(verify_names_what_does_not_fit),
		cmocka_unit_test(a_graph_is_not_lost_unseen),
		cmocka_unit_test(limits_hold_for_graphs),
		cmocka_unit_test(a_name_too_long_to_have_a_folder_beside_it_is_fine),
	};
	return cmocka_run_group_tests_name("model", tests, fill_store, memory_store_close);
}
