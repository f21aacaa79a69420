/* python/src/bundle.c - the tensors of any file or set. */
#include "ext.h"

#include <stdlib.h>

static void bundle_close(void *bundle)
{
	sherd_bundle_close(bundle);
}

typedef struct open_call {
	ext_call call;
	sherd_store *store;
	const char *key;
	sherd_bundle *bundle;
} open_call;

/* Without a pool: a bundle may be read after fork(), where there are no threads of before. */
static int open_run(ext_call *call, sherd_error *err)
{
	open_call *o = (open_call *)call;
	sherd_bundle_options options = {.progress = &call->progress};
	return sherd_bundle_open(&o->bundle, o->store, o->key, &options, err);
}

/* bundle_open(store, key) -> bundle */
PyObject *ext_bundle_open(PyObject *self, PyObject *args)
{
	open_call o = {.call = {.run = open_run}};
	PyObject *store, *answer = NULL;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os:bundle_open", &store, &o.key))
		return NULL;
	o.store = ext_handle_hold(store, EXT_STORE);
	if (!o.store)
		return NULL;
	int rc = ext_call_long(&o.call, Py_None);
	if (rc == SHERD_OK)
		answer = ext_handle_new(o.bundle, EXT_BUNDLE, bundle_close, store, NULL);
	else if (rc != EXT_RAISED)
		(void)ext_raise(o.store, o.key, &o.call.err);
	ext_handle_release(store);
	return answer;
}

PyObject *ext_tensor_row(const sherd_tensor *t)
{
	PyObject *name = ext_text(t->name), *shape = ext_shape(t->shape, t->ndim), *row = NULL;
	if (name && shape)
		row = Py_BuildValue("(OsOK)", name, sherd_tensor_type(t), shape, (unsigned long long)t->bytes);
	Py_XDECREF(name);
	Py_XDECREF(shape);
	return row;
}

/* bundle_tensors(bundle) -> [(name, type, shape, bytes)] in stored order */
PyObject *ext_bundle_tensors(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:bundle_tensors", &object))
		return NULL;
	const sherd_bundle *bundle = ext_handle_hold(object, EXT_BUNDLE);
	if (!bundle)
		return NULL;
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < sherd_bundle_count(bundle); i++) {
		PyObject *row = ext_tensor_row(sherd_bundle_tensor(bundle, i));
		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	ext_handle_release(object);
	return list;
}

PyObject *ext_bundle_format(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:bundle_format", &object))
		return NULL;
	const sherd_bundle *bundle = ext_handle_hold(object, EXT_BUNDLE);
	if (!bundle)
		return NULL;
	PyObject *answer = ext_text(sherd_format_name(sherd_bundle_format(bundle)));
	ext_handle_release(object);
	return answer;
}

PyObject *ext_bundle_pairs(PyObject *self, PyObject *args)
{
	PyObject *object;
	const sherd_pair *pairs;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:bundle_pairs", &object))
		return NULL;
	const sherd_bundle *bundle = ext_handle_hold(object, EXT_BUNDLE);
	if (!bundle)
		return NULL;
	size_t count = sherd_bundle_pairs(&pairs, bundle);
	PyObject *answer = ext_pair_list(pairs, count);
	ext_handle_release(object);
	return answer;
}

static PyObject *value_item(const sherd_value *v, size_t i)
{
	const void *p = v->items;
	switch (v->type) {
	case SHERD_BOOL: return PyBool_FromLong(((const bool *)p)[i]);
	case SHERD_U8: return PyLong_FromLong(((const uint8_t *)p)[i]);
	case SHERD_I8: return PyLong_FromLong(((const int8_t *)p)[i]);
	case SHERD_U16: return PyLong_FromLong(((const uint16_t *)p)[i]);
	case SHERD_I16: return PyLong_FromLong(((const int16_t *)p)[i]);
	case SHERD_U32: return PyLong_FromUnsignedLong(((const uint32_t *)p)[i]);
	case SHERD_I32: return PyLong_FromLong(((const int32_t *)p)[i]);
	case SHERD_U64: return PyLong_FromUnsignedLongLong(((const uint64_t *)p)[i]);
	case SHERD_I64: return PyLong_FromLongLong(((const int64_t *)p)[i]);
	case SHERD_F32: return PyFloat_FromDouble((double)((const float *)p)[i]);
	case SHERD_F64: return PyFloat_FromDouble(((const double *)p)[i]);
	case SHERD_UTF8: return ext_text(((const char *const *)p)[i]);
	default: return ext_text(v->text);
	}
}

