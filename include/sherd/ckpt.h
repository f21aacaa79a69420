/* sherd/ckpt.h - checkpoints made of shards.
 *
 * A checkpoint is a prefix: one shard a rank, `{prefix}_shard_{rank}.shard`, and
 * `{prefix}.metadata.json`, which is written last. It exists from the moment the
 * metadata is committed, and only then.
 *
 * Thread safety: an open sherd_ckpt is immutable and may be shared. A saver may
 * be used by several threads for different ranks. What a handle hands out is
 * valid until it is closed; the store outlives every handle. */
#ifndef SHERD_CKPT_H
#define SHERD_CKPT_H

#include <sherd/bundle.h>
#include <sherd/digest.h>
#include <sherd/group.h>
#include <sherd/limits.h>
#include <sherd/memory.h>
#include <sherd/pool.h>
#include <sherd/progress.h>
#include <sherd/store.h>
#include <sherd/tensor.h>

SHERD_BEGIN_DECLS

/* 128 bits that all shards of one save carry. */
typedef struct sherd_set_id {
	uint8_t bytes[16];
} sherd_set_id;

#define SHERD_SET_ID_TEXT 33

/* A new id, of the random numbers of the system. */
SHERD_API int sherd_set_id_random(sherd_set_id *out, sherd_error *err);
/* The id that some texts stand for: the same, in the same order, always give the same, others never. */
SHERD_API int sherd_set_id_of(sherd_set_id *out, const char *const *texts, size_t count, sherd_error *err);
/* 32 lower-case hexadecimal digits and a NUL. */
SHERD_API void sherd_set_id_format(char out[SHERD_SET_ID_TEXT], const sherd_set_id *id);
/* SHERD_EINVAL unless the text is exactly that. */
SHERD_API int sherd_set_id_parse(sherd_set_id *out, const char *text, sherd_error *err);

/* What a checkpoint says about itself beside its tensors. What nobody said is absent, and neither written nor shown:
 * NULL texts, and numbers without their has_. JSON texts are kept verbatim. */
typedef struct sherd_ckpt_about {
	bool has_ddp_rank, has_epoch, has_step, has_learning_rate;
	int64_t ddp_rank;
	const char *strategy;      /* "fsdp", "ddp", "tensor_parallel" */
	const char *precision;     /* "fp32", "bf16", ... */
	const char *strategy_info; /* a JSON object */
	int64_t epoch, step;
	double learning_rate;
	const char *optimizer_type;
	const char *optimizer_state; /* a JSON object */
	const sherd_pair *fields;    /* customFields */
	size_t field_count;
	/* Members of objects that we do not know, `"key": value, ...`: they survive a rewrite. */
	const char *extra, *sharding_extra, *training_extra;
} sherd_ckpt_about;

/* ---- reading */

typedef struct sherd_ckpt sherd_ckpt;

typedef struct sherd_ckpt_info {
	const char *version;   /* of the metadata: "1.0.0" */
	const char *timestamp; /* as written, RFC 3339 */
	int64_t time_ns;       /* since 1970 UTC */
	uint32_t world;
	bool has_set_id; /* false: written by others */
	bool sealed;     /* the metadata carries its own hash */
	sherd_set_id set_id;
	sherd_ckpt_about about;
} sherd_ckpt_info;

typedef struct sherd_ckpt_shard {
	uint32_t rank;
	const char *file; /* beside the metadata */
	uint64_t file_size;
	uint64_t data_offset, data_size; /* in the file */
	/* Of the data: lower-case hex SHA-256, or "blake3:" and lower-case hex BLAKE3; "" when none was recorded. */
	const char *checksum;
	size_t tensors;
} sherd_ckpt_shard;

/* Where one piece of a tensor lies. */
typedef struct sherd_ckpt_piece {
	uint32_t shard;  /* index of the shard */
	uint32_t entry;  /* its place in the shard's list */
	uint64_t offset; /* in the shard's data */
	uint64_t bytes;
	const uint64_t *shape; /* of the piece */
	const uint64_t *at;    /* its first element in the whole tensor; NULL: it is the whole tensor */
} sherd_ckpt_piece;

