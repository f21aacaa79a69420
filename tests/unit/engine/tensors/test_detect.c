#include "support/memory_store.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "format/zip.h"

#include <sherd/detect.h>

#include <stdio.h>
#include <string.h>

static void put(const char *key, const void *data, size_t len)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
}

static sherd_format format_of(sherd_store *s, const char *key)
{
	sherd_format format;
	assert_ok(sherd_detect(&format, s, key, err));
	return format;
}

TEST(every_format_has_a_name_and_is_found_by_it)
{
	static const char *const names[] = {"unknown",
	                                    "checkpoint",
	                                    "checkpoint-shard",
	                                    "safetensors",
	                                    "safetensors-index",
	                                    "npy",
	                                    "rows",
	                                    "rows-bf16",
	                                    "samediff-flatbuffers",
	                                    "nd4j-array",
	                                    "samediff-container",
	                                    "sdnb",
	                                    "sdz",
	                                    "rfdb",
	                                    "npy-folder"};
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		assert_string_equal(sherd_format_name((sherd_format)i), names[i]);
		assert_int_equal(sherd_format_by_name(names[i]), i);
	}
	assert_string_equal(sherd_format_name((sherd_format)1000), "unknown");
	assert_int_equal(sherd_format_by_name("Checkpoint"), SHERD_FORMAT_UNKNOWN);
}

#define BYTES(text) text, sizeof(text) - 1

TEST(content_decides_whatever_the_name)
{
	static const struct {
		const char *key, *data;
		size_t len;
		sherd_format format;
	} cases[] = {
		{"a", BYTES("RAHS\0\0\0\0"), SHERD_FORMAT_CHECKPOINT_SHARD},
		{"a.npy", BYTES("RAHS"), SHERD_FORMAT_CHECKPOINT_SHARD},
		{"a.metadata.json", BYTES("RAHS"), SHERD_FORMAT_CHECKPOINT_SHARD},
		{"a.shard", BYTES("\x93NUMPY\1\0"), SHERD_FORMAT_NPY},
		{"a", BYTES("\x93NUMPY"), SHERD_FORMAT_NPY},
		{"a.npy", BYTES("GAMSAE01"), SHERD_FORMAT_ROWS},
		{"a", BYTES("\x02\0\0\0\0\0\0\0{}"), SHERD_FORMAT_SAFETENSORS},
		{"a", BYTES("\x00\xe1\xf5\x05\0\0\0\0{"), SHERD_FORMAT_SAFETENSORS},
		{"a", BYTES("{\"weight_map\":{}}"), SHERD_FORMAT_SAFETENSORS_INDEX},
		{"a", BYTES(" \r\n\t{\"metadata\":{},\"weight_map\":{}}"), SHERD_FORMAT_SAFETENSORS_INDEX},
		{"a.metadata.json", BYTES("{\"weight_map\":{}}"), SHERD_FORMAT_SAFETENSORS_INDEX},
		{"current.json", BYTES("{\"weight_map\":{}}"), SHERD_FORMAT_SAFETENSORS_INDEX},
		{"a", BYTES("{\"version\":\"1.0.0\",\"worldSize\":2,\"shards\":[{}]}"), SHERD_FORMAT_CHECKPOINT},
		{"a", BYTES("{\"shards\":[],\"worldSize\":2}"), SHERD_FORMAT_CHECKPOINT},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_format format;
		put(cases[i].key, cases[i].data, cases[i].len);
		assert_ok(sherd_detect(&format, store, cases[i].key, err));
		assert_int_equal(format, cases[i].format);
	}
}

TEST(a_damaged_document_is_still_what_it_was_meant_to_be)
{
	static const struct {
		const char *key, *data;
		sherd_format format;
	} cases[] = {
		{"a", "{\"weight_map\":{\"a\":", SHERD_FORMAT_SAFETENSORS_INDEX},
		{"a", "{\"worldSize\":2,\"shards\":[{", SHERD_FORMAT_CHECKPOINT},
		{"a.metadata.json", "{\"version\":", SHERD_FORMAT_CHECKPOINT},
		{"a.metadata.json", "", SHERD_FORMAT_CHECKPOINT},
		{"a.metadata.json", "garbage", SHERD_FORMAT_CHECKPOINT},
		{"a.safetensors.index.json", "{\"metadata\":{", SHERD_FORMAT_SAFETENSORS_INDEX},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_format format;
		put(cases[i].key, cases[i].data, strlen(cases[i].data));
		assert_ok(sherd_detect(&format, store, cases[i].key, err));
		assert_int_equal(format, cases[i].format);
	}
}

