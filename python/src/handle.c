/* python/src/handle.c - what the library opened, as an object that closes it.
 *
 * Closing a handle that is in use, by a call on another thread or by memory that was borrowed from it, waits for them:
 * the handle refuses new users at once, and is closed by the last one. */
#include "ext.h"

#include <unistd.h>

PyTypeObject *ext_handle_type;

PyObject *ext_handle_new(void *ptr, ext_kind kind, ext_close_fn *close, PyObject *owner, PyObject *kept)
{
	PyObject *object = PyType_GenericAlloc(ext_handle_type, 0);
	if (!object) {
		close(ptr);
		return NULL;
	}
	ext_handle *h = (ext_handle *)object;
	(void)pthread_mutex_init(&h->mutex, NULL);
	h->ptr = ptr;
	h->kind = kind;
	h->close = close;
	h->pid = getpid();
	Py_XINCREF(owner);
	h->owner = owner;
	Py_XINCREF(kept);
	h->kept = kept;
	return object;
}

/* What other processes lock, write or run on threads is theirs alone: a child after fork() has copies of it that it
 * must not undo. Its memory is left as it is. */
static void close_now(ext_handle *h)
{
	void *ptr = h->ptr;
	h->ptr = NULL;
	if (ptr && h->pid == getpid()) {
		Py_BEGIN_ALLOW_THREADS;
		h->close(ptr);
		Py_END_ALLOW_THREADS;
	}
	Py_CLEAR(h->kept);
	Py_CLEAR(h->owner);
}

void *ext_handle_hold(PyObject *object, ext_kind kind)
{
	if (Py_TYPE(object) != ext_handle_type || ((ext_handle *)object)->kind != kind) {
		PyErr_SetString(PyExc_TypeError, "a handle of another kind is needed");
		return NULL;
	}
	ext_handle *h = (ext_handle *)object;
	if (h->closing || !h->ptr) {
		PyErr_SetString(PyExc_ValueError, "it is closed");
		return NULL;
	}
	if (h->pid != getpid() && kind != EXT_BUNDLE && kind != EXT_STORE && kind != EXT_CKPT && kind != EXT_ROWS) {
		PyErr_SetString(PyExc_RuntimeError,
		                "it was opened by the process that this one was forked from; open it here");
		return NULL;
	}
	h->users++;
	Py_INCREF(object);
	return h->ptr;
}

void ext_handle_release(PyObject *object)
{
	ext_handle *h = (ext_handle *)object;
	if (--h->users == 0 && h->closing)
		close_now(h);
	Py_DECREF(object);
}

sherd_store *ext_store_of(PyObject *object)
{
	while (object && ((ext_handle *)object)->kind != EXT_STORE)
		object = ((ext_handle *)object)->owner;
	return object ? ((ext_handle *)object)->ptr : NULL;
}

static PyObject *handle_close(PyObject *object, PyObject *nothing)
{
	(void)nothing;
	ext_handle *h = (ext_handle *)object;
	h->closing = true;
	if (h->users == 0)
		close_now(h);
	Py_RETURN_NONE;
}

static PyObject *handle_closed(PyObject *object, void *nothing)
{
	(void)nothing;
	return PyBool_FromLong(((ext_handle *)object)->closing);
}

static void handle_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	ext_handle *h = (ext_handle *)object;
	close_now(h);
	(void)pthread_mutex_destroy(&h->mutex);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
	release(object);
	Py_DECREF(type);
}

static PyMethodDef methods[] = {
	{"close", handle_close, METH_NOARGS, "Closes it, once nobody uses it any more."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
	{"closed", handle_closed, NULL, "Whether it was closed.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_dealloc, handle_dealloc},
	{Py_tp_methods, methods},
	{Py_tp_getset, members},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "sherd._core.Handle",
	.basicsize = sizeof(ext_handle),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = slots,
};

int ext_handle_init(PyObject *module)
{
	ext_handle_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return ext_handle_type ? PyModule_AddObjectRef(module, "Handle", (PyObject *)ext_handle_type) : -1;
}
