#include "engine/model/sdz.h"

#include "base/meter.h"
#include "codec/crc32.h"
#include "engine/model/sdz_stream.h"
#include "engine/model/verify.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(shd_sdz_stream, shd_sdz_stream_close)
SHD_AUTO_DEFINE(void, free)

enum { CHUNK = 1 << 20 };

typedef struct check {
	const shd_sdz_store *z;
	sherd_report *report;
	shd_meter meter;
	uint8_t *buf; /* CHUNK bytes */
} check;

/* Of an entry that lies at data, or of its stream when it is compressed. */
static int read_some(const check *c, shd_sdz_stream *s, uint64_t data, uint64_t at, size_t len, sherd_error *err)
{
	return s ? shd_sdz_stream_at(s, at, c->buf, len, err)
	         : sherd_reader_at(c->z->archive, data + at, c->buf, len, err);
}

static int sdz_verify_check_entry(check *c, const shd_zip_entry *e, sherd_error *err)
{
	SHD_AUTO(shd_sdz_stream, shd_sdz_stream_close) s = NULL;
	uint64_t data;
	uint32_t crc = 0;
	TRY(shd_sdz_find_data(c->z, e, &data, err));
	if (e->method != SHD_ZIP_STORED)
		TRY(shd_sdz_stream_open(&s, c->z->archive, e, data, err));
	for (uint64_t at = 0; at < e->size;) {
		size_t n = e->size - at < CHUNK ? (size_t)(e->size - at) : CHUNK;
		TRY(read_some(c, s, data, at, n, err));
		crc = shd_crc32(crc, c->buf, n);
		at += n;
		TRY(shd_meter_add(&c->meter, n, err));
	}
	if (crc != e->crc)
		return shd_fail(err, SHERD_ECORRUPT, "bad-crc", "CRC-32 is %08x, not %08x", crc, e->crc);
	return s ? shd_sdz_stream_check_end(s, err) : SHERD_OK;
}

static int sdz_verify_check_entries(check *c, sherd_error *err)
{
	for (size_t i = 0; i < c->z->count; i++) {
		SHD_AUTO_BUF key = {0};
		sherd_error found = {0};
		shd_buf_printf(&key, "%s%s", c->z->prefix, c->z->entries[i]->name);
		shd_buf_u8(&key, 0);
		TRY(shd_buf_check(&key, err));
		int rc = sdz_verify_check_entry(c, c->z->entries[i], &found);
		TRY(shd_report_take(c->report, rc, &found, (const char *)key.data, err));
	}
	return SHERD_OK;
}

static int check_archive(const shd_sdz_store *z, sherd_report *r, const sherd_verify_options *o, sherd_error *err)
{
	uint64_t total = 0;
	SHD_AUTO(void, free) buf = malloc(CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < z->count; i++)
		total += z->entries[i]->size;
	check c = {.z = z, .report = r, .buf = buf};
	shd_meter_init(&c.meter, o->progress, total);
	int rc = sdz_verify_check_entries(&c, err);
	shd_meter_done(&c.meter);
	r->checked += sherd_reader_size(z->archive);
	return rc;
}

int shd_sdz_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                   sherd_error *err)
{
	shd_sdz_store *z = NULL;
	sherd_error found;
	TRY(shd_model_verify(r, store, key, o, err));
	if (o->quick)
		return SHERD_OK;
	int rc = shd_sdz_store_open(&z, store, key, o->limits, &found);
	if (rc == SHERD_OK) {
		rc = check_archive(z, r, o, err);
		sherd_store_close(&z->base);
		return rc;
	}
	if (rc != SHERD_ENOMEM && rc != SHERD_EIO) /* which was reported above */
		return SHERD_OK;
	if (err)
		*err = found;
	return rc;
}
