#include "support/container_make.h"
#include "support/memory_store.h"
#include "support/test.h"

#include "engine/tensors/bundle.h"
#include "engine/model/container.h"

#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

static const sherd_model_save_options two = {.shards = 2}, three = {.shards = 3},
				      two_again = {.shards = 2, .replace = true},
				      three_again = {.shards = 3, .replace = true},
				      packed = {.shards = 3, .compress = SHERD_COMPRESS_DEFLATE};

static void rename_object(const char *from, const char *to)
{
	char *raw;
	size_t len;
	assert_ok(sherd_store_get(&raw, &len, store, from, 1 << 26, err));
	assert_ok(sherd_store_put(store, to, SHERD_WRITE_REPLACE, raw, len, err));
	sherd_free(raw);
}

static bool there(const char *key)
{
	sherd_stat stat;
	return sherd_store_stat(&stat, store, key, NULL) == SHERD_OK;
}

/* The keys of the store, separated by spaces. */
static bool append_key(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	shd_buf_printf(arg, "%s ", key);
	return true;
}

static void assert_keys(const char *want)
{
	SHD_AUTO_BUF keys = {0};
	assert_ok(sherd_store_list(store, "", "", append_key, &keys, err));
	shd_buf_u8(&keys, 0);
	assert_string_equal((char *)keys.data, want);
}

static int open_model(const char *key, sherd_error *err)
{
	sherd_model *m = NULL;
	int rc = sherd_model_open(&m, store, key, NULL, err);
	sherd_model_close(m);
	return rc;
}

TEST(a_set_comes_back_by_its_base_and_by_each_shard)
{
	static const char *const keys[] = {"m", "m.shard0-of-3.sdc", "m.shard1-of-3.sdc", "m.shard2-of-3.sdc"};
	container_write(store, "m", true, &three, 0);
	assert_keys("m.shard0-of-3.sdc m.shard1-of-3.sdc m.shard2-of-3.sdc ");
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		sherd_format format;
		container_assert(store, keys[i], true, true);
		assert_int_equal(container_verify(store, keys[i], NULL), 0);
		assert_ok(sherd_detect(&format, store, keys[i], err));
		assert_int_equal(format, SHERD_FORMAT_SAMEDIFF_CONTAINER);
	}
	container_write(store, "p", true, &packed, 1000);
	container_assert(store, "p", true, true);
	assert_int_equal(container_verify(store, "p", NULL), 0);
}

TEST(arrays_go_largest_first_to_the_emptiest)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	static const uint32_t want[CONTAINER_ARRAYS] = {2, 1, 1, 0, 2}; /* 24, 8, 28, most, 24 */
	container_write(store, "m", true, &three, 0);
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	for (size_t i = 0; i < CONTAINER_ARRAYS; i++) {
		const container_record *r;
		assert_ok(shd_container_model_record((shd_container_model *)m, i, &r, err));
		assert_int_equal(r->array.shard, want[i]);
	}
}

TEST(more_shards_than_arrays_are_fine)
{
	sherd_model_save_options o = {.shards = 9};
	container_write(store, "m", false, &o, 0);
	container_assert(store, "m", false, true);
	assert_int_equal(container_verify(store, "m.shard8-of-9.sdc", NULL), 0);
}

TEST(an_array_needs_its_own_shard_only)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	char got[28];
	container_write(store, "m", true, &three, 0);
	assert_ok(sherd_store_remove(store, "m.shard1-of-3.sdc", err));
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	assert_ok(sherd_bundle_of_model(&b, m, err));
	assert_ok(sherd_bundle_read(b, 0, 0, got, 24, err));
	assert_refused(SHERD_ECORRUPT, "missing-shard", sherd_bundle_read(b, 2, 0, got, 28, err));
}

