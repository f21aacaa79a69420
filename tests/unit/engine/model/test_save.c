#include "support/graph_same.h"
#include "support/memory_store.h"
#include "support/samediff_make.h"
#include "support/test.h"

#include "base/error.h"
#include "base/limits.h"
#include "format/samediff/graph.h"

#include <sherd/convert.h>

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(void, free)

static const sherd_model_save_options legacy = {.format = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS};
static const sherd_model_save_options over = {.format = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, .replace = true};

static int fill_store(void **state)
{
	SHD_AUTO_BUF full = {0};
	TRY(memory_store_open(state));
	samediff_make_full(&full);
	return sherd_store_put(store, "full.fb", SHERD_WRITE_NEW, full.data, full.len, NULL);
}

static int save(const char *from, const char *to, const sherd_model_save_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	TRY(sherd_model_open(&m, store, from, NULL, err));
	return sherd_model_save(m, store, to, options, err);
}

static void check_same_elements(const char *a, const char *b)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) one = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) other = NULL;
	assert_ok(sherd_bundle_open(&one, store, a, NULL, err));
	assert_ok(sherd_bundle_open(&other, store, b, NULL, err));
	assert_int_equal(sherd_bundle_count(one), sherd_bundle_count(other));
	for (size_t i = 0; i < sherd_bundle_count(one); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(one, i), *u = sherd_bundle_tensor(other, i);
		uint8_t was[64], is[64];
		assert_string_equal(t->name, u->name);
		assert_int_equal(t->dtype, u->dtype);
		assert_int_equal(t->bytes, u->bytes);
		assert_true(t->bytes <= sizeof(was));
		assert_ok(sherd_bundle_read(one, i, 0, was, (size_t)t->bytes, err));
		assert_ok(sherd_bundle_read(other, i, 0, is, (size_t)t->bytes, err));
		assert_memory_equal(was, is, t->bytes);
	}
}

TEST(graph_and_elements_are_the_same_in_what_is_saved)
{
	SHD_AUTO(sherd_model, sherd_model_close) was = NULL;
	SHD_AUTO(sherd_model, sherd_model_close) is = NULL;
	assert_ok(save("full.fb", "again.fb", &legacy, err));
	assert_ok(sherd_model_open(&was, store, "full.fb", NULL, err));
	assert_ok(sherd_model_open(&is, store, "again.fb", NULL, err));
	const char *difference = graph_difference(sherd_model_describe(was), sherd_model_describe(is));
	if (difference)
		fail_msg("%s differs", difference);
	check_same_elements("full.fb", "again.fb");
}

static char *fetch(const char *key, size_t *len)
{
	char *data;
	assert_ok(sherd_store_get(&data, len, store, key, 1 << 20, err));
	return data;
}

/* All but texts of the older layout and elements that were little-endian, which get today's. */
TEST(buffers_have_the_same_bytes_in_the_file)
{
	size_t was_len, is_len, seen = 0;
	shd_arena arena = {0};
	shd_samediff_graph was, is;
	shd_flatbuf fb;
	assert_ok(save("full.fb", "bytes.fb", &legacy, err));
	SHD_AUTO(void, free) a = fetch("full.fb", &was_len);
	SHD_AUTO(void, free) b = fetch("bytes.fb", &is_len);
	shd_flatbuf_over(&fb, a, was_len);
	assert_ok(shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, NULL, &arena, &was, err));
	shd_flatbuf_over(&fb, b, is_len);
	assert_ok(shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, NULL, &arena, &is, err));
	assert_int_equal(was.array_count, is.array_count);
	for (size_t i = 0; i < was.array_count; i++) {
		const shd_nd4j_array *x = &was.arrays[i], *y = &is.arrays[i];
		if (x->text != SHD_ND4J_TEXT_PLAIN || x->swap != y->swap)
			continue;
		assert_int_equal(x->stored, y->stored);
		assert_memory_equal((char *)a + x->data, (char *)b + y->data, x->stored);
		seen++;
	}
	assert_int_equal(was.array_count - seen, 2);
	shd_arena_done(&arena);
}

TEST(what_is_there_is_replaced_only_when_asked)
{
	assert_ok(save("full.fb", "taken.fb", &legacy, err));
	assert_refused(SHERD_EEXIST, "exists", save("full.fb", "taken.fb", &legacy, err));
	assert_ok(save("full.fb", "taken.fb", &over, err));
	assert_ok(save("taken.fb", "taken.fb", &over, err)); /* over itself */
	check_same_elements("full.fb", "taken.fb");
}

