#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/detect.h>
#include <sherd/verify.h>

#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHERD_AUTO_DEFINE(sherd_graph, sherd_graph_close)
SHERD_AUTO_DEFINE(sherd_report, sherd_report_close)
#define STORE SHERD_AUTO(sherd_store, sherd_store_close)
#define GRAPH SHERD_AUTO(sherd_graph, sherd_graph_close)
#define REPORT SHERD_AUTO(sherd_report, sherd_report_close)

/* Three versions: nodes and edges, an update as an edit, a tag. */
static sherd_store *sample(void)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	const sherd_graph_layout two = {.shards = 2};
	GRAPH g = graph_create(store, "db", &two, NULL);
	graph_add_node(g, "a", "F", "a", "src/a.js");
	graph_add_node(g, "b", "M", "b", "main.js");
	graph_add_edge(g, "a", "b", "CALLS", "{}");
	graph_flush(g);
	sherd_graph_node n = graph_node("a", "F", "again", "src/a.js");
	assert_ok(sherd_graph_update_file(g, n.file, &n, 1, NULL, 0, NULL, err));
	graph_flush(g);
	assert_ok(sherd_graph_set_tag(g, 2, "name", "value", err));
	return store;
}

TEST(a_database_is_recognised_by_its_folder)
{
	STORE store = sample();
	sherd_format format;
	assert_ok(sherd_detect(store, "db", &format, err));
	assert_int_equal(format, SHERD_FORMAT_RFDB);
	assert_ok(sherd_store_remove(store, "db/current.json", err));
	assert_ok(sherd_detect(store, "db", &format, err));
	assert_int_equal(format, SHERD_FORMAT_RFDB);
}

TEST(a_whole_database_has_neither_errors_nor_warnings)
{
	STORE store = sample();
	REPORT r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	for (size_t i = 0; i < sherd_report_errors(r); i++)
		print_error("%s: %s\n", sherd_report_error(r, i)->object, sherd_report_error(r, i)->message);
	for (size_t i = 0; i < sherd_report_warnings(r); i++)
		print_error("%s: %s\n", sherd_report_warning(r, i)->object, sherd_report_warning(r, i)->message);
	assert_int_equal(sherd_report_errors(r), 0);
	assert_int_equal(sherd_report_warnings(r), 0);
	assert_true(sherd_report_checked_bytes(r) > 4000);
}

static size_t problems(sherd_store *store)
{
	REPORT r = NULL;
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	return sherd_report_errors(r);
}

typedef struct flipping {
	sherd_store *store;
	size_t files;
} flipping;

static bool flip(const char *key, const sherd_stat *stat, void *arg)
{
	flipping *f = arg;
	char *data;
	size_t len;
	(void)stat;
	assert_ok(sherd_store_get(f->store, key, 1 << 20, &data, &len, err));
	for (size_t at = 0; at < len; at++) {
		data[at] = (char)(data[at] ^ (1 << (at % 8)));
		assert_ok(sherd_store_put(f->store, key, SHERD_WRITE_REPLACE, data, len, err));
		if (!problems(f->store))
			fail_msg("%s: byte %zu was flipped, and nobody noticed", key, at);
		data[at] = (char)(data[at] ^ (1 << (at % 8)));
	}
	for (size_t shorter = 1; shorter < len; shorter += 37) {
		assert_ok(sherd_store_put(f->store, key, SHERD_WRITE_REPLACE, data, len - shorter, err));
		if (!problems(f->store))
			fail_msg("%s: %zu bytes are missing, and nobody noticed", key, shorter);
	}
	assert_ok(sherd_store_put(f->store, key, SHERD_WRITE_REPLACE, data, len, err));
	free(data);
	f->files++;
	return true;
}

TEST(no_flipped_bit_passes)
{
	STORE store = sample();
	flipping f = {.store = store};
	assert_ok(sherd_store_list(store, "db/", "", flip, &f, err));
	assert_true(f.files > 10);
	assert_int_equal(problems(store), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_database_is_recognised_by_its_folder),
		cmocka_unit_test(a_whole_database_has_neither_errors_nor_warnings),
		cmocka_unit_test(no_flipped_bit_passes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
