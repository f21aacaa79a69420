#include "format/container/digests.h"

#include "base/cursor.h"

#include <stdlib.h>

enum { SET_AT = SHD_BLAKE3_BYTES, SECTIONS_AT = 48, ARRAYS_AT = 56, CHUNKS_AT = 64 };

bool shd_container_digests_has(const shd_container_section *s)
{
	return s->type != SHD_SECTION_ARRAYS && s->type != SHD_SECTION_DIGESTS;
}

int shd_digest_of_array(const void *record, size_t len, const shd_digest_value *chunks, size_t count,
                        shd_digest_value *out, sherd_error *err)
{
	SHD_AUTO_BUF all = {0};
	if (!shd_buf_reserve(&all, len + count * sizeof(*chunks)))
		return shd_fail_nomem(err);
	shd_buf_append(&all, record, len);
	if (count)
		shd_buf_append(&all, chunks, count * sizeof(*chunks));
	shd_blake3_of(all.data, all.len, out->bytes);
	return shd_buf_check(&all, err);
}

int shd_container_digests_encode(shd_container_digests *d, const shd_digest_section *sections,
                                 const shd_digest_array *arrays, const shd_digest_value *chunks, shd_buf *out,
                                 sherd_error *err)
{
	const size_t begin = out->len;
	shd_buf_zero(out, SHD_BLAKE3_BYTES);
	shd_buf_append(out, d->set, sizeof(d->set));
	shd_buf_u64(out, d->sections);
	shd_buf_u64(out, d->arrays);
	shd_buf_u64(out, d->chunks);
	for (uint64_t i = 0; i < d->sections; i++) {
		shd_buf_append(out, (uint8_t[8]){sections[i].type, sections[i].flags}, 8);
		shd_buf_append(out, sections[i].value.bytes, SHD_BLAKE3_BYTES);
	}
	for (uint64_t i = 0; i < d->arrays; i++) {
		shd_buf_u64(out, arrays[i].first);
		shd_buf_append(out, arrays[i].value.bytes, SHD_BLAKE3_BYTES);
	}
	TRY(shd_buf_check(out, err));
	shd_blake3_of(out->data + begin + SET_AT, out->len - begin - SET_AT, d->root.bytes);
	memcpy(out->data + begin, d->root.bytes, sizeof(d->root.bytes));
	if (d->chunks)
		shd_buf_append(out, chunks, d->chunks * sizeof(*chunks));
	return shd_buf_check(out, err);
}

uint64_t shd_container_digests_table(const shd_container_digests *d)
{
	return SHD_DIGESTS_HEAD + (d->sections + d->arrays) * SHD_DIGESTS_ITEM;
}

int shd_container_digests_decode(const uint8_t head[SHD_DIGESTS_HEAD], uint64_t len, shd_container_digests *out,
                                 sherd_error *err)
{
	shd_container_digests d = {.sections = shd_get_u64(head + SECTIONS_AT),
	                           .arrays = shd_get_u64(head + ARRAYS_AT),
	                           .chunks = shd_get_u64(head + CHUNKS_AT)};
	memcpy(d.root.bytes, head, sizeof(d.root.bytes));
	memcpy(d.set, head + SET_AT, sizeof(d.set));
	uint64_t left = len - SHD_DIGESTS_HEAD;
	if (d.sections > SHD_CONTAINER_MOST_SECTIONS || d.arrays > left / SHD_DIGESTS_ITEM ||
	    d.chunks > left / SHD_BLAKE3_BYTES || shd_container_digests_table(&d) + d.chunks * SHD_BLAKE3_BYTES != len)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", SECTIONS_AT,
		                   "DIGESTS of %llu bytes cannot have %llu sections, %llu arrays and %llu chunks",
		                   (unsigned long long)len, (unsigned long long)d.sections,
		                   (unsigned long long)d.arrays, (unsigned long long)d.chunks);
	*out = d;
	return SHERD_OK;
}

void shd_container_digests_section(const uint8_t *table, uint64_t i, shd_digest_section *out)
{
	const uint8_t *item = table + SHD_DIGESTS_HEAD + i * SHD_DIGESTS_ITEM;
	out->type = item[0];
	out->flags = item[1];
	memcpy(out->value.bytes, item + 8, sizeof(out->value.bytes));
}

void shd_container_digests_array(const shd_container_digests *d, const uint8_t *table, uint64_t i,
                                 shd_digest_array *out)
{
	const uint8_t *item = table + SHD_DIGESTS_HEAD + (d->sections + i) * SHD_DIGESTS_ITEM;
	out->first = shd_get_u64(item);
	memcpy(out->value.bytes, item + 8, sizeof(out->value.bytes));
}

int shd_container_digests_check(const shd_container_digests *d, const uint8_t *table, const shd_container_head *head,
                                sherd_error *err)
{
	uint8_t root[SHD_BLAKE3_BYTES];
	uint64_t next = 0;
	shd_blake3_of(table + SET_AT, (size_t)shd_container_digests_table(d) - SET_AT, root);
	if (memcmp(root, d->root.bytes, sizeof(root)) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", 0, "DIGESTS are not those of their root");
	if (memcmp(d->set, head->set, sizeof(d->set)) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "other-set", SET_AT, "DIGESTS are those of another set");
	for (uint32_t i = 0; i < head->count; i++) {
		shd_digest_section s;
		if (!shd_container_digests_has(&head->sections[i]))
			continue;
		if (next < d->sections)
			shd_container_digests_section(table, next, &s);
		if (next++ >= d->sections || s.type != head->sections[i].type || s.flags != head->sections[i].flags)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", SHD_DIGESTS_HEAD,
			                   "DIGESTS do not tell of %s (section %u)",
			                   shd_section_name(head->sections[i].type), i + 1);
	}
	if (next != d->sections)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", SHD_DIGESTS_HEAD,
		                   "DIGESTS tell of %llu sections, not %llu", (unsigned long long)d->sections,
		                   (unsigned long long)next);
	return SHERD_OK;
}
