/* engine/graph/keep/repair.c - the newest version that is whole becomes the current one again.
 *
 * Nothing is removed or changed that is there: the version is written in full under the next number. The order of steps
 * is in README.md, "Repair". */
#include "engine/graph/open/open.h"
#include "engine/graph/verify/check.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

typedef struct repairing {
	graph_place place;
	const sherd_graph_repair_options *options;
	graph_head head; /* identity "": there is none */
	bool known;      /* the head says which version was current */
	graph_manifest_vec files;
	shd_rfdb_number_vec bad; /* versions that are damaged, and were not given up before */
	sherd_graph_repair_result result;
} repairing;

/* ---- what is lost */

static void keep_repair_tell(const repairing *r, const sherd_error *what)
{
	if (r->options->lost)
		r->options->lost(r->options->lost_arg, what);
}

/* A segment that is gone, with what was in it. */
static void tell_missing(const repairing *r, const shd_rfdb_descriptor *d)
{
	bool nodes = d->kind == SHD_RFDB_NODES;
	size_t kinds = nodes ? d->files.count : d->types.count;
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	sherd_error what = {0};
	shd_rfdb_segment_name(d->shard, d->id, d->kind, name);
	if (shd_graph_place_key(&r->place, name, &key, &what) < 0)
		return;
	int rc = kinds ? shd_fail(&what, SHERD_ECORRUPT, "missing-segment",
	                          "it is gone, with %" PRIu64 " %s of %zu %s%s", d->rows, nodes ? "nodes" : "edges",
	                          kinds, nodes ? "file" : "type", kinds == 1 ? "" : "s")
	               : shd_fail(&what, SHERD_ECORRUPT, "missing-segment", "it is gone, with %" PRIu64 " %s", d->rows,
	                          nodes ? "nodes" : "edges");
	(void)shd_in_object(&what, rc, key.text);
	keep_repair_tell(r, &what);
}

/* Counts and tells. False when nothing is missing or damaged. */
static bool tell_segments(repairing *r, const graph_checking *c, bool told)
{
	bool bad = false;
	for (size_t i = 0; i < c->descriptors.count; i++) {
		const graph_checked *one = graph_checked_at(c, i);
		if (!one->missing && !one->damaged)
			continue;
		bad = true;
		if (!told)
			continue;
		bool nodes = one->about.kind == SHD_RFDB_NODES;
		*(nodes ? &r->result.nodes : &r->result.edges) += one->about.rows;
		if (one->missing)
			tell_missing(r, &one->about);
	}
	return bad;
}

static uint64_t count_rows(const shd_rfdb_descriptors *l0, const shd_rfdb_descriptors *l1)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < l0->count; i++)
		sum += l0->items[i].rows;
	for (size_t i = 0; i < l1->count; i++)
		sum += l1->items[i].rows;
	return sum;
}

static sherd_graph_records totals_of(const shd_rfdb_manifest *m)
{
	const shd_rfdb_counts *c = &m->counts;
	return (sherd_graph_records){
		.known = true,
		.nodes = c->known ? shd_graph_counts_sum(&c->of[SHD_RFDB_NODES]) : count_rows(&m->nodes, &m->l1_nodes),
		.edges = c->known ? shd_graph_counts_sum(&c->of[SHD_RFDB_EDGES]) : count_rows(&m->edges, &m->l1_edges)};
}

/* ---- is a version whole? */

static int read_shards(graph_checking *c, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str text;
	shd_rfdb_config config;
	TRY(shd_graph_place_get(&c->place, SHD_RFDB_CONFIG, &arena, &text, NULL, err));
	TRY(shd_rfdb_config_decode(text.ptr, text.len, &config, err));
	c->shards = config.shards;
	return SHERD_OK;
}

/* 1, or 0; every byte of it is looked at. A damaged index loses nothing: it is never needed. */
static int keep_repair_look_at(repairing *r, graph_checking *c, const shd_rfdb_manifest *m, bool told, sherd_error *err)
{
	sherd_error found = {0};
	TRY(read_shards(c, err));
	TRY(shd_graph_checking_note(c, m, true, err));
	TRY(shd_graph_checking_segments(c, err));
	bool bad = tell_segments(r, c, told);
	int rc = bad ? SHERD_OK : shd_graph_checking_version(c, m, &found);
	bad = bad || rc < 0;
	TRY(shd_report_take(c->report, rc, &found, SHD_RFDB_MANIFESTS, err));
	for (size_t i = 0; told && bad && i < sherd_report_errors(c->report); i++)
		keep_repair_tell(r, sherd_report_error(c->report, i));
	return !bad;
}

