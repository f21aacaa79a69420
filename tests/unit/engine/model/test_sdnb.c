#include "support/memory_store.h"
#include "support/samediff_make.h"
#include "support/sdnb_make.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/samediff/sdnb.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
SHD_AUTO_DEFINE(void, free)

#define MODEL SHD_AUTO(sherd_model, sherd_model_close)

static int save(const char *key, unsigned seed, sherd_format format, uint32_t shards, sherd_error *err)
{
	MODEL m = sdnb_sample(seed, false);
	const sherd_model_save_options o = {.format = format, .shards = shards, .time_ns = 1700000000000000000};
	return sherd_model_save(m, store, key, &o, err);
}

static void assert_sample(const char *key, unsigned seed, sherd_format format)
{
	MODEL m = NULL;
	assert_ok(sherd_model_open(&m, store, key, NULL, err));
	assert_int_equal(sherd_model_format(m), format);
	const char *difference = sdnb_sample_difference(m, seed, false);
	if (difference)
		fail_msg("%s: %s differs", key, difference);
}

static size_t count_errors(const char *key, const char **reason)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	assert_ok(sherd_verify(&r, store, key, NULL, err));
	if (sherd_report_errors(r) && reason)
		*reason = sherd_report_error(r, 0)->reason;
	return sherd_report_errors(r);
}

static void rename_object(const char *from, const char *to)
{
	char *data;
	size_t len;
	assert_ok(sherd_store_get(&data, &len, store, from, 1 << 30, err));
	assert_ok(sherd_store_put(store, to, SHERD_WRITE_REPLACE, data, len, err));
	assert_ok(sherd_store_remove(store, from, err));
	sherd_free(data);
}

TEST(what_is_saved_in_one_file_comes_back)
{
	assert_ok(save("m.sdnb", 1, SHERD_FORMAT_SDNB, 0, err));
	assert_sample("m.sdnb", 1, SHERD_FORMAT_SDNB);
	assert_int_equal(count_errors("m.sdnb", NULL), 0);
	assert_ok(save("m.sdz", 2, SHERD_FORMAT_SDZ, 1, err));
	assert_sample("m.sdz", 2, SHERD_FORMAT_SDZ);
	assert_int_equal(count_errors("m.sdz", NULL), 0);
}

TEST(a_file_tells_what_it_is)
{
	MODEL m = NULL;
	const sherd_pair *pairs;
	assert_ok(save("m.sdnb", 1, SHERD_FORMAT_SDNB, 0, err));
	assert_ok(sherd_model_open(&m, store, "m.sdnb", NULL, err));
	assert_int_equal(sherd_model_pairs(&pairs, m), 4);
	assert_string_equal(pairs[0].key, "creation.time");
	assert_string_equal(pairs[0].value, "1700000000000");
	assert_string_equal(pairs[1].key, "model.name");
	assert_string_equal(pairs[2].key, "nd4j.format.type");
	assert_string_equal(pairs[2].value, "APPENDED_BLOB");
	assert_string_equal(pairs[3].key, "nd4j.format.version");
	assert_string_equal(pairs[3].value, "1");
}

TEST(large_arrays_can_be_mapped)
{
	static const char *const keys[] = {"m.sdnb", "m.sdz"};
	assert_ok(save("m.sdnb", 1, SHERD_FORMAT_SDNB, 0, err));
	assert_ok(save("m.sdz", 1, SHERD_FORMAT_SDZ, 0, err));
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		const void *bytes;
		uint8_t first[64];
		assert_ok(sherd_bundle_open(&b, store, keys[i], NULL, err));
		size_t big = sherd_bundle_find(b, "big");
		assert_ok(sherd_bundle_map(&bytes, b, big, err));
		assert_ok(sherd_bundle_read(b, big, 0, first, sizeof(first), err));
		assert_memory_equal(bytes, first, sizeof(first));
		assert_refused(SHERD_EUNSUPPORTED, "no-map",
		               sherd_bundle_map(&bytes, b, sherd_bundle_find(b, "f"), err));
	}
}

