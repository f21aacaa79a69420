#include "base/buf.h"
#include "base/cursor.h"
#include "base/limits.h"
#include "codec/json.h"
#include "engine/tensors/foreign.h"
#include "engine/model/container_set.h"
#include "engine/model/samediff.h"
#include "engine/model/sdnb.h"
#include "engine/model/sdz.h"
#include "engine/rows/files.h"
#include "format/npy.h"
#include "format/npy_manifest.h"
#include "format/rfdb_name.h"
#include "format/rows_manifest.h"
#include "format/rows_shard.h"
#include "format/safetensors.h"
#include "format/safetensors_index.h"
#include "format/zip.h"

#include <sherd/detect.h>

#include <stdlib.h>

SHERD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)
SHERD_AUTO_DEFINE(void, free)

enum { FIRST = 64 }; /* bytes that tell most formats apart */

#define METADATA_SUFFIX ".metadata.json"
#define GRAPH_SUFFIX ".fb"
#define SHARD_MAGIC "RAHS"

static const char *const names[] = {
	[SHERD_FORMAT_UNKNOWN] = "unknown",
	[SHERD_FORMAT_CHECKPOINT] = "checkpoint",
	[SHERD_FORMAT_CHECKPOINT_SHARD] = "checkpoint-shard",
	[SHERD_FORMAT_SAFETENSORS] = "safetensors",
	[SHERD_FORMAT_SAFETENSORS_INDEX] = "safetensors-index",
	[SHERD_FORMAT_NPY] = "npy",
	[SHERD_FORMAT_ROWS] = "rows",
	[SHERD_FORMAT_ROWS_BF16] = "rows-bf16",
	[SHERD_FORMAT_SAMEDIFF_FLATBUFFERS] = "samediff-flatbuffers",
	[SHERD_FORMAT_ND4J_ARRAY] = "nd4j-array",
	[SHERD_FORMAT_SAMEDIFF_CONTAINER] = "samediff-container",
	[SHERD_FORMAT_SDNB] = "sdnb",
	[SHERD_FORMAT_SDZ] = "sdz",
	[SHERD_FORMAT_RFDB] = "rfdb",
	[SHERD_FORMAT_NPY_FOLDER] = "npy-folder",
};

const char *sherd_format_name(sherd_format format)
{
	return (unsigned)format < COUNT_OF(names) ? names[format] : names[SHERD_FORMAT_UNKNOWN];
}