TEST(an_updater_is_left_out_when_asked)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_model_save_options without = legacy;
	without.without_updater = true;
	assert_ok(save("full.fb", "weights.fb", &without, err));
	assert_ok(sherd_model_open(&m, store, "weights.fb", NULL, err));
	assert_int_equal(sherd_model_describe(m)->updater_count, 0);
	assert_ok(sherd_bundle_of_model(&b, m, err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++)
		assert_null(strstr(sherd_bundle_tensor(b, i)->name, "@updater"));
}

typedef struct watch {
	uint64_t done, total;
	bool stop;
} watch;

static bool update(void *arg, uint64_t done, uint64_t total)
{
	watch *w = arg;
	w->done = done;
	w->total = total;
	return !w->stop;
}

TEST(progress_counts_the_bytes_of_the_file_and_can_stop_it)
{
	watch w = {0};
	const sherd_progress progress = {.update = update, .arg = &w};
	sherd_model_save_options options = legacy;
	sherd_stat stat;
	options.progress = &progress;
	assert_ok(save("full.fb", "watched.fb", &options, err));
	assert_ok(sherd_store_stat(&stat, store, "watched.fb", err));
	assert_int_equal(w.done, stat.size);
	assert_int_equal(w.total, stat.size);
	w.stop = true;
	assert_refused(SHERD_ECANCELLED, "cancelled", save("full.fb", "stopped.fb", &options, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "stopped.fb", err));
}

TEST(other_formats_and_bad_calls_are_refused)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	const sherd_model_save_options rows = {.format = SHERD_FORMAT_NPY};
	assert_ok(sherd_model_open(&m, store, "full.fb", NULL, err));
	assert_refused(SHERD_EUNSUPPORTED, "unknown-format", sherd_model_save(m, store, "x", &rows, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_model_save(NULL, store, "x", &legacy, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_model_save(m, NULL, "x", &legacy, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_model_save(m, store, NULL, &legacy, err));
}

/* ---- models made in memory */

/* Element i of array a is i + a: bytes of 32-bit integers. */
static int count_up(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg;
	(void)err;
	for (size_t k = 0; k < len; k++) {
		uint32_t value = (uint32_t)((offset + k) / 4 + array);
		((uint8_t *)buf)[k] = (uint8_t)(value >> (8 * ((offset + k) % 4)));
	}
	return SHERD_OK;
}

/* One variable, "x": 32-bit integers of that shape, in Fortran order in files that know it. */
static sherd_model *counting(uint32_t ndim, const uint64_t *shape, const sherd_pair *pairs, size_t pair_count)
{
	static const uint8_t fortran[] = {1};
	const sherd_tensor array = {.dtype = SHERD_I32, .ndim = ndim, .shape = shape};
	const sherd_model_variable x = {.name = "x",
	                                .kind = SHERD_VARIABLE_CONSTANT,
	                                .dtype = SHERD_I32,
	                                .has_id = true,
	                                .id = {1, 0},
	                                .array = 0};
	const sherd_model_graph graph = {.variable_count = 1, .variables = &x, .fortran = {1, fortran}};
	const sherd_model_parts parts = {.graph = &graph,
	                                 .arrays = &array,
	                                 .array_count = 1,
	                                 .pairs = pairs,
	                                 .pair_count = pair_count,
	                                 .read = count_up};
	sherd_model *m = NULL;
	assert_ok(sherd_model_make(&m, &parts, err));
	return m;
}

TEST(fortran_order_is_written_where_it_was)
{
	static const uint64_t shape[] = {2, 3, 4};
	SHD_AUTO(sherd_model, sherd_model_close) m = counting(3, shape, NULL, 0);
	shd_arena arena = {0};
	shd_samediff_graph g;
	shd_flatbuf fb;
	size_t len;
	assert_ok(sherd_model_save(m, store, "fortran.fb", &legacy, err));
	SHD_AUTO(void, free) data = fetch("fortran.fb", &len);
	shd_flatbuf_over(&fb, data, len);
	assert_ok(shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, NULL, &arena, &g, err));
	assert_true(g.arrays[0].fortran && g.arrays[0].swap);
	const uint8_t *p = (const uint8_t *)data + g.arrays[0].data;
	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t j = 0; j < 3; j++)
			for (uint32_t i = 0; i < 2; i++, p += 4) {
				assert_true(p[0] == 0 && p[1] == 0 && p[2] == 0);
				assert_int_equal(p[3], (i * 3 + j) * 4 + k);
			}
	shd_arena_done(&arena);
}

