/* The table of formats: whole, without contradictions, and true to what the writers do. */
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/tensors/format.h"

#include <sherd/ckpt.h>
#include <sherd/convert.h>

#include <stdio.h>
#include <string.h>

TEST(each_format_stands_once_and_has_names_of_its_own)
{
	for (size_t i = 0; sherd_format_at(i); i++) {
		const sherd_format_info *a = sherd_format_at(i);
		assert_non_null(a->noun);
		assert_true(a->id ? a->name && a->kind : !a->name && a->advice);
		for (size_t k = 0; k < i && a->id; k++) {
			const sherd_format_info *b = sherd_format_at(k);
			assert_int_not_equal(a->id, b->id);
			assert_true(!b->name || strcmp(a->name, b->name) != 0);
			assert_true(!a->short_name || !b->short_name || strcmp(a->short_name, b->short_name) != 0);
		}
		if (a->id)
			assert_ptr_equal(sherd_format_describe(a->id), a);
	}
	for (sherd_format id = SHERD_FORMAT_UNKNOWN + 1; id <= SHERD_FORMAT_JSONL; id++)
		assert_non_null(sherd_format_describe(id));
	assert_null(sherd_format_describe(SHERD_FORMAT_UNKNOWN));
	assert_null(sherd_format_describe((sherd_format)1000));
}

TEST(detection_has_room_for_all_of_them)
{
	size_t count = 0;
	while (shd_formats[count])
		count++;
	assert_true(count < 128);
}

TEST(an_ending_belongs_to_one_format)
{
	for (size_t i = 0; sherd_format_at(i); i++)
		for (size_t k = 0; sherd_format_at(i)->endings[k].text; k++) {
			char path[64];
			const sherd_format_ending *ending = NULL;
			(void)snprintf(path, sizeof(path), "a/b%s", sherd_format_at(i)->endings[k].text);
			assert_ptr_equal(sherd_format_by_path(path, &ending), sherd_format_at(i));
			assert_ptr_equal(ending, &sherd_format_at(i)->endings[k]);
		}
	assert_null(sherd_format_by_path("a/b.none", NULL));
	assert_null(sherd_format_by_path(".npy", NULL)); /* a name that is nothing but an ending has none */
}

TEST(what_is_written_says_so)
{
	for (size_t i = 0; shd_formats[i]; i++) {
		const shd_format_entry *f = shd_formats[i];
		assert_int_equal(f->info.written, f->write != NULL);
		assert_int_equal(f->info.kind == SHERD_KIND_MODEL, f->open_model != NULL);
		assert_int_equal(f->info.kind == SHERD_KIND_ROWS, f->open_rows != NULL);
		assert_true(!f->refusal == (f->info.id != 0));
		assert_true(!f->refusal || (f->reason && !f->open && !f->write));
		assert_true(!f->info.written || f->info.dtypes);
		assert_true(f->info.holds & SHERD_HOLDS_MANY || !f->info.written || f->info.several);
	}
}

enum { MOST = 8 * 257 };

/* A bundle of one tensor of 256 elements, by way of a checkpoint, which holds everything. */
static sherd_bundle *bundle_of(sherd_store *from, const char *name, sherd_dtype dtype, uint32_t ndim)
{
	uint8_t data[MOST] = {0};
	uint64_t shape[SHERD_MAX_DIMS];
	for (uint32_t i = 0; i < ndim; i++)
		shape[i] = i + 1 < ndim ? 1 : 256;
	sherd_tensor t = {.name = name, .dtype = dtype, .ndim = ndim, .shape = shape};
	sherd_ckpt_item item = {.data = data};
	sherd_bundle *out;
	if (dtype == SHERD_OPAQUE)
		t.type_name = "X1";
	if (dtype == SHERD_UTF8 || dtype == SHERD_OPAQUE)
		t.bytes = MOST;
	else
		assert_true(sherd_tensor_bytes(&t.bytes, dtype, ndim, shape));
	for (size_t i = 0; dtype != SHERD_UTF8 && dtype != SHERD_BOOL && i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 % 64);
	item.tensor = t;
	sherd_ckpt_save_options options = {.world = 1, .replace = true};
	const sherd_ckpt_shard_items shard = {&item, 1};
	assert_ok(sherd_ckpt_save(from, "one", &shard, &options, err));
	assert_ok(sherd_bundle_open(&out, from, "one", NULL, err));
	return out;
}

