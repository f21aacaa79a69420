/* python/src/graph_read.c - questions to a graph. What they find is handed to Python in batches: the interpreter's lock
 * is taken once for many records. */
#include "ext.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024 };

/* Texts are borrowed from the graph, which the call holds. */
typedef union record {
	sherd_graph_node node;
	sherd_graph_edge edge;
	struct {
		sherd_graph_id id;
		uint32_t depth;
	} visit;
} record;

typedef PyObject *row_fn(const record *r);

typedef struct ask {
	const sherd_graph *graph;
	PyObject *each; /* takes a list; what is false stops */
	row_fn *row;
	record records[BATCH];
	size_t count;
	bool failed; /* an exception is set in Python's thread state of this thread, kept below */
	PyObject *type, *value, *trace;
} ask;

static PyObject *id_number(sherd_graph_id id)
{
	char text[SHERD_GRAPH_ID_TEXT];
	if (!id.hi)
		return PyLong_FromUnsignedLongLong(id.lo);
	sherd_graph_id_format(text, id);
	return PyLong_FromString(text, NULL, 10);
}

static PyObject *text_of(sherd_graph_text t)
{
	return ext_text_of(t.ptr, t.len);
}

static PyObject *node_row(const record *r)
{
	const sherd_graph_node *n = &r->node;
	return Py_BuildValue("(NNNNNONK)", id_number(n->id), text_of(n->semantic_id), text_of(n->type),
	                     text_of(n->name), text_of(n->file), n->exported ? Py_True : Py_False, text_of(n->metadata),
	                     (unsigned long long)n->content_hash);
}

static PyObject *edge_row(const record *r)
{
	const sherd_graph_edge *e = &r->edge;
	return Py_BuildValue("(NNNN)", id_number(e->src), id_number(e->dst), text_of(e->type), text_of(e->metadata));
}

static PyObject *visit_row(const record *r)
{
	return Py_BuildValue("(NI)", id_number(r->visit.id), r->visit.depth);
}

