#include "engine/graph/format.h"

#include "engine/graph/verify/verify.h"
#include "format/rfdb/name.h"

#include <stdio.h>

#define SEGMENT_MAGIC "SGV2"

static bool stop(const char *key, const sherd_stat *stat, void *arg)
{
	(void)key, (void)stat;
	*(bool *)arg = true;
	return false;
}

/* A database has a pointer to its version, a configuration and manifests. Two of them tell it even when one is lost. */
static int probe_folder(sherd_evidence *e, sherd_error *err)
{
	SHERD_AUTO_BUF manifests = {0};
	bool has_manifests = false;
	int current = sherd_evidence_inside(e, SHERD_RFDB_CURRENT, err);
	TRY(current);
	int config = sherd_evidence_inside(e, SHERD_RFDB_CONFIG, err);
	TRY(config);
	if (current != config) {
		sherd_buf_printf(&manifests, "%s%s" SHERD_RFDB_MANIFESTS, e->key, *e->key ? "/" : "");
		sherd_buf_u8(&manifests, 0);
		TRY(sherd_buf_check(&manifests, err));
		TRY(sherd_store_list(e->store, (const char *)manifests.data, "", stop, &has_manifests, err));
	}
	return current + config + has_manifests >= 2;
}

/* By the last part of its name: the folder may be the store. */
static int probe_part(sherd_evidence *e, sherd_error *err)
{
	static const char *const documents[] = {SHERD_RFDB_CURRENT, SHERD_RFDB_CONFIG, SHERD_RFDB_INDEX,
	                                        SHERD_RFDB_PLAN};
	(void)err;
	for (size_t i = 0; i < COUNT_OF(documents); i++)
		if (strcmp(sherd_str_leaf(e->key), documents[i]) == 0)
			return 1;
	char name[SHERD_RFDB_NAME_MAX];
	sherd_rfdb_file file;
	(void)snprintf(name, sizeof(name), SHERD_RFDB_SEGMENTS "%s", sherd_str_leaf(e->key));
	return sherd_rfdb_file_parse(sherd_str_of(name), &file);
}

const sherd_format_entry sherd_format_rfdb = {
	.info = {.id = SHERD_FORMAT_RFDB,
                 .kind = SHERD_KIND_GRAPH,
                 .name = "rfdb",
                 .noun = "a graph database",
                 .endings = {{".rfdb", SHERD_ENDING_OBJECT}},
                 .folder = true,
                 .takes = SHERD_TAKES_SHARDS},
	.probe_set = probe_folder,
	.verify = sherd_graph_verify,
};

const sherd_format_entry sherd_format_rfdb_segment = {
	.info = {.noun = "a segment of a graph database", .advice = "name its folder"},
	.magic = {SEGMENT_MAGIC, sizeof(SEGMENT_MAGIC) - 1},
	.refusal = SHERD_EUNSUPPORTED,
	.reason = "part",
};

const sherd_format_entry sherd_format_rfdb_part = {
	.info = {.noun = "a part of a graph database", .advice = "name its folder"},
	.probe = probe_part,
	.refusal = SHERD_EUNSUPPORTED,
	.reason = "part",
};

/* Lines have nothing to be known by: a path that ends so is taken for them. */
const sherd_format_entry sherd_format_jsonl = {
	.info = {.id = SHERD_FORMAT_JSONL,
                 .kind = SHERD_KIND_RECORDS,
                 .name = "jsonl",
                 .noun = "nodes and edges as JSON Lines",
                 .endings = {{".jsonl", SHERD_ENDING_OBJECT}}},
};
