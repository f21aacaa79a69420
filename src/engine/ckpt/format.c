#include "engine/ckpt/format.h"

#include "engine/ckpt/verify.h"

#include <sherd/ckpt.h>

#define METADATA_SUFFIX ".metadata.json"
#define SHARD_MAGIC "RAHS"

static int probe_metadata(shd_evidence *e, sherd_error *err)
{
	return shd_evidence_beside(e, METADATA_SUFFIX, err);
}

static bool is_damaged_metadata(const shd_evidence *e)
{
	return shd_str_ends(shd_str_of(e->key), METADATA_SUFFIX);
}

typedef struct shard_search {
	size_t prefix; /* bytes of "<key>_shard_" */
	bool found;
} shard_search;

/* "<key>_shard_<rank>.shard" or "<key>_shard_<rank>.<set>.shard" */
static bool see_shard(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	shard_search *s = arg;
	const char *rest = key + s->prefix;
	size_t digits = strspn(rest, "0123456789");
	s->found = digits && rest[digits] == '.' && !strchr(rest, '/') && shd_str_ends(shd_str_of(rest), ".shard");
	return !s->found;
}

/* A claim, or shards, without metadata. */
static int probe_unfinished(shd_evidence *e, sherd_error *err)
{
	SHD_AUTO_BUF prefix = {0};
	int found = shd_evidence_beside(e, ".saving", err);
	if (found || !*e->key)
		return found;
	shd_buf_str(&prefix, e->key);
	shd_buf_append(&prefix, "_shard_", sizeof("_shard_"));
	TRY(shd_buf_check(&prefix, err));
	shard_search s = {.prefix = prefix.len - 1};
	TRY(sherd_store_list(e->store, (const char *)prefix.data, "", see_shard, &s, err));
	return s.found;
}

static int write_set(shd_conversion *c, sherd_error *err)
{
	sherd_ckpt_save_options options = {.world = c->shards,
	                                   .time_ns = c->options->time_ns,
	                                   .replace = c->replace,
	                                   .digest = c->options->digest,
	                                   .pool = c->pool,
	                                   .progress = c->options->progress};
	return sherd_ckpt_save_bundle(c->store, c->key, c->from, false, &options, err);
}

#define HOLDS                                                                                                         \
	(SHERD_HOLDS_PAIRS | SHERD_HOLDS_TRAINING | SHERD_HOLDS_PIECES | SHERD_HOLDS_MANY | SHERD_HOLDS_EMPTY_NAMES | \
	 SHERD_HOLDS_BLOCKS | SHERD_HOLDS_OPAQUE | SHERD_HOLDS_TYPED)

const shd_format_entry shd_format_checkpoint = {
	.info = {.id = SHERD_FORMAT_CHECKPOINT,
                 .kind = SHERD_KIND_CHECKPOINT,
                 .name = "checkpoint",
                 .noun = "a checkpoint",
                 .endings = {{METADATA_SUFFIX, SHERD_ENDING_HEAD}},
                 .written = true,
                 .holds = HOLDS,
                 .takes = SHERD_TAKES_SHARDS | SHERD_TAKES_REPLACE | SHERD_TAKES_DIGEST,
                 .dtypes = SHD_DTYPES_ALL,
                 .most_dims = SHERD_MAX_DIMS},
	.keys = {"shards", "worldSize"},
	.is_damaged = is_damaged_metadata,
	.probe_set = probe_metadata,
	.open = shd_bundle_open_ckpt,
	.verify = shd_ckpt_verify,
	.write = write_set,
};

const shd_format_entry shd_format_checkpoint_shard = {
	.info = {.id = SHERD_FORMAT_CHECKPOINT_SHARD,
                 .kind = SHERD_KIND_CHECKPOINT,
                 .name = "checkpoint-shard",
                 .noun = "a shard of a checkpoint",
                 .holds = HOLDS,
                 .dtypes = SHD_DTYPES_ALL,
                 .most_dims = SHERD_MAX_DIMS},
	.magic = {SHARD_MAGIC, sizeof(SHARD_MAGIC) - 1},
	.open = shd_bundle_open_ckpt_shard,
	.verify = shd_ckpt_verify_shard,
};

const shd_format_entry shd_format_checkpoint_unfinished = {
	.info = {.noun = "a checkpoint that was never committed", .advice = "it has no metadata"},
	.probe_set = probe_unfinished,
	.refusal = SHERD_EINCOMPLETE,
	.reason = "incomplete",
	.verify = shd_ckpt_verify_incomplete,
};
