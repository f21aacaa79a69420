#include "support/page_store.h"

#include "support/test.h"

#include "base/error.h"

#include <sherd/sys/backend.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, MOST_READERS = 4096 };

typedef enum page_state { ABSENT, ASKED, PRESENT } page_state;

typedef struct page_reader {
	sherd_reader base;
	sherd_reader *inner;
	uint8_t *map;
	size_t pages;
	uint8_t *states;
	bool apart;
} page_reader;

typedef struct page_store {
	sherd_store base;
	struct sherd_store_ops ops;
	sherd_store *inner;
} page_store;

static page_reader *readers[MOST_READERS];
static size_t read_ahead_pages;
static page_counts counts;
static struct sigaction before;

/* ---- pages */

static void bring(page_reader *r, size_t page)
{
	if (r->states[page] == PRESENT)
		return;
	counts.fetched++;
	r->states[page] = PRESENT;
	(void)mprotect(r->map + page * PAGE, PAGE, PROT_READ);
}

/* What was asked for travels together. */
static void bring_asked(void)
{
	for (size_t i = 0; i < MOST_READERS; i++)
		for (size_t page = 0; readers[i] && page < readers[i]->pages; page++)
			if (readers[i]->states[page] == ASKED)
				bring(readers[i], page);
}

static void touch(page_reader *r, size_t page)
{
	counts.waits++;
	if (r->states[page] == ASKED) {
		bring_asked();
		return;
	}
	counts.touched++;
	size_t from = r->apart ? page : page / read_ahead_pages * read_ahead_pages;
	size_t to = r->apart ? page + 1 : from + read_ahead_pages;
	for (size_t i = from; i < to && i < r->pages; i++)
		bring(r, i);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const uint8_t *at = info->si_addr;
	(void)number, (void)context;
	for (size_t i = 0; i < MOST_READERS; i++)
		if (readers[i] && at >= readers[i]->map && at < readers[i]->map + readers[i]->pages * PAGE) {
			touch(readers[i], (size_t)(at - readers[i]->map) / PAGE);
			return;
		}
	(void)sigaction(SIGSEGV, &before, NULL);
}

void page_store_drop(void)
{
	for (size_t i = 0; i < MOST_READERS; i++)
		if (readers[i]) {
			memset(readers[i]->states, ABSENT, readers[i]->pages);
			(void)mprotect(readers[i]->map, readers[i]->pages * PAGE, PROT_NONE);
		}
}

page_counts page_store_counts(void)
{
	page_counts now = counts;
	counts = (page_counts){0};
	return now;
}

/* ---- readers */

static int page_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const page_reader *r = (const page_reader *)reader;
	return r->inner->ops->at(r->inner, offset, buf, len, err);
}

static int page_map(const void **out, const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	(void)len, (void)err;
	*out = ((const page_reader *)reader)->map + offset;
	return SHERD_OK;
}

static void page_advise(const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_advice advice)
{
	page_reader *r = (page_reader *)(uintptr_t)reader;
	if (advice == SHERD_ADVICE_APART || advice == SHERD_ADVICE_ONWARD)
		r->apart = advice == SHERD_ADVICE_APART;
	for (uint64_t page = offset / PAGE; advice == SHERD_ADVICE_SOON && page <= (offset + len - 1) / PAGE; page++)
		if (r->states[page] == ABSENT) {
			r->states[page] = ASKED;
			counts.touched++;
		}
}

static bool page_cached(const sherd_reader *reader, uint64_t offset, uint64_t len)
{
	(void)len;
	return ((const page_reader *)reader)->states[offset / PAGE] != ABSENT;
}

static void page_close(sherd_reader *reader)
{
	page_reader *r = (page_reader *)reader;
	for (size_t i = 0; i < MOST_READERS; i++)
		if (readers[i] == r)
			readers[i] = NULL;
	r->inner->ops->close(r->inner);
	(void)munmap(r->map, r->pages * PAGE);
	free(r->states);
	free(r);
}

static const struct sherd_reader_ops reader_ops = {
	.at = page_at, .map = page_map, .close = page_close, .advise = page_advise, .cached = page_cached};

static int page_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	page_store *s = (page_store *)store;
	page_reader *r = calloc(1, sizeof(*r));
	size_t place = 0;
	assert_non_null(r);
	int rc = s->inner->ops->read(&r->inner, s->inner, key, err);
	if (rc < 0) {
		free(r);
		return rc;
	}
	r->base.ops = &reader_ops;
	r->base.size = r->inner->size;
	memcpy(r->base.identity, r->inner->identity, sizeof(r->base.identity));
	r->pages = (size_t)(r->base.size / PAGE) + 1;
	r->states = calloc(r->pages, 1);
	r->map = mmap(NULL, r->pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(r->states && r->map != MAP_FAILED);
	if (r->base.size)
		assert_int_equal(r->inner->ops->at(r->inner, 0, r->map, (size_t)r->base.size, NULL), SHERD_OK);
	(void)mprotect(r->map, r->pages * PAGE, PROT_NONE);
	while (place < MOST_READERS && readers[place])
		place++;
	assert_true(place < MOST_READERS);
	readers[place] = r;
	*out = &r->base;
	return SHERD_OK;
}

/* ---- the store */

static int page_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                     sherd_error *err)
{
	sherd_store *inner = ((page_store *)store)->inner;
	return inner->ops->list(inner, prefix, after, each, arg, err);
}

static int page_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_store *inner = ((page_store *)store)->inner;
	return inner->ops->stat(out, inner, key, err);
}

static void page_store_close(sherd_store *store)
{
	(void)sigaction(SIGSEGV, &before, NULL);
	free(store);
}

sherd_store *page_store_over(sherd_store *inner, size_t read_ahead)
{
	page_store *s = calloc(1, sizeof(*s));
	assert_non_null(s);
	s->ops = (struct sherd_store_ops){.scheme = "page",
	                                  .caps = SHERD_CAP_MAP,
	                                  .read = page_read,
	                                  .list = page_list,
	                                  .stat = page_stat,
	                                  .close = page_store_close};
	s->base.ops = &s->ops;
	s->inner = inner;
	read_ahead_pages = read_ahead / PAGE;
	const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
	(void)sigaction(SIGSEGV, &action, &before);
	return &s->base;
}
