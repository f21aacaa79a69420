/* cli/rows/list.c - a set that the user lists, shard by shard, wherever they lie. */
#include "rows/rows.h"

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
		const char *plain = cli_place_plain(paths[i]);
		bool other_host = strncmp(paths[i], "file://", 7) == 0 && *plain != '/';
		real[i] = other_host ? NULL : realpath(plain, NULL);
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

static int open_files(cli_place *place, char **real, char *const *paths, size_t count, size_t *common, sherd_error *err)
{
	TRY(find_common(real, paths, count, common, err));
	CLI_AUTO_FREE char *folder = real[0] ? strndup(real[0], *common) : NULL;
	return folder ? cli_place_open_folder(place, folder, err) : cli_no_memory(err);
}

static bool is_elsewhere(const char *path)
{
	return strstr(cli_place_plain(path), "://") != NULL;
}

/* In the store of the first one, whose name is the front of each URI. */
static int open_elsewhere(cli_place *place, char **uris, char *const *paths, size_t count, size_t *common,
                          sherd_error *err)
{
	TRY(cli_place_open(place, paths[0], false, err));
	*common = strlen(sherd_store_label(place->store));
	for (size_t i = 0; i < count; i++) {
		if (strncmp(paths[i], sherd_store_label(place->store), *common) != 0)
			return cli_usage(err, "%.128s and %.128s lie in different stores: a list is of one", paths[0],
			                 paths[i]);
		uris[i] = strdup(paths[i]);
		if (!uris[i])
			return cli_no_memory(err);
	}
	return SHERD_OK;
}

/* The place knows what the user called them. */
static int keep_names(cli_place *place, char *const *names, size_t common, char *const *paths, size_t count,
                      sherd_error *err)
{
	place->keys = calloc(count, sizeof(*place->keys));
	place->paths = paths;
	place->count = count;
	for (size_t i = 0; place->keys && i < count; i++)
		if (!names[i] || !(place->keys[i] = strdup(names[i] + common)))
			return cli_no_memory(err);
	return place->keys ? SHERD_OK : cli_no_memory(err);
}

/* names: room for what each is called in full. */
static int open_list(sherd_rows **out, cli_state *cli, cli_place *place, char **names, char *const *paths, size_t count,
                     sherd_error *err)
{
	const sherd_rows_options options = {.progress = &cli->waiting};
	size_t common = 0, elsewhere = 0;
	for (size_t i = 0; i < count; i++)
		elsewhere += is_elsewhere(paths[i]);
	if (elsewhere && elsewhere < count)
		return cli_usage(err, "a list names files or objects of one store, not both");
	TRY((elsewhere ? open_elsewhere : open_files)(place, names, paths, count, &common, err));
	TRY(keep_names(place, names, common, paths, count, err));
	return cli_place_blame(
		place, sherd_rows_open(out, place->store, (const char *const *)place->keys, count, &options, err), err);
}

int cli_rows_open_paths(sherd_rows **out, cli_state *cli, cli_place *place, char *const *paths, int count,
                        bool incomplete, sherd_error *err)
{
	int rc;
	*place = (cli_place){0};
	if (count == 1) {
		TRY(cli_place_open_any(place, paths[0], false, err));
		rc = cli_rows_open_place(out, cli, place, incomplete, err);
	} else {
		char **names = calloc((size_t)count, sizeof(*names));
		rc = names ? open_list(out, cli, place, names, paths, (size_t)count, err) : cli_no_memory(err);
		for (int i = 0; names && i < count; i++)
			free(names[i]);
		free(names);
	}
	if (rc < 0)
		cli_place_close(place);
	return rc;
}
