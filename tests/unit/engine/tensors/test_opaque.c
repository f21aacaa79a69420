/* Types that are known by their names alone: kept bit for bit, never interpreted. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/ckpt.h>
#include <sherd/convert.h>
#include <sherd/verify.h>

#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
#define BUNDLE SHD_AUTO(sherd_bundle, sherd_bundle_close)
#define DIMS(...) ((const uint64_t[]){__VA_ARGS__})

static const uint8_t data[] = "0123456789abcdef";

/* Shapes say nothing of sizes: one that does not fit 64 bits, one of nothing with bytes, one with none. */
static const sherd_ckpt_item items[] = {
	{.tensor = {"a", SHERD_OPAQUE, 2, DIMS(3, 5), 7, "I4"}, .data = data},
	{.tensor = {"b", SHERD_OPAQUE, 2, DIMS(UINT64_C(1) << 40, UINT64_C(1) << 40), 5, "Q4_0"}, .data = data + 1},
	{.tensor = {"c", SHERD_OPAQUE, 1, DIMS(0), 1, "\xc3\xa9 \"\\\n"}, .data = data + 2},
	{.tensor = {"d", SHERD_OPAQUE, 0, NULL, 0, "f32"}},
	{.tensor = {"e", SHERD_F32, 1, DIMS(2), 8}, .data = data},
};

static void save(const char *prefix, uint32_t world)
{
	const sherd_ckpt_shard_items shards[3] = {{items, COUNT_OF(items)}};
	sherd_ckpt_save_options o = {.world = world};
	assert_ok(sherd_ckpt_save(store, prefix, shards, &o, err));
}

static void assert_same(const char *key)
{
	BUNDLE b = NULL;
	uint8_t got[sizeof(data)];
	assert_ok(sherd_bundle_open(&b, store, key, NULL, err));
	assert_int_equal(sherd_bundle_count(b), COUNT_OF(items));
	for (size_t i = 0; i < COUNT_OF(items); i++) {
		const sherd_tensor *want = &items[i].tensor;
		size_t at = sherd_bundle_find(b, want->name);
		const sherd_tensor *t = sherd_bundle_tensor(b, at);
		assert_int_equal(t->dtype, want->dtype);
		assert_string_equal(sherd_tensor_type(t), sherd_tensor_type(want));
		assert_int_equal(t->ndim, want->ndim);
		if (t->ndim)
			assert_memory_equal(t->shape, want->shape, t->ndim * sizeof(*t->shape));
		assert_int_equal(t->bytes, want->bytes);
		assert_ok(sherd_bundle_read(b, at, 0, got, t->bytes, err));
		if (t->bytes)
			assert_memory_equal(got, items[i].data, t->bytes);
	}
	SHD_AUTO(sherd_report, sherd_report_close) report = NULL;
	assert_ok(sherd_verify(&report, store, key, NULL, err));
	assert_int_equal(sherd_report_errors(report), 0);
}

TEST(checkpoints_safetensors_and_containers_keep_them)
{
	static const sherd_format formats[] = {SHERD_FORMAT_CHECKPOINT, SHERD_FORMAT_SAFETENSORS,
	                                       SHERD_FORMAT_SAFETENSORS_INDEX, SHERD_FORMAT_SAMEDIFF_CONTAINER};
	BUNDLE from = NULL;
	save("from", 1);
	assert_same("from");
	assert_ok(sherd_bundle_open(&from, store, "from", NULL, err));
	for (size_t i = 0; i < COUNT_OF(formats); i++)
		for (uint32_t shards = 1; shards <= 3; shards += 2) {
			char key[] = {(char)('k' + i), (char)('0' + shards), 0};
			sherd_convert_options o = {.shards = shards};
			const sherd_format_info *f = sherd_format_describe(formats[i]);
			if (shards > 1 && !(f->takes & SHERD_TAKES_SHARDS))
				continue;
			assert_ok(sherd_convert(from, store, key, formats[i], &o, err));
			assert_same(key);
		}
}

TEST(others_refuse_them_by_name)
{
	BUNDLE from = NULL;
	save("from", 1);
	assert_ok(sherd_bundle_open(&from, store, "from", NULL, err));
	for (size_t i = 0; sherd_format_at(i); i++) {
		const sherd_format_info *f = sherd_format_at(i);
		if (!f->written || sherd_format_holds(f, SHERD_OPAQUE) || !(f->holds & SHERD_HOLDS_MANY))
			continue;
		sherd_error e = {0};
		assert_int_equal(sherd_convert(from, store, "x", f->id, NULL, &e), SHERD_EUNSUPPORTED);
		assert_string_equal(e.reason, "cannot-hold");
		assert_non_null(strstr(e.message, "which is I4"));
	}
}

TEST(they_are_neither_cut_nor_sliced)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) from = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) to = NULL;
	const sherd_ckpt_piece *pieces;
	sherd_ckpt_save_options o = {.world = 3};
	uint8_t got[16];
	save("from", 1);
	assert_ok(sherd_ckpt_open(&from, store, "from", NULL, err));
	assert_ok(sherd_ckpt_reshard(from, store, "to", true, &o, err));
	assert_same("to");
	assert_ok(sherd_ckpt_open(&to, store, "to", NULL, err));
	assert_int_equal(sherd_ckpt_pieces(&pieces, to, sherd_ckpt_find(to, "a")), 1);
	assert_refused(SHERD_EUNSUPPORTED, "no-elements",
	               sherd_ckpt_read_slice(from, 0, DIMS(0, 0), DIMS(1, 5), got, err));
	sherd_ckpt_item piece = {.tensor = {"p", SHERD_OPAQUE, 1, DIMS(1), 1, "I4"}, .data = data};
	piece.global_shape = DIMS(2);
	piece.global_offset = DIMS(0);
	const sherd_ckpt_shard_items shard = {&piece, 1};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_save(store, "p", &shard, NULL, err));
}

