/* sherd/graph.h - code graphs: nodes that belong to files, and edges between them, kept as RFDB v2.
 *
 * A database is a folder on a store. It has versions; each flush makes the next one, whole or not at all, and earlier
 * ones stay readable until they are collected. Nodes are known by a 128-bit id, edges by source, destination and type;
 * adding what is there replaces it. The planner puts every file into a shard: what belongs to one file lies together,
 * and replacing it touches little else.
 *
 * Thread safety: a graph that is open read-only is immutable and may be shared; a writer belongs to one thread at a
 * time. The store outlives both. Texts that are handed out are borrowed: from a reader until it is closed, from a
 * writer until its next call that changes something; callbacks must not change the graph that calls them.
 *
 * Segments are mapped. A file that is cut off while it is open, or a disk that fails, raises SIGBUS, unless a guard is
 * open (sherd/guard.h): then what cannot be had reads as zeros, the call that met it fails with SHERD_ECORRUPT,
 * "truncated", or SHERD_EIO, and so does every later one; callbacks may have seen zeros before. Nothing of the kind is
 * ever committed. */
#ifndef SHERD_GRAPH_H
#define SHERD_GRAPH_H

#include <sherd/limits.h>
#include <sherd/pool.h>
#include <sherd/progress.h>
#include <sherd/store.h>

#include <string.h>

SHERD_BEGIN_DECLS

/* ---- records */

typedef struct sherd_graph_id {
	uint64_t lo, hi;
} sherd_graph_id;

/* UTF-8, not ended by NUL. As a filter, ptr NULL means any. */
typedef struct sherd_graph_text {
	const char *ptr;
	size_t len;
} sherd_graph_text;

static inline sherd_graph_text sherd_graph_text_of(const char *text)
{
	sherd_graph_text t = {text, text ? strlen(text) : 0};
	return t;
}

/* The id that a text stands for: the number itself when it is all digits and fits, else from its BLAKE3 hash. */
SHERD_API sherd_graph_id sherd_graph_id_of(const char *text, size_t len);
#define SHERD_GRAPH_ID_TEXT 40
/* Decimal, NUL-terminated. */
SHERD_API void sherd_graph_id_format(char out[SHERD_GRAPH_ID_TEXT], sherd_graph_id id);

typedef struct sherd_graph_node {
	sherd_graph_id id;
	sherd_graph_text semantic_id, type, name, file;
	sherd_graph_text metadata; /* JSON or ""; as stored, so with the mark of exported nodes in it */
	uint64_t content_hash;
	bool exported; /* when adding: marks the metadata, whose keys are then sorted; when reading: is it marked? */
} sherd_graph_node;

typedef struct sherd_graph_edge {
	sherd_graph_id src, dst;
	sherd_graph_text type;
	sherd_graph_text metadata;
} sherd_graph_edge;

/* Rewrites a JSON object compactly with sorted keys and sets or removes the mark of exported nodes; "" counts as {}
 * and stays "" when nothing is in it. NUL-terminated; sherd_free() the result. SHERD_EINVAL,
 * "bad-type", of other JSON than objects. */
SHERD_API int sherd_graph_metadata(char **out, size_t *len, sherd_graph_text json, bool exported, sherd_error *err);

/* ---- planners */

typedef enum sherd_graph_planner {
	SHERD_GRAPH_HASH = 0,     /* by a hash of the file's directory, over a fixed number of shards */
	SHERD_GRAPH_DIRECTORY = 1 /* a shard for each directory; small ones join their parent; assignments stay */
} sherd_graph_planner;

typedef struct sherd_graph_layout {
	sherd_graph_planner planner;
	uint32_t shards;    /* HASH: how many, 1 to 65535; 0: 8 */
	uint32_t min_files; /* DIRECTORY: fewer files than this join the parent; 0: 3 */
} sherd_graph_layout;

typedef struct sherd_graph_plan sherd_graph_plan;
/* Makes a plan without a database. Adding files later leaves what was assigned before as it is. */
SHERD_API int sherd_graph_plan_open(sherd_graph_plan **out, const sherd_graph_layout *layout, sherd_error *err);
SHERD_API void sherd_graph_plan_close(sherd_graph_plan *plan); /* NULL is fine */
/* Assigns files, besides those of before. After a failure the plan can only be closed. */
SHERD_API int sherd_graph_plan_add(sherd_graph_plan *plan, const sherd_graph_text *files, size_t count,
                                   sherd_error *err);
