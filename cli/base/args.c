#include "base/args.h"
#include "base/alike.h"
#include "base/text.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ID = 256, MOST_OPTIONS = 32 }; /* ids of options lie above every letter */

const cli_option cli_common_options[CLI_COMMON_OPTIONS] = {
	{"json", NULL, "print one JSON document on standard output", 0},
	{"quiet", NULL, "print only what was asked for, and errors", 'q'},
	{"workers", "N", "threads to use (default: one for each processor)", 0},
	{"cache", "DIR", "keep what is read over a network in this folder (default: SHERD_CACHE)", 0},
	{"progress", "auto|plain|none", "a bar on a terminal, plain lines anywhere, or nothing (default: auto)", 0},
	{"help", NULL, "print this", 'h'},
};

/* The command's own options first, then the common ones; NULL past the end. */
static const cli_option *option_at(const cli_command *command, size_t index)
{
	size_t own = command->option_count;
	if (index < own)
		return &command->options[index];
	return index - own < CLI_COMMON_OPTIONS ? &cli_common_options[index - own] : NULL;
}

/* Fills what getopt_long() wants. letters begins with ':' so that a missing value is told apart. */
static void args_prepare(const cli_command *command, struct option *longs, char *letters)
{
	*letters++ = ':';
	const cli_option *o;
	for (size_t i = 0; i < MOST_OPTIONS && (o = option_at(command, i)); i++) {
		*longs++ =
			(struct option){o->name, o->value ? required_argument : no_argument, NULL, FIRST_ID + (int)i};
		if (o->letter)
			*letters++ = o->letter;
		if (o->letter && o->value)
			*letters++ = ':';
	}
	*longs = (struct option){0};
	*letters = 0;
}

static const cli_option *found(const cli_command *command, int id)
{
	if (id >= FIRST_ID)
		return option_at(command, (size_t)(id - FIRST_ID));
	const cli_option *o;
	for (size_t i = 0; (o = option_at(command, i)); i++)
		if (o->letter == id)
			return o;
	return NULL;
}

static int args_refuse(const cli_command *command, int id, char *const *argv, sherd_error *err)
{
	const char *word = optind > 0 ? argv[optind - 1] : "";
	if (optopt && optopt < FIRST_ID)
		return cli_usage(err, id == ':' ? "-%c needs a value" : "there is no option -%c; see sherd %s --help",
		                 optopt, command->name);
	if (id == ':')
		return cli_usage(err, "%.64s needs a value", word);
	if (optopt)
		return cli_usage(err, "%.64s takes no value", word);
	char given[64], ask[CLI_ALIKE_TEXT];
	(void)snprintf(given, sizeof(given), "%.*s", (int)strcspn(word, "="), word);
	cli_alike alike = {.word = given + strspn(given, "-")};
	const cli_option *o;
	for (size_t i = 0; (o = option_at(command, i)); i++)
		cli_alike_try(&alike, o->name);
	char option[64] = "";
	if (alike.best)
		(void)snprintf(option, sizeof(option), "--%s", alike.best);
	cli_alike best = {.word = "", .best = alike.best ? option : NULL};
	cli_alike_ask(&best, ask);
	return cli_usage(err, "there is no option %.64s%s; see sherd %s --help", word, ask, command->name);
}

/* By what help shows: "SRC... DIR", "PATH [NAME]"; an option among them, "-o OUT", is none. */
static int count_operands(const cli_args *args, sherd_error *err)
{
	const cli_command *c = args->command;
	int least = 0, most = 0;
	for (const char *word = c->operands, *end; *word; word = *end ? end + 1 : end) {
		end = word + strcspn(word, " ");
		if (*word == '-') {
			end += *end ? 1 + strcspn(end + 1, " ") : 0;
			continue;
		}
		least += *word != '[';
		most = most == INT_MAX || memmem(word, (size_t)(end - word), "...", 3) ? INT_MAX : most + 1;
	}
	if (args->count < least || args->count > most)
		return cli_usage(err, "too %s operands; usage: sherd %s %s", args->count < least ? "few" : "many",
		                 c->name, c->operands);
	return SHERD_OK;
}

