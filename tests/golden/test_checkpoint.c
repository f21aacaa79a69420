/* The checkpoints of tests/golden/checkpoint: saving them again gives the same bytes, and opening them gives what was
 * saved. With SHD_GOLDEN_OUT=FOLDER in the environment they are also written there, to be looked at and committed
 * when the format has changed on purpose. */
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/ckpt.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/golden/checkpoint"
#define NOON INT64_C(1767960000250000000) /* 2026-01-09T12:00:00.25Z */
#define DIMS(...) ((const uint64_t[]){__VA_ARGS__})
#define ODD_NAME "odd \"name\"\n\xe2\x9c\x93/.."

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

static const sherd_set_id first_id = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
static const sherd_set_id second_id = {{0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88, 1}};

static const float embed[] = {0.0f, 1.0f, -2.0f, 0.5f, 3.25f, 1e30f};
static const uint16_t bias[] = {0x3f80, 0xc000, 0x7fc0};
static const int64_t step[] = {-7};
static const uint8_t names[] = "\0\0\0\0\0\0\0\0"
			       "\5\0\0\0\0\0\0\0"
			       "\5\0\0\0\0\0\0\0"
			       "\7\0\0\0\0\0\0\0"
			       "sherd\xc3\xa9";
static const int16_t cut[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const double norm[] = {0.1, -0.0};
static const uint8_t bytes[] = {0, 1, 0xff};
static const float complex_pair[] = {1.5f, -1.5f};

static const sherd_ckpt_item of_rank_0[] = {
	{.tensor = {"embed", SHERD_F32, 2, DIMS(2, 3), 0},
         .data = embed,
         .extra = "\"note\": [1, null, {\"a\": \"b\"}]"},
	{.tensor = {"bias", SHERD_BF16, 1, DIMS(3), 0}, .data = bias},
	{.tensor = {"step", SHERD_I64, 0, NULL, 0}, .data = step},
	{.tensor = {"empty", SHERD_F32, 2, DIMS(0, 4), 0}},
	{.tensor = {"names", SHERD_UTF8, 1, DIMS(3), sizeof(names) - 1}, .data = names},
	{.tensor = {"cut", SHERD_I16, 2, DIMS(1, 2), 0},
         .global_shape = DIMS(4, 2),
         .global_offset = DIMS(0, 0),
         .data = cut},
	{.tensor = {"norm", SHERD_F64, 1, DIMS(2), 0}, .data = norm},
};

static const sherd_ckpt_item of_rank_1[] = {
	{.tensor = {"cut", SHERD_I16, 2, DIMS(3, 2), 0},
         .global_shape = DIMS(4, 2),
         .global_offset = DIMS(1, 0),
         .data = cut + 2},
	{.tensor = {"norm", SHERD_F64, 1, DIMS(2), 0}, .data = norm},
	{.tensor = {ODD_NAME, SHERD_U8, 1, DIMS(3), 0}, .data = bytes},
	{.tensor = {"flags", SHERD_BOOL, 1, DIMS(2), 0}, .data = bytes},
	{.tensor = {"e4m3", SHERD_F8_E4M3, 3, DIMS(1, 3, 1), 0}, .data = bytes},
	{.tensor = {"complex", SHERD_C64, 1, DIMS(1), 0}, .data = complex_pair},
};

static const sherd_pair fields[] = {{"run", "golden"}, {"note", "caf\xc3\xa9 \"x\""}};

static const sherd_ckpt_about about = {
	.has_ddp_rank = true,
	.ddp_rank = 1,
	.strategy = "tensor_parallel",
	.precision = "fp32",
	.strategy_info = "{\"degree\": 2}",
	.has_epoch = true,
	.epoch = 3,
	.has_step = true,
	.step = 12345678901,
	.has_learning_rate = true,
	.learning_rate = 0.0003,
	.optimizer_type = "adamw",
	.optimizer_state = "{\"beta1\": 0.9, \"beta2\": 0.95}",
	.fields = fields,
	.field_count = COUNT_OF(fields),
	.extra = "\"format\": \"multishard\", \"tensorInfos\": []",
	.sharding_extra = "\"mesh\": [2, 1]",
	.training_extra = "\"tokens\": 340282366920938463463374607431768211455",
};

static const sherd_ckpt_shard_items two_shards[] = {{of_rank_0, COUNT_OF(of_rank_0)}, {of_rank_1, COUNT_OF(of_rank_1)}};

/* What the C# layout can hold. */
static const sherd_ckpt_item plain_0[] = {
	{.tensor = {"embed", SHERD_F32, 2, DIMS(2, 3), 0}, .data = embed},
	{.tensor = {"step", SHERD_I64, 0, NULL, 0}, .data = step},
};
static const sherd_ckpt_item plain_1[] = {
	{.tensor = {"bytes", SHERD_U8, 1, DIMS(3), 0}, .data = bytes},
	{.tensor = {"norm", SHERD_F64, 1, DIMS(2), 0}, .data = norm},
};
static const sherd_ckpt_shard_items plain_shards[] = {{plain_0, COUNT_OF(plain_0)}, {plain_1, COUNT_OF(plain_1)}};

/* Types in blocks, cut between them, one that is known by its name alone, and metadata with types. */
static const uint8_t blocks[] = "blocks of four-bit numbers and whatever else may come";
static const sherd_ckpt_item types_0[] = {
	{.tensor = {"f4", SHERD_F4, 2, DIMS(3, 4)}, .data = blocks},
	{.tensor = {"f6", SHERD_F6_E3M2, 2, DIMS(2, 2)}, .data = blocks + 1},
	{.tensor = {"opaque", SHERD_OPAQUE, 1, DIMS(9), 5, "I4 \"x\""}, .data = blocks + 2},
	{.tensor = {"q4_0", SHERD_Q4_0, 2, DIMS(1, 32)},
         .global_shape = DIMS(2, 32),
         .global_offset = DIMS(0, 0),
         .data = blocks},
};
static const sherd_ckpt_item types_1[] = {
	{.tensor = {"q4_0", SHERD_Q4_0, 2, DIMS(1, 32)},
         .global_shape = DIMS(2, 32),
         .global_offset = DIMS(1, 0),
         .data = blocks + 18},
	{.tensor = {"scale", SHERD_F8_E8M0, 1, DIMS(3)}, .data = blocks + 3},
};
static const sherd_ckpt_shard_items types_shards[] = {{types_0, COUNT_OF(types_0)}, {types_1, COUNT_OF(types_1)}};
static const sherd_pair types_fields[] = {{"alignment", "32"}, {SHERD_TYPES_KEY, "{\"alignment\": \"U32\"}"}};
static const sherd_ckpt_about types_about = {.fields = types_fields, .field_count = COUNT_OF(types_fields)};

static int save_all(sherd_store *store, sherd_error *err)
{
	sherd_ckpt_save_options o = {.world = 2, .set_id = &first_id, .time_ns = NOON, .about = &about};
	TRY(sherd_ckpt_save(store, "small", two_shards, &o, err));
	TRY(sherd_ckpt_save(store, "bare", two_shards, &o, err));
	sherd_ckpt_save_options tree = o;
	tree.digest = SHERD_DIGEST_BLAKE3;
	TRY(sherd_ckpt_save(store, "tree", two_shards, &tree, err));
	sherd_ckpt_save_options again = {.set_id = &second_id, .time_ns = NOON + 1, .replace = true};
	const sherd_ckpt_shard_items one = {of_rank_0, 3};
	TRY(sherd_ckpt_save(store, "bare", &one, &again, err));
	sherd_ckpt_save_options typed = {.world = 2, .set_id = &first_id, .time_ns = NOON, .about = &types_about};
	TRY(sherd_ckpt_save(store, "types", types_shards, &typed, err));
	sherd_ckpt_save_options csharp = o;
	csharp.layout = SHERD_CKPT_LAYOUT_CSHARP;
	return sherd_ckpt_save(store, "hashed", plain_shards, &csharp, err);
}

typedef struct comparing {
	sherd_store *store;
	size_t count;
} comparing;

static bool compare_with_file(void *arg, const char *key, const sherd_stat *stat)
{
	comparing *g = arg;
	char path[256], *data;
	size_t len, want_len;
	(void)stat;
	assert_ok(sherd_store_get(&data, &len, g->store, key, 1 << 20, err));
	(void)snprintf(path, sizeof(path), FOLDER "/%s", key);
	uint8_t *want = source_file_read(path, &want_len);
	if (len != want_len || memcmp(data, want, len) != 0)
		fail_msg("%s: other bytes than before", key);
	free(want);
	sherd_free(data);
	g->count++;
	return true;
}

static void count_file(const char *name, const uint8_t *data, size_t len)
{
	(void)name;
	(void)data;
	(void)len;
}

TEST(saving_again_gives_the_same_bytes)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	const char *out = getenv("SHERD_GOLDEN_OUT");
	if (out) {
		SHD_AUTO(sherd_store, sherd_store_close) local = NULL;
		assert_ok(sherd_store_open_local(&local, out, &(sherd_local_options){.create = true}, err));
		assert_ok(save_all(local, err));
	}
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(save_all(store, err));
	comparing g = {store, 0};
	assert_ok(sherd_store_list(store, "", "", compare_with_file, &g, err));
	assert_int_equal(g.count, 14);
	/* and two of older writers: zeros where nobody said anything, and no digests of the C# layout; and one of
	 * tests/interop/write_checkpoint.py, with parts of other sizes */
	assert_int_equal(source_folder_each(FOLDER, count_file), 24);
}

