/* engine/tensors/detect.c - asks the table what is there: by bytes, then by the keys of a document, then by name. */
#include "base/map.h"
#include "codec/json.h"
#include "engine/tensors/format.h"

#include <sherd/detect.h>

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

static int has_zip_entry(sherd_evidence *e, const char *entry, sherd_error *err)
{
	const sherd_str *names;
	size_t count;
	TRY(sherd_evidence_zip(e, &names, &count, err));
	for (size_t i = 0; i < count; i++)
		if (sherd_str_is(names[i], entry) || (strchr("/.", entry[0]) && sherd_str_ends(names[i], entry)))
			return 1;
	return 0;
}

static int fits_bytes(const sherd_format_entry *f, sherd_evidence *e, sherd_error *err)
{
	if (f->magic.len && e->first.len >= f->magic.len && memcmp(e->first.ptr, f->magic.ptr, f->magic.len) == 0)
		return 1;
	int found = f->zip_entry ? has_zip_entry(e, f->zip_entry, err) : 0;
	return found == 0 && f->probe ? f->probe(e, err) : found;
}

static int find_by_bytes(sherd_evidence *e, const sherd_format_entry **out, sherd_error *err)
{
	for (size_t i = 0; sherd_formats[i] && !*out; i++) {
		int fits = fits_bytes(sherd_formats[i], e, err);
		TRY(fits);
		*out = fits ? sherd_formats[i] : NULL;
	}
	return SHERD_OK;
}

/* Marks the key as seen for each format that is told by it; the format that has seen all of its keys. */
static const sherd_format_entry *note_key(sherd_str key, unsigned char *seen)
{
	for (size_t i = 0; sherd_formats[i]; i++) {
		const sherd_format_entry *f = sherd_formats[i];
		unsigned all = 0;
		for (unsigned k = 0; k < COUNT_OF(f->keys) && f->keys[k]; k++) {
			all |= 1u << k;
			seen[i] |= (unsigned char)(sherd_str_is(key, f->keys[k]) ? 1u << k : 0);
		}
		if (all && seen[i] == all)
			return f;
	}
	return NULL;
}

enum { MOST_FORMATS = 128 };

/* Goes by the keys of the outermost object, and stops where the document is damaged: what it was meant to be is told
 * by what stands before. Fails for lack of memory and when the store does. */
static int find_by_keys(sherd_evidence *e, const sherd_format_entry **out, sherd_error *err)
{
	unsigned char seen[MOST_FORMATS] = {0};
	sherd_error damage = {0};
	sherd_str text, key;
	SHERD_AUTO(sherd_json, sherd_json_close) j = NULL;
	int rc = sherd_evidence_document(e, &text, &damage);
	if (rc == SHERD_ELIMIT) /* larger than any that would be opened */
		return SHERD_OK;
	if (rc < 0) {
		if (err)
			*err = damage;
		return rc;
	}
	rc = sherd_json_open(&j, text.ptr, text.len, NULL, &damage);
	if (rc >= 0)
		rc = sherd_json_object(j, &damage);
	while (rc >= 0 && !*out && (rc = sherd_json_key(j, &key, &damage)) > 0) {
		*out = note_key(key, seen);
		if (!*out)
			rc = sherd_json_skip(j, &damage);
	}
	return rc == SHERD_ENOMEM ? sherd_fail_nomem(err) : SHERD_OK;
}

static int find_object(sherd_evidence *e, const sherd_format_entry **out, sherd_error *err)
{
	TRY(find_by_bytes(e, out, err));
	if (!*out && sherd_evidence_is_json(e))
		TRY(find_by_keys(e, out, err));
	for (size_t i = 0; sherd_formats[i] && !*out; i++)
		if (sherd_formats[i]->is_damaged && sherd_formats[i]->is_damaged(e))
			*out = sherd_formats[i];
	return SHERD_OK;
}

static int find_set(sherd_evidence *e, const sherd_format_entry **out, sherd_error *err)
{
	for (size_t i = 0; sherd_formats[i] && !*out; i++) {
		const sherd_format_entry *f = sherd_formats[i];
		int found = f->leaf ? sherd_evidence_inside(e, f->leaf, err) : 0;
		if (found == 0 && f->probe_set)
			found = f->probe_set(e, err);
		TRY(found);
		*out = found ? f : NULL;
	}
	return SHERD_OK;
}

static int find(sherd_evidence *e, const sherd_format_entry **out, sherd_error *err)
{
	*out = NULL;
	if (e->is_object)
		return sherd_in_object(err, find_object(e, out, err), e->key);
	TRY(sherd_in_object(err, find_set(e, out, err), e->key));
	if (*out || !*e->key)
		return SHERD_OK;
	/* A set that was there may have become a file meanwhile. */
	TRY(sherd_evidence_open(e, e->store, e->key, err));
	return e->is_object ? sherd_in_object(err, find_object(e, out, err), e->key) : SHERD_OK;
}

int sherd_format_find(sherd_evidence *e, const sherd_format_entry **out, sherd_error *err)
{
	TRY(find(e, out, err));
	e->format = *out;
	return SHERD_OK;
}

static int refuse_unknown(const sherd_evidence *e, sherd_error *err)
{
	if (e->is_object)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "unknown-format",
		                  "the bytes fit no format that is known here");
	if (*e->key)
		return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "nothing is there");
	return sherd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "a folder of no format that is known here");
}

static int refuse_known(const sherd_format_entry *f, sherd_error *err)
{
	return sherd_fail(err, f->refusal, f->reason, "this is %s: %s%s", f->info.noun,
	                  f->info.kind == SHERD_KIND_FOREIGN ? "not read here; " : "", f->info.advice);
}

int sherd_format_check(const sherd_evidence *e, sherd_error *err)
{
	const sherd_format_entry *f = e->format;
	if (!f)
		return sherd_in_object(err, refuse_unknown(e, err), e->key);
	if (!f->refusal)
		return SHERD_OK;
	return sherd_in_object(err, f->refuse ? f->refuse(e, err) : refuse_known(f, err), e->key);
}

int sherd_format_require(sherd_evidence *e, const sherd_format_entry **out, sherd_error *err)
{
	const sherd_format_entry *entry;
	TRY(sherd_format_find(e, &entry, err));
	TRY(sherd_format_check(e, err));
	*out = entry;
	return SHERD_OK;
}

int sherd_detect(sherd_store *store, const char *key, sherd_format *out, sherd_error *err)
{
	sherd_evidence e;
	const sherd_format_entry *entry;
	TRY(sherd_evidence_open(&e, store, key, err));
	int rc = sherd_format_require(&e, &entry, err);
	if (rc == SHERD_OK)
		*out = entry->info.id;
	sherd_evidence_done(&e);
	return rc;
}
