#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Who knows where files go: a database, or a plan without one. */
typedef struct planner {
	const sherd_graph *graph; /* or NULL */
	const sherd_graph_plan *plan;
	uint32_t shards;
} planner;

/* The number, and the name where there is one; false when the file's directory has no shard yet. */
static bool shard_of(const planner *p, const char *file, uint32_t *shard, const char **name)
{
	sherd_graph_text text = sherd_graph_text_of(file);
	*shard = p->graph ? sherd_graph_shard_of(p->graph, text) : sherd_graph_plan_shard(p->plan, text);
	*name = "";
	if (*shard >= p->shards)
		return false;
	*name = p->graph ? sherd_graph_shard_name(p->graph, *shard) : sherd_graph_plan_name(p->plan, *shard);
	return true;
}

static int graph_plan_print(cli_state *cli, const planner *p, char *const *files, int count, sherd_error *err)
{
	static const char *const heads[] = {"shard", "name", "file"};
	cli_table table = {.columns = COUNT_OF(heads), .right = 1u << 0};
	cli_table_add_row(&table, heads);
	for (int i = 0; i < count; i++) {
		uint32_t shard;
		const char *name;
		char number[16] = "new";
		if (shard_of(p, files[i], &shard, &name))
			(void)snprintf(number, sizeof(number), "%" PRIu32, shard);
		cli_table_add(&table, number);
		cli_table_add(&table, name);
		cli_table_add(&table, files[i]);
	}
	return cli_table_print(&table, &cli->out, err);
}

static int graph_plan_put(cli_state *cli, const planner *p, char *const *files, int count, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_u64(&doc, "shards", p->shards);
	cli_doc_put_open(&doc, "files", '[');
	for (int i = 0; i < count; i++) {
		uint32_t shard;
		const char *name;
		bool known = shard_of(p, files[i], &shard, &name);
		cli_doc_open(&doc, '{');
		cli_doc_put_text(&doc, "file", files[i]);
		cli_doc_key(&doc, "shard");
		if (known)
			cli_doc_u64(&doc, shard);
		else
			cli_doc_raw(&doc, "null");
		if (*name)
			cli_doc_put_text(&doc, "name", name);
		cli_doc_close(&doc, '}');
	}
	cli_doc_close(&doc, ']');
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int graph_plan_tell(cli_state *cli, const planner *p, char *const *files, int count, sherd_error *err)
{
	return cli->out.json ? graph_plan_put(cli, p, files, count, err) : graph_plan_print(cli, p, files, count, err);
}

static int add_files(sherd_graph_plan *plan, char *const *files, int count, sherd_error *err)
{
	CLI_AUTO_FREE sherd_graph_text *texts = calloc((size_t)count, sizeof(*texts));
	if (!texts)
		return cli_no_memory(err);
	for (int i = 0; i < count; i++)
		texts[i] = sherd_graph_text_of(files[i]);
	return sherd_graph_plan_add(plan, texts, (size_t)count, err);
}

static int run_without_database(cli_state *cli, const cli_args *args, sherd_error *err)
{
	sherd_graph_layout layout;
	CLI_AUTO(sherd_graph_plan, sherd_graph_plan_close) plan = NULL;
	TRY(cli_db_take_layout(args, &layout, err));
	TRY(sherd_graph_plan_open(&plan, &layout, err));
	TRY(add_files(plan, args->operands, args->count, err));
	const planner p = {.plan = plan, .shards = sherd_graph_plan_shards(plan)};
	return graph_plan_tell(cli, &p, args->operands, args->count, err);
}

static int graph_plan_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	sherd_graph_totals totals;
	if (cli_args_has(args, "planner") || cli_args_has(args, "shards") || cli_args_has(args, "min-files"))
		return run_without_database(cli, args, err);
	if (args->count < 2)
		return cli_usage(err, "which files? DB FILE..., or --planner PLANNER FILE... without a database");
	TRY(cli_db_open_reader(&db, cli, args, err));
	TRY(cli_db_blame(&db, sherd_graph_stats(&totals, db.graph, err), err));
	const planner p = {.graph = db.graph, .shards = totals.shards};
	return graph_plan_tell(cli, &p, args->operands + 1, args->count - 1, err);
}

static const cli_option options[] = {
	CLI_LAYOUT_OPTIONS,
};

const cli_command cli_command_graph_plan = {
	.name = "graph plan",
	.operands = "[DB] FILE...",
	.summary = "Prints which shard the nodes of each file go to",
	.details = "With --planner, --shards or --min-files there is no DB: all operands are files of a new database,\n"
		   "planned together. \"new\" is a directory that has no shard yet: it gets one when it is written.\n",
	.run = graph_plan_run,
	CLI_OPTIONS(options),
};
