/* python/src/place.c - paths and URIs, and what is known of formats and types. */
#include "ext.h"

#ifdef SHERD_HAS_S3
#include <sherd/s3.h>
#endif

#include <stdlib.h>

static const sherd_scheme *const *schemes_of_components(void)
{
#ifdef SHERD_HAS_S3
	return sherd_s3_component()->schemes;
#else
	return NULL;
#endif
}

static void store_close(void *store)
{
	sherd_store_close(store);
}

typedef struct place_call {
	ext_call call;
	const char *uri;
	sherd_store_options options;
	sherd_store *store;
	char *key;
} place_call;

static int place_run(ext_call *call, sherd_error *err)
{
	place_call *p = (place_call *)call;
	return sherd_store_open(&p->store, &p->key, p->uri, &p->options, err);
}

/* place(uri, create, beside, settings) -> (store, key) */
PyObject *ext_place(PyObject *self, PyObject *args)
{
	place_call p = {.call = {.run = place_run}};
	PyObject *settings;
	sherd_pair *own;
	int create, beside;
	(void)self;
	if (!PyArg_ParseTuple(args, "sppO!:place", &p.uri, &create, &beside, &PyList_Type, &settings))
		return NULL;
	Py_ssize_t count = ext_pairs(&own, settings);
	if (count < 0)
		return NULL;
	p.options = (sherd_store_options){.create = create != 0,
	                                  .beside = beside != 0,
	                                  .own = own,
	                                  .own_count = (size_t)count,
	                                  .schemes = schemes_of_components()};
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = place_run(&p.call, &p.call.err);
	Py_END_ALLOW_THREADS;
	free(own);
	if (rc < 0)
		return ext_raise(NULL, p.uri, &p.call.err);
	PyObject *handle = ext_handle_new(p.store, EXT_STORE, store_close, NULL, NULL);
	PyObject *key = ext_text(p.key);
	PyObject *answer = handle && key ? PyTuple_Pack(2, handle, key) : NULL;
	Py_XDECREF(handle);
	Py_XDECREF(key);
	sherd_free(p.key);
	return answer;
}

PyObject *ext_detect(PyObject *self, PyObject *args)
{
	PyObject *object;
	const char *key;
	sherd_format format = SHERD_FORMAT_UNKNOWN;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os:detect", &object, &key))
		return NULL;
	sherd_store *store = ext_handle_hold(object, EXT_STORE);
	if (!store)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_detect(&format, store, key, &err);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(store, key, &err) : ext_text(sherd_format_name(format));
	ext_handle_release(object);
	return answer;
}

/* store_get(store, key) -> bytes of a whole object */
PyObject *ext_store_get(PyObject *self, PyObject *args)
{
	PyObject *object, *answer = NULL;
	const char *key;
	char *data = NULL;
	size_t len = 0;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os:store_get", &object, &key))
		return NULL;
	sherd_store *store = ext_handle_hold(object, EXT_STORE);
	if (!store)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_store_get(&data, &len, store, key, UINT64_MAX - 1, &err);
	Py_END_ALLOW_THREADS;
	answer = rc < 0 ? ext_raise(store, key, &err) : PyBytes_FromStringAndSize(data, (Py_ssize_t)len);
	sherd_free(data);
	ext_handle_release(object);
	return answer;
}

/* store_put(store, key, bytes): a whole object, which is replaced where it is there */
PyObject *ext_store_put(PyObject *self, PyObject *args)
{
	PyObject *object, *source, *answer = NULL;
	const char *key;
	ext_bytes bytes;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OsO:store_put", &object, &key, &source) ||
	    ext_bytes_take(&bytes, source, false) < 0)
		return NULL;
	sherd_store *store = ext_handle_hold(object, EXT_STORE);
	if (store) {
		int rc;
		Py_BEGIN_ALLOW_THREADS;
		rc = sherd_store_put(store, key, SHERD_WRITE_REPLACE, bytes.ptr, bytes.len, &err);
		Py_END_ALLOW_THREADS;
		answer = rc < 0 ? ext_raise(store, key, &err) : Py_NewRef(Py_None);
		ext_handle_release(object);
	}
	ext_bytes_done(&bytes);
	return answer;
}

PyObject *ext_version(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	return ext_text(sherd_version());
}

static PyObject *format_row(const sherd_format_info *f)
{
	return Py_BuildValue("{s:s,s:z,s:s,s:i,s:O,s:O,s:I,s:I,s:s}", "name", sherd_format_name(f->id), "short",
	                     f->short_name, "noun", f->noun, "kind", (int)f->kind, "folder",
	                     f->folder ? Py_True : Py_False, "written", f->written ? Py_True : Py_False, "holds",
	                     f->holds, "takes", f->takes, "ending", f->endings[0].text ? f->endings[0].text : "");
}

/* formats() -> [{name, short, noun, kind, ...}] of those that are read here. */
PyObject *ext_formats(PyObject *self, PyObject *args)
{
	PyObject *list = PyList_New(0);
	const sherd_format_info *f;
	(void)self;
	(void)args;
	for (size_t i = 0; list && (f = sherd_format_at(i)); i++) {
		if (f->id == SHERD_FORMAT_UNKNOWN)
			continue;
		PyObject *row = format_row(f);
		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	return list;
}

/* format_by_path(path) -> (name of the format or None, what its ending is for) */
PyObject *ext_format_by_path(PyObject *self, PyObject *args)
{
	const char *path;
	const sherd_format_ending *ending = NULL;
	(void)self;
	if (!PyArg_ParseTuple(args, "s:format_by_path", &path))
		return NULL;
	const sherd_format_info *f = sherd_format_by_path(path, &ending);
	if (!f || f->id == SHERD_FORMAT_UNKNOWN)
		return Py_BuildValue("(Ois)", Py_None, 0, "");
	return Py_BuildValue("(sis)", f->name, (int)ending->use, ending->text);
}

/* dtypes() -> [(name, elements of a block, bytes of a block)] */
PyObject *ext_dtypes(PyObject *self, PyObject *args)
{
	PyObject *list = PyList_New(0);
	(void)self;
	(void)args;
	for (int i = 1; list && i < SHERD_DTYPE_BLOCKS_END; i++) {
		const sherd_dtype_info *info = sherd_dtype_describe((sherd_dtype)i);
		if (!info)
			continue;
		PyObject *row = Py_BuildValue("(sII)", info->name, info->block_elements, info->block_bytes);
		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	return list;
}
