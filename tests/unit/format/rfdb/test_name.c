#include "support/test.h"

#include "format/rfdb/name.h"

TEST(names_are_those_of_the_real_server)
{
	char name[SHD_RFDB_NAME_MAX];
	shd_rfdb_segment_name(3, 12, SHD_RFDB_NODES, name);
	assert_string_equal(name, "segments/03/seg_000012_nodes.seg");
	shd_rfdb_segment_name(SHD_RFDB_FLAT, 1234567, SHD_RFDB_EDGES, name);
	assert_string_equal(name, "segments/seg_1234567_edges.seg");
	shd_rfdb_sidecar_name(65534, UINT64_MAX, SHD_RFDB_EDGES, name);
	assert_string_equal(name, "segments/65534/seg_18446744073709551615_edges.idx");
	shd_rfdb_folder_name(7, name);
	assert_string_equal(name, "segments/07");
	shd_rfdb_manifest_name(1, false, name);
	assert_string_equal(name, "manifests/000001.json");
	shd_rfdb_manifest_name(12345678, true, name);
	assert_string_equal(name, "manifests/12345678.edit.json");
	shd_rfdb_held_name(12, 3, name);
	assert_string_equal(name, "manifests/000012.held-3");
}

TEST(names_are_taken_apart_again)
{
	shd_rfdb_file f;
	uint64_t version, number;
	bool edit;
	assert_true(shd_rfdb_file_parse(SHD_STR("segments/03/seg_000012_nodes.seg"), &f));
	assert_true(f.shard == 3 && f.id == 12 && f.kind == SHD_RFDB_NODES && !f.is_sidecar);
	assert_true(shd_rfdb_file_parse(SHD_STR("segments/seg_1234567_edges.idx"), &f));
	assert_true(f.shard == SHD_RFDB_FLAT && f.id == 1234567 && f.kind == SHD_RFDB_EDGES && f.is_sidecar);
	assert_true(shd_rfdb_manifest_parse(SHD_STR("manifests/000042.edit.json"), &version, &edit));
	assert_true(version == 42 && edit);
	assert_true(shd_rfdb_manifest_parse(SHD_STR("manifests/1000000.json"), &version, &edit));
	assert_true(version == 1000000 && !edit);
	assert_true(shd_rfdb_held_parse(SHD_STR("manifests/000042.held-10"), &version, &number));
	assert_true(version == 42 && number == 10);
}

TEST(other_names_are_not_taken_for_ours)
{
	static const char *const files[] = {"",
	                                    "segments/",
	                                    "segments/03/",
	                                    "segments/3/seg_000012_nodes.seg",
	                                    "segments/03/seg_12_nodes.seg",
	                                    "segments/03/seg_000012_nodes.tmp",
	                                    "segments/03/seg_000012_rows.seg",
	                                    "segments/03/seg_000012_nodes.seg~",
	                                    "segments/99999/seg_000012_nodes.seg",
	                                    "segments/03/x/seg_000012_nodes.seg",
	                                    "gc/03/seg_000012_nodes.seg",
	                                    "segments/03/seg_99999999999999999999_nodes.seg",
	                                    "segments/-1/seg_000012_nodes.seg"};
	static const char *const manifests[] = {
		"manifests/1.json",          "manifests/000001.tmp",    "manifests/000001.json.json",
		"manifests/000001.edit.tmp", "manifests/.json",         "000001.json",
		"manifests/0000001.json",    "manifests/000001.held-1", "manifests/99999999999999999999.json"};
	static const char *const held[] = {"manifests/000001.held-",   "manifests/000001.held-01",
	                                   "manifests/000001.held-1x", "manifests/1.held-1",
	                                   "manifests/000001.json",    "000001.held-1"};
	shd_rfdb_file f;
	uint64_t version, number;
	bool edit;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (shd_rfdb_file_parse(shd_str_of(files[i]), &f))
			fail_msg("%s", files[i]);
	for (size_t i = 0; i < sizeof(manifests) / sizeof(manifests[0]); i++)
		if (shd_rfdb_manifest_parse(shd_str_of(manifests[i]), &version, &edit))
			fail_msg("%s", manifests[i]);
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (shd_rfdb_held_parse(shd_str_of(held[i]), &version, &number))
			fail_msg("%s", held[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_real_server),
		cmocka_unit_test(names_are_taken_apart_again),
		cmocka_unit_test(other_names_are_not_taken_for_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
