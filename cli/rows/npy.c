#include "rows/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *cli_npy_name(sherd_dtype dtype)
{
	static const char *const names[SHERD_DTYPE_COUNT] = {
		[SHERD_BOOL] = "|b1", [SHERD_U8] = "|u1",  [SHERD_I8] = "|i1",  [SHERD_U16] = "<u2",
		[SHERD_I16] = "<i2",  [SHERD_U32] = "<u4", [SHERD_I32] = "<i4", [SHERD_U64] = "<u8",
		[SHERD_I64] = "<i8",  [SHERD_F16] = "<f2", [SHERD_F32] = "<f4", [SHERD_F64] = "<f8",
		[SHERD_C64] = "<c8",
	};
	return (unsigned)dtype < SHERD_DTYPE_COUNT ? names[dtype] : NULL;
}

size_t cli_npy_head(char *out, const char *name, const uint64_t *shape, uint32_t ndim)
{
	size_t n = (size_t)snprintf(
		out, CLI_NPY_HEAD, "%cNUMPY%c%c..{'descr': '%s', 'fortran_order': False, 'shape': (", 0x93, 1, 0, name);
	for (uint32_t i = 0; i < ndim; i++)
		n += (size_t)snprintf(out + n, CLI_NPY_HEAD - n, "%s%" PRIu64, i ? ", " : "", shape[i]);
	n += (size_t)snprintf(out + n, CLI_NPY_HEAD - n, "%s), }", ndim == 1 ? "," : "");
	size_t text = n;
	if (ndim) /* NumPy leaves room for the first dimension to grow */
		n += 21 - (size_t)snprintf(NULL, 0, "%" PRIu64, shape[0]);
	size_t whole = n + 1 + 64 - (n + 1) % 64;
	memset(out + text, ' ', whole - text);
	out[whole - 1] = '\n';
	out[8] = (char)((whole - 10) & 0xFF);
	out[9] = (char)((whole - 10) >> 8);
	return whole;
}

/* The first dimension may grow, so that all heads of a file have one length. */
static size_t rows_npy_head(const cli_npy_out *n, char *out)
{
	const uint64_t shape[] = {n->rows, n->width};
	return cli_npy_head(out, cli_npy_name(n->dtype), shape, 2);
}

static int rows_npy_begin(cli_npy_out *n, bool replace, sherd_error *err)
{
	char head[CLI_NPY_HEAD];
	size_t len = rows_npy_head(n, head);
	const sherd_write_options options = {.mode = replace ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                                     .head = (uint32_t)len};
	TRY(sherd_store_write(&n->writer, n->place.store, n->place.key, &options, err));
	return sherd_writer_append(n->writer, head, len, err);
}

int cli_npy_begin(cli_npy_out *n, const char *path, bool replace, sherd_dtype dtype, uint64_t width, sherd_error *err)
{
	sherd_stat stat;
	*n = (cli_npy_out){.path = path, .dtype = dtype, .width = width};
	if (!cli_npy_name(dtype))
		return cli_usage(err, "NumPy has no bfloat16: --format npy goes with --dtype f64, f32 or f16");
	TRY(cli_place_open(&n->place, path, true, err));
	int rc = SHERD_OK;
	if (!replace && sherd_store_stat(&stat, n->place.store, n->place.key, NULL) == SHERD_OK)
		rc = cli_fail(err, SHERD_EEXIST, "exists", "it is there already: --replace replaces it");
	if (rc == SHERD_OK)
		rc = rows_npy_begin(n, replace, err);
	if (rc < 0)
		rc = cli_npy_end(n, cli_place_blame(&n->place, rc, err), err);
	return rc;
}

int cli_npy_add(cli_npy_out *n, const void *data, size_t rows, sherd_error *err)
{
	size_t bytes = rows * (size_t)n->width * sherd_dtype_element_bytes(n->dtype);
	n->rows += rows;
	return cli_place_blame(&n->place, sherd_writer_append(n->writer, data, bytes, err), err);
}

int cli_npy_end(cli_npy_out *n, int rc, sherd_error *err)
{
	char head[CLI_NPY_HEAD];
	sherd_writer *writer = n->writer;
	n->writer = NULL;
	if (rc == SHERD_OK && writer) {
		rc = sherd_writer_fill(writer, 0, head, rows_npy_head(n, head), err);
		if (rc == SHERD_OK) {
			rc = sherd_writer_commit(writer, err);
			writer = NULL;
		}
		rc = cli_place_blame(&n->place, rc, err);
	}
	sherd_writer_abort(writer);
	cli_place_close(&n->place);
	return rc;
}