static int keep_repair_is_whole(repairing *r, uint64_t version, bool told, sherd_error *err)
{
	graph_version v;
	sherd_error found = {0};
	sherd_report report = {0};
	const sherd_verify_options options = {.pool = r->options->pool, .progress = r->options->progress};
	graph_checking c = {.options = &options, .report = &report};
	int rc = shd_graph_version_load(&v, &r->place, version, &found);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_ECORRUPT) {
		if (told)
			keep_repair_tell(r, &found);
		return 0;
	}
	TRY(shd_pass(err, rc, &found));
	rc = shd_graph_place_copy(&c.place, &r->place, err);
	if (rc == SHERD_OK)
		rc = keep_repair_look_at(r, &c, &v.manifest, told, err);
	if (told && (!r->known || version == r->result.found))
		r->result.before = totals_of(&v.manifest);
	if (rc > 0)
		r->result.after = totals_of(&v.manifest);
	shd_graph_checking_done(&c);
	shd_report_done(&report);
	shd_graph_version_done(&v);
	return rc;
}

/* From the newest down; what is wrong is told of the newest. */
static int find_whole(repairing *r, sherd_error *err)
{
	const graph_manifest_file *list = r->files.items;
	uint64_t last = UINT64_MAX;
	for (size_t i = r->files.count; i-- > 0;) {
		if (list[i].version == last)
			continue;
		int rc = keep_repair_is_whole(r, list[i].version, last == UINT64_MAX, err);
		TRY(rc);
		if (rc) {
			r->result.whole = list[i].version;
			return SHERD_OK;
		}
		last = list[i].version;
		r->result.versions++;
	}
	return shd_fail(err, SHERD_ECORRUPT, "no-version", "no version is whole: nothing can be repaired");
}

/* Older ones stay as they are, but are given up: whoever verifies is not told of them again and again. */
static int find_bad(repairing *r, uint64_t current, sherd_error *err)
{
	const sherd_verify_options options = {.pool = r->options->pool, .progress = r->options->progress};
	TRY(shd_graph_find_damaged(&r->place, current, &options, &r->bad, err));
	const uint64_t *list = r->bad.items;
	for (size_t i = 0; i < r->bad.count; i++) {
		bool again = false;
		for (size_t k = 0; k < i; k++)
			again = again || list[k] == list[i];
		r->result.older += list[i] < r->result.whole && !again;
	}
	return SHERD_OK;
}

/* ---- publishing */

static int keep_repair_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

/* What was given up before, as the whole version and the one that was current say, and now. */
static int add_given_up(const repairing *r, const shd_rfdb_manifest *m, shd_rfdb_number_vec *out, sherd_error *err)
{
	graph_version found;
	shd_vec_append(out, r->bad.items, r->bad.count);
	shd_vec_append(out, m->given_up.items, m->given_up.count);
	int rc = r->known ? shd_graph_version_load(&found, &r->place, r->result.found, NULL) : SHERD_ENOTFOUND;
	if (rc == SHERD_OK) {
		shd_vec_append(out, found.manifest.given_up.items, found.manifest.given_up.count);
		shd_graph_version_done(&found);
	}
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	TRY(shd_vec_check(out, err));
	uint64_t *list = out->items;
	size_t count = out->count, kept = 0;
	if (count)
		qsort(list, count, sizeof(*list), keep_repair_compare);
	for (size_t i = 0; i < count; i++)
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	out->count = kept;
	return SHERD_OK;
}

