/* engine/graph/verify/verify.c - every document, every segment that any version names, and what each version promises
 * about all of them together. What changes meanwhile is looked at again. */
#include "engine/graph/verify/verify.h"

#include "engine/graph/verify/check.h"

#include <inttypes.h>
#include <stdlib.h>

/* Others who commit and collect all the time are waited for so often. */
enum { MOST_TRIES = 20 };

/* ---- documents */

/* Reads a document and lets decode() judge it; one that is not there is missing only if it must be there. */
typedef int decode_fn(graph_checking *c, shd_str text, shd_seal *seal, sherd_error *err);

static int check_document(graph_checking *c, const char *name, bool needed, decode_fn *decode, sherd_error *err)
{
	graph_key key;
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str text = {0};
	shd_seal seal = SHD_SEAL_GOOD;
	sherd_error found = {0};
	TRY(shd_graph_place_key(&c->place, name, &key, err));
	int rc = shd_graph_place_get(&c->place, name, &arena, &text, NULL, &found);
	if (rc == SHERD_ENOTFOUND && !needed)
		return SHERD_OK;
	if (rc == SHERD_OK)
		rc = decode(c, text, &seal, &found);
	TRY(shd_report_take(c->report, rc, &found, key.text, err));
	c->report->checked += text.len;
	if (rc == SHERD_OK && seal == SHD_SEAL_ABSENT)
		return shd_report_warn(c->report, key.text, "no-seal", err,
		                       "written by another program: nothing tells whether it was damaged");
	return SHERD_OK;
}

static int decode_current(graph_checking *c, shd_str text, shd_seal *seal, sherd_error *err)
{
	shd_rfdb_current *current = &c->head.current;
	TRY(shd_rfdb_current_decode(text.ptr, text.len, current, err));
	if (current->vacant)
		return shd_fail(err, SHERD_ENOTFOUND, "incomplete",
		                "the database was not made to the end: make it again");
	*seal = current->seal;
	return SHERD_OK;
}

static int decode_config(graph_checking *c, shd_str text, shd_seal *seal, sherd_error *err)
{
	shd_rfdb_config config;
	TRY(shd_rfdb_config_decode(text.ptr, text.len, &config, err));
	c->planned = config.planner == SHD_RFDB_DIRECTORY;
	c->shards = config.shards;
	*seal = config.seal;
	return SHERD_OK;
}

static int decode_index(graph_checking *c, shd_str text, shd_seal *seal, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_rfdb_index index;
	TRY(shd_rfdb_index_decode(text.ptr, text.len, &c->place.limits, &arena, &index, err));
	*seal = index.seal;
	return SHERD_OK;
}

static int decode_plan(graph_checking *c, shd_str text, shd_seal *seal, sherd_error *err)
{
	shd_rfdb_plan plan;
	shd_rfdb_plan_init(&plan, 0);
	int rc = shd_rfdb_plan_decode(text.ptr, text.len, &c->place.limits, &plan, err);
	shd_rfdb_plan_done(&plan);
	*seal = SHD_SEAL_GOOD; /* only we write it: one without is refused above */
	return rc;
}

/* ---- the index */

static bool same_tag(const struct shd_rfdb_tagged *a, const struct shd_rfdb_tagged *b)
{
	return a->version == b->version && shd_str_compare(a->key, b->key) == 0 &&
	       shd_str_compare(a->value, b->value) == 0;
}

