#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

typedef int transfer_fn(sherd_store *from, const char *from_folder, sherd_store *to, const char *to_folder,
                        const sherd_graph_transfer_options *options, sherd_graph_transfer_result *result,
                        sherd_error *err);

typedef struct transferring {
	transfer_fn *run;
	const char *verb;
	cli_place from, to;
} transferring;

static int tell_transfer(cli_state *cli, const transferring *t, const char *const *paths,
                         const sherd_graph_transfer_result *r, sherd_error *err)
{
	char size[CLI_TEXT_SIZE];
	cli_text_size(r->bytes, size);
	if (r->changed)
		cli_out_note(&cli->out,
		             "%s: version %" PRIu64 " %s as version %" PRIu64 " of %s: %" PRIu64
		             " segment%s, %s; %" PRIu64 " %s there",
		             paths[0], r->source, t->verb, r->version, paths[1], r->segments,
		             cli_text_plural(r->segments), size, r->reused, r->reused == 1 ? "was" : "were");
	else
		cli_out_note(&cli->out, "%s: version %" PRIu64 " says the same as version %" PRIu64 " of %s", paths[0],
		             r->source, r->version, paths[1]);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "from", paths[0]);
	cli_doc_put_text(&doc, "to", paths[1]);
	cli_doc_put_u64(&doc, "source", r->source);
	cli_doc_put_u64(&doc, "version", r->version);
	cli_doc_put_u64(&doc, "segments", r->segments);
	cli_doc_put_u64(&doc, "bytes", r->bytes);
	cli_doc_put_u64(&doc, "reused", r->reused);
	cli_doc_put_bool(&doc, "created", r->created);
	cli_doc_put_bool(&doc, "changed", r->changed);
	return cli_doc_end(&doc, SHERD_OK, err);
}

/* The version of --at: a tag is looked for in the source. */
static int transfer_version(cli_state *cli, const cli_args *args, uint64_t *out, sherd_error *err)
{
	const char *at = cli_args_text(args, "at");
	CLI_AUTO_DB db = {0};
	if (!at)
		return SHERD_OK;
	TRY(cli_db_open_version(&db, cli, args, at, err));
	*out = sherd_graph_version(db.graph);
	return SHERD_OK;
}

static int transfer_places(cli_state *cli, const cli_args *args, transferring *t, sherd_graph_transfer_result *result,
                           sherd_error *err)
{
	sherd_graph_transfer_options o = {
		.replace = cli_args_has(args, "replace"), .pool = cli->pool, .progress = &cli->progress};
	TRY(cli_clock_time(&o.time_ns, err));
	TRY(transfer_version(cli, args, &o.version, err));
	TRY(cli_place_open_any(&t->from, args->operands[0], false, err));
	TRY(cli_place_open_any(&t->to, args->operands[1], true, err));
	int rc = t->run(t->from.store, t->from.key, t->to.store, t->to.key, &o, result, err);
	cli_out_clear_bar(&cli->out);
	const cli_place *blamed = rc < 0 && err->store == t->from.store ? &t->from : &t->to;
	if (rc == SHERD_ENOTFOUND && blamed == &t->from && strcmp(err->reason, "not-found") == 0 &&
	    strstr(err->object, "current.json"))
		cli_fill(err, SHERD_ENOTFOUND, "not-found", "there is no graph database");
	return cli_place_blame(blamed, rc, err);
}

static int transfer_run(cli_state *cli, const cli_args *args, transferring *t, sherd_error *err)
{
	sherd_graph_transfer_result result = {0};
	const char *const paths[] = {args->operands[0], args->operands[1]};
	int rc = transfer_places(cli, args, t, &result, err);
	cli_place_close(&t->from);
	cli_place_close(&t->to);
	return rc < 0 ? rc : tell_transfer(cli, t, paths, &result, err);
}

static int push_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	return transfer_run(cli, args, &(transferring){.run = sherd_graph_push, .verb = "pushed"}, err);
}

static int pull_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	return transfer_run(cli, args, &(transferring){.run = sherd_graph_pull, .verb = "pulled"}, err);
}

static const cli_option transfer_options[] = {
	{"at", "VERSION", "send this version: its number, or a tag KEY=VALUE (default: the current one)", 0},
	{"replace", NULL, "also where the other one holds what this one never had, which is lost then", 0},
};

const cli_command cli_command_graph_push = {
	.name = "graph push",
	.operands = "DB REMOTE",
	.summary = "Publishes a version in another place, such as a bucket",
	.details = "Sends the segments that the version there does not name, and makes it current in one step. Of two "
		   "who\n"
		   "push at once one wins.\n",
	.run = push_run,
	CLI_OPTIONS(transfer_options),
};

const cli_command cli_command_graph_pull = {
	.name = "graph pull",
	.operands = "REMOTE DB",
	.summary = "Brings a database up to date with one in another place",
	.details = "Fetches the segments that are missing, and makes what is current there the next version here.\n",
	.run = pull_run,
	CLI_OPTIONS(transfer_options),
};
