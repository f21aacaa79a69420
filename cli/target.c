#include "target.h"

#include "clock.h"
#include "doc.h"
#include "rows.h"
#include "text.h"

#include <sherd/ckpt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How paths end, and what is to be cut off to get the key that sherd_convert() wants. */
static const struct ending {
	const char *end;
	sherd_format format;
	bool cut;
} endings[] = {
	{".safetensors.index.json", SHERD_FORMAT_SAFETENSORS_INDEX, true},
	{".safetensors", SHERD_FORMAT_SAFETENSORS, false},
	{".metadata.json", SHERD_FORMAT_CHECKPOINT, true},
	{".npy", SHERD_FORMAT_NPY, false},
	{".sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, false},
	{".fb", SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, false},
	{".sdnb", SHERD_FORMAT_SDNB, false},
	{".sdz", SHERD_FORMAT_SDZ, false},
	{"/", SHERD_FORMAT_NPY_FOLDER, true},
};

/* Endings of formats that others write and we do not, and what to write instead. */
static const struct foreign {
	const char *end, *name;
} foreigners[] = {
	{".gguf", "GGUF"},
	{".pt", "PyTorch's format"},
	{".pth", "PyTorch's format"},
	{".bin", "raw bytes"},
	{".ckpt", "a checkpoint of another program"},
	{".h5", "HDF5"},
	{".hdf5", "HDF5"},
	{".keras", "Keras' format"},
	{".onnx", "ONNX"},
	{".npz", "a NumPy archive"},
	{".pkl", "a pickle"},
	{".zarr", "Zarr"},
	{".msgpack", "MessagePack"},
	{".tflite", "TensorFlow Lite"},
};

int sherd_target_refuse_missing(int rc, sherd_error *err)
{
	size_t used = rc < 0 ? strlen(err->message) : 0;
	if (rc < 0)
		(void)snprintf(err->message + used, sizeof(err->message) - used, " (--allow-missing leaves them out)");
	return rc;
}

static const struct ending *ending_of(const char *path)
{
	size_t len = strlen(path);
	for (size_t i = 0; i < COUNT_OF(endings); i++) {
		size_t n = strlen(endings[i].end);
		if (len > n && strcmp(path + len - n, endings[i].end) == 0)
			return &endings[i];
	}
	return NULL;
}

int sherd_target_compression(const char *text, sherd_compression *compress, int *level, sherd_error *err)
{
	static const char deflate[] = "deflate";
	size_t len = sizeof(deflate) - 1;
	if (!text || strcmp(text, "none") == 0)
		return SHERD_OK;
	if (strncmp(text, deflate, len) == 0 && (!text[len] || text[len] == ':')) {
		char *end = NULL;
		long value = text[len] ? strtol(text + len + 1, &end, 10) : 1;
		if (value >= 1 && value <= 12 && (!end || (end > text + len + 1 && !*end))) {
			*compress = SHERD_COMPRESS_DEFLATE;
			*level = (int)value;
			return SHERD_OK;
		}
	}
	return sherd_cli_usage(err, "--compress must be none, deflate or deflate:LEVEL with a level from 1 to 12");
}

/* What of the options the format has no use for is a mistake. */
static int check_target(const sherd_target *t, sherd_error *err)
{
	bool sharded = t->format == SHERD_FORMAT_SAFETENSORS_INDEX || t->format == SHERD_FORMAT_CHECKPOINT ||
	               t->format == SHERD_FORMAT_SAMEDIFF_CONTAINER || t->format == SHERD_FORMAT_SDNB ||
	               t->format == SHERD_FORMAT_SDZ;
	if (t->shards > 1 && !sharded)
		return sherd_cli_usage(err, "--shards goes with checkpoint, index, sdc, sdnb and sdz only");
	if (t->compress && t->format != SHERD_FORMAT_SAMEDIFF_CONTAINER)
		return sherd_cli_usage(err, "--compress goes with sdc only");
	return SHERD_OK;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);
	return len >= n && strcmp(text + len - n, end) == 0;
}

