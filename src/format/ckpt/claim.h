/* format/ckpt/claim.h - {prefix}.saving: who is writing, removing or repairing the set. docs/formats/checkpoint.md,
 * "Claim". */
#pragma once

#include "base/buf.h"

#include <sherd/ckpt.h>

#define SHD_CKPT_SOURCE 64

typedef struct shd_ckpt_claim {
	sherd_set_id set_id;
	uint32_t world;
	bool removing;     /* the set is being removed, not saved */
	bool repairing;    /* the shards were there before: whoever finds the claim dead leaves them alone */
	bool replace;      /* it may take the place of a committed set */
	bool named_by_set; /* its shards carry the set id in their names */
	bool csharp;       /* its shards have no index */
	bool by_ranks; /* several processes save it, each its shards: between two of them it waits, and is not dead */
	int64_t time_ns;
	uint64_t process;
	char host[65];
	bool has_base;
	char base[SHERD_SET_ID_TEXT]; /* the set that was committed when the save began; "" none, "other" one without id
	                               */
	bool has_base_identity;
	char base_identity[72]; /* where nobody can lock: of the metadata, or vacant one, that was there; "" none */
	/* What all ranks must cut alike, in hexadecimal digits; "": every rank saves what it holds. */
	char source[SHD_CKPT_SOURCE + 1];
} shd_ckpt_claim;

void shd_ckpt_claim_encode(const shd_ckpt_claim *claim, shd_buf *out);
int shd_ckpt_claim_decode(const char *text, size_t len, shd_ckpt_claim *out, sherd_error *err);