TEST(what_fits_no_format_is_refused)
{
	static const struct {
		const char *key, *data;
		size_t len;
	} cases[] = {
		{"a.safetensors", BYTES("\x02\0\0\0\0\0\0\0")},
		{"a.safetensors", BYTES("\x01\xe1\xf5\x05\0\0\0\0{}")},
		{"a", BYTES("\x02\0\0\0\0\0\0\0[]")},
		{"a", BYTES("RAH")},
		{"a", BYTES("\x93NUMP")},
		{"a", BYTES("{\"shards\":[]}")},
		{"a", BYTES("{}")},
		{"a", BYTES("[\"weight_map\"]")},
		{"a.safetensors.index.json", BYTES("garbage")},
		{"a", BYTES("plain text")},
		{"a", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_format format;
		sherd_error e = {0};
		put(cases[i].key, cases[i].data, cases[i].len);
		assert_int_equal(sherd_detect(&format, store, cases[i].key, &e), SHERD_EUNSUPPORTED);
		assert_string_equal(e.reason, "unknown-format");
		assert_string_equal(e.object, cases[i].key);
	}
	sherd_format format;
	assert_refused(SHERD_ENOTFOUND, "is-folder", sherd_detect(&format, store, "", err));
	assert_ok(sherd_store_remove(store, "a.safetensors.index.json", err));
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_detect(&format, store, "", err));
}

/* T-1: what others write is named, whatever it is called, and is not said to be damaged. */
TEST(formats_of_others_are_named)
{
	static const struct {
		const char *data;
		size_t len;
		const char *word;
	} cases[] = {
		{BYTES("\x89HDF\r\n\x1a\n\0\0"), "HDF5"},
		{BYTES("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j"), "pickle"}, /* cut off before it says whose */
		{BYTES("\x80\x02}q\0"), "pickle"},
		{BYTES("\x80\x04\x95\x10\0"), "pickle"},
		{BYTES("\x80\x05\x95\x10\0"), "pickle"},
		{BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:00"), "git lfs pull"},
		{BYTES("\n<!DOCTYPE HTML><html>"), "web page"},
		{BYTES("<html lang=en>"), "web page"},
		{BYTES("\x1c\0\0\0TFL3\0\0"), "TensorFlow Lite"},
		{BYTES("\x1f\x8b\x08\0"), "gzip"},
		{BYTES("PK\5\6\0\0\0\0"), "empty ZIP"},
		{BYTES("\x28\xb5\x2f\xfd\0"), "zstd"},
		{BYTES("PAR1\x15\0"), "Parquet"},
	};
	static const char *const keys[] = {"a", "a.fb", "a.sdc"};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		for (size_t k = 0; k < COUNT_OF(keys); k++) {
			sherd_format format;
			sherd_error e = {0};
			put(keys[k], cases[i].data, cases[i].len);
			assert_int_equal(sherd_detect(&format, store, keys[k], &e), SHERD_EUNSUPPORTED);
			assert_string_equal(e.reason, "foreign-format");
			assert_string_equal(e.object, keys[k]);
			assert_non_null(strstr(e.message, cases[i].word));
		}
	}
	sherd_format format;
	put("e.safetensors", "", 0);
	assert_refused(SHERD_ECORRUPT, "empty", sherd_detect(&format, store, "e.safetensors", err));
	/* A graph that was cut and begins so by chance is no pickle. */
	put("g.fb", BYTES("\x80\x02\0\0\0\0\0\0"));
	assert_int_equal(format_of(store, "g.fb"), SHERD_FORMAT_SAMEDIFF_FLATBUFFERS);
	put("z/.zgroup", "{}", 2);
	assert_refused(SHERD_EUNSUPPORTED, "foreign-format", sherd_detect(&format, store, "z", err));
}

static void put_archive(const char *const *entries, size_t count, size_t keep)
{
	SHD_AUTO_BUF out = {0};
	shd_zip_entry list[4] = {0};
	for (size_t i = 0; i < count; i++) {
		list[i] = (shd_zip_entry){.name = entries[i], .head = out.len};
		shd_zip_put_local(&out, &list[i], 1);
	}
	shd_zip_put_directory(&out, list, count, out.len);
	put("a.zip", (const char *)out.data, out.len < keep ? out.len : keep);
}

