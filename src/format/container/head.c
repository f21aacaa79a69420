#include "format/container/head.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "codec/crc32.h"

enum {
	VERSION_AT = 12,
	HEADER_AT = 16,
	PAYLOAD_AT = HEADER_AT + SHD_SECTION_HEAD,
	CRC_AT = SHD_CONTAINER_FRONT - SHD_SECTION_CRC,
	PAYLOAD = CRC_AT - PAYLOAD_AT,
	DIRECTORY_AT = PAYLOAD_AT + 48,
	ENTRY = 32
};

static const uint8_t magic[] = {'S', 'A', 'M', 'E', 'D', 'I', 'F', 'F', '_', 'M', 'O', 'D'};

static const shd_container_section header = {
	.type = SHD_SECTION_HEADER,
	.flags = SHD_SECTION_HAS_CRC,
	.offset = HEADER_AT,
	.stored = PAYLOAD,
	.raw = PAYLOAD,
};

const char *shd_section_name(uint8_t type)
{
	static const char *const names[] = {"HEADER", "METADATA", "GRAPH", "ARRAYS", "SHARD_INFO", "DIGESTS"};
	return type < COUNT_OF(names) ? names[type] : "section";
}

void shd_section_head_encode(const shd_container_section *s, uint8_t out[SHD_SECTION_HEAD])
{
	out[0] = s->type;
	shd_put_u64(out + 1, s->stored);
	out[9] = s->flags;
}

int shd_section_head_check(const shd_container_section *s, const uint8_t head[SHD_SECTION_HEAD], sherd_error *err)
{
	uint8_t want[SHD_SECTION_HEAD];
	size_t at = 0;
	shd_section_head_encode(s, want);
	while (at < sizeof(want) && head[at] == want[at])
		at++;
	if (at < sizeof(want))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", at,
		                   "the head of %s (type %u) is not what the directory says", shd_section_name(s->type),
		                   s->type);
	return SHERD_OK;
}

uint32_t shd_section_crc_begin(const shd_container_section *s)
{
	uint8_t head[SHD_SECTION_HEAD];
	shd_section_head_encode(s, head);
	return shd_crc32(0, head, sizeof(head));
}

void shd_container_head_encode(const shd_container_head *head, uint8_t out[SHD_CONTAINER_FRONT])
{
	memset(out, 0, SHD_CONTAINER_FRONT);
	memcpy(out, magic, sizeof(magic));
	shd_put_u32(out + VERSION_AT, SHD_CONTAINER_VERSION);
	shd_section_head_encode(&header, out + HEADER_AT);
	uint8_t *p = out + PAYLOAD_AT;
	shd_put_u64(p, head->compatible);
	shd_put_u64(p + 8, head->incompatible);
	memcpy(p + 16, head->set, sizeof(head->set));
	shd_put_u64(p + 32, head->file_size);
	shd_put_u32(p + 40, head->count);
	for (uint32_t i = 0; i < head->count; i++) {
		const shd_container_section *s = &head->sections[i];
		uint8_t *e = out + DIRECTORY_AT + (size_t)i * ENTRY;
		e[0] = s->type;
		e[1] = s->flags;
		shd_put_u32(e + 4, s->crc);
		shd_put_u64(e + 8, s->offset);
		shd_put_u64(e + 16, s->stored);
		shd_put_u64(e + 24, s->raw);
	}
	shd_put_u32(out + CRC_AT, shd_crc32(0, out + HEADER_AT, CRC_AT - HEADER_AT));
}

