#include "commands.h"
#include "rows/rows.h"
#include "rows/stream.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct id_list {
	uint64_t *ids;
	size_t count, room;
} id_list;

static void id_list_done(id_list *l)
{
	free(l->ids);
}

static int add_id(id_list *l, uint64_t id, sherd_error *err)
{
	if (l->count == l->room) {
		size_t room = l->room ? 2 * l->room : 1024;
		uint64_t *ids = room <= SIZE_MAX / sizeof(*ids) ? realloc(l->ids, room * sizeof(*ids)) : NULL;
		if (!ids)
			return cli_no_memory(err);
		l->ids = ids;
		l->room = room;
	}
	l->ids[l->count++] = id;
	return SHERD_OK;
}

/* Numbers and ranges A:B, separated by commas, spaces and ends of lines. total bounds what a range may ask for. */
static int take_ids(id_list *l, const char *text, uint64_t total, sherd_error *err)
{
	static const char between[] = ", \t\r\n";
	for (const char *at = text + strspn(text, between); *at; at += strspn(at, between)) {
		const char *word = at;
		uint64_t from, to;
		bool good = cli_text_digits(at, &from, &at), range = good && *at == ':';
		to = from + 1;
		if (range) {
			at++;
			good = cli_text_digits(at, &to, &at);
		}
		if (!good || (*at && !strchr(between, *at)))
			return cli_usage(err, "ids are numbers and ranges such as 7,3,10:20, not %.32s", word);
		if (from >= total || to > total || (range && from > to))
			return cli_fail(err, SHERD_EINVAL, "bad-range", "row %.41s is not there: the set has %" PRIu64,
			                word, total);
		for (; from < to; from++)
			TRY(add_id(l, from, err));
	}
	return SHERD_OK;
}

/* A whole file, or standard input for "-"; free() it. */
static int read_text(const char *path, char **out, sherd_error *err)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "re");
	size_t room = 0;
	*out = NULL;
	errno = file ? 0 : errno;
	ssize_t len = file ? getdelim(out, &room, '\0', file) : -1;
	bool failed = !file || ferror(file);
	int rc = SHERD_OK;
	if (failed)
		rc = cli_fail(err, errno == ENOENT ? SHERD_ENOTFOUND : SHERD_EIO, "io", "cannot read: %s",
		              strerror(errno));
	else if (len < 0 && !*out)
		*out = strdup("");
	else if (len < 0)
		**out = 0;
	if (rc == SHERD_OK && !*out)
		rc = cli_no_memory(err);
	if (rc < 0)
		(void)snprintf(err->object, sizeof(err->object), "%s", path);
	if (file && !standard)
		(void)fclose(file);
	return rc;
}

static int take_lists(id_list *l, const cli_args *args, uint64_t total, sherd_error *err)
{
	const char *text;
	size_t next = 0;
	while ((text = cli_args_each(args, "ids", &next)))
		TRY(take_ids(l, text, total, err));
	for (next = 0; (text = cli_args_each(args, "ids-from", &next));) {
		CLI_AUTO_FREE char *all = NULL;
		TRY(read_text(text, &all, err));
		TRY(take_ids(l, all, total, err));
	}
	return SHERD_OK;
}

static int rows_gather(cli_state *cli, cli_streaming *s, const cli_args *args, const cli_place *place, sherd_error *err)
{
	CLI_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	CLI_AUTO(sherd_rows_cursor, sherd_rows_cursor_close) cursor = NULL;
	__attribute__((cleanup(id_list_done))) id_list list = {0};
	TRY(cli_rows_open_place(&rows, cli, place, false, err));
	TRY(take_lists(&list, args, sherd_rows_total(rows), err));
	if (!list.count)
		return cli_usage(err, "no ids are given");
	s->width = sherd_rows_width(rows);
	s->gather = list.ids;
	s->gather_count = list.count;
	TRY(cli_place_blame(place, sherd_rows_cursor_open(&cursor, rows, &s->stream, err), err));
	return cli_streaming_run(cli, s, cursor, place, err);
}

static int rows_gather_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	cli_streaming s;
	CLI_AUTO_PLACE place = {0};
	TRY(cli_streaming_take_gather(&s, cli, args, err));
	if (!cli_args_has(args, "ids") && !cli_args_has(args, "ids-from"))
		return cli_usage(err, "--ids or --ids-from says which rows");
	TRY(cli_place_open_any(&place, args->operands[0], false, err));
	return rows_gather(cli, &s, args, &place, err);
}

static const cli_option options[] = {
	{"ids", "LIST", "rows by their ids, such as 7,3,10:20; may be repeated", 0},
	{"ids-from", "FILE", "the same from a file, or from standard input for -", 0},
	{"dtype", "f64|f32|f16|bf16", "of what is handed out (default: f64)", 0},
	{"verify", NULL, "check every part of the set before its rows are delivered", 0},
	{"format", "text|raw|npy", "text (default; a line a row), raw (the bytes), npy (a NumPy file, with -o)", 0},
	{"output", "FILE", "where the NumPy file goes", 'o'},
	{"replace", NULL, "replace FILE if it is there", 0},
};

const cli_command cli_command_rows_gather = {
	.name = "rows gather",
	.operands = "DIR",
	.summary = "Delivers rows by their ids, in the order given",
	.details = "A row may be asked for more than once. Ranges A:B are rows A to B-1.\n",
	.run = rows_gather_run,
	CLI_OPTIONS(options),
};
