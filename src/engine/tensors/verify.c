/* engine/tensors/verify.c - whatever it is: find out, then check it. */
#include "engine/tensors/index_verify.h"
#include "engine/tensors/npy_folder.h"
#include "engine/ckpt/verify.h"
#include "engine/graph/verify.h"
#include "engine/model/sdz.h"
#include "engine/model/verify.h"
#include "engine/tensors/report.h"
#include "engine/rows/verify.h"

#include <sherd/bundle.h>
#include <sherd/detect.h>

SHERD_AUTO_DEFINE(sherd_report, sherd_report_close)
SHERD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

/* Formats without checksums: all there is to check is what opening checks. */
static int verify_by_opening(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                             sherd_error *err)
{
	SHERD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	sherd_error found = {0};
	sherd_bundle_options options = {.pool = o->pool, .limits = o->limits, .progress = o->progress};
	int rc = sherd_bundle_open(&bundle, store, key, &options, &found);
	TRY(sherd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	sherd_stat stat;
	if (sherd_store_stat(store, key, &stat, NULL) == SHERD_OK) {
		uint64_t data = 0;
		for (size_t i = 0; i < sherd_bundle_count(bundle); i++)
			data += sherd_bundle_tensor(bundle, i)->bytes;
		r->checked += stat.size > data ? stat.size - data : stat.size;
	}
	return sherd_report_warn(r, key, "no-checksum", err,
	                         "the format has no checksums: only its structure was checked");
}

static int verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o, sherd_error *err)
{
	sherd_format format;
	sherd_error found = {0};
	int rc = sherd_detect(store, key, &format, &found);
	if (rc == SHERD_EINCOMPLETE)
		return sherd_ckpt_verify_incomplete(r, store, key, o, err);
	/* What another program wrote, or a folder, cannot be said to be damaged; a file that fits nothing may well be.
	 */
	if (rc == SHERD_ENOTFOUND ||
	    (rc == SHERD_EUNSUPPORTED && (!*key || strcmp(found.reason, "foreign-format") == 0))) {
		if (err)
			*err = found;
		return rc;
	}
	TRY(sherd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	switch (format) {
	case SHERD_FORMAT_CHECKPOINT: return sherd_ckpt_verify(r, store, key, o, err);
	case SHERD_FORMAT_CHECKPOINT_SHARD: return sherd_ckpt_verify_shard(r, store, key, o, err);
	case SHERD_FORMAT_ROWS: return sherd_rows_verify(r, store, key, o, err);
	case SHERD_FORMAT_ROWS_BF16: return sherd_rows_verify_bf16(r, store, key, o, err);
	case SHERD_FORMAT_RFDB: return sherd_graph_verify(r, store, key, o, err);
	case SHERD_FORMAT_NPY_FOLDER: return sherd_npy_folder_verify(r, store, key, o, err);
	case SHERD_FORMAT_SAFETENSORS_INDEX: return sherd_index_verify(r, store, key, o, err);
	case SHERD_FORMAT_SDZ: return sherd_sdz_verify(r, store, key, o, err);
	case SHERD_FORMAT_SDNB:
	case SHERD_FORMAT_SAMEDIFF_CONTAINER:
	case SHERD_FORMAT_SAMEDIFF_FLATBUFFERS: return sherd_model_verify(r, store, key, o, err);
	default: return verify_by_opening(r, store, key, o, err);
	}
}

int sherd_verify(sherd_report **out, sherd_store *store, const char *key, const sherd_verify_options *options,
                 sherd_error *err)
{
	static const sherd_verify_options defaults = {0};
	SHERD_AUTO(sherd_report, sherd_report_close) r = NULL;
	TRY(sherd_report_new(&r, err));
	TRY(verify(r, store, key, options ? options : &defaults, err));
	*out = TAKE(r);
	return SHERD_OK;
}
