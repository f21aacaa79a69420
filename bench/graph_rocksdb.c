/* bench/graph_rocksdb.c - RocksDB: one batch, synced; compacted before it is read. */
#include "graph_peers.h"

#include "measure.h"

#ifdef HAVE_ROCKSDB
#include <rocksdb/c.h>

#include <stdlib.h>

typedef struct rocks {
	rocksdb_t *db;
	rocksdb_options_t *options;
	rocksdb_readoptions_t *reading;
	rocksdb_iterator_t *walk;
} rocks;

static void check(const char *error)
{
	if (error)
		bench_fail("RocksDB: %s", error);
}

/* Keys of nodes, edges and reversed edges begin with a letter each. */
static void put_all(const graph_data *d, rocksdb_writebatch_t *batch)
{
	char key[1 + GRAPH_KEY_MAX];
	uint8_t value[GRAPH_VALUE_MAX];
	for (size_t i = 0; i < d->node_count; i++) {
		const sherd_graph_node *n = &d->nodes[d->by_id[i]];
		key[0] = 'n';
		graph_key_id(n->id, (uint8_t *)key + 1);
		rocksdb_writebatch_put(batch, key, 17, (char *)value, graph_value_node(n, value));
	}
	for (int reverse = 0; reverse < 2; reverse++) {
		const uint32_t *order = reverse ? d->by_dst : d->by_src;
		key[0] = reverse ? 'i' : 'o';
		for (size_t i = 0; i < d->edge_count; i++) {
			const sherd_graph_edge *e = &d->edges[order[i]];
			size_t len = 1 + graph_key_edge(e, reverse, (uint8_t *)key + 1);
			rocksdb_writebatch_put(batch, key, len, e->metadata.ptr, e->metadata.len);
		}
	}
}

static void *load(const graph_data *d, const char *folder)
{
	char *error = NULL;
	rocks *r = calloc(1, sizeof(*r));
	rocksdb_writeoptions_t *writing = rocksdb_writeoptions_create();
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	if (!r)
		bench_fail("no memory");
	r->options = rocksdb_options_create();
	rocksdb_options_set_create_if_missing(r->options, 1);
	rocksdb_options_set_write_buffer_size(r->options, (size_t)256 << 20);
	rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
	rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10));
	rocksdb_block_based_options_set_block_cache(table, rocksdb_cache_create_lru((size_t)512 << 20));
	rocksdb_options_set_block_based_table_factory(r->options, table);
	r->db = rocksdb_open(r->options, folder, &error);
	check(error);
	put_all(d, batch);
	rocksdb_writeoptions_set_sync(writing, 1);
	rocksdb_write(r->db, writing, batch, &error);
	check(error);
	rocksdb_writebatch_destroy(batch);
	rocksdb_writeoptions_destroy(writing);
	rocksdb_block_based_options_destroy(table);
	r->reading = rocksdb_readoptions_create();
	return r;
}

static void settle(void *arg)
{
	rocks *r = arg;
	rocksdb_compact_range(r->db, NULL, 0, NULL, 0);
}

static uint64_t get(void *arg, sherd_graph_id id)
{
	rocks *r = arg;
	char key[17] = "n", *error = NULL;
	sherd_graph_node node;
	graph_key_id(id, (uint8_t *)key + 1);
	rocksdb_pinnableslice_t *slice = rocksdb_get_pinned(r->db, r->reading, key, 17, &error);
	check(error);
	size_t len;
	graph_node_value(rocksdb_pinnableslice_value(slice, &len), &node);
	uint64_t seen = graph_see_node(&node);
	rocksdb_pinnableslice_destroy(slice);
	return seen;
}

static uint64_t edges(void *arg, sherd_graph_id id, bool incoming)
{
	rocks *r = arg;
	char key[17] = {incoming ? 'i' : 'o'};
	uint64_t seen = 0;
	graph_key_id(id, (uint8_t *)key + 1);
	if (!r->walk)
		r->walk = rocksdb_create_iterator(r->db, r->reading);
	for (rocksdb_iter_seek(r->walk, key, 17); rocksdb_iter_valid(r->walk); rocksdb_iter_next(r->walk)) {
		size_t len, size;
		const char *found = rocksdb_iter_key(r->walk, &len);
		if (len < 17 || memcmp(found, key, 17) != 0)
			break;
		const char *value = rocksdb_iter_value(r->walk, &size);
		sherd_graph_edge edge = {.metadata = {value, size}};
		graph_edge_key(found + 1, len - 1, incoming, &edge);
		seen += graph_see_edge(&edge);
	}
	return seen;
}

static void close_db(void *arg)
{
	rocks *r = arg;
	if (r->walk)
		rocksdb_iter_destroy(r->walk);
	rocksdb_readoptions_destroy(r->reading);
	rocksdb_close(r->db);
	rocksdb_options_destroy(r->options);
	free(r);
}

const graph_peer graph_rocksdb = {"RocksDB", "librocksdb-dev", load, settle, get, edges, close_db};
#else
const graph_peer graph_rocksdb = {.name = "RocksDB", .package = "librocksdb-dev"};
#endif