/* Neither the word nor the path tells a format that is written here. Only convert writes graphs, too. */
static int refuse_format(const sherd_args *args, const char *to, const char *path, sherd_error *err)
{
	bool graphs = strcmp(args->command->name, "convert") == 0;
	for (size_t i = 0; i < COUNT_OF(foreigners); i++)
		if (to ? strcmp(foreigners[i].end + 1, to) == 0 : ends_with(path, foreigners[i].end))
			return sherd_cli_usage(err,
			                       "%s is not written here; write .safetensors, which most programs read",
			                       foreigners[i].name);
	if (to)
		return sherd_cli_usage(err,
		                       "--to must be safetensors, index, npy, npy-folder, checkpoint, sdc, fb, sdnb%s",
		                       graphs ? ", sdz, rows, rows-bf16, jsonl or rfdb" : ", sdz, rows or rows-bf16");
	return sherd_cli_usage(err,
	                       "%.128s does not tell the format: it ends neither in .safetensors, "
	                       ".safetensors.index.json, .npy, .metadata.json, .sdc, .fb, .sdnb, .sdz%s nor /%s",
	                       path, graphs ? ", .jsonl, .rfdb" : "",
	                       sherd_command_takes(args->command, "to") ? " (see --to)" : "");
}

int sherd_target_take(sherd_target *target, const sherd_args *args, const char *path, sherd_error *err)
{
	const char *to = sherd_args_text(args, "to");
	const struct ending *e = ending_of(path);
	*target = (sherd_target){.path = path,
	                         .replace = sherd_args_has(args, "replace"),
	                         .drop_graph = sherd_args_has(args, "drop-graph"),
	                         .drop_pairs = sherd_args_has(args, "drop-metadata"),
	                         .allow_missing = sherd_args_has(args, "allow-missing"),
	                         .without_updater = sherd_args_has(args, "without-updater")};
	target->format = to ? sherd_format_by_name(to) : e ? e->format : SHERD_FORMAT_UNKNOWN;
	if (target->format == SHERD_FORMAT_NPY && !ends_with(path, ".npy"))
		target->format = SHERD_FORMAT_NPY_FOLDER;
	TRY(sherd_args_count(args, "shards", 1, &target->shards, err));
	TRY(sherd_target_compression(sherd_args_text(args, "compress"), &target->compress, &target->level, err));
	target->as_it_was = !sherd_args_text(args, "compress");
	switch (target->format) {
	case SHERD_FORMAT_SAFETENSORS_INDEX:
	case SHERD_FORMAT_CHECKPOINT:
	case SHERD_FORMAT_SAFETENSORS:
	case SHERD_FORMAT_NPY:
	case SHERD_FORMAT_NPY_FOLDER:
	case SHERD_FORMAT_SAMEDIFF_CONTAINER:
	case SHERD_FORMAT_SAMEDIFF_FLATBUFFERS:
	case SHERD_FORMAT_SDNB:
	case SHERD_FORMAT_ROWS:
	case SHERD_FORMAT_ROWS_BF16:
	case SHERD_FORMAT_SDZ: return check_target(target, err);
	default: break;
	}
	return refuse_format(args, to, path, err);
}

/* The path without the ending that the format brings along. */
static char *base_of(const sherd_target *target)
{
	const struct ending *e = ending_of(target->path);
	size_t len = strlen(target->path);
	if (e && e->format == target->format && e->cut)
		len -= strlen(e->end);
	bool rows = target->format == SHERD_FORMAT_ROWS || target->format == SHERD_FORMAT_ROWS_BF16;
	while (rows && len > 1 && target->path[len - 1] == '/')
		len--;
	return strndup(target->path, len);
}

/* The object that says the target is there: free() it. The target itself when it is one file or a folder. */
static char *head_of(const sherd_target *target)
{
	bool sharded = target->shards > 1;
	const char *end = target->format == SHERD_FORMAT_SDNB ? ".sdnb" : ".sdc";
	char *base = base_of(target), *head = NULL;
	int n = -1;
	if (!base)
		return NULL;
	if (target->format == SHERD_FORMAT_SAFETENSORS_INDEX) {
		n = asprintf(&head, "%s.safetensors.index.json", base);
	} else if (target->format == SHERD_FORMAT_CHECKPOINT) {
		n = asprintf(&head, "%s.metadata.json", base);
	} else if (sharded &&
	           (target->format == SHERD_FORMAT_SDNB || target->format == SHERD_FORMAT_SAMEDIFF_CONTAINER)) {
		size_t len = strlen(base) - (ends_with(base, end) ? strlen(end) : 0);
		n = asprintf(&head, "%.*s.shard0-of-%u%s", (int)len, base, target->shards, end);
	} else {
		n = asprintf(&head, "%s", target->path);
	}
	free(base);
	return n < 0 ? NULL : head;
}

