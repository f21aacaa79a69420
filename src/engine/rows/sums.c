#include "engine/rows/sums.h"

#include "base/error.h"
#include "codec/crc32.h"

#include <stdlib.h>

/* Small enough that what was read is still in the cache when it is hashed. */
enum { CHUNK = 256 << 10 };

void shd_rows_sums_init(rows_sums *sums, uint64_t head)
{
	*sums = (rows_sums){.head = head};
	shd_sha256_init(&sums->sha);
}

static void end_block(rows_sums *s)
{
	shd_vec_push(&s->crcs, s->crc);
	s->crc = 0;
	s->in_block = 0;
}

void shd_rows_sums_add(rows_sums *sums, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	size_t skip = sums->head < len ? (size_t)sums->head : len;
	shd_sha256_add(&sums->sha, bytes, len);
	sums->head -= skip;
	at += skip;
	len -= skip;
	while (len) {
		uint64_t room = SHD_ROWS_BLOCK - sums->in_block;
		size_t n = room < len ? (size_t)room : len;
		sums->crc = shd_crc32(sums->crc, at, n);
		sums->in_block += n;
		if (sums->in_block == SHD_ROWS_BLOCK)
			end_block(sums);
		at += n;
		len -= n;
	}
}

int shd_rows_sums_finish(rows_sums *sums, sherd_error *err)
{
	if (sums->in_block)
		end_block(sums);
	shd_sha256_finish(&sums->sha, sums->sha256);
	return shd_vec_check(&sums->crcs, err);
}

void shd_rows_sums_done(rows_sums *sums)
{
	shd_vec_done(&sums->crcs);
}

static int sums_read_all(rows_sums *s, const sherd_reader *reader, uint64_t bytes, uint8_t *buf, shd_meter *meter,
                         sherd_error *err)
{
	for (uint64_t at = 0; at < bytes; at += CHUNK) {
		size_t n = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
		TRY(sherd_reader_at(reader, at, buf, n, err));
		shd_rows_sums_add(s, buf, n);
		if (meter)
			TRY(shd_meter_add(meter, n, err));
	}
	return shd_rows_sums_finish(s, err);
}

int shd_rows_sums_read(rows_sums *out, const sherd_reader *reader, uint64_t head, uint64_t bytes, shd_meter *meter,
                       sherd_error *err)
{
	rows_sums s;
	uint8_t *buf = malloc(CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	shd_rows_sums_init(&s, head);
	int rc = sums_read_all(&s, reader, bytes, buf, meter, err);
	free(buf);
	if (rc < 0)
		shd_rows_sums_done(&s);
	else
		*out = s;
	return rc;
}

size_t shd_rows_sums_differ(const rows_sums *sums, const shd_rows_entry *entry)
{
	size_t count = sums->crcs.count;
	for (size_t i = 0; entry->crcs && i < count && i < entry->crc_count; i++)
		if (sums->crcs.items[i] != entry->crcs[i])
			return i;
	return SIZE_MAX;
}
