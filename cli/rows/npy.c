#include "rows/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The head of version 1.0 that NumPy writes for any array of two dimensions. */
enum { HEAD = 128, FIXED = 10 };

static const char *descr_of(sherd_dtype dtype)
{
	return dtype == SHERD_F64 ? "<f8" : dtype == SHERD_F32 ? "<f4" : dtype == SHERD_F16 ? "<f2" : NULL;
}

static void make_head(const cli_npy_out *n, char out[HEAD + 1])
{
	static const char magic[FIXED + 1] = "\x93NUMPY\x01\x00\x76\x00";
	memcpy(out, magic, FIXED);
	int len = snprintf(out + FIXED, HEAD + 1 - FIXED,
	                   "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64 "), }",
	                   descr_of(n->dtype), n->rows, n->width);
	memset(out + FIXED + len, ' ', (size_t)(HEAD - FIXED - len));
	out[HEAD - 1] = '\n';
}

static int rows_npy_begin(cli_npy_out *n, bool replace, sherd_error *err)
{
	char head[HEAD + 1];
	const sherd_write_options options = {.mode = replace ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW, .head = HEAD};
	make_head(n, head);
	TRY(sherd_store_write(&n->writer, n->place.store, n->place.key, &options, err));
	return sherd_writer_append(n->writer, head, HEAD, err);
}

int cli_npy_begin(cli_npy_out *n, const char *path, bool replace, sherd_dtype dtype, uint64_t width, sherd_error *err)
{
	sherd_stat stat;
	*n = (cli_npy_out){.path = path, .dtype = dtype, .width = width};
	if (!descr_of(dtype))
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
	char head[HEAD + 1];
	sherd_writer *writer = n->writer;
	n->writer = NULL;
	if (rc == SHERD_OK && writer) {
		make_head(n, head);
		rc = sherd_writer_fill(writer, 0, head, HEAD, err);
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