/* For all calls that look at whole sets. */
typedef struct sherd_ckpt_options {
	sherd_pool *pool;
	const sherd_limits *limits;
	const sherd_progress *progress; /* counts shards; of a folder: checkpoints */
	/* For opening: a shard that is missing, damaged in size or head, or unreadable does not keep the others from
	 * being read. lost() is told of each such shard, then of each tensor of which no whole copy is left; what
	 * remains is the checkpoint. Nothing is told unless the opening succeeds. Opening reads no tensor's bytes:
	 * sherd_bundle_sift() finds those that are damaged. */
	sherd_lost_fn *lost;
	void *lost_arg;
	/* For opening a prefix: rank 0 of the group reads metadata and heads, and the others get them from it; each
	 * opens the shards that it reads, when it does, and gets "changed" if another set has replaced them since. All
	 * fail when one does. The group need not outlive the call. */
	sherd_group *group;
} sherd_ckpt_options;

/* name: the prefix, the metadata file, or one shard of it. Reads metadata and the shards' heads, no tensor data. Every
 * shard stays open with the handle, so that the set survives being replaced or removed; a local store holds at most 256
 * file descriptors for all its readers, or a quarter of what the process may have, and the other files by maps.
 * Fails with SHERD_ENOTFOUND, SHERD_EINCOMPLETE (shards, but no metadata), SHERD_ECORRUPT, SHERD_EVERSION,
 * SHERD_ELIMIT, SHERD_EUNSUPPORTED, SHERD_EIO, SHERD_ENOMEM. */
SHERD_API int sherd_ckpt_open(sherd_ckpt **out, sherd_store *store, const char *name, const sherd_ckpt_options *options,
                              sherd_error *err);
/* Opens one shard by itself; its tensors are known when it carries its index. */
SHERD_API int sherd_ckpt_open_shard(sherd_ckpt **out, sherd_store *store, const char *key,
                                    const sherd_ckpt_options *options, sherd_error *err);
SHERD_API void sherd_ckpt_close(sherd_ckpt *ckpt); /* NULL is fine */

/* What the checkpoint says about itself. */
SHERD_API const sherd_ckpt_info *sherd_ckpt_describe(const sherd_ckpt *ckpt);
/* How many shards it has. */
SHERD_API size_t sherd_ckpt_shards(const sherd_ckpt *ckpt);
SHERD_API const sherd_ckpt_shard *sherd_ckpt_shard_at(const sherd_ckpt *ckpt, size_t index); /* NULL past the end */
/* Whole tensors, in stored order: by rank, then as listed. */
SHERD_API size_t sherd_ckpt_count(const sherd_ckpt *ckpt);
SHERD_API const sherd_tensor *sherd_ckpt_tensor(const sherd_ckpt *ckpt, size_t index); /* NULL past the end */
SHERD_API size_t sherd_ckpt_find(const sherd_ckpt *ckpt, const char *name);            /* or SHERD_NO_TENSOR */
/* The pieces that make the tensor up, lowest position first; replicas left out. Returns how many. */
SHERD_API size_t sherd_ckpt_pieces(const sherd_ckpt_piece **out, const sherd_ckpt *ckpt, size_t tensor);

/* Copies bytes [offset, offset+len) of the whole tensor, unverified. SHERD_EINVAL past its end. */
SHERD_API int sherd_ckpt_read(const sherd_ckpt *ckpt, size_t tensor, uint64_t offset, void *buf, size_t len,
                              sherd_error *err);
/* Copies the box that begins at `at` and has this shape, packed in C order, unverified. */
SHERD_API int sherd_ckpt_read_slice(const sherd_ckpt *ckpt, size_t tensor, const uint64_t *at, const uint64_t *shape,
                                    void *buf, sherd_error *err);
/* Borrows the whole tensor, aligned for its type; SHERD_EUNSUPPORTED when it is cut, misaligned or cannot be mapped. */
SHERD_API int sherd_ckpt_map(const void **out, const sherd_ckpt *ckpt, size_t tensor, sherd_error *err);

typedef enum sherd_ckpt_check {
	SHERD_CHECK_CRC = 0, /* the blocks that are touched, where the shard records them */
	SHERD_CHECK_NONE = 1,
	/* By the digest that a shard records: with BLAKE3 the parts of 1 MiB that are touched; with SHA-256 every shard
	 * that is touched, whole. */
	SHERD_CHECK_DIGEST = 2
} sherd_ckpt_check;

/* What to load: a whole tensor, or a box of it. */
typedef struct sherd_ckpt_want {
	size_t tensor;
	const uint64_t *at, *shape; /* NULL: the whole tensor */
	void *buf;                  /* room for all of its bytes */
	const sherd_memory *memory; /* in which buf lies; NULL: the host's. All other calls fill the host's only */
} sherd_ckpt_want;

