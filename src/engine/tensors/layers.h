/* engine/tensors/layers.h - which tensors belong to one layer, and files that keep layers whole. */
#pragma once

#include "base/str.h"

#include <sherd/bundle.h>

/* What the names of a layer's tensors begin with: up to the first part between dots or slashes that is a number
 * ("model.layers.12"), else up to the last dot or slash. */
shd_str shd_layer_of(const char *name);

/* Gives every tensor a file, in natural order of the layers: a layer is cut only where it is larger than most bytes by
 * itself, and so is no tensor. file_of has a place for each tensor; *files is at least 1. */
int shd_layers_plan(uint32_t *file_of, uint32_t *files, const sherd_bundle *from, uint64_t most, sherd_error *err);
