/* cli/rows/list.c - a set that the user lists, shard by shard, wherever they lie. */
#include "rows/rows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How much of two absolute paths of files is the same folder, its '/' included. */
static size_t common_part(const char *a, const char *b, size_t most)
{
	size_t at = 0;
	for (size_t i = 0; i < most && a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			at = i + 1;
	return at;
}

/* The folder below which all of them lie, as an absolute path that ends in '/'; it is the front of each path. */
static int find_common(char **real, char *const *paths, size_t count, size_t *common, sherd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct stat st;
		real[i] = realpath(paths[i], NULL);
		bool folder = real[i] && stat(real[i], &st) == 0 && S_ISDIR(st.st_mode);
		if (!real[i])
			(void)cli_fail(err, SHERD_ENOTFOUND, "not-found", "nothing is there");
		else if (folder)
			(void)cli_fail(err, SHERD_ENOTFOUND, "is-folder",
			               "this is a folder: a list names shards, and a set is named alone");
		if (!real[i] || folder) {
			(void)snprintf(err->object, sizeof(err->object), "%.200s", paths[i]);
			return err->code;
		}
		*common = common_part(real[0], real[i], i ? *common : strlen(real[0]));
	}
	return SHERD_OK;
}

/* The place knows what the user called them. */
static int keep_names(cli_place *place, char *const *real, size_t common, char *const *paths, size_t count,
                      sherd_error *err)
{
	place->keys = calloc(count, sizeof(*place->keys));
	place->paths = paths;
	place->count = count;
	for (size_t i = 0; place->keys && i < count; i++)
		if (!real[i] || !(place->keys[i] = strdup(real[i] + common)))
			return cli_no_memory(err);
	return place->keys ? SHERD_OK : cli_no_memory(err);
}

static int open_list(sherd_rows **out, cli_state *cli, cli_place *place, char *const *real, size_t common,
                     char *const *paths, size_t count, sherd_error *err)
{
	const sherd_rows_options options = {.progress = &cli->waiting};
	char *folder = real[0] ? strndup(real[0], common) : NULL;
	int rc = folder ? cli_place_open_folder(place, folder, err) : cli_no_memory(err);
	free(folder);
	if (rc < 0)
		return rc;
	rc = keep_names(place, real, common, paths, count, err);
	if (rc == SHERD_OK)
		rc = sherd_rows_open(out, place->store, (const char *const *)place->keys, count, &options, err);
	(void)cli_place_blame(place, rc, err);
	if (rc < 0)
		cli_place_close(place);
	return rc;
}

int cli_rows_open_paths(sherd_rows **out, cli_state *cli, cli_place *place, char *const *paths, int count,
                        bool incomplete, sherd_error *err)
{
	size_t common = 0;
	if (count == 1) {
		TRY(cli_place_open_any(place, paths[0], false, err));
		int rc = cli_rows_open_place(out, cli, place, incomplete, err);
		if (rc < 0)
			cli_place_close(place);
		return rc;
	}
	char **real = calloc((size_t)count, sizeof(*real));
	if (!real)
		return cli_no_memory(err);
	int rc = find_common(real, paths, (size_t)count, &common, err);
	if (rc == SHERD_OK)
		rc = open_list(out, cli, place, real, common, paths, (size_t)count, err);
	for (int i = 0; i < count; i++)
		free(real[i]);
	free(real);
	return rc;
}
