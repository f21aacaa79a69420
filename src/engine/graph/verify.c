/* engine/graph/verify.c - every document, every segment that any version names, and what the current version promises
 * about all of them together. */
#include "engine/graph/verify.h"

#include "base/limits.h"
#include "base/meter.h"
#include "base/pool.h"
#include "engine/graph/counts.h"
#include "engine/graph/open.h"
#include "engine/graph/snapshots.h"

#include <inttypes.h>
#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_graph, sherd_graph_close)
SHERD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHERD_AUTO_DEFINE(void, free)

typedef struct checked {
	sherd_rfdb_descriptor about; /* its texts are not looked at */
	sherd_report report;
} checked;

typedef struct checking {
	graph_place place;
	const sherd_verify_options *options;
	sherd_report *report;
	uint64_t current;
	bool planned;       /* writers need the plan */
	sherd_buf segments; /* of checked, each segment once */
	graph_ids seen;     /* their ids */
	sherd_meter meter;
} checking;

/* ---- documents */

/* Reads a document and lets decode() judge it; one that is not there is missing only if it must be there. */
typedef int decode_fn(checking *c, const char *text, size_t len, sherd_seal *seal, sherd_error *err);

static int check_document(checking *c, const char *name, bool needed, decode_fn *decode, sherd_error *err)
{
	graph_key key;
	char *made = NULL;
	size_t len = 0;
	sherd_seal seal = SHERD_SEAL_GOOD;
	sherd_error found = {0};
	TRY(sherd_graph_place_key(&c->place, name, &key, err));
	int rc = sherd_graph_place_get(&c->place, name, &made, &len, &found);
	SHERD_AUTO(void, free) owned = made;
	const char *text = owned;
	if (rc == SHERD_ENOTFOUND && !needed)
		return SHERD_OK;
	if (rc == SHERD_OK)
		rc = decode(c, text, len, &seal, &found);
	TRY(sherd_report_take(c->report, rc, &found, key.text, err));
	c->report->checked += len;
	if (rc == SHERD_OK && seal == SHERD_SEAL_ABSENT)
		return sherd_report_warn(c->report, key.text, "no-seal", err,
		                         "written by another program: nothing tells whether it was damaged");
	return SHERD_OK;
}

static int decode_current(checking *c, const char *text, size_t len, sherd_seal *seal, sherd_error *err)
{
	sherd_rfdb_current current;
	TRY(sherd_rfdb_current_decode(text, len, &current, err));
	if (current.making)
		return sherd_fail(err, SHERD_ENOTFOUND, "incomplete",
		                  "the database was not made to the end: make it again");
	c->current = current.version;
	*seal = current.seal;
	return SHERD_OK;
}

static int decode_config(checking *c, const char *text, size_t len, sherd_seal *seal, sherd_error *err)
{
	sherd_rfdb_config config;
	TRY(sherd_rfdb_config_decode(text, len, &config, err));
	c->planned = config.planner == SHERD_RFDB_DIRECTORY;
	*seal = config.seal;
	return SHERD_OK;
}

static int decode_index(checking *c, const char *text, size_t len, sherd_seal *seal, sherd_error *err)
{
	sherd_arena arena = {0};
	sherd_rfdb_index index;
	int rc = sherd_rfdb_index_decode(text, len, &c->place.limits, &arena, &index, err);
	if (rc == SHERD_OK)
		*seal = index.seal;
	sherd_arena_done(&arena);
	return rc;
}

static int decode_plan(checking *c, const char *text, size_t len, sherd_seal *seal, sherd_error *err)
{
	sherd_rfdb_plan plan;
	sherd_rfdb_plan_init(&plan, 0);
	int rc = sherd_rfdb_plan_decode(text, len, &c->place.limits, &plan, err);
	sherd_rfdb_plan_done(&plan);
	*seal = SHERD_SEAL_GOOD; /* only we write it: one without is refused above */
	return rc;
}

/* ---- versions */

