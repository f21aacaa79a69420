/* The input says what is done to a database and to arrays: they must agree. The first byte chooses the layout, each of
 * the others one operation and what it is done to; any bytes do. What is short goes on with operations that follow from
 * it, so that every input changes, commits and opens again; one in LONG_IN goes on for MOST_STEPS, however short it is.
 *
 * What an operation says of itself is compared at once, all of the graph at the end, after it was opened again, and
 * when versions are looked at. A commit costs a hundred times what a change does, and a collection several of them: an
 * input can afford a few, and what it cannot afford any more becomes a change.
 *
 * SHD_FUZZ_STATS=1 tells at the end how many operations and openings the median input had. */
#include "base/map.h"
#include "form.h"
#include "ops_model.h"

#include <sherd/verify.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

enum {
	LEAST_STEPS = 20,
	USUAL_STEPS = 28,
	MOST_STEPS = 96,
	LONG_IN = 128,
	REOPENED_IN = 8,
	VERIFIED_IN = 64,
	USUAL_EFFORT = 2,
	MOST_EFFORT = 24,
	MOST_VERSIONS = MOST_STEPS + 32
};

typedef struct game {
	sherd_store *store;
	sherd_graph *graph, *reader;
	ops_model now, read;
	ops_model versions[MOST_VERSIONS]; /* by their numbers */
	bool tagged[MOST_VERSIONS];
	uint64_t current, oldest; /* versions from the oldest on are there, below it may be */
	bool damaged;
	unsigned effort; /* that is left */
	uint8_t step;
} game;

/* ---- how much was done */

enum { MOST_COUNTED = 128 };
static struct {
	bool wanted, asked;
	uint64_t inputs, steps[MOST_COUNTED], openings[MOST_COUNTED];
	unsigned opened; /* of the running input */
} stats;

static unsigned median(const uint64_t counts[MOST_COUNTED])
{
	uint64_t sum = 0;
	unsigned i = 0;
	while (i < MOST_COUNTED - 1 && (sum += counts[i]) * 2 < stats.inputs)
		i++;
	return i;
}

static void tell_stats(void)
{
	(void)fprintf(stderr, "%llu inputs, median %u operations and %u openings\n", (unsigned long long)stats.inputs,
	              median(stats.steps), median(stats.openings));
}

static void count_input(unsigned steps)
{
	if (!stats.asked) {
		stats.asked = true;
		stats.wanted = getenv("SHERD_FUZZ_STATS") != NULL;
		if (stats.wanted)
			must(atexit(tell_stats) == 0);
	}
	stats.inputs++;
	stats.steps[steps < MOST_COUNTED ? steps : MOST_COUNTED - 1]++;
	stats.openings[stats.opened < MOST_COUNTED ? stats.opened : MOST_COUNTED - 1]++;
	stats.opened = 0;
}

/* ---- a database to begin with, made once for each layout */

static bool copy_object(void *arg, const char *key, const sherd_stat *stat)
{
	sherd_store *const *stores = arg;
	char *data = NULL;
	size_t len = 0;
	(void)stat;
	must_ok(sherd_store_get(&data, &len, stores[0], key, 1 << 20, err));
	must_ok(sherd_store_put(stores[1], key, SHERD_WRITE_NEW, data, len, err));
	sherd_free(data);
	return true;
}

static sherd_store *fresh_store(unsigned layout)
{
	static const sherd_graph_layout layouts[] = {{.shards = 1},
	                                             {.shards = 2},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1},
	                                             {.planner = SHERD_GRAPH_DIRECTORY, .min_files = 3}};
	static sherd_store *templates[sizeof(layouts) / sizeof(*layouts)];
	sherd_store *pair[2] = {NULL, NULL};
	layout %= sizeof(layouts) / sizeof(*layouts);
	if (!templates[layout]) {
		must_ok(sherd_store_open_memory(&templates[layout], err));
		must_ok(sherd_graph_create(templates[layout], "", &layouts[layout], 1, err));
	}
	pair[0] = templates[layout];
	must_ok(sherd_store_open_memory(&pair[1], err));
	must_ok(sherd_store_list(pair[0], "", "", copy_object, pair, err));
	return pair[1];
}

/* ---- operations: arg is below 32 */

static void add_node(game *g, unsigned arg)
{
	ops_record r;
	uint8_t id = arg % OPS_IDS, file = (uint8_t)(arg / OPS_IDS);
	ops_make_node(id, file, g->step, &r);
	must_ok(sherd_graph_add_nodes(g->graph, &r.node, 1, err));
	g->now.nodes[id] = g->step;
	g->now.files[id] = file;
}

