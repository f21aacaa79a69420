#include "commands.h"
#include "graph/db.h"
#include "graph/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static sherd_graph_id id_of(const char *text)
{
	return sherd_graph_id_of(text, strlen(text));
}

static int fail_unknown(const sherd_db *db, const char *id, sherd_error *err)
{
	return sherd_db_blame(db, sherd_cli_fail(err, SHERD_ENOTFOUND, "not-found", "there is no node %.200s", id),
	                      err);
}

/* ---- node */

static int print_node(sherd_cli *cli, const sherd_db *db, const char *id, sherd_error *err)
{
	sherd_graph_node node;
	sherd_records r = {.cli = cli, .err = err};
	int found = sherd_db_blame(db, sherd_graph_get(db->graph, id_of(id), &node, err), err);
	TRY(found);
	if (!found)
		return fail_unknown(db, id, err);
	(void)sherd_records_node(&r, &node);
	return sherd_records_done(&r, SHERD_OK);
}

static int run_node(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	sherd_db db;
	TRY(sherd_db_open_reader(&db, cli, args, err));
	int rc = print_node(cli, &db, args->operands[1], err);
	sherd_db_close(&db);
	return rc;
}

static const sherd_option at_options[] = {
	SHERD_AT_OPTION,
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_graph_node = {
	.name = "graph node",
	.operands = "DB ID",
	.summary = "Prints a node as a line of JSON",
	.details = "ID is the text that the node was added under, or the number that stands for it.\n",
	.least = 2,
	.most = 2,
	.run = run_node,
	.options = at_options,
};

/* ---- cat */

/* Nodes and edges, until nobody wants more. */
static int print_all(sherd_cli *cli, const sherd_db *db, sherd_error *err)
{
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_records r = {.cli = cli, .err = err, .doc = cli->out.json ? &doc : NULL};
	sherd_doc_put_open(&doc, "nodes", '[');
	int rc = sherd_graph_find(db->graph, NULL, sherd_records_node, &r, err);
	sherd_doc_close(&doc, ']');
	sherd_doc_put_open(&doc, "edges", '[');
	if (rc == SHERD_OK && r.rc == SHERD_OK)
		rc = sherd_graph_edges(db->graph, NULL, sherd_records_edge, &r, err);
	rc = sherd_records_done(&r, sherd_db_blame(db, rc, err));
	sherd_doc_close(&doc, ']');
	return sherd_doc_end(&doc, rc, err);
}

int sherd_db_cat(sherd_cli *cli, const sherd_args *args, sherd_place *place, sherd_error *err)
{
	sherd_db db = {.path = args->operands[0]};
	const sherd_graph_options options = {.read_only = true, .pool = cli->pool};
	if (sherd_args_has(args, "range") || sherd_args_has(args, "format"))
		return sherd_cli_usage(err,
		                       "--range and --format do not go with a graph: its records are lines of JSON");
	TRY(sherd_db_open_place(&db, place, &options, err));
	int rc = args->count > 1 ? print_node(cli, &db, args->operands[1], err) : print_all(cli, &db, err);
	sherd_db_close(&db);
	return rc;
}

/* ---- find */

/* --limit and --count. */
static int take_bounds(const sherd_args *args, sherd_records *r, sherd_error *err)
{
	r->count = sherd_args_has(args, "count");
	if (r->count && sherd_args_has(args, "limit"))
		return sherd_cli_usage(err, "--limit and --count do not go together");
	return sherd_args_u64(args, "limit", 1, &r->limit, err);
}

static void tell_count(sherd_cli *cli, const sherd_records *r, uint64_t count, int rc)
{
	if (r->count && rc == SHERD_OK && !cli->out.json)
		sherd_out_printf(&cli->out, "%" PRIu64 "\n", count);
}

#define BOUND_OPTIONS                                             \
	{"limit", "N", "print at most so many", 0},               \
	{                                                         \
		"count", NULL, "print only how many there are", 0 \
	}

/* One of --X and --X-prefix. */
static int take_text(const sherd_args *args, const char *name, const char *prefix, sherd_graph_text *text,
                     bool *is_prefix, sherd_error *err)
{
	*is_prefix = sherd_args_has(args, prefix);
	if (*is_prefix && sherd_args_has(args, name))
		return sherd_cli_usage(err, "--%s and --%s do not go together", name, prefix);
	*text = sherd_graph_text_of(sherd_args_text(args, *is_prefix ? prefix : name));
	return SHERD_OK;
}

static int print_found(sherd_cli *cli, const sherd_db *db, const sherd_args *args, const sherd_graph_query *query,
                       sherd_error *err)
{
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_records r = {.cli = cli, .err = err, .doc = cli->out.json ? &doc : NULL};
	int taken = take_bounds(args, &r, err);
	if (taken < 0)
		return sherd_doc_end(&doc, taken, err);
	sherd_doc_put_open(&doc, "nodes", '[');
	int rc = sherd_db_blame(db, sherd_graph_find(db->graph, query, sherd_records_node, &r, err), err);
	rc = sherd_records_done(&r, rc);
	sherd_doc_close(&doc, ']');
	sherd_doc_put_u64(&doc, "count", r.nodes);
	tell_count(cli, &r, r.nodes, rc);
	return sherd_doc_end(&doc, rc, err);
}

static int run_find(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	sherd_db db;
	sherd_graph_query query = {0};
	TRY(take_text(args, "type", "type-prefix", &query.type, &query.type_prefix, err));
	TRY(take_text(args, "file", "file-prefix", &query.file, &query.file_prefix, err));
	TRY(take_text(args, "name", "name-prefix", &query.name, &query.name_prefix, err));
	TRY(sherd_db_open_reader(&db, cli, args, err));
	int rc = print_found(cli, &db, args, &query, err);
	sherd_db_close(&db);
	return rc;
}

static const sherd_option find_options[] = {
	{"type", "TYPE", "only nodes of this type", 0},
	{"file", "FILE", "only nodes of this file", 0},
	{"name", "NAME", "only nodes of this name", 0},
	{"type-prefix", "TEXT", "only nodes whose type begins so", 0},
	{"file-prefix", "TEXT", "only nodes whose file begins so", 0},
	{"name-prefix", "TEXT", "only nodes whose name begins so", 0},
	BOUND_OPTIONS,
	SHERD_AT_OPTION,
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_graph_find = {
	.name = "graph find",
	.operands = "DB",
	.summary = "Prints the nodes that fit as lines of JSON",
	.details = "All that is asked for must fit; without any option every node is printed.\n",
	.least = 1,
	.most = 1,
	.run = run_find,
	.options = find_options,
};

/* ---- out, in */

typedef int walk_fn(const sherd_graph *graph, sherd_graph_id id, const sherd_graph_types *types,
                    sherd_graph_edge_fn *each, void *arg, sherd_error *err);

/* Ids without a node may have edges; an id with neither is a mistake. */
static int check_known(const sherd_db *db, const char *id, uint64_t edges, sherd_error *err)
{
	int known = edges ? 1 : sherd_db_blame(db, sherd_graph_exists(db->graph, id_of(id), err), err);
	return known ? known : fail_unknown(db, id, err);
}

static int print_edges(sherd_cli *cli, const sherd_db *db, walk_fn *walk, const sherd_args *args,
                       const sherd_graph_types *types, sherd_error *err)
{
	const char *id = args->operands[1];
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_records r = {
		.cli = cli, .err = err, .doc = cli->out.json ? &doc : NULL, .graph = db->graph, .from = id_of(id)};
	int taken = take_bounds(args, &r, err);
	if (taken < 0)
		return sherd_doc_end(&doc, taken, err);
	sherd_doc_put_open(&doc, "edges", '[');
	int rc = sherd_db_blame(db, walk(db->graph, id_of(id), types, sherd_records_edge, &r, err), err);
	rc = sherd_records_done(&r, rc);
	sherd_doc_close(&doc, ']');
	sherd_doc_put_u64(&doc, "count", r.edges);
	if (rc == SHERD_OK)
		rc = check_known(db, id, r.edges, err);
	tell_count(cli, &r, r.edges, rc < 0 ? rc : SHERD_OK);
	return sherd_doc_end(&doc, rc, err);
}

static int run_edges(sherd_cli *cli, const sherd_args *args, walk_fn *walk, sherd_error *err)
{
	sherd_db db;
	const char *type;
	size_t next = 0;
	sherd_graph_types types = {0};
	sherd_graph_text *list = calloc(args->given_count + 1, sizeof(*list));
	if (!list)
		return sherd_cli_no_memory(err);
	while ((type = sherd_args_each(args, "type", &next)))
		list[types.count++] = sherd_graph_text_of(type);
	types.list = list;
	int rc = sherd_db_open_reader(&db, cli, args, err);
	if (rc == SHERD_OK) {
		rc = print_edges(cli, &db, walk, args, &types, err);
		sherd_db_close(&db);
	}
	free(list);
	return rc;
}

static int run_out(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	return run_edges(cli, args, sherd_graph_outgoing, err);
}

static int run_in(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	return run_edges(cli, args, sherd_graph_incoming, err);
}

static const sherd_option edge_options[] = {
	{"type", "TYPE", "only edges of this type; may be repeated", 0},
	BOUND_OPTIONS,
	SHERD_AT_OPTION,
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_graph_out = {
	.name = "graph out",
	.operands = "DB ID",
	.summary = "Prints the edges that begin at a node as lines of JSON",
	.details = "Each with the node at its other end, where there is one, as \"node\".\n",
	.least = 2,
	.most = 2,
	.run = run_out,
	.options = edge_options,
};

const sherd_command sherd_command_graph_in = {
	.name = "graph in",
	.operands = "DB ID",
	.summary = "Prints the edges that end at a node as lines of JSON",
	.details = "Each with the node at its other end, where there is one, as \"node\".\n",
	.least = 2,
	.most = 2,
	.run = run_in,
	.options = edge_options,
};
