/* S-4, S-7: arrays are named after their owners, so that a small file can ask for many long names. What is allocated
 * for them stays within what the file justifies, and no name is longer than a file can hold. */
#include "support/container_make.h"
#include "support/fail_malloc.h"
#include "support/memory_store.h"
#include "support/samediff_make.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/model/container_out.h"

#include <sherd/convert.h>
#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

enum { OWNER = 60000, ARRAYS = 2000, MOST_NAME = 64 << 10 };

static char *owner_of(size_t len)
{
	char *name = malloc(len + 1);
	assert_non_null(name);
	memset(name, 'n', len);
	name[len] = 0;
	return name;
}

static size_t put_fb(const char *key, size_t owner, uint32_t arrays)
{
	SHD_AUTO_BUF fb = {0};
	char *name = owner_of(owner);
	samediff_make_owner(&fb, name, arrays, true);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, fb.data, fb.len, err));
	free(name);
	return fb.len;
}

/* A container of this graph, and an index of so many arrays without bytes, which are not those of the graph. */
static size_t put_container(const char *key, const shd_buf *graph, size_t arrays)
{
	static const uint8_t set[SHD_CONTAINER_SET_BYTES];
	static const uint64_t shape[] = {0};
	const shd_container_array none = {.tensor = {"w", SHERD_F32, 1, shape, 0}, .key = ""};
	SHD_AUTO_BUF index = {0};
	shd_container_array *list = calloc(arrays + 1, sizeof(*list));
	shd_container_peer peer;
	container_out out;
	for (size_t i = 0; i < arrays; i++)
		list[i] = none;
	assert_ok(shd_container_index_encode(list, arrays, &index, NULL, err));
	assert_ok(shd_container_out_begin(&out, store, key, &(sherd_write_options){0}, err));
	shd_container_out_end_data(&out);
	assert_ok(shd_container_out_section(&out, SHD_SECTION_GRAPH, graph->data, graph->len, 6, err));
	assert_ok(shd_container_out_section(&out, SHD_SECTION_ARRAYS, index.data, index.len, 0, err));
	assert_ok(shd_container_out_finish(&out, set, &peer, err));
	free(list);
	return (size_t)peer.size;
}

static void assert_modest(const char *key, size_t most)
{
	sherd_error e = {0};
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	fail_malloc_at(0);
	int rc = sherd_model_open(&m, store, key, NULL, &e);
	size_t opened = fail_malloc_bytes();
	fail_malloc_at(0);
	(void)container_verify(store, key, NULL);
	print_message("%s: %s, %zu KiB to open, %zu KiB to verify\n", key, rc < 0 ? e.reason : "fine", opened >> 10,
	              fail_malloc_bytes() >> 10);
	assert_true(opened < most);
	assert_true(fail_malloc_bytes() < 2 * most);
}

TEST(names_of_a_flatbuffers_file_stay_within_what_it_justifies)
{
	sherd_model *m;
	size_t len = put_fb("bomb.fb", OWNER, ARRAYS);
	assert_modest("bomb.fb", 32 * len);
	assert_refused(SHERD_ELIMIT, "too-large", sherd_model_open(&m, store, "bomb.fb", NULL, err));
	len = put_fb("many.fb", 20, ARRAYS);
	assert_modest("many.fb", 32 * len);
	assert_ok(sherd_model_open(&m, store, "many.fb", NULL, err));
	sherd_model_close(m);
}

TEST(names_of_a_container_stay_within_its_index)
{
	SHD_AUTO_BUF graph = {0};
	sherd_model *m;
	char *name = owner_of(OWNER);
	samediff_make_owner(&graph, name, ARRAYS, false);
	free(name);
	(void)put_container("few.sdc", &graph, 2);
	(void)put_container("as_many.sdc", &graph, ARRAYS);
	assert_modest("few.sdc", 16 * graph.len);
	assert_modest("as_many.sdc", 16 * graph.len);
	assert_refused(SHERD_ECORRUPT, "bad-index", sherd_model_open(&m, store, "few.sdc", NULL, err));
	assert_refused(SHERD_ECORRUPT, "bad-index", sherd_model_open(&m, store, "as_many.sdc", NULL, err));
}

TEST(a_name_that_would_be_too_long_is_a_number)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) again = NULL;
	(void)put_fb("long.fb", MOST_NAME - 4, 2);
	assert_ok(sherd_model_open(&m, store, "long.fb", NULL, err));
	assert_ok(sherd_bundle_of_model(&b, m, err));
	assert_string_equal(sherd_bundle_tensor(b, 0)->name, "@#0");
	assert_string_equal(sherd_bundle_tensor(b, 1)->name, "@#1");
	assert_ok(sherd_model_save(m, store, "long.sdc", NULL, err));
	assert_int_equal(container_verify(store, "long.sdc", NULL), 0);
	assert_ok(sherd_bundle_open(&again, store, "long.sdc", NULL, err));
	assert_string_equal(sherd_bundle_tensor(again, 1)->name, "@#1");
}

TEST(a_name_may_be_as_long_as_a_file_can_hold)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) longest = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) longer = NULL;
	(void)put_fb("longest.fb", MOST_NAME - 6, 1); /* @op/<owner>/p */
	(void)put_fb("longer.fb", MOST_NAME - 5, 1);
	assert_ok(sherd_bundle_open(&longest, store, "longest.fb", NULL, err));
	assert_ok(sherd_bundle_open(&longer, store, "longer.fb", NULL, err));
	assert_int_equal(strlen(sherd_bundle_tensor(longest, 0)->name), MOST_NAME);
	assert_string_equal(sherd_bundle_tensor(longer, 0)->name, "@#0");
}

TEST(an_index_with_one_name_often_is_refused)
{
	SHD_AUTO_BUF graph = {0};
	sherd_error first = {.reason = ""};
	samediff_make_owner(&graph, "n", ARRAYS, false);
	(void)put_container("twice.sdc", &graph, ARRAYS);
	assert_true(container_verify(store, "twice.sdc", &first) > 0);
	assert_string_equal(first.reason, "duplicate-name");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)
	const struct CMUnitTest tests[] = {
		CASE(names_of_a_flatbuffers_file_stay_within_what_it_justifies),
		CASE(names_of_a_container_stay_within_its_index),
		CASE(a_name_that_would_be_too_long_is_a_number),
		CASE(a_name_may_be_as_long_as_a_file_can_hold),
		CASE(an_index_with_one_name_often_is_refused),
	};
	return cmocka_run_group_tests_name("model_names", tests, NULL, NULL);
}
