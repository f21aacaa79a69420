/* format/tensor/safetensors_index.h - the JSON beside several safetensors files (docs/formats/safetensors.md).
 *
 *	{"metadata": {"total_size": N, ...}, "weight_map": {tensor: file, ...}} */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>

#define SHD_SAFETENSORS_INDEX_SUFFIX ".safetensors.index.json" /* after the base */
#define SHD_SAFETENSORS_CLAIM_SUFFIX ".safetensors.saving"

typedef struct shd_safetensors_index_entry {
	const char *name;
	uint32_t file; /* in files */
} shd_safetensors_index_entry;

/* Everything in it belongs to the arena it was decoded into. */
typedef struct shd_safetensors_index {
	size_t count;
	const shd_safetensors_index_entry *entries; /* as in the document */
	uint32_t file_count;
	const char *const *files; /* plain names, each once, in the order they are first named */
	bool has_total_size;
	uint64_t total_size; /* bytes of all tensors */
	size_t pair_count;
	const sherd_pair *pairs; /* the other texts and numbers of metadata, as text */
	size_t value_count;
	const sherd_pair *values; /* all other entries of metadata: key and JSON text, so that types survive */
	bool sealed;              /* the document holds its own hash, and it is right */
} shd_safetensors_index;

/* A file name that is not a plain last component is SHERD_ECORRUPT, "bad-path". A document that was written with its
 * own hash and no longer has it is SHERD_ECORRUPT, "bad-checksum". */
int shd_safetensors_index_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                                 shd_safetensors_index *out, sherd_error *err);

/* Is it JSON that the document can hold as a value, within the default limits? */
int shd_safetensors_index_check_value(const char *json, sherd_error *err);

/* Appends the document, tensors sorted by name, sealed (codec/seal.h). metadata gets the values as they are, then the
 * pairs whose keys are not among those. */
int shd_safetensors_index_encode(const shd_safetensors_index *index, shd_buf *out, sherd_error *err);
