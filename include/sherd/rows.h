/* sherd/rows.h - rows of numbers, streamed out of core.
 *
 * A set is an ordered list of shards that hold rows of one width: as 32-bit
 * floats in the format GAMSAE01, or as F16 or BF16 in files without heads that a
 * manifest lists. Rows are numbered over the whole set from
 * 0, in the order of the shards; these ids never depend on batch sizes, windows,
 * ranks or threads, and neither does the order in which rows are delivered.
 *
 * Thread safety: an open sherd_rows is immutable and may be shared; a cursor
 * belongs to one thread at a time; a dispenser hands the batches of one stream to
 * several threads. The store outlives them all. */
#ifndef SHERD_ROWS_H
#define SHERD_ROWS_H

#include <sherd/bundle.h>
#include <sherd/limits.h>
#include <sherd/pool.h>
#include <sherd/progress.h>
#include <sherd/store.h>

SHERD_BEGIN_DECLS

/* ---- sets */

typedef struct sherd_rows sherd_rows;

typedef struct sherd_rows_options {
	bool incomplete; /* open a set although it is still being packed */
	const sherd_limits *limits;
	const sherd_progress *progress; /* counts shards */
} sherd_rows_options;

/* An explicit list of GAMSAE01 files, in this order. Reads the heads only. Refusals, by their short word:
 * "bad-magic", "bad-dtype", "truncated", "bad-width" (0), "width-mismatch", "empty", "too-many-rows". */
SHERD_API int sherd_rows_open(sherd_rows **out, sherd_store *store, const char *const *keys, size_t count,
                              const sherd_rows_options *options, sherd_error *err);
/* What the manifest of a folder ("" or "a/b") lists, as it is now: rows that are appended later need a new open.
 * Without a manifest all files `*.shard` in the folder, ordered by the bytes of their names; shards of checkpoints are
 * left out. SHERD_EINCOMPLETE when the set is being packed, and, "missing-shard", when one that is listed is not there.
 */
SHERD_API int sherd_rows_open_folder(sherd_rows **out, sherd_store *store, const char *folder,
                                     const sherd_rows_options *options, sherd_error *err);
/* Whatever the key names (see sherd_detect): such a folder, one shard by its file, or a folder of residual_shard_bf16,
 * whose rows are delivered in the order of its manifest. SHERD_EUNSUPPORTED, "unknown-format", when it
 * is something else. */
SHERD_API int sherd_rows_open_any(sherd_rows **out, sherd_store *store, const char *key,
                                  const sherd_rows_options *options, sherd_error *err);
SHERD_API void sherd_rows_close(sherd_rows *rows); /* NULL is fine */

typedef struct sherd_rows_shard {
	const char *key;
	uint64_t rows;
	uint64_t first; /* id of its first row */
	uint64_t bytes; /* of the file */
} sherd_rows_shard;

/* Rows of all shards together. */
SHERD_API uint64_t sherd_rows_total(const sherd_rows *rows);
/* Values of a row. */
SHERD_API uint64_t sherd_rows_width(const sherd_rows *rows);
SHERD_API sherd_dtype sherd_rows_dtype(const sherd_rows *rows);   /* as stored: SHERD_F32, SHERD_F16, SHERD_BF16 */
SHERD_API sherd_format sherd_rows_format(const sherd_rows *rows); /* SHERD_FORMAT_ROWS, SHERD_FORMAT_ROWS_BF16 */
/* How many shards there are. */
SHERD_API size_t sherd_rows_shards(const sherd_rows *rows);
SHERD_API const sherd_rows_shard *sherd_rows_shard_at(const sherd_rows *rows, size_t index); /* NULL past the end */
/* Files of a folder that look like shards and were left out: those that its manifest does not name; without a manifest
 * shards of a checkpoint. Returns how many. */
SHERD_API size_t sherd_rows_left_out(const char *const **keys, const sherd_rows *rows);
/* Whether a manifest lists the shards. */
SHERD_API bool sherd_rows_has_manifest(const sherd_rows *rows);

/* ---- streams */

