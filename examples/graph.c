/* Keeps a small code graph: imports it, asks it, replaces one file, looks at what changed, compacts: graph FOLDER */
#include <sherd/sherd.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const lines[] = {
	"{\"id\":\"login\",\"nodeType\":\"FUNCTION\",\"name\":\"login\",\"file\":\"src/auth/login.ts\"}",
	"{\"id\":\"check\",\"nodeType\":\"FUNCTION\",\"name\":\"check\",\"file\":\"src/auth/login.ts\"}",
	"{\"id\":\"route\",\"nodeType\":\"FUNCTION\",\"name\":\"route\",\"file\":\"src/api/routes.ts\"}",
	"{\"src\":\"route\",\"dst\":\"login\",\"edgeType\":\"CALLS\",\"metadata\":{\"line\":12}}",
	"{\"src\":\"login\",\"dst\":\"check\",\"edgeType\":\"CALLS\"}",
};

static sherd_graph_id id(const char *text)
{
	return sherd_graph_id_of(text, strlen(text));
}

static sherd_graph_commit_options now(void)
{
	sherd_graph_commit_options commit = {.time_ns = (int64_t)time(NULL) * 1000000000};
	return commit;
}

/* ---- import: records from lines of JSON, one version */

static int add_records(sherd_graph *graph, const sherd_graph_lines *records, sherd_error *err)
{
	const sherd_graph_node *nodes;
	const sherd_graph_edge *edges;
	size_t count = sherd_graph_lines_nodes(&nodes, records);
	int rc = sherd_graph_add_nodes(graph, nodes, count, err);
	if (rc < 0)
		return rc;
	count = sherd_graph_lines_edges(&edges, records);
	return sherd_graph_add_edges(graph, edges, count, err);
}

static int import(sherd_graph *graph, sherd_error *err)
{
	sherd_graph_lines *records = NULL;
	sherd_graph_commit_options commit = now();
	int rc = sherd_graph_lines_open(&records, NULL, err);
	for (size_t i = 0; rc >= 0 && i < sizeof(lines) / sizeof(lines[0]); i++)
		rc = sherd_graph_lines_add(records, SHERD_GRAPH_ANY, lines[i], strlen(lines[i]), err);
	if (rc >= 0)
		rc = add_records(graph, records, err);
	sherd_graph_lines_close(records);
	return rc < 0 ? rc : sherd_graph_flush(graph, &commit, err);
}

/* ---- query: who calls what? */

typedef struct callers {
	const sherd_graph *graph;
	int count;
} callers;

static bool show_caller(void *arg, const sherd_graph_edge *edge)
{
	callers *c = arg;
	sherd_graph_node node;
	c->count++;
	if (sherd_graph_get(&node, c->graph, edge->src, NULL) > 0)
		(void)printf("  called by %.*s in %.*s\n", (int)node.name.len, node.name.ptr, (int)node.file.len,
		             node.file.ptr);
	return true;
}

static int count_callers(const sherd_graph *graph, const char *of, sherd_error *err)
{
	const sherd_graph_text calls = sherd_graph_text_of("CALLS");
	const sherd_graph_types types = {&calls, 1};
	callers c = {graph, 0};
	(void)printf("version %" PRIu64 ", %s:\n", sherd_graph_version(graph), of);
	int rc = sherd_graph_incoming(graph, id(of), &types, show_caller, &c, err);
	return rc < 0 ? rc : c.count;
}

/* ---- update: everything of one file, in one version */

static int replace_file(sherd_graph *graph, sherd_error *err)
{
	sherd_graph_text file = sherd_graph_text_of("src/auth/login.ts");
	sherd_graph_node nodes[] = {{.id = id("login"), .file = file}, {.id = id("audit"), .file = file}};
	sherd_graph_edge edge = {.src = id("login"), .dst = id("audit"), .type = sherd_graph_text_of("CALLS")};
	sherd_graph_update_result change;
	sherd_graph_commit_options commit = now();
	for (size_t i = 0; i < 2; i++)
		nodes[i].type = sherd_graph_text_of("FUNCTION");
	nodes[0].name = nodes[0].semantic_id = sherd_graph_text_of("login");
	nodes[1].name = nodes[1].semantic_id = sherd_graph_text_of("audit");
	int rc = sherd_graph_update_file(graph, file, nodes, 2, &edge, 1, &change, err);
	if (rc == SHERD_OK)
		(void)printf("update: %" PRIu64 " node added, %" PRIu64 " removed\n", change.nodes_added,
		             change.nodes_removed);
	return rc < 0 ? rc : sherd_graph_flush(graph, &commit, err);
}

/* ---- all of it */

static int work(sherd_store *store, sherd_graph **graph, sherd_error *err)
{
	sherd_graph_commit_options commit = now();
	sherd_graph_gc_result collected;
	int rc = sherd_graph_create(store, "code.rfdb", NULL, commit.time_ns, err);
	if (rc == SHERD_OK)
		rc = sherd_graph_open(graph, store, "code.rfdb", NULL, err);
	if (rc == SHERD_OK)
		rc = import(*graph, err);
	if (rc == SHERD_OK && (rc = count_callers(*graph, "check", err)) >= 0)
		rc = rc == 1 ? replace_file(*graph, err) : SHERD_ECORRUPT;
	/* login calls audit now, and check is gone; who called login still does. */
	if (rc == SHERD_OK && (rc = count_callers(*graph, "login", err)) >= 0)
		rc = rc == 1 && sherd_graph_exists(*graph, id("check"), err) == 0 ? SHERD_OK : SHERD_ECORRUPT;
	if (rc == SHERD_OK)
		rc = sherd_graph_compact(*graph, &commit, err);
	if (rc == SHERD_OK)
		rc = sherd_graph_gc(*graph, NULL, &collected, err);
	if (rc == SHERD_OK)
		(void)printf("compacted; %" PRIu64 " versions collected\n", collected.versions);
	return rc;
}

int main(int argc, char **argv)
{
	sherd_error err = {.message = "something is not as it was added"};
	sherd_store *store = NULL;
	sherd_graph *graph = NULL;
	if (argc != 2)
		return 2;
	int rc = sherd_store_open_local(&store, argv[1], NULL, &err);
	if (rc == SHERD_OK)
		rc = work(store, &graph, &err);
	if (rc < 0)
		(void)fprintf(stderr, "graph: %s: %s\n", err.object, err.message);
	sherd_graph_close(graph);
	sherd_store_close(store);
	return rc < 0;
}