typedef struct sherd_ckpt_load_options {
	sherd_ckpt_check check;
	sherd_pool *pool;
	const sherd_progress *progress;
} sherd_ckpt_load_options;

/* Loads all of them, verified, in parallel. An error about one of them has its index; what a copy_in
 * fails with is returned as it is. After a failure the destinations hold anything. */
SHERD_API int sherd_ckpt_load(const sherd_ckpt *ckpt, const sherd_ckpt_want *wants, size_t count,
                              const sherd_ckpt_load_options *options, sherd_error *err);

/* Its tensors as a bundle, which must be closed before the checkpoint is. What the bundle hands out was checked first:
 * against the CRC-32 of its blocks, or the digest of a shard that records no more. */
SHERD_API int sherd_bundle_of_ckpt(sherd_bundle **out, const sherd_ckpt *ckpt, sherd_error *err);
/* What the checkpoint that a bundle shows says about itself; NULL when it shows none. */
SHERD_API const sherd_ckpt_about *sherd_bundle_about(const sherd_bundle *bundle);

/* ---- saving */

/* Fills buf with bytes [offset, offset+len) of an item. Called in ascending order, by one thread at a time an item,
 * unless the item says otherwise. */
typedef int sherd_read_fn(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err);

/* What a shard is to hold: a whole tensor, a piece of one, or a replica. */
typedef struct sherd_ckpt_item {
	sherd_tensor tensor;           /* as stored here; bytes may be 0 for all but UTF8 and opaque types */
	const uint64_t *global_shape;  /* tensor.ndim of them; NULL: the tensor is whole */
	const uint64_t *global_offset; /* where the piece begins in it */
	const char *extra;             /* members for its metadata, `"key": value`; or NULL */
	const void *data;              /* the bytes, or NULL and */
	sherd_read_fn *read;           /* somebody who has them */
	void *arg;
	bool any_order; /* read() may be called in any order, by several threads at once: all workers fill one shard */
} sherd_ckpt_item;

typedef enum sherd_ckpt_layout {
	SHERD_CKPT_LAYOUT_SHERD = 0, /* 8-byte length, a digest, index */
	SHERD_CKPT_LAYOUT_CSHARP = 1 /* 4-byte length, no checksum, types as numbers, below 2 GiB a shard */
} sherd_ckpt_layout;

typedef struct sherd_ckpt_staging sherd_ckpt_staging;

typedef struct sherd_ckpt_save_options {
	uint32_t world;             /* shards in the set; 0: 1 */
	const sherd_set_id *set_id; /* NULL: random */
	int64_t time_ns;            /* since 1970 UTC */
	bool replace;               /* a committed checkpoint may be replaced, in one step */
	bool take_over;             /* go ahead although another save holds the prefix, or left shards there */
	/* Clear the way of another set that has waited for its ranks for at least so long; 0: SHERD_ECONFLICT. */
	uint64_t take_over_after_ns;
	sherd_ckpt_layout layout;
	sherd_digest digest;           /* ranks of one set may choose differently */
	const sherd_ckpt_about *about; /* rank 0's goes into the metadata; NULL: nothing to say */
	sherd_pool *pool;
	const sherd_progress *progress; /* counts bytes of items */
	sherd_ckpt_staging *staging;    /* for copies in the background; NULL: memory of its own for each save */
	/* For the calls that save one rank: the processes that do so, all at once, the rank being that of the group.
	 * The claim is rank 0's, which publishes when every shard is durable; set id (if NULL) and time are its, too.
	 * When one fails all do, nothing is left, and there is no set that waits. Not for saves in the background. */
	sherd_group *group;
} sherd_ckpt_save_options;

typedef struct sherd_ckpt_shard_items {
	const sherd_ckpt_item *items;
	size_t count;
} sherd_ckpt_shard_items;
/* Saves the whole set in one call: shard r holds shards[r].items. On any failure, cancelling included, nothing of
 * it is left. The index of an error about an item counts those of all shards. Fails with SHERD_EEXIST (the prefix is
 * committed; with replace: by a set of the same id), SHERD_ECONFLICT (another save holds it). */
SHERD_API int sherd_ckpt_save(sherd_store *store, const char *prefix, const sherd_ckpt_shard_items *shards,
                              const sherd_ckpt_save_options *options, sherd_error *err);
