/* engine/ckpt/verify_alone.c - shards that no metadata speaks for. */
#include "engine/ckpt/verify.h"

#include "engine/ckpt/claim.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/publish.h"
#include "engine/ckpt/verify_shard.h"

#include <stdlib.h>

static int check_open(sherd_report *r, const ckpt_shard *s, const sherd_verify_options *o, shd_meter *meter,
                      sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_ckpt_index index = {0};
	ckpt_scan scan = {.shard = s, .pool = o->pool, .meter = meter};
	sherd_error found = {0};
	const char *key = sherd_reader_key(s->reader);
	bool has_index = false;
	int rc = shd_ckpt_shard_index(s, o->limits, &arena, &index, &has_index, &found);
	int taken = shd_report_take(r, rc, &found, key, err);
	if (taken == SHERD_OK && rc == SHERD_OK && !has_index)
		taken = shd_report_warn(r, key, "no-index", err, "the shard does not describe its tensors");
	if (has_index)
		scan = shd_ckpt_scan_by_index(s, &index, o->pool, meter);
	return taken < 0 ? taken : shd_ckpt_scan(&scan, r, err);
}

/* What stands in the index must also make sense together: names, and what rank 0 says about the set. */
static int check_opens(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                       sherd_error *err)
{
	sherd_ckpt *ckpt = NULL;
	sherd_error found = {0};
	sherd_ckpt_options options = {.limits = o->limits};
	int rc = sherd_ckpt_open_shard(&ckpt, store, key, &options, &found);
	sherd_ckpt_close(ckpt);
	if (rc == SHERD_EINCOMPLETE) /* without index and metadata: warned of before */
		return SHERD_OK;
	return shd_report_take(r, rc, &found, key, err);
}

static int verify_alone_check_key(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                                  shd_meter *meter, sherd_error *err)
{
	ckpt_shard s;
	sherd_error found = {0};
	size_t before = sherd_report_errors(r);
	int rc = shd_ckpt_shard_open(&s, store, key, 0, &found);
	if (rc == SHERD_ENOTFOUND)
		return shd_pass(err, rc, &found);
	TRY(shd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	r->checked += s.data_offset;
	rc = o->quick ? SHERD_OK : check_open(r, &s, o, meter, err);
	shd_ckpt_shard_done(&s);
	TRY(rc);
	return o->quick || sherd_report_errors(r) > before ? SHERD_OK : check_opens(r, store, key, o, err);
}

int shd_ckpt_verify_shard(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                          sherd_error *err)
{
	shd_meter meter;
	sherd_stat stat;
	TRY(sherd_store_stat(&stat, store, key, err));
	shd_meter_init(&meter, options->progress, stat.size);
	int rc = verify_alone_check_key(r, store, key, options, &meter, err);
	shd_meter_done(&meter);
	return rc;
}

/* Would the shards be published, if all were there? Whoever claimed the prefix tells the set. */
static int verify_alone_check_together(sherd_report *r, sherd_store *store, const char *prefix,
                                       const sherd_verify_options *o, sherd_error *err)
{
	shd_ckpt_claim claim;
	bool valid = false;
	shd_meter meter;
	sherd_error found = {0};
	int rc = shd_ckpt_read_claim(store, prefix, &claim, &valid, &found);
	if (rc < 0 || !valid || claim.removing)
		return rc == SHERD_ENOMEM ? shd_fail_nomem(err) : SHERD_OK;
	ckpt_publication p = {.store = store,
	                      .prefix = prefix,
	                      .set_id = claim.set_id,
	                      .world = claim.world,
	                      .pool = o->pool,
	                      .meter = &meter,
	                      .only_check = true,
	                      .limits = o->limits};
	shd_meter_init(&meter, o->progress, 0);
	rc = shd_ckpt_publish(&p, &found);
	shd_meter_done(&meter);
	if (rc == SHERD_EINCOMPLETE) /* told before */
		return SHERD_OK;
	if (rc == SHERD_ECONFLICT)
		rc = found.code = SHERD_ECORRUPT;
	return shd_report_take(r, rc, &found, prefix, err);
}

int shd_ckpt_verify_incomplete(sherd_report *r, sherd_store *store, const char *prefix,
                               const sherd_verify_options *options, sherd_error *err)
{
	sherd_error found = {0};
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	TRY(shd_ckpt_files_open(&files, store, prefix, err));
	int rc = shd_fail(&found, SHERD_EINCOMPLETE, "incomplete", "%s, but no metadata: the set was not committed",
	                  files.count ? "shards are there" : "a save has begun");
	TRY(shd_report_take(r, rc, &found, prefix, err));
	for (size_t i = 0; i < files.count; i++) {
		rc = shd_ckpt_verify_shard(r, store, files.list[i].key, options, err);
		if (rc != SHERD_ENOTFOUND) /* cleared while we looked */
			TRY(rc);
	}
	return files.count ? verify_alone_check_together(r, store, prefix, options, err) : SHERD_OK;
}
