#include "base/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The places that are open. A command may have two, and an error says of which store its object is. */
typedef struct known {
	const sherd_store *store;
	char *folder, *key;
	struct known *next;
} known;
static known *all_known;

static void place_forget(const sherd_store *store)
{
	for (known **at = &all_known; *at; at = &(*at)->next) {
		known *k = *at;
		if (k->store != store)
			continue;
		*at = k->next;
		free(k->folder);
		free(k->key);
		free(k);
		return;
	}
}

static int place_remember(const cli_place *place, sherd_error *err)
{
	known *k = calloc(1, sizeof(*k));
	if (!k)
		return cli_no_memory(err);
	*k = (known){place->store, strdup(place->folder), strdup(place->key), all_known};
	all_known = k;
	return k->folder && k->key ? SHERD_OK : cli_no_memory(err);
}

static const known *find_known(const sherd_store *store)
{
	const known *k = all_known;
	while (k && k->store != store)
		k = k->next;
	return k;
}

/* The part behind the last '/' that does not end the path. */
static const char *last_part(const char *path)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	return path + len;
}

/* A name that is too long keeps its tail. */
static void name_object(sherd_error *err, const char *folder, const char *object)
{
	char *whole;
	size_t room = sizeof(err->object) - 1;
	if (asprintf(&whole, "%s%s", folder, object) < 0)
		return;
	size_t len = strlen(whole);
	if (len > room)
		(void)snprintf(err->object, sizeof(err->object), "...%.*s", (int)room - 3, whole + (len - room + 3));
	else
		(void)snprintf(err->object, sizeof(err->object), "%.*s", (int)room, whole);
	free(whole);
}

/* The folder around the key, as shown. A link was resolved: then the folder is where it led. */
static char *folder_of(const char *path, const char *key)
{
	const char *part = last_part(path);
	if (strncmp(part, key, strlen(key)) == 0)
		return strndup(path, (size_t)(part - path));
	char *real = realpath(path, NULL);
	if (!real)
		return strdup("");
	real[last_part(real) - real] = 0;
	return real;
}

const char *cli_place_plain(const char *path)
{
	if (strncmp(path, "file:", 5) != 0)
		return path;
	path += 5;
	if (strncmp(path, "//localhost/", 12) == 0)
		return path + 11;
	return strncmp(path, "//", 2) == 0 ? path + 2 : path;
}

/* The path was a folder: the thing meant lies beside it. */
static int step_out(cli_place *place, const char *path, const sherd_local_options *options, sherd_error *err)
{
	path = cli_place_plain(path);
	const char *part = last_part(path);
	size_t len = strcspn(part, "/");
	char *around = part == path ? strdup(".") : strndup(path, (size_t)(part - path));
	bool named = len > 0 && strncmp(part, ".", len) != 0 && strncmp(part, "..", len) != 0;
	sherd_store_close(place->store);
	free(place->key);
	place->store = NULL;
	place->key = NULL;
	int rc = around ? SHERD_OK : cli_no_memory(err);
	if (rc == SHERD_OK && !named) {
		rc = cli_fail(err, SHERD_ENOTFOUND, "is-folder", "this is a folder");
		name_object(err, "", path);
	}
	if (rc == SHERD_OK)
		rc = sherd_store_open_path(&place->store, &place->key, around, options, err);
	free(around);
	if (rc < 0)
		return rc;
	free(place->key);
	place->key = strndup(part, len);
	place->beside = true;
	return place->key ? SHERD_OK : cli_no_memory(err);
}

/* Caches of models keep files elsewhere and link to them by their names. An index that is such a link, named by the
 * user, stands for its neighbours too: they are found beside the link, and followed. */
static bool is_linked_index(const char *path)
{
	static const char end[] = ".safetensors.index.json";
	struct stat st;
	size_t len = strlen(path);
	return len > strlen(end) && strcmp(path + len - strlen(end), end) == 0 && lstat(path, &st) == 0 &&
	       S_ISLNK(st.st_mode);
}

static int open_linked(cli_place *place, const char *path, sherd_error *err)
{
	sherd_local_options options = {.follow_symlinks = true};
	const char *part = last_part(path);
	char *around = part == path ? strdup(".") : strndup(path, (size_t)(part - path));
	place->key = strdup(part);
	int rc = around && place->key ? SHERD_OK : cli_no_memory(err);
	if (rc == SHERD_OK)
		rc = sherd_store_open_local(&place->store, around, &options, err);
	free(around);
	if (rc < 0)
		free(place->key);
	return rc;
}

/* ---- folders that are made on the way */

/* Cuts the last part off a path; false when there is none. */
static bool cut_part(char *path)
{
	char *part = path + (last_part(path) - path);
	while (part > path && part[-1] == '/')
		part--;
	*part = 0;
	return part > path;
}

/* Remembers which folders around the thing are not there yet. */
static void note_missing(cli_place *place, const char *path)
{
	struct stat st;
	char *around = strdup(cli_place_plain(path));
	bool more = around && cut_part(around);
	char *first = more ? strdup(around) : NULL;
	for (; more && lstat(around, &st) < 0; more = cut_part(around))
		place->made++;
	free(around);
	place->around = first;
}

/* Those that are empty after all go again. */
static void remove_missing(const cli_place *place)
{
	for (size_t i = 0; place->around && i < place->made && rmdir(place->around) == 0; i++)
		(void)cut_part(place->around);
}

