/* engine/graph/keep/gc.c - removing versions, and files that no version names.
 *
 * What stays is written in full first, so that it needs no other version. Then manifests go, then segments: a crash in
 * between leaves files that nobody names, for the next time. */
#include "base/meter.h"
#include "engine/graph/disk/chain.h"
#include "engine/graph/open/hold.h"

#include <stdlib.h>

#define STAGING "gc/" /* where the real server puts what it is about to remove */

SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

typedef struct verdict {
	uint64_t version;
	bool stays;
	sherd_lock *locks[2]; /* of one that goes: nobody begins to read it meanwhile */
} verdict;

typedef struct collection {
	sherd_graph *graph;
	uint64_t version; /* the current one */
	const sherd_graph_gc_options *options;
	sherd_graph_gc_result result;
	graph_manifest_vec files;
	verdict *verdicts; /* by version, one each */
	size_t count;
	SHD_VEC(uint64_t) segments; /* ascending: named by what stays */
	bool unknown;               /* what stays names others besides, nobody knows which */
	shd_buf doomed;             /* noted */
	shd_meter meter;
	sherd_error *err;
} collection;

static int compare_versions(const void *left, const void *right)
{
	const uint64_t *version = left;
	const verdict *v = right;
	return *version < v->version ? -1 : *version > v->version;
}

static verdict *verdict_of(const collection *c, uint64_t version)
{
	return bsearch(&version, c->verdicts, c->count, sizeof(*c->verdicts), compare_versions);
}

static int list_versions(collection *c, sherd_error *err)
{
	TRY(shd_graph_list_manifests(&c->graph->place, c->version, &c->files, err));
	const graph_manifest_file *files = c->files.items;
	size_t count = c->files.count;
	c->verdicts = calloc(count + 1, sizeof(*c->verdicts));
	if (!c->verdicts)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || files[i].version != files[i - 1].version)
			c->verdicts[c->count++].version = files[i].version;
	return SHERD_OK;
}

/* What is left of a tagged version may be all that there is of its records: it stays, with the segments that it names.
 */
static void keep_damaged(collection *c, const graph_snapshots *s)
{
	for (size_t i = 0; !c->options->untag && i < s->tagged.count; i++) {
		verdict *v = verdict_of(c, s->tagged.items[i].version);
		if (!v || v->stays)
			continue;
		v->stays = true;
		c->result.damaged++;
	}
}

/* A manifest that cannot be read may have tags, and name any segment. */
static void keep_unknown(collection *c, uint64_t version)
{
	verdict *v = verdict_of(c, version);
	if (c->options->untag || v->stays)
		return;
	v->stays = true;
	c->unknown = true;
	c->result.damaged++;
}

/* The newest, the current one among them, and tagged ones. What cannot be opened any more is none of the newest. */
static int gc_choose(collection *c, sherd_error *err)
{
	graph_snapshots s;
	size_t keep = c->options->keep ? c->options->keep : 1;
	TRY(shd_graph_take_snapshots(&c->graph->place, c->version, &s, err));
	size_t count = s.list.count;
	for (size_t i = 0; i < count; i++) {
		bool tagged = s.list.items[i].tags.count && !c->options->untag;
		verdict *v = verdict_of(c, s.list.items[i].version);
		if (v)
			v->stays = tagged || count - i <= keep;
	}
	verdict *current = verdict_of(c, c->version);
	if (current)
		current->stays = true;
	keep_damaged(c, &s);
	shd_graph_snapshots_done(&s);
	return SHERD_OK;
}

/* A version that somebody reads stays too. */
static void keep_held(void *arg, uint64_t version)
{
	collection *c = arg;
	verdict *v = verdict_of(c, version);
	if (!v || v->stays)
		return;
	v->stays = true;
	c->result.held++;
}

static int lock_doomed(collection *c, verdict *v, sherd_error *err)
{
	for (int edit = 0; edit < 2 && !v->stays; edit++) {
		char name[SHD_RFDB_NAME_MAX];
		graph_key key;
		sherd_error failure = {0};
		shd_rfdb_manifest_name(v->version, edit, name);
		TRY(shd_graph_place_key(&c->graph->place, name, &key, err));
		int rc = sherd_store_lock(&v->locks[edit], c->graph->place.store, key.text, SHERD_LOCK_EXCLUSIVE,
		                          &failure);
		if (rc == SHERD_ECONFLICT)
			keep_held(c, v->version);
		else if (rc < 0 && rc != SHERD_ENOTFOUND)
			return shd_in_object(err, shd_pass(err, rc, &failure), key.text);
	}
	return SHERD_OK;
}

