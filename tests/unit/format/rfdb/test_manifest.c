#include "support/fixtures.h"
#include "support/rfdb_files.h"
#include "support/scratch.h"
#include "support/source_file.h"
#include "support/test.h"

#include "format/rfdb/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static shd_arena arena;

static int end(void **state)
{
	(void)state;
	shd_arena_done(&arena);
	arena = (shd_arena){0};
	return 0;
}

static shd_rfdb_manifest manifest_of(const char *text)
{
	shd_rfdb_manifest m = {0};
	assert_ok(shd_rfdb_manifest_decode(text, strlen(text), NULL, &arena, &m, err));
	return m;
}

static shd_rfdb_edit edit_of(const char *text)
{
	shd_rfdb_edit e = {0};
	assert_ok(shd_rfdb_edit_decode(text, strlen(text), NULL, &arena, &e, err));
	return e;
}

#define STATS "\"stats\":{\"total_nodes\":0,\"total_edges\":0,\"node_segment_count\":0,\"edge_segment_count\":0}"
#define SEGMENT(id) "{\"segment_id\":" #id ",\"segment_type\":\"Nodes\",\"record_count\":1,\"byte_size\":9}"
#define BASE(more)                                                                                         \
	"{\"version\":5,\"created_at\":7,\"edge_segments\":[],\"node_segments\":[" SEGMENT(1) "," SEGMENT( \
		2) "]," STATS more "}"
#define EDIT(version, parent, more) \
	"{\"version\":" #version ",\"parent_version\":" #parent ",\"created_at\":8," STATS more "}"

/* ---- whole documents */

static const shd_str types[] = {{"CLASS", 5}, {"FUNCTION", 8}}, files[] = {{"src/\"a\".js", 10}, {"src/b.js", 8}};
static const shd_rfdb_descriptor node_segments[] = {
	{.id = 3,
         .kind = SHD_RFDB_NODES,
         .shard = 2,
         .rows = 10,
         .bytes = 1000,
         .types = {types, 2},
         .files = {files, 2},
         .has_sha256 = true,
         .sha256 = {1, 2, 3}},
	{.id = 5, .kind = SHD_RFDB_NODES, .shard = SHD_RFDB_FLAT, .rows = UINT64_MAX, .bytes = 480},
};
static const shd_rfdb_descriptor edge_segments[] = {
	{.id = 4, .kind = SHD_RFDB_EDGES, .shard = 65534, .rows = 1, .bytes = 1, .types = {types, 1}}};
static const shd_u128 dead[] = {1, ~(shd_u128)0};
static const shd_rfdb_edge_key dead_edges[] = {{1, ~(shd_u128)0, {"CALLS", 5}}, {2, 3, {"", 0}}};
static const shd_rfdb_tag tags[] = {{{"commit", 6}, {"abc\n", 4}}};
static const shd_rfdb_count counts[] = {{{"CLASS", 5}, 4}, {{"FUNCTION", 8}, UINT64_MAX}};
static const uint64_t removed[] = {1, UINT64_MAX};

static const shd_rfdb_manifest full = {
	.version = 9,
	.created_at = 1794725537,
	.has_parent = true,
	.parent = 8,
	.nodes = {node_segments, 2},
	.edges = {edge_segments, 1},
	.l1_nodes = {node_segments + 1, 1},
	.dead_nodes = {dead, 2},
	.dead_edges = {dead_edges, 2},
	.tags = {tags, 1},
	.stats = {1, 2, 3, 4},
	.compaction = {5, 6, 7},
	.counts = {.known = true, .of = {[SHD_RFDB_NODES] = {counts, 2}}, .placed = true},
	.given_up = {removed, 2},
};

static const shd_rfdb_edit change = {
	.version = 10,
	.parent = 9,
	.created_at = 1794725538,
	.added_nodes = {node_segments, 2},
	.added_edges = {edge_segments, 1},
	.removed_nodes = {removed, 2},
	.removed_edges = {removed, 1},
	.dead_nodes = {dead, 2},
	.undead_nodes = {dead, 1},
	.dead_edges = {dead_edges, 2},
	.undead_edges = {dead_edges, 1},
	.has_l1_nodes = true,
	.has_l1_edges = true,
	.l1_edges = {edge_segments, 1},
	.tags = {tags, 1},
	.stats = {1, 2, 3, 4},
	.counts = {.known = true, .of = {[SHD_RFDB_EDGES] = {counts, 1}}},
};

