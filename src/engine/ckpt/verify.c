/* engine/ckpt/verify.c - everything about a set that can be checked. */
#include "engine/ckpt/verify.h"

#include "base/limits.h"
#include "base/pool.h"
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/metadata.h"
#include "engine/ckpt/replicas.h"
#include "engine/ckpt/verify_shard.h"
#include "format/ckpt/about.h"

#include <inttypes.h>
#include <stdlib.h>

/* A set that is replaced while it is checked is checked again, this often. */
enum { MOST_TRIES = 16 };

typedef struct checked_shard {
	ckpt_shard shard;
	bool open;
	shd_arena arena;
	shd_ckpt_index index;
	bool has_index;
	sherd_report report;
} checked_shard;

typedef struct checking {
	sherd_store *store;
	const char *prefix;
	sherd_verify_options options;
	sherd_limits limits;
	shd_meter meter;
	shd_arena arena;
	shd_ckpt_meta meta;
	char identity[72]; /* of the metadata */
	shd_buf meta_key;
	checked_shard *shards;
	sherd_report *report;
} checking;

static const char *meta_key(const checking *g)
{
	return (const char *)g->meta_key.data;
}

static int different_set(const checking *g, const shd_ckpt_index *index, sherd_error *err)
{
	char have[SHERD_SET_ID_TEXT], want[SHERD_SET_ID_TEXT];
	sherd_set_id_format(have, &index->set_id);
	sherd_set_id_format(want, &g->meta.set_id);
	return shd_fail(err, SHERD_ECORRUPT, "other-set", "the shard is of set %s, the metadata of set %s", have, want);
}

