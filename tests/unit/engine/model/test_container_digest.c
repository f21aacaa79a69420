/* Containers with DIGESTS: who makes all checksums fit is caught by the tree, and one array is checked by itself. */
#include "support/container_make.h"
#include "support/memory_store.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/cursor.h"
#include "codec/crc32.h"
#include "format/container/digests.h"
#include "format/container/index.h"

#include <sherd/bundle.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const sherd_model_save_options blake3 = {.digest = SHERD_DIGEST_BLAKE3};

/* ---- a file that is changed so that every CRC-32 is right */

typedef struct forgery {
	uint8_t *raw;
	size_t len;
	shd_container_head head;
} forgery;

static void forgery_open(forgery *f, const char *key)
{
	char *raw;
	assert_ok(sherd_store_get(&raw, &f->len, store, key, 1 << 26, err));
	f->raw = (uint8_t *)raw;
	assert_ok(shd_container_head_decode(f->raw, f->len, f->len, &f->head, err));
}

static shd_container_section *forgery_section(forgery *f, shd_section_type type)
{
	shd_container_section *last = NULL;
	for (uint32_t i = 0; i < f->head.count; i++)
		if (f->head.sections[i].type == type)
			last = &f->head.sections[i];
	assert_non_null(last);
	return last;
}

/* The entry of an array in the index, and its record. */
static uint8_t *forgery_entry(forgery *f, const char *name, uint8_t **record)
{
	uint8_t hash[SHD_CONTAINER_HASH];
	uint8_t *index = f->raw + shd_section_payload(forgery_section(f, SHD_SECTION_ARRAYS));
	shd_container_hash(shd_str_of(name), hash);
	for (uint64_t i = 0; i < shd_get_u64(index); i++) {
		uint8_t *e = index + SHD_CONTAINER_INDEX_HEAD + i * SHD_CONTAINER_ENTRY;
		*record = index + shd_get_u64(e + 8);
		if (memcmp(e, hash, sizeof(hash)) == 0)
			return e;
	}
	fail_msg("no %s", name);
	return NULL;
}

static void forgery_close(forgery *f)
{
	for (uint32_t i = 0; i < f->head.count; i++) {
		shd_container_section *s = &f->head.sections[i];
		if (!(s->flags & SHD_SECTION_HAS_CRC))
			continue;
		s->crc = shd_crc32(shd_section_crc_begin(s), f->raw + shd_section_payload(s), (size_t)s->stored);
		shd_put_u32(f->raw + shd_section_end(s) - SHD_SECTION_CRC, s->crc);
	}
	shd_container_head_encode(&f->head, f->raw);
}

/* One bit of the array's last chunk, with its CRC-32, that of its record and all others. */
static void forge_chunk(forgery *f, const char *name)
{
	uint8_t *record, *e = forgery_entry(f, name, &record);
	uint32_t chunks = shd_get_u32(record + 28);
	uint8_t *chunk = record + 32 + 8 * record[1] + 24 * (size_t)(chunks - 1);
	uint64_t at = shd_get_u64(chunk);
	uint32_t stored = shd_get_u32(chunk + 8);
	f->raw[at + stored - 1] ^= 1;
	shd_put_u32(chunk + 16, shd_crc32(0, f->raw + at, stored));
	shd_put_u32(e + 20, shd_crc32(0, record, shd_get_u32(e + 16)));
	forgery_close(f);
}

static int read_all(const char *key, const char *name, uint64_t offset, size_t len, sherd_error *err)
{
	sherd_bundle *b = NULL;
	int rc = sherd_bundle_open(&b, store, key, NULL, err);
	if (rc < 0)
		return rc;
	size_t i = sherd_bundle_find(b, name);
	uint64_t bytes = sherd_bundle_tensor(b, i)->bytes;
	len = len ? len : (size_t)(bytes - offset);
	uint8_t *buf = malloc(len);
	rc = sherd_bundle_read(b, i, offset, buf, len, err);
	free(buf);
	sherd_bundle_close(b);
	return rc;
}

