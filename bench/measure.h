/* bench/measure.h - figures that mean something on a busy machine.
 *
 * Two things are measured in turn, again and again; what is reported is the median of both, and the median, least and
 * greatest of the ratios of each turn. Rows are printed as a table at once and as JSON lines at the end. */
#pragma once

enum { BENCH_MOST_PAIRS = 64 };

/* Seconds of a clock that only goes forward. */
double bench_now(void);
/* How often things take turns: SHD_BENCH_PAIRS, or 7. */
int bench_pairs(void);

/* One value a turn. */
typedef struct bench_series {
	double values[BENCH_MOST_PAIRS];
	int count;
} bench_series;

void bench_add(bench_series *s, double value);
double bench_median(const bench_series *s);

typedef enum bench_goal { BENCH_SHOWN, BENCH_AT_LEAST, BENCH_AT_MOST } bench_goal;

typedef struct bench_row {
	const char *id;   /* of the target: "C1" */
	const char *what; /* the work */
	const char *unit; /* of both figures */
	const bench_series *ours;
	const char *against;
	const bench_series *other; /* measured in turn with ours; NULL: the limit */
	double limit;
	bench_goal goal; /* of the ratio of ours to the other */
	double target;
} bench_row;

/* bench: the program's name without "bench_". */
void bench_begin(const char *bench);
void bench_report(const bench_row *row);
/* A peer that is not here is named, with the way to get it. */
void bench_missing(const char *id, const char *peer, const char *how);
/* A remark that belongs to the figures. */
__attribute__((format(printf, 1, 2))) void bench_note(const char *fmt, ...);
/* Prints how busy the machine was with other things, and the JSON lines. */
void bench_end(void);
/* Prints one line to stderr and ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void bench_fail(const char *fmt, ...);
