/* Databases that the real server made. */
#include "support/fixtures.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/rfdb_files.h"
#include "support/scratch.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "codec/json.h"

#include <stdio.h>
#include <stdlib.h>

#define TINY "tiny-5n5e.rfdb"
#define HISTORY "history-l0-l1-edits-tombstones.rfdb"

static const sherd_graph_options reading = {.read_only = true};

static sherd_store *unpack(const char *archive, char **folder)
{
	sherd_store *store = NULL;
	*folder = rfdb_unpack(archive);
	assert_ok(sherd_store_open_local(&store, *folder, NULL, err));
	return store;
}

static sherd_graph *at(sherd_store *store, uint64_t version)
{
	const sherd_graph_options o = {.version = version};
	return graph_open(store, HISTORY, &o);
}

static void fixture(const char *name, char **text, size_t *len)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/rfdb/%s", fixtures_folder(), name);
	*text = (char *)source_file_read(path, len);
}

/* A member of an object as a copy of its text; "" when it is not a string. */
typedef struct record {
	sherd_graph_node node;
	sherd_graph_edge edge;
	char texts[8][256];
	size_t used;
} record;

static sherd_graph_text keep(record *r, shd_str s)
{
	char *to = r->texts[r->used++];
	assert_true(s.len < 256 && r->used <= 8);
	memcpy(to, s.ptr, s.len);
	return (sherd_graph_text){to, s.len};
}

static void read_id(shd_json *j, sherd_graph_id *out)
{
	if (shd_json_peek(j, NULL) == SHD_JSON_STRING) {
		shd_str text;
		assert_ok(shd_json_string(j, &text, err));
		*out = sherd_graph_id_of(text.ptr, text.len);
		return;
	}
	unsigned __int128 id;
	assert_ok(shd_json_u128(j, &id, err));
	*out = (sherd_graph_id){(uint64_t)id, (uint64_t)(id >> 64)};
}

static void read_member(shd_json *j, shd_str key, record *r)
{
	shd_str s;
	if (shd_str_is(key, "id"))
		read_id(j, &r->node.id);
	else if (shd_str_is(key, "src"))
		read_id(j, &r->edge.src);
	else if (shd_str_is(key, "dst"))
		read_id(j, &r->edge.dst);
	else if (shd_json_peek(j, NULL) != SHD_JSON_STRING) {
		bool exported = false;
		if (shd_str_is(key, "exported"))
			assert_ok(shd_json_bool(j, &exported, err));
		else
			assert_ok(shd_json_skip(j, err));
		r->node.exported = exported;
	} else {
		char name[32];
		(void)snprintf(name, sizeof(name), "%.*s", (int)key.len, key.ptr);
		assert_ok(shd_json_string(j, &s, err));
		sherd_graph_text text = keep(r, s);
		if (!strcmp(name, "semantic_id") || !strcmp(name, "semanticId"))
			r->node.semantic_id = text;
		else if (!strcmp(name, "node_type") || !strcmp(name, "nodeType"))
			r->node.type = text;
		else if (!strcmp(name, "name"))
			r->node.name = text;
		else if (!strcmp(name, "file"))
			r->node.file = text;
		else if (!strcmp(name, "metadata"))
			r->node.metadata = r->edge.metadata = text;
		else
			r->edge.type = text;
	}
}

/* Adds the nodes and edges of a document to a graph. */
static void add_document(sherd_graph *g, const char *name)
{
	char *text;
	size_t len;
	shd_str key;
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	fixture(name, &text, &len);
	assert_ok(shd_json_open(&j, text, len, NULL, err));
	assert_ok(shd_json_object(j, err));
	while (shd_json_key(j, &key, NULL) > 0) {
		bool nodes = shd_str_is(key, "nodes");
		assert_true(nodes || shd_str_is(key, "edges"));
		assert_ok(shd_json_array(j, err));
		while (shd_json_item(j, NULL) > 0) {
			record r = {0};
			assert_ok(shd_json_object(j, err));
			while (shd_json_key(j, &key, NULL) > 0)
				read_member(j, key, &r);
			if (nodes)
				assert_ok(sherd_graph_add_nodes(g, &r.node, 1, err));
			else
				assert_ok(sherd_graph_add_edges(g, &r.edge, 1, err));
		}
	}
	free(text);
}

TEST(the_tiny_database_has_every_node_and_edge)
{
	(void)fixtures_folder();
	char *folder;
	SCOPED_STORE store = unpack("tiny-5n5e", &folder);
	SCOPED_GRAPH plain = NULL;
	assert_ok(sherd_graph_open_ephemeral(&plain, NULL, NULL, err));
	add_document(plain, "tiny-5n5e.input.json");
	SCOPED_GRAPH g = graph_open(store, TINY, &reading);
	assert_same_graph(plain, g);
	assert_int_equal(sherd_graph_version(g), 2);
	assert_int_equal(graph_count(g, "CLASS", "main.js", "\xc3\x9cn\xc3\xaf"), 1);
	assert_int_equal(graph_count_out(g, "src/app.ts->MODULE", "http:routes_to"), 1);
	scratch_remove(folder);
}