static int note_segments(checking *c, const sherd_rfdb_descriptors *list, sherd_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		checked one = {.about = list->items[i]};
		bool ok;
		one.about.types = one.about.files = (sherd_rfdb_texts){0};
		if (sherd_graph_ids_add(&c->seen, one.about.id, 0, &ok) == GRAPH_IDS_NONE && ok)
			sherd_buf_append(&c->segments, &one, sizeof(one));
		if (!ok)
			return sherd_fail_nomem(err);
	}
	return sherd_buf_check(&c->segments, err);
}

static int check_version(checking *c, const graph_manifest_file *file, sherd_error *err)
{
	graph_version v;
	graph_key key;
	char name[SHERD_RFDB_NAME_MAX];
	sherd_error found = {0};
	sherd_rfdb_manifest_name(file->version, file->edit, name);
	TRY(sherd_graph_place_key(&c->place, name, &key, err));
	int rc = sherd_graph_version_load(&v, &c->place, file->version, &found);
	if (rc == SHERD_ENOTFOUND && file->version != c->current)
		return sherd_report_warn(c->report, key.text, "incomplete", err,
		                         "a version whose other manifests are gone");
	TRY(sherd_report_take(c->report, rc, &found, key.text, err));
	if (rc < 0)
		return SHERD_OK;
	c->report->checked += file->size;
	const sherd_rfdb_manifest *m = &v.manifest;
	const sherd_rfdb_descriptors *lists[] = {&m->nodes, &m->edges, &m->l1_nodes, &m->l1_edges};
	for (size_t i = 0; rc == SHERD_OK && i < COUNT_OF(lists); i++)
		rc = note_segments(c, lists[i], err);
	if (rc == SHERD_OK && v.unsealed)
		rc = sherd_report_warn(c->report, key.text, "no-seal", err,
		                       "written by another program: nothing tells whether it was damaged");
	sherd_graph_version_done(&v);
	return rc;
}

/* An edit beside a full manifest is not read by anybody, but may be needed when that is lost: it is decoded alone. */
static int decode_edit(checking *c, const char *text, size_t len, sherd_seal *seal, sherd_error *err)
{
	sherd_arena arena = {0};
	sherd_rfdb_edit edit;
	int rc = sherd_rfdb_edit_decode(text, len, &c->place.limits, &arena, &edit, err);
	if (rc == SHERD_OK)
		*seal = edit.seal;
	sherd_arena_done(&arena);
	return rc;
}

static int check_versions(checking *c, sherd_error *err)
{
	SHERD_AUTO_BUF files = {0};
	TRY(sherd_graph_list_manifests(&c->place, c->current, &files, err));
	const graph_manifest_file *list = (const graph_manifest_file *)(const void *)files.data;
	size_t count = files.len / sizeof(*list);
	for (size_t i = 0; i < count; i++) {
		char name[SHERD_RFDB_NAME_MAX];
		sherd_rfdb_manifest_name(list[i].version, list[i].edit, name);
		if (list[i].edit && i && list[i - 1].version == list[i].version)
			TRY(check_document(c, name, true, decode_edit, err));
		else
			TRY(check_version(c, &list[i], err));
	}
	if (!count || list[count - 1].version != c->current)
		return sherd_fail(err, SHERD_ECORRUPT, "no-version", "no manifest of the current version %" PRIu64,
		                  c->current);
	return SHERD_OK;
}

/* ---- segments */

static int hash_of(const graph_segment *s, sherd_error *err)
{
	uint8_t sha256[SHERD_SHA256_BYTES];
	if (!s->about.has_sha256)
		return SHERD_OK;
	sherd_sha256_of(s->rows.data, s->rows.size, sha256);
	if (memcmp(sha256, s->about.sha256, sizeof(sha256)) != 0)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-checksum", "the bytes are not those that were written");
	return SHERD_OK;
}