/* The index counts while it is of the current version. Before tag_index was written, Sherd left it empty. */
static int judge_tags(graph_checking *c, const shd_rfdb_index *x, const char *key, sherd_error *err)
{
	SHD_AUTO_VEC graph_tagged_vec wanted = {0};
	SHD_DONE(shd_graph_snapshots_done) graph_snapshots s = {0};
	if (x->latest != c->head.current.version)
		return SHERD_OK;
	TRY(shd_graph_take_snapshots(&c->place, x->latest, &s, err));
	/* The index is of manifests, whatever became of their segments. */
	shd_vec_append(&s.list, s.tagged.items, s.tagged.count);
	TRY(shd_vec_check(&s.list, err));
	TRY(shd_graph_index_tags(s.list.items, s.list.count, &wanted, err));
	size_t count = wanted.count;
	for (size_t i = 0; i < x->tagged_count; i++) {
		size_t k = 0;
		while (k < count && !same_tag(&wanted.items[k], &x->tagged[i]))
			k++;
		sherd_error found = {0};
		if (k == count)
			return shd_report_take(c->report,
			                       shd_fail(&found, SHERD_ECORRUPT, "bad-index",
			                                "its tag_index names a version that does not have the tag"),
			                       &found, key, err);
	}
	if (x->tagged_count < count)
		return shd_report_warn(c->report, key, "no-tags", err,
		                       "its tag_index lacks tags: the real server does not find them until the next "
		                       "sherd graph tag or compact");
	return SHERD_OK;
}

static int check_tags(graph_checking *c, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str text;
	graph_key key;
	shd_rfdb_index x;
	TRY(shd_graph_place_key(&c->place, SHD_RFDB_INDEX, &key, err));
	/* What is wrong with it otherwise was told before. */
	int rc = shd_graph_place_get(&c->place, SHD_RFDB_INDEX, &arena, &text, NULL, NULL);
	if (rc == SHERD_OK)
		rc = shd_rfdb_index_decode(text.ptr, text.len, &c->place.limits, &arena, &x, NULL);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	return rc == SHERD_OK ? judge_tags(c, &x, key.text, err) : SHERD_OK;
}

/* ---- versions */

/* An edit beside a full manifest is not read by anybody, but may be needed when that is lost: it is decoded alone. */
static int decode_edit(graph_checking *c, shd_str text, shd_seal *seal, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_rfdb_edit edit;
	TRY(shd_rfdb_edit_decode(text.ptr, text.len, &c->place.limits, &arena, &edit, err));
	*seal = edit.seal;
	return SHERD_OK;
}

static bool is_given_up(const graph_checking *c, uint64_t version)
{
	const shd_rfdb_numbers *list = &c->now.manifest.given_up;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == version)
			return version != c->head.current.version;
	return false;
}

/* What is wrong with a version. */
static int tell_bad(graph_checking *c, uint64_t version, int rc, const sherd_error *found, const char *key,
                    sherd_error *err)
{
	sherd_report one = {0};
	bool given_up = is_given_up(c, version);
	rc = shd_report_take(&one, rc, found, key, err);
	if (rc == SHERD_OK && sherd_report_errors(&one) && !given_up)
		shd_vec_push(&c->bad, version);
	if (rc == SHERD_OK)
		rc = shd_graph_checking_tell(c, &one, given_up, err);
	shd_report_done(&one);
	return rc < 0 ? rc : shd_vec_check(&c->bad, err);
}

static int note_version(graph_checking *c, const shd_rfdb_manifest *m, const char *key, sherd_error *err)
{
	(void)key;
	return shd_graph_checking_note(c, m, !is_given_up(c, m->version), err);
}

/* Goes through all versions: each() gets those whose manifests can be read; the others are told of when asked to. */
typedef int version_fn(graph_checking *c, const shd_rfdb_manifest *m, const char *key, sherd_error *err);

static int tell_version(graph_checking *c, const graph_chain *chain, const graph_manifest_file *file, int rc,
                        const sherd_error *found, const char *key, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	if (rc == 0) {
		shd_rfdb_manifest_name(file->version, true, name);
		return check_document(c, name, false, decode_edit, err);
	}
	if (rc == SHERD_ENOTFOUND && file->version != c->head.current.version)
		return shd_report_warn(c->report, key, "incomplete", err, "a version whose other manifests are gone");
	if (rc < 0)
		return tell_bad(c, file->version, rc, found, key, err);
	c->report->checked += file->size;
	if (!chain->unsealed)
		return SHERD_OK;
	return shd_report_warn(c->report, key, "no-seal", err,
	                       "written by another program: nothing tells whether it was damaged");
}