/* Cuts a bundle into options->world shards by the size plan and saves it; its pairs become customFields when
 * options->about has none; without options->about, what a checkpoint says about itself is kept. cut: every shard
 * holds its rows of every tensor instead. Fails as sherd_ckpt_save(). */
SHERD_API int sherd_ckpt_save_bundle(sherd_store *store, const char *prefix, const sherd_bundle *bundle, bool cut,
                                     const sherd_ckpt_save_options *options, sherd_error *err);

/* An id for the set that sherd_ckpt_save_bundle() is about to save with these arguments, of which options->set_id does
 * not count: the same time, prefix, options and tensors, values included, always give the same, others never; another
 * one while a set of that id is committed there, since no set replaces itself. Reads every value. */
SHERD_API int sherd_set_id_derive(sherd_set_id *out, sherd_store *store, const char *prefix, const sherd_bundle *bundle,
                                  bool cut, const sherd_ckpt_save_options *options, sherd_error *err);

/* ---- saving by ranks
 *
 * Several processes save one set, each its own shard, with the same world and set id. Whoever finds all shards there
 * publishes the metadata; until then the set waits, whether its processes live or not. A tensor that several ranks
 * hold with the same type, shape and bytes is a replica. Ranks that contradict each other, by other bytes or by
 * pieces that do not make up a whole, are refused when the last of them comes: SHERD_ECORRUPT, "replica-mismatch",
 * "bad-piece", "overlap" or "missing-piece"; claim and shards stay, to be looked at. Of the description, what rank 0
 * says is recorded; a rank that says another step, epoch, learning rate, optimizer, strategy or precision than one that
 * came before it is SHERD_ECONFLICT, "ranks-disagree". Its shard is taken back, unless others of the set live. To say
 * nothing contradicts nobody, but of rank 0 what others say. */

/* What saving one rank came to. */
typedef struct sherd_ckpt_save_result {
	bool committed; /* the set is */
	bool repeated;  /* this rank had saved the same before, and nothing was written */
	bool rewritten; /* it had, but the bytes that lie there were damaged: they were written anew */
	size_t tensors; /* of this rank */
	uint64_t bytes;
} sherd_ckpt_save_result;

/* Saves what this rank holds: wholes, pieces (items with global_shape and global_offset) and replicas. Saving the same
 * again is fine, also when the set is committed: what is there is read, and written anew if it is damaged. Other
 * bytes, or another description, are SHERD_ECONFLICT. result, here and below, may be NULL. */
SHERD_API int sherd_ckpt_save_rank(sherd_store *store, const char *prefix, uint32_t rank, const sherd_ckpt_item *items,
                                   size_t count, const sherd_ckpt_save_options *options, sherd_ckpt_save_result *result,
                                   sherd_error *err);

/* The tensor of this name is a piece of a larger one, with as many dimensions. */
typedef struct sherd_ckpt_part {
	const char *name;
	uint32_t ndim;
	const uint64_t *global_shape, *global_offset;
} sherd_ckpt_part;
/* The same for the tensors of a bundle, whole except for those parts. Pairs and about as by sherd_ckpt_save_bundle();
 * rank 0's are kept. SHERD_ENOTFOUND, with the index of the part, when there is no tensor of the name. */
SHERD_API int sherd_ckpt_save_bundle_rank(sherd_store *store, const char *prefix, const sherd_bundle *bundle,
                                          uint32_t rank, const sherd_ckpt_part *parts, size_t part_count,
                                          const sherd_ckpt_save_options *options, sherd_ckpt_save_result *result,
                                          sherd_error *err);
/* All ranks have the same bundle: this one saves its share of it, as sherd_ckpt_save_bundle() would give it. The claim
 * holds a digest of names, types, shapes and the bundle's set id (or else all values, which are read for it);
 * SHERD_ECONFLICT, "other-source", when this rank's is another one. */
SHERD_API int sherd_ckpt_split_bundle_rank(sherd_store *store, const char *prefix, const sherd_bundle *bundle,
                                           uint32_t rank, bool cut, const sherd_ckpt_save_options *options,
                                           sherd_ckpt_save_result *result, sherd_error *err);

/* Waits until the set is committed: this one, or with set_id NULL any. SHERD_EINCOMPLETE, "timed-out", says how far it
 * is; UINT64_MAX waits for ever. What waiting cannot mend is told without waiting: SHERD_ECORRUPT for a committed set
 * that lacks a shard or cannot be opened, and what publishing would say of ranks that contradict each other. Pool and
 * limits are those of an opening; options->progress is asked now and then and may cancel. */
