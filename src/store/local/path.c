/* store/local/path.c - what a path means: a folder, and a key in it. */
#include "store/local/local.h"

#include "base/str.h"
#include "store/schemes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct path_naming {
	const char *given; /* without "file:" */
	bool beside;
	bool resolved; /* what is opened lies elsewhere than the path says */
	sherd_local_options options;
} path_naming;

/* Removes "file:" and an empty or local host. NULL when another host is meant. */
static const char *path_without_scheme(const char *path)
{
	if (strncmp(path, "file:", 5) != 0)
		return path;
	path += 5;
	if (strncmp(path, "//", 2) != 0)
		return path;
	path += 2;
	if (strncmp(path, "localhost/", 10) == 0)
		return path + 9;
	return *path == '/' ? path : NULL;
}

/* Cuts a path in two after its last '/': the folder ("." when there is none) and the name. Either may fail. */
static void path_split(const char *path, char **folder, char **name)
{
	const char *slash = strrchr(path, '/');
	*name = strdup(slash ? slash + 1 : path);
	if (!slash)
		*folder = strdup(".");
	else
		*folder = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Opens a folder, and takes over the key. */
static int path_open_folder(sherd_store **out, char **key, const char *folder, char *name, const path_naming *n,
                            sherd_error *err)
{
	sherd_store *store = NULL;
	TRY(sherd_store_open_local(&store, folder, &n->options, err));
	shd_local_tidy(store, folder);
	if (n->resolved && asprintf(&store->label, "%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/") < 0) {
		store->label = NULL;
		sherd_store_close(store);
		return shd_fail_nomem(err);
	}
	*out = store;
	*key = name;
	return SHERD_OK;
}

/* Opens the folder around what is named. path has no '/' at its end. */
static int path_open_around(sherd_store **out, char **key, const char *path, const path_naming *n, sherd_error *err)
{
	SHD_AUTO_FREE char *folder = NULL;
	SHD_AUTO_FREE char *name = NULL;
	path_split(path, &folder, &name);
	if (!folder || !name)
		return shd_fail_nomem(err);
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		if (n->beside)
			return shd_in_object(err, shd_fail(err, SHERD_ENOTFOUND, "is-folder", "this is a folder"),
			                     n->given);
		return shd_in_object(err, shd_fail_os(err, ENOENT, "no such folder"), path);
	}
	TRY(path_open_folder(out, key, folder, name, n, err));
	(void)TAKE(name);
	return SHERD_OK;
}

static int path_open_itself(sherd_store **out, char **key, const char *path, const path_naming *n, sherd_error *err)
{
	SHD_AUTO_FREE char *empty = strdup("");
	if (!empty)
		return shd_fail_nomem(err);
	TRY(path_open_folder(out, key, path, empty, n, err));
	(void)TAKE(empty);
	return SHERD_OK;
}

/* Caches of models keep files elsewhere and link to them by their names. An index that is such a link, named by the
 * user, stands for its neighbours too: they are found beside the link, and followed. */
static bool path_is_linked_index(const char *path)
{
	struct stat st;
	return shd_str_ends(shd_str_of(path), ".safetensors.index.json") && lstat(path, &st) == 0 &&
	       S_ISLNK(st.st_mode);
}

/* So does the folder of a revision in such a cache: <cache>/snapshots/<revision>, beside <cache>/blobs. */
static bool path_is_snapshot(const char *path)
{
	struct stat st;
	SHD_AUTO_FREE char *real = realpath(path, NULL), *blobs = NULL;
	char *slash = real ? strrchr(real, '/') : NULL;
	if (!slash)
		return false;
	*slash = 0;
	if (!shd_str_ends(shd_str_of(real), "/snapshots") || asprintf(&blobs, "%s/../blobs", real) < 0)
		return false;
	return stat(blobs, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A link that the user named is the user's own word: it is resolved before anything is opened. */
static int path_open_link(sherd_store **out, char **key, const char *path, path_naming *n, sherd_error *err)
{
	SHD_AUTO_FREE char *real = realpath(path, NULL);
	if (!real)
		return shd_in_object(err, shd_fail_os(err, errno, "cannot follow the symbolic link"), path);
	n->resolved = true;
	return path_open_around(out, key, real, n, err);
}

static int path_open_named(sherd_store **out, char **key, char *path, path_naming *n, sherd_error *err)
{
	size_t len = strlen(path);
	bool slash = len > 1 && path[len - 1] == '/';
	while (len > 1 && path[len - 1] == '/')
		path[--len] = 0;
	struct stat st;
	bool exists = stat(path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode) && !n->options.create && path_is_snapshot(path))
		n->options.follow_symlinks = true;
	if (exists && S_ISDIR(st.st_mode))
		return n->beside ? path_open_around(out, key, path, n, err) : path_open_itself(out, key, path, n, err);
	n->beside = false;
	if (exists && slash)
		return shd_in_object(err, shd_fail_os(err, ENOTDIR, "no such folder"), path);
	if (!n->options.create && path_is_linked_index(path)) {
		n->options.follow_symlinks = true;
		return path_open_around(out, key, path, n, err);
	}
	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return path_open_around(out, key, path, n, err);
	return path_open_link(out, key, path, n, err);
}

static int path_take_settings(path_naming *n, const sherd_store_options *options, sherd_error *err)
{
	const char *follow = sherd_store_setting(options, "follow-symlinks");
	if (follow && strcmp(follow, "true") != 0 && strcmp(follow, "false") != 0)
		return shd_fail(err, SHERD_EINVAL, "bad-setting", "follow-symlinks is true or false, not \"%.64s\"",
		                follow);
	n->options.follow_symlinks = follow && strcmp(follow, "true") == 0;
	return SHERD_OK;
}

static int path_open(sherd_store **out, char **key, const char *uri, const sherd_store_options *options,
                     sherd_error *err)
{
	path_naming n = {
		.given = path_without_scheme(uri), .beside = options->beside, .options.create = options->create};
	if (!n.given)
		return shd_fail(err, SHERD_EUNSUPPORTED, "unsupported-scheme", "only local paths can be opened");
	if (!*n.given)
		return shd_fail(err, SHERD_EINVAL, "bad-path", "the path is empty");
	TRY(path_take_settings(&n, options, err));
	SHD_AUTO_FREE char *copy = strdup(n.given);
	if (!copy)
		return shd_fail_nomem(err);
	return path_open_named(out, key, copy, &n, err);
}

static const char *const path_settings[] = {"follow-symlinks", NULL};

const sherd_scheme shd_scheme_file = {.name = "file", .settings = path_settings, .open = path_open};
