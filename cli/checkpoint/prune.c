#include "base/clock.h"
#include "commands.h"
#include "base/doc.h"
#include "base/place.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- prune */

typedef struct pruning {
	cli_state *cli;
	const cli_place *place;
	bool dry_run;
	cli_doc removed, cleared, left; /* arrays, with --json */
	uint64_t uploads;               /* that nobody finished */
} pruning;

static void warn_left(const pruning *p, const sherd_ckpt_pruned *what)
{
	sherd_error warning;
	cli_fill(&warning, SHERD_ECONFLICT, "left-out", "left alone: %s", what->why);
	(void)snprintf(warning.object, sizeof(warning.object), "%.*s", (int)sizeof(warning.object) - 1, what->prefix);
	cli_place_name(p->place, &warning);
	if (!p->cli->out.json)
		cli_out_problem(&p->cli->out, &warning, true);
}

static void checkpoint_prune_put(cli_doc *doc, const sherd_ckpt_pruned *what)
{
	cli_doc_open(doc, '{');
	cli_doc_put_text(doc, "prefix", what->prefix);
	cli_doc_put_text(doc, "state", sherd_ckpt_state_name(what->was));
	if (what->fate == SHERD_CKPT_REMOVED)
		cli_doc_put_u64(doc, "bytes", what->bytes);
	if (what->fate == SHERD_CKPT_LEFT)
		cli_doc_put_text(doc, "why", what->why);
	cli_doc_close(doc, '}');
}

static void checkpoint_prune_tell(void *arg, const sherd_ckpt_pruned *what)
{
	pruning *p = arg;
	cli_out *out = &p->cli->out;
	if (what->fate == SHERD_CKPT_REMOVED)
		cli_out_note(out, "%s: %s, was %s", what->prefix, p->dry_run ? "would be removed" : "removed",
		             sherd_ckpt_state_name(what->was));
	else if (what->fate == SHERD_CKPT_CLEARED)
		cli_out_note(out, "%s: what a dead save, replacement or removal left beside it %s", what->prefix,
		             p->dry_run ? "would be cleared" : "is cleared");
	else
		warn_left(p, what);
	if (out->json)
		checkpoint_prune_put(what->fate == SHERD_CKPT_REMOVED   ? &p->removed
		                     : what->fate == SHERD_CKPT_CLEARED ? &p->cleared
		                                                        : &p->left,
		                     what);
}

static int checkpoint_prune_print(pruning *p, int rc, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&p->cli->out);
	cli_doc *const parts[] = {&p->removed, &p->cleared, &p->left};
	static const char *const keys[] = {"removed", "cleared", "left"};
	if (p->dry_run)
		cli_doc_put_bool(&doc, "dryRun", true);
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		cli_doc_key(&doc, keys[i]);
		cli_doc_close(parts[i], ']');
		cli_doc_move(&doc, parts[i]);
	}
	if (p->uploads)
		cli_doc_put_u64(&doc, "uploads", p->uploads);
	return cli_doc_end(&doc, rc, err);
}

/* A save that lives is not that old: by then its claim has lapsed, too. */
#define DEAD_AFTER_NS (INT64_C(86400) * 1000000000)

static int prune(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	pruning p = {.cli = cli, .place = &place, .dry_run = cli_args_has(args, "dry-run")};
	sherd_ckpt_prune_options options = {.now_ns = cli_clock_now(),
	                                    .orphaned = cli_args_has(args, "orphaned"),
	                                    .damaged = cli_args_has(args, "damaged"),
	                                    .dry_run = p.dry_run,
	                                    .pruned = checkpoint_prune_tell,
	                                    .arg = &p,
	                                    .pool = cli->pool,
	                                    .progress = &cli->waiting};
	int64_t keep = 0;
	TRY(cli_args_number(args, "keep", 1, INT32_MAX, &keep, err));
	if (!keep)
		return cli_usage(err, "--keep K is missing");
	TRY(cli_args_span(args, "waiting-older-than", &options.waiting_older_than_ns, err));
	if (cli_args_has(args, "waiting-older-than") && !options.waiting_older_than_ns)
		options.waiting_older_than_ns = 1; /* 0 is everything; for the library it is nothing */
	options.keep = (size_t)keep;
	TRY(cli_place_open_folder(&place, args->operands[0], err));
	cli_doc_open(&p.removed, '[');
	cli_doc_open(&p.cleared, '[');
	cli_doc_open(&p.left, '[');
	int rc = sherd_ckpt_prune(place.store, "", &options, err);
	if (rc == SHERD_OK)
		rc = sherd_store_abandon(&p.uploads, place.store, "", DEAD_AFTER_NS, p.dry_run, err);
	rc = cli_place_blame(&place, rc, err);
	if (rc == SHERD_OK && p.uploads)
		cli_out_note(&cli->out, "%s: %" PRIu64 " upload%s that nobody finished %s", args->operands[0],
		             p.uploads, cli_text_plural(p.uploads), p.dry_run ? "would be aborted" : "aborted");
	return checkpoint_prune_print(&p, rc, err);
}

