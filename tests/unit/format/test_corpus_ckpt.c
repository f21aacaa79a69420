/* tests/corpus/ckpt_*: the first letter of its name says what must become of a file: y accepted, n refused, i either.
 */
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/ckpt_index.h"
#include "format/ckpt_meta.h"

#include <sherd/ckpt.h>

static size_t seen[3]; /* y, n, i */

static void judge(const char *name, size_t len, int rc, const sherd_error *e)
{
	static const char kinds[] = "yni";
	const char *kind = strchr(kinds, name[0]);
	if (!kind || name[1] != '_')
		fail_msg("%s: what should become of it?", name);
	seen[kind - kinds]++;
	if (name[0] == 'y' && rc < 0)
		fail_msg("%s is refused at byte %lld: %s: %s", name, (long long)e->offset, e->reason, e->message);
	if (name[0] == 'n' && rc >= 0)
		fail_msg("%s is accepted", name);
	if (rc < 0 && (!e->reason || !e->message[0] || (e->offset != SHERD_NO_OFFSET && e->offset > len)))
		fail_msg("%s: the error says nothing useful", name);
}

static void judge_meta(const char *name, const uint8_t *data, size_t len)
{
	sherd_arena arena = {0};
	sherd_ckpt_meta meta;
	sherd_error e = {0};
	judge(name, len, sherd_ckpt_meta_decode((const char *)data, len, NULL, &arena, &meta, &e), &e);
	sherd_arena_done(&arena);
}

static void judge_index(const char *name, const uint8_t *data, size_t len)
{
	sherd_arena arena = {0};
	sherd_ckpt_index index;
	sherd_error e = {0};
	judge(name, len, sherd_ckpt_index_decode(data, len, NULL, &arena, &index, &e), &e);
	sherd_arena_done(&arena);
}

static void judge_shard(const char *name, const uint8_t *data, size_t len)
{
	sherd_store *store;
	sherd_ckpt *ckpt = NULL;
	sherd_error e = {0};
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_store_put(store, "x_shard_0.shard", SHERD_WRITE_NEW, data, len, err));
	judge(name, len, sherd_ckpt_open_shard(&ckpt, store, "x_shard_0.shard", NULL, &e), &e);
	sherd_ckpt_close(ckpt);
	sherd_store_close(store);
}

/* Files that were lost on the way must not make the test pass. */
static void judge_folder(const char *folder, source_file_fn *each, size_t yes, size_t no, size_t either)
{
	memset(seen, 0, sizeof(seen));
	(void)source_folder_each(folder, each);
	assert_true(seen[0] >= yes && seen[1] >= no && seen[2] >= either);
}

TEST(metadata_is_judged_as_its_name_says)
{
	judge_folder("tests/corpus/ckpt_meta", judge_meta, 17, 65, 3);
}

TEST(an_index_is_judged_as_its_name_says)
{
	judge_folder("tests/corpus/ckpt_index", judge_index, 4, 8, 1);
}

TEST(a_shard_alone_is_judged_as_its_name_says)
{
	judge_folder("tests/corpus/ckpt_shard", judge_shard, 8, 45, 6);
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
