/* Every bit, every length and every absence of every file of a small database: verification reports each, indexes
 * change no answer, documents are refused, and reading never does more than fail. */
#include "support/ckpt_place.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdlib.h>

/* Nodes and edges, then an edit of them with a tombstone, a full manifest with a tag. */
static sherd_store *sample(void)
{
	const sherd_graph_layout layout = {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 2};
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	sherd_graph *g = graph_create(store, "db", &layout, NULL);
	graph_add_node(g, "1", "F", "a", "s/a");
	graph_add_node(g, "b", "M", "b", "m");
	graph_add_edge(g, "1", "b", "CALLS", "{}");
	graph_flush(g);
	sherd_graph_node n = graph_node("1", "F", "again", "s/a");
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
	graph_flush(g);
	graph_add_edge(g, "b", "1", "HAS", "");
	graph_flush(g);
	assert_ok(sherd_graph_set_tag(g, 0, "k", "v", err));
	sherd_graph_close(g);
	return store;
}

/* What compaction and collection leave: L1, and one version. */
static sherd_store *compacted(void)
{
	const sherd_graph_layout layout = {.shards = 1};
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	sherd_graph *g = graph_create(store, "db", &layout, NULL);
	graph_add_node(g, "1", "F", "a", "a");
	graph_add_node(g, "2", "F", "b", "b");
	graph_add_edge(g, "1", "2", "CALLS", "");
	graph_flush(g);
	assert_ok(sherd_graph_compact(g, NULL, err));
	assert_ok(sherd_graph_gc(g, NULL, NULL, err));
	sherd_graph_close(g);
	return store;
}

static size_t errors(sherd_store *store, size_t *warnings)
{
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	size_t n = sherd_report_errors(r);
	if (warnings)
		*warnings = sherd_report_warnings(r);
	sherd_report_close(r);
	return n;
}

static bool see_node(void *arg, const sherd_graph_node *n)
{
	*(size_t *)arg += n->name.len + n->exported;
	return true;
}

static bool see_edge(void *arg, const sherd_graph_edge *e)
{
	*(size_t *)arg += e->type.len;
	return true;
}

static bool see_count(void *arg, sherd_graph_text type, uint64_t count)
{
	*(size_t *)arg += type.len + count;
	return true;
}

static bool see_id(void *arg, sherd_graph_id id, uint32_t depth)
{
	*(size_t *)arg += (id.lo != 0) + depth;
	return true;
}

/* Every read, whatever it says; whether all succeeded. */
static bool read_all(const sherd_graph *g)
{
	size_t n = 0;
	sherd_graph_node node;
	sherd_graph_totals totals;
	const sherd_graph_id id = graph_id("1");
	const sherd_graph_query file = {.file = sherd_graph_text_of("s/"), .file_prefix = true},
				name = {.name = sherd_graph_text_of("b")}, type = {.type = sherd_graph_text_of("F")};
	const sherd_graph_walk_options walk = {.direction = SHERD_GRAPH_BOTH, .depth = 2};
	int rcs[] = {sherd_graph_get(&node, g, id, NULL),
	             sherd_graph_find(g, NULL, see_node, &n, NULL),
	             sherd_graph_find(g, &file, see_node, &n, NULL),
	             sherd_graph_find(g, &name, see_node, &n, NULL),
	             sherd_graph_find(g, &type, see_node, &n, NULL),
	             sherd_graph_edges(g, NULL, see_edge, &n, NULL),
	             sherd_graph_outgoing(g, id, NULL, see_edge, &n, NULL),
	             sherd_graph_incoming(g, id, NULL, see_edge, &n, NULL),
	             sherd_graph_neighbours(g, id, &walk, see_id, &n, NULL),
	             sherd_graph_count_nodes(g, see_count, &n, NULL),
	             sherd_graph_stats(&totals, g, NULL)};
	for (size_t i = 0; i < COUNT_OF(rcs); i++)
		if (rcs[i] < 0)
			return false;
	return true;
}

typedef struct matrix {
	sherd_store *store;
	char *dump;     /* of the current version */
	uint64_t older; /* a version that is there too; 0: none */
	size_t files, cases;
} matrix;

static bool ends_with(const char *key, const char *tail)
{
	size_t a = strlen(key), b = strlen(tail);
	return a >= b && strcmp(key + a - b, tail) == 0;
}

