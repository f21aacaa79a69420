/* bench/graph_sqlite.c - SQLite: tables in the order of their keys, an index by destination, one transaction. */
#include "graph_peers.h"

#include "measure.h"

#ifdef HAVE_SQLITE3
#include <sqlite3.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct sqlite {
	sqlite3 *db;
	sqlite3_stmt *get, *edges[2];
} sqlite;

static void check(const sqlite *s, int rc)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
		bench_fail("SQLite: %s", sqlite3_errmsg(s->db));
}

static void run(const sqlite *s, const char *sql)
{
	check(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(const sqlite *s, const char *sql)
{
	sqlite3_stmt *statement;
	check(s, sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL));
	return statement;
}

static void bind_text(const sqlite *s, sqlite3_stmt *statement, int at, sherd_graph_text text)
{
	check(s, sqlite3_bind_text(statement, at, text.ptr, (int)text.len, SQLITE_STATIC));
}

static void step(const sqlite *s, sqlite3_stmt *statement)
{
	check(s, sqlite3_step(statement));
	check(s, sqlite3_reset(statement));
}

static void put_nodes(const sqlite *s, const graph_data *d)
{
	sqlite3_stmt *put = prepare(s, "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < d->node_count; i++) {
		const sherd_graph_node *n = &d->nodes[d->by_id[i]];
		uint8_t key[16];
		graph_key_id(n->id, key);
		check(s, sqlite3_bind_blob(put, 1, key, 16, SQLITE_STATIC));
		check(s, sqlite3_bind_int64(put, 2, (sqlite3_int64)n->content_hash));
		bind_text(s, put, 3, n->semantic_id);
		bind_text(s, put, 4, n->type);
		bind_text(s, put, 5, n->name);
		bind_text(s, put, 6, n->file);
		bind_text(s, put, 7, n->metadata);
		step(s, put);
	}
	sqlite3_finalize(put);
}

static void put_edges(const sqlite *s, const graph_data *d)
{
	sqlite3_stmt *put = prepare(s, "INSERT INTO edges VALUES (?, ?, ?, ?)");
	for (size_t i = 0; i < d->edge_count; i++) {
		const sherd_graph_edge *e = &d->edges[d->by_src[i]];
		uint8_t src[16], dst[16];
		graph_key_id(e->src, src);
		graph_key_id(e->dst, dst);
		check(s, sqlite3_bind_blob(put, 1, src, 16, SQLITE_STATIC));
		check(s, sqlite3_bind_blob(put, 2, dst, 16, SQLITE_STATIC));
		bind_text(s, put, 3, e->type);
		bind_text(s, put, 4, e->metadata);
		step(s, put);
	}
	sqlite3_finalize(put);
}

static void *load(const graph_data *d, const char *folder)
{
	char path[4096];
	sqlite *s = calloc(1, sizeof(*s));
	if (!s)
		bench_fail("no memory");
	(void)snprintf(path, sizeof(path), "%s/graph.db", folder);
	check(s, sqlite3_open(path, &s->db));
	run(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144; BEGIN;"
	       "CREATE TABLE nodes (id BLOB PRIMARY KEY, hash, semantic, type, name, file, metadata) WITHOUT ROWID;"
	       "CREATE TABLE edges (src BLOB, dst BLOB, type, metadata, PRIMARY KEY (src, dst, type)) WITHOUT ROWID;");
	put_nodes(s, d);
	put_edges(s, d);
	run(s, "CREATE INDEX incoming ON edges (dst, src, type, metadata); COMMIT; PRAGMA mmap_size = 1073741824");
	s->get = prepare(s, "SELECT hash, semantic, type, name, file, metadata FROM nodes WHERE id = ?");
	s->edges[0] = prepare(s, "SELECT src, dst, type, metadata FROM edges WHERE src = ?");
	s->edges[1] = prepare(s, "SELECT src, dst, type, metadata FROM edges WHERE dst = ?");
	run(s, "BEGIN");
	return s;
}

static sherd_graph_text text_of(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);
	return (sherd_graph_text){text, (size_t)sqlite3_column_bytes(statement, column)};
}

static uint64_t get(void *arg, sherd_graph_id id)
{
	const sqlite *s = arg;
	uint8_t key[16];
	uint64_t seen = 0;
	graph_key_id(id, key);
	check(s, sqlite3_bind_blob(s->get, 1, key, 16, SQLITE_STATIC));
	if (sqlite3_step(s->get) == SQLITE_ROW) {
		const sherd_graph_node node = {.content_hash = (uint64_t)sqlite3_column_int64(s->get, 0),
		                               .semantic_id = text_of(s->get, 1),
		                               .type = text_of(s->get, 2),
		                               .name = text_of(s->get, 3),
		                               .file = text_of(s->get, 4),
		                               .metadata = text_of(s->get, 5)};
		seen = graph_see_node(&node);
	}
	check(s, sqlite3_reset(s->get));
	return seen;
}

static uint64_t edges(void *arg, sherd_graph_id id, bool incoming)
{
	const sqlite *s = arg;
	sqlite3_stmt *statement = s->edges[incoming];
	uint8_t key[16];
	uint64_t seen = 0;
	graph_key_id(id, key);
	check(s, sqlite3_bind_blob(statement, 1, key, 16, SQLITE_STATIC));
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const sherd_graph_edge edge = {.src = graph_id_key(sqlite3_column_blob(statement, 0)),
		                               .dst = graph_id_key(sqlite3_column_blob(statement, 1)),
		                               .type = text_of(statement, 2),
		                               .metadata = text_of(statement, 3)};
		seen += graph_see_edge(&edge);
	}
	check(s, sqlite3_reset(statement));
	return seen;
}

static void close_db(void *arg)
{
	sqlite *s = arg;
	sqlite3_finalize(s->get);
	sqlite3_finalize(s->edges[0]);
	sqlite3_finalize(s->edges[1]);
	sqlite3_close(s->db);
	free(s);
}

const graph_peer graph_sqlite = {"SQLite", "libsqlite3-dev", load, NULL, get, edges, close_db};
#else
const graph_peer graph_sqlite = {.name = "SQLite", .package = "libsqlite3-dev"};
#endif
