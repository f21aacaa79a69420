#include "engine/tensors/index_verify.h"

#include "base/arena.h"
#include "base/map.h"
#include "engine/publish/head.h"
#include "format/safetensors_index.h"

#include <stdlib.h>

enum { ATTEMPT = 16, NUMBER = 5 };

static bool skip_digits(const char **at, const char *digits, size_t least)
{
	size_t n = strspn(*at, digits);
	*at += n;
	return n >= least;
}

/* Is this, behind "<base>-", how our own files go on: "00001-of-00002.safetensors", perhaps with an attempt before? */
static bool is_part(const char *rest)
{
	const char *at = rest;
	if (strspn(at, "0123456789abcdef") == ATTEMPT && at[ATTEMPT] == '-')
		at += ATTEMPT + 1;
	if (!skip_digits(&at, "0123456789", NUMBER) || strncmp(at, "-of-", 4) != 0)
		return false;
	at += 4;
	return skip_digits(&at, "0123456789", NUMBER) && strcmp(at, ".safetensors") == 0;
}

typedef struct search {
	sherd_report *report;
	const sherd_map *named;
	size_t prefix, folder; /* bytes of a key that are "<folder>/<base>-" and "<folder>/" */
	int rc;
	sherd_error *err;
} search;

static bool see(const char *key, const sherd_stat *stat, void *arg)
{
	(void)stat;
	search *s = arg;
	if (is_part(key + s->prefix) && sherd_map_find(s->named, sherd_str_of(key + s->folder)) == SHERD_MAP_NONE)
		s->rc = sherd_report_warn(s->report, key, "stray-shard", s->err, "the index does not name it");
	return s->rc == SHERD_OK;
}

static int find_strays(sherd_report *r, sherd_store *store, sherd_str base, const sherd_safetensors_index *index,
                       sherd_error *err)
{
	__attribute__((cleanup(sherd_map_done))) sherd_map named = {0};
	SHERD_AUTO_BUF prefix = {0};
	bool ok = true;
	for (uint32_t i = 0; ok && i < index->file_count; i++)
		(void)sherd_map_add(&named, sherd_str_of(index->files[i]), i, &ok);
	if (!ok)
		return sherd_fail_nomem(err);
	sherd_buf_append(&prefix, base.ptr, base.len);
	sherd_buf_append(&prefix, "-", 2);
	TRY(sherd_buf_check(&prefix, err));
	const char *front = (const char *)prefix.data;
	search s = {.report = r,
	            .named = &named,
	            .prefix = prefix.len - 1,
	            .folder = (size_t)(sherd_str_leaf(front) - front),
	            .err = err};
	TRY(sherd_store_list(store, front, "", see, &s, err));
	return s.rc;
}

static int warn_of_claim(sherd_report *r, sherd_store *store, sherd_str base, sherd_error *err)
{
	SHERD_AUTO_BUF claim = {0};
	sherd_stat stat;
	sherd_buf_append(&claim, base.ptr, base.len);
	sherd_buf_append(&claim, SHERD_SAFETENSORS_CLAIM_SUFFIX, sizeof(SHERD_SAFETENSORS_CLAIM_SUFFIX));
	TRY(sherd_buf_check(&claim, err));
	if (sherd_store_stat(store, (const char *)claim.data, &stat, NULL) != SHERD_OK)
		return SHERD_OK;
	return sherd_report_warn(r, (const char *)claim.data, "claimed", err,
	                         "a conversion is going on, or died: the next one to this name clears it");
}

int sherd_index_verify_beside(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                              sherd_error *err)
{
	__attribute__((cleanup(sherd_arena_done))) sherd_arena arena = {0};
	SHERD_AUTO_BUF name = {0};
	sherd_str base = sherd_str_of(key);
	sherd_safetensors_index index;
	sherd_head head;
	sherd_stat stat;
	sherd_buf_str(&name, key);
	if (!sherd_str_ends(base, SHERD_SAFETENSORS_INDEX_SUFFIX)) {
		if (sherd_store_stat(store, key, &stat, NULL) == SHERD_OK) {
			r->checked += stat.size;
			return SHERD_OK; /* an index of another name, which has no base */
		}
		sherd_buf_str(&name, SHERD_SAFETENSORS_INDEX_SUFFIX);
	} else {
		base.len -= strlen(SHERD_SAFETENSORS_INDEX_SUFFIX);
	}
	sherd_buf_u8(&name, 0);
	TRY(sherd_buf_check(&name, err));
	TRY(sherd_head_read(&head, store, (const char *)name.data, options->limits, err));
	int rc = sherd_safetensors_index_decode(head.text, head.len, options->limits, &arena, &index, err);
	r->checked += head.len;
	free(head.text);
	TRY(rc);
	TRY(warn_of_claim(r, store, base, err));
	return find_strays(r, store, base, &index, err);
}