static void open_golden(sherd_store **store, sherd_ckpt **ckpt, const char *prefix)
{
	char folder[4096];
	assert_non_null(getenv("SHERD_SOURCE"));
	(void)snprintf(folder, sizeof(folder), "%s/" FOLDER, getenv("SHERD_SOURCE"));
	assert_ok(sherd_store_open_local(store, folder, NULL, err));
	assert_ok(sherd_ckpt_open(ckpt, *store, prefix, NULL, err));
}

/* Loads a tensor in both ways of checking and compares. */
static void assert_holds(const sherd_ckpt *c, const char *name, sherd_dtype dtype, const void *want, size_t len)
{
	size_t at = sherd_ckpt_find(c, name);
	if (at == SHERD_NO_TENSOR)
		fail_msg("no tensor '%s'", name);
	const sherd_tensor *t = sherd_ckpt_tensor(c, at);
	assert_int_equal(t->dtype, dtype);
	assert_int_equal(t->bytes, len);
	for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++) {
		uint8_t got[128] = {0};
		assert_true(len <= sizeof(got));
		sherd_ckpt_want w = {.tensor = at, .buf = got};
		assert_ok(sherd_ckpt_load(c, &w, 1, &(sherd_ckpt_load_options){.check = (sherd_ckpt_check)check}, err));
		if (len)
			assert_memory_equal(got, want, len);
	}
}

