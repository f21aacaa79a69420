#include "support/graph_play.h"

#include "format/rfdb/manifest.h"
#include "support/graph_moved.h"

#include <sherd/verify.h>

#include <string.h>

enum { KEYS = 2, READERS = 3, VERSIONS = 512, BATCH = 3, UPDATE = 6 };

typedef struct version {
	uint64_t number;
	unsigned tags[KEYS]; /* what the values say; 0: not tagged */
	graph_naive model;
} version;

typedef struct reader {
	sherd_graph *graph;
	uint64_t version;
	graph_naive model;
} reader;

struct graph_play {
	sherd_store *store;
	sherd_graph *graph;
	graph_naive model;
	graph_pick_fn *pick;
	void *arg;
	unsigned turn;
	bool spilled;
	version *versions; /* that can be opened, oldest first */
	size_t version_count;
	reader readers[READERS];
};

static unsigned pick(graph_play *p, unsigned below)
{
	return p->pick(p->arg, below);
}

static const char *tag_key(unsigned key)
{
	return key ? "second" : "first";
}

/* ---- versions */

static void note_version(graph_play *p)
{
	uint64_t number = sherd_graph_version(p->graph);
	must(p->version_count < VERSIONS);
	if (p->version_count && p->versions[p->version_count - 1].number == number)
		return;
	p->versions[p->version_count++] = (version){.number = number, .model = p->model};
}

static void open_writer(graph_play *p)
{
	must_ok(sherd_graph_open(&p->graph, p->store, "db", NULL, err));
}

static void flush(graph_play *p)
{
	uint64_t before = sherd_graph_version(p->graph);
	bool dirty = sherd_graph_pending(p->graph) || p->spilled;
	const sherd_graph_commit_options commit = {.time_ns = 1000000000 * (int64_t)p->turn};
	must_ok(sherd_graph_flush(p->graph, &commit, err));
	must(sherd_graph_version(p->graph) == before + dirty);
	must(sherd_graph_pending(p->graph) == 0);
	p->spilled = false;
	note_version(p);
}

static void spill(graph_play *p)
{
	bool dirty = sherd_graph_pending(p->graph);
	must_ok(sherd_graph_spill(p->graph, err));
	p->spilled = p->spilled || dirty;
}

static void compact(graph_play *p)
{
	sherd_graph_totals totals;
	must_ok(sherd_graph_compact(p->graph, NULL, err));
	p->spilled = false;
	note_version(p);
	must_ok(sherd_graph_stats(&totals, p->graph, err));
	must(totals.tombstones == 0);
	must(totals.segments <= 2 * totals.shards);
	graph_check_placed(p->graph);
}

/* Sometimes the planner says something else by then. */
static void reopen(graph_play *p, bool keep)
{
	enum { FEW = 12 };
	if (keep)
		flush(p);
	bool otherwise = pick(p, 4) == 0 && sherd_graph_layout_of(p->graph).shards < FEW;
	sherd_graph_close(p->graph);
	if (otherwise)
		graph_plan_otherwise(p->store, "db");
	open_writer(p);
	p->spilled = false;
	p->model = p->versions[p->version_count - 1].model;
	must(sherd_graph_version(p->graph) == p->versions[p->version_count - 1].number);
}

static void tag(graph_play *p)
{
	version *v = &p->versions[pick(p, (unsigned)p->version_count)];
	unsigned key = pick(p, KEYS);
	bool set = pick(p, 3);
	char value[16];
	(void)snprintf(value, sizeof(value), "%u", p->turn);
	must_ok(sherd_graph_set_tag(p->graph, v->number, tag_key(key), set ? value : NULL, err));
	v->tags[key] = set ? p->turn : 0;
}

static bool is_read(const graph_play *p, uint64_t number)
{
	for (unsigned i = 0; i < READERS; i++)
		if (p->readers[i].graph && p->readers[i].version == number)
			return true;
	return false;
}

