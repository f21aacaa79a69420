#include "graph/shards.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 30, TOO_MANY = 10 };

/* A shard, and its name: the number of its folder where the planner gives it none. */
typedef struct shard {
	sherd_graph_shard stats;
	char name[256];
} shard;

static int graph_shards_look_at(const cli_db *db, uint32_t index, shard *out, sherd_error *err)
{
	TRY(cli_db_blame(db, sherd_graph_shard_stats(&out->stats, db->graph, index, err), err));
	if (*out->stats.name)
		(void)snprintf(out->name, sizeof(out->name), "%s", out->stats.name);
	else
		(void)snprintf(out->name, sizeof(out->name), "%02" PRIu32, index);
	return SHERD_OK;
}

/* ---- for people */

static void add_number(cli_table *table, uint64_t v)
{
	char text[24];
	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	cli_table_add(table, text);
}

/* As long as the shard's nodes are of the fullest one's; any at all are seen. */
static void add_bar(cli_table *table, uint64_t nodes, uint64_t most)
{
	char bar[BAR + 1];
	size_t len = most ? (size_t)((double)nodes / (double)most * BAR + 0.5) : 0;
	if (nodes && !len)
		len = 1;
	memset(bar, '#', len);
	bar[len] = 0;
	cli_table_add(table, bar);
}

static int most_nodes(const cli_db *db, uint32_t count, uint64_t *out, sherd_error *err)
{
	shard s;
	*out = 0;
	for (uint32_t i = 0; i < count; i++) {
		TRY(graph_shards_look_at(db, i, &s, err));
		*out = s.stats.nodes > *out ? s.stats.nodes : *out;
	}
	return SHERD_OK;
}

static int add_shards(cli_table *table, const cli_db *db, uint32_t count, bool bars, sherd_error *err)
{
	uint64_t most;
	TRY(most_nodes(db, count, &most, err));
	for (uint32_t i = 0; i < count; i++) {
		shard s;
		char size[CLI_TEXT_SIZE];
		TRY(graph_shards_look_at(db, i, &s, err));
		cli_text_size(s.stats.bytes, size);
		cli_table_add(table, s.name);
		add_number(table, s.stats.nodes);
		add_number(table, s.stats.edges);
		add_number(table, s.stats.segments);
		cli_table_add(table, size);
		if (bars)
			add_bar(table, s.stats.nodes, most);
	}
	return SHERD_OK;
}

int cli_shards_print(cli_state *cli, const cli_db *db, uint32_t count, bool bars, sherd_error *err)
{
	static const char *const heads[] = {"shard", "nodes", "edges", "segments", "size", ""};
	bars = bars && cli_out_is_terminal();
	CLI_AUTO_TABLE table = {.columns = bars ? 6 : 5, .right = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4};
	cli_table_add_row(&table, heads);
	TRY(add_shards(&table, db, count, bars, err));
	return cli_table_print(&table, &cli->out, err);
}

/* ---- for programs */

int cli_shards_put(cli_doc *doc, const cli_db *db, uint32_t count, sherd_error *err)
{
	cli_doc_put_open(doc, "shards", '[');
	for (uint32_t i = 0; i < count; i++) {
		shard s;
		TRY(graph_shards_look_at(db, i, &s, err));
		cli_doc_open(doc, '{');
		cli_doc_put_u64(doc, "id", s.stats.shard);
		cli_doc_put_text(doc, "name", s.name);
		cli_doc_put_u64(doc, "nodes", s.stats.nodes);
		cli_doc_put_u64(doc, "edges", s.stats.edges);
		cli_doc_put_u64(doc, "segments", s.stats.segments);
		cli_doc_put_u64(doc, "bytes", s.stats.bytes);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
	return SHERD_OK;
}

/* ---- balance */

static int graph_shards_compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;
	return (*left > *right) - (*left < *right);
}

/* Fills in how many nodes each shard has, and which is the fullest. */
static int weigh(const cli_db *db, uint32_t count, uint64_t *nodes, shard *fullest, sherd_error *err)
{
	*fullest = (shard){0};
	for (uint32_t i = 0; i < count; i++) {
		shard s;
		TRY(graph_shards_look_at(db, i, &s, err));
		nodes[i] = s.stats.nodes;
		if (s.stats.nodes > fullest->stats.nodes)
			*fullest = s;
	}
	return SHERD_OK;
}

static int judge(uint64_t *nodes, uint32_t count, const shard *fullest, sherd_error *warning)
{
	if (!fullest->stats.nodes)
		return 0;
	qsort(nodes, count, sizeof(*nodes), graph_shards_compare);
	uint64_t median = nodes[(count - 1) / 2];
	if ((fullest->stats.nodes - 1) / TOO_MANY < (median ? median : 1))
		return 0;
	cli_fill(warning, SHERD_OK, "unbalanced",
	         "shard %.64s holds %" PRIu64 " nodes, more than %d times the median of %" PRIu64, fullest->name,
	         fullest->stats.nodes, TOO_MANY, median);
	return 1;
}

int cli_shards_balance(const cli_db *db, uint32_t count, sherd_error *warning, sherd_error *err)
{
	shard fullest;
	CLI_AUTO_FREE uint64_t *nodes = malloc((count + 1) * sizeof(*nodes));
	if (!nodes)
		return cli_no_memory(err);
	TRY(weigh(db, count, nodes, &fullest, err));
	int unbalanced = judge(nodes, count, &fullest, warning);
	if (unbalanced)
		cli_place_name(&db->place, warning);
	return unbalanced;
}
