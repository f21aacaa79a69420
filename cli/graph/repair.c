#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

/* What is lost, as it is told. */
typedef struct losses {
	cli_state *cli;
	const cli_db *db;
	cli_doc *doc;
} losses;

static void graph_repair_tell_lost(void *arg, const sherd_error *what)
{
	losses *l = arg;
	sherd_error named = *what;
	cli_place_name(&l->db->place, &named);
	cli_out_clear_bar(&l->cli->out);
	cli_out_note(&l->cli->out, "lost: %s: %s", named.object, named.message);
	cli_doc_open(l->doc, '{');
	cli_doc_put_text(l->doc, "object", named.object);
	cli_doc_put_text(l->doc, "code", named.reason);
	cli_doc_put_text(l->doc, "message", named.message);
	cli_doc_close(l->doc, '}');
}

/* Whole segments drop out of view with the damaged ones of their version. */
static void tell_totals(cli_state *cli, const char *path, const sherd_graph_repair_result *r, bool dry_run)
{
	const sherd_graph_records *before = &r->before, *after = &r->after;
	char was[96] = "";
	if (before->known)
		(void)snprintf(was, sizeof(was), "%" PRIu64 " node%s and %" PRIu64 " edge%s before, ", before->nodes,
		               cli_text_plural(before->nodes), before->edges, cli_text_plural(before->edges));
	cli_out_note(&cli->out, "%s: %s%" PRIu64 " node%s and %" PRIu64 " edge%s %s", path, was, after->nodes,
	             cli_text_plural(after->nodes), after->edges, cli_text_plural(after->edges),
	             dry_run ? "then" : "now");
}

static void tell_rest(cli_state *cli, const char *path, const sherd_graph_repair_result *r)
{
	if (r->versions || r->older)
		cli_out_note(&cli->out,
		             "%s: the rest stays on disk until sherd graph gc; what tagged versions name until "
		             "sherd graph tag --remove, or gc --untag",
		             path);
}

static void put_totals(cli_doc *doc, const char *name, const sherd_graph_records *totals)
{
	if (!totals->known)
		return;
	cli_doc_put_open(doc, name, '{');
	cli_doc_put_u64(doc, "nodes", totals->nodes);
	cli_doc_put_u64(doc, "edges", totals->edges);
	cli_doc_close(doc, '}');
}

static void graph_repair_tell(cli_state *cli, const char *path, const sherd_graph_repair_result *r, bool dry_run)
{
	if (r->older)
		cli_out_note(&cli->out, "%s: %" PRIu64 " older version%s damaged, and %s given up", path, r->older,
		             r->older == 1 ? " is" : "s are", dry_run ? "would be" : "now");
	if (r->whole == r->found && r->older) {
		if (!dry_run)
			cli_out_note(&cli->out, "%s: version %" PRIu64 " is whole, and current as version %" PRIu64,
			             path, r->whole, r->version);
		tell_rest(cli, path, r);
		return;
	}
	if (r->whole == r->found) {
		cli_out_note(&cli->out, "%s: version %" PRIu64 " is whole: nothing to repair", path, r->whole);
		return;
	}
	if (r->versions)
		cli_out_note(&cli->out, "%s: %" PRIu64 " version%s after %" PRIu64 " cannot be read", path, r->versions,
		             cli_text_plural(r->versions), r->whole);
	if (dry_run)
		cli_out_note(&cli->out, "%s: version %" PRIu64 " would be current again", path, r->whole);
	else
		cli_out_note(&cli->out, "%s: version %" PRIu64 " is current again, as version %" PRIu64, path, r->whole,
		             r->version);
	tell_totals(cli, path, r, dry_run);
	tell_rest(cli, path, r);
}

static int graph_repair(cli_state *cli, const cli_db *db, bool dry_run, sherd_error *err)
{
	sherd_graph_repair_result result = {0};
	cli_doc doc = cli_doc_begin(&cli->out);
	losses l = {.cli = cli, .db = db, .doc = &doc};
	sherd_graph_repair_options options = {.dry_run = dry_run,
	                                      .pool = cli->pool,
	                                      .progress = &cli->progress,
	                                      .lost = graph_repair_tell_lost,
	                                      .lost_arg = &l};
	int rc = cli_clock_time(&options.time_ns, err);
	cli_doc_put_text(&doc, "path", db->path);
	cli_doc_put_open(&doc, "lost", '[');
	if (rc == SHERD_OK)
		rc = cli_db_blame(db, sherd_graph_repair(db->place.store, db->place.key, &options, &result, err), err);
	cli_out_clear_bar(&cli->out);
	cli_doc_close(&doc, ']');
	if (rc == SHERD_OK)
		graph_repair_tell(cli, db->path, &result, dry_run);
	cli_doc_put_u64(&doc, "found", result.found);
	cli_doc_put_u64(&doc, "whole", result.whole);
	cli_doc_put_u64(&doc, "version", result.version);
	cli_doc_put_u64(&doc, "versions", result.versions);
	cli_doc_put_u64(&doc, "older", result.older);
	cli_doc_put_u64(&doc, "nodes", result.nodes);
	cli_doc_put_u64(&doc, "edges", result.edges);
	put_totals(&doc, "before", &result.before);
	put_totals(&doc, "after", &result.after);
	return cli_doc_end(&doc, rc, err);
}

static int graph_repair_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {.path = args->operands[0]};
	TRY(cli_place_open_any(&db.place, db.path, false, err));
	return graph_repair(cli, &db, cli_args_has(args, "dry-run"), err);
}

static const cli_option options[] = {
	{"dry-run", NULL, "only tell what is lost, and which version would be current", 0},
};

const cli_command cli_command_graph_repair = {
	.name = "graph repair",
	.operands = "DB",
	.summary = "Makes the newest version that is whole the current one",
	.details = "What is lost is listed. Nothing that is there is changed or removed: the version is\n"
		   "written once more, under the next number. sherd graph gc then removes the rest, but not\n"
		   "what tagged versions name.\n",
	.run = graph_repair_run,
	CLI_OPTIONS(options),
};