static void collect(graph_play *p)
{
	const sherd_graph_gc_options o = {.keep = pick(p, 4), .untag = pick(p, 4) == 0};
	sherd_graph_gc_result result = {0};
	size_t keep = o.keep ? o.keep : 1, kept = 0, held = 0;
	if (p->spilled) {
		must(sherd_graph_gc(p->graph, &o, &result, NULL) == SHERD_EINVAL);
		return;
	}
	must_ok(sherd_graph_gc(p->graph, &o, &result, err));
	size_t before = p->version_count;
	for (size_t i = 0; i < before; i++) {
		const version *v = &p->versions[i];
		bool stays = before - i <= keep || (!o.untag && (v->tags[0] || v->tags[1]));
		held += !stays && is_read(p, v->number);
		if (stays || is_read(p, v->number))
			p->versions[kept++] = *v;
	}
	p->version_count = kept;
	must(result.versions == before - kept);
	must(result.held == held);
}

static void open_reader(graph_play *p)
{
	reader *r = &p->readers[pick(p, READERS)];
	const version *v = &p->versions[pick(p, (unsigned)p->version_count)];
	const sherd_graph_options o = {.version = v->number};
	sherd_graph_close(r->graph);
	r->graph = NULL;
	must_ok(sherd_graph_open(&r->graph, p->store, "db", &o, err));
	r->version = v->number;
	r->model = v->model;
	must(sherd_graph_version(r->graph) == v->number);
}

static void close_readers(graph_play *p)
{
	for (unsigned i = 0; i < READERS; i++) {
		sherd_graph_close(p->readers[i].graph);
		p->readers[i].graph = NULL;
	}
}

static void reshard(graph_play *p)
{
	const sherd_graph_layout layout = {.planner = pick(p, 2) ? SHERD_GRAPH_DIRECTORY : SHERD_GRAPH_HASH,
	                                   .shards = 1 + pick(p, 9),
	                                   .min_files = 1 + pick(p, 3)};
	const sherd_graph_reshard_options small = {.memory = 1000 + pick(p, 4000)};
	sherd_store *store = NULL;
	must_ok(sherd_store_open_memory(&store, err));
	must_ok(sherd_graph_reshard(p->graph, store, "db", &layout, &small, NULL, err));
	close_readers(p);
	sherd_graph_close(p->graph);
	sherd_store_close(p->store);
	p->store = store;
	p->spilled = false;
	open_writer(p);
	p->versions[0] = (version){.number = 1};
	p->version_count = 1;
	note_version(p);
}

/* ---- changes */

static void add_nodes(graph_play *p)
{
	naive_record records[BATCH];
	sherd_graph_node nodes[BATCH];
	unsigned count = 1 + pick(p, BATCH);
	for (unsigned i = 0; i < count; i++) {
		unsigned id = pick(p, NAIVE_IDS);
		p->model.nodes[id] = (naive_node){.stamp = p->turn + i, .file = (int)pick(p, NAIVE_FILES)};
		naive_make_node(id, p->model.nodes[id], &records[i]);
		nodes[i] = records[i].node;
	}
	must_ok(sherd_graph_add_nodes(p->graph, nodes, count, err));
}

static naive_edge some_edge(graph_play *p, unsigned more)
{
	return (naive_edge){.stamp = p->turn + more, .context = pick(p, 4) ? NAIVE_NONE : (int)pick(p, NAIVE_FILES)};
}

/* Of one batch either all is added, or nothing. */
static void add_edges(graph_play *p)
{
	naive_record records[BATCH];
	sherd_graph_edge edges[BATCH];
	graph_naive after = p->model;
	unsigned count = 1 + pick(p, BATCH);
	bool known = true;
	for (unsigned i = 0; i < count; i++) {
		unsigned src = pick(p, NAIVE_IDS), dst = pick(p, NAIVE_IDS), t = pick(p, NAIVE_TYPES);
		after.edges[src][dst][t] = some_edge(p, i);
		naive_make_edge(src, dst, t, after.edges[src][dst][t], &records[i]);
		edges[i] = records[i].edge;
		known = known && p->model.nodes[src].stamp;
	}
	int rc = sherd_graph_add_edges(p->graph, edges, count, NULL);
	must(rc == (known ? SHERD_OK : SHERD_EINVAL));
	if (known)
		p->model = after;
}

