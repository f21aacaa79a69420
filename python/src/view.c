/* python/src/view.c - memory as Python sees it: View, which has or borrows bytes, and Exporter, whose subclasses in
 * Python say what their buffer is. */
#include "ext.h"

#include <stdlib.h>
#include <sys/mman.h>

typedef struct ext_view {
	PyObject_HEAD void *bytes;
	size_t len;
	size_t mapped;    /* bytes of the map that is its own; 0: none is */
	PyObject *handle; /* that it borrows from, held; or NULL */
} ext_view;

PyTypeObject *ext_view_type;

/* From this size on memory begins at a large page, and the system is asked for such pages. */
#define LARGE_PAGE ((size_t)2 << 20)

static void *map_memory(size_t len, size_t *mapped)
{
	size_t room = len + LARGE_PAGE;
	void *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	/* What stands before and after the part that begins at a large page goes back. */
	uintptr_t start = (uintptr_t)map, at = (start + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	size_t page = 4096, whole = (len + page - 1) / page * page;
	if (at > start)
		(void)munmap(map, at - start);
	if (start + room > at + whole)
		(void)munmap((void *)(at + whole), start + room - (at + whole));
	(void)madvise((void *)at, whole, MADV_HUGEPAGE);
	*mapped = whole;
	return (void *)at;
}

PyObject *ext_view_alloc(size_t len)
{
	PyObject *object = PyType_GenericAlloc(ext_view_type, 0);
	if (!object)
		return NULL;
	ext_view *v = (ext_view *)object;
	v->len = len;
	v->bytes = len < LARGE_PAGE ? aligned_alloc(64, (len + 64) / 64 * 64) : map_memory(len, &v->mapped);
	if (v->bytes)
		return object;
	v->mapped = 0;
	Py_DECREF(object);
	return PyErr_NoMemory();
}

/* The caller holds the handle, and hands that over. */
PyObject *ext_view_borrow(PyObject *handle, const void *bytes, size_t len)
{
	PyObject *object = PyType_GenericAlloc(ext_view_type, 0);
	if (!object) {
		ext_handle_release(handle);
		return NULL;
	}
	ext_view *v = (ext_view *)object;
	v->bytes = (void *)(uintptr_t)bytes;
	v->len = len;
	v->handle = handle;
	return object;
}

PyObject *ext_alloc(PyObject *self, PyObject *args)
{
	Py_ssize_t len;
	(void)self;
	if (!PyArg_ParseTuple(args, "n:alloc", &len))
		return NULL;
	if (len < 0) {
		PyErr_SetString(PyExc_ValueError, "a size below 0");
		return NULL;
	}
	return ext_view_alloc((size_t)len);
}

static int view_getbuffer(PyObject *object, Py_buffer *out, int flags)
{
	ext_view *v = (ext_view *)object;
	return PyBuffer_FillInfo(out, object, v->bytes, (Py_ssize_t)v->len, v->handle != NULL, flags);
}

static PyObject *view_address(PyObject *object, void *nothing)
{
	(void)nothing;
	return PyLong_FromVoidPtr(((ext_view *)object)->bytes);
}

/* Were the bytes what the file held when they were read? */
static PyObject *view_check(PyObject *object, PyObject *nothing)
{
	(void)nothing;
	ext_view *v = (ext_view *)object;
	sherd_error err;
	if (v->handle && sherd_guard_check(v->bytes, v->len, &err) < 0)
		return ext_raise(ext_store_of(v->handle), NULL, &err);
	Py_RETURN_NONE;
}

static Py_ssize_t view_length(PyObject *object)
{
	return (Py_ssize_t)((ext_view *)object)->len;
}

static void view_dealloc(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	ext_view *v = (ext_view *)object;
	if (v->handle)
		ext_handle_release(v->handle);
	else if (v->mapped)
		(void)munmap(v->bytes, v->mapped);
	else
		free(v->bytes);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
	release(object);
	Py_DECREF(type);
}

static PyMethodDef methods[] = {
	{"check", view_check, METH_NOARGS, "Raises when the file has failed under the map since it was made."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
	{"address", view_address, NULL, "Of the first byte.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_dealloc, view_dealloc}, {Py_tp_methods, methods},          {Py_tp_getset, members},
	{Py_mp_length, view_length},   {Py_bf_getbuffer, view_getbuffer}, {0, NULL},
};

static PyType_Spec spec = {
	.name = "sherd._core.View",
	.basicsize = sizeof(ext_view),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = slots,
};

/* ---- Exporter: `_export()` gives a memoryview of the bytes, which the buffer is */

static int exporter_getbuffer(PyObject *object, Py_buffer *out, int flags)
{
	out->obj = NULL;
	PyObject *inner = PyObject_CallMethod(object, "_export", NULL);
	if (!inner)
		return -1;
	int rc = PyObject_GetBuffer(inner, out, flags);
	Py_DECREF(inner);
	return rc;
}

static PyType_Slot exporter_slots[] = {{Py_bf_getbuffer, exporter_getbuffer}, {0, NULL}};

static PyType_Spec exporter_spec = {
	.name = "sherd._core.Exporter",
	.basicsize = 0,
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = exporter_slots,
};

int ext_view_init(PyObject *module)
{
	ext_view_type = (PyTypeObject *)PyType_FromSpec(&spec);
	PyObject *exporter = PyType_FromSpec(&exporter_spec);
	if (!ext_view_type || !exporter || PyModule_AddObjectRef(module, "View", (PyObject *)ext_view_type) < 0)
		return -1;
	int rc = PyModule_AddObjectRef(module, "Exporter", exporter);
	Py_DECREF(exporter);
	return rc;
}
