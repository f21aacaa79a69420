/* engine/ckpt/source.c - what tells one common source that ranks cut from another. */
#include "engine/ckpt/save.h"

#include "base/pool.h"
#include "codec/crc32.h"
#include "codec/sha256.h"
#include "engine/tensors/bundle.h"

#include <stdlib.h>

enum { CHUNK = 1 << 20 };

typedef struct summing {
	const sherd_bundle *bundle;
	shd_meter meter;
	uint32_t *crcs; /* by tensor */
} summing;

static int sum_one(void *arg, size_t tensor, sherd_error *err)
{
	summing *g = arg;
	uint64_t bytes = sherd_bundle_tensor(g->bundle, tensor)->bytes;
	SHD_AUTO_FREE uint8_t *buf = malloc(CHUNK);
	uint32_t crc = 0;
	if (!buf)
		return shd_fail_nomem(err);
	for (uint64_t at = 0; at < bytes; at += CHUNK) {
		size_t n = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
		TRY(sherd_bundle_read(g->bundle, tensor, at, buf, n, err));
		TRY(shd_meter_ask(&g->meter, err));
		crc = shd_crc32(crc, buf, n);
	}
	g->crcs[tensor] = crc;
	return SHERD_OK;
}

static int sum_values(const sherd_bundle *bundle, const sherd_ckpt_save_options *o, shd_buf *out, sherd_error *err)
{
	size_t count = sherd_bundle_count(bundle);
	summing g = {.bundle = bundle, .crcs = calloc(count + 1, sizeof(*g.crcs))};
	sherd_bundle_options options = {.pool = o->pool, .progress = o->progress};
	if (!g.crcs)
		return shd_fail_nomem(err);
	shd_meter_init(&g.meter, o->progress, 0);
	int rc = sherd_bundle_prepare(bundle, NULL, 0, &options, err);
	if (rc == SHERD_OK)
		rc = shd_pool_run(o->pool, count, sum_one, &g, err);
	shd_meter_done(&g.meter);
	for (size_t i = 0; rc == SHERD_OK && i < count; i++)
		shd_buf_u32(out, g.crcs[i]);
	free(g.crcs);
	return rc;
}

static void ckpt_source_describe(const sherd_bundle *bundle, bool cut, shd_buf *out)
{
	shd_buf_u8(out, cut);
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(bundle, i);
		shd_buf_append(out, t->name, strlen(t->name) + 1);
		shd_buf_u32(out, (uint32_t)t->dtype);
		if (t->dtype == SHERD_OPAQUE)
			shd_buf_append(out, t->type_name, strlen(t->type_name) + 1);
		shd_buf_u32(out, t->ndim);
		for (uint32_t d = 0; d < t->ndim; d++)
			shd_buf_u64(out, t->shape[d]);
		shd_buf_u64(out, t->bytes);
	}
}

int shd_ckpt_source_digest(const sherd_bundle *bundle, bool cut, const sherd_ckpt_save_options *options, char *out,
                           sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	uint8_t hash[SHD_SHA256_BYTES];
	ckpt_source_describe(bundle, cut, &text);
	if (bundle->set_id)
		shd_buf_append(&text, bundle->set_id->bytes, sizeof(bundle->set_id->bytes));
	else
		TRY(sum_values(bundle, options, &text, err));
	TRY(shd_buf_check(&text, err));
	shd_sha256_of(text.data, text.len, hash);
	shd_hex(hash, sizeof(hash), out);
	return SHERD_OK;
}
