#include "report/report.h"

#include "base/auto.h"
#include "base/doc.h"
#include "base/text.h"
#include "commands.h"

#include <stdio.h>
#include <string.h>

void cli_report_section(cli_report *r, const char *id, const char *heading)
{
	cli_html_printf(&r->links, "<li><a href=\"#%s\">", id);
	cli_html_text(&r->links, heading);
	cli_html_raw(&r->links, "</a></li>\n");
	cli_html_section(&r->html, id, heading);
}

/* The head of the page, the contents, then the sections. */
static void assemble(cli_html *page, const cli_report *r)
{
	const char *slash = strrchr(r->path, '/'), *name = slash && slash[1] ? slash + 1 : r->path;
	char title[512];
	(void)snprintf(title, sizeof(title), "%.400s - sherd report", name);
	cli_html_begin(page, title);
	cli_html_raw(page, "<header>\n<h1>");
	cli_html_text(page, name);
	cli_html_raw(page, "</h1>\n");
	if (name != r->path) {
		cli_html_raw(page, "<p class=\"name\">");
		cli_html_text(page, r->path);
		cli_html_raw(page, "</p>\n");
	}
	cli_html_raw(page, r->verdict.data ? r->verdict.data : "");
	cli_html_raw(page, "<dl class=\"facts\">\n");
	cli_html_raw(page, r->facts.data ? r->facts.data : "");
	cli_html_raw(page, "</dl>\n<nav aria-label=\"Sections\"><ul>\n");
	cli_html_raw(page, r->links.data ? r->links.data : "");
	cli_html_raw(page, "</ul></nav>\n</header>\n<main id=\"content\">\n");
	cli_html_raw(page, r->html.data ? r->html.data : "");
	cli_html_end(page);
	page->failed |= r->html.failed || r->links.failed || r->facts.failed || r->verdict.failed;
}

static int save_page(const cli_report *r, const cli_html *page, sherd_error *err)
{
	const char *path = cli_args_text(r->args, "output");
	if (strcmp(path, "-") == 0) {
		cli_out_bytes(&r->cli->out, page->data, page->len);
		return SHERD_OK;
	}
	CLI_AUTO_PLACE place = {0};
	TRY(cli_place_open(&place, path, true, err));
	sherd_write_mode mode = cli_args_has(r->args, "replace") ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW;
	return cli_place_blame(&place, sherd_store_put(place.store, place.key, mode, page->data, page->len, err), err);
}

/* What the path is decides which sections there are. */
static int make_sections(cli_report *r, sherd_error *err)
{
	const cli_args *args = r->args;
	sherd_format format;
	TRY(cli_place_blame(r->place, sherd_detect(&format, r->place->store, r->place->key, err), err));
	bool graph = sherd_format_describe(format)->kind == SHERD_KIND_GRAPH;
	if (graph && args->count > 1)
		return cli_usage(err, "reports of two graphs are not made: sherd diff compares them");
	if (args->count > 1)
		TRY(cli_report_difference(r, args->operands[1], err));
	TRY(cli_place_blame(r->place, graph ? cli_report_graph(r, err) : cli_report_tensors(r, err), err));
	return cli_place_blame(r->place, cli_report_verify(r, err), err);
}

static int finish_report(cli_report *r, sherd_error *err)
{
	CLI_AUTO_HTML page = {0};
	char size[CLI_TEXT_SIZE];
	const char *path = cli_args_text(r->args, "output");
	assemble(&page, r);
	if (page.failed)
		return cli_no_memory(err);
	TRY(save_page(r, &page, err));
	cli_text_size(page.len, size);
	cli_doc doc = cli_doc_begin(&r->cli->out);
	cli_doc_put_text(&doc, "path", path);
	cli_doc_put_u64(&doc, "bytes", page.len);
	cli_doc_put_u64(&doc, "errors", r->problems);
	TRY(cli_doc_end(&doc, SHERD_OK, err));
	if (strcmp(path, "-") != 0)
		cli_out_note(&r->cli->out, "%s: a report of %s, %s", path, r->path, size);
	return r->problems ? EXIT_BAD_DATA : EXIT_FINE;
}

static int report_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	if (!cli_args_has(args, "output"))
		return cli_usage(err, "-o says where the report goes; usage: sherd report %s", args->command->operands);
	if (cli->out.json && strcmp(cli_args_text(args, "output"), "-") == 0)
		return cli_usage(err, "--json prints a document of its own: -o - cannot go with it");
	TRY(cli_place_open_any(&place, args->operands[0], false, err));
	cli_report r = {.cli = cli,
	                .args = args,
	                .path = args->operands[0],
	                .place = &place,
	                .quick = cli_args_has(args, "quick")};
	int rc = make_sections(&r, err);
	if (rc >= 0)
		rc = finish_report(&r, err);
	cli_html_done(&r.html);
	cli_html_done(&r.links);
	cli_html_done(&r.facts);
	cli_html_done(&r.verdict);
	return rc;
}

static const cli_option options[] = {
	{"output", "FILE", "where the page goes; - is standard output", 'o'},
	{"replace", NULL, "replace a file that is there", 0},
	{"quick", NULL, "read heads only: no values, no checksums", 0},
};

const cli_command cli_command_report = {
	.name = "report",
	.operands = "PATH [OTHER] -o FILE",
	.summary = "Writes a page that shows what a file or set is like",
	.details = "One page of HTML without scripts that fetches nothing: what it is, where the bytes are, how files "
		   "are\n"
		   "balanced, how values are distributed, what verifying found; with OTHER how the two differ. Of a "
		   "graph\n"
		   "its types, degrees, shards and edges between them. Exit status 1 when verifying found errors.\n",
	.run = report_run,
	CLI_OPTIONS(options),
};
