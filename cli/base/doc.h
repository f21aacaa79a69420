/* cli/base/doc.h - one JSON document, kept until it is whole and then printed.
 *
 * So a command that fails half-way prints its error and nothing else. Small
 * documents are kept in memory, large ones in a temporary file. Calls need no
 * checking: the first failure sticks until cli_doc_end(). Nor need callers ask
 * for --json: without it nothing is kept and nothing printed. */
#pragma once

#include "base/out.h"

#include <sherd/tensor.h>

#include <stdio.h>

typedef struct cli_doc {
	cli_out *out; /* NULL: a part of another document, for cli_doc_move() */
	char *data;
	size_t len;
	FILE *spilled; /* what came before data */
	int failure;   /* an errno; 0 while all is well */
	bool comma;    /* a value stands before, in the same object or array */
} cli_doc;

/* A document is one object, which is open between these two. */
cli_doc cli_doc_begin(cli_out *out);
/* Prints it and a line end where rc is no failure, and frees it. Returns the failure, or SHERD_OK. */
int cli_doc_end(cli_doc *doc, int rc, sherd_error *err);

void cli_doc_open(cli_doc *doc, char bracket); /* '{' or '[' */
void cli_doc_close(cli_doc *doc, char bracket);
void cli_doc_key(cli_doc *doc, const char *key);
void cli_doc_key_bytes(cli_doc *doc, const char *key, size_t len);
/* A byte NN that is not UTF-8 becomes U+EFNN, see sherd(1); a text that is NULL becomes null. */
void cli_doc_text(cli_doc *doc, const char *text);
void cli_doc_text_bytes(cli_doc *doc, const char *text, size_t len);
void cli_doc_u64(cli_doc *doc, uint64_t v);
void cli_doc_i64(cli_doc *doc, int64_t v);
/* What JSON has no number for becomes the text "nan", "inf" or "-inf". */
void cli_doc_f64(cli_doc *doc, double v);
/* A value that is JSON already. */
void cli_doc_raw(cli_doc *doc, const char *json);
/* Members that are JSON already, `"key": value, ...`; NULL and "": none. */
void cli_doc_members(cli_doc *doc, const char *members);

/* Key and value at once. */
void cli_doc_put_text(cli_doc *doc, const char *key, const char *text);
void cli_doc_put_u64(cli_doc *doc, const char *key, uint64_t v);
void cli_doc_put_i64(cli_doc *doc, const char *key, int64_t v);
void cli_doc_put_bool(cli_doc *doc, const char *key, bool v);
void cli_doc_put_open(cli_doc *doc, const char *key, char bracket);
void cli_doc_put_shape(cli_doc *doc, const char *key, const uint64_t *shape, uint32_t ndim);
/* {"object","offset","code","message"}, always all four; what is unknown is null. */
void cli_doc_error(cli_doc *doc, const sherd_error *err);
/* The same, and "count": how many objects it was said of. */
void cli_doc_warning(cli_doc *doc, const sherd_error *err, uint64_t count);

/* Puts all of another document as one value, and frees it. */
void cli_doc_move(cli_doc *doc, cli_doc *from);

/* Frees it unprinted. */
void cli_doc_done(cli_doc *doc);
