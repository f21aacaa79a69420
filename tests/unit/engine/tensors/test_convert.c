#include "support/fail_store.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "base/str.h"
#include "format/tensor/npy.h"
#include "format/tensor/safetensors.h"
#include "format/tensor/set_claim.h"

#include <sherd/ckpt.h>
#include <sherd/convert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sherd_store *store;
static sherd_pool *pool;

static int open_store(void **state)
{
	(void)state;
	return sherd_store_open_memory(&store, NULL) | sherd_pool_open(&pool, 3, NULL);
}

static int close_store(void **state)
{
	(void)state;
	sherd_pool_close(pool);
	sherd_store_close(store);
	return 0;
}

static const uint64_t two_three[] = {2, 3}, five[] = {5}, none[] = {0, 7};

static const sherd_tensor model[] = {
	{"embed", SHERD_F32, 2, two_three, 24}, {"a/b", SHERD_I64, 1, five, 40}, {"half", SHERD_F16, 2, two_three, 12},
	{"nothing", SHERD_U8, 2, none, 0},      {".dot", SHERD_F64, 0, NULL, 8},
};
static const sherd_pair pairs[] = {{"format", "pt"}, {"run", "demo"}};

/* Byte i of a tensor is the first letter of its name plus i. */
static void put_model(const char *key, const sherd_tensor *tensors, size_t count)
{
	SHD_AUTO_BUF out = {0};
	size_t order[8];
	assert_true(count <= COUNT_OF(order));
	assert_ok(shd_safetensors_encode(tensors, count, pairs, COUNT_OF(pairs), &out, order, err));
	for (size_t i = 0; i < count; i++)
		for (uint64_t b = 0; b < tensors[order[i]].bytes; b++)
			shd_buf_u8(&out, (uint8_t)(tensors[order[i]].name[0] + (int)b));
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
}

static sherd_bundle *open_bundle(const char *key)
{
	sherd_bundle *bundle = NULL;
	assert_ok(sherd_bundle_open(&bundle, store, key, NULL, err));
	return bundle;
}

static sherd_bundle *open_model(void)
{
	put_model("source.safetensors", model, COUNT_OF(model));
	return open_bundle("source.safetensors");
}

static void assert_content(const sherd_bundle *b, size_t index, char first)
{
	uint8_t got[64];
	const sherd_tensor *t = sherd_bundle_tensor(b, index);
	assert_non_null(t);
	assert_true(t->bytes <= sizeof(got));
	assert_ok(sherd_bundle_read(b, index, 0, got, (size_t)t->bytes, err));
	for (size_t i = 0; i < t->bytes; i++)
		assert_int_equal(got[i], (uint8_t)(first + (int)i));
}

static void assert_model(const char *key)
{
	sherd_bundle *b = open_bundle(key);
	assert_int_equal(sherd_bundle_count(b), COUNT_OF(model));
	for (size_t i = 0; i < COUNT_OF(model); i++) {
		size_t at = sherd_bundle_find(b, model[i].name);
		assert_int_not_equal(at, SHERD_NO_TENSOR);
		const sherd_tensor *t = sherd_bundle_tensor(b, at);
		assert_int_equal(t->dtype, model[i].dtype);
		assert_int_equal(t->ndim, model[i].ndim);
		assert_int_equal(t->bytes, model[i].bytes);
		assert_content(b, at, model[i].name[0]);
	}
	const sherd_pair *got;
	assert_int_equal(sherd_bundle_pairs(&got, b), COUNT_OF(pairs));
	sherd_bundle_close(b);
}

static bool count_one(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	++*(size_t *)arg;
	return true;
}

static size_t objects(void)
{
	size_t n = 0;
	assert_ok(sherd_store_list(store, "", "", count_one, &n, err));
	return n;
}

static bool is_there(const char *key)
{
	sherd_stat stat;
	return sherd_store_stat(&stat, store, key, NULL) == SHERD_OK;
}