/* The whole version once more, as a manifest of another number. */
static int encode_again(const repairing *r, uint64_t version, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_number_vec given_up = {0};
	graph_version v;
	TRY(shd_graph_version_load(&v, &r->place, r->result.whole, err));
	shd_rfdb_manifest m = v.manifest;
	int rc = add_given_up(r, &v.manifest, &given_up, err);
	m.given_up = (shd_rfdb_numbers){given_up.items, given_up.count};
	m.version = version;
	m.parent = r->result.whole;
	m.has_parent = true;
	m.tags = (shd_rfdb_tags){0};
	m.created_at = r->options->time_ns > 0 ? (uint64_t)r->options->time_ns / 1000000000 : 0;
	if (rc == SHERD_OK)
		shd_rfdb_manifest_encode(&m, out);
	shd_graph_version_done(&v);
	return rc < 0 ? rc : shd_buf_check(out, err);
}

static int keep_repair_publish(repairing *r, uint64_t version, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	char name[SHD_RFDB_NAME_MAX], identity[sizeof(((sherd_stat *)0)->identity)] = "";
	const sherd_write_options o = {.mode = SHERD_WRITE_NEW, .identity = identity};
	bool unknown;
	TRY(encode_again(r, version, &text, err));
	shd_rfdb_manifest_name(version, false, name);
	TRY(shd_graph_place_write(&r->place, name, &o, &text, err));
	int rc = shd_graph_head_advance(&r->place, &r->head, version, &(graph_made){name, identity}, &unknown, err);
	if (rc == SHERD_ECONFLICT)
		(void)shd_graph_place_remove_if(&r->place, name, identity, NULL);
	TRY(rc);
	r->result.version = version;
	(void)shd_graph_write_index(&r->place, version, false, NULL, NULL);
	return SHERD_OK;
}

/* ---- all of it */

static int keep_repair_read_head(repairing *r, sherd_error *err)
{
	graph_key key;
	sherd_stat stat;
	sherd_error found = {0};
	int rc = shd_graph_head_read(&r->place, &r->head, &found);
	r->known = rc == SHERD_OK;
	if (r->known)
		return SHERD_OK;
	r->head = (graph_head){0};
	bool absent = rc == SHERD_ENOTFOUND && strcmp(found.reason, "incomplete") != 0;
	if (rc == SHERD_ECORRUPT) {
		keep_repair_tell(r, &found);
		TRY(shd_graph_place_key(&r->place, SHD_RFDB_CURRENT, &key, err));
		TRY(sherd_store_stat(&stat, r->place.store, key.text, err));
		memcpy(r->head.identity, stat.identity, sizeof(stat.identity));
	} else if (!absent) {
		return shd_pass(err, rc, &found);
	}
	return SHERD_OK;
}

static int keep_repair(repairing *r, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	bool dry_run = r->options->dry_run;
	TRY(keep_repair_read_head(r, err));
	r->result.found = r->known ? r->head.current.version : 0;
	TRY(shd_graph_list_manifests(&r->place, r->known ? r->result.found : UINT64_MAX, &r->files, err));
	size_t count = r->files.count;
	if (!count)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "there is no graph database");
	if (!dry_run)
		TRY(shd_graph_lock_writer(&r->place, &lock, err));
	if (r->known && !dry_run)
		TRY(shd_graph_clear_uncommitted(&r->place, &r->head, err));
	uint64_t newest = r->files.items[count - 1].version;
	if (r->known && newest != r->result.found)
		r->result.versions++; /* its manifest is gone */
	TRY(find_whole(r, err));
	TRY(find_bad(r, r->known ? r->result.found : newest, err));
	r->result.version = r->result.found;
	if ((r->result.whole == r->result.found && !r->bad.count) || dry_run)
		return SHERD_OK;
	if (r->known)
		TRY(shd_graph_head_fence(&r->place, &r->head, err));
	uint64_t last = r->result.found > newest ? r->result.found : newest;
	return keep_repair_publish(r, last + 1, err);
}

int sherd_graph_repair(sherd_store *store, const char *folder, const sherd_graph_repair_options *options,
                       sherd_graph_repair_result *result, sherd_error *err)
{
	static const sherd_graph_repair_options defaults = {0};
	repairing r = {.options = options ? options : &defaults};
	TRY(shd_graph_place_init(&r.place, store, folder, NULL, err));
	int rc = shd_in_object(err, keep_repair(&r, err), folder);
	shd_vec_done(&r.files);
	shd_vec_done(&r.bad);
	shd_graph_place_done(&r.place);
	if (rc == SHERD_OK && result)
		*result = r.result;
	return rc;
}
