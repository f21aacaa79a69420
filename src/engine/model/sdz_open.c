#include "base/buf.h"
#include "engine/model/sdnb.h"
#include "engine/model/sdz.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* The key of an entry. */
static int put_key(const shd_sdz_store *z, const char *name, shd_buf *out, sherd_error *err)
{
	shd_buf_printf(out, "%s%s", z->prefix, name);
	return shd_buf_end(out, err);
}

static int begins_like_sdnb(shd_sdz_store *z, const shd_zip_entry *e, bool *out, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	char magic[sizeof(SHD_SDNB_MAGIC) - 1];
	*out = false;
	if (e->size < sizeof(magic))
		return SHERD_OK;
	TRY(put_key(z, e->name, &key, err));
	TRY(sherd_store_read(&reader, &z->base, (const char *)key.data, err));
	TRY(sherd_reader_at(reader, 0, magic, sizeof(magic), err));
	*out = memcmp(magic, SHD_SDNB_MAGIC, sizeof(magic)) == 0;
	return SHERD_OK;
}

/* The names that SameDiff gives; else the only entry that looks like a model; NULL: none. */
static int sdz_open_choose(shd_sdz_store *z, const char **out, sherd_error *err)
{
	const char *shard = NULL, *only = NULL;
	for (size_t i = 0; i < z->archive.count; i++) {
		shd_sdnb_name name;
		shd_str entry = shd_str_of(z->archive.by_name[i]->name);
		if (shd_str_is(entry, "model") || shd_str_is(entry, "model" SHD_SDNB_SUFFIX)) {
			*out = entry.ptr;
			return SHERD_OK;
		}
		if (!shard && shd_sdnb_name_parse(entry, &name))
			shard = entry.ptr;
	}
	for (size_t i = 0; !shard && i < z->archive.count; i++) {
		bool is;
		TRY(begins_like_sdnb(z, z->archive.by_name[i], &is, err));
		if (is && only)
			return shd_fail(err, SHERD_EUNSUPPORTED, "no-graph",
			                "the archive has two models: %.100s and %.100s", only,
			                z->archive.by_name[i]->name);
		only = is ? z->archive.by_name[i]->name : only;
	}
	*out = shard ? shard : only;
	return SHERD_OK;
}

int shd_sdz_has_model(sherd_store *store, const char *key, bool *out, sherd_error *err)
{
	shd_sdz_store *z;
	sherd_error failure;
	const char *name = NULL;
	int rc = shd_sdz_store_open(&z, store, key, NULL, &failure);
	if (rc == SHERD_OK) {
		rc = sdz_open_choose(z, &name, &failure);
		sherd_store_close(&z->base);
	}
	if (rc == SHERD_ENOMEM || rc == SHERD_EIO)
		return shd_pass(err, rc, &failure);
	/* What our rules refuse of an archive without a model's entries is no damage of a model. */
	*out = name || (rc < 0 && (strcmp(failure.reason, "no-graph") == 0 || shd_str_ends(shd_str_of(key), ".sdz")));
	return SHERD_OK;
}

/* Arrays of each file of the model that a compressed one keeps when it comes past them. */
typedef struct small {
	shd_zip_part *parts; /* NULL: none yet */
	size_t count, room;
} small;

static bool is_small(const shd_sdnb_model *m, size_t array)
{
	return m->arrays[array].stored && m->arrays[array].stored <= SHD_ZIP_KEPT_MOST;
}

static int gather_small(const shd_sdnb_model *m, small *files, sherd_error *err)
{
	for (size_t i = 0; i < m->base.array_count; i++)
		files[m->files[i]].room += is_small(m, i);
	for (size_t i = 0; i < m->base.array_count; i++) {
		small *f = &files[m->files[i]];
		if (!is_small(m, i))
			continue;
		if (!f->parts && !(f->parts = calloc(f->room, sizeof(*f->parts))))
			return shd_fail_nomem(err);
		f->parts[f->count++] = (shd_zip_part){.at = m->arrays[i].data, .len = (uint32_t)m->arrays[i].stored};
	}
	return SHERD_OK;
}

static int keep_small(const shd_sdnb_model *m, sherd_error *err)
{
	small *files = calloc(m->reader_count + 1, sizeof(*files));
	int rc = files ? gather_small(m, files, err) : shd_fail_nomem(err);
	for (size_t i = 0; files && i < m->reader_count; i++)
		shd_archive_keep(m->readers[i], files[i].parts, files[i].count);
	free(files);
	return rc;
}

int shd_model_open_sdz(sherd_model **out, shd_evidence *e, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO_BUF inner = {0};
	shd_sdz_store *z;
	const char *name = NULL;
	TRY(shd_sdz_store_open(&z, e->store, e->key, limits, err));
	SHD_AUTO(sherd_store, sherd_store_close) archive = &z->base;
	TRY(shd_in_object(err, sdz_open_choose(z, &name, err), e->key));
	if (!name)
		return shd_in_object(
			err, shd_fail(err, SHERD_EUNSUPPORTED, "no-graph", "no entry of the archive is a model"),
			e->key);
	TRY(put_key(z, name, &inner, err));
	SHD_AUTO(sherd_model, sherd_model_close) model = NULL;
	TRY(shd_sdnb_open(&model, TAKE(archive), (const char *)inner.data, limits, &z->base, err));
	TRY(keep_small((const shd_sdnb_model *)model, err));
	for (size_t i = 0; i < z->archive.count; i++)
		model->stream |= z->archive.entries[i].method != SHD_ZIP_STORED;
	*out = TAKE(model);
	return SHERD_OK;
}
