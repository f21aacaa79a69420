/* engine/model/sdnb_out.h - writing SDNB files: what goes into each, where it lies there, and its bytes. */
#pragma once

#include "base/meter.h"
#include "engine/model/save.h"
#include "format/samediff/encode.h"
#include "format/samediff/sdnb.h"

/* One file, all of whose places are known before its first byte is written. */
typedef struct shd_sdnb_out {
	const sherd_model *model;
	shd_samediff_encoding graph;
	size_t count; /* arrays after the graph */
	const size_t *arrays;
	const shd_java_manifest_entry *entries; /* where they lie */
	shd_sdnb_head head;
	const uint8_t *manifest;
	uint64_t size;
} shd_sdnb_out;

/* Divides the model over so many files (1: all in one; else the first has the graph, the others have the arrays) and
 * lays each of them out, in the arena. SHERD_EUNSUPPORTED: "cannot-hold" names what SDNB has no place for, "too-large"
 * is a file that SameDiff could not load. */
int shd_sdnb_lay_out(const sherd_model *model, const sherd_model_save_options *options, uint32_t files,
                     shd_arena *arena, shd_sdnb_out **out, sherd_error *err);

typedef struct shd_sdnb_target {
	sherd_writer *writer; /* with places; NULL: only the CRC is wanted */
	uint64_t at;          /* where the file begins in the object */
	sherd_pool *pool;
	shd_meter *meter;
} shd_sdnb_target;

/* Puts the file there, size bytes, by all workers; *crc, if not NULL, is its CRC-32. */
int shd_sdnb_put(const shd_sdnb_out *out, const shd_sdnb_target *to, uint32_t *crc, sherd_error *err);

/* What each file holds of the model: sources for the encoder, of which the first has the graph. */
int shd_sdnb_divide(const sherd_model *model, const sherd_model_save_options *options, uint32_t files, shd_arena *arena,
                    shd_samediff_source **out, sherd_error *err);
