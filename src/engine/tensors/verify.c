/* engine/tensors/verify.c - whatever it is: find out, then check it. */
#include "engine/tensors/format.h"

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

/* Formats without checksums: all there is to check is what opening checks. */
static int verify_by_opening(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                             sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	sherd_error found = {0};
	sherd_stat stat;
	sherd_bundle_options options = {.pool = o->pool, .limits = o->limits, .progress = o->progress};
	int rc = sherd_bundle_open(&bundle, store, key, &options, &found);
	TRY(shd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	if (sherd_store_stat(&stat, store, key, NULL) == SHERD_OK) {
		uint64_t data = 0;
		for (size_t i = 0; i < sherd_bundle_count(bundle); i++)
			data += sherd_bundle_tensor(bundle, i)->bytes;
		r->checked += stat.size > data ? stat.size - data : stat.size;
	}
	return shd_report_warn(r, key, "no-checksum", err,
	                       "the format has no checksums: only its structure was checked");
}

/* What another program wrote, or a folder, cannot be said to be damaged; a file that fits nothing may well be. */
static int tensors_verify(sherd_report *r, shd_evidence *e, const sherd_verify_options *o, sherd_error *err)
{
	const shd_format_entry *entry;
	sherd_error found = {0};
	TRY(shd_format_find(e, &entry, err));
	if (entry && entry->verify) {
		shd_evidence_forget(e);
		return entry->verify(r, e->store, e->key, o, err);
	}
	int rc = shd_format_check(e, &found);
	if (rc == SHERD_OK)
		return verify_by_opening(r, e->store, e->key, o, err);
	bool foreign = entry && entry->info.kind == SHERD_KIND_FOREIGN;
	if (rc == SHERD_ENOTFOUND || foreign || (!entry && !*e->key))
		return shd_pass(err, rc, &found);
	return shd_report_take(r, rc, &found, e->key, err);
}

int sherd_verify(sherd_report **out, sherd_store *store, const char *key, const sherd_verify_options *options,
                 sherd_error *err)
{
	static const sherd_verify_options defaults = {0};
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	SHD_DONE(shd_evidence_done) shd_evidence e = {0};
	TRY(shd_report_new(&r, err));
	TRY(shd_evidence_open(&e, store, key, err));
	TRY(tensors_verify(r, &e, options ? options : &defaults, err));
	*out = TAKE(r);
	return SHERD_OK;
}
