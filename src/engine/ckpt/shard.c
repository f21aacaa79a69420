#include "engine/ckpt/shard.h"

#include "base/limits.h"
#include "engine/ckpt/digest.h"
#include "format/ckpt/name.h"

#include <inttypes.h>
#include <stdlib.h>

static int ckpt_shard_read_head(const sherd_reader *reader, uint8_t raw[SHD_CKPT_HEAD_MAX], shd_ckpt_head *head,
                                sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader);
	size_t len = size < SHD_CKPT_HEAD_MAX ? (size_t)size : SHD_CKPT_HEAD_MAX;
	TRY(sherd_reader_at(reader, 0, raw, len, err));
	return shd_ckpt_head_decode(raw, len, head, err);
}

static bool fits8(const shd_ckpt_head *h, uint64_t size)
{
	return h->has8 && size >= h->data8_offset && size - h->data8_offset == h->data8_size;
}

static bool fits4(const shd_ckpt_head *h, uint64_t size)
{
	return size >= h->data4_offset && size - h->data4_offset == h->data4_size && h->data4_size <= INT32_MAX;
}

static int wrong_length(const shd_ckpt_head *h, uint64_t size, sherd_error *err)
{
	uint64_t room = size > h->data8_offset ? size - h->data8_offset : 0;
	if (!h->has8 || h->data8_size > room)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size,
		                   "the head promises %" PRIu64 " bytes of data, the file has %" PRIu64, h->data8_size,
		                   room);
	return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", h->data8_offset + h->data8_size,
	                   "%" PRIu64 " bytes after the data", room - h->data8_size);
}

/* Does the data that a 4-byte length gives have the hash that the head records? */
static int verifies_as_four(const sherd_reader *reader, const shd_ckpt_head *h, bool *yes, sherd_error *err)
{
	char said[SHD_CKPT_DIGEST_TEXT] = "", text[SHD_CKPT_DIGEST_TEXT];
	*yes = h->checksum.len < sizeof(said);
	if (!*yes)
		return SHERD_OK;
	memcpy(said, h->checksum.ptr, h->checksum.len);
	TRY(shd_ckpt_digest_range(reader, h->data4_offset, h->data4_size, shd_ckpt_digest_of(said), NULL, NULL, text,
	                          err));
	*yes = strcmp(said, text) == 0;
	return SHERD_OK;
}

static void set_data(ckpt_shard *s, const shd_ckpt_head *h, bool four)
{
	s->four_byte = four;
	s->data_offset = four ? h->data4_offset : h->data8_offset;
	s->data_size = four ? h->data4_size : h->data8_size;
}

static bool ends_with_index(const sherd_reader *reader)
{
	uint8_t raw[SHD_CKPT_TRAILER_SIZE];
	uint64_t size = sherd_reader_size(reader), body;
	return size >= sizeof(raw) && sherd_reader_at(reader, size - sizeof(raw), raw, sizeof(raw), NULL) == SHERD_OK &&
	       (shd_ckpt_trailer_decode(raw, size, &body, NULL) != SHERD_OK || body);
}

/* The file's size decides between the layouts only when the metadata vouches for it. A shard by itself is read with a
 * 4-byte length only if nothing speaks against it: a shard that lost its last 4 bytes must not pass for one. */
static int choose_layout(ckpt_shard *s, const shd_ckpt_head *h, bool vouched, sherd_error *err)
{
	uint64_t size = sherd_reader_size(s->reader);
	if (fits8(h, size)) {
		set_data(s, h, false);
		return SHERD_OK;
	}
	bool four = fits4(h, size);
	if (four && !vouched) {
		four = !ends_with_index(s->reader);
		if (four && h->checksum.len)
			TRY(verifies_as_four(s->reader, h, &four, err));
	}
	if (!four)
		return wrong_length(h, size, err);
	set_data(s, h, true);
	return SHERD_OK;
}

static int understand(ckpt_shard *s, uint64_t want_size, sherd_error *err)
{
	uint8_t raw[SHD_CKPT_HEAD_MAX];
	shd_ckpt_head head;
	uint64_t size = sherd_reader_size(s->reader);
	TRY(ckpt_shard_read_head(s->reader, raw, &head, err));
	if (want_size && size != want_size)
		return shd_fail_at(err, SHERD_ECORRUPT, size < want_size ? "truncated" : "size-mismatch",
		                   size < want_size ? size : want_size,
		                   "the file has %" PRIu64 " bytes, the metadata says %" PRIu64, size, want_size);
	TRY(choose_layout(s, &head, want_size != 0, err));
	s->rank = head.rank;
	s->tensors = head.tensors;
	memcpy(s->checksum, head.checksum.ptr, head.checksum.len);
	if (memchr(s->checksum, 0, head.checksum.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", 12, "the checksum's text holds NUL");
	return SHERD_OK;
}

int shd_ckpt_shard_open(ckpt_shard *out, sherd_store *store, const char *key, uint64_t want_size, sherd_error *err)
{
	ckpt_shard s = {0};
	TRY(sherd_store_read(&s.reader, store, key, err));
	int rc = shd_in_object(err, understand(&s, want_size, err), key);
	if (rc < 0)
		shd_ckpt_shard_done(&s);
	else
		*out = s;
	return rc;
}

void shd_ckpt_shard_done(ckpt_shard *s)
{
	sherd_reader_close(s->reader);
	s->reader = NULL;
}

/* tensors_end: where the index begins in the data. */
static int ckpt_shard_check_index(const ckpt_shard *s, const shd_ckpt_index *index, uint64_t tensors_end,
                                  shd_arena *arena, sherd_error *err)
{
	if (index->rank != s->rank)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-rank", 4,
		                   "the head says rank %" PRIu32 ", the index %" PRIu32, s->rank, index->rank);
	if (index->count != s->tensors)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", s->data_offset - (s->four_byte ? 8 : 12),
		                   "the head says %" PRIu32 " tensors, the index has %zu", s->tensors, index->count);
	/* By the length: a head whose word is damaged is no reason to doubt the index. */
	if (index->part_log && strlen(s->checksum) <= SHD_SHA256_HEX)
		return shd_fail_at(
			err, SHERD_ECORRUPT, "bad-index", s->data_offset + tensors_end,
			"the index has values of parts, as BLAKE3 needs them; the head does not have BLAKE3");
	if (index->part_log && index->value_count != tensors_end >> index->part_log)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", s->data_offset + tensors_end,
		                   "the index has %zu values of parts, for %" PRIu64 " bytes in front of it",
		                   index->value_count, tensors_end);
	return shd_ckpt_entries_check(index->entries, index->count, tensors_end, arena, err);
}

