#include "base/clock.h"
#include "commands.h"
#include "base/doc.h"
#include "base/place.h"
#include "base/ranks.h"
#include "tensors/target.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the options of one save say. */
typedef struct saving {
	sherd_ckpt_save_options options;
	sherd_ckpt_about about;
	sherd_set_id set_id;
	cli_ranks ranks;
	bool alone; /* one of several processes, each with its rank */
	uint32_t rank;
	bool cut, split;
	sherd_ckpt_part *parts; /* of --piece */
	uint64_t *dims;         /* of those parts */
	char *part_names;
	size_t part_count;
	sherd_pair *fields;
	char *keys; /* those of --field */
} saving;

static void checkpoint_save_done(saving *s)
{
	free(s->parts);
	free(s->dims);
	free(s->part_names);
	free(s->fields);
	free(s->keys);
}

static int checkpoint_save_take_ranks(saving *s, const cli_state *cli, const cli_args *args, sherd_error *err)
{
	uint32_t shards = 0;
	TRY(cli_args_count(args, "shards", 1, &shards, err));
	TRY(cli_ranks_take(&s->ranks, cli->group, args, err));
	s->alone = s->ranks.several;
	s->rank = s->ranks.rank;
	if (shards && s->alone && shards != s->ranks.world)
		return cli_usage(err, "--shards %" PRIu32 " contradicts --world %" PRIu32, shards, s->ranks.world);
	s->options.world = s->alone ? s->ranks.world : shards ? shards : 1;
	s->options.group = cli->group;
	s->cut = cli_args_has(args, "cut");
	/* Ranks of MPI that all name one file have the same one. */
	s->split = cli_args_has(args, "split") ||
	           (cli->group && !cli_args_has(args, "piece") && !cli_ranks_in_path(args->operands[0]));
	if (s->alone && s->cut && !s->split)
		return cli_usage(err, "--cut with --rank cuts one common source: say --split, too");
	if (cli_args_has(args, "piece") && (!s->alone || s->split))
		return cli_usage(err, "--piece goes with --rank, and not with --split");
	return SHERD_OK;
}

/* "128,0": how many numbers, or 0 for anything else. */
static uint32_t checkpoint_save_take_dims(const char **text, char end, uint64_t *out)
{
	uint32_t n = 0;
	do {
		char *stop;
		if (n == SHERD_MAX_DIMS || **text < '0' || **text > '9')
			return 0;
		errno = 0;
		out[n++] = strtoull(*text, &stop, 10);
		if (errno)
			return 0;
		*text = stop + (*stop == ',' || (end && *stop == end));
		if (*stop == end)
			return n;
		if (*stop != ',')
			return 0;
	} while (true);
}

/* NAME=OFFSET/SHAPE; names may hold '=', so the last one counts. */
static int checkpoint_save_take_part(saving *s, const char *text, char *name, sherd_error *err)
{
	const char *equals = strrchr(text, '=');
	uint64_t *dims = s->dims + s->part_count * 2 * SHERD_MAX_DIMS;
	sherd_ckpt_part *p = &s->parts[s->part_count];
	*p = (sherd_ckpt_part){.name = name, .global_offset = dims, .global_shape = dims + SHERD_MAX_DIMS};
	const char *at = equals ? equals + 1 : "";
	uint32_t offsets = checkpoint_save_take_dims(&at, '/', dims);
	p->ndim = offsets ? checkpoint_save_take_dims(&at, 0, dims + SHERD_MAX_DIMS) : 0;
	if (!p->ndim || p->ndim != offsets)
		return cli_usage(err, "--piece must be NAME=OFFSET/SHAPE, such as w=128,0/512,64: where it "
		                      "begins in the whole tensor, and the shape of that");
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = 0;
	s->part_count++;
	return SHERD_OK;
}

