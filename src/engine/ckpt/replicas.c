#include "engine/ckpt/replicas.h"

#include "base/dtype.h"
#include "base/map.h"
#include "engine/ckpt/content.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CHUNK = 256 << 10 };

typedef struct comparing {
	const ckpt_replica *list;
	sherd_report *report;
	shd_meter *meter; /* bytes were counted when they were first read */
	shd_arena arena;
	shd_map pieces; /* name and place -> first in the list */
} comparing;

static int compare_bytes(comparing *g, const ckpt_replica *a, const ckpt_replica *b, bool *same, uint64_t *where,
                         sherd_error *err)
{
	uint8_t *buf = malloc((size_t)2 * CHUNK);
	uint64_t size = a->entry->tensor.bytes;
	int rc = SHERD_OK;
	if (!buf)
		return shd_fail_nomem(err);
	*same = true;
	for (uint64_t at = 0; rc == SHERD_OK && *same && at < size; at += CHUNK) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		rc = shd_meter_ask(g->meter, err);
		if (rc == SHERD_OK)
			rc = sherd_reader_at(a->shard->reader, a->shard->data_offset + a->entry->offset + at, buf, n,
			                     err);
		if (rc == SHERD_OK)
			rc = sherd_reader_at(b->shard->reader, b->shard->data_offset + b->entry->offset + at,
			                     buf + CHUNK, n, err);
		if (rc == SHERD_OK && memcmp(buf, buf + CHUNK, n) != 0) {
			*same = false;
			*where = at;
		}
	}
	free(buf);
	return rc;
}

static int replicas_compare(comparing *g, const ckpt_replica *a, const ckpt_replica *b, bool *same, uint64_t *where,
                            sherd_error *err)
{
	const shd_ckpt_entry *x = a->entry, *y = b->entry;
	*where = 0;
	*same = shd_tensor_same_type(&x->tensor, &y->tensor) && x->tensor.bytes == y->tensor.bytes;
	if (!*same || !x->tensor.bytes)
		return SHERD_OK;
	if (!x->crcs || !y->crcs)
		return compare_bytes(g, a, b, same, where, err);
	*same = shd_ckpt_same_checksums(x, y, where);
	return SHERD_OK;
}

static int replicas_check_one(comparing *g, size_t i, sherd_error *err)
{
	const ckpt_replica *b = &g->list[i];
	sherd_error found = {0};
	shd_str key;
	bool ok, same;
	uint64_t where;
	TRY(shd_ckpt_piece_key(b->entry, &g->arena, &key, err));
	size_t first = shd_map_add(&g->pieces, key, i, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	if (first == SHD_MAP_NONE)
		return SHERD_OK;
	const ckpt_replica *a = &g->list[first];
	TRY(replicas_compare(g, a, b, &same, &where, err));
	if (same)
		return SHERD_OK;
	int rc = shd_fail_at(&found, SHERD_ECORRUPT, "replica-mismatch",
	                     b->shard->data_offset + b->entry->offset + where,
	                     "tensor '%.80s': not the same bytes as in the shard of rank %" PRIu32,
	                     b->entry->tensor.name, a->shard->rank);
	return shd_report_take(g->report, rc, &found, sherd_reader_key(b->shard->reader), err);
}

int shd_ckpt_compare_replicas(const ckpt_replica *list, size_t count, sherd_report *r, shd_meter *meter,
                              sherd_error *err)
{
	comparing g = {.list = list, .report = r, .meter = meter};
	int rc = SHERD_OK;
	for (size_t i = 0; i < count && rc == SHERD_OK; i++)
		rc = replicas_check_one(&g, i, err);
	shd_map_done(&g.pieces);
	shd_arena_done(&g.arena);
	return rc;
}
