#include "base/buf.h"
#include "engine/model/sdnb.h"
#include "engine/model/sdz.h"

#include <stdlib.h>

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

/* The names that SameDiff gives; else the only entry that looks like a model; NULL: none. */
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
	*out = shard ? shard : only;
	return SHERD_OK;
}

int sherd_sdz_has_model(sherd_store *store, const char *key, bool *out, sherd_error *err)
{
	sherd_sdz_store *z;
	sherd_error failure;
	const char *name = NULL;
	int rc = sherd_sdz_store_open(&z, store, key, NULL, &failure);
	if (rc == SHERD_OK) {
		rc = choose(z, &name, &failure);
		sherd_store_close(&z->base);
	}
	if (rc == SHERD_ENOMEM || rc == SHERD_EIO) {
		if (err)
			*err = failure;
		return rc;
	}
	*out = name || rc == SHERD_ECORRUPT ||
	       (rc < 0 && (strcmp(failure.reason, "no-graph") == 0 || sherd_str_ends(sherd_str_of(key), ".sdz")));
	return SHERD_OK;
}

/* Arrays of each file of the model that a compressed one keeps when it comes past them. */
typedef struct small {
	sherd_sdz_part *parts; /* NULL: none yet */
	size_t count, room;
} small;

static bool is_small(const sherd_sdnb_model *m, size_t array)
{
	return m->arrays[array].stored && m->arrays[array].stored <= SHERD_SDZ_KEPT_MOST;
}

static int gather_small(const sherd_sdnb_model *m, small *files, sherd_error *err)
{
	for (size_t i = 0; i < m->base.array_count; i++)
		files[m->files[i]].room += is_small(m, i);
	for (size_t i = 0; i < m->base.array_count; i++) {
		small *f = &files[m->files[i]];
		if (!is_small(m, i))
			continue;
		if (!f->parts && !(f->parts = calloc(f->room, sizeof(*f->parts))))
			return sherd_fail_nomem(err);
		f->parts[f->count++] = (sherd_sdz_part){.at = m->arrays[i].data, .len = (uint32_t)m->arrays[i].stored};
	}
	return SHERD_OK;
}

static int keep_small(const sherd_sdnb_model *m, sherd_error *err)
{
	small *files = calloc(m->reader_count + 1, sizeof(*files));
	int rc = files ? gather_small(m, files, err) : sherd_fail_nomem(err);
	for (size_t i = 0; files && i < m->reader_count; i++)
		sherd_sdz_keep(m->readers[i], files[i].parts, files[i].count);
	free(files);
	return rc;
}

int sherd_model_open_sdz(sherd_model **out, sherd_evidence *e, const sherd_limits *limits, sherd_error *err)
{
	SHERD_AUTO_BUF inner = {0};
	sherd_sdz_store *z;
	const char *name = NULL;
	TRY(sherd_sdz_store_open(&z, e->store, e->key, limits, err));
	SHERD_AUTO(sherd_store, sherd_store_close) archive = &z->base;
	TRY(sherd_in_object(err, choose(z, &name, err), e->key));
	if (!name)
		return sherd_in_object(
			err, sherd_fail(err, SHERD_EUNSUPPORTED, "no-graph", "no entry of the archive is a model"),
			e->key);
	TRY(put_key(z, name, &inner, err));
	SHERD_AUTO(sherd_model, sherd_model_close) model = NULL;
	TRY(sherd_sdnb_open(&model, TAKE(archive), (const char *)inner.data, limits, &z->base, err));
	TRY(keep_small((const sherd_sdnb_model *)model, err));
	*out = TAKE(model);
	return SHERD_OK;
}
