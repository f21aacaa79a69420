/* engine/ckpt/ckpt.h - an open checkpoint. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/meter.h"
#include "codec/sha256.h"
#include "engine/ckpt/shard.h"
#include "format/ckpt/meta.h"

#include <sherd/ckpt.h>

#include <pthread.h>

/* The index of one shard, read when its checksums are first needed. */
typedef struct ckpt_crcs {
	pthread_mutex_t lock;
	bool loaded;
	bool present;              /* the shard has an index */
	bool hashed;               /* a shard without one: its digest was checked */
	const sherd_error *broken; /* why neither is of use: it is not looked at again; NULL: it was not found so */
	/* With an index: which blocks were checked; those of entry e begin at first_block[e]. */
	const uint64_t *first_block;
	_Atomic(uint8_t) *proven;
	shd_arena arena;
	shd_ckpt_index index;
	/* Of all parts, once they were checked against the digest. */
	const uint8_t (*values)[SHD_BLAKE3_BYTES];
} ckpt_crcs;

struct sherd_ckpt {
	shd_arena arena;
	sherd_limits limits;
	sherd_ckpt_info info;
	shd_ckpt_meta meta;
	char identity[72]; /* of the metadata; "" for a shard by itself */
	/* One each a shard, in the order of meta.shards. */
	ckpt_shard *files;
	sherd_ckpt_shard *shards;
	ckpt_crcs *crcs;
	size_t shard_count;
	size_t opened;              /* files and crcs that are initialised */
	sherd_error *lost;          /* by shard: why it is not open, its reader NULL; NULL: all are */
	SHD_VEC(const char *) gone; /* tensors that went with them */
	/* Tensors, and their pieces in one array: those of tensor t are first_piece[t] .. first_piece[t+1]. */
	sherd_tensor *tensors;
	size_t count;
	size_t *first_piece;
	sherd_ckpt_piece *pieces;
	shd_map names;
	sherd_store *relay; /* through which a group opened it; or NULL */
};

/* sherd_ckpt_open() of what is known to be a prefix, whatever it looks like. */
int shd_ckpt_open_prefix(sherd_ckpt **out, sherd_store *store, const char *prefix, const sherd_ckpt_options *options,
                         sherd_error *err);

/* Groups the entries of all shards by name into tensors, leaves replicas out, and checks that pieces tile. Of shards
 * that are lost only the names are noted: tensors that need them go to `gone`. */
int shd_ckpt_build_tensors(sherd_ckpt *ckpt, sherd_error *err);
/* Do the boxes tile the whole without gap or overlap? They lie within it. Sorts them. */
int shd_ckpt_check_tiling(sherd_ckpt_piece *pieces, size_t count, const sherd_tensor *whole, sherd_error *err);

/* Does the shard carry an index, and so CRCs? Thread-safe. */
int shd_ckpt_shard_indexed(const sherd_ckpt *ckpt, size_t shard, bool *indexed, sherd_error *err);
/* CRCs of a piece's blocks; NULL when its shard records none. Thread-safe. */
int shd_ckpt_piece_crcs(const sherd_ckpt *ckpt, const sherd_ckpt_piece *piece, const uint32_t **out, sherd_error *err);

/* Sees to it that bytes [from, to) of a piece were checked against what its shard records: the CRCs of the blocks that
 * hold them, or its digest, once in the life of the handle. Thread-safe. */
int shd_ckpt_prove(const sherd_ckpt *ckpt, const sherd_ckpt_piece *piece, uint64_t from, uint64_t to, sherd_error *err);
/* The same of everything that shd_ckpt_prove() of these tensors would check by a digest, which takes long. */
int shd_ckpt_prove_shards(const sherd_ckpt *ckpt, const size_t *tensors, size_t count, sherd_pool *pool,
                          shd_meter *meter, sherd_error *err);
/* Proves all bytes of a tensor. Where some are damaged, *damage tells, and a copy that another shard holds takes their
 * place; *whole is false where there is none. Of several tensors at once, while nobody reads. */
int shd_ckpt_mend(sherd_ckpt *ckpt, size_t tensor, shd_meter *meter, bool *whole, sherd_error *damage,
                  sherd_error *err);
/* sherd_ckpt_read() of bytes that are proven first. */
int shd_ckpt_read_proven(const sherd_ckpt *ckpt, size_t tensor, uint64_t offset, void *buf, size_t len,
                         sherd_error *err);

/* Compares the checksum text of all data of the shard with its head's. */
int shd_ckpt_shard_compare(const ckpt_shard *s, const char *text, sherd_error *err);
/* The BLAKE3 values of a shard's parts, all of them, checked against its digest; *values is NULL where its index has
 * none. Reads the last parts only. Thread-safe. */
int shd_ckpt_shard_values(const sherd_ckpt *ckpt, size_t shard, const uint8_t (**values)[SHD_BLAKE3_BYTES],
                          unsigned *log, sherd_error *err);