sherd_format sherd_format_by_name(const char *name)
{
	static const struct {
		const char *name;
		sherd_format format;
	} short_names[] = {{"sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER},
	                   {"fb", SHERD_FORMAT_SAMEDIFF_FLATBUFFERS},
	                   {"index", SHERD_FORMAT_SAFETENSORS_INDEX}};
	for (size_t i = 0; i < COUNT_OF(short_names); i++)
		if (strcmp(name, short_names[i].name) == 0)
			return short_names[i].format;
	for (unsigned i = 0; i < COUNT_OF(names); i++)
		if (strcmp(name, names[i]) == 0)
			return (sherd_format)i;
	return SHERD_FORMAT_UNKNOWN;
}

/* Forwards a failure that was kept apart from the caller's error while it was not known to be one. */
static int forward(sherd_error *err, const sherd_error *from, int rc)
{
	if (err)
		*err = *from;
	return rc;
}

static sherd_format by_first_bytes(sherd_str first)
{
	if (sherd_str_starts(first, SHERD_CONTAINER_MAGIC))
		return SHERD_FORMAT_SAMEDIFF_CONTAINER;
	if (sherd_str_starts(first, SHARD_MAGIC))
		return SHERD_FORMAT_CHECKPOINT_SHARD;
	if (sherd_str_starts(first, SHERD_SDNB_MAGIC))
		return SHERD_FORMAT_SDNB;
	if (sherd_str_starts(first, SHERD_NPY_MAGIC))
		return SHERD_FORMAT_NPY;
	if (sherd_str_starts(first, SHERD_ROWS_MAGIC))
		return SHERD_FORMAT_ROWS;
	if (sherd_nd4j_probe((const uint8_t *)first.ptr, first.len))
		return SHERD_FORMAT_ND4J_ARRAY;
	/* A file that was cut off is still one: the length is not compared with the file's. */
	if (first.len > SHERD_SAFETENSORS_HEAD && first.ptr[SHERD_SAFETENSORS_HEAD] == '{' &&
	    sherd_get_u64((const uint8_t *)first.ptr) <= SHERD_SAFETENSORS_MAX_HEADER)
		return SHERD_FORMAT_SAFETENSORS;
	return SHERD_FORMAT_UNKNOWN;
}

static bool is_object(sherd_str first)
{
	size_t i = 0;
	while (i < first.len && first.ptr[i] && strchr(" \t\r\n", first.ptr[i]))
		i++;
	return i < first.len && first.ptr[i] == '{';
}

/* Goes by the keys of the outermost object, and stops where the document is damaged: what it was meant to be is told
 * by what stands before. Fails for lack of memory only. */
static int by_keys(const char *data, size_t len, sherd_format *out, sherd_error *err)
{
	bool shards = false, world = false, map = false;
	sherd_error damage;
	sherd_str key;
	SHERD_AUTO(sherd_json, sherd_json_close) j = NULL;
	int rc = sherd_json_open(&j, data, len, NULL, &damage);
	if (rc >= 0)
		rc = sherd_json_object(j, &damage);
	while (rc >= 0 && !map && !(shards && world) && (rc = sherd_json_key(j, &key, &damage)) > 0) {
		map = sherd_str_is(key, "weight_map");
		shards |= sherd_str_is(key, "shards");
		world |= sherd_str_is(key, "worldSize");
		if (!map && !(shards && world))
			rc = sherd_json_skip(j, &damage);
	}
	if (rc == SHERD_ENOMEM)
		return forward(err, &damage, rc);
	*out = map ? SHERD_FORMAT_SAFETENSORS_INDEX : shards && world ? SHERD_FORMAT_CHECKPOINT : SHERD_FORMAT_UNKNOWN;
	return SHERD_OK;
}

/* Reads the whole document, if it is not larger than any we would open. */
static int by_document(const sherd_reader *reader, sherd_format *out, sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader);
	*out = SHERD_FORMAT_UNKNOWN;
	if (size > sherd_limits_or_default(NULL).metadata_bytes)
		return SHERD_OK;
	SHERD_AUTO(void, free) text = malloc((size_t)size);
	if (!text)
		return sherd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, text, (size_t)size, err));
	return by_keys(text, (size_t)size, out, err);
}

/* Graphs have no magic: the last thing to be tried. Fails for lack of memory and when the store does. */
static int by_graph(sherd_reader *reader, sherd_format *out, sherd_error *err)
{
	sherd_flatbuf fb;
	TRY(sherd_flatbuf_open(&fb, sherd_samediff_fetch, reader, sherd_reader_size(reader), err));
	*out = sherd_samediff_probe(&fb) ? SHERD_FORMAT_SAMEDIFF_FLATBUFFERS : SHERD_FORMAT_UNKNOWN;
	int rc = sherd_flatbuf_check(&fb, NULL);
	if (rc == SHERD_EIO || rc == SHERD_ENOMEM)
		rc = sherd_flatbuf_check(&fb, err);
	else
		rc = SHERD_OK;
	sherd_flatbuf_done(&fb);
	return rc;
}

static int is_bf16(sherd_store *store, const char *folder, bool *out, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	char *text;
	size_t len;
	sherd_error failure;
	*out = false;
	TRY(sherd_rows_key(&key, folder, SHERD_ROWS_BF16_MANIFEST, err));
	uint64_t most = sherd_limits_or_default(NULL).metadata_bytes;
	int rc = sherd_store_get(store, (const char *)key.data, most, &text, &len, &failure);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_ELIMIT)
		return SHERD_OK;
	if (rc < 0)
		return forward(err, &failure, rc);
	rc = sherd_rows_bf16_recognise(text, len, out, err);
	free(text);
	return rc;
}

/* Manifests of rows and of NumPy files stand for their folders, under their own names only: a copy elsewhere is the
 * list of nothing. */