/* How many numbers are in use: shards are 0 to this, exclusive. */
SHERD_API uint32_t sherd_graph_plan_shards(const sherd_graph_plan *plan);
/* The shard of one file; under DIRECTORY that of its directory, or the number of shards when that has none yet. */
SHERD_API uint32_t sherd_graph_plan_shard(const sherd_graph_plan *plan, sherd_graph_text file);
/* "src_auth", "_root"; "" under HASH, and past the end. Borrowed until the next add. */
SHERD_API const char *sherd_graph_plan_name(const sherd_graph_plan *plan, uint32_t shard);

/* ---- open, close */

typedef struct sherd_graph sherd_graph;

/* Makes an empty database, version 1, in a folder ("" or "a/b") that holds none; SHERD_EEXIST if it does, also if only
 * parts of one are there ("leftovers"). Durable when it returns; when it fails, or the process dies, there is none.
 * NULL layout: 8 shards by hash. */
SHERD_API int sherd_graph_create(sherd_store *store, const char *folder, const sherd_graph_layout *layout,
                                 int64_t time_ns, sherd_error *err);

typedef struct sherd_graph_options {
	bool read_only;   /* else SHERD_ECONFLICT, "locked", while somebody else writes */
	uint64_t version; /* read this one, and read only; 0: the current */
	bool whole;       /* read only: where the current one cannot be opened, the newest that can */
	sherd_pool *pool; /* for flush, compact and what they call; may be NULL */
	const sherd_limits *limits;
} sherd_graph_options;

/* Costs the manifest and the heads of the segments, not the graph. A reader keeps its version, whatever others commit,
 * compact and collect. SHERD_ENOTFOUND when there is no database or no such version. */
SHERD_API int sherd_graph_open(sherd_graph **out, sherd_store *store, const char *folder,
                               const sherd_graph_options *options, sherd_error *err);
/* A writer over memory of its own, for graphs that nobody needs to keep. */
SHERD_API int sherd_graph_open_ephemeral(sherd_graph **out, const sherd_graph_layout *layout, sherd_pool *pool,
                                         sherd_error *err);
/* What was not flushed is lost. NULL is fine. */
SHERD_API void sherd_graph_close(sherd_graph *graph);

SHERD_API uint64_t sherd_graph_version(const sherd_graph *graph); /* that was opened, or flushed last */
/* How the database is laid out. */
SHERD_API sherd_graph_layout sherd_graph_layout_of(const sherd_graph *graph);
/* The shard that the planner gives a file now, as sherd_graph_plan_shard(). */
SHERD_API uint32_t sherd_graph_shard_of(const sherd_graph *graph, sherd_graph_text file);

/* ---- writing */

/* All of these change the writer's buffer, which its own reads see at once and nobody else before flush. Each takes
 * effect whole or, when it fails, not at all; after SHERD_ENOMEM only closing is left, and flush fails. On a reader:
 * SHERD_EINVAL, "read-only". Texts are copied. Of several records with one key the last counts. An error about a record
 * has its index. */
SHERD_API int sherd_graph_add_nodes(sherd_graph *graph, const sherd_graph_node *nodes, size_t count, sherd_error *err);
/* Every source must be known, here or among nodes added before: else SHERD_EINVAL, "unknown-source", which names it. */
SHERD_API int sherd_graph_add_edges(sherd_graph *graph, const sherd_graph_edge *edges, size_t count, sherd_error *err);
/* Deletes nodes with all edges from and to them. Unknown ones are passed over; *deleted (may be NULL) counts the
 * others. */
SHERD_API int sherd_graph_delete_nodes(sherd_graph *graph, const sherd_graph_id *ids, size_t count, uint64_t *deleted,
                                       sherd_error *err);
/* Deletes edges, known by source, destination and type; *deleted (may be NULL) counts those that were there. */
SHERD_API int sherd_graph_delete_edges(sherd_graph *graph, const sherd_graph_edge *edges, size_t count,
                                       uint64_t *deleted, sherd_error *err);

