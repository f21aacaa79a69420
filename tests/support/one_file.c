#include "support/one_file.h"

#include "support/test.h"

#include "base/buf.h"

#include <sherd/ckpt.h>

#include <stdlib.h>
#include <string.h>

const one_file one_files[] = {
	{"a.safetensors", SHERD_FORMAT_SAFETENSORS, SHERD_COMPRESS_NONE, 0},
	{"a.npz", SHERD_FORMAT_NPZ, SHERD_COMPRESS_NONE, 0},
	{"b.npz", SHERD_FORMAT_NPZ, SHERD_COMPRESS_DEFLATE, 0},
	{"a.sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, SHERD_COMPRESS_NONE, 0},
	{"b.sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, SHERD_COMPRESS_DEFLATE, 0},
	{"c.sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, SHERD_COMPRESS_NONE, SHERD_DIGEST_BLAKE3},
	{"a.sdnb", SHERD_FORMAT_SDNB, SHERD_COMPRESS_NONE, 0},
	{"a.sdz", SHERD_FORMAT_SDZ, SHERD_COMPRESS_NONE, 0},
	{"a_shard_0.shard", SHERD_FORMAT_CHECKPOINT, SHERD_COMPRESS_NONE, SHERD_DIGEST_SHA256},
	{"b_shard_0.shard", SHERD_FORMAT_CHECKPOINT, SHERD_COMPRESS_NONE, SHERD_DIGEST_BLAKE3},
	{0},
};

sherd_bundle *one_file_sample(sherd_store *memory, size_t bytes)
{
	sherd_bundle *bundle = NULL;
	const size_t c = 70001, a = bytes / 12 * 4, b = bytes / 12 * 8;
	shd_buf text = {0}, all = {0};
	shd_buf_printf(&text,
	               "{\"a\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[0,%zu]},\"b\":{\"dtype\":\"F32\","
	               "\"shape\":[2,%zu],\"data_offsets\":[%zu,%zu]},\"c\":{\"dtype\":\"U8\",\"shape\":[%zu],"
	               "\"data_offsets\":[%zu,%zu]}}",
	               a / 4, a, b / 8, a, a + b, c, a + b, a + b + c);
	shd_buf_u64(&all, text.len);
	shd_buf_append(&all, text.data, text.len);
	assert_true(shd_buf_reserve(&all, a + b + c));
	for (size_t i = 0; i < a + b + c; i++)
		shd_buf_u8(&all, (uint8_t)(i % 7 == 0 ? (uint64_t)i * 2654435761u >> 17 : i >> 12));
	assert_ok(sherd_store_put(memory, "sample.safetensors", SHERD_WRITE_NEW, all.data, all.len, err));
	assert_ok(sherd_bundle_open(&bundle, memory, "sample.safetensors", NULL, err));
	shd_buf_done(&text);
	shd_buf_done(&all);
	return bundle;
}

static int write_shard(const one_file *f, const sherd_bundle *bundle, sherd_store *store, sherd_pool *pool,
                       sherd_error *err)
{
	static const sherd_set_id id = {{1, 2, 3}};
	const sherd_ckpt_save_options o = {.world = 1, .set_id = &id, .digest = f->digest, .time_ns = 7, .pool = pool};
	char prefix[] = {f->key[0], 0};
	return sherd_ckpt_save_bundle(store, prefix, bundle, false, &o, err);
}

int one_file_write(const one_file *f, const sherd_bundle *bundle, sherd_store *store, sherd_pool *pool,
                   sherd_error *err)
{
	const sherd_convert_options o = {.replace = true,
	                                 .compress = f->compress,
	                                 .digest = f->digest,
	                                 .pool = pool,
	                                 .timed = true,
	                                 .framework = "test"};
	if (f->format == SHERD_FORMAT_CHECKPOINT)
		return write_shard(f, bundle, store, pool, err);
	return sherd_convert(bundle, store, f->key, f->format, &o, err);
}

void one_file_clear(const one_file *f, sherd_store *store)
{
	char prefix[] = {f->key[0], 0};
	sherd_stat stat;
	if (f->format == SHERD_FORMAT_CHECKPOINT && sherd_store_stat(&stat, store, f->key, NULL) == SHERD_OK)
		assert_ok(sherd_ckpt_remove(store, prefix, NULL, NULL, err));
}
