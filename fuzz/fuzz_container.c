/* Whatever verify finds nothing wrong with can be opened and read whole. Each input is tried as it is, and again with
 * its checksums put right, since hardly any change would get past them. */
#include "base/buf.h"
#include "base/cursor.h"
#include "codec/crc32.h"
#include "format/container_head.h"
#include "format/container_index.h"

#include <sherd/model.h>
#include <sherd/verify.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { HEADER_CRC = SHERD_CONTAINER_FRONT - SHERD_SECTION_CRC, DIRECTORY = 74, DIRECTORY_ENTRY = 32, PIECE = 1 << 16 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void read_all(const sherd_bundle *b)
{
	static uint8_t room[PIECE];
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(b, i);
		size_t n;
		for (uint64_t at = 0; at < t->bytes; at += n) {
			n = t->bytes - at < PIECE ? (size_t)(t->bytes - at) : PIECE;
			must(sherd_bundle_read(b, i, at, room, n, NULL) == SHERD_OK);
		}
	}
}

static void try(const uint8_t *data, size_t len)
{
	sherd_store *store;
	sherd_report *report = NULL;
	sherd_bundle *bundle = NULL;
	if (sherd_store_open_memory(&store, NULL) < 0)
		return;
	if (sherd_store_put(store, "m.sdc", SHERD_WRITE_NEW, data, len, NULL) == SHERD_OK &&
	    sherd_verify(&report, store, "m.sdc", NULL, NULL) == SHERD_OK) {
		sherd_format format;
		int rc = sherd_bundle_open(&bundle, store, "m.sdc", NULL, NULL);
		bool container = sherd_detect(store, "m.sdc", &format, NULL) == SHERD_OK &&
		                 format == SHERD_FORMAT_SAMEDIFF_CONTAINER;
		if (container && !sherd_report_errors(report)) {
			must(rc == SHERD_OK);
			read_all(bundle);
		}
	}
	sherd_bundle_close(bundle);
	sherd_report_close(report);
	sherd_store_close(store);
}

static void mend_records(uint8_t *index, uint64_t len)
{
	uint64_t count = len >= SHERD_CONTAINER_INDEX_HEAD ? sherd_get_u64(index) : 0;
	for (uint64_t i = 0; i < count && (i + 1) * SHERD_CONTAINER_ENTRY <= len - SHERD_CONTAINER_INDEX_HEAD; i++) {
		uint8_t *e = index + SHERD_CONTAINER_INDEX_HEAD + i * SHERD_CONTAINER_ENTRY;
		uint64_t at = sherd_get_u64(e + 8), length = sherd_get_u32(e + 16);
		if (at <= len && length <= len - at)
			sherd_put_u32(e + 20, sherd_crc32(0, index + at, length));
	}
}

/* Sections get the heads and CRCs that the directory asks for. */
static void mend(uint8_t *data, size_t len)
{
	uint32_t count = sherd_get_u32(data + 66);
	for (uint32_t i = 0; i < count && i < SHERD_CONTAINER_MOST_SECTIONS; i++) {
		uint8_t *e = data + DIRECTORY + (size_t)i * DIRECTORY_ENTRY;
		sherd_container_section s = {.type = e[0], .flags = e[1], .offset = sherd_get_u64(e + 8)};
		s.stored = sherd_get_u64(e + 16);
		if (s.offset > len || len - s.offset < SHERD_SECTION_HEAD + SHERD_SECTION_CRC ||
		    s.stored > len - s.offset - SHERD_SECTION_HEAD - SHERD_SECTION_CRC)
			continue;
		uint8_t *payload = data + sherd_section_payload(&s);
		if (!(s.flags & SHERD_SECTION_HAS_CRC))
			continue;
		if (s.type == SHERD_SECTION_ARRAYS)
			mend_records(payload, s.stored);
		sherd_section_head_encode(&s, data + s.offset);
		uint32_t crc = sherd_crc32(sherd_section_crc_begin(&s), payload, (size_t)s.stored);
		sherd_put_u32(payload + s.stored, crc);
		sherd_put_u32(e + 4, crc);
	}
	sherd_put_u64(data + 58, len);
	sherd_put_u32(data + HEADER_CRC, sherd_crc32(0, data + 16, HEADER_CRC - 16));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	try(data, len);
	if (len < SHERD_CONTAINER_FRONT)
		return 0;
	uint8_t *copy = malloc(len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	mend(copy, len);
	try(copy, len);
	free(copy);
	return 0;
}
