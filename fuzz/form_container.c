/* fuzz/form_container.c - model containers (docs/formats/container.md): sections, records of the index, pairs. */
#include "codec/crc32.h"
#include "codec/deflate.h"
#include "codec/sha256.h"
#include "form.h"
#include "format/container/head.h"
#include "format/container/index.h"

#include <stdlib.h>

enum { FEATURES, SECTION, PAYLOAD, KEY, VALUE, RECORD, RECORD_NAME, RECORD_KEY, RECORD_TYPE };
enum { FEATURES_BYTES = 32, RECORD_FIXED = 32, CHUNK = 24, MOST_UNPACKED = 1 << 20, MOST_CHUNKS = 64 };

/* Pieces of one section; each has the number of its section above its tag, so that it finds back to it. */
static uint32_t tag_in(uint32_t tag, uint32_t section)
{
	return tag | section << 8;
}

static bool split_pairs(const uint8_t *data, size_t len, uint32_t section, form_pieces *out)
{
	shd_cursor c = shd_cursor_over(data, len);
	uint32_t count = shd_cursor_u32(&c);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t key_len = shd_cursor_u32(&c), value_len = shd_cursor_u32(&c);
		const uint8_t *key = shd_cursor_bytes(&c, key_len), *value = shd_cursor_bytes(&c, value_len);
		if (!key || !value || !form_add(out, FORM_BYTES, tag_in(KEY, section), key, key_len) ||
		    !form_add(out, FORM_BYTES, tag_in(VALUE, section), value, value_len))
			return false;
	}
	return !c.failed && c.pos == len;
}

static bool split_record(const uint8_t *raw, size_t len, uint32_t section, form_pieces *out)
{
	if (len < RECORD_FIXED)
		return false;
	size_t fixed = RECORD_FIXED + 8u * raw[1];
	uint32_t name = shd_get_u32(raw + 16), key = shd_get_u32(raw + 20), chunks = shd_get_u32(raw + 28);
	if (chunks > MOST_CHUNKS || name > len || key > len ||
	    fixed + (size_t)chunks * CHUNK + name + key + raw[3] != len)
		return false;
	fixed += (size_t)chunks * CHUNK;
	return form_add(out, FORM_FIXED, tag_in(RECORD, section), raw, fixed) &&
	       form_add(out, FORM_BYTES, tag_in(RECORD_NAME, section), raw + fixed, name) &&
	       form_add(out, FORM_BYTES, tag_in(RECORD_KEY, section), raw + fixed + name, key) &&
	       (!raw[3] || form_add(out, FORM_BYTES, tag_in(RECORD_TYPE, section), raw + fixed + name + key, raw[3]));
}

static bool split_records(const uint8_t *data, size_t len, uint32_t section, form_pieces *out)
{
	if (len < SHD_CONTAINER_INDEX_HEAD)
		return false;
	uint64_t count = shd_get_u64(data);
	if (count > (len - SHD_CONTAINER_INDEX_HEAD) / SHD_CONTAINER_ENTRY)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *e = data + SHD_CONTAINER_INDEX_HEAD + i * SHD_CONTAINER_ENTRY;
		uint64_t at = shd_get_u64(e + 8), n = shd_get_u32(e + 16);
		if (at > len || n > len - at || !split_record(data + at, (size_t)n, section, out))
			return false;
	}
	return true;
}

static bool split_payload(const shd_container_section *s, const uint8_t *data, size_t len, bool index, uint32_t section,
                          form_pieces *out)
{
	size_t before = out->count;
	if ((s->type == SHD_SECTION_METADATA && split_pairs(data, len, section, out)) ||
	    (index && split_records(data, len, section, out)))
		return true;
	while (out->count > before)
		shd_buf_done(&out->list[--out->count].bytes);
	return form_add(out, FORM_BYTES, tag_in(PAYLOAD, section), data, len);
}

static bool split_section(const uint8_t *data, size_t len, const shd_container_section *s, bool index, uint32_t section,
                          form_pieces *out)
{
	const uint8_t flags[] = {s->type, s->flags};
	uint64_t at = shd_section_payload(s);
	if (at > len || s->stored > len - at || !form_add(out, FORM_FIXED, tag_in(SECTION, section), flags, 2))
		return false;
	if ((s->flags & SHD_SECTION_CODEC) != SHD_CODEC_DEFLATE)
		return split_payload(s, data + at, (size_t)s->stored, index, section, out);
	uint8_t *raw = s->raw && s->raw <= MOST_UNPACKED ? malloc((size_t)s->raw) : NULL;
	bool done = raw && shd_deflate_unpack(data + at, (size_t)s->stored, raw, (size_t)s->raw, NULL) == SHERD_OK &&
	            split_payload(s, raw, (size_t)s->raw, index, section, out);
	free(raw);
	return done;
}

