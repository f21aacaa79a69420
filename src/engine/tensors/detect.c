/* engine/tensors/detect.c - asks the table what is there: by bytes, then by the keys of a document, then by name. */
#include "codec/json.h"
#include "engine/tensors/format.h"

#include <sherd/detect.h>

static int has_zip_entry(shd_evidence *e, const char *entry, sherd_error *err)
{
	const shd_str *names;
	size_t count;
	TRY(shd_evidence_zip(e, &names, &count, err));
	for (size_t i = 0; i < count; i++)
		if (shd_str_is(names[i], entry) || (strchr("/.", entry[0]) && shd_str_ends(names[i], entry)))
			return 1;
	return 0;
}

static int is_zip_of(shd_evidence *e, const char *ending, sherd_error *err)
{
	const shd_str *names;
	size_t count;
	TRY(shd_evidence_zip(e, &names, &count, err));
	for (size_t i = 0; i < count; i++)
		if (!shd_str_ends(names[i], ending))
			return 0;
	return count > 0;
}

static int fits_bytes(const shd_format_entry *f, shd_evidence *e, sherd_error *err)
{
	if (f->magic.len && e->first.len >= f->magic.len && memcmp(e->first.ptr, f->magic.ptr, f->magic.len) == 0)
		return 1;
	int found = f->zip_entry ? has_zip_entry(e, f->zip_entry, err) : 0;
	if (found == 0 && f->zip_ending)
		found = is_zip_of(e, f->zip_ending, err);
	return found == 0 && f->probe ? f->probe(e, err) : found;
}

static int find_by_bytes(shd_evidence *e, const shd_format_entry **out, sherd_error *err)
{
	for (size_t i = 0; shd_formats[i] && !*out; i++) {
		int fits = fits_bytes(shd_formats[i], e, err);
		TRY(fits);
		*out = fits ? shd_formats[i] : NULL;
	}
	return SHERD_OK;
}

enum { MOST_FORMATS = 128 }; /* unit/engine/tensors/formats holds the table against it */

/* Marks the key as seen for each format that is told by it; the format that has seen all of its keys. */
static const shd_format_entry *note_key(shd_str key, unsigned char *seen)
{
	for (size_t i = 0; shd_formats[i] && i < MOST_FORMATS; i++) {
		const shd_format_entry *f = shd_formats[i];
		unsigned all = 0;
		for (unsigned k = 0; k < COUNT_OF(f->keys) && f->keys[k]; k++) {
			all |= 1u << k;
			seen[i] |= (unsigned char)(shd_str_is(key, f->keys[k]) ? 1u << k : 0);
		}
		if (all && seen[i] == all)
			return f;
	}
	return NULL;
}

/* Goes by the keys of the outermost object, and stops where the document is damaged: what it was meant to be is told
 * by what stands before. Fails for lack of memory and when the store does. */
static int find_by_keys(shd_evidence *e, const shd_format_entry **out, sherd_error *err)
{
	unsigned char seen[MOST_FORMATS] = {0};
	sherd_error damage = {0};
	shd_str text, key;
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	int rc = shd_evidence_document(e, &text, &damage);
	if (rc == SHERD_ELIMIT) /* larger than any that would be opened */
		return SHERD_OK;
	if (rc < 0) {
		if (err)
			*err = damage;
		return rc;
	}
	rc = shd_json_open(&j, text.ptr, text.len, NULL, &damage);
	if (rc >= 0)
		rc = shd_json_object(j, &damage);
	while (rc >= 0 && !*out && (rc = shd_json_key(j, &key, &damage)) > 0) {
		*out = note_key(key, seen);
		if (!*out)
			rc = shd_json_skip(j, &damage);
	}
	return rc == SHERD_ENOMEM ? shd_fail_nomem(err) : SHERD_OK;
}

static int find_object(shd_evidence *e, const shd_format_entry **out, sherd_error *err)
{
	TRY(find_by_bytes(e, out, err));
	if (!*out && shd_evidence_is_json(e))
		TRY(find_by_keys(e, out, err));
	for (size_t i = 0; shd_formats[i] && !*out; i++)
		if (shd_formats[i]->is_damaged && shd_formats[i]->is_damaged(e))
			*out = shd_formats[i];
	return SHERD_OK;
}

static int find_set(shd_evidence *e, const shd_format_entry **out, sherd_error *err)
{
	for (size_t i = 0; shd_formats[i] && !*out; i++) {
		const shd_format_entry *f = shd_formats[i];
		int found = f->leaf ? shd_evidence_inside(e, f->leaf, err) : 0;
		if (found == 0 && f->probe_set)
			found = f->probe_set(e, err);
		TRY(found);
		*out = found ? f : NULL;
	}
	return SHERD_OK;
}

static int detect_find(shd_evidence *e, const shd_format_entry **out, sherd_error *err)
{
	*out = NULL;
	if (e->is_object)
		return shd_in_object(err, find_object(e, out, err), e->key);
	TRY(shd_in_object(err, find_set(e, out, err), e->key));
	if (*out || !*e->key)
		return SHERD_OK;
	/* A set that was there may have become a file meanwhile. */
	TRY(shd_evidence_open(e, e->store, e->key, err));
	return e->is_object ? shd_in_object(err, find_object(e, out, err), e->key) : SHERD_OK;
}

int shd_format_find(shd_evidence *e, const shd_format_entry **out, sherd_error *err)
{
	TRY(detect_find(e, out, err));
	e->format = *out;
	return SHERD_OK;
}

static int refuse_unknown(const shd_evidence *e, sherd_error *err)
{
	if (e->is_object)
		return shd_fail(err, SHERD_EUNSUPPORTED, "unknown-format",
		                "the bytes fit no format that is known here");
	if (*e->key)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "nothing is there");
	return shd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "a folder of no format that is known here");
}

static int refuse_known(const shd_format_entry *f, sherd_error *err)
{
	return shd_fail(err, f->refusal, f->reason, "this is %s: %s%s", f->info.noun,
	                f->info.kind == SHERD_KIND_FOREIGN ? "not read here; " : "", f->info.advice);
}

int shd_format_check(const shd_evidence *e, sherd_error *err)
{
	const shd_format_entry *f = e->format;
	if (!f)
		return shd_in_object(err, refuse_unknown(e, err), e->key);
	if (!f->refusal)
		return SHERD_OK;
	return shd_in_object(err, f->refuse ? f->refuse(e, err) : refuse_known(f, err), e->key);
}

int shd_format_require(shd_evidence *e, const shd_format_entry **out, sherd_error *err)
{
	const shd_format_entry *entry;
	TRY(shd_format_find(e, &entry, err));
	TRY(shd_format_check(e, err));
	*out = entry;
	return SHERD_OK;
}

int sherd_detect(sherd_format *out, sherd_store *store, const char *key, sherd_error *err)
{
	SHD_DONE(shd_evidence_done) shd_evidence e = {0};
	const shd_format_entry *entry;
	TRY(shd_evidence_open(&e, store, key, err));
	TRY(shd_format_require(&e, &entry, err));
	*out = entry->info.id;
	return SHERD_OK;
}
