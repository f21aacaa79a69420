#include "support/graph_moved.h"

#include "engine/graph/graph.h"
#include "format/rfdb/plan_state.h"
#include "support/graph_naive.h"

static char *get(sherd_store *store, const char *folder, const char *name, char key[SHERD_MAX_KEY + 1], size_t *len)
{
	char *data = NULL;
	(void)snprintf(key, SHERD_MAX_KEY + 1, "%s/%s", folder, name);
	must_ok(sherd_store_get(store, key, 1 << 20, &data, len, err));
	return data;
}

static void put(sherd_store *store, const char *key, const sherd_buf *text)
{
	must(!text->failed);
	must_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, text->data, text->len, err));
}

static void take_config(sherd_store *store, const char *folder, char *key, sherd_rfdb_config *out)
{
	size_t len;
	char *text = get(store, folder, SHERD_RFDB_CONFIG, key, &len);
	must_ok(sherd_rfdb_config_decode(text, len, out, err));
	free(text);
}

void graph_plan_by_directory(sherd_store *store, const char *folder)
{
	char key[SHERD_MAX_KEY + 1];
	SHERD_AUTO_BUF text = {0};
	SHERD_AUTO_BUF none = {0};
	sherd_rfdb_config config;
	sherd_rfdb_plan plan;
	take_config(store, folder, key, &config);
	config.planner = SHERD_RFDB_DIRECTORY;
	sherd_rfdb_config_encode(&config, &text);
	put(store, key, &text);
	sherd_rfdb_plan_init(&plan, 1);
	sherd_rfdb_plan_encode(&plan, &none);
	(void)snprintf(key, sizeof(key), "%s/%s", folder, SHERD_RFDB_PLAN);
	put(store, key, &none);
	sherd_rfdb_plan_done(&plan);
}

void graph_plan_otherwise(sherd_store *store, const char *folder)
{
	char key[SHERD_MAX_KEY + 1];
	SHERD_AUTO_BUF text = {0};
	sherd_rfdb_config config;
	take_config(store, folder, key, &config);
	if (config.planner == SHERD_RFDB_HASH) {
		config.shards++;
		sherd_rfdb_config_encode(&config, &text);
		put(store, key, &text);
		return;
	}
	size_t len;
	sherd_rfdb_plan plan;
	char *old = get(store, folder, SHERD_RFDB_PLAN, key, &len);
	sherd_rfdb_plan_init(&plan, 0);
	must_ok(sherd_rfdb_plan_decode(old, len, NULL, &plan, err));
	for (size_t i = 0; i < plan.place_count; i++)
		plan.places[i].shard = (plan.places[i].shard + 1) % plan.shard_count;
	sherd_rfdb_plan_encode(&plan, &text);
	put(store, key, &text);
	sherd_rfdb_plan_done(&plan);
	free(old);
}

void graph_check_placed(const sherd_graph *g)
{
	const graph_view *v = &g->view;
	for (unsigned kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < v->lists[kind].count; i++) {
			const graph_segment *s = v->lists[kind].items[i];
			for (uint64_t row = 0; row < s->rows.rows; row++) {
				graph_row node;
				sherd_str file;
				sherd_u128 id = sherd_rfdb_segment_id(&s->rows, row);
				must(sherd_graph_view_node(v, id, &node, NULL) == 1);
				must(node.segment->shard == s->shard);
				must(sherd_rfdb_segment_text(&node.segment->rows, SHERD_RFDB_FILE, node.row, &file));
				must(sherd_graph_shard_of(g, graph_text_out(file)) == s->shard);
			}
		}
	}
}