/* Takes the white space between tokens out: what we keep as text may be laid out in two ways. */
static void squeeze(shd_buf *json)
{
	size_t kept = 0;
	bool quoted = false;
	for (size_t i = 0; i < json->len; i++) {
		uint8_t c = json->data[i];
		if (!quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r'))
			continue;
		json->data[kept++] = c;
		if (quoted && c == '\\')
			json->data[kept++] = json->data[++i];
		else if (c == '"')
			quoted = !quoted;
	}
	json->len = kept;
}

static const char *filled_in(const char *said, const char *metadata, const char *filler)
{
	return !said && metadata && (!filler || strcmp(metadata, filler) == 0) ? metadata : said;
}

/* Metadata of older writers says more than the index where nobody said anything: zeros, nothing, and guesses. */
static void fill_in(sherd_ckpt_about *said, const sherd_ckpt_about *metadata)
{
	said->strategy = filled_in(said->strategy, metadata->strategy, NULL);
	said->precision = filled_in(said->precision, metadata->precision, NULL);
	said->strategy_info = filled_in(said->strategy_info, metadata->strategy_info, "{}");
	said->optimizer_type = filled_in(said->optimizer_type, metadata->optimizer_type, "");
	said->optimizer_state = filled_in(said->optimizer_state, metadata->optimizer_state, "{}");
	said->has_ddp_rank |= metadata->has_ddp_rank && !metadata->ddp_rank;
	said->has_epoch |= metadata->has_epoch && !metadata->epoch;
	said->has_step |= metadata->has_step && !metadata->step;
	said->has_learning_rate |= metadata->has_learning_rate && metadata->learning_rate == 0;
}

static int same_about(const checking *g, const shd_ckpt_index *index, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_ckpt_about_encode(&g->meta.about, &text);
	TRY(shd_buf_check(&text, err));
	shd_arena arena = {0};
	sherd_ckpt_about theirs = {0};
	SHD_AUTO_BUF again = {0};
	int rc = index->about.len ? shd_ckpt_about_decode(index->about, &g->limits, &arena, &theirs, err) : SHERD_OK;
	if (rc == SHERD_OK) {
		fill_in(&theirs, &g->meta.about);
		shd_ckpt_about_encode(&theirs, &again);
		rc = shd_buf_check(&again, err);
	}
	shd_arena_done(&arena);
	TRY(rc);
	squeeze(&text);
	squeeze(&again);
	if (text.len != again.len || (text.len && memcmp(text.data, again.data, text.len) != 0))
		return shd_fail(err, SHERD_ECORRUPT, "bad-metadata",
		                "metadata and index of rank 0 describe different training");
	return SHERD_OK;
}

static int compare_index(const checking *g, const shd_ckpt_meta_shard *m, const shd_ckpt_index *index, sherd_error *err)
{
	if (!g->meta.has_set_id)
		return SHERD_OK;
	if (!shd_set_id_equal(&index->set_id, &g->meta.set_id))
		return different_set(g, index, err);
	if (index->world != g->meta.world)
		return shd_fail(err, SHERD_ECORRUPT, "bad-world",
		                "the index says %" PRIu32 " ranks, the metadata %" PRIu32, index->world, g->meta.world);
	for (size_t i = 0; m->listed && i < m->count; i++)
		if (!shd_ckpt_entry_equal(&m->entries[i], &index->entries[i]))
			return shd_fail(err, SHERD_ECORRUPT, "bad-metadata",
			                "metadata and index describe tensor '%.80s' differently",
			                m->entries[i].tensor.name);
	if (m->rank == 0 && index->time_ns != g->meta.time_ns)
		return shd_fail(err, SHERD_ECORRUPT, "bad-metadata",
		                "metadata and index of rank 0 give different times");
	return m->rank == 0 ? same_about(g, index, err) : SHERD_OK;
}

static int ckpt_verify_check_index(const checking *g, const shd_ckpt_meta_shard *m, checked_shard *c, sherd_error *err)
{
	TRY(shd_ckpt_shard_index(&c->shard, &g->limits, &c->arena, &c->index, &c->has_index, err));
	if (c->has_index)
		return compare_index(g, m, &c->index, err);
	if (g->meta.has_set_id || !m->listed)
		return shd_fail(err, SHERD_ECORRUPT, "no-index", "the shard has lost its index");
	return SHERD_OK;
}

/* Readers of sets without identity go by the metadata alone, whatever index the shard has. */
static int check_places(const checking *g, shd_ckpt_meta_shard *m, checked_shard *c, bool *fine, sherd_error *err)
{
	sherd_error found = {0};
	if (!g->meta.has_set_id)
		shd_ckpt_entries_place(m->entries, m->count, c->shard.data_size);
	int rc = shd_ckpt_entries_check(m->entries, m->count, c->shard.data_size, &c->arena, &found);
	*fine = rc == SHERD_OK;
	return shd_report_take(&c->report, rc, &found, meta_key(g), err);
}

/* Entries come from the index where there is one, since they have checksums there. */
static int ckpt_verify_check_data(const checking *g, shd_ckpt_meta_shard *m, checked_shard *c, sherd_error *err)
{
	ckpt_scan scan = {.shard = &c->shard, .pool = g->options.pool, .meter = (shd_meter *)&g->meter};
	bool fine = true;
	if (!c->has_index || (m->listed && !g->meta.has_set_id))
		TRY(check_places(g, m, c, &fine, err));
	if (c->has_index) {
		scan = shd_ckpt_scan_by_index(&c->shard, &c->index, scan.pool, scan.meter);
	} else if (fine) {
		scan.entries = m->entries;
		scan.count = m->count;
	}
	return shd_ckpt_scan(&scan, &c->report, err);
}

static int ckpt_verify_check_shard(void *arg, size_t i, sherd_error *err)
{
	checking *g = arg;
	checked_shard *c = &g->shards[i];
	shd_ckpt_meta_shard *m = &g->meta.shards[i];
	sherd_error found = {0};
	int rc = shd_ckpt_named_shard_open(&c->shard, g->store, g->prefix, m, &found);
	c->open = rc == SHERD_OK;
	TRY(shd_report_take(&c->report, rc, &found, g->prefix, err));
	if (!c->open)
		return SHERD_OK;
	const char *key = sherd_reader_key(c->shard.reader);
	c->report.checked += c->shard.data_offset;
	if (g->options.quick)
		return shd_meter_ask(&g->meter, err);
	rc = ckpt_verify_check_index(g, m, c, &found);
	TRY(shd_report_take(&c->report, rc, &found, key, err));
	if (!m->listed && c->has_index) {
		m->entries = c->index.entries;
		m->count = c->index.count;
	}
	return ckpt_verify_check_data(g, m, c, err);
}

/* Do the tensors of all shards fit together? */
static int ckpt_verify_check_tensors(const checking *g, sherd_error *err)
{
	sherd_ckpt as_if_open = {.meta = g->meta, .shard_count = g->meta.count};
	int rc = shd_ckpt_build_tensors(&as_if_open, err);
	shd_map_done(&as_if_open.names);
	shd_arena_done(&as_if_open.arena);
	return rc;
}

static int check_replicas(checking *g, sherd_error *err)
{
	SHD_AUTO_VEC SHD_VEC(ckpt_replica) list = {0};
	for (size_t i = 0; i < g->meta.count; i++) {
		const checked_shard *c = &g->shards[i];
		const shd_ckpt_meta_shard *m = &g->meta.shards[i];
		const shd_ckpt_entry *entries = c->has_index ? c->index.entries : m->entries;
		size_t count = c->has_index ? c->index.count : m->count;
		for (size_t k = 0; c->open && k < count; k++) {
			ckpt_replica r = {&c->shard, &entries[k]};
			shd_vec_push(&list, r);
		}
	}
	TRY(shd_vec_check(&list, err));
	return shd_ckpt_compare_replicas(list.items, list.count, g->report, &g->meter, err);
}

static int warn_about_files(checking *g, const ckpt_files *files, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map named = {0};
	TRY(shd_ckpt_metadata_files(&g->meta, g->prefix, &g->arena, &named, err));
	for (size_t i = 0; i < files->count; i++) {
		const char *key = files->list[i].key;
		if (shd_map_find(&named, shd_str_of(shd_str_leaf(key))) == SHD_MAP_NONE)
			TRY(shd_report_warn(g->report, key, "stray-shard", err,
			                    "the metadata does not name this shard"));
	}
	return SHERD_OK;
}

static int warn_about_strays(checking *g, sherd_error *err)
{
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	SHD_AUTO_BUF claim = {0};
	sherd_stat stat;
	shd_ckpt_name_claim(&claim, g->prefix);
	TRY(shd_buf_check(&claim, err));
	sherd_error found = {0};
	int claimed = sherd_store_stat(&stat, g->store, (const char *)claim.data, &found);
	bool other = shd_ckpt_is_no_object(claimed, &found);
	if (claimed < 0 && claimed != SHERD_ENOTFOUND && !other) {
		if (err)
			*err = found;
		return claimed;
	}
	if (claimed == SHERD_OK)
		TRY(shd_report_warn(g->report, (const char *)claim.data, "claimed", err,
		                    "a save, a replacement or a removal is going on, or died"));
	else if (other)
		TRY(shd_report_warn(g->report, (const char *)claim.data, "claimed", err,
		                    "what has the name of a claim keeps everybody from saving here: %s",
		                    found.message));
	TRY(shd_ckpt_files_open(&files, g->store, g->prefix, err));
	return warn_about_files(g, &files, err);
}

static int merge_shards(checking *g, sherd_error *err)
{
	for (size_t i = 0; i < g->meta.count; i++)
		TRY(shd_report_merge(g->report, &g->shards[i].report, err));
	return SHERD_OK;
}

static int ckpt_verify_check_set(checking *g, sherd_error *err)
{
	sherd_error found = {0};
	uint64_t total = 0;
	g->shards = calloc(g->meta.count + 1, sizeof(*g->shards));
	if (!g->shards)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < g->meta.count; i++)
		if (__builtin_add_overflow(total, g->meta.shards[i].file_size, &total))
			total = 0;
	g->meter.total = g->options.quick ? 0 : total;
	TRY(shd_meter_ask(&g->meter, err));
	TRY(shd_pool_run(g->options.pool, g->meta.count, ckpt_verify_check_shard, g, err));
	if (g->meta.seal == SHD_SEAL_ABSENT)
		TRY(shd_report_warn(g->report, meta_key(g), "no-seal", err,
		                    "the metadata does not carry its own hash"));
	TRY(merge_shards(g, err));
	TRY(shd_report_take(g->report, ckpt_verify_check_tensors(g, &found), &found, meta_key(g), err));
	if (!g->options.quick)
		TRY(check_replicas(g, err));
	return warn_about_strays(g, err);
}

