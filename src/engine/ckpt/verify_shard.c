#include "engine/ckpt/verify_shard.h"

#include "codec/crc32.h"
#include "codec/sha256.h"
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

static int close_block(pass *p, const shd_ckpt_entry *e, uint64_t end, sherd_error *err)
{
	uint32_t want = e->crcs[p->block], got = p->crc;
	uint64_t start = p->block * SHD_CKPT_BLOCK;
	p->block++;
	p->crc = 0;
	if (want == got)
		return SHERD_OK;
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
		TRY(close_block(p, e, end - e->offset, err));
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

static int check_hash(pass *p, sherd_error *err)
{
	const ckpt_shard *s = p->scan->shard;
	uint8_t hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	sherd_error found = {0};
	if (!s->checksum[0])
		return shd_report_warn(p->report, p->key, "no-checksum", err, "no checksum is recorded");
	shd_sha256_finish(&p->sha, hash);
	shd_hex(hash, sizeof(hash), hex);
	if (strcmp(hex, s->checksum) == 0)
		return SHERD_OK;
	int rc = shd_fail_at(&found, SHERD_ECORRUPT, "bad-checksum", s->by_metadata ? s->data_offset : 12,
	                     "the data's SHA-256 is %.16s..., the %s says %.16s...", hex,
	                     s->by_metadata ? "metadata" : "head", s->checksum);
	return shd_report_take(p->report, rc, &found, p->key, err);
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
	TRY(read_data(p, err));
	TRY(check_hash(p, err));
	return check_strings(p, err);
}

int shd_ckpt_scan(const ckpt_scan *scan, sherd_report *r, sherd_error *err)
{
	pass p = {.scan = scan, .report = r, .key = sherd_reader_key(scan->shard->reader)};
	int rc = verify_shard_run(&p, err);
	free(p.order);
	free(p.buf);
	return shd_in_object(err, rc, p.key);
}
