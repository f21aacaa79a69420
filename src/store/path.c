#include <sherd/store.h>

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Removes "file:" and an empty or local host. NULL when another scheme or host is meant. */
static const char *plain_path(const char *path)
{
	size_t scheme = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
	if (strncmp(path, "file:", 5) != 0)
		return scheme > 0 && strncmp(path + scheme, "://", 3) == 0 ? NULL : path;
	path += 5;
	if (strncmp(path, "//", 2) != 0)
		return path;
	path += 2;
	if (strncmp(path, "localhost/", 10) == 0)
		return path + 9;
	return *path == '/' ? path : NULL;
}

/* Cuts a path in two behind its last '/': the folder ("." when there is none) and the name. Either may fail. */
static void split(const char *path, char **folder, char **name)
{
	const char *slash = strrchr(path, '/');
	*name = strdup(slash ? slash + 1 : path);
	if (!slash)
		*folder = strdup(".");
	else
		*folder = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Opens the folder around a path that is not a folder. path has no '/' at its end. */
static int open_around(sherd_store **out, char **key, const char *path, const sherd_local_options *options,
                       sherd_error *err)
{
	char *folder = NULL, *name = NULL;
	split(path, &folder, &name);
	int rc = folder && name ? SHERD_OK : shd_fail_nomem(err);
	if (rc == SHERD_OK && (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0))
		rc = shd_in_object(err, shd_fail_os(err, ENOENT, "no such folder"), path);
	if (rc == SHERD_OK)
		rc = sherd_store_open_local(out, folder, options, err);
	free(folder);
	if (rc == SHERD_OK)
		*key = name;
	else
		free(name);
	return rc;
}

static int open_folder(sherd_store **out, char **key, const char *path, const sherd_local_options *options,
                       sherd_error *err)
{
	char *empty = strdup("");
	if (!empty)
		return shd_fail_nomem(err);
	int rc = sherd_store_open_local(out, path, options, err);
	if (rc == SHERD_OK)
		*key = empty;
	else
		free(empty);
	return rc;
}

/* A link that the user named is the user's own word: it is resolved before anything is opened. */
static int store_path_open_named(sherd_store **out, char **key, char *path, const sherd_local_options *options,
                                 sherd_error *err)
{
	size_t len = strlen(path);
	bool slash = len > 1 && path[len - 1] == '/';
	while (len > 1 && path[len - 1] == '/')
		path[--len] = 0;
	struct stat st;
	bool exists = stat(path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode))
		return open_folder(out, key, path, options, err);
	if (exists && slash)
		return shd_in_object(err, shd_fail_os(err, ENOTDIR, "no such folder"), path);
	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return open_around(out, key, path, options, err);
	char *real = realpath(path, NULL);
	if (!real)
		return shd_in_object(err, shd_fail_os(err, errno, "cannot follow the symbolic link"), path);
	int rc = open_around(out, key, real, options, err);
	free(real);
	return rc;
}

int sherd_store_open_path(sherd_store **out, char **key, const char *path, const sherd_local_options *options,
                          sherd_error *err)
{
	const char *plain = path ? plain_path(path) : "";
	if (!plain)
		return shd_in_object(
			err, shd_fail(err, SHERD_EUNSUPPORTED, "unsupported-scheme", "only local paths can be opened"),
			path);
	if (!*plain)
		return shd_fail(err, SHERD_EINVAL, "bad-path", "the path is empty");
	char *copy = strdup(plain);
	if (!copy)
		return shd_fail_nomem(err);
	int rc = store_path_open_named(out, key, copy, options, err);
	free(copy);
	return rc;
}
