#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int tell(sherd_cli *cli, const sherd_db *db, uint64_t version, const char *key, const char *value,
                sherd_error *err)
{
	if (value)
		sherd_out_note(&cli->out, "%s: version %" PRIu64 " is tagged %s=%s", db->path, version, key, value);
	else
		sherd_out_note(&cli->out, "%s: version %" PRIu64 " has no tag %s any more", db->path, version, key);
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_doc_put_text(&doc, "path", db->path);
	sherd_doc_put_u64(&doc, "version", version);
	sherd_doc_put_text(&doc, "key", key);
	sherd_doc_put_text(&doc, "value", value);
	return sherd_doc_end(&doc, SHERD_OK, err);
}

static int set(sherd_cli *cli, const sherd_args *args, const char *key, const char *value, sherd_error *err)
{
	sherd_db db;
	const char *at = sherd_args_text(args, "at");
	TRY(sherd_db_open_writer(&db, cli, args, err));
	uint64_t version = sherd_graph_version(db.graph);
	int rc = at ? sherd_db_version_of(&db, at, &version, err) : SHERD_OK;
	if (rc == SHERD_OK)
		rc = sherd_db_blame(&db, sherd_graph_set_tag(db.graph, version, key, value, err), err);
	if (rc == SHERD_OK)
		rc = tell(cli, &db, version, key, value, err);
	sherd_db_close(&db);
	return rc;
}

static int run(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	const char *text = args->operands[1], *equals = strchr(text, '=');
	bool removed = sherd_args_has(args, "remove");
	if (removed && equals)
		return sherd_cli_usage(err, "--remove takes a key alone, without a value");
	if (!removed && (!equals || equals == text))
		return sherd_cli_usage(err, "'%.64s' is no tag: KEY=VALUE", text);
	char *key = strndup(text, equals ? (size_t)(equals - text) : strlen(text));
	if (!key)
		return sherd_cli_no_memory(err);
	int rc = set(cli, args, key, removed ? NULL : equals + 1, err);
	free(key);
	return rc;
}

static const sherd_option options[] = {
	{"at", "VERSION", "the version to tag (default: the current one)", 0},
	{"remove", NULL, "remove the tag with this key", 0},
	SHERD_WAIT_OPTION,
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_graph_tag = {
	.name = "graph tag",
	.operands = "DB KEY=VALUE",
	.summary = "Puts a tag on a version, which then survives sherd graph gc",
	.least = 2,
	.most = 2,
	.run = run,
	.options = options,
};
