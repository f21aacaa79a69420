/* engine/model/container_writer.h - a container being written, in one file or several.
 *
 * Every array has its file from the beginning. A file other than the first is committed as soon as its last array is
 * whole; the first one, which has graph, metadata and the list of the others, is committed last. */
#pragma once

#include "engine/model/container.h"
#include "engine/model/container_claim.h"
#include "engine/model/container_pack.h"
#include "engine/model/container_parts.h"
#include "engine/model/container_set.h"
#include "engine/publish/part.h"

typedef struct container_target {
	const char *key;
	container_out out;
	size_t left;    /* arrays that are not whole */
	uint64_t bytes; /* of its arrays */
	bool committed;
	shd_part part;
} container_target;

struct sherd_model_writer {
	sherd_store *store;
	shd_arena arena;
	const char *key;  /* as it was given: of the file, or what the set is opened by */
	const char *base; /* of the shards */
	bool replace;
	int level;                       /* 0: nothing is packed */
	bool digest;                     /* files have DIGESTS */
	const shd_container_model *kept; /* whose unknown sections are kept; or NULL */
	bool as_it_was;                  /* and whose chunks stay packed as they are */
	container_parts parts;
	shd_buf pairs;       /* METADATA */
	uint32_t *target_of; /* by part */
	container_target *targets;
	shd_container_shards shards; /* of the first file; count 0: one file */
	shd_container_peer *peers;
	uint8_t set[SHD_CONTAINER_SET_BYTES];
	shd_claim claim;
	container_listing old; /* shards under the base before */
	const char *like;      /* the file, or shard 0 of the set, that is replaced under another name; NULL: none */
	bool own;              /* the set that is replaced is the one that the model was read from */
	bool over_file;        /* a set takes the place of a file of the name given, */
	char file_identity[72];
	bool over_first; /* shard 0 takes the place of another, */
	char first_identity[72];
	const char *if_identity; /* what may be replaced, see sherd_model_save_options; or NULL */
	uint64_t *written;       /* likewise */
	size_t current;          /* part being given; SHERD_NO_ARRAY: none */
	container_batch batch;
	shd_meter meter;
	bool metered;
	bool publishing; /* the commit of the first file has begun */
	bool unknown;    /* something of this save may be there, or come yet */
	int rc;          /* of the first failure */
	sherd_error failure;
};

/* For writers inside the library. Sections that the model, when it is a container, holds and nobody knows are kept; for
 * that, and for pull, it must live until the commit. */
int shd_container_writer_open(sherd_model_writer **out, sherd_store *store, const char *key, const sherd_model *model,
                              const sherd_model_save_options *options, sherd_error *err);
/* Gives every array by asking for its bytes, from the workers of the pool, file by file. */
int shd_container_writer_pull(sherd_model_writer *w, sherd_error *err);

/* What stands under the name that was given (container_place.c), and the claim, if that is needed. Of a set: its base,
 * the generation, what it replaces. SHERD_EEXIST unless it may be replaced. */
int shd_container_place_look(sherd_model_writer *w, sherd_error *err);

/* The parts of it (container_targets.c). Finds the old set, claims the base, names the files, plans the arrays. */
int shd_container_targets_plan(sherd_model_writer *w, uint32_t shards, sherd_error *err);
/* Begins the file if it is not yet begun. */
int shd_container_target_begin(sherd_model_writer *w, uint32_t target, sherd_error *err);
/* Sections after the data, and commit. The first one goes last. */
int shd_container_target_finish(sherd_model_writer *w, uint32_t target, sherd_error *err);
/* After the commit: what else lies under the base goes, and what cannot be removed stays. Only a file that hides the
 * new set must go: else the set goes again, and this fails. */
int shd_container_targets_clear(sherd_model_writer *w, sherd_error *err);
/* Instead of a commit: nothing of this save stays. */
void shd_container_targets_abort(sherd_model_writer *w);