TEST(shards_open_by_their_base_and_by_any_of_them)
{
	static const char *const keys[] = {"runs/m", "runs/m.sdnb", "runs/m.shard0-of-3.sdnb",
	                                   "runs/m.shard2-of-3.sdnb"};
	assert_ok(save("runs/m", 3, SHERD_FORMAT_SDNB, 3, err));
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		assert_sample(keys[i], 3, SHERD_FORMAT_SDNB);
	assert_int_equal(count_errors("runs/m", NULL), 0);
	for (uint32_t shards = 2; shards < 12; shards++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "s%u.sdz", shards);
		assert_ok(save(key, shards, SHERD_FORMAT_SDZ, shards, err));
		assert_sample(key, shards, SHERD_FORMAT_SDZ);
		assert_int_equal(count_errors(key, NULL), 0);
	}
}

TEST(a_missing_shard_is_named)
{
	MODEL m = NULL;
	sherd_error e = {0};
	assert_ok(save("m", 3, SHERD_FORMAT_SDNB, 4, err));
	assert_ok(sherd_store_remove(store, "m.shard2-of-4.sdnb", err));
	assert_int_equal(sherd_model_open(&m, store, "m", NULL, &e), SHERD_EINCOMPLETE);
	assert_string_equal(e.reason, "missing-shard");
	assert_non_null(strstr(e.message, "m.shard2-of-4.sdnb"));
	assert_int_equal(sherd_model_open(&m, store, "m.shard0-of-4.sdnb", NULL, &e), SHERD_EINCOMPLETE);
}

TEST(two_whole_sets_are_not_chosen_from)
{
	MODEL m = NULL;
	assert_ok(save("m", 3, SHERD_FORMAT_SDNB, 2, err));
	assert_ok(save("n", 4, SHERD_FORMAT_SDNB, 3, err));
	rename_object("n.shard2-of-3.sdnb", "m.shard2-of-3.sdnb");
	assert_sample("m", 3, SHERD_FORMAT_SDNB); /* one of them is not whole */
	rename_object("n.shard1-of-3.sdnb", "m.shard1-of-3.sdnb");
	rename_object("n.shard0-of-3.sdnb", "m.shard0-of-3.sdnb");
	assert_refused(SHERD_ECORRUPT, "two-sets", sherd_model_open(&m, store, "m", NULL, err));
	assert_sample("m.shard0-of-2.sdnb", 3, SHERD_FORMAT_SDNB);
	assert_sample("m.shard1-of-3.sdnb", 4, SHERD_FORMAT_SDNB);
}

TEST(shards_that_are_not_what_their_names_say_are_refused)
{
	MODEL m = NULL;
	assert_ok(save("m", 3, SHERD_FORMAT_SDNB, 3, err));
	rename_object("m.shard1-of-3.sdnb", "x");
	rename_object("m.shard2-of-3.sdnb", "m.shard1-of-3.sdnb");
	rename_object("x", "m.shard2-of-3.sdnb");
	assert_refused(SHERD_ECORRUPT, "bad-piece", sherd_model_open(&m, store, "m", NULL, err));
	assert_ok(save("n", 3, SHERD_FORMAT_SDNB, 2, err));
	rename_object("n.shard1-of-2.sdnb", "x");
	rename_object("n.shard0-of-2.sdnb", "n.shard1-of-2.sdnb");
	rename_object("x", "n.shard0-of-2.sdnb");
	assert_refused(SHERD_ECORRUPT, "bad-piece", sherd_model_open(&m, store, "n", NULL, err));
}

TEST(what_stands_there_is_kept_unless_told)
{
	MODEL m = sdnb_sample(9, false);
	sherd_model_save_options o = {.format = SHERD_FORMAT_SDNB, .replace = true};
	assert_ok(save("m.sdnb", 1, SHERD_FORMAT_SDNB, 0, err));
	assert_refused(SHERD_EEXIST, "exists", save("m.sdnb", 2, SHERD_FORMAT_SDNB, 0, err));
	assert_sample("m.sdnb", 1, SHERD_FORMAT_SDNB);
	assert_ok(sherd_model_save(m, store, "m.sdnb", &o, err));
	assert_sample("m.sdnb", 9, SHERD_FORMAT_SDNB);
	assert_ok(save("m.sdz", 1, SHERD_FORMAT_SDZ, 0, err));
	assert_refused(SHERD_EEXIST, "exists", save("m.sdz", 2, SHERD_FORMAT_SDZ, 3, err));
	o.format = SHERD_FORMAT_SDZ;
	assert_ok(sherd_model_save(m, store, "m.sdz", &o, err));
	assert_sample("m.sdz", 9, SHERD_FORMAT_SDZ);
}