static PyObject *value_of(const sherd_value *v)
{
	if (!v->is_array)
		return value_item(v, 0);
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < v->count; i++) {
		PyObject *item = value_item(v, i);
		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

/* bundle_values(bundle) -> [(key, is it JSON, value)] of pairs that have types */
PyObject *ext_bundle_values(PyObject *self, PyObject *args)
{
	PyObject *object;
	const sherd_value *values = NULL;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:bundle_values", &object))
		return NULL;
	const sherd_bundle *bundle = ext_handle_hold(object, EXT_BUNDLE);
	if (!bundle)
		return NULL;
	size_t count = sherd_bundle_values(&values, bundle);
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < count; i++) {
		PyObject *value = value_of(&values[i]);
		PyObject *row =
			value ? Py_BuildValue("(siN)", values[i].key, values[i].type == SHERD_DTYPE_NONE, value) : NULL;
		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	ext_handle_release(object);
	return list;
}

static int dict_put(PyObject *dict, const char *key, PyObject *value)
{
	int rc = value ? PyDict_SetItemString(dict, key, value) : -1;
	Py_XDECREF(value);
	return rc;
}

PyObject *ext_about_dict(const sherd_ckpt_about *a)
{
	PyObject *dict = PyDict_New();
	if (!dict)
		return NULL;
	bool ok = dict_put(dict, "fields", ext_pair_list(a->fields, a->field_count)) == 0 &&
	          dict_put(dict, "strategy", ext_text(a->strategy)) == 0 &&
	          dict_put(dict, "precision", ext_text(a->precision)) == 0 &&
	          dict_put(dict, "optimizer", ext_text(a->optimizer_type)) == 0 &&
	          (!a->has_step || dict_put(dict, "step", PyLong_FromLongLong(a->step)) == 0) &&
	          (!a->has_epoch || dict_put(dict, "epoch", PyLong_FromLongLong(a->epoch)) == 0) &&
	          (!a->has_learning_rate || dict_put(dict, "learning_rate", PyFloat_FromDouble(a->learning_rate)) == 0);
	if (!ok)
		Py_CLEAR(dict);
	return dict;
}

/* bundle_about(bundle) -> what a checkpoint says about itself, or None */
PyObject *ext_bundle_about(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:bundle_about", &object))
		return NULL;
	const sherd_bundle *bundle = ext_handle_hold(object, EXT_BUNDLE);
	if (!bundle)
		return NULL;
	const sherd_ckpt_about *about = sherd_bundle_about(bundle);
	PyObject *answer = about ? ext_about_dict(about) : Py_NewRef(Py_None);
	ext_handle_release(object);
	return answer;
}

/* bundle_map(bundle, index) -> view, read-only */
PyObject *ext_bundle_map(PyObject *self, PyObject *args)
{
	PyObject *object;
	Py_ssize_t index;
	const void *bytes = NULL;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "On:bundle_map", &object, &index))
		return NULL;
	const sherd_bundle *bundle = ext_handle_hold(object, EXT_BUNDLE);
	if (!bundle)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_bundle_map(&bytes, bundle, (size_t)index, &err);
	Py_END_ALLOW_THREADS;
	if (rc < 0) {
		(void)ext_raise(ext_store_of(object), NULL, &err);
		ext_handle_release(object);
		return NULL;
	}
	return ext_view_borrow(object, bytes, (size_t)sherd_bundle_tensor(bundle, (size_t)index)->bytes);
}

/* ---- loading */

typedef struct load_call {
	ext_call call;
	const sherd_bundle *bundle;
	sherd_bundle_want *wants;
	ext_bytes *bytes;
	Py_ssize_t count;
	sherd_pool *pool;
} load_call;