static bool split_container(const uint8_t *data, size_t len, form_pieces *out)
{
	shd_container_head head;
	if (len < SHD_CONTAINER_FRONT || shd_container_head_decode(data, SHD_CONTAINER_FRONT, len, &head, NULL) < 0)
		return false;
	const shd_container_section *index = shd_container_index_section(&head);
	if (!form_add(out, FORM_FIXED, FEATURES, data + 26, FEATURES_BYTES))
		return false;
	for (uint32_t i = 0; i < head.count; i++)
		if (!split_section(data, len, &head.sections[i], &head.sections[i] == index, i, out))
			return false;
	return true;
}

/* One record of the index as it is put together. */
typedef struct made_record {
	uint8_t hash[SHD_CONTAINER_HASH];
	shd_buf bytes;
	shd_str name;
} made_record;

static int by_hash(const void *x, const void *y)
{
	const made_record *a = x, *b = y;
	int order = memcmp(a->hash, b->hash, sizeof(a->hash));
	return order ? order : shd_str_compare(a->name, b->name);
}

/* Chunks get the CRC-32 of the bytes that they tell of, where these are there. */
static void mend_chunks(uint8_t *raw, size_t len, const shd_buf *file)
{
	size_t at = RECORD_FIXED + 8u * raw[1];
	for (; at + CHUNK <= len; at += CHUNK) {
		uint64_t offset = shd_get_u64(raw + at);
		uint32_t stored = shd_get_u32(raw + at + 8);
		if (offset <= file->len && stored <= file->len - offset)
			shd_put_u32(raw + at + 16, shd_crc32(0, file->data + offset, stored));
	}
}

static void make_record(const form_pieces *p, size_t at, uint32_t section, const shd_buf *file, made_record *out)
{
	static const form_piece none;
	const form_piece *fixed = &p->list[at], *name = &none, *key = &none, *type = &none;
	if (at + 1 < p->count && p->list[at + 1].tag == tag_in(RECORD_NAME, section))
		name = &p->list[at + 1];
	if (at + 2 < p->count && p->list[at + 2].tag == tag_in(RECORD_KEY, section))
		key = &p->list[at + 2];
	if (at + 3 < p->count && p->list[at + 3].tag == tag_in(RECORD_TYPE, section))
		type = &p->list[at + 3];
	*out = (made_record){.name = {(const char *)name->bytes.data, name->bytes.len}};
	shd_container_hash(out->name, out->hash);
	shd_buf_append(&out->bytes, fixed->bytes.data, fixed->bytes.len);
	mend_chunks(out->bytes.data, out->bytes.len, file);
	shd_put_u32(out->bytes.data + 16, (uint32_t)name->bytes.len);
	shd_put_u32(out->bytes.data + 20, (uint32_t)key->bytes.len);
	out->bytes.data[3] = (uint8_t)type->bytes.len;
	shd_buf_append(&out->bytes, name->bytes.data, name->bytes.len);
	shd_buf_append(&out->bytes, key->bytes.data, key->bytes.len);
	shd_buf_append(&out->bytes, type->bytes.data, out->bytes.data[3]);
}

static void put_records(const form_pieces *p, uint32_t section, const shd_buf *file, shd_buf *out)
{
	static made_record made[FORM_MOST_PIECES];
	size_t count = 0;
	for (size_t i = form_find(p, tag_in(RECORD, section), 0); i < p->count;
	     i = form_find(p, tag_in(RECORD, section), i + 1))
		make_record(p, i, section, file, &made[count++]);
	qsort(made, count, sizeof(made[0]), by_hash);
	shd_buf_u64(out, count);
	uint64_t at = SHD_CONTAINER_INDEX_HEAD + count * SHD_CONTAINER_ENTRY;
	for (size_t i = 0; i < count; at += made[i++].bytes.len) {
		shd_buf_append(out, made[i].hash, sizeof(made[i].hash));
		shd_buf_u64(out, at);
		shd_buf_u32(out, (uint32_t)made[i].bytes.len);
		shd_buf_u32(out, shd_crc32(0, made[i].bytes.data, made[i].bytes.len));
	}
	for (size_t i = 0; i < count; i++) {
		shd_buf_append(out, made[i].bytes.data, made[i].bytes.len);
		shd_buf_done(&made[i].bytes);
	}
}

