#include "commands.h"
#include "graph/db.h"
#include "graph/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static sherd_graph_id graph_query_id_of(const char *text)
{
	return sherd_graph_id_of(text, strlen(text));
}

static int fail_unknown(const cli_db *db, const char *id, sherd_error *err)
{
	return cli_db_blame(db, cli_fail(err, SHERD_ENOTFOUND, "not-found", "there is no node %.200s", id), err);
}

/* ---- node */

static int print_node(cli_state *cli, const cli_db *db, const char *id, sherd_error *err)
{
	sherd_graph_node node;
	cli_records r = {.cli = cli, .err = err};
	int found = cli_db_blame(db, sherd_graph_get(&node, db->graph, graph_query_id_of(id), err), err);
	TRY(found);
	if (!found)
		return fail_unknown(db, id, err);
	(void)cli_records_node(&r, &node);
	return cli_records_done(&r, SHERD_OK);
}

static int run_node(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	TRY(cli_db_open_reader(&db, cli, args, err));
	return print_node(cli, &db, args->operands[1], err);
}

static const cli_option at_options[] = {
	CLI_AT_OPTION,
};

const cli_command cli_command_graph_node = {
	.name = "graph node",
	.operands = "DB ID",
	.summary = "Prints a node as a line of JSON",
	.details = "ID is the text that the node was added under, or the number that stands for it.\n",
	.run = run_node,
	CLI_OPTIONS(at_options),
};

/* ---- cat */

/* Nodes and edges, until nobody wants more. */
static int print_all(cli_state *cli, const cli_db *db, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_records r = {.cli = cli, .err = err, .doc = cli->out.json ? &doc : NULL};
	cli_doc_put_open(&doc, "nodes", '[');
	int rc = sherd_graph_find(db->graph, NULL, cli_records_node, &r, err);
	cli_doc_close(&doc, ']');
	cli_doc_put_open(&doc, "edges", '[');
	if (rc == SHERD_OK && r.rc == SHERD_OK)
		rc = sherd_graph_edges(db->graph, NULL, cli_records_edge, &r, err);
	rc = cli_records_done(&r, cli_db_blame(db, rc, err));
	cli_doc_close(&doc, ']');
	return cli_doc_end(&doc, rc, err);
}

int cli_db_cat(cli_state *cli, const cli_args *args, cli_place *place, sherd_error *err)
{
	CLI_AUTO_DB db = {.path = args->operands[0]};
	const sherd_graph_options options = {.read_only = true, .pool = cli->pool};
	if (cli_args_has(args, "range") || cli_args_has(args, "format"))
		return cli_usage(err, "--range and --format do not go with a graph: its records are lines of JSON");
	TRY(cli_db_open_place(&db, place, &options, err));
	return args->count > 1 ? print_node(cli, &db, args->operands[1], err) : print_all(cli, &db, err);
}

/* ---- find */

/* --limit and --count. */
static int take_bounds(const cli_args *args, cli_records *r, sherd_error *err)
{
	r->count = cli_args_has(args, "count");
	if (r->count && cli_args_has(args, "limit"))
		return cli_usage(err, "--limit and --count do not go together");
	return cli_args_u64(args, "limit", 1, &r->limit, err);
}

static void tell_count(cli_state *cli, const cli_records *r, uint64_t count, int rc)
{
	if (r->count && rc == SHERD_OK && !cli->out.json)
		cli_out_printf(&cli->out, "%" PRIu64 "\n", count);
}

#define BOUND_OPTIONS                                             \
	{"limit", "N", "print at most so many", 0},               \
	{                                                         \
		"count", NULL, "print only how many there are", 0 \
	}

/* One of --X and --X-prefix. */
static int graph_query_take_text(const cli_args *args, const char *name, const char *prefix, sherd_graph_text *text,
                                 bool *is_prefix, sherd_error *err)
{
	*is_prefix = cli_args_has(args, prefix);
	if (*is_prefix && cli_args_has(args, name))
		return cli_usage(err, "--%s and --%s do not go together", name, prefix);
	*text = sherd_graph_text_of(cli_args_text(args, *is_prefix ? prefix : name));
	return SHERD_OK;
}

static int print_found(cli_state *cli, const cli_db *db, const cli_args *args, const sherd_graph_query *query,
                       sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_records r = {.cli = cli, .err = err, .doc = cli->out.json ? &doc : NULL};
	int taken = take_bounds(args, &r, err);
	if (taken < 0)
		return cli_doc_end(&doc, taken, err);
	cli_doc_put_open(&doc, "nodes", '[');
	int rc = cli_db_blame(db, sherd_graph_find(db->graph, query, cli_records_node, &r, err), err);
	rc = cli_records_done(&r, rc);
	cli_doc_close(&doc, ']');
	cli_doc_put_u64(&doc, "count", r.nodes);
	tell_count(cli, &r, r.nodes, rc);
	return cli_doc_end(&doc, rc, err);
}

