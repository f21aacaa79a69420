/* store/guard.c - a table of maps, and the handler that looks into it.
 *
 * This is the one place of the library with state of the process: a signal handler
 * has nothing else to find its way by. The table grows in chunks that are never
 * freed; the handler reads it without a lock. A place is filled in before its start
 * is stored, so whoever sees the start of a map sees that map. */
#include "store/guard.h"

#include "base/error.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHUNK = 256 };

typedef struct chunk {
	shd_guarded places[CHUNK];
	_Atomic(struct chunk *) next;
} chunk;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of all but what the handler reads */
static chunk first_chunk;
static chunk *last_chunk = &first_chunk;
static size_t used_of_last;
static shd_guarded *free_places;
static unsigned holders;
static bool installed, has_fork_hooks;

static struct sigaction before; /* as it was when the handler was installed */
static _Atomic bool held;
static _Atomic size_t broken_maps; /* that are still there */
static _Atomic uintptr_t page_mask;

/* ---- the table */

static shd_guarded *take_place(void)
{
	shd_guarded *g = free_places;
	if (g) {
		free_places = g->free;
		return g;
	}
	if (used_of_last == CHUNK) {
		chunk *more = calloc(1, sizeof(*more));
		if (!more)
			return NULL;
		atomic_store(&last_chunk->next, more);
		last_chunk = more;
		used_of_last = 0;
	}
	return &last_chunk->places[used_of_last++];
}

shd_guarded *shd_guard_add(const void *start, size_t size, const sherd_reader *owner)
{
	(void)pthread_mutex_lock(&mutex);
	shd_guarded *g = take_place();
	if (g) {
		atomic_store(&g->broken, SHD_GUARD_WHOLE);
		atomic_store(&g->owner, owner);
		atomic_store(&g->size, size);
		atomic_store(&g->start, (uintptr_t)start);
	}
	(void)pthread_mutex_unlock(&mutex);
	return g;
}

void shd_guard_remove(shd_guarded *g)
{
	if (!g)
		return;
	(void)pthread_mutex_lock(&mutex);
	atomic_store(&g->start, 0);
	if (atomic_load(&g->broken) != SHD_GUARD_WHOLE)
		(void)atomic_fetch_sub(&broken_maps, 1);
	g->free = free_places;
	free_places = g;
	(void)pthread_mutex_unlock(&mutex);
}

/* Whoever asks keeps the map at this address alive: no other can take its place meanwhile. */
static shd_guarded *guard_find(uintptr_t at)
{
	for (chunk *c = &first_chunk; c; c = atomic_load(&c->next))
		for (size_t i = 0; i < CHUNK; i++) {
			shd_guarded *g = &c->places[i];
			uintptr_t start = atomic_load(&g->start);
			if (start && at >= start && at - start < atomic_load(&g->size) &&
			    atomic_load(&g->start) == start)
				return g;
		}
	return NULL;
}

bool shd_guard_any_broken(void)
{
	return atomic_load_explicit(&broken_maps, memory_order_relaxed) > 0;
}

/* ---- the signal */

/* What follows the page that failed is taken out with it: of a file that was cut off nothing of it can be had, and each
 * page would be a signal of its own. Marked before zeros can be read. */
static bool put_zeros(shd_guarded *g, uintptr_t at)
{
	uintptr_t start = atomic_load(&g->start), page = at & atomic_load(&page_mask);
	uint64_t offset = page - start, known = atomic_load(&g->broken);
	size_t len = atomic_load(&g->size) - (size_t)offset;
	if (known == SHD_GUARD_WHOLE && atomic_compare_exchange_strong(&g->broken, &known, offset)) {
		(void)atomic_fetch_add(&broken_maps, 1);
		known = offset;
	}
	while (offset < known && !atomic_compare_exchange_weak(&g->broken, &known, offset))
		;
	/* The call itself: nobody vouches for what a library puts around it, in a handler. */
	return syscall(SYS_mmap, page, len, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
	               0) != -1;
}

/* To whoever was there before; by default the process ends here as it would have. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
		return;
	}
	if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
		return;
	}
	if (before.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	/* A fault comes again on return; what somebody sent does not. */
	(void)signal(number, SIG_DFL);
	if (info->si_code <= 0)
		(void)raise(number);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	int error = errno;
	shd_guarded *g = info->si_code > 0 ? guard_find((uintptr_t)info->si_addr) : NULL;
	if (!g || !put_zeros(g, (uintptr_t)info->si_addr))
		pass_on(number, info, context);
	errno = error;
}

/* ---- guards */

static void lock_for_fork(void)
{
	(void)pthread_mutex_lock(&mutex);
}

static void unlock_after_fork(void)
{
	(void)pthread_mutex_unlock(&mutex);
}

/* Under the mutex. */
static int install(sherd_error *err)
{
	struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	atomic_store(&page_mask, ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1));
	if (!has_fork_hooks && pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork) == 0)
		has_fork_hooks = true;
	if (!installed && (sigaction(SIGBUS, NULL, &before) < 0 || sigaction(SIGBUS, &action, NULL) < 0))
		return shd_fail_os(err, errno, "cannot handle SIGBUS");
	installed = true;
	return SHERD_OK;
}

/* Somebody may have installed another handler since, which passes on to this one: then it has to stay. */
static void uninstall(void)
{
	struct sigaction now;
	if (sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus_error)
		installed = sigaction(SIGBUS, &before, NULL) < 0;
}

int sherd_guard_open(sherd_error *err)
{
	(void)pthread_mutex_lock(&mutex);
	int rc = holders ? SHERD_OK : install(err);
	if (rc == SHERD_OK) {
		holders++;
		atomic_store(&held, true);
	}
	(void)pthread_mutex_unlock(&mutex);
	return rc;
}

void sherd_guard_close(void)
{
	(void)pthread_mutex_lock(&mutex);
	if (holders && --holders == 0) {
		atomic_store(&held, false);
		uninstall();
	}
	(void)pthread_mutex_unlock(&mutex);
}

bool sherd_guard_held(void)
{
	return atomic_load_explicit(&held, memory_order_relaxed);
}

int sherd_guard_check(const void *bytes, size_t len, sherd_error *err)
{
	if (!shd_guard_any_broken() || !len)
		return SHERD_OK;
	const shd_guarded *g = guard_find((uintptr_t)bytes);
	if (!g)
		return SHERD_OK;
	uint64_t end = (uintptr_t)bytes - atomic_load(&g->start) + len;
	return end > atomic_load(&g->broken) ? sherd_reader_check(atomic_load(&g->owner), err) : SHERD_OK;
}