TEST(missing_foreign_and_doubled_shards_are_named)
{
	sherd_error first = {0};
	container_write(store, "m", true, &three, 0);
	assert_ok(sherd_store_remove(store, "m.shard1-of-3.sdc", err));
	assert_int_equal(container_verify(store, "m", &first), 1);
	assert_string_equal(first.reason, "missing-shard");
	assert_string_equal(first.object, "m.shard1-of-3.sdc");
	rename_object("m.shard2-of-3.sdc", "m.shard1-of-3.sdc");
	assert_int_equal(container_verify(store, "m", &first), 1);
	assert_string_equal(first.reason, "duplicate-rank");
	assert_string_equal(first.object, "m.shard1-of-3.sdc");
	container_write(store, "other", false, &three, 0);
	rename_object("other.shard1-of-3.sdc", "m.shard1-of-3.sdc");
	assert_int_equal(container_verify(store, "m", &first), 1);
	assert_string_equal(first.reason, "other-set");
	container_write(store, "alone", false, NULL, 0);
	rename_object("alone", "m.shard1-of-3.sdc");
	assert_int_equal(container_verify(store, "m", &first), 1);
	assert_string_equal(first.reason, "other-set");
	/* The same graph and metadata, packed: not the file that shard 0 tells of. */
	sherd_model_save_options o = {.shards = 3, .compress = SHERD_COMPRESS_DEFLATE};
	container_write(store, "twin", true, &o, 0);
	rename_object("twin.shard1-of-3.sdc", "m.shard1-of-3.sdc");
	assert_true(container_verify(store, "m", &first) > 0);
	assert_string_equal(first.object, "m.shard1-of-3.sdc");
}

TEST(a_shard_under_a_name_that_is_not_its_own_is_refused)
{
	container_write(store, "m", false, &two, 0);
	rename_object("m.shard1-of-2.sdc", "single.sdc");
	assert_refused(SHERD_ECORRUPT, "bad-rank", open_model("single.sdc", err));
	rename_object("m.shard1-of-2.sdc", "n.shard0-of-2.sdc");
	assert_refused(SHERD_ECORRUPT, "bad-rank", open_model("n", err));
	rename_object("m.shard1-of-2.sdc", "n.shard1-of-2.sdc");
	assert_refused(SHERD_ECORRUPT, "bad-rank", open_model("n.shard1-of-2.sdc", err));
}

static void put_back(const char *key, char *data, size_t len)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
	free(data);
}

/* The same model in 2, 4 and 2 shards. What each replaced is put back, as a save leaves it that died before removing
 * it: the newest counts all the same. */
TEST(a_model_that_takes_turns_with_itself_is_told_from_what_it_replaced)
{
	static const char *const first_of[] = {"m.shard0-of-2.sdc", "m.shard0-of-4.sdc"};
	char *old = NULL;
	size_t len = 0;
	for (uint32_t turn = 0; turn < 4; turn++) {
		const sherd_model_save_options o = {.shards = turn % 2 ? 4 : 2, .replace = true, .time_ns = 1000000};
		if (turn)
			assert_ok(sherd_store_get(&old, &len, store, first_of[!(turn % 2)], 1 << 20, err));
		container_write(store, "m", false, &o, 0);
		if (turn)
			put_back(first_of[!(turn % 2)], old, len);
		assert_int_equal(container_verify(store, "m", NULL), 0);
		container_assert(store, "m", false, true);
	}
}

TEST(shards_without_shard_0_are_no_model)
{
	sherd_error first = {0};
	container_write(store, "m", false, &two, 0);
	assert_ok(sherd_store_remove(store, "m.shard0-of-2.sdc", err));
	assert_refused(SHERD_EINCOMPLETE, "incomplete", open_model("m", err));
	assert_refused(SHERD_EINCOMPLETE, "incomplete", open_model("m.shard1-of-2.sdc", err));
	assert_int_equal(container_verify(store, "m", &first), 1);
	assert_string_equal(first.reason, "incomplete");
	container_write(store, "m", true, &two, 0); /* what is left of a dead save is nobody's */
	container_assert(store, "m", true, true);
}

