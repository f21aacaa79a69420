#include "engine/ckpt/verify_shard.h"

#include "codec/crc32.h"
#include "codec/sha256.h"
#include "engine/ckpt/digest.h"
#include "engine/ckpt/sums.h"
#include "engine/ckpt/verify_strings.h"

#include <inttypes.h>
#include <stdlib.h>

#define CHUNK STRINGS_BUFFER

typedef struct pass {
	const ckpt_scan *scan;
	sherd_report *report;
	const char *key;
	uint8_t *buf;
	shd_sha256 sha;
	const shd_ckpt_entry **order; /* entries with bytes, by offset */
	size_t count, next;           /* next: the first one not behind us */
	uint64_t block;               /* of the current one */
	uint32_t crc;
} pass;

static int verify_shard_by_offset(const void *a, const void *b)
{
	const shd_ckpt_entry *x = *(const shd_ckpt_entry *const *)a, *y = *(const shd_ckpt_entry *const *)b;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int make_order(pass *p, sherd_error *err)
{
	const ckpt_scan *s = p->scan;
	p->order = malloc((s->count + 1) * sizeof(*p->order));
	p->buf = malloc(CHUNK);
	if (!p->order || !p->buf)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < s->count; i++)
		if (s->entries[i].tensor.bytes)
			p->order[p->count++] = &s->entries[i];
	qsort(p->order, p->count, sizeof(*p->order), verify_shard_by_offset);
	return SHERD_OK;
}

static int compare_block(pass *p, const shd_ckpt_entry *e, uint64_t block, uint32_t got, sherd_error *err)
{
	uint32_t want = e->crcs[block];
	uint64_t start = block * SHD_CKPT_BLOCK, end = start + SHD_CKPT_BLOCK;
	if (want == got)
		return SHERD_OK;
	end = end < e->tensor.bytes ? end : e->tensor.bytes;
	sherd_error found = {0};
	int rc = shd_fail_at(&found, SHERD_ECORRUPT, "bad-crc", p->scan->shard->data_offset + e->offset + start,
	                     "tensor '%.80s': bytes %" PRIu64 " to %" PRIu64 " have CRC-32 %08" PRIx32
	                     ", not %08" PRIx32,
	                     e->tensor.name, start, end, got, want);
	return shd_report_take(p->report, rc, &found, p->key, err);
}

/* Bytes [at, at+len) of the data went by; their shares of blocks are counted. */
static int checksum(pass *p, uint64_t at, size_t len, sherd_error *err)
{
	uint64_t stop = at + len;
	while (p->scan->has_crcs && p->next < p->count && p->order[p->next]->offset < stop) {
		const shd_ckpt_entry *e = p->order[p->next];
		uint64_t start = e->offset + p->block * SHD_CKPT_BLOCK, end = start + SHD_CKPT_BLOCK;
		if (end > e->offset + e->tensor.bytes)
			end = e->offset + e->tensor.bytes;
		uint64_t from = start > at ? start : at, to = end < stop ? end : stop;
		if (from >= stop)
			return SHERD_OK;
		p->crc = shd_crc32(p->crc, p->buf + (from - at), (size_t)(to - from));
		if (to < end)
			return SHERD_OK;
		TRY(compare_block(p, e, p->block++, p->crc, err));
		p->crc = 0;
		if (end == e->offset + e->tensor.bytes) {
			p->next++;
			p->block = 0;
		}
	}
	return SHERD_OK;
}

static int read_data(pass *p, sherd_error *err)
{
	const ckpt_shard *s = p->scan->shard;
	shd_sha256_init(&p->sha);
	for (uint64_t at = 0; at < s->data_size; at += CHUNK) {
		size_t n = s->data_size - at < CHUNK ? (size_t)(s->data_size - at) : CHUNK;
		TRY(sherd_reader_at(s->reader, s->data_offset + at, p->buf, n, err));
		shd_sha256_add(&p->sha, p->buf, n);
		TRY(checksum(p, at, n, err));
		p->report->checked += n;
		if (p->scan->meter)
			TRY(shd_meter_add(p->scan->meter, n, err));
	}
	return SHERD_OK;
}

static int check_digest(pass *p, const char *text, sherd_error *err)
{
	sherd_error found = {0};
	int rc = shd_ckpt_shard_compare(p->scan->shard, text, &found);
	return shd_report_take(p->report, rc, &found, p->key, err);
}

static int check_sha256(pass *p, sherd_error *err)
{
	uint8_t hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	TRY(read_data(p, err));
	if (!p->scan->shard->checksum[0])
		return shd_report_warn(p->report, p->key, "no-checksum", err, "no checksum is recorded");
	shd_sha256_finish(&p->sha, hash);
	shd_hex(hash, sizeof(hash), hex);
	return check_digest(p, hex, err);
}

/* ---- BLAKE3: parts are summed by all workers, and compared in order when all are */