static int by_manifest(sherd_store *store, const char *key, sherd_format *out, sherd_error *err)
{
	SHERD_AUTO_BUF folder = {0};
	bool bf16;
	if (strcmp(sherd_str_leaf(key), SHERD_NPY_MANIFEST) == 0) {
		*out = SHERD_FORMAT_NPY_FOLDER;
		return SHERD_OK;
	}
	if (!sherd_rows_is_manifest(key))
		return SHERD_OK;
	TRY(sherd_rows_folder(&folder, key, err));
	TRY(is_bf16(store, (const char *)folder.data, &bf16, err));
	bool ours = sherd_str_ends(sherd_str_of(key), SHERD_ROWS_MANIFEST);
	*out = ours ? SHERD_FORMAT_ROWS : bf16 ? SHERD_FORMAT_ROWS_BF16 : SHERD_FORMAT_UNKNOWN;
	return SHERD_OK;
}

/* Not every archive is a model. */
static int check_archive(sherd_store *store, const sherd_reader *reader, const char *key, sherd_error *err)
{
	bool ours;
	TRY(sherd_foreign_archive(reader, &ours, err));
	if (!ours)
		TRY(sherd_sdz_has_model(store, key, &ours, err));
	if (!ours)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "foreign-format",
		                  "this is a ZIP archive with no model in it that is read here; unpack it first");
	return SHERD_OK;
}

static int by_content(sherd_store *store, sherd_reader *reader, const char *key, sherd_format *out, sherd_error *err)
{
	char raw[FIRST];
	uint64_t size = sherd_reader_size(reader);
	sherd_str first = {raw, size < sizeof(raw) ? (size_t)size : sizeof(raw)};
	sherd_str name = sherd_str_of(key);
	TRY(sherd_reader_at(reader, 0, raw, first.len, err));
	sherd_format format = by_first_bytes(first);
	if (!format && is_object(first)) {
		TRY(by_manifest(store, key, &format, err));
		if (!format)
			TRY(by_document(reader, &format, err));
		if (!format && sherd_str_ends(name, SHERD_SAFETENSORS_INDEX_SUFFIX))
			format = SHERD_FORMAT_SAFETENSORS_INDEX;
	}
	if (!format && sherd_str_ends(name, METADATA_SUFFIX))
		format = SHERD_FORMAT_CHECKPOINT;
	if (!format)
		TRY(by_graph(reader, &format, err));
	if (!format && sherd_str_starts(first, SHERD_ZIP_MAGIC)) { /* as a large graph may begin by chance */
		TRY(check_archive(store, reader, key, err));
		format = SHERD_FORMAT_SDZ;
	}
	if (!format)
		TRY(sherd_foreign_object(first, err));
	if (!format)
		TRY(sherd_foreign_part(key, first, err));
	if (!format && size && sherd_str_ends(name, GRAPH_SUFFIX)) /* damaged: opening it tells where */
		format = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS;
	if (!format && sherd_str_ends(name, SHERD_CONTAINER_SUFFIX))
		format = SHERD_FORMAT_SAMEDIFF_CONTAINER;
	if (!format && !size)
		return sherd_fail(err, SHERD_ECORRUPT, "empty",
		                  "an empty file: a copy or download that did not finish?");
	if (!format)
		return sherd_in_object(err,
		                       sherd_fail(err, SHERD_EUNSUPPORTED, "unknown-format",
		                                  "the bytes fit no format that is known here"),
		                       key);
	*out = format;
	return SHERD_OK;
}

/* 1 when there is an object of that name, 0 when not; a name too long for a key is no object. */
static int exists(sherd_store *store, const char *key, const char *suffix, sherd_error *err)
{
	SHERD_AUTO_BUF name = {0};
	sherd_stat stat;
	sherd_error failure;
	sherd_buf_str(&name, key);
	sherd_buf_append(&name, suffix, strlen(suffix) + 1);
	TRY(sherd_buf_check(&name, err));
	int rc = sherd_store_stat(store, (const char *)name.data, &stat, &failure);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINVAL || rc == SHERD_EUNSUPPORTED) /* a special file is no object */
		return 0;
	return rc < 0 ? forward(err, &failure, rc) : 1;
}

typedef struct shard_search {
	size_t prefix; /* bytes of "<key>_shard_" */
	bool found;
} shard_search;

