/* Typed metadata on its way from format to format. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/tensors/bundle.h"

#include <sherd/ckpt.h>
#include <sherd/convert.h>

#include <string.h>

#define BUNDLE SHD_AUTO(sherd_bundle, sherd_bundle_close)

static const uint32_t alignment[] = {32};
static const float scores[] = {0.5f, -1};
static const char *const tokens[] = {"a", "b\n"}, *const name[] = {"tiny"};
static const sherd_value values[] = {
	{"alignment", SHERD_U32, false, 1, alignment}, {"config", SHERD_DTYPE_NONE, false, 0, NULL, "{\"deep\": [1]}"},
	{"name", SHERD_UTF8, false, 1, name},          {"scores", SHERD_F32, true, 2, scores},
	{"tokens", SHERD_UTF8, true, 2, tokens},
};

static void save_these(const char *prefix, const sherd_value *list, size_t count)
{
	static const uint8_t byte[1];
	const sherd_ckpt_item item = {.tensor = {"t", SHERD_U8, 0, NULL, 1}, .data = byte};
	const sherd_ckpt_shard_items shard = {&item, 1};
	sherd_pair *pairs;
	sherd_ckpt_about about = {0};
	assert_ok(sherd_pairs_of_values(&pairs, &about.field_count, list, count, err));
	about.fields = pairs;
	assert_ok(sherd_ckpt_save(store, prefix, &shard, &(sherd_ckpt_save_options){.about = &about}, err));
	sherd_free(pairs);
}

static void save(const char *prefix)
{
	save_these(prefix, values, COUNT_OF(values));
}

static const char *text_of(const sherd_bundle *b, const char *key)
{
	const sherd_pair *pairs;
	size_t count = sherd_bundle_pairs(&pairs, b);
	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].key, key) == 0)
			return pairs[i].value;
	return NULL;
}

static void assert_typed(const sherd_bundle *b, bool exact)
{
	const sherd_value *got;
	assert_int_equal(sherd_bundle_values(&got, b), 4);
	assert_string_equal(got[0].key, "alignment");
	assert_int_equal(got[0].type, exact ? SHERD_U32 : SHERD_U64);
	if (exact)
		assert_int_equal(*(const uint32_t *)got[0].items, 32);
	assert_string_equal(got[1].key, "config");
	assert_string_equal(got[1].text, "{\"deep\": [1]}");
	assert_string_equal(got[2].key, "scores");
	assert_int_equal(got[2].type, exact ? SHERD_F32 : SHERD_DTYPE_NONE);
	if (exact)
		assert_memory_equal(got[2].items, scores, sizeof(scores));
	assert_string_equal(got[3].key, "tokens");
	assert_string_equal(text_of(b, "name"), "tiny");
}

TEST(formats_that_hold_types_keep_them)
{
	static const sherd_format formats[] = {SHERD_FORMAT_CHECKPOINT, SHERD_FORMAT_SAMEDIFF_CONTAINER,
	                                       SHERD_FORMAT_SDNB, SHERD_FORMAT_SDZ, SHERD_FORMAT_SAFETENSORS_INDEX};
	BUNDLE from = NULL;
	save("from");
	assert_ok(sherd_bundle_open(&from, store, "from", NULL, err));
	assert_typed(from, true);
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		BUNDLE b = NULL;
		BUNDLE again = NULL;
		const char key[] = {(char)('k' + i), 0}, back[] = {'b', (char)('k' + i), 0};
		bool exact = formats[i] != SHERD_FORMAT_SAFETENSORS_INDEX; /* JSON has fewer types */
		assert_true(sherd_format_describe(formats[i])->holds & SHERD_HOLDS_TYPED);
		assert_ok(sherd_convert(from, store, key, formats[i], NULL, err));
		assert_ok(sherd_bundle_open(&b, store, key, NULL, err));
		assert_typed(b, exact);
		sherd_convert_options o = {.drop_graph = true};
		assert_ok(sherd_convert(b, store, back, SHERD_FORMAT_CHECKPOINT, &o, err));
		assert_ok(sherd_bundle_open(&again, store, back, NULL, err));
		assert_typed(again, exact);
	}
}

