/* cli/components.h - optional parts that the command was linked with. */
#pragma once

#include "base/out.h"

#include <sherd/sys/component.h>

/* Written by component_command() of cmake/components.cmake; ends with NULL. */
typedef const sherd_component *cli_component_fn(void);
extern cli_component_fn *const cli_component_list[];

/* The schemes that they bring; ends with NULL. */
const sherd_scheme *const *cli_schemes(void);

/* Where a store of theirs is named the process holds secrets from now on: nobody may dump it or read its memory. */
void cli_hide_secrets(const char *path);

/* The version, the stores and the components, line by line or as a document. */
int cli_components_show(cli_out *out, sherd_error *err);
