/* Sets of several files on a disk that is full, or fails, at every system call: the old set or the new one is there,
 * and the next try works. */
#include "support/fail_sys.h"
#include "support/scratch.h"
#include "support/set_sample.h"
#include "support/test.h"

#include "store/local/local.h"

#include <sherd/convert.h>

#include <errno.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)

#define STORE SHD_AUTO(sherd_store, sherd_store_close)

enum { OLD = 1, NEW, SEEDS, TENSORS = 2 };

typedef struct kind {
	const char *key, *target;
	sherd_format format;
	bool replace; /* OLD stands there before */
} kind;

static const kind kinds[] = {
	{"m", "m", SHERD_FORMAT_SAFETENSORS_INDEX, false},
	{"m", "m", SHERD_FORMAT_SAFETENSORS_INDEX, true},
	{"a", "a", SHERD_FORMAT_NPY_FOLDER, false},
	{"a", "a", SHERD_FORMAT_NPY_FOLDER, true},
	{"q", "q", SHERD_FORMAT_SAMEDIFF_CONTAINER, false},
	{"q", "q", SHERD_FORMAT_SAMEDIFF_CONTAINER, true},
	{"s.sdnb", "s.sdnb", SHERD_FORMAT_SDNB, false},
	{"p", "p", SHERD_FORMAT_DCP, false},
	{"p", "p", SHERD_FORMAT_DCP, true},
};

static sherd_store *memory;
static sherd_bundle *sources[SEEDS];

static void open_sources(void)
{
	assert_ok(sherd_store_open_memory(&memory, err));
	for (unsigned seed = OLD; seed < SEEDS; seed++)
		sources[seed] = set_sample(memory, (uint8_t)seed, TENSORS);
}

static int convert(sherd_store *s, const kind *k, unsigned seed, bool replace, sherd_error *err)
{
	const sherd_convert_options o = {.shards = 2, .replace = replace};
	return sherd_convert(sources[seed], s, k->target, k->format, &o, err);
}

static bool one_fails(const kind *k, long n)
{
	char *folder = scratch_make();
	STORE s = NULL;
	fail_sys sys;
	sherd_error e = {0};
	fail_sys_init(&sys);
	assert_ok(shd_store_open_local_sys(&s, folder, NULL, &sys.sys, err));
	if (k->replace)
		assert_ok(convert(s, k, OLD, false, err));
	fail_sys_at(&sys, n, NULL, n % 2 ? EIO : ENOSPC);
	int rc = convert(s, k, NEW, k->replace, &e);
	bool hit = atomic_load(&sys.hit);
	fail_sys_at(&sys, 0, NULL, 0);
	unsigned got = set_sample_content(s, k->key, TENSORS);
	if (rc == SHERD_OK ? got != NEW : !hit || (got != NEW && got != (k->replace ? OLD : 0)))
		fail_msg("%s, call %ld: %d (%s: %s), and %u is there", k->key, n, rc, e.object, e.message, got);
	if (rc < 0 && (!e.object[0] || !e.message[0]))
		fail_msg("%s, call %ld: nothing is said of what failed", k->key, n);
	if (!got || k->format != SHERD_FORMAT_SDNB)
		assert_ok(convert(s, k, NEW, got != 0, err));
	assert_int_equal(set_sample_content(s, k->key, TENSORS), NEW);
	set_sample_assert_clean(s, k->key);
	scratch_remove(folder);
	return hit;
}

TEST(every_system_call_may_fail_or_find_the_disk_full)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		for (long n = 1; one_fails(&kinds[i], n); n++)
			continue;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_system_call_may_fail_or_find_the_disk_full),
	};
	scratch_in_memory();
	open_sources();
	int failed = cmocka_run_group_tests_name("fault/set", tests, NULL, NULL);
	for (unsigned seed = OLD; seed < SEEDS; seed++)
		sherd_bundle_close(sources[seed]);
	sherd_store_close(memory);
	return failed;
}
