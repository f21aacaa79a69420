/* python/src/args.c - arguments out of Python's objects, and answers into them. */
#include "ext.h"

#include <stdlib.h>
#include <string.h>

int ext_bytes_take(ext_bytes *out, PyObject *object, bool writable)
{
	*out = (ext_bytes){.len = SIZE_MAX};
	if (PyLong_Check(object)) {
		out->ptr = PyLong_AsVoidPtr(object);
		return PyErr_Occurred() ? -1 : 0;
	}
	if (PyObject_GetBuffer(object, &out->buffer, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0)
		return -1;
	out->held = true;
	out->ptr = out->buffer.buf;
	out->len = (size_t)out->buffer.len;
	return 0;
}

void ext_bytes_done(ext_bytes *bytes)
{
	if (bytes->held)
		PyBuffer_Release(&bytes->buffer);
	bytes->held = false;
}

Py_ssize_t ext_numbers(uint64_t **out, PyObject *tuple)
{
	Py_ssize_t count = PySequence_Size(tuple);
	if (count < 0)
		return -1;
	uint64_t *numbers = malloc(((size_t)count + 1) * sizeof(*numbers));
	if (!numbers) {
		(void)PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *item = PySequence_GetItem(tuple, i);
		numbers[i] = item ? PyLong_AsUnsignedLongLong(item) : 0;
		Py_XDECREF(item);
		if (PyErr_Occurred()) {
			free(numbers);
			return -1;
		}
	}
	*out = numbers;
	return count;
}

PyObject *ext_shape(const uint64_t *shape, uint32_t ndim)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)ndim);
	for (uint32_t d = 0; tuple && d < ndim; d++) {
		PyObject *size = PyLong_FromUnsignedLongLong(shape[d]);
		if (!size || PyTuple_SetItem(tuple, (Py_ssize_t)d, size) < 0)
			Py_CLEAR(tuple);
	}
	return tuple;
}

Py_ssize_t ext_pairs(sherd_pair **out, PyObject *list)
{
	Py_ssize_t count = PyList_Size(list);
	if (count < 0)
		return -1;
	sherd_pair *pairs = calloc((size_t)count + 1, sizeof(*pairs));
	if (!pairs) {
		(void)PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < count; i++)
		if (!PyArg_ParseTuple(PyList_GetItem(list, i), "ss", &pairs[i].key, &pairs[i].value)) {
			free(pairs);
			return -1;
		}
	*out = pairs;
	return count;
}

PyObject *ext_pair_list(const sherd_pair *pairs, size_t count)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < count; i++) {
		PyObject *key = ext_text(pairs[i].key), *value = ext_text(pairs[i].value);
		PyObject *pair = key && value ? PyTuple_Pack(2, key, value) : NULL;
		Py_XDECREF(key);
		Py_XDECREF(value);
		if (!pair || PyList_Append(list, pair) < 0)
			Py_CLEAR(list);
		Py_XDECREF(pair);
	}
	return list;
}

PyObject *ext_text(const char *text)
{
	if (!text)
		Py_RETURN_NONE;
	return ext_text_of(text, strlen(text));
}

PyObject *ext_text_of(const char *text, size_t len)
{
	return PyUnicode_DecodeUTF8(text ? text : "", (Py_ssize_t)len, "backslashreplace");
}

sherd_dtype ext_dtype(const char *name)
{
	return sherd_dtype_by_name(name, strlen(name));
}

static PyObject *dict_item(PyObject *dict, const char *name)
{
	PyObject *item = PyDict_GetItemString(dict, name);
	return item == Py_None ? NULL : item;
}

bool ext_dict_flag(PyObject *dict, const char *name)
{
	PyObject *item = dict_item(dict, name);
	return item && PyObject_IsTrue(item) == 1;
}

int64_t ext_dict_number(PyObject *dict, const char *name, int64_t other)
{
	PyObject *item = dict_item(dict, name);
	return item ? PyLong_AsLongLong(item) : other;
}

const char *ext_dict_text(PyObject *dict, const char *name)
{
	PyObject *item = dict_item(dict, name);
	return item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
}

/* A tuple of numbers, or None. */
static int optional_numbers(const uint64_t **out, PyObject *tuple, Py_ssize_t ndim)
{
	uint64_t *numbers;
	*out = NULL;
	if (tuple == Py_None)
		return 0;
	Py_ssize_t count = ext_numbers(&numbers, tuple);
	if (count < 0)
		return -1;
	*out = numbers;
	if (count == ndim)
		return 0;
	PyErr_SetString(PyExc_ValueError, "shapes of one tensor differ in their dimensions");
	return -1;
}

static int item_take(sherd_ckpt_item *item, ext_bytes *bytes, PyObject *tuple)
{
	const char *dtype;
	PyObject *shape, *data, *global_shape, *global_offset;
	uint64_t *dims, need;
	if (!PyArg_ParseTuple(tuple, "ssOOOO", &item->tensor.name, &dtype, &shape, &data, &global_shape,
	                      &global_offset))
		return -1;
	item->tensor.dtype = ext_dtype(dtype);
	if (item->tensor.dtype == SHERD_DTYPE_NONE) {
		item->tensor.dtype = SHERD_OPAQUE;
		item->tensor.type_name = dtype;
	}
	Py_ssize_t ndim = ext_numbers(&dims, shape);
	if (ndim < 0)
		return -1;
	item->tensor.shape = dims;
	item->tensor.ndim = (uint32_t)ndim;
	if (optional_numbers(&item->global_shape, global_shape, ndim) < 0 ||
	    optional_numbers(&item->global_offset, global_offset, ndim) < 0 || ext_bytes_take(bytes, data, false) < 0)
		return -1;
	item->data = bytes->ptr;
	if (!sherd_tensor_bytes(&need, item->tensor.dtype, item->tensor.ndim, dims))
		item->tensor.bytes = bytes->len == SIZE_MAX ? 0 : bytes->len;
	else if (bytes->len != SIZE_MAX && bytes->len != need) {
		PyErr_Format(PyExc_ValueError, "tensor '%s' has %zu bytes, its type and shape %llu", item->tensor.name,
		             bytes->len, (unsigned long long)need);
		return -1;
	}
	return 0;
}

int ext_items_take(ext_items *out, PyObject *list)
{
	*out = (ext_items){0};
	Py_ssize_t count = PyList_Size(list);
	if (count < 0)
		return -1;
	out->items = calloc((size_t)count + 1, sizeof(*out->items));
	out->bytes = calloc((size_t)count + 1, sizeof(*out->bytes));
	if (!out->items || !out->bytes) {
		ext_items_done(out);
		(void)PyErr_NoMemory();
		return -1;
	}
	while (out->count < count) {
		Py_ssize_t i = out->count++;
		if (item_take(&out->items[i], &out->bytes[i], PyList_GetItem(list, i)) < 0) {
			ext_items_done(out);
			return -1;
		}
	}
	return 0;
}

void ext_items_done(ext_items *items)
{
	for (Py_ssize_t i = 0; items->items && items->bytes && i < items->count; i++) {
		ext_bytes_done(&items->bytes[i]);
		free((void *)(uintptr_t)items->items[i].tensor.shape);
		free((void *)(uintptr_t)items->items[i].global_shape);
		free((void *)(uintptr_t)items->items[i].global_offset);
	}
	free(items->items);
	free(items->bytes);
	*items = (ext_items){0};
}
