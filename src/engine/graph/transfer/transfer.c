#include "engine/graph/transfer/transfer.h"

#include "engine/graph/flush/publish.h"
#include "engine/graph/open/create.h"
#include "engine/graph/open/hold.h"
#include "engine/graph/open/open.h"
#include "engine/publish/head.h"

#include <inttypes.h>

static int side_config(graph_side *side, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str text;
	graph_key key;
	TRY(shd_graph_place_key(&side->place, SHD_RFDB_CONFIG, &key, err));
	TRY(shd_graph_place_get(&side->place, SHD_RFDB_CONFIG, &arena, &text, side->config_identity, err));
	return shd_in_object(err, shd_rfdb_config_decode(text.ptr, text.len, &side->config, err), key.text);
}

/* Nothing may be read past this of a side that was not opened. */
static void side_done(graph_side *side)
{
	sherd_lock_release(side->lock);
	shd_graph_version_done(&side->version);
	shd_graph_place_done(&side->place);
}

/* ---- the source */

static int open_source(graph_side *from, uint64_t asked, sherd_error *err)
{
	TRY(shd_graph_head_read(&from->place, &from->head, err));
	uint64_t current = from->head.current.version;
	if (asked > current)
		return shd_fail(err, SHERD_ENOTFOUND, "no-version",
		                "version %" PRIu64 " is not there: the current one is %" PRIu64, asked, current);
	TRY(shd_graph_hold_version(&from->place, asked ? asked : current, &from->lock, err));
	TRY(shd_graph_version_load(&from->version, &from->place, asked ? asked : current, err));
	return side_config(from, err);
}

static int read_source_plan(const graph_side *from, shd_rfdb_plan *plan, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str text;
	graph_key key;
	if (from->config.planner != SHD_RFDB_DIRECTORY)
		return SHERD_OK;
	TRY(shd_graph_place_key(&from->place, SHD_RFDB_PLAN, &key, err));
	TRY(shd_graph_place_get(&from->place, SHD_RFDB_PLAN, &arena, &text, NULL, err));
	return shd_in_object(err, shd_rfdb_plan_decode(text.ptr, text.len, &from->place.limits, plan, err), key.text);
}

/* ---- the target */

static int check_layout(const graph_transfer *t, sherd_error *err)
{
	const shd_rfdb_config *a = &t->from.config, *b = &t->to.config;
	bool hash = a->planner == SHD_RFDB_HASH;
	if (a->planner == b->planner && (!hash || a->shards == b->shards))
		return SHERD_OK;
	return shd_fail(err, SHERD_ECONFLICT, "other-layout",
	                "it is laid out otherwise: %u shards by %s, and not %u by %s", b->shards,
	                b->planner == SHD_RFDB_HASH ? "hash" : "directory", a->shards, hash ? "hash" : "directory");
}

/* As a writer does, but without a segment. */
static int open_target(graph_transfer *t, sherd_error *err)
{
	graph_side *to = &t->to;
	TRY(shd_graph_head_read(&to->place, &to->head, err));
	TRY(shd_graph_lock_writer(&to->place, &to->lock, err));
	TRY(shd_graph_head_read(&to->place, &to->head, err));
	int rc = shd_graph_clear_uncommitted(&to->place, &to->head, err);
	if (rc == SHERD_OK)
		rc = shd_graph_version_load(&to->version, &to->place, to->head.current.version, err);
	if (rc == SHERD_OK)
		rc = side_config(to, err);
	TRY(shd_graph_head_judge(&to->place, &to->head, rc, err));
	return check_layout(t, err);
}

