/* engine/ckpt/runs.h - a box of a piece as runs of bytes, and their way into memory. */
#pragma once

#include "base/error.h"
#include "engine/ckpt/ckpt.h"

/* An element counts as one more dimension of bytes, so that any range of bytes is made of boxes. */
#define RUNS_MAX_DIMS (SHERD_MAX_DIMS + 1)

/* Runs of equal length; both sides ascend. Offsets of the source count from the piece's first byte. */
typedef struct runs {
	uint64_t length; /* of each run; 0: there are none */
	uint32_t outer;  /* dimensions that are stepped through */
	uint64_t count[RUNS_MAX_DIMS], src_step[RUNS_MAX_DIMS], dst_step[RUNS_MAX_DIMS];
	uint64_t index[RUNS_MAX_DIMS];
	uint64_t src; /* of the current run */
	uint8_t *dst;
	uint64_t end;               /* of the last run, in the source */
	const sherd_memory *device; /* that dst is an address of; NULL: the host's */
	bool refused;               /* the device did not take something */
	bool done;
} runs;

/* box: what to copy, in coordinates of the whole; from: the piece, dst: the packed box that all of `box` belongs to.
 * All have ndim dimensions with the bytes of an element as the last one. */
typedef struct box {
	uint64_t at[RUNS_MAX_DIMS], shape[RUNS_MAX_DIMS];
} box;

void shd_runs_init(runs *r, uint32_t ndim, const box *what, const box *piece, const box *target, uint8_t *dst);
void shd_runs_next(runs *r);
/* The common part of two boxes; false when it is empty. */
bool shd_box_meet(const box *a, const box *b, uint32_t ndim, box *out);

/* Room for one worker's reading; where the piece is smaller, as many bytes as that has. */
#define RUNS_WINDOW (4u << 20)

/* Bytes of the object on their way: borrowed where the store has them in memory, else read into scratch, which has
 * room for len bytes, RUNS_WINDOW at most. Release them before the next call, and before what was made of them is
 * trusted. */
int shd_runs_fetch(const sherd_reader *reader, uint64_t at, size_t len, uint8_t *scratch, const uint8_t **bytes,
                   sherd_error *err);
int shd_runs_release(const sherd_reader *reader, uint64_t at, size_t len, const uint8_t *scratch, const uint8_t *bytes,
                     sherd_error *err);

/* Copies what the runs, which are at their first, have of bytes [start, start+len) of the piece; start lies between
 * their first byte and their end. Several threads may, of other bytes each. */
int shd_runs_take(const runs *all, const uint8_t *bytes, uint64_t start, uint64_t len, sherd_error *err);

/* Copies all runs from the piece that begins at byte `base` of the reader; scratch has RUNS_WINDOW
 * bytes, or those of the piece. */
int shd_runs_copy(runs *r, const sherd_reader *reader, uint64_t base, uint8_t *scratch, sherd_error *err);
/* The same, and every block of the piece that a run touches is read whole and must have its CRC. */
int shd_runs_copy_checked(runs *r, const sherd_reader *reader, uint64_t base, uint64_t bytes, const uint32_t *crcs,
                          uint8_t *scratch, sherd_error *err);
