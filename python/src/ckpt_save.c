/* python/src/ckpt_save.c - saving checkpoints by ranks, at once and in the background; pruning. */
#include "ext.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct save_call {
	ext_call call;
	sherd_store *store;
	const char *prefix;
	uint32_t rank;
	ext_items items;
	sherd_set_id set_id;
	sherd_ckpt_about about;
	sherd_pair *fields;
	sherd_ckpt_save_options options;
	sherd_ckpt_save_result result;
	sherd_ckpt_job_mode mode;
	sherd_ckpt_job *job;
} save_call;

static int save_run(ext_call *call, sherd_error *err)
{
	save_call *s = (save_call *)call;
	s->options.progress = &call->progress;
	return sherd_ckpt_save_rank(s->store, s->prefix, s->rank, s->items.items, (size_t)s->items.count, &s->options,
	                            &s->result, err);
}

/* The progress would be asked after this call has returned: a job is cancelled by itself. */
static int start_run(ext_call *call, sherd_error *err)
{
	save_call *s = (save_call *)call;
	return sherd_ckpt_save_rank_start(&s->job, s->store, s->prefix, s->rank, s->items.items, (size_t)s->items.count,
	                                  s->mode, &s->options, err);
}

static int about_take(save_call *s, PyObject *dict)
{
	PyObject *fields = PyDict_GetItemString(dict, "fields");
	s->about.has_step = PyDict_GetItemString(dict, "step") != NULL;
	s->about.step = ext_dict_number(dict, "step", 0);
	s->about.has_epoch = PyDict_GetItemString(dict, "epoch") != NULL;
	s->about.epoch = ext_dict_number(dict, "epoch", 0);
	s->about.strategy = ext_dict_text(dict, "strategy");
	s->about.optimizer_type = ext_dict_text(dict, "optimizer");
	if (PyErr_Occurred())
		return -1;
	Py_ssize_t count = fields ? ext_pairs(&s->fields, fields) : 0;
	if (count < 0)
		return -1;
	s->about.fields = s->fields;
	s->about.field_count = (size_t)count;
	return 0;
}

static int options_take(save_call *s, PyObject *dict)
{
	const char *id = ext_dict_text(dict, "set_id"), *digest = ext_dict_text(dict, "digest");
	PyObject *about = PyDict_GetItemString(dict, "about");
	sherd_error err;
	if (PyErr_Occurred() || !about || about_take(s, about) < 0)
		return -1;
	s->rank = (uint32_t)ext_dict_number(dict, "rank", 0);
	s->options = (sherd_ckpt_save_options){
		.world = (uint32_t)ext_dict_number(dict, "world", 1),
		.set_id = id ? &s->set_id : NULL,
		.time_ns = ext_dict_number(dict, "time_ns", 0),
		.replace = ext_dict_flag(dict, "replace"),
		.take_over = ext_dict_flag(dict, "take_over"),
		.take_over_after_ns = (uint64_t)ext_dict_number(dict, "take_over_after_ns", 0),
		.digest = digest && strcmp(digest, "sha256") == 0 ? SHERD_DIGEST_SHA256 : SHERD_DIGEST_BLAKE3,
		.about = &s->about,
		.pool = ext_pool(),
	};
	s->mode = ext_dict_flag(dict, "borrow") ? SHERD_JOB_BORROW : SHERD_JOB_COPY;
	if (PyErr_Occurred())
		return -1;
	if (id && sherd_set_id_parse(&s->set_id, id, &err) < 0) {
		(void)ext_raise(NULL, NULL, &err);
		return -1;
	}
	return 0;
}

static PyObject *result_dict(const sherd_ckpt_save_result *r)
{
	return Py_BuildValue("{s:O,s:O,s:n,s:K}", "committed", r->committed ? Py_True : Py_False, "repeated",
	                     r->repeated ? Py_True : Py_False, "tensors", (Py_ssize_t)r->tensors, "bytes",
	                     (unsigned long long)r->bytes);
}

static void save_done(save_call *s)
{
	ext_items_done(&s->items);
	free(s->fields);
}