static void add_edges(game *g, unsigned arg)
{
	sherd_graph_edge list[OPS_KINDS];
	unsigned src = arg % OPS_IDS, dst = (arg * 5 + g->step) % OPS_IDS;
	for (unsigned k = 0; k < OPS_KINDS; k++)
		list[k] = ops_make_edge(src, (dst + k) % OPS_IDS, k);
	int rc = sherd_graph_add_edges(g->graph, list, OPS_KINDS, NULL);
	must(rc == (g->now.nodes[src] ? SHERD_OK : SHERD_EINVAL));
	for (unsigned k = 0; k < OPS_KINDS && rc == SHERD_OK; k++)
		g->now.edges[src][(dst + k) % OPS_IDS][k] = g->step;
}

static void delete_node(game *g, unsigned arg)
{
	uint64_t deleted;
	unsigned id = arg % OPS_IDS;
	const sherd_graph_id ids[] = {ops_id(id)};
	must_ok(sherd_graph_delete_nodes(g->graph, ids, 1, &deleted, err));
	must(deleted == (g->now.nodes[id] != 0));
	if (deleted)
		ops_forget_node(&g->now, id);
}

static void delete_edges(game *g, unsigned arg)
{
	uint64_t deleted, there = 0;
	unsigned src = arg % OPS_IDS, kind = arg / 16;
	sherd_graph_edge list[OPS_IDS];
	for (unsigned dst = 0; dst < OPS_IDS; dst++) {
		list[dst] = ops_make_edge(src, dst, kind);
		there += g->now.edges[src][dst][kind] != 0;
		g->now.edges[src][dst][kind] = 0;
	}
	must_ok(sherd_graph_delete_edges(g->graph, list, OPS_IDS, &deleted, err));
	must(deleted == there);
}

/* Two nodes take the place of all that the file had, with an edge between them. */
static void update_file(game *g, unsigned arg)
{
	ops_record r[2];
	uint8_t file = arg % OPS_FILES;
	unsigned ids[2] = {arg / OPS_FILES, (arg / OPS_FILES + 1 + g->step % 3) % OPS_IDS};
	const sherd_graph_edge edge = ops_make_edge(ids[0], ids[1], 0);
	sherd_graph_node nodes[2];
	for (unsigned i = 0; i < 2; i++) {
		ops_make_node(ids[i], file, g->step, &r[i]);
		nodes[i] = r[i].node;
	}
	must_ok(sherd_graph_update_file(g->graph, nodes[0].file, nodes, 2, &edge, 1, NULL, err));
	for (unsigned id = 0; id < OPS_IDS; id++) {
		bool stays = id == ids[0] || id == ids[1];
		if (!g->now.nodes[id] || g->now.files[id] != file)
			continue;
		if (stays)
			memset(g->now.edges[id], 0, sizeof(g->now.edges[id]));
		else
			ops_forget_node(&g->now, id);
	}
	for (unsigned i = 0; i < 2; i++) {
		g->now.nodes[ids[i]] = g->step;
		g->now.files[ids[i]] = file;
	}
	g->now.edges[ids[0]][ids[1]][0] = g->step;
}

static void delete_file(game *g, unsigned arg)
{
	unsigned file = (arg + g->step) % OPS_FILES;
	must_ok(sherd_graph_delete_file(g->graph, ops_file(file), NULL, err));
	for (unsigned id = 0; id < OPS_IDS; id++)
		if (g->now.nodes[id] && g->now.files[id] == file)
			ops_forget_node(&g->now, id);
}

/* What was committed, if anything was. */
static void note_version(game *g)
{
	g->current = sherd_graph_version(g->graph);
	must(g->current < MOST_VERSIONS);
	g->versions[g->current] = g->now;
}

static void flush(game *g)
{
	must_ok(sherd_graph_flush(g->graph, NULL, err));
	note_version(g);
}

static void open_writer(game *g)
{
	must_ok(sherd_graph_open(&g->graph, g->store, "", NULL, err));
	must(sherd_graph_version(g->graph) == g->current);
	g->now = g->versions[g->current];
}

static void reopen(game *g, unsigned arg)
{
	(void)arg;
	sherd_graph_close(g->graph);
	open_writer(g);
	stats.opened++;
}

static void read_now(game *g, unsigned arg)
{
	(void)arg;
	sherd_graph_close(g->reader);
	must_ok(sherd_graph_open(&g->reader, g->store, "", &(sherd_graph_options){.read_only = true}, err));
	g->read = g->versions[g->current];
	stats.opened++;
}

static void compact(game *g, unsigned arg)
{
	(void)arg;
	must_ok(sherd_graph_compact(g->graph, NULL, err));
	note_version(g);
}