typedef struct part_pass {
	ckpt_sums sums;
	shd_meter *meter;
} part_pass;

static int sum_part(void *arg, size_t part, const uint8_t *bytes, size_t len, sherd_error *err)
{
	part_pass *g = arg;
	shd_ckpt_sums_part(&g->sums, part, bytes);
	return g->meter ? shd_meter_add(g->meter, len, err) : SHERD_OK;
}

static int compare_values(pass *p, const ckpt_sums *sums, sherd_error *err)
{
	const ckpt_scan *s = p->scan;
	for (size_t i = 0; i < s->value_count; i++) {
		sherd_error found = {0};
		size_t from = i;
		while (i < s->value_count && memcmp(s->values[i], sums->values[i], sizeof(*s->values)) != 0)
			i++;
		if (i == from)
			continue;
		uint64_t start = (uint64_t)from << s->part_log, end = (uint64_t)i << s->part_log;
		int rc = shd_fail_at(&found, SHERD_ECORRUPT, "bad-part", s->shard->data_offset + start,
		                     "bytes %" PRIu64 " to %" PRIu64 " of the data have other BLAKE3 values than the "
		                     "index records",
		                     start, end);
		TRY(shd_report_take(p->report, rc, &found, p->key, err));
	}
	return SHERD_OK;
}

static int compare_sums(pass *p, ckpt_sums *sums, sherd_error *err)
{
	char text[SHD_CKPT_DIGEST_TEXT];
	shd_ckpt_sums_join(sums);
	for (size_t i = 0; i < sums->span_count; i++)
		for (uint64_t b = 0; b < shd_ckpt_blocks(sums->spans[i].bytes); b++)
			TRY(compare_block(p, p->order[i], b, sums->spans[i].crcs[b], err));
	TRY(compare_values(p, sums, err));
	shd_ckpt_parts_text((const uint8_t(*)[SHD_BLAKE3_BYTES])sums->values, sums->parts, text);
	return check_digest(p, text, err);
}

static int sum_parts(pass *p, shd_arena *arena, sherd_error *err)
{
	const ckpt_scan *s = p->scan;
	const ckpt_shard *f = s->shard;
	part_pass g = {.meter = s->meter};
	ckpt_parts parts = {f->reader, f->data_offset, f->data_size, s->part_log ? s->part_log : SHD_CKPT_PART_LOG};
	size_t spans = s->has_crcs ? p->count : 0;
	TRY(shd_ckpt_sums_init(&g.sums, f->data_size, parts.log, spans, arena, err));
	g.sums.alone = g.sums.parts == 1;
	for (size_t i = 0; i < spans; i++)
		TRY(shd_ckpt_sums_add_span(&g.sums, p->order[i]->offset, p->order[i]->tensor.bytes, arena, err));
	TRY(shd_ckpt_parts_run(&parts, 0, g.sums.parts, NULL, s->pool, sum_part, &g, err));
	p->report->checked += f->data_size;
	return compare_sums(p, &g.sums, err);
}

static int check_blake3(pass *p, sherd_error *err)
{
	shd_arena arena = {0};
	int rc = sum_parts(p, &arena, err);
	shd_arena_done(&arena);
	return rc;
}

static int check_strings(pass *p, sherd_error *err)
{
	for (size_t i = 0; i < p->count; i++) {
		sherd_error found = {0};
		if (p->order[i]->tensor.dtype != SHERD_UTF8)
			continue;
		int rc = shd_ckpt_check_strings(p->scan->shard, p->order[i], p->scan->meter, p->buf, &found);
		TRY(shd_report_take(p->report, rc, &found, p->key, err));
	}
	return SHERD_OK;
}

static int verify_shard_run(pass *p, sherd_error *err)
{
	TRY(make_order(p, err));
	bool blake3 = shd_ckpt_digest_of(p->scan->shard->checksum) == SHERD_DIGEST_BLAKE3;
	TRY(blake3 ? check_blake3(p, err) : check_sha256(p, err));
	return check_strings(p, err);
}

ckpt_scan shd_ckpt_scan_by_index(const ckpt_shard *shard, const shd_ckpt_index *index, sherd_pool *pool,
                                 shd_meter *meter)
{
	return (ckpt_scan){
		.shard = shard,
		.entries = index->entries,
		.count = index->count,
		.has_crcs = true,
		.part_log = index->part_log,
		.values = index->values,
		.value_count = index->value_count,
		.pool = pool,
		.meter = meter,
	};
}

int shd_ckpt_scan(const ckpt_scan *scan, sherd_report *r, sherd_error *err)
{
	pass p = {.scan = scan, .report = r, .key = sherd_reader_key(scan->shard->reader)};
	int rc = verify_shard_run(&p, err);
	free(p.order);
	free(p.buf);
	return shd_in_object(err, rc, p.key);
}
