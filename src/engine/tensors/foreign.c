#include "engine/tensors/foreign.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "engine/rows/files.h"
#include "format/rfdb_name.h"
#include "format/safetensors_index.h"
#include "format/sdnb.h"
#include "format/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

SHERD_AUTO_DEFINE(void, free)

/* How a format is known: by its first bytes, by an entry of a ZIP archive, by an object in a folder. */
typedef struct foreign {
	const char *magic;
	size_t magic_len;
	const char *entry; /* a whole name, or what it ends with when that begins with '/' or '.' */
	const char *leaf;
	const char *what, *advice;
} foreign;

#define MAGIC(text) .magic = (text), .magic_len = sizeof(text) - 1
#define SAVE_SAFETENSORS "save it with safetensors.torch.save_file()"
#define UNPACK "unpack it first"

static const foreign formats[] = {
	{.entry = "/data.pkl", .what = "a file of torch.save()", .advice = SAVE_SAFETENSORS},
	{.entry = "coefficients.bin",
         .what = "a Deeplearning4j model",
         .advice = "save its parameters with Nd4j.saveBinary()"},
	{.entry = "model.weights.h5", .what = "a Keras model", .advice = "save its weights with safetensors"},
	{.entry = "[Content_Types].xml", .what = "an Office document", .advice = "there are no tensors in it"},
	{.entry = "META-INF/MANIFEST.MF", .what = "a Java archive", .advice = "there are no tensors in it"},
	{.entry = "mimetype", .what = "an OpenDocument or EPUB file", .advice = "there are no tensors in it"},
	{.entry = ".npy", .what = "a NumPy archive (.npz)", .advice = "save its arrays with numpy.save(), or unzip it"},
	{MAGIC("\x89HDF\r\n\x1a\n"), .what = "an HDF5 file",
         .advice = "write its arrays with safetensors or numpy.save()"},
	{MAGIC("GGUF"), .what = "a GGUF file", .advice = "convert the safetensors files that it was made from"},
	{MAGIC("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9"), .what = "a file of torch.save() before 1.6",
         .advice = SAVE_SAFETENSORS},
	{MAGIC("version https://git-lfs.github.com/spec/"), .what = "a Git LFS pointer and not the file itself",
         .advice = "run git lfs pull"},
	{MAGIC("\x1f\x8b\x08"), .what = "compressed by gzip", .advice = UNPACK},
	{MAGIC("\x28\xb5\x2f\xfd"), .what = "compressed by zstd", .advice = UNPACK},
	{MAGIC("\xfd"
               "7zXZ\0"),
         .what = "compressed by xz", .advice = UNPACK},
	{MAGIC("BZh"), .what = "compressed by bzip2", .advice = UNPACK},
	{MAGIC("7z\xbc\xaf\x27\x1c"), .what = "a 7-Zip archive", .advice = UNPACK},
	{MAGIC("PK\5\6"), .what = "an empty ZIP archive", .advice = "there are no tensors in it"},
	{MAGIC("PAR1"), .what = "a Parquet file", .advice = "write its columns with numpy.save()"},
	{MAGIC("ARROW1"), .what = "an Arrow file", .advice = "write its columns with numpy.save()"},
	{MAGIC("SQLite format 3"), .what = "an SQLite database", .advice = "there are no tensors in it"},
	{.leaf = ".zarray", .what = "a Zarr array", .advice = "write it with numpy.save()"},
	{.leaf = ".zgroup", .what = "a Zarr group", .advice = "write its arrays with numpy.save()"},
	{.leaf = "zarr.json", .what = "a Zarr array or group", .advice = "write its arrays with numpy.save()"},
	{.leaf = "graph.rfdb/" SHERD_RFDB_CURRENT,
         .what = "a folder of Grafema",
         .advice = "name the database in it, graph.rfdb"},
	{.leaf = "saved_model.pb", .what = "a TensorFlow SavedModel", .advice = "save its weights with safetensors"},
};

static int refuse(const char *what, const char *advice, sherd_error *err)
{
	return sherd_fail(err, SHERD_EUNSUPPORTED, "foreign-format", "this is %s: not read here; %s", what, advice);
}

/* ---- objects */

static bool begins_with_word(sherd_str s, const char *word)
{
	size_t at = 0, n = strlen(word);
	while (at < s.len && s.ptr[at] && strchr(" \t\r\n", s.ptr[at]))
		at++;
	return s.len - at >= n && strncasecmp(s.ptr + at, word, n) == 0;
}