TEST(a_set_is_not_replaced_but_a_dead_one_is)
{
	static const char left[] = ".shard0-of-3.sdnb\n.shard1-of-3.sdnb\n.shard2-of-3.sdnb\n";
	assert_ok(save("m", 1, SHERD_FORMAT_SDNB, 3, err));
	assert_refused(SHERD_EEXIST, "cannot-replace", save("m", 2, SHERD_FORMAT_SDNB, 3, err));
	assert_refused(SHERD_EEXIST, "cannot-replace", save("m", 2, SHERD_FORMAT_SDNB, 4, err));
	assert_refused(SHERD_EEXIST, "cannot-replace", save("m.sdnb", 2, SHERD_FORMAT_SDNB, 2, err));
	assert_sample("m", 1, SHERD_FORMAT_SDNB);
	/* A claim that nobody holds, of a save that had published: its files stay. */
	assert_ok(sherd_store_put(store, "m.sdnb.saving", SHERD_WRITE_NEW, left, strlen(left), err));
	assert_refused(SHERD_EEXIST, "cannot-replace", save("m", 2, SHERD_FORMAT_SDNB, 3, err));
	assert_sample("m", 1, SHERD_FORMAT_SDNB);
	/* Files without the first one belong to who wrote them, and nobody says who that was. */
	assert_ok(sherd_store_remove(store, "m.shard0-of-3.sdnb", err));
	assert_refused(SHERD_EEXIST, "cannot-replace", save("m", 2, SHERD_FORMAT_SDNB, 3, err));
	assert_ok(sherd_store_put(store, "m.sdnb.saving", SHERD_WRITE_NEW, left, strlen(left), err));
	assert_ok(save("m", 2, SHERD_FORMAT_SDNB, 3, err));
	assert_sample("m", 2, SHERD_FORMAT_SDNB);
}

/* A claim that no save can have made clears nothing: the set whose second file it names has a first one. */
TEST(a_claim_never_clears_files_of_a_set)
{
	static const char *const texts[] = {".shard1-of-3.sdnb\n",
	                                    ".shard1-of-3.sdnb\n.shard2-of-3.sdnb\n",
	                                    ".shard0-of-2.sdnb\n.shard1-of-3.sdnb\n",
	                                    "",
	                                    "\n",
	                                    ".shard0-of-4000000000.sdnb\n",
	                                    "x\n.shard1-of-3.sdnb\n",
	                                    ".shard0-of-3.sdnb\n.shard1-of-3.sdnb\n.shard2-of-3.sdnb\n../x\n"};
	assert_ok(save("m", 1, SHERD_FORMAT_SDNB, 3, err));
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		assert_ok(sherd_store_put(store, "m.sdnb.saving", SHERD_WRITE_NEW, texts[i], strlen(texts[i]), err));
		assert_refused(SHERD_EEXIST, "cannot-replace", save("m", 2, SHERD_FORMAT_SDNB, 4, err));
		assert_sample("m", 1, SHERD_FORMAT_SDNB);
		sherd_stat stat;
		assert_int_equal(sherd_store_stat(&stat, store, "m.sdnb.saving", NULL), SHERD_ENOTFOUND);
	}
}

TEST(a_file_that_would_hide_the_set_is_refused)
{
	assert_ok(save("m.sdnb", 1, SHERD_FORMAT_SDNB, 0, err));
	assert_refused(SHERD_EEXIST, "cannot-replace", save("m.sdnb", 2, SHERD_FORMAT_SDNB, 2, err));
	assert_sample("m.sdnb", 1, SHERD_FORMAT_SDNB);
}

TEST(a_second_saver_of_one_set_is_refused_while_the_first_lives)
{
	sherd_lock *lock = NULL;
	assert_ok(sherd_store_create_locked(&lock, store, "m.sdnb.saving", "", 0, SHERD_LOCK_EXCLUSIVE, err));
	assert_refused(SHERD_ECONFLICT, "conflict", save("m", 1, SHERD_FORMAT_SDNB, 3, err));
	sherd_lock_release(lock);
	assert_ok(save("m", 1, SHERD_FORMAT_SDNB, 3, err));
	assert_sample("m", 1, SHERD_FORMAT_SDNB);
}

