#include "base/advice.h"
#include "commands.h"
#include "base/doc.h"
#include "base/place.h"
#include "base/text.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all paths together gave. */
typedef struct finding {
	const cli_args *args;
	uint64_t checked;
	size_t errors;
	int failure;                /* of the first path that could not be looked at */
	cli_doc problems, warnings; /* arrays, with --json */
} finding;

static void keep_error(cli_state *cli, const cli_place *place, finding *f, const sherd_error *problem)
{
	sherd_error named = *problem;
	cli_place_name(place, &named);
	if (cli->out.json)
		cli_doc_error(&f->problems, &named);
	else
		cli_out_problem(&cli->out, &named, false);
}

/* A warning, and how many say the same of other objects. */
typedef struct folded {
	const sherd_error *first;
	size_t at; /* of the first in the report */
	size_t count;
} folded;

static int compare_text(const folded *a, const folded *b)
{
	int c = strcmp(a->first->reason, b->first->reason);
	return c ? c : strcmp(a->first->message, b->first->message);
}

static int by_text(const void *left, const void *right)
{
	const folded *a = left, *b = right;
	int c = compare_text(a, b);
	return c ? c : (a->at > b->at) - (a->at < b->at);
}

static int verify_by_place(const void *left, const void *right)
{
	const folded *a = left, *b = right;
	return (a->at > b->at) - (a->at < b->at);
}

/* Returns how many are left. */
static size_t fold(folded *list, size_t count)
{
	size_t kept = 0;
	qsort(list, count, sizeof(*list), by_text);
	for (size_t i = 0; i < count; i++) {
		if (kept && compare_text(&list[kept - 1], &list[i]) == 0)
			list[kept - 1].count++;
		else
			list[kept++] = list[i];
	}
	qsort(list, kept, sizeof(*list), verify_by_place);
	return kept;
}

static void keep_warning(cli_state *cli, const cli_place *place, finding *f, const folded *warning)
{
	sherd_error named = *warning->first;
	cli_advise(f->args, &named);
	size_t len = strlen(named.message);
	cli_place_name(place, &named);
	if (cli->out.json) {
		cli_doc_warning(&f->warnings, &named, warning->count);
		return;
	}
	if (warning->count > 1)
		(void)snprintf(named.message + len, sizeof(named.message) - len, " (and %zu more)", warning->count - 1);
	if (!cli->out.quiet)
		cli_out_problem(&cli->out, &named, true);
}

static int keep_warnings(cli_state *cli, const cli_place *place, finding *f, const sherd_report *report,
                         sherd_error *err)
{
	size_t count = sherd_report_warnings(report);
	CLI_AUTO_FREE folded *list = malloc((count + 1) * sizeof(*list));
	if (!list)
		return cli_no_memory(err);
	for (size_t i = 0; i < count; i++)
		list[i] = (folded){.first = sherd_report_warning(report, i), .at = i, .count = 1};
	count = fold(list, count);
	for (size_t i = 0; i < count; i++)
		keep_warning(cli, place, f, &list[i]);
	return SHERD_OK;
}

static int add_report(cli_state *cli, const char *path, const cli_place *place, const sherd_report *report, finding *f,
                      sherd_error *err)
{
	size_t errors = sherd_report_errors(report), warnings = sherd_report_warnings(report);
	char size[CLI_TEXT_SIZE], counted[64] = "";
	for (size_t i = 0; i < errors; i++)
		keep_error(cli, place, f, sherd_report_error(report, i));
	TRY(keep_warnings(cli, place, f, report, err));
	f->errors += errors;
	f->checked += sherd_report_checked_bytes(report);
	cli_text_size(sherd_report_checked_bytes(report), size);
	if (warnings)
		(void)snprintf(counted, sizeof(counted), ", %zu warning%s", warnings, cli_text_plural(warnings));
	if (errors)
		cli_out_note(&cli->out, "%s: %zu error%s%s, %s checked", path, errors, cli_text_plural(errors), counted,
		             size);
	else
		cli_out_note(&cli->out, "%s: fine%s, %s checked", path, counted, size);
	return SHERD_OK;
}