static int take_parts(saving *s, const cli_args *args, sherd_error *err)
{
	const char *text;
	size_t next = 0, count = 0, bytes = 0;
	while ((text = cli_args_each(args, "piece", &next))) {
		count++;
		bytes += strlen(text) + 1;
	}
	s->parts = calloc(count + 1, sizeof(*s->parts));
	s->dims = calloc((count + 1) * 2 * SHERD_MAX_DIMS, sizeof(*s->dims));
	s->part_names = malloc(bytes + 1);
	if (!s->parts || !s->dims || !s->part_names)
		return cli_no_memory(err);
	char *name = s->part_names;
	next = 0;
	while ((text = cli_args_each(args, "piece", &next))) {
		TRY(checkpoint_save_take_part(s, text, name, err));
		name += strlen(text) + 1;
	}
	return SHERD_OK;
}

static int take_layout(saving *s, const cli_args *args, sherd_error *err)
{
	const char *layout = cli_args_text(args, "layout");
	if (layout && strcmp(layout, "csharp") != 0 && strcmp(layout, "sherd") != 0)
		return cli_usage(err, "--layout must be sherd or csharp");
	if (layout && strcmp(layout, "csharp") == 0)
		s->options.layout = SHERD_CKPT_LAYOUT_CSHARP;
	if (s->alone && s->options.layout == SHERD_CKPT_LAYOUT_CSHARP)
		return cli_usage(err, "--layout csharp does not go with --rank: its shards carry no set id");
	return SHERD_OK;
}

static int take_digest(saving *s, const cli_args *args, sherd_error *err)
{
	static const char *const digests[] = {"sha256", "blake3", NULL};
	unsigned digest = 0;
	TRY(cli_args_word(args, "digest", digests, &digest, err));
	s->options.digest = digest ? SHERD_DIGEST_BLAKE3 : SHERD_DIGEST_SHA256;
	if (digest && s->options.layout == SHERD_CKPT_LAYOUT_CSHARP)
		return cli_usage(err, "--digest blake3 does not go with --layout csharp, which has no place for it");
	return SHERD_OK;
}

static void checkpoint_save_take_text(const cli_args *args, const char *name, const char **out)
{
	if (cli_args_has(args, name))
		*out = cli_args_text(args, name);
}

static int take_training(saving *s, const cli_args *args, sherd_error *err)
{
	sherd_ckpt_about *a = &s->about;
	TRY(cli_args_number(args, "step", INT64_MIN, INT64_MAX, &a->step, err));
	TRY(cli_args_number(args, "epoch", INT64_MIN, INT64_MAX, &a->epoch, err));
	TRY(cli_args_number(args, "ddp-rank", INT64_MIN, INT64_MAX, &a->ddp_rank, err));
	TRY(cli_args_real(args, "learning-rate", &a->learning_rate, err));
	a->has_step |= cli_args_has(args, "step");
	a->has_epoch |= cli_args_has(args, "epoch");
	a->has_ddp_rank |= cli_args_has(args, "ddp-rank");
	a->has_learning_rate |= cli_args_has(args, "learning-rate");
	checkpoint_save_take_text(args, "optimizer", &a->optimizer_type);
	checkpoint_save_take_text(args, "optimizer-state", &a->optimizer_state);
	checkpoint_save_take_text(args, "strategy", &a->strategy);
	checkpoint_save_take_text(args, "strategy-info", &a->strategy_info);
	checkpoint_save_take_text(args, "precision", &a->precision);
	return SHERD_OK;
}

/* Adds a pair, or replaces the one of the same key; returns how many there are then. */
static size_t set_field(sherd_pair *fields, size_t count, const char *key, const char *value)
{
	size_t i = 0;
	while (i < count && strcmp(fields[i].key, key) != 0)
		i++;
	fields[i] = (sherd_pair){key, value};
	return i == count ? count + 1 : count;
}

