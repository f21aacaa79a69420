/* engine/tensors/evidence.h - what is known of an object or set before its format is: read once, shared by all who ask,
 * and handed to who opens it. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/publish/head.h"

#include <sherd/store.h>

enum { SHD_EVIDENCE_FIRST = 4096 };

typedef struct shd_evidence {
	sherd_store *store;
	const char *key;                       /* "" is the store's outermost folder */
	sherd_reader *reader;                  /* NULL: no object has the key, or it was taken */
	bool is_object;                        /* one had the key */
	uint64_t size;                         /* of the object */
	shd_str first;                         /* how it begins, at most SHD_EVIDENCE_FIRST bytes */
	const struct shd_format_entry *format; /* once it was found; or NULL */
	/* Found out when somebody asks: */
	shd_head document; /* all of it; text NULL: not read yet */
	shd_str *zip_names;
	size_t zip_count;
	bool zip_listed;
	shd_arena arena;
} shd_evidence;

/* Opens the object and reads how it begins. That no object has the key is no failure. */
int shd_evidence_open(shd_evidence *e, sherd_store *store, const char *key, sherd_error *err);
void shd_evidence_done(shd_evidence *e);

/* Does it begin like a JSON object? */
bool shd_evidence_is_json(const shd_evidence *e);
/* All bytes of the object; SHERD_ELIMIT for one larger than any document that is opened. Borrowed. */
int shd_evidence_document(shd_evidence *e, shd_str *out, sherd_error *err);
/* Names of a ZIP archive's entries, as many as are found in damaged and very large directories; none for others. */
int shd_evidence_zip(shd_evidence *e, const shd_str **out, size_t *count, sherd_error *err);
/* Is there an object <key><suffix>? */
int shd_evidence_beside(const shd_evidence *e, const char *suffix, sherd_error *err);
/* Is there an object of this name in the folder that the key names? */
int shd_evidence_inside(const shd_evidence *e, const char *leaf, sherd_error *err);

/* Gives back the text of the document: who goes on reads it by himself. */
void shd_evidence_forget(shd_evidence *e);
/* The reader, for who opens: the one that was asked, or a new one when that was taken. */
int shd_evidence_take_reader(shd_evidence *e, sherd_reader **out, sherd_error *err);
/* The head under this key, for who opens: what was read already when it is the object itself. free() its text. */
int shd_evidence_take_head(shd_evidence *e, const char *key, const sherd_limits *limits, shd_head *out,
                           sherd_error *err);
