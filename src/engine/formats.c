/* engine/formats.c - every format that is known here, in the order in which they are asked.
 *
 * Sets go by what lies beside their base first, then by what lies in a folder. Of objects, those with a magic of their
 * own come before those that are recognised by their structure, and ours before those of others where they could be
 * both. */
#include "engine/ckpt/format.h"
#include "engine/graph/format.h"
#include "engine/model/format.h"
#include "engine/rows/format.h"
#include "engine/tensors/files.h"
#include "engine/tensors/foreign.h"
#include "format/rfdb/name.h"
#include "format/zip.h"

/* A format of others is a line: what it is, how it is known, what to do instead. */
#define FOREIGN(what, instead, ...)                                                                             \
	(&(const sherd_format_entry){.info = {.kind = SHERD_KIND_FOREIGN, .noun = (what), .advice = (instead)}, \
	                             .refusal = SHERD_EUNSUPPORTED,                                             \
	                             .reason = "foreign-format",                                                \
	                             __VA_ARGS__})
#define MAGIC(text) .magic = {(text), sizeof(text) - 1}
#define ENDING(text) .info.endings = {{(text), SHERD_ENDING_OBJECT}}
#define ENDINGS(one, two) .info.endings = {{(one), SHERD_ENDING_OBJECT}, {(two), SHERD_ENDING_OBJECT}}

#define SAVE_SAFETENSORS "save it with safetensors.torch.save_file()"
#define SAVE_WEIGHTS "save its weights with safetensors"
#define SAVE_ARRAYS "write its arrays with numpy.save()"
#define SAVE_COLUMNS "write its columns with numpy.save()"
#define UNPACK "unpack it first"
#define NO_TENSORS "there are no tensors in it"

const sherd_format_entry *const sherd_formats[] = {
	&sherd_format_checkpoint,
	&sherd_format_checkpoint_shard,
	&sherd_format_safetensors_index,
	&sherd_format_sdnb,
	&sherd_format_rfdb,
	&sherd_format_npy,
	&sherd_format_npy_folder,
	&sherd_format_rows_bf16,
	&sherd_format_rows,
	&sherd_format_container,
	&sherd_format_nd4j_array,
	&sherd_format_safetensors,
	&sherd_format_samediff,
	&sherd_format_jsonl,

	FOREIGN("a file of torch.save()", SAVE_SAFETENSORS, .zip_entry = "/data.pkl", ENDINGS(".pt", ".pth")),
	FOREIGN("a Deeplearning4j model", "save its parameters with Nd4j.saveBinary()",
                .zip_entry = "coefficients.bin"),
	FOREIGN("a Keras model", SAVE_WEIGHTS, .zip_entry = "model.weights.h5", ENDING(".keras")),
	FOREIGN("an Office document", NO_TENSORS, .zip_entry = "[Content_Types].xml"),
	FOREIGN("a Java archive", NO_TENSORS, .zip_entry = "META-INF/MANIFEST.MF"),
	FOREIGN("an OpenDocument or EPUB file", NO_TENSORS, .zip_entry = "mimetype"),
	FOREIGN("a NumPy archive (.npz)", "save its arrays with numpy.save(), or unzip it", .probe = sherd_probe_npz,
                ENDING(".npz")),
	&sherd_format_sdz, /* an archive that is nothing else may hold a model under any name */
	FOREIGN("a ZIP archive with no model in it", UNPACK, MAGIC(SHERD_ZIP_MAGIC)),
	FOREIGN("an empty ZIP archive", NO_TENSORS, MAGIC("PK\5\6")),
	FOREIGN("an HDF5 file", "write its arrays with safetensors or numpy.save()", MAGIC("\x89HDF\r\n\x1a\n"),
                ENDINGS(".h5", ".hdf5")),
	FOREIGN("a GGUF file", "convert the safetensors files that it was made from", MAGIC("GGUF"), ENDING(".gguf")),
	FOREIGN("a file of torch.save() before 1.6", SAVE_SAFETENSORS, MAGIC("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9")),
	FOREIGN("a Git LFS pointer and not the file itself", "run git lfs pull",
                MAGIC("version https://git-lfs.github.com/spec/")),
	FOREIGN("compressed by gzip", UNPACK, MAGIC("\x1f\x8b\x08")),
	FOREIGN("compressed by zstd", UNPACK, MAGIC("\x28\xb5\x2f\xfd")),
	FOREIGN("compressed by xz", UNPACK,
                MAGIC("\xfd"
                      "7zXZ\0")),
	FOREIGN("compressed by bzip2", UNPACK, MAGIC("BZh")),
	FOREIGN("a 7-Zip archive", UNPACK, MAGIC("7z\xbc\xaf\x27\x1c")),
	FOREIGN("a Parquet file", SAVE_COLUMNS, MAGIC("PAR1")),
	FOREIGN("an Arrow file", SAVE_COLUMNS, MAGIC("ARROW1")),
	FOREIGN("an SQLite database", NO_TENSORS, MAGIC("SQLite format 3")),
	FOREIGN("a TensorFlow Lite model", SAVE_WEIGHTS, .probe = sherd_probe_tflite, ENDING(".tflite")),
	FOREIGN("a Python pickle", SAVE_SAFETENSORS, .probe = sherd_probe_pickle, ENDING(".pkl")),
	FOREIGN("an ONNX model", SAVE_WEIGHTS, .probe = sherd_probe_onnx, ENDING(".onnx")),
	FOREIGN("a web page, perhaps the answer to a download that failed", "download the file again",
                .probe = sherd_probe_html),
	FOREIGN("an XML document", NO_TENSORS, .probe = sherd_probe_xml),
	FOREIGN("a Zarr array", "write it with numpy.save()", .leaf = ".zarray", ENDING(".zarr")),
	FOREIGN("a Zarr group", SAVE_ARRAYS, .leaf = ".zgroup"),
	FOREIGN("a Zarr array or group", SAVE_ARRAYS, .leaf = "zarr.json"),
	FOREIGN("a folder of Grafema", "name the database in it, graph.rfdb", .leaf = "graph.rfdb/" SHERD_RFDB_CURRENT),
	FOREIGN("a TensorFlow SavedModel", SAVE_WEIGHTS, .leaf = "saved_model.pb"),
	FOREIGN("raw bytes", SAVE_SAFETENSORS, ENDING(".bin")),
	FOREIGN("a checkpoint of another program", SAVE_SAFETENSORS, ENDING(".ckpt")),
	FOREIGN("a MessagePack file", SAVE_WEIGHTS, ENDING(".msgpack")),

	&sherd_format_rfdb_segment,
	&sherd_format_rfdb_part,
	&sherd_format_checkpoint_unfinished,
	&sherd_format_index_folder,
	&(const sherd_format_entry){
		.info = {.noun = "an empty file", .advice = "a copy or download that did not finish?"},
		.is_damaged = sherd_is_empty,
		.refusal = SHERD_ECORRUPT,
		.reason = "empty"},
	NULL,
};