static int check_metadata(checking *g, sherd_error *err)
{
	sherd_error found = {0};
	sherd_stat stat;
	shd_ckpt_name_metadata(&g->meta_key, g->prefix);
	TRY(shd_buf_check(&g->meta_key, err));
	int rc = shd_ckpt_metadata_read(g->store, g->prefix, &g->limits, &g->arena, &g->meta, g->identity, &found);
	if (rc == SHERD_ENOTFOUND)
		return shd_pass(err, rc, &found);
	TRY(shd_report_take(g->report, rc, &found, meta_key(g), err));
	if (rc < 0)
		return SHERD_OK;
	rc = sherd_store_stat(&stat, g->store, meta_key(g), err);
	if (rc != SHERD_ENOTFOUND) /* removed while we read it */
		TRY(rc);
	if (rc == SHERD_OK)
		g->report->checked += stat.size;
	return ckpt_verify_check_set(g, err);
}

static void ckpt_verify_done(checking *g)
{
	for (size_t i = 0; g->shards && i < g->meta.count; i++) {
		if (g->shards[i].open)
			shd_ckpt_shard_done(&g->shards[i].shard);
		shd_arena_done(&g->shards[i].arena);
		shd_report_done(&g->shards[i].report);
	}
	free(g->shards);
	shd_buf_done(&g->meta_key);
	shd_meter_done(&g->meter);
	shd_arena_done(&g->arena);
}