TEST(archives_of_others_are_named)
{
	static const struct {
		const char *entries[2];
		const char *word; /* NULL: one that may hold a model */
	} cases[] = {
		{{"configuration.json", "coefficients.bin"}, "Deeplearning4j"},
		{{"[Content_Types].xml", "word/document.xml"}, "Office"},
		{{"META-INF/MANIFEST.MF", "a.class"}, "Java archive"},
		{{"a.npy", "model.sdnb"}, NULL},
		{{"model", "data.pkl"}, NULL},
		{{"x.npy", "y.txt"}, "no model in it"},
		{{"readme.txt", "run.shard0-of-2.sdnb"}, NULL},
		{{"readme.txt", "data.bin"}, "no model in it"},
		{{"gr\x81\xe1.txt", "data.bin"}, "no model in it"}, /* names in CP437 are no damage of a model */
		{{"../up.txt", "data.bin"}, "no model in it"},
		{{"gr\x81\xe1.txt", "model"}, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_format format = SHERD_FORMAT_UNKNOWN;
		sherd_error e = {0};
		put_archive(cases[i].entries, 2, SIZE_MAX);
		int rc = sherd_detect(&format, store, "a.zip", &e);
		if (!cases[i].word) {
			assert_int_equal(rc, SHERD_OK);
			assert_int_equal(format, SHERD_FORMAT_SDZ);
			continue;
		}
		assert_int_equal(rc, SHERD_EUNSUPPORTED);
		assert_string_equal(e.reason, "foreign-format");
		assert_non_null(strstr(e.message, cases[i].word));
	}
	/* Every cut of one is the same or nothing known. */
	for (size_t keep = 4; keep < 200; keep++) {
		sherd_format format;
		put_archive(cases[0].entries, 2, keep);
		int rc = sherd_detect(&format, store, "a.zip", NULL);
		assert_true(rc == SHERD_OK || rc == SHERD_EUNSUPPORTED);
	}
}

TEST(a_prefix_is_a_checkpoint_once_its_metadata_is_there)
{
	sherd_format format;
	sherd_error e = {.code = SHERD_OK};
	assert_int_equal(sherd_detect(&format, store, "run/step", &e), SHERD_ENOTFOUND);
	assert_string_equal(e.object, "run/step");
	put("run/step_shard_x.shard", "x", 1);
	put("run/step_shard_0/1.shard", "x", 1);
	put("run/step_shard_0.txt", "x", 1);
	put("run/stepping_shard_0.shard", "x", 1);
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_detect(&format, store, "run/step", err));
	put("run/step_shard_0.shard", "x", 1);
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_detect(&format, store, "run/step", err));
	assert_ok(sherd_store_remove(store, "run/step_shard_0.shard", err));
	put("run/step_shard_12.00ff.shard", "x", 1);
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_detect(&format, store, "run/step", err));
	put("run/other.saving", "x", 1);
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_detect(&format, store, "run/other", err));
	put("run/other.metadata.json", "{}", 2);
	put("run/step.metadata.json", "{}", 2);
	e = (sherd_error){.code = SHERD_OK};
	assert_int_equal(sherd_detect(&format, store, "run/step", &e), SHERD_OK);
	assert_int_equal(e.code, SHERD_OK);
	assert_int_equal(format, SHERD_FORMAT_CHECKPOINT);
	assert_ok(sherd_detect(&format, store, "run/other", err));
	assert_int_equal(format, SHERD_FORMAT_CHECKPOINT);
}

TEST(a_key_whose_metadata_could_have_no_name_is_not_found)
{
	char key[256];
	sherd_format format;
	memset(key, 'k', 255);
	key[255] = 0;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_detect(&format, store, key, err));
	assert_int_equal(sherd_detect(&format, store, "a/../b", NULL), SHERD_EINVAL);
}

TEST(a_folder_of_a_local_store_can_share_its_name_with_a_prefix)
{
	char *folder = scratch_make();
	sherd_store *local;
	sherd_format format;
	assert_ok(sherd_store_open_local(&local, folder, NULL, err));
	assert_ok(sherd_store_put(local, "step/x", SHERD_WRITE_NEW, "x", 1, err));
	assert_int_equal(sherd_detect(&format, local, "absent", NULL), SHERD_ENOTFOUND);
	assert_int_equal(sherd_detect(&format, local, "step", NULL), SHERD_ENOTFOUND);
	assert_ok(sherd_store_put(local, "step.metadata.json", SHERD_WRITE_NEW, "{}", 2, err));
	assert_ok(sherd_detect(&format, local, "step", err));
	assert_int_equal(format, SHERD_FORMAT_CHECKPOINT);
	sherd_store_close(local);
	scratch_remove(folder);
}