static int run_find(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	sherd_graph_query query = {0};
	TRY(graph_query_take_text(args, "type", "type-prefix", &query.type, &query.type_prefix, err));
	TRY(graph_query_take_text(args, "file", "file-prefix", &query.file, &query.file_prefix, err));
	TRY(graph_query_take_text(args, "name", "name-prefix", &query.name, &query.name_prefix, err));
	TRY(cli_db_open_reader(&db, cli, args, err));
	return print_found(cli, &db, args, &query, err);
}

static const cli_option find_options[] = {
	{"type", "TYPE", "only nodes of this type", 0},
	{"file", "FILE", "only nodes of this file", 0},
	{"name", "NAME", "only nodes of this name", 0},
	{"type-prefix", "TEXT", "only nodes whose type begins so", 0},
	{"file-prefix", "TEXT", "only nodes whose file begins so", 0},
	{"name-prefix", "TEXT", "only nodes whose name begins so", 0},
	BOUND_OPTIONS,
	CLI_AT_OPTION,
};

const cli_command cli_command_graph_find = {
	.name = "graph find",
	.operands = "DB",
	.summary = "Prints the nodes that fit as lines of JSON",
	.details = "All that is asked for must fit; without any option every node is printed.\n",
	.run = run_find,
	CLI_OPTIONS(find_options),
};

/* ---- out, in */

typedef int walk_fn(const sherd_graph *graph, sherd_graph_id id, const sherd_graph_types *types,
                    sherd_graph_edge_fn *each, void *arg, sherd_error *err);

/* Ids without a node may have edges; an id with neither is a mistake. */
static int check_known(const cli_db *db, const char *id, uint64_t edges, sherd_error *err)
{
	int known = edges ? 1 : cli_db_blame(db, sherd_graph_exists(db->graph, graph_query_id_of(id), err), err);
	return known ? known : fail_unknown(db, id, err);
}

static int print_edges(cli_state *cli, const cli_db *db, walk_fn *walk, const cli_args *args,
                       const sherd_graph_types *types, sherd_error *err)
{
	const char *id = args->operands[1];
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_records r = {.cli = cli,
	                 .err = err,
	                 .doc = cli->out.json ? &doc : NULL,
	                 .graph = db->graph,
	                 .from = graph_query_id_of(id)};
	int taken = take_bounds(args, &r, err);
	if (taken < 0)
		return cli_doc_end(&doc, taken, err);
	cli_doc_put_open(&doc, "edges", '[');
	int rc = cli_db_blame(db, walk(db->graph, graph_query_id_of(id), types, cli_records_edge, &r, err), err);
	rc = cli_records_done(&r, rc);
	cli_doc_close(&doc, ']');
	cli_doc_put_u64(&doc, "count", r.edges);
	if (rc == SHERD_OK)
		rc = check_known(db, id, r.edges, err);
	tell_count(cli, &r, r.edges, rc < 0 ? rc : SHERD_OK);
	return cli_doc_end(&doc, rc, err);
}

static int run_edges(cli_state *cli, const cli_args *args, walk_fn *walk, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	const char *type;
	size_t next = 0;
	sherd_graph_types types = {0};
	CLI_AUTO_FREE sherd_graph_text *list = calloc(args->given_count + 1, sizeof(*list));
	if (!list)
		return cli_no_memory(err);
	while ((type = cli_args_each(args, "type", &next)))
		list[types.count++] = sherd_graph_text_of(type);
	types.list = list;
	TRY(cli_db_open_reader(&db, cli, args, err));
	return print_edges(cli, &db, walk, args, &types, err);
}

static int run_out(cli_state *cli, const cli_args *args, sherd_error *err)
{
	return run_edges(cli, args, sherd_graph_outgoing, err);
}

static int run_in(cli_state *cli, const cli_args *args, sherd_error *err)
{
	return run_edges(cli, args, sherd_graph_incoming, err);
}

static const cli_option edge_options[] = {
	{"type", "TYPE", "only edges of this type; may be repeated", 0},
	BOUND_OPTIONS,
	CLI_AT_OPTION,
};

const cli_command cli_command_graph_out = {
	.name = "graph out",
	.operands = "DB ID",
	.summary = "Prints the edges that begin at a node as lines of JSON",
	.details = "Each with the node at its other end, where there is one, as \"node\".\n",
	.run = run_out,
	CLI_OPTIONS(edge_options),
};

const cli_command cli_command_graph_in = {
	.name = "graph in",
	.operands = "DB ID",
	.summary = "Prints the edges that end at a node as lines of JSON",
	.details = "Each with the node at its other end, where there is one, as \"node\".\n",
	.run = run_in,
	CLI_OPTIONS(edge_options),
};
