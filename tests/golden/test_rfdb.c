/* The database of tests/golden/rfdb: making its files again gives the same bytes, and they read as what they were made
 * of. With SHD_GOLDEN_OUT=FOLDER in the environment they are also written there, to be looked at and committed when
 * the format has changed on purpose. tests/interop reads the same files by the document alone. */
#include "support/rfdb_files.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/rfdb/id.h"
#include "format/rfdb/manifest.h"
#include "format/rfdb/plan.h"
#include "format/rfdb/sidecar.h"
#include "format/rfdb/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/golden/rfdb/"
#define CREATED 1767960000 /* 2026-01-09T12:00:00Z */

typedef struct file {
	char name[SHD_RFDB_NAME_MAX];
	shd_buf bytes;
} file;

static file made[32];
static size_t made_count;

static shd_buf *add(const char *name)
{
	(void)snprintf(made[made_count].name, sizeof(made[made_count].name), "%s", name);
	return &made[made_count++].bytes;
}

/* ---- what is in it */

typedef struct node_row {
	const char *id, *type, *name, *file, *metadata;
} node_row;

static const node_row root_nodes[] = {
	{"main.js->MODULE->main", "MODULE", "main", "main.js", ""},
	{"main.js->FUNCTION->start", "FUNCTION", "start", "main.js", "{\"line\":3}"},
	{"7", "CONSTANT", "\xc3\xa9t\xc3\xa9", "main.js", ""},
};
static const node_row src_nodes[] = {
	{"src/a.js->FUNCTION->f", "FUNCTION", "f", "src/a.js", "{\"line\":1}"},
	{"src/b.js->FUNCTION->g", "FUNCTION", "g", "src/b.js", ""},
	{"src/c.js->CLASS->C", "CLASS", "C", "src/c.js", ""},
};
static const node_row changed_nodes[] = {
	{"src/a.js->FUNCTION->f", "FUNCTION", "f", "src/a.js", "{\"line\":2}"},
	{"src/a.js->FUNCTION->h", "FUNCTION", "h", "src/a.js", ""},
};

typedef struct edge_row {
	const char *src, *dst, *type, *metadata;
} edge_row;

static const edge_row root_edges[] = {
	{"main.js->FUNCTION->start", "src/a.js->FUNCTION->f", "CALLS", ""},
	{"main.js->FUNCTION->start", "src/b.js->FUNCTION->g", "CALLS", ""},
	{"main.js->MODULE->main", "main.js->FUNCTION->start", "CONTAINS", "{}"},
};
static const edge_row src_edges[] = {
	{"src/a.js->FUNCTION->f", "src/b.js->FUNCTION->g", "CALLS", ""},
	{"src/b.js->FUNCTION->g", "src/a.js->FUNCTION->f", "CALLS", ""},
};

static shd_u128 id_of(const char *text)
{
	return shd_rfdb_id_of(shd_str_of(text));
}

static shd_rfdb_node node_of(const node_row *row)
{
	return (shd_rfdb_node){.id = id_of(row->id),
	                       .semantic_id = shd_str_of(row->id),
	                       .type = shd_str_of(row->type),
	                       .name = shd_str_of(row->name),
	                       .file = shd_str_of(row->file),
	                       .metadata = shd_str_of(row->metadata)};
}

/* ---- making it */

static shd_rfdb_descriptor finish(shd_rfdb_writer *w, uint32_t shard, uint64_t id, shd_arena *arena)
{
	char name[SHD_RFDB_NAME_MAX];
	shd_rfdb_descriptor d = {.id = id, .kind = w->kind, .shard = shard, .rows = w->rows, .has_sha256 = true};
	shd_rfdb_segment s;
	for (int field = 0; field < 2; field++) {
		shd_rfdb_texts *list = field == SHD_RFDB_ZONE_FILES ? &d.files : &d.types;
		shd_str *values, *kept;
		assert_ok(shd_rfdb_writer_values(w, field, &values, &list->count, err));
		kept = shd_arena_copy(arena, values, list->count * sizeof(*values));
		assert_non_null(kept);
		for (size_t i = 0; i < list->count; i++)
			kept[i].ptr = shd_arena_str(arena, values[i]);
		list->items = kept;
		free(values);
	}
	shd_rfdb_segment_name(shard, id, w->kind, name);
	shd_buf *raw = add(name);
	rfdb_finish(w, raw);
	d.bytes = raw->len;
	shd_sha256_of(raw->data, raw->len, d.sha256);
	assert_ok(shd_rfdb_segment_open(raw->data, raw->len, &s, err));
	shd_rfdb_sidecar_name(shard, id, w->kind, name);
	assert_ok(shd_rfdb_sidecar_build(&s, d.sha256, add(name), err));
	shd_rfdb_writer_done(w);
	return d;
}

