/* sherd/model.h - models: a graph, its arrays, and what is told about them.
 *
 * Opening reads the graph, never the arrays. An open model is immutable and may
 * be shared by threads; what it hands out is valid until it is closed. The store
 * must outlive it. */
#ifndef SHERD_MODEL_H
#define SHERD_MODEL_H

#include <sherd/bundle.h>
#include <sherd/model_graph.h>

SHERD_BEGIN_DECLS

typedef struct sherd_model sherd_model;

typedef struct sherd_model_options {
	const sherd_limits *limits;
} sherd_model_options;

/* Opens the model under the key, of whatever format it is: SHERD_FORMAT_SAMEDIFF_FLATBUFFERS. What is no model is
 * SHERD_EUNSUPPORTED, "no-graph". Arrays that the file lacks are looked for beside it, in <base>_external/, see
 * docs/formats/samediff-legacy.md. */
SHERD_API int sherd_model_open(sherd_model **out, sherd_store *store, const char *key,
                               const sherd_model_options *options, sherd_error *err);
SHERD_API void sherd_model_close(sherd_model *model); /* NULL is fine */

SHERD_API sherd_format sherd_model_format(const sherd_model *model);
SHERD_API const sherd_model_graph *sherd_model_describe(const sherd_model *model);
SHERD_API size_t sherd_model_pairs(const sherd_model *model, const sherd_pair **out);
/* The index of the variable of that name, or SHERD_NO_VARIABLE. */
SHERD_API size_t sherd_model_find(const sherd_model *model, const char *variable);

/* The arrays of the model, which must outlive the bundle: those of variables under the variable's name, the others
 * under names that docs/formats/samediff-legacy.md gives. */
SHERD_API int sherd_bundle_of_model(sherd_bundle **out, const sherd_model *model, sherd_error *err);

SHERD_END_DECLS

#endif
