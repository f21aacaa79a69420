/* sherd/detect.h - what is this file? Content first, never by extension alone. */
#ifndef SHERD_DETECT_H
#define SHERD_DETECT_H

#include <sherd/store.h>

SHERD_BEGIN_DECLS

typedef enum sherd_format {
	SHERD_FORMAT_UNKNOWN = 0,
	SHERD_FORMAT_CHECKPOINT,       /* a committed set: metadata and shards */
	SHERD_FORMAT_CHECKPOINT_SHARD, /* one shard by itself */
	SHERD_FORMAT_SAFETENSORS,
	SHERD_FORMAT_SAFETENSORS_INDEX, /* several safetensors files and the JSON that lists them */
	SHERD_FORMAT_NPY,
	SHERD_FORMAT_ROWS,                 /* a folder of shards of rows, or one of them by itself */
	SHERD_FORMAT_ROWS_BF16,            /* a folder of residual_shard_bf16 */
	SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, /* a graph and its arrays, as SameDiff wrote them from 1.0.0-beta2 to M2.1 */
	SHERD_FORMAT_ND4J_ARRAY,           /* one array, as ND4J writes it (.bin) */
	SHERD_FORMAT_SAMEDIFF_CONTAINER,   /* graph, arrays and metadata in sections, in one file or several */
	SHERD_FORMAT_SDNB,                 /* a SameDiff graph with its arrays behind it, in one file or several */
	SHERD_FORMAT_SDZ,                  /* a ZIP archive of those */
	SHERD_FORMAT_RFDB,                 /* a folder that is a graph database */
	SHERD_FORMAT_NPY_FOLDER            /* NumPy files and the manifest that lists them */
} sherd_format;

/* "checkpoint", "safetensors-index", ...; "unknown" for anything else. */
SHERD_API const char *sherd_format_name(sherd_format format);
/* SHERD_FORMAT_UNKNOWN when there is no such name. Short ones are "sdc", "fb" and "index". */
SHERD_API sherd_format sherd_format_by_name(const char *name);

/* A graph database is named by its folder, a folder of NumPy files by itself or its manifest. Several safetensors files
 * are named by their index or by its base, what stands before ".safetensors.index.json". Rows are named by their
 * folder, "" or "a/b", whether they are whole or still being packed, or one shard by its file. A checkpoint is named by
 * its prefix, its metadata file or one of its shards: a shard file named by itself is a SHARD. A model in shards is
 * named by its base, by that and
 * ".sdc" or ".sdnb", or by one of its shards. SHERD_ENOTFOUND
 * when nothing is there under the key; SHERD_EINCOMPLETE when the key is the prefix of shards or a claim without
 * metadata; SHERD_EUNSUPPORTED, "foreign-format", for what is known to be of another program (torch.save(), .npz,
 * HDF5, ...), with a sentence on what to do; "part", for a file of a graph database; "unknown-format", when nothing
 * fits the bytes; SHERD_ECORRUPT, "empty". */
SHERD_API int sherd_detect(sherd_store *store, const char *key, sherd_format *out, sherd_error *err);

SHERD_END_DECLS

#endif