static shd_rfdb_descriptor make_nodes(const node_row *rows, size_t count, uint32_t shard, uint64_t id, shd_arena *arena)
{
	shd_rfdb_writer w;
	shd_rfdb_keyed order[8];
	shd_rfdb_node nodes[8];
	shd_rfdb_writer_init(&w, SHD_RFDB_NODES);
	for (size_t i = 0; i < count; i++) {
		nodes[i] = node_of(&rows[i]);
		order[i] = shd_rfdb_keyed_of(nodes[i].id, i);
	}
	assert_ok(shd_rfdb_sort(order, count, err));
	for (size_t i = 0; i < count; i++)
		assert_ok(shd_rfdb_writer_node(&w, &nodes[order[i].row], err));
	return finish(&w, shard, id, arena);
}

/* By source and destination: no two of them differ in their type alone. */
static int compare_edges(const void *a, const void *b)
{
	const shd_rfdb_edge *x = a, *y = b;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return (x->dst > y->dst) - (x->dst < y->dst);
}

static shd_rfdb_descriptor make_edges(const edge_row *rows, size_t count, uint32_t shard, uint64_t id, shd_arena *arena)
{
	shd_rfdb_writer w;
	shd_rfdb_edge edges[8];
	shd_rfdb_writer_init(&w, SHD_RFDB_EDGES);
	for (size_t i = 0; i < count; i++)
		edges[i] = (shd_rfdb_edge){id_of(rows[i].src), id_of(rows[i].dst), shd_str_of(rows[i].type),
		                           shd_str_of(rows[i].metadata)};
	qsort(edges, count, sizeof(*edges), compare_edges);
	for (size_t i = 0; i < count; i++)
		assert_ok(shd_rfdb_writer_edge(&w, &edges[i], err));
	return finish(&w, shard, id, arena);
}

static const shd_rfdb_count first_nodes[] = {
	{{"CLASS", 5}, 1}, {{"CONSTANT", 8}, 1}, {{"FUNCTION", 8}, 3}, {{"MODULE", 6}, 1}};
static const shd_rfdb_count first_edges[] = {{{"CALLS", 5}, 4}, {{"CONTAINS", 8}, 1}};
static const shd_rfdb_count second_nodes[] = {
	{{"CLASS", 5}, 1}, {{"CONSTANT", 8}, 1}, {{"FUNCTION", 8}, 4}, {{"MODULE", 6}, 1}};
static const shd_rfdb_count second_edges[] = {{{"CALLS", 5}, 3}, {{"CONTAINS", 8}, 1}};
static const shd_rfdb_tag tag = {{"commit", 6}, {"abc123", 6}};