/* Too large to be turned about in memory. */
TEST(fortran_order_of_a_large_array_is_written)
{
	static const uint64_t shape[] = {4200, 4100};
	SHD_AUTO(sherd_model, sherd_model_close) m = counting(2, shape, NULL, 0);
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	assert_ok(sherd_model_save(m, store, "large.fb", &legacy, err));
	assert_ok(sherd_bundle_open(&b, store, "large.fb", NULL, err));
	size_t bytes = (size_t)sherd_bundle_tensor(b, 0)->bytes;
	SHD_AUTO(void, free) got = malloc(bytes);
	SHD_AUTO(void, free) want = malloc(bytes);
	assert_non_null(got);
	assert_non_null(want);
	assert_ok(sherd_bundle_read(b, 0, 0, got, bytes, err));
	assert_ok(count_up(NULL, 0, 0, want, bytes, err));
	assert_true(memcmp(got, want, bytes) == 0);
	assert_ok(save("large.fb", "large2.fb", &legacy, err)); /* from where it is stored so already */
	sherd_stat one, other;
	assert_ok(sherd_store_stat(&one, store, "large.fb", err));
	assert_ok(sherd_store_stat(&other, store, "large2.fb", err));
	assert_int_equal(one.size, other.size);
	assert_ok(sherd_store_remove(store, "large.fb", err));
	assert_ok(sherd_store_remove(store, "large2.fb", err));
}

TEST(pairs_are_refused_unless_they_may_go)
{
	static const uint64_t shape[] = {2};
	static const sherd_pair pairs[] = {{"creation.time", "1"}, {"author", "me"}};
	static const sherd_pair away[] = {{"author", NULL}}, more[] = {{"author", NULL}, {"other", "x"}};
	SHD_AUTO(sherd_model, sherd_model_close) m = counting(1, shape, pairs, 2);
	sherd_model_save_options options = over;
	sherd_error e = {0};
	assert_int_equal(sherd_model_save(m, store, "pairs.fb", &options, &e), SHERD_EUNSUPPORTED);
	assert_string_equal(e.reason, "cannot-hold");
	assert_non_null(strstr(e.message, "author"));
	options.pairs = away;
	options.pair_count = 1;
	assert_ok(sherd_model_save(m, store, "pairs.fb", &options, err));
	options.pairs = more;
	options.pair_count = 2;
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold", sherd_model_save(m, store, "pairs.fb", &options, err));
	options.drop_pairs = true;
	assert_ok(sherd_model_save(m, store, "pairs.fb", &options, err));
}

TEST(more_than_two_gibibytes_are_refused_before_anything_is_written)
{
	static const uint64_t shape[] = {1u << 29};
	SHD_AUTO(sherd_model, sherd_model_close) m = counting(1, shape, NULL, 0);
	sherd_stat stat;
	assert_refused(SHERD_EUNSUPPORTED, "too-large", sherd_model_save(m, store, "huge.fb", &legacy, err));
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, store, "huge.fb", err));
}

/* Also where the target is no model. */
TEST(what_becomes_tensors_is_without_its_updater_when_asked)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) model = NULL;
	const sherd_convert_options how[] = {{.drop_graph = true}, {.drop_graph = true, .without_updater = true}};
	assert_ok(sherd_bundle_open(&model, store, "full.fb", NULL, err));
	for (size_t i = 0; i < COUNT_OF(how); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		const char *key = i ? "bare" : "whole";
		size_t states = 0;
		assert_ok(sherd_convert(model, store, key, SHERD_FORMAT_CHECKPOINT, &how[i], err));
		assert_ok(sherd_bundle_open(&b, store, key, NULL, err));
		for (size_t k = 0; k < sherd_bundle_count(b); k++)
			states += strstr(sherd_bundle_tensor(b, k)->name, "updater/") != NULL;
		assert_int_equal(states, i ? 0 : 2);
		assert_int_equal(sherd_bundle_count(b), sherd_bundle_count(model) - (i ? 2 : 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graph_and_elements_are_the_same_in_what_is_saved),
		cmocka_unit_test(buffers_have_the_same_bytes_in_the_file),
		cmocka_unit_test(what_is_there_is_replaced_only_when_asked),
		cmocka_unit_test(an_updater_is_left_out_when_asked),
		cmocka_unit_test(what_becomes_tensors_is_without_its_updater_when_asked),
		cmocka_unit_test(progress_counts_the_bytes_of_the_file_and_can_stop_it),
		cmocka_unit_test(other_formats_and_bad_calls_are_refused),
		cmocka_unit_test(fortran_order_is_written_where_it_was),
		cmocka_unit_test(fortran_order_of_a_large_array_is_written),
		cmocka_unit_test(pairs_are_refused_unless_they_may_go),
		cmocka_unit_test(more_than_two_gibibytes_are_refused_before_anything_is_written),
	};
	return cmocka_run_group_tests_name("model_save", tests, fill_store, memory_store_close);
}