TEST(the_updater_can_be_left_out)
{
	MODEL m = sdnb_sample(1, false);
	sherd_model *got = NULL;
	for (uint32_t shards = 1; shards < 4; shards += 2) {
		sherd_model_save_options o = {
			.format = SHERD_FORMAT_SDZ, .shards = shards, .replace = true, .without_updater = true};
		assert_ok(sherd_model_save(m, store, "m.sdz", &o, err));
		assert_ok(sherd_model_open(&got, store, "m.sdz", NULL, err));
		assert_int_equal(sherd_model_describe(got)->updater_count, 0);
		sherd_model_close(TAKE(got));
	}
}

static int save_tensor(const sherd_tensor *t, const sherd_model_variable *v, sherd_error *err)
{
	MODEL m = NULL;
	const sherd_model_graph g = {.variable_count = 1, .variables = v};
	const sherd_model_parts parts = {.graph = &g, .arrays = t, .array_count = 1};
	TRY(sherd_model_make(&m, &parts, err));
	return sherd_model_save(m, store, "x", &(sherd_model_save_options){.format = SHERD_FORMAT_SDNB}, err);
}

TEST(what_has_no_place_is_refused_by_name)
{
	static const uint64_t one[] = {1}, many[] = {1 << 20}, huge[] = {1u << 31};
	static const int64_t other[] = {1 << 19};
	const sherd_tensor texts = {"t", SHERD_UTF8, 1, one, 17}, floats = {"t", SHERD_F32, 1, many, 4 << 20},
			   c64 = {"t", SHERD_C64, 1, one, 8}, bytes = {"t", SHERD_U8, 1, huge, 1u << 31};
	sherd_model_variable v = {.name = "t", .kind = SHERD_VARIABLE_CONSTANT, .dtype = SHERD_UTF8};
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", save_tensor(&texts, &v, err));
	v.dtype = SHERD_C64;
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", save_tensor(&c64, &v, err));
	v.dtype = SHERD_I32;
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", save_tensor(&floats, &v, err));
	v.dtype = SHERD_F32;
	v.shape = (sherd_model_longs){1, other};
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", save_tensor(&floats, &v, err));
	v = (sherd_model_variable){.name = "t", .dtype = SHERD_U8};
	assert_refused(SHERD_EUNSUPPORTED, "too-large", save_tensor(&bytes, &v, err));
	sherd_error e = {0}; /* M-11: shards would not help */
	assert_int_equal(save_tensor(&bytes, &v, &e), SHERD_EUNSUPPORTED);
	assert_null(strstr(e.message, "shards"));
	assert_non_null(strstr(e.message, ".sdc"));
	MODEL m = sdnb_sample(1, true);
	sherd_model_save_options o = {.format = SHERD_FORMAT_SDNB, .compress = SHERD_COMPRESS_DEFLATE};
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", sherd_model_save(m, store, "x", &o, err));
}

/* Bytes of a file that was saved, to be damaged. */
static uint8_t *saved(sherd_format format, uint32_t shards, bool small, size_t *len)
{
	MODEL m = sdnb_sample(5, small);
	char *data;
	const sherd_model_save_options o = {.format = format, .shards = shards, .replace = true};
	assert_ok(sherd_model_save(m, store, "saved", &o, err));
	assert_ok(sherd_store_get(&data, len, store, "saved", 1 << 30, err));
	return (uint8_t *)data;
}

TEST(every_cut_of_a_file_is_noticed)
{
	size_t len;
	SHD_AUTO(void, free) data = saved(SHERD_FORMAT_SDNB, 1, true, &len);
	for (size_t cut = 4; cut < len; cut += cut < 64 || len - cut < 512 ? 1 : 37) {
		assert_ok(sherd_store_put(store, "cut", SHERD_WRITE_REPLACE, data, cut, err));
		assert_true(count_errors("cut", NULL) > 0);
	}
	SHD_AUTO(void, free) zip = saved(SHERD_FORMAT_SDZ, 1, true, &len);
	for (size_t cut = 4; cut < len; cut += cut < 64 || len - cut < 512 ? 1 : 37) {
		assert_ok(sherd_store_put(store, "cut.sdz", SHERD_WRITE_REPLACE, zip, cut, err));
		assert_true(count_errors("cut.sdz", NULL) > 0);
	}
}

