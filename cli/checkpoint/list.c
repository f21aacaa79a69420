#include "base/clock.h"
#include "commands.h"
#include "base/doc.h"
#include "base/place.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_ahead(const sherd_ckpt_listing *l, int64_t now_ns)
{
	return *l->timestamp && l->time_ns > now_ns;
}

static void put_listing(cli_doc *doc, const sherd_ckpt_listing *l, int64_t now_ns)
{
	cli_doc_open(doc, '{');
	cli_doc_put_text(doc, "prefix", l->prefix);
	cli_doc_put_text(doc, "state", sherd_ckpt_state_name(l->state));
	if (*l->timestamp)
		cli_doc_put_text(doc, "timestamp", l->timestamp);
	if (l->has_step)
		cli_doc_put_i64(doc, "step", l->step);
	if (l->world)
		cli_doc_put_u64(doc, "worldSize", l->world);
	cli_doc_put_u64(doc, "bytes", l->bytes);
	if (l->waiting)
		cli_doc_put_u64(doc, "waitingSeconds", l->waiting_ns / 1000000000);
	if (is_ahead(l, now_ns))
		cli_doc_put_bool(doc, "future", true);
	if (*l->problem)
		cli_doc_put_text(doc, "problem", l->problem);
	cli_doc_close(doc, '}');
}

static int print_json(cli_state *cli, const sherd_ckpt_list *list, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_open(&doc, "checkpoints", '[');
	for (size_t i = 0; i < sherd_ckpt_list_count(list); i++)
		put_listing(&doc, sherd_ckpt_list_at(list, i), cli_clock_now());
	cli_doc_close(&doc, ']');
	return cli_doc_end(&doc, SHERD_OK, err);
}

static void add_listing(cli_table *table, const sherd_ckpt_listing *l)
{
	char step[24] = "-", world[16] = "-", size[CLI_TEXT_SIZE];
	if (l->has_step)
		(void)snprintf(step, sizeof(step), "%" PRId64, l->step);
	if (l->world)
		(void)snprintf(world, sizeof(world), "%" PRIu32, l->world);
	cli_text_size(l->bytes, size);
	cli_table_add(table, l->prefix);
	cli_table_add(table, sherd_ckpt_state_name(l->state));
	cli_table_add(table, *l->timestamp ? l->timestamp : "-");
	cli_table_add(table, step);
	cli_table_add(table, world);
	cli_table_add(table, size);
	cli_table_add(table, *l->problem ? l->problem : is_ahead(l, cli_clock_now()) ? "dated in the future" : "");
}

static int print_table(cli_state *cli, const sherd_ckpt_list *list, sherd_error *err)
{
	static const char *const heads[] = {"prefix", "state", "saved", "step", "shards", "size", ""};
	CLI_AUTO_TABLE table = {.columns = 7, .right = 1u << 3 | 1u << 4 | 1u << 5};
	size_t count = sherd_ckpt_list_count(list);
	cli_table_add_row(&table, heads);
	for (size_t i = 0; i < count; i++)
		add_listing(&table, sherd_ckpt_list_at(list, i));
	if (!count)
		cli_out_note(&cli->out, "no checkpoints here");
	return count ? cli_table_print(&table, &cli->out, err) : SHERD_OK;
}

static int list(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	CLI_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) found = NULL;
	sherd_ckpt_options options = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(cli_place_open_folder(&place, args->operands[0], err));
	TRY(cli_place_blame(&place, sherd_ckpt_list_open(&found, place.store, "", &options, err), err));
	return cli->out.json ? print_json(cli, found, err) : print_table(cli, found, err);
}

const cli_command cli_command_checkpoint_list = {
	.name = "checkpoint list",
	.operands = "DIR",
	.summary = "Lists the checkpoints of a folder, newest first, unfinished ones last",
	.run = list,
};
