/* sherd/format.h - what is known of each format: its names, what it can hold, what a writer of it takes. */
#ifndef SHERD_FORMAT_H
#define SHERD_FORMAT_H

#include <sherd/dtype.h>

#include <stdbool.h>

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
	SHERD_FORMAT_SDNB,                 /* a SameDiff graph with its arrays after it, in one file or several */
	SHERD_FORMAT_SDZ,                  /* a ZIP archive of those */
	SHERD_FORMAT_RFDB,                 /* a folder that is a graph database */
	SHERD_FORMAT_NPY_FOLDER,           /* NumPy files and the manifest that lists them */
	SHERD_FORMAT_JSONL,                /* nodes and edges of a graph, one a line */
	SHERD_FORMAT_NPZ,                  /* NumPy files in a ZIP archive */
	SHERD_FORMAT_GGUF,                 /* tensors and values of ggml and llama.cpp, in one file or several */
	SHERD_FORMAT_TORCH,                /* torch.save(): a pickle and storages in a ZIP archive */
	SHERD_FORMAT_TORCH_LEGACY,         /* torch.save() before 1.6: pickles, then storages */
	SHERD_FORMAT_DCP,                  /* a folder of torch.distributed.checkpoint */
	SHERD_FORMAT_ONNX,                 /* initialisers of an ONNX model */
	SHERD_FORMAT_HUGGINGFACE           /* a folder with a model, a run of checkpoints, or a cache of one */
} sherd_format;

/* What a format is for: programs choose by this and not by the format. */
typedef enum sherd_format_kind {
	SHERD_KIND_TENSORS = 1,
	SHERD_KIND_MODEL,      /* a graph of operations, and its arrays */
	SHERD_KIND_CHECKPOINT, /* tensors, and what is known of the training */
	SHERD_KIND_ROWS,
	SHERD_KIND_GRAPH,   /* a graph database */
	SHERD_KIND_RECORDS, /* nodes and edges as text */
	SHERD_KIND_FOREIGN  /* known by name, and not read here */
} sherd_format_kind;

/* What a format has a place for. */
enum {
	SHERD_HOLDS_PAIRS = 1u << 0,       /* pairs of text */
	SHERD_HOLDS_GRAPH = 1u << 1,       /* operations and variables */
	SHERD_HOLDS_TRAINING = 1u << 2,    /* step, epoch, optimizer */
	SHERD_HOLDS_PIECES = 1u << 3,      /* tensors that are cut between files */
	SHERD_HOLDS_MANY = 1u << 4,        /* more than one tensor */
	SHERD_HOLDS_EMPTY_NAMES = 1u << 5, /* a tensor whose name is "" */
	SHERD_HOLDS_BLOCKS = 1u << 6,      /* elements in ggml's blocks */
	SHERD_HOLDS_OPAQUE = 1u << 7,      /* types that are known by their names alone, or some of them */
	SHERD_HOLDS_TYPED = 1u << 8        /* pairs with types, see sherd/value.h; elsewhere they become texts */
};

/* What writing it takes. */
enum {
	SHERD_TAKES_SHARDS = 1u << 0,      /* several files */
	SHERD_TAKES_COMPRESSION = 1u << 1, /* a codec and its level */
	SHERD_TAKES_REPLACE = 1u << 2,     /* another one in its place */
	SHERD_TAKES_DIGEST = 1u << 3       /* a choice of what it is verified by */
};

typedef enum sherd_ending_use {
	SHERD_ENDING_OBJECT = 0, /* the path is the object */
	SHERD_ENDING_HEAD,       /* the set is named by what stands before it; with it, its head is */
	SHERD_ENDING_SHARDS      /* as OBJECT; several files are named <base>.shard<i>-of-<n><ending> */
} sherd_ending_use;

/* How paths end that are meant to be of the format. */
typedef struct sherd_format_ending {
	const char *text;
	sherd_ending_use use;
} sherd_format_ending;

#define SHERD_DTYPE_BIT(dtype) (UINT64_C(1) << (dtype))

typedef struct sherd_format_info {
	sherd_format id; /* UNKNOWN for those that are not read here */
	sherd_format_kind kind;
	const char *name;               /* "samediff-container"; of foreign ones NULL */
	const char *short_name;         /* "sdc"; or NULL */
	const char *noun;               /* "a SameDiff container", for sentences */
	const char *advice;             /* of foreign ones: what to do with it */
	sherd_format_ending endings[4]; /* at most three: the first that has no text ends them */
	sherd_format several;           /* for one tensor only: what holds several of these; else UNKNOWN */
	bool folder;                    /* it is a folder, and its head lies inside */
	bool written;                   /* sherd_convert() writes it */
	unsigned holds;                 /* SHERD_HOLDS_* */
	unsigned takes;                 /* SHERD_TAKES_* */
	uint64_t dtypes;                /* SHERD_DTYPE_BIT() of each below SHERD_DTYPE_COUNT that it can hold */
	uint32_t most_dims;             /* of a tensor */
	uint64_t most_name;             /* bytes of a tensor's name */
} sherd_format_info;

/* NULL for a value that names no format. */
SHERD_API const sherd_format_info *sherd_format_describe(sherd_format format);
/* All formats, in the order in which they are asked; NULL past the end. */
SHERD_API const sherd_format_info *sherd_format_at(size_t index);

/* Has the format a place for elements of this type? By dtypes and holds. */
SHERD_API bool sherd_format_holds(const sherd_format_info *format, sherd_dtype dtype);

/* "checkpoint", "safetensors-index", ...; "unknown" for anything else. */
SHERD_API const char *sherd_format_name(sherd_format format);
/* By its name or its short name; SHERD_FORMAT_UNKNOWN when there is none. */
SHERD_API sherd_format sherd_format_by_name(const char *name);
/* The format that a path ends like, foreign ones too, and which of its endings that is; NULL when none does. */
SHERD_API const sherd_format_info *sherd_format_by_path(const char *path, const sherd_format_ending **ending);

SHERD_END_DECLS

#endif
