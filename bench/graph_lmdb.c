/* bench/graph_lmdb.c - LMDB as it is quickest: sorted keys appended in one transaction. */
#include "graph_peers.h"

#include "measure.h"

#ifdef HAVE_LMDB
#include <lmdb.h>

#include <stdlib.h>

typedef struct lmdb {
	MDB_env *env;
	MDB_txn *txn; /* for reading */
	MDB_dbi nodes, edges[2];
	MDB_cursor *cursors[2];
} lmdb;

static void check(int rc, const char *what)
{
	if (rc)
		bench_fail("LMDB: %s: %s", what, mdb_strerror(rc));
}

static void put_nodes(const graph_data *d, MDB_txn *txn, MDB_dbi dbi)
{
	for (size_t i = 0; i < d->node_count; i++) {
		const sherd_graph_node *n = &d->nodes[d->by_id[i]];
		uint8_t key[16], value[GRAPH_VALUE_MAX];
		graph_key_id(n->id, key);
		MDB_val k = {16, key}, v = {graph_value_node(n, value), value};
		check(mdb_put(txn, dbi, &k, &v, MDB_APPEND), "put");
	}
}

static void put_edges(const graph_data *d, MDB_txn *txn, MDB_dbi dbi, bool reverse)
{
	const uint32_t *order = reverse ? d->by_dst : d->by_src;
	for (size_t i = 0; i < d->edge_count; i++) {
		const sherd_graph_edge *e = &d->edges[order[i]];
		uint8_t key[GRAPH_KEY_MAX];
		MDB_val k = {graph_key_edge(e, reverse, key), key};
		MDB_val v = {e->metadata.len, (void *)(uintptr_t)e->metadata.ptr};
		check(mdb_put(txn, dbi, &k, &v, MDB_APPEND), "put");
	}
}

static void *load(const graph_data *d, const char *folder)
{
	lmdb *db = calloc(1, sizeof(*db));
	MDB_txn *txn;
	if (!db)
		bench_fail("no memory");
	check(mdb_env_create(&db->env), "create");
	check(mdb_env_set_maxdbs(db->env, 3), "maxdbs");
	check(mdb_env_set_mapsize(db->env, (size_t)1 << 34), "mapsize");
	check(mdb_env_open(db->env, folder, 0, 0666), "open");
	check(mdb_txn_begin(db->env, NULL, 0, &txn), "begin");
	check(mdb_dbi_open(txn, "nodes", MDB_CREATE, &db->nodes), "dbi");
	check(mdb_dbi_open(txn, "out", MDB_CREATE, &db->edges[0]), "dbi");
	check(mdb_dbi_open(txn, "in", MDB_CREATE, &db->edges[1]), "dbi");
	put_nodes(d, txn, db->nodes);
	put_edges(d, txn, db->edges[0], false);
	put_edges(d, txn, db->edges[1], true);
	check(mdb_txn_commit(txn), "commit");
	check(mdb_txn_begin(db->env, NULL, MDB_RDONLY, &db->txn), "begin");
	for (int i = 0; i < 2; i++)
		check(mdb_cursor_open(db->txn, db->edges[i], &db->cursors[i]), "cursor");
	return db;
}

static uint64_t get(void *arg, sherd_graph_id id)
{
	lmdb *db = arg;
	uint8_t key[16];
	sherd_graph_node node;
	MDB_val k = {16, key}, v;
	graph_key_id(id, key);
	check(mdb_get(db->txn, db->nodes, &k, &v), "get");
	graph_node_value(v.mv_data, &node);
	return graph_see_node(&node);
}

static uint64_t edges(void *arg, sherd_graph_id id, bool incoming)
{
	lmdb *db = arg;
	uint8_t key[16];
	uint64_t seen = 0;
	MDB_val k = {16, key}, v;
	graph_key_id(id, key);
	int rc = mdb_cursor_get(db->cursors[incoming], &k, &v, MDB_SET_RANGE);
	for (; rc == 0 && memcmp(k.mv_data, key, 16) == 0;
	     rc = mdb_cursor_get(db->cursors[incoming], &k, &v, MDB_NEXT)) {
		sherd_graph_edge edge = {.metadata = {v.mv_data, v.mv_size}};
		graph_edge_key(k.mv_data, k.mv_size, incoming, &edge);
		seen += graph_see_edge(&edge);
	}
	if (rc && rc != MDB_NOTFOUND)
		check(rc, "next");
	return seen;
}

static void close_db(void *arg)
{
	lmdb *db = arg;
	mdb_cursor_close(db->cursors[0]);
	mdb_cursor_close(db->cursors[1]);
	mdb_txn_abort(db->txn);
	mdb_env_close(db->env);
	free(db);
}

const graph_peer graph_lmdb = {"LMDB", "liblmdb-dev", load, NULL, get, edges, close_db};
#else
const graph_peer graph_lmdb = {.name = "LMDB", .package = "liblmdb-dev"};
#endif
