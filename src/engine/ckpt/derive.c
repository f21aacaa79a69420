/* engine/ckpt/derive.c - an id that follows from what is saved, so that the same input gives the same bytes.
 *
 * SHA-256 over numbers of 8 bytes, little-endian, and texts with their lengths before them, so that no two inputs run
 * into each other; its first 16 bytes are the id. */
#include "base/buf.h"
#include "base/meter.h"
#include "codec/sha256.h"

#include <sherd/ckpt.h>

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20 };

static void hash_number(shd_sha256 *h, uint64_t value)
{
	uint8_t raw[8];
	shd_put_u64(raw, value);
	shd_sha256_add(h, raw, sizeof(raw));
}

/* NULL is another text than "". */
static void hash_text(shd_sha256 *h, const char *text)
{
	hash_number(h, text ? strlen(text) : UINT64_MAX);
	shd_sha256_add(h, text, text ? strlen(text) : 0);
}

static void hash_pairs(shd_sha256 *h, const sherd_pair *pairs, size_t count)
{
	hash_number(h, count);
	for (size_t i = 0; i < count; i++) {
		hash_text(h, pairs[i].key);
		hash_text(h, pairs[i].value);
	}
}

static void hash_about(shd_sha256 *h, const sherd_ckpt_about *about)
{
	const char *const texts[] = {about->strategy,       about->precision,       about->strategy_info,
	                             about->optimizer_type, about->optimizer_state, about->extra,
	                             about->sharding_extra, about->training_extra};
	uint64_t rate;
	memcpy(&rate, &about->learning_rate, sizeof(rate));
	hash_number(h, (uint64_t)(about->has_ddp_rank | about->has_epoch << 1 | about->has_step << 2 |
	                          about->has_learning_rate << 3));
	hash_number(h, (uint64_t)about->ddp_rank);
	hash_number(h, (uint64_t)about->epoch);
	hash_number(h, (uint64_t)about->step);
	hash_number(h, rate);
	for (size_t i = 0; i < COUNT_OF(texts); i++)
		hash_text(h, texts[i]);
	hash_pairs(h, about->fields, about->field_count);
}

static int hash_values(shd_sha256 *h, const sherd_bundle *bundle, size_t tensor, uint8_t *buf, shd_meter *meter,
                       sherd_error *err)
{
	uint64_t bytes = sherd_bundle_tensor(bundle, tensor)->bytes;
	hash_number(h, bytes);
	for (uint64_t at = 0; at < bytes; at += CHUNK) {
		size_t n = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
		TRY(sherd_bundle_read(bundle, tensor, at, buf, n, err));
		shd_sha256_add(h, buf, n);
		TRY(shd_meter_add(meter, n, err));
	}
	return SHERD_OK;
}

static int hash_tensors(shd_sha256 *h, const sherd_bundle *bundle, shd_meter *meter, sherd_error *err)
{
	SHD_AUTO_FREE void *buf = malloc(CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	hash_number(h, sherd_bundle_count(bundle));
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(bundle, i);
		hash_text(h, t->name);
		hash_number(h, (uint64_t)t->dtype);
		if (t->dtype == SHERD_OPAQUE)
			hash_text(h, t->type_name);
		hash_number(h, t->ndim);
		for (uint32_t d = 0; d < t->ndim; d++)
			hash_number(h, t->shape[d]);
		TRY(hash_values(h, bundle, i, buf, meter, err));
	}
	return SHERD_OK;
}

static uint64_t count_bytes(const sherd_bundle *bundle)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++)
		bytes += sherd_bundle_tensor(bundle, i)->bytes;
	return bytes;
}

static bool is_committed(sherd_store *store, const char *prefix, const sherd_set_id *id)
{
	sherd_ckpt *ckpt;
	if (sherd_ckpt_open(&ckpt, store, prefix, NULL, NULL) < 0)
		return false;
	const sherd_ckpt_info *info = sherd_ckpt_describe(ckpt);
	bool same = info->has_set_id && memcmp(&info->set_id, id, sizeof(*id)) == 0;
	sherd_ckpt_close(ckpt);
	return same;
}

static void take_id(shd_sha256 h, uint64_t again, sherd_set_id *out)
{
	uint8_t hash[SHD_SHA256_BYTES];
	hash_number(&h, again);
	shd_sha256_finish(&h, hash);
	memcpy(out->bytes, hash, sizeof(out->bytes));
}

int sherd_set_id_derive(sherd_set_id *out, sherd_store *store, const char *prefix, const sherd_bundle *bundle, bool cut,
                        const sherd_ckpt_save_options *options, sherd_error *err)
{
	const sherd_ckpt_about *about = options->about ? options->about : sherd_bundle_about(bundle);
	const sherd_bundle_options reading = {.pool = options->pool, .progress = options->progress};
	const sherd_pair *pairs;
	shd_sha256 h;
	shd_meter meter;
	TRY(sherd_bundle_prepare(bundle, NULL, 0, &reading, err));
	shd_sha256_init(&h);
	hash_number(&h, (uint64_t)options->time_ns);
	hash_text(&h, prefix);
	hash_number(&h, options->world);
	hash_number(&h, (uint64_t)options->digest << 8 | (uint64_t)options->layout << 1 | cut);
	hash_number(&h, about != NULL);
	if (about)
		hash_about(&h, about);
	size_t count = sherd_bundle_pairs(&pairs, bundle);
	hash_pairs(&h, pairs, count);
	shd_meter_init(&meter, options->progress, count_bytes(bundle));
	int rc = hash_tensors(&h, bundle, &meter, err);
	shd_meter_done(&meter);
	TRY(rc);
	sherd_set_id id;
	take_id(h, 0, &id);
	if (is_committed(store, prefix, &id))
		take_id(h, 1, &id);
	*out = id;
	return SHERD_OK;
}
