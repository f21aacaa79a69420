#include "base/place.h"
#include "components.h"
#include "base/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part after the last '/' that does not end the path. */
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
static void name_path(sherd_error *err, const char *path)
{
	size_t len = strlen(path), room = sizeof(err->object) - 1;
	if (len > room)
		(void)snprintf(err->object, sizeof(err->object), "...%s", path + (len - room + 3));
	else
		(void)snprintf(err->object, sizeof(err->object), "%s", path);
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

/* What a command writes is to stay when it ends. */
static int refuse_unstable(const cli_place *place, const char *path, sherd_error *err)
{
	if (sherd_store_caps(place->store) & SHERD_CAP_DURABLE)
		return SHERD_OK;
	int rc = cli_fail(err, SHERD_EUNSUPPORTED, "not-durable", "what is written there does not stay");
	name_path(err, path);
	return rc;
}

static struct {
	const char *folder; /* NULL: none */
	sherd_cache_options options;
} cache;

int cli_place_use_cache(const char *folder, sherd_error *err)
{
	const char *bytes = getenv("SHERD_CACHE_SIZE");
	folder = folder ? folder : getenv("SHERD_CACHE");
	cache.folder = folder && *folder ? folder : NULL;
	if (cache.folder && bytes && *bytes && !cli_args_bytes(bytes, &cache.options.bytes))
		return cli_usage(err, "SHERD_CACHE_SIZE takes a number of bytes such as 64M or 16G, not '%.64s'",
		                 bytes);
	return SHERD_OK;
}

static int open_cached(cli_place *place, const char *path, const sherd_store_options *options, sherd_error *err)
{
	sherd_store *cached = NULL;
	TRY(sherd_store_open(&place->store, &place->key, path, options, err));
	if (!cache.folder || !(sherd_store_caps(place->store) & SHERD_CAP_REMOTE))
		return SHERD_OK;
	int rc = sherd_store_open_cache(&cached, place->store, cache.folder, &cache.options, err);
	if (rc < 0)
		cli_place_close(place);
	else
		place->store = cached;
	return rc;
}

int cli_place_open(cli_place *place, const char *path, bool create, sherd_error *err)
{
	sherd_store_options options = {.create = create, .schemes = cli_schemes()};
	*place = (cli_place){0};
	cli_hide_secrets(path);
	TRY(open_cached(place, path, &options, err));
	if (!*place->key) {
		cli_place_close(place);
		options.beside = true;
		TRY(open_cached(place, path, &options, err));
		place->beside = true;
	}
	int rc = create ? refuse_unstable(place, path, err) : SHERD_OK;
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
	sherd_store_options options = {.schemes = cli_schemes()};
	*place = (cli_place){0};
	cli_hide_secrets(path);
	TRY(open_cached(place, path, &options, err));
	if (!*place->key)
		return SHERD_OK;
	sherd_stat stat;
	int rc = sherd_store_stat(&stat, place->store, place->key, err);
	if (rc == SHERD_OK)
		rc = cli_fail(err, SHERD_EINVAL, "not-a-folder", "this is not a folder");
	name_path(err, path);
	cli_place_close(place);
	return rc;
}

void cli_place_close(cli_place *place)
{
	sherd_store_close(place->store);
	sherd_free(place->key);
	for (size_t i = 0; place->keys && i < place->count; i++)
		free(place->keys[i]);
	free(place->keys);
	*place = (cli_place){0};
}

void cli_place_name(const cli_place *place, sherd_error *err)
{
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
	bool listed = place->keys && (!err->store || err->store == place->store);
	/* As the user named it: the folder around all of them is nobody's. */
	for (size_t i = 0; listed && i < place->count; i++)
		if (strcmp(err->object, place->keys[i]) == 0) {
			name_path(err, place->paths[i]);
			return;
		}
	if (!listed || err->object[0])
		sherd_store_name_error(place->store, place->key, err);
}
