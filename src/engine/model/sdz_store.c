#include "engine/model/sdz.h"

#include <stdio.h>
#include <stdlib.h>

static const shd_zip_limits sdz_rules = {
	.entries = SHD_SDZ_MOST_ENTRIES, .inflated = 1ull << 40, .name = SHD_SDZ_MOST_NAME, .paths = true};

static int sdz_store_refuse(sherd_error *err)
{
	return shd_fail(err, SHERD_EUNSUPPORTED, "read-only", "an archive that was opened for reading");
}

static int refuse_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                        sherd_error *err)
{
	(void)store, (void)key, (void)options, (void)out;
	return sdz_store_refuse(err);
}

static int refuse_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	(void)store, (void)key, (void)if_identity;
	return sdz_store_refuse(err);
}

static const shd_zip_entry *sdz_store_find(const shd_sdz_store *z, const char *key)
{
	size_t prefix = strlen(z->prefix);
	return strncmp(key, z->prefix, prefix) == 0 ? shd_archive_find(&z->archive, key + prefix) : NULL;
}

static int open_entry(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	const shd_sdz_store *z = (const shd_sdz_store *)store;
	const shd_zip_entry *e = sdz_store_find(z, key);
	if (!e)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "the archive has no such entry");
	return shd_archive_read(&z->archive, e, out, err);
}

static void sdz_store_describe(const shd_sdz_store *z, const shd_zip_entry *e, sherd_stat *out)
{
	*out = (sherd_stat){.size = e->size};
	(void)snprintf(out->identity, sizeof(out->identity), "%s", sherd_reader_identity(z->archive.reader));
}

static int stat_entry(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	const shd_sdz_store *z = (const shd_sdz_store *)store;
	const shd_zip_entry *e = sdz_store_find(z, key);
	if (!e)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "the archive has no such entry");
	sdz_store_describe(z, e, out);
	return SHERD_OK;
}

static int list_entries(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                        sherd_error *err)
{
	const shd_sdz_store *z = (const shd_sdz_store *)store;
	(void)err;
	for (size_t i = 0; i < z->archive.count; i++) {
		char key[SHERD_MAX_KEY + 1];
		sherd_stat stat;
		(void)snprintf(key, sizeof(key), "%s%s", z->prefix, z->archive.by_name[i]->name);
		if (strncmp(key, prefix, strlen(prefix)) != 0 || strcmp(key, after) <= 0)
			continue;
		sdz_store_describe(z, z->archive.by_name[i], &stat);
		if (!each(arg, key, &stat))
			break;
	}
	return SHERD_OK;
}

static void close_store(sherd_store *store)
{
	shd_sdz_store *z = (shd_sdz_store *)store;
	shd_archive_done(&z->archive);
	free(z);
}

static const struct sherd_store_ops ops = {
	.scheme = "sdz",
	.caps = SHERD_CAP_MAP,
	.read = open_entry,
	.write = refuse_write,
	.list = list_entries,
	.stat = stat_entry,
	.remove = refuse_remove,
	.close = close_store,
};

/* The key of the archive, or its last part where that would be too long with the name of an entry after it. */
static const char *prefix_of(shd_sdz_store *z, const char *key)
{
	const char *slash = strrchr(key, '/');
	SHD_AUTO_BUF b = {0};
	if (slash && strlen(key) + 1 + SHD_SDZ_MOST_NAME > SHERD_MAX_KEY)
		key = slash + 1;
	shd_buf_printf(&b, "%s/", key);
	return b.failed ? NULL : shd_arena_str(&z->archive.arena, (shd_str){(const char *)b.data, b.len});
}

static int sdz_store_fill(shd_sdz_store *z, sherd_store *store, const char *key, const sherd_limits *limits,
                          sherd_error *err)
{
	sherd_reader *reader;
	TRY(sherd_store_read(&reader, store, key, err));
	TRY(shd_archive_open(&z->archive, reader, &sdz_rules, limits, err));
	z->prefix = prefix_of(z, key);
	return z->prefix ? SHERD_OK : shd_fail_nomem(err);
}

int shd_sdz_store_open(shd_sdz_store **out, sherd_store *store, const char *key, const sherd_limits *limits,
                       sherd_error *err)
{
	shd_sdz_store *z = calloc(1, sizeof(*z));
	if (!z)
		return shd_fail_nomem(err);
	z->base.ops = &ops;
	z->base.around = store;
	int rc = sdz_store_fill(z, store, key, limits, err);
	if (rc < 0) {
		close_store(&z->base);
		return rc;
	}
	*out = z;
	return SHERD_OK;
}