TEST(two_complete_sets_under_one_base_are_an_error_that_names_both)
{
	container_write(store, "m", false, &two, 0);
	container_write(store, "n", false, &three, 0);
	rename_object("n.shard0-of-3.sdc", "m.shard0-of-3.sdc");
	rename_object("n.shard1-of-3.sdc", "m.shard1-of-3.sdc");
	rename_object("n.shard2-of-3.sdc", "m.shard2-of-3.sdc");
	sherd_error e = {0};
	assert_int_equal(open_model("m", &e), SHERD_ECORRUPT);
	assert_string_equal(e.reason, "two-sets");
	assert_non_null(strstr(e.message, "m.shard0-of-2.sdc"));
	assert_non_null(strstr(e.message, "m.shard0-of-3.sdc"));
	container_assert(store, "m.shard0-of-2.sdc", false, true);
	container_assert(store, "m.shard1-of-3.sdc", false, true);
}

TEST(a_set_is_not_replaced_unless_asked)
{
	sherd_model_writer *w;
	container_write(store, "m", false, &two, 0);
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_model_writer_open(&w, store, "m", container_parts(false), &two, err));
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_model_writer_open(&w, store, "m", container_parts(false), &three, err));
	assert_keys("m.shard0-of-2.sdc m.shard1-of-2.sdc ");
}

TEST(a_set_of_as_many_shards_is_replaced_in_one_step)
{
	container_write(store, "m", false, &two, 0);
	container_write(store, "m", true, &two_again, 0);
	assert_keys("m.shard0-of-2.sdc m.shard1-of-2.1.sdc ");
	container_assert(store, "m", true, true);
	container_assert(store, "m.shard1-of-2.1.sdc", true, true);
	container_write(store, "m", false, &two_again, 0);
	assert_keys("m.shard0-of-2.sdc m.shard1-of-2.2.sdc ");
	container_assert(store, "m", false, true);
}

TEST(a_set_of_another_number_of_shards_is_replaced)
{
	container_write(store, "m", false, &two, 0);
	container_write(store, "m", true, &three_again, 0);
	assert_keys("m.shard0-of-3.sdc m.shard1-of-3.sdc m.shard2-of-3.sdc ");
	container_assert(store, "m", true, true);
}

TEST(of_a_set_and_the_one_it_replaces_the_newer_is_opened)
{
	container_write(store, "m", false, &two, 0);
	rename_object("m.shard0-of-2.sdc", "kept0");
	rename_object("m.shard1-of-2.sdc", "kept1");
	container_write(store, "m", true, &three_again, 0);
	rename_object("kept0", "m.shard0-of-2.sdc");
	rename_object("kept1", "m.shard1-of-2.sdc");
	container_assert(store, "m", true, true);
	container_assert(store, "m.shard0-of-2.sdc", false, true);
	container_write(store, "m", false, &three_again, 0);
	assert_false(there("m.shard0-of-2.sdc"));
	container_assert(store, "m", false, true);
}

TEST(only_one_save_at_a_time_may_use_a_base)
{
	sherd_model_writer *w, *v;
	assert_ok(sherd_model_writer_open(&w, store, "m", container_parts(false), &two, err));
	assert_refused(SHERD_ECONFLICT, "conflict",
	               sherd_model_writer_open(&v, store, "m", container_parts(false), &two, err));
	sherd_model_writer_abort(w);
	assert_keys("");
}

/* The warnings of verify, as "object:reason " each. */
static void assert_warnings(const char *key, const char *want)
{
	SHD_AUTO_BUF got = {0};
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, key, NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	for (size_t i = 0; i < sherd_report_warnings(r); i++)
		shd_buf_printf(&got, "%s:%s ", sherd_report_warning(r, i)->object, sherd_report_warning(r, i)->reason);
	shd_buf_u8(&got, 0);
	sherd_report_close(r);
	assert_string_equal((char *)got.data, want);
}

