/* cli/base/place.h - what a path on the command line means: a store, and a key in it. */
#pragma once

#include "cli.h"
#include "base/auto.h"

#include <sherd/store.h>

typedef struct cli_place {
	sherd_store *store;
	char *key;          /* "" for a folder */
	bool beside;        /* a folder of that name is there too */
	char **keys;        /* of several things that the user named by these paths, wherever they lie; else NULL */
	char *const *paths; /* borrowed */
	size_t count;
} cli_place;

/* Keeps what is read over a network in a folder; NULL: in that of SHERD_CACHE, if there is one. "": nowhere. */
int cli_place_use_cache(const char *folder, sherd_error *err);

/* A thing to read or to write, never a folder: a path that is one names what lies beside it under the same name. With
 * create the folder around it is made, and removed again by close if nothing is in it. */
int cli_place_open(cli_place *place, const char *path, bool create, sherd_error *err);
/* The same, but a path that ends in "." or ".." is that folder: nothing can lie beside it under that name. */
int cli_place_open_any(cli_place *place, const char *path, bool create, sherd_error *err);
/* The prefix of a checkpoint, which its metadata file, its claim and each of its shards also name. */
int cli_place_open_prefix(cli_place *place, const char *path, sherd_error *err);
/* A folder that exists. */
int cli_place_open_folder(cli_place *place, const char *path, sherd_error *err);
void cli_place_close(cli_place *place);
/* Closed at the end of its scope, as all of these. */
#define CLI_AUTO_PLACE __attribute__((cleanup(cli_place_close))) cli_place

/* A "file:" URI without what makes it one; only of those that the store has taken is the host known to be ours. */
const char *cli_place_plain(const char *path);

/* Makes the object of an error a path that the user can open, in the store that the error names, which must be open, or
 * in this one; a failure without an object gets the key. Mistakes in the usage have none, nor has
 * what was cancelled. */
void cli_place_name(const cli_place *place, sherd_error *err);

/* Does that where rc is a failure, and returns rc. */
static inline int cli_place_blame(const cli_place *place, int rc, sherd_error *err)
{
	if (rc < 0)
		cli_place_name(place, err);
	return rc;
}