SHERD_API int sherd_ckpt_wait(sherd_store *store, const char *prefix, const sherd_set_id *set_id, uint64_t timeout_ns,
                              const sherd_ckpt_options *options, sherd_error *err);

/* The same in steps: every process opens a saver with the same set id, saves its own shards and finishes. */
typedef struct sherd_ckpt_saver sherd_ckpt_saver;
/* Claims the prefix. SHERD_EEXIST and SHERD_ECONFLICT as sherd_ckpt_save(). */
SHERD_API int sherd_ckpt_saver_open(sherd_ckpt_saver **out, sherd_store *store, const char *prefix,
                                    const sherd_ckpt_save_options *options, sherd_error *err);
/* Writes one shard, durably. Repeating a shard that is there with the same bytes is fine; other bytes are
 * SHERD_ECONFLICT. */
SHERD_API int sherd_ckpt_saver_shard(sherd_ckpt_saver *saver, uint32_t rank, const sherd_ckpt_item *items, size_t count,
                                     sherd_error *err);
/* Publishes if all shards are there; *committed (may be NULL) tells. The saver is gone afterwards, whatever is
 * returned. Before a failure is returned, what this saver wrote is removed, as by abort; unless the ranks contradict
 * each other. */
SHERD_API int sherd_ckpt_saver_finish(sherd_ckpt_saver *saver, bool *committed, sherd_error *err);
/* Removes what this saver wrote, unless others of its set live: they may be publishing it. NULL is fine. */
SHERD_API void sherd_ckpt_saver_abort(sherd_ckpt_saver *saver);

/* Publishes a set whose shards are all there and whose save is claimed by `{prefix}.saving`.
 * SHERD_EINCOMPLETE names the first missing rank; SHERD_EEXIST when it is committed already. Cancelled, it leaves the
 * shards and their claim as they were. */
SHERD_API int sherd_ckpt_commit(sherd_store *store, const char *prefix, const sherd_ckpt_options *options,
                                sherd_error *err);

/* ---- saving in the background, on a worker of options->pool, which must be given */

typedef struct sherd_ckpt_job sherd_ckpt_job;
typedef enum sherd_ckpt_job_mode {
	SHERD_JOB_COPY =
		0, /* tensors are copied before the call returns, by all workers; progress may cancel that too */
	SHERD_JOB_BORROW = 1 /* the caller keeps them unchanged until the job is finished */
} sherd_ckpt_job_mode;
/* sherd_ckpt_save() in the background. SHERD_EINVAL without a pool. The job has to be closed. */
SHERD_API int sherd_ckpt_save_start(sherd_ckpt_job **out, sherd_store *store, const char *prefix,
                                    const sherd_ckpt_shard_items *shards, sherd_ckpt_job_mode mode,
                                    const sherd_ckpt_save_options *options, sherd_error *err);
/* sherd_ckpt_save_rank() in the background, likewise. */
SHERD_API int sherd_ckpt_save_rank_start(sherd_ckpt_job **out, sherd_store *store, const char *prefix, uint32_t rank,
                                         const sherd_ckpt_item *items, size_t count, sherd_ckpt_job_mode mode,
                                         const sherd_ckpt_save_options *options, sherd_error *err);

/* Memory for the copies, kept from one save to the next: fresh memory costs more than the copy itself. It grows to the
 * largest save and no further. One job has it at a time, until it is finished: SHERD_ECONFLICT. */
SHERD_API int sherd_ckpt_staging_open(sherd_ckpt_staging **out, sherd_error *err);
/* Memory that it holds. */
SHERD_API uint64_t sherd_ckpt_staging_bytes(const sherd_ckpt_staging *staging);
SHERD_API void sherd_ckpt_staging_close(sherd_ckpt_staging *staging); /* no job has it; NULL is fine */