TEST(a_chunk_that_is_exchanged_with_its_checksums_is_noticed_alone)
{
	forgery f;
	sherd_error first = {0};
	container_write(store, "m.sdc", true, &blake3, 0);
	forgery_open(&f, "m.sdc");
	forge_chunk(&f, "large");
	assert_ok(sherd_store_put(store, "m.sdc", SHERD_WRITE_REPLACE, f.raw, f.len, err));
	/* Nothing is handed out of the array, whose record is another one; the others are as they were. */
	assert_refused(SHERD_ECORRUPT, "bad-checksum", read_all("m.sdc", "large", 0, 0, err));
	assert_refused(SHERD_ECORRUPT, "bad-checksum", read_all("m.sdc", "large", 5, 7, err));
	assert_ok(read_all("m.sdc", "w", 0, 0, err));
	assert_true(container_verify(store, "m.sdc", &first) > 0);
	assert_string_equal(first.reason, "bad-checksum");
	sherd_free(f.raw);
}

/* Without the record: its CRC-32 is one that other bytes can be made to have. */
TEST(a_chunk_of_the_same_crc_is_noticed_by_a_slice_of_it_alone)
{
	forgery f;
	uint8_t *record;
	container_write(store, "m.sdc", true, &blake3, 0);
	forgery_open(&f, "m.sdc");
	(void)forgery_entry(&f, "large", &record);
	uint8_t *chunk = record + 32 + 8 * record[1] + 24;
	uint8_t *at = f.raw + shd_get_u64(chunk);
	uint32_t stored = shd_get_u32(chunk + 8);
	uint32_t was = shd_crc32(0, at, stored);
	at[100] ^= 1;
	/* The difference that this makes, run backwards through 32 bits, goes into the last bytes. */
	uint32_t lost = shd_crc32(0, at, stored) ^ was;
	for (int bit = 0; bit < 32; bit++)
		lost = lost & 0x80000000u ? (lost ^ 0xedb88320u) << 1 | 1 : lost << 1;
	for (uint32_t i = 0; i < 4; i++)
		at[stored - 4 + i] ^= (uint8_t)(lost >> 8 * i);
	assert_int_equal(shd_crc32(0, at, stored), was);
	assert_ok(sherd_store_put(store, "m.sdc", SHERD_WRITE_REPLACE, f.raw, f.len, err));
	assert_refused(SHERD_ECORRUPT, "bad-checksum", read_all("m.sdc", "large", SHD_CONTAINER_CHUNK + 500, 9, err));
	assert_refused(SHERD_ECORRUPT, "bad-checksum", read_all("m.sdc", "large", 0, 0, err));
	assert_ok(read_all("m.sdc", "large", 0, SHD_CONTAINER_CHUNK, err));
	assert_ok(read_all("m.sdc", "large", 2 * SHD_CONTAINER_CHUNK + 1, 3, err));
	sherd_free(f.raw);
}

TEST(sections_are_held_against_the_root)
{
	static const shd_section_type types[] = {SHD_SECTION_METADATA, SHD_SECTION_GRAPH, SHD_SECTION_DIGESTS};
	const sherd_pair pair = {"a", "b"};
	sherd_model_save_options o = {.digest = SHERD_DIGEST_BLAKE3, .pairs = &pair, .pair_count = 1};
	container_write(store, "m.sdc", false, &o, 0);
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		forgery f;
		sherd_bundle *b = NULL;
		forgery_open(&f, "m.sdc");
		const shd_container_section *s = forgery_section(&f, types[i]);
		/* A value of a pair, a name in the graph, a value of a section. */
		f.raw[shd_section_payload(s) + (i == 2 ? SHD_DIGESTS_HEAD + 9 : s->stored - 1)] ^= 1;
		forgery_close(&f);
		assert_ok(sherd_store_put(store, "n.sdc", SHERD_WRITE_REPLACE, f.raw, f.len, err));
		assert_refused(SHERD_ECORRUPT, "bad-checksum", sherd_bundle_open(&b, store, "n.sdc", NULL, err));
		assert_true(container_verify(store, "n.sdc", NULL) > 0);
		sherd_free(f.raw);
	}
}