TEST(a_type_has_a_name_of_1_to_255_bytes_of_text)
{
	char longest[SHERD_MAX_TYPE_NAME + 2];
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	const char *const bad[] = {NULL, "", "\xff", longest};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		const sherd_ckpt_item item = {.tensor = {"t", SHERD_OPAQUE, 0, NULL, 1, bad[i]}, .data = data};
		const sherd_ckpt_shard_items shard = {&item, 1};
		assert_refused(SHERD_EINVAL, "bad-argument", sherd_ckpt_save(store, "x", &shard, NULL, err));
	}
	const sherd_ckpt_item item = {.tensor = {"t", SHERD_OPAQUE, 0, NULL, 1, longest + 1}, .data = data};
	const sherd_ckpt_shard_items shard = {&item, 1};
	BUNDLE b = NULL;
	assert_ok(sherd_ckpt_save(store, "x", &shard, NULL, err));
	assert_ok(sherd_bundle_open(&b, store, "x", NULL, err));
	assert_string_equal(sherd_bundle_tensor(b, 0)->type_name, longest + 1);
	for (sherd_format f = SHERD_FORMAT_SAFETENSORS; f <= SHERD_FORMAT_SAMEDIFF_CONTAINER; f++)
		if (f == SHERD_FORMAT_SAFETENSORS || f == SHERD_FORMAT_SAMEDIFF_CONTAINER) {
			BUNDLE again = NULL;
			const char *key = f == SHERD_FORMAT_SAFETENSORS ? "s" : "c";
			assert_ok(sherd_convert(b, store, key, f, NULL, err));
			assert_ok(sherd_bundle_open(&again, store, key, NULL, err));
			assert_string_equal(sherd_bundle_tensor(again, 0)->type_name, longest + 1);
		}
}

/* It would come back as that type, of another size maybe. */
TEST(safetensors_does_not_take_an_opaque_type_by_the_name_of_a_known_one)
{
	const sherd_ckpt_item item = {.tensor = {"t", SHERD_OPAQUE, 0, NULL, 1, "F32"}, .data = data};
	const sherd_ckpt_shard_items shard = {&item, 1};
	BUNDLE b = NULL;
	assert_ok(sherd_ckpt_save(store, "x", &shard, NULL, err));
	assert_ok(sherd_bundle_open(&b, store, "x", NULL, err));
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
	               sherd_convert(b, store, "s", SHERD_FORMAT_SAFETENSORS, NULL, err));
}

TEST(replicas_have_the_same_name_of_type)
{
	const sherd_ckpt_item a = {.tensor = {"t", SHERD_OPAQUE, 0, NULL, 1, "I4"}, .data = data};
	const sherd_ckpt_item b = {.tensor = {"t", SHERD_OPAQUE, 0, NULL, 1, "I5"}, .data = data};
	const sherd_ckpt_shard_items same[] = {{&a, 1}, {&a, 1}}, other[] = {{&a, 1}, {&b, 1}};
	sherd_ckpt_save_options o = {.world = 2};
	assert_ok(sherd_ckpt_save(store, "same", same, &o, err));
	assert_refused(SHERD_ECORRUPT, "bad-piece", sherd_ckpt_save(store, "other", other, &o, err));
}

TEST(a_save_in_the_background_keeps_the_name)
{
	char name[] = "I4";
	sherd_ckpt_item item = {.tensor = {"t", SHERD_OPAQUE, 0, NULL, 1, name}, .data = data};
	const sherd_ckpt_shard_items shard = {&item, 1};
	sherd_pool *pool;
	sherd_ckpt_job *job;
	BUNDLE b = NULL;
	assert_ok(sherd_pool_open(&pool, 1, err));
	sherd_ckpt_save_options o = {.pool = pool};
	assert_ok(sherd_ckpt_save_start(&job, store, "x", &shard, SHERD_JOB_COPY, &o, err));
	name[0] = '?';
	assert_ok(sherd_ckpt_job_wait(job, err));
	sherd_ckpt_job_close(job);
	sherd_pool_close(pool);
	assert_ok(sherd_bundle_open(&b, store, "x", NULL, err));
	assert_string_equal(sherd_bundle_tensor(b, 0)->type_name, "I4");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(checkpoints_safetensors_and_containers_keep_them),
		CASE(others_refuse_them_by_name),
		CASE(they_are_neither_cut_nor_sliced),
		CASE(a_type_has_a_name_of_1_to_255_bytes_of_text),
		CASE(safetensors_does_not_take_an_opaque_type_by_the_name_of_a_known_one),
		CASE(replicas_have_the_same_name_of_type),
		CASE(a_save_in_the_background_keeps_the_name),
	};
	return cmocka_run_group_tests_name("opaque", tests, NULL, NULL);
}