static const cli_option prune_options[] = {
	{"keep", "K", "how many of the newest committed checkpoints stay, at least 1", 0},
	{"waiting-older-than", "AGE", "sets that have waited so long for their ranks go too: 90, 15m, 12h, 7d", 0},
	{"orphaned", NULL, "remove shards without metadata or claim, too", 0},
	{"damaged", NULL, "remove checkpoints that are damaged or lack a shard, too", 0},
	{"dry-run", NULL, "tell what would be removed, and remove nothing", 0},
};

const cli_command cli_command_checkpoint_prune = {
	.name = "checkpoint prune",
	.operands = "DIR --keep K",
	.summary = "Removes older checkpoints and what dead saves left",
	.details = "What stays was seen to be whole first: files, sizes and heads. What is being written, waits\n"
		   "for ranks, is damaged, orphaned or dated in the future is left alone and not counted.\n",
	.run = prune,
	CLI_OPTIONS(prune_options),
};

/* ---- remove */

/* Elsewhere a folder stands for its newest checkpoint, and a shard's name for the shard: to remove a set by either is
 * hardly ever meant. */
static int take_prefix(const cli_place *place, const char *path, sherd_error *err)
{
	static const char metadata[] = ".metadata.json", shard[] = ".shard";
	size_t len = strlen(place->key), end = sizeof(metadata) - 1, last = strlen(path);
	if (last && path[last - 1] == '/')
		return cli_usage(err, "%.128s is a folder: name the prefix of the checkpoint", path);
	if (len > end && strcmp(place->key + len - end, metadata) == 0)
		place->key[len - end] = 0;
	else if (len >= sizeof(shard) && strcmp(place->key + len - (sizeof(shard) - 1), shard) == 0)
		return cli_usage(err, "%.128s is one shard: name the prefix of the checkpoint", place->key);
	return SHERD_OK;
}

static int checkpoint_prune_remove_one(cli_state *cli, const char *path, cli_doc *doc, sherd_error *err)
{
	sherd_ckpt_options options = {.pool = cli->pool, .progress = &cli->waiting};
	sherd_ckpt_state was;
	CLI_AUTO_PLACE place = {0};
	TRY(cli_place_open(&place, path, false, err));
	TRY(take_prefix(&place, path, err));
	TRY(cli_place_blame(&place, sherd_ckpt_remove(place.store, place.key, &options, &was, err), err));
	cli_out_note(&cli->out, "%s: removed, was %s", path, sherd_ckpt_state_name(was));
	cli_doc_open(doc, '{');
	cli_doc_put_text(doc, "prefix", path);
	cli_doc_put_text(doc, "state", sherd_ckpt_state_name(was));
	cli_doc_close(doc, '}');
	return SHERD_OK;
}

static int run_remove(cli_state *cli, const cli_args *args, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	int rc = SHERD_OK;
	cli_doc_put_open(&doc, "removed", '[');
	for (int i = 0; i < args->count && rc == SHERD_OK; i++)
		rc = checkpoint_prune_remove_one(cli, args->operands[i], &doc, err);
	cli_doc_close(&doc, ']');
	return cli_doc_end(&doc, rc, err);
}

const cli_command cli_command_checkpoint_remove = {
	.name = "checkpoint remove",
	.operands = "PREFIX...",
	.summary = "Removes checkpoints, whole or damaged, or what is left of one",
	.details = "The metadata goes first, so that at every moment the checkpoint is whole or gone. One that is\n"
		   "being written is left alone.\n",
	.run = run_remove,
};