static int load_run(ext_call *call, sherd_error *err)
{
	load_call *l = (load_call *)call;
	sherd_bundle_options options = {.pool = l->pool, .progress = &call->progress};
	return sherd_bundle_load(l->bundle, l->wants, (size_t)l->count, &options, err);
}

/* Bytes that the want fills; 0 when it cannot be told, which the library then refuses. */
static uint64_t want_bytes(const sherd_bundle *bundle, const sherd_bundle_want *w)
{
	const sherd_tensor *t = sherd_bundle_tensor(bundle, w->tensor);
	uint64_t bytes = 0;
	if (!t)
		return 0;
	if (!w->shape)
		return t->bytes;
	return sherd_tensor_bytes(&bytes, t->dtype, t->ndim, w->shape) ? bytes : 0;
}

/* (index, at or None, shape or None, memory) */
static int want_take(const sherd_bundle *bundle, sherd_bundle_want *w, ext_bytes *bytes, PyObject *tuple)
{
	Py_ssize_t index;
	PyObject *at, *shape, *memory;
	uint64_t *numbers;
	if (!PyArg_ParseTuple(tuple, "nOOO", &index, &at, &shape, &memory))
		return -1;
	const sherd_tensor *t = sherd_bundle_tensor(bundle, (size_t)index);
	w->tensor = (size_t)index;
	for (int i = 0; i < 2; i++) {
		PyObject *from = i ? shape : at;
		if (from == Py_None)
			continue;
		Py_ssize_t n = ext_numbers(&numbers, from);
		if (n < 0)
			return -1;
		*(i ? &w->shape : &w->at) = numbers;
		if (t && n != (Py_ssize_t)t->ndim) {
			PyErr_SetString(PyExc_ValueError, "a slice has other dimensions than its tensor");
			return -1;
		}
	}
	if (ext_bytes_take(bytes, memory, true) < 0)
		return -1;
	w->buf = bytes->ptr;
	if (bytes->len != SIZE_MAX && bytes->len < want_bytes(bundle, w)) {
		PyErr_Format(PyExc_ValueError, "%zu bytes of memory are too few for '%s'", bytes->len,
		             t ? t->name : "");
		return -1;
	}
	return 0;
}

static void wants_done(load_call *l)
{
	for (Py_ssize_t i = 0; i < l->count; i++) {
		free((void *)(uintptr_t)l->wants[i].at);
		free((void *)(uintptr_t)l->wants[i].shape);
		ext_bytes_done(&l->bytes[i]);
	}
	free(l->wants);
	free(l->bytes);
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
		if (want_take(l->bundle, &l->wants[i], &l->bytes[i], PyList_GetItem(list, i)) < 0)
			return -1;
	}
	return 0;
}

/* Small ones are not worth a thread. */
enum { QUICK_BYTES = 1 << 20 };

static int load_now(load_call *l, PyObject *progress)
{
	uint64_t bytes = 0;
	for (Py_ssize_t i = 0; i < l->count; i++)
		bytes += want_bytes(l->bundle, &l->wants[i]);
	if (bytes > QUICK_BYTES || progress != Py_None) {
		l->pool = ext_pool();
		return l->pool ? ext_call_long(&l->call, progress) : EXT_RAISED;
	}
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_bundle_load(l->bundle, l->wants, (size_t)l->count, NULL, &l->call.err);
	Py_END_ALLOW_THREADS;
	return rc;
}

/* bundle_load(bundle, wants, progress): fills memory with tensors, or boxes of them */
PyObject *ext_bundle_load(PyObject *self, PyObject *args)
{
	load_call l = {.call = {.run = load_run}};
	PyObject *object, *list, *progress;
	(void)self;
	if (!PyArg_ParseTuple(args, "OO!O:bundle_load", &object, &PyList_Type, &list, &progress))
		return NULL;
	l.bundle = ext_handle_hold(object, EXT_BUNDLE);
	if (!l.bundle)
		return NULL;
	int rc = wants_take(&l, list) < 0 ? EXT_RAISED : load_now(&l, progress);
	if (rc < 0 && rc != EXT_RAISED)
		(void)ext_raise(ext_store_of(object), NULL, &l.call.err);
	wants_done(&l);
	ext_handle_release(object);
	return rc < 0 ? NULL : Py_NewRef(Py_None);
}
