#include "support/graph_moved.h"

#include "engine/graph/graph.h"
#include "format/rfdb/plan_state.h"
#include "support/graph_naive.h"

static char *get(sherd_store *store, const char *folder, const char *name, char key[SHERD_MAX_KEY + 1], size_t *len)
{
	char *data = NULL;
	(void)snprintf(key, SHERD_MAX_KEY + 1, "%s/%s", folder, name);
	must_ok(sherd_store_get(&data, len, store, key, 1 << 20, err));
	return data;
}

static void put(sherd_store *store, const char *key, const shd_buf *text)
{
	must(!text->failed);
	must_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, text->data, text->len, err));
}

static void take_config(sherd_store *store, const char *folder, char *key, shd_rfdb_config *out)
{
	size_t len;
	char *text = get(store, folder, SHD_RFDB_CONFIG, key, &len);
	must_ok(shd_rfdb_config_decode(text, len, out, err));
	sherd_free(text);
}

void graph_plan_by_directory(sherd_store *store, const char *folder)
{
	char key[SHERD_MAX_KEY + 1];
	SHD_AUTO_BUF text = {0};
	SHD_AUTO_BUF none = {0};
	shd_rfdb_config config;
	shd_rfdb_plan plan;
	take_config(store, folder, key, &config);
	config.planner = SHD_RFDB_DIRECTORY;
	shd_rfdb_config_encode(&config, &text);
	put(store, key, &text);
	shd_rfdb_plan_init(&plan, 1);
	shd_rfdb_plan_encode(&plan, &none);
	(void)snprintf(key, sizeof(key), "%s/%s", folder, SHD_RFDB_PLAN);
	put(store, key, &none);
	shd_rfdb_plan_done(&plan);
}

void graph_plan_otherwise(sherd_store *store, const char *folder)
{
	char key[SHERD_MAX_KEY + 1];
	SHD_AUTO_BUF text = {0};
	shd_rfdb_config config;
	take_config(store, folder, key, &config);
	if (config.planner == SHD_RFDB_HASH) {
		config.shards++;
		shd_rfdb_config_encode(&config, &text);
		put(store, key, &text);
		return;
	}
	size_t len;
	shd_rfdb_plan plan;
	char *old = get(store, folder, SHD_RFDB_PLAN, key, &len);
	shd_rfdb_plan_init(&plan, 0);
	must_ok(shd_rfdb_plan_decode(old, len, NULL, &plan, err));
	for (size_t i = 0; i < plan.place_count; i++)
		plan.places[i].shard = (plan.places[i].shard + 1) % plan.shard_count;
	shd_rfdb_plan_encode(&plan, &text);
	put(store, key, &text);
	shd_rfdb_plan_done(&plan);
	sherd_free(old);
}

void graph_check_placed(const sherd_graph *g)
{
	const graph_view *v = &g->view;
	for (unsigned kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < v->lists[kind].count; i++) {
			const graph_segment *s = v->lists[kind].items[i];
			for (uint64_t row = 0; row < s->rows.rows; row++) {
				graph_row node;
				shd_str file;
				shd_u128 id = shd_rfdb_segment_id(&s->rows, row);
				must(shd_graph_view_node(v, id, &node, NULL) == 1);
				must(node.segment->shard == s->shard);
				must(shd_rfdb_segment_text(&node.segment->rows, SHD_RFDB_FILE, node.row, &file));
				must(sherd_graph_shard_of(g, graph_text_out(file)) == s->shard);
			}
		}
	}
}
