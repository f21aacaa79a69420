#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int graph_tag_tell(cli_state *cli, const cli_db *db, uint64_t version, const char *key, const char *value,
                          sherd_error *err)
{
	if (value)
		cli_out_note(&cli->out, "%s: version %" PRIu64 " is tagged %s=%s", db->path, version, key, value);
	else
		cli_out_note(&cli->out, "%s: version %" PRIu64 " has no tag %s any more", db->path, version, key);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", db->path);
	cli_doc_put_u64(&doc, "version", version);
	cli_doc_put_text(&doc, "key", key);
	cli_doc_put_text(&doc, "value", value);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int set(cli_state *cli, const cli_args *args, const char *key, const char *value, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	const char *at = cli_args_text(args, "at");
	TRY(cli_db_open_writer(&db, cli, args, err));
	uint64_t version = sherd_graph_version(db.graph);
	if (at)
		TRY(cli_db_version_of(&db, at, &version, err));
	TRY(cli_db_blame(&db, sherd_graph_set_tag(db.graph, version, key, value, err), err));
	return graph_tag_tell(cli, &db, version, key, value, err);
}

static int graph_tag_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *text = args->operands[1], *equals = strchr(text, '=');
	bool removed = cli_args_has(args, "remove");
	if (removed && equals)
		return cli_usage(err, "--remove takes a key alone, without a value");
	if (!removed && (!equals || equals == text))
		return cli_usage(err, "'%.64s' is no tag: KEY=VALUE", text);
	CLI_AUTO_FREE char *key = strndup(text, equals ? (size_t)(equals - text) : strlen(text));
	if (!key)
		return cli_no_memory(err);
	return set(cli, args, key, removed ? NULL : equals + 1, err);
}

static const cli_option options[] = {
	{"at", "VERSION", "the version to tag (default: the current one)", 0},
	{"remove", NULL, "remove the tag with this key", 0},
	CLI_WAIT_OPTION,
};

const cli_command cli_command_graph_tag = {
	.name = "graph tag",
	.operands = "DB KEY=VALUE",
	.summary = "Puts a tag on a version, which then survives sherd graph gc",
	.run = graph_tag_run,
	CLI_OPTIONS(options),
};