TEST(verify_warns_of_what_an_interrupted_save_left)
{
	container_write(store, "m.sdc", false, NULL, 0); /* one file */
	container_write(store, "m", false, &two, 0);
	rename_object("m.shard1-of-2.sdc", "kept1");
	container_write(store, "m", true, &two_again, 0);
	assert_warnings("m", "");
	rename_object("kept1", "m.shard1-of-2.sdc");                 /* not removed */
	rename_object("m.shard1-of-2.1.sdc", "m.shard1-of-2.2.sdc"); /* written, but not published */
	rename_object("m.shard1-of-2.1.sdc", "m.shard3-of-4.sdc");   /* likewise, of another number */
	assert_ok(sherd_store_put(store, "m.shard.saving", SHERD_WRITE_NEW, "", 0, err));
	container_write(store, "m.shard", false, &two, 0); /* another base */
	static const char want[] = "m.shard.saving:claimed m.shard1-of-2.2.sdc:stray-shard "
				   "m.shard1-of-2.sdc:stray-shard m.shard3-of-4.sdc:stray-shard ";
	assert_warnings("m", want);
	assert_warnings("m.shard1-of-2.1.sdc", want);
	assert_warnings("m.shard", "");
	assert_warnings("m.sdc", "");
	container_write(store, "m", true, &two_again, 0);
	assert_warnings("m", "");
}

TEST(verify_warns_of_the_set_that_was_replaced)
{
	container_write(store, "m", false, &two, 0);
	rename_object("m.shard0-of-2.sdc", "kept0");
	container_write(store, "m", true, &three_again, 0);
	rename_object("kept0", "m.shard0-of-2.sdc");
	assert_warnings("m", "m.shard0-of-2.sdc:stray-shard ");
}

TEST(a_set_becomes_one_file_and_one_file_a_set)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_model, sherd_model_close) s = NULL;
	container_write(store, "one.sdc", true, NULL, 0);
	assert_ok(sherd_model_open(&m, store, "one.sdc", NULL, err));
	assert_ok(sherd_model_save(m, store, "set", &packed, err));
	container_assert(store, "set", true, true);
	assert_ok(sherd_model_open(&s, store, "set", NULL, err));
	assert_ok(sherd_model_save(s, store, "back.sdc", NULL, err));
	char *a, *b;
	size_t len, len_b;
	assert_ok(sherd_store_get(&a, &len, store, "one.sdc", 1 << 26, err));
	assert_ok(sherd_store_get(&b, &len_b, store, "back.sdc", 1 << 26, err));
	assert_int_equal(len, len_b);
	assert_memory_equal(a, b, len);
	sherd_free(a);
	sherd_free(b);
}

/* M-4: one name never leads to two models. */
TEST(a_set_takes_the_place_of_a_file_only_when_asked)
{
	static const sherd_model_save_options again = {.replace = true};
	container_write(store, "m", false, NULL, 0);
	sherd_model_writer *w = NULL;
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_model_writer_open(&w, store, "m", container_parts(true), &two, err));
	assert_keys("m ");
	container_assert(store, "m", false, true);
	container_write(store, "m", true, &two_again, 0);
	assert_keys("m.shard0-of-2.sdc m.shard1-of-2.sdc ");
	container_assert(store, "m", true, true);
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_model_writer_open(&w, store, "m", container_parts(false), NULL, err));
	container_write(store, "m", false, &again, 0);
	assert_keys("m ");
	container_assert(store, "m", false, true);
}