static void make_manifests(shd_arena *arena)
{
	const shd_rfdb_descriptor nodes[] = {make_nodes(root_nodes, 3, 0, 1, arena),
	                                     make_nodes(src_nodes, 3, 1, 3, arena)},
				  edges[] = {make_edges(root_edges, 3, 0, 2, arena),
	                                     make_edges(src_edges, 2, 1, 4, arena)},
				  more = make_nodes(changed_nodes, 2, 1, 5, arena);
	const shd_rfdb_edge_key gone = {id_of("src/a.js->FUNCTION->f"), id_of("src/b.js->FUNCTION->g"), {"CALLS", 5}};
	shd_rfdb_manifest m = {.version = 1,
	                       .created_at = CREATED,
	                       .nodes = {nodes, 2},
	                       .edges = {edges, 2},
	                       .tags = {&tag, 1},
	                       .stats = shd_rfdb_stats_of(nodes, 2, edges, 2),
	                       .counts = {true, {{first_nodes, 4}, {first_edges, 2}}, false}};
	shd_rfdb_edit e = {.version = 2,
	                   .parent = 1,
	                   .created_at = CREATED + 60,
	                   .added_nodes = {&more, 1},
	                   .dead_edges = {&gone, 1},
	                   .stats = m.stats,
	                   .counts = {true, {{second_nodes, 4}, {second_edges, 2}}, false}};
	e.stats.nodes += more.rows;
	e.stats.node_segments++;
	shd_rfdb_manifest_encode(&m, add("manifests/000001.json"));
	shd_rfdb_edit_encode(&e, add("manifests/000002.edit.json"));
	const shd_rfdb_snapshot snapshot = {.version = 1, .created_at = CREATED, .tags = m.tags, .stats = m.stats};
	const struct shd_rfdb_tagged tagged = {tag.key, tag.value, 1};
	const uint64_t segments[] = {1, 2, 3, 4, 5};
	const shd_rfdb_index index = {.latest = 2,
	                              .snapshots = &snapshot,
	                              .count = 1,
	                              .tagged = &tagged,
	                              .tagged_count = 1,
	                              .segments = {segments, 5}};
	shd_rfdb_index_encode(&index, add(SHD_RFDB_INDEX));
}

static void make_plan(void)
{
	static const shd_str files[] = {{"main.js", 7}, {"src/a.js", 8}, {"src/b.js", 8}, {"src/c.js", 8}};
	shd_rfdb_plan plan;
	shd_rfdb_plan_init(&plan, 0);
	assert_ok(shd_rfdb_plan_extend(&plan, files, 4, NULL, err));
	shd_rfdb_plan_encode(&plan, add(SHD_RFDB_PLAN));
	shd_rfdb_plan_done(&plan);
}

static int begin(void **state)
{
	shd_arena arena = {0};
	const shd_rfdb_config config = {.shards = 2, .planner = SHD_RFDB_DIRECTORY, .created_at = CREATED};
	(void)state;
	make_manifests(&arena);
	make_plan();
	shd_rfdb_config_encode(&config, add(SHD_RFDB_CONFIG));
	shd_rfdb_current_encode(&(shd_rfdb_current){.version = 2}, add(SHD_RFDB_CURRENT));
	shd_arena_done(&arena);
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < made_count; i++)
		shd_buf_done(&made[i].bytes);
	return 0;
}

/* ---- the tests */

static void write_out(const char *folder, const file *f)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, f->name);
	FILE *out = fopen(path, "wb"); /* the folders must be there */
	assert_non_null(out);
	assert_int_equal(fwrite(f->bytes.data, 1, f->bytes.len, out), f->bytes.len);
	assert_int_equal(fclose(out), 0);
}

TEST(the_files_come_out_bit_for_bit)
{
	const char *folder = getenv("SHERD_GOLDEN_OUT");
	for (size_t i = 0; i < made_count; i++) {
		char path[256];
		size_t len;
		if (folder)
			write_out(folder, &made[i]);
		(void)snprintf(path, sizeof(path), FOLDER "%.*s", SHD_RFDB_NAME_MAX, made[i].name);
		uint8_t *want = source_file_read(path, &len);
		if (len != made[i].bytes.len || memcmp(want, made[i].bytes.data, len) != 0)
			fail_msg("%s comes out differently", made[i].name);
		free(want);
	}
	assert_int_equal(made_count, 16);
}

TEST(the_files_pass_every_check)
{
	size_t segments = 0;
	for (size_t i = 0; i < made_count; i++) {
		shd_rfdb_segment s;
		shd_rfdb_sidecar x;
		if (!shd_str_ends(shd_str_of(made[i].name), ".seg"))
			continue;
		assert_ok(shd_rfdb_segment_open(made[i].bytes.data, made[i].bytes.len, &s, err));
		assert_ok(shd_rfdb_segment_check(&s, err));
		assert_true(shd_rfdb_segment_sorted(&s));
		assert_ok(shd_rfdb_sidecar_open(made[i + 1].bytes.data, made[i + 1].bytes.len, &x, err));
		assert_ok(shd_rfdb_sidecar_check(&x, &s, NULL, err));
		segments++;
	}
	assert_int_equal(segments, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_files_come_out_bit_for_bit),
		cmocka_unit_test(the_files_pass_every_check),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