typedef struct sherd_graph_update_result {
	uint64_t nodes_removed, edges_removed; /* that were live before and are not any more */
	uint64_t nodes_added, edges_added;     /* that were not live before */
	uint64_t nodes_changed;                /* replaced by other content */
} sherd_graph_update_result;

/* Replaces everything that belongs to one file: its nodes, the edges from them, and edges whose metadata names it as
 * their __file_context. Edges from elsewhere to nodes that survive stay; to nodes that vanish they go. All nodes must
 * be of the file ("other-file" if not), all sources known. The index of an error counts edges on from the nodes. result
 * may be NULL. */
SHERD_API int sherd_graph_update_file(sherd_graph *graph, sherd_graph_text file, const sherd_graph_node *nodes,
                                      size_t node_count, const sherd_graph_edge *edges, size_t edge_count,
                                      sherd_graph_update_result *result, sherd_error *err);
/* Deletes everything that belongs to one file. result may be NULL. */
SHERD_API int sherd_graph_delete_file(sherd_graph *graph, sherd_graph_text file, sherd_graph_update_result *result,
                                      sherd_error *err);

typedef struct sherd_graph_commit_options {
	int64_t time_ns; /* since 1970 UTC; stored in seconds, of a compaction in milliseconds */
	const sherd_progress *progress;
} sherd_graph_commit_options;

/* Makes the buffer the next version, durably; nothing when it is empty. The bytes do not depend on the pool. When it
 * fails the database is as it was, and the buffer says what it said: it can be tried again. Two exceptions leave only
 * closing: memory may run out at a moment when the buffer is being laid out, and where it cannot be told whether the
 * version counts, who opens next finds out. SHERD_ECONFLICT, "changed": somebody else wrote to the database since this
 * writer was opened, where there are no locks or LOCK was deleted. What they committed stays as it is; the buffer can
 * still be read, but it will never be flushed: open again, and change again. compact, set_tag and gc fail likewise. */
SHERD_API int sherd_graph_flush(sherd_graph *graph, const sherd_graph_commit_options *options, sherd_error *err);
/* Makes room in memory: writes the buffer into segments of which the next flush makes a version. Nobody else sees
 * them before; closing without a flush removes them. */
SHERD_API int sherd_graph_spill(sherd_graph *graph, sherd_error *err);
/* Records in the buffer, deletions among them. An edge that was added twice may count twice. */
SHERD_API uint64_t sherd_graph_pending(const sherd_graph *graph);

/* ---- reading */

/* 1 and the node of the id, or 0. */
SHERD_API int sherd_graph_get(sherd_graph_node *out, const sherd_graph *graph, sherd_graph_id id, sherd_error *err);
/* 1 when there is a node of the id, or 0. */
SHERD_API int sherd_graph_exists(const sherd_graph *graph, sherd_graph_id id, sherd_error *err);

/* All that are given must match; a text matches whole, or as a prefix where that is said. */
typedef struct sherd_graph_query {
	sherd_graph_text type, file, name;
	bool type_prefix, file_prefix, name_prefix;
} sherd_graph_query;

/* Callbacks return false to stop; the call then succeeds. No order is promised, but it is the same for the same
 * version. Memory does not grow with the results. */
typedef bool sherd_graph_node_fn(void *arg, const sherd_graph_node *node);
typedef bool sherd_graph_edge_fn(void *arg, const sherd_graph_edge *edge);

/* Hands out the nodes that match (NULL query: every node). */
SHERD_API int sherd_graph_find(const sherd_graph *graph, const sherd_graph_query *query, sherd_graph_node_fn *each,
                               void *arg, sherd_error *err);

/* Which edges: of any of these types; count 0: of all. */
typedef struct sherd_graph_types {
	const sherd_graph_text *list;
	size_t count;
} sherd_graph_types;

/* The edges that begin at the node, of the types (NULL: all); here and below. */
SHERD_API int sherd_graph_outgoing(const sherd_graph *graph, sherd_graph_id id, const sherd_graph_types *types,
                                   sherd_graph_edge_fn *each, void *arg, sherd_error *err);