TEST(a_set_is_opened_by_the_name_that_it_was_given)
{
	sherd_model_writer *w = NULL;
	container_write(store, "q.sdc", true, &two, 0);
	assert_keys("q.shard0-of-2.sdc q.shard1-of-2.sdc ");
	container_assert(store, "q.sdc", true, true);
	container_assert(store, "q", true, true);
	assert_int_equal(container_verify(store, "q.sdc", NULL), 0);
	/* Else the name would lead to another model. */
	assert_refused(SHERD_EEXIST, "exists",
	               sherd_model_writer_open(&w, store, "q.sdc", container_parts(false), NULL, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", open_model("other.sdc", err));
}

TEST(a_set_may_be_joined_beside_itself_and_split_beside_its_file)
{
	sherd_model *m = NULL;
	container_write(store, "m.sdc", true, NULL, 0);
	assert_ok(sherd_model_open(&m, store, "m.sdc", NULL, err));
	assert_ok(sherd_model_save(m, store, "m", &two, err));
	sherd_model_close(m);
	assert_ok(sherd_store_remove(store, "m.sdc", err));
	assert_ok(sherd_model_open(&m, store, "m", NULL, err));
	assert_ok(sherd_model_save(m, store, "m.sdc", NULL, err));
	sherd_model_close(m);
	assert_keys("m.sdc m.shard0-of-2.sdc m.shard1-of-2.sdc ");
}

TEST(a_file_beside_a_set_is_not_touched_when_the_set_is_written_anew)
{
	static const sherd_pair pair = {"a", "b"};
	container_write(store, "m", true, &two, 0);
	container_write(store, "kept", false, NULL, 0);
	rename_object("kept", "m");
	assert_ok(sherd_model_set_pairs(store, "m.shard0-of-2.sdc", &pair, 1, NULL, err));
	container_assert(store, "m", false, true);
	container_assert(store, "m.shard0-of-2.sdc", true, true);
	assert_warnings("m", "m.shard0-of-2.sdc:stray-shard m.shard1-of-2.1.sdc:stray-shard ");
}

TEST(only_what_was_seen_is_replaced)
{
	sherd_stat file, first;
	container_write(store, "f", false, NULL, 0);
	container_write(store, "m", false, &two, 0);
	assert_ok(sherd_store_stat(&file, store, "f", err));
	assert_ok(sherd_store_stat(&first, store, "m.shard0-of-2.sdc", err));
	sherd_model *m = NULL;
	assert_ok(sherd_model_open(&m, store, "f", NULL, err));
	sherd_model_save_options o = {.replace = true, .if_identity = first.identity};
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_model_save(m, store, "f", &o, err));
	o.if_identity = file.identity;
	assert_ok(sherd_model_save(m, store, "f", &o, err));
	o.shards = 2;
	assert_refused(SHERD_ECONFLICT, "replaced", sherd_model_save(m, store, "m", &o, err));
	o.if_identity = first.identity;
	assert_ok(sherd_model_save(m, store, "m", &o, err));
	sherd_model_close(m);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)
	const struct CMUnitTest tests[] = {
		CASE(a_set_comes_back_by_its_base_and_by_each_shard),
		CASE(arrays_go_largest_first_to_the_emptiest),
		CASE(more_shards_than_arrays_are_fine),
		CASE(an_array_needs_its_own_shard_only),
		CASE(missing_foreign_and_doubled_shards_are_named),
		CASE(a_shard_under_a_name_that_is_not_its_own_is_refused),
		CASE(a_model_that_takes_turns_with_itself_is_told_from_what_it_replaced),
		CASE(shards_without_shard_0_are_no_model),
		CASE(two_complete_sets_under_one_base_are_an_error_that_names_both),
		CASE(a_set_is_not_replaced_unless_asked),
		CASE(a_set_of_as_many_shards_is_replaced_in_one_step),
		CASE(a_set_of_another_number_of_shards_is_replaced),
		CASE(of_a_set_and_the_one_it_replaces_the_newer_is_opened),
		CASE(only_one_save_at_a_time_may_use_a_base),
		CASE(verify_warns_of_what_an_interrupted_save_left),
		CASE(verify_warns_of_the_set_that_was_replaced),
		CASE(a_set_becomes_one_file_and_one_file_a_set),
		CASE(a_set_takes_the_place_of_a_file_only_when_asked),
		CASE(a_set_is_opened_by_the_name_that_it_was_given),
		CASE(a_set_may_be_joined_beside_itself_and_split_beside_its_file),
		CASE(a_file_beside_a_set_is_not_touched_when_the_set_is_written_anew),
		CASE(only_what_was_seen_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
