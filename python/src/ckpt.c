/* python/src/ckpt.c - checkpoints: open, load, list, remove. */
#include "ext.h"

#include <stdlib.h>
#include <string.h>

PyObject *ext_tensor_row(const sherd_tensor *t);
PyObject *ext_about_dict(const sherd_ckpt_about *a);

static void ckpt_close(void *ckpt)
{
	sherd_ckpt_close(ckpt);
}

/* set_id() -> 32 digits */
PyObject *ext_set_id(PyObject *self, PyObject *args)
{
	sherd_set_id id;
	sherd_error err;
	char text[SHERD_SET_ID_TEXT];
	(void)self;
	(void)args;
	if (sherd_set_id_random(&id, &err) < 0)
		return ext_raise(NULL, NULL, &err);
	sherd_set_id_format(text, &id);
	return ext_text(text);
}

typedef struct place_call {
	ext_call call;
	sherd_store *store;
	const char *key;
	const char *set_id;
	uint64_t timeout_ns;
	sherd_ckpt *ckpt;
	sherd_ckpt_list *list;
	sherd_pool *pool;
} place_call;

static int open_run(ext_call *call, sherd_error *err)
{
	place_call *c = (place_call *)call;
	sherd_ckpt_options options = {.pool = c->pool, .progress = &call->progress};
	return sherd_ckpt_open(&c->ckpt, c->store, c->key, &options, err);
}

static int list_run(ext_call *call, sherd_error *err)
{
	place_call *c = (place_call *)call;
	sherd_ckpt_options options = {.pool = c->pool, .progress = &call->progress};
	return sherd_ckpt_list_open(&c->list, c->store, c->key, &options, err);
}

static int remove_run(ext_call *call, sherd_error *err)
{
	place_call *c = (place_call *)call;
	sherd_ckpt_options options = {.pool = c->pool, .progress = &call->progress};
	return sherd_ckpt_remove(c->store, c->key, &options, NULL, err);
}

static int wait_run(ext_call *call, sherd_error *err)
{
	place_call *c = (place_call *)call;
	sherd_ckpt_options options = {.pool = c->pool, .progress = &call->progress};
	sherd_set_id id;
	if (c->set_id && sherd_set_id_parse(&id, c->set_id, err) < 0)
		return SHERD_EINVAL;
	return sherd_ckpt_wait(c->store, c->key, c->set_id ? &id : NULL, c->timeout_ns, &options, err);
}

/* Runs the call on the store; returns its outcome, with an exception when it is below 0. */
static int place_now(place_call *c, PyObject *store)
{
	c->pool = ext_pool();
	c->store = c->pool ? ext_handle_hold(store, EXT_STORE) : NULL;
	if (!c->store)
		return EXT_RAISED;
	int rc = ext_call_long(&c->call, Py_None);
	if (rc < 0 && rc != EXT_RAISED)
		(void)ext_raise(c->store, c->key, &c->call.err);
	ext_handle_release(store);
	return rc;
}

/* ckpt_open(store, prefix) -> checkpoint */
PyObject *ext_ckpt_open(PyObject *self, PyObject *args)
{
	place_call c = {.call = {.run = open_run}};
	PyObject *store;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os:ckpt_open", &store, &c.key) || place_now(&c, store) < 0)
		return NULL;
	return ext_handle_new(c.ckpt, EXT_CKPT, ckpt_close, store, NULL);
}

/* ckpt_remove(store, prefix) */
PyObject *ext_ckpt_remove(PyObject *self, PyObject *args)
{
	place_call c = {.call = {.run = remove_run}};
	PyObject *store;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os:ckpt_remove", &store, &c.key) || place_now(&c, store) < 0)
		return NULL;
	Py_RETURN_NONE;
}

