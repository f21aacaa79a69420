/* python/src/write.c - verify, convert, and saving what lies in memory. */
#include "ext.h"

#include <stdlib.h>
#include <time.h>

PyObject *ext_error_object(const sherd_error *err);

typedef struct verify_call {
	ext_call call;
	sherd_store *store;
	const char *key;
	bool quick;
	sherd_pool *pool;
	sherd_report *report;
} verify_call;

static int verify_run(ext_call *call, sherd_error *err)
{
	verify_call *v = (verify_call *)call;
	sherd_verify_options options = {.quick = v->quick, .pool = v->pool, .progress = &call->progress};
	return sherd_verify(&v->report, v->store, v->key, &options, err);
}

typedef const sherd_error *report_item_fn(const sherd_report *report, size_t index);

static PyObject *report_list(const verify_call *v, report_item_fn *item, size_t count)
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < count; i++) {
		sherd_error err = *item(v->report, i);
		sherd_store_name_error(v->store, v->key, &err);
		PyObject *error = ext_error_object(&err);
		if (!error || PyList_Append(list, error) < 0)
			Py_CLEAR(list);
		Py_XDECREF(error);
	}
	return list;
}

/* verify(store, key, quick, progress) -> (errors, warnings, bytes that were checked) */
PyObject *ext_verify(PyObject *self, PyObject *args)
{
	verify_call v = {.call = {.run = verify_run}};
	PyObject *store, *progress, *answer = NULL;
	int quick;
	(void)self;
	if (!PyArg_ParseTuple(args, "OspO:verify", &store, &v.key, &quick, &progress) || !(v.pool = ext_pool()))
		return NULL;
	v.quick = quick != 0;
	v.store = ext_handle_hold(store, EXT_STORE);
	if (!v.store)
		return NULL;
	int rc = ext_call_long(&v.call, progress);
	if (rc == SHERD_OK)
		answer = Py_BuildValue("(NNK)", report_list(&v, sherd_report_error, sherd_report_errors(v.report)),
		                       report_list(&v, sherd_report_warning, sherd_report_warnings(v.report)),
		                       (unsigned long long)sherd_report_checked_bytes(v.report));
	else if (rc != EXT_RAISED)
		(void)ext_raise(v.store, v.key, &v.call.err);
	sherd_report_close(v.report);
	ext_handle_release(store);
	return answer;
}

typedef struct convert_call {
	ext_call call;
	const sherd_bundle *from;
	sherd_store *store;
	const char *key;
	sherd_format format;
	sherd_convert_options options;
} convert_call;

static int convert_run(ext_call *call, sherd_error *err)
{
	convert_call *c = (convert_call *)call;
	c->options.progress = &call->progress;
	return sherd_convert(c->from, c->store, c->key, c->format, &c->options, err);
}

static int64_t now_ns(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int convert_options(convert_call *c, const char *format, PyObject *dict)
{
	c->format = sherd_format_by_name(format);
	c->options = (sherd_convert_options){
		.shards = (uint32_t)ext_dict_number(dict, "shards", 0),
		.max_shard_bytes = (uint64_t)ext_dict_number(dict, "max_shard_bytes", 0),
		.replace = ext_dict_flag(dict, "replace"),
		.drop_graph = ext_dict_flag(dict, "drop_graph"),
		.compress = ext_dict_flag(dict, "compress") ? SHERD_COMPRESS_DEFLATE : SHERD_COMPRESS_NONE,
		.level = (int)ext_dict_number(dict, "level", 0),
		.without_updater = ext_dict_flag(dict, "without_updater"),
		.drop_pairs = ext_dict_flag(dict, "drop_metadata"),
		.allow_missing = ext_dict_flag(dict, "allow_missing"),
		.time_ns = ext_dict_number(dict, "time_ns", now_ns()),
		.timed = true,
		.framework = ext_dict_text(dict, "framework"),
		.pool = ext_pool(),
	};
	return PyErr_Occurred() ? -1 : 0;
}

static PyObject *convert_now(convert_call *c, PyObject *store, PyObject *progress)
{
	c->store = ext_handle_hold(store, EXT_STORE);
	if (!c->store)
		return NULL;
	int rc = ext_call_long(&c->call, progress);
	if (rc < 0 && rc != EXT_RAISED)
		(void)ext_raise(c->store, c->key, &c->call.err);
	ext_handle_release(store);
	return rc < 0 ? NULL : Py_NewRef(Py_None);
}

/* convert(bundle, store, key, format, options, progress) */
PyObject *ext_convert(PyObject *self, PyObject *args)
{
	convert_call c = {.call = {.run = convert_run}};
	PyObject *bundle, *store, *dict, *progress, *answer = NULL;
	const char *format;
	(void)self;
	if (!PyArg_ParseTuple(args, "OOssO!O:convert", &bundle, &store, &c.key, &format, &PyDict_Type, &dict,
	                      &progress) ||
	    convert_options(&c, format, dict) < 0)
		return NULL;
	c.from = ext_handle_hold(bundle, EXT_BUNDLE);
	if (!c.from)
		return NULL;
	answer = convert_now(&c, store, progress);
	ext_handle_release(bundle);
	return answer;
}

static int make_bundle(sherd_bundle **out, const ext_items *items, const sherd_pair *pairs, size_t pair_count,
                       sherd_error *err)
{
	size_t count = (size_t)items->count;
	sherd_tensor *tensors = calloc(count + 1, sizeof(*tensors));
	const void **data = calloc(count + 1, sizeof(*data));
	int rc = SHERD_ENOMEM;
	for (size_t i = 0; tensors && data && i < count; i++) {
		tensors[i] = items->items[i].tensor;
		data[i] = items->items[i].data;
	}
	sherd_bundle_parts parts = {tensors, data, count, pairs, pair_count};
	if (tensors && data)
		rc = sherd_bundle_make(out, &parts, err);
	else
		*err = (sherd_error){.code = SHERD_ENOMEM, .reason = "no-memory", .message = "out of memory"};
	free(tensors);
	free(data);
	return rc;
}

/* save(items, pairs, store, key, format, options, progress) */
PyObject *ext_save(PyObject *self, PyObject *args)
{
	convert_call c = {.call = {.run = convert_run}};
	PyObject *list, *pair_list, *store, *dict, *progress, *answer = NULL;
	const char *format;
	sherd_pair *pairs;
	ext_items items;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "O!O!OssO!O:save", &PyList_Type, &list, &PyList_Type, &pair_list, &store, &c.key,
	                      &format, &PyDict_Type, &dict, &progress) ||
	    convert_options(&c, format, dict) < 0)
		return NULL;
	Py_ssize_t pair_count = ext_pairs(&pairs, pair_list);
	if (pair_count < 0)
		return NULL;
	if (ext_items_take(&items, list) == 0) {
		sherd_bundle *bundle = NULL;
		if (make_bundle(&bundle, &items, pairs, (size_t)pair_count, &err) < 0) {
			(void)ext_raise(NULL, NULL, &err);
		} else {
			c.from = bundle;
			answer = convert_now(&c, store, progress);
		}
		sherd_bundle_close(bundle);
		ext_items_done(&items);
	}
	free(pairs);
	return answer;
}
