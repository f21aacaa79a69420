/* engine/graph/flush/index.c - the run of a version: an index over segments that none covers yet.
 *
 * Small commits write none. When enough has come together a run is made of it, and of older runs that are not much
 * larger: so there are few of them, and an entry is written again as often as the graph doubles. A run is durable
 * before the manifest of its segments; without it the version is the same. */
#include "engine/graph/flush/index.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

/* A run is taken in when it has at most so many times the rows that come without it. */
enum { NOT_MUCH_LARGER = 2 };

typedef struct making {
	const graph_flush *flush;
	const graph_list *lists;
	graph_cover cover;
	bool *taken; /* runs of the cover */
	SHD_VEC(shd_rfdb_run_part) parts;
	uint64_t rows;
} making;

/* Ours, sorted. */
static bool is_fit(const graph_segment *s)
{
	const shd_rfdb_sidecar *x = atomic_load(&s->index);
	return s->about.has_sha256 && s->rows.rows && s->rows.rows <= UINT32_MAX && x && x->sorted;
}

static bool is_to_be_taken(const making *m, unsigned kind, size_t place)
{
	uint32_t by = m->cover.by[kind] ? m->cover.by[kind][place] : 0;
	return (!by || m->taken[by - 1]) && is_fit(m->lists[kind].items[place]);
}

/* What a run has of the view. */
static uint64_t rows_of_run(const making *m, size_t run)
{
	uint64_t rows = 0;
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < m->lists[kind].count; i++)
			if (m->cover.by[kind][i] == run + 1)
				rows += m->lists[kind].items[i]->rows.rows;
	return rows;
}

/* The smallest that is not taken; SIZE_MAX when there is none. */
static size_t smallest_run(const making *m, uint64_t *rows)
{
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < m->cover.count; i++) {
		uint64_t has = m->taken[i] ? UINT64_MAX : rows_of_run(m, i);
		if (has == UINT64_MAX || (best != SIZE_MAX && has >= *rows))
			continue;
		best = i;
		*rows = has;
	}
	return best;
}

/* Is a run to be made? Then of which runs besides. */
static bool choose_runs(making *m)
{
	size_t segments = 0, run;
	uint64_t has = 0;
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < m->lists[kind].count; i++)
			if (is_to_be_taken(m, kind, i)) {
				m->rows += m->lists[kind].items[i]->rows.rows;
				segments++;
			}
	const graph_tuning *least = &shd_graph_tuning;
	if (m->rows < least->run_some_rows || (m->rows < least->run_rows && segments < least->run_segments))
		return false;
	while ((run = smallest_run(m, &has)) != SIZE_MAX && has / NOT_MUCH_LARGER <= m->rows) {
		m->taken[run] = true;
		m->rows += has;
	}
	return true;
}

/* Nodes, then edges, as many as a run can count. */
static int index_gather(making *m, sherd_error *err)
{
	for (unsigned kind = 0; kind < 2; kind++) {
		uint64_t rows = 0;
		for (size_t i = 0; i < m->lists[kind].count; i++) {
			const graph_segment *s = m->lists[kind].items[i];
			if (!is_to_be_taken(m, kind, i) || rows + s->rows.rows > UINT32_MAX)
				continue;
			rows += s->rows.rows;
			shd_rfdb_run_part part = {.about = {.id = s->about.id,
			                                    .size = s->rows.size,
			                                    .rows = (uint32_t)s->rows.rows,
			                                    .shard = s->shard,
			                                    .kind = kind},
			                          .rows = &s->rows};
			memcpy(part.about.sha256, s->about.sha256, sizeof(part.about.sha256));
			shd_vec_push(&m->parts, part);
		}
	}
	return shd_vec_check(&m->parts, err);
}

static int index_put(void *arg, const void *data, size_t len, sherd_error *err)
{
	return sherd_writer_append(arg, data, len, err);
}

static int index_asked(void *arg, sherd_error *err)
{
	return shd_meter_ask(arg, err);
}

