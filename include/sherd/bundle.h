/* sherd/bundle.h - the tensors of any file or set, whatever its format, for reading.
 *
 * Opening reads heads and metadata, never tensor data. An open bundle is
 * immutable and may be shared by threads; what it hands out is valid until it is
 * closed. The store must outlive it. */
#ifndef SHERD_BUNDLE_H
#define SHERD_BUNDLE_H

#include <sherd/detect.h>
#include <sherd/limits.h>
#include <sherd/pool.h>
#include <sherd/progress.h>
#include <sherd/tensor.h>
#include <sherd/value.h>

SHERD_BEGIN_DECLS

typedef struct sherd_bundle sherd_bundle;

typedef struct sherd_bundle_options {
	sherd_pool *pool;
	const sherd_limits *limits;
	const sherd_progress *progress; /* counts the files of a set */
	/* Of a checkpoint, open what is there: as sherd_ckpt_options has it. Told of each file of a set that cannot be
	 * used, then of each tensor that is lost with them. */
	sherd_lost_fn *lost;
	void *lost_arg;
} sherd_bundle_options;

/* Detects the format of the object or set under the key and opens it. Fails as sherd_detect(), and with
 * SHERD_EUNSUPPORTED, "unknown-format", where there are no tensors. */
SHERD_API int sherd_bundle_open(sherd_bundle **out, sherd_store *store, const char *key,
                                const sherd_bundle_options *options, sherd_error *err);
SHERD_API void sherd_bundle_close(sherd_bundle *bundle); /* NULL is fine */

/* The format that was detected. */
SHERD_API sherd_format sherd_bundle_format(const sherd_bundle *bundle);
/* Tensors in stored order. */
SHERD_API size_t sherd_bundle_count(const sherd_bundle *bundle);
SHERD_API const sherd_tensor *sherd_bundle_tensor(const sherd_bundle *bundle, size_t index); /* NULL past the end */
#define SHERD_NO_TENSOR SIZE_MAX
SHERD_API size_t sherd_bundle_find(const sherd_bundle *bundle, const char *name); /* or SHERD_NO_TENSOR */

/* The name of the file that holds the tensor's data, as the set that is made of several has it; NULL where it is one
 * object, or the format does not tell. */
SHERD_API const char *sherd_bundle_file_of(const sherd_bundle *bundle, size_t index);

/* SHERD_EINCOMPLETE, "no-data", when the bundle is a model's that should have more tensors, see sherd_model_missing().
 */
SHERD_API int sherd_bundle_missing(const sherd_bundle *bundle, sherd_error *err);

/* Copies bytes [offset, offset+len) of the tensor: C order, little-endian, whatever the file holds. SHERD_EINVAL,
 * "bad-range", past its end. */
SHERD_API int sherd_bundle_read(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                                sherd_error *err);
/* Does now what reading these tensors (NULL: all) would have to do first and cannot be cancelled then: shards of a
 * checkpoint that record one hash for everything are hashed. Nothing for other formats. progress counts bytes. */
SHERD_API int sherd_bundle_prepare(const sherd_bundle *bundle, const size_t *tensors, size_t count,
                                   const sherd_bundle_options *options, sherd_error *err);
/* What to load: a whole tensor, or a box of it. */
typedef struct sherd_bundle_want {
	size_t tensor;
	const uint64_t *at, *shape; /* NULL: the whole tensor */
	void *buf;                  /* room for all of its bytes */
} sherd_bundle_want;

/* Loads all of them, several at a time where options has a pool: bytes as sherd_bundle_read() gives them, boxes packed
 * in C order. progress counts bytes. An error about one of them has its index: SHERD_EINVAL, "bad-range", of a box that
 * leaves its tensor; SHERD_EUNSUPPORTED, "no-elements" or "inside-block", of one that cannot be cut. After a failure
 * the destinations hold anything. */