/* The edges that end at the node. */
SHERD_API int sherd_graph_incoming(const sherd_graph *graph, sherd_graph_id id, const sherd_graph_types *types,
                                   sherd_graph_edge_fn *each, void *arg, sherd_error *err);
/* Hands out every edge of the types. */
SHERD_API int sherd_graph_edges(const sherd_graph *graph, const sherd_graph_types *types, sherd_graph_edge_fn *each,
                                void *arg, sherd_error *err);

typedef enum sherd_graph_direction {
	SHERD_GRAPH_OUT = 0,
	SHERD_GRAPH_IN = 1,
	SHERD_GRAPH_BOTH = 2
} sherd_graph_direction;

typedef struct sherd_graph_walk_options {
	sherd_graph_direction direction;
	const sherd_graph_types *types; /* NULL: all */
	uint32_t depth;                 /* steps from the start; 0: only the starts */
	size_t most;                    /* ids to visit, which bounds the memory; 0: 1,000,000 */
} sherd_graph_walk_options;

/* depth counts steps from the nearest start. Ids without a node are visited too: an edge may lead to one. */
typedef bool sherd_graph_visit_fn(void *arg, sherd_graph_id id, uint32_t depth);
/* Breadth first, every id once. SHERD_ELIMIT, "too-many-nodes", when there are more than `most`. */
SHERD_API int sherd_graph_bfs(const sherd_graph *graph, const sherd_graph_id *starts, size_t count,
                              const sherd_graph_walk_options *options, sherd_graph_visit_fn *each, void *arg,
                              sherd_error *err);
/* Every other end of the node's edges, once. options->depth and most are not looked at. */
SHERD_API int sherd_graph_neighbours(const sherd_graph *graph, sherd_graph_id id,
                                     const sherd_graph_walk_options *options, sherd_graph_visit_fn *each, void *arg,
                                     sherd_error *err);

/* ---- statistics */

typedef struct sherd_graph_totals {
	uint64_t nodes, edges; /* live */
	uint64_t segments;     /* files */
	uint64_t bytes;        /* of them, without indexes */
	uint64_t tombstones;
	uint32_t shards;
} sherd_graph_totals;

typedef struct sherd_graph_shard {
	uint32_t shard;
	/* What it holds: "src_auth", the planner's name; where another program put nodes that belong elsewhere, their
	 * directories, "lib, src_auth and 3 more". Cut off where it is longer. "" under HASH, and without nodes. */
	char name[256];
	uint64_t nodes, edges; /* live */
	uint64_t segments, bytes;
} sherd_graph_shard;

/* Counts are kept by every commit of ours. After one by another program they are counted anew, once, when they are
 * asked for. What is in a writer's buffer is counted too. */
SHERD_API int sherd_graph_stats(sherd_graph_totals *out, const sherd_graph *graph, sherd_error *err);
/* The same of one shard; SHERD_EINVAL, "bad-range", unless it is below totals.shards. */
SHERD_API int sherd_graph_shard_stats(sherd_graph_shard *out, const sherd_graph *graph, uint32_t shard,
                                      sherd_error *err);
/* The planner's name of a shard, whatever it holds; "" under HASH, and past the last. Valid until the graph is closed.
 */
SHERD_API const char *sherd_graph_shard_name(const sherd_graph *graph, uint32_t shard);
typedef bool sherd_graph_count_fn(void *arg, sherd_graph_text type, uint64_t count);
/* Hands out the types that nodes have, in byte order, and how many have each. */
SHERD_API int sherd_graph_count_nodes(const sherd_graph *graph, sherd_graph_count_fn *each, void *arg,
                                      sherd_error *err);
/* The same of edges. */
SHERD_API int sherd_graph_count_edges(const sherd_graph *graph, sherd_graph_count_fn *each, void *arg,
                                      sherd_error *err);

/* ---- versions */

typedef struct sherd_graph_tag {
	const char *key, *value;
} sherd_graph_tag;

typedef struct sherd_graph_snapshot {
	uint64_t version;
	int64_t time_ns; /* when it was made, in whole seconds since 1970 UTC; the last second that fits for a later one
	                  */
	const sherd_graph_tag *tags;
	size_t tag_count;
} sherd_graph_snapshot;

