/* Rows that are kept as they come, by a job that may be killed: collect FOLDER
 *
 * Every run appends some rows to the set in FOLDER, or begins it, and makes them visible once in a while. What was
 * flushed stays, whatever happens to the job; the next run goes on after it. */
#include <sherd/sherd.h>

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 16, BATCH = 64, BATCHES = 10, FLUSH_EVERY = 4 };

static int fail(const char *what, const sherd_error *err)
{
	(void)fprintf(stderr, "collect: %s: %s: %s\n", what, err->object, err->message);
	return 1;
}

/* What a model or an instrument would give; nobody knows in advance how much. */
static void measure(uint64_t from, double *out)
{
	for (uint64_t i = 0; i < (uint64_t)BATCH * WIDTH; i++)
		out[i] = (double)(sherd_rows_hash(from * WIDTH + i) >> 40) * 0x1p-24;
}

/* How many rows are there already; 0 when there is no set yet. */
static int count_rows(sherd_store *store, uint64_t *out, sherd_error *err)
{
	sherd_rows *rows;
	sherd_format format;
	*out = 0;
	if (sherd_detect(&format, store, "", NULL) < 0)
		return SHERD_OK;
	int rc = sherd_rows_open_folder(&rows, store, "", NULL, err);
	if (rc == SHERD_EINCOMPLETE) /* a run that died before its first flush: the next one starts over */
		return SHERD_OK;
	if (rc < 0)
		return rc;
	*out = sherd_rows_total(rows);
	sherd_rows_close(rows);
	return SHERD_OK;
}

static int write_batches(sherd_rows_writer *writer, uint64_t from, sherd_error *err)
{
	double batch[BATCH * WIDTH];
	for (int i = 0; i < BATCHES; i++) {
		measure(from + (uint64_t)i * BATCH, batch);
		int rc = sherd_rows_writer_append(writer, SHERD_F64, batch, BATCH, err);
		if (rc == SHERD_OK && (i + 1) % FLUSH_EVERY == 0)
			rc = sherd_rows_writer_flush(writer, err);
		if (rc < 0)
			return rc;
	}
	return SHERD_OK;
}

/* One run: half of the memory that floats would take. */
static int collect(sherd_store *store, uint64_t *rows, sherd_error *err)
{
	sherd_rows_writer *writer;
	int rc = count_rows(store, rows, err);
	if (rc < 0)
		return rc;
	sherd_rows_writer_options options = {.append = *rows > 0, .dtype = SHERD_BF16};
	rc = sherd_rows_writer_open(&writer, store, "", WIDTH, &options, err);
	if (rc < 0)
		return rc;
	rc = write_batches(writer, *rows, err);
	if (rc < 0) {
		sherd_rows_writer_abort(writer);
		return rc;
	}
	return sherd_rows_writer_commit(writer, err);
}

int main(int argc, char **argv)
{
	sherd_store *store;
	sherd_error err;
	uint64_t before, after;
	if (argc != 2) {
		(void)fprintf(stderr, "usage: collect FOLDER\n");
		return 2;
	}
	if (sherd_store_open_local(&store, argv[1], &(sherd_local_options){.create = true}, &err) < 0)
		return fail("open", &err);
	int status =
		collect(store, &before, &err) < 0 || count_rows(store, &after, &err) < 0 ? fail("collect", &err) : 0;
	if (!status && after != before + (uint64_t)BATCH * BATCHES)
		status = 1;
	if (!status)
		(void)printf("%llu rows, %llu of them new\n", (unsigned long long)after,
		             (unsigned long long)(after - before));
	sherd_store_close(store);
	return status;
}
