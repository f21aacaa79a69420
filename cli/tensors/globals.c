#include "tensors/describe.h"

static const char *const verdicts[] = {"harmless", "unrecognised", "DANGEROUS"};
static const char *const verdict_words[] = {"harmless", "unrecognised", "dangerous"};

int cli_describe_globals(cli_state *cli, const sherd_bundle *bundle, sherd_error *err)
{
	const sherd_global *globals;
	size_t count = sherd_bundle_globals(&globals, bundle);
	cli_table table = {.columns = 3};
	for (size_t i = 0; i < count; i++) {
		cli_table_add(&table, globals[i].name);
		cli_table_add(&table, globals[i].called ? "called" : "imported");
		cli_table_add(&table, verdicts[globals[i].verdict]);
	}
	if (count)
		cli_out_printf(&cli->out, "\nloading it with Python would use\n");
	return cli_table_print(&table, &cli->out, err);
}

void cli_describe_globals_json(cli_doc *doc, const sherd_bundle *bundle)
{
	const sherd_global *globals;
	size_t count = sherd_bundle_globals(&globals, bundle);
	if (!count)
		return;
	cli_doc_put_open(doc, "globals", '[');
	for (size_t i = 0; i < count; i++) {
		cli_doc_open(doc, '{');
		cli_doc_put_text(doc, "name", globals[i].name);
		cli_doc_put_bool(doc, "called", globals[i].called);
		cli_doc_put_text(doc, "verdict", verdict_words[globals[i].verdict]);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
}
