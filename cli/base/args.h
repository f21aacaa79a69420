/* cli/base/args.h - commands, their options and operands.
 *
 * A command is a table; the parser and --help both come from it, so they cannot disagree. */
#ifndef SHERD_CLI_BASE_ARGS_H
#define SHERD_CLI_BASE_ARGS_H

#include "cli.h"

typedef struct sherd_option {
	const char *name;  /* without "--" */
	const char *value; /* what to call its value; NULL: it takes none */
	const char *help;
	char letter; /* or 0 */
} sherd_option;

typedef struct sherd_args sherd_args;

/* Returns an exit status, or a negative code after filling err. */
typedef int sherd_command_fn(sherd_cli *cli, const sherd_args *args, sherd_error *err);

typedef struct sherd_command {
	const char *name; /* "info", "checkpoint save" */
	const char *operands;
	const char *summary;
	const char *details; /* more lines for --help, or NULL */
	int least, most;     /* how many operands */
	sherd_command_fn *run;
	const sherd_option *options; /* the last one has no name; NULL: none of its own */
} sherd_command;

/* The options that every command takes. */
extern const sherd_option sherd_common_options[];

struct sherd_args {
	const sherd_command *command;
	char **operands;
	int count;
	struct sherd_given {
		const char *name, *value; /* in the order given */
	} * given;
	size_t given_count;
};

/* Takes argv[0..argc): options and operands behind the command's name. args is freed with sherd_args_done(), whatever
 * is returned. Operands are not counted yet when --help was given. */
int sherd_args_parse(sherd_args *args, const sherd_command *command, int argc, char **argv, sherd_error *err);
void sherd_args_done(sherd_args *args);

bool sherd_args_has(const sherd_args *args, const char *name);
/* Does the command have this option of its own? */
bool sherd_command_takes(const sherd_command *command, const char *option);
/* The last value given, or NULL. */
const char *sherd_args_text(const sherd_args *args, const char *name);
/* Every value given: calls with *next from 0 until NULL comes. */
const char *sherd_args_each(const sherd_args *args, const char *name, size_t *next);
/* A number between least and most; *out stays as it is when the option is absent. */
int sherd_args_number(const sherd_args *args, const char *name, int64_t least, int64_t most, int64_t *out,
                      sherd_error *err);
/* The same for a count that fits 32 bits. */
int sherd_args_count(const sherd_args *args, const char *name, uint32_t least, uint32_t *out, sherd_error *err);
/* All 64 bits. */
int sherd_args_u64(const sherd_args *args, const char *name, uint64_t least, uint64_t *out, sherd_error *err);
/* Bytes: a number, with K, M, G or T behind it (powers of 1024) if you like; at least 1. */
int sherd_args_size(const sherd_args *args, const char *name, uint64_t *out, sherd_error *err);
/* A span of time in nanoseconds: seconds, or a number with s, m, h or d behind it. */
int sherd_args_span(const sherd_args *args, const char *name, uint64_t *out, sherd_error *err);
/* One of the words, which end with NULL: its place among them. */
int sherd_args_word(const sherd_args *args, const char *name, const char *const *words, unsigned *out,
                    sherd_error *err);
int sherd_args_real(const sherd_args *args, const char *name, double *out, sherd_error *err);

void sherd_args_help(const sherd_command *command, sherd_out *out);

#endif