typedef bool sherd_graph_snapshot_fn(void *arg, const sherd_graph_snapshot *snapshot);
/* Hands out the versions that can be opened, oldest first. */
SHERD_API int sherd_graph_versions(const sherd_graph *graph, sherd_graph_snapshot_fn *each, void *arg,
                                   sherd_error *err);
/* Adds a tag to a version (0: the current one), replacing one with its key; value NULL removes it.
 * SHERD_ENOTFOUND, "no-version"; SHERD_ECONFLICT as sherd_graph_flush(). */
SHERD_API int sherd_graph_set_tag(sherd_graph *graph, uint64_t version, const char *key, const char *value,
                                  sherd_error *err);
/* The newest version that has the tag; value NULL: any. SHERD_ENOTFOUND, "no-tag". */
SHERD_API int sherd_graph_find_tag(uint64_t *version, const sherd_graph *graph, const char *key, const char *value,
                                   sherd_error *err);

typedef enum sherd_graph_difference {
	SHERD_GRAPH_ADDED = 0,
	SHERD_GRAPH_REMOVED = 1,
	SHERD_GRAPH_CHANGED = 2 /* same key, other content: the newer is handed out */
} sherd_graph_difference;

typedef struct sherd_graph_diff_fns {
	bool (*node)(void *arg, sherd_graph_difference what, const sherd_graph_node *node); /* may be NULL */
	bool (*edge)(void *arg, sherd_graph_difference what, const sherd_graph_edge *edge); /* may be NULL */
	void *arg;
} sherd_graph_diff_fns;
/* Hands out what leads from one to the other: two versions of one database, or any two graphs. */
SHERD_API int sherd_graph_diff(const sherd_graph *from, const sherd_graph *to, const sherd_graph_diff_fns *fns,
                               sherd_error *err);

/* ---- maintenance */

/* Flushes, and rewrites every shard into one sorted segment of each kind without what is dead: one version. Nodes that
 * another program put into another shard than the planner says go to theirs, with the edges from them. Nothing when
 * there is nothing to gain. Needs memory for the largest shard times the workers of the pool, and about 40 bytes for
 * each node that moves. */
SHERD_API int sherd_graph_compact(sherd_graph *graph, const sherd_graph_commit_options *options, sherd_error *err);

typedef struct sherd_graph_gc_options {
	uint32_t keep; /* newest versions that stay; 0: 1. Tagged ones, readable or not, and those that readers hold too
	                */
	bool untag;    /* tagged ones go as well */
	bool dry_run;  /* only count what would go if nobody read it; a reader will do */
	const sherd_progress *progress; /* counts files that are removed; cancelling leaves the others for next time */
} sherd_graph_gc_options;

typedef struct sherd_graph_gc_result {
	uint64_t versions, files, bytes; /* removed */
	uint64_t held;                   /* versions that stay because somebody reads them */
	uint64_t damaged; /* versions that stay for tags that they have, or may have: their segments or manifests are
	                     damaged */
} sherd_graph_gc_result;

/* Removes old versions and files that no version names, what dead writers left among them. result may be NULL.
 * SHERD_ECONFLICT as sherd_graph_flush(). */
SHERD_API int sherd_graph_gc(sherd_graph *graph, const sherd_graph_gc_options *options, sherd_graph_gc_result *result,
                             sherd_error *err);

typedef struct sherd_graph_repair_options {
	bool dry_run;    /* only look */
	int64_t time_ns; /* of the version that is made */
	sherd_pool *pool;
	const sherd_progress *progress;
	/* Told of everything that is missing or damaged in the newest version, by its object. May be NULL. */
	sherd_lost_fn *lost;
	void *lost_arg;
} sherd_graph_repair_options;

/* The live records of a version as its manifest counts them; the rows of its segments where it does not. */
typedef struct sherd_graph_records {
	bool known;
	uint64_t nodes, edges;
} sherd_graph_records;

