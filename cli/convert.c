#include "clock.h"
#include "commands.h"
#include "place.h"
#include "target.h"

#include <stdio.h>
#include <string.h>

/* The same that the library says, with the way out. */
static int refuse_loss(const sherd_bundle *bundle, sherd_format to, sherd_error *err)
{
	int rc = sherd_convert_check(bundle, to, err);
	size_t used = rc < 0 ? strlen(err->message) : 0;
	if (rc < 0)
		(void)snprintf(err->message + used, sizeof(err->message) - used, " (--drop-graph accepts that)");
	return rc;
}

static int convert_tensors(sherd_cli *cli, const sherd_target *target, const sherd_place *from, sherd_error *err)
{
	sherd_bundle *bundle;
	TRY(sherd_place_blame(from, sherd_bundle_open(&bundle, from->store, from->key, NULL, err), err));
	int rc = target->drop_graph ? SHERD_OK : sherd_place_blame(from, refuse_loss(bundle, target->format, err), err);
	if (rc == SHERD_OK)
		rc = sherd_target_write(cli, target, bundle, NULL, err);
	sherd_bundle_close(bundle);
	return rc;
}

static int convert_model(sherd_cli *cli, const sherd_target *target, const sherd_place *from, sherd_error *err)
{
	sherd_model *model;
	sherd_bundle *bundle;
	TRY(sherd_place_blame(from, sherd_model_open(&model, from->store, from->key, NULL, err), err));
	int rc = sherd_bundle_of_model(&bundle, model, err);
	if (rc == SHERD_OK) {
		rc = sherd_target_write(cli, target, bundle, model, err);
		sherd_bundle_close(bundle);
	}
	sherd_model_close(model);
	return rc;
}

static int run(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	sherd_place from;
	sherd_target target;
	TRY(sherd_target_take(&target, args, args->operands[1], err));
	TRY(sherd_place_open(&from, args->operands[0], false, err));
	int rc = sherd_target_is_model(&target) ? convert_model(cli, &target, &from, err)
	                                        : convert_tensors(cli, &target, &from, err);
	sherd_place_close(&from);
	return rc;
}

static const sherd_option options[] = {
	{"to", "FORMAT", "of DST, see sherd-convert(1); else its extension decides", 0},
	{"shards", "N", "files of a sharded target (default: 1)", 0},
	{"replace", NULL, "DST may exist and is replaced", 0},
	{"drop-graph", NULL, "of a model, write the arrays and lose the graph", 0},
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_convert = {
	.name = "convert",
	.operands = "SRC DST",
	.summary = "Writes the tensors of a file or set in another format",
	.details = "DST.safetensors is one file, DST.safetensors.index.json several and their index, DST.npy one\n"
		   "array, DST/ a folder of NumPy files, DST.metadata.json a checkpoint of that prefix; of models\n"
		   "DST.sdc is a container, DST.fb a SameDiff FlatBuffers file.\n",
	.least = 2,
	.most = 2,
	.run = run,
	.options = options,
};

const sherd_command sherd_command_model_convert = {
	.name = "model convert",
	.operands = "SRC DST",
	.summary = "Writes a model in another format; the same as sherd convert",
	.least = 2,
	.most = 2,
	.run = run,
	.options = options,
};
