/* cli/tensors/describe.h - a file or set in words, and as the document of info --json. */
#pragma once

#include "base/doc.h"
#include "cli.h"

#include "tensors/listing.h"

#include <sherd/bundle.h>
#include <sherd/ckpt.h>
#include <sherd/model.h>

/* "[3, 4]". */
#define CLI_SHAPE_TEXT (SHERD_MAX_DIMS * 22 + 3)
void cli_describe_shape(const sherd_tensor *tensor, char out[CLI_SHAPE_TEXT]);

#define CLI_DIGEST_TEXT 72 /* "blake3:", 64 digits, a NUL */
void cli_describe_digest(const uint8_t digest[32], char out[CLI_DIGEST_TEXT]);
/* model: whose bundle it is; or NULL. */
int cli_describe_bundle(cli_state *cli, const char *path, const sherd_bundle *bundle, const sherd_model *model,
                        const cli_view *view, sherd_error *err);
int cli_describe_ckpt(cli_state *cli, const char *path, const sherd_ckpt *ckpt, sherd_format format,
                      const cli_view *view, sherd_error *err);
/* The bundle is the model's. */
int cli_describe_model(cli_state *cli, const char *path, const sherd_model *model, const sherd_bundle *bundle,
                       const cli_view *view, sherd_error *err);

/* What loading the file's pickles with Python would import and call. */
int cli_describe_globals(cli_state *cli, const sherd_bundle *bundle, sherd_error *err);
void cli_describe_globals_json(cli_doc *doc, const sherd_bundle *bundle);

/* Of shards by themselves only that of rank 0 tells about the training. */
bool cli_describe_has_about(const sherd_ckpt *ckpt, sherd_format format);

int cli_describe_bundle_json(cli_state *cli, const sherd_bundle *bundle, const cli_view *view, sherd_error *err);
int cli_describe_ckpt_json(cli_state *cli, const sherd_ckpt *ckpt, sherd_format format, const cli_view *view,
                           sherd_error *err);
int cli_describe_model_json(cli_state *cli, const sherd_model *model, const sherd_bundle *bundle, const cli_view *view,
                            sherd_error *err);