/* The source's own pairs first; --field adds to them or replaces one. */
static int checkpoint_save_take_fields(saving *s, const cli_args *args, const sherd_bundle *bundle, sherd_error *err)
{
	const sherd_pair *pairs;
	const char *text;
	size_t count = sherd_bundle_pairs(&pairs, bundle), bytes = 0, next = 0;
	while ((text = cli_args_each(args, "field", &next)))
		bytes += strlen(text) + 1;
	s->fields = calloc(count + args->given_count + 1, sizeof(*s->fields));
	s->keys = malloc(bytes + 1);
	if (!s->fields || !s->keys)
		return cli_no_memory(err);
	for (size_t i = 0; i < count; i++)
		s->fields[i] = pairs[i];
	char *room = s->keys;
	next = 0;
	while ((text = cli_args_each(args, "field", &next))) {
		const char *equals = strchr(text, '=');
		if (!equals || equals == text)
			return cli_usage(err, "--field must be KEY=VALUE");
		size_t len = (size_t)(equals - text);
		memcpy(room, text, len);
		room[len] = 0;
		count = set_field(s->fields, count, room, equals + 1);
		room += len + 1;
	}
	s->about.fields = s->fields;
	s->about.field_count = count;
	return SHERD_OK;
}

/* Given, or derived when bytes must repeat, or random; a process that is one of several cannot choose by itself. */
static int take_set_id(saving *s, cli_state *cli, const cli_args *args, const cli_place *to, const sherd_bundle *bundle,
                       sherd_error *err)
{
	const char *text = cli_args_text(args, "set-id");
	cli_clock clock;
	TRY(cli_clock_read(&clock, err));
	s->options.time_ns = clock.time_ns;
	s->options.set_id = &s->set_id;
	if (text)
		return sherd_set_id_parse(&s->set_id, text, err) < 0
		               ? cli_usage(err, "--set-id must be 32 lower-case hexadecimal digits")
		               : SHERD_OK;
	if (cli->group)
		return sherd_group_share(cli->group, cli->group->rank ? SHERD_OK : sherd_set_id_random(&s->set_id, err),
		                         0, &s->set_id, sizeof(s->set_id), err);
	if (s->ranks.found)
		return cli_ranks_set_id(&s->set_id, args->operands[1], cli_args_text(args, "step"), err);
	if (s->alone)
		return cli_usage(err, "--rank needs --set-id, the same for all ranks");
	return cli_clock_set_id(&clock, cli, to, bundle, s->cut, &s->options, &s->set_id, err);
}

static void checkpoint_save_note(cli_state *cli, const char *path, const saving *s, const sherd_ckpt_save_result *saved,
                                 const char *id)
{
	char size[CLI_TEXT_SIZE];
	uint32_t world = s->options.world;
	cli_text_size(saved->bytes, size);
	if (s->alone && !s->options.group)
		cli_out_note(&cli->out, "%s: shard %" PRIu32 " of %" PRIu32 " %s, %zu tensor%s, %s; %s", path, s->rank,
		             world,
		             saved->repeated    ? "is there already, the same"
		             : saved->rewritten ? "was damaged, and is written anew"
		                                : "saved",
		             saved->tensors, cli_text_plural(saved->tensors), size,
		             saved->committed ? "all are there: committed" : "others are missing");
	else
		cli_out_note(&cli->out, "%s: %zu tensor%s, %s saved in %" PRIu32 " shard%s%s%s", path, saved->tensors,
		             cli_text_plural(saved->tensors), size, world, cli_text_plural(world), *id ? ", set " : "",
		             id);
}

