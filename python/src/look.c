/* python/src/look.c - what values are like, how two sets differ, and one bundle made of several. */
#include "ext.h"

#include <stdlib.h>

/* What was told of tensors, kept until the interpreter's lock is there again. */
typedef struct told {
	size_t tensor;
	sherd_stats stats;
	sherd_diff_kind kind;
	size_t left, right;
	bool compared;
	sherd_diff_values values;
} told;

typedef struct look_call {
	ext_call call;
	const sherd_bundle *bundle, *other;
	size_t *tensors, tensor_count;
	sherd_stats_options stats;
	sherd_diff_options diff;
	sherd_diff_summary summary;
	told *told;
	size_t count, room;
} look_call;

static told *look_add(look_call *l)
{
	if (l->count == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		told *more = realloc(l->told, room * sizeof(*more));
		if (!more)
			return NULL;
		l->told = more;
		l->room = room;
	}
	told *t = &l->told[l->count++];
	*t = (told){0};
	return t;
}

static int look_no_memory(sherd_error *err)
{
	*err = (sherd_error){.code = SHERD_ENOMEM,
	                     .offset = SHERD_NO_OFFSET,
	                     .index = SHERD_NO_INDEX,
	                     .reason = "no-memory",
	                     .message = "out of memory"};
	return SHERD_ENOMEM;
}

static int stats_take(void *arg, size_t tensor, const sherd_stats *stats, sherd_error *err)
{
	told *t = look_add(arg);
	if (!t)
		return look_no_memory(err);
	t->tensor = tensor;
	t->stats = *stats;
	return SHERD_OK;
}

static int stats_run(ext_call *call, sherd_error *err)
{
	look_call *l = (look_call *)call;
	l->stats.progress = &call->progress;
	return sherd_stats_bundle(l->bundle, l->tensors, l->tensor_count, &l->stats, stats_take, l, err);
}

static PyObject *stats_dict(const sherd_stats *s)
{
	PyObject *quantiles = PyList_New(0), *bins = PyList_New(0);
	for (int i = 0; quantiles && i < SHERD_STATS_QUANTILES; i++) {
		PyObject *q = PyFloat_FromDouble(s->quantiles[i]);
		if (!q || PyList_Append(quantiles, q) < 0)
			Py_CLEAR(quantiles);
		Py_XDECREF(q);
	}
	for (int i = 0; bins && i < SHERD_STATS_BINS; i++) {
		PyObject *b = PyLong_FromUnsignedLongLong(s->bins[i]);
		if (!b || PyList_Append(bins, b) < 0)
			Py_CLEAR(bins);
		Py_XDECREF(b);
	}
	if (!quantiles || !bins) {
		Py_XDECREF(quantiles);
		Py_XDECREF(bins);
		return NULL;
	}
	return Py_BuildValue("{s:O,s:K,s:K,s:K,s:K,s:K,s:d,s:d,s:d,s:d,s:d,s:K,s:N,s:N}", "known",
	                     s->known ? Py_True : Py_False, "count", (unsigned long long)s->count, "nan",
	                     (unsigned long long)s->nan, "inf", (unsigned long long)s->inf, "zeros",
	                     (unsigned long long)s->zeros, "finite", (unsigned long long)s->finite, "min", s->min,
	                     "max", s->max, "mean", s->mean, "deviation", s->deviation, "norm", s->norm, "sampled",
	                     (unsigned long long)s->sampled, "quantiles", quantiles, "bins", bins);
}

