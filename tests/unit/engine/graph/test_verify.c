#include "support/ckpt_place.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/graph/graph.h"

#include <sherd/detect.h>
#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
#define REPORT SHD_AUTO(sherd_report, sherd_report_close)

/* Three versions: nodes and edges, an update as an edit, a tag. */
static sherd_store *sample(void)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	const sherd_graph_layout two = {.shards = 2};
	SCOPED_GRAPH g = graph_create(store, "db", &two, NULL);
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
	SCOPED_STORE store = sample();
	sherd_format format;
	assert_ok(sherd_detect(&format, store, "db", err));
	assert_int_equal(format, SHERD_FORMAT_RFDB);
	assert_ok(sherd_store_remove(store, "db/current.json", err));
	assert_ok(sherd_detect(&format, store, "db", err));
	assert_int_equal(format, SHERD_FORMAT_RFDB);
}

TEST(a_whole_database_has_neither_errors_nor_warnings)
{
	SCOPED_STORE store = sample();
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

static bool flip(void *arg, const char *key, const sherd_stat *stat)
{
	flipping *f = arg;
	char *data;
	size_t len;
	(void)stat;
	assert_ok(sherd_store_get(&data, &len, f->store, key, 1 << 20, err));
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
	sherd_free(data);
	f->files++;
	return true;
}

TEST(no_flipped_bit_passes)
{
	SCOPED_STORE store = sample();
	flipping f = {.store = store};
	assert_ok(sherd_store_list(store, "db/", "", flip, &f, err));
	assert_true(f.files > 10);
	assert_int_equal(problems(store), 0);
}

/* Two nodes and an edge, which lie in shard 5 or in shard 2; and others, so that there are segments around. */
static void make_in(sherd_store *store, const char *folder, const char *file)
{
	SCOPED_GRAPH g = graph_create(store, folder, NULL, NULL);
	graph_add_node(g, "a", "F", "a", file);
	graph_add_node(g, "c", "F", "c", file);
	graph_add_edge(g, "a", "c", "CALLS", "");
	graph_add_edge(g, "c", "a", "CALLS", "");
	graph_add_node(g, "z", "F", "z", "z.js");
	graph_add_edge(g, "z", "a", "CALLS", "");
	graph_flush(g);
}

static shd_rfdb_descriptor *in_shard(const shd_rfdb_descriptors *list, uint32_t shard)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].shard == shard)
			return (shd_rfdb_descriptor *)(uintptr_t)&list->items[i];
	fail_msg("nothing in shard %u", shard);
	return NULL;
}

/* Copies a segment of another database into shard 2 of "db", and lets the manifest name it. */
static void smuggle(sherd_store *store, bool edges, const char *manifest)
{
	shd_arena arena = {0};
	shd_rfdb_manifest ours, theirs;
	shd_rfdb_descriptor more[32];
	size_t len;
	SHD_AUTO_BUF text = {0};
	char name[SHD_RFDB_NAME_MAX], key[SHD_RFDB_NAME_MAX + 8];
	char *one = object_get(store, manifest, &len);
	assert_ok(shd_rfdb_manifest_decode(one, len, NULL, &arena, &ours, err));
	char *two = object_get(store, "other/manifests/000002.json", &len);
	assert_ok(shd_rfdb_manifest_decode(two, len, NULL, &arena, &theirs, err));
	shd_rfdb_descriptors *list = edges ? &ours.edges : &ours.nodes;
	shd_rfdb_descriptor *from = in_shard(edges ? &theirs.edges : &theirs.nodes, 2);
	shd_rfdb_segment_name(2, from->id, from->kind, name);
	(void)snprintf(key, sizeof(key), "other/%s", name);
	char *data = object_get(store, key, &len);
	from->id = 77;
	shd_rfdb_segment_name(2, 77, from->kind, name);
	(void)snprintf(key, sizeof(key), "db/%s", name);
	object_put(store, key, data, len);
	memcpy(more, list->items, list->count * sizeof(*more));
	more[list->count] = *from;
	*list = (shd_rfdb_descriptors){more, list->count + 1};
	shd_rfdb_manifest_encode(&ours, &text);
	object_put(store, manifest, text.data, text.len);
	shd_arena_done(&arena);
	sherd_free(data);
	sherd_free(one);
	sherd_free(two);
}

