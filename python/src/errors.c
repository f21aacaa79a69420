/* python/src/errors.c - what the library says, as an exception of sherd._errors. */
#include "ext.h"

#include <string.h>

static PyObject *number_or_none(uint64_t number, uint64_t none)
{
	if (number != none)
		return PyLong_FromUnsignedLongLong(number);
	Py_RETURN_NONE;
}

PyObject *ext_error_object(const sherd_error *err)
{
	PyObject *module = PyImport_ImportModule("sherd._errors");
	PyObject *object = ext_text(err->object[0] ? err->object : NULL);
	PyObject *message = ext_text(err->message);
	PyObject *offset = number_or_none(err->offset, SHERD_NO_OFFSET),
		 *index = number_or_none(err->index, SHERD_NO_INDEX);
	PyObject *error = NULL;
	if (module && object && message && offset && index)
		error = PyObject_CallMethod(module, "error_of", "isOOOOi", (int)err->code, err->reason, message, object,
		                            offset, index, err->os_errno);
	Py_XDECREF(module);
	Py_XDECREF(object);
	Py_XDECREF(message);
	Py_XDECREF(offset);
	Py_XDECREF(index);
	return error;
}

PyObject *ext_raise(const sherd_store *store, const char *key, sherd_error *err)
{
	if (PyErr_Occurred())
		return NULL;
	if (store || err->store)
		sherd_store_name_error(store, key ? key : "", err);
	PyObject *error = ext_error_object(err);
	if (error) {
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
		Py_DECREF(error);
	}
	return NULL;
}
