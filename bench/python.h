/* bench/python.h - a script of bench/ that works while we wait: a line there, a line back. */
#pragma once

#include <stdio.h>

typedef struct bench_python {
	FILE *to, *from;
	int process;
	char line[256];
} bench_python;

/* By SHD_BENCH_PYTHON, or python3. The script is the first of the arguments, NULL stands behind the last. Where there
 * is no Python every answer is NULL. */
void bench_python_start(bench_python *p, const char *const *arguments);
/* The next line, without its end, valid until the one after it; NULL when there is none, or nothing in it. */
const char *bench_python_line(bench_python *p);
/* Sends a line and waits for the next one. */
__attribute__((format(printf, 2, 3))) const char *bench_python_ask(bench_python *p, const char *fmt, ...);
/* Its input ends; waits until it has, too. */
void bench_python_stop(bench_python *p);