static void collect(game *g, unsigned arg)
{
	uint32_t keep = 1 + arg % 2;
	flush(g);
	must_ok(sherd_graph_gc(g->graph, &(sherd_graph_gc_options){.keep = keep}, NULL, err));
	if (g->current > keep && g->current - keep + 1 > g->oldest)
		g->oldest = g->current - keep + 1;
}

/* ---- versions */

static void tag(game *g, unsigned arg)
{
	bool set = arg % 2;
	must_ok(sherd_graph_set_tag(g->graph, 0, "k", set ? "v" : NULL, err));
	g->tagged[g->current] = set;
}

typedef struct listed {
	uint64_t last;
	unsigned count; /* of those that must be there */
	const game *game;
} listed;

static bool see_version(void *arg, const sherd_graph_snapshot *snapshot)
{
	listed *l = arg;
	must(snapshot->version > l->last && snapshot->version <= l->game->current);
	must(snapshot->tag_count == l->game->tagged[snapshot->version]);
	l->last = snapshot->version;
	l->count += snapshot->version >= l->game->oldest;
	return true;
}

static void list_versions(game *g, unsigned arg)
{
	(void)arg;
	listed l = {.game = g};
	uint64_t found, want = g->current;
	must_ok(sherd_graph_versions(g->graph, see_version, &l, err));
	must(l.last == g->current && l.count == g->current - g->oldest + 1);
	while (want && !g->tagged[want])
		want--;
	int rc = sherd_graph_find_tag(&found, g->graph, "k", NULL, NULL);
	/* A tagged version may be the damaged one. */
	bool gone = g->damaged && want < g->oldest && (rc == SHERD_ENOTFOUND || (rc == SHERD_OK && found < want));
	must(gone || (rc == (want ? SHERD_OK : SHERD_ENOTFOUND) && (rc < 0 || found == want)));
}

static void look_back(game *g, unsigned arg)
{
	sherd_graph *old = NULL;
	uint64_t back = (arg + g->step) % 8, version = g->current > back ? g->current - back : 1;
	int rc = sherd_graph_open(&old, g->store, "", &(sherd_graph_options){.version = version}, NULL);
	must(rc == SHERD_OK || version < g->oldest);
	if (rc < 0)
		return;
	/* Reading does not look for damage. */
	if (version >= g->oldest || !g->damaged) {
		ops_check(&g->versions[version], old);
		ops_check_diff(&g->versions[version], &g->now, old, g->graph);
	}
	sherd_graph_close(old);
	stats.opened++;
}

/* ---- damage */

typedef struct target {
	unsigned skip;
	char key[SHERD_MAX_KEY + 1];
} target;

static bool choose_object(void *arg, const char *key, const sherd_stat *stat)
{
	target *t = arg;
	bool one = strncmp(key, "manifests/", 10) == 0 || strncmp(key, "segments/", 9) == 0;
	if (!one || !stat->size)
		return true;
	(void)snprintf(t->key, sizeof(t->key), "%s", key);
	return t->skip-- > 0;
}

/* One byte of an object is wrong, or it is gone. Is a version left for certain? */
static bool damage(const game *g, unsigned arg)
{
	char *data = NULL;
	size_t len = 0;
	target t = {.skip = arg + g->step % 16};
	must_ok(sherd_store_list(g->store, "", "", choose_object, &t, err));
	if (g->step % 2) {
		must_ok(sherd_store_remove(g->store, t.key, err));
	} else {
		must_ok(sherd_store_get(&data, &len, g->store, t.key, 1 << 20, err));
		data[(arg * 37 + g->step) % len] ^= 4;
		must_ok(sherd_store_put(g->store, t.key, SHERD_WRITE_REPLACE, data, len, err));
		sherd_free(data);
	}
	return g->oldest == 1 && strncmp(t.key, "manifests/000001", 16) != 0;
}

static void close_graphs(game *g)
{
	sherd_graph_close(g->reader);
	sherd_graph_close(g->graph);
	g->graph = g->reader = NULL;
}

/* Goes on in another store, of which one version is known. */
static void move(game *g, sherd_store *store, uint64_t version)
{
	close_graphs(g);
	sherd_store_close(g->store);
	*g = (game){
		.store = store, .now = g->now, .current = version, .oldest = 1, .effort = g->effort, .step = g->step};
	g->versions[version] = g->now;
	open_writer(g);
}

