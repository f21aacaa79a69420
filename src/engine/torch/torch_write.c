/* engine/torch/torch_write.c - a state dictionary as torch.save() writes it. docs/formats/torch.md. */
#include "codec/json.h"
#include "engine/tensors/archive_out.h"
#include "engine/tensors/bundle.h"
#include "engine/torch/format.h"
#include "engine/torch/item.h"
#include "format/torch/write.h"

#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

/* Which storage each tensor has: tensors whose file says that they are the same share one. */
static size_t *number_storages(const shd_conversion *c, size_t *count)
{
	size_t n = sherd_bundle_count(c->from);
	size_t *storages = calloc(n + 1, sizeof(*storages));
	const size_t *same = c->from->same;
	*count = 0;
	for (size_t i = 0; storages && i < n; i++)
		storages[i] = same && same[i] < i ? storages[same[i]] : (*count)++;
	return storages;
}

static int encode_state(const shd_conversion *c, const size_t *storages, shd_buf *out, sherd_error *err)
{
	SHD_DONE(shd_pickle_writer_done) shd_pickle_writer w;
	shd_pickle_writer_init(&w, out, 2);
	shd_pickle_put_global(&w, "collections", "OrderedDict");
	shd_pickle_put_op(&w, ')');
	shd_pickle_put_op(&w, 'R');
	shd_pickle_put_op(&w, '(');
	for (size_t i = 0; i < sherd_bundle_count(c->from); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(c->from, i);
		shd_pickle_put_text(&w, t->name);
		shd_torch_put_tensor(&w, t, storages[i]);
	}
	shd_pickle_put_op(&w, 'u');
	return shd_pickle_writer_end(&w, err);
}

static int write_pairs(const shd_conversion *c, shd_archive_out *out, sherd_error *err)
{
	const sherd_pair *pairs;
	size_t count = sherd_bundle_pairs(&pairs, c->from);
	SHD_AUTO_BUF text = {0};
	shd_json_writer w;
	if (!count)
		return SHERD_OK;
	shd_json_writer_init(&w, &text);
	shd_json_put_object(&w, false);
	for (size_t i = 0; i < count; i++)
		shd_json_put_key_text(&w, pairs[i].key, pairs[i].value);
	shd_json_put_object_end(&w);
	TRY(shd_buf_check(&text, err));
	return shd_torch_put_entry(out, SHD_TORCH_PAIRS, text.data, text.len, err);
}

static int write_storages(shd_conversion *c, shd_archive_out *out, const size_t *storages, sherd_error *err)
{
	size_t next = 0;
	for (size_t i = 0; i < sherd_bundle_count(c->from); i++) {
		char name[32];
		if (storages[i] != next)
			continue;
		(void)snprintf(name, sizeof(name), "data/%zu", next++);
		TRY(shd_torch_put_storage(c, out, name, i, err));
	}
	return SHERD_OK;
}

static int write_archive(shd_conversion *c, shd_archive_out *out, sherd_error *err)
{
	size_t count;
	SHD_AUTO_BUF pickle = {0};
	SHD_AUTO_FREE size_t *storages = number_storages(c, &count);
	if (!storages)
		return shd_fail_nomem(err);
	if (count > SHD_ZIP_MOST_ENTRIES - 16)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "torch cannot hold more than %u tensors",
		                SHD_ZIP_MOST_ENTRIES - 16);
	TRY(encode_state(c, storages, &pickle, err));
	TRY(shd_torch_put_entry(out, "data.pkl", pickle.data, pickle.len, err));
	TRY(shd_torch_put_constants(out, err));
	TRY(write_pairs(c, out, err));
	TRY(write_storages(c, out, storages, err));
	TRY(shd_torch_put_entry(out, "version", "3\n", 2, err));
	return shd_archive_out_finish(out, err);
}

int shd_write_torch(shd_conversion *c, sherd_error *err)
{
	SHD_DONE(shd_archive_out_done) shd_archive_out out = {0};
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	uint64_t bytes = 0;
	TRY(shd_in_object(err, shd_torch_check_tensors(c, err), c->key));
	for (size_t i = 0; i < sherd_bundle_count(c->from); i++)
		bytes += sherd_bundle_tensor(c->from, i)->bytes;
	TRY(shd_conversion_open_one(c, c->key, bytes, &writer, err));
	TRY(shd_archive_out_init(&out, writer, 0, err));
	TRY(shd_in_object(err, write_archive(c, &out, err), c->key));
	TRY(sherd_writer_commit(TAKE(writer), err));
	if (c->options->written)
		*c->options->written = out.at;
	return SHERD_OK;
}