/* The protocol, then an instruction that a pickle may begin with: a number alone would be a chance. */
static bool is_pickle(sherd_str s)
{
	return s.len > 2 && (uint8_t)s.ptr[0] == 0x80 && s.ptr[1] >= 2 && s.ptr[1] <= 5 && s.ptr[2] &&
	       strchr("}]()cX\x8a\x8c\x95", s.ptr[2]);
}

/* A protocol buffer without magic: the version, then a text, who made it. */
static bool is_onnx(sherd_str s)
{
	if (s.len < 5 || s.ptr[0] != 8 || s.ptr[1] < 1 || s.ptr[1] > 20 || s.ptr[2] != 0x12 || s.ptr[3] < 2)
		return false;
	for (size_t i = 0; i < (size_t)s.ptr[3] && 4 + i < s.len; i++)
		if (s.ptr[4 + i] < 0x20 || s.ptr[4 + i] > 0x7e)
			return false;
	return true;
}

/* By the last part of its name: the folder may be the store. */
static bool names_part(const char *key)
{
	static const char *const documents[] = {SHERD_RFDB_CURRENT, SHERD_RFDB_CONFIG, SHERD_RFDB_INDEX,
	                                        SHERD_RFDB_PLAN};
	for (size_t i = 0; i < COUNT_OF(documents); i++)
		if (strcmp(sherd_str_leaf(key), documents[i]) == 0)
			return true;
	char name[SHERD_RFDB_NAME_MAX];
	sherd_rfdb_file file;
	(void)snprintf(name, sizeof(name), SHERD_RFDB_SEGMENTS "%s", sherd_str_leaf(key));
	return sherd_rfdb_file_parse(sherd_str_of(name), &file);
}

int sherd_foreign_part(const char *key, sherd_str first, sherd_error *err)
{
	bool segment = sherd_str_starts(first, "SGV2");
	if (!segment && !names_part(key))
		return SHERD_OK;
	return sherd_fail(err, SHERD_EUNSUPPORTED, "part", "this is a %s of a graph database: name its folder",
	                  segment ? "segment" : "part");
}

int sherd_foreign_object(sherd_str first, sherd_error *err)
{
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		const foreign *f = &formats[i];
		if (f->magic && first.len >= f->magic_len && memcmp(first.ptr, f->magic, f->magic_len) == 0)
			return refuse(f->what, f->advice, err);
	}
	if (first.len >= 8 && memcmp(first.ptr + 4, "TFL3", 4) == 0)
		return refuse("a TensorFlow Lite model", "save its weights with safetensors", err);
	if (is_pickle(first))
		return refuse("a Python pickle", SAVE_SAFETENSORS, err);
	if (is_onnx(first))
		return refuse("an ONNX model", "save its weights with safetensors", err);
	if (begins_with_word(first, "<!doctype html") || begins_with_word(first, "<html"))
		return refuse("a web page, perhaps the answer to a download that failed", "download the file again",
		              err);
	return begins_with_word(first, "<?xml") ? refuse("an XML document", "there are no tensors in it", err)
	                                        : SHERD_OK;
}

/* ---- archives. Only names are wanted, so that what is odd about an archive does not matter. */

enum { MOST_DIRECTORY = 1 << 20, END = 22, ENTRY = 46 };

static size_t get_u16(const uint8_t *p)
{
	return (size_t)(p[0] | p[1] << 8);
}

/* Where the directory lies, by the last end record of the tail; nothing when there is none. */
static void find_directory(const uint8_t *tail, size_t len, uint64_t size, uint64_t *at, uint64_t *bytes)
{
	*at = *bytes = 0;
	for (size_t i = len >= END ? len - END + 1 : 0; i-- > 0;) {
		if (memcmp(tail + i, "PK\5\6", 4) != 0)
			continue;
		*bytes = sherd_get_u32(tail + i + 12);
		*at = sherd_get_u32(tail + i + 16);
		/* A large archive tells it in another record, whose end stands before this one. */
		if (*at == UINT32_MAX && i >= 76 && memcmp(tail + i - 76, "PK\6\6", 4) == 0) {
			*bytes = sherd_get_u64(tail + i - 76 + 40);
			*at = sherd_get_u64(tail + i - 76 + 48);
		}
		if (*at > size || *bytes > size - *at)
			*at = *bytes = 0;
		return;
	}
}

typedef struct names {
	bool ours, others_than_npy;
	const foreign *known;
} names;