static int check_first_bytes(const uint8_t *front, size_t len, sherd_error *err)
{
	if (len < sizeof(magic) || memcmp(front, magic, sizeof(magic)) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "no model container");
	if (len < HEADER_AT)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", len, "the container ends in its head");
	uint32_t version = shd_get_u32(front + VERSION_AT);
	if (version != SHD_CONTAINER_VERSION)
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", VERSION_AT,
		                   "a container of version %u; this library knows version %u", version,
		                   SHD_CONTAINER_VERSION);
	if (len < SHD_CONTAINER_FRONT)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", len, "the container ends in its HEADER");
	if (shd_section_head_check(&header, front + HEADER_AT, err) < 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", HEADER_AT, "the first section is no HEADER");
	if (shd_get_u32(front + CRC_AT) != shd_crc32(0, front + HEADER_AT, CRC_AT - HEADER_AT))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", PAYLOAD_AT, "the HEADER is damaged");
	return SHERD_OK;
}

static bool is_zero(const uint8_t *p, size_t len)
{
	size_t i = 0;
	while (i < len && p[i] == 0)
		i++;
	return i == len;
}

static int decode_fields(const uint8_t *front, shd_container_head *out, sherd_error *err)
{
	const uint8_t *p = front + PAYLOAD_AT;
	out->compatible = shd_get_u64(p);
	out->incompatible = shd_get_u64(p + 8);
	memcpy(out->set, p + 16, sizeof(out->set));
	out->file_size = shd_get_u64(p + 32);
	out->count = shd_get_u32(p + 40);
	if (out->incompatible & ~SHD_FEATURE_DIGESTS)
		return shd_fail_at(err, SHERD_EVERSION, "unknown-feature", PAYLOAD_AT + 8,
		                   "the container uses features %016llx, which this library does not know",
		                   (unsigned long long)(out->incompatible & ~SHD_FEATURE_DIGESTS));
	if (out->count > SHD_CONTAINER_MOST_SECTIONS)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", PAYLOAD_AT + 40, "%u sections", out->count);
	const uint8_t *end = front + DIRECTORY_AT + (size_t)out->count * ENTRY;
	if (!is_zero(p + 44, 4) || !is_zero(end, (size_t)(front + CRC_AT - end)))
		return shd_fail_at(err, SHERD_ECORRUPT, "reserved", PAYLOAD_AT + 44,
		                   "bytes of the HEADER that have no meaning are not zero");
	return SHERD_OK;
}

static int container_head_check_size(const shd_container_head *h, uint64_t file_size, sherd_error *err)
{
	if (h->file_size > file_size)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                   "%llu bytes of a container that has %llu", (unsigned long long)file_size,
		                   (unsigned long long)h->file_size);
	if (h->file_size < file_size)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", h->file_size,
		                   "%llu bytes after the container", (unsigned long long)(file_size - h->file_size));
	return SHERD_OK;
}

/* The section begins where the one before ended, and ends within the file. */
static bool lies_well(const shd_container_section *s, uint64_t at, uint64_t file_size)
{
	uint64_t around = SHD_SECTION_HEAD + (s->flags & SHD_SECTION_HAS_CRC ? SHD_SECTION_CRC : 0);
	return s->offset == at && file_size - at >= around && s->stored <= file_size - at - around;
}

/* Types up to `known` are ours. */
static int check_flags(const shd_container_section *s, uint8_t known, uint64_t at, sherd_error *err)
{
	uint8_t codec = s->flags & SHD_SECTION_CODEC;
	if (s->flags & ~(SHD_SECTION_CODEC | SHD_SECTION_HAS_CRC))
		return shd_fail_at(err, SHERD_ECORRUPT, "reserved", at + 1, "flags %02x of a section", s->flags);
	if (codec == SHD_CODEC_NONE && s->raw != s->stored)
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", at + 16, "%llu bytes that are %llu unpacked",
		                   (unsigned long long)s->stored, (unsigned long long)s->raw);
	if (!(s->flags & SHD_SECTION_HAS_CRC) && s->crc)
		return shd_fail_at(err, SHERD_ECORRUPT, "reserved", at + 4, "a CRC of a section without one");
	if (s->type > known)
		return SHERD_OK;
	if (codec > SHD_CODEC_DEFLATE || (codec && (s->type == SHD_SECTION_ARRAYS || s->type == SHD_SECTION_DIGESTS)))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-codec", at + 1, "%s is packed by codec %u",
		                   shd_section_name(s->type), codec);
	if (s->type != SHD_SECTION_ARRAYS && !(s->flags & SHD_SECTION_HAS_CRC))
		return shd_fail_at(err, SHERD_ECORRUPT, "no-checksum", at + 1, "%s has no CRC",
		                   shd_section_name(s->type));
	return SHERD_OK;
}