/* SDNB has no checksums: what can be asked for is that nothing falls over. */
TEST(no_flipped_bit_of_a_file_does_harm)
{
	size_t len;
	SHD_AUTO(void, free) room = saved(SHERD_FORMAT_SDNB, 1, true, &len);
	uint8_t *data = room;
	for (size_t bit = 32; bit < 8 * len; bit += 13) {
		SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
		data[bit / 8] = (uint8_t)(data[bit / 8] ^ 1 << bit % 8);
		assert_ok(sherd_store_put(store, "bit", SHERD_WRITE_REPLACE, data, len, err));
		assert_ok(sherd_verify(&r, store, "bit", NULL, err));
		data[bit / 8] = (uint8_t)(data[bit / 8] ^ 1 << bit % 8);
	}
}

/* The constant of a small model. */
static bool is_small(const sherd_model *m)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	float c[2] = {0};
	assert_ok(sherd_bundle_of_model(&b, m, err));
	if (sherd_bundle_find(b, "c") != 0 || sherd_bundle_tensor(b, 0)->bytes != sizeof(c))
		return false;
	assert_ok(sherd_bundle_read(b, 0, 0, c, sizeof(c), err));
	return c[0] == 1.5f && c[1] == -2;
}

/* Every bit of an archive is found, or means nothing to a reader: then the model is the same. */
static void flip_all(const uint8_t *whole, size_t len)
{
	SHD_AUTO(void, free) room = malloc(len);
	uint8_t *data = room;
	size_t unnoticed = 0;
	memcpy(data, whole, len);
	for (size_t bit = 32; bit < 8 * len; bit++) {
		MODEL m = NULL;
		data[bit / 8] = (uint8_t)(data[bit / 8] ^ 1 << bit % 8);
		assert_ok(sherd_store_put(store, "bit.sdz", SHERD_WRITE_REPLACE, data, len, err));
		if (!count_errors("bit.sdz", NULL)) {
			unnoticed++;
			assert_ok(sherd_model_open(&m, store, "bit.sdz", NULL, err));
			assert_true(is_small(m));
		}
		data[bit / 8] = (uint8_t)(data[bit / 8] ^ 1 << bit % 8);
	}
	assert_true(unnoticed < 512); /* versions, times, attributes, padding */
}

/* A small model as the command saves it. */
static uint8_t *saved_small(sherd_format format, size_t *len)
{
	MODEL m = NULL;
	SHD_AUTO_BUF graph = {0};
	char *data;
	samediff_make_small(&graph);
	assert_ok(sherd_store_put(store, "small.fb", SHERD_WRITE_REPLACE, graph.data, graph.len, err));
	assert_ok(sherd_model_open(&m, store, "small.fb", NULL, err));
	assert_ok(sherd_model_save(m, store, "small", &(sherd_model_save_options){.format = format, .replace = true},
	                           err));
	assert_ok(sherd_store_get(&data, len, store, "small", 1 << 20, err));
	return (uint8_t *)data;
}

TEST(every_flipped_bit_of_an_archive_is_found_or_means_nothing)
{
	size_t len, plain;
	SHD_AUTO_BUF packed = {0};
	SHD_AUTO(void, free) data = saved_small(SHERD_FORMAT_SDZ, &len);
	flip_all(data, len);
	SHD_AUTO(void, free) file = saved_small(SHERD_FORMAT_SDNB, &plain);
	sdnb_put_deflated(&packed, "model.sdnb", file, plain);
	flip_all(packed.data, packed.len);
}

TEST(the_example_of_the_document_is_what_is_written)
{
	size_t len, want_len;
	SHD_AUTO(void, free) data = saved_small(SHERD_FORMAT_SDZ, &len);
	SHD_AUTO(void, free) want = source_hex_block("docs/formats/sdnb.md", &want_len);
	assert_int_equal(len, want_len);
	assert_memory_equal(data, want, len);
}

