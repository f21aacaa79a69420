#include "base/buf.h"
#include "engine/model/sdnb.h"
#include "engine/model/sdz.h"

SHERD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHERD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* The key of an entry. */
static int put_key(const sherd_sdz_store *z, const char *name, sherd_buf *out, sherd_error *err)
{
	sherd_buf_printf(out, "%s%s", z->prefix, name);
	sherd_buf_u8(out, 0);
	return sherd_buf_check(out, err);
}

static int begins_like_sdnb(sherd_sdz_store *z, const sherd_zip_entry *e, bool *out, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	SHERD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	char magic[sizeof(SHERD_SDNB_MAGIC) - 1];
	*out = false;
	if (e->size < sizeof(magic))
		return SHERD_OK;
	TRY(put_key(z, e->name, &key, err));
	TRY(sherd_store_read(&z->base, (const char *)key.data, &reader, err));
	TRY(sherd_reader_at(reader, 0, magic, sizeof(magic), err));
	*out = memcmp(magic, SHERD_SDNB_MAGIC, sizeof(magic)) == 0;
	return SHERD_OK;
}

/* The names that SameDiff gives; else the only entry that looks like a model. */
static int choose(sherd_sdz_store *z, const char **out, sherd_error *err)
{
	const char *shard = NULL, *only = NULL;
	for (size_t i = 0; i < z->count; i++) {
		sherd_sdnb_name name;
		sherd_str entry = sherd_str_of(z->entries[i]->name);
		if (sherd_str_is(entry, "model") || sherd_str_is(entry, "model" SHERD_SDNB_SUFFIX)) {
			*out = entry.ptr;
			return SHERD_OK;
		}
		if (!shard && sherd_sdnb_name_parse(entry, &name))
			shard = entry.ptr;
	}
	for (size_t i = 0; !shard && i < z->count; i++) {
		bool is;
		TRY(begins_like_sdnb(z, z->entries[i], &is, err));
		if (is && only)
			return sherd_fail(err, SHERD_EUNSUPPORTED, "no-graph",
			                  "the archive has two models: %.100s and %.100s", only, z->entries[i]->name);
		only = is ? z->entries[i]->name : only;
	}
	if (!shard && !only)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "no-graph", "no entry of the archive is a model");
	*out = shard ? shard : only;
	return SHERD_OK;
}

int sherd_model_open_sdz(sherd_model **out, sherd_store *store, const char *key, const sherd_limits *limits,
                         sherd_error *err)
{
	SHERD_AUTO_BUF inner = {0};
	sherd_sdz_store *z;
	const char *name = NULL;
	TRY(sherd_sdz_store_open(&z, store, key, limits, err));
	SHERD_AUTO(sherd_store, sherd_store_close) archive = &z->base;
	TRY(sherd_in_object(err, choose(z, &name, err), key));
	TRY(put_key(z, name, &inner, err));
	return sherd_sdnb_open(out, TAKE(archive), (const char *)inner.data, limits, &z->base, err);
}