size_t sherd_target_count(const sherd_bundle *bundle, bool without_updater, uint64_t *bytes)
{
	static const char updater[] = "@updater/";
	size_t count = 0;
	*bytes = 0;
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(bundle, i);
		if (without_updater && strncmp(t->name, updater, sizeof(updater) - 1) == 0)
			continue;
		*bytes += t->bytes;
		count++;
	}
	return count;
}

/* written is what lies on the disk; 0: about what the tensors have. */
/* What the library told of a target. */
typedef struct written_counts {
	uint64_t bytes;      /* 0: unknown */
	uint64_t overflowed; /* values of rows */
} written_counts;

static bool is_rows(const sherd_target *target)
{
	return target->format == SHERD_FORMAT_ROWS || target->format == SHERD_FORMAT_ROWS_BF16;
}

static int tell(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, const written_counts *written,
                sherd_error *err)
{
	uint64_t bytes;
	size_t count = sherd_target_count(bundle, target->without_updater, &bytes);
	char size[SHERD_TEXT_SIZE];
	char *head = head_of(target);
	if (!head)
		return sherd_cli_no_memory(err);
	bool other = strcmp(head, target->path) != 0;
	sherd_text_size(written->bytes ? written->bytes : bytes, size);
	sherd_out_note(&cli->out, "%s: %s, %zu tensor%s, %s written%s%s", target->path,
	               sherd_format_name(target->format), count, sherd_text_plural(count), size, other ? " as " : "",
	               other ? head : "");
	/* Rows become F32 unless all are of one smaller type, which can hold them. */
	sherd_rows_warn_of_overflow(cli, target->path, written->overflowed,
	                            target->format == SHERD_FORMAT_ROWS_BF16 ? SHERD_BF16 : SHERD_F32);
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_doc_put_text(&doc, "path", target->path);
	sherd_doc_put_text(&doc, "head", head);
	sherd_doc_put_text(&doc, "format", sherd_format_name(target->format));
	sherd_doc_put_u64(&doc, "tensors", count);
	sherd_doc_put_u64(&doc, "bytes", bytes);
	free(head);
	if (written->bytes)
		sherd_doc_put_u64(&doc, "written", written->bytes);
	if (is_rows(target))
		sherd_doc_put_u64(&doc, "overflowed", written->overflowed);
	return sherd_doc_end(&doc, SHERD_OK, err);
}

static int convert(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, const sherd_place *place,
                   const sherd_clock *clock, written_counts *written, sherd_error *err)
{
	sherd_convert_options options = {.shards = target->shards,
	                                 .replace = target->replace,
	                                 .drop_graph = target->drop_graph,
	                                 .drop_pairs = target->drop_pairs,
	                                 .allow_missing = target->allow_missing,
	                                 .without_updater = target->without_updater,
	                                 .compress = target->compress,
	                                 .level = target->level,
	                                 .as_it_was = target->as_it_was,
	                                 .time_ns = clock->time_ns,
	                                 .timed = true,
	                                 .framework = SHERD_CLI_FRAMEWORK,
	                                 .overflowed = &written->overflowed,
	                                 .written = &written->bytes,
	                                 .pool = cli->pool,
	                                 .progress = &cli->progress};
	return sherd_convert(bundle, place->store, place->key, target->format, &options, err);
}

/* With the set id that the clock gives; the library's own would be random. */
static int save(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, const sherd_place *place,
                const sherd_clock *clock, sherd_error *err)
{
	sherd_set_id id;
	sherd_ckpt_save_options options = {.world = target->shards ? target->shards : 1,
	                                   .time_ns = clock->time_ns,
	                                   .replace = target->replace,
	                                   .pool = cli->pool,
	                                   .progress = &cli->progress};
	TRY(sherd_clock_set_id(clock, cli, place, bundle, false, &options, &id, err));
	options.set_id = &id;
	return sherd_ckpt_save_bundle(place->store, place->key, bundle, false, &options, err);
}

int sherd_target_write(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, sherd_error *err)
{
	sherd_place place;
	sherd_clock clock;
	written_counts written = {0};
	TRY(sherd_clock_read(&clock, err));
	char *base = base_of(target);
	int rc = base ? sherd_place_open(&place, base, true, err) : sherd_cli_no_memory(err);
	free(base);
	TRY(rc);
	if (target->format == SHERD_FORMAT_CHECKPOINT)
		rc = save(cli, target, bundle, &place, &clock, err);
	else
		rc = convert(cli, target, bundle, &place, &clock, &written, err);
	(void)sherd_place_blame(&place, rc, err);
	sherd_place_close(&place);
	return rc < 0 ? rc : tell(cli, target, bundle, &written, err);
}