TEST(the_last_version_of_the_history_is_what_lives)
{
	(void)fixtures_folder();
	char *folder;
	SCOPED_STORE store = unpack("history", &folder);
	SCOPED_GRAPH plain = NULL;
	assert_ok(sherd_graph_open_ephemeral(&plain, NULL, NULL, err));
	SCOPED_GRAPH g = graph_open(store, HISTORY, &reading);
	add_document(plain, "history.live-decoded.json");
	assert_same_graph(plain, g);
	assert_int_equal(sherd_graph_version(g), 9);
	scratch_remove(folder);
}

static bool count_difference(void *arg, sherd_graph_difference what, const sherd_graph_node *node)
{
	(void)node;
	((unsigned *)arg)[what]++;
	return true;
}

static bool count_edge_difference(void *arg, sherd_graph_difference what, const sherd_graph_edge *edge)
{
	(void)edge;
	((unsigned *)arg)[3 + what]++;
	return true;
}

static void assert_step(sherd_store *store, uint64_t version, const unsigned expected[6])
{
	unsigned found[6] = {0};
	const sherd_graph_diff_fns fns = {count_difference, count_edge_difference, found};
	SCOPED_GRAPH from = at(store, version - 1);
	SCOPED_GRAPH to = at(store, version);
	assert_ok(sherd_graph_diff(from, to, &fns, err));
	for (int i = 0; i < 6; i++)
		if (found[i] != expected[i])
			fail_msg("version %llu, %d: %u, not %u", (unsigned long long)version, i, found[i], expected[i]);
}

/* What each step of the history did, by history.steps.json: nodes added, removed, changed; edges likewise. */
TEST(every_version_of_the_history_opens)
{
	(void)fixtures_folder();
	static const unsigned steps[][6] = {
		[2] = {12, 0, 0, 6, 0, 0}, /* four files */
		[3] = {0, 0, 0, 1, 0, 0},  /* an edge of an enrichment */
		[4] = {0, 1, 1, 0, 3, 0},  /* two of three nodes again, one of them changed; edges of the file gone */
		[5] = {0, 0, 0, 0, 0, 0},  /* compacted */
		[6] = {0, 2, 0, 0, 0, 1},
		/* one of three nodes again, and its edge with other metadata */[7] = {2, 0, 0, 0, 0,
	                                                                               0}, /* two nodes */
		[8] = {0, 1, 0, 0, 2, 0}, /* one deleted, with its edges */
		[9] = {1, 3, 0, 0, 1, 0},
	};
	char *folder;
	SCOPED_STORE store = unpack("history", &folder);
	sherd_graph_close(at(store, 1));
	for (uint64_t version = 2; version <= 9; version++)
		assert_step(store, version, steps[version]);
	sherd_graph *g = NULL;
	const sherd_graph_options o = {.version = 10};
	assert_refused(SHERD_ENOTFOUND, "no-version", sherd_graph_open(&g, store, HISTORY, &o, err));
	scratch_remove(folder);
}

static bool count_version(void *arg, const sherd_graph_snapshot *s)
{
	uint64_t *n = arg;
	assert_int_equal(s->version, ++*n);
	assert_int_equal(s->time_ns, 1794725537 * INT64_C(1000000000));
	assert_int_equal(s->tag_count, s->version == 4);
	return true;
}

TEST(versions_and_tags_of_the_history_are_listed)
{
	(void)fixtures_folder();
	char *folder;
	SCOPED_STORE store = unpack("history", &folder);
	SCOPED_GRAPH g = graph_open(store, HISTORY, &reading);
	uint64_t count = 0, found = 0;
	assert_ok(sherd_graph_versions(g, count_version, &count, err));
	assert_int_equal(count, 9);
	assert_ok(sherd_graph_find_tag(&found, g, "commit_sha", "abc123", err));
	assert_int_equal(found, 4);
	assert_refused(SHERD_ENOTFOUND, "no-tag", sherd_graph_find_tag(&found, g, "commit_sha", "x", err));
	scratch_remove(folder);
}

/* Writing into the server's database: nothing of it is lost, and it stays as it was below. */
TEST(a_foreign_database_is_continued)
{
	(void)fixtures_folder();
	char *folder;
	SCOPED_STORE store = unpack("history", &folder);
	SCOPED_GRAPH plain = NULL;
	assert_ok(sherd_graph_open_ephemeral(&plain, NULL, NULL, err));
	add_document(plain, "history.live-decoded.json");
	SCOPED_GRAPH g = graph_open(store, HISTORY, NULL);
	graph_add_random(plain, 50, 100, 5, 1);
	graph_add_random(g, 50, 100, 5, 1);
	graph_flush(g);
	assert_int_equal(sherd_graph_version(g), 10);
	assert_same_graph(plain, g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_same_graph(plain, g);
	sherd_graph_gc_result gone;
	assert_ok(sherd_graph_gc(g, NULL, &gone, err));
	assert_int_equal(gone.versions, 9); /* the tagged one stays */
	assert_same_graph(plain, g);
	SCOPED_GRAPH tagged = at(store, 4);
	assert_consistent(tagged);
	SCOPED_GRAPH again = graph_open(store, HISTORY, &reading);
	assert_same_graph(plain, again);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tiny_database_has_every_node_and_edge),
		cmocka_unit_test(the_last_version_of_the_history_is_what_lives),
		cmocka_unit_test(every_version_of_the_history_opens),
		cmocka_unit_test(versions_and_tags_of_the_history_are_listed),
		cmocka_unit_test(a_foreign_database_is_continued),
	};
	return cmocka_run_group_tests_name("graph_foreign", tests, NULL, NULL);
}
