/* store/open.c - which store a name means. */
#include "store/schemes.h"

#include "base/error.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

static const sherd_scheme *const built_in[] = {&shd_scheme_file, &shd_scheme_memory, NULL};

const sherd_scheme *const *sherd_store_schemes(void)
{
	return built_in;
}

const char *sherd_store_setting(const sherd_store_options *options, const char *name)
{
	const char *value = NULL;
	for (size_t i = 0; i < options->own_count; i++)
		if (strcmp(options->own[i].key, name) == 0)
			value = options->own[i].value;
	return value;
}

/* The scheme at the front of a name. Plain paths may hold a ':', so that only "://" and "file:" make a URI. */
static shd_str scheme_of(const char *uri)
{
	size_t len = strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
	bool is_uri = len > 0 && strncmp(uri + len, "://", 3) == 0;
	return is_uri ? (shd_str){uri, len} : shd_str_of("file");
}

static const sherd_scheme *scheme_find(const sherd_scheme *const *list, shd_str name)
{
	for (; list && *list; list++)
		if (shd_str_is(name, (*list)->name))
			return *list;
	return NULL;
}

static void scheme_add_names(char *text, size_t room, const sherd_scheme *const *list)
{
	for (; list && *list; list++) {
		size_t used = strlen(text);
		(void)snprintf(text + used, room - used, "%s%s", used ? ", " : "", (*list)->name);
	}
}

static int scheme_refuse(const char *uri, shd_str name, const sherd_store_options *options, sherd_error *err)
{
	char names[128] = "";
	scheme_add_names(names, sizeof(names), built_in);
	scheme_add_names(names, sizeof(names), options->schemes);
	int rc = shd_fail(err, SHERD_EUNSUPPORTED, "unsupported-scheme", "%.*s:// cannot be opened here, only %s",
	                  (int)(name.len < 32 ? name.len : 32), name.ptr, names);
	return shd_in_object(err, rc, uri);
}

static int check_settings(const sherd_scheme *scheme, const sherd_store_options *options, sherd_error *err)
{
	for (size_t i = 0; i < options->own_count; i++) {
		const char *const *known = scheme->settings;
		while (known && *known && strcmp(*known, options->own[i].key) != 0)
			known++;
		if (!known || !*known)
			return shd_fail(err, SHERD_EINVAL, "bad-setting", "stores of %s:// have no setting \"%.64s\"",
			                scheme->name, options->own[i].key);
	}
	return SHERD_OK;
}

/* The front of the name that is left without the key, which stands at its end. */
static char *label_of(const char *uri, const char *key)
{
	size_t len = strlen(uri), tail = strlen(key);
	char *label;
	if (!tail)
		return asprintf(&label, "%s%s", uri, len && uri[len - 1] == '/' ? "" : "/") < 0 ? NULL : label;
	while (len > 0 && uri[len - 1] == '/')
		len--;
	bool ends = len >= tail && memcmp(uri + len - tail, key, tail) == 0;
	return ends ? strndup(uri, len - tail) : strdup("");
}

int sherd_store_open(sherd_store **out, char **key, const char *uri, const sherd_store_options *options,
                     sherd_error *err)
{
	static const sherd_store_options usual;
	options = options ? options : &usual;
	if (!uri || !*uri)
		return shd_fail(err, SHERD_EINVAL, "bad-path", "the path is empty");
	shd_str name = scheme_of(uri);
	const sherd_scheme *scheme = scheme_find(options->schemes, name);
	scheme = scheme ? scheme : scheme_find(built_in, name);
	if (!scheme)
		return scheme_refuse(uri, name, options, err);
	TRY(shd_in_object(err, check_settings(scheme, options, err), uri));
	sherd_store *store = NULL;
	char *found = NULL;
	TRY(shd_in_object(err, scheme->open(&store, &found, uri, options, err), uri));
	if (!store->label)
		store->label = label_of(uri, found);
	if (!store->label) {
		free(found);
		sherd_store_close(store);
		return shd_in_object(err, shd_fail_nomem(err), uri);
	}
	*out = store;
	*key = found;
	return SHERD_OK;
}

const char *sherd_store_label(const sherd_store *store)
{
	return store->label ? store->label : "";
}

void sherd_store_name_error(const sherd_store *store, const char *key, sherd_error *err)
{
	char object[sizeof(err->object)];
	const sherd_store *of = err->store ? err->store : store;
	memcpy(object, err->object, sizeof(object));
	const char *what = *object ? object : of == store && key ? key : "", *label = of ? sherd_store_label(of) : "";
	size_t len = strlen(label);
	/* A folder that is the whole store is named as the user did, without the '/'. */
	bool whole = !*what || strcmp(what, ".") == 0;
	bool slash = whole && len > 1 && label[len - 2] != '/';
	char *name;
	if (asprintf(&name, "%.*s%s", (int)(slash ? len - 1 : len), label, whole ? "" : what) < 0)
		return;
	err->object[0] = 0;
	err->store = NULL;
	(void)shd_in_object(err, SHERD_EINVAL, name);
	free(name);
}
