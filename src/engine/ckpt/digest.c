#include "engine/ckpt/digest.h"

#include "base/pool.h"
#include "engine/ckpt/runs.h"
#include "engine/tensors/blame.h"
#include "format/ckpt/index.h"

#include <stdlib.h>

/* Small enough that what was read is still in the cache when it is hashed. */
enum { CHUNK = 256 << 10 };
/* Parts that a worker takes at a time, at most; its memory is that of one. */
enum { PARTS_AT_ONCE = 8 };

size_t shd_ckpt_parts_count(const ckpt_parts *p)
{
	return (size_t)((p->size >> p->log) + ((p->size & (((uint64_t)1 << p->log) - 1)) != 0));
}

typedef struct parts_job {
	const ckpt_parts *parts;
	size_t first, count, step;
	const uint8_t *wanted;
	ckpt_part_fn *fn;
	void *arg;
} parts_job;

static int run_part(const parts_job *j, size_t part, uint8_t **scratch, sherd_error *err)
{
	const ckpt_parts *p = j->parts;
	const uint64_t most = (uint64_t)1 << p->log, start = (uint64_t)part << p->log;
	const size_t len = (size_t)(p->size - start < most ? p->size - start : most);
	const uint8_t *bytes;
	if (!*scratch && !(*scratch = malloc(p->size < most ? (size_t)p->size : (size_t)most)))
		return shd_fail_nomem(err);
	TRY(shd_in_reader(err, shd_runs_fetch(p->reader, p->offset + start, len, *scratch, &bytes, err), p->reader));
	TRY(j->fn(j->arg, part, bytes, len, err));
	return shd_in_reader(err, shd_runs_release(p->reader, p->offset + start, len, *scratch, bytes, err), p->reader);
}

static int run_parts(void *arg, size_t index, sherd_error *err)
{
	const parts_job *j = arg;
	size_t from = j->first + index * j->step, end = j->first + j->count;
	uint8_t *scratch = NULL;
	int rc = SHERD_OK;
	end = end - from < j->step ? end : from + j->step;
	for (size_t part = from; part < end && rc == SHERD_OK; part++)
		if (!j->wanted || j->wanted[part])
			rc = run_part(j, part, &scratch, err);
	free(scratch);
	return rc;
}

int shd_ckpt_parts_run(const ckpt_parts *p, size_t first, size_t count, const uint8_t *wanted, sherd_pool *pool,
                       ckpt_part_fn *fn, void *arg, sherd_error *err)
{
	size_t step = count / ((size_t)4 * sherd_pool_workers(pool)) + 1;
	step = step < PARTS_AT_ONCE ? step : PARTS_AT_ONCE;
	parts_job j = {.parts = p, .first = first, .count = count, .step = step};
	j.wanted = wanted;
	j.fn = fn;
	j.arg = arg;
	return shd_pool_run(pool, (count + step - 1) / step, run_parts, &j, err);
}

void shd_ckpt_part_value(const ckpt_parts *p, size_t part, const uint8_t *bytes, size_t len,
                         uint8_t out[SHD_BLAKE3_BYTES])
{
	if (shd_ckpt_parts_count(p) == 1)
		shd_blake3_of(bytes, len, out);
	else
		shd_blake3_part(bytes, len, (uint64_t)part << p->log, out);
}

void shd_ckpt_parts_text(const uint8_t (*values)[SHD_BLAKE3_BYTES], size_t count, char out[SHD_CKPT_DIGEST_TEXT])
{
	uint8_t hash[SHD_BLAKE3_BYTES];
	if (count == 0)
		shd_blake3_of("", 0, hash);
	else if (count == 1)
		memcpy(hash, values[0], sizeof(hash));
	else
		shd_blake3_root(values, count, hash);
	shd_ckpt_digest_text(SHERD_DIGEST_BLAKE3, hash, out);
}

typedef struct valuing {
	ckpt_parts parts;
	shd_meter *meter;
	uint8_t (*values)[SHD_BLAKE3_BYTES];
} valuing;

static int take_value(void *arg, size_t part, const uint8_t *bytes, size_t len, sherd_error *err)
{
	const valuing *v = arg;
	shd_ckpt_part_value(&v->parts, part, bytes, len, v->values[part]);
	return v->meter ? shd_meter_add(v->meter, len, err) : SHERD_OK;
}

static int blake3_range(const sherd_reader *reader, uint64_t offset, uint64_t size, sherd_pool *pool, shd_meter *meter,
                        char out[SHD_CKPT_DIGEST_TEXT], sherd_error *err)
{
	valuing v = {{reader, offset, size, SHD_CKPT_PART_LOG}, meter, NULL};
	size_t count = shd_ckpt_parts_count(&v.parts);
	v.values = calloc(count + 1, sizeof(*v.values));
	if (!v.values)
		return shd_fail_nomem(err);
	int rc = shd_ckpt_parts_run(&v.parts, 0, count, NULL, pool, take_value, &v, err);
	shd_ckpt_parts_text(v.values, count, out);
	free(v.values);
	return rc;
}

static int sha256_range(const sherd_reader *reader, uint64_t offset, uint64_t size, shd_meter *meter,
                        char out[SHD_CKPT_DIGEST_TEXT], sherd_error *err)
{
	uint8_t hash[SHD_SHA256_BYTES];
	shd_sha256 sha;
	uint8_t *buf = malloc(CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	int rc = SHERD_OK;
	shd_sha256_init(&sha);
	for (uint64_t at = 0; rc == SHERD_OK && at < size; at += CHUNK) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		rc = sherd_reader_at(reader, offset + at, buf, n, err);
		if (rc == SHERD_OK) {
			shd_sha256_add(&sha, buf, n);
			if (meter)
				rc = shd_meter_add(meter, n, err);
		}
	}
	free(buf);
	shd_sha256_finish(&sha, hash);
	shd_ckpt_digest_text(SHERD_DIGEST_SHA256, hash, out);
	return rc;
}

int shd_ckpt_digest_range(const sherd_reader *reader, uint64_t offset, uint64_t size, sherd_digest digest,
                          sherd_pool *pool, shd_meter *meter, char out[SHD_CKPT_DIGEST_TEXT], sherd_error *err)
{
	return digest == SHERD_DIGEST_BLAKE3 ? blake3_range(reader, offset, size, pool, meter, out, err)
	                                     : sha256_range(reader, offset, size, meter, out, err);
}
