#include "engine/ckpt/lent.h"

#include "base/limits.h"
#include "engine/ckpt/metadata.h"
#include "format/ckpt/name.h"

#include <stdlib.h>
#include <string.h>

typedef struct asking {
	sherd_store *store;
	const char *prefix;
	sherd_limits limits;
	shd_meter *meter;
	size_t folder;                  /* so much of the prefix is the folder that it lies in */
	shd_buf mention;                /* what the name of every such shard begins with */
	SHD_VEC(const char *) prefixes; /* in the arena: those of the other metadata */
	shd_buf after;                  /* where the listing goes on; empty: it is at its end */
	bool nomem;
	ckpt_lent *lent;
} asking;

/* A folder below is left out: the listing begins anew after it. '0' follows '/'. */
static bool skip_folder(asking *g, const char *key, const char *slash)
{
	g->after.len = 0;
	shd_buf_append(&g->after, key, (size_t)(slash - key));
	shd_buf_append(&g->after, "0", 1);
	g->nomem = g->after.failed;
	return false;
}

static bool lent_look(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	asking *g = arg;
	const char *slash = strchr(key + g->folder, '/');
	shd_ckpt_name name = shd_ckpt_name_parse(key);
	if (slash)
		return skip_folder(g, key, slash);
	if (name.kind != SHD_CKPT_NAME_METADATA || shd_str_is(name.prefix, g->prefix))
		return true;
	const char *prefix = shd_arena_str(&g->lent->arena, name.prefix);
	shd_vec_push(&g->prefixes, prefix);
	g->nomem = !prefix || g->prefixes.failed;
	return !g->nomem;
}

static int list_others(asking *g, sherd_error *err)
{
	SHD_AUTO_BUF folder = {0};
	SHD_AUTO_BUF from = {0};
	shd_buf_append(&folder, g->prefix, g->folder);
	TRY(shd_buf_end(&folder, err));
	do {
		from.len = 0;
		shd_buf_append(&from, g->after.data, g->after.len);
		TRY(shd_buf_end(&from, err));
		g->after.len = 0;
		TRY(sherd_store_list(g->store, (const char *)folder.data, (const char *)from.data, lent_look, g, err));
		if (g->nomem)
			return shd_fail_nomem(err);
	} while (g->after.len);
	return SHERD_OK;
}

static void suspect(asking *g, const char *prefix)
{
	g->lent->unsure = true;
	g->lent->borrower = prefix;
}

/* Names that are written with escapes are not found in the text. */
static int ask_text(asking *g, const char *prefix, const char *text, size_t len, sherd_error *err)
{
	shd_ckpt_meta meta;
	bool mentioned = memmem(text, len, g->mention.data, g->mention.len) != NULL, ok = true;
	if (!mentioned && !memchr(text, '\\', len))
		return SHERD_OK;
	int rc = shd_ckpt_meta_decode(text, len, &g->limits, &g->lent->arena, &meta, NULL);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	if (rc < 0 && mentioned)
		suspect(g, prefix);
	if (rc < 0)
		return SHERD_OK;
	for (size_t i = 0; i < meta.count && ok; i++) {
		const char *file = meta.shards[i].file, *behind = file ? shd_ckpt_meta_file_behind(file) : NULL;
		shd_str leaf = shd_str_of(behind ? behind : file ? file : "");
		if (leaf.len < g->mention.len || memcmp(leaf.ptr, g->mention.data, g->mention.len) != 0)
			continue;
		(void)shd_map_add(&g->lent->files, leaf, i, &ok);
		g->lent->borrower = prefix;
	}
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int ask_one(asking *g, const char *prefix, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	sherd_error found = {0};
	char *text = NULL;
	size_t len;
	shd_ckpt_name_metadata(&key, prefix);
	TRY(shd_buf_check(&key, err));
	TRY(shd_meter_ask(g->meter, err));
	int rc = sherd_store_get(&text, &len, g->store, (const char *)key.data, g->limits.metadata_bytes, &found);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	if (rc < 0 && rc != SHERD_ENOTFOUND && !shd_ckpt_is_no_object(rc, &found))
		suspect(g, prefix);
	if (rc == SHERD_EIO && g->lent->unsure)
		g->lent->why = found;
	if (rc < 0)
		return SHERD_OK;
	rc = ask_text(g, prefix, text, len, err);
	free(text);
	return rc;
}

static int ask_all(asking *g, sherd_error *err)
{
	TRY(list_others(g, err));
	const char *const *prefixes = g->prefixes.items;
	for (size_t i = 0; i < g->prefixes.count; i++)
		TRY(ask_one(g, prefixes[i], err));
	return SHERD_OK;
}

static int lent_begin(asking *g, sherd_error *err)
{
	g->folder = (size_t)(shd_str_leaf(g->prefix) - g->prefix);
	shd_buf_printf(&g->mention, "%s_shard_", shd_str_leaf(g->prefix));
	return shd_buf_check(&g->mention, err);
}

static void end(asking *g)
{
	shd_buf_done(&g->mention);
	shd_vec_done(&g->prefixes);
	shd_buf_done(&g->after);
}

int shd_ckpt_lent_open(ckpt_lent *out, sherd_store *store, const char *prefix, const sherd_limits *limits,
                       shd_meter *meter, sherd_error *err)
{
	ckpt_lent lent = {0};
	asking g = {.store = store, .prefix = prefix, .meter = meter, .lent = &lent};
	g.limits = shd_limits_or_default(limits);
	int rc = lent_begin(&g, err);
	if (rc == SHERD_OK)
		rc = ask_all(&g, err);
	end(&g);
	if (rc < 0)
		shd_ckpt_lent_done(&lent);
	else
		*out = lent;
	return rc;
}

bool shd_ckpt_may_borrow(sherd_store *store, const char *borrower, const char *prefix)
{
	ckpt_lent lent = {0};
	asking g = {.store = store, .prefix = prefix, .limits = shd_limits_or_default(NULL), .lent = &lent};
	int rc = lent_begin(&g, NULL);
	if (rc == SHERD_OK)
		rc = ask_one(&g, borrower, NULL);
	bool yes = rc < 0 || lent.borrower;
	end(&g);
	shd_ckpt_lent_done(&lent);
	return yes;
}

void shd_ckpt_lent_done(ckpt_lent *lent)
{
	shd_map_done(&lent->files);
	shd_arena_done(&lent->arena);
	*lent = (ckpt_lent){0};
}

bool shd_ckpt_is_lent(const ckpt_lent *lent, const char *key)
{
	return lent->unsure || shd_map_find(&lent->files, shd_str_of(shd_str_leaf(key))) != SHD_MAP_NONE;
}