static void assert_small(const char *prefix)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	open_golden(&store, &c, prefix);
	assert_int_equal(sherd_ckpt_count(c), 11);
	assert_holds(c, "embed", SHERD_F32, embed, sizeof(embed));
	assert_holds(c, "bias", SHERD_BF16, bias, sizeof(bias));
	assert_holds(c, "step", SHERD_I64, step, sizeof(step));
	assert_holds(c, "empty", SHERD_F32, NULL, 0);
	assert_holds(c, "names", SHERD_UTF8, names, sizeof(names) - 1);
	assert_holds(c, "cut", SHERD_I16, cut, sizeof(cut));
	assert_holds(c, "norm", SHERD_F64, norm, sizeof(norm));
	assert_holds(c, ODD_NAME, SHERD_U8, bytes, sizeof(bytes));
	assert_holds(c, "flags", SHERD_BOOL, bytes, 2);
	assert_holds(c, "e4m3", SHERD_F8_E4M3, bytes, sizeof(bytes));
	assert_holds(c, "complex", SHERD_C64, complex_pair, sizeof(complex_pair));
	assert_int_equal(sherd_ckpt_tensor(c, sherd_ckpt_find(c, "step"))->ndim, 0);
	assert_int_equal(sherd_ckpt_tensor(c, sherd_ckpt_find(c, "cut"))->shape[0], 4);
}

