#include "tensors/cat.h"
#include "base/doc.h"
#include "base/value.h"
#include "rows/npy.h"

/* What is left of a row, and of many rows, at either end. */
enum { ENDS = 4, MANY = 2 * ENDS + 2 };

typedef struct slice_line {
	cli_out *out;
	sherd_dtype dtype;
	uint32_t size;
	bool begun; /* a value stands on the line */
	cli_doc *doc;
} slice_line;

static void line_value(void *arg, const uint8_t *raw)
{
	slice_line *l = arg;
	char text[CLI_VALUE_TEXT + 1];
	size_t len = cli_value_text(l->dtype, raw, text);
	if (l->begun)
		cli_out_bytes(l->out, " ", 1);
	cli_out_bytes(l->out, text, len);
	l->begun = true;
}

static int print_slice_row(const cli_cat *cat, cli_slice_reader *r, uint64_t row, slice_line *line, sherd_error *err)
{
	uint64_t count = cat->slice.row;
	bool cut = cat->elided && count > MANY;
	line->begun = false;
	TRY(cli_slice_read(r, row, 0, cut ? ENDS : count, line_value, line, err));
	if (cut) {
		cli_out_printf(line->out, " ...");
		TRY(cli_slice_read(r, row, count - ENDS, count, line_value, line, err));
	}
	cli_out_bytes(line->out, "\n", 1);
	return SHERD_OK;
}

int cli_cat_slice_text(const cli_cat *cat, sherd_error *err)
{
	CLI_AUTO_SLICE reader = {0};
	slice_line line = {.out = &cat->cli->out, .dtype = cat->tensor->dtype};
	uint64_t rows = cat->slice.row ? cat->slice.rows : 0;
	bool cut = cat->elided && rows > MANY;
	TRY(cli_slice_open(&reader, cat->bundle, cat->index, &cat->slice, err));
	for (uint64_t i = 0; i < rows && !cli_out_failed(); i++) {
		if (cut && i == ENDS) {
			cli_out_printf(line.out, "...\n");
			i = rows - ENDS;
		}
		TRY(print_slice_row(cat, &reader, i, &line, err));
	}
	return SHERD_OK;
}

static int each_row(const cli_cat *cat, cli_slice_fn *each, void *arg, sherd_error *err)
{
	CLI_AUTO_SLICE reader = {0};
	TRY(cli_slice_open(&reader, cat->bundle, cat->index, &cat->slice, err));
	for (uint64_t i = 0; i < cat->slice.rows && cat->slice.row && !cli_out_failed(); i++)
		TRY(cli_slice_read(&reader, i, 0, cat->slice.row, each, arg, err));
	return SHERD_OK;
}

static void slice_json_value(void *arg, const uint8_t *raw)
{
	slice_line *l = arg;
	cli_value_json(l->dtype, raw, l->doc);
}

int cli_cat_slice_json(const cli_cat *cat, sherd_error *err)
{
	const sherd_tensor *t = cat->tensor;
	cli_doc doc = cli_doc_begin(&cat->cli->out);
	slice_line line = {.dtype = t->dtype, .doc = &doc};
	cli_doc_put_text(&doc, "name", t->name);
	cli_doc_put_text(&doc, "dtype", sherd_tensor_type(t));
	cli_doc_put_shape(&doc, "shape", cat->slice.shape, cat->slice.ndim);
	cli_doc_put_open(&doc, "slice", '[');
	for (uint32_t d = 0; d < t->ndim; d++) {
		const uint64_t of[] = {cat->slice.first[d], cat->slice.count[d], cat->slice.step[d]};
		cli_doc_open(&doc, '[');
		for (size_t i = 0; i < COUNT_OF(of); i++)
			cli_doc_u64(&doc, of[i]);
		cli_doc_close(&doc, ']');
	}
	cli_doc_close(&doc, ']');
	cli_doc_put_open(&doc, "values", '[');
	int rc = each_row(cat, slice_json_value, &line, err);
	cli_doc_close(&doc, ']');
	return cli_doc_end(&doc, rc, err);
}

static void slice_raw_value(void *arg, const uint8_t *raw)
{
	slice_line *l = arg;
	cli_out_bytes(l->out, raw, l->size);
}

int cli_cat_slice_raw(const cli_cat *cat, bool npy, sherd_error *err)
{
	const sherd_tensor *t = cat->tensor;
	const char *name = cli_npy_name(t->dtype);
	char head[CLI_NPY_HEAD];
	slice_line line = {.out = &cat->cli->out, .size = sherd_dtype_element_bytes(t->dtype)};
	if (npy && !name)
		return cli_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%.100s is %s, which NumPy files cannot hold",
		                t->name, sherd_tensor_type(t));
	if (!line.size)
		return cli_fail(
			err, SHERD_EUNSUPPORTED, "inside-block",
			"%.100s is %s: single values of it have no bytes of their own (--format text prints them)",
			t->name, sherd_tensor_type(t));
	if (npy)
		cli_out_bytes(line.out, head, cli_npy_head(head, name, cat->slice.shape, cat->slice.ndim));
	return each_row(cat, slice_raw_value, &line, err);
}
