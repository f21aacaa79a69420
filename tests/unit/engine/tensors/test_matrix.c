/* Every source, every target that can hold it, there and back: equal bytes, and the metadata that both have a place
 * for.
 *
 * Formats join by the table: whatever is written and holds tensors is a target, and what it wrote is a source. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/convert.h>

#include <stdio.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

enum { MOST_TENSORS = 64 };

/* What there is of tensors: every type, and every number of dimensions up to five. */
typedef struct sample {
	sherd_tensor tensors[MOST_TENSORS];
	uint64_t shapes[MOST_TENSORS][5];
	char names[MOST_TENSORS][32];
	size_t count;
} sample;

static void add_tensor(sample *s, const char *name, sherd_dtype dtype, uint32_t ndim, const uint64_t *shape)
{
	size_t i = s->count++;
	assert_true(i < MOST_TENSORS);
	memcpy(s->shapes[i], shape, ndim * sizeof(*shape));
	(void)snprintf(s->names[i], sizeof(s->names[i]), "%s", name);
	s->tensors[i] = (sherd_tensor){.name = s->names[i], .dtype = dtype, .ndim = ndim, .shape = s->shapes[i]};
	assert_true(sherd_tensor_bytes(&s->tensors[i].bytes, dtype, ndim, s->shapes[i]));
}

/* What the format can hold of all of it. */
static void fill_sample(sample *s, const sherd_format_info *to)
{
	static const uint64_t shape[] = {3, 256}, deep[] = {1, 2, 1, 3, 2};
	s->count = 0;
	for (unsigned d = SHERD_BOOL; d < SHERD_DTYPE_BLOCKS_END; d++) {
		const sherd_dtype_info *info = sherd_dtype_describe((sherd_dtype)d);
		char name[32];
		if (!info || !info->block_bytes || !sherd_format_holds(to, (sherd_dtype)d))
			continue;
		(void)snprintf(name, sizeof(name), "layers.%u.%s", d, info->name);
		add_tensor(s, name, (sherd_dtype)d, 2, shape);
		if (!(to->holds & SHERD_HOLDS_MANY))
			return;
	}
	for (uint32_t ndim = 0; ndim <= 5 && (!to->most_dims || ndim <= to->most_dims); ndim++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "dims.%u", ndim);
		if (sherd_format_holds(to, SHERD_F32))
			add_tensor(s, name, SHERD_F32, ndim, deep);
	}
}

static uint8_t byte_at(size_t tensor, uint64_t at)
{
	return (uint8_t)((at * 7 + tensor * 31) % 2); /* of a truth value, too */
}

static const sherd_pair plain_pairs[] = {{"format", "pt"}, {"note", "gr\xc3\xbc\xc3\x9f \"x\"\n"}};

/* A bundle in memory; data stays for as long as the case runs. */
static sherd_bundle *make_source(const sample *s)
{
	static const uint32_t seven = 7;
	static const float reals[] = {0.5f, -1};
	static uint8_t data[MOST_TENSORS][8192];
	const sherd_value values[] = {{"n", SHERD_U32, false, 1, &seven, NULL}, {"r", SHERD_F32, true, 2, reals, NULL}};
	const void *bytes[MOST_TENSORS];
	sherd_pair *typed, pairs[8];
	size_t typed_count;
	sherd_bundle *b;
	for (size_t i = 0; i < s->count; i++) {
		assert_true(s->tensors[i].bytes <= sizeof(data[i]));
		for (uint64_t k = 0; k < s->tensors[i].bytes; k++)
			data[i][k] = byte_at(i, k);
		bytes[i] = data[i];
	}
	assert_ok(sherd_pairs_of_values(&typed, &typed_count, values, 2, err));
	memcpy(pairs, plain_pairs, sizeof(plain_pairs));
	memcpy(pairs + 2, typed, typed_count * sizeof(*typed));
	const sherd_bundle_parts parts = {
		.tensors = s->tensors, .data = bytes, .count = s->count, .pairs = pairs, .pair_count = typed_count + 2};
	assert_ok(sherd_bundle_make(&b, &parts, err));
	sherd_free(typed);
	return b;
}

static void same_bytes(const sherd_bundle *want, const sherd_bundle *got, const char *way)
{
	static uint8_t a[1 << 16], b[1 << 16];
	if (sherd_bundle_count(want) != sherd_bundle_count(got))
		fail_msg("%s: %zu tensors, not %zu", way, sherd_bundle_count(got), sherd_bundle_count(want));
	for (size_t i = 0; i < sherd_bundle_count(want); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(want, i);
		size_t at = sherd_bundle_count(want) == 1 ? 0 : sherd_bundle_find(got, t->name);
		const sherd_tensor *u = at == SHERD_NO_TENSOR ? NULL : sherd_bundle_tensor(got, at);
		if (!u || u->dtype != t->dtype || u->ndim != t->ndim || u->bytes != t->bytes ||
		    (t->ndim && memcmp(u->shape, t->shape, t->ndim * sizeof(uint64_t)) != 0))
			fail_msg("%s: %s is another", way, t->name);
		assert_true(t->bytes <= sizeof(a));
		assert_ok(sherd_bundle_read(want, i, 0, a, (size_t)t->bytes, err));
		assert_ok(sherd_bundle_read(got, at, 0, b, (size_t)t->bytes, err));
		if (memcmp(a, b, (size_t)t->bytes) != 0)
			fail_msg("%s: %s has other bytes", way, t->name);
	}
}