TEST(a_manifest_reads_back)
{
	SHD_AUTO_BUF text = {0}, again = {0};
	shd_rfdb_manifest m;
	shd_rfdb_manifest_encode(&full, &text);
	assert_ok(shd_rfdb_manifest_decode(text.data, text.len, NULL, &arena, &m, err));
	assert_int_equal(m.seal, SHD_SEAL_GOOD);
	assert_true(m.version == 9 && m.created_at == 1794725537 && m.has_parent && m.parent == 8);
	assert_true(m.nodes.count == 2 && m.edges.count == 1 && m.l1_nodes.count == 1 && m.l1_edges.count == 0);
	const shd_rfdb_descriptor *d = m.nodes.items;
	assert_true(d->id == 3 && d->kind == SHD_RFDB_NODES && d->shard == 2 && d->rows == 10 && d->bytes == 1000);
	assert_true(d->types.count == 2 && shd_str_is(d->types.items[1], "FUNCTION"));
	assert_true(d->files.count == 2 && shd_str_is(d->files.items[0], "src/\"a\".js"));
	assert_true(d->has_sha256 && d->sha256[2] == 3 && !d[1].has_sha256);
	assert_true(d[1].shard == SHD_RFDB_FLAT && d[1].rows == UINT64_MAX);
	assert_true(m.dead_nodes.count == 2 && m.dead_nodes.items[1] == ~(shd_u128)0);
	assert_true(m.dead_edges.count == 2 && m.dead_edges.items[0].dst == ~(shd_u128)0);
	assert_true(shd_str_is(m.dead_edges.items[0].type, "CALLS"));
	assert_true(m.tags.count == 1 && shd_str_is(m.tags.items[0].value, "abc\n"));
	assert_true(m.stats.nodes == 1 && m.stats.edge_segments == 4);
	assert_true(m.compaction.version == 5 && m.compaction.time_ms == 6 && m.compaction.merged == 7);
	assert_true(m.counts.known && m.counts.placed && m.counts.of[SHD_RFDB_NODES].count == 2 &&
	            m.counts.of[SHD_RFDB_NODES].items[1].count == UINT64_MAX);
	assert_true(m.given_up.count == 2 && m.given_up.items[1] == UINT64_MAX);
	shd_rfdb_manifest_encode(&m, &again);
	assert_int_equal(again.len, text.len);
	assert_memory_equal(again.data, text.data, text.len);
}

TEST(an_edit_reads_back)
{
	SHD_AUTO_BUF text = {0}, again = {0};
	shd_rfdb_edit e;
	shd_rfdb_edit_encode(&change, &text);
	assert_ok(shd_rfdb_edit_decode(text.data, text.len, NULL, &arena, &e, err));
	assert_int_equal(e.seal, SHD_SEAL_GOOD);
	assert_true(e.version == 10 && e.parent == 9 && e.added_nodes.count == 2 && e.added_edges.count == 1);
	assert_true(e.removed_nodes.count == 2 && e.removed_nodes.items[1] == UINT64_MAX);
	assert_true(e.has_l1_nodes && e.l1_nodes.count == 0 && e.has_l1_edges && e.l1_edges.count == 1);
	assert_true(e.undead_nodes.count == 1 && e.undead_edges.count == 1 && e.counts.of[SHD_RFDB_EDGES].count == 1 &&
	            !e.counts.placed);
	shd_rfdb_edit_encode(&e, &again);
	assert_int_equal(again.len, text.len);
	assert_memory_equal(again.data, text.data, text.len);
}

TEST(what_is_empty_is_left_out_as_the_real_server_does)
{
	static const char want[] = "{\n"
				   "  \"version\": 1,\n"
				   "  \"created_at\": 2,\n"
				   "  \"node_segments\": [],\n"
				   "  \"edge_segments\": [],\n"
				   "  \"tags\": {},\n"
				   "  \"stats\": {\n"
				   "    \"total_nodes\": 0,\n"
				   "    \"total_edges\": 0,\n"
				   "    \"node_segment_count\": 0,\n"
				   "    \"edge_segment_count\": 0\n"
				   "  },\n"
				   "  \"sha256\": \"";
	SHD_AUTO_BUF text = {0};
	shd_rfdb_manifest_encode(&(shd_rfdb_manifest){.version = 1, .created_at = 2}, &text);
	assert_memory_equal(text.data, want, strlen(want));
	assert_int_equal(text.len, strlen(want) + SHD_SHA256_HEX + 3);
}