typedef struct sherd_graph_repair_result {
	uint64_t found;        /* the version that current.json named; 0: it did not */
	uint64_t whole;        /* the newest version that is whole, every byte of it */
	uint64_t version;      /* the current one now; as found where there was nothing to repair, or on a dry run */
	uint64_t versions;     /* newer than the whole one, which are lost */
	uint64_t older;        /* damaged versions before the whole one, which are given up */
	uint64_t nodes, edges; /* rows in segments of the newest version that are missing or damaged */
	sherd_graph_records before; /* of the version that was current; not known where its manifest cannot be read */
	sherd_graph_records after;  /* of the whole one: what is in view now */
} sherd_graph_repair_result;

/* Makes the newest version that is whole the current one, as a new version with the next number; nothing that is there
 * is changed or removed. Damaged versions are given up: sherd_verify() warns of them from then on, and they are errors
 * no more. Nothing happens where no version is damaged that was not given up. Versions above what current.json names
 * never counted; where it does not name any, the newest that is there is taken, which may never have been committed.
 * SHERD_ECORRUPT, "no-version", when none is whole. result may be NULL. */
SHERD_API int sherd_graph_repair(sherd_store *store, const char *folder, const sherd_graph_repair_options *options,
                                 sherd_graph_repair_result *result, sherd_error *err);

typedef struct sherd_graph_reshard_options {
	uint64_t memory;
	sherd_pool *pool;
	int64_t time_ns;
	const sherd_progress *progress; /* counts records */
} sherd_graph_reshard_options;

typedef struct sherd_graph_reshard_result {
	uint64_t nodes, edges; /* copied */
	uint64_t lost_edges;   /* left behind: other programs keep edges whose source is no node, we cannot */
} sherd_graph_reshard_result;

/* Copies what is live into a new database, laid out otherwise, as its version 2; version 1 where nothing is. Memory
 * does not grow with the graph: it is copied in pieces of about `memory` bytes (0: 64 MiB). The database is there when
 * it is whole and not before; what a failure or a crash leaves is no database ("incomplete"), and copying again clears
 * it. A failure removes what was made itself. result may be NULL. SHERD_EEXIST as sherd_graph_create(). */
SHERD_API int sherd_graph_reshard(const sherd_graph *from, sherd_store *store, const char *folder,
                                  const sherd_graph_layout *layout, const sherd_graph_reshard_options *options,
                                  sherd_graph_reshard_result *result, sherd_error *err);

/* Between databases in two places, such as a folder and a bucket. */
typedef struct sherd_graph_transfer_options {
	uint64_t version; /* of the source; 0: the current one */
	bool replace;     /* also where the target holds what the source never had */
	sherd_pool *pool;
	int64_t time_ns; /* of a target that is made; as elsewhere */
	const sherd_limits *limits;
	const sherd_progress *progress;
} sherd_graph_transfer_options;

typedef struct sherd_graph_transfer_result {
	uint64_t source, version; /* the version that was sent, and the one that it is in the target */
	uint64_t segments, bytes; /* sent */
	uint64_t reused;          /* segments that the target's version named already */
	bool created;             /* there was no target before */
	bool changed;             /* false: the target said the same */
} sherd_graph_transfer_result;

/* Makes what a version of the database in `from` says the current version of the one in `to`, which is made where there
 * is none: segments that the target's version does not name are sent, then one write makes the version current. What is
 * not flushed is not sent. Of several who push to one place, or write to it, one wins; the others fail with
 * SHERD_ECONFLICT, "changed", and remove nothing but what they sent. SHERD_ECONFLICT, too, where the target holds what
 * the source never had, "diverged", and "other-layout" where its shards are others; SHERD_ECORRUPT where a segment is
 * not what its manifest says. That both say the same then is noted in the source. A folder that ends up in `to` is
 * named as in sherd_graph_create(). */
SHERD_API int sherd_graph_push(sherd_store *from, const char *from_folder, sherd_store *to, const char *to_folder,
                               const sherd_graph_transfer_options *options, sherd_graph_transfer_result *result,
                               sherd_error *err);
/* The same by who owns the target, in which it is noted. SHERD_ECONFLICT, "locked", while somebody writes to it. */
SHERD_API int sherd_graph_pull(sherd_store *from, const char *from_folder, sherd_store *to, const char *to_folder,
                               const sherd_graph_transfer_options *options, sherd_graph_transfer_result *result,
                               sherd_error *err);

SHERD_END_DECLS

#endif
