/* python/src/rows.c - rows of numbers: sets, streams, writers. */
#include "ext.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void rows_close(void *rows)
{
	sherd_rows_close(rows);
}

static void cursor_close(void *cursor)
{
	sherd_rows_cursor_close(cursor);
}

static void writer_abort(void *writer)
{
	sherd_rows_writer_abort(writer);
}

/* rows_open(store, key, incomplete) -> rows */
PyObject *ext_rows_open(PyObject *self, PyObject *args)
{
	PyObject *object, *answer = NULL;
	const char *key;
	int incomplete;
	sherd_rows *rows = NULL;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "Osp:rows_open", &object, &key, &incomplete))
		return NULL;
	sherd_store *store = ext_handle_hold(object, EXT_STORE);
	if (!store)
		return NULL;
	sherd_rows_options options = {.incomplete = incomplete != 0};
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_rows_open_any(&rows, store, key, &options, &err);
	Py_END_ALLOW_THREADS;
	answer = rc < 0 ? ext_raise(store, key, &err) : ext_handle_new(rows, EXT_ROWS, rows_close, object, NULL);
	ext_handle_release(object);
	return answer;
}

/* rows_describe(rows) -> {rows, width, dtype, shards, manifest} */
PyObject *ext_rows_describe(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:rows_describe", &object))
		return NULL;
	const sherd_rows *rows = ext_handle_hold(object, EXT_ROWS);
	if (!rows)
		return NULL;
	PyObject *answer = Py_BuildValue("{s:K,s:K,s:s,s:n,s:O}", "rows", (unsigned long long)sherd_rows_total(rows),
	                                 "width", (unsigned long long)sherd_rows_width(rows), "dtype",
	                                 sherd_dtype_describe(sherd_rows_dtype(rows))->name, "shards",
	                                 (Py_ssize_t)sherd_rows_shards(rows), "manifest",
	                                 sherd_rows_has_manifest(rows) ? Py_True : Py_False);
	ext_handle_release(object);
	return answer;
}

static int word_of(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	PyErr_Format(PyExc_ValueError, "'%s' is none of the words that there are", word);
	return -1;
}

static int stream_options(sherd_rows_stream_options *o, PyObject *dict)
{
	static const char *const tails[] = {"keep", "drop", "pad", NULL};
	static const char *const ways[] = {"auto", "map", "read", "direct", NULL};
	const char *dtype = ext_dict_text(dict, "dtype"), *tail = ext_dict_text(dict, "tail"),
		   *access = ext_dict_text(dict, "access");
	PyObject *fraction = PyDict_GetItemString(dict, "fraction"), *seed = PyDict_GetItemString(dict, "seed");
	*o = (sherd_rows_stream_options){
		.batch_rows = (uint64_t)ext_dict_number(dict, "batch", 0),
		.from = (uint64_t)ext_dict_number(dict, "from", 0),
		.window_bytes = (uint64_t)ext_dict_number(dict, "window", 0),
		.dtype = dtype ? ext_dtype(dtype) : SHERD_DTYPE_NONE,
		.rank = (uint32_t)ext_dict_number(dict, "rank", 0),
		.world = (uint32_t)ext_dict_number(dict, "world", 1),
		.shuffle = ext_dict_flag(dict, "shuffle"),
		.shuffle_window = (uint64_t)ext_dict_number(dict, "shuffle_window", 0),
		.epoch = (uint64_t)ext_dict_number(dict, "epoch", 0),
		.verify = ext_dict_flag(dict, "verify"),
		.resume = ext_dict_text(dict, "resume"),
	};
	if (seed && seed != Py_None)
		o->seed = PyLong_AsUnsignedLongLong(seed);
	if (fraction && fraction != Py_None) {
		o->sample = true;
		o->fraction = PyFloat_AsDouble(fraction);
	}
	int t = tail ? word_of(tail, tails) : 0, a = access ? word_of(access, ways) : 0;
	o->tail = (sherd_rows_tail)(t < 0 ? 0 : t);
	o->access = (sherd_rows_access)(a < 0 ? 0 : a);
	return PyErr_Occurred() ? -1 : 0;
}

/* rows_cursor(rows, options) -> cursor. Without a pool: loaders have threads or processes of their own. */
PyObject *ext_rows_cursor(PyObject *self, PyObject *args)
{
	PyObject *object, *dict;
	sherd_rows_stream_options options;
	sherd_rows_cursor *cursor = NULL;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OO!:rows_cursor", &object, &PyDict_Type, &dict) ||
	    stream_options(&options, dict) < 0)
		return NULL;
	const sherd_rows *rows = ext_handle_hold(object, EXT_ROWS);
	if (!rows)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_rows_cursor_open(&cursor, rows, &options, &err);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(ext_store_of(object), NULL, &err)
	                          : ext_handle_new(cursor, EXT_CURSOR, cursor_close, object, NULL);
	ext_handle_release(object);
	return answer;
}