TEST(no_flipped_bit_goes_unnoticed_where_there_is_a_seal)
{
	SHD_AUTO_BUF text = {0};
	shd_rfdb_manifest m;
	shd_rfdb_manifest_encode(&full, &text);
	for (size_t i = 0; i < text.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			text.data[i] ^= (uint8_t)(1u << bit);
			int rc = shd_rfdb_manifest_decode(text.data, text.len, NULL, &arena, &m, NULL);
			assert_true(rc < 0 || m.seal != SHD_SEAL_GOOD);
			text.data[i] ^= (uint8_t)(1u << bit);
		}
}

/* ---- the chain */

TEST(edits_are_applied_in_their_order)
{
	shd_rfdb_manifest base =
		manifest_of(BASE(",\"tombstoned_node_ids\":[10,11,12],"
	                         "\"tombstoned_edge_keys\":[[1,2,\"A\"],[1,2,\"B\"]],"
	                         "\"given_up\":[2],\"l1_node_segments\":[" SEGMENT(
					 9) "],\"tags\":{\"a\":\"b\"},"
	                                    "\"last_compaction\":{\"manifest_version\":3,\"timestamp_ms\":4,"
	                                    "\"l0_segments_merged\":5}"));
	shd_rfdb_edit edits[] = {
		edit_of(EDIT(
			6, 5,
			",\"removed_node_segment_ids\":[1],\"added_node_segments\":[" SEGMENT(3) "," SEGMENT(
				1) "],"
				   "\"added_tombstone_nodes\":[13,11],\"removed_tombstone_nodes\":[10,13],"
				   "\"removed_tombstone_edges\":[[1,2,\"A\"]],\"added_tombstone_edges\":[[1,2,\"C\"]],"
				   "\"tags\":{\"x\":\"y\"}")),
		edit_of(EDIT(7, 6,
	                     ",\"removed_node_segment_ids\":[3,2],\"added_node_segments\":[" SEGMENT(
				     4) "],"
	                                "\"added_tombstone_nodes\":[10,14],\"removed_tombstone_nodes\":[12],"
	                                "\"added_tombstone_edges\":[[1,2,\"A\"]],\"removed_tombstone_edges\":[[1,2,"
	                                "\"C\"]]")),
	};
	shd_rfdb_manifest m;
	assert_ok(shd_rfdb_manifest_apply(&base, edits, 2, &arena, &m, err));
	assert_true(m.version == 7 && m.parent == 6 && m.created_at == 8);
	assert_int_equal(m.nodes.count, 2);
	assert_true(m.nodes.items[0].id == 1 && m.nodes.items[1].id == 4);
	assert_int_equal(m.dead_nodes.count, 3);
	assert_true(m.dead_nodes.items[0] == 10 && m.dead_nodes.items[1] == 11 && m.dead_nodes.items[2] == 14);
	assert_int_equal(m.dead_edges.count, 2);
	assert_true(shd_str_is(m.dead_edges.items[0].type, "A") && shd_str_is(m.dead_edges.items[1].type, "B"));
	assert_int_equal(m.l1_nodes.count, 1);
	assert_int_equal(m.tags.count, 0);
	assert_int_equal(m.compaction.version, 3);
	assert_true(m.given_up.count == 1 && m.given_up.items[0] == 2);
	assert_ok(shd_rfdb_manifest_apply(&base, edits, 1, &arena, &m, err));
	assert_int_equal(m.tags.count, 1);
	assert_true(m.nodes.count == 3 && m.nodes.items[0].id == 2 && m.nodes.items[1].id == 3 &&
	            m.nodes.items[2].id == 1);
	assert_ok(shd_rfdb_manifest_apply(&base, edits, 0, &arena, &m, err));
	assert_true(m.version == 5 && m.nodes.count == 2 && m.dead_nodes.count == 3);
}

TEST(an_edit_may_replace_the_older_level)
{
	shd_rfdb_manifest base = manifest_of(BASE(",\"l1_node_segments\":[" SEGMENT(9) "]")), m;
	shd_rfdb_edit cleared = edit_of(EDIT(6, 5, ",\"l1_node_segments\":[]")),
		      silent = edit_of(EDIT(6, 5, ",\"l1_node_segments\":null"));
	assert_ok(shd_rfdb_manifest_apply(&base, &cleared, 1, &arena, &m, err));
	assert_int_equal(m.l1_nodes.count, 0);
	assert_ok(shd_rfdb_manifest_apply(&base, &silent, 1, &arena, &m, err));
	assert_int_equal(m.l1_nodes.count, 1);
}

