/* cli/tensors/tree.h - tensors by the parts of their names, equal layers folded. */
#pragma once

#include "cli.h"

#include <sherd/tensor.h>

/* Adds lines of four cells: name, type, shape, size. Names are taken apart at their dots, in natural order; neighbours
 * with numbers that follow each other and the same below them are one line, "layers.{0..31}", with how many they are in
 * place of the shape. The list is sorted. */
int cli_tree_add(cli_table *table, const sherd_tensor **list, size_t count, sherd_error *err);
