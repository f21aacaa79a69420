#include "tensors/describe.h"

#include "base/auto.h"
#include "base/doc.h"

#include <string.h>

static void describe_json_put_head(cli_doc *doc, const sherd_tensor *t)
{
	cli_doc_put_text(doc, "name", t->name);
	cli_doc_put_text(doc, "dtype", sherd_tensor_type(t));
	if (t->dtype == SHERD_OPAQUE)
		cli_doc_put_bool(doc, "opaque", true);
	cli_doc_put_shape(doc, "shape", t->shape, t->ndim);
	cli_doc_put_u64(doc, "bytes", t->bytes);
}

static void describe_json_put_pairs(cli_doc *doc, const sherd_pair *pairs, size_t count)
{
	cli_doc_put_open(doc, "metadata", '{');
	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].key, SHERD_TYPES_KEY) != 0)
			cli_doc_put_text(doc, pairs[i].key, pairs[i].value);
	cli_doc_close(doc, '}');
}

static int put_stored(cli_doc *doc, const sherd_model *container, size_t array, sherd_error *err)
{
	sherd_model_stored s;
	TRY(sherd_model_stored_of(&s, container, array, err));
	cli_doc_put_u64(doc, "shard", s.file);
	if (!s.there) {
		cli_doc_put_bool(doc, "missing", true);
		return SHERD_OK;
	}
	cli_doc_put_u64(doc, "stored", s.bytes);
	cli_doc_put_text(doc, "codec", s.packed ? "deflate" : "none");
	cli_doc_put_u64(doc, "chunks", s.chunks);
	cli_doc_put_u64(doc, "chunkBytes", s.chunk_bytes);
	return SHERD_OK;
}

