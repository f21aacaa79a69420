#include "engine/model/container.h"

#include "engine/model/container_set.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the shards of an open model */

static int shard_key(const shd_container_model *m, uint32_t shard, shd_buf *out, sherd_error *err)
{
	shd_container_name_put(out, m->prefix, shard, m->shards.count, m->shards.generation);
	return shd_buf_check(out, err);
}

static int container_shards_check_shard(const shd_container_model *m, const container_file *f, uint32_t shard,
                                        sherd_error *err)
{
	const shd_container_peer *told = &m->shards.peers[shard - 1];
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_container_shards info;
	TRY(shd_container_file_shards(f, &arena, &info, err));
	if (!info.count)
		return shd_fail(err, SHERD_ECORRUPT, "other-set", "a container by itself, not shard %u of %u", shard,
		                m->shards.count);
	if (memcmp(f->head.set, m->file->head.set, sizeof(f->head.set)) != 0)
		return shd_fail(err, SHERD_ECORRUPT, "other-set", "a shard of another set than %.128s",
		                sherd_reader_key(m->file->reader));
	if (info.shard != shard || info.count != m->shards.count)
		return shd_fail(err, SHERD_ECORRUPT, "duplicate-rank",
		                "in the place of shard %u of %u lies shard %u of %u", shard, m->shards.count,
		                info.shard, info.count);
	if (sherd_reader_size(f->reader) != told->size)
		return shd_fail(err, SHERD_ECORRUPT, "size-mismatch", "shard %u has %llu bytes, not %llu", shard,
		                (unsigned long long)sherd_reader_size(f->reader), (unsigned long long)told->size);
	if (memcmp(f->digest, told->digest, sizeof(f->digest)) != 0)
		return shd_fail(err, SHERD_ECORRUPT, "bad-checksum", "shard %u is not the one that shard 0 tells of",
		                shard);
	return SHERD_OK;
}

static int open_shard(const shd_container_model *m, uint32_t shard, container_file **out, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	SHD_AUTO(container_file, shd_container_file_close) f = NULL;
	TRY(shard_key(m, shard, &key, err));
	const char *name = (const char *)key.data;
	sherd_reader *reader = m->readers[shard - 1];
	int rc = reader ? shd_container_file_over(&f, reader, &m->file->limits, err)
	                : shd_container_file_open(&f, m->store, name, &m->file->limits, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_ECORRUPT, "missing-shard", "shard %u of %u is missing", shard,
		              m->shards.count);
	if (rc == SHERD_OK)
		rc = container_shards_check_shard(m, f, shard, err);
	TRY(shd_in_store(err, shd_in_object(err, rc, name), m->store));
	*out = TAKE(f);
	return SHERD_OK;
}

int shd_container_model_shard(const shd_container_model *m, uint32_t shard, const container_file **out,
                              sherd_error *err)
{
	_Atomic(container_file *) *place = &m->others[shard - 1];
	container_file *f = atomic_load(place), *none = NULL;
	if (!f) {
		TRY(open_shard(m, shard, &f, err));
		if (!atomic_compare_exchange_strong(place, &none, f)) { /* another thread was faster */
			shd_container_file_close(f);
			f = none;
		}
	}
	*out = f;
	return SHERD_OK;
}

/* ---- opening them */

/* Opens all other shards, though nothing is read of them: so they stay when the set is replaced. One that is not there,
 * or that may not be read, is asked for again when it is needed. */
static int hold_shards(shd_container_model *m, bool *whole, sherd_error *err)
{
	m->readers = calloc(m->shards.count, sizeof(sherd_reader *));
	m->keys = shd_arena_alloc(&m->base.arena, m->shards.count, sizeof(*m->keys));
	if (!m->readers || !m->keys)
		return shd_fail_nomem(err);
	for (uint32_t i = 1; i < m->shards.count; i++) {
		SHD_AUTO_BUF key = {0};
		sherd_error failure = {0};
		TRY(shard_key(m, i, &key, err));
		m->keys[i - 1] = shd_arena_str(&m->base.arena, shd_str_of((const char *)key.data));
		if (!m->keys[i - 1])
			return shd_fail_nomem(err);
		int rc = sherd_store_read(&m->readers[i - 1], m->store, (const char *)key.data, &failure);
		if (rc == SHERD_ENOMEM || (rc == SHERD_EIO && failure.os_errno != EACCES))
			return shd_pass(err, rc, &failure);
		*whole = *whole && rc == SHERD_OK;
	}
	return SHERD_OK;
}

/* The set that the shard belongs to: its shard 0, beside it. */
static int open_set_of(shd_container_model *m, const char *key, const sherd_limits *limits, sherd_error *err)
{
	shd_container_name name;
	SHD_AUTO_BUF first = {0};
	const uint32_t shard = m->shards.shard;
	SHD_AUTO(container_file, shd_container_file_close) given = NULL;
	if (!shd_container_name_parse(key, &name) || name.shard != shard || name.count != m->shards.count)
		return shd_fail(err, SHERD_ECORRUPT, "bad-rank", "shard %u of %u, under a name that is not its own",
		                shard, m->shards.count);
	m->prefix = shd_arena_str(&m->base.arena, (shd_str){key, name.base});
	m->others = calloc(m->shards.count, sizeof(*m->others));
	if (!m->prefix || !m->others)
		return shd_fail_nomem(err);
	m->base.place = m->prefix;
	m->base.files = m->shards.count;
	if (!shard)
		return SHERD_OK;
	given = TAKE(m->file);
	TRY(shard_key(m, 0, &first, err));
	int rc = shd_container_file_open(&m->file, m->store, (const char *)first.data, limits, err);
	if (rc == SHERD_ENOTFOUND)
		return shd_fail(err, SHERD_EINCOMPLETE, "incomplete", "shard %u of %u, without its shard 0", shard,
		                name.count);
	TRY(rc);
	uint32_t count = m->shards.count;
	TRY(shd_container_file_shards(m->file, &m->base.arena, &m->shards, err));
	if (m->shards.shard != 0 || m->shards.count != count) {
		m->shards.count = count; /* what others has room for */
		return shd_in_object(
			err, shd_fail(err, SHERD_ECORRUPT, "bad-rank", "not shard 0 of %u, as its name says", count),
			(const char *)first.data);
	}
	return container_shards_check_shard(m, given, shard, err);
}

int shd_container_model_open_files(shd_container_model *m, const char *key, const sherd_limits *limits, bool *whole,
                                   sherd_error *err)
{
	sherd_stat stat;
	sherd_error failure;
	int rc = sherd_store_stat(&stat, m->store, key, &failure);
	if (rc == SHERD_ENOTFOUND) {
		TRY(shd_container_base(m->store, key, &m->base.arena, &key, err));
		TRY(shd_container_find_set(m->store, key, &m->base.arena, &key, err));
	} else if (rc < 0) {
		return shd_pass(err, rc, &failure);
	}
	TRY(shd_container_file_open(&m->file, m->store, key, limits, err));
	TRY(shd_container_file_shards(m->file, &m->base.arena, &m->shards, err));
	if (!m->shards.count)
		return SHERD_OK;
	TRY(shd_in_object(err, open_set_of(m, key, limits, err), key));
	return hold_shards(m, whole, err);
}
