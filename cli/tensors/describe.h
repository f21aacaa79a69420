/* cli/tensors/describe.h - a file or set in words, and as the document of info --json. */
#ifndef SHERD_CLI_TENSORS_DESCRIBE_H
#define SHERD_CLI_TENSORS_DESCRIBE_H

#include "cli.h"

#include <sherd/bundle.h>
#include <sherd/ckpt.h>
#include <sherd/model.h>

/* model: whose bundle it is; or NULL. */
int sherd_describe_bundle(sherd_cli *cli, const char *path, const sherd_bundle *bundle, const sherd_model *model,
                          sherd_error *err);
int sherd_describe_ckpt(sherd_cli *cli, const char *path, const sherd_ckpt *ckpt, sherd_format format,
                        sherd_error *err);
/* The bundle is the model's. */
int sherd_describe_model(sherd_cli *cli, const char *path, const sherd_model *model, const sherd_bundle *bundle,
                         sherd_error *err);

/* Of shards by themselves only that of rank 0 tells about the training. */
bool sherd_describe_has_about(const sherd_ckpt *ckpt, sherd_format format);

int sherd_describe_bundle_json(sherd_cli *cli, const sherd_bundle *bundle, sherd_error *err);
int sherd_describe_ckpt_json(sherd_cli *cli, const sherd_ckpt *ckpt, sherd_format format, sherd_error *err);
int sherd_describe_model_json(sherd_cli *cli, const sherd_model *model, const sherd_bundle *bundle, sherd_error *err);

#endif
