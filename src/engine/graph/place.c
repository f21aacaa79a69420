#include "engine/graph/place.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>

int sherd_graph_place_init(graph_place *out, sherd_store *store, const char *folder, const sherd_limits *limits,
                           sherd_error *err)
{
	SHERD_AUTO_BUF text = {0};
	sherd_buf_str(&text, folder);
	if (*folder)
		sherd_buf_str(&text, "/");
	TRY(sherd_buf_check(&text, err));
	char *name = sherd_buf_take(&text);
	if (!name)
		return sherd_fail_nomem(err);
	*out = (graph_place){.store = store, .folder = name, .limits = sherd_limits_or_default(limits)};
	return SHERD_OK;
}

int sherd_graph_place_copy(graph_place *out, const graph_place *p, sherd_error *err)
{
	char *name = strdup(p->folder);
	if (!name)
		return sherd_fail_nomem(err);
	*out = (graph_place){.store = p->store, .folder = name, .limits = p->limits};
	return SHERD_OK;
}

void sherd_graph_place_done(graph_place *p)
{
	free(p->folder);
	*p = (graph_place){0};
}

int sherd_graph_place_key(const graph_place *p, const char *name, graph_key *out, sherd_error *err)
{
	int n = snprintf(out->text, sizeof(out->text), "%s%s", p->folder, name);
	if (n < 0 || (size_t)n >= sizeof(out->text))
		return sherd_fail(err, SHERD_EINVAL, "bad-key", "the name of the folder is too long");
	return SHERD_OK;
}

int sherd_graph_place_get(const graph_place *p, const char *name, char **data, size_t *len, sherd_error *err)
{
	graph_key key;
	TRY(sherd_graph_place_key(p, name, &key, err));
	return sherd_in_object(err, sherd_store_get(p->store, key.text, p->limits.metadata_bytes, data, len, err),
	                       key.text);
}

int sherd_graph_place_put(const graph_place *p, const char *name, sherd_write_mode mode, const sherd_buf *text,
                          sherd_error *err)
{
	graph_key key;
	TRY(sherd_buf_check(text, err));
	TRY(sherd_graph_place_key(p, name, &key, err));
	return sherd_in_object(err, sherd_store_put(p->store, key.text, mode, text->data, text->len, err), key.text);
}

int sherd_graph_place_remove(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	TRY(sherd_graph_place_key(p, name, &key, err));
	return sherd_in_object(err, sherd_store_remove(p->store, key.text, err), key.text);
}

int sherd_graph_place_mkdir(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	if (!(sherd_store_caps(p->store) & SHERD_CAP_MKDIR))
		return SHERD_OK;
	TRY(sherd_graph_place_key(p, name, &key, err));
	return sherd_in_object(err, sherd_store_mkdir(p->store, key.text, err), key.text);
}

int sherd_graph_place_rmdir(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	if (!(sherd_store_caps(p->store) & SHERD_CAP_MKDIR))
		return SHERD_OK;
	TRY(sherd_graph_place_key(p, name, &key, err));
	return sherd_in_object(err, sherd_store_rmdir(p->store, key.text, err), key.text);
}

int sherd_graph_place_has(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	sherd_stat stat;
	sherd_error found = {0};
	TRY(sherd_graph_place_key(p, name, &key, err));
	int rc = sherd_store_stat(p->store, key.text, &stat, &found);
	if (rc == SHERD_ENOTFOUND)
		return 0;
	if (rc == SHERD_OK)
		return 1;
	if (err)
		*err = found;
	return sherd_in_object(err, rc, key.text);
}

typedef struct listing {
	size_t base; /* bytes of the folder in a key */
	graph_name_fn *each;
	void *arg;
} listing;

static bool hand_on(const char *key, const sherd_stat *stat, void *arg)
{
	const listing *l = arg;
	return l->each(l->arg, key + l->base, stat);
}

int sherd_graph_place_list(const graph_place *p, const char *prefix, graph_name_fn *each, void *arg, sherd_error *err)
{
	graph_key key;
	listing l = {.base = strlen(p->folder), .each = each, .arg = arg};
	TRY(sherd_graph_place_key(p, prefix, &key, err));
	return sherd_in_object(err, sherd_store_list(p->store, key.text, "", hand_on, &l, err), key.text);
}
