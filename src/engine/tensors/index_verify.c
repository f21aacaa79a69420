#include "engine/tensors/index_verify.h"

#include "base/arena.h"
#include "base/map.h"
#include "engine/publish/head.h"
#include "engine/tensors/bundle.h"
#include "format/tensor/safetensors_index.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

enum { ATTEMPT = 16, NUMBER = 5, MOST_TRIES = 8 };

static bool skip_digits(const char **at, const char *digits, size_t least)
{
	size_t n = strspn(*at, digits);
	*at += n;
	return n >= least;
}

/* Is this, after "<base>-", how our own files go on: "00001-of-00002.safetensors", perhaps with an attempt before? */
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
	const shd_map *named;
	size_t prefix, folder; /* bytes of a key that are "<folder>/<base>-" and "<folder>/" */
	int rc;
	sherd_error *err;
} search;

static bool index_verify_see(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	search *s = arg;
	if (is_part(key + s->prefix) && shd_map_find(s->named, shd_str_of(key + s->folder)) == SHD_MAP_NONE)
		s->rc = shd_report_warn(s->report, key, "stray-shard", s->err, "the index does not name it");
	return s->rc == SHERD_OK;
}

static int find_strays(sherd_report *r, sherd_store *store, shd_str base, const shd_safetensors_index *index,
                       sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map named = {0};
	SHD_AUTO_BUF prefix = {0};
	bool ok = true;
	for (uint32_t i = 0; ok && i < index->file_count; i++)
		(void)shd_map_add(&named, shd_str_of(index->files[i]), i, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	shd_buf_append(&prefix, base.ptr, base.len);
	shd_buf_append(&prefix, "-", 2);
	TRY(shd_buf_check(&prefix, err));
	const char *front = (const char *)prefix.data;
	search s = {.report = r,
	            .named = &named,
	            .prefix = prefix.len - 1,
	            .folder = (size_t)(shd_str_leaf(front) - front),
	            .err = err};
	TRY(sherd_store_list(store, front, "", index_verify_see, &s, err));
	return s.rc;
}

static int warn_of_claim(sherd_report *r, sherd_store *store, shd_str base, sherd_error *err)
{
	SHD_AUTO_BUF claim = {0};
	sherd_stat stat;
	shd_buf_append(&claim, base.ptr, base.len);
	shd_buf_append(&claim, SHD_SAFETENSORS_CLAIM_SUFFIX, sizeof(SHD_SAFETENSORS_CLAIM_SUFFIX));
	TRY(shd_buf_check(&claim, err));
	if (sherd_store_stat(&stat, store, (const char *)claim.data, NULL) != SHERD_OK)
		return SHERD_OK;
	return shd_report_warn(r, (const char *)claim.data, "claimed", err,
	                       "a conversion is going on, or died: the next one to this name clears it");
}

/* ---- what the index says */

static int index_verify_check_file(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                                   sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	shd_safetensors head;
	int rc = shd_bundle_open_named(&reader, store, key, err);
	TRY(shd_in_object(err, rc, key));
	TRY(shd_bundle_read_safetensors(reader, o->limits, &arena, &head, err));
	uint64_t data = 0, size = sherd_reader_size(reader);
	for (size_t i = 0; i < head.count; i++)
		data += head.entries[i].tensor.bytes;
	r->checked += size > data ? size - data : size;
	return SHERD_OK;
}

/* Every file is looked at, so that all damage is told; then the whole set, which adds what its parts say of each
 * other. */
static int index_verify_check_set(sherd_report *r, sherd_store *store, const char *key,
                                  const shd_safetensors_index *index, const sherd_verify_options *o, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	const sherd_bundle_options options = {.pool = o->pool, .limits = o->limits, .progress = o->progress};
	sherd_error found = {0};
	for (uint32_t i = 0; i < index->file_count; i++) {
		SHD_AUTO_BUF file = {0};
		shd_buf_append(&file, key, (size_t)(shd_str_leaf(key) - key));
		shd_buf_append(&file, index->files[i], strlen(index->files[i]) + 1);
		TRY(shd_buf_check(&file, err));
		int rc = index_verify_check_file(r, store, (const char *)file.data, o, &found);
		TRY(shd_report_take(r, rc, &found, (const char *)file.data, err));
	}
	if (sherd_report_errors(r))
		return SHERD_OK;
	int rc = sherd_bundle_open(&bundle, store, key, &options, &found);
	return shd_report_take(r, rc, &found, key, err);
}

static int index_verify_check_index(sherd_report *r, sherd_store *store, const char *key, const shd_head *head,
                                    const sherd_verify_options *o, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str base = shd_str_of(key);
	shd_safetensors_index index;
	sherd_error found = {0};
	int rc = shd_safetensors_index_decode(head->text, head->len, o->limits, &arena, &index, &found);
	r->checked += head->len;
	TRY(shd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	TRY(index_verify_check_set(r, store, key, &index, o, err));
	if (!shd_str_ends(base, SHD_SAFETENSORS_INDEX_SUFFIX))
		return SHERD_OK; /* an index of another name, which has no base */
	base.len -= strlen(SHD_SAFETENSORS_INDEX_SUFFIX);
	TRY(warn_of_claim(r, store, base, err));
	return find_strays(r, store, base, &index, err);
}

int shd_index_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                     sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	bool again = true;
	TRY(shd_bundle_name_index(store, key, &name, err));
	const char *index = (const char *)name.data;
	for (int tries = 0; again; tries++) {
		SHD_DONE(shd_report_done) sherd_report part = {0};
		sherd_error found = {0};
		shd_head head;
		int rc = shd_head_read(&head, store, index, options->limits, &found);
		TRY(shd_report_take(r, rc, &found, index, err));
		if (rc < 0)
			return SHERD_OK;
		rc = index_verify_check_index(&part, store, index, &head, options, err);
		free(head.text);
		TRY(rc);
		/* What the index named may have gone because another took its place. */
		again = sherd_report_errors(&part) && tries < MOST_TRIES && shd_head_changed(&head, store, index);
		if (!again)
			TRY(shd_report_merge(r, &part, err));
	}
	return shd_report_warn(r, key, "no-checksum", err,
	                       "the format has no checksums: only its structure was checked");
}