TEST(the_set_of_types_holds_what_was_saved)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	sherd_bundle *b = NULL;
	const sherd_value *values;
	open_golden(&store, &c, "types");
	assert_int_equal(sherd_ckpt_count(c), 5);
	assert_holds(c, "f4", SHERD_F4, blocks, 6);
	assert_holds(c, "f6", SHERD_F6_E3M2, blocks + 1, 3);
	assert_holds(c, "opaque", SHERD_OPAQUE, blocks + 2, 5);
	assert_holds(c, "q4_0", SHERD_Q4_0, blocks, 36);
	assert_holds(c, "scale", SHERD_F8_E8M0, blocks + 3, 3);
	assert_string_equal(sherd_ckpt_tensor(c, sherd_ckpt_find(c, "opaque"))->type_name, "I4 \"x\"");
	assert_ok(sherd_bundle_of_ckpt(&b, c, err));
	assert_int_equal(sherd_bundle_values(&values, b), 1);
	assert_int_equal(*(const uint32_t *)values->items, 32);
	sherd_bundle_close(b);
}

TEST(the_small_set_holds_what_was_saved)
{
	assert_small("small");
}

TEST(the_small_set_with_blake3_holds_what_was_saved)
{
	assert_small("tree");
}

/* Ranks with BLAKE3 of parts of 1 KiB, of 2 KiB, with SHA-256, and with one part. */
TEST(a_set_of_another_writer_with_small_parts_is_verified_part_by_part)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	sherd_report *report = NULL;
	open_golden(&store, &c, "parts");
	assert_ok(sherd_verify(&report, store, "parts", NULL, err));
	assert_int_equal(sherd_report_errors(report) + sherd_report_warnings(report), 0);
	sherd_report_close(report);
	for (int rank = 0; rank < 3; rank++) {
		static const size_t counts[] = {5000, 960, 3000};
		char name[16];
		uint8_t got[5000];
		(void)snprintf(name, sizeof(name), "long%d", rank);
		sherd_ckpt_want w = {.tensor = sherd_ckpt_find(c, name), .buf = got};
		assert_ok(sherd_ckpt_load(c, &w, 1, &(sherd_ckpt_load_options){.check = SHERD_CHECK_DIGEST}, err));
		for (size_t i = 0; i < counts[rank]; i++)
			assert_int_equal(got[i], i * i / 7 & 255);
	}
}

TEST(the_small_set_says_what_was_said_about_it)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	open_golden(&store, &c, "small");
	const sherd_ckpt_info *info = sherd_ckpt_describe(c);
	assert_string_equal(info->version, "1.0.0");
	assert_string_equal(info->timestamp, "2026-01-09T12:00:00.25Z");
	assert_int_equal(info->time_ns, NOON);
	assert_int_equal(info->world, 2);
	assert_true(info->has_set_id && info->sealed);
	assert_memory_equal(&info->set_id, &first_id, sizeof(first_id));
	const sherd_ckpt_about *a = &info->about;
	assert_int_equal(a->ddp_rank, 1);
	assert_string_equal(a->strategy, "tensor_parallel");
	assert_string_equal(a->precision, "fp32");
	assert_string_equal(a->strategy_info, about.strategy_info);
	assert_int_equal(a->epoch, 3);
	assert_int_equal(a->step, 12345678901);
	assert_true(a->learning_rate == 0.0003);
	assert_string_equal(a->optimizer_type, "adamw");
	assert_string_equal(a->optimizer_state, about.optimizer_state);
	assert_int_equal(a->field_count, 2);
	assert_string_equal(a->fields[1].value, fields[1].value);
	assert_string_equal(a->extra, about.extra);
	assert_string_equal(a->sharding_extra, about.sharding_extra);
	assert_string_equal(a->training_extra, about.training_extra);
}

static void assert_aligned(const char *prefix)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	size_t seen = 0;
	open_golden(&store, &c, prefix);
	for (size_t i = 0; i < sherd_ckpt_count(c); i++) {
		const sherd_ckpt_piece *p;
		size_t n = sherd_ckpt_pieces(&p, c, i);
		for (size_t k = 0; k < n; k++, seen++)
			if (p[k].bytes)
				assert_int_equal((sherd_ckpt_shard_at(c, p[k].shard)->data_offset + p[k].offset) % 64,
				                 0);
	}
	assert_int_equal(seen, 12);
}

