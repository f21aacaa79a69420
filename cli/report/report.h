/* cli/report/report.h - what a report is made of. */
#pragma once

#include "base/args.h"
#include "base/place.h"
#include "report/html.h"

#include <sherd/bundle.h>
#include <sherd/diff.h>
#include <sherd/stats.h>
#include <sherd/verify.h>

typedef struct cli_report {
	cli_state *cli;
	const cli_args *args;
	const char *path;
	cli_place *place;
	bool quick;     /* no values are read */
	cli_html html;  /* sections */
	cli_html links; /* to them */
	cli_html facts; /* of the head */
	cli_html verdict;
	size_t problems; /* errors that verifying found */
} cli_report;

/* Begins a section, and the contents link to it. */
void cli_report_section(cli_report *r, const char *id, const char *heading);

/* Tensors with names that differ by numbers alone are one group: "layers.*.weight". */
typedef struct cli_group {
	char *name;
	const char *type; /* of the first */
	size_t first;     /* tensor of the bundle */
	size_t count;
	uint64_t bytes;
} cli_group;

typedef struct cli_groups {
	cli_group *items; /* the largest first */
	size_t count;
	uint64_t bytes;
} cli_groups;

int cli_groups_open(cli_groups *out, const sherd_bundle *bundle, sherd_error *err);
void cli_groups_close(cli_groups *groups);
#define CLI_AUTO_GROUPS __attribute__((cleanup(cli_groups_close))) cli_groups

/* Types of the bundle, the one with most bytes first: at most this many, then the rest together. */
enum { CLI_REPORT_TYPES = 8 };
typedef struct cli_type {
	const char *name;
	uint64_t bytes, elements;
	size_t tensors;
} cli_type;

typedef struct cli_types {
	cli_type items[CLI_REPORT_TYPES];
	size_t count;
	uint64_t bytes, elements;
	size_t tensors;
} cli_types;
void cli_types_of(cli_types *out, const sherd_bundle *bundle);

/* A rectangle of the unit square. */
typedef struct cli_tile {
	double x, y, width, height;
} cli_tile;
/* Divides the unit square by these sizes, which are in falling order and not 0, into tiles that are as square as may
 * be. */
void cli_treemap(cli_tile *out, const double *sizes, size_t count);

int cli_report_tensors(cli_report *r, sherd_error *err);
int cli_report_values(cli_report *r, const sherd_bundle *bundle, const cli_groups *groups, sherd_error *err);
int cli_report_difference(cli_report *r, const char *other, sherd_error *err);
int cli_report_graph(cli_report *r, sherd_error *err);
int cli_report_verify(cli_report *r, sherd_error *err);