/* Hands over what has come; false to stop. Called without the interpreter's lock. */
static bool hand_over(ask *a)
{
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *list = PyList_New(0), *answer = NULL;
	for (size_t i = 0; list && i < a->count; i++) {
		PyObject *row = a->row(&a->records[i]);
		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	if (list)
		answer = PyObject_CallFunctionObjArgs(a->each, list, NULL);
	bool more = answer && PyObject_IsTrue(answer) == 1;
	if (!answer) {
		a->failed = true;
		PyErr_Fetch(&a->type, &a->value, &a->trace);
	}
	Py_XDECREF(list);
	Py_XDECREF(answer);
	PyGILState_Release(state);
	a->count = 0;
	return more;
}

static bool take_node(void *arg, const sherd_graph_node *node)
{
	ask *a = arg;
	a->records[a->count++].node = *node;
	return a->count < BATCH || hand_over(a);
}

static bool take_edge(void *arg, const sherd_graph_edge *edge)
{
	ask *a = arg;
	a->records[a->count++].edge = *edge;
	return a->count < BATCH || hand_over(a);
}

static bool take_visit(void *arg, sherd_graph_id id, uint32_t depth)
{
	ask *a = arg;
	a->records[a->count].visit.id = id;
	a->records[a->count++].visit.depth = depth;
	return a->count < BATCH || hand_over(a);
}

typedef struct question {
	ask ask;
	sherd_graph_query query;
	sherd_graph_id id;
	sherd_graph_text *types;
	sherd_graph_types list;
	char kind; /* 'f'ind, 'o'ut, 'i'n, 'a'll edges, 'w'alk */
	sherd_graph_walk_options walk;
	sherd_graph_id *starts;
	size_t start_count;
} question;

static int answer_question(question *q, sherd_error *err)
{
	const sherd_graph *g = q->ask.graph;
	switch (q->kind) {
	case 'f': return sherd_graph_find(g, &q->query, take_node, &q->ask, err);
	case 'o': return sherd_graph_outgoing(g, q->id, &q->list, take_edge, &q->ask, err);
	case 'i': return sherd_graph_incoming(g, q->id, &q->list, take_edge, &q->ask, err);
	case 'w': return sherd_graph_bfs(g, q->starts, q->start_count, &q->walk, take_visit, &q->ask, err);
	default: return sherd_graph_edges(g, &q->list, take_edge, &q->ask, err);
	}
}

static PyObject *ask_now(question *q, PyObject *object)
{
	sherd_error err;
	q->ask.graph = ext_handle_hold(object, EXT_GRAPH);
	if (!q->ask.graph)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
	rc = answer_question(q, &err);
	if (rc >= 0 && !q->ask.failed && q->ask.count)
		(void)hand_over(&q->ask);
	(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
	Py_END_ALLOW_THREADS;
	if (q->ask.failed)
		PyErr_Restore(q->ask.type, q->ask.value, q->ask.trace);
	else if (rc < 0)
		(void)ext_raise(ext_store_of(object), NULL, &err);
	ext_handle_release(object);
	return q->ask.failed || rc < 0 ? NULL : Py_NewRef(Py_None);
}

/* A text or None; and whether it is a prefix. */
static int filter_of(sherd_graph_text *out, PyObject *text)
{
	Py_ssize_t len = 0;
	if (text == Py_None)
		return 0;
	out->ptr = PyUnicode_AsUTF8AndSize(text, &len);
	out->len = (size_t)len;
	return out->ptr ? 0 : -1;
}

/* graph_find(graph, type, file, name, (type is a prefix, file, name), each) */
PyObject *ext_graph_find(PyObject *self, PyObject *args)
{
	PyObject *object, *type, *file, *name;
	int type_prefix, file_prefix, name_prefix;
	(void)self;
	question *q = calloc(1, sizeof(*q));
	if (!q)
		return PyErr_NoMemory();
	q->kind = 'f';
	q->ask.row = node_row;
	PyObject *answer = NULL;
	if (PyArg_ParseTuple(args, "OOOO(ppp)O:graph_find", &object, &type, &file, &name, &type_prefix, &file_prefix,
	                     &name_prefix, &q->ask.each) &&
	    filter_of(&q->query.type, type) == 0 && filter_of(&q->query.file, file) == 0 &&
	    filter_of(&q->query.name, name) == 0) {
		q->query.type_prefix = type_prefix != 0;
		q->query.file_prefix = file_prefix != 0;
		q->query.name_prefix = name_prefix != 0;
		answer = ask_now(q, object);
	}
	free(q);
	return answer;
}

static int types_of(question *q, PyObject *list)
{
	size_t count = (size_t)PyList_Size(list);
	q->types = calloc(count + 1, sizeof(*q->types));
	if (!q->types) {
		(void)PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		if (filter_of(&q->types[i], PyList_GetItem(list, (Py_ssize_t)i)) < 0)
			return -1;
	q->list = (sherd_graph_types){q->types, count};
	return 0;
}

/* graph_edges(graph, "out" | "in" | "all", id, types, each) */
PyObject *ext_graph_edges(PyObject *self, PyObject *args)
{
	PyObject *object, *list, *answer = NULL;
	const char *which, *id;
	Py_ssize_t len;
	(void)self;
	question *q = calloc(1, sizeof(*q));
	if (!q)
		return PyErr_NoMemory();
	q->ask.row = edge_row;
	if (PyArg_ParseTuple(args, "Oss#O!O:graph_edges", &object, &which, &id, &len, &PyList_Type, &list,
	                     &q->ask.each) &&
	    types_of(q, list) == 0) {
		q->kind = which[0];
		q->id = sherd_graph_id_of(id, (size_t)len);
		answer = ask_now(q, object);
	}
	free(q->types);
	free(q);
	return answer;
}

static int starts_of(question *q, PyObject *list)
{
	q->start_count = (size_t)PyList_Size(list);
	q->starts = calloc(q->start_count + 1, sizeof(*q->starts));
	if (!q->starts) {
		(void)PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < q->start_count; i++) {
		sherd_graph_text t = {0};
		if (filter_of(&t, PyList_GetItem(list, (Py_ssize_t)i)) < 0)
			return -1;
		q->starts[i] = sherd_graph_id_of(t.ptr ? t.ptr : "", t.len);
	}
	return 0;
}

/* graph_walk(graph, ids, direction, types, depth, most, each) */
PyObject *ext_graph_walk(PyObject *self, PyObject *args)
{
	PyObject *object, *ids, *list, *answer = NULL;
	int direction;
	unsigned depth;
	Py_ssize_t most;
	(void)self;
	question *q = calloc(1, sizeof(*q));
	if (!q)
		return PyErr_NoMemory();
	q->kind = 'w';
	q->ask.row = visit_row;
	if (PyArg_ParseTuple(args, "OO!iO!InO:graph_walk", &object, &PyList_Type, &ids, &direction, &PyList_Type, &list,
	                     &depth, &most, &q->ask.each) &&
	    types_of(q, list) == 0 && starts_of(q, ids) == 0) {
		q->walk = (sherd_graph_walk_options){.direction = (sherd_graph_direction)direction,
		                                     .types = &q->list,
		                                     .depth = depth,
		                                     .most = (size_t)most};
		answer = ask_now(q, object);
	}
	free(q->starts);
	free(q->types);
	free(q);
	return answer;
}

/* graph_get(graph, id) -> node or None */
PyObject *ext_graph_get(PyObject *self, PyObject *args)
{
	PyObject *object;
	const char *id;
	Py_ssize_t len;
	record r;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os#:graph_get", &object, &id, &len))
		return NULL;
	const sherd_graph *graph = ext_handle_hold(object, EXT_GRAPH);
	if (!graph)
		return NULL;
	pthread_mutex_t *mutex = &((ext_handle *)object)->mutex;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	(void)pthread_mutex_lock(mutex);
	rc = sherd_graph_get(&r.node, graph, sherd_graph_id_of(id, (size_t)len), &err);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(ext_store_of(object), NULL, &err)
	                   : rc   ? node_row(&r)
	                          : Py_NewRef(Py_None);
	(void)pthread_mutex_unlock(mutex);
	ext_handle_release(object);
	return answer;
}

static bool count_type(void *arg, sherd_graph_text type, uint64_t count)
{
	PyObject *dict = arg, *key = text_of(type), *number = PyLong_FromUnsignedLongLong(count);
	bool ok = key && number && PyDict_SetItem(dict, key, number) == 0;
	Py_XDECREF(key);
	Py_XDECREF(number);
	return ok;
}

/* graph_stats(graph) -> {nodes, edges, segments, bytes, shards, node_types, edge_types} */
PyObject *ext_graph_stats(PyObject *self, PyObject *args)
{
	PyObject *object, *answer = NULL;
	sherd_graph_totals totals;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:graph_stats", &object))
		return NULL;
	const sherd_graph *graph = ext_handle_hold(object, EXT_GRAPH);
	if (!graph)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_graph_stats(&totals, graph, &err);
	Py_END_ALLOW_THREADS;
	PyObject *nodes = PyDict_New(), *edges = PyDict_New();
	if (rc >= 0 && nodes && edges) /* counts that are kept: nothing here waits */
		rc = sherd_graph_count_nodes(graph, count_type, nodes, &err);
	if (rc >= 0 && nodes && edges)
		rc = sherd_graph_count_edges(graph, count_type, edges, &err);
	if (rc < 0)
		(void)ext_raise(ext_store_of(object), NULL, &err);
	else if (!PyErr_Occurred())
		answer = Py_BuildValue("{s:K,s:K,s:K,s:K,s:I,s:O,s:O}", "nodes", (unsigned long long)totals.nodes,
		                       "edges", (unsigned long long)totals.edges, "segments",
		                       (unsigned long long)totals.segments, "bytes", (unsigned long long)totals.bytes,
		                       "shards", totals.shards, "node_types", nodes, "edge_types", edges);
	Py_XDECREF(nodes);
	Py_XDECREF(edges);
	ext_handle_release(object);
	return answer;
}

static bool take_version(void *arg, const sherd_graph_snapshot *s)
{
	PyObject *tags = PyDict_New(), *row = NULL;
	for (size_t i = 0; tags && i < s->tag_count; i++) {
		PyObject *value = ext_text(s->tags[i].value);
		if (!value || PyDict_SetItemString(tags, s->tags[i].key, value) < 0)
			Py_CLEAR(tags);
		Py_XDECREF(value);
	}
	if (tags)
		row = Py_BuildValue("(KLN)", (unsigned long long)s->version, (long long)s->time_ns, tags);
	bool ok = row && PyList_Append(arg, row) == 0;
	Py_XDECREF(row);
	return ok;
}

/* graph_versions(graph) -> [(version, time_ns, tags)] */
PyObject *ext_graph_versions(PyObject *self, PyObject *args)
{
	PyObject *object;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:graph_versions", &object))
		return NULL;
	const sherd_graph *graph = ext_handle_hold(object, EXT_GRAPH);
	if (!graph)
		return NULL;
	PyObject *list = PyList_New(0);
	if (list && sherd_graph_versions(graph, take_version, list, &err) < 0) {
		Py_CLEAR(list);
		(void)ext_raise(ext_store_of(object), NULL, &err);
	}
	if (PyErr_Occurred())
		Py_CLEAR(list);
	ext_handle_release(object);
	return list;
}

/* graph_tag(graph, version, key, value or None) */
PyObject *ext_graph_tag(PyObject *self, PyObject *args)
{
	PyObject *object;
	unsigned long long version;
	const char *key, *value;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OKsz:graph_tag", &object, &version, &key, &value))
		return NULL;
	sherd_graph *graph = ext_handle_hold(object, EXT_GRAPH);
	if (!graph)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	(void)pthread_mutex_lock(&((ext_handle *)object)->mutex);
	rc = sherd_graph_set_tag(graph, version, key, value, &err);
	(void)pthread_mutex_unlock(&((ext_handle *)object)->mutex);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(ext_store_of(object), NULL, &err) : Py_NewRef(Py_None);
	ext_handle_release(object);
	return answer;
}