TEST(an_edit_must_follow_what_is_in_front_of_it)
{
	shd_rfdb_manifest base = manifest_of(BASE("")), m;
	shd_rfdb_edit six = edit_of(EDIT(6, 5, "")), seven = edit_of(EDIT(7, 6, "")), itself = edit_of(EDIT(6, 6, "")),
		      back = edit_of(EDIT(5, 4, ""));
	const shd_rfdb_edit wrong[][2] = {{seven, six}, {six, six}, {itself, seven}, {back, six}, {six, itself}};
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_refused(SHERD_ECORRUPT, "bad-version",
		               shd_rfdb_manifest_apply(&base, wrong[i], 2, &arena, &m, err));
	base.version = UINT64_MAX;
	six.version = 0;
	six.parent = UINT64_MAX;
	assert_refused(SHERD_ECORRUPT, "bad-version", shd_rfdb_manifest_apply(&base, &six, 1, &arena, &m, err));
}

TEST(a_segment_is_named_once)
{
	shd_rfdb_manifest base = manifest_of(BASE("")),
			  twice = manifest_of(BASE(",\"l1_node_segments\":[" SEGMENT(2) "]"));
	assert_ok(shd_rfdb_manifest_check(&base, err));
	assert_refused(SHERD_ECORRUPT, "duplicate-id", shd_rfdb_manifest_check(&twice, err));
	assert_refused(SHERD_ECORRUPT, "duplicate-id", shd_rfdb_manifest_check(&full, err));
}

TEST(a_million_tombstones_are_a_matter_of_their_bytes)
{
	enum { MANY = 1000000 };
	SHD_AUTO_BUF text = {0};
	shd_rfdb_manifest m, out;
	shd_buf_str(&text, "{\"version\":5,\"created_at\":7,\"edge_segments\":[],\"node_segments\":[]," STATS
	                   ",\"tombstoned_node_ids\":[1");
	for (unsigned i = 1; i < MANY; i++)
		shd_buf_printf(&text, ",%u", i % (MANY / 2) + 1);
	shd_buf_str(&text, "]}");
	assert_ok(shd_rfdb_manifest_decode(text.data, text.len, NULL, &arena, &m, err));
	assert_int_equal(m.dead_nodes.count, MANY);
	shd_rfdb_edit six = edit_of(EDIT(6, 5, ",\"removed_tombstone_nodes\":[7]"));
	assert_ok(shd_rfdb_manifest_apply(&m, &six, 1, &arena, &out, err));
	assert_int_equal(out.dead_nodes.count, MANY / 2 - 1);
	assert_true(out.dead_nodes.items[5] == 6 && out.dead_nodes.items[6] == 8);
	assert_refused(SHERD_ELIMIT, "too-long",
	               shd_rfdb_manifest_decode(text.data, text.len, &(sherd_limits){.metadata_bytes = 1000}, &arena,
	                                        &m, err));
}

TEST(statistics_are_summed_up)
{
	shd_rfdb_stats s = shd_rfdb_stats_of(node_segments, 1, edge_segments, 1);
	assert_true(s.nodes == 10 && s.edges == 1 && s.node_segments == 1 && s.edge_segments == 1);
}

/* ---- the small files */