/* ckpt_save_rank(store, prefix, items, options, progress) -> {committed, repeated, tensors, bytes} */
PyObject *ext_ckpt_save_rank(PyObject *self, PyObject *args)
{
	save_call s = {.call = {.run = save_run}};
	PyObject *store, *list, *dict, *progress, *answer = NULL;
	(void)self;
	if (!PyArg_ParseTuple(args, "OsO!O!O:ckpt_save_rank", &store, &s.prefix, &PyList_Type, &list, &PyDict_Type,
	                      &dict, &progress))
		return NULL;
	s.store = ext_handle_hold(store, EXT_STORE);
	if (!s.store)
		return NULL;
	if (options_take(&s, dict) == 0 && ext_items_take(&s.items, list) == 0) {
		int rc = ext_call_long(&s.call, progress);
		if (rc == SHERD_OK)
			answer = result_dict(&s.result);
		else if (rc != EXT_RAISED)
			(void)ext_raise(s.store, s.prefix, &s.call.err);
	}
	save_done(&s);
	ext_handle_release(store);
	return answer;
}

static void job_close(void *job)
{
	sherd_ckpt_job_close(job);
}

/* ckpt_start_rank(store, prefix, items, options, staging or None) -> job. With options["borrow"] the job keeps the
 * items' objects until it is closed; their memory has to stay as it is. */
PyObject *ext_ckpt_start_rank(PyObject *self, PyObject *args)
{
	save_call s = {.call = {.run = start_run}};
	PyObject *store, *list, *dict, *staging, *answer = NULL;
	(void)self;
	if (!PyArg_ParseTuple(args, "OsO!O!O:ckpt_start_rank", &store, &s.prefix, &PyList_Type, &list, &PyDict_Type,
	                      &dict, &staging))
		return NULL;
	s.store = ext_handle_hold(store, EXT_STORE);
	if (!s.store)
		return NULL;
	bool ready = options_take(&s, dict) == 0 && ext_items_take(&s.items, list) == 0;
	if (ready && staging != Py_None) {
		s.options.staging = ext_handle_hold(staging, EXT_STAGING);
		ready = s.options.staging != NULL;
	}
	if (ready) {
		int rc = ext_call_long(&s.call, Py_None);
		PyObject *kept = PyTuple_Pack(2, list, staging);
		if (rc == SHERD_OK && kept)
			answer = ext_handle_new(s.job, EXT_JOB, job_close, store, kept);
		else if (rc == SHERD_OK)
			sherd_ckpt_job_close(s.job);
		else if (rc != EXT_RAISED)
			(void)ext_raise(s.store, s.prefix, &s.call.err);
		Py_XDECREF(kept);
	}
	if (s.options.staging)
		ext_handle_release(staging);
	save_done(&s);
	ext_handle_release(store);
	return answer;
}

/* job_poll(job) -> (finished, bytes done, bytes in all) */
PyObject *ext_job_poll(PyObject *self, PyObject *args)
{
	PyObject *object;
	uint64_t done = 0, total = 0;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:job_poll", &object))
		return NULL;
	sherd_ckpt_job *job = ext_handle_hold(object, EXT_JOB);
	if (!job)
		return NULL;
	bool over = sherd_ckpt_job_poll(job, &done, &total);
	ext_handle_release(object);
	return Py_BuildValue("(OKK)", over ? Py_True : Py_False, (unsigned long long)done, (unsigned long long)total);
}

typedef struct wait_call {
	ext_call call;
	sherd_ckpt_job *job;
} wait_call;

static int wait_run(ext_call *call, sherd_error *err)
{
	return sherd_ckpt_job_wait(((wait_call *)call)->job, err);
}