/* stats(bundle, indices, progress) -> [{count, nan, min, ...}] in this order */
PyObject *ext_stats(PyObject *self, PyObject *args)
{
	look_call l = {.call = {.run = stats_run}};
	PyObject *object, *indices, *progress, *list = NULL;
	uint64_t *numbers;
	(void)self;
	if (!PyArg_ParseTuple(args, "OOO:stats", &object, &indices, &progress) || !(l.stats.pool = ext_pool()))
		return NULL;
	Py_ssize_t count = ext_numbers(&numbers, indices);
	if (count < 0)
		return NULL;
	_Static_assert(sizeof(size_t) == sizeof(uint64_t), "indices are taken as they are");
	l.tensors = (size_t *)numbers;
	l.tensor_count = (size_t)count;
	l.bundle = ext_handle_hold(object, EXT_BUNDLE);
	if (l.bundle) {
		int rc = ext_call_long(&l.call, progress);
		if (rc == SHERD_OK)
			list = PyList_New(0);
		else if (rc != EXT_RAISED)
			(void)ext_raise(ext_store_of(object), NULL, &l.call.err);
		for (size_t i = 0; list && i < l.count; i++) {
			PyObject *row = stats_dict(&l.told[i].stats);
			if (!row || PyList_Append(list, row) < 0)
				Py_CLEAR(list);
			Py_XDECREF(row);
		}
		ext_handle_release(object);
	}
	free(l.told);
	free(numbers);
	return list;
}

static int diff_take(void *arg, const sherd_diff_tensor *d, sherd_error *err)
{
	told *t = look_add(arg);
	if (!t)
		return look_no_memory(err);
	t->kind = d->kind;
	t->left = d->left_index;
	t->right = d->right_index;
	t->compared = d->values != NULL;
	if (d->values)
		t->values = *d->values;
	return SHERD_OK;
}

static int diff_run(ext_call *call, sherd_error *err)
{
	look_call *l = (look_call *)call;
	l->diff.progress = &call->progress;
	return sherd_diff_bundles(&l->summary, l->bundle, l->other, &l->diff, diff_take, l, err);
}

static PyObject *diff_row(const look_call *l, const told *t)
{
	const sherd_tensor *tensor = t->left != SHERD_NO_TENSOR ? sherd_bundle_tensor(l->bundle, t->left)
	                                                        : sherd_bundle_tensor(l->other, t->right);
	PyObject *name = ext_text(tensor ? tensor->name : ""), *values = Py_NewRef(Py_None);
	const sherd_diff_values *v = &t->values;
	if (t->compared) {
		Py_DECREF(values);
		values = Py_BuildValue("{s:O,s:K,s:K,s:K,s:K,s:d,s:K,s:d,s:d}", "numbers",
		                       v->numbers ? Py_True : Py_False, "count", (unsigned long long)v->count,
		                       "different", (unsigned long long)v->different, "first",
		                       (unsigned long long)v->first, "not_finite", (unsigned long long)v->not_finite,
		                       "largest", v->largest, "largest_at", (unsigned long long)v->largest_at,
		                       "relative", v->relative, "cosine", v->cosine);
	}
	if (name && values)
		return Py_BuildValue("(NsN)", name, sherd_diff_kind_name(t->kind), values);
	Py_XDECREF(name);
	Py_XDECREF(values);
	return NULL;
}

/* diff(left, right, {heads, any_dtype, match}, tolerance, relative, progress) -> (equal, [(name, kind, values)]) */
PyObject *ext_diff(PyObject *self, PyObject *args)
{
	look_call l = {.call = {.run = diff_run}};
	PyObject *left, *right, *dict, *progress, *answer = NULL;
	double tolerance, relative;
	(void)self;
	if (!PyArg_ParseTuple(args, "OOO!ddO:diff", &left, &right, &PyDict_Type, &dict, &tolerance, &relative,
	                      &progress))
		return NULL;
	l.diff = (sherd_diff_options){.heads = ext_dict_flag(dict, "heads"),
	                              .any_dtype = ext_dict_flag(dict, "any_dtype"),
	                              .match = ext_dict_text(dict, "match"),
	                              .tolerance = tolerance,
	                              .relative = relative,
	                              .pool = ext_pool()};
	if (PyErr_Occurred() || !(l.bundle = ext_handle_hold(left, EXT_BUNDLE)))
		return NULL;
	l.other = ext_handle_hold(right, EXT_BUNDLE);
	if (l.other) {
		int rc = ext_call_long(&l.call, progress);
		PyObject *list = rc == SHERD_OK ? PyList_New(0) : NULL;
		if (rc < 0 && rc != EXT_RAISED)
			(void)ext_raise(ext_store_of(left), NULL, &l.call.err);
		for (size_t i = 0; list && i < l.count; i++) {
			PyObject *row = diff_row(&l, &l.told[i]);
			if (!row || PyList_Append(list, row) < 0)
				Py_CLEAR(list);
			Py_XDECREF(row);
		}
		if (list)
			answer = Py_BuildValue("(ON)", l.summary.equal ? Py_True : Py_False, list);
		ext_handle_release(right);
	}
	ext_handle_release(left);
	free(l.told);
	return answer;
}