static int each_version(graph_checking *c, bool tell, version_fn *each, sherd_error *err)
{
	const graph_manifest_file *list = c->files.items;
	SHD_DONE(shd_graph_chain_done) graph_chain chain = {.place = &c->place};
	for (size_t i = 0; i < c->files.count; i++) {
		char name[SHD_RFDB_NAME_MAX];
		graph_key key;
		sherd_error found = {0};
		shd_rfdb_manifest_name(list[i].version, list[i].edit, name);
		TRY(shd_graph_place_key(&c->place, name, &key, err));
		int step = shd_graph_chain_step(&chain, &list[i], &found);
		if (tell)
			TRY(tell_version(c, &chain, &list[i], step, &found, key.text, err));
		else if (step == SHERD_ENOMEM || step == SHERD_EIO)
			TRY(shd_report_take(c->report, step, &found, key.text, err));
		if (step > 0)
			TRY(each(c, &chain.manifest, key.text, err));
	}
	return SHERD_OK;
}

/* The first of its segments that is gone, or damaged. */
static const graph_checked *find_bad(const graph_checking *c, const shd_rfdb_manifest *m, bool damaged)
{
	const shd_rfdb_descriptor *d;
	for (size_t i = 0; (d = shd_rfdb_manifest_segment(m, i)); i++) {
		size_t place = shd_graph_checking_place(c, d);
		const graph_checked *one = place == SHD_MAP_NONE ? NULL : graph_checked_at(c, place);
		if (one && (damaged ? one->damaged : one->missing))
			return one;
	}
	return NULL;
}

/* The real server removes segments that only old edits name: then that version cannot be read any more, and all else
 * is well. What the current version names must be there. */
static int judge_version(graph_checking *c, const shd_rfdb_manifest *m, const char *key, sherd_error *err)
{
	sherd_error found = {0};
	const graph_checked *missing = find_bad(c, m, false);
	if (missing && m->version != c->head.current.version)
		return shd_report_warn(c->report, key, "incomplete", err,
		                       "a version that cannot be read any more: segment %" PRIu64 " is gone",
		                       missing->about.id);
	if (missing) {
		char name[SHD_RFDB_NAME_MAX];
		graph_key segment;
		shd_rfdb_segment_name(missing->about.shard, missing->about.id, missing->about.kind, name);
		TRY(shd_graph_place_key(&c->place, name, &segment, err));
		int rc = shd_fail(&found, SHERD_ECORRUPT, "missing-segment",
		                  "the current version %" PRIu64 " needs it, and it is gone", m->version);
		return shd_report_take(c->report, rc, &found, segment.text, err);
	}
	if (find_bad(c, m, true)) {
		/* The segment was told of. */
		if (!is_given_up(c, m->version))
			shd_vec_push(&c->bad, m->version);
		return shd_vec_check(&c->bad, err);
	}
	int rc = shd_graph_checking_version(c, m, &found);
	return tell_bad(c, m->version, rc, &found, key, err);
}

static int check_current(const graph_checking *c, sherd_error *err)
{
	size_t count = c->files.count;
	if (!count || c->files.items[count - 1].version != c->head.current.version)
		return shd_fail(err, SHERD_ECORRUPT, "no-version", "no manifest of the current version %" PRIu64,
		                c->head.current.version);
	return SHERD_OK;
}

/* ---- all of it */

/* Notes what all versions name. */
static int note_versions(graph_checking *c, sherd_error *err)
{
	int rc = shd_graph_version_load(&c->now, &c->place, c->head.current.version, NULL);
	/* What is wrong with it is told when its turn comes. */
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	TRY(shd_graph_list_manifests(&c->place, c->head.current.version, &c->files, err));
	return each_version(c, true, note_version, err);
}