/* 1 when the set was replaced or removed meanwhile, so that what was found says nothing about what is there now. */
static int check_once(sherd_report *r, sherd_store *store, const char *prefix, const sherd_verify_options *options,
                      sherd_error *err)
{
	checking g = {
		.store = store,
		.prefix = prefix,
		.options = *options,
		.limits = shd_limits_or_default(options->limits),
		.report = r,
	};
	size_t errors = sherd_report_errors(r);
	shd_meter_init(&g.meter, options->progress, 0);
	int rc = check_metadata(&g, err);
	ckpt_verify_done(&g);
	if (rc == SHERD_OK && sherd_report_errors(r) > errors)
		rc = shd_ckpt_metadata_changed(store, prefix, g.identity);
	return rc;
}

static int check_until_still(sherd_report *r, sherd_store *store, const char *prefix,
                             const sherd_verify_options *options, sherd_error *err)
{
	size_t errors = r->errors.count, warnings = r->warnings.count;
	uint64_t checked = r->checked;
	for (int tries = 1;; tries++) {
		int rc = check_once(r, store, prefix, options, err);
		if (rc <= 0 || tries == MOST_TRIES)
			return rc < 0 ? rc : SHERD_OK;
		r->errors.count = errors;
		r->warnings.count = warnings;
		r->checked = checked;
	}
}

int shd_ckpt_verify(sherd_report *r, sherd_store *store, const char *name, const sherd_verify_options *options,
                    sherd_error *err)
{
	shd_ckpt_name parsed = shd_ckpt_name_parse(name);
	SHD_AUTO_BUF prefix = {0};
	if (parsed.kind == SHD_CKPT_NAME_METADATA)
		shd_buf_append(&prefix, parsed.prefix.ptr, parsed.prefix.len);
	else
		shd_buf_str(&prefix, name);
	shd_buf_u8(&prefix, 0);
	TRY(shd_buf_check(&prefix, err));
	return check_until_still(r, store, (const char *)prefix.data, options, err);
}