/* The newest version that is whole becomes the current one. */
static void repair(game *g, unsigned seed)
{
	unsigned arg = seed + g->step / 2;
	sherd_graph_repair_result r;
	flush(g);
	close_graphs(g);
	bool certain = arg % 4 == 0 || damage(g, arg);
	int rc = sherd_graph_repair(g->store, "", NULL, &r, NULL);
	if (rc < 0) {
		must(!certain && (rc == SHERD_ECORRUPT || rc == SHERD_ENOTFOUND));
		g->now = (ops_model){0};
		move(g, fresh_store(arg), 1);
		return;
	}
	must(r.found == g->current && r.whole && r.whole <= g->current && r.version < MOST_VERSIONS);
	g->versions[r.version] = g->versions[r.whole];
	g->current = r.version;
	if (arg % 4) {
		g->damaged = true;
		g->oldest = g->current;
	}
	open_writer(g);
}

/* What is live goes on in another database; where nothing is, in an empty one. */
static void reshard(game *g, unsigned arg)
{
	static const ops_model empty;
	const sherd_graph_layout layout = {.planner = arg % 2 ? SHERD_GRAPH_DIRECTORY : SHERD_GRAPH_HASH,
	                                   .shards = 1 + g->step % 3,
	                                   .min_files = 1 + g->step % 2};
	sherd_store *store = NULL;
	must_ok(sherd_store_open_memory(&store, err));
	must_ok(sherd_graph_reshard(g->graph, store, "", &layout, NULL, NULL, err));
	move(g, store, memcmp(g->now.nodes, empty.nodes, sizeof(empty.nodes)) == 0 ? 1 : 2);
}

/* ---- playing */

static void flush_some(game *g, unsigned arg)
{
	(void)arg;
	flush(g);
}

static void spill(game *g, unsigned arg)
{
	(void)arg;
	must_ok(sherd_graph_spill(g->graph, err));
}

typedef struct chore {
	void (*act)(game *, unsigned);
	unsigned effort;
} chore;

static void do_chore(game *g, const chore *c, unsigned arg)
{
	if (g->effort < c->effort) {
		add_edges(g, arg);
		return;
	}
	g->effort -= c->effort;
	c->act(g, arg);
}

static void flush_or_add(game *g, unsigned arg)
{
	static const chore flushing = {flush_some, 1}, adding = {add_edges, 0};
	do_chore(g, arg % 8 ? &adding : &flushing, arg);
}

static void maintain(game *g, unsigned arg)
{
	static const chore chores[16] = {{compact, 1},      {collect, 2},      {spill, 1},        {tag, 1},
	                                 {read_now, 1},     {reopen, 1},       {look_back, 1},    {list_versions, 1},
	                                 {repair, 2},       {reshard, 2},      {delete_file, 0},  {delete_file, 0},
	                                 {delete_edges, 0}, {delete_edges, 0}, {delete_edges, 0}, {delete_edges, 0}};
	do_chore(g, &chores[arg / 2], arg);
}

static void verify(const game *g)
{
	sherd_report *r = NULL;
	must_ok(sherd_verify(&r, g->store, "", NULL, err));
	must(sherd_report_errors(r) == 0);
	sherd_report_close(r);
}

static void play(game *g, uint8_t byte)
{
	static void (*const acts[8])(game *, unsigned) = {add_node,    add_edges,    add_node,    update_file,
	                                                  delete_node, flush_or_add, update_file, maintain};
	g->step++;
	acts[byte >> 5](g, byte & 31);
}

static void end(game *g, form_dice *dice)
{
	if (form_roll(dice, 2))
		ops_check(&g->now, g->graph);
	flush(g);
	reopen(g, 0);
	ops_check(&g->now, g->graph);
	if (g->reader)
		ops_check(&g->read, g->reader);
	if (form_roll(dice, VERIFIED_IN) == 0 && !g->damaged)
		verify(g);
	close_graphs(g);
	sherd_store_close(g->store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	form_dice dice = {shd_hash(1, data, len)};
	bool is_long = form_roll(&dice, LONG_IN) == 0, twice = form_roll(&dice, REOPENED_IN) == 0;
	size_t most = is_long ? MOST_STEPS : USUAL_STEPS, least = is_long ? MOST_STEPS : LEAST_STEPS;
	size_t steps = len > most ? most : len < least ? least : len;
	game g = {.store = fresh_store(len ? data[0] : 0),
	          .current = 1,
	          .oldest = 1,
	          .effort = is_long ? MOST_EFFORT : form_roll(&dice, USUAL_EFFORT + 1)};
	open_writer(&g);
	for (size_t i = 1; i <= steps; i++) {
		play(&g, i < len ? data[i] : (uint8_t)form_roll(&dice, 256));
		if (twice && i == steps / 2)
			reopen(&g, 0);
	}
	end(&g, &dice);
	count_input((unsigned)steps);
	return 0;
}
