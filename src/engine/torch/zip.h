/* engine/torch/zip.h - an archive of torch.save(), opened: its pickle decoded, its storages found. */
#pragma once

#include "engine/tensors/archive.h"
#include "engine/torch/view.h"

#include <pthread.h>
#include <stdatomic.h>

/* Bytes of one storage. */
typedef struct shd_torch_member {
	const shd_zip_entry *entry;
	_Atomic(sherd_reader *) reader; /* opened when it is first read */
	_Atomic bool checked;           /* it has the CRC-32 of the directory */
} shd_torch_member;

typedef struct shd_torch_zip {
	shd_archive archive;
	shd_torch_state state;
	shd_torch_member *members; /* of each storage */
	bool big;                  /* in big-endian order */
	bool unchecked;            /* all CRC-32 are 0: they were not written */
	bool trailing;             /* something follows the pickle in its entry */
	pthread_mutex_t lock;      /* of who opens readers */
	bool locked;               /* the lock was made */
} shd_torch_zip;

/* Takes the reader over, also when it fails; shd_torch_zip_done() in either case. State and pickle are in the arena.
 * pickle may be NULL; what it tells lives in `temporary`. */
int shd_torch_zip_open(shd_torch_zip *z, sherd_reader *reader, const sherd_limits *limits, shd_arena *arena,
                       shd_arena *temporary, shd_pickle *pickle, sherd_error *err);
void shd_torch_zip_done(shd_torch_zip *z);

/* Adds the pairs that stand beside the pickle where we wrote the file; the pickle's own stay as they are. */
int shd_torch_zip_pairs(const shd_torch_zip *z, sherd_bundle *bundle, const sherd_limits *limits, sherd_error *err);
/* Where the bytes of a storage are, after they were held against their checksum. Thread-safe. */
int shd_torch_zip_place(shd_torch_zip *z, size_t storage, shd_meter *meter, shd_torch_place *out, sherd_error *err);
/* The CRC-32 of an entry, unless there are none; errors name it. */
int shd_torch_zip_check(const shd_torch_zip *z, const shd_zip_entry *e, uint8_t *buf, shd_meter *meter,
                        sherd_error *err);
