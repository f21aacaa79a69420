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
#include "engine/tensors/gguf.h"
#include "engine/tensors/huggingface.h"
#include "engine/tensors/npz.h"
#include "engine/tensors/onnx.h"
#include "engine/torch/format.h"
#include "format/rfdb/name.h"
#include "format/zip.h"

/* A format of others is a line: what it is, how it is known, what to do instead. */
#define FOREIGN(what, instead, ...)                                                                           \
	(&(const shd_format_entry){.info = {.kind = SHERD_KIND_FOREIGN, .noun = (what), .advice = (instead)}, \
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

const shd_format_entry *const shd_formats[] = {
	&shd_format_checkpoint,
	&shd_format_checkpoint_shard,
	&shd_format_safetensors_index,
	&shd_format_sdnb,
	&shd_format_rfdb,
	&shd_format_npy,
	&shd_format_npy_folder,
	&shd_format_dcp,
	&shd_format_rows_bf16,
	&shd_format_rows,
	&shd_format_container,
	&shd_format_nd4j_array,
	&shd_format_gguf,
	&shd_format_safetensors,
	&shd_format_samediff,
	&shd_format_jsonl,

	&shd_format_torch,
	FOREIGN("a Deeplearning4j model", "save its parameters with Nd4j.saveBinary()",
                .zip_entry = "coefficients.bin"),
	FOREIGN("a Keras model", SAVE_WEIGHTS, .zip_entry = "model.weights.h5", ENDING(".keras")),
	FOREIGN("an Office document", NO_TENSORS, .zip_entry = "[Content_Types].xml"),
	FOREIGN("a Java archive", NO_TENSORS, .zip_entry = "META-INF/MANIFEST.MF"),
	FOREIGN("an OpenDocument or EPUB file", NO_TENSORS, .zip_entry = "mimetype"),
	&shd_format_npz,
	&shd_format_sdz, /* an archive that is nothing else may hold a model under any name */
	FOREIGN("a ZIP archive with no model in it", UNPACK, MAGIC(SHD_ZIP_MAGIC)),
	FOREIGN("an empty ZIP archive", NO_TENSORS, MAGIC("PK\5\6")),
	FOREIGN("an HDF5 file", "write its arrays with safetensors or numpy.save()", MAGIC("\x89HDF\r\n\x1a\n"),
                ENDINGS(".h5", ".hdf5")),
	&shd_format_torch_legacy,
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
	FOREIGN("a TensorFlow Lite model", SAVE_WEIGHTS, .probe = shd_probe_tflite, ENDING(".tflite")),
	FOREIGN("a Python pickle", SAVE_SAFETENSORS, .probe = shd_probe_pickle, .refuse = shd_torch_refuse_pickle,
                ENDING(".pkl")),
	&shd_format_onnx,
	FOREIGN("a web page, perhaps the answer to a download that failed", "download the file again",
                .probe = shd_probe_html),
	FOREIGN("an XML document", NO_TENSORS, .probe = shd_probe_xml),
	FOREIGN("a Zarr array", "write it with numpy.save()", .leaf = ".zarray", ENDING(".zarr")),
	FOREIGN("a Zarr group", SAVE_ARRAYS, .leaf = ".zgroup"),
	FOREIGN("a Zarr array or group", SAVE_ARRAYS, .leaf = "zarr.json"),
	FOREIGN("a folder of Grafema", "name the database in it, graph.rfdb", .leaf = "graph.rfdb/" SHD_RFDB_CURRENT),
	FOREIGN("a TensorFlow SavedModel", SAVE_WEIGHTS, .leaf = "saved_model.pb"),
	FOREIGN("raw bytes", SAVE_SAFETENSORS, ENDING(".bin")),
	FOREIGN("a checkpoint of another program", SAVE_SAFETENSORS, ENDING(".ckpt")),
	FOREIGN("a MessagePack file", SAVE_WEIGHTS, ENDING(".msgpack")),

	&shd_format_rfdb_segment,
	&shd_format_rfdb_part,
	&shd_format_checkpoint_unfinished,
	&shd_format_huggingface,
	&shd_format_index_folder,
	&(const shd_format_entry){
		.info = {.noun = "an empty file", .advice = "a copy or download that did not finish?"},
		.is_damaged = shd_is_empty,
		.refusal = SHERD_ECORRUPT,
		.reason = "empty"},
	NULL,
};