typedef enum sherd_rows_access {
	/* A network: read. Else what is in memory by map, or read unless a guard is open (sherd/guard.h), and what is
	 * not directly, as long as the stream is in order and one pass; after sherd_rows_reset() a set that memory can
	 * hold is left to the system's cache. */
	SHERD_ROWS_AUTO = 0,
	SHERD_ROWS_MAP = 1, /* without a guard, a file that is cut off raises SIGBUS */
	SHERD_ROWS_READ = 2,
	/* Past the system's cache, a window ahead; read where that cannot be, where the order jumps, and by dispensers.
	 */
	SHERD_ROWS_DIRECT = 3
} sherd_rows_access;

/* What the last round of a world does that has fewer batches left than ranks. */
typedef enum sherd_rows_tail {
	SHERD_ROWS_TAIL_KEEP = 0, /* the higher ranks get one batch less */
	SHERD_ROWS_TAIL_DROP = 1, /* nobody gets one */
	SHERD_ROWS_TAIL_PAD = 2   /* the higher ranks get the first batches of the epoch again, marked as padding */
} sherd_rows_tail;

typedef struct sherd_rows_stream_options {
	uint64_t batch_rows;   /* 0: 1024, or what batch_bytes gives */
	uint64_t batch_bytes;  /* of stored rows; 0: batch_rows counts. At least one row */
	uint64_t from;         /* first row of every epoch, in delivery order */
	uint64_t window_bytes; /* read ahead of the batch being delivered; 0: 8 MiB, over a network 64 MiB */
	/* SHERD_F64 (also 0), SHERD_F32, SHERD_F16 or SHERD_BF16, rounded to the nearest, ties to even. The type that
	 * is stored comes as views without copies where rows are mapped. */
	sherd_dtype dtype;
	sherd_rows_access access;
	uint32_t rank, world; /* batch b belongs to rank b mod world; world 0: 1 */
	sherd_rows_tail tail;
	bool shuffle;            /* a permutation that the seed and the epoch give */
	uint64_t seed;           /* for shuffle */
	uint64_t shuffle_window; /* rows are permuted within runs of so many; 0: over the whole set */
	uint64_t epoch;          /* 0 is the first */
	bool sample;             /* only rows whose hash says so */
	double fraction;         /* for sample, <= 0: none, >= 1: all; smaller fractions give subsets of larger ones */
	/* Every part of the set is held against the manifest before its first row is delivered, and read once more for
	 * that: blocks of 16 MiB by their CRC-32, or whole shards by their SHA-256 where the manifest has no more.
	 * SHERD_EUNSUPPORTED, "no-checksum", without a manifest of ours; damage is SHERD_ECORRUPT, "bad-crc" or
	 * "bad-checksum", with the shard and the first byte of the part. */
	bool verify;
	sherd_pool *pool;   /* converts what is mapped; NULL: the caller's thread does. Outlives the stream */
	const char *resume; /* the text of sherd_rows_tell(): goes on after it; from and epoch must be 0 */
} sherd_rows_stream_options;

/* Valid until the next call on its cursor or slot. */
typedef struct sherd_rows_batch {
	uint64_t number; /* of the batch in the global sequence */
	size_t rows;
	uint64_t width;
	sherd_dtype dtype;
	const void *data;    /* rows * width values, packed */
	const uint64_t *ids; /* of the rows; NULL: first_id and up */
	uint64_t first_id;
	bool padding; /* delivered before: see SHERD_ROWS_TAIL_PAD */
	uint64_t epoch;
} sherd_rows_batch;

typedef struct sherd_rows_cursor sherd_rows_cursor;

/* Begins a stream (NULL options: all rows, in order). Batches of one that is neither shuffled nor sampled never cross a
 * shard. SHERD_EINVAL, "bad-cursor", of a position that is not of this stream; SHERD_EUNSUPPORTED, "no-checksum". */
SHERD_API int sherd_rows_cursor_open(sherd_rows_cursor **out, const sherd_rows *rows,
                                     const sherd_rows_stream_options *options, sherd_error *err);
SHERD_API void sherd_rows_cursor_close(sherd_rows_cursor *cursor); /* NULL is fine */
/* 1 and a batch, or 0 at the end. A batch may be a view of a map: when its file fails under it, which reads as zeros
 * where a guard is open, the next call says so, and the end is only told when all that was delivered was whole. */