static void put_pairs(const form_pieces *p, uint32_t section, shd_buf *out)
{
	uint32_t count = 0;
	size_t start = out->len;
	shd_buf_u32(out, 0);
	for (size_t i = form_find(p, tag_in(KEY, section), 0); i < p->count;
	     i = form_find(p, tag_in(KEY, section), i + 1), count++) {
		bool has = i + 1 < p->count && p->list[i + 1].tag == tag_in(VALUE, section);
		const shd_buf *value = has ? &p->list[i + 1].bytes : NULL;
		shd_buf_u32(out, (uint32_t)p->list[i].bytes.len);
		shd_buf_u32(out, value ? (uint32_t)value->len : 0);
		shd_buf_append(out, p->list[i].bytes.data, p->list[i].bytes.len);
		if (value)
			shd_buf_append(out, value->data, value->len);
	}
	if (!out->failed)
		shd_put_u32(out->data + start, count);
}

static void put_payload(const form_pieces *p, uint32_t section, uint8_t type, const shd_buf *file, shd_buf *out)
{
	size_t plain = form_find(p, tag_in(PAYLOAD, section), 0);
	if (plain < p->count)
		shd_buf_append(out, p->list[plain].bytes.data, p->list[plain].bytes.len);
	else if (form_find(p, tag_in(RECORD, section), 0) < p->count || type == SHD_SECTION_ARRAYS)
		put_records(p, section, file, out);
	else
		put_pairs(p, section, out);
}

static void pack(shd_buf *payload)
{
	SHD_AUTO_BUF packed = {0};
	shd_deflate *d = NULL;
	size_t room = payload->len + payload->len / 8 + 64;
	if (payload->len && shd_buf_reserve(&packed, room) && shd_deflate_open(&d, 6, NULL) == SHERD_OK)
		packed.len = shd_deflate_pack(d, payload->data, payload->len, packed.data, room);
	shd_deflate_close(d);
	shd_buf kept = *payload;
	*payload = packed;
	packed = kept;
}

static void put_section(const form_pieces *p, uint32_t section, shd_container_head *head, shd_buf *out)
{
	const uint8_t *flags = p->list[form_find(p, tag_in(SECTION, section), 0)].bytes.data;
	shd_container_section *s = &head->sections[head->count++];
	SHD_AUTO_BUF payload = {0};
	*s = (shd_container_section){.type = flags[0], .flags = flags[1], .offset = out->len};
	put_payload(p, section, s->type, out, &payload);
	s->raw = payload.len;
	if ((s->flags & SHD_SECTION_CODEC) == SHD_CODEC_DEFLATE)
		pack(&payload);
	s->stored = payload.len;
	shd_buf_zero(out, SHD_SECTION_HEAD);
	shd_buf_append(out, payload.data, payload.len);
	if (out->failed)
		return;
	shd_section_head_encode(s, out->data + s->offset);
	if (!(s->flags & SHD_SECTION_HAS_CRC))
		return;
	s->crc = shd_crc32(shd_section_crc_begin(s), payload.data, payload.len);
	shd_buf_u32(out, s->crc);
}

static void join_container(const form_pieces *p, shd_buf *out)
{
	shd_container_head head = {0};
	uint8_t front[SHD_CONTAINER_FRONT];
	size_t features = form_find(p, FEATURES, 0);
	shd_buf_zero(out, SHD_CONTAINER_FRONT);
	for (uint32_t i = 0; i < SHD_CONTAINER_MOST_SECTIONS; i++)
		if (form_find(p, tag_in(SECTION, i), 0) < p->count)
			put_section(p, i, &head, out);
	if (features < p->count) {
		const uint8_t *bits = p->list[features].bytes.data;
		head.compatible = shd_get_u64(bits);
		head.incompatible = shd_get_u64(bits + 8);
		memcpy(head.set, bits + 16, sizeof(head.set));
	}
	head.file_size = out->len;
	if (out->failed)
		return;
	shd_container_head_encode(&head, front);
	memcpy(out->data, front, sizeof(front));
}

const fuzz_form form_container = {split_container, join_container};