static int checkpoint_save_tell(cli_state *cli, const char *path, const saving *s, const sherd_ckpt_save_result *saved,
                                sherd_error *err)
{
	char id[SHERD_SET_ID_TEXT] = ""; /* which files of the C# layout do not hold */
	if (s->options.layout != SHERD_CKPT_LAYOUT_CSHARP)
		sherd_set_id_format(id, &s->set_id);
	checkpoint_save_note(cli, path, s, saved, id);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "prefix", path);
	if (*id)
		cli_doc_put_text(&doc, "setId", id);
	cli_doc_put_u64(&doc, "worldSize", s->options.world);
	if (s->alone && !s->options.group)
		cli_doc_put_u64(&doc, "rank", s->rank);
	cli_doc_put_u64(&doc, "tensors", saved->tensors);
	cli_doc_put_u64(&doc, "bytes", saved->bytes);
	if (s->alone && !s->options.group) {
		cli_doc_put_bool(&doc, "repeated", saved->repeated);
		cli_doc_put_bool(&doc, "rewritten", saved->rewritten);
	}
	cli_doc_put_bool(&doc, "committed", saved->committed);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int save_to(const cli_place *to, const saving *s, const sherd_bundle *bundle, sherd_ckpt_save_result *saved,
                   sherd_error *err)
{
	if (s->alone && s->split)
		return sherd_ckpt_split_bundle_rank(to->store, to->key, bundle, s->rank, s->cut, &s->options, saved,
		                                    err);
	if (s->alone)
		return sherd_ckpt_save_bundle_rank(to->store, to->key, bundle, s->rank, s->parts, s->part_count,
		                                   &s->options, saved, err);
	*saved = (sherd_ckpt_save_result){.committed = true, .tensors = sherd_bundle_count(bundle)};
	for (size_t i = 0; i < saved->tensors; i++)
		saved->bytes += sherd_bundle_tensor(bundle, i)->bytes;
	return sherd_ckpt_save_bundle(to->store, to->key, bundle, s->cut, &s->options, err);
}

/* What all ranks have saved. */
static int add_up(const saving *s, sherd_ckpt_save_result *saved, sherd_error *err)
{
	sherd_group *g = s->options.group;
	const uint64_t mine[] = {saved->tensors, saved->bytes};
	CLI_AUTO_FREE uint64_t *all = g ? calloc(g->size, sizeof(mine)) : NULL;
	if (!g)
		return SHERD_OK;
	TRY(sherd_group_agree(g, all ? SHERD_OK : cli_no_memory(err), err));
	TRY(g->gather(g->arg, mine, sizeof(mine), all, err));
	saved->tensors = 0;
	saved->bytes = 0;
	for (uint32_t r = 0; all && r < g->size; r++) {
		saved->tensors += (size_t)all[r * (size_t)2];
		saved->bytes += all[r * (size_t)2 + 1];
	}
	return SHERD_OK;
}

static int checkpoint_save(cli_state *cli, const cli_args *args, saving *s, const sherd_bundle *bundle,
                           sherd_error *err)
{
	const char *path = args->operands[1];
	sherd_ckpt_save_result saved = {0};
	CLI_AUTO_PLACE to = {0};
	/* What a checkpoint says about itself is kept where the options say nothing else. */
	if (sherd_bundle_about(bundle)) {
		s->about = *sherd_bundle_about(bundle);
		s->about.field_count = 0; /* they are the bundle's pairs too */
		TRY(take_training(s, args, err));
	}
	TRY(checkpoint_save_take_fields(s, args, bundle, err));
	TRY(cli_place_open(&to, path, true, err));
	s->options.about = &s->about;
	TRY(cli_place_blame(&to, take_set_id(s, cli, args, &to, bundle, err), err));
	TRY(cli_place_blame(&to, save_to(&to, s, bundle, &saved, err), err));
	TRY(add_up(s, &saved, err));
	return checkpoint_save_tell(cli, path, s, &saved, err);
}

static int save_from(cli_state *cli, const cli_args *args, saving *s, sherd_error *err)
{
	CLI_AUTO_PLACE from = {0};
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	CLI_AUTO_FREE char *path = cli_ranks_path(&s->ranks, args->operands[0]);
	if (!path)
		return cli_no_memory(err);
	TRY(cli_place_open(&from, path, false, err));
	sherd_bundle_options reading = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(cli_place_blame(&from, sherd_bundle_open(&bundle, from.store, from.key, &reading, err), err));
	if (!cli_args_has(args, "drop-graph"))
		TRY(cli_place_blame(&from, sherd_convert_check(bundle, SHERD_FORMAT_CHECKPOINT, err), err));
	if (!cli_args_has(args, "allow-missing"))
		TRY(cli_place_blame(&from, cli_target_refuse_missing(sherd_bundle_missing(bundle, err), err), err));
	return checkpoint_save(cli, args, s, bundle, err);
}

