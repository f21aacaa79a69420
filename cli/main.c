#include "base/advice.h"
#include "base/alike.h"
#include "commands.h"
#include "components.h"
#include "base/place.h"
#include "base/ranks.h"
#include "base/watch.h"
#include "tensors/pick.h"
#include "tensors/target.h"
#include "topics.h"

#include <sherd/guard.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A stream that is closed would hand its number to the next file that is opened. */
static void fill_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(EXIT_SYSTEM);
}

/* One shard is one open file, and sets may have thousands. */
static void raise_open_files(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* What a group of commands is about; "" is all of them. */
static const char *about(const char *group)
{
	if (strcmp(group, "model") == 0)
		return "Models: graphs and their arrays";
	if (strcmp(group, "rows") == 0)
		return "Rows of numbers, streamed out of core";
	if (strcmp(group, "graph") == 0)
		return "Code graphs: nodes that belong to files, and edges";
	return *group ? "Checkpoints made of shards" : "Looks after data that is stored in pieces";
}

static void add_command(cli_table *table, const cli_command *command)
{
	char text[128];
	(void)snprintf(text, sizeof(text), "  %s %s", command->name, command->operands);
	cli_table_add(table, text);
	cli_table_add(table, command->summary);
}

static void print_topics(cli_out *out)
{
	cli_out_printf(out, "Topics of sherd help:");
	for (const cli_topic *t = cli_topics; t->name; t++)
		cli_out_printf(out, "%s %s", t == cli_topics ? "" : ",", t->name);
	cli_out_printf(out, "\n");
}

static void print_help(cli_out *out, const char *group)
{
	sherd_error ignored;
	cli_table table = {.columns = 2};
	size_t len = strlen(group);
	cli_out_printf(out, "Usage: sherd %s%sCOMMAND [OPTION]... OPERAND...\n", group, len ? " " : "");
	cli_out_printf(out, "%s.\n\n", about(group));
	for (size_t i = 0; cli_commands[i]; i++)
		if (strncmp(cli_commands[i]->name, group, len) == 0)
			add_command(&table, cli_commands[i]);
	if (!len) {
		cli_table_add(&table, "  help [COMMAND|TOPIC]");
		cli_table_add(&table, "Lists the commands, or tells more about one, or about a topic");
	}
	cli_table_add(&table, "");
	cli_table_add(&table, "");
	for (size_t i = 0; i < CLI_COMMON_OPTIONS; i++) {
		const cli_option *o = &cli_common_options[i];
		char text[64];
		(void)snprintf(text, sizeof(text), "  --%s%s%s", o->name, o->value ? " " : "",
		               o->value ? o->value : "");
		cli_table_add(&table, text);
		cli_table_add(&table, o->help);
	}
	cli_table_add(&table, "  --version");
	cli_table_add(&table, "print the version");
	(void)cli_table_print(&table, out, &ignored);
	cli_out_printf(out, "\nsherd COMMAND --help tells more about each command.\n");
	if (!len)
		print_topics(out);
}

/* The command that argv begins with, and how many words its name has; NULL when there is none. */
static const cli_command *main_find(int argc, char **argv, int *words)
{
	for (size_t i = 0; cli_commands[i]; i++) {
		const char *name = cli_commands[i]->name, *space = strchr(name, ' ');
		size_t first = space ? (size_t)(space - name) : strlen(name);
		if (argc < 1 || strlen(argv[0]) != first || strncmp(argv[0], name, first) != 0)
			continue;
		*words = space ? 2 : 1;
		if (!space || (argc > 1 && strcmp(argv[1], space + 1) == 0))
			return cli_commands[i];
	}
	return NULL;
}

static int no_command(int argc, char **argv, int words, bool topics, sherd_error *err)
{
	if (words == 2 && argc == 1)
		return cli_usage(err, "%s needs a command; see sherd %s --help", argv[0], argv[0]);
	char given[CLI_ALIKE_TEXT], ask[CLI_ALIKE_TEXT];
	(void)snprintf(given, sizeof(given), "%.64s%s%.64s", argv[0], words == 2 ? " " : "", words == 2 ? argv[1] : "");
	cli_alike alike = {.word = given};
	for (size_t i = 0; cli_commands[i]; i++)
		cli_alike_try(&alike, cli_commands[i]->name);
	for (const cli_topic *t = cli_topics; topics && t->name; t++)
		cli_alike_try(&alike, t->name);
	cli_alike_ask(&alike, ask);
	return cli_usage(err, "there is no command %s%s%s; see sherd help", topics ? "or topic " : "", given, ask);
}

/* For who names no command: those that most begin with. */
static void print_usual(cli_out *out)
{
	static const cli_command *const usual[] = {
		&cli_command_info,
		&cli_command_verify,
		&cli_command_cat,
		&cli_command_convert,
		&cli_command_diff,
		&cli_command_stats,
		&cli_command_report,
		&cli_command_checkpoint_save,
		&cli_command_checkpoint_load,
		&cli_command_rows_pack,
		&cli_command_rows_stream,
		&cli_command_graph_import,
		&cli_command_model_graph,
	};
	sherd_error ignored;
	cli_table table = {.columns = 2};
	cli_out_printf(out, "Usage: sherd COMMAND [OPTION]... OPERAND...\n%s. The usual commands:\n\n", about(""));
	for (size_t i = 0; i < COUNT_OF(usual); i++)
		add_command(&table, usual[i]);
	(void)cli_table_print(&table, out, &ignored);
	cli_out_printf(out, "\nsherd help lists all of them, sherd help COMMAND tells more about one.\n");
	print_topics(out);
}

static void print_list(cli_out *out)
{
	char formats[1024];
	cli_target_formats(0, true, "|", "|", formats, sizeof(formats));
	for (size_t i = 0; cli_commands[i]; i++)
		cli_args_list(cli_commands[i], formats, out);
}

/* "help", and perhaps the words of a command or a group after it. */
static int give_help(cli_out *out, int argc, char **argv, sherd_error *err)
{
	int words = 0;
	const cli_command *command = main_find(argc, argv, &words);
	const cli_topic *topic = argc == 1 ? cli_topic_find(argv[0]) : NULL;
	if (argc == 1 && strcmp(argv[0], "--list") == 0)
		print_list(out);
	else if (argc == 2 && strcmp(argv[0], "--tensors") == 0)
		return cli_pick_list(out, argv[1], err);
	else if (command)
		cli_args_help(command, out);
	else if (argc == 0 || (argc == 1 && words == 2))
		print_help(out, argc ? argv[0] : "");
	else if (argc == 1 && topic)
		topic->print(out);
	else
		return no_command(argc, argv, words, true, err);
	return EXIT_FINE;
}

static int main_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	int64_t workers = 0;
	if (cli_args_has(args, "help")) {
		cli_args_help(args->command, &cli->out);
		return EXIT_FINE;
	}
	cli->out.json |= cli_args_has(args, "json");
	cli->out.quiet |= cli_args_has(args, "quiet");
	cli_out_look(&cli->out);
	TRY(cli_args_number(args, "workers", 1, 4096, &workers, err));
	TRY(cli_place_use_cache(cli_args_text(args, "cache"), err));
	TRY(sherd_guard_open(err));
	TRY(sherd_pool_open(&cli->pool, (unsigned)workers, err));
	int rc = cli_ranks_begin(cli, args, err);
	if (rc == SHERD_OK)
		rc = cli_watch_begin(cli, args, err);
	if (rc == SHERD_OK)
		rc = args->command->run(cli, args, err);
	rc = cli_ranks_end(cli, args, rc, err);
	sherd_pool_close(cli->pool);
	return rc;
}

