#include "support/corpus.h"
#include "support/test.h"

#include "format/samediff/sdnb.h"

#include <sherd/model.h>
#include <sherd/store.h>

static int open_and_touch(const uint8_t *data, size_t len, sherd_error *err)
{
	sherd_store *store;
	sherd_bundle *b = NULL;
	uint8_t byte;
	assert_int_equal(sherd_store_open_memory(&store, err), SHERD_OK);
	assert_int_equal(sherd_store_put(store, "m.sdnb", SHERD_WRITE_NEW, data, len, err), SHERD_OK);
	int rc = sherd_bundle_open(&b, store, "m.sdnb", NULL, err);
	for (size_t i = 0; rc == SHERD_OK && i < sherd_bundle_count(b); i++)
		assert_int_equal(sherd_bundle_read(b, i, sherd_bundle_tensor(b, i)->bytes - 1, &byte, 1, err),
		                 SHERD_OK);
	sherd_bundle_close(b);
	sherd_store_close(store);
	return rc;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/sdnb", open_and_touch, 5, 30, 1);
}

TEST(a_head_is_read_as_it_was_written)
{
	uint8_t raw[SHD_SDNB_HEAD];
	static const uint8_t want[] = {'S', 'D', 'N', 'B', 0, 0, 0, 1,    0, 0, 0, 0, 0, 0x10, 2, 0xd8,
	                               0,   0,   0,   0,   0, 0, 1, 0x43, 0, 0, 0, 0, 0, 0,    0, 32};
	shd_sdnb_head got;
	shd_sdnb_head_encode(&(shd_sdnb_head){0x1002d8, 0x143}, raw);
	assert_memory_equal(raw, want, sizeof(want));
	assert_ok(shd_sdnb_head_decode(raw, sizeof(raw), 0x1002d8 + 0x143, &got, err));
	assert_true(got.manifest == 0x1002d8 && got.manifest_bytes == 0x143);
	assert_fails(SHERD_ECORRUPT, 0x1002d8 + 0x142,
	             shd_sdnb_head_decode(raw, sizeof(raw), 0x1002d8 + 0x142, &got, err));
	raw[7] = 2;
	assert_fails(SHERD_EVERSION, 4, shd_sdnb_head_decode(raw, sizeof(raw), 1 << 30, &got, err));
	raw[7] = 1;
	raw[31] = 33;
	assert_fails(SHERD_ECORRUPT, 24, shd_sdnb_head_decode(raw, sizeof(raw), 1 << 30, &got, err));
	raw[31] = 32;
	raw[8] = 0x80;
	assert_fails(SHERD_ECORRUPT, 8, shd_sdnb_head_decode(raw, sizeof(raw), UINT64_MAX, &got, err));
	raw[8] = 0;
	raw[16] = 0xff;
	assert_fails(SHERD_ECORRUPT, 16, shd_sdnb_head_decode(raw, sizeof(raw), UINT64_MAX, &got, err));
	raw[0] = 's';
	assert_fails(SHERD_ECORRUPT, 0, shd_sdnb_head_decode(raw, sizeof(raw), 1 << 30, &got, err));
}

TEST(arrays_may_neither_overlap_nor_lie_outside)
{
	const shd_sdnb_head head = {1000, 10};
	shd_java_manifest_entry e[] = {{"b", 500, 100}, {"a", 100, 400}, {"c", 600, 400}, {"d", 600, 0}};
	uint64_t end;
	assert_ok(shd_sdnb_check_places(e, 0, &head, &end, err));
	assert_int_equal(end, 1000);
	assert_ok(shd_sdnb_check_places(e, 3, &head, &end, err));
	assert_int_equal(end, 100);
	e[1].length = 401;
	assert_refused(SHERD_ECORRUPT, "overlap", shd_sdnb_check_places(e, 3, &head, &end, err));
	e[1].length = 400;
	e[2].length = 401;
	assert_refused(SHERD_ECORRUPT, "bad-offsets", shd_sdnb_check_places(e, 3, &head, &end, err));
	e[2].length = UINT64_MAX;
	assert_refused(SHERD_ECORRUPT, "bad-offsets", shd_sdnb_check_places(e, 3, &head, &end, err));
	e[2] = (shd_java_manifest_entry){"c", 31, 1};
	assert_refused(SHERD_ECORRUPT, "bad-offsets", shd_sdnb_check_places(e, 3, &head, &end, err));
}

static void parses(const char *name, const char *base, uint32_t index, uint32_t count)
{
	shd_sdnb_name got;
	if (!shd_sdnb_name_parse(shd_str_of(name), &got))
		fail_msg("%s is no name of a shard", name);
	assert_true(shd_str_is(got.base, base));
	assert_true(got.index == index && got.count == count);
}

TEST(names_of_shards_are_known)
{
	static const char *const others[] = {"m.sdnb",
	                                     "m",
	                                     "",
	                                     ".shard0-of-1.sdnb",
	                                     "a/.shard0-of-1.sdnb",
	                                     "m.shard1-of-1.sdnb",
	                                     "m.shard01-of-2.sdnb",
	                                     "m.shard0-of-02.sdnb",
	                                     "m.shard-of-2.sdnb",
	                                     "m.shard0-of-.sdnb",
	                                     "m.shard0-of-N.sdnb",
	                                     "m.shard0-of-2.sdc",
	                                     "m.shard0-of-99999999999.sdnb",
	                                     "m.shard0-of-4294967296.sdnb",
	                                     "m.shard-1-of-2.sdnb",
	                                     "mshard0-of-2.sdnb"};
	shd_sdnb_name got;
	parses("m.shard0-of-1.sdnb", "m", 0, 1);
	parses("m.shard0-of-2", "m", 0, 2);
	parses("a/b.c.shard10-of-4294967295.sdnb", "a/b.c", 10, UINT32_MAX);
	for (size_t i = 0; i < COUNT_OF(others); i++)
		if (shd_sdnb_name_parse(shd_str_of(others[i]), &got))
			fail_msg("%s is taken for a shard", others[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_corpus_is_judged_as_its_names_say),
		cmocka_unit_test(a_head_is_read_as_it_was_written),
		cmocka_unit_test(arrays_may_neither_overlap_nor_lie_outside),
		cmocka_unit_test(names_of_shards_are_known),
	};
	return cmocka_run_group_tests_name("sdnb", tests, NULL, NULL);
}