/* Ours must be whole; one that does not belong to a segment of another program was left by somebody before it. */
static int check_sidecar(const checking *c, checked *one, const graph_segment *s, sherd_error *err)
{
	char name[SHERD_RFDB_NAME_MAX];
	graph_key key;
	sherd_error found = {0};
	bool ours = s->about.has_sha256;
	sherd_rfdb_sidecar_name(s->about.shard, s->about.id, s->about.kind, name);
	TRY(sherd_graph_place_key(&c->place, name, &key, err));
	if (!s->index_reader)
		return sherd_report_warn(&one->report, key.text, "no-index", err,
		                         "there is none: it is built in memory whenever it is needed");
	bool fits = atomic_load(&s->index) != NULL;
	int rc = SHERD_OK;
	if (!fits && ours)
		rc = sherd_fail(&found, SHERD_ECORRUPT, "bad-index", "it does not belong to the segment");
	else if (fits && !c->options->quick)
		rc = sherd_rfdb_sidecar_check(&s->sidecar, &s->rows, &found);
	if (rc == SHERD_OK)
		rc = sherd_reader_check(s->index_reader, &found);
	one->report.checked += sherd_reader_size(s->index_reader);
	TRY(sherd_report_take(&one->report, rc, &found, key.text, err));
	if (!fits && !ours)
		return sherd_report_warn(&one->report, key.text, "no-index", err, "it belongs to another segment");
	return SHERD_OK;
}

static int check_segment(void *arg, size_t index, sherd_error *err)
{
	checking *c = arg;
	checked *one = (checked *)(void *)c->segments.data + index;
	char name[SHERD_RFDB_NAME_MAX];
	graph_key key;
	graph_segment *s = NULL;
	sherd_error found = {0}, cut = {0};
	sherd_rfdb_segment_name(one->about.shard, one->about.id, one->about.kind, name);
	TRY(sherd_graph_place_key(&c->place, name, &key, err));
	int rc = sherd_graph_segment_open(&s, &c->place, &one->about, false, &found);
	if (rc == SHERD_OK && !c->options->quick)
		rc = hash_of(s, &found);
	if (rc == SHERD_OK && !c->options->quick)
		rc = sherd_rfdb_segment_check(&s->rows, &found);
	/* What was read of a file that was cut off meanwhile proves nothing. */
	if (s && sherd_reader_check(s->reader, &cut) < 0) {
		found = cut;
		rc = cut.code;
	}
	int failed = rc;
	rc = sherd_report_take(&one->report, rc, &found, key.text, err);
	one->report.checked += s ? s->rows.size : 0;
	if (rc == SHERD_OK && failed == SHERD_OK && !one->about.has_sha256)
		rc = sherd_report_warn(&one->report, key.text, "no-checksum", err,
		                       "written by another program: only its structure was checked");
	if (rc == SHERD_OK && failed == SHERD_OK && s)
		rc = check_sidecar(c, one, s, err);
	sherd_graph_segment_close(s);
	return rc < 0 ? rc : sherd_meter_add(&c->meter, one->about.bytes, err);
}

static int check_segments(checking *c, sherd_error *err)
{
	checked *list = (checked *)(void *)c->segments.data;
	size_t count = c->segments.len / sizeof(*list);
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++)
		bytes += list[i].about.bytes;
	sherd_meter_init(&c->meter, c->options->progress, bytes);
	int rc = sherd_pool_run(c->options->pool, count, check_segment, c, err);
	sherd_meter_done(&c->meter);
	for (size_t i = 0; rc == SHERD_OK && i < count; i++)
		rc = sherd_report_merge(c->report, &list[i].report, err);
	return rc;
}

/* ---- the current version */

/* What we wrote has every key in one shard. */
static int check_strays(const sherd_graph *g, sherd_rfdb_kind kind, sherd_error *err)
{
	graph_row stray;
	int rc = sherd_graph_view_find_stray(&g->view, kind, &stray, err);
	if (rc <= 0)
		return rc;
	rc = sherd_fail(err, SHERD_ECORRUPT, "two-shards", "the key of row %" PRIu64 " is in another shard too",
	                stray.row);
	return sherd_graph_segment_blame(stray.segment, err, rc);
}

