/* One object that all workers write: the nth write or sync finds the disk full, the nth read of the source fails. */
#include "support/fail_store.h"
#include "support/fail_sys.h"
#include "support/one_file.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local/local.h"

#include <errno.h>
#include <string.h>

enum { BYTES = 300000, MOST = 4 << 20 };

typedef struct place {
	char *folder;
	fail_sys sys;
	sherd_store *store, *memory;
	sherd_bundle *bundle;
	sherd_pool *pool;
} place;

static void begin(place *p, unsigned workers)
{
	*p = (place){.folder = scratch_make()};
	fail_sys_init(&p->sys);
	assert_ok(shd_store_open_local_sys(&p->store, p->folder, NULL, &p->sys.sys, err));
	assert_ok(sherd_store_open_memory(&p->memory, err));
	p->memory = fail_store_over(p->memory);
	p->bundle = one_file_sample(p->memory, BYTES);
	assert_ok(sherd_pool_open(&p->pool, workers, err));
}

static void end(place *p)
{
	sherd_pool_close(p->pool);
	sherd_bundle_close(p->bundle);
	sherd_store_close(p->memory);
	sherd_store_close(p->store);
	scratch_remove(p->folder);
}

/* What stood there is whole, or (of a checkpoint, which is removed first) nothing is; no temporary is left. */
static void assert_untouched(place *p, const one_file *f, const char *old, size_t old_len)
{
	char *now = NULL;
	size_t len = 0;
	int rc = sherd_store_get(&now, &len, p->store, f->key, MOST, NULL);
	if (f->format == SHERD_FORMAT_CHECKPOINT) {
		assert_int_equal(rc, SHERD_ENOTFOUND);
	} else {
		assert_int_equal(rc, SHERD_OK);
		assert_int_equal(len, old_len);
		assert_memory_equal(now, old, len);
	}
	sherd_free(now);
	assert_int_equal(scratch_temporaries(p->folder), 0);
}

static void fill_disk(place *p, const one_file *f, const char *call)
{
	char *old;
	size_t old_len;
	long failures = 0;
	one_file_clear(f, p->store);
	assert_ok(one_file_write(f, p->bundle, p->store, NULL, err));
	assert_ok(sherd_store_get(&old, &old_len, p->store, f->key, MOST, err));
	for (long nth = 1;; nth++) {
		sherd_error e = {0};
		one_file_clear(f, p->store);
		fail_sys_at(&p->sys, nth, call, ENOSPC);
		int rc = one_file_write(f, p->bundle, p->store, p->pool, &e);
		bool hit = atomic_load(&p->sys.hit);
		fail_sys_at(&p->sys, 0, NULL, 0);
		if (!hit) {
			assert_int_equal(rc, SHERD_OK);
			break;
		}
		/* A hint may fail, and so may what tidies up behind a set that is there. */
		if (rc == SHERD_OK)
			continue;
		failures++;
		assert_int_equal(rc, SHERD_EIO);
		assert_int_equal(e.os_errno, ENOSPC);
		assert_string_equal(e.reason, "no-space");
		assert_true(e.object[0] != 0);
		if (strcmp(call, "pwrite") == 0)
			assert_untouched(p, f, old, old_len);
	}
	assert_true(failures > 0);
	sherd_free(old);
}

TEST(a_full_disk_leaves_what_was_there)
{
	for (unsigned workers = 1; workers <= 4; workers += 3) {
		place p;
		begin(&p, workers);
		for (const one_file *f = one_files; f->key; f++)
			fill_disk(&p, f, "pwrite");
		end(&p);
	}
}

TEST(a_full_disk_is_told_when_it_shows_at_the_sync)
{
	place p;
	begin(&p, 4);
	for (const one_file *f = one_files; f->key; f++)
		fill_disk(&p, f, "fsync");
	end(&p);
}

/* Nobody waits for bytes that will not come. */
TEST(a_source_that_fails_leaves_what_was_there)
{
	place p;
	begin(&p, 4);
	for (const one_file *f = one_files; f->key; f++) {
		char *old;
		size_t old_len;
		bool hit = true;
		one_file_clear(f, p.store);
		assert_ok(one_file_write(f, p.bundle, p.store, NULL, err));
		assert_ok(sherd_store_get(&old, &old_len, p.store, f->key, MOST, err));
		for (long nth = 1; hit; nth++) {
			sherd_error e = {0};
			one_file_clear(f, p.store);
			fail_store_at(p.memory, nth);
			int rc = one_file_write(f, p.bundle, p.store, p.pool, &e);
			hit = fail_store_hit(p.memory);
			fail_store_at(p.memory, 0);
			assert_int_equal(rc, hit ? SHERD_EIO : SHERD_OK);
			if (hit)
				assert_untouched(&p, f, old, old_len);
		}
		sherd_free(old);
	}
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_leaves_what_was_there),
		cmocka_unit_test(a_full_disk_is_told_when_it_shows_at_the_sync),
		cmocka_unit_test(a_source_that_fails_leaves_what_was_there),
	};
	return cmocka_run_group_tests_name("fault/one_file", tests, NULL, NULL);
}
