/* engine/tensors/evidence.h - what is known of an object or set before its format is: read once, shared by all who ask,
 * and handed to who opens it. */
#ifndef SHERD_ENGINE_TENSORS_EVIDENCE_H
#define SHERD_ENGINE_TENSORS_EVIDENCE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/publish/head.h"

#include <sherd/store.h>

enum { SHERD_EVIDENCE_FIRST = 4096 };

typedef struct sherd_evidence {
	sherd_store *store;
	const char *key;                         /* "" is the store's outermost folder */
	sherd_reader *reader;                    /* NULL: no object has the key, or it was taken */
	bool is_object;                          /* one had the key */
	uint64_t size;                           /* of the object */
	sherd_str first;                         /* how it begins, at most SHERD_EVIDENCE_FIRST bytes */
	const struct sherd_format_entry *format; /* once it was found; or NULL */
	/* Found out when somebody asks: */
	sherd_head document; /* all of it; text NULL: not read yet */
	sherd_str *zip_names;
	size_t zip_count;
	bool zip_listed;
	sherd_arena arena;
} sherd_evidence;

/* Opens the object and reads how it begins. That no object has the key is no failure. */
int sherd_evidence_open(sherd_evidence *e, sherd_store *store, const char *key, sherd_error *err);
void sherd_evidence_done(sherd_evidence *e);

/* Does it begin like a JSON object? */
bool sherd_evidence_is_json(const sherd_evidence *e);
/* All bytes of the object; SHERD_ELIMIT for one larger than any document that is opened. Borrowed. */
int sherd_evidence_document(sherd_evidence *e, sherd_str *out, sherd_error *err);
/* Names of a ZIP archive's entries, as many as are found in damaged and very large directories; none for others. */
int sherd_evidence_zip(sherd_evidence *e, const sherd_str **out, size_t *count, sherd_error *err);
/* Is there an object <key><suffix>? */
int sherd_evidence_beside(const sherd_evidence *e, const char *suffix, sherd_error *err);
/* Is there an object of this name in the folder that the key names? */
int sherd_evidence_inside(const sherd_evidence *e, const char *leaf, sherd_error *err);

/* The reader, for who opens: the one that was asked, or a new one when that was taken. */
int sherd_evidence_take_reader(sherd_evidence *e, sherd_reader **out, sherd_error *err);
/* The head under this key, for who opens: what was read already when it is the object itself. free() its text. */
int sherd_evidence_take_head(sherd_evidence *e, const char *key, const sherd_limits *limits, sherd_head *out,
                             sherd_error *err);

#endif