static int check_all(graph_checking *c, sherd_error *err)
{
	sherd_error found = {0};
	graph_key key;
	TRY(shd_graph_place_key(&c->place, SHD_RFDB_CURRENT, &key, err));
	TRY(check_document(c, SHD_RFDB_CURRENT, true, decode_current, err));
	TRY(check_document(c, SHD_RFDB_CONFIG, true, decode_config, err));
	TRY(check_document(c, SHD_RFDB_PLAN, c->planned, decode_plan, err));
	TRY(check_document(c, SHD_RFDB_INDEX, false, decode_index, err));
	if (sherd_report_errors(c->report))
		return SHERD_OK;
	TRY(note_versions(c, err));
	int rc = check_current(c, &found);
	TRY(shd_report_take(c->report, rc, &found, key.text, err));
	TRY(shd_graph_checking_segments(c, err));
	TRY(shd_graph_checking_runs(c, err));
	TRY(check_tags(c, err));
	return each_version(c, false, judge_version, err);
}

static int find_damaged(graph_checking *c, sherd_error *err)
{
	TRY(check_document(c, SHD_RFDB_CONFIG, true, decode_config, err));
	if (sherd_report_errors(c->report))
		return SHERD_OK; /* of no version can be said where its segments may lie */
	TRY(note_versions(c, err));
	TRY(shd_graph_checking_segments(c, err));
	return each_version(c, false, judge_version, err);
}

int shd_graph_find_damaged(const graph_place *p, uint64_t current, const sherd_verify_options *options,
                           shd_rfdb_number_vec *versions, sherd_error *err)
{
	sherd_report report = {0};
	graph_checking c = {.options = options, .report = &report, .head.current.version = current};
	TRY(shd_graph_place_copy(&c.place, p, err));
	int rc = find_damaged(&c, err);
	shd_vec_append(versions, c.bad.items, c.bad.count);
	shd_graph_checking_done(&c);
	shd_report_done(&report);
	return rc < 0 ? rc : shd_vec_check(versions, err);
}

/* Once. *changed: others committed or collected meanwhile. */
static int verify_verify(sherd_report *r, sherd_store *store, const char *folder, const sherd_verify_options *options,
                         bool *changed, sherd_error *err)
{
	graph_checking c = {.options = options, .report = r};
	graph_head before, after;
	TRY(shd_graph_place_init(&c.place, store, folder, options->limits, err));
	int there = shd_graph_head_look(&c.place, &before, NULL);
	int rc = there == SHERD_ENOMEM ? shd_fail_nomem(err) : check_all(&c, err);
	int still = shd_graph_head_look(&c.place, &after, NULL);
	if (rc == SHERD_OK && still == SHERD_ENOMEM)
		rc = shd_fail_nomem(err);
	*changed = there == SHERD_OK && still == SHERD_OK && strcmp(before.identity, after.identity) != 0;
	shd_graph_checking_done(&c);
	return rc;
}

/* Into the report, unless it has to be done again: 1. */
static int verify_once(sherd_report *r, sherd_store *store, const char *folder, const sherd_verify_options *options,
                       sherd_error *err)
{
	sherd_report found = {0};
	sherd_error failure = {0};
	bool changed = false;
	int rc = verify_verify(&found, store, folder, options, &changed, &failure);
	bool again = changed && (rc == SHERD_ENOTFOUND || (rc == SHERD_OK && sherd_report_errors(&found)));
	if (rc < 0 && !again && err)
		*err = failure;
	if (rc == SHERD_OK && !again)
		rc = shd_report_merge(r, &found, err);
	shd_report_done(&found);
	return again ? 1 : rc;
}

int shd_graph_verify(sherd_report *r, sherd_store *store, const char *folder, const sherd_verify_options *options,
                     sherd_error *err)
{
	int rc = 1;
	for (int tries = 0; rc == 1 && tries < MOST_TRIES; tries++)
		rc = verify_once(r, store, folder, options, err);
	if (rc == 1)
		return shd_fail(err, SHERD_ECONFLICT, "changed", "others change the database all the time: try again");
	return rc;
}
