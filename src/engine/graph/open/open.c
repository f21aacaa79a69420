/* engine/graph/open/open.c - opening a database, for reading at one version or for writing. */
#include "engine/graph/open/open.h"

#include "engine/graph/query/counts.h"
#include "engine/graph/flush/flush.h"
#include "engine/graph/open/hold.h"
#include "engine/graph/keep/snapshots.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_graph, sherd_graph_close)

/* A reader that meets the collector begins again with the version that is current then. */
enum { MOST_TRIES = 100 };

static int read_config(sherd_graph *g, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str text;
	graph_key key;
	TRY(shd_graph_place_key(&g->place, SHD_RFDB_CONFIG, &key, err));
	TRY(shd_graph_place_get(&g->place, SHD_RFDB_CONFIG, &arena, &text, g->config_identity, err));
	return shd_in_object(err, shd_rfdb_config_decode(text.ptr, text.len, &g->config, err), key.text);
}

/* A reader does without a plan; a writer must not assign anew what was assigned. */
static int read_plan(sherd_graph *g, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str text;
	graph_key key;
	sherd_error failure = {0};
	shd_rfdb_plan_init(&g->plan, 0);
	if (g->config.planner != SHD_RFDB_DIRECTORY)
		return SHERD_OK;
	TRY(shd_graph_place_key(&g->place, SHD_RFDB_PLAN, &key, err));
	int rc = shd_graph_place_get(&g->place, SHD_RFDB_PLAN, &arena, &text, g->plan_identity, &failure);
	if (rc == SHERD_OK)
		rc = shd_rfdb_plan_decode(text.ptr, text.len, &g->place.limits, &g->plan, &failure);
	if (rc == SHERD_OK || (g->mode == GRAPH_READER && rc != SHERD_ENOMEM)) {
		if (rc < 0) {
			shd_rfdb_plan_done(&g->plan);
			shd_rfdb_plan_init(&g->plan, 0);
		}
		return SHERD_OK;
	}
	return shd_in_object(err, shd_pass(err, rc, &failure), key.text);
}

static int open_list(sherd_graph *g, shd_rfdb_kind kind, const shd_rfdb_descriptors *l0, const shd_rfdb_descriptors *l1,
                     sherd_error *err)
{
	graph_list *list = &g->view.lists[kind];
	TRY(shd_graph_list_make(list, l0->count + l1->count, err));
	for (size_t i = 0; i < l0->count + l1->count; i++) {
		bool level1 = i < l1->count;
		const shd_rfdb_descriptor *about = level1 ? &l1->items[i] : &l0->items[i - l1->count];
		uint32_t shard = about->shard == SHD_RFDB_FLAT ? 0 : about->shard;
		if (about->kind != kind)
			return shd_fail(err, SHERD_ECORRUPT, "bad-type", "segment %" PRIu64 " is of the other kind",
			                about->id);
		if (shard >= g->config.shards)
			return shd_fail(err, SHERD_ECORRUPT, "out-of-range",
			                "segment %" PRIu64 " is in shard %" PRIu32 " of %u", about->id, shard,
			                g->config.shards);
		TRY(shd_graph_segment_open(&list->items[i], &g->place, about, level1, err));
		list->items[i]->age = i;
		list->count++;
	}
	g->next_age = g->next_age > list->count ? g->next_age : list->count;
	shd_graph_list_sort(list);
	shd_graph_list_link(list);
	return SHERD_OK;
}

static int open_view(sherd_graph *g, sherd_error *err)
{
	const shd_rfdb_manifest *m = &g->loaded.manifest;
	TRY(open_list(g, SHD_RFDB_NODES, &m->nodes, &m->l1_nodes, err));
	TRY(open_list(g, SHD_RFDB_EDGES, &m->edges, &m->l1_edges, err));
	TRY(shd_graph_runs_open(&g->runs, &g->place, err));
	TRY(shd_graph_cover_make(&g->view.cover, g->view.lists, &g->runs, err));
	g->view.one_shard = m->counts.known;
	g->view.placed = m->counts.known && m->counts.placed;
	return shd_graph_view_bury(&g->view, &m->dead_nodes, &m->dead_edges, err);
}

static int open_version(sherd_graph *g, uint64_t version, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	TRY(shd_graph_version_load(&g->loaded, &g->place, version, err));
	/* After the manifest: shards are added before the manifest that uses them. */
	TRY(read_config(g, err));
	shd_rfdb_manifest_name(version, false, name);
	TRY(shd_graph_place_key(&g->place, name, &key, err));
	TRY(shd_in_object(err, open_view(g, err), key.text));
	const shd_rfdb_manifest *m = &g->loaded.manifest;
	g->version = version;
	g->compaction = m->compaction;
	return shd_graph_counts_take(&g->counts, &m->counts, err);
}

static void forget_view(sherd_graph *g)
{
	shd_graph_view_done(&g->view, true);
	shd_graph_runs_done(&g->runs);
	shd_graph_version_done(&g->loaded);
	shd_graph_counts_done(&g->counts);
}