TEST(one_file_has_the_bytes_of_the_reference_order)
{
	sherd_bundle *b = open_model();
	assert_ok(sherd_convert(b, store, "out.safetensors", SHERD_FORMAT_SAFETENSORS, NULL, err));
	assert_model("out.safetensors");
	char *want, *got;
	size_t want_len, got_len;
	assert_ok(sherd_store_get(&want, &want_len, store, "source.safetensors", 1 << 20, err));
	assert_ok(sherd_store_get(&got, &got_len, store, "out.safetensors", 1 << 20, err));
	assert_int_equal(got_len, want_len);
	assert_memory_equal(got, want, want_len);
	sherd_free(want);
	sherd_free(got);
	sherd_bundle_close(b);
}

TEST(several_files_are_joined_by_an_index_that_names_each)
{
	sherd_bundle *b = open_model();
	sherd_convert_options options = {.shards = 3, .pool = pool};
	assert_ok(sherd_convert(b, store, "dir/out", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_true(is_there("dir/out-00001-of-00003.safetensors"));
	assert_true(is_there("dir/out-00003-of-00003.safetensors"));
	assert_model("dir/out.safetensors.index.json");
	sherd_bundle_close(b);
}

TEST(there_are_no_more_files_than_tensors)
{
	sherd_bundle *b = open_model();
	sherd_convert_options options = {.shards = 1000};
	size_t before = objects();
	assert_ok(sherd_convert(b, store, "many", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_int_equal(objects(), before + COUNT_OF(model) + 1);
	for (unsigned i = 1; i <= COUNT_OF(model); i++) {
		char key[64];
		(void)snprintf(key, sizeof(key), "many-%05u-of-%05zu.safetensors", i, COUNT_OF(model));
		sherd_bundle *file = open_bundle(key);
		assert_int_equal(sherd_bundle_count(file), 1);
		sherd_bundle_close(file);
	}
	assert_model("many.safetensors.index.json");
	sherd_bundle_close(b);
}

TEST(a_folder_of_numpy_files_keeps_names_apart)
{
	sherd_bundle *b = open_model();
	assert_ok(sherd_convert(b, store, "arrays/", SHERD_FORMAT_NPY_FOLDER, NULL, err));
	static const struct {
		const char *key;
		char first;
	} want[] = {{"arrays/embed.npy", 'e'},
	            {"arrays/a%2Fb.npy", 'a'},
	            {"arrays/half.npy", 'h'},
	            {"arrays/nothing.npy", 'n'},
	            {"arrays/%2Edot.npy", '.'}};
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		sherd_bundle *file = open_bundle(want[i].key);
		assert_int_equal(sherd_bundle_format(file), SHERD_FORMAT_NPY);
		assert_content(file, 0, want[i].first);
		sherd_bundle_close(file);
	}
	sherd_bundle_close(b);
}

TEST(one_numpy_file_holds_one_tensor)
{
	put_model("single.safetensors", model, 1);
	sherd_bundle *one = open_bundle("single.safetensors"), *all = open_model();
	assert_ok(sherd_convert(one, store, "x.npy", SHERD_FORMAT_NPY, NULL, err));
	sherd_bundle *back = open_bundle("x.npy");
	assert_content(back, 0, 'e');
	sherd_bundle_close(back);
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
	               sherd_convert(all, store, "y.npy", SHERD_FORMAT_NPY, NULL, err));
	assert_false(is_there("y.npy"));
	sherd_bundle_close(one);
	sherd_bundle_close(all);
}

TEST(a_checkpoint_gets_as_many_shards_as_asked_for)
{
	sherd_bundle *b = open_model();
	sherd_convert_options options = {.shards = 4, .pool = pool};
	assert_ok(sherd_convert(b, store, "ckpt/s", SHERD_FORMAT_CHECKPOINT, &options, err));
	assert_true(is_there("ckpt/s_shard_3.shard"));
	assert_model("ckpt/s");
	sherd_bundle_close(b);
}

TEST(what_cannot_be_held_is_refused_before_anything_is_written)
{
	sherd_tensor tensors[] = {model[0], {"brain", SHERD_BF16, 1, five, 10}};
	put_model("source.safetensors", tensors, 2);
	sherd_bundle *b = open_bundle("source.safetensors");
	size_t before = objects();
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
	               sherd_convert(b, store, "out/", SHERD_FORMAT_NPY_FOLDER, NULL, err));
	assert_int_equal(objects(), before);
	sherd_bundle_close(b);
}

static bool is_visible(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat, (void)arg;
	assert_int_not_equal(shd_str_leaf(key)[0], '.');
	return true;
}

/* T-4: whatever the names are, a folder of NumPy files comes back with them, with its pairs, and nothing in it is
 * hidden or told from another by capitals alone. */
TEST(a_folder_of_numpy_files_keeps_every_name)
{
	char name[300];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	const sherd_tensor tensors[] = {{name, SHERD_U8, 1, five, 5},       {"", SHERD_U8, 1, five, 5},
	                                {"..", SHERD_U8, 1, five, 5},       {"a\nb/c", SHERD_U8, 1, five, 5},
	                                {"Weight", SHERD_U8, 1, five, 5},   {"weight", SHERD_U8, 1, five, 5},
	                                {"weight~6", SHERD_U8, 1, five, 5}, {"%2E.", SHERD_U8, 1, five, 5}};
	static const char *const keys[] = {"out", "out/npy.manifest.json"};
	put_model("source.safetensors", tensors, COUNT_OF(tensors));
	sherd_bundle *b = open_bundle("source.safetensors");
	assert_ok(sherd_convert(b, store, "out/", SHERD_FORMAT_NPY_FOLDER, NULL, err));
	sherd_bundle_close(b);
	for (size_t k = 0; k < COUNT_OF(keys); k++) {
		const sherd_pair *got;
		b = open_bundle(keys[k]);
		assert_int_equal(sherd_bundle_format(b), SHERD_FORMAT_NPY_FOLDER);
		assert_int_equal(sherd_bundle_count(b), COUNT_OF(tensors));
		assert_int_equal(sherd_bundle_pairs(&got, b), COUNT_OF(pairs));
		assert_string_equal(got[1].value, "demo");
		for (size_t i = 0; i < COUNT_OF(tensors); i++) {
			size_t at = sherd_bundle_find(b, tensors[i].name);
			assert_int_not_equal(at, SHERD_NO_TENSOR);
			assert_content(b, at, tensors[i].name[0]);
		}
		sherd_bundle_close(b);
	}
	assert_ok(sherd_store_list(store, "out/", "", is_visible, NULL, err));
}

TEST(what_exists_is_kept_unless_it_may_be_replaced)
{
	sherd_bundle *b = open_model();
	sherd_convert_options options = {.shards = 2};
	assert_ok(sherd_store_put(store, "t.safetensors", SHERD_WRITE_NEW, "old", 3, err));
	assert_ok(sherd_store_put(store, "t-00002-of-00002.safetensors", SHERD_WRITE_NEW, "old", 3, err));
	size_t before = objects();
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_convert(b, store, "t.safetensors", SHERD_FORMAT_SAFETENSORS, NULL, err));
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_int_equal(objects(), before);
	options.replace = true;
	assert_ok(sherd_convert(b, store, "t.safetensors", SHERD_FORMAT_SAFETENSORS, &options, err));
	assert_ok(sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_model("t.safetensors");
	assert_model("t.safetensors.index.json");
	sherd_bundle_close(b);
}

/* T-3: typed values of an index's metadata stay what they are and do not come into the files. */
TEST(metadata_of_an_index_keeps_its_types)
{
	static const char text[] =
		"{\"metadata\": {\"total_size\": 24, \"total_parameters\": 32345344, \"nested\": {\"a\": [1, null]},\n"
		" \"text\": \"x\"}, \"weight_map\": {\"embed\": \"part\"}}";
	const sherd_pair *got;
	char *index;
	size_t len;
	put_model("part", model, 1);
	assert_ok(sherd_store_put(store, "i.safetensors.index.json", SHERD_WRITE_NEW, text, strlen(text), err));
	sherd_bundle *b = open_bundle("i.safetensors.index.json");
	const sherd_value *values;
	assert_int_equal(sherd_bundle_pairs(&got, b), 6); /* three of the index, their types, two of the file */
	assert_int_equal(sherd_bundle_values(&values, b), 2);
	assert_int_equal(values[0].type, SHERD_U64);
	assert_string_equal(values[1].text, "{\"a\": [1, null]}");
	assert_ok(sherd_convert(b, store, "o", SHERD_FORMAT_SAFETENSORS_INDEX, NULL, err));
	sherd_bundle_close(b);
	assert_ok(sherd_store_get(&index, &len, store, "o.safetensors.index.json", 1 << 20, err));
	assert_non_null(strstr(index, "\"total_parameters\": 32345344,"));
	assert_non_null(strstr(index, "\"nested\": {\"a\": [1, null]},"));
	assert_null(strstr(index, "demo"));
	sherd_free(index);
	b = open_bundle("o-00001-of-00001.safetensors");
	assert_int_equal(sherd_bundle_pairs(&got, b), COUNT_OF(pairs));
	assert_string_equal(got[0].key, "format");
	sherd_bundle_close(b);
	b = open_bundle("o.safetensors.index.json");
	assert_int_equal(sherd_bundle_pairs(&got, b), 6);
	sherd_bundle_close(b);
}

/* T-5 */
TEST(an_index_is_opened_by_its_base)
{
	static const char text[] = "{\"weight_map\": {\"embed\": \"part\"}}";
	put_model("part", model, 1);
	assert_ok(sherd_store_put(store, "i.safetensors.index.json", SHERD_WRITE_NEW, text, strlen(text), err));
	sherd_bundle *b = open_bundle("i");
	assert_int_equal(sherd_bundle_count(b), 1);
	sherd_bundle_close(b);
}

static bool is_part_of_first_write(const char *key)
{
	return strlen(shd_str_leaf(key)) == strlen("t-00001-of-00002.safetensors");
}

static bool count_plain(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	*(size_t *)arg += is_part_of_first_write(key);
	return true;
}

/* S-3: parts of a set that replaces another have names of their own, and the old ones go. */
TEST(a_replaced_set_has_parts_of_its_own)
{
	sherd_bundle *b = open_model();
	sherd_convert_options options = {.shards = 2, .replace = true};
	size_t parts = 0, plain = 0;
	assert_ok(sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_ok(sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_ok(sherd_store_list(store, "t-", "", count_one, &parts, err));
	assert_ok(sherd_store_list(store, "t-", "", count_plain, &plain, err));
	assert_int_equal(parts, 2);
	assert_int_equal(plain, 0);
	assert_model("t");
	assert_false(is_there("t.safetensors.saving"));
	sherd_bundle_close(b);
}

/* As who died holding it. */
static void put_claim(const char *key, const char *const *endings, size_t count)
{
	SHD_AUTO_BUF text = {0};
	shd_set_claim_encode(&(shd_set_claim){endings, count}, &text);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, text.data, text.len, err));
}

/* S-12: what a killed conversion left is cleared by the next, whether or not it may replace; what nobody claimed is
 * kept. */
TEST(what_a_dead_conversion_left_is_in_nobodys_way)
{
	static const char *const left[] = {"00001-of-00002.safetensors", "00002-of-00002.safetensors"};
	sherd_bundle *b = open_model();
	sherd_convert_options options = {.shards = 2};
	assert_ok(sherd_store_put(store, "t-00001-of-00002.safetensors", SHERD_WRITE_NEW, "old", 3, err));
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_false(is_there("t.safetensors.saving"));
	put_claim("t.safetensors.saving", left, COUNT_OF(left));
	assert_ok(sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_model("t");
	assert_false(is_there("t.safetensors.saving"));
	/* Now they are the set's. */
	put_claim("t.safetensors.saving", left, COUNT_OF(left));
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	options.replace = true;
	options.shards = 3;
	assert_ok(sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_model("t");
	sherd_bundle_close(b);
}

/* Whatever a claim says, only names go that a set may have; what is no claim of ours clears nothing. */
TEST(a_claim_never_clears_another_file)
{
	static const char *const others[] = {"t-notes.txt",      "t.safetensors",  "t-keep.safetensors.index.json",
	                                     "outside.npy",      "a/notes.txt",    "a/sub/x.npy",
	                                     "t-/x.safetensors", "t-b.safetensors"};
	static const char *const listed[] = {"notes.txt", "keep.safetensors.index.json", "a\nb.safetensors", "\"\\",
	                                     "../outside.npy"};
	static const char *const sly[] = {"/x.safetensors"};
	static const char lines[] = "b.safetensors\nnotes.txt\n../outside.npy\n";
	static const char *const texts[] = {lines, "", "{}", "{\"files\": [\"b.safetensors\"]}"};
	sherd_bundle *b = open_model();
	const sherd_convert_options options = {.replace = true, .shards = 2};
	for (size_t i = 0; i < COUNT_OF(others); i++)
		assert_ok(sherd_store_put(store, others[i], SHERD_WRITE_NEW, "mine", 4, err));
	for (size_t i = 0; i < 2 + COUNT_OF(texts); i++) {
		static const char *const claims[] = {"t.safetensors.saving", "a/npy.saving"};
		for (size_t k = 0; k < COUNT_OF(claims); k++) {
			if (i < 2)
				put_claim(claims[k], i ? sly : listed, i ? COUNT_OF(sly) : COUNT_OF(listed) - 1);
			else
				assert_ok(sherd_store_put(store, claims[k], SHERD_WRITE_NEW, texts[i - 2],
				                          strlen(texts[i - 2]), err));
		}
		assert_ok(sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
		assert_ok(sherd_convert(b, store, "a/", SHERD_FORMAT_NPY_FOLDER, &options, err));
		for (size_t k = 0; k < COUNT_OF(others); k++)
			if (!is_there(others[k]))
				fail_msg("claim %zu cleared %s", i, others[k]);
	}
	sherd_bundle_close(b);
}

static size_t claims_seen;

/* Dies, as it were, when it has claimed: what the claim says is kept. */
static bool copy_claim(void *arg, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	char *text;
	size_t len;
	assert_ok(sherd_store_get(&text, &len, store, "t.safetensors.saving", 1 << 20, err));
	assert_ok(sherd_store_put(store, arg, SHERD_WRITE_REPLACE, text, len, err));
	sherd_free(text);
	claims_seen++;
	return false;
}

/* An index of another program may name files with a line break in their names. */
TEST(a_former_file_with_a_line_break_in_its_name_is_cleared_as_one)
{
	static const char index[] = "{\"weight_map\": {\"w\": \"t-1\\n2.safetensors\", \"v\": \"t-list.txt\"}}";
	sherd_bundle *b = open_model();
	sherd_progress progress = {.update = copy_claim, .arg = (void *)"kept"};
	sherd_convert_options options = {.replace = true, .shards = 2, .progress = &progress};
	char *text;
	size_t len;
	claims_seen = 0;
	assert_ok(sherd_store_put(store, "t.safetensors.index.json", SHERD_WRITE_NEW, index, strlen(index), err));
	assert_ok(sherd_store_put(store, "t-1\n2.safetensors", SHERD_WRITE_NEW, "old", 3, err));
	assert_ok(sherd_store_put(store, "t-list.txt", SHERD_WRITE_NEW, "mine", 4, err));
	assert_ok(sherd_store_put(store, "t-2.safetensors", SHERD_WRITE_NEW, "mine", 4, err));
	assert_refused(SHERD_ECANCELLED, "cancelled",
	               sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_true(claims_seen > 0);
	/* Killed right after its head: the old files are nobody's, and the next one clears them. */
	assert_ok(sherd_store_remove(store, "t.safetensors.index.json", err));
	assert_ok(sherd_store_get(&text, &len, store, "kept", 1 << 20, err));
	assert_ok(sherd_store_put(store, "t.safetensors.saving", SHERD_WRITE_NEW, text, len, err));
	sherd_free(text);
	options.progress = NULL;
	assert_ok(sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_false(is_there("t-1\n2.safetensors"));
	assert_true(is_there("t-2.safetensors"));
	assert_true(is_there("t-list.txt"));
	assert_model("t");
	sherd_bundle_close(b);
}

TEST(a_second_conversion_is_refused_while_the_first_lives)
{
	sherd_bundle *b = open_model();
	sherd_lock *lock = NULL;
	sherd_convert_options options = {.replace = true};
	assert_ok(sherd_store_create_locked(&lock, store, "t.safetensors.saving", "", 0, SHERD_LOCK_EXCLUSIVE, err));
	assert_refused(SHERD_ECONFLICT, "conflict",
	               sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	sherd_lock_release(lock);
	assert_ok(sherd_store_create_locked(&lock, store, "a/npy.saving", "", 0, SHERD_LOCK_EXCLUSIVE, err));
	assert_refused(SHERD_ECONFLICT, "conflict",
	               sherd_convert(b, store, "a/", SHERD_FORMAT_NPY_FOLDER, &options, err));
	sherd_lock_release(lock);
	assert_ok(sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_ok(sherd_convert(b, store, "a", SHERD_FORMAT_NPY_FOLDER, &options, err));
	sherd_bundle_close(b);
}

/* A claim that is deleted by hand lets two in at once; the head decides, and the loser takes its files away. */
typedef struct intruder {
	const char *claim, *head;
} intruder;

static bool intrude(void *arg, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	const intruder *in = arg;
	assert_ok(sherd_store_remove(store, in->claim, err));
	assert_ok(sherd_store_put(store, in->head, SHERD_WRITE_REPLACE, "{}", 2, err));
	return true;
}

TEST(who_lost_its_claim_publishes_nothing)
{
	intruder in = {"t.safetensors.saving", "t.safetensors.index.json"};
	sherd_progress progress = {.update = intrude, .arg = &in};
	sherd_bundle *b = open_model();
	sherd_convert_options options = {.shards = 2, .replace = true, .progress = &progress};
	size_t before = objects();
	assert_refused(SHERD_ECONFLICT, "conflict",
	               sherd_convert(b, store, "t", SHERD_FORMAT_SAFETENSORS_INDEX, &options, err));
	assert_int_equal(objects(), before + 1);
	sherd_bundle_close(b);
}

/* Files that no manifest of ours describes are not replaced: who reads them by their names would get the old ones. */
TEST(numpy_files_without_a_manifest_are_not_replaced)
{
	sherd_bundle *b = open_model();
	sherd_convert_options options = {.replace = true};
	assert_ok(sherd_store_put(store, "a/half.npy", SHERD_WRITE_NEW, "mine", 4, err));
	assert_refused(SHERD_EEXIST, "cannot-replace",
	               sherd_convert(b, store, "a/", SHERD_FORMAT_NPY_FOLDER, &options, err));
	assert_ok(sherd_store_remove(store, "a/half.npy", err));
	assert_ok(sherd_convert(b, store, "a/", SHERD_FORMAT_NPY_FOLDER, &options, err));
	assert_ok(sherd_convert(b, store, "a/", SHERD_FORMAT_NPY_FOLDER, &options, err));
	assert_false(is_there("a/half.npy"));
	assert_model("a");
	sherd_bundle_close(b);
}

static bool refuse(void *arg, uint64_t done, uint64_t total)
{
	assert_int_equal(total, 84);
	assert_true(done <= total);
	++*(int *)arg;
	return false;
}

TEST(cancelling_leaves_nothing)
{
	static const sherd_format formats[] = {SHERD_FORMAT_SAFETENSORS, SHERD_FORMAT_SAFETENSORS_INDEX,
	                                       SHERD_FORMAT_NPY_FOLDER, SHERD_FORMAT_CHECKPOINT};
	sherd_bundle *b = open_model();
	size_t before = objects();
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		int calls = 0;
		sherd_progress progress = {.update = refuse, .arg = &calls};
		sherd_convert_options options = {.shards = 2, .progress = &progress};
		const char *key = formats[i] == SHERD_FORMAT_NPY_FOLDER ? "out/" : "out";
		assert_refused(SHERD_ECANCELLED, "cancelled", sherd_convert(b, store, key, formats[i], &options, err));
		assert_true(calls > 0);
		assert_int_equal(objects(), before);
	}
	sherd_bundle_close(b);
}

/* On a store with folders none is left that was not there before. */
TEST(cancelling_leaves_no_empty_folder)
{
	char *folder = scratch_make();
	int calls = 0;
	sherd_progress progress = {.update = refuse, .arg = &calls};
	sherd_convert_options options = {.progress = &progress, .replace = true};
	sherd_store *local = NULL;
	sherd_stat stat;
	sherd_bundle *b = open_model();
	assert_ok(sherd_store_open_local(&local, folder, NULL, err));
	assert_refused(SHERD_ECANCELLED, "cancelled",
	               sherd_convert(b, local, "a", SHERD_FORMAT_NPY_FOLDER, &options, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, local, "a", err));
	assert_ok(sherd_store_mkdir(local, "a", err));
	assert_refused(SHERD_ECANCELLED, "cancelled",
	               sherd_convert(b, local, "a", SHERD_FORMAT_NPY_FOLDER, &options, err));
	assert_refused(SHERD_ENOTFOUND, "is-folder", sherd_store_stat(&stat, local, "a", err));
	sherd_bundle_close(b);
	sherd_store_close(local);
	scratch_remove(folder);
}

TEST(whichever_operation_fails_nothing_new_is_left)
{
	static const sherd_format formats[] = {SHERD_FORMAT_SAFETENSORS, SHERD_FORMAT_SAFETENSORS_INDEX,
	                                       SHERD_FORMAT_NPY_FOLDER, SHERD_FORMAT_NPZ};
	sherd_bundle *b = open_model();
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		const char *key = formats[i] == SHERD_FORMAT_NPY_FOLDER ? "out/" : "out";
		sherd_convert_options options = {.shards = 2};
		for (long nth = 1;; nth++) {
			sherd_store *inner = NULL;
			assert_ok(sherd_store_open_memory(&inner, err));
			sherd_store *failing = fail_store_over(inner);
			fail_store_at(failing, nth);
			sherd_error error = {0};
			int rc = sherd_convert(b, failing, key, formats[i], &options, &error);
			bool hit = fail_store_hit(failing);
			fail_store_at(failing, 0);
			size_t left = 0, claims = 0;
			assert_ok(sherd_store_list(failing, "", "", count_one, &left, err));
			assert_ok(sherd_store_list(failing,
			                           formats[i] == SHERD_FORMAT_NPY_FOLDER ? "out/npy.saving"
			                                                                 : "out.safetensors.saving",
			                           "", count_one, &claims, err));
			sherd_store_close(failing);
			/* A claim that could not be removed is dead: the next one clears it. */
			if (rc < 0)
				assert_int_equal(left, claims);
			else
				assert_true(!hit || claims);
			if (!hit)
				break;
		}
	}
	sherd_bundle_close(b);
}

TEST(a_format_that_cannot_be_written_is_refused)
{
	sherd_bundle *b = open_model();
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format",
	               sherd_convert(b, store, "x", SHERD_FORMAT_CHECKPOINT_SHARD, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_convert(NULL, store, "x", SHERD_FORMAT_NPY, NULL, err));
	sherd_bundle_close(b);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(one_file_has_the_bytes_of_the_reference_order),
		CASE(several_files_are_joined_by_an_index_that_names_each),
		CASE(there_are_no_more_files_than_tensors),
		CASE(a_folder_of_numpy_files_keeps_names_apart),
		CASE(one_numpy_file_holds_one_tensor),
		CASE(a_checkpoint_gets_as_many_shards_as_asked_for),
		CASE(what_cannot_be_held_is_refused_before_anything_is_written),
		CASE(a_folder_of_numpy_files_keeps_every_name),
		CASE(what_exists_is_kept_unless_it_may_be_replaced),
		CASE(metadata_of_an_index_keeps_its_types),
		CASE(an_index_is_opened_by_its_base),
		CASE(a_replaced_set_has_parts_of_its_own),
		CASE(what_a_dead_conversion_left_is_in_nobodys_way),
		CASE(a_claim_never_clears_another_file),
		CASE(a_former_file_with_a_line_break_in_its_name_is_cleared_as_one),
		CASE(a_second_conversion_is_refused_while_the_first_lives),
		CASE(who_lost_its_claim_publishes_nothing),
		CASE(numpy_files_without_a_manifest_are_not_replaced),
		CASE(cancelling_leaves_nothing),
		CASE(cancelling_leaves_no_empty_folder),
		CASE(whichever_operation_fails_nothing_new_is_left),
		CASE(a_format_that_cannot_be_written_is_refused),
	};
	return cmocka_run_group_tests_name("convert", tests, NULL, NULL);
}
