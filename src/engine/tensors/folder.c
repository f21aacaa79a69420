#include "engine/tensors/folder.h"

#include "base/error.h"

/* Stores list all keys below a prefix. After so many that lie deeper than the folder the listing is begun anew after
 * that part of the tree; the next time after twice as many, since beginning anew may cost a look at the whole folder.
 */
enum { FEW_DEEP = 1000 };

typedef struct gathering {
	shd_folder *folder;
	shd_folder_want_fn *want;
	void *arg;
	size_t base; /* bytes of the folder in a key */
	SHD_VEC(shd_folder_file) list;
	size_t deep, most_deep;        /* keys since it was begun; until it is begun anew */
	char after[SHERD_MAX_KEY + 2]; /* where to begin anew, "" when the end was reached */
	bool nomem;
} gathering;

/* Jumps past "<folder>/<part>/": no key below it but such as begin with a byte 255 sorts after. */
static void skip_part(gathering *g, const char *key)
{
	size_t part = (size_t)(strchr(key + g->base, '/') + 1 - key);
	memcpy(g->after, key, part);
	memcpy(g->after + part, "\xff", 2);
	if (strcmp(g->after, key) < 0)
		memcpy(g->after, key, strlen(key) + 1);
}

static bool add_file(gathering *g, const char *key, const char *name, uint64_t size)
{
	shd_folder_file f = {.key = shd_arena_str(&g->folder->arena, shd_str_of(key)), .size = size};
	g->nomem = !f.key;
	if (g->nomem)
		return false;
	f.name = f.key + (name - key);
	shd_vec_push(&g->list, f);
	return true;
}

static bool gather_file(void *arg, const char *key, const sherd_stat *stat)
{
	gathering *g = arg;
	const char *name = key + g->base;
	if (strchr(name, '/')) {
		if (++g->deep < g->most_deep)
			return true;
		g->deep = 0;
		g->most_deep *= 2;
		skip_part(g, key);
		return false;
	}
	return !g->want(g->arg, shd_str_of(name)) || add_file(g, key, name, stat->size);
}

static int gather_all(gathering *g, sherd_store *store, const char *folder, sherd_error *err)
{
	SHD_AUTO_BUF prefix = {0};
	char after[sizeof(g->after)];
	TRY(shd_folder_key(&prefix, folder, "", err));
	g->base = prefix.len - 1;
	do {
		memcpy(after, g->after, sizeof(after));
		g->after[0] = 0;
		TRY(sherd_store_list(store, (const char *)prefix.data, after, gather_file, g, err));
	} while (g->after[0]);
	g->folder->count = g->list.count;
	g->folder->list = shd_vec_copy(&g->list, &g->folder->arena);
	return g->nomem || g->list.failed || !g->folder->list ? shd_fail_nomem(err) : SHERD_OK;
}

int shd_folder_open(shd_folder *out, sherd_store *store, const char *folder, shd_folder_want_fn *want, void *arg,
                    sherd_error *err)
{
	shd_folder made = {0};
	gathering g = {.folder = &made, .want = want, .arg = arg, .most_deep = FEW_DEEP};
	int rc = gather_all(&g, store, folder, err);
	shd_vec_done(&g.list);
	if (rc < 0)
		shd_folder_done(&made);
	else
		*out = made;
	return rc;
}

static bool want_suffix(void *arg, shd_str name)
{
	return shd_folder_has_suffix(name, arg);
}

int shd_folder_open_suffix(shd_folder *out, sherd_store *store, const char *folder, const char *suffix,
                           sherd_error *err)
{
	return shd_folder_open(out, store, folder, want_suffix, (void *)(uintptr_t)suffix, err);
}

void shd_folder_done(shd_folder *folder)
{
	shd_arena_done(&folder->arena);
	*folder = (shd_folder){0};
}

int shd_folder_key(shd_buf *out, const char *folder, const char *name, sherd_error *err)
{
	shd_buf_str(out, folder);
	shd_buf_str(out, *folder ? "/" : "");
	shd_buf_append(out, name, strlen(name) + 1);
	return shd_buf_check(out, err);
}

int shd_folder_of(shd_buf *out, const char *key, sherd_error *err)
{
	size_t len = (size_t)(shd_str_leaf(key) - key);
	shd_buf_append(out, key, len ? len - 1 : 0);
	return shd_buf_end(out, err);
}

/* The one place where a reason decides: the store has no other word for it. */
int shd_folder_look(sherd_store *store, const char *key, sherd_error *err)
{
	sherd_error failure = {0};
	sherd_stat stat;
	int rc = sherd_store_stat(&stat, store, key, &failure);
	if (rc == SHERD_OK)
		return SHD_NAMES_OBJECT;
	if (rc == SHERD_ENOTFOUND)
		return strcmp(failure.reason, "is-folder") == 0 ? SHD_NAMES_FOLDER : SHD_NAMES_NOTHING;
	return shd_pass(err, rc, &failure);
}

typedef struct folder_path {
	char text[SHERD_MAX_KEY + 1];
} folder_path;

/* What is too long for a key is not there and cannot be made. */
static folder_path path_of(const char *folder)
{
	folder_path p = {{0}};
	size_t len = strlen(folder);
	len -= len && folder[len - 1] == '/';
	memcpy(p.text, folder, len < sizeof(p.text) ? len : 0);
	return p;
}

/* Without its last part. */
static void cut_path(folder_path *p)
{
	char *last = strrchr(p->text, '/');
	*(last ? last : p->text) = 0;
}

int shd_folder_missing(sherd_store *store, const char *folder, size_t *out, sherd_error *err)
{
	size_t missing = 0;
	int named = SHD_NAMES_NOTHING;
	for (folder_path p = path_of(folder); *p.text && named == SHD_NAMES_NOTHING; cut_path(&p)) {
		named = shd_folder_look(store, p.text, err);
		if (named < 0 && named != SHERD_EUNSUPPORTED)
			return shd_in_object(err, named, p.text);
		if (named == SHD_NAMES_OBJECT)
			return shd_in_object(
				err, shd_fail(err, SHERD_EEXIST, "not-a-folder", "a file is there, not a folder"),
				p.text);
		missing += named == SHD_NAMES_NOTHING;
	}
	*out = sherd_store_caps(store) & SHERD_CAP_MKDIR ? missing : 0;
	return SHERD_OK;
}

void shd_folder_remove_made(sherd_store *store, const char *folder, size_t made)
{
	folder_path p = path_of(folder);
	for (; made && *p.text && sherd_store_rmdir(store, p.text, NULL) == SHERD_OK; made--)
		cut_path(&p);
}