SHERD_API int sherd_bundle_load(const sherd_bundle *bundle, const sherd_bundle_want *wants, size_t count,
                                const sherd_bundle_options *options, sherd_error *err);
/* Borrows all bytes of the tensor, aligned for its type; SHERD_EUNSUPPORTED when the file does not hold them so. As for
 * every map: open a guard, and ask sherd_guard_check() after use. */
SHERD_API int sherd_bundle_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err);

/* Pairs of text that the file carries: safetensors' __metadata__, a checkpoint's customFields. */
SHERD_API size_t sherd_bundle_pairs(const sherd_pair **out, const sherd_bundle *bundle);
/* Those of the pairs that are no texts but values of another type, by their pair SHERD_TYPES_KEY. Returns how many.
 * They are read from the pairs when they are first asked for; 0 also when there is no memory for that. */
SHERD_API size_t sherd_bundle_values(const sherd_value **out, const sherd_bundle *bundle);

typedef struct sherd_bundle_parts {
	const sherd_tensor *tensors; /* bytes may be 0 for all but UTF8 and opaque types */
	const void *const *data;     /* the bytes of each, packed in C order */
	size_t count;
	const sherd_pair *pairs;
	size_t pair_count;
} sherd_bundle_parts;
/* A bundle of the caller's own tensors, to be converted or saved. What describes them is copied; their bytes are not,
 * and stay where they are, unchanged, until it is closed. Its format is unknown. SHERD_EINVAL names the tensor, by its
 * index too, whose name is there twice or whose bytes do not fit its shape. */
SHERD_API int sherd_bundle_make(sherd_bundle **out, const sherd_bundle_parts *parts, sherd_error *err);

/* What is known of something that a pickle names. */
typedef enum sherd_verdict {
	SHERD_HARMLESS = 0, /* it makes values, and is recognised here */
	SHERD_UNRECOGNISED, /* Python would run whatever code goes by that name */
	SHERD_DANGEROUS     /* it runs commands or code, or reaches files or the network */
} sherd_verdict;

/* Something that Python would import, and perhaps call, to load a pickle of the file. Nothing of it happens here. */
typedef struct sherd_global {
	const char *name; /* "os.system" */
	bool called;
	sherd_verdict verdict;
} sherd_global;
/* Those that the file's pickles name, the dangerous ones first; none of formats without pickles. */
SHERD_API size_t sherd_bundle_globals(const sherd_global **out, const sherd_bundle *bundle);

typedef struct sherd_bundle_select_options {
	const char *const *names; /* only these, SHERD_ENOTFOUND when one is missing; NULL: all */
	size_t name_count;
	uint32_t rank, world; /* world 0 or 1: all of it */
	bool cut;             /* rows [rank*d/world, (rank+1)*d/world) of dimension 0 of every tensor; whole where no
	                       * row stands by itself: scalars, UTF8, vectors of blocks; else the whole tensors that
	                       * the size plan gives the rank */
	bool without_updater; /* of a model, nothing of what its updater remembers */
} sherd_bundle_select_options;
/* Some tensors of another bundle, which must outlive this one. SHERD_ENOTFOUND, with its index, when a name is missing;
 * SHERD_EINVAL unless rank is below world. */
SHERD_API int sherd_bundle_select(sherd_bundle **out, const sherd_bundle *from,
                                  const sherd_bundle_select_options *options, sherd_error *err);

/* What of another bundle, which must outlive it, is as it was written: reads all of its tensors, and leaves out those
 * that differ from the checksums which their format records, or cannot be read. options->lost() is told of each damage,
 * then of each tensor that is left out. Of a checkpoint, a copy that another rank saved stands in for a damaged one,
 * from then on in `from` as well: nobody may use that meanwhile. A format without checksums is whole. */
SHERD_API int sherd_bundle_sift(sherd_bundle **out, const sherd_bundle *from, const sherd_bundle_options *options,
                                sherd_error *err);

SHERD_END_DECLS

#endif