TEST(a_wrong_crc_is_told_of_the_entry)
{
	size_t len;
	SHD_AUTO(void, free) data = saved(SHERD_FORMAT_SDZ, 3, false, &len);
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	((uint8_t *)data)[len / 2] ^= 1; /* within elements */
	assert_ok(sherd_store_put(store, "d/m.sdz", SHERD_WRITE_REPLACE, data, len, err));
	assert_ok(sherd_verify(&r, store, "d/m.sdz", NULL, err));
	assert_int_equal(sherd_report_errors(r), 1);
	assert_string_equal(sherd_report_error(r, 0)->reason, "bad-crc");
	assert_int_equal(strncmp(sherd_report_error(r, 0)->object, "d/m.sdz/model.shard", 19), 0);
}

/* Forwards, backwards and at random, through the places that were passed before. */
TEST(compressed_entries_are_read_anywhere)
{
	size_t len;
	SHD_AUTO_BUF packed = {0};
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(void, free) data = saved(SHERD_FORMAT_SDNB, 1, false, &len);
	sdnb_put_deflated(&packed, "anything", data, len);
	assert_ok(sherd_store_put(store, "z", SHERD_WRITE_NEW, packed.data, packed.len, err));
	assert_sample("z", 5, SHERD_FORMAT_SDZ);
	assert_int_equal(count_errors("z", NULL), 0);
	assert_ok(sherd_bundle_open(&b, store, "z", NULL, err));
	size_t big = sherd_bundle_find(b, "big"), large = sherd_bundle_find(b, "large");
	uint32_t random = 1;
	for (int i = 0; i < 300; i++) {
		uint8_t got[100], again[100];
		random = random * 1664525 + 1013904223;
		uint64_t at = random % (1200000 - sizeof(got));
		size_t which = random >> 20 & 1 ? big : large;
		assert_ok(sherd_bundle_read(b, which, at, got, sizeof(got), err));
		assert_ok(sherd_bundle_read(b, which, at + 50, again, 50, err));
		assert_memory_equal(got + 50, again, 50);
		for (size_t k = 0; k < sizeof(got); k++) {
			uint64_t o = at + k;
			uint8_t want =
				(uint8_t)(o * 7 + (o >> 8) * 3 + (o >> 17) * 11 + (which == big ? 1u : 5u) * 31 + 5);
			assert_int_equal(got[k], want);
		}
	}
}

TEST(an_archive_without_a_model_is_told)
{
	SHD_AUTO_BUF none = {0};
	MODEL m = NULL;
	sdnb_put_deflated(&none, "readme.txt", (const uint8_t *)"nothing here", 12);
	assert_ok(sherd_store_put(store, "none.zip", SHERD_WRITE_NEW, none.data, none.len, err));
	assert_refused(SHERD_EUNSUPPORTED, "foreign-format", sherd_model_open(&m, store, "none.zip", NULL, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_saved_in_one_file_comes_back, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_file_tells_what_it_is, memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(large_arrays_can_be_mapped, memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(shards_open_by_their_base_and_by_any_of_them, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_missing_shard_is_named, memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(two_whole_sets_are_not_chosen_from, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(shards_that_are_not_what_their_names_say_are_refused, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(what_stands_there_is_kept_unless_told, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_set_is_not_replaced_but_a_dead_one_is, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_claim_never_clears_files_of_a_set, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_file_that_would_hide_the_set_is_refused, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_second_saver_of_one_set_is_refused_while_the_first_lives,
	                                        memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(the_updater_can_be_left_out, memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(what_has_no_place_is_refused_by_name, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(every_cut_of_a_file_is_noticed, memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(no_flipped_bit_of_a_file_does_harm, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(every_flipped_bit_of_an_archive_is_found_or_means_nothing,
	                                        memory_store_open, memory_store_close),
		cmocka_unit_test_setup_teardown(the_example_of_the_document_is_what_is_written, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(a_wrong_crc_is_told_of_the_entry, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(compressed_entries_are_read_anywhere, memory_store_open,
	                                        memory_store_close),
		cmocka_unit_test_setup_teardown(an_archive_without_a_model_is_told, memory_store_open,
	                                        memory_store_close),
	};
	return cmocka_run_group_tests_name("model_sdnb", tests, NULL, NULL);
}