TEST(small_files_read_back)
{
	SHD_AUTO_BUF current = {0}, config = {0}, index = {0}, again = {0};
	const struct shd_rfdb_tagged tagged[] = {
		{{"a", 1}, {"x", 1}, 4}, {{"a", 1}, {"y", 1}, 5}, {{"b", 1}, {"x", 1}, 4}};
	const shd_rfdb_snapshot snapshots[] = {
		{.version = 4, .created_at = 3, .tags = {tags, 1}, .stats = {1, 2, 3, 4}}};
	shd_rfdb_index x = {.latest = 5,
	                    .snapshots = snapshots,
	                    .count = 1,
	                    .tagged = tagged,
	                    .tagged_count = 3,
	                    .segments = {removed, 2}};
	shd_rfdb_config c = {.shards = 65535, .planner = SHD_RFDB_DIRECTORY, .created_at = 17};
	shd_rfdb_current head = {.version = UINT64_MAX, .fence = 7, .vacant = true};
	shd_rfdb_current_encode(&head, &current);
	head = (shd_rfdb_current){0};
	assert_ok(shd_rfdb_current_decode(current.data, current.len, &head, err));
	assert_true(head.version == UINT64_MAX && head.fence == 7 && head.vacant && head.seal == SHD_SEAL_GOOD);
	shd_rfdb_config_encode(&c, &config);
	assert_ok(shd_rfdb_config_decode(config.data, config.len, &c, err));
	assert_true(c.shards == 65535 && c.planner == SHD_RFDB_DIRECTORY && c.created_at == 17);
	shd_rfdb_index_encode(&x, &index);
	assert_ok(shd_rfdb_index_decode(index.data, index.len, NULL, &arena, &x, err));
	assert_true(x.latest == 5 && x.count == 1 && x.tagged_count == 3 && x.segments.count == 2);
	assert_true(shd_str_is(x.tagged[1].value, "y") && shd_str_is(x.tagged[2].key, "b"));
	shd_rfdb_index_encode(&x, &again);
	assert_int_equal(again.len, index.len);
	assert_memory_equal(again.data, index.data, index.len);
}

static int config(const char *text, sherd_error *err)
{
	shd_rfdb_config c;
	return shd_rfdb_config_decode(text, strlen(text), &c, err);
}

static int current(const char *text, sherd_error *err)
{
	shd_rfdb_current head;
	return shd_rfdb_current_decode(text, strlen(text), &head, err);
}

/* S-12: documents of ours have a seal and a version, too. */
TEST(another_sealed_document_is_no_current_json)
{
	SHD_AUTO_BUF small = {0}, large = {0};
	shd_rfdb_current head;
	shd_rfdb_config_encode(&(shd_rfdb_config){.shards = 2}, &small);
	shd_rfdb_manifest_encode(&(shd_rfdb_manifest){.version = 3}, &large);
	assert_refused(SHERD_ECORRUPT, "not-current", shd_rfdb_current_decode(small.data, small.len, &head, err));
	assert_refused(SHERD_ECORRUPT, "not-current", shd_rfdb_current_decode(large.data, large.len, &head, err));
	assert_ok(current("{\"version\":3,\"more\":[]}", err));
}

TEST(small_files_that_say_too_little_or_too_much_are_refused)
{
	assert_ok(config("{\"shard_count\":2,\"created_at\":\"yesterday\",\"x\":[]}", err));
	assert_refused(SHERD_ECORRUPT, "missing-key", config("{}", err));
	assert_refused(SHERD_ECORRUPT, "out-of-range", config("{\"shard_count\":0}", err));
	assert_refused(SHERD_ECORRUPT, "out-of-range", config("{\"shard_count\":65536}", err));
	assert_refused(SHERD_EUNSUPPORTED, "bad-argument", config("{\"shard_count\":1,\"planner\":\"luck\"}", err));
	assert_refused(SHERD_ECORRUPT, "missing-key", current("{}", err));
	assert_refused(SHERD_ECORRUPT, "bad-number", current("{\"version\":-1}", err));
	assert_refused(SHERD_ECORRUPT, "bad-json", current("{\"version\":1}}", err));
}

/* ---- the corpus */

/* y_, n_ or i_, then what kind of document it is. */
static void judge(const char *name, const uint8_t *data, size_t len)
{
	shd_rfdb_manifest m;
	shd_rfdb_edit e;
	sherd_error error = {0};
	int rc = strncmp(name + 2, "edit", 4) == 0 ? shd_rfdb_edit_decode(data, len, NULL, &arena, &e, &error)
	                                           : shd_rfdb_manifest_decode(data, len, NULL, &arena, &m, &error);
	if ((name[0] == 'y' && rc < 0) || (name[0] == 'n' && rc >= 0))
		fail_msg("%s: %s", name, rc < 0 ? error.message : "accepted");
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	assert_true(source_folder_each("tests/corpus/rfdb_manifest", judge) > 30);
}

/* ---- the real server's */

static uint8_t *fixture(const char *folder, const char *name, size_t *len)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/history-l0-l1-edits-tombstones.rfdb/%s", folder, name);
	return source_file_read(path, len);
}

static bool same_segments(const shd_rfdb_descriptors *a, const shd_rfdb_descriptors *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++)
		same = a->items[i].id == b->items[i].id && a->items[i].shard == b->items[i].shard &&
		       a->items[i].bytes == b->items[i].bytes && a->items[i].files.count == b->items[i].files.count;
	return same;
}