static void forget_version(sherd_graph *g)
{
	forget_view(g);
	sherd_lock_release(TAKE(g->lock));
}

/* Of the current version, or of the one that was asked for, which can be read where current.json is damaged. */
static int choose_version(const sherd_graph *g, uint64_t asked, uint64_t *version, sherd_error *err)
{
	graph_head head;
	sherd_error failure = {0};
	int rc = shd_graph_head_read(&g->place, &head, &failure);
	if (rc == SHERD_ECORRUPT && asked) {
		*version = asked;
		return SHERD_OK;
	}
	TRY(shd_pass(err, rc, &failure));
	if (asked > head.current.version)
		return shd_fail(err, SHERD_ENOTFOUND, "no-version",
		                "version %" PRIu64 " is not there: the current one is %" PRIu64, asked,
		                head.current.version);
	*version = asked ? asked : head.current.version;
	return SHERD_OK;
}

static int try_reader(sherd_graph *g, uint64_t version, sherd_error *err)
{
	TRY(shd_graph_hold_version(&g->place, version, &g->lock, err));
	return open_version(g, version, err);
}

/* What the current version names must be there. The error already says what is not. */
static int fail_missing(sherd_error *err)
{
	if (err) {
		err->code = SHERD_ECORRUPT;
		err->reason = "missing-segment";
	}
	return SHERD_ECORRUPT;
}

static int open_reader(sherd_graph *g, uint64_t asked, sherd_error *err)
{
	uint64_t version = 0, before = UINT64_MAX;
	sherd_error failure = {0};
	int rc = SHERD_OK;
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		TRY(choose_version(g, asked, &version, err));
		rc = try_reader(g, version, &failure);
		if (rc != SHERD_ENOTFOUND && rc != SHERD_ECONFLICT)
			break;
		forget_version(g);
		/* Gone, although nobody has moved on since: it is not there. */
		if (rc == SHERD_ENOTFOUND && version == before)
			break;
		before = version;
	}
	if (rc == SHERD_ENOTFOUND && !asked)
		rc = fail_missing(&failure);
	return shd_pass(err, rc, &failure);
}

/* The newest that can be opened, after the current one could not be. */
static int open_whole(sherd_graph *g, sherd_error *err)
{
	graph_snapshots s;
	sherd_error first = {0};
	int rc = open_reader(g, 0, &first);
	if (rc != SHERD_ECORRUPT && rc != SHERD_EUNSUPPORTED)
		return shd_pass(err, rc, &first);
	forget_version(g);
	TRY(shd_graph_take_snapshots(&g->place, UINT64_MAX, &s, err));
	for (size_t i = s.list.count; rc < 0 && i-- > 0;) {
		rc = open_reader(g, s.list.items[i].version, NULL);
		if (rc < 0)
			forget_version(g);
	}
	shd_graph_snapshots_done(&s);
	return shd_pass(err, rc, &first);
}

static int join_lock(void *arg, shd_str text, sherd_error *err)
{
	(void)arg, (void)text, (void)err;
	return 1;
}

int shd_graph_claim_writer(shd_claim *out, const graph_place *p, sherd_error *err)
{
	static const shd_claim_rules rules = {.mode = SHERD_LOCK_EXCLUSIVE, .judge = join_lock};
	graph_key key;
	sherd_error failure = {0};
	*out = (shd_claim){0};
	if (!shd_can_lock(p->store))
		return SHERD_OK;
	TRY(shd_graph_place_key(p, SHD_RFDB_LOCK, &key, err));
	int rc = shd_claim_adopt(out, p->store, key.text, &failure);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_claim_take(out, p->store, key.text, &(shd_buf){0}, &rules, &failure);
	return shd_pass(err, rc, &failure);
}

int shd_graph_lock_writer(const graph_place *p, sherd_lock **out, sherd_error *err)
{
	shd_claim claim;
	TRY(shd_graph_claim_writer(&claim, p, err));
	*out = TAKE(claim.lock);
	shd_claim_leave(&claim);
	return SHERD_OK;
}

typedef struct leftovers {
	uint64_t current;
	shd_buf found;
} leftovers;

static bool see_manifest(void *arg, const char *name, const sherd_stat *stat)
{
	leftovers *l = arg;
	uint64_t version;
	bool edit;
	if (shd_rfdb_manifest_parse(shd_str_of(name), &version, &edit) && version > l->current)
		shd_graph_note(&l->found, name, stat);
	return !l->found.failed;
}

/* In this order: what was seen before the fence cannot be committed after it, and what has its name later stays. */
int shd_graph_clear_uncommitted(const graph_place *p, graph_head *head, sherd_error *err)
{
	leftovers l = {.current = head->current.version};
	int rc = shd_graph_place_list(p, SHD_RFDB_MANIFESTS, see_manifest, &l, err);
	if (rc == SHERD_OK)
		rc = shd_buf_check(&l.found, err);
	if (rc == SHERD_OK)
		rc = shd_graph_note_again(p, &l.found, err);
	if (rc == SHERD_OK && l.found.len) {
		rc = shd_graph_head_fence(p, head, err);
		if (rc == SHERD_OK)
			rc = shd_graph_remove_noted(p, &l.found, err);
	}
	shd_buf_done(&l.found);
	return rc;
}

