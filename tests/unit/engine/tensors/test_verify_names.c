/* Whichever way a set is named, all of it is looked at. */
#include "support/memory_store.h"
#include "support/test.h"

#include "format/tensor/safetensors.h"

#include <sherd/ckpt.h>
#include <sherd/convert.h>
#include <sherd/verify.h>

#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static void convert(const char *target, sherd_format format)
{
	static const uint64_t shape[] = {64};
	static const sherd_tensor tensors[] = {{"a", SHERD_U8, 1, shape, 64}, {"b", SHERD_U8, 1, shape, 64}};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	SHD_AUTO_BUF out = {0};
	size_t order[2];
	const sherd_convert_options options = {.shards = 2};
	assert_ok(shd_safetensors_encode(tensors, 2, NULL, 0, &out, order, err));
	for (size_t i = 0; i < 128; i++)
		shd_buf_u8(&out, (uint8_t)i);
	assert_ok(sherd_store_put(store, "source", SHERD_WRITE_REPLACE, out.data, out.len, err));
	assert_ok(sherd_bundle_open(&bundle, store, "source", NULL, err));
	assert_ok(sherd_convert(bundle, store, target, format, &options, err));
}

static size_t check(const char *key, bool quick, uint64_t *checked)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	const sherd_verify_options options = {.quick = quick};
	assert_ok(sherd_verify(&r, store, key, &options, err));
	*checked = sherd_report_checked_bytes(r);
	return sherd_report_errors(r);
}

TEST(every_name_of_a_set_checks_all_of_it)
{
	static const struct {
		const char *target;
		sherd_format format;
		const char *names[3]; /* that stand for the whole */
		const char *part;
	} cases[] = {
		{"d/m",
	         SHERD_FORMAT_SAFETENSORS_INDEX,
	         {"d/m", "d/m.safetensors.index.json"},
	         "d/m-00001-of-00002.safetensors"},
		{"d/f/", SHERD_FORMAT_NPY_FOLDER, {"d/f", "d/f/npy.manifest.json"}, "d/f/a.npy"},
		{"d/q.sdc",
	         SHERD_FORMAT_SAMEDIFF_CONTAINER,
	         {"d/q", "d/q.sdc", "d/q.shard0-of-2.sdc"},
	         "d/q.shard1-of-2.sdc"},
		{"d/s.sdnb", SHERD_FORMAT_SDNB, {"d/s", "d/s.sdnb", "d/s.shard0-of-2.sdnb"}, "d/s.shard1-of-2.sdnb"},
		{"d/c", SHERD_FORMAT_CHECKPOINT, {"d/c", "d/c.metadata.json"}, "d/c_shard_0.shard"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		uint64_t all = 0, same, part;
		convert(cases[i].target, cases[i].format);
		for (int quick = 0; quick < 2; quick++) {
			assert_int_equal(check(cases[i].names[0], quick, &all), 0);
			assert_true(all > 0);
			for (size_t k = 1; k < 3 && cases[i].names[k]; k++) {
				assert_int_equal(check(cases[i].names[k], quick, &same), 0);
				assert_int_equal(same, all);
			}
			assert_int_equal(check(cases[i].part, quick, &part), 0);
			assert_true(part > 0 && part <= all);
		}
	}
}

/* Every file that is missing or damaged is told, not only the first, and what was looked at is counted. */
TEST(all_damage_of_an_index_set_is_told)
{
	uint64_t whole, checked;
	convert("m", SHERD_FORMAT_SAFETENSORS_INDEX);
	assert_int_equal(check("m", false, &whole), 0);
	assert_ok(sherd_store_put(store, "m-00001-of-00002.safetensors", SHERD_WRITE_REPLACE, "short", 5, err));
	assert_int_equal(check("m", false, &checked), 1);
	assert_true(checked > 0 && checked < whole);
	assert_ok(sherd_store_remove(store, "m-00002-of-00002.safetensors", err));
	assert_int_equal(check("m", false, &checked), 2);
	assert_true(checked > 0);
	assert_ok(sherd_store_put(store, "m.safetensors.index.json", SHERD_WRITE_REPLACE, "{", 1, err));
	assert_int_equal(check("m", false, &checked), 1);
	assert_int_equal(checked, 1);
}

TEST(a_folder_around_an_index_names_it)
{
	sherd_report *r = NULL;
	sherd_error e = {0};
	convert("d/m", SHERD_FORMAT_SAFETENSORS_INDEX);
	assert_int_equal(sherd_verify(&r, store, "d", NULL, &e), SHERD_ENOTFOUND);
	assert_string_equal(e.reason, "is-folder");
	assert_non_null(strstr(e.message, "m.safetensors.index.json"));
	/* A folder of nothing known is no damage, the whole store neither. */
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_verify(&r, store, "", NULL, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_name_of_a_set_checks_all_of_it, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(all_damage_of_an_index_set_is_told, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_folder_around_an_index_names_it, memory_store_open,
	                                        memory_store_close),
	};
	return cmocka_run_group_tests_name("unit/engine/tensors/verify_names", tests, NULL, NULL);
}
