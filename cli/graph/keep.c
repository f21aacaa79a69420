#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- compact */

static int tell_compacted(cli_state *cli, const cli_db *db, uint64_t before, sherd_error *err)
{
	uint64_t version = sherd_graph_version(db->graph);
	if (version == before)
		cli_out_note(&cli->out, "%s: nothing to compact, version %" PRIu64, db->path, version);
	else
		cli_out_note(&cli->out, "%s: compacted, version %" PRIu64, db->path, version);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", db->path);
	cli_doc_put_u64(&doc, "version", version);
	cli_doc_put_bool(&doc, "changed", version != before);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int run_compact(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	sherd_graph_commit_options commit = {.progress = &cli->progress};
	TRY(cli_clock_time(&commit.time_ns, err));
	TRY(cli_db_open_writer(&db, cli, args, err));
	uint64_t before = sherd_graph_version(db.graph);
	int rc = cli_db_blame(&db, sherd_graph_compact(db.graph, &commit, err), err);
	cli_out_clear_bar(&cli->out);
	return rc < 0 ? rc : tell_compacted(cli, &db, before, err);
}

static const cli_option compact_options[] = {
	CLI_WAIT_OPTION,
};

const cli_command cli_command_graph_compact = {
	.name = "graph compact",
	.operands = "DB",
	.summary = "Rewrites every shard without what is dead, as one version",
	.details = "Earlier versions stay until sherd graph gc removes them.\n",
	.run = run_compact,
	CLI_OPTIONS(compact_options),
};

/* ---- gc */

static int tell_collected(cli_state *cli, const cli_db *db, const sherd_graph_gc_result *r, bool dry_run,
                          sherd_error *err)
{
	char size[CLI_TEXT_SIZE], held[64] = "", damaged[96] = "";
	cli_text_size(r->bytes, size);
	if (r->held)
		(void)snprintf(held, sizeof(held), ", %" PRIu64 " more being read", r->held);
	if (r->damaged)
		(void)snprintf(damaged, sizeof(damaged),
		               ", %" PRIu64 " damaged that may be tagged stay%s (--untag removes them)", r->damaged,
		               r->damaged == 1 ? "s" : "");
	cli_out_note(&cli->out, "%s: %" PRIu64 " version%s and %" PRIu64 " file%s %s, %s%s%s", db->path, r->versions,
	             cli_text_plural(r->versions), r->files, cli_text_plural(r->files),
	             dry_run ? "would be removed" : "removed", size, held, damaged);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", db->path);
	cli_doc_put_u64(&doc, "versions", r->versions);
	cli_doc_put_u64(&doc, "files", r->files);
	cli_doc_put_u64(&doc, "bytes", r->bytes);
	cli_doc_put_u64(&doc, "held", r->held);
	cli_doc_put_u64(&doc, "damaged", r->damaged);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int run_gc(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	sherd_graph_gc_options options = {.untag = cli_args_has(args, "untag"),
	                                  .dry_run = cli_args_has(args, "dry-run"),
	                                  .progress = &cli->waiting};
	sherd_graph_gc_result result = {0};
	TRY(cli_args_count(args, "keep", 1, &options.keep, err));
	TRY(options.dry_run ? cli_db_open_reader(&db, cli, args, err) : cli_db_open_writer(&db, cli, args, err));
	TRY(cli_db_blame(&db, sherd_graph_gc(db.graph, &options, &result, err), err));
	return tell_collected(cli, &db, &result, options.dry_run, err);
}

static const cli_option gc_options[] = {
	{"keep", "N", "how many of the newest versions stay (default: 1)", 0},
	{"untag", NULL, "tagged versions go as well", 0},
	{"dry-run", NULL, "only say what would be removed", 0},
	CLI_WAIT_OPTION,
};

const cli_command cli_command_graph_gc = {
	.name = "graph gc",
	.operands = "DB",
	.summary = "Removes old versions, and files that no version names",
	.details = "Tagged versions stay, whole or damaged, and those that somebody reads.\n",
	.run = run_gc,
	CLI_OPTIONS(gc_options),
};

/* ---- versions */

typedef struct listing {
	cli_table *table; /* or NULL */
	cli_doc *doc;
	uint64_t current;
} listing;

static void add_tags(cli_table *table, const sherd_graph_snapshot *s)
{
	size_t len = 1;
	for (size_t i = 0; i < s->tag_count; i++)
		len += strlen(s->tags[i].key) + strlen(s->tags[i].value) + 3;
	char *text = calloc(1, len), *at = text;
	for (size_t i = 0; text && i < s->tag_count; i++)
		at += snprintf(at, len - (size_t)(at - text), "%s%s=%s", i ? ", " : "", s->tags[i].key,
		               s->tags[i].value);
	table->failed |= !text;
	cli_table_add(table, text ? text : "");
	free(text);
}

static bool list_version(void *arg, const sherd_graph_snapshot *s)
{
	listing *l = arg;
	char number[24], when[CLI_TEXT_TIME] = "";
	(void)snprintf(number, sizeof(number), "%" PRId64, s->time_ns / 1000000);
	(void)cli_text_time(number, when);
	if (l->table) {
		(void)snprintf(number, sizeof(number), "%" PRIu64, s->version);
		cli_table_add(l->table, number);
		cli_table_add(l->table, when);
		cli_table_add(l->table, s->version == l->current ? "current" : "");
		add_tags(l->table, s);
		return true;
	}
	cli_doc_open(l->doc, '{');
	cli_doc_put_u64(l->doc, "version", s->version);
	cli_doc_put_text(l->doc, "created", when);
	cli_doc_put_open(l->doc, "tags", '{');
	for (size_t i = 0; i < s->tag_count; i++)
		cli_doc_put_text(l->doc, s->tags[i].key, s->tags[i].value);
	cli_doc_close(l->doc, '}');
	cli_doc_close(l->doc, '}');
	return true;
}

static int print_versions(cli_state *cli, const cli_db *db, uint64_t current, sherd_error *err)
{
	static const char *const heads[] = {"version", "created", "", "tags"};
	CLI_AUTO_TABLE table = {.columns = COUNT_OF(heads), .right = 1u};
	listing l = {.table = &table, .current = current};
	cli_table_add_row(&table, heads);
	TRY(cli_db_blame(db, sherd_graph_versions(db->graph, list_version, &l, err), err));
	return cli_table_print(&table, &cli->out, err);
}

static int put_versions(cli_state *cli, const cli_db *db, uint64_t current, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	listing l = {.doc = &doc};
	if (current)
		cli_doc_put_u64(&doc, "current", current);
	cli_doc_put_open(&doc, "versions", '[');
	int rc = cli_db_blame(db, sherd_graph_versions(db->graph, list_version, &l, err), err);
	cli_doc_close(&doc, ']');
	return cli_doc_end(&doc, rc, err);
}

/* Where the current version cannot be opened that is told, and the others are listed. */
static int open_any(cli_db *db, cli_state *cli, bool *current, sherd_error *err)
{
	sherd_graph_options options = {.read_only = true, .pool = cli->pool};
	cli_place place;
	TRY(cli_place_open_any(&place, db->path, false, err));
	int rc = cli_db_open_place(db, &place, &options, err);
	*current = rc == SHERD_OK;
	if (rc != SHERD_ECORRUPT)
		return rc;
	sherd_error failure = *err;
	options.whole = true;
	TRY(cli_place_open_any(&place, db->path, false, err));
	rc = cli_db_open_place(db, &place, &options, err);
	if (rc == SHERD_OK)
		cli_out_problem(&cli->out, &failure, true);
	else
		*err = failure;
	return rc;
}

static int run_versions(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {.path = args->operands[0]};
	bool current;
	TRY(open_any(&db, cli, &current, err));
	uint64_t version = current ? sherd_graph_version(db.graph) : 0;
	return cli->out.json ? put_versions(cli, &db, version, err) : print_versions(cli, &db, version, err);
}

const cli_command cli_command_graph_versions = {
	.name = "graph versions",
	.operands = "DB",
	.summary = "Lists the versions that can be read, oldest first, and their tags",
	.run = run_versions,
};