static int read_index(const ckpt_shard *s, uint64_t body, const sherd_limits *limits, shd_arena *arena,
                      shd_ckpt_index *out, sherd_error *err)
{
	uint64_t len = body + SHD_CKPT_TRAILER_SIZE, start = s->data_offset + s->data_size - len;
	if (len > shd_limits_or_default(limits).metadata_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "too-long", start, "an index of %" PRIu64 " bytes", len);
	SHD_AUTO_FREE uint8_t *raw = malloc(len);
	if (!raw)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(s->reader, start, raw, len, err));
	return shd_shift_offset(err, shd_ckpt_index_decode(raw, len, limits, arena, out, err), start);
}

int shd_ckpt_shard_index(const ckpt_shard *s, const sherd_limits *limits, shd_arena *arena, shd_ckpt_index *out,
                         bool *found, sherd_error *err)
{
	uint8_t raw[SHD_CKPT_TRAILER_SIZE];
	const char *key = sherd_reader_key(s->reader);
	uint64_t body = 0;
	*found = false;
	if (s->four_byte || s->data_size < sizeof(raw))
		return SHERD_OK;
	uint64_t at = s->data_offset + s->data_size - sizeof(raw);
	TRY(sherd_reader_at(s->reader, at, raw, sizeof(raw), err));
	int rc = shd_ckpt_trailer_decode(raw, s->data_size, &body, err);
	if (rc < 0 && err)
		err->offset = at;
	TRY(shd_in_object(err, rc, key));
	if (!body)
		return SHERD_OK;
	TRY(shd_in_object(err, read_index(s, body, limits, arena, out, err), key));
	uint64_t tensors_end = s->data_size - body - sizeof(raw);
	TRY(shd_in_object(err, ckpt_shard_check_index(s, out, tensors_end, arena, err), key));
	*found = true;
	return SHERD_OK;
}

int shd_ckpt_shard_index_of(sherd_store *store, const char *key, const sherd_limits *limits, shd_arena *arena,
                            shd_ckpt_index *out, bool *found, sherd_error *err)
{
	ckpt_shard s;
	TRY(shd_ckpt_shard_open(&s, store, key, 0, err));
	int rc = shd_ckpt_shard_index(&s, limits, arena, out, found, err);
	shd_ckpt_shard_done(&s);
	return rc;
}

/* Opens a file and reads its index; *mine when that names the set. Not there, or damaged: not mine. */
static int try_file(ckpt_shard *out, sherd_store *store, const char *key, uint32_t rank, const sherd_set_id *set_id,
                    const sherd_limits *limits, shd_arena *arena, shd_ckpt_index *index, bool *mine, sherd_error *err)
{
	*mine = false;
	int rc = shd_ckpt_shard_open(out, store, key, 0, err);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_ECORRUPT)
		return SHERD_OK;
	TRY(rc);
	bool has_index;
	rc = shd_ckpt_shard_index(out, limits, arena, index, &has_index, err);
	*mine = rc == SHERD_OK && has_index && index->rank == rank &&
	        memcmp(&index->set_id, set_id, sizeof(*set_id)) == 0;
	if (!*mine)
		shd_ckpt_shard_done(out);
	return rc == SHERD_ECORRUPT ? SHERD_OK : rc;
}

int shd_ckpt_shard_find(ckpt_shard *out, sherd_store *store, const char *prefix, uint32_t rank,
                        const sherd_set_id *set_id, const sherd_limits *limits, shd_arena *arena, shd_ckpt_index *index,
                        bool *found, sherd_error *err)
{
	*found = false;
	for (int named_by_set = 0; named_by_set < 2 && !*found; named_by_set++) {
		SHD_AUTO_BUF key = {0};
		shd_ckpt_name_shard(&key, prefix, rank, named_by_set ? set_id : NULL);
		TRY(shd_buf_check(&key, err));
		TRY(try_file(out, store, (const char *)key.data, rank, set_id, limits, arena, index, found, err));
	}
	return SHERD_OK;
}

bool shd_ckpt_shard_is_broken(sherd_store *store, const char *prefix, uint32_t rank, const sherd_set_id *set_id,
                              sherd_error *why)
{
	for (int named_by_set = 0; named_by_set < 2; named_by_set++) {
		SHD_AUTO_BUF key = {0};
		SHD_DONE(shd_arena_done) shd_arena arena = {0};
		shd_ckpt_index index;
		bool found;
		shd_ckpt_name_shard(&key, prefix, rank, named_by_set ? set_id : NULL);
		if (shd_buf_check(&key, why) == SHERD_OK &&
		    shd_ckpt_shard_index_of(store, (const char *)key.data, NULL, &arena, &index, &found, why) ==
		            SHERD_ECORRUPT)
			return true;
	}
	return false;
}