static size_t batch_bytes(const sherd_rows_batch *b)
{
	return b->rows * (size_t)b->width * sherd_dtype_element_bytes(b->dtype);
}

/* A batch is gone with the next call: its values and ids are copied. */
static PyObject *batch_tuple(const sherd_rows_batch *b, PyObject *memory)
{
	size_t len = batch_bytes(b);
	PyObject *ids = Py_NewRef(Py_None), *values = memory == Py_None ? ext_view_alloc(len) : Py_NewRef(memory);
	ext_bytes to = {0};
	if (b->ids) {
		Py_DECREF(ids);
		ids = PyBytes_FromStringAndSize((const char *)b->ids, (Py_ssize_t)(b->rows * sizeof(*b->ids)));
	}
	if (ids && values && ext_bytes_take(&to, values, true) == 0) {
		if (to.len >= len) {
			Py_BEGIN_ALLOW_THREADS;
			memcpy(to.ptr, b->data, len);
			Py_END_ALLOW_THREADS;
			ext_bytes_done(&to);
			return Py_BuildValue("(NnNKKOK)", values, (Py_ssize_t)b->rows, ids,
			                     (unsigned long long)b->first_id, (unsigned long long)b->number,
			                     b->padding ? Py_True : Py_False, (unsigned long long)b->epoch);
		}
		PyErr_SetString(PyExc_ValueError, "the memory is too small for a batch");
		ext_bytes_done(&to);
	}
	Py_XDECREF(values);
	Py_XDECREF(ids);
	return NULL;
}

