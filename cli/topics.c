#include "topics.h"

#include "cli.h"
#include "components.h"
#include "base/text.h"

#include <sherd/dtype.h>
#include <sherd/format.h>
#include <sherd/number.h>
#include <sherd/store.h>
#include <sherd/sys/backend.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Rows of texts, as a table without heads. */
static void print_rows(cli_out *out, const char *const *cells, size_t count, size_t columns)
{
	sherd_error ignored;
	cli_table table = {.columns = columns};
	for (size_t i = 0; i < count; i++)
		cli_table_add(&table, cells[i]);
	(void)cli_table_print(&table, out, &ignored);
}

static void print_formats(cli_out *out)
{
	sherd_error ignored;
	cli_table table = {.columns = 4, .head = true};
	const sherd_format_info *f;
	cli_table_add_row(&table, (const char *const[]){"format", "", "ends in", "what it is"});
	for (size_t i = 0; (f = sherd_format_at(i)); i++) {
		char endings[128] = "";
		if (!f->name)
			continue;
		for (size_t e = 0; e < COUNT_OF(f->endings) && f->endings[e].text; e++)
			cli_text_join(endings, sizeof(endings), " ", f->endings[e].text);
		cli_table_add(&table, f->name);
		cli_table_add(&table, f->written ? "read, written" : "read");
		cli_table_add(&table, endings);
		cli_table_add(&table, f->noun);
	}
	cli_out_printf(out, "What a file is, is found out from its content. Endings count for what is written.\n\n");
	(void)cli_table_print(&table, out, &ignored);
	cli_out_printf(out, "\nKnown by name, and not read:\n\n");
	table = (cli_table){.columns = 2};
	for (size_t i = 0; (f = sherd_format_at(i)); i++) {
		if (f->kind != SHERD_KIND_FOREIGN)
			continue;
		cli_table_add(&table, f->noun);
		cli_table_add(&table, f->advice ? f->advice : "");
	}
	(void)cli_table_print(&table, out, &ignored);
}

static void print_types(cli_out *out)
{
	sherd_error ignored;
	cli_table table = {.columns = 4, .right = 6, .head = true};
	cli_table_add_row(&table, (const char *const[]){"type", "elements", "bytes", "values"});
	for (int i = 1; i < SHERD_DTYPE_BLOCKS_END; i++) {
		const sherd_dtype_info *info = sherd_dtype_describe((sherd_dtype)i);
		char elements[16], bytes[16];
		if (!info || i == SHERD_OPAQUE)
			continue;
		(void)snprintf(elements, sizeof(elements), "%" PRIu32, info->block_elements);
		(void)snprintf(bytes, sizeof(bytes), "%" PRIu32, info->block_bytes);
		cli_table_add(&table, info->name);
		cli_table_add(&table, elements);
		cli_table_add(&table, info->block_bytes ? bytes : "-");
		cli_table_add(&table, sherd_number_known((sherd_dtype)i) ? "numbers"
		                      : i == SHERD_UTF8                  ? "strings"
		                                                         : "bytes");
	}
	cli_out_printf(out, "Elements are stored in blocks of so many elements and bytes.\n\n");
	(void)cli_table_print(&table, out, &ignored);
}

static void print_stores(cli_out *out)
{
	static const char *const known[] = {
		"  PATH, file:PATH",   "a file or folder of this machine",
		"  s3://BUCKET/KEY",   "object storage; see man sherd, and docs/stores.md",
		"  https://HOST/PATH", "one file of a web server, read by ranges",
	};
	cli_out_printf(out, "Every path on the command line is one of these:\n\n");
	print_rows(out, known, COUNT_OF(known), 2);
	cli_out_printf(out, "\nWhich of them this build has, sherd --version tells.\n");
}

static void print_statuses(cli_out *out)
{
	static const char *const known[] = {
		"  0",
		"fine; of diff: equal",
		"  1",
		"the data is bad, incomplete, unsupported or over a limit; diff: different; stats --check: NaN, Inf",
		"  2",
		"the command was not used as it is meant",
		"  3",
		"not found, exists already, or somebody else is writing",
		"  4",
		"the disk, the network or memory failed",
		"  130",
		"interrupted",
	};
	print_rows(out, known, COUNT_OF(known), 2);
	cli_out_printf(out, "\nA failure is one line on standard error, with --json "
	                    "{\"error\":{\"object\",\"offset\",\"code\",\"message\"}}.\n");
}

static void print_environment(cli_out *out)
{
	static const char *const known[] = {
		"  NO_COLOR",
		"set to anything: no colours",
		"  SHERD_CACHE",
		"a folder that keeps what is read over a network, as --cache",
		"  SOURCE_DATE_EPOCH",
		"seconds since 1970 that are written as the time, so that the same input gives the same bytes",
		"  TMPDIR",
		"where large documents of --json are kept until they are whole",
		"  AWS_ACCESS_KEY_ID ...",
		"credentials, region and endpoint of s3://; see docs/stores.md",
		"  LC_ALL, LC_CTYPE, LANG",
		"whether plots may use more than ASCII",
	};
	print_rows(out, known, COUNT_OF(known), 2);
}

static void print_names(cli_out *out)
{
	cli_out_printf(
		out,
		"A tensor is named by its name, or by the end of it after a dot or a slash where only one has that.\n\n"
		"GLOB: * any run of characters, ? one, [a-c] one of these, [!a-c] one of the others, \\ takes the next "
		"as it is.\n\n"
		"Slices of sherd cat, behind the name: w[0:4, :, -1], w[::2], w[..., 0]; numbers from the end are "
		"negative.\n"
		"A tensor whose name has brackets is named by all of it.\n");
}

const cli_topic cli_topics[] = {
	{"formats", "which formats are read and written", print_formats},
	{"types", "element types of tensors", print_types},
	{"stores", "what paths may be", print_stores},
	{"names", "names of tensors, patterns and slices", print_names},
	{"exit", "exit statuses", print_statuses},
	{"environment", "variables that are looked at", print_environment},
	{NULL, NULL, NULL},
};

const cli_topic *cli_topic_find(const char *name)
{
	for (const cli_topic *t = cli_topics; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}