TEST(a_key_in_two_shards_is_told)
{
	for (int edges = 0; edges < 2; edges++) {
		SCOPED_STORE store = NULL;
		REPORT r = NULL;
		assert_ok(sherd_store_open_memory(&store, err));
		make_in(store, "db", "src/auth/a.js");
		make_in(store, "other", "src/api/a.js");
		assert_int_equal(problems(store), 0);
		smuggle(store, edges, "db/manifests/000002.json");
		assert_ok(sherd_verify(&r, store, "db", NULL, err));
		assert_int_equal(sherd_report_errors(r), 1);
		assert_string_equal(sherd_report_error(r, 0)->reason, "two-shards");
		assert_non_null(strstr(sherd_report_error(r, 0)->object, "segments/05/"));
	}
}

/* What versions before have shown of most segments says nothing of those that are new. */
TEST(so_it_is_of_a_version_that_shares_its_segments_with_others)
{
	for (int edges = 0; edges < 2; edges++) {
		SCOPED_STORE store = NULL;
		REPORT r = NULL;
		assert_ok(sherd_store_open_memory(&store, err));
		make_in(store, "db", "src/auth/a.js");
		make_in(store, "other", "src/api/a.js");
		{
			SCOPED_GRAPH g = graph_open(store, "db", NULL);
			graph_add_random(g, 300, 600, 8, 1);
			graph_flush(g);
			graph_add_node(g, "last", "F", "last", "lib/last.js");
			graph_flush(g);
		}
		assert_int_equal(problems(store), 0);
		smuggle(store, edges, "db/manifests/000004.json");
		assert_ok(sherd_verify(&r, store, "db", NULL, err));
		assert_int_equal(sherd_report_errors(r), 1);
		assert_string_equal(sherd_report_error(r, 0)->reason, "two-shards");
		assert_non_null(strstr(sherd_report_error(r, 0)->object, "segments/05/"));
	}
}

/* The node goes without its edges, as no call of ours would do it: first under a tombstone, then for good. */
TEST(an_edge_without_its_source_is_told_where_the_manifest_says_that_there_is_none)
{
	SCOPED_STORE store = sample();
	REPORT r = NULL;
	{
		SCOPED_GRAPH g = graph_open(store, "db", NULL);
		graph_add_edge(g, "b", "a", "CALLS", "{}");
		graph_flush(g);
		assert_int_equal(problems(store), 0);
		assert_true(shd_graph_buffer_kill_node(&g->buffer, graph_id_in(graph_id("b"))));
		graph_flush(g);
		assert_true(g->view.placed);
		assert_int_equal(problems(store), 1);
		assert_ok(sherd_graph_compact(g, NULL, err));
		assert_true(g->view.placed);
	}
	assert_ok(sherd_verify(&r, store, "db", NULL, err));
	assert_int_equal(sherd_report_errors(r), 2);
	assert_string_equal(sherd_report_error(r, 0)->reason, "no-source");
	assert_string_equal(sherd_report_error(r, 1)->reason, "no-source");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_database_is_recognised_by_its_folder),
		cmocka_unit_test(a_whole_database_has_neither_errors_nor_warnings),
		cmocka_unit_test(an_edge_without_its_source_is_told_where_the_manifest_says_that_there_is_none),
		cmocka_unit_test(no_flipped_bit_passes),
		cmocka_unit_test(a_key_in_two_shards_is_told),
		cmocka_unit_test(so_it_is_of_a_version_that_shares_its_segments_with_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