SHERD_API int sherd_rows_next(sherd_rows_batch *out, sherd_rows_cursor *cursor, sherd_error *err);
/* Back to the first batch of the epoch: to the row `from`, in whatever way the stream came to where it stands. */
SHERD_API void sherd_rows_reset(sherd_rows_cursor *cursor);
/* To the first batch of any epoch, of all rows of the set. */
SHERD_API void sherd_rows_begin_epoch(sherd_rows_cursor *cursor, uint64_t epoch);
/* The epoch in which it stands. */
SHERD_API uint64_t sherd_rows_epoch(const sherd_rows_cursor *cursor);
/* To this row of the epoch, in delivery order; batches are numbered from 0 there. SHERD_EINVAL past the end. */
SHERD_API int sherd_rows_seek(sherd_rows_cursor *cursor, uint64_t row, sherd_error *err);
/* Passes over so many of this rank's batches, of which nothing is read; *passed (may be NULL) tells how many there were
 * before the end. */
SHERD_API int sherd_rows_skip(sherd_rows_cursor *cursor, uint64_t batches, uint64_t *passed, sherd_error *err);
/* The most rows of a batch. */
SHERD_API uint64_t sherd_rows_batch_rows(const sherd_rows_cursor *cursor);

#define SHERD_ROWS_CURSOR_TEXT 320
/* The position as a short text: epoch, and how many whole rounds of it the whole world has had. All ranks that have had
 * the same number of batches get the same text, and any world may resume it, also when the set has grown by appends:
 * the epoch then goes on with the rows that it began with, and the next one has all. SHERD_EINVAL, "bad-cursor", when
 * the text is of another set (as far as there is a manifest to tell), order or sample. */
SHERD_API int sherd_rows_tell(char out[SHERD_ROWS_CURSOR_TEXT], const sherd_rows_cursor *cursor, sherd_error *err);

/* Copies rows by id, in the order given, into buf: count * width values of the type. SHERD_EINVAL,
 * with its index, of an id past the end. */
SHERD_API int sherd_rows_gather(sherd_rows_cursor *cursor, const uint64_t *ids, size_t count, void *buf,
                                sherd_error *err);

/* Batches for several threads, each numbered and in the order of the stream. */
typedef struct sherd_rows_dispenser sherd_rows_dispenser;
typedef struct sherd_rows_slot sherd_rows_slot; /* one a thread */
/* Begins a stream, as sherd_rows_cursor_open(). */
SHERD_API int sherd_rows_dispenser_open(sherd_rows_dispenser **out, const sherd_rows *rows,
                                        const sherd_rows_stream_options *options, sherd_error *err);
SHERD_API void sherd_rows_dispenser_close(sherd_rows_dispenser *dispenser); /* after its slots; NULL is fine */
/* A slot for one more thread. */
SHERD_API int sherd_rows_slot_open(sherd_rows_slot **out, sherd_rows_dispenser *dispenser, sherd_error *err);
SHERD_API void sherd_rows_slot_close(sherd_rows_slot *slot); /* NULL is fine */
/* The next batch that no slot has had: 1 and a batch, or 0 at the end. One that could not be brought is due: this slot
 * gets it at its next call, or any other after this one was closed. */
SHERD_API int sherd_rows_slot_next(sherd_rows_batch *out, sherd_rows_slot *slot, sherd_error *err);
/* Any thread may call this and the two below while slots are asked. As sherd_rows_tell(), of the last place before
 * which every batch was handed out: who resumes there misses none, and may get those again that other slots had before
 * one that is still under way. */
SHERD_API int sherd_rows_dispenser_tell(char out[SHERD_ROWS_CURSOR_TEXT], sherd_rows_dispenser *dispenser,
                                        sherd_error *err);
/* As sherd_rows_reset(). A slot that is being asked meanwhile may still hand out a batch of before; what is due from
 * before is forgotten. */
SHERD_API void sherd_rows_dispenser_reset(sherd_rows_dispenser *dispenser);
/* As sherd_rows_begin_epoch(), likewise. */
SHERD_API void sherd_rows_dispenser_begin_epoch(sherd_rows_dispenser *dispenser, uint64_t epoch);

/* ---- digests */

#define SHERD_ROWS_DIGEST_BYTES 32

typedef struct sherd_rows_digest_options {
	uint64_t batches;               /* take so many at most; 0: all that are left */
	sherd_pool *pool;               /* for set digests: rows are hashed apart */
	const sherd_progress *progress; /* counts stored bytes that the stream has passed */
} sherd_rows_digest_options;

