#include "target.h"

#include "clock.h"
#include "doc.h"
#include "place.h"
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
	{".fb", SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, false},
	{".sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, false},
	{".sdnb", SHERD_FORMAT_SDNB, false},
	{".sdz", SHERD_FORMAT_SDZ, false},
	{"/", SHERD_FORMAT_NPY, true},
};

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

int sherd_target_take(sherd_target *target, const sherd_args *args, const char *path, sherd_error *err)
{
	const char *to = sherd_args_text(args, "to");
	const struct ending *e = ending_of(path);
	*target = (sherd_target){.path = path,
	                         .replace = sherd_args_has(args, "replace"),
	                         .drop_graph = sherd_args_has(args, "drop-graph")};
	target->format = to ? sherd_format_by_name(to) : e ? e->format : SHERD_FORMAT_UNKNOWN;
	TRY(sherd_args_count(args, "shards", 1, &target->shards, err));
	switch (target->format) {
	case SHERD_FORMAT_SAFETENSORS_INDEX:
	case SHERD_FORMAT_SDNB:
	case SHERD_FORMAT_SDZ:
	case SHERD_FORMAT_CHECKPOINT: return SHERD_OK;
	case SHERD_FORMAT_SAFETENSORS:
	case SHERD_FORMAT_NPY:
	case SHERD_FORMAT_SAMEDIFF_FLATBUFFERS:
	case SHERD_FORMAT_SAMEDIFF_CONTAINER:
		return target->shards < 2
		               ? SHERD_OK
		               : sherd_cli_usage(err,
		                                 "--shards goes with checkpoint, safetensors-index, sdnb and sdz only");
	default: break;
	}
	if (to)
		return sherd_cli_usage(err, "--to must be safetensors, safetensors-index, npy, checkpoint, "
		                            "samediff-container, samediff-flatbuffers, sdnb or sdz");
	return sherd_cli_usage(err,
	                       "%.128s does not tell the format: it ends neither in .safetensors, "
	                       ".safetensors.index.json, .npy, .fb, .sdc, .sdnb, .sdz, .metadata.json nor /",
	                       path);
}

/* The path without the ending that the format brings along. */
static char *base_of(const sherd_target *target)
{
	const struct ending *e = ending_of(target->path);
	size_t len = strlen(target->path);
	if (e && e->cut && e->format == target->format)
		len -= strlen(e->end);
	return strndup(target->path, len);
}

static int tell(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, sherd_error *err)
{
	uint64_t bytes = 0;
	size_t count = sherd_bundle_count(bundle);
	char size[SHERD_TEXT_SIZE];
	for (size_t i = 0; i < count; i++)
		bytes += sherd_bundle_tensor(bundle, i)->bytes;
	sherd_text_size(bytes, size);
	sherd_out_note(&cli->out, "%s: %s, %zu tensor%s, %s written", target->path, sherd_format_name(target->format),
	               count, count == 1 ? "" : "s", size);
	if (!cli->out.json)
		return SHERD_OK;
	sherd_doc doc = {0};
	sherd_doc_open(&doc, '{');
	sherd_doc_put_text(&doc, "path", target->path);
	sherd_doc_put_text(&doc, "format", sherd_format_name(target->format));
	sherd_doc_put_u64(&doc, "tensors", count);
	sherd_doc_put_u64(&doc, "bytes", bytes);
	sherd_doc_close(&doc, '}');
	return sherd_doc_print(&doc, &cli->out, err);
}

/* A path that does not end in .npy is a folder of NumPy files, which sherd_convert() wants with a '/'. */
static int convert_tensors(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle,
                           const sherd_place *place, const sherd_clock *clock, sherd_error *err)
{
	sherd_convert_options options = {.shards = target->shards,
	                                 .replace = target->replace,
	                                 .drop_graph = target->drop_graph,
	                                 .time_ns = clock->time_ns,
	                                 .pool = cli->pool,
	                                 .progress = &cli->progress};
	const struct ending *e = ending_of(target->path);
	bool folder = target->format == SHERD_FORMAT_NPY && !(e && !e->cut && e->format == SHERD_FORMAT_NPY);
	char *key;
	if (asprintf(&key, "%s%s", place->key, folder ? "/" : "") < 0)
		return sherd_cli_no_memory(err);
	int rc = sherd_convert(bundle, place->store, key, target->format, &options, err);
	free(key);
	return rc;
}

/* A checkpoint gets the set id that the clock gives it; the library's own would be random. */
static int save(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, const sherd_place *place,
                const sherd_clock *clock, sherd_error *err)
{
	sherd_set_id id;
	sherd_ckpt_save_options options = {.world = target->shards ? target->shards : 1,
	                                   .time_ns = clock->time_ns,
	                                   .replace = target->replace,
	                                   .pool = cli->pool,
	                                   .progress = &cli->progress};
	if (clock->fixed) {
		sherd_clock_set_id(clock, place, options.world, bundle, &id);
		options.set_id = &id;
	}
	return sherd_ckpt_save_bundle(place->store, place->key, bundle, false, &options, err);
}

static int save_model(sherd_cli *cli, const sherd_target *target, const sherd_model *model, const sherd_place *place,
                      const sherd_clock *clock, sherd_error *err)
{
	const sherd_model_save_options options = {.format = target->format,
	                                          .shards = target->shards,
	                                          .replace = target->replace,
	                                          .time_ms = clock->time_ns / 1000000,
	                                          .pool = cli->pool,
	                                          .progress = &cli->progress};
	return sherd_model_save(model, place->store, place->key, &options, err);
}

bool sherd_target_is_model(const sherd_target *target)
{
	switch (target->format) {
	case SHERD_FORMAT_SAMEDIFF_FLATBUFFERS:
	case SHERD_FORMAT_SAMEDIFF_CONTAINER:
	case SHERD_FORMAT_SDNB:
	case SHERD_FORMAT_SDZ: return true;
	default: return false;
	}
}

int sherd_target_write(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, const sherd_model *model,
                       sherd_error *err)
{
	sherd_place place;
	sherd_clock clock;
	TRY(sherd_clock_read(&clock, err));
	char *base = base_of(target);
	int rc = base ? sherd_place_open(&place, base, true, err) : sherd_cli_no_memory(err);
	free(base);
	TRY(rc);
	if (model)
		rc = save_model(cli, target, model, &place, &clock, err);
	else if (target->format == SHERD_FORMAT_CHECKPOINT)
		rc = save(cli, target, bundle, &place, &clock, err);
	else
		rc = convert_tensors(cli, target, bundle, &place, &clock, err);
	(void)sherd_place_blame(&place, rc, err);
	sherd_place_close(&place);
	return rc < 0 ? rc : tell(cli, target, bundle, err);
}
