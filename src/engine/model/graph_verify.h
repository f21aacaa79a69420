/* engine/model/graph_verify.h - checking what operations and variables say of each other. */
#pragma once

#include "engine/model/model.h"
#include "engine/tensors/report.h"

/* Warns of what does not fit, in the graph of the model and in each graph inside of it, at any depth: there the message
 * begins with "graph <name>/<name of one inside>: ". Reads no arrays. */
int shd_model_verify_graph(sherd_report *r, const char *key, const sherd_model *model, sherd_error *err);
