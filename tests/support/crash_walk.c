#include "support/crash_walk.h"

#include "support/crash_sys.h"
#include "support/fail_sys.h"
#include "support/scratch.h"
#include "support/test.h"

#include "store/local/local.h"

#include <stdio.h>

void crash_walk_complain(crash_walk *w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (!w->wrong[0])
		(void)vsnprintf(w->wrong, sizeof(w->wrong), fmt, ap);
	va_end(ap);
}

static void visit(const char *folder, void *arg)
{
	crash_walk *w = arg;
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	w->folder = folder;
	w->states++;
	w->check(w, store);
	sherd_store_close(store);
}

static crash_sys *record(crash_walk *w, const shd_sys *below, bool drop_files, bool drop_folders)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, w->folder, NULL, err));
	w->before(w, store);
	sherd_store_close(store);
	crash_sys *c = crash_sys_new_over(w->folder, below);
	crash_sys_drop_syncs(c, drop_files, drop_folders);
	assert_ok(shd_store_open_local_sys(&store, w->folder, NULL, crash_sys_table(c), err));
	w->act(w, store);
	sherd_store_close(store);
	return c;
}

static void run(crash_walk *w, bool drop_files, bool drop_folders)
{
	char *folder = scratch_make();
	fail_sys below;
	fail_sys_init(&below);
	below.refuse = w->refuse;
	w->folder = folder;
	crash_sys *c = record(w, &below.sys, drop_files, drop_folders);
	size_t points = crash_sys_points(c);
	for (size_t k = 0; k <= points && !w->wrong[0]; k++) {
		w->finished = k == points;
		assert_true(crash_sys_states(c, k, visit, w) > 0);
		if (w->wrong[0])
			print_message("%s, power lost after \"%s\": %s\n", w->name,
			              crash_sys_describe(c, k ? k - 1 : 0), w->wrong);
	}
	crash_sys_free(c);
	scratch_remove(folder);
}

void crash_walk_assert(crash_walk *w)
{
	run(w, false, false);
	if (w->wrong[0])
		fail_msg("%s: %s", w->name, w->wrong);
}

void crash_walk_assert_caught(const crash_walk *w, bool drop_files, bool drop_folders)
{
	crash_walk caught = *w;
	run(&caught, drop_files, drop_folders);
	assert_true(caught.wrong[0] != 0);
}
