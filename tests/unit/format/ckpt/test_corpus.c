#include "support/corpus.h"
#include "support/test.h"

#include "base/error.h"
#include "format/ckpt/index.h"
#include "format/ckpt/meta.h"

#include <sherd/ckpt.h>

static int decode_meta(const uint8_t *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_ckpt_meta meta;
	int rc = shd_ckpt_meta_decode((const char *)data, len, NULL, &arena, &meta, err);
	shd_arena_done(&arena);
	return rc;
}

static int decode_index(const uint8_t *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_ckpt_index index;
	int rc = shd_ckpt_index_decode(data, len, NULL, &arena, &index, err);
	shd_arena_done(&arena);
	return rc;
}

static int open_shard(const uint8_t *data, size_t len, sherd_error *err)
{
	sherd_store *store;
	sherd_ckpt *ckpt = NULL;
	TRY(sherd_store_open_memory(&store, err));
	int rc = sherd_store_put(store, "x_shard_0.shard", SHERD_WRITE_NEW, data, len, err);
	if (rc == SHERD_OK)
		rc = sherd_ckpt_open_shard(&ckpt, store, "x_shard_0.shard", NULL, err);
	sherd_ckpt_close(ckpt);
	sherd_store_close(store);
	return rc == SHERD_EINCOMPLETE ? SHERD_OK : rc; /* without an index only the metadata would tell more */
}

TEST(metadata_is_judged_as_its_name_says)
{
	corpus_judge("tests/corpus/ckpt_meta", decode_meta, 18, 70, 3);
}

TEST(an_index_is_judged_as_its_name_says)
{
	corpus_judge("tests/corpus/ckpt_index", decode_index, 4, 8, 1);
}

TEST(a_shard_alone_is_judged_as_its_name_says)
{
	corpus_judge("tests/corpus/ckpt_shard", open_shard, 8, 47, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metadata_is_judged_as_its_name_says),
		cmocka_unit_test(an_index_is_judged_as_its_name_says),
		cmocka_unit_test(a_shard_alone_is_judged_as_its_name_says),
	};
	return cmocka_run_group_tests_name("corpus_ckpt", tests, NULL, NULL);
}
