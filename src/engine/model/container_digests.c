/* engine/model/container_digests.c - the tree of values over one file: reading it, and holding things against it.
 *
 * The table is held against the root when the file is opened, and kept; everything else is held against the table in
 * the very bytes that are used afterwards. */
#include "engine/model/container_file.h"

#include "engine/tensors/blame.h"

#include <stdlib.h>

int shd_container_file_digests(container_file *f, sherd_error *err)
{
	const shd_container_section *s = shd_container_find_section(&f->head, SHD_SECTION_DIGESTS);
	uint8_t head[SHD_DIGESTS_HEAD];
	shd_container_digests *d = &f->digests;
	const uint64_t at = shd_section_payload(s);
	if (s->stored < sizeof(head))
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", at, "DIGESTS of %llu bytes",
		                   (unsigned long long)s->stored);
	TRY(sherd_reader_at(f->reader, at, head, sizeof(head), err));
	TRY(shd_shift_offset(err, shd_container_digests_decode(head, s->stored, d, err), at));
	const uint64_t len = shd_container_digests_table(d);
	if (d->arrays != f->arrays)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", at, "DIGESTS of %llu arrays, the index has %llu",
		                   (unsigned long long)d->arrays, (unsigned long long)f->arrays);
	if (len > f->limits.metadata_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", at, "DIGESTS with a table of %llu bytes",
		                   (unsigned long long)len);
	f->table = malloc((size_t)len);
	if (!f->table)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(f->reader, at, f->table, (size_t)len, err));
	memcpy(f->table, head, sizeof(head));
	TRY(shd_shift_offset(err, shd_container_digests_check(d, f->table, &f->head, err), at));
	memcpy(f->digest, d->root.bytes, sizeof(f->digest));
	f->values_at = at + len;
	return SHERD_OK;
}

int shd_container_file_hold(const container_file *f, const shd_container_section *s, const uint8_t value[32],
                            sherd_error *err)
{
	uint64_t number = 0;
	shd_digest_section told;
	if (!f->table || !shd_container_digests_has(s))
		return SHERD_OK;
	for (uint32_t i = 0; f->head.sections[i].offset != s->offset; i++)
		number += shd_container_digests_has(&f->head.sections[i]);
	shd_container_digests_section(f->table, number, &told);
	if (memcmp(told.value.bytes, value, sizeof(told.value.bytes)) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", s->offset, "%s is not what DIGESTS tell of",
		                   shd_section_name(s->type));
	return SHERD_OK;
}

static int bind_failed(const container_file *f, const shd_container_entry *e, const container_record *r,
                       const char *what, sherd_error *err)
{
	return shd_in_reader(err,
	                     shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum",
	                                 shd_section_payload(&f->index) + e->offset, "%.128s: %s", r->array.tensor.name,
	                                 what),
	                     f->reader);
}

int shd_container_file_bind(const container_file *f, uint64_t index, const shd_container_entry *e, const void *raw,
                            shd_arena *arena, container_record *r, sherd_error *err)
{
	shd_digest_array told, next = {.first = f->digests.chunks};
	shd_digest_value value;
	const uint64_t count = r->array.chunk_count;
	if (!f->table)
		return SHERD_OK;
	shd_container_digests_array(&f->digests, f->table, index, &told);
	if (index + 1 < f->digests.arrays)
		shd_container_digests_array(&f->digests, f->table, index + 1, &next);
	if (next.first > f->digests.chunks || told.first > next.first || next.first - told.first != count)
		return bind_failed(f, e, r, "DIGESTS have another number of chunks", err);
	shd_digest_value *values = shd_arena_alloc(arena, (size_t)count + 1, sizeof(*values));
	if (!values)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(f->reader, f->values_at + told.first * sizeof(*values), values,
	                    (size_t)count * sizeof(*values), err));
	TRY(shd_digest_of_array(raw, e->length, values, (size_t)count, &value, err));
	if (memcmp(value.bytes, told.value.bytes, sizeof(value.bytes)) != 0)
		return bind_failed(f, e, r, "its record is not what DIGESTS tell of", err);
	r->values = values;
	return SHERD_OK;
}
