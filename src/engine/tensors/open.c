#include "engine/tensors/bundle.h"

static sherd_bundle_open_fn *opener_of(sherd_format format)
{
	switch (format) {
	case SHERD_FORMAT_CHECKPOINT: return sherd_bundle_open_ckpt;
	case SHERD_FORMAT_CHECKPOINT_SHARD: return sherd_bundle_open_ckpt_shard;
	case SHERD_FORMAT_SAFETENSORS: return sherd_bundle_open_safetensors;
	case SHERD_FORMAT_SAFETENSORS_INDEX: return sherd_bundle_open_safetensors_index;
	case SHERD_FORMAT_NPY: return sherd_bundle_open_npy;
	case SHERD_FORMAT_NPY_FOLDER: return sherd_bundle_open_npy_folder;
	case SHERD_FORMAT_ROWS:
	case SHERD_FORMAT_ROWS_BF16: return sherd_bundle_open_rows;
	case SHERD_FORMAT_SAMEDIFF_CONTAINER:
	case SHERD_FORMAT_SDNB:
	case SHERD_FORMAT_SDZ:
	case SHERD_FORMAT_SAMEDIFF_FLATBUFFERS: return sherd_bundle_open_model;
	case SHERD_FORMAT_ND4J_ARRAY: return sherd_bundle_open_nd4j;
	case SHERD_FORMAT_RFDB:
	case SHERD_FORMAT_UNKNOWN: break;
	}
	return NULL;
}

int sherd_bundle_open(sherd_bundle **out, sherd_store *store, const char *key, const sherd_bundle_options *options,
                      sherd_error *err)
{
	static const sherd_bundle_options defaults;
	sherd_format format;
	TRY(sherd_detect(store, key, &format, err));
	sherd_bundle_open_fn *open = opener_of(format);
	if (!open)
		return sherd_in_object(err,
		                       sherd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "%s holds no tensors",
		                                  sherd_format_name(format)),
		                       key);
	TRY(sherd_in_object(err, open(out, store, key, options ? options : &defaults, err), key));
	(*out)->store = store;
	return SHERD_OK;
}