/* Does the node live in the shard? 1, or 0. */
static int has_node(const graph_view *v, uint32_t shard, sherd_u128 id, sherd_error *err)
{
	const graph_list *list = &v->lists[SHERD_RFDB_NODES];
	graph_range r = sherd_graph_list_shard(list, shard);
	int rc = 0;
	for (size_t i = r.from; i < r.to && !rc; i++)
		rc = sherd_graph_list_has_node(list, i, id, err);
	return rc > 0 && sherd_graph_ids_find(&v->dead_node_set, id) != GRAPH_IDS_NONE ? 0 : rc;
}

/* Where the manifest says so, an edge that lives has its source beside it. The edges of one source mostly follow each
 * other: it is looked up once. */
static int check_placed(const sherd_graph *g, size_t i, sherd_error *err)
{
	const graph_segment *s = g->view.lists[SHERD_RFDB_EDGES].items[i];
	sherd_u128 last = 0;
	bool beside = false;
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		sherd_rfdb_edge edge;
		TRY(sherd_graph_segment_read_edge(s, row, &edge, err));
		if (row == 0 || edge.src != last) {
			int found = has_node(&g->view, s->shard, edge.src, err);
			TRY(found);
			beside = found;
			last = edge.src;
		}
		const sherd_rfdb_edge_key key = {.src = edge.src, .dst = edge.dst, .type = edge.type};
		int lives = beside ? 0 : sherd_graph_view_edge_lives(&g->view, i, row, &key, err);
		TRY(lives);
		if (lives) {
			int rc = sherd_fail(err, SHERD_ECORRUPT, "no-source",
			                    "the source of edge %" PRIu64 " is not in its shard", row);
			return sherd_graph_segment_blame(s, err, rc);
		}
	}
	return SHERD_OK;
}

/* Searches pass over segments whose lists do not have what they look for. An empty list says nothing. */
static int check_list(const graph_segment *s, const sherd_rfdb_texts *list, sherd_rfdb_column column, sherd_error *err)
{
	sherd_map listed = {0};
	bool ok = true, whole = true;
	sherd_str text;
	uint64_t row = 0;
	for (size_t i = 0; ok && i < list->count; i++)
		(void)sherd_map_add(&listed, list->items[i], 0, &ok);
	for (; ok && whole && list->count && row < s->rows.rows; row++)
		whole = !sherd_rfdb_segment_text(&s->rows, column, row, &text) ||
		        sherd_map_find(&listed, text) != SHERD_MAP_NONE;
	sherd_map_done(&listed);
	if (!ok)
		return sherd_fail_nomem(err);
	return whole ? SHERD_OK
	             : sherd_fail(err, SHERD_ECORRUPT, "bad-manifest",
	                          "its types or files of segment %" PRIu64 " are without those of row %" PRIu64,
	                          s->about.id, row - 1);
}

static int check_lists(const sherd_graph *g, sherd_error *err)
{
	const graph_list *nodes = &g->view.lists[SHERD_RFDB_NODES], *edges = &g->view.lists[SHERD_RFDB_EDGES];
	for (size_t i = 0; i < nodes->count; i++) {
		const graph_segment *s = nodes->items[i];
		TRY(check_list(s, &s->about.types, SHERD_RFDB_NODE_TYPE, err));
		TRY(check_list(s, &s->about.files, SHERD_RFDB_FILE, err));
	}
	for (size_t i = 0; i < edges->count; i++)
		TRY(check_list(edges->items[i], &edges->items[i]->about.types, SHERD_RFDB_EDGE_TYPE, err));
	return SHERD_OK;
}