TEST(a_safetensors_file_holds_their_texts)
{
	BUNDLE from = NULL;
	BUNDLE b = NULL;
	const sherd_value *got;
	save("from");
	assert_ok(sherd_bundle_open(&from, store, "from", NULL, err));
	assert_false(sherd_format_describe(SHERD_FORMAT_SAFETENSORS)->holds & SHERD_HOLDS_TYPED);
	assert_ok(sherd_convert(from, store, "s", SHERD_FORMAT_SAFETENSORS, NULL, err));
	assert_ok(sherd_bundle_open(&b, store, "s", NULL, err));
	assert_int_equal(sherd_bundle_values(&got, b), 0);
	assert_null(text_of(b, SHERD_TYPES_KEY));
	assert_string_equal(text_of(b, "alignment"), "32");
	assert_string_equal(text_of(b, "config"), "{\"deep\": [1]}");
	assert_string_equal(text_of(b, "scores"), "[0.5, -1]");
	assert_string_equal(text_of(b, "tokens"), "[\"a\", \"b\\n\"]");
}

/* JSON that nests as deep as a reader allows is too deep in an index, where it lies deeper: a text then. */
TEST(json_too_deep_for_an_index_is_a_text_there)
{
	for (size_t levels = 62; levels <= 64; levels++) {
		char deep[129] = {0}, from[] = {'f', (char)levels, 0}, to[] = {'t', (char)levels, 0};
		const sherd_value list[] = {{"config", SHERD_DTYPE_NONE, false, 0, NULL, deep}};
		const sherd_value *got;
		BUNDLE a = NULL;
		BUNDLE b = NULL;
		memset(deep, '[', levels);
		memset(deep + levels, ']', levels);
		save_these(from, list, 1);
		assert_ok(sherd_bundle_open(&a, store, from, NULL, err));
		assert_int_equal(sherd_bundle_values(&got, a), 1);
		assert_ok(sherd_convert(a, store, to, SHERD_FORMAT_SAFETENSORS_INDEX, NULL, err));
		assert_ok(sherd_bundle_open(&b, store, to, NULL, err));
		assert_string_equal(text_of(b, "config"), deep);
		assert_int_equal(sherd_bundle_values(&got, b), levels == 62);
	}
}

TEST(values_are_read_when_they_are_asked_for_and_shared)
{
	BUNDLE from = NULL;
	BUNDLE part = NULL;
	BUNDLE again = NULL;
	const sherd_value *a, *b, *c;
	save("from");
	assert_ok(sherd_bundle_open(&from, store, "from", NULL, err));
	assert_ok(sherd_bundle_select(&part, from, NULL, err));
	assert_ok(sherd_bundle_select(&again, part, NULL, err));
	assert_null(from->values);
	assert_int_equal(sherd_bundle_values(&a, again), 4);
	assert_int_equal(sherd_bundle_values(&b, part), 4);
	assert_int_equal(sherd_bundle_values(&c, from), 4);
	assert_true(a && a == b && b == c);
}

TEST(a_selection_and_another_number_of_shards_keep_them)
{
	BUNDLE from = NULL;
	BUNDLE part = NULL;
	BUNDLE b = NULL;
	save("from");
	assert_ok(sherd_bundle_open(&from, store, "from", NULL, err));
	assert_ok(sherd_bundle_select(&part, from, &(sherd_bundle_select_options){.world = 2}, err));
	assert_typed(part, true);
	assert_typed(from, true);
	assert_ok(sherd_ckpt_save_bundle(store, "to", from, true, &(sherd_ckpt_save_options){.world = 2}, err));
	assert_ok(sherd_bundle_open(&b, store, "to", NULL, err));
	assert_typed(b, true);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(formats_that_hold_types_keep_them),
		CASE(a_safetensors_file_holds_their_texts),
		CASE(json_too_deep_for_an_index_is_a_text_there),
		CASE(values_are_read_when_they_are_asked_for_and_shared),
		CASE(a_selection_and_another_number_of_shards_keep_them),
	};
	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