/* Moves the options before the command's name after it, so that both places mean the same. Returns how many words
 * they are; *asked is the letter of --help or --version, or 0. */
static int leading(int argc, char **argv, char *asked, sherd_error *err)
{
	int words = 1;
	*asked = 0;
	for (; words < argc && argv[words][0] == '-'; words++) {
		const char *word = argv[words];
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
			*asked = 'h';
		else if (strcmp(word, "--version") == 0)
			*asked = 'v';
		else if ((strcmp(word, "--workers") == 0 || strcmp(word, "--cache") == 0 ||
		          strcmp(word, "--progress") == 0) &&
		         words + 1 < argc)
			words++;
		else if (strcmp(word, "--json") != 0 && strcmp(word, "--quiet") != 0 && strcmp(word, "-q") != 0 &&
		         strncmp(word, "--workers=", 10) != 0 && strncmp(word, "--progress=", 11) != 0 &&
		         strncmp(word, "--cache=", 8) != 0)
			return cli_usage(err, "there is no option %.64s; see sherd --help", word);
	}
	return words;
}

static int dispatch(cli_state *cli, int argc, char **argv, sherd_error *err)
{
	char asked;
	int before = leading(argc, argv, &asked, err), words = 0;
	TRY(before);
	if (asked == 'v')
		return cli_components_show(&cli->out, err);
	if (asked == 'h')
		print_help(&cli->out, "");
	if (asked)
		return EXIT_FINE;
	const cli_command *command = main_find(argc - before, argv + before, &words);
	if (!command && words == 2 && before + 1 < argc &&
	    (strcmp(argv[before + 1], "--help") == 0 || strcmp(argv[before + 1], "-h") == 0)) {
		print_help(&cli->out, argv[before]);
		return EXIT_FINE;
	}
	if (argc == 1) {
		print_usual(&cli->out);
		return EXIT_FINE;
	}
	if (!command && before == argc)
		return cli_usage(err, "no command; see sherd help");
	if (!command && strcmp(argv[before], "help") == 0)
		return give_help(&cli->out, argc - before - 1, argv + before + 1, err);
	if (!command)
		return no_command(argc - before, argv + before, words, false, err);
	/* The name makes room: argv[0], the options before it, the words after it. */
	memmove(argv + 1 + words, argv + 1, (size_t)(before - 1) * sizeof(*argv));
	cli_args args;
	int rc = cli_args_parse(&args, command, argc - words, argv + words, err);
	if (rc == SHERD_OK)
		rc = main_run(cli, &args, err);
	if (rc < 0)
		cli_advise(&args, err);
	cli_args_done(&args);
	return rc;
}

int main(int argc, char **argv)
{
	cli_state cli = {0};
	sherd_error err = {0};
	bool silent;
	fill_streams();
	raise_open_files();
	/* Known early, so that a mistake in the other options is told in the right form. */
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		cli.out.json |= strcmp(argv[i], "--json") == 0;
	int rc = dispatch(&cli, argc, argv, &err);
	int status = rc < 0 ? cli_status((sherd_status)rc) : rc;
	if (rc == SHERD_ECANCELLED)
		err.object[0] = 0; /* what was at work just then is gone */
	if (rc < 0)
		cli_out_error(&cli.out, &err);
	if (cli_out_finish(&cli.out, &silent, &err) < 0) {
		cli.out.json = false;
		if (!silent)
			cli_out_error(&cli.out, &err);
		status = EXIT_SYSTEM;
	}
	return status;
}
