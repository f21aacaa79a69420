#include "measure.h"

#include <sherd/guard.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char *program;
static char *lines;
static size_t lines_size;
static FILE *json;
static double begun, busy_before;

double bench_now(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_pairs(void)
{
	const char *text = getenv("SHERD_BENCH_PAIRS");
	int pairs = text ? atoi(text) : 7;
	return pairs < 1 ? 1 : pairs > BENCH_MOST_PAIRS ? BENCH_MOST_PAIRS : pairs;
}

void bench_add(bench_series *s, double value)
{
	if (s->count < BENCH_MOST_PAIRS)
		s->values[s->count++] = value;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static bench_series sorted(const bench_series *s)
{
	bench_series out = *s;
	qsort(out.values, (size_t)out.count, sizeof(out.values[0]), by_size);
	return out;
}

double bench_median(const bench_series *s)
{
	bench_series v = sorted(s);
	return v.count ? (v.values[(v.count - 1) / 2] + v.values[v.count / 2]) / 2 : NAN;
}

/* Seconds that all processors together have worked since the machine was started; 0 when unknown. What a hypervisor
 * took away counts too. */
static double busy_seconds(void)
{
	unsigned long long user, nice, system, idle, wait, irq, soft, steal;
	FILE *f = fopen("/proc/stat", "re");
	int got = f ? fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait,
	                     &irq, &soft, &steal)
	            : 0;
	if (f)
		(void)fclose(f);
	return got == 8 ? (double)(user + nice + system + irq + soft + steal) / (double)sysconf(_SC_CLK_TCK) : 0;
}

static double own_seconds(int who)
{
	struct rusage u;
	if (getrusage(who, &u) < 0)
		return 0;
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* How much of the processors somebody else used meanwhile, in percent. */
static double others(void)
{
	double ours = own_seconds(RUSAGE_SELF) + own_seconds(RUSAGE_CHILDREN);
	double all = (bench_now() - begun) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	double share = (busy_seconds() - busy_before - ours) / all * 100;
	return share > 0 ? share : 0;
}

void bench_begin(const char *bench)
{
	program = bench;
	begun = bench_now();
	busy_before = busy_seconds();
	json = open_memstream(&lines, &lines_size);
	if (!json)
		bench_fail("no memory");
	/* As the command does. */
	if (sherd_guard_open(NULL) < 0)
		bench_fail("no guard");
	printf("%-3s %-46s %10s  %-38s %10s  %-5s %6s (%s)  %s\n", "id", "work", "ours", "against", "", "unit", "ratio",
	       "least to greatest", "target");
}

static bool meets(const bench_row *row, double ratio)
{
	return row->goal == BENCH_AT_LEAST ? ratio >= row->target : ratio <= row->target;
}

static void print_row(const bench_row *row, double other, const bench_series *ratios, double ratio)
{
	char target[48] = "";
	if (row->goal != BENCH_SHOWN)
		(void)snprintf(target, sizeof(target), "%s %g: %s",
		               row->goal == BENCH_AT_LEAST ? ">=" : "<=", row->target,
		               meets(row, ratio) ? "met" : "NOT MET");
	printf("%-3s %-46s %10.4g  %-38s %10.4g  %-5s %6.3f (%.3f to %.3f)  %s\n", row->id, row->what,
	       bench_median(row->ours), row->against, other, row->unit, ratio, ratios->values[0],
	       ratios->values[ratios->count - 1], target);
	(void)fflush(stdout);
}

static void put_json(const bench_row *row, double other, const bench_series *ratios, double ratio)
{
	bench_series ours = sorted(row->ours);
	(void)fprintf(json,
	              "{\"bench\": \"%s\", \"id\": \"%s\", \"work\": \"%s\", \"unit\": \"%s\", \"pairs\": %d, "
	              "\"ours\": %.6g, \"ours_low\": %.6g, \"ours_high\": %.6g, \"against\": \"%s\", "
	              "\"other\": %.6g, \"ratio\": %.4f, \"ratio_low\": %.4f, \"ratio_high\": %.4f",
	              program, row->id, row->what, row->unit, ours.count, bench_median(&ours), ours.values[0],
	              ours.values[ours.count - 1], row->against, other, ratio, ratios->values[0],
	              ratios->values[ratios->count - 1]);
	if (row->goal != BENCH_SHOWN)
		(void)fprintf(json, ", \"goal\": \"%s\", \"target\": %g, \"met\": %s",
		              row->goal == BENCH_AT_LEAST ? "at least" : "at most", row->target,
		              meets(row, ratio) ? "true" : "false");
	(void)fputs("}\n", json);
}

void bench_report(const bench_row *row)
{
	bench_series ratios = {.count = row->ours->count};
	if (!ratios.count || (row->other && row->other->count != ratios.count))
		bench_fail("%s: nothing was measured, or not in pairs", row->what);
	for (int i = 0; i < ratios.count; i++)
		ratios.values[i] = row->ours->values[i] / (row->other ? row->other->values[i] : row->limit);
	ratios = sorted(&ratios);
	double other = row->other ? bench_median(row->other) : row->limit, ratio = bench_median(&ratios);
	print_row(row, other, &ratios, ratio);
	put_json(row, other, &ratios, ratio);
}

void bench_missing(const char *id, const char *peer, const char *how)
{
	printf("%-3s %s is not here (%s)\n", id, peer, how);
	(void)fprintf(json, "{\"bench\": \"%s\", \"id\": \"%s\", \"peer\": \"%s\", \"missing\": true}\n", program, id,
	              peer);
}

void bench_note(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)fputs("note: ", stdout);
	(void)vprintf(fmt, ap);
	(void)fputc('\n', stdout);
	va_end(ap);
	(void)fflush(stdout);
}

void bench_end(void)
{
	double share = others();
	bench_note("others, the kernel's threads among them, used %.0f %% of the processors meanwhile", share);
	(void)fprintf(json, "{\"bench\": \"%s\", \"others_percent\": %.1f}\n", program, share);
	(void)fclose(json);
	(void)fputs(lines, stdout);
	free(lines);
}

void bench_fail(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)fprintf(stderr, "bench_%s: ", program ? program : "");
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	exit(1);
}