static void check_same(const sherd_bundle *b, sherd_store *to)
{
	sherd_bundle *back;
	uint8_t bytes[2][MOST];
	assert_ok(sherd_bundle_open(&back, to, "x", NULL, err));
	const sherd_tensor *t = sherd_bundle_tensor(b, 0), *u = sherd_bundle_tensor(back, 0);
	assert_int_equal(t->dtype, u->dtype);
	assert_int_equal(t->ndim, u->ndim);
	assert_memory_equal(t->shape, u->shape, t->ndim * sizeof(*t->shape));
	assert_int_equal(t->bytes, u->bytes);
	assert_ok(sherd_bundle_read(b, 0, 0, bytes[0], t->bytes, err));
	assert_ok(sherd_bundle_read(back, 0, 0, bytes[1], u->bytes, err));
	assert_memory_equal(bytes[0], bytes[1], t->bytes);
	sherd_bundle_close(back);
}

/* What the table says a format can hold, its writer takes; what it says it cannot, is refused by name. */
static void check_holds(const shd_format_entry *f, sherd_bundle *b, bool holds, const char *what)
{
	sherd_store *to;
	assert_ok(sherd_store_open_memory(&to, err));
	sherd_error e = {0};
	int rc = sherd_convert(b, to, "x", f->info.id, NULL, &e);
	/* Of types that have a name alone, a format may know a few. */
	if (rc == SHERD_EUNSUPPORTED && sherd_bundle_tensor(b, 0)->dtype == SHERD_OPAQUE)
		holds = false;
	if (rc != (holds ? SHERD_OK : SHERD_EUNSUPPORTED))
		fail_msg("%s, %s: %d %s", f->info.name, what, rc, e.message);
	if (holds && f->info.kind != SHERD_KIND_ROWS) /* which turn them into others */
		check_same(b, to);
	else if (!holds)
		assert_string_equal(e.reason, "cannot-hold");
	sherd_store_close(to);
}

TEST(the_table_tells_which_types_a_format_holds)
{
	for (sherd_dtype d = SHERD_DTYPE_NONE + 1; d < SHERD_DTYPE_BLOCKS_END; d++) {
		if (!sherd_dtype_describe(d))
			continue;
		sherd_bundle *b = bundle_of(store, "t", d, 2);
		for (size_t i = 0; shd_formats[i]; i++)
			if (shd_formats[i]->write)
				check_holds(shd_formats[i], b, sherd_format_holds(&shd_formats[i]->info, d),
				            sherd_dtype_describe(d)->name);
		sherd_bundle_close(b);
	}
}

TEST(the_table_tells_which_shapes_and_names_a_format_holds)
{
	sherd_bundle *deep = bundle_of(store, "t", SHERD_F32, SHERD_MAX_DIMS);
	for (size_t i = 0; shd_formats[i]; i++)
		if (shd_formats[i]->write)
			check_holds(shd_formats[i], deep, shd_formats[i]->info.most_dims >= SHERD_MAX_DIMS,
			            "32 dimensions");
	sherd_bundle_close(deep);
	sherd_bundle *nameless = bundle_of(store, "", SHERD_F32, 2);
	for (size_t i = 0; shd_formats[i]; i++)
		if (shd_formats[i]->write)
			check_holds(shd_formats[i], nameless, shd_formats[i]->info.holds & SHERD_HOLDS_EMPTY_NAMES,
			            "an empty name");
	sherd_bundle_close(nameless);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_format_stands_once_and_has_names_of_its_own),
		CASE(detection_has_room_for_all_of_them),
		CASE(an_ending_belongs_to_one_format),
		CASE(what_is_written_says_so),
		CASE(the_table_tells_which_types_a_format_holds),
		CASE(the_table_tells_which_shapes_and_names_a_format_holds),
	};
	return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