static int verify_check(cli_state *cli, const char *path, finding *f, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	CLI_AUTO(sherd_report, sherd_report_close) report = NULL;
	sherd_verify_options options = {
		.quick = cli_args_has(f->args, "quick"), .pool = cli->pool, .progress = &cli->progress};
	TRY(cli_place_open_any(&place, path, false, err));
	int rc = cli_place_blame(&place, sherd_verify(&report, place.store, place.key, &options, err), err);
	cli_out_clear_bar(&cli->out);
	return rc < 0 ? rc : add_report(cli, path, &place, report, f, err);
}

/* One of several paths could not be looked at: told, and the others are checked all the same. */
static void pass_over(cli_state *cli, finding *f, const sherd_error *err)
{
	if (cli->out.json)
		cli_doc_error(&f->problems, err);
	else
		cli_out_problem(&cli->out, err, false);
	f->failure = f->failure ? f->failure : err->code;
}

static int print_document(cli_state *cli, finding *f, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_bool(&doc, "ok", f->errors == 0 && !f->failure);
	cli_doc_put_u64(&doc, "checked_bytes", f->checked);
	cli_doc_key(&doc, "errors");
	cli_doc_close(&f->problems, ']');
	cli_doc_move(&doc, &f->problems);
	cli_doc_key(&doc, "warnings");
	cli_doc_close(&f->warnings, ']');
	cli_doc_move(&doc, &f->warnings);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int verify_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	finding f = {.args = args};
	int rc = SHERD_OK;
	cli_doc_open(&f.problems, '[');
	cli_doc_open(&f.warnings, '[');
	for (int i = 0; rc == SHERD_OK && i < args->count; i++) {
		rc = verify_check(cli, args->operands[i], &f, err);
		if (rc < 0 && args->count > 1 && rc != SHERD_ECANCELLED && rc != SHERD_ENOMEM) {
			pass_over(cli, &f, err);
			rc = SHERD_OK;
		}
	}
	if (rc == SHERD_OK)
		rc = print_document(cli, &f, err);
	cli_doc_done(&f.problems);
	cli_doc_done(&f.warnings);
	if (rc < 0)
		return rc;
	return f.errors ? EXIT_BAD_DATA : cli_status(f.failure);
}

static const cli_option options[] = {
	{"quick", NULL, "check only that everything is there, sizes and heads", 0},
};

const cli_command cli_command_verify = {
	.name = "verify",
	.operands = "PATH...",
	.summary = "Checks everything that can be checked",
	.details = "Each problem is one line that names the object and the byte. Exit status 1 if there is any.\n",
	.run = verify_run,
	CLI_OPTIONS(options),
};

const cli_command cli_command_checkpoint_verify = {
	.name = "checkpoint verify",
	.operands = "PREFIX...",
	.summary = "Checks every shard and the metadata; the same as sherd verify",
	.run = verify_run,
	CLI_OPTIONS(options),
};

const cli_command cli_command_rows_verify = {
	.name = "rows verify",
	.operands = "DIR...",
	.summary = "Checks every shard and the manifest; the same as sherd verify",
	.run = verify_run,
	CLI_OPTIONS(options),
};

const cli_command cli_command_graph_verify = {
	.name = "graph verify",
	.operands = "DB...",
	.summary = "Checks every manifest, segment and index; the same as sherd verify",
	.run = verify_run,
	CLI_OPTIONS(options),
};

const cli_command cli_command_model_verify = {
	.name = "model verify",
	.operands = "PATH...",
	.summary = "Checks all that can be checked of a model; the same as sherd verify",
	.run = verify_run,
	CLI_OPTIONS(options),
};