/* rows_next(cursor, memory or None) -> (values, rows, ids or None, first id, number, padding, epoch), or None */
PyObject *ext_rows_next(PyObject *self, PyObject *args)
{
	PyObject *object, *memory, *answer = NULL;
	sherd_rows_batch batch;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OO:rows_next", &object, &memory))
		return NULL;
	sherd_rows_cursor *cursor = ext_handle_hold(object, EXT_CURSOR);
	if (!cursor)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
	rc = sherd_rows_next(&batch, cursor, &err);
	Py_END_ALLOW_THREADS;
	if (rc < 0)
		(void)ext_raise(ext_store_of(object), NULL, &err);
	else
		answer = rc ? batch_tuple(&batch, memory) : Py_NewRef(Py_None);
	(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
	ext_handle_release(object);
	return answer;
}

/* rows_tell(cursor) -> position */
PyObject *ext_rows_tell(PyObject *self, PyObject *args)
{
	PyObject *object;
	char text[SHERD_ROWS_CURSOR_TEXT];
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:rows_tell", &object))
		return NULL;
	sherd_rows_cursor *cursor = ext_handle_hold(object, EXT_CURSOR);
	if (!cursor)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
	rc = sherd_rows_tell(text, cursor, &err);
	(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(ext_store_of(object), NULL, &err) : ext_text(text);
	ext_handle_release(object);
	return answer;
}

/* rows_skip(cursor, batches) -> how many there were */
PyObject *ext_rows_skip(PyObject *self, PyObject *args)
{
	PyObject *object;
	unsigned long long batches;
	uint64_t passed = 0;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OK:rows_skip", &object, &batches))
		return NULL;
	sherd_rows_cursor *cursor = ext_handle_hold(object, EXT_CURSOR);
	if (!cursor)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
	rc = sherd_rows_skip(cursor, batches, &passed, &err);
	(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(ext_store_of(object), NULL, &err) : PyLong_FromUnsignedLongLong(passed);
	ext_handle_release(object);
	return answer;
}

PyObject *ext_rows_begin_epoch(PyObject *self, PyObject *args)
{
	PyObject *object;
	unsigned long long epoch;
	(void)self;
	if (!PyArg_ParseTuple(args, "OK:rows_begin_epoch", &object, &epoch))
		return NULL;
	sherd_rows_cursor *cursor = ext_handle_hold(object, EXT_CURSOR);
	if (!cursor)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
	sherd_rows_begin_epoch(cursor, epoch);
	(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
	Py_END_ALLOW_THREADS;
	ext_handle_release(object);
	Py_RETURN_NONE;
}

/* rows_gather(cursor, ids as bytes, memory): memory is taken to have room, which Python has counted */
PyObject *ext_rows_gather(PyObject *self, PyObject *args)
{
	PyObject *object, *id_object, *memory, *answer = NULL;
	ext_bytes ids = {0}, to = {0};
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OOO:rows_gather", &object, &id_object, &memory))
		return NULL;
	sherd_rows_cursor *cursor = ext_handle_hold(object, EXT_CURSOR);
	if (!cursor)
		return NULL;
	if (ext_bytes_take(&ids, id_object, false) == 0 && ext_bytes_take(&to, memory, true) == 0) {
		int rc;
		Py_BEGIN_ALLOW_THREADS;
		(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
		rc = sherd_rows_gather(cursor, ids.ptr, ids.len / sizeof(uint64_t), to.ptr, &err);
		(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
		Py_END_ALLOW_THREADS;
		answer = rc < 0 ? ext_raise(ext_store_of(object), NULL, &err) : Py_NewRef(Py_None);
	}
	ext_bytes_done(&ids);
	ext_bytes_done(&to);
	ext_handle_release(object);
	return answer;
}

/* ---- writing */

/* rows_writer(store, folder, width, options) -> writer */
PyObject *ext_rows_writer(PyObject *self, PyObject *args)
{
	PyObject *object, *dict;
	const char *folder;
	unsigned long long width;
	sherd_rows_writer *writer = NULL;
	sherd_error err;
	struct timespec now;
	(void)self;
	if (!PyArg_ParseTuple(args, "OsKO!:rows_writer", &object, &folder, &width, &PyDict_Type, &dict))
		return NULL;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	const char *dtype = ext_dict_text(dict, "dtype");
	sherd_rows_writer_options options = {
		.append = ext_dict_flag(dict, "append"),
		.dtype = dtype ? ext_dtype(dtype) : SHERD_DTYPE_NONE,
		.rows_per_shard = (uint64_t)ext_dict_number(dict, "rows_per_shard", 0),
		.time_ns = ext_dict_number(dict, "time_ns", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec),
		.residual = ext_dict_flag(dict, "residual"),
	};
	sherd_store *store = PyErr_Occurred() ? NULL : ext_handle_hold(object, EXT_STORE);
	if (!store)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_rows_writer_open(&writer, store, folder, width, &options, &err);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(store, folder, &err)
	                          : ext_handle_new(writer, EXT_ROWS_WRITER, writer_abort, object, NULL);
	ext_handle_release(object);
	return answer;
}

/* rows_append(writer, dtype, values, rows) */
PyObject *ext_rows_append(PyObject *self, PyObject *args)
{
	PyObject *object, *values, *answer = NULL;
	const char *dtype;
	unsigned long long rows;
	ext_bytes bytes;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OsOK:rows_append", &object, &dtype, &values, &rows))
		return NULL;
	sherd_rows_writer *writer = ext_handle_hold(object, EXT_ROWS_WRITER);
	if (!writer)
		return NULL;
	uint64_t width = sherd_rows_writer_width(writer);
	if (ext_bytes_take(&bytes, values, false) == 0) {
		if (bytes.len != SIZE_MAX && bytes.len != rows * width * sherd_dtype_element_bytes(ext_dtype(dtype))) {
			PyErr_Format(PyExc_ValueError, "%zu bytes are not %llu rows of %llu values", bytes.len, rows,
			             (unsigned long long)width);
		} else {
			int rc;
			Py_BEGIN_ALLOW_THREADS;
			(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
			rc = sherd_rows_writer_append(writer, ext_dtype(dtype), bytes.ptr, rows, &err);
			(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
			Py_END_ALLOW_THREADS;
			answer = rc < 0 ? ext_raise(ext_store_of(object), NULL, &err) : Py_NewRef(Py_None);
		}
		ext_bytes_done(&bytes);
	}
	ext_handle_release(object);
	return answer;
}

/* rows_flush(writer) */
PyObject *ext_rows_flush(PyObject *self, PyObject *args)
{
	PyObject *object;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:rows_flush", &object))
		return NULL;
	sherd_rows_writer *writer = ext_handle_hold(object, EXT_ROWS_WRITER);
	if (!writer)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
	rc = sherd_rows_writer_flush(writer, &err);
	(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(ext_store_of(object), NULL, &err) : Py_NewRef(Py_None);
	ext_handle_release(object);
	return answer;
}

/* rows_commit(writer) -> values that became infinities. The writer is gone, whatever comes. */
PyObject *ext_rows_commit(PyObject *self, PyObject *args)
{
	PyObject *object;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:rows_commit", &object))
		return NULL;
	sherd_rows_writer *writer = ext_handle_hold(object, EXT_ROWS_WRITER);
	if (!writer)
		return NULL;
	ext_handle *h = (ext_handle *)object;
	if (h->users > 1) {
		ext_handle_release(object);
		PyErr_SetString(PyExc_RuntimeError, "another thread uses the writer");
		return NULL;
	}
	h->ptr = NULL;
	h->closing = true;
	unsigned long long overflowed = sherd_rows_writer_overflowed(writer);
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_rows_writer_commit(writer, &err);
	Py_END_ALLOW_THREADS;
	PyObject *answer =
		rc < 0 ? ext_raise(ext_store_of(object), NULL, &err) : PyLong_FromUnsignedLongLong(overflowed);
	ext_handle_release(object);
	return answer;
}