static int make_target(graph_transfer *t, const shd_rfdb_plan *plan, int64_t time_ns, sherd_error *err)
{
	graph_side *to = &t->to;
	bool hash = t->from.config.planner == SHD_RFDB_HASH;
	const sherd_graph_layout layout = {.planner = hash ? SHERD_GRAPH_HASH : SHERD_GRAPH_DIRECTORY,
	                                   .shards = hash ? t->from.config.shards : 0,
	                                   .min_files = hash ? 0 : plan->min_files};
	TRY(shd_graph_creation_begin(&t->creation, &to->place, &layout, time_ns, err));
	t->fresh = true;
	to->head = t->creation.head;
	to->version.manifest = (shd_rfdb_manifest){.version = 1};
	return side_config(to, err);
}

static int prepare_target(graph_transfer *t, const shd_rfdb_plan *plan, int64_t time_ns, sherd_error *err)
{
	sherd_error failure = {0};
	int rc = open_target(t, &failure);
	bool absent = rc == SHERD_ENOTFOUND && !*t->to.head.identity;
	return absent ? make_target(t, plan, time_ns, err) : shd_pass(err, rc, &failure);
}

/* More shards than there were, and where directories lie: nothing that the version at hand contradicts. */
static int extend_layout(graph_transfer *t, const shd_rfdb_plan *plan, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_AUTO_BUF text = {0};
	graph_side *to = &t->to;
	char identity[72] = "";
	shd_str there = {0};
	if (t->from.config.planner == SHD_RFDB_HASH)
		return SHERD_OK;
	if (t->from.config.shards > to->config.shards) {
		uint32_t before = to->config.shards;
		to->config.shards = t->from.config.shards;
		if (t->fresh)
			t->creation.shards = to->config.shards;
		TRY(shd_graph_make_shards(&to->place, before, to->config.shards, err));
		TRY(shd_graph_write_config(&to->place, &to->config, to->config_identity, err));
	}
	sherd_error failure = {0};
	int rc = shd_graph_place_get(&to->place, SHD_RFDB_PLAN, &arena, &there, identity, &failure);
	if (rc < 0 && rc != SHERD_ENOTFOUND)
		return shd_pass(err, rc, &failure);
	shd_rfdb_plan_encode(plan, &text);
	TRY(shd_buf_check(&text, err));
	if (rc == SHERD_OK && there.len == text.len && memcmp(there.ptr, text.data, text.len) == 0)
		return SHERD_OK;
	return shd_graph_write_plan(&to->place, plan, identity, err);
}

/* ---- the version */

/* Its bytes are nobody else's, whatever they say: some stores know objects by their bytes alone, and who loses removes
 * its own. */
static int encode_edit(const graph_transfer *t, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	TRY(shd_graph_encode_between(&t->to.version.manifest, &t->next, &text, err));
	const shd_head plain = {.text = (char *)text.data, .len = text.len};
	return shd_head_rewrite(out, &plain, err);
}

static int transfer_publish(graph_transfer *t, bool *unknown, sherd_error *err)
{
	SHD_AUTO_BUF edit = {0};
	SHD_AUTO_BUF full = {0};
	graph_side *to = &t->to;
	uint64_t before = to->version.manifest.version;
	if (before == UINT64_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "the numbers of versions are used up");
	t->next.version = before + 1;
	t->next.has_parent = true;
	t->next.parent = before;
	shd_rfdb_manifest_encode(&t->next, &full);
	TRY(shd_buf_check(&full, err));
	TRY(encode_edit(t, &edit, err));
	TRY(shd_graph_publish_edit(&to->place, &to->head, t->next.version, &edit, unknown, err));
	shd_graph_publish_full(&to->place, &t->next, &full);
	t->result.version = t->next.version;
	t->result.changed = true;
	return SHERD_OK;
}

static bool says_the_same(const graph_transfer *t)
{
	uint8_t print[SHD_SHA256_BYTES];
	return !t->fresh && t->printed && shd_graph_print(&t->to.version.manifest, print) &&
	       memcmp(print, t->print, sizeof(print)) == 0;
}