static int open_path(cli_place *place, const char *path, const sherd_local_options *options, sherd_error *err)
{
	int rc = sherd_store_open_path(&place->store, &place->key, path, options, err);
	if (rc < 0)
		cli_place_close(place);
	return rc;
}

int cli_place_open(cli_place *place, const char *path, bool create, sherd_error *err)
{
	sherd_local_options options = {.create = create};
	*place = (cli_place){0};
	if (create)
		note_missing(place, path);
	if (!create && is_linked_index(cli_place_plain(path)))
		TRY(open_linked(place, cli_place_plain(path), err));
	else
		TRY(open_path(place, path, &options, err));
	int rc = *place->key ? SHERD_OK : step_out(place, path, &options, err);
	if (rc == SHERD_OK) {
		place->folder = folder_of(path, place->key);
		rc = place->folder ? SHERD_OK : cli_no_memory(err);
	}
	if (rc == SHERD_OK)
		rc = place_remember(place, err);
	if (rc < 0)
		cli_place_close(place);
	return rc;
}

int cli_place_open_any(cli_place *place, const char *path, bool create, sherd_error *err)
{
	const char *part = last_part(path);
	size_t len = strcspn(part, "/");
	bool dots = len > 0 && (strncmp(part, ".", len) == 0 || strncmp(part, "..", len) == 0);
	return dots ? cli_place_open_folder(place, path, err) : cli_place_open(place, path, create, err);
}

/* Cuts ".metadata.json", ".saving" or "_shard_<anything>.shard" off. */
static void cut_to_prefix(char *key)
{
	static const char *const ends[] = {".metadata.json", ".saving", ".shard"};
	size_t len = strlen(key);
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		size_t n = strlen(ends[i]);
		if (len <= n || strcmp(key + len - n, ends[i]) != 0)
			continue;
		char *cut = key + len - n, *shard = NULL;
		for (char *p = key; strcmp(ends[i], ".shard") == 0 && (p = strstr(p, "_shard_")); p++)
			shard = p;
		if (strcmp(ends[i], ".shard") == 0)
			cut = shard && shard > key ? shard : key + len;
		*cut = 0;
		return;
	}
}

int cli_place_open_prefix(cli_place *place, const char *path, sherd_error *err)
{
	TRY(cli_place_open(place, path, false, err));
	cut_to_prefix(place->key);
	return SHERD_OK;
}

int cli_place_open_folder(cli_place *place, const char *path, sherd_error *err)
{
	*place = (cli_place){0};
	TRY(sherd_store_open_path(&place->store, &place->key, path, NULL, err));
	size_t len = strlen(path);
	int rc = SHERD_OK;
	if (*place->key) {
		sherd_stat stat;
		rc = sherd_store_stat(place->store, place->key, &stat, err);
		if (rc == SHERD_OK)
			rc = cli_fail(err, SHERD_EINVAL, "not-a-folder", "this is not a folder");
		name_object(err, "", path);
	} else if (asprintf(&place->folder, "%s%s", path, path[len - 1] == '/' ? "" : "/") < 0) {
		place->folder = NULL;
		rc = cli_no_memory(err);
	}
	if (rc == SHERD_OK)
		rc = place_remember(place, err);
	if (rc < 0)
		cli_place_close(place);
	return rc;
}

void cli_place_close(cli_place *place)
{
	place_forget(place->store);
	sherd_store_close(place->store);
	free(place->key);
	free(place->folder);
	remove_missing(place);
	free(place->around);
	for (size_t i = 0; place->keys && i < place->count; i++)
		free(place->keys[i]);
	free(place->keys);
	*place = (cli_place){0};
}

/* As the user named it: the folder around all of them is nobody's. */
static void name_by_path(const cli_place *place, sherd_error *err)
{
	for (size_t i = 0; i < place->count; i++)
		if (strcmp(err->object, place->keys[i]) == 0) {
			name_object(err, "", place->paths[i]);
			return;
		}
	if (err->object[0]) {
		char object[sizeof(err->object)];
		memcpy(object, err->object, sizeof(object));
		name_object(err, place->folder, object);
	}
}

void cli_place_name(const cli_place *place, sherd_error *err)
{
	const known *other = err->store && err->store != place->store ? find_known(err->store) : NULL;
	const char *key = other ? other->key : place->key, *folder = other ? other->folder : place->folder;
	if (err->code == SHERD_ECANCELLED || err->code == SHERD_ENOMEM) {
		err->object[0] = 0; /* nothing is wrong with what was at work just then, and it may be gone */
		return;
	}
	if (strcmp(err->reason, "usage") == 0)
		return;
	if (err->code == SHERD_ENOTFOUND && place->beside && strcmp(err->object, place->key) == 0 &&
	    strcmp(err->reason, "is-folder") != 0)
		(void)snprintf(err->message, sizeof(err->message),
		               "this is a folder (sherd checkpoint list shows the checkpoints in it)");
	if (place->keys && !other) {
		name_by_path(place, err);
		return;
	}
	char object[sizeof(err->object)];
	(void)snprintf(object, sizeof(object), "%.*s", (int)sizeof(object) - 1, err->object[0] ? err->object : key);
	/* A folder that is the whole store is named as the user did, without the '/'. */
	bool whole = !*key && (!*object || strcmp(object, ".") == 0);
	name_object(err, folder, whole ? "" : object);
	size_t len = strlen(err->object);
	if (whole && len > 1)
		err->object[len - 1] = 0;
}