/* "<key>_shard_<rank>.shard" or "<key>_shard_<rank>.<set>.shard" */
static bool see(const char *key, const sherd_stat *stat, void *arg)
{
	(void)stat;
	shard_search *s = arg;
	const char *rest = key + s->prefix;
	size_t digits = strspn(rest, "0123456789");
	s->found = digits && rest[digits] == '.' && !strchr(rest, '/') && sherd_str_ends(sherd_str_of(rest), ".shard");
	return !s->found;
}

static int has_shards(sherd_store *store, const char *key, sherd_error *err)
{
	SHERD_AUTO_BUF prefix = {0};
	sherd_buf_str(&prefix, key);
	sherd_buf_append(&prefix, "_shard_", sizeof("_shard_"));
	TRY(sherd_buf_check(&prefix, err));
	shard_search s = {.prefix = prefix.len - 1};
	TRY(sherd_store_list(store, (const char *)prefix.data, "", see, &s, err));
	return s.found;
}

/* Are there shards of a container that this key names, whether or not they are a set? */
static int has_container(sherd_store *store, const char *key, bool *out, sherd_error *err)
{
	sherd_arena arena = {0};
	container_listing list;
	const char *base;
	int rc = sherd_container_base(store, key, &arena, &base, err);
	if (rc == SHERD_OK)
		rc = sherd_container_list(store, base, &arena, &list, err);
	*out = rc == SHERD_OK && list.count;
	sherd_arena_done(&arena);
	return rc;
}

/* Is there a shard of rows among these? Checkpoints use the same extension, so the first bytes are asked. */
static int has_rows(sherd_store *store, const rows_files *files, bool *out, sherd_error *err)
{
	*out = false;
	for (size_t i = 0; i < files->count && !*out; i++) {
		char magic[sizeof(SHERD_ROWS_MAGIC) - 1];
		SHERD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
		sherd_error failure;
		int rc = sherd_store_read(store, files->list[i].key, &reader, &failure);
		if (rc == SHERD_ENOTFOUND)
			continue;
		if (rc < 0)
			return forward(err, &failure, rc);
		if (sherd_reader_size(reader) < sizeof(magic))
			continue;
		TRY(sherd_reader_at(reader, 0, magic, sizeof(magic), err));
		*out = memcmp(magic, SHERD_ROWS_MAGIC, sizeof(magic)) == 0;
	}
	return SHERD_OK;
}

static bool stop(const char *key, const sherd_stat *stat, void *arg)
{
	(void)key, (void)stat;
	*(bool *)arg = true;
	return false;
}

/* A graph database has a pointer to its version, a configuration and manifests. Two of them tell it even when one is
 * lost. */
static int is_graph(sherd_store *store, const char *folder, bool *out, sherd_error *err)
{
	SHERD_AUTO_BUF manifests = {0};
	bool has_manifests = false;
	const char *base = *folder ? "/" : "";
	SHERD_AUTO_BUF prefix = {0};
	sherd_buf_printf(&prefix, "%s%s", folder, base);
	sherd_buf_append(&prefix, "", 1);
	sherd_buf_printf(&manifests, "%s%s" SHERD_RFDB_MANIFESTS, folder, base);
	sherd_buf_append(&manifests, "", 1);
	TRY(sherd_buf_check(&prefix, err));
	TRY(sherd_buf_check(&manifests, err));
	int current = exists(store, (const char *)prefix.data, SHERD_RFDB_CURRENT, err);
	TRY(current);
	int config = exists(store, (const char *)prefix.data, SHERD_RFDB_CONFIG, err);
	TRY(config);
	if (current != config)
		TRY(sherd_store_list(store, (const char *)manifests.data, "", stop, &has_manifests, err));
	*out = current + config + has_manifests >= 2;
	return SHERD_OK;
}

/* A folder of NumPy files has a manifest, or the claim of who is writing it. */
static int is_npy(sherd_store *store, const char *folder, bool *out, sherd_error *err)
{
	SHERD_AUTO_BUF prefix = {0};
	sherd_buf_printf(&prefix, "%s%s", folder, *folder ? "/" : "");
	sherd_buf_u8(&prefix, 0);
	TRY(sherd_buf_check(&prefix, err));
	int found = exists(store, (const char *)prefix.data, SHERD_NPY_MANIFEST, err);
	if (!found)
		found = exists(store, (const char *)prefix.data, SHERD_NPY_SAVING, err);
	*out = found > 0;
	return found < 0 ? found : SHERD_OK;
}

