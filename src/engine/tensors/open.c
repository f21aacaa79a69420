#include "engine/tensors/bundle.h"
#include "engine/tensors/format.h"

static int tensors_open_open_found(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options,
                                   sherd_error *err)
{
	const shd_format_entry *entry;
	TRY(shd_format_require(e, &entry, err));
	if (!entry->open)
		return shd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "%s holds no tensors", entry->info.name);
	return entry->open(out, e, options, err);
}

int sherd_bundle_open(sherd_bundle **out, sherd_store *store, const char *key, const sherd_bundle_options *options,
                      sherd_error *err)
{
	static const sherd_bundle_options defaults;
	SHD_DONE(shd_evidence_done) shd_evidence e = {0};
	TRY(shd_evidence_open(&e, store, key, err));
	TRY(shd_in_object(err, tensors_open_open_found(out, &e, options ? options : &defaults, err), key));
	(*out)->store = store;
	return SHERD_OK;
}
