#include "commands.h"
#include "base/doc.h"
#include "base/place.h"

#include <sherd/model.h>

#include <stdlib.h>
#include <string.h>

/* What the operands after the file ask for: keys to show, pairs to set. */
typedef struct request {
	sherd_pair *set;
	size_t set_count;
	const char **show;
	size_t show_count;
	char *keys; /* of set */
} request;

static void model_meta_done(request *r)
{
	free(r->set);
	free(r->show);
	free(r->keys);
}

static int take_operands(request *r, const cli_args *args, sherd_error *err)
{
	char *room = r->keys;
	for (int i = 1; i < args->count; i++) {
		const char *word = args->operands[i], *equals = strchr(word, '=');
		if (!*word || equals == word)
			return cli_usage(err, "a key is needed before '='");
		if (!equals) {
			r->show[r->show_count++] = word;
			continue;
		}
		size_t len = (size_t)(equals - word);
		memcpy(room, word, len);
		room[len] = 0;
		r->set[r->set_count++] = (sherd_pair){room, equals + 1};
		room += len + 1;
	}
	return SHERD_OK;
}

static int model_meta_take(request *r, const cli_args *args, sherd_error *err)
{
	const char *text;
	size_t bytes = 1, next = 0, most = (size_t)args->count + args->given_count;
	for (int i = 1; i < args->count; i++)
		bytes += strlen(args->operands[i]) + 1;
	*r = (request){
		.set = calloc(most, sizeof(*r->set)), .show = calloc(most, sizeof(*r->show)), .keys = malloc(bytes)};
	if (!r->set || !r->show || !r->keys)
		return cli_no_memory(err);
	TRY(take_operands(r, args, err));
	while ((text = cli_args_each(args, "remove", &next)))
		r->set[r->set_count++] = (sherd_pair){text, NULL};
	if (r->show_count && r->set_count)
		return cli_usage(err, "either KEY to show, or KEY=VALUE and --remove to change");
	return SHERD_OK;
}

static const char *value_of(const sherd_pair *pairs, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].key, key) == 0)
			return pairs[i].value;
	return NULL;
}

static int show_json(cli_state *cli, const sherd_pair *pairs, size_t count, const request *r, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_open(&doc, "metadata", '{');
	for (size_t i = 0; i < count && !r->show_count; i++)
		cli_doc_put_text(&doc, pairs[i].key, pairs[i].value);
	for (size_t i = 0; i < r->show_count; i++)
		cli_doc_put_text(&doc, r->show[i], value_of(pairs, count, r->show[i]));
	cli_doc_close(&doc, '}');
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int show_table(cli_state *cli, const sherd_pair *pairs, size_t count, const request *r, sherd_error *err)
{
	cli_table table = {.columns = 2};
	for (size_t i = 0; i < (r->show_count ? r->show_count : count); i++) {
		const char *key = r->show_count ? r->show[i] : pairs[i].key;
		cli_table_add(&table, key);
		cli_table_add(&table, value_of(pairs, count, key));
	}
	return cli_table_print(&table, &cli->out, err);
}

/* The value of a single key is shown alone, so that scripts can take it. */
static int model_meta_show(cli_state *cli, const sherd_model *model, const request *r, sherd_error *err)
{
	const sherd_pair *pairs;
	size_t count = sherd_model_pairs(&pairs, model);
	for (size_t i = 0; i < r->show_count; i++)
		if (!value_of(pairs, count, r->show[i]))
			return cli_fail(err, SHERD_ENOTFOUND, "no-key", "there is no key %.128s", r->show[i]);
	if (cli->out.json)
		return show_json(cli, pairs, count, r, err);
	if (r->show_count != 1)
		return show_table(cli, pairs, count, r, err);
	const char *value = value_of(pairs, count, r->show[0]);
	cli_out_name(&cli->out, value);
	cli_out_printf(&cli->out, "\n");
	return SHERD_OK;
}

static int act(cli_state *cli, const cli_place *place, const request *r, sherd_error *err)
{
	CLI_AUTO(sherd_model, sherd_model_close) model = NULL;
	const sherd_model_save_options options = {.pool = cli->pool, .progress = &cli->progress};
	if (r->set_count)
		return sherd_model_set_pairs(place->store, place->key, r->set, r->set_count, &options, err);
	TRY(sherd_model_open(&model, place->store, place->key, NULL, err));
	return model_meta_show(cli, model, r, err);
}

static int model_meta_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	__attribute__((cleanup(model_meta_done))) request r = {0};
	TRY(model_meta_take(&r, args, err));
	TRY(cli_place_open(&place, args->operands[0], false, err));
	return cli_place_blame(&place, act(cli, &place, &r, err), err);
}

static const cli_option options[] = {
	{"remove", "KEY", "take a pair away; may be given several times", 0},
};

const cli_command cli_command_model_meta = {
	.name = "model meta",
	.operands = "FILE [KEY[=VALUE]...]",
	.summary = "Shows or changes what a model tells about itself",
	.details =
		"KEY shows a value, KEY=VALUE sets it: the file is written anew and replaced in one step, its arrays\n"
		"as they are. Without a KEY everything is shown.\n",
	.run = model_meta_run,
	CLI_OPTIONS(options),
};