static int name_segments(collection *c, const shd_rfdb_manifest *m, sherd_error *err)
{
	const shd_rfdb_descriptor *d;
	for (size_t i = 0; (d = shd_rfdb_manifest_segment(m, i)); i++)
		shd_vec_push(&c->segments, d->id);
	return shd_vec_check(&c->segments, err);
}

/* Does any version go of those that this one is read from? */
static bool loses_base(const collection *c, uint64_t base, uint64_t version)
{
	for (const verdict *v = verdict_of(c, base); v && v->version < version; v++)
		if (!v->stays)
			return true;
	return false;
}

/* An edit that a full manifest of its version stands in for, left by a crash or a tag, unless somebody reads by it. */
static int drop_edit(collection *c, const graph_manifest_file *file, sherd_error *err)
{
	const graph_place *p = &c->graph->place;
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	shd_rfdb_manifest_name(file->version, true, name);
	TRY(shd_graph_place_key(p, name, &key, err));
	if (!c->options->dry_run) {
		if ((sherd_store_caps(p->store) & SHERD_CAP_LOCK) &&
		    sherd_store_lock(&lock, p->store, key.text, SHERD_LOCK_EXCLUSIVE, NULL) < 0)
			return SHERD_OK;
		TRY(shd_graph_place_remove_if(p, name, file->identity, err));
	}
	c->result.bytes += file->size;
	c->result.files++;
	return SHERD_OK;
}

static int secure(collection *c, const graph_chain *chain, const graph_manifest_file *file, sherd_error *err)
{
	const shd_rfdb_manifest *m = &chain->manifest;
	TRY(name_segments(c, m, err));
	if (chain->base == m->version || !loses_base(c, chain->base, m->version))
		return SHERD_OK;
	if (!c->options->dry_run)
		TRY(shd_graph_hold_replace(&c->graph->place, m, "", err));
	return drop_edit(c, file, err);
}

/* What stays is written in full, where it is read from what goes. What somebody else has collected meanwhile is none
 * of ours any more. */
static int secure_all(collection *c, sherd_error *err)
{
	const graph_manifest_file *files = c->files.items;
	SHD_DONE(shd_graph_chain_done) graph_chain chain = {.place = &c->graph->place};
	uint64_t full = 0; /* the last version that was read from a full manifest */
	for (size_t i = 0; i < c->files.count; i++) {
		bool current = files[i].version == c->version;
		bool stays = verdict_of(c, files[i].version)->stays;
		sherd_error failure = {0};
		int step = shd_graph_chain_step(&chain, &files[i], &failure);
		if (step > 0 && !files[i].edit)
			full = files[i].version;
		if (step > 0 && stays)
			TRY(secure(c, &chain, &files[i], err));
		if (step == 0 && stays && full == files[i].version)
			TRY(drop_edit(c, &files[i], err));
		if (step == SHERD_ECORRUPT && !files[i].edit)
			keep_unknown(c, files[i].version);
		if (step < 0 && (current || (step != SHERD_ENOTFOUND && step != SHERD_ECORRUPT)))
			return shd_pass(err, step, &failure);
	}
	return SHERD_OK;
}

static int remove_manifests(collection *c, sherd_error *err)
{
	const graph_manifest_file *files = c->files.items;
	for (size_t i = c->files.count; i-- > 0;) {
		char name[SHD_RFDB_NAME_MAX];
		if (verdict_of(c, files[i].version)->stays)
			continue;
		shd_rfdb_manifest_name(files[i].version, files[i].edit, name);
		if (!c->options->dry_run)
			TRY(shd_graph_place_remove_if(&c->graph->place, name, files[i].identity, err));
		c->result.bytes += files[i].size;
		c->result.files++;
		TRY(shd_meter_add(&c->meter, 1, err));
	}
	for (size_t i = 0; i < c->count; i++)
		c->result.versions += !c->verdicts[i].stays;
	return SHERD_OK;
}

static int gc_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

static bool is_named(const collection *c, uint64_t id)
{
	return c->segments.count && bsearch(&id, c->segments.items, c->segments.count, sizeof(id), gc_compare) != NULL;
}

/* Does a run have a segment that something names? One that cannot be used is of no use to anybody. */
static bool run_serves(collection *c, uint64_t number)
{
	graph_run *r = NULL;
	bool serves = false;
	if (shd_graph_run_open(&r, &c->graph->place, number, NULL) < 0)
		return true;
	for (size_t i = 0; r && i < r->head.member_count && !serves; i++)
		serves = is_named(c, r->head.members[i].id);
	shd_graph_run_close(r);
	return serves;
}

