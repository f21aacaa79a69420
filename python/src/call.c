/* python/src/call.c - calls that may take long: watched, and cancelled by an exception of the caller's thread. */
#include "ext.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* How often the caller's thread looks for signals and tells the progress. */
enum { LOOK_NS = 40000000 };

typedef struct watch {
	ext_call *call;
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	bool over;
	int rc;
} watch;

static bool call_update(void *arg, uint64_t done, uint64_t total)
{
	ext_call *call = arg;
	atomic_store_explicit(&call->done, done, memory_order_relaxed);
	atomic_store_explicit(&call->total, total, memory_order_relaxed);
	return !atomic_load_explicit(&call->stop, memory_order_relaxed);
}

static void *call_thread(void *arg)
{
	watch *w = arg;
	int rc = w->call->run(w->call, &w->call->err);
	(void)pthread_mutex_lock(&w->mutex);
	w->rc = rc;
	w->over = true;
	(void)pthread_cond_signal(&w->ended);
	(void)pthread_mutex_unlock(&w->mutex);
	return NULL;
}

static bool call_wait(watch *w)
{
	struct timespec until;
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	(void)pthread_mutex_lock(&w->mutex);
	int rc = 0;
	while (!w->over && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&w->ended, &w->mutex, &until);
	bool over = w->over;
	(void)pthread_mutex_unlock(&w->mutex);
	return over;
}

static int call_tell(ext_call *call, PyObject *progress)
{
	if (progress == Py_None)
		return 0;
	PyObject *answer = PyObject_CallFunction(progress, "KK", (unsigned long long)atomic_load(&call->done),
	                                         (unsigned long long)atomic_load(&call->total));
	int rc = !answer ? -1 : 0;
	if (answer == Py_False)
		atomic_store(&call->stop, true);
	Py_XDECREF(answer);
	return rc;
}

/* Until the call is over. An exception, of a signal or of the progress, stops it, and is kept meanwhile. */
static void call_watch(watch *w, PyObject *progress)
{
	PyObject *type = NULL, *value = NULL, *trace = NULL;
	for (bool over = false; !over;) {
		Py_BEGIN_ALLOW_THREADS;
		over = call_wait(w);
		Py_END_ALLOW_THREADS;
		if (type)
			continue;
		if ((!over && PyErr_CheckSignals() < 0) || call_tell(w->call, progress) < 0) {
			atomic_store(&w->call->stop, true);
			PyErr_Fetch(&type, &value, &trace);
		}
	}
	if (type)
		PyErr_Restore(type, value, trace);
}

int ext_call_long(ext_call *call, PyObject *progress)
{
	watch w = {.call = call};
	pthread_condattr_t attributes;
	pthread_t thread;
	call->progress = (sherd_progress){call_update, call};
	call->err = (sherd_error){.offset = SHERD_NO_OFFSET, .index = SHERD_NO_INDEX, .reason = ""};
	(void)pthread_mutex_init(&w.mutex, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w.ended, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	if (pthread_create(&thread, NULL, call_thread, &w) == 0) {
		call_watch(&w, progress);
		(void)pthread_join(thread, NULL);
	} else {
		Py_BEGIN_ALLOW_THREADS;
		(void)call_thread(&w);
		Py_END_ALLOW_THREADS;
	}
	(void)pthread_mutex_destroy(&w.mutex);
	(void)pthread_cond_destroy(&w.ended);
	return PyErr_Occurred() ? EXT_RAISED : w.rc;
}

/* Threads do not come along over fork(): a child leaves its parent's pool as it is, and has its own. */
sherd_pool *ext_pool(void)
{
	static sherd_pool *pool;
	static pid_t owner;
	sherd_error err;
	if (!pool || owner != getpid()) {
		if (sherd_pool_open(&pool, 0, &err) < 0) {
			(void)ext_raise(NULL, NULL, &err);
			return NULL;
		}
		owner = getpid();
	}
	return pool;
}
