/* engine/model/container_out.h - one file of a container, being written.
 *
 * After the front comes one ARRAYS section with all data, whose length is filled in at the end like the front itself;
 * then the other sections, each written at once. */
#pragma once

#include "engine/model/container_file.h"

typedef struct container_out {
	sherd_writer *writer; /* NULL before begin and after finish or abort */
	uint64_t at;          /* where the next bytes go; data are put there by who has their places (container_pack) */
	shd_container_head head;
	bool digest; /* sections get their values; */
	SHD_VEC(shd_digest_section) values;
	shd_digest_value root; /* and this is what they, and the arrays, come to */
} container_out;

/* Of the options head is filled in. Then digest may be set. */
int shd_container_out_begin(container_out *o, sherd_store *store, const char *key, const sherd_write_options *options,
                            sherd_error *err);
/* No more data follow. */
void shd_container_out_end_data(container_out *o);
/* A section, packed at the level where that makes it smaller; level 0: as it is. */
int shd_container_out_section(container_out *o, shd_section_type type, const void *payload, size_t len, int level,
                              sherd_error *err);
/* A section of another file, as it is there. */
int shd_container_out_copy(container_out *o, const container_file *from, const shd_container_section *s,
                           sherd_error *err);
/* DIGESTS, after everything else: of the sections so far, and of these arrays, in the order of the index. */
int shd_container_out_digests(container_out *o, const uint8_t set[SHD_CONTAINER_SET_BYTES],
                              const shd_digest_array *arrays, uint64_t count, const shd_digest_value *chunks,
                              uint64_t chunk_count, sherd_error *err);
/* Fills in the front and commits; the file is then what peer says. */
int shd_container_out_finish(container_out *o, const uint8_t set[SHD_CONTAINER_SET_BYTES], shd_container_peer *peer,
                             sherd_error *err);
void shd_container_out_abort(container_out *o); /* leaves nothing behind */