typedef struct sherd_rows_digest {
	uint8_t hash[SHERD_ROWS_DIGEST_BYTES];
	uint64_t batches, rows; /* that were taken */
} sherd_rows_digest;

/* SHA-256 of the values that the cursor delivers from here on, little-endian, without ids: two streams are the same
 * rows in the same order when it is the same, whatever their batches, windows and ways of access. */
SHERD_API int sherd_rows_digest_values(sherd_rows_digest *out, sherd_rows_cursor *cursor,
                                       const sherd_rows_digest_options *options, sherd_error *err);
/* Sum modulo 2^256 (big-endian, as hashes are written) of SHA-256 of every row: its id as 64 bits, little-endian, then
 * its values as delivered. Does not depend on the order, and those of all ranks add up to that of the whole: padding
 * is left out. */
SHERD_API int sherd_rows_digest_set(sherd_rows_digest *out, sherd_rows_cursor *cursor,
                                    const sherd_rows_digest_options *options, sherd_error *err);

/* The hash that sampling uses: the SplitMix64 finaliser of the row id. */
SHERD_API uint64_t sherd_rows_hash(uint64_t id);

/* ---- writing */

/* Writes rows into a folder, as many as come: part-00000.shard (F32), .f16 or .bf16, ..., and rows.manifest.json.
 * Belongs to one thread. What was appended since the last flush is invisible, and is lost with the process; what was
 * flushed stays, whatever happens to the writer, and so does all that was there before. Readers that have the set open
 * keep what they have. */
typedef struct sherd_rows_writer sherd_rows_writer;

typedef struct sherd_rows_writer_options {
	bool append;             /* to the set that is there; else the folder may hold no shards */
	sherd_dtype dtype;       /* as stored: SHERD_F32, SHERD_F16, SHERD_BF16; 0: F32, with append as the set is */
	uint64_t rows_per_shard; /* 0: 131072 */
	int64_t time_ns;         /* for the claim; since 1970 UTC */
	const sherd_limits *limits;
	const sherd_progress *progress; /* counts stored bytes */
	bool residual; /* a new folder of residual_shard_bf16: BF16, and manifest.json in place of rows.manifest.json */
} sherd_rows_writer_options;

/* width 0: with append that of the set. Until its first flush a new set is incomplete. What a writer that died left is
 * removed first. SHERD_ECONFLICT when another writer is at work; new: SHERD_EEXIST when shards or a manifest are there,
 * or, "not-a-folder", an object of that name; append: SHERD_ENOTFOUND when nothing is there, SHERD_EUNSUPPORTED,
 * "no-manifest", when sherd_rows_index() has to come first, SHERD_EINVAL when type or width are not the set's. A
 * manifest of version 1 becomes one of version 2 with the first flush; its shards stay as they are. */
SHERD_API int sherd_rows_writer_open(sherd_rows_writer **out, sherd_store *store, const char *folder, uint64_t width,
                                     const sherd_rows_writer_options *options, sherd_error *err);
/* Values of a row. */
SHERD_API uint64_t sherd_rows_writer_width(const sherd_rows_writer *writer);
SHERD_API sherd_dtype sherd_rows_writer_dtype(const sherd_rows_writer *writer); /* as stored */
/* How many finite values were too large for the type of the set, and are stored as infinities. */
SHERD_API uint64_t sherd_rows_writer_overflowed(const sherd_rows_writer *writer);
/* Appends rows * width values of F32, F64, F16 or BF16, aligned as such; rounded to nearest, ties to even. The first
 * failure is remembered: later calls fail with the same. */
SHERD_API int sherd_rows_writer_append(sherd_rows_writer *writer, sherd_dtype dtype, const void *values, uint64_t rows,
                                       sherd_error *err);
/* Makes everything so far durable and visible, in one step; the next rows begin a new shard. SHERD_ECONFLICT when
 * somebody else changed the set although it was claimed: then nothing was appended since the last flush. */
SHERD_API int sherd_rows_writer_flush(sherd_rows_writer *writer, sherd_error *err);
/* Flushes and closes; the writer is gone whatever it returns. A new set without rows is SHERD_EINVAL, "empty". After a
 * failure what was not flushed is removed, as by abort. */
SHERD_API int sherd_rows_writer_commit(sherd_rows_writer *writer, sherd_error *err);
/* Removes what was not flushed, and the folders that were made for it if nothing else is in them. */
SHERD_API void sherd_rows_writer_abort(sherd_rows_writer *writer); /* NULL is fine */