static int checkpoint_save_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	__attribute__((cleanup(checkpoint_save_done)))
	saving s = {.options = {.pool = cli->pool, .progress = &cli->progress}};
	TRY(checkpoint_save_take_ranks(&s, cli, args, err));
	TRY(take_layout(&s, args, err));
	TRY(take_digest(&s, args, err));
	TRY(take_training(&s, args, err));
	s.options.replace = cli_args_has(args, "replace");
	s.options.take_over = cli_args_has(args, "take-over");
	TRY(cli_args_span(args, "take-over-after", &s.options.take_over_after_ns, err));
	if (cli_args_has(args, "take-over-after") && !s.options.take_over_after_ns)
		s.options.take_over_after_ns = 1; /* 0 is at once; for the library it is never */
	TRY(take_parts(&s, args, err));
	return save_from(cli, args, &s, err);
}

static const cli_option options[] = {
	{"shards", "N", "how many shards to make (default: 1)", 0},
	{"cut", NULL, "cut every tensor by rows instead of giving whole tensors to shards", 0},
	{"replace", NULL, "a committed checkpoint of that prefix may be replaced, in one step", 0},
	{"take-over", NULL, "go ahead although another save holds the prefix", 0},
	{"take-over-after", "AGE", "clear a set that has waited so long for its ranks: 90, 15m, 12h, 7d", 0},
	{"layout", "sherd|csharp", "sherd (default) or csharp: 4-byte lengths, no checksums", 0},
	{"digest", "sha256|blake3", "what shards are verified by: sha256 (default), or blake3 by all workers", 0},
	{"rank", "R", "save SRC, whole, as the shard of this rank; the last to finish commits; or auto, mpi", 0},
	{"world", "W", "how many ranks save together", 0},
	{"split", NULL, "all ranks have the same SRC: save this rank's share of it", 0},
	{"piece", "NAME=OFFSET/SHAPE", "that tensor begins there in one of that shape: w=128,0/512,64; may be repeated",
         0},
	{"set-id", "ID", "32 hexadecimal digits, the same for all ranks of one save", 0},
	{"drop-graph", NULL, "of a model, save the arrays and lose the graph", 0},
	{"allow-missing", NULL, "go on when arrays of a model are missing, and leave them out", 0},
	{"field", "KEY=VALUE", "a custom field; may be repeated", 0},
	{"step", "N", "training step to record", 0},
	{"epoch", "N", "training epoch to record", 0},
	{"learning-rate", "X", "learning rate to record", 0},
	{"optimizer", "NAME", "type of the optimizer to record", 0},
	{"optimizer-state", "JSON", "state of the optimizer to record, a JSON object", 0},
	{"strategy", "NAME", "how the training is sharded, to record: fsdp, ddp, tensor_parallel", 0},
	{"strategy-info", "JSON", "more about that, a JSON object", 0},
	{"precision", "NAME", "precision of the training to record: fp32, bf16", 0},
	{"ddp-rank", "N", "rank in data-parallel training to record", 0},
};

const cli_command cli_command_checkpoint_save = {
	.name = "checkpoint save",
	.operands = "SRC PREFIX",
	.summary = "Saves the tensors of a file or set as a checkpoint made of shards",
	.details =
		"Started by mpirun, all ranks save one set, and rank 0 tells: each its own SRC where %r in that name\n"
		"stands for the rank, else its share of the common SRC. --rank auto goes by the variables of\n"
		"torchrun, MPI or SLURM; the set id is made of job, restarts, PREFIX and --step then.\n",
	.run = checkpoint_save_run,
	.by_ranks = true,
	CLI_OPTIONS(options),
};
