#include "engine/graph/format.h"

#include "engine/graph/verify/verify.h"
#include "format/rfdb/name.h"

#include <stdio.h>

#define SEGMENT_MAGIC "SGV2"

static bool stop(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	*(bool *)arg = true;
	return false;
}

/* A database has a pointer to its version, a configuration and manifests. Two of them tell it even when one is lost. */
static int graph_format_probe_folder(shd_evidence *e, sherd_error *err)
{
	SHD_AUTO_BUF manifests = {0};
	bool has_manifests = false;
	int current = shd_evidence_inside(e, SHD_RFDB_CURRENT, err);
	TRY(current);
	int config = shd_evidence_inside(e, SHD_RFDB_CONFIG, err);
	TRY(config);
	if (current != config) {
		shd_buf_printf(&manifests, "%s%s" SHD_RFDB_MANIFESTS, e->key, *e->key ? "/" : "");
		TRY(shd_buf_end(&manifests, err));
		TRY(sherd_store_list(e->store, (const char *)manifests.data, "", stop, &has_manifests, err));
	}
	return current + config + has_manifests >= 2;
}

/* By the last part of its name: the folder may be the store. */
static bool is_database_part(const shd_evidence *e)
{
	static const char *const documents[] = {SHD_RFDB_CURRENT, SHD_RFDB_CONFIG, SHD_RFDB_INDEX, SHD_RFDB_PLAN};
	for (size_t i = 0; i < COUNT_OF(documents); i++)
		if (strcmp(shd_str_leaf(e->key), documents[i]) == 0)
			return true;
	char name[SHD_RFDB_NAME_MAX];
	shd_rfdb_file file;
	uint64_t number;
	(void)snprintf(name, sizeof(name), SHD_RFDB_SEGMENTS "%s", shd_str_leaf(e->key));
	return shd_rfdb_file_parse(shd_str_of(name), &file) || shd_rfdb_run_parse(shd_str_of(name), &number);
}

const shd_format_entry shd_format_rfdb = {
	.info = {.id = SHERD_FORMAT_RFDB,
                 .kind = SHERD_KIND_GRAPH,
                 .name = "rfdb",
                 .noun = "a graph database",
                 .endings = {{".rfdb", SHERD_ENDING_OBJECT}},
                 .folder = true,
                 .takes = SHERD_TAKES_SHARDS},
	.probe_set = graph_format_probe_folder,
	.verify = shd_graph_verify,
};

const shd_format_entry shd_format_rfdb_segment = {
	.info = {.noun = "a segment of a graph database", .advice = "name its folder"},
	.magic = {SEGMENT_MAGIC, sizeof(SEGMENT_MAGIC) - 1},
	.refusal = SHERD_EUNSUPPORTED,
	.reason = "part",
};

const shd_format_entry shd_format_rfdb_part = {
	.info = {.noun = "a part of a graph database", .advice = "name its folder"},
	.is_damaged = is_database_part,
	.refusal = SHERD_EUNSUPPORTED,
	.reason = "part",
};

/* Lines have nothing to be known by: a path that ends so is taken for them. */
const shd_format_entry shd_format_jsonl = {
	.info = {.id = SHERD_FORMAT_JSONL,
                 .kind = SHERD_KIND_RECORDS,
                 .name = "jsonl",
                 .noun = "nodes and edges as JSON Lines",
                 .endings = {{".jsonl", SHERD_ENDING_OBJECT}}},
};