/* ---- packing */

/* Fills buf with rows [first, first+count), count * width floats. Called in ascending order. */
typedef int sherd_rows_read_fn(void *arg, uint64_t first, size_t count, float *buf, sherd_error *err);

typedef struct sherd_rows_pack_options {
	uint64_t rows_per_shard; /* 0: 131072 */
	int64_t time_ns;         /* for the claim; since 1970 UTC */
	const sherd_progress *progress;
	sherd_dtype dtype; /* as stored, as a writer's; 0: F32, or of sources F16 or BF16 when all of them are that */
	bool append;       /* as a writer's */
	bool residual;     /* as a writer's */
	uint64_t *overflowed; /* where to tell sherd_rows_writer_overflowed() once all is written */
} sherd_rows_pack_options;

/* Writes a set in one go, as a writer does: all of it, or nothing. Fails as sherd_rows_writer_open(), here and below.
 */
SHERD_API int sherd_rows_pack(sherd_store *store, const char *folder, uint64_t rows, uint64_t width,
                              sherd_rows_read_fn *read, void *arg, const sherd_rows_pack_options *options,
                              sherd_error *err);

/* Tensors of two or more dimensions: the last is the width, the others together are rows. F32, F64, F16, BF16. */
typedef struct sherd_rows_source {
	const sherd_bundle *bundle;
	const char *const *names; /* only these, in stored order; NULL: all */
	size_t name_count;
	sherd_dtype as; /* SHERD_BF16: the bits of U16 are BF16; else 0 */
} sherd_rows_source;

/* Packs the tensors of all sources, one after the other. An error's index is that of the source that it is about.
 * SHERD_EUNSUPPORTED, "bad-dtype", "bad-shape" or "width-mismatch", of a tensor that is no rows; SHERD_ECORRUPT,
 * "empty", without any row. */
SHERD_API int sherd_rows_pack_sources(sherd_store *store, const char *folder, const sherd_rows_source *sources,
                                      size_t count, const sherd_rows_pack_options *options, sherd_error *err);
/* Packs the tensors of one source. */
SHERD_API int sherd_rows_pack_bundle(sherd_store *store, const char *folder, const sherd_bundle *bundle,
                                     const char *const *names, size_t name_count, sherd_dtype as,
                                     const sherd_rows_pack_options *options, sherd_error *err);
/* Packs a folder of residual_shard_bf16, named by itself or by its manifest. */
SHERD_API int sherd_rows_pack_bf16(sherd_store *store, const char *folder, sherd_store *from, const char *from_folder,
                                   const sherd_rows_pack_options *options, sherd_error *err);

/* ---- indexing */

typedef struct sherd_rows_index_options {
	bool replace; /* the manifest that is there, which may be damaged */
	const sherd_limits *limits;
	sherd_pool *pool;               /* shards are read in parallel */
	const sherd_progress *progress; /* counts bytes */
} sherd_rows_index_options;

/* Makes a manifest for shards of GAMSAE01 that lie in a folder: those named, in this order, or all, by the bytes of
 * their names, without those of checkpoints. Reads all of them. SHERD_EEXIST when there is a manifest, SHERD_ECONFLICT
 * when a writer is at work or died.
 *
 * With replace and no names, the list of a manifest that can be read stays as it is, so that ids do: what lies beside
 * it is left out (sherd_rows_left_out()), SHERD_ENOTFOUND, "missing-shard", when a file is gone. A writer that died is
 * no obstacle then, unless the manifest is damaged and there are parts that the writer may have left unpublished:
 * SHERD_ECONFLICT about the first of them, and names have to be given. */
SHERD_API int sherd_rows_index(sherd_store *store, const char *folder, const char *const *names, size_t count,
                               const sherd_rows_index_options *options, sherd_error *err);

/* Writes one shard of GAMSAE01 from double-precision rows, each value rounded to the nearest float. SHERD_EEXIST.
 * *overflowed, once it is written: how many finite values were too large for a float, and are stored as infinities.
 * Both may be NULL. */
SHERD_API int sherd_rows_write_shard(sherd_store *store, const char *key, const double *values, uint64_t rows,
                                     uint64_t width, const sherd_progress *progress, uint64_t *overflowed,
                                     sherd_error *err);

SHERD_END_DECLS

#endif