TEST(every_tensor_begins_at_a_multiple_of_64)
{
	assert_aligned("small");
	assert_aligned("tree");
}

/* Nobody said anything about it: absent is not zero. */
TEST(the_bare_set_says_nothing)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	open_golden(&store, &c, "bare");
	const sherd_ckpt_about *a = &sherd_ckpt_describe(c)->about;
	assert_false(a->has_ddp_rank || a->has_epoch || a->has_step || a->has_learning_rate);
	assert_null(a->strategy);
	assert_null(a->precision);
	assert_null(a->strategy_info);
	assert_null(a->optimizer_type);
	assert_null(a->optimizer_state);
	assert_int_equal(a->field_count, 0);
	assert_holds(c, "bias", SHERD_BF16, bias, sizeof(bias));
}

TEST(the_set_of_an_older_writer_says_zeros)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	open_golden(&store, &c, "replaced");
	const sherd_ckpt_about *a = &sherd_ckpt_describe(c)->about;
	assert_true(a->has_ddp_rank && a->has_epoch && a->has_step && a->has_learning_rate);
	assert_string_equal(a->strategy, "fsdp");
	sherd_report *report = NULL;
	assert_ok(sherd_verify(&report, store, "replaced", NULL, err));
	assert_int_equal(sherd_report_errors(report), 0);
	sherd_report_close(report);
}

TEST(the_replacement_is_what_opens)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	open_golden(&store, &c, "replaced");
	assert_int_equal(sherd_ckpt_count(c), 3);
	assert_string_equal(sherd_ckpt_shard_at(c, 0)->file, "replaced_shard_0.ffeeddccbbaa99880100000000000000.shard");
	assert_holds(c, "bias", SHERD_BF16, bias, sizeof(bias));
}

static void assert_csharp(const char *prefix, size_t warnings)
{
	SHD_AUTO(sherd_store, sherd_store_close) store = NULL;
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	sherd_report *report = NULL;
	open_golden(&store, &c, prefix);
	assert_ok(sherd_verify(&report, store, prefix, NULL, err));
	assert_int_equal(sherd_report_errors(report), 0);
	assert_int_equal(sherd_report_warnings(report), warnings);
	sherd_report_close(report);
	const sherd_ckpt_info *info = sherd_ckpt_describe(c);
	assert_true(!info->has_set_id && info->sealed);
	assert_int_equal(sherd_ckpt_shard_at(c, 0)->data_offset, 20);
	assert_string_equal(sherd_ckpt_shard_at(c, 0)->checksum, "");
	assert_int_equal(sherd_ckpt_count(c), 4);
	assert_holds(c, "embed", SHERD_F32, embed, sizeof(embed));
	assert_holds(c, "step", SHERD_I64, step, sizeof(step));
	assert_holds(c, "bytes", SHERD_U8, bytes, sizeof(bytes));
	assert_holds(c, "norm", SHERD_F64, norm, sizeof(norm));
}

TEST(the_sets_in_the_csharp_layout_hold_what_was_saved)
{
	assert_csharp("csharp", 2); /* no checksums */
	assert_csharp("hashed", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saving_again_gives_the_same_bytes),
		cmocka_unit_test(the_small_set_holds_what_was_saved),
		cmocka_unit_test(the_set_of_types_holds_what_was_saved),
		cmocka_unit_test(the_small_set_with_blake3_holds_what_was_saved),
		cmocka_unit_test(a_set_of_another_writer_with_small_parts_is_verified_part_by_part),
		cmocka_unit_test(the_small_set_says_what_was_said_about_it),
		cmocka_unit_test(every_tensor_begins_at_a_multiple_of_64),
		cmocka_unit_test(the_bare_set_says_nothing),
		cmocka_unit_test(the_set_of_an_older_writer_says_zeros),
		cmocka_unit_test(the_replacement_is_what_opens),
		cmocka_unit_test(the_sets_in_the_csharp_layout_hold_what_was_saved),
	};
	return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