static int decode_directory(const uint8_t *front, shd_container_head *h, sherd_error *err)
{
	uint64_t end = SHD_CONTAINER_FRONT;
	uint32_t seen = 1u << SHD_SECTION_HEADER;
	const uint8_t known = h->incompatible & SHD_FEATURE_DIGESTS ? SHD_SECTION_DIGESTS : SHD_SECTION_SHARD_INFO;
	for (uint32_t i = 0; i < h->count; i++) {
		uint64_t at = DIRECTORY_AT + i * ENTRY;
		const uint8_t *e = front + at;
		shd_container_section *s = &h->sections[i];
		*s = (shd_container_section){.type = e[0], .flags = e[1], .crc = shd_get_u32(e + 4)};
		s->offset = shd_get_u64(e + 8);
		s->stored = shd_get_u64(e + 16);
		s->raw = shd_get_u64(e + 24);
		if (!is_zero(e + 2, 2))
			return shd_fail_at(err, SHERD_ECORRUPT, "reserved", at + 2, "a directory entry");
		TRY(check_flags(s, known, at, err));
		if (!lies_well(s, end, h->file_size))
			return shd_fail_at(err, SHERD_ECORRUPT, "out-of-range", at + 8,
			                   "%s (section %u) does not follow the one before within the file",
			                   shd_section_name(s->type), i + 1);
		end = shd_section_end(s);
		if (s->type > known || s->type == SHD_SECTION_ARRAYS)
			continue;
		if (seen & 1u << s->type)
			return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-section", at, "%s is there twice",
			                   shd_section_name(s->type));
		seen |= 1u << s->type;
	}
	if (end != h->file_size)
		return shd_fail_at(err, SHERD_ECORRUPT, "hole", end, "bytes that belong to no section");
	return SHERD_OK;
}

int shd_container_head_decode(const uint8_t *front, size_t len, uint64_t file_size, shd_container_head *out,
                              sherd_error *err)
{
	shd_container_head h = {0};
	TRY(check_first_bytes(front, len, err));
	TRY(decode_fields(front, &h, err));
	TRY(container_head_check_size(&h, file_size, err));
	TRY(decode_directory(front, &h, err));
	const shd_container_section *index = shd_container_index_section(&h);
	if (!index || !(index->flags & SHD_SECTION_HAS_CRC))
		return shd_fail_at(err, SHERD_ECORRUPT, "no-index", DIRECTORY_AT,
		                   "no index of arrays, or one without CRC");
	if (h.incompatible & SHD_FEATURE_DIGESTS && !shd_container_find_section(&h, SHD_SECTION_DIGESTS))
		return shd_fail_at(err, SHERD_ECORRUPT, "no-checksum", DIRECTORY_AT, "DIGESTS are not there");
	*out = h;
	return SHERD_OK;
}

const shd_container_section *shd_container_find_section(const shd_container_head *head, shd_section_type type)
{
	for (uint32_t i = 0; i < head->count; i++)
		if (head->sections[i].type == type)
			return &head->sections[i];
	return NULL;
}

const shd_container_section *shd_container_index_section(const shd_container_head *head)
{
	const shd_container_section *last = NULL;
	for (uint32_t i = 0; i < head->count; i++)
		if (head->sections[i].type == SHD_SECTION_ARRAYS)
			last = &head->sections[i];
	return last;
}
