/* cli/base/doc.h - one JSON document, kept until it is whole and then printed.
 *
 * So a command that fails half-way prints its error and nothing else. Small
 * documents are kept in memory, large ones in a temporary file. Calls need no
 * checking: the first failure sticks until sherd_doc_end(). Nor need callers ask
 * for --json: without it nothing is kept and nothing printed. */
#ifndef SHERD_CLI_BASE_DOC_H
#define SHERD_CLI_BASE_DOC_H

#include "base/out.h"

#include <sherd/tensor.h>

#include <stdio.h>

typedef struct sherd_doc {
	sherd_out *out; /* NULL: a part of another document, for sherd_doc_move() */
	char *data;
	size_t len;
	FILE *spilled; /* what came before data */
	int failure;   /* an errno; 0 while all is well */
	bool comma;    /* a value stands before, in the same object or array */
} sherd_doc;

/* A document is one object, which is open between these two. */
sherd_doc sherd_doc_begin(sherd_out *out);
/* Prints it and a line end where rc is no failure, and frees it. Returns the failure, or SHERD_OK. */
int sherd_doc_end(sherd_doc *doc, int rc, sherd_error *err);

void sherd_doc_open(sherd_doc *doc, char bracket); /* '{' or '[' */
void sherd_doc_close(sherd_doc *doc, char bracket);
void sherd_doc_key(sherd_doc *doc, const char *key);
void sherd_doc_key_bytes(sherd_doc *doc, const char *key, size_t len);
/* A byte NN that is not UTF-8 becomes U+EFNN, see sherd(1); a text that is NULL becomes null. */
void sherd_doc_text(sherd_doc *doc, const char *text);
void sherd_doc_text_bytes(sherd_doc *doc, const char *text, size_t len);
void sherd_doc_u64(sherd_doc *doc, uint64_t v);
void sherd_doc_i64(sherd_doc *doc, int64_t v);
/* What JSON has no number for becomes the text "nan", "inf" or "-inf". */
void sherd_doc_f64(sherd_doc *doc, double v);
/* A value that is JSON already. */
void sherd_doc_raw(sherd_doc *doc, const char *json);
/* Members that are JSON already, `"key": value, ...`; NULL and "": none. */
void sherd_doc_members(sherd_doc *doc, const char *members);

/* Key and value at once. */
void sherd_doc_put_text(sherd_doc *doc, const char *key, const char *text);
void sherd_doc_put_u64(sherd_doc *doc, const char *key, uint64_t v);
void sherd_doc_put_i64(sherd_doc *doc, const char *key, int64_t v);
void sherd_doc_put_bool(sherd_doc *doc, const char *key, bool v);
void sherd_doc_put_open(sherd_doc *doc, const char *key, char bracket);
void sherd_doc_put_shape(sherd_doc *doc, const char *key, const uint64_t *shape, uint32_t ndim);
/* {"object","offset","code","message"}, always all four; what is unknown is null. */
void sherd_doc_error(sherd_doc *doc, const sherd_error *err);
/* The same, and "count": how many objects it was said of. */
void sherd_doc_warning(sherd_doc *doc, const sherd_error *err, uint64_t count);

/* Puts all of another document as one value, and frees it. */
void sherd_doc_move(sherd_doc *doc, sherd_doc *from);

/* Frees it unprinted. */
void sherd_doc_done(sherd_doc *doc);

#endif