/* Bytes so far and in all (either may be NULL); true when the job is finished. */
SHERD_API bool sherd_ckpt_job_poll(const sherd_ckpt_job *job, uint64_t *done, uint64_t *total);
/* Asks the job to stop, from any thread; it may be finished before. */
SHERD_API void sherd_ckpt_job_cancel(sherd_ckpt_job *job);
/* Waits for the end and gives its outcome; SHERD_ECANCELLED when it was cancelled in time. */
SHERD_API int sherd_ckpt_job_wait(sherd_ckpt_job *job, sherd_error *err);
/* What it came to; NULL unless it is finished, and well. Valid until it is closed. */
SHERD_API const sherd_ckpt_save_result *sherd_ckpt_job_result(const sherd_ckpt_job *job);
/* Waits, then frees. NULL is fine. */
SHERD_API void sherd_ckpt_job_close(sherd_ckpt_job *job);

/* ---- planning */

/* Gives every item of so many bytes to one of world ranks: largest first, each to the emptiest rank. SHERD_EINVAL of 0.
 * Deterministic: ties go to the lower index and the lower rank. */
SHERD_API int sherd_plan_whole(uint32_t *rank_of, const uint64_t *bytes, size_t count, uint32_t world,
                               sherd_error *err);

/* One copy of a plan: these bytes of that shard's data belong to this tensor's part on that rank. */
typedef struct sherd_ckpt_copy {
	size_t tensor;
	uint32_t rank;      /* who needs it */
	uint32_t piece;     /* index among the tensor's pieces */
	uint64_t at0, rows; /* rows of dimension 0 of the whole tensor; a scalar is one row */
} sherd_ckpt_copy;
typedef struct sherd_ckpt_plan sherd_ckpt_plan;
/* Who reads what when world ranks load this checkpoint: whole tensors by size, or every tensor cut by rows. */
SHERD_API int sherd_ckpt_plan_open(sherd_ckpt_plan **out, const sherd_ckpt *ckpt, uint32_t world, bool cut,
                                   sherd_error *err);
/* The copies of one rank, in the order of tensors and positions. Returns how many. */
SHERD_API size_t sherd_ckpt_plan_copies(const sherd_ckpt_copy **out, const sherd_ckpt_plan *plan, uint32_t rank);
SHERD_API void sherd_ckpt_plan_close(sherd_ckpt_plan *plan); /* NULL is fine */

/* Writes the checkpoint anew as options->world shards under another prefix, with bounded memory. SHERD_EEXIST and
 * SHERD_ECONFLICT as sherd_ckpt_save(). */
SHERD_API int sherd_ckpt_reshard(const sherd_ckpt *from, sherd_store *store, const char *prefix, bool cut,
                                 const sherd_ckpt_save_options *options, sherd_error *err);

/* ---- housekeeping */

typedef enum sherd_ckpt_state {
	SHERD_CKPT_COMMITTED = 0, /* all of it is there: metadata and heads of shards fit together */
	SHERD_CKPT_SAVING = 1,    /* claimed by somebody who lives */
	SHERD_CKPT_DEAD = 2,      /* claimed by nobody who lives; the next save or prune clears it */
	SHERD_CKPT_ORPHANED = 3,  /* shards without metadata or claim; repair may help */
	SHERD_CKPT_DAMAGED = 4,   /* metadata or shards contradict the format or each other, or a shard is missing */
	SHERD_CKPT_WAITING = 5,   /* saved by ranks, and some have not come yet; nobody holds it, and it is not dead */
	SHERD_CKPT_UNREADABLE = 6 /* nobody can tell: the store fails, or this library does not know the format */
} sherd_ckpt_state;
/* "committed", "saving", ...; "unknown" for any other number. */
SHERD_API const char *sherd_ckpt_state_name(sherd_ckpt_state state);

typedef struct sherd_ckpt_listing {
	const char *prefix;
	sherd_ckpt_state state;
	const char *timestamp; /* "" where no metadata can be read */
	int64_t time_ns, step;
	bool has_step;
	uint32_t world;
	uint64_t bytes;      /* of metadata and shards */
	const char *problem; /* of a damaged or unreadable one; how far a waiting one is; else "" */
	/* A set waits here for its ranks: the one listed, or one that is to replace it. */
	bool waiting;
	uint64_t waiting_ns; /* since the last rank came */
} sherd_ckpt_listing;
typedef struct sherd_ckpt_list sherd_ckpt_list;
/* All checkpoints whose prefix begins with `below` ("" or "folder/"), folders below that left out: committed ones
 * first, newest first (by timestamp, then step, then name), then the others by name. Every one is opened as
 * sherd_ckpt_open() does it; one that cannot be is told as what it is and does not keep the others from being listed.
 */
SHERD_API int sherd_ckpt_list_open(sherd_ckpt_list **out, sherd_store *store, const char *below,
                                   const sherd_ckpt_options *options, sherd_error *err);
