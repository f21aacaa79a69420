/* python/src/arrow.c - columns as a stream of Arrow's C data interface, which pyarrow, pandas, polars and DuckDB take.
 */
#include "ext.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Arrow's interface, as its specification lays it out. */
struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

enum { MOST_BUFFERS = 3 };

/* What a stream shows; it, and each part that was taken of it, has a reference. */
typedef struct table {
	_Atomic long users;
	int64_t length, count;
	PyObject *columns; /* [(name, format, [buffers or None])], which keeps the bytes */
	bool had;
} table;

static void table_drop(table *t)
{
	if (atomic_fetch_sub(&t->users, 1) > 1)
		return;
	PyGILState_STATE state = PyGILState_Ensure();
	Py_DECREF(t->columns);
	PyGILState_Release(state);
	free(t);
}

static void schema_release(struct ArrowSchema *s)
{
	for (int64_t i = 0; s->children && i < s->n_children; i++) {
		if (s->children[i] && s->children[i]->release)
			s->children[i]->release(s->children[i]);
		free(s->children[i]);
	}
	free(s->children);
	free((char *)(uintptr_t)s->name);
	free((char *)(uintptr_t)s->format);
	s->release = NULL;
}

static int schema_fill(struct ArrowSchema *s, const char *format, const char *name)
{
	*s = (struct ArrowSchema){.format = strdup(format), .name = strdup(name), .release = schema_release};
	return s->format && s->name ? 0 : ENOMEM;
}

static int column_of(const table *t, int64_t i, const char **name, const char **format, PyObject **buffers)
{
	return PyArg_ParseTuple(PyList_GetItem(t->columns, (Py_ssize_t)i), "ssO", name, format, buffers) ? 0 : EINVAL;
}

static int schema_children(const table *t, struct ArrowSchema *out)
{
	out->children = calloc((size_t)t->count + 1, sizeof(*out->children));
	out->n_children = out->children ? t->count : 0;
	for (int64_t i = 0; i < out->n_children; i++) {
		const char *name = "", *format = "";
		PyObject *buffers;
		out->children[i] = calloc(1, sizeof(**out->children));
		if (!out->children[i] || column_of(t, i, &name, &format, &buffers) ||
		    schema_fill(out->children[i], format, name))
			return ENOMEM;
	}
	return out->children ? 0 : ENOMEM;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	PyGILState_STATE state = PyGILState_Ensure();
	int rc = schema_fill(out, "+s", "");
	if (!rc)
		rc = schema_children(stream->private_data, out);
	if (rc)
		schema_release(out);
	PyGILState_Release(state);
	return rc;
}

static void array_release(struct ArrowArray *a)
{
	for (int64_t i = 0; a->children && i < a->n_children; i++) {
		if (a->children[i] && a->children[i]->release)
			a->children[i]->release(a->children[i]);
		free(a->children[i]);
	}
	free(a->children);
	free(a->buffers);
	if (a->private_data)
		table_drop(a->private_data);
	a->release = NULL;
}

static int array_fill(struct ArrowArray *a, table *t, PyObject *buffers)
{
	Py_ssize_t count = buffers ? PyList_Size(buffers) : 1;
	*a = (struct ArrowArray){.length = t->length, .n_buffers = count, .release = array_release};
	a->buffers = calloc(MOST_BUFFERS, sizeof(*a->buffers));
	if (!a->buffers || count > MOST_BUFFERS)
		return ENOMEM;
	for (Py_ssize_t i = 0; buffers && i < count; i++) {
		PyObject *bytes = PyList_GetItem(buffers, i);
		a->buffers[i] = bytes == Py_None ? NULL : PyBytes_AsString(bytes);
	}
	atomic_fetch_add(&t->users, 1);
	a->private_data = t;
	return PyErr_Occurred() ? EINVAL : 0;
}

static int array_children(table *t, struct ArrowArray *out)
{
	out->children = calloc((size_t)t->count + 1, sizeof(*out->children));
	out->n_children = out->children ? t->count : 0;
	for (int64_t i = 0; i < out->n_children; i++) {
		const char *name, *format;
		PyObject *buffers = NULL;
		out->children[i] = calloc(1, sizeof(**out->children));
		if (!out->children[i] || column_of(t, i, &name, &format, &buffers) ||
		    array_fill(out->children[i], t, buffers))
			return ENOMEM;
	}
	return out->children ? 0 : ENOMEM;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	table *t = stream->private_data;
	*out = (struct ArrowArray){0};
	if (t->had)
		return 0;
	PyGILState_STATE state = PyGILState_Ensure();
	int rc = array_fill(out, t, NULL);
	if (!rc)
		rc = array_children(t, out);
	if (rc)
		array_release(out);
	t->had = true;
	PyGILState_Release(state);
	return rc;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return "out of memory";
}

static void stream_release(struct ArrowArrayStream *stream)
{
	table_drop(stream->private_data);
	stream->release = NULL;
}

static void stream_free(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
	if (stream && stream->release)
		stream->release(stream);
	free(stream);
}

/* arrow_stream([(name, format, [bytes or None])], rows) -> capsule */
PyObject *ext_arrow_stream(PyObject *self, PyObject *args)
{
	PyObject *columns;
	long long length;
	(void)self;
	if (!PyArg_ParseTuple(args, "O!L:arrow_stream", &PyList_Type, &columns, &length))
		return NULL;
	table *t = calloc(1, sizeof(*t));
	struct ArrowArrayStream *stream = calloc(1, sizeof(*stream));
	if (!t || !stream) {
		free(t);
		free(stream);
		return PyErr_NoMemory();
	}
	*t = (table){.users = 1, .length = length, .count = PyList_Size(columns), .columns = Py_NewRef(columns)};
	*stream = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, t};
	PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", stream_free);
	if (!capsule) {
		stream_release(stream);
		free(stream);
	}
	return capsule;
}
