/* engine/rows/sequence.h - the global sequence of batches, and one rank's share of it.
 *
 * The sequence depends on the set, the batch size, the order, the epoch and where
 * it begins: never on ranks. Batch b belongs to rank b mod world. A round is as many batches
 * as there are ranks; the state always stands between two rounds. */
#pragma once

#include "base/buf.h"
#include "engine/rows/order.h"
#include "engine/rows/rows.h"

typedef struct rows_state {
	uint64_t position; /* in the delivery order */
	uint64_t number;   /* of the next batch */
} rows_state;

typedef struct rows_sequence {
	const sherd_rows *rows;
	rows_order order; /* of the rows that this epoch began with: the set may have grown since */
	uint64_t batch_rows;
	uint32_t rank, world;
	sherd_rows_tail tail;
	uint64_t from; /* position at which an epoch begins: reset and padding go there, whatever was resumed or sought
	                */
	rows_state now;
	bool finished;
} rows_sequence;

/* A batch as rows, before any byte of it is read. */
typedef struct rows_pick {
	uint64_t number;
	bool straight; /* rows first .. first+count of one shard; else ids */
	uint64_t first;
	size_t count;
	SHD_VEC(uint64_t) ids; /* kept from call to call */
	bool padding;
	uint64_t epoch;
} rows_pick;

/* Fills in batch size, order, rank and place from the options of a stream. */
int shd_rows_sequence_init(rows_sequence *s, const sherd_rows *rows, const sherd_rows_stream_options *options,
                           sherd_error *err);
/* 1 and this rank's batch of the next round, or 0 at the end. */
int shd_rows_sequence_next(rows_sequence *s, rows_pick *out, sherd_error *err);
/* To the first batch of the same epoch. */
void shd_rows_sequence_reset(rows_sequence *s);
/* To the first batch of an epoch, over all rows that the set has now. */
void shd_rows_sequence_begin(rows_sequence *s, uint64_t epoch);
/* To a position of the same epoch; batches are numbered from 0 there. SHERD_EINVAL past the end. */
int shd_rows_sequence_seek(rows_sequence *s, uint64_t position, sherd_error *err);