/* How many there are. */
SHERD_API size_t sherd_ckpt_list_count(const sherd_ckpt_list *list);
/* One of them; NULL past the end. */
SHERD_API const sherd_ckpt_listing *sherd_ckpt_list_at(const sherd_ckpt_list *list, size_t index);
/* The newest committed one whose time is not after now_ns (0: any), since what a clock that ran ahead has dated would
 * be the newest for ever; else the newest of all, or NULL when none is committed. */
SHERD_API const sherd_ckpt_listing *sherd_ckpt_list_newest(const sherd_ckpt_list *list, int64_t now_ns);
SHERD_API void sherd_ckpt_list_close(sherd_ckpt_list *list); /* NULL is fine */

typedef enum sherd_ckpt_fate {
	SHERD_CKPT_REMOVED = 0, /* nothing of it is left */
	SHERD_CKPT_CLEARED = 1, /* the set stays; what dead saves, replacements or removals left beside it is gone */
	SHERD_CKPT_LEFT = 2     /* it was to go, or to be kept and counted, but is left alone: why tells */
} sherd_ckpt_fate;
/* What became of a prefix, or would become of it. */
typedef struct sherd_ckpt_pruned {
	const char *prefix;
	sherd_ckpt_state was;
	sherd_ckpt_fate fate;
	uint64_t bytes;  /* that are gone with it; 0 when not known */
	const char *why; /* with SHERD_CKPT_LEFT, else "" */
} sherd_ckpt_pruned;
typedef void sherd_ckpt_pruned_fn(void *arg, const sherd_ckpt_pruned *pruned);

typedef struct sherd_ckpt_prune_options {
	size_t keep;    /* the newest so many committed ones stay, at least 1 */
	int64_t now_ns; /* committed ones of a later time are left alone and not counted; 0: nobody knows the time */
	uint64_t waiting_older_than_ns; /* sets that have waited so long for their ranks go, too; 0: none */
	bool orphaned; /* shards that belong to nothing go, too, also beside a set that does not name them */
	bool damaged;  /* damaged sets go, too */
	bool dry_run;  /* tell only */
	sherd_ckpt_pruned_fn *pruned; /* told each prefix after it happened; may be NULL */
	void *arg;
	sherd_pool *pool;
	const sherd_limits *limits;
	const sherd_progress *progress; /* counts checkpoints */
} sherd_ckpt_prune_options;
/* Removes older checkpoints and what dead saves left. Nothing but the latter goes unless a committed checkpoint is
 * there to be kept, found whole by this call: metadata, files, sizes and heads. Left alone are: what is being written
 * or waits for ranks, what is damaged, unreadable or orphaned unless asked for, and a set whose files the metadata of
 * another one names. Cancelled, it stops between two of them: a removal that has begun is finished, so that every
 * prefix is as it was, or gone. */
SHERD_API int sherd_ckpt_prune(sherd_store *store, const char *below, const sherd_ckpt_prune_options *options,
                               sherd_error *err);

/* Removes what stands under the prefix: a committed set, damaged or not, shards that belong to nothing, what a dead
 * save left. *was (may be NULL) tells what it was. SHERD_ENOTFOUND; SHERD_ECONFLICT when somebody is writing there,
 * when the set has just been replaced, or when the metadata of another set names one of its files. */
SHERD_API int sherd_ckpt_remove(sherd_store *store, const char *prefix, const sherd_ckpt_options *options,
                                sherd_ckpt_state *was, sherd_error *err);

typedef struct sherd_ckpt_repair_options {
	const sherd_set_id *set_id; /* which, when shards of several sets are there; NULL: the only complete one */
	bool replace;               /* metadata that is there but cannot be read may be replaced */
	sherd_pool *pool;
	const sherd_progress *progress; /* counts bytes of shards */
	const sherd_limits *limits;
} sherd_ckpt_repair_options;
/* Writes the metadata anew from shards that all verify. The set may never have been committed before. Cancelled,
 * it leaves everything as it was. SHERD_EINCOMPLETE, SHERD_EEXIST, SHERD_ECONFLICT (two complete sets, or a save that
 * lives). */
SHERD_API int sherd_ckpt_repair(sherd_store *store, const char *prefix, const sherd_ckpt_repair_options *options,
                                sherd_set_id *repaired, sherd_error *err);

SHERD_END_DECLS

#endif
