/* sherd/convert.h - from any format of tensors or models to any that can hold it. */
#ifndef SHERD_CONVERT_H
#define SHERD_CONVERT_H

#include <sherd/model.h>
#include <sherd/name.h>

SHERD_BEGIN_DECLS

typedef struct sherd_convert_options {
	uint32_t shards;            /* files of a sharded target; 0: one, or as many as max_shard_bytes needs */
	uint64_t max_shard_bytes;   /* of the tensors in one file of a sharded target, as far as one tensor is not
	                             * larger; an index of safetensors keeps layers together, others go by size. 0: any */
	bool replace;               /* an existing target may be replaced, in one step */
	bool drop_graph;            /* a model's graph may be lost: the target holds tensors only */
	sherd_compression compress; /* where the format can */
	int level;                  /* 1 to 12, 0: 1 */
	bool as_it_was;             /* from container to container: arrays stay cut and packed as they are */
	sherd_digest digest;        /* of a container or a checkpoint, what it is verified by */
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

/* Of two tensors, or of two pairs, that come from several sources under one name. */
typedef enum sherd_prefer {
	SHERD_PREFER_NONE = 0, /* they must not be */
	SHERD_PREFER_FIRST,    /* that of the source that is given first */
	SHERD_PREFER_LAST
} sherd_prefer;

typedef struct sherd_derive_options {
	const char *const *match; /* only tensors whose names fit one of these patterns; none: all */
	size_t match_count;
	const char *const *exclude; /* and none whose name fits one of these */
	size_t exclude_count;
	/* How names change, one after the other, after all of the above: s/A/B/ as sed has it, s/A/B/g for every place
	 * in a name. A is an extended regular expression of POSIX; & and \1 to \9 in B are what it found. */
	const char *const *renames;
	size_t rename_count;
	sherd_dtype dtype; /* F16, BF16 or F32: floats of all types, and blocks that can be decoded, become that; NONE:
	                    * they stay as they are. Integers, truth values, complex numbers and other blocks do */
	sherd_prefer prefer;
	bool drop_graph; /* of models, which are tensors from here on */
} sherd_derive_options;

/* What became of the tensors of all sources. */
typedef struct sherd_derive_result {
	size_t tensors;    /* there are now */
	size_t left_out;   /* by match and exclude */
	size_t renamed;    /* of those that are there */
	size_t overridden; /* by prefer */
	size_t cast;       /* to another type */
	size_t uncast;     /* reals that stay what they are, since their type is not decoded here */
} sherd_derive_result;

/* One bundle made of several, which must outlive it: their tensors one source after the other, chosen, renamed and
 * cast, and all their pairs. Nothing is read before somebody asks; reading is then as safe, and as parallel, as that of
 * the sources. SHERD_EEXIST, "clash", where two tensors get one name, or two sources have different pairs under one
 * key, and prefer does not say which counts (two tensors of one source: always). SHERD_EUNSUPPORTED, "cannot-hold", of
 * a model's graph, without drop_graph. SHERD_EINVAL of a dtype that nothing is cast to, and of a rename that is none,
 * with its index. */
SHERD_API int sherd_bundle_derive(sherd_bundle **out, const sherd_bundle *const *from, size_t count,
                                  const sherd_derive_options *options, sherd_derive_result *result, sherd_error *err);
/* How many finite values of all that was read so far were too large for the type they were cast to, and are infinite;
 * each counts once, however often it is read. 0 of what casts nothing. */
SHERD_API uint64_t sherd_bundle_overflowed(const sherd_bundle *bundle);

SHERD_END_DECLS

#endif
