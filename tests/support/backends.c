#include "support/backends.h"

#include "base/error.h"
#include "store/local/local.h"
#include "support/fail_store.h"
#ifdef SHERD_HAS_S3
#include "support/s3_server.h"

#include <sherd/s3.h>
#endif
#include "support/scratch.h"

#include <sherd/shelf.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const backend backends[] = {
	{.name = "memory"},
	{.name = "local", .local = true},
	{.name = "local without openat2", .local = true, .refuse = FAIL_SYS_NO_OPENAT2},
	{.name = "local without nameless files", .local = true, .refuse = FAIL_SYS_NO_TMPFILE},
	{.name = "local without links", .local = true, .refuse = FAIL_SYS_NO_LINK},
	{.name = "local without exclusive rename",
         .local = true,
         .refuse = FAIL_SYS_NO_TMPFILE | FAIL_SYS_NO_NOREPLACE},
	{.name = "local in small portions", .local = true, .stutter = true},
	{.name = "local behind a decorator", .local = true, .wrapped = true},
	{.name = "memory behind a decorator", .wrapped = true},
	{.name = "without any capability", .bare = true},
	{.name = "without any capability, behind a decorator", .bare = true, .wrapped = true},
	{.name = "memory behind a cache", .cached = true},
	{.name = "without any capability, behind a cache", .bare = true, .cached = true},
#ifdef SHERD_HAS_S3
	{.name = "s3", .s3 = true},
	{.name = "s3 behind a cache", .s3 = true, .cached = true},
	{.name = "s3 by a server with other manners", .s3 = true, .deaf = true},
#endif
};

static const backend *current;

static sherd_store *open_bare(void)
{
	sherd_store *store = NULL;
	char *key = NULL;
	sherd_store_options options = {.schemes = sherd_shelf_component()->schemes};
	assert_ok(sherd_store_open(&store, &key, "shelf://bare", &options, err));
	sherd_free(key);
	return store;
}

#ifdef SHERD_HAS_S3
/* A folder of its own in the bucket that SHERD_TEST_S3 names. */
static sherd_store *open_real_s3(const char *bucket)
{
	static int count;
	char uri[256], *key = NULL;
	sherd_store *store = NULL;
	sherd_store_options options = {.schemes = sherd_s3_component()->schemes};
	(void)snprintf(uri, sizeof(uri), "%s/%d-%d/", bucket, (int)getpid(), count++);
	assert_ok(sherd_store_open(&store, &key, uri, &options, err));
	free(key);
	return store;
}

static sherd_store *open_s3(fixture *f)
{
	if (getenv("SHERD_TEST_S3"))
		return open_real_s3(getenv("SHERD_TEST_S3"));
	static const s3_quirks deaf = {
		.unquoted = true, .deaf_delete = true, .deaf_crc = true, .angry = true, .page = 3};
	f->server = s3_server_start(current->deaf ? &deaf : NULL);
	return s3_server_store(f->server, "some/folder", NULL);
}
#else
static sherd_store *open_s3(fixture *f)
{
	(void)f;
	return NULL;
}
static void s3_server_stop(struct s3_server *server)
{
	(void)server;
}
#endif

static sherd_store *open_store(fixture *f)
{
	sherd_store *store = NULL;
	if (current->s3)
		store = open_s3(f);
	else if (current->bare)
		store = open_bare();
	else if (!current->local)
		assert_ok(sherd_store_open_memory(&store, err));
	else
		assert_ok(shd_store_open_local_sys(&store, f->folder, NULL, &f->sys.sys, err));
	if (current->cached) {
		sherd_store *inner = store;
		assert_ok(sherd_store_open_cache(&store, inner, f->folder, NULL, err));
	}
	return current->wrapped ? fail_store_over(store) : store;
}

int backend_begin(void **state)
{
	fixture *f = calloc(1, sizeof(*f));
	f->backend = current;
	f->folder = scratch_make();
	fail_sys_init(&f->sys);
	f->sys.refuse = current->refuse;
	f->sys.stutter = current->stutter;
	f->store = open_store(f);
	*state = f;
	return 0;
}

int backend_end(void **state)
{
	fixture *f = *state;
	sherd_store_close(f->store);
	if (f->server)
		s3_server_stop(f->server);
	scratch_remove(f->folder);
	free(f);
	return 0;
}

int run_for_backends(const struct CMUnitTest *tests, size_t count)
{
	int failed = 0;
	for (size_t i = 0; i < COUNT_OF(backends); i++) {
		current = &backends[i];
		if (getenv("SHERD_TEST_S3") && (!current->s3 || current->deaf))
			continue;
		failed += _cmocka_run_group_tests(current->name, tests, count, NULL, NULL);
	}
	return failed;
}