/* The real server wrote version 4 both ways, when it was tagged. */
TEST(edits_of_the_real_server_add_up_to_its_own_manifest)
{
	(void)fixtures_folder();
	static const char *const names[] = {"manifests/000002.edit.json", "manifests/000003.edit.json",
	                                    "manifests/000004.edit.json"};
	char *folder = rfdb_unpack("history");
	uint8_t *texts[5];
	size_t len;
	shd_rfdb_manifest base, whole, made;
	shd_rfdb_edit edits[3];
	texts[3] = fixture(folder, "manifests/000001.json", &len);
	assert_ok(shd_rfdb_manifest_decode(texts[3], len, NULL, &arena, &base, err));
	assert_int_equal(base.seal, SHD_SEAL_ABSENT);
	for (size_t i = 0; i < 3; i++) {
		texts[i] = fixture(folder, names[i], &len);
		assert_ok(shd_rfdb_edit_decode(texts[i], len, NULL, &arena, &edits[i], err));
	}
	texts[4] = fixture(folder, "manifests/000004.json", &len);
	assert_ok(shd_rfdb_manifest_decode(texts[4], len, NULL, &arena, &whole, err));
	assert_ok(shd_rfdb_manifest_apply(&base, edits, 3, &arena, &made, err));
	assert_int_equal(made.version, whole.version);
	assert_true(same_segments(&made.nodes, &whole.nodes) && same_segments(&made.edges, &whole.edges));
	assert_int_equal(made.dead_nodes.count, whole.dead_nodes.count);
	assert_int_equal(made.dead_edges.count, whole.dead_edges.count);
	assert_memory_equal(&made.stats, &whole.stats, sizeof(made.stats));
	assert_ok(shd_rfdb_manifest_check(&made, err));
	for (size_t i = 0; i < 5; i++)
		free(texts[i]);
	scratch_remove(folder);
}

static void decode_any(const char *path, const uint8_t *data, size_t len)
{
	shd_str name = shd_str_of(path);
	shd_rfdb_manifest m;
	shd_rfdb_edit e;
	shd_rfdb_index x;
	shd_rfdb_config c;
	shd_rfdb_current head;
	if (shd_str_ends(name, ".edit.json"))
		assert_ok(shd_rfdb_edit_decode(data, len, NULL, &arena, &e, err));
	else if (shd_str_ends(name, SHD_RFDB_INDEX))
		assert_ok(shd_rfdb_index_decode(data, len, NULL, &arena, &x, err));
	else if (shd_str_ends(name, SHD_RFDB_CONFIG))
		assert_ok(shd_rfdb_config_decode(data, len, &c, err));
	else if (shd_str_ends(name, SHD_RFDB_CURRENT))
		assert_ok(shd_rfdb_current_decode(data, len, &head, err));
	else
		assert_ok(shd_rfdb_manifest_decode(data, len, NULL, &arena, &m, err));
}

TEST(every_document_of_the_real_server_is_read)
{
	(void)fixtures_folder();
	char *folder = rfdb_unpack("history");
	assert_int_equal(rfdb_each_file(folder, ".json", decode_any), 13);
	scratch_remove(folder);
	folder = rfdb_unpack("tiny-5n5e");
	assert_int_equal(rfdb_each_file(folder, ".json", decode_any), 5);
	scratch_remove(folder);
}

#define CASE(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_manifest_reads_back),
		CASE(an_edit_reads_back),
		CASE(what_is_empty_is_left_out_as_the_real_server_does),
		CASE(no_flipped_bit_goes_unnoticed_where_there_is_a_seal),
		CASE(edits_are_applied_in_their_order),
		CASE(an_edit_may_replace_the_older_level),
		CASE(an_edit_must_follow_what_is_in_front_of_it),
		CASE(a_segment_is_named_once),
		CASE(a_million_tombstones_are_a_matter_of_their_bytes),
		CASE(statistics_are_summed_up),
		CASE(small_files_read_back),
		CASE(another_sealed_document_is_no_current_json),
		CASE(small_files_that_say_too_little_or_too_much_are_refused),
		CASE(the_corpus_is_judged_as_its_names_say),
		CASE(edits_of_the_real_server_add_up_to_its_own_manifest),
		CASE(every_document_of_the_real_server_is_read),
	};
	return cmocka_run_group_tests_name("rfdb_manifest", tests, NULL, NULL);
}