int cli_args_parse(cli_args *args, const cli_command *command, int argc, char **argv, sherd_error *err)
{
	struct option longs[MOST_OPTIONS + 1];
	char letters[2 * MOST_OPTIONS + 2];
	int id;
	*args = (cli_args){.command = command};
	args->given = calloc((size_t)argc + 1, sizeof(*args->given));
	if (!args->given)
		return cli_no_memory(err);
	args_prepare(command, longs, letters);
	opterr = 0;
	optind = 0; /* GNU: begin anew */
	while ((id = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const cli_option *o = id == '?' || id == ':' ? NULL : found(command, id);
		if (!o)
			return args_refuse(command, id, argv, err);
		args->given[args->given_count++] = (struct cli_given){o->name, o->value ? optarg : ""};
	}
	args->operands = argv + optind;
	args->count = argc - optind;
	return cli_args_has(args, "help") ? SHERD_OK : count_operands(args, err);
}

void cli_args_done(cli_args *args)
{
	free(args->given);
	*args = (cli_args){0};
}

const char *cli_args_each(const cli_args *args, const char *name, size_t *next)
{
	while (*next < args->given_count) {
		const struct cli_given *g = &args->given[(*next)++];
		if (strcmp(g->name, name) == 0)
			return g->value;
	}
	return NULL;
}

const char *cli_args_text(const cli_args *args, const char *name)
{
	const char *value, *last = NULL;
	size_t next = 0;
	while ((value = cli_args_each(args, name, &next)))
		last = value;
	return last;
}

bool cli_command_takes(const cli_command *command, const char *option)
{
	for (size_t i = 0; i < command->option_count; i++)
		if (strcmp(command->options[i].name, option) == 0)
			return true;
	return false;
}

bool cli_args_has(const cli_args *args, const char *name)
{
	return cli_args_text(args, name) != NULL;
}

int cli_args_number(const cli_args *args, const char *name, int64_t least, int64_t most, int64_t *out, sherd_error *err)
{
	const char *text = cli_args_text(args, name);
	char *end;
	if (!text)
		return SHERD_OK;
	errno = 0;
	long long v = strtoll(text, &end, 10);
	bool digits = strspn(text, "-0123456789") == strlen(text) && end != text && !*end;
	if (errno || !digits || v < least || v > most)
		return cli_usage(err, "--%s must be a number from %" PRId64 " to %" PRId64, name, least, most);
	*out = v;
	return SHERD_OK;
}

int cli_args_count(const cli_args *args, const char *name, uint32_t least, uint32_t *out, sherd_error *err)
{
	int64_t v = *out;
	TRY(cli_args_number(args, name, least, 1 << 20, &v, err));
	*out = (uint32_t)v;
	return SHERD_OK;
}

int cli_args_u64(const cli_args *args, const char *name, uint64_t least, uint64_t *out, sherd_error *err)
{
	const char *text = cli_args_text(args, name), *end;
	uint64_t v;
	if (!text)
		return SHERD_OK;
	if (!cli_text_digits(text, &v, &end) || *end || v < least)
		return cli_usage(err, "--%s must be a number from %" PRIu64 " to %" PRIu64, name, least, UINT64_MAX);
	*out = v;
	return SHERD_OK;
}

/* A number times what the letter behind it stands for, or times plain. */
static bool take_scaled(const char *text, const char *letters, const uint64_t *factors, uint64_t plain, uint64_t *out)
{
	const char *end, *letter;
	uint64_t v;
	if (!cli_text_digits(text, &v, &end))
		return false;
	letter = *end ? strchr(letters, *end) : NULL;
	if (*end && (!letter || end[1]))
		return false;
	return !__builtin_mul_overflow(v, letter ? factors[letter - letters] : plain, out);
}

bool cli_args_bytes(const char *text, uint64_t *out)
{
	static const uint64_t factors[] = {UINT64_C(1) << 10, UINT64_C(1) << 20, UINT64_C(1) << 30, UINT64_C(1) << 40};
	return take_scaled(text, "KMGT", factors, 1, out) && *out;
}

int cli_args_size(const cli_args *args, const char *name, uint64_t *out, sherd_error *err)
{
	const char *text = cli_args_text(args, name);
	uint64_t v = *out;
	if (text && !cli_args_bytes(text, &v))
		return cli_usage(err, "--%s must be a number of bytes, such as 4096, 64K, 8M or 2G", name);
	*out = v;
	return SHERD_OK;
}

int cli_args_span(const cli_args *args, const char *name, uint64_t *out, sherd_error *err)
{
	enum { SECOND = 1000000000 };
	static const uint64_t factors[] = {SECOND, UINT64_C(60) * SECOND, UINT64_C(3600) * SECOND,
	                                   UINT64_C(86400) * SECOND};
	const char *text = cli_args_text(args, name);
	uint64_t v = *out;
	if (text && !take_scaled(text, "smhd", factors, SECOND, &v))
		return cli_usage(err, "--%s must be a time such as 90, 90s, 15m, 12h or 7d", name);
	*out = v;
	return SHERD_OK;
}

int cli_args_word(const cli_args *args, const char *name, const char *const *words, unsigned *out, sherd_error *err)
{
	const char *text = cli_args_text(args, name);
	char known[64] = "";
	if (!text)
		return SHERD_OK;
	for (unsigned i = 0; words[i]; i++) {
		size_t used = strlen(known);
		if (strcmp(words[i], text) == 0) {
			*out = i;
			return SHERD_OK;
		}
		(void)snprintf(known + used, sizeof(known) - used, "%s%s",
		               !i             ? ""
		               : words[i + 1] ? ", "
		                              : " or ",
		               words[i]);
	}
	return cli_usage(err, "--%s must be %s", name, known);
}

int cli_args_real(const cli_args *args, const char *name, double *out, sherd_error *err)
{
	const char *text = cli_args_text(args, name);
	char *end;
	if (!text)
		return SHERD_OK;
	double v = strtod(text, &end);
	if (end == text || *end || !isfinite(v))
		return cli_usage(err, "--%s must be a number", name);
	*out = v;
	return SHERD_OK;
}

static void add_options(cli_table *table, const cli_command *command)
{
	const cli_option *o;
	for (size_t i = 0; (o = option_at(command, i)); i++) {
		char text[64];
		char letter[] = {'-', o->letter, ',', ' ', 0};
		(void)snprintf(text, sizeof(text), "  %s--%s%s%s", o->letter ? letter : "    ", o->name,
		               o->value ? " " : "", o->value ? o->value : "");
		cli_table_add(table, text);
		cli_table_add(table, o->help);
	}
}

void cli_args_help(const cli_command *command, cli_out *out)
{
	sherd_error ignored;
	cli_table table = {.columns = 2};
	cli_out_printf(out, "Usage: sherd %s [OPTION]... %s\n%s.\n", command->name, command->operands,
	               command->summary);
	if (command->details)
		cli_out_printf(out, "\n%s", command->details);
	if (command->list) {
		cli_table list = {.columns = 3};
		command->list(&list);
		cli_out_printf(out, "\n");
		(void)cli_table_print(&list, out, &ignored);
	}
	cli_out_printf(out, "\n");
	add_options(&table, command);
	(void)cli_table_print(&table, out, &ignored);
}

void cli_args_list(const cli_command *command, const char *formats, cli_out *out)
{
	const cli_option *o;
	cli_out_printf(out, "%s", command->name);
	for (size_t i = 0; (o = option_at(command, i)); i++) {
		bool format = o->value && strcmp(o->value, "FORMAT") == 0;
		cli_out_printf(out, "\t--%s%s%s", o->name, o->value ? "=" : "",
		               !o->value ? ""
		               : format  ? formats
		                         : o->value);
	}
	cli_out_printf(out, "\n");
}