/* Opens what was damaged and reads it: an index never matters, a document never lies. */
static void read_damaged(const matrix *m, const char *key, uint64_t version)
{
	const sherd_graph_options o = {.read_only = true, .version = version};
	sherd_graph *g = NULL;
	sherd_error e = {0};
	bool index = ends_with(key, ".idx");
	int rc = sherd_graph_open(&g, m->store, "db", &o, &e);
	if (rc != SHERD_OK && rc != SHERD_ECORRUPT && rc != SHERD_EVERSION && rc != SHERD_ENOTFOUND)
		fail_msg("%s: %s: %s: %s", key, sherd_status_name(rc), e.object, e.message);
	assert_int_equal(e.code, rc);
	if (rc < 0) {
		assert_false(index);
		assert_true(e.reason && e.message[0]);
		return;
	}
	bool good = read_all(g);
	if (index || ends_with(key, ".json"))
		assert_true(good);
	if (!version && (index || ends_with(key, ".json"))) {
		char *dump = graph_dump(g);
		assert_string_equal(dump, m->dump);
		free(dump);
		assert_consistent(g);
	}
	sherd_graph_close(g);
}

static void assert_noticed(matrix *m, const char *key, const char *what, size_t at, bool reads)
{
	if (!errors(m->store, NULL))
		fail_msg("%s: %s %zu was not noticed", key, what, at);
	m->cases++;
	if (!reads)
		return;
	read_damaged(m, key, 0);
	if (m->older)
		read_damaged(m, key, m->older);
}

static bool damage(void *arg, const char *key, const sherd_stat *stat)
{
	matrix *m = arg;
	size_t len;
	(void)stat;
	char *data = object_get(m->store, key, &len), *longer = calloc(len + 1, 1);
	assert_non_null(longer);
	memcpy(longer, data, len);
	if (len)
		m->files++;
	for (size_t bit = 0; bit < 8 * len; bit++) {
		data[bit / 8] = (char)(data[bit / 8] ^ (1 << bit % 8));
		object_put(m->store, key, data, len);
		assert_noticed(m, key, "bit", bit, bit % 8 == bit / 8 % 8);
		data[bit / 8] = (char)(data[bit / 8] ^ (1 << bit % 8));
	}
	for (size_t n = 0; n < len; n++) {
		object_put(m->store, key, data, n);
		assert_noticed(m, key, "length", n, n % 3 == 0);
	}
	if (len) {
		object_put(m->store, key, longer, len + 1);
		assert_noticed(m, key, "a byte behind", len, true);
	}
	object_put(m->store, key, data, len);
	free(longer);
	sherd_free(data);
	return true;
}

static void damage_all(sherd_store *store, uint64_t older, size_t files)
{
	matrix m = {.store = store, .older = older};
	sherd_graph *g = graph_open(m.store, "db", &(sherd_graph_options){.read_only = true});
	m.dump = graph_dump(g);
	sherd_graph_close(g);
	assert_int_equal(errors(m.store, NULL), 0);
	assert_ok(sherd_store_list(m.store, "db/", "", damage, &m, err));
	assert_int_equal(errors(m.store, NULL), 0);
	print_message("%zu cases\n", m.cases);
	assert_true(m.files >= files);
	free(m.dump);
	sherd_store_close(m.store);
}

TEST(every_bit_and_every_length_is_noticed)
{
	damage_all(sample(), 2, 13);
}

TEST(so_it_is_after_compaction)
{
	damage_all(compacted(), 0, 8);
}

/* An index that is gone is built again, and said to be gone; a plan is needed by writers alone. */
static bool lose(void *arg, const char *key, const sherd_stat *stat)
{
	matrix *m = arg;
	size_t len, warnings;
	(void)stat;
	char *data = object_get(m->store, key, &len);
	assert_ok(sherd_store_remove(m->store, key, err));
	bool noticed = errors(m->store, &warnings) || warnings;
	/* A lock is made when it is needed; the list of versions is a cache; a version that no other needs was
	 * collected. */
	static const char *const unneeded[] = {"/LOCK", "manifest_index.json", "/000001.json", "/000003.edit.json"};
	for (size_t i = 0; i < COUNT_OF(unneeded); i++)
		noticed = noticed || ends_with(key, unneeded[i]);
	if (!noticed)
		fail_msg("%s is gone, which was not noticed", key);
	read_damaged(m, key, 0);
	object_put(m->store, key, data, len);
	sherd_free(data);
	return true;
}

TEST(every_missing_file_is_noticed)
{
	matrix m = {.store = sample()};
	sherd_graph *g = graph_open(m.store, "db", &(sherd_graph_options){.read_only = true});
	m.dump = graph_dump(g);
	sherd_graph_close(g);
	assert_ok(sherd_store_list(m.store, "db/", "", lose, &m, err));
	free(m.dump);
	sherd_store_close(m.store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bit_and_every_length_is_noticed),
		cmocka_unit_test(so_it_is_after_compaction),
		cmocka_unit_test(every_missing_file_is_noticed),
	};
	return cmocka_run_group_tests_name("graph_corruption", tests, NULL, NULL);
}
