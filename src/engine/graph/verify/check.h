/* engine/graph/verify/check.h - between the files of verification. */
#pragma once

#include "base/meter.h"
#include "engine/graph/disk/chain.h"
#include "engine/graph/query/counts.h"
#include "engine/tensors/report.h"

/* What a version before has shown of a segment. Versions share most of their segments: what was seen once is not looked
 * at again for each of them. */
typedef struct graph_proof {
	size_t place;              /* of its description */
	uint64_t apart;            /* the last round in which it shared no key with segments of other shards; 0: none */
	bool sources_known;        /* of edges: what follows is known */
	SHD_VEC(size_t) witnesses; /* descriptions of segments of nodes that hold the sources of all runs but for */
	SHD_VEC(uint64_t) loose;   /* the first rows of runs whose source none of its shard held then */
} graph_proof;

/* A segment as a version describes it. */
typedef struct graph_checked {
	shd_rfdb_descriptor about; /* its texts are in the arena */
	sherd_report report;
	bool missing, damaged;
	size_t errors, warnings; /* how many, before they were handed on */
	bool needed;             /* a version names it that was not given up */
	graph_segment *segment;  /* NULL until a version is looked at that has it */
	graph_proof proof;
} graph_checked;

typedef struct graph_checking {
	graph_place place;
	const sherd_verify_options *options;
	sherd_report *report;
	graph_head head;
	uint32_t shards;
	bool planned; /* writers need the plan */
	graph_manifest_vec files;
	graph_version now;                  /* the current one, where it can be read: it says what was given up */
	shd_rfdb_number_vec bad;            /* versions that are damaged, and were not given up */
	SHD_VEC(graph_checked) descriptors; /* each description once */
	shd_map seen;                       /* from digests of descriptions to places */
	shd_arena arena;
	graph_runs runs; /* that were made anew from their segments, and found to be right */
	shd_meter meter;
	uint64_t rounds[2]; /* of proofs that segments are apart, by kind */
	shd_map tails;      /* from descriptions of a shard's segments, the oldest first, to places in tallies */
	SHD_VEC(graph_tally *) tallies; /* newest rows by type, tombstones aside */
} graph_checking;

static inline graph_checked *graph_checked_at(const graph_checking *c, size_t place)
{
	return c->descriptors.items + place;
}

/* Notes the segments of a version. */
int shd_graph_checking_note(graph_checking *c, const shd_rfdb_manifest *m, bool needed, sherd_error *err);
/* Where a description stands; SIZE_MAX when it was not noted. */
size_t shd_graph_checking_place(const graph_checking *c, const shd_rfdb_descriptor *about);
void shd_graph_checking_done(graph_checking *c);
/* Takes what was found, and empties it; errors in what was given up are warnings, which say what remains to do. */
int shd_graph_checking_tell(graph_checking *c, sherd_report *found, bool given_up, sherd_error *err);
/* All that were noted, by the pool. */
int shd_graph_checking_segments(graph_checking *c, sherd_error *err);
/* Every run that is there, after the segments. */
int shd_graph_checking_runs(graph_checking *c, sherd_error *err);
/* Are no keys of a kind in two shards? */
int shd_graph_checking_apart(graph_checking *c, const graph_view *v, shd_rfdb_kind kind, sherd_error *err);
/* Lies every live edge in the shard of its source? */
int shd_graph_checking_sources(const graph_checking *c, const graph_view *v, sherd_error *err);
/* Are the live records as many as the manifest says? */
int shd_graph_checking_counts(graph_checking *c, const graph_view *v, const shd_rfdb_counts *said, sherd_error *err);
void shd_graph_checking_forget_counts(graph_checking *c);
/* What a version says of all its segments together. rc of what is wrong with it, which err names. */
int shd_graph_checking_version(graph_checking *c, const shd_rfdb_manifest *m, sherd_error *err);

/* Looks at every byte of every version up to the current one, and appends the numbers of those that are damaged and
 * were not given up yet. */
int shd_graph_find_damaged(const graph_place *p, uint64_t current, const sherd_verify_options *options,
                           shd_rfdb_number_vec *versions, sherd_error *err);
