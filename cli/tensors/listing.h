/* cli/tensors/listing.h - which tensors of a file or set are shown, in which order, and what all of them are. */
#pragma once

#include "base/args.h"

#include <sherd/bundle.h>

typedef enum cli_order { CLI_ORDER_STORED, CLI_ORDER_NAME, CLI_ORDER_SIZE } cli_order;

/* How info shows things. */
typedef struct cli_view {
	const char *match; /* only tensors whose names match; NULL: all */
	cli_order order;
	bool tree;  /* by the parts of names; else a line each */
	bool files; /* which file holds how much, in place of the tensors */
} cli_view;

/* Takes --tree, --flat, --match, --sort and --files; without them a terminal gets a tree. */
int cli_view_take(cli_view *view, const cli_args *args, sherd_error *err);

typedef struct cli_listed {
	const sherd_tensor *tensor;
	size_t index;     /* in its bundle or checkpoint */
	const char *file; /* that holds it; NULL: not told */
} cli_listed;

typedef struct cli_listing {
	cli_listed *items;
	size_t count;
	bool has_files;
} cli_listing;

/* SHERD_ENOTFOUND when nothing matches. */
int cli_listing_open(cli_listing *out, const cli_view *view, const sherd_bundle *bundle, sherd_error *err);
void cli_listing_close(cli_listing *listing);
#define CLI_AUTO_LISTING __attribute__((cleanup(cli_listing_close))) cli_listing

/* "PATH: FORMAT, 3 files, 10 tensors, 1.3M parameters, 4.9 MiB, F32": of all tensors. files: 0 or 1 are not told. */
int cli_listing_head(cli_state *cli, const char *path, sherd_format format, const sherd_bundle *bundle, size_t files,
                     sherd_error *err);
/* How many files hold the tensors; 0 where that is not told. */
size_t cli_listing_files(const sherd_bundle *bundle);
