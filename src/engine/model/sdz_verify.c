#include "engine/model/sdz.h"

#include "base/meter.h"
#include "engine/model/verify.h"

#include <stdlib.h>

typedef struct check {
	const shd_sdz_store *z;
	sherd_report *report;
	shd_meter meter;
	uint8_t *buf; /* SHD_ARCHIVE_CHUNK bytes */
} check;

static int sdz_verify_check_entries(check *c, sherd_error *err)
{
	const shd_archive *a = &c->z->archive;
	for (size_t i = 0; i < a->count; i++) {
		SHD_AUTO_BUF key = {0};
		sherd_error found = {0};
		shd_buf_printf(&key, "%s%s", c->z->prefix, a->by_name[i]->name);
		TRY(shd_buf_end(&key, err));
		int rc = shd_archive_check(a, a->by_name[i], c->buf, &c->meter, &found);
		TRY(shd_report_take(c->report, rc, &found, (const char *)key.data, err));
	}
	return SHERD_OK;
}

static int check_archive(const shd_sdz_store *z, sherd_report *r, const sherd_verify_options *o, sherd_error *err)
{
	uint64_t total = 0;
	SHD_AUTO_FREE void *buf = malloc(SHD_ARCHIVE_CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < z->archive.count; i++)
		total += z->archive.entries[i].size;
	check c = {.z = z, .report = r, .buf = buf};
	shd_meter_init(&c.meter, o->progress, total);
	int rc = sdz_verify_check_entries(&c, err);
	shd_meter_done(&c.meter);
	r->checked += sherd_reader_size(z->archive.reader);
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
	return shd_pass(err, rc, &found);
}