static int try_writer(sherd_graph *g, sherd_error *err)
{
	forget_view(g);
	TRY(shd_graph_head_read(&g->place, &g->head, err));
	int rc = shd_graph_clear_uncommitted(&g->place, &g->head, err);
	if (rc == SHERD_OK)
		rc = open_version(g, g->head.current.version, err);
	return shd_graph_head_judge(&g->place, &g->head, rc, err);
}

static int open_writer(sherd_graph *g, sherd_error *err)
{
	sherd_error failure = {0};
	int tries = 0, rc;
	/* Before the lock, which would be made: nothing is put into a folder that holds no database. */
	TRY(shd_graph_head_read(&g->place, &g->head, err));
	TRY(shd_graph_lock_writer(&g->place, &g->lock, err));
	do
		rc = try_writer(g, &failure);
	while (rc == SHERD_ECONFLICT && ++tries < MOST_TRIES);
	if (rc == SHERD_ENOTFOUND)
		rc = fail_missing(&failure);
	return shd_pass(err, rc, &failure);
}

static sherd_graph *graph_make(graph_mode mode, sherd_pool *pool)
{
	sherd_graph *g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	pthread_mutex_init(&g->counting, NULL);
	shd_rfdb_plan_init(&g->plan, 0);
	g->pool = pool;
	g->mode = mode;
	return g;
}

int sherd_graph_open(sherd_graph **out, sherd_store *store, const char *folder, const sherd_graph_options *options,
                     sherd_error *err)
{
	static const sherd_graph_options defaults = {0};
	const sherd_graph_options *o = options ? options : &defaults;
	bool reads = o->read_only || o->version || o->whole;
	SHD_AUTO(sherd_graph, sherd_graph_close) g = graph_make(reads ? GRAPH_READER : GRAPH_WRITER, o->pool);
	if (!g)
		return shd_fail_nomem(err);
	TRY(shd_graph_place_init(&g->place, store, folder, o->limits, err));
	bool whole = o->whole && !o->version;
	TRY(!reads ? open_writer(g, err) : whole ? open_whole(g, err) : open_reader(g, o->version, err));
	TRY(read_plan(g, err));
	g->plan_written = g->plan.place_count;
	*out = TAKE(g);
	return SHERD_OK;
}

int shd_graph_open_creation(sherd_graph **out, const graph_place *p, const graph_head *head, sherd_pool *pool,
                            sherd_error *err)
{
	SHD_AUTO(sherd_graph, sherd_graph_close) g = graph_make(GRAPH_WRITER, pool);
	if (!g)
		return shd_fail_nomem(err);
	TRY(shd_graph_place_copy(&g->place, p, err));
	g->head = *head;
	TRY(open_version(g, 1, err));
	TRY(read_plan(g, err));
	*out = TAKE(g);
	return SHERD_OK;
}

int sherd_graph_open_ephemeral(sherd_graph **out, const sherd_graph_layout *layout, sherd_pool *pool, sherd_error *err)
{
	sherd_store *store = NULL;
	sherd_graph *g = NULL;
	const sherd_graph_options o = {.pool = pool};
	TRY(sherd_store_open_memory(&store, err));
	int rc = sherd_graph_create(store, "", layout, 0, err);
	if (rc == SHERD_OK)
		rc = sherd_graph_open(&g, store, "", &o, err);
	if (rc < 0 || !g) {
		if (err)
			err->store = NULL; /* nobody knows it */
		sherd_store_close(store);
		return rc;
	}
	g->owned = store;
	*out = g;
	return SHERD_OK;
}

void sherd_graph_close(sherd_graph *g)
{
	if (!g)
		return;
	sherd_store *owned = g->owned;
	shd_graph_buffer_done(&g->buffer);
	shd_graph_drop_spilled(g, true);
	forget_version(g);
	shd_vec_done(&g->spilled);
	shd_graph_fresh_done(&g->fresh);
	shd_rfdb_plan_done(&g->plan);
	shd_graph_place_done(&g->place);
	pthread_mutex_destroy(&g->counting);
	free(g);
	sherd_store_close(owned);
}

uint64_t sherd_graph_version(const sherd_graph *g)
{
	return g->version;
}

sherd_graph_layout sherd_graph_layout_of(const sherd_graph *g)
{
	bool hash = g->config.planner == SHD_RFDB_HASH;
	return (sherd_graph_layout){.planner = hash ? SHERD_GRAPH_HASH : SHERD_GRAPH_DIRECTORY,
	                            .shards = g->config.shards,
	                            .min_files = hash ? 0 : g->plan.min_files};
}