TEST(a_folder_of_rows_is_told_by_its_shards_manifest_or_claim)
{
	put("d/.shard", "GAMSAE01", 8);
	put("d/a.shards", "GAMSAE01", 8);
	put("d/deep/a.shard", "GAMSAE01", 8);
	put("d/short.shard", "GAM", 3);
	put("d/step_shard_0.shard", "RAHS", 4);
	sherd_format format;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_detect(&format, store, "d", err));
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_detect(&format, store, "", err));
	put("d/x.shard", "GAMSAE01", 8);
	assert_int_equal(format_of(store, "d"), SHERD_FORMAT_ROWS);
	put("e/f/rows.manifest.json", "", 0);
	put("g/rows.packing", "", 0);
	assert_int_equal(format_of(store, "e/f"), SHERD_FORMAT_ROWS);
	assert_int_equal(format_of(store, "g"), SHERD_FORMAT_ROWS);
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_detect(&format, store, "", err));
	put("z.shard", "GAMSAE01", 8);
	assert_int_equal(format_of(store, ""), SHERD_FORMAT_ROWS);
}

TEST(a_foreign_folder_is_told_by_what_its_manifest_says)
{
	static const char *const no[] = {"", "{}", "[]", "{\"format\":\"other\"}", "{\"format\":1}", "{\"format\""};
	static const char *const yes[] = {"{\"format\":\"residual_shard_bf16\"}",
	                                  "{\"x\":{},\"format\":\"residual_shard_bf16\",\"shards\":["};
	sherd_format format;
	for (size_t i = 0; i < COUNT_OF(no); i++) {
		put("d/manifest.json", no[i], strlen(no[i]));
		assert_refused(SHERD_ENOTFOUND, "not-found", sherd_detect(&format, store, "d", err));
	}
	for (size_t i = 0; i < COUNT_OF(yes); i++) {
		put("d/manifest.json", yes[i], strlen(yes[i]));
		assert_int_equal(format_of(store, "d"), SHERD_FORMAT_ROWS_BF16);
	}
	/* Whose claim is still there had finished; beside any other manifest.json rows are being packed. */
	put("d/rows.packing", "", 0);
	assert_int_equal(format_of(store, "d"), SHERD_FORMAT_ROWS_BF16);
	put("d/manifest.json", "{}", 2);
	assert_int_equal(format_of(store, "d"), SHERD_FORMAT_ROWS);
}

TEST(a_folder_of_rows_hides_no_committed_checkpoint)
{
	sherd_format format;
	put("step/a.shard", "GAMSAE01", 8);
	put("step_shard_0.shard", "RAHS", 4);
	assert_int_equal(format_of(store, "step"), SHERD_FORMAT_ROWS);
	put("step.metadata.json", "{}", 2);
	assert_int_equal(format_of(store, "step"), SHERD_FORMAT_CHECKPOINT);
	put("run/x_shard_0.shard", "RAHS", 4);
	assert_refused(SHERD_EINCOMPLETE, "incomplete", sherd_detect(&format, store, "run/x", err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_detect(&format, store, "run", err));
}

TEST(a_large_tree_below_a_folder_is_passed_by)
{
	char key[64];
	sherd_format format;
	for (unsigned i = 0; i < 3500; i++) {
		(void)snprintf(key, sizeof(key), "d/%c/%05u/a.shard", "am\xff"[i % 3], i);
		put(key, "GAMSAE01", 8);
	}
	for (unsigned i = 0; i < 1100; i++) {
		(void)snprintf(key, sizeof(key), "d/b/\xff\xff%05u.shard", i);
		put(key, "GAMSAE01", 8);
	}
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_detect(&format, store, "d", err));
	put("d/n.shard", "GAMSAE01", 8);
	assert_int_equal(format_of(store, "d"), SHERD_FORMAT_ROWS);
	assert_ok(sherd_store_remove(store, "d/n.shard", err));
	put("d/\xff\xff.shard", "GAMSAE01", 8);
	assert_int_equal(format_of(store, "d"), SHERD_FORMAT_ROWS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_has_a_name_and_is_found_by_it),
		CASE(content_decides_whatever_the_name),
		CASE(a_damaged_document_is_still_what_it_was_meant_to_be),
		CASE(what_fits_no_format_is_refused),
		CASE(formats_of_others_are_named),
		CASE(archives_of_others_are_named),
		CASE(a_prefix_is_a_checkpoint_once_its_metadata_is_there),
		CASE(a_key_whose_metadata_could_have_no_name_is_not_found),
		CASE(a_folder_of_rows_is_told_by_its_shards_manifest_or_claim),
		CASE(a_foreign_folder_is_told_by_what_its_manifest_says),
		CASE(a_folder_of_rows_hides_no_committed_checkpoint),
		CASE(a_large_tree_below_a_folder_is_passed_by),
		cmocka_unit_test(a_folder_of_a_local_store_can_share_its_name_with_a_prefix),
	};
	return cmocka_run_group_tests_name("detect", tests, NULL, NULL);
}