/* ckpt_wait(store, prefix, set id or None, nanoseconds) */
PyObject *ext_ckpt_wait(PyObject *self, PyObject *args)
{
	place_call c = {.call = {.run = wait_run}};
	PyObject *store;
	unsigned long long timeout;
	(void)self;
	if (!PyArg_ParseTuple(args, "OszK:ckpt_wait", &store, &c.key, &c.set_id, &timeout))
		return NULL;
	c.timeout_ns = timeout;
	if (place_now(&c, store) < 0)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *listing_row(const sherd_ckpt_listing *l)
{
	PyObject *step = l->has_step ? PyLong_FromLongLong(l->step) : Py_NewRef(Py_None);
	return Py_BuildValue("(ssNLIKs)", l->prefix, sherd_ckpt_state_name(l->state), step, (long long)l->time_ns,
	                     l->world, (unsigned long long)l->bytes, l->problem);
}

/* ckpt_list(store, below) -> [(prefix, state, step, time_ns, world, bytes, problem)] */
PyObject *ext_ckpt_list(PyObject *self, PyObject *args)
{
	place_call c = {.call = {.run = list_run}};
	PyObject *store;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os:ckpt_list", &store, &c.key) || place_now(&c, store) < 0)
		return NULL;
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < sherd_ckpt_list_count(c.list); i++) {
		PyObject *row = listing_row(sherd_ckpt_list_at(c.list, i));
		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	sherd_ckpt_list_close(c.list);
	return list;
}

/* ckpt_describe(checkpoint) -> {version, time_ns, world, set_id, about} */
PyObject *ext_ckpt_describe(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:ckpt_describe", &object))
		return NULL;
	const sherd_ckpt *ckpt = ext_handle_hold(object, EXT_CKPT);
	if (!ckpt)
		return NULL;
	const sherd_ckpt_info *info = sherd_ckpt_describe(ckpt);
	char id[SHERD_SET_ID_TEXT] = "";
	if (info->has_set_id)
		sherd_set_id_format(id, &info->set_id);
	PyObject *about = ext_about_dict(&info->about), *answer = NULL;
	if (about)
		answer = Py_BuildValue("{s:z,s:L,s:I,s:s,s:N}", "version", info->version, "time_ns",
		                       (long long)info->time_ns, "world", info->world, "set_id", id, "about", about);
	ext_handle_release(object);
	return answer;
}

/* ckpt_tensors(checkpoint) -> [(name, type, shape, bytes)] */
PyObject *ext_ckpt_tensors(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:ckpt_tensors", &object))
		return NULL;
	const sherd_ckpt *ckpt = ext_handle_hold(object, EXT_CKPT);
	if (!ckpt)
		return NULL;
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < sherd_ckpt_count(ckpt); i++) {
		PyObject *row = ext_tensor_row(sherd_ckpt_tensor(ckpt, i));
		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	ext_handle_release(object);
	return list;
}

static PyObject *piece_row(const sherd_ckpt_piece *p, uint32_t ndim)
{
	static const uint64_t zeros[SHERD_MAX_DIMS];
	PyObject *at = ext_shape(p->at ? p->at : zeros, ndim), *shape = ext_shape(p->shape, ndim);
	if (at && shape)
		return Py_BuildValue("(NN)", at, shape);
	Py_XDECREF(at);
	Py_XDECREF(shape);
	return NULL;
}

/* ckpt_pieces(checkpoint, tensor) -> [(at, shape)] */
PyObject *ext_ckpt_pieces(PyObject *self, PyObject *args)
{
	PyObject *object;
	Py_ssize_t tensor;
	const sherd_ckpt_piece *pieces;
	(void)self;
	if (!PyArg_ParseTuple(args, "On:ckpt_pieces", &object, &tensor))
		return NULL;
	const sherd_ckpt *ckpt = ext_handle_hold(object, EXT_CKPT);
	if (!ckpt)
		return NULL;
	const sherd_tensor *t = sherd_ckpt_tensor(ckpt, (size_t)tensor);
	PyObject *list = t ? PyList_New(0) : NULL;
	size_t count = t ? sherd_ckpt_pieces(&pieces, ckpt, (size_t)tensor) : 0;
	if (!t)
		PyErr_SetString(PyExc_IndexError, "no such tensor");
	for (size_t i = 0; list && i < count; i++) {
		PyObject *row = piece_row(&pieces[i], t->ndim);
		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	ext_handle_release(object);
	return list;
}

/* ---- loading */

typedef struct load_call {
	ext_call call;
	const sherd_ckpt *ckpt;
	sherd_ckpt_want *wants;
	ext_bytes *bytes;
	Py_ssize_t count;
	sherd_ckpt_load_options options;
} load_call;

static int load_run(ext_call *call, sherd_error *err)
{
	load_call *l = (load_call *)call;
	l->options.progress = &call->progress;
	return sherd_ckpt_load(l->ckpt, l->wants, (size_t)l->count, &l->options, err);
}

/* (tensor, at or None, shape or None, memory) */
static int want_take(load_call *l, sherd_ckpt_want *w, ext_bytes *bytes, PyObject *tuple)
{
	PyObject *at, *shape, *memory;
	Py_ssize_t index;
	uint64_t *numbers, need;
	if (!PyArg_ParseTuple(tuple, "nOOO", &index, &at, &shape, &memory))
		return -1;
	const sherd_tensor *t = sherd_ckpt_tensor(l->ckpt, (size_t)index);
	if (!t) {
		PyErr_SetString(PyExc_IndexError, "no such tensor");
		return -1;
	}
	w->tensor = (size_t)index;
	need = t->bytes;
	for (int i = 0; at != Py_None && i < 2; i++) {
		Py_ssize_t n = ext_numbers(&numbers, i ? shape : at);
		if (n < 0)
			return -1;
		*(i ? &w->shape : &w->at) = numbers;
		if (n != (Py_ssize_t)t->ndim) {
			PyErr_SetString(PyExc_ValueError, "a slice has other dimensions than its tensor");
			return -1;
		}
	}
	if (w->shape && !sherd_tensor_bytes(&need, t->dtype, t->ndim, w->shape))
		need = 0;
	if (ext_bytes_take(bytes, memory, true) < 0)
		return -1;
	w->buf = bytes->ptr;
	if (bytes->len == SIZE_MAX || bytes->len >= need)
		return 0;
	PyErr_Format(PyExc_ValueError, "%zu bytes of memory are too few for '%s'", bytes->len, t->name);
	return -1;
}

static int wants_take(load_call *l, PyObject *list)
{
	Py_ssize_t count = PyList_Size(list);
	l->wants = calloc((size_t)count + 1, sizeof(*l->wants));
	l->bytes = calloc((size_t)count + 1, sizeof(*l->bytes));
	if (!l->wants || !l->bytes) {
		(void)PyErr_NoMemory();
		return -1;
	}
	while (l->count < count) {
		Py_ssize_t i = l->count++;
		if (want_take(l, &l->wants[i], &l->bytes[i], PyList_GetItem(list, i)) < 0)
			return -1;
	}
	return 0;
}

static int check_of(const char *name, sherd_ckpt_check *out)
{
	static const char *const names[] = {"crc", "none", "digest"};
	for (int i = 0; i < 3; i++)
		if (strcmp(name, names[i]) == 0) {
			*out = (sherd_ckpt_check)i;
			return 0;
		}
	PyErr_Format(PyExc_ValueError, "check is 'crc', 'digest' or 'none', not '%s'", name);
	return -1;
}

/* ckpt_load(checkpoint, wants, check, progress) */
PyObject *ext_ckpt_load(PyObject *self, PyObject *args)
{
	load_call l = {.call = {.run = load_run}};
	PyObject *object, *list, *progress;
	const char *check;
	(void)self;
	if (!PyArg_ParseTuple(args, "OO!sO:ckpt_load", &object, &PyList_Type, &list, &check, &progress) ||
	    check_of(check, &l.options.check) < 0 || !(l.options.pool = ext_pool()))
		return NULL;
	l.ckpt = ext_handle_hold(object, EXT_CKPT);
	if (!l.ckpt)
		return NULL;
	int rc = wants_take(&l, list) < 0 ? EXT_RAISED : ext_call_long(&l.call, progress);
	if (rc < 0 && rc != EXT_RAISED)
		(void)ext_raise(ext_store_of(object), NULL, &l.call.err);
	for (Py_ssize_t i = 0; i < l.count; i++) {
		free((void *)(uintptr_t)l.wants[i].at);
		free((void *)(uintptr_t)l.wants[i].shape);
		ext_bytes_done(&l.bytes[i]);
	}
	free(l.wants);
	free(l.bytes);
	ext_handle_release(object);
	return rc < 0 ? NULL : Py_NewRef(Py_None);
}
