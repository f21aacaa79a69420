/* codec/json_keys.c - no object has a key twice.
 *
 * A few keys are told apart by a quick mark of each, compared one by one. More are
 * found by a hash that is keyed with a random seed, so that no document can be made
 * to collide; the few before are then hashed anew. Texts are compared only when the
 * marks or hashes agree. */
#include "codec/json_state.h"

#include "codec/json_scan.h"

#include "base/map.h"

#include <stdlib.h>

enum { FEW_KEYS = 16, FIRST_TABLE = 4 * FEW_KEYS };

static uint64_t json_keys_load(const char *p, size_t n)
{
	uint64_t v = 0;
	memcpy(&v, p, n);
	return v;
}

/* A function of the length, the first and the last eight bytes. */
static inline uint64_t mark_of(shd_str s)
{
	uint64_t first, last;
	if (s.len >= 8) {
		first = json_keys_load(s.ptr, 8);
		last = json_keys_load(s.ptr + s.len - 8, 8);
	} else if (s.len >= 4) {
		first = json_keys_load(s.ptr, 4);
		last = json_keys_load(s.ptr + s.len - 4, 4);
	} else {
		first = s.len ? (uint8_t)s.ptr[0] : 0;
		last = s.len ? (uint64_t)(uint8_t)s.ptr[s.len / 2] << 8 | (uint8_t)s.ptr[s.len - 1] : 0;
	}
	uint64_t high = (last ^ s.len) * 0xd6e8feb86659fd93u;
	return first * 0x9e3779b97f4a7c15u ^ (high << 32 | high >> 32);
}

/* The text of a key that was checked before. */
static int json_keys_text_at(shd_json *j, uint64_t offset, shd_str *out, sherd_error *err)
{
	json_span s = {.from = j->data + offset + 1};
	TRY(shd_json_scan_string(j, s.from, &s, err));
	return shd_json_unescape(&s, &j->other, out, err);
}

/* Fails if the key is the earlier one; they have the same mark or hash. */
static int json_keys_check_same(shd_json *j, uint64_t earlier, shd_str key, const uint8_t *quote, sherd_error *err)
{
	shd_str text;
	TRY(json_keys_text_at(j, earlier, &text, err));
	if (text.len != key.len || memcmp(text.ptr, key.ptr, key.len) != 0)
		return SHERD_OK;
	return shd_json_fail(j, quote, "duplicate-key", err, "this key stands at byte %llu already",
	                     (unsigned long long)earlier);
}

static inline int json_keys_push(shd_json *j, uint64_t hash, const uint8_t *quote, sherd_error *err)
{
	if (j->key_count == j->key_room) {
		size_t room = j->key_room + j->key_room / 2;
		json_key *old = j->keys == j->first_keys ? NULL : j->keys;
		json_key *keys = room > SIZE_MAX / sizeof(*keys) ? NULL : realloc(old, room * sizeof(*keys));
		if (!keys)
			return shd_fail_nomem(err);
		if (!old)
			memcpy(keys, j->first_keys, sizeof(j->first_keys));
		j->keys = keys;
		j->key_room = room;
	}
	j->keys[j->key_count++] = (json_key){hash, (uint64_t)(quote - j->data)};
	return SHERD_OK;
}

/* A slot is 0 when it is empty, else the upper half of the hash and 1 + the number of the key in its object.
 * The place of a hash is given by its upper half as well. */
static uint64_t slot_for(uint64_t hash, size_t number)
{
	return (hash & 0xffffffff00000000u) | (number + 1);
}

static void insert(json_level *l, uint64_t hash, size_t number)
{
	size_t i = (hash >> 32) & (l->table_size - 1);
	while (l->table[i])
		i = (i + 1) & (l->table_size - 1);
	l->table[i] = slot_for(hash, number);
}

/* Makes a table of this many slots over the first count keys, whose hashes are known. */
static int build_table(shd_json *j, json_level *l, size_t size, size_t count, sherd_error *err)
{
	if (size > l->table_room) {
		free(l->table);
		l->table_room = 0;
		l->table = size > SIZE_MAX / sizeof(*l->table) ? NULL : malloc(size * sizeof(*l->table));
		if (!l->table)
			return shd_fail_nomem(err);
		l->table_room = size;
	}
	memset(l->table, 0, size * sizeof(*l->table));
	l->table_size = size;
	for (size_t i = 0; i < count; i++)
		insert(l, j->keys[l->first_key + i].hash, i);
	return SHERD_OK;
}

/* The object outgrew the quick marks. */
static int begin_table(shd_json *j, json_level *l, sherd_error *err)
{
	while (!j->seed)
		j->seed = shd_hash_seed();
	for (size_t i = l->first_key; i < j->key_count; i++) {
		shd_str text;
		TRY(json_keys_text_at(j, j->keys[i].offset, &text, err));
		j->keys[i].hash = shd_hash(j->seed, text.ptr, text.len);
	}
	return build_table(j, l, FIRST_TABLE, j->key_count - l->first_key, err);
}

static int add_to_table(shd_json *j, shd_str key, const uint8_t *quote, sherd_error *err)
{
	json_level *l = &j->levels[j->depth - 1];
	size_t count = j->key_count - l->first_key;
	if (!l->table_size)
		TRY(begin_table(j, l, err));
	else if (count >= l->table_size / 2)
		TRY(build_table(j, l, l->table_size * 2, count, err));
	/* So many keys fill more than 16 GiB of text. */
	if (count >= UINT32_MAX - 1)
		return shd_fail_at(err, SHERD_ELIMIT, "too-long", (uint64_t)(quote - j->data), "too many keys");
	uint64_t hash = shd_hash(j->seed, key.ptr, key.len);
	size_t mask = l->table_size - 1;
	for (size_t i = (hash >> 32) & mask; l->table[i]; i = (i + 1) & mask) {
		if ((l->table[i] ^ hash) >> 32)
			continue;
		const json_key *k = &j->keys[l->first_key + (uint32_t)l->table[i] - 1];
		if (k->hash == hash)
			TRY(json_keys_check_same(j, k->offset, key, quote, err));
	}
	TRY(json_keys_push(j, hash, quote, err));
	insert(l, hash, count);
	return SHERD_OK;
}

int shd_json_keys_add(shd_json *j, shd_str key, const uint8_t *quote, sherd_error *err)
{
	size_t first = j->levels[j->depth - 1].first_key;
	if (j->key_count - first >= FEW_KEYS)
		return add_to_table(j, key, quote, err);
	uint64_t mark = mark_of(key);
	for (size_t i = first; i < j->key_count; i++)
		if (j->keys[i].hash == mark)
			TRY(json_keys_check_same(j, j->keys[i].offset, key, quote, err));
	return json_keys_push(j, mark, quote, err);
}

void shd_json_keys_drop(shd_json *j)
{
	json_level *l = &j->levels[j->depth - 1];
	j->key_count = l->first_key;
	l->table_size = 0;
}