static void put_layout(cli_doc *doc, const sherd_model *model, const sherd_model_layout *layout)
{
	cli_doc_put_open(doc, "container", '{');
	cli_doc_put_u64(doc, "version", layout->version);
	cli_doc_put_u64(doc, "generation", layout->generation);
	cli_doc_put_u64(doc, "features", layout->features);
	if (layout->digest) {
		char text[CLI_DIGEST_TEXT];
		cli_describe_digest(layout->digest, text);
		cli_doc_put_text(doc, "digest", text);
	}
	cli_doc_put_open(doc, "files", '[');
	for (uint32_t i = 0; i < layout->files; i++) {
		sherd_model_file f = sherd_model_file_of(model, i);
		cli_doc_open(doc, '{');
		cli_doc_put_text(doc, "file", f.key);
		cli_doc_put_u64(doc, "bytes", f.bytes);
		cli_doc_put_bool(doc, "missing", !f.there);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
	cli_doc_close(doc, '}');
}

/* Members of an object that is open. */
static int put_bundle(cli_doc *doc, const sherd_bundle *bundle, const sherd_model *container, const cli_view *view,
                      sherd_error *err)
{
	CLI_AUTO_LISTING l = {0};
	const sherd_pair *pairs;
	TRY(cli_listing_open(&l, view, bundle, err));
	size_t pair_count = sherd_bundle_pairs(&pairs, bundle);
	cli_doc_put_text(doc, "format", sherd_format_name(sherd_bundle_format(bundle)));
	cli_doc_put_open(doc, "tensors", '[');
	for (size_t i = 0; i < l.count; i++) {
		cli_doc_open(doc, '{');
		describe_json_put_head(doc, l.items[i].tensor);
		if (container)
			TRY(put_stored(doc, container, l.items[i].index, err));
		if (view->files && l.items[i].file)
			cli_doc_put_text(doc, "file", l.items[i].file);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
	describe_json_put_pairs(doc, pairs, pair_count);
	cli_describe_globals_json(doc, bundle);
	return SHERD_OK;
}

int cli_describe_bundle_json(cli_state *cli, const sherd_bundle *bundle, const cli_view *view, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	return cli_doc_end(&doc, put_bundle(&doc, bundle, NULL, view, err), err);
}

static void put_texts(cli_doc *doc, const char *key, const sherd_model_texts *texts)
{
	cli_doc_put_open(doc, key, '[');
	for (size_t i = 0; i < texts->count; i++)
		cli_doc_text(doc, texts->at[i]);
	cli_doc_close(doc, ']');
}

int cli_describe_model_json(cli_state *cli, const sherd_model *model, const sherd_bundle *bundle, const cli_view *view,
                            sherd_error *err)
{
	const sherd_model_graph *g = sherd_model_describe(model);
	sherd_model_layout layout;
	bool container = sherd_model_layout_of(&layout, model);
	cli_doc doc = cli_doc_begin(&cli->out);
	int rc = put_bundle(&doc, bundle, container ? model : NULL, view, err);
	if (rc < 0)
		return cli_doc_end(&doc, rc, err);
	if (container)
		put_layout(&doc, model, &layout);
	cli_doc_put_u64(&doc, "variables", g->variable_count);
	cli_doc_put_u64(&doc, "operations", g->operation_count);
	if (g->subgraph_count)
		cli_doc_put_u64(&doc, "graphs", g->subgraph_count);
	put_texts(&doc, "placeholders", &g->placeholders);
	put_texts(&doc, "losses", &g->losses);
	cli_doc_put_u64(&doc, "updaters", g->updater_count);
	cli_doc_put_u64(&doc, "sequences", g->sequence_count);
	if (g->training)
		cli_doc_put_text(&doc, "training", g->training);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static void put_pieces(cli_doc *doc, const sherd_ckpt *ckpt, const sherd_ckpt_piece *pieces, size_t count,
                       uint32_t ndim)
{
	cli_doc_put_open(doc, "pieces", '[');
	for (size_t i = 0; i < count; i++) {
		cli_doc_open(doc, '{');
		cli_doc_put_u64(doc, "shard", sherd_ckpt_shard_at(ckpt, pieces[i].shard)->rank);
		cli_doc_put_u64(doc, "offset", pieces[i].offset);
		cli_doc_put_u64(doc, "bytes", pieces[i].bytes);
		cli_doc_put_shape(doc, "shape", pieces[i].shape, ndim);
		if (pieces[i].at)
			cli_doc_put_shape(doc, "at", pieces[i].at, ndim);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
}

static void put_tensors(cli_doc *doc, const sherd_ckpt *ckpt, const cli_listing *l)
{
	cli_doc_put_open(doc, "tensors", '[');
	for (size_t i = 0; i < l->count; i++) {
		const sherd_tensor *t = l->items[i].tensor;
		const sherd_ckpt_piece *pieces;
		size_t count = sherd_ckpt_pieces(&pieces, ckpt, l->items[i].index);
		cli_doc_open(doc, '{');
		describe_json_put_head(doc, t);
		if (count == 1 && !pieces[0].at) {
			cli_doc_put_u64(doc, "shard", sherd_ckpt_shard_at(ckpt, pieces[0].shard)->rank);
			cli_doc_put_u64(doc, "offset", pieces[0].offset);
		} else {
			put_pieces(doc, ckpt, pieces, count, t->ndim);
		}
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
}

static void put_shards(cli_doc *doc, const sherd_ckpt *ckpt)
{
	cli_doc_put_open(doc, "shards", '[');
	for (size_t i = 0; i < sherd_ckpt_shards(ckpt); i++) {
		const sherd_ckpt_shard *s = sherd_ckpt_shard_at(ckpt, i);
		cli_doc_open(doc, '{');
		cli_doc_put_u64(doc, "rank", s->rank);
		cli_doc_put_text(doc, "file", s->file);
		cli_doc_put_u64(doc, "bytes", s->file_size);
		cli_doc_put_text(doc, "checksum", s->checksum);
		cli_doc_put_u64(doc, "tensors", s->tensors);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
}

/* Texts that are absent are left out; JSON is handed through to the digit. */
static void put_text_or_none(cli_doc *doc, const char *key, const char *text)
{
	if (text)
		cli_doc_put_text(doc, key, text);
}

static void put_json_or_none(cli_doc *doc, const char *key, const char *json)
{
	if (!json)
		return;
	cli_doc_key(doc, key);
	cli_doc_raw(doc, json);
}

static void put_about(cli_doc *doc, const sherd_ckpt_about *about)
{
	if (about->has_ddp_rank)
		cli_doc_put_i64(doc, "ddpRank", about->ddp_rank);
	cli_doc_put_open(doc, "sharding", '{');
	put_text_or_none(doc, "strategy", about->strategy);
	put_text_or_none(doc, "precision", about->precision);
	put_json_or_none(doc, "strategySpecificInfo", about->strategy_info);
	cli_doc_members(doc, about->sharding_extra);
	cli_doc_close(doc, '}');
	cli_doc_put_open(doc, "training", '{');
	if (about->has_epoch)
		cli_doc_put_i64(doc, "epoch", about->epoch);
	if (about->has_step)
		cli_doc_put_i64(doc, "step", about->step);
	if (about->has_learning_rate) {
		cli_doc_key(doc, "learningRate");
		cli_doc_f64(doc, about->learning_rate);
	}
	put_text_or_none(doc, "optimizerType", about->optimizer_type);
	put_json_or_none(doc, "optimizerState", about->optimizer_state);
	cli_doc_members(doc, about->training_extra);
	cli_doc_close(doc, '}');
	if (about->extra && *about->extra) {
		cli_doc_put_open(doc, "extra", '{');
		cli_doc_members(doc, about->extra);
		cli_doc_close(doc, '}');
	}
}

int cli_describe_ckpt_json(cli_state *cli, const sherd_ckpt *ckpt, sherd_format format, const cli_view *view,
                           sherd_error *err)
{
	CLI_AUTO_LISTING l = {0};
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	TRY(sherd_bundle_of_ckpt(&bundle, ckpt, err));
	TRY(cli_listing_open(&l, view, bundle, err));
	const sherd_ckpt_info *info = sherd_ckpt_describe(ckpt);
	char id[SHERD_SET_ID_TEXT];
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "format", sherd_format_name(format));
	put_text_or_none(&doc, "version", info->version);
	put_text_or_none(&doc, "timestamp", info->timestamp);
	cli_doc_put_u64(&doc, "worldSize", info->world);
	if (info->has_set_id) {
		sherd_set_id_format(id, &info->set_id);
		cli_doc_put_text(&doc, "setId", id);
	}
	put_shards(&doc, ckpt);
	if (cli_describe_has_about(ckpt, format))
		put_about(&doc, &info->about);
	put_tensors(&doc, ckpt, &l);
	describe_json_put_pairs(&doc, info->about.fields, info->about.field_count);
	return cli_doc_end(&doc, SHERD_OK, err);
}