TEST(a_shard_is_held_against_the_root_of_the_first)
{
	const sherd_model_save_options two = {.shards = 2, .digest = SHERD_DIGEST_BLAKE3};
	forgery f;
	container_write(store, "m", true, &two, 0);
	container_write(store, "n", false, &two, 0);
	forgery_open(&f, "m.shard0-of-2.sdc");
	sherd_free(f.raw);
	forgery_open(&f, "m.shard1-of-2.sdc");
	/* All of it is made to fit: its own tree, too. */
	uint8_t *digests = f.raw + shd_section_payload(forgery_section(&f, SHD_SECTION_DIGESTS));
	shd_container_digests d;
	assert_ok(shd_container_digests_decode(digests, forgery_section(&f, SHD_SECTION_DIGESTS)->stored, &d, err));
	digests[SHD_DIGESTS_HEAD + 8] ^= 1;
	shd_blake3_of(digests + 32, (size_t)shd_container_digests_table(&d) - 32, digests);
	forgery_close(&f);
	assert_ok(sherd_store_put(store, "m.shard1-of-2.sdc", SHERD_WRITE_REPLACE, f.raw, f.len, err));
	assert_true(container_verify(store, "m", NULL) > 0);
	sherd_free(f.raw);
}

/* What was looked at is what is used: a file that changes under an open model is noticed in the bytes that are read. */
TEST(what_changes_after_opening_is_noticed)
{
	char *folder = scratch_make(), path[1024];
	sherd_store *local = NULL;
	sherd_bundle *b = NULL;
	forgery f;
	uint8_t buf[4];
	container_write(store, "m.sdc", true, &blake3, 0);
	forgery_open(&f, "m.sdc");
	assert_ok(sherd_store_open_local(&local, folder, NULL, err));
	assert_ok(sherd_store_put(local, "m.sdc", SHERD_WRITE_NEW, f.raw, f.len, err));
	assert_ok(sherd_bundle_open(&b, local, "m.sdc", NULL, err));
	forge_chunk(&f, "large");
	(void)snprintf(path, sizeof(path), "%s/m.sdc", folder);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, f.raw, f.len, 0), f.len);
	(void)close(fd);
	assert_refused(SHERD_ECORRUPT, "bad-checksum",
	               sherd_bundle_read(b, sherd_bundle_find(b, "large"), 0, buf, sizeof(buf), err));
	assert_ok(sherd_bundle_read(b, sherd_bundle_find(b, "w"), 0, buf, sizeof(buf), err));
	sherd_bundle_close(b);
	sherd_store_close(local);
	scratch_remove(folder);
	sherd_free(f.raw);
}

static bool has_digests(const char *key)
{
	forgery f;
	forgery_open(&f, key);
	sherd_free(f.raw);
	return (f.head.incompatible & SHD_FEATURE_DIGESTS) != 0;
}

TEST(digests_stay_where_a_container_stays_as_it_was)
{
	sherd_model *m = NULL;
	sherd_model_layout layout = {0};
	const sherd_pair pair = {"a", "b"};
	container_write(store, "m.sdc", true, &blake3, 0);
	assert_ok(sherd_model_set_pairs(store, "m.sdc", &pair, 1, NULL, err));
	assert_true(has_digests("m.sdc"));
	assert_int_equal(container_verify(store, "m.sdc", NULL), 0);
	assert_ok(sherd_model_open(&m, store, "m.sdc", NULL, err));
	assert_true(sherd_model_layout_of(&layout, m) && layout.digest);
	assert_ok(sherd_model_save(m, store, "kept.sdc", &(sherd_model_save_options){.as_it_was = true}, err));
	assert_ok(sherd_model_save(m, store, "without.sdc", NULL, err));
	sherd_model_close(m);
	assert_true(has_digests("kept.sdc"));
	assert_false(has_digests("without.sdc"));
	container_assert(store, "kept.sdc", true, true);
	container_assert(store, "without.sdc", true, true);
	assert_int_equal(container_verify(store, "kept.sdc", NULL), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)
	const struct CMUnitTest tests[] = {
		CASE(a_chunk_that_is_exchanged_with_its_checksums_is_noticed_alone),
		CASE(a_chunk_of_the_same_crc_is_noticed_by_a_slice_of_it_alone),
		CASE(sections_are_held_against_the_root),
		CASE(a_shard_is_held_against_the_root_of_the_first),
		CASE(what_changes_after_opening_is_noticed),
		CASE(digests_stay_where_a_container_stays_as_it_was),
	};
	return cmocka_run_group_tests_name("container_digest", tests, NULL, NULL);
}