/* ---- one bundle of several */

static void derived_close(void *bundle)
{
	sherd_bundle_close(bundle);
}

/* Texts of a list, which live as long as it does; *out is for free(). */
static Py_ssize_t texts_of(const char ***out, PyObject *dict, const char *name)
{
	PyObject *list = PyDict_GetItemString(dict, name);
	Py_ssize_t count = list ? PyList_Size(list) : 0;
	*out = count < 0 ? NULL : calloc((size_t)count + 1, sizeof(**out));
	if (!*out) {
		if (count >= 0)
			(void)PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < count; i++)
		if (!((*out)[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL)))
			return -1;
	return count;
}

static PyObject *derive_now(PyObject *tuple, const sherd_derive_options *options)
{
	size_t count = (size_t)PyTuple_Size(tuple), held = 0;
	const sherd_bundle **from = calloc(count + 1, sizeof(*from));
	sherd_bundle *made = NULL;
	PyObject *answer = NULL;
	sherd_error err;
	while (from && held < count &&
	       (from[held] = ext_handle_hold(PyTuple_GetItem(tuple, (Py_ssize_t)held), EXT_BUNDLE)))
		held++;
	if (!from)
		return PyErr_NoMemory();
	if (held == count) {
		int rc;
		Py_BEGIN_ALLOW_THREADS;
		rc = sherd_bundle_derive(&made, from, count, options, NULL, &err);
		Py_END_ALLOW_THREADS;
		answer = rc < 0 ? ext_raise(NULL, NULL, &err)
		                : ext_handle_new(made, EXT_BUNDLE, derived_close, PyTuple_GetItem(tuple, 0), tuple);
	}
	for (size_t i = 0; i < held; i++)
		ext_handle_release(PyTuple_GetItem(tuple, (Py_ssize_t)i));
	free(from);
	return answer;
}

/* derive((bundles), {match, exclude, renames, dtype, prefer, drop_graph}) -> bundle, which keeps its sources */
PyObject *ext_derive(PyObject *self, PyObject *args)
{
	PyObject *tuple, *dict, *answer = NULL;
	const char **match = NULL, **exclude = NULL, **renames = NULL;
	(void)self;
	if (!PyArg_ParseTuple(args, "O!O!:derive", &PyTuple_Type, &tuple, &PyDict_Type, &dict))
		return NULL;
	Py_ssize_t matches = texts_of(&match, dict, "match");
	Py_ssize_t excludes = matches < 0 ? -1 : texts_of(&exclude, dict, "exclude");
	Py_ssize_t rename_count = excludes < 0 ? -1 : texts_of(&renames, dict, "renames");
	const char *dtype = ext_dict_text(dict, "dtype");
	if (rename_count >= 0 && !PyErr_Occurred()) {
		sherd_derive_options options = {
			.match = match,
			.match_count = (size_t)matches,
			.exclude = exclude,
			.exclude_count = (size_t)excludes,
			.renames = renames,
			.rename_count = (size_t)rename_count,
			.dtype = dtype ? ext_dtype(dtype) : SHERD_DTYPE_NONE,
			.prefer = (sherd_prefer)ext_dict_number(dict, "prefer", 0),
			.drop_graph = ext_dict_flag(dict, "drop_graph"),
		};
		answer = derive_now(tuple, &options);
	}
	free(match);
	free(exclude);
	free(renames);
	return answer;
}
