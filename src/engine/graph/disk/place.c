#include "engine/graph/disk/place.h"

#include "base/limits.h"
#include "format/rfdb/name.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

int shd_graph_place_init(graph_place *out, sherd_store *store, const char *folder, const sherd_limits *limits,
                         sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_buf_str(&text, folder);
	if (*folder)
		shd_buf_str(&text, "/");
	TRY(shd_buf_check(&text, err));
	char *name = shd_buf_take(&text);
	if (!name)
		return shd_fail_nomem(err);
	*out = (graph_place){.store = store, .folder = name, .limits = shd_limits_or_default(limits)};
	return SHERD_OK;
}

int shd_graph_place_copy(graph_place *out, const graph_place *p, sherd_error *err)
{
	char *name = strdup(p->folder);
	if (!name)
		return shd_fail_nomem(err);
	*out = (graph_place){.store = p->store, .folder = name, .limits = p->limits};
	return SHERD_OK;
}

void shd_graph_place_done(graph_place *p)
{
	free(p->folder);
	*p = (graph_place){0};
}

int shd_graph_place_key(const graph_place *p, const char *name, graph_key *out, sherd_error *err)
{
	size_t folder = strlen(p->folder), len = strlen(name) + 1;
	if (len > sizeof(out->text) || folder > sizeof(out->text) - len)
		return shd_fail(err, SHERD_EINVAL, "bad-key", "the name of the folder is too long");
	memcpy(out->text, p->folder, folder);
	memcpy(out->text + folder, name, len);
	return SHERD_OK;
}

static int disk_place_get(const graph_place *p, const char *key, shd_arena *arena, shd_str *text, char *identity,
                          sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	TRY(sherd_store_read(&reader, p->store, key, err));
	uint64_t size = sherd_reader_size(reader);
	if (size > p->limits.metadata_bytes || size >= SIZE_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "%" PRIu64 " bytes, the limit is %" PRIu64, size,
		                p->limits.metadata_bytes);
	char *bytes = shd_arena_alloc(arena, (size_t)size, 1);
	if (!bytes)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, bytes, (size_t)size, err));
	if (identity)
		memcpy(identity, sherd_reader_identity(reader), sizeof(((sherd_stat *)0)->identity));
	*text = (shd_str){bytes, (size_t)size};
	return SHERD_OK;
}

int shd_graph_place_get(const graph_place *p, const char *name, shd_arena *arena, shd_str *text, char *identity,
                        sherd_error *err)
{
	graph_key key;
	TRY(shd_graph_place_key(p, name, &key, err));
	return shd_in_object(err, disk_place_get(p, key.text, arena, text, identity, err), key.text);
}

static int disk_place_store(const graph_place *p, const char *key, const sherd_write_options *options,
                            const shd_buf *text, sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	TRY(sherd_store_write(&writer, p->store, key, options, err));
	TRY(sherd_writer_append(writer, text->data, text->len, err));
	return sherd_writer_commit(TAKE(writer), err);
}

int shd_graph_place_write(const graph_place *p, const char *name, const sherd_write_options *options,
                          const shd_buf *text, sherd_error *err)
{
	graph_key key, current;
	sherd_write_options o = *options;
	TRY(shd_buf_check(text, err));
	TRY(shd_graph_place_key(p, name, &key, err));
	TRY(shd_graph_place_key(p, SHD_RFDB_CURRENT, &current, err));
	if (o.mode == SHERD_WRITE_NEW)
		o.like = current.text; /* who may use that may use this */
	return shd_in_object(err, disk_place_store(p, key.text, &o, text, err), key.text);
}

int shd_graph_place_put(const graph_place *p, const char *name, sherd_write_mode mode, const shd_buf *text,
                        sherd_error *err)
{
	const sherd_write_options options = {.mode = mode};
	return shd_graph_place_write(p, name, &options, text, err);
}

int shd_graph_place_remove_if(const graph_place *p, const char *name, const char *identity, sherd_error *err)
{
	graph_key key;
	sherd_error failure = {0};
	TRY(shd_graph_place_key(p, name, &key, err));
	int rc = shd_in_object(&failure, sherd_store_remove_if(p->store, key.text, identity, &failure), key.text);
	if (rc == SHERD_ECONFLICT)
		return 1;
	return shd_pass(err, rc, &failure);
}

int shd_graph_place_remove(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	TRY(shd_graph_place_key(p, name, &key, err));
	return shd_in_object(err, sherd_store_remove(p->store, key.text, err), key.text);
}

int shd_graph_place_mkdir(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	if (!(sherd_store_caps(p->store) & SHERD_CAP_MKDIR))
		return SHERD_OK;
	TRY(shd_graph_place_key(p, name, &key, err));
	return shd_in_object(err, sherd_store_mkdir(p->store, key.text, err), key.text);
}

int shd_graph_place_rmdir(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	if (!(sherd_store_caps(p->store) & SHERD_CAP_MKDIR))
		return SHERD_OK;
	TRY(shd_graph_place_key(p, name, &key, err));
	return shd_in_object(err, sherd_store_rmdir(p->store, key.text, err), key.text);
}

int shd_graph_place_has(const graph_place *p, const char *name, sherd_error *err)
{
	graph_key key;
	sherd_stat stat;
	sherd_error found = {0};
	TRY(shd_graph_place_key(p, name, &key, err));
	int rc = sherd_store_stat(&stat, p->store, key.text, &found);
	if (rc == SHERD_ENOTFOUND)
		return 0;
	if (rc == SHERD_OK)
		return 1;
	if (err)
		*err = found;
	return shd_in_object(err, rc, key.text);
}

typedef struct listing {
	size_t base; /* bytes of the folder in a key */
	graph_name_fn *each;
	void *arg;
} listing;

static bool hand_on(void *arg, const char *key, const sherd_stat *stat)
{
	const listing *l = arg;
	return l->each(l->arg, key + l->base, stat);
}

int shd_graph_place_list(const graph_place *p, const char *prefix, graph_name_fn *each, void *arg, sherd_error *err)
{
	graph_key key;
	listing l = {.base = strlen(p->folder), .each = each, .arg = arg};
	TRY(shd_graph_place_key(p, prefix, &key, err));
	return shd_in_object(err, sherd_store_list(p->store, key.text, "", hand_on, &l, err), key.text);
}
