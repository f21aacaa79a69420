/* sherd/model.h - models: a graph, its arrays, and what is told about them.
 *
 * Opening reads the graph, never the arrays. An open model is immutable and may
 * be shared by threads; what it hands out is valid until it is closed. The store
 * must outlive it. */
#ifndef SHERD_MODEL_H
#define SHERD_MODEL_H

#include <sherd/bundle.h>
#include <sherd/model_graph.h>
#include <sherd/digest.h>
#include <sherd/pool.h>
#include <sherd/progress.h>
#include <sherd/verify.h>

SHERD_BEGIN_DECLS

typedef struct sherd_model sherd_model;

typedef struct sherd_model_options {
	const sherd_limits *limits;
	sherd_pool *pool; /* unpacks what one read asks for on several threads; it must outlive the model */
} sherd_model_options;

/* Opens the model under the key, of whatever format it is: SHERD_FORMAT_SAMEDIFF_CONTAINER or SHERD_FORMAT_SDNB (of a
 * sharded one: its base or any shard), SHERD_FORMAT_SDZ, SHERD_FORMAT_SAMEDIFF_FLATBUFFERS. What is no model is
 * SHERD_EUNSUPPORTED, "no-graph". Arrays that a FlatBuffers file lacks are looked for beside it, in <base>_external/,
 * see docs/formats/samediff-legacy.md. */
SHERD_API int sherd_model_open(sherd_model **out, sherd_store *store, const char *key,
                               const sherd_model_options *options, sherd_error *err);
SHERD_API void sherd_model_close(sherd_model *model); /* NULL is fine */

/* SHERD_FORMAT_UNKNOWN of one that sherd_model_make() made. */
SHERD_API sherd_format sherd_model_format(const sherd_model *model);
/* Its graph. */
SHERD_API const sherd_model_graph *sherd_model_describe(const sherd_model *model);
/* Pairs of text that it carries. Returns how many. */
SHERD_API size_t sherd_model_pairs(const sherd_pair **out, const sherd_model *model);
/* The index of the variable of that name, or SHERD_NO_VARIABLE. */
SHERD_API size_t sherd_model_find(const sherd_model *model, const char *variable);

typedef struct sherd_model_layout {
	uint32_t version; /* of the format */
	uint32_t files;   /* 1, or as many as there are shards */
	uint32_t generation;
	uint64_t features; /* compatible ones */
	/* The root of its DIGESTS, which covers every byte that means something, those of other files too; NULL: it has
	 * none. 32 bytes, BLAKE3. */
	const uint8_t *digest;
} sherd_model_layout;
/* How a container is spread over its files. false: it is no container. */
SHERD_API bool sherd_model_layout_of(sherd_model_layout *out, const sherd_model *model);
typedef struct sherd_model_file {
	const char *key;
	uint64_t bytes; /* of one that is not there: what it should have */
	bool there;
} sherd_model_file;
/* One of them, file < files. */
SHERD_API sherd_model_file sherd_model_file_of(const sherd_model *model, uint32_t file);
typedef struct sherd_model_stored {
	uint32_t file;
	bool there;              /* else only the file is known, which is not there */
	uint64_t bytes;          /* as they are stored */
	uint32_t chunks, packed; /* in how many, and how many of them are packed */
	uint32_t chunk_bytes;
} sherd_model_stored;
/* An array of a container, by its index in the bundle; SHERD_EUNSUPPORTED of other models. Reads the index. */
SHERD_API int sherd_model_stored_of(sherd_model_stored *out, const sherd_model *model, size_t array, sherd_error *err);

/* SHERD_EINCOMPLETE, "no-data", with their names, when variables or constants of a FlatBuffers file have no array,
 * neither in the file nor beside it: a model without weights. Other formats hold what they were given. */
SHERD_API int sherd_model_missing(const sherd_model *model, sherd_error *err);

/* The arrays of the model, which must outlive the bundle: those of variables under the variable's name, the others
 * under names that docs/formats/samediff-legacy.md gives. */
SHERD_API int sherd_bundle_of_model(sherd_bundle **out, const sherd_model *model, sherd_error *err);

/* What can be had of a damaged container, in one file or several, of which some may be missing, shard 0 too: arrays
 * that are whole, by the names in the indexes, and pairs, but no graph. Every byte of them is read and checked. The
 * errors of *lost tell what could not be had, and what is damaged otherwise; close both. SHERD_ENOTFOUND when nothing
 * is there. */
SHERD_API int sherd_bundle_salvage(sherd_bundle **out, sherd_report **lost, sherd_store *store, const char *key,
                                   const sherd_bundle_options *options, sherd_error *err);