static bool same_counts(const graph_counts *a, const graph_counts *b)
{
	for (unsigned kind = 0; kind < 2; kind++) {
		if (a->types[kind] != b->types[kind])
			return false;
		for (size_t i = 0; i < a->types[kind]; i++) {
			const sherd_rfdb_count *x = &a->of[kind][i], *y = &b->of[kind][i];
			if (x->count != y->count || x->type.len != y->type.len ||
			    memcmp(x->type.ptr, y->type.ptr, x->type.len) != 0)
				return false;
		}
	}
	return true;
}

static int check_counts(sherd_graph *g, sherd_error *err)
{
	graph_counts said = g->counts;
	const graph_counts *counted;
	g->counts = (graph_counts){0};
	int rc = sherd_graph_counts_know(g, &counted, err);
	if (rc == SHERD_OK && !same_counts(&said, counted))
		rc = sherd_fail(err, SHERD_ECORRUPT, "bad-count", "the manifest counts other records than live");
	sherd_graph_counts_done(&said);
	return rc;
}

static int check_together(checking *c, sherd_store *store, const char *folder, sherd_error *err)
{
	SHERD_AUTO(sherd_graph, sherd_graph_close) g = NULL;
	const sherd_graph_options o = {.read_only = true, .limits = &c->place.limits};
	sherd_error found = {0};
	char name[SHERD_RFDB_NAME_MAX];
	graph_key key;
	sherd_rfdb_manifest_name(c->current, false, name);
	TRY(sherd_graph_place_key(&c->place, name, &key, err));
	int rc = sherd_graph_open(&g, store, folder, &o, &found);
	if (rc == SHERD_OK && !c->options->quick)
		rc = check_lists(g, &found);
	if (rc == SHERD_OK && g->counts.known && !c->options->quick) {
		rc = check_strays(g, SHERD_RFDB_NODES, &found);
		if (rc == SHERD_OK)
			rc = check_strays(g, SHERD_RFDB_EDGES, &found);
		for (size_t i = 0; rc == SHERD_OK && g->view.placed && i < g->view.lists[SHERD_RFDB_EDGES].count; i++)
			rc = check_placed(g, i, &found);
		if (rc == SHERD_OK)
			rc = check_counts(g, &found);
	}
	return sherd_report_take(c->report, rc, &found, key.text, err);
}

static int check_all(checking *c, sherd_store *store, const char *folder, sherd_error *err)
{
	sherd_error found = {0};
	graph_key key;
	TRY(sherd_graph_place_key(&c->place, SHERD_RFDB_CURRENT, &key, err));
	TRY(check_document(c, SHERD_RFDB_CURRENT, true, decode_current, err));
	TRY(check_document(c, SHERD_RFDB_CONFIG, true, decode_config, err));
	TRY(check_document(c, SHERD_RFDB_PLAN, c->planned, decode_plan, err));
	TRY(check_document(c, SHERD_RFDB_INDEX, false, decode_index, err));
	if (sherd_report_errors(c->report))
		return SHERD_OK;
	int rc = check_versions(c, &found);
	TRY(sherd_report_take(c->report, rc, &found, key.text, err));
	TRY(check_segments(c, err));
	if (sherd_report_errors(c->report))
		return SHERD_OK;
	return check_together(c, store, folder, err);
}

int sherd_graph_verify(sherd_report *r, sherd_store *store, const char *folder, const sherd_verify_options *options,
                       sherd_error *err)
{
	checking c = {.options = options, .report = r};
	TRY(sherd_graph_place_init(&c.place, store, folder, options->limits, err));
	int rc = check_all(&c, store, folder, err);
	checked *list = (checked *)(void *)c.segments.data;
	for (size_t i = 0; i < c.segments.len / sizeof(*list); i++) {
		sherd_buf_done(&list[i].report.errors);
		sherd_buf_done(&list[i].report.warnings);
	}
	sherd_buf_done(&c.segments);
	sherd_graph_ids_done(&c.seen);
	sherd_graph_place_done(&c.place);
	return rc;
}
