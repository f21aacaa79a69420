/* python/src/graph.c - code graphs: open, change, commit. Records come and go as JSON Lines, which the library reads.
 */
#include "ext.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void graph_close(void *graph)
{
	sherd_graph_close(graph);
}

static int64_t wall_ns(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* graph_create(store, folder, shards, planner) */
PyObject *ext_graph_create(PyObject *self, PyObject *args)
{
	PyObject *object;
	const char *folder, *planner;
	unsigned shards;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OsIs:graph_create", &object, &folder, &shards, &planner))
		return NULL;
	sherd_graph_layout layout = {.shards = shards,
	                             .planner = strcmp(planner, "directory") == 0 ? SHERD_GRAPH_DIRECTORY
	                                                                          : SHERD_GRAPH_HASH};
	sherd_store *store = ext_handle_hold(object, EXT_STORE);
	if (!store)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_graph_create(store, folder, &layout, wall_ns(), &err);
	Py_END_ALLOW_THREADS;
	PyObject *answer = rc < 0 ? ext_raise(store, folder, &err) : Py_NewRef(Py_None);
	ext_handle_release(object);
	return answer;
}

/* graph_open(store, folder, read_only, version) -> graph */
PyObject *ext_graph_open(PyObject *self, PyObject *args)
{
	PyObject *object;
	const char *folder;
	int read_only;
	unsigned long long version;
	sherd_graph *graph = NULL;
	sherd_error err;
	(void)self;
	if (!PyArg_ParseTuple(args, "OspK:graph_open", &object, &folder, &read_only, &version))
		return NULL;
	sherd_graph_options options = {.read_only = read_only != 0, .version = version, .pool = ext_pool()};
	sherd_store *store = options.pool ? ext_handle_hold(object, EXT_STORE) : NULL;
	if (!store)
		return NULL;
	int rc;
	Py_BEGIN_ALLOW_THREADS;
	rc = sherd_graph_open(&graph, store, folder, &options, &err);
	Py_END_ALLOW_THREADS;
	PyObject *answer =
		rc < 0 ? ext_raise(store, folder, &err) : ext_handle_new(graph, EXT_GRAPH, graph_close, object, NULL);
	ext_handle_release(object);
	return answer;
}

PyObject *ext_graph_version(PyObject *self, PyObject *args)
{
	PyObject *object;
	(void)self;
	if (!PyArg_ParseTuple(args, "O:graph_version", &object))
		return NULL;
	const sherd_graph *graph = ext_handle_hold(object, EXT_GRAPH);
	if (!graph)
		return NULL;
	unsigned long long version = sherd_graph_version(graph);
	ext_handle_release(object);
	return PyLong_FromUnsignedLongLong(version);
}

/* graph_id(text) -> the number that it stands for */
PyObject *ext_graph_id(PyObject *self, PyObject *args)
{
	const char *text;
	Py_ssize_t len;
	char number[SHERD_GRAPH_ID_TEXT];
	(void)self;
	if (!PyArg_ParseTuple(args, "s#:graph_id", &text, &len))
		return NULL;
	sherd_graph_id_format(number, sherd_graph_id_of(text, (size_t)len));
	return PyLong_FromString(number, NULL, 10);
}

/* ---- calls on an open graph, one at a time where it writes */

typedef struct graph_call {
	ext_call call;
	sherd_graph *graph;
	pthread_mutex_t *mutex;
	sherd_graph_lines *lines;
	const char *text; /* JSON Lines */
	size_t len;
	sherd_graph_text file;
	sherd_graph_update_result result;
	sherd_graph_id *ids;
	size_t id_count;
	uint64_t deleted;
	int (*act)(struct graph_call *g, sherd_error *err);
} graph_call;

static int graph_run(ext_call *call, sherd_error *err)
{
	graph_call *g = (graph_call *)call;
	(void)pthread_mutex_lock(g->mutex);
	int rc = g->act(g, err);
	(void)pthread_mutex_unlock(g->mutex);
	return rc;
}

/* Runs it on the graph of the handle; -1 with an exception. */
static int graph_now(graph_call *g, PyObject *object, PyObject *progress)
{
	g->call.run = graph_run;
	g->graph = ext_handle_hold(object, EXT_GRAPH);
	if (!g->graph)
		return -1;
	g->mutex = &((ext_handle *)object)->mutex;
	int rc = ext_call_long(&g->call, progress);
	if (rc < 0 && rc != EXT_RAISED)
		(void)ext_raise(ext_store_of(object), NULL, &g->call.err);
	sherd_graph_lines_close(g->lines);
	ext_handle_release(object);
	return rc < 0 ? -1 : 0;
}

static int read_lines(graph_call *g, sherd_error *err)
{
	int rc = sherd_graph_lines_open(&g->lines, NULL, err);
	const char *at = g->text, *end = g->text + g->len;
	while (rc >= 0 && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = stop ? (size_t)(stop - at) : (size_t)(end - at);
		rc = sherd_graph_lines_add(g->lines, SHERD_GRAPH_ANY, at, len, err);
		if (rc < 0 && err->offset != SHERD_NO_OFFSET)
			err->offset += (uint64_t)(at - g->text);
		at += len + 1;
	}
	return rc < 0 ? rc : SHERD_OK;
}

static int act_add(graph_call *g, sherd_error *err)
{
	const sherd_graph_node *nodes;
	const sherd_graph_edge *edges;
	int rc = read_lines(g, err);
	if (rc < 0)
		return rc;
	size_t node_count = sherd_graph_lines_nodes(&nodes, g->lines),
	       edge_count = sherd_graph_lines_edges(&edges, g->lines);
	rc = sherd_graph_add_nodes(g->graph, nodes, node_count, err);
	return rc < 0 ? rc : sherd_graph_add_edges(g->graph, edges, edge_count, err);
}

static int act_update(graph_call *g, sherd_error *err)
{
	const sherd_graph_node *nodes;
	const sherd_graph_edge *edges;
	int rc = read_lines(g, err);
	if (rc < 0)
		return rc;
	size_t node_count = sherd_graph_lines_nodes(&nodes, g->lines),
	       edge_count = sherd_graph_lines_edges(&edges, g->lines);
	return sherd_graph_update_file(g->graph, g->file, nodes, node_count, edges, edge_count, &g->result, err);
}

static int act_delete_file(graph_call *g, sherd_error *err)
{
	return sherd_graph_delete_file(g->graph, g->file, &g->result, err);
}

static int act_delete_nodes(graph_call *g, sherd_error *err)
{
	return sherd_graph_delete_nodes(g->graph, g->ids, g->id_count, &g->deleted, err);
}

static int act_flush(graph_call *g, sherd_error *err)
{
	sherd_graph_commit_options options = {.time_ns = wall_ns(), .progress = &g->call.progress};
	return sherd_graph_flush(g->graph, &options, err);
}

static int act_compact(graph_call *g, sherd_error *err)
{
	sherd_graph_commit_options options = {.time_ns = wall_ns(), .progress = &g->call.progress};
	return sherd_graph_compact(g->graph, &options, err);
}

/* graph_add(graph, JSON Lines) */
PyObject *ext_graph_add(PyObject *self, PyObject *args)
{
	graph_call g = {.act = act_add};
	PyObject *object;
	Py_ssize_t len;
	(void)self;
	if (!PyArg_ParseTuple(args, "Oy#:graph_add", &object, &g.text, &len))
		return NULL;
	g.len = (size_t)len;
	return graph_now(&g, object, Py_None) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *update_tuple(const sherd_graph_update_result *r)
{
	return Py_BuildValue("(KKKKK)", (unsigned long long)r->nodes_added, (unsigned long long)r->nodes_changed,
	                     (unsigned long long)r->nodes_removed, (unsigned long long)r->edges_added,
	                     (unsigned long long)r->edges_removed);
}

/* graph_update(graph, file, JSON Lines) -> (nodes added, changed, removed, edges added, removed) */
PyObject *ext_graph_update(PyObject *self, PyObject *args)
{
	graph_call g = {.act = act_update};
	PyObject *object;
	Py_ssize_t len, file_len;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os#y#:graph_update", &object, &g.file.ptr, &file_len, &g.text, &len))
		return NULL;
	g.len = (size_t)len;
	g.file.len = (size_t)file_len;
	return graph_now(&g, object, Py_None) < 0 ? NULL : update_tuple(&g.result);
}

/* graph_delete_file(graph, file) -> as graph_update() */
PyObject *ext_graph_delete_file(PyObject *self, PyObject *args)
{
	graph_call g = {.act = act_delete_file};
	PyObject *object;
	Py_ssize_t len;
	(void)self;
	if (!PyArg_ParseTuple(args, "Os#:graph_delete_file", &object, &g.file.ptr, &len))
		return NULL;
	g.file.len = (size_t)len;
	return graph_now(&g, object, Py_None) < 0 ? NULL : update_tuple(&g.result);
}

/* graph_delete_nodes(graph, ids as texts) -> how many were there */
PyObject *ext_graph_delete_nodes(PyObject *self, PyObject *args)
{
	graph_call g = {.act = act_delete_nodes};
	PyObject *object, *list;
	(void)self;
	if (!PyArg_ParseTuple(args, "OO!:graph_delete_nodes", &object, &PyList_Type, &list))
		return NULL;
	g.id_count = (size_t)PyList_Size(list);
	g.ids = calloc(g.id_count + 1, sizeof(*g.ids));
	for (size_t i = 0; g.ids && i < g.id_count; i++) {
		Py_ssize_t len = 0;
		const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, (Py_ssize_t)i), &len);
		if (!text) {
			free(g.ids);
			return NULL;
		}
		g.ids[i] = sherd_graph_id_of(text, (size_t)len);
	}
	int rc = g.ids ? graph_now(&g, object, Py_None) : -1;
	if (!g.ids)
		(void)PyErr_NoMemory();
	free(g.ids);
	return rc < 0 ? NULL : PyLong_FromUnsignedLongLong(g.deleted);
}

/* graph_flush(graph, progress) -> version */
PyObject *ext_graph_flush(PyObject *self, PyObject *args)
{
	graph_call g = {.act = act_flush};
	PyObject *object, *progress;
	(void)self;
	if (!PyArg_ParseTuple(args, "OO:graph_flush", &object, &progress) || graph_now(&g, object, progress) < 0)
		return NULL;
	return PyLong_FromUnsignedLongLong(sherd_graph_version(((ext_handle *)object)->ptr));
}

/* graph_compact(graph, progress) -> version */
PyObject *ext_graph_compact(PyObject *self, PyObject *args)
{
	graph_call g = {.act = act_compact};
	PyObject *object, *progress;
	(void)self;
	if (!PyArg_ParseTuple(args, "OO:graph_compact", &object, &progress) || graph_now(&g, object, progress) < 0)
		return NULL;
	return PyLong_FromUnsignedLongLong(sherd_graph_version(((ext_handle *)object)->ptr));
}