typedef int sherd_model_read_fn(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err);
typedef struct sherd_model_parts {
	const sherd_model_graph *graph;
	const sherd_tensor *arrays; /* dtype and shape of each, and bytes of texts */
	size_t array_count;
	const sherd_pair *pairs;
	size_t pair_count;
	sherd_model_read_fn *read;
	void *arg;
} sherd_model_parts;
/* A model of the caller's making. Graph, arrays and pairs are copied; read() gives bytes of an array (C order,
 * little-endian) whenever they are asked for, from any thread, until the model is closed. The graph names the arrays by
 * their index, each of them once; mind that an operation without one says SHERD_NO_ARRAY. They are called as
 * docs/formats/samediff-legacy.md gives; names given here are not looked at. Numbers of types, of
 * custom operations that have 0, and input_variables are filled in. SHERD_EINVAL tells what is wrong with the graph.
 * The format of such a model is unknown. */
SHERD_API int sherd_model_make(sherd_model **out, const sherd_model_parts *parts, sherd_error *err);

typedef enum sherd_compression { SHERD_COMPRESS_NONE = 0, SHERD_COMPRESS_DEFLATE = 1 } sherd_compression;

typedef struct sherd_model_save_options {
	sherd_format format; /* SHERD_FORMAT_UNKNOWN: a container */
	sherd_compression compress;
	int level;      /* 1 to 12, 0: 1 */
	bool as_it_was; /* arrays stay cut and packed as the model's own file has them, where it is a container, and the
	                 * digest that it has stays, too */
	/* Of a container. BLAKE3: a tree of values over all of it, so that one array, or a part of one, is verified by
	 * itself; programs that do not know it refuse the file. SHA256: CRC-32 alone. */
	sherd_digest digest;
	uint32_t shards; /* 0, 1: one file */
	bool replace;    /* what stands there may be replaced, in one step; shards of SDNB never are */
	/* Only the object of this identity (sherd_store_stat(); of a set: its shard 0) may be replaced, else
	 * SHERD_ECONFLICT; NULL: any. */
	const char *if_identity;
	bool without_updater;    /* leave out what the updater remembers */
	const sherd_pair *pairs; /* over those of the model; a value of NULL takes the pair away */
	size_t pair_count;
	bool drop_pairs;    /* where the format has no place for pairs, they are left out instead of refused */
	bool allow_missing; /* go on where sherd_model_missing() finds arrays missing, instead of failing as it does */
	int64_t time_ns;    /* when, since 1970 UTC, for creation.time (milliseconds) of a model that has none; 0: left
	                       out, */
	bool timed;         /* unless this says that 0 is the time */
	const char *framework; /* who writes it, for framework.version of a model that has none; NULL: it is left out */
	uint64_t *written;     /* told on success: bytes of all files together; may be NULL */
	sherd_pool *pool;
	const sherd_progress *progress;
} sherd_model_save_options;

/* Writes the model under the key (of a sharded one: its base). SHERD_EUNSUPPORTED, "cannot-hold", when the format has
 * no place for something of it, which the message names; SHERD_EEXIST without replace. Nothing is left behind by a
 * failure. Memory stays bounded, whatever the size of the arrays. */
SHERD_API int sherd_model_save(const sherd_model *model, sherd_store *store, const char *key,
                               const sherd_model_save_options *options, sherd_error *err);

/* Sets pairs of the model under the key, which is written anew with everything else as it is and replaced in one step;
 * a value of NULL takes the pair away. Of the options pool and progress count. */
SHERD_API int sherd_model_set_pairs(sherd_store *store, const char *key, const sherd_pair *pairs, size_t count,
                                    const sherd_model_save_options *options, sherd_error *err);

/* Writing a container whose arrays are handed over one at a time. The parts need no read(), and may go when the writer
 * is open; pool and progress stay until commit or abort. Belongs to one thread. */
typedef struct sherd_model_writer sherd_model_writer;
/* Begins a container under the key, as sherd_model_save() with these options; SHERD_EEXIST without replace. */
SHERD_API int sherd_model_writer_open(sherd_model_writer **out, sherd_store *store, const char *key,
                                      const sherd_model_parts *parts, const sherd_model_save_options *options,
                                      sherd_error *err);
/* The next bytes of an array. Arrays come in any order, each of them once and whole before the next one begins:
 * SHERD_EINVAL, "incomplete" or "bad-range", if not. */
SHERD_API int sherd_model_writer_append(sherd_model_writer *writer, size_t array, const void *bytes, size_t len,
                                        sherd_error *err);
/* SHERD_EINVAL, "incomplete", when an array is not whole. The writer is gone after commit or abort. */
SHERD_API int sherd_model_writer_commit(sherd_model_writer *writer, sherd_error *err);
SHERD_API void sherd_model_writer_abort(sherd_model_writer *writer); /* NULL is fine */

SHERD_END_DECLS

#endif
