/* Mean and covariance of a set of rows of any size, in one pass and bounded memory: covariance FOLDER
 *
 * FOLDER holds shards; when it holds none, a small set is packed into it first and the result is checked. The pass is
 * cut in two to show how it goes on from a saved position. */
#include <sherd/sherd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 24, ROWS = 20000 };

/* ---- a set to work on */

static double noise(uint64_t id, uint64_t column)
{
	return (double)(sherd_rows_hash(id * WIDTH + column) >> 11) * 0x1p-53 - 0.5;
}

/* Columns that depend on each other, around a mean of their own. */
static float value(uint64_t id, uint64_t column)
{
	return (float)((double)column + noise(id, column) + (column ? 0.5 * noise(id, column - 1) : 0));
}

static int make_rows(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	(void)arg, (void)err;
	for (size_t i = 0; i < count; i++)
		for (uint64_t c = 0; c < WIDTH; c++)
			out[i * WIDTH + c] = value(first + i, c);
	return SHERD_OK;
}

/* ---- sums over rows: count, mean, and products of distances from the mean, corrected as the mean moves */

typedef struct moments {
	size_t width;
	double count;
	double *mean;     /* width */
	double *products; /* width * width */
	double *distance; /* width */
} moments;

static int moments_init(moments *m, size_t width)
{
	m->width = width;
	m->count = 0;
	m->mean = calloc(width, sizeof(double));
	m->products = calloc(width * width, sizeof(double));
	m->distance = calloc(width, sizeof(double));
	return m->mean && m->products && m->distance ? 0 : -1;
}

static void moments_done(moments *m)
{
	free(m->mean);
	free(m->products);
	free(m->distance);
}

static void moments_add(moments *m, const double *row)
{
	m->count += 1;
	for (size_t i = 0; i < m->width; i++) {
		m->distance[i] = row[i] - m->mean[i];
		m->mean[i] += m->distance[i] / m->count;
	}
	for (size_t i = 0; i < m->width; i++)
		for (size_t j = 0; j <= i; j++)
			m->products[i * m->width + j] += (row[i] - m->mean[i]) * m->distance[j];
}

static double covariance(const moments *m, size_t i, size_t j)
{
	return m->products[i >= j ? i * m->width + j : j * m->width + i] / (m->count - 1);
}

/* ---- the pass */

/* Takes batches until so many rows were seen or the end is reached, then tells where it stands. */
static int pass(const sherd_rows *rows, const char *resume, double until, moments *m,
                char position[SHERD_ROWS_CURSOR_TEXT], sherd_error *err)
{
	sherd_rows_cursor *cursor = NULL;
	sherd_rows_batch batch;
	int rc = sherd_rows_cursor_open(&cursor, rows, &(sherd_rows_stream_options){.resume = resume}, err);
	if (rc < 0)
		return rc;
	while (m->count < until && (rc = sherd_rows_next(&batch, cursor, err)) > 0) {
		const double *values = batch.data;
		for (size_t i = 0; i < batch.rows; i++)
			moments_add(m, values + i * m->width);
	}
	if (rc >= 0)
		rc = sherd_rows_tell(position, cursor, err);
	sherd_rows_cursor_close(cursor);
	return rc;
}

static int run(const sherd_rows *rows, moments *m, sherd_error *err)
{
	char half[SHERD_ROWS_CURSOR_TEXT], end[SHERD_ROWS_CURSOR_TEXT];
	int rc = pass(rows, NULL, (double)sherd_rows_total(rows) / 2, m, half, err);
	if (rc < 0)
		return rc;
	(void)printf("after %.0f rows the position is %s\n", m->count, half);
	return pass(rows, half, (double)sherd_rows_total(rows), m, end, err);
}

/* ---- does it fit? */

static void note(double *worst, double difference)
{
	difference = difference < 0 ? -difference : difference;
	*worst = difference > *worst ? difference : *worst;
}

static double mean_of(size_t c)
{
	double sum = 0;
	for (uint64_t id = 0; id < ROWS; id++)
		sum += (double)value(id, c);
	return sum / ROWS;
}

static int check(const moments *m)
{
	double worst = 0, means[WIDTH];
	note(&worst, m->count - ROWS);
	for (size_t c = 0; c < WIDTH; c++) {
		means[c] = mean_of(c);
		note(&worst, means[c] - m->mean[c]);
	}
	for (size_t i = 0; i < WIDTH; i++)
		for (size_t j = 0; j < WIDTH; j++) {
			double sum = 0;
			for (uint64_t id = 0; id < ROWS; id++)
				sum += ((double)value(id, i) - means[i]) * ((double)value(id, j) - means[j]);
			note(&worst, sum / (ROWS - 1) - covariance(m, i, j));
		}
	(void)printf("largest difference from a direct computation: %.1e\n", worst);
	return worst < 1e-10 ? 0 : 1;
}

static int open_or_make(sherd_store *store, sherd_rows **rows, int *made, sherd_error *err)
{
	int rc = sherd_rows_open_folder(rows, store, "", NULL, err);
	*made = rc < 0 && strcmp(err->reason, "empty") == 0;
	if (!*made)
		return rc;
	const sherd_rows_pack_options options = {.rows_per_shard = 7000, .time_ns = (int64_t)time(NULL) * 1000000000};
	rc = sherd_rows_pack(store, "", ROWS, WIDTH, make_rows, NULL, &options, err);
	return rc < 0 ? rc : sherd_rows_open_folder(rows, store, "", NULL, err);
}

int main(int argc, char **argv)
{
	sherd_error err = {0};
	sherd_store *store = NULL;
	sherd_rows *rows = NULL;
	moments m = {0};
	int made = 0, wrong = 0;
	if (argc != 2) {
		(void)fprintf(stderr, "usage: covariance FOLDER\n");
		return 2;
	}
	/* A file that is cut off meanwhile becomes an error of sherd_rows_next(). */
	int rc = sherd_guard_open(&err);
	if (rc == SHERD_OK)
		rc = sherd_store_open_local(&store, argv[1], NULL, &err);
	if (rc == SHERD_OK)
		rc = open_or_make(store, &rows, &made, &err);
	if (rc == SHERD_OK)
		rc = moments_init(&m, (size_t)sherd_rows_width(rows)) < 0 ? SHERD_ENOMEM : run(rows, &m, &err);
	if (rc == SHERD_OK) {
		(void)printf("%.0f rows of %zu\n", m.count, m.width);
		for (size_t i = 0; i < m.width && i < 3; i++)
			(void)printf("column %zu: mean %.6f, variance %.6f, covariance with column 0 %.6f\n", i,
			             m.mean[i], covariance(&m, i, i), covariance(&m, i, 0));
		wrong = made ? check(&m) : 0;
	} else {
		(void)fprintf(stderr, "covariance: %s: %s\n", err.object,
		              rc == SHERD_ENOMEM ? "no memory" : err.message);
	}
	moments_done(&m);
	sherd_rows_close(rows);
	sherd_store_close(store);
	return rc < 0 || wrong;
}
