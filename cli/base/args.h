/* cli/base/args.h - commands, their options and operands.
 *
 * A command is a table; the parser and --help both come from it, so they cannot disagree. */
#pragma once

#include "cli.h"

typedef struct cli_option {
	const char *name;  /* without "--" */
	const char *value; /* what to call its value; NULL: it takes none */
	const char *help;
	char letter; /* or 0 */
} cli_option;

typedef struct cli_args cli_args;

/* Returns an exit status, or a negative code after filling err. */
typedef int cli_command_fn(cli_state *cli, const cli_args *args, sherd_error *err);

typedef struct cli_command {
	const char *name;     /* "info", "checkpoint save" */
	const char *operands; /* as --help shows them, and how many there may be: "SRC... DIR", "PATH [NAME]" */
	const char *summary;
	const char *details;          /* more lines for --help, or NULL */
	void (*list)(cli_table *out); /* of three columns, for --help below the details; or NULL */
	cli_command_fn *run;
	bool by_ranks;             /* ranks that MPI started do it together */
	const cli_option *options; /* of its own */
	size_t option_count;
} cli_command;

#define CLI_OPTIONS(list) .options = (list), .option_count = COUNT_OF(list)
#define CLI_OPTIONS_BUT_FIRST(list) .options = (list) + 1, .option_count = COUNT_OF(list) - 1

/* The options that every command takes. */
enum { CLI_COMMON_OPTIONS = 6 };
extern const cli_option cli_common_options[CLI_COMMON_OPTIONS];

struct cli_args {
	const cli_command *command;
	char **operands;
	int count;
	struct cli_given {
		const char *name, *value; /* in the order given */
	} * given;
	size_t given_count;
};

/* Takes argv[0..argc): options and operands after the command's name. args is freed with cli_args_done(), whatever
 * is returned. Operands are not counted yet when --help was given. */
int cli_args_parse(cli_args *args, const cli_command *command, int argc, char **argv, sherd_error *err);
void cli_args_done(cli_args *args);

bool cli_args_has(const cli_args *args, const char *name);
/* Does the command have this option of its own? */
bool cli_command_takes(const cli_command *command, const char *option);
/* The last value given, or NULL. */
const char *cli_args_text(const cli_args *args, const char *name);
/* Every value given: calls with *next from 0 until NULL comes. */
const char *cli_args_each(const cli_args *args, const char *name, size_t *next);
/* A number between least and most; *out stays as it is when the option is absent. */
int cli_args_number(const cli_args *args, const char *name, int64_t least, int64_t most, int64_t *out,
                    sherd_error *err);
/* The same for a count that fits 32 bits. */
int cli_args_count(const cli_args *args, const char *name, uint32_t least, uint32_t *out, sherd_error *err);
/* All 64 bits. */
int cli_args_u64(const cli_args *args, const char *name, uint64_t least, uint64_t *out, sherd_error *err);
/* Bytes: a number, with K, M, G or T after it (powers of 1024) if you like; at least 1. */
int cli_args_size(const cli_args *args, const char *name, uint64_t *out, sherd_error *err);
/* The same of a text; false when it is none. */
bool cli_args_bytes(const char *text, uint64_t *out);
/* A span of time in nanoseconds: seconds, or a number with s, m, h or d after it. */
int cli_args_span(const cli_args *args, const char *name, uint64_t *out, sherd_error *err);
/* One of the words, which end with NULL: its place among them. */
int cli_args_word(const cli_args *args, const char *name, const char *const *words, unsigned *out, sherd_error *err);
int cli_args_real(const cli_args *args, const char *name, double *out, sherd_error *err);

void cli_args_help(const cli_command *command, cli_out *out);
/* One line for programs, such as the completion of a shell: the name, then each option with "=" and the words or the
 * name of its value, all after tabs. formats are the words of the value FORMAT. */
void cli_args_list(const cli_command *command, const char *formats, cli_out *out);