/* job_wait(job, progress) -> as ckpt_save_rank(). An exception meanwhile, as Ctrl-C is one, cancels the job. */
PyObject *ext_job_wait(PyObject *self, PyObject *args)
{
	wait_call w = {.call = {.run = wait_run}};
	PyObject *object, *answer = NULL;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:job_wait", &object))
		return NULL;
	w.job = ext_handle_hold(object, EXT_JOB);
	if (!w.job)
		return NULL;
	/* The library asks no progress while it waits: this thread polls, and looks for signals. */
	while (!PyErr_Occurred() && !sherd_ckpt_job_poll(w.job, NULL, NULL)) {
		Py_BEGIN_ALLOW_THREADS;
		struct timespec t = {.tv_nsec = 2000000};
		(void)nanosleep(&t, NULL);
		Py_END_ALLOW_THREADS;
		if (PyErr_CheckSignals() < 0)
			sherd_ckpt_job_cancel(w.job);
	}
	if (!PyErr_Occurred()) {
		int rc;
		Py_BEGIN_ALLOW_THREADS;
		rc = sherd_ckpt_job_wait(w.job, &w.call.err);
		Py_END_ALLOW_THREADS;
		answer = rc == SHERD_OK ? result_dict(sherd_ckpt_job_result(w.job))
		                        : ext_raise(ext_store_of(object), NULL, &w.call.err);
	}
	ext_handle_release(object);
	return answer;
}

PyObject *ext_job_cancel(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:job_cancel", &object))
		return NULL;
	sherd_ckpt_job *job = ext_handle_hold(object, EXT_JOB);
	if (!job)
		return NULL;
	sherd_ckpt_job_cancel(job);
	ext_handle_release(object);
	Py_RETURN_NONE;
}

static void staging_close(void *staging)
{
	sherd_ckpt_staging_close(staging);
}

PyObject *ext_staging(PyObject *self, PyObject *args)
{
	sherd_ckpt_staging *staging;
	sherd_error err;
	(void)self;
	(void)args;
	if (sherd_ckpt_staging_open(&staging, &err) < 0)
		return ext_raise(NULL, NULL, &err);
	return ext_handle_new(staging, EXT_STAGING, staging_close, NULL, NULL);
}

PyObject *ext_staging_bytes(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:staging_bytes", &object))
		return NULL;
	sherd_ckpt_staging *staging = ext_handle_hold(object, EXT_STAGING);
	if (!staging)
		return NULL;
	unsigned long long bytes = sherd_ckpt_staging_bytes(staging);
	ext_handle_release(object);
	return PyLong_FromUnsignedLongLong(bytes);
}

/* ---- pruning */

typedef struct prune_call {
	ext_call call;
	sherd_store *store;
	const char *below;
	sherd_ckpt_prune_options options;
	char **removed;
	size_t count;
} prune_call;

static void prune_told(void *arg, const sherd_ckpt_pruned *pruned)
{
	prune_call *p = arg;
	char **more = pruned->fate == SHERD_CKPT_REMOVED ? realloc(p->removed, (p->count + 1) * sizeof(*more)) : NULL;
	if (!more)
		return;
	p->removed = more;
	more[p->count] = strdup(pruned->prefix);
	p->count += more[p->count] != NULL;
}

static int prune_run(ext_call *call, sherd_error *err)
{
	prune_call *p = (prune_call *)call;
	p->options.progress = &call->progress;
	return sherd_ckpt_prune(p->store, p->below, &p->options, err);
}

/* ckpt_prune(store, below, keep, now_ns) -> prefixes that are gone */
PyObject *ext_ckpt_prune(PyObject *self, PyObject *args)
{
	prune_call p = {.call = {.run = prune_run}};
	PyObject *store, *list = NULL;
	Py_ssize_t keep;
	long long now;
	(void)self;
	if (!PyArg_ParseTuple(args, "OsnL:ckpt_prune", &store, &p.below, &keep, &now))
		return NULL;
	p.options = (sherd_ckpt_prune_options){.keep = (size_t)keep, .now_ns = now, .pruned = prune_told, .arg = &p};
	p.options.pool = ext_pool();
	p.store = p.options.pool ? ext_handle_hold(store, EXT_STORE) : NULL;
	if (!p.store)
		return NULL;
	int rc = ext_call_long(&p.call, Py_None);
	if (rc < 0 && rc != EXT_RAISED)
		(void)ext_raise(p.store, p.below, &p.call.err);
	if (rc == SHERD_OK)
		list = PyList_New(0);
	for (size_t i = 0; i < p.count; i++) {
		PyObject *text = list ? ext_text(p.removed[i]) : NULL;
		if (list && (!text || PyList_Append(list, text) < 0))
			Py_CLEAR(list);
		Py_XDECREF(text);
		free(p.removed[i]);
	}
	free(p.removed);
	ext_handle_release(store);
	return list;
}
