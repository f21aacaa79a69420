/* sherd/convert.h - from any format of tensors or models to any that can hold it. */
#ifndef SHERD_CONVERT_H
#define SHERD_CONVERT_H

#include <sherd/model.h>

SHERD_BEGIN_DECLS

typedef struct sherd_convert_options {
	uint32_t shards;            /* files of a sharded target; 0: one */
	bool replace;               /* an existing target may be replaced, in one step */
	bool drop_graph;            /* a model's graph may be lost: the target holds tensors only */
	sherd_compression compress; /* where the format can */
	int level;                  /* 1 to 12, 0: 1 */
	bool as_it_was;             /* from container to container: arrays stay cut and packed as they are */
	bool without_updater;       /* of a model, leave out what the updater remembers */
	bool drop_pairs;            /* a model's pairs may be lost where the format has no place for them */
	bool allow_missing;         /* go on where sherd_bundle_missing() finds arrays missing */
	int64_t time_ns;            /* when, for targets that record it; since 1970 UTC */
	bool timed;                 /* also when it is 0 */
	const char *framework;      /* who writes it, for models; see sherd_model_save_options */
	uint64_t *overflowed;       /* of rows, where to tell how many finite values were too large for the type of the
	                             * set, and are stored as infinities; may be NULL */
	uint64_t *written;          /* told for models, and for what can be compressed: bytes of all files together;
	                             * may be NULL */
	sherd_pool *pool;
	const sherd_progress *progress;
	const sherd_limits *limits;
} sherd_convert_options;

/* Writes the bundle under the key as
 *   SAFETENSORS        one object, as every format of tensors that is not named below;
 *   SAFETENSORS_INDEX  <key>.safetensors.index.json and its `shards` files, no more than there are tensors, the index
 *                      last;
 *   NPY                one object for the bundle's only tensor;
 *   NPY_FOLDER         <key>/npy.manifest.json and one file for each tensor; docs/formats/npy.md tells their names;
 *   CHECKPOINT         a set with that prefix;
 *   ROWS, ROWS_BF16    a new folder of rows, as sherd_rows_pack_bundle() writes it: for tensors of one width;
 *   SAMEDIFF_CONTAINER, SAMEDIFF_FLATBUFFERS, SDNB, SDZ
 *                      a model, as sherd_model_save() writes it; tensors that are no model's become its variables.
 * It can be opened by the same key. SHERD_EUNSUPPORTED, "cannot-hold", names the tensor that the target cannot hold;
 * nothing is written then. SHERD_EEXIST without replace; "cannot-replace" where replace does not help: shards of SDNB,
 * NumPy files that no manifest speaks of, an object that would hide a set of shards. SHERD_ECONFLICT when somebody else
 * is writing the same target. At every moment the old target or the new one is there, whole; on any failure,
 * cancelling included, what this call made is removed, and what stood there stays. Pairs are left
 * out where a format of tensors has no place for them (sherd_format_describe()). The bundle of a model is refused
 * without drop_graph, see sherd_convert_check(); with SHERD_EINCOMPLETE, without allow_missing, when arrays of it are
 * missing. */
SHERD_API int sherd_convert(const sherd_bundle *from, sherd_store *store, const char *key, sherd_format to,
                            const sherd_convert_options *options, sherd_error *err);
/* SHERD_EUNSUPPORTED, "cannot-hold", when the bundle is a model's and the target has no place for its graph: the
 * message tells what would be lost; or when tensors become variables of a model and one of them has an empty name. */
SHERD_API int sherd_convert_check(const sherd_bundle *from, sherd_format to, sherd_error *err);

SHERD_END_DECLS

#endif