static void see_name(names *n, sherd_str name)
{
	sherd_sdnb_name shard;
	n->ours |= sherd_str_is(name, "model") || sherd_str_is(name, "model" SHERD_SDNB_SUFFIX) ||
	           sherd_sdnb_name_parse(name, &shard);
	n->others_than_npy |= !sherd_str_ends(name, ".npy");
	for (size_t i = 0; i < COUNT_OF(formats) && !n->known; i++) {
		const char *entry = formats[i].entry;
		if (entry && (sherd_str_is(name, entry) || (strchr("/.", entry[0]) && sherd_str_ends(name, entry))))
			n->known = &formats[i];
	}
}

static void see_directory(names *n, const uint8_t *data, size_t len)
{
	for (size_t at = 0; len - at >= ENTRY && memcmp(data + at, "PK\1\2", 4) == 0;) {
		size_t name = get_u16(data + at + 28), more = get_u16(data + at + 30),
		       comment = get_u16(data + at + 32);
		if (name > len - at - ENTRY)
			return;
		see_name(n, (sherd_str){(const char *)data + at + ENTRY, name});
		if (more + comment > len - at - ENTRY - name)
			return;
		at += ENTRY + name + more + comment;
	}
}

/* The first entry's own head, for archives that were cut off. */
static int see_first(names *n, const sherd_reader *reader, sherd_error *err)
{
	uint8_t raw[SHERD_ZIP_LOCAL + 255];
	uint64_t size = sherd_reader_size(reader);
	size_t len = size < sizeof(raw) ? (size_t)size : sizeof(raw);
	TRY(sherd_reader_at(reader, 0, raw, len, err));
	if (len < SHERD_ZIP_LOCAL)
		return SHERD_OK;
	size_t name = get_u16(raw + 26);
	if (name <= len - SHERD_ZIP_LOCAL)
		see_name(n, (sherd_str){(const char *)raw + SHERD_ZIP_LOCAL, name});
	return SHERD_OK;
}

int sherd_foreign_archive(const sherd_reader *reader, bool *ours, sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader), at, bytes;
	size_t len = size < SHERD_ZIP_TAIL ? (size_t)size : SHERD_ZIP_TAIL;
	names n = {0};
	SHERD_AUTO(void, free) tail = malloc(len);
	if (!tail)
		return sherd_fail_nomem(err);
	TRY(sherd_reader_at(reader, size - len, tail, len, err));
	find_directory(tail, len, size, &at, &bytes);
	TRY(see_first(&n, reader, err));
	if (bytes) {
		size_t have = bytes < MOST_DIRECTORY ? (size_t)bytes : MOST_DIRECTORY;
		SHERD_AUTO(void, free) directory = malloc(have);
		if (!directory)
			return sherd_fail_nomem(err);
		TRY(sherd_reader_at(reader, at, directory, have, err));
		see_directory(&n, directory, have);
	}
	*ours = n.ours;
	if (n.ours || !n.known || (n.known->entry[0] == '.' && n.others_than_npy))
		return SHERD_OK;
	return refuse(n.known->what, n.known->advice, err);
}

/* ---- folders */

int sherd_foreign_folder(sherd_store *store, const char *folder, sherd_error *err)
{
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		SHERD_AUTO_BUF key = {0};
		sherd_stat stat;
		sherd_error failure;
		if (!formats[i].leaf)
			continue;
		sherd_buf_printf(&key, "%s%s%s", folder, *folder ? "/" : "", formats[i].leaf);
		sherd_buf_u8(&key, 0);
		TRY(sherd_buf_check(&key, err));
		int rc = sherd_store_stat(store, (const char *)key.data, &stat, &failure);
		if (rc == SHERD_OK)
			return refuse(formats[i].what, formats[i].advice, err);
		if (rc == SHERD_ENOTFOUND || rc == SHERD_EINVAL)
			continue;
		if (err)
			*err = failure;
		return rc;
	}
	return SHERD_OK;
}

int sherd_foreign_index(sherd_store *store, const char *folder, sherd_error *err)
{
	rows_files files;
	TRY(sherd_rows_files_open(&files, store, folder, SHERD_SAFETENSORS_INDEX_SUFFIX, err));
	int rc = SHERD_OK;
	if (files.count)
		rc = sherd_fail(err, SHERD_ENOTFOUND, "is-folder", "this is a folder: name the index in it, %.128s%s",
		                files.list[0].name, files.count > 1 ? ", or another" : "");
	sherd_rows_files_done(&files);
	return rc;
}
