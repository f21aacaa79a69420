/* sherd/detect.h - what is this file? Content first, never by extension alone. */
#ifndef SHERD_DETECT_H
#define SHERD_DETECT_H

#include <sherd/format.h>
#include <sherd/store.h>

SHERD_BEGIN_DECLS

/* Tells the format of what is stored under the key. A graph database is named by its folder, a folder of NumPy files by
 * itself or its manifest. Several safetensors files are named by their index or by its base, what stands before
 * ".safetensors.index.json". Rows are named by their folder, "" or "a/b", whether they are whole or still being packed,
 * or one shard by its file. A checkpoint is named by its prefix, its metadata file or one of its shards: a shard file
 * named by itself is a SHARD. A model in shards is named by its base, by that and ".sdc" or ".sdnb", or by one of its
 * shards. SHERD_ENOTFOUND when nothing is there under the key; SHERD_EINCOMPLETE when the key is the prefix of shards
 * or a claim without metadata; SHERD_EUNSUPPORTED, "foreign-format", for what is known to be of another program
 * (torch.save(), HDF5, ...), with a sentence on what to do; "part", for a file of a graph database; "unknown-format",
 * when nothing fits the bytes; SHERD_ECORRUPT, "empty". */
SHERD_API int sherd_detect(sherd_format *out, sherd_store *store, const char *key, sherd_error *err);

SHERD_END_DECLS

#endif