static void delete_nodes(graph_play *p)
{
	sherd_graph_id ids[BATCH];
	unsigned count = 1 + pick(p, BATCH);
	graph_naive before = p->model;
	uint64_t deleted;
	for (unsigned i = 0; i < count; i++) {
		unsigned id = pick(p, NAIVE_IDS);
		ids[i] = naive_id(id);
		if (p->model.nodes[id].stamp)
			naive_remove_node(&p->model, id);
	}
	must_ok(sherd_graph_delete_nodes(p->graph, ids, count, &deleted, err));
	must(deleted == naive_compare(&before, &p->model).nodes_removed);
}

static void delete_edges(graph_play *p)
{
	naive_record record;
	sherd_graph_edge edges[BATCH];
	unsigned count = 1 + pick(p, BATCH);
	graph_naive before = p->model;
	uint64_t deleted;
	for (unsigned i = 0; i < count; i++) {
		unsigned src = pick(p, NAIVE_IDS), dst = pick(p, NAIVE_IDS), t = pick(p, NAIVE_TYPES);
		naive_make_edge(src, dst, t, (naive_edge){0}, &record);
		edges[i] = record.edge;
		edges[i].metadata = sherd_graph_text_of("");
		p->model.edges[src][dst][t] = (naive_edge){0};
	}
	must_ok(sherd_graph_delete_edges(p->graph, edges, count, &deleted, err));
	must(deleted == naive_compare(&before, &p->model).edges_removed);
}

static void update_file(graph_play *p)
{
	naive_record records[2 * UPDATE];
	sherd_graph_node nodes[UPDATE];
	sherd_graph_edge edges[UPDATE];
	graph_naive after = p->model;
	naive_node fresh[NAIVE_IDS] = {0};
	bool stays[NAIVE_IDS] = {0}, known = true;
	unsigned count = pick(p, UPDATE), edge_count = pick(p, UPDATE);
	int file = (int)pick(p, NAIVE_FILES);
	sherd_graph_update_result change, want;
	for (unsigned i = 0; i < count; i++) {
		unsigned id = pick(p, NAIVE_IDS);
		/* Sometimes as it was. */
		bool same = after.nodes[id].stamp && after.nodes[id].file == file && pick(p, 2);
		fresh[id] = (naive_node){.stamp = same ? after.nodes[id].stamp : p->turn + i, .file = file};
		stays[id] = true;
		naive_make_node(id, fresh[id], &records[i]);
		nodes[i] = records[i].node;
	}
	naive_forget_file(&after, file, stays);
	for (unsigned id = 0; id < NAIVE_IDS; id++)
		if (stays[id])
			after.nodes[id] = fresh[id];
	for (unsigned i = 0; i < edge_count; i++) {
		unsigned src = pick(p, NAIVE_IDS), dst = pick(p, NAIVE_IDS), t = pick(p, NAIVE_TYPES);
		after.edges[src][dst][t] = some_edge(p, i);
		naive_make_edge(src, dst, t, after.edges[src][dst][t], &records[UPDATE + i]);
		edges[i] = records[UPDATE + i].edge;
		known = known && after.nodes[src].stamp;
	}
	sherd_graph_text name = sherd_graph_text_of(naive_file(file));
	int rc = sherd_graph_update_file(p->graph, name, nodes, count, edges, edge_count, &change, NULL);
	must(rc == (known ? SHERD_OK : SHERD_EINVAL));
	if (!known)
		return;
	want = naive_compare(&p->model, &after);
	p->model = after;
	must(memcmp(&change, &want, sizeof(want)) == 0);
}

static void delete_file(graph_play *p)
{
	static const bool none[NAIVE_IDS];
	int file = (int)pick(p, NAIVE_FILES);
	graph_naive before = p->model;
	sherd_graph_update_result change, want;
	naive_forget_file(&p->model, file, none);
	want = naive_compare(&before, &p->model);
	must_ok(sherd_graph_delete_file(p->graph, sherd_graph_text_of(naive_file(file)), &change, err));
	must(memcmp(&change, &want, sizeof(want)) == 0);
}

/* ---- checks */

