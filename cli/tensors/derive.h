/* cli/tensors/derive.h - options of convert that make one set of tensors of several, choose, rename and cast. */
#pragma once

#include "base/args.h"
#include "base/doc.h"
#include "base/place.h"

#include <sherd/convert.h>

/* As cli_option entries, so many. */
enum { CLI_DERIVE_COUNT = 5 };
#define CLI_DERIVE_OPTIONS                                                                                       \
	{"match", "GLOB", "only tensors whose names fit, or fit another one given (repeatable)", 0},             \
		{"exclude", "GLOB", "no tensors whose names fit (repeatable)", 0},                               \
		{"rename", "s/A/B/", "change names by a regular expression, as sed does (repeatable)", 0},       \
		{"dtype", "F16|BF16|F32", "cast floats of every type, and decode blocks of quantised ones", 0},  \
	{                                                                                                        \
		"prefer", "first|last", "of tensors and metadata that several sources have (default: refuse)", 0 \
	}

typedef struct cli_derive {
	sherd_derive_options options;
	const char **texts; /* of the lists */
	bool any;           /* one of the options was given, or there are several sources */
	sherd_derive_result result;
} cli_derive;

int cli_derive_take(cli_derive *d, const cli_args *args, sherd_error *err);
void cli_derive_done(cli_derive *d);
#define CLI_AUTO_DERIVE __attribute__((cleanup(cli_derive_done))) cli_derive
/* The first of these options that was given; NULL: none. */
const char *cli_derive_given(const cli_args *args);

/* What became of the tensors, as a line and in the document. */
void cli_derive_tell(cli_state *cli, const cli_derive *d, const char *path, const sherd_bundle *bundle);
void cli_derive_put(cli_doc *doc, const cli_derive *d, const sherd_bundle *bundle);