/* identity: 72 bytes, of what was written. */
/* NOLINTNEXTLINE(readability-non-const-parameter): written through the options. */
static int write_run(const making *m, uint64_t number, char *identity, sherd_error *err)
{
	sherd_graph *g = m->flush->graph;
	char name[SHD_RFDB_NAME_MAX];
	graph_key key, current;
	uint8_t head[SHD_RFDB_RUN_HEAD];
	uint64_t size;
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	shd_rfdb_run_name(number, name);
	TRY(shd_graph_place_key(&g->place, name, &key, err));
	TRY(shd_graph_place_key(&g->place, SHD_RFDB_CURRENT, &current, err));
	const sherd_write_options options = {.head = SHD_RFDB_RUN_HEAD, .identity = identity, .like = current.text};
	const shd_rfdb_run_plan plan = {.parts = m->parts.items,
	                                .count = m->parts.count,
	                                .pool = g->pool,
	                                .asked = index_asked,
	                                .arg = (void *)(uintptr_t)&m->flush->meter};
	TRY(shd_in_object(err, sherd_store_write(&writer, g->place.store, key.text, &options, err), key.text));
	TRY(shd_in_object(err, shd_rfdb_run_build(&plan, index_put, writer, head, &size, err), key.text));
	TRY(shd_in_object(err, sherd_writer_fill(writer, 0, head, sizeof(head), err), key.text));
	return shd_in_object(err, sherd_writer_commit(TAKE(writer), err), key.text);
}

/* It is not needed: what keeps it from being written is no reason not to commit, but for a caller who wants to stop. */
static bool is_no_matter(int rc)
{
	return rc < 0 && rc != SHERD_ENOMEM && rc != SHERD_ECANCELLED;
}

static int index_make(making *m, graph_made_run *out, sherd_error *err)
{
	sherd_graph *g = m->flush->graph;
	uint64_t number = 0;
	m->taken = calloc(m->cover.count + 1, sizeof(*m->taken));
	if (!m->taken)
		return shd_fail_nomem(err);
	if (!choose_runs(m))
		return SHERD_OK;
	TRY(index_gather(m, err));
	TRY(shd_graph_runs_highest(&g->place, &number, err));
	sherd_error failure = {0};
	int rc = write_run(m, number + 1, out->identity, &failure);
	if (rc == SHERD_OK)
		out->number = number + 1;
	if (is_no_matter(rc))
		return SHERD_OK;
	TRY(shd_pass(err, rc, &failure));
	TRY(shd_graph_run_open(&out->run, &g->place, out->number, err));
	for (size_t i = 0; i < m->cover.count; i++)
		if (m->taken[i])
			shd_vec_push(&out->replaced, m->cover.runs[i]);
	return shd_vec_check(&out->replaced, err);
}

int shd_graph_flush_index(const graph_flush *f, const graph_list *lists, graph_made_run *out, sherd_error *err)
{
	making m = {.flush = f, .lists = lists};
	unsigned caps = sherd_store_caps(f->graph->place.store);
	*out = (graph_made_run){0};
	if (!(caps & SHERD_CAP_MAP) || caps & SHERD_CAP_REMOTE)
		return SHERD_OK;
	int rc = shd_graph_cover_make(&m.cover, lists, &f->graph->runs, err);
	if (rc == SHERD_OK)
		rc = index_make(&m, out, err);
	shd_graph_cover_done(&m.cover);
	free(m.taken);
	shd_vec_done(&m.parts);
	return rc;
}

void shd_graph_made_run_drop(const graph_place *p, graph_made_run *m)
{
	char name[SHD_RFDB_NAME_MAX];
	shd_rfdb_run_name(m->number, name);
	if (*m->identity)
		(void)shd_graph_place_remove_if(p, name, m->identity, NULL);
	shd_graph_run_close(m->run);
	shd_vec_done(&m->replaced);
	*m = (graph_made_run){0};
}

/* Room was made before. */
void shd_graph_made_run_adopt(sherd_graph *g, graph_made_run *m)
{
	graph_runs *runs = &g->runs;
	if (!m->run)
		return;
	memmove(runs->items + 1, runs->items, runs->count * sizeof(*runs->items));
	runs->items[0] = m->run;
	runs->count++;
	m->run = NULL;
	*m->identity = 0;
}

static bool cover_uses(const graph_cover *c, const graph_run *r)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->runs[i] == r)
			return true;
	return false;
}

/* The view keeps its old cover where the new run does not fit it: one that is used stays until a later version. */
void shd_graph_made_run_clear(sherd_graph *g, const graph_made_run *m)
{
	for (size_t i = 0; i < m->replaced.count; i++) {
		char name[SHD_RFDB_NAME_MAX];
		graph_run *old = m->replaced.items[i];
		if (cover_uses(&g->view.cover, old))
			continue;
		for (size_t k = 0; k < g->runs.count; k++) {
			if (g->runs.items[k] != old)
				continue;
			memmove(g->runs.items + k, g->runs.items + k + 1, (g->runs.count - k - 1) * sizeof(old));
			g->runs.count--;
		}
		shd_rfdb_run_name(old->number, name);
		(void)shd_graph_place_remove_if(&g->place, name, old->identity, NULL);
		shd_graph_run_close(old);
	}
}
