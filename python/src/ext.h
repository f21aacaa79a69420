/* python/src/ext.h - what the files of the extension share.
 *
 * The extension is sherd._core: functions over the public headers, and no more than that. What users see is made of
 * them in Python (python/sherd). It is written for the limited API of CPython 3.11.
 *
 * Threads: everything that may wait runs without the interpreter's lock. A call that may take long runs on a thread of
 * its own, while the caller's waits, so that signals are seen and the caller's callbacks run where they belong. */
#pragma once

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <sherd/sherd.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/* ---- handles: one type for everything that the library opens */

typedef void ext_close_fn(void *handle);

typedef enum ext_kind {
	EXT_STORE = 1,
	EXT_BUNDLE,
	EXT_CKPT,
	EXT_STAGING,
	EXT_JOB,
	EXT_ROWS,
	EXT_CURSOR,
	EXT_ROWS_WRITER,
	EXT_GRAPH
} ext_kind;

typedef struct ext_handle {
	PyObject_HEAD void *ptr; /* NULL: it was closed, and nobody uses it any more */
	ext_close_fn *close;
	PyObject *owner;       /* a handle that has to outlive this one; or NULL */
	PyObject *kept;        /* objects whose memory the library uses; or NULL */
	pthread_mutex_t mutex; /* for what belongs to one thread at a time; taken without the interpreter's lock */
	Py_ssize_t users;
	ext_kind kind;
	bool closing;
	pid_t pid; /* of the process that opened it */
} ext_handle;

extern PyTypeObject *ext_handle_type;
/* Takes ptr, which is closed when that fails. owner and kept may be NULL, and get a reference of their own. */
PyObject *ext_handle_new(void *ptr, ext_kind kind, ext_close_fn *close, PyObject *owner, PyObject *kept);
/* The library's handle, held until ext_handle_release(); NULL and an exception when it is closed or of another kind. */
void *ext_handle_hold(PyObject *object, ext_kind kind);
void ext_handle_release(PyObject *object);
/* Where an error of this handle happened: the store that it was opened on. */
sherd_store *ext_store_of(PyObject *object);

/* ---- memory */

extern PyTypeObject *ext_view_type;
/* Memory of its own, not set to anything. */
PyObject *ext_view_alloc(size_t len);
/* Borrows from a handle, which stays open for it. */
PyObject *ext_view_borrow(PyObject *handle, const void *bytes, size_t len);
int ext_types_init(PyObject *module);

/* ---- errors */

/* Raises what the library said; returns NULL. store names the object, and may be NULL. */
PyObject *ext_raise(const sherd_store *store, const char *key, sherd_error *err);

/* ---- calls */

typedef struct ext_call ext_call;
struct ext_call {
	int (*run)(ext_call *call, sherd_error *err); /* without the interpreter's lock */
	sherd_progress progress;                      /* for the library */
	sherd_error err;
	_Atomic uint64_t done, total;
	_Atomic bool stop;
};
/* Runs it on a thread of its own; progress is None or a callable of (done, total). Returns what run() did, or -100
 * when an exception is set. */
#define EXT_RAISED (-100)
int ext_call_long(ext_call *call, PyObject *progress);
/* The workers of this process; NULL and an exception when they cannot be had. After fork() the child has its own. */
sherd_pool *ext_pool(void);

/* ---- arguments */

/* Bytes that an argument lends: an object with a buffer, or an address, whose memory the caller keeps. */
typedef struct ext_bytes {
	Py_buffer buffer;
	bool held;
	void *ptr;
	size_t len; /* SIZE_MAX of an address */
} ext_bytes;
int ext_bytes_take(ext_bytes *out, PyObject *object, bool writable);
void ext_bytes_done(ext_bytes *bytes);

/* A tuple of numbers; *out is for free(). Returns how many, or -1. */
Py_ssize_t ext_numbers(uint64_t **out, PyObject *tuple);
PyObject *ext_shape(const uint64_t *shape, uint32_t ndim);
/* A list of pairs of texts, which live as long as the list. *out is for free(). */
Py_ssize_t ext_pairs(sherd_pair **out, PyObject *list);
PyObject *ext_pair_list(const sherd_pair *pairs, size_t count);
PyObject *ext_text(const char *text); /* or None; bytes that are no UTF-8 are escaped */
PyObject *ext_text_of(const char *text, size_t len);
sherd_dtype ext_dtype(const char *name);
bool ext_dict_flag(PyObject *dict, const char *name);
/* The value of a name as a number, or the other one; -1 with an exception is told by PyErr_Occurred(). */
int64_t ext_dict_number(PyObject *dict, const char *name, int64_t other);
/* Borrowed from the dict; NULL when it is absent or None. */
const char *ext_dict_text(PyObject *dict, const char *name);

/* Tensors to be saved: a list of (name, dtype, shape, data, global_shape, global_offset). */
typedef struct ext_items {
	sherd_ckpt_item *items;
	ext_bytes *bytes;
	Py_ssize_t count;
} ext_items;
int ext_items_take(ext_items *out, PyObject *list);
void ext_items_done(ext_items *items);

/* ---- what the module offers */

#define EXT_FUNCTIONS(X)                                                                                               \
	X(alloc)                                                                                                       \
	X(dlpack)                                                                                                      \
	X(version)                                                                                                     \
	X(formats)                                                                                                     \
	X(dtypes)                                                                                                      \
	X(format_by_path)                                                                                              \
	X(place) X(store_get) X(store_put) X(detect) X(bundle_open) X(bundle_tensors) X(bundle_format) X(bundle_pairs) \
		X(bundle_values) X(bundle_about) X(bundle_map) X(bundle_load) X(verify) X(convert) X(save) X(stats) X( \
			diff) X(derive) X(arrow_stream) X(set_id) X(ckpt_open) X(ckpt_describe) X(ckpt_tensors)        \
			X(ckpt_pieces) X(ckpt_load) X(ckpt_save_rank) X(ckpt_start_rank) X(job_poll) X(job_wait) X(    \
				job_cancel) X(staging) X(staging_bytes) X(ckpt_wait) X(ckpt_list) X(ckpt_prune)        \
				X(ckpt_remove) X(rows_open) X(rows_describe) X(rows_cursor) X(rows_next) X(rows_tell)  \
					X(rows_begin_epoch) X(rows_skip) X(rows_gather) X(rows_writer) X(rows_append)  \
						X(rows_flush) X(rows_commit) X(graph_create) X(graph_open)             \
							X(graph_version) X(graph_get) X(graph_find) X(graph_edges)     \
								X(graph_walk) X(graph_add) X(graph_update) X(          \
									graph_delete_file) X(graph_delete_nodes)       \
									X(graph_flush) X(graph_compact) X(graph_stats) \
										X(graph_versions) X(graph_tag)         \
											X(graph_id)
#define EXT_DECLARE(name) PyObject *ext_##name(PyObject *self, PyObject *args);
EXT_FUNCTIONS(EXT_DECLARE)