/* SHERD_FORMAT_UNKNOWN when there is no such folder, or nothing in it that is known. */
static int by_folder(sherd_store *store, const char *folder, sherd_format *out, sherd_error *err)
{
	rows_files files;
	bool rows, bf16 = false, graph, npy = false;
	TRY(is_graph(store, folder, &graph, err));
	if (!graph)
		TRY(is_npy(store, folder, &npy, err));
	if (graph || npy) {
		*out = graph ? SHERD_FORMAT_RFDB : SHERD_FORMAT_NPY_FOLDER;
		return SHERD_OK;
	}
	TRY(sherd_rows_files_open(&files, store, folder, SHERD_ROWS_SUFFIX, err));
	rows = files.has_manifest || (files.has_marker && !files.has_foreign);
	int rc = SHERD_OK;
	if (!rows && files.has_foreign)
		rc = is_bf16(store, folder, &bf16, err);
	rows |= files.has_marker && !bf16;
	if (rc == SHERD_OK && !rows && !bf16)
		rc = has_rows(store, &files, &rows, err);
	sherd_rows_files_done(&files);
	TRY(rc);
	*out = rows ? SHERD_FORMAT_ROWS : bf16 ? SHERD_FORMAT_ROWS_BF16 : SHERD_FORMAT_UNKNOWN;
	return SHERD_OK;
}

/* The key names no object: it may be the prefix of a set or a folder. A checkpoint that was committed goes first, one
 * that was not goes last. */
static int by_prefix(sherd_store *store, const char *key, sherd_format *out, sherd_error *err)
{
	sherd_format folder;
	bool sharded;
	int found = exists(store, key, METADATA_SUFFIX, err);
	TRY(found);
	if (found) {
		*out = SHERD_FORMAT_CHECKPOINT;
		return SHERD_OK;
	}
	found = exists(store, key, SHERD_SAFETENSORS_INDEX_SUFFIX, err);
	TRY(found);
	if (found) {
		*out = SHERD_FORMAT_SAFETENSORS_INDEX;
		return SHERD_OK;
	}
	TRY(sherd_sdnb_has_shards(store, key, &sharded, err));
	if (sharded) {
		*out = SHERD_FORMAT_SDNB;
		return SHERD_OK;
	}
	TRY(by_folder(store, key, &folder, err));
	if (!folder) {
		bool container;
		TRY(has_container(store, key, &container, err));
		folder = container ? SHERD_FORMAT_SAMEDIFF_CONTAINER : SHERD_FORMAT_UNKNOWN;
	}
	if (folder) {
		*out = folder;
		return SHERD_OK;
	}
	TRY(sherd_foreign_folder(store, key, err));
	found = exists(store, key, ".saving", err);
	TRY(found);
	if (!found)
		found = has_shards(store, key, err);
	TRY(found);
	if (found)
		return sherd_fail(err, SHERD_EINCOMPLETE, "incomplete",
		                  "a checkpoint that was never committed: it has no metadata");
	TRY(sherd_foreign_index(store, key, err));
	return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "nothing is there");
}

static int at_root(sherd_store *store, sherd_format *out, sherd_error *err)
{
	sherd_format format;
	TRY(by_folder(store, "", &format, err));
	if (!format) {
		TRY(sherd_foreign_folder(store, "", err));
		TRY(sherd_foreign_index(store, "", err));
	}
	if (!format)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "unknown-format",
		                  "a folder of no format that is known here");
	*out = format;
	return SHERD_OK;
}

int sherd_detect(sherd_store *store, const char *key, sherd_format *out, sherd_error *err)
{
	SHERD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	sherd_error failure;
	if (!*key)
		return at_root(store, out, err);
	int rc = sherd_store_read(store, key, &reader, &failure);
	if (rc == SHERD_ENOTFOUND) {
		int found = sherd_in_object(err, by_prefix(store, key, out, err), key);
		if (found != SHERD_ENOTFOUND)
			return found;
		/* A set that was there may have become a file meanwhile. */
		rc = sherd_store_read(store, key, &reader, &failure);
		if (rc == SHERD_ENOTFOUND)
			return found;
	}
	if (rc < 0)
		return forward(err, &failure, rc);
	return sherd_in_object(err, by_content(store, reader, key, out, err), key);
}