static int transfer_all(graph_transfer *t, bool push, const char *place, const shd_rfdb_plan *plan,
                        const sherd_graph_transfer_options *o, sherd_error *err)
{
	bool unknown = false;
	TRY(shd_graph_transfer_plan(t, err));
	t->result.version = t->to.version.manifest.version;
	if (says_the_same(t))
		return SHERD_OK;
	if (!t->fresh && !o->replace)
		TRY(shd_graph_transfer_check(t, push, place, err));
	TRY(extend_layout(t, plan, err));
	int rc = shd_graph_transfer_send(t, err);
	if (rc == SHERD_OK)
		rc = transfer_publish(t, &unknown, err);
	if (rc < 0 && !unknown && !t->fresh)
		shd_graph_transfer_undo(t);
	return rc;
}

/* A target that is being made is whole, or goes again. */
static int transfer_end(graph_transfer *t, int rc, sherd_error *err)
{
	rc = shd_graph_head_judge(&t->from.place, &t->from.head, rc, err);
	rc = shd_graph_head_judge(&t->to.place, &t->to.head, rc, err);
	if (t->fresh) {
		t->creation.head = t->to.head;
		rc = shd_graph_creation_end(&t->creation, rc);
	}
	t->result.created = t->fresh;
	return rc;
}

static int transfer_run(graph_transfer *t, bool push, const sherd_graph_transfer_options *o, sherd_error *err)
{
	SHD_AUTO_BUF place = {0};
	SHD_DONE(shd_rfdb_plan_done) shd_rfdb_plan plan = {0};
	const graph_place *other = push ? &t->to.place : &t->from.place;
	shd_rfdb_plan_init(&plan, 0);
	shd_buf_printf(&place, "%s%s", sherd_store_label(other->store), other->folder);
	TRY(shd_buf_end(&place, err));
	TRY(open_source(&t->from, o->version, err));
	TRY(read_source_plan(&t->from, &plan, err));
	t->result.source = t->from.version.manifest.version;
	int rc = prepare_target(t, &plan, o->time_ns, err);
	if (rc == SHERD_OK)
		rc = transfer_all(t, push, (const char *)place.data, &plan, o, err);
	rc = transfer_end(t, rc, err);
	if (rc == SHERD_OK)
		shd_graph_transfer_note(t, push, (const char *)place.data);
	return rc;
}

static int transfer(sherd_store *from, const char *from_folder, sherd_store *to, const char *to_folder, bool push,
                    const sherd_graph_transfer_options *options, sherd_graph_transfer_result *result, sherd_error *err)
{
	static const sherd_graph_transfer_options defaults = {0};
	const sherd_graph_transfer_options *o = options ? options : &defaults;
	graph_transfer t = {.pool = o->pool};
	shd_meter_init(&t.meter, o->progress, 0);
	int rc = shd_graph_place_init(&t.from.place, from, from_folder, o->limits, err);
	if (rc == SHERD_OK)
		rc = shd_graph_place_init(&t.to.place, to, to_folder, o->limits, err);
	if (rc == SHERD_OK)
		rc = transfer_run(&t, push, o, err);
	rc = shd_at_index(err, rc, SHERD_NO_INDEX);
	side_done(&t.from);
	side_done(&t.to);
	shd_vec_done(&t.abouts);
	shd_vec_done(&t.segments);
	shd_meter_done(&t.meter);
	if (rc == SHERD_OK && result)
		*result = t.result;
	return rc;
}

int sherd_graph_push(sherd_store *from, const char *from_folder, sherd_store *to, const char *to_folder,
                     const sherd_graph_transfer_options *options, sherd_graph_transfer_result *result, sherd_error *err)
{
	return transfer(from, from_folder, to, to_folder, true, options, result, err);
}

int sherd_graph_pull(sherd_store *from, const char *from_folder, sherd_store *to, const char *to_folder,
                     const sherd_graph_transfer_options *options, sherd_graph_transfer_result *result, sherd_error *err)
{
	return transfer(from, from_folder, to, to_folder, false, options, result, err);
}