static bool see_run(void *arg, const char *name, const sherd_stat *stat)
{
	collection *c = arg;
	uint64_t number;
	if (!shd_rfdb_run_parse(shd_str_of(name), &number) || c->unknown || run_serves(c, number))
		return true;
	shd_graph_note(&c->doomed, name, stat);
	c->result.bytes += stat->size;
	c->result.files++;
	return !c->doomed.failed;
}

static bool see_file(void *arg, const char *name, const sherd_stat *stat)
{
	collection *c = arg;
	shd_rfdb_file file;
	bool left = strncmp(name, STAGING, strlen(STAGING)) == 0 || strcmp(name, SHD_RFDB_CLAIM) == 0;
	if (!left && (!shd_rfdb_file_parse(shd_str_of(name), &file) || c->unknown || is_named(c, file.id)))
		return true;
	shd_graph_note(&c->doomed, name, stat);
	c->result.bytes += stat->size;
	c->result.files++;
	return !c->doomed.failed;
}

static int note_files(collection *c, sherd_error *err)
{
	if (c->segments.count)
		qsort(c->segments.items, c->segments.count, sizeof(uint64_t), gc_compare);
	TRY(shd_graph_place_list(&c->graph->place, SHD_RFDB_CLAIM, see_file, c, err));
	TRY(shd_graph_place_list(&c->graph->place, SHD_RFDB_SEGMENTS, see_file, c, err));
	TRY(shd_graph_place_list(&c->graph->place, SHD_RFDB_RUNS, see_run, c, err));
	TRY(shd_graph_place_list(&c->graph->place, STAGING, see_file, c, err));
	return shd_buf_check(&c->doomed, err);
}

static int remove_file(void *arg, const char *name, const char *identity)
{
	collection *c = arg;
	int rc = shd_graph_place_remove_if(&c->graph->place, name, identity, c->err);
	return rc < 0 ? rc : shd_meter_add(&c->meter, 1, c->err);
}

/* They may belong to a writer who is about to commit them, or to a version that was just tagged. Whoever it is will be
 * refused after the fence, or was first: then it fails. */
static int gc_remove_files(collection *c, sherd_error *err)
{
	c->meter.total = c->result.files;
	c->err = err;
	TRY(shd_graph_note_again(&c->graph->place, &c->doomed, err));
	if (!c->doomed.len)
		return SHERD_OK;
	TRY(shd_graph_head_fence(&c->graph->place, &c->graph->head, err));
	return shd_graph_noted(&c->doomed, remove_file, c);
}

static int gc_collect(collection *c, sherd_error *err)
{
	bool dry_run = c->options->dry_run;
	bool locks = !dry_run && sherd_store_caps(c->graph->place.store) & SHERD_CAP_LOCK;
	TRY(list_versions(c, err));
	TRY(gc_choose(c, err));
	if (locks)
		TRY(shd_graph_hold_list(&c->graph->place, keep_held, c, err));
	for (size_t i = 0; locks && i < c->count; i++)
		if (!c->verdicts[i].stays)
			TRY(lock_doomed(c, &c->verdicts[i], err));
	TRY(secure_all(c, err));
	TRY(note_files(c, err));
	TRY(remove_manifests(c, err));
	if (dry_run)
		return SHERD_OK;
	(void)shd_graph_write_index(&c->graph->place, c->graph->version, false, NULL, NULL);
	return gc_remove_files(c, err);
}

int sherd_graph_gc(sherd_graph *g, const sherd_graph_gc_options *options, sherd_graph_gc_result *result,
                   sherd_error *err)
{
	static const sherd_graph_gc_options defaults = {0};
	collection c = {.graph = g, .version = g->version, .options = options ? options : &defaults};
	graph_head head;
	TRY(c.options->dry_run ? SHERD_OK : shd_graph_check_writable(g, err));
	if (g->mode == GRAPH_AHEAD)
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "flush first: what was spilled is in no version yet");
	if (c.options->dry_run) {
		TRY(shd_graph_head_read(&g->place, &head, err));
		c.version = head.current.version;
	} else {
		TRY(shd_graph_head_check(&g->place, &g->head, err));
	}
	shd_meter_init(&c.meter, c.options->progress, 0);
	int rc = gc_collect(&c, err);
	if (!c.options->dry_run)
		rc = shd_graph_head_judge(&g->place, &g->head, rc, err);
	shd_meter_done(&c.meter);
	for (size_t i = 0; i < c.count; i++) {
		sherd_lock_release(c.verdicts[i].locks[0]);
		sherd_lock_release(c.verdicts[i].locks[1]);
	}
	free(c.verdicts);
	shd_vec_done(&c.files);
	shd_vec_done(&c.segments);
	shd_buf_done(&c.doomed);
	if (rc == SHERD_OK && result)
		*result = c.result;
	return rc;
}
