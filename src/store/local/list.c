#include "store/local/local.h"

#include "base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>

int shd_local_entries(const shd_sys *sys, int fd, shd_local_entry_fn *each, void *arg, sherd_error *err)
{
	_Alignas(struct dirent64) char block[16384];
	for (;;) {
		ssize_t n = SHD_RETRY(sys->getdents(sys, fd, block, sizeof(block)));
		if (n < 0)
			return shd_local_fail(err, errno, "cannot read the folder");
		if (n == 0)
			return SHERD_OK;
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry = (const struct dirent64 *)(const void *)(block + at);
			at += entry->d_reclen;
			if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
				continue;
			if (!each(entry->d_name, entry->d_type, arg))
				return SHERD_OK;
		}
	}
}

typedef struct listing {
	shd_local *store;
	const char *prefix, *after;
	sherd_list_fn *each;
	void *arg;
	sherd_error *err;
	bool stopped;
	char key[SHERD_MAX_KEY + 1]; /* of the entry at hand */
} listing;

/* The entries of one folder. Folders carry a '/' at their end: that is how they sort among their siblings' keys. */
typedef struct level {
	listing *list;
	size_t base; /* how much of the key is the folder */
	int fd;
	shd_arena arena;
	SHD_VEC(char *) names;
} level;

static bool is_folder(const char *name)
{
	return name[strlen(name) - 1] == '/';
}

/* Writes the entry's key into list->key; false when no key is that long. */
static bool set_key(const level *l, const char *name)
{
	size_t len = strlen(name);
	if (len > SHERD_MAX_KEY - l->base)
		return false;
	memcpy(l->list->key + l->base, name, len + 1);
	return true;
}

/* Can there be a wanted key at, or for a folder below, list->key? */
static bool is_wanted(const listing *list, bool folder)
{
	const char *key = list->key;
	size_t len = strlen(key), prefix = strlen(list->prefix);
	if (strncmp(key, list->prefix, folder && len < prefix ? len : prefix) != 0)
		return false;
	if (folder && strncmp(list->after, key, len) == 0)
		return true;
	return strcmp(key, list->after) > 0;
}

/* What the kernel did not say about an entry; links are looked through, but folders that they lead to are not listed.
 */
static unsigned char type_of(level *l, const char *name, unsigned char type)
{
	struct stat st;
	const shd_sys *sys = l->list->store->sys;
	if (type == DT_UNKNOWN && sys->fstatat(sys, l->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return S_ISDIR(st.st_mode)   ? DT_DIR
		       : S_ISREG(st.st_mode) ? DT_REG
		       : S_ISLNK(st.st_mode) ? DT_LNK
		                             : DT_CHR;
	return type;
}

static bool local_list_collect(const char *name, unsigned char type, void *arg)
{
	level *l = arg;
	type = type_of(l, name, type);
	bool folder = type == DT_DIR;
	if ((!folder && type != DT_REG && type != DT_LNK) || strncmp(name, SHD_TEMP_PREFIX, 11) == 0)
		return true;
	char marked[NAME_MAX + 2];
	(void)snprintf(marked, sizeof(marked), "%s%s", name, folder ? "/" : "");
	if (!set_key(l, marked) || !is_wanted(l->list, folder))
		return true;
	char *kept = shd_arena_str(&l->arena, shd_str_of(marked));
	l->names.failed |= !kept;
	shd_vec_push(&l->names, kept);
	return !l->names.failed;
}

static int local_list_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* An object that has gone since its name was read, or a link that leads nowhere, is not listed. */
static int local_list_emit(listing *list)
{
	sherd_stat stat;
	sherd_error why = {0};
	int rc = shd_local_stat(&stat, list->store, list->key, &why);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EUNSUPPORTED)
		return SHERD_OK;
	if (rc < 0)
		return shd_pass(list->err, rc, &why);
	list->stopped = !list->each(list->arg, list->key, &stat);
	return SHERD_OK;
}

static int list_folder(listing *list, size_t base);

static int list_entry(level *l, const char *name)
{
	if (!set_key(l, name))
		return SHERD_OK;
	return is_folder(name) ? list_folder(l->list, l->base + strlen(name)) : local_list_emit(l->list);
}

/* Lists the folder named by the first base bytes of list->key. Depth is bounded by the length of a key. */
static int list_folder(listing *list, size_t base)
{
	shd_local *s = list->store;
	list->key[base ? base - 1 : 0] = 0;
	level l = {.list = list, .base = base};
	l.fd = shd_local_open(s, list->key, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l.fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? SHERD_OK
		                                           : shd_local_fail(list->err, errno, "cannot open the folder");
	if (base)
		list->key[base - 1] = '/';
	int rc = shd_local_entries(s->sys, l.fd, local_list_collect, &l, list->err);
	(void)s->sys->close(s->sys, l.fd);
	if (rc == SHERD_OK)
		rc = shd_vec_check(&l.names, list->err);
	if (rc == SHERD_OK && l.names.count)
		qsort(l.names.items, l.names.count, sizeof(*l.names.items), local_list_by_name);
	for (size_t i = 0; i < l.names.count && rc == SHERD_OK && !list->stopped; i++)
		rc = list_entry(&l, l.names.items[i]);
	shd_vec_done(&l.names);
	shd_arena_done(&l.arena);
	return rc;
}

int shd_local_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                   sherd_error *err)
{
	listing list = {
		.store = (shd_local *)store, .prefix = prefix, .after = after, .each = each, .arg = arg, .err = err};
	size_t base = (size_t)(shd_str_leaf(prefix) - prefix);
	memcpy(list.key, prefix, base);
	return list_folder(&list, base);
}