static void verify(const graph_play *p)
{
	sherd_report *r = NULL;
	must_ok(sherd_verify(&r, p->store, "db", NULL, err));
	if (sherd_report_errors(r))
		(void)fprintf(stderr, "%s: %s\n", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
	must(sherd_report_errors(r) == 0);
	must(sherd_report_warnings(r) == 0);
	sherd_report_close(r);
}

typedef struct listed {
	const graph_play *play;
	size_t at;
} listed;

static bool see_version(void *arg, const sherd_graph_snapshot *s)
{
	listed *l = arg;
	must(l->at < l->play->version_count);
	const version *v = &l->play->versions[l->at++];
	must(s->version == v->number);
	must(s->tag_count == (size_t)(v->tags[0] != 0) + (v->tags[1] != 0));
	for (size_t i = 0; i < s->tag_count; i++) {
		unsigned key = strcmp(s->tags[i].key, tag_key(0)) == 0 ? 0 : 1;
		must(strcmp(s->tags[i].key, tag_key(key)) == 0);
		must(strtoul(s->tags[i].value, NULL, 10) == v->tags[key]);
	}
	return true;
}

static void check_versions(const graph_play *p)
{
	listed l = {.play = p};
	must_ok(sherd_graph_versions(p->graph, see_version, &l, err));
	must(l.at == p->version_count);
	for (unsigned key = 0; key < KEYS; key++) {
		uint64_t newest = 0, found = 0;
		for (size_t i = 0; i < p->version_count; i++)
			newest = p->versions[i].tags[key] ? p->versions[i].number : newest;
		int rc = sherd_graph_find_tag(&found, p->graph, tag_key(key), NULL, NULL);
		must(rc == (newest ? SHERD_OK : SHERD_ENOTFOUND) && found == newest);
	}
}

static void check_version(graph_play *p)
{
	const version *v = &p->versions[pick(p, (unsigned)p->version_count)];
	const sherd_graph_options o = {.version = v->number};
	sherd_graph *g = NULL;
	must_ok(sherd_graph_open(&g, p->store, "db", &o, err));
	naive_check(&v->model, g, p->turn * 2654435761U);
	naive_check_diff(&v->model, &p->model, g, p->graph);
	sherd_graph_close(g);
}

void graph_play_check(graph_play *p)
{
	unsigned dice = p->turn * 2654435761U;
	naive_check(&p->model, p->graph, dice);
	const reader *r = &p->readers[pick(p, READERS)];
	if (r->graph)
		naive_check(&r->model, r->graph, dice);
	check_versions(p);
	check_version(p);
}

/* ---- playing */

graph_play *graph_play_open(const sherd_graph_layout *layout, graph_pick_fn *pick_fn, void *arg)
{
	graph_play *p = calloc(1, sizeof(*p));
	must(p);
	p->versions = calloc(VERSIONS, sizeof(*p->versions));
	must(p->versions);
	p->pick = pick_fn;
	p->arg = arg;
	must_ok(sherd_store_open_memory(&p->store, err));
	must_ok(sherd_graph_create(p->store, "db", layout, 1, err));
	open_writer(p);
	note_version(p);
	return p;
}

void graph_play_step(graph_play *p)
{
	static const struct {
		unsigned below; /* of 100 */
		void (*act)(graph_play *p);
	} changes[] = {{20, add_nodes},   {44, add_edges},   {49, delete_nodes}, {54, delete_edges},
	               {66, update_file}, {69, delete_file}, {80, flush},        {82, spill},
	               {84, compact},     {86, collect},     {89, tag},          {93, open_reader}};
	unsigned what = pick(p, 100);
	p->turn += UPDATE;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		if (what < changes[i].below) {
			changes[i].act(p);
			return;
		}
	if (what < 95)
		reshard(p);
	else
		reopen(p, what < 98);
	if (what % 2)
		verify(p);
}

void graph_play_close(graph_play *p)
{
	reopen(p, true);
	graph_play_check(p);
	verify(p);
	close_readers(p);
	sherd_graph_close(p->graph);
	sherd_store_close(p->store);
	free(p->versions);
	free(p);
}
