/* The command of docs/extending.md: how many tensors a file or set has. */
#include "base/doc.h"
#include "base/place.h"
#include "commands.h"

#include <sherd/bundle.h>

static int count_open(cli_state *cli, const cli_place *place, size_t *out, sherd_error *err)
{
	sherd_bundle *bundle;
	const sherd_bundle_options options = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(sherd_bundle_open(&bundle, place->store, place->key, &options, err));
	*out = sherd_bundle_count(bundle);
	sherd_bundle_close(bundle);
	return SHERD_OK;
}

static int count_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	cli_place place;
	size_t count = 0;
	TRY(cli_place_open(&place, args->operands[0], false, err));
	int rc = cli_place_blame(&place, count_open(cli, &place, &count, err), err);
	cli_place_close(&place);
	TRY(rc);
	if (!cli->out.json) {
		cli_out_printf(&cli->out, "%zu\n", count);
		return SHERD_OK;
	}
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_u64(&doc, "tensors", count);
	return cli_doc_end(&doc, SHERD_OK, err);
}

const cli_command cli_command_count = {
	.name = "count",
	.operands = "PATH",
	.summary = "Tells how many tensors a file or set has",
	.run = count_run,
};
