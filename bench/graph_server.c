#include "graph_server.h"

#include "folder.h"
#include "measure.h"

#include "codec/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "build/rfdb-server/rfdb-server";

/* ---- handing over */

static void put_id(shd_json_writer *w, const char *key, sherd_graph_id id)
{
	char text[SHERD_GRAPH_ID_TEXT];
	sherd_graph_id_format(text, id);
	shd_json_put_key(w, key);
	shd_json_put_string(w, shd_str_of(text));
}

static void put_text(shd_json_writer *w, const char *key, sherd_graph_text text)
{
	shd_json_put_key(w, key);
	shd_json_put_string(w, (shd_str){text.ptr, text.len});
}

static void put_node(shd_json_writer *w, const sherd_graph_node *n)
{
	put_id(w, "id", n->id);
	put_text(w, "semanticId", n->semantic_id);
	put_text(w, "nodeType", n->type);
	put_text(w, "name", n->name);
	put_text(w, "file", n->file);
	put_text(w, "metadata", n->metadata);
}

static void put_edge(shd_json_writer *w, const sherd_graph_edge *e)
{
	put_id(w, "src", e->src);
	put_id(w, "dst", e->dst);
	put_text(w, "edgeType", e->type);
	if (e->metadata.len)
		put_text(w, "metadata", e->metadata);
}

/* One of the two has records. */
static void write_lines(const char *name, const char *ending, const sherd_graph_node *nodes,
                        const sherd_graph_edge *edges, size_t count)
{
	SHD_AUTO_BUF text = {0};
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s.%s", name, ending);
	for (size_t i = 0; i < count; i++) {
		shd_json_writer w;
		shd_json_writer_init(&w, &text);
		shd_json_put_object(&w, true);
		if (nodes)
			put_node(&w, &nodes[i]);
		else
			put_edge(&w, &edges[i]);
		shd_json_put_object_end(&w);
		shd_buf_append(&text, "\n", 1);
	}
	FILE *file = fopen(path, "we");
	if (text.failed || !file || fwrite(text.data, 1, text.len, file) != text.len || fclose(file) != 0)
		bench_fail("cannot write %s", path);
}

static char *hand_over(const graph_server *s, const char *name, const sherd_graph_node *nodes, size_t node_count,
                       const sherd_graph_edge *edges, size_t edge_count)
{
	char *path;
	if (asprintf(&path, "%s/%s", s->folder, name) < 0)
		bench_fail("no memory");
	write_lines(path, "nodes", nodes, NULL, node_count);
	write_lines(path, "edges", NULL, edges, edge_count);
	return path;
}

/* ---- asking */

bool graph_server_start(graph_server *s, const graph_data *d, const char *id)
{
	if (access(program, X_OK) != 0) {
		bench_missing(id, "the real server", "tools/rfdb-server fetches it by npm, or says why not");
		return false;
	}
	s->folder = bench_folder_make();
	char *graph = hand_over(s, "graph", d->nodes, d->node_count, d->edges, d->edge_count);
	bench_python_start(&s->python, (const char *const[]){"bench/graph_server.py", program, graph, NULL});
	free(graph);
	if (bench_python_line(&s->python))
		return true;
	bench_missing(id, "a client of the real server", "needs python3");
	graph_server_stop(s);
	return false;
}

void graph_server_stop(graph_server *s)
{
	bench_python_stop(&s->python);
	bench_folder_remove(s->folder);
}

/* The first number of the answer. */
static double number(const char *answer)
{
	if (answer && strncmp(answer, "failed", 6) != 0)
		return atof(answer);
	bench_note("the real server %s", answer ? answer : "failed: its client ended");
	return -1;
}

double graph_server_load(graph_server *s, const char *folder)
{
	return number(bench_python_ask(&s->python, "load\t%s/real.rfdb", folder));
}

void graph_server_close(graph_server *s)
{
	(void)bench_python_ask(&s->python, "close");
}

double graph_server_look(graph_server *s, const char *what, double *p99)
{
	const char *answer = bench_python_ask(&s->python, "look\t%s", what),
		   *second = answer ? strchr(answer, ' ') : NULL;
	*p99 = second ? atof(second) : -1;
	return number(answer);
}

double graph_server_commit(graph_server *s, const graph_file *f)
{
	char *name = hand_over(s, "commit", f->nodes, GRAPH_FILE_NODES, f->edges, f->edge_count);
	double ms = number(bench_python_ask(&s->python, "commit\t%s\t%s", name, f->path));
	free(name);
	return ms;
}
