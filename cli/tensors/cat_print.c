#include "tensors/cat.h"
#include "base/doc.h"
#include "rows/npy.h"
#include "base/text.h"
#include "base/value.h"

#include <string.h>

/* ---- text */

typedef struct printing {
	cli_out *out;
	sherd_dtype dtype;
	uint64_t row; /* elements a line */
	uint64_t column;
} printing;

static void print_value(void *arg, const uint8_t *raw)
{
	printing *p = arg;
	char text[CLI_VALUE_TEXT + 1];
	size_t len = cli_value_text(p->dtype, raw, text);
	text[len++] = ++p->column == p->row ? '\n' : ' ';
	if (p->column == p->row)
		p->column = 0;
	cli_out_bytes(p->out, text, len);
}

static int print_string(void *arg, const char *text, size_t len, sherd_error *err)
{
	cli_out *out = arg;
	char safe[CLI_TEXT_SAFE];
	size_t taken;
	(void)err;
	for (size_t i = 0; i < len; i += taken) {
		size_t n = cli_text_safe(text + i, len - i, &taken, safe);
		cli_out_bytes(out, safe, n);
	}
	cli_out_bytes(out, "\n", 1);
	return SHERD_OK;
}

int cli_cat_text(const cli_cat *cat, sherd_error *err)
{
	cli_out *out = &cat->cli->out;
	sherd_dtype dtype = cat->tensor->dtype;
	if (dtype == SHERD_UTF8)
		return cli_cat_strings(cat, print_string, out, err);
	/* A part of a vector is one line too. */
	printing p = {.out = out, .dtype = dtype, .row = cat->row};
	if (cat->tensor->ndim <= 1)
		p.row = cat->last - cat->first;
	return cli_cat_values(cat, print_value, &p, err);
}

/* ---- JSON */

typedef struct listing {
	cli_doc doc;
	sherd_dtype dtype;
} listing;

static void list_value(void *arg, const uint8_t *raw)
{
	listing *l = arg;
	cli_value_json(l->dtype, raw, &l->doc);
}

static int list_string(void *arg, const char *text, size_t len, sherd_error *err)
{
	listing *l = arg;
	(void)err;
	cli_doc_text_bytes(&l->doc, text, len);
	return SHERD_OK;
}

int cli_cat_json(const cli_cat *cat, sherd_error *err)
{
	const sherd_tensor *t = cat->tensor;
	listing l = {cli_doc_begin(&cat->cli->out), t->dtype};
	cli_doc_put_text(&l.doc, "name", t->name);
	cli_doc_put_text(&l.doc, "dtype", sherd_tensor_type(t));
	cli_doc_put_shape(&l.doc, "shape", t->shape, t->ndim);
	cli_doc_put_shape(&l.doc, "range", cat->rows, 2);
	cli_doc_put_open(&l.doc, "values", '[');
	int rc = t->dtype == SHERD_UTF8 ? cli_cat_strings(cat, list_string, &l, err)
	                                : cli_cat_values(cat, list_value, &l, err);
	cli_doc_close(&l.doc, ']');
	return cli_doc_end(&l.doc, rc, err);
}

/* ---- raw and npy */

typedef struct copying {
	cli_out *out;
	uint32_t size; /* of a block */
} copying;

static int copy_blocks(void *arg, const uint8_t *raw, size_t count, sherd_error *err)
{
	const copying *c = arg;
	(void)err;
	cli_out_bytes(c->out, raw, count * c->size);
	return SHERD_OK;
}

static int cat_print_copy_all(const cli_cat *cat, sherd_error *err)
{
	copying c = {.out = &cat->cli->out, .size = sherd_dtype_describe(cat->tensor->dtype)->block_bytes};
	return cli_cat_blocks(cat, copy_blocks, &c, err);
}

/* The tensor as stored, whose elements have no size: of UTF8 the offsets, then the text. */
static int copy_unsized(const cli_cat *cat, sherd_error *err)
{
	cli_cat bytes = *cat;
	sherd_tensor as_bytes = *cat->tensor;
	copying c = {.out = &cat->cli->out, .size = 1};
	if (cat->ranged)
		return cli_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "raw bytes of a part of a %s tensor have no meaning%s", sherd_tensor_type(cat->tensor),
		                cat->tensor->dtype == SHERD_UTF8 ? "; use --format text" : "");
	as_bytes.dtype = SHERD_U8;
	bytes.tensor = &as_bytes;
	bytes.first = 0;
	bytes.last = as_bytes.bytes;
	return cli_cat_blocks(&bytes, copy_blocks, &c, err);
}

int cli_cat_raw(const cli_cat *cat, sherd_error *err)
{
	return sherd_dtype_describe(cat->tensor->dtype)->block_bytes ? cat_print_copy_all(cat, err)
	                                                             : copy_unsized(cat, err);
}

int cli_cat_npy(const cli_cat *cat, sherd_error *err)
{
	const char *name = cli_npy_name(cat->tensor->dtype);
	uint64_t shape[SHERD_MAX_DIMS];
	char head[CLI_NPY_HEAD];
	if (!name)
		return cli_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%.100s is %s, which NumPy files cannot hold",
		                cat->tensor->name, sherd_tensor_type(cat->tensor));
	memcpy(shape, cat->tensor->shape, cat->tensor->ndim * sizeof(shape[0]));
	shape[0] = cat->rows[1] - cat->rows[0];
	cli_out_bytes(&cat->cli->out, head, cli_npy_head(head, name, shape, cat->tensor->ndim));
	return cat_print_copy_all(cat, err);
}