static const char *pair_of(const sherd_bundle *b, const char *key)
{
	const sherd_pair *pairs;
	size_t count = sherd_bundle_pairs(&pairs, b);
	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].key, key) == 0)
			return pairs[i].value;
	return NULL;
}

/* Texts where all on the way hold pairs; types where all hold these, too. */
static void same_pairs(const sherd_bundle *got, unsigned holds, const char *way)
{
	const sherd_value *values;
	if (!(holds & SHERD_HOLDS_PAIRS))
		return;
	for (size_t i = 0; i < COUNT_OF(plain_pairs); i++) {
		const char *text = pair_of(got, plain_pairs[i].key);
		if (!text || strcmp(text, plain_pairs[i].value) != 0)
			fail_msg("%s: '%s' is '%s'", way, plain_pairs[i].key, text ? text : "not there");
	}
	if (!pair_of(got, "n") || strcmp(pair_of(got, "n"), "7") != 0)
		fail_msg("%s: a number is gone", way);
	if (holds & SHERD_HOLDS_TYPED && sherd_bundle_values(&values, got) < 1)
		fail_msg("%s: types are gone", way);
}

static bool is_target(const sherd_format_info *info)
{
	return info->written && info->kind != SHERD_KIND_ROWS && info->kind != SHERD_KIND_GRAPH &&
	       info->kind != SHERD_KIND_RECORDS;
}

static sherd_bundle *convert(const sherd_bundle *from, const sherd_format_info *to, const char *base, const char *way)
{
	char key[128];
	sherd_error e = {0};
	sherd_bundle *b = NULL;
	const sherd_convert_options o = {.drop_graph = true, .drop_pairs = true, .time_ns = 1, .timed = true};
	bool object = to->endings[0].text && to->endings[0].use != SHERD_ENDING_HEAD && !to->folder;
	(void)snprintf(key, sizeof(key), "%s%s", base, object ? to->endings[0].text : "");
	int rc = sherd_convert(from, store, key, to->id, &o, &e);
	if (rc < 0)
		fail_msg("%s: %s: %s", way, e.reason, e.message);
	if (sherd_bundle_open(&b, store, key, NULL, &e) < 0)
		fail_msg("%s: what was written does not open: %s", way, e.message);
	return b;
}

/* The sample of what both can hold: source to one, to the other, and back. */
static void go(const sherd_format_info *one, const sherd_format_info *other)
{
	static sample s;
	sherd_format_info both = *one;
	char way[128];
	both.dtypes &= other->dtypes;
	both.holds &= other->holds;
	both.most_dims = !one->most_dims                                         ? other->most_dims
	                 : other->most_dims && other->most_dims < one->most_dims ? other->most_dims
	                                                                         : one->most_dims;
	fill_sample(&s, &both);
	if (!s.count)
		return;
	(void)snprintf(way, sizeof(way), "%s to %s", one->name, other->name);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) source = make_source(&s);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) a = convert(source, one, "one", way);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = convert(a, other, "two", way);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) c = convert(b, one, "three", way);
	same_bytes(source, a, way);
	same_bytes(source, b, way);
	same_bytes(source, c, way);
	/* A model of a format without a place for pairs loses them, or was asked to. */
	unsigned pairs = one->kind == SHERD_KIND_MODEL || other->kind == SHERD_KIND_MODEL ? 0 : both.holds;
	same_pairs(a, one->kind == SHERD_KIND_MODEL ? 0 : one->holds, way);
	same_pairs(c, pairs, way);
}

TEST(everything_goes_everywhere_and_comes_back)
{
	size_t ways = 0;
	for (size_t i = 0; sherd_format_at(i); i++)
		for (size_t k = 0; sherd_format_at(k); k++) {
			if (!is_target(sherd_format_at(i)) || !is_target(sherd_format_at(k)))
				continue;
			assert_int_equal(memory_store_open(NULL), 0);
			go(sherd_format_at(i), sherd_format_at(k));
			assert_int_equal(memory_store_close(NULL), 0);
			ways++;
		}
	assert_true(ways >= 121); /* eleven formats at least */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(everything_goes_everywhere_and_comes_back)};
	return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
