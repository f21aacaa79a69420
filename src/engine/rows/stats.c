#include "engine/rows/stats.h"

#include "base/error.h"
#include "codec/floats.h"

#include <stdlib.h>

enum { SOME = 1024 };

struct rows_stats {
	uint64_t width, rows;
	double *sums, *squares; /* of each column */
};

int shd_rows_stats_open(rows_stats **out, uint64_t width, sherd_error *err)
{
	rows_stats *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	s->width = width;
	s->sums = calloc((size_t)width, sizeof(*s->sums));
	s->squares = calloc((size_t)width, sizeof(*s->squares));
	if (!s->sums || !s->squares) {
		shd_rows_stats_close(s);
		return shd_fail_nomem(err);
	}
	*out = s;
	return SHERD_OK;
}

void shd_rows_stats_close(rows_stats *stats)
{
	if (!stats)
		return;
	free(stats->sums);
	free(stats->squares);
	free(stats);
}

static void add_row(rows_stats *s, const uint8_t *row)
{
	double some[SOME];
	for (uint64_t at = 0; at < s->width; at += SOME) {
		size_t n = s->width - at < SOME ? (size_t)(s->width - at) : SOME;
		shd_floats_convert(SHERD_BF16, row + 2 * at, SHERD_F64, some, n);
		for (size_t i = 0; i < n; i++) {
			s->sums[at + i] += some[i];
			s->squares[at + i] += some[i] * some[i];
		}
	}
}

void shd_rows_stats_add(rows_stats *stats, const void *values, uint64_t rows)
{
	for (uint64_t i = 0; i < rows; i++)
		add_row(stats, (const uint8_t *)values + 2 * i * stats->width);
	stats->rows += rows;
}

/* By Newton's steps, from above, until they stop going down. */
static double root(double v)
{
	double x = v > 1 ? v : 1;
	if (!(v > 0) || v - v != 0)
		return v;
	while (true) {
		double next = (x + v / x) / 2;
		if (!(next < x))
			return x;
		x = next;
	}
}

void shd_rows_stats_encode(const rows_stats *stats, const shd_rows_manifest *manifest, uint64_t rows_per_shard,
                           shd_buf *out)
{
	double *mean = calloc((size_t)stats->width, sizeof(*mean)), *norm = calloc((size_t)stats->width, sizeof(*norm));
	const shd_rows_bf16_stats both = {mean, norm};
	out->failed |= !mean || !norm;
	for (uint64_t i = 0; i < stats->width && !out->failed; i++) {
		mean[i] = stats->sums[i] / (double)stats->rows;
		norm[i] = root(stats->squares[i] / (double)stats->rows);
	}
	if (!out->failed)
		shd_rows_bf16_encode(manifest, rows_per_shard, &both, out);
	free(mean);
	free(norm);
}
