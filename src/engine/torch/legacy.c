/* engine/torch/legacy.c - files of torch.save() before 1.6: pickles one after the other, then storages.
 * docs/formats/torch.md. */
#include "base/limits.h"
#include "base/map.h"
#include "engine/tensors/blame.h"
#include "engine/torch/format.h"
#include "engine/torch/view.h"
#include "base/cursor.h"

#include <stdlib.h>

typedef struct legacy_bundle {
	sherd_bundle base;
	shd_torch_state state;
	uint64_t *at; /* of each storage, where its bytes begin */
	bool big;
} legacy_bundle;

static shd_torch_place legacy_place(const legacy_bundle *b, const shd_torch_view *v)
{
	return (shd_torch_place){.reader = b->base.reader, .at = b->at[v->storage], .big = b->big};
}

static int legacy_read(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                       sherd_error *err)
{
	const legacy_bundle *b = (const legacy_bundle *)bundle;
	const shd_torch_view *v = &b->state.views[index];
	const shd_torch_place place = legacy_place(b, v);
	return shd_torch_view_read(v, bundle->tensors[index].ndim, &place, offset, buf, len, err);
}

static int legacy_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	const legacy_bundle *b = (const legacy_bundle *)bundle;
	const shd_torch_view *v = &b->state.views[index];
	if (!shd_torch_view_is_plain(v, b->big))
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s is stored in another order",
		                bundle->tensors[index].name);
	return sherd_reader_map(out, bundle->reader, b->at[v->storage] + v->offset,
	                        (size_t)bundle->tensors[index].bytes, err);
}

static const shd_bundle_ops legacy_ops = {.read = legacy_read, .map = legacy_map};

/* The first pickle is one long number. */
#define MAGIC "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"

static bool is_magic(shd_pickle_value v)
{
	return v.kind == SHD_PICKLE_LONG && v.len == sizeof(MAGIC) - 1 && memcmp(v.text, MAGIC, v.len) == 0;
}

/* The head of a file: as much as its pickles take, which nothing tells beforehand. */
typedef struct legacy_head {
	const sherd_reader *reader;
	uint64_t most;
	size_t len, pos; /* what was read, what was decoded */
	char *bytes;
} legacy_head;

enum { FIRST_HEAD = 1 << 20 };

/* Reads twice as much as before; 0 when there is no more. */
static int read_more(legacy_head *h, sherd_error *err)
{
	uint64_t size = sherd_reader_size(h->reader), want = h->len ? (uint64_t)h->len * 2 : FIRST_HEAD;
	want = want < h->most ? want : h->most;
	want = want < size ? want : size;
	if (want <= h->len)
		return 0;
	char *bytes = realloc(h->bytes, (size_t)want);
	if (!bytes)
		return shd_fail_nomem(err);
	h->bytes = bytes;
	TRY(sherd_reader_at(h->reader, h->len, bytes + h->len, (size_t)want - h->len, err));
	h->len = (size_t)want;
	return 1;
}

/* The next pickle. One that the end of what was read cut off is decoded again, with more of it. */
static int next_pickle(legacy_head *h, shd_arena *arena, shd_pickle *out, sherd_error *err)
{
	for (;;) {
		sherd_error failure = {0};
		int rc = shd_pickle_decode(h->bytes + h->pos, h->len - h->pos, arena, out, &failure);
		if (rc == SHERD_OK) {
			h->pos += out->bytes;
			return SHERD_OK;
		}
		int more = strcmp(failure.reason, "truncated") == 0 ? read_more(h, err) : 0;
		TRY(more);
		if (!more)
			return shd_shift_offset(err, shd_pass(err, rc, &failure), h->pos);
		shd_arena_done(arena);
	}
}

/* The number of a storage that a key names. */
static int find_key(const shd_map *names, shd_pickle_value key, size_t *out, sherd_error *err)
{
	*out = key.kind == SHD_PICKLE_TEXT ? shd_map_find(names, shd_pickle_text(key)) : SHD_MAP_NONE;
	if (*out == SHD_MAP_NONE)
		return shd_fail(err, SHERD_ECORRUPT, "bad-index", "a storage follows that no tensor uses");
	return SHERD_OK;
}

/* Eight bytes tell how many elements follow. */
static int place_storage(legacy_bundle *b, size_t storage, uint64_t *at, sherd_error *err)
{
	const shd_torch_storage *s = &b->state.storages[storage];
	uint64_t size = sherd_reader_size(b->base.reader), bytes;
	uint8_t raw[8];
	if (size - *at < sizeof(raw))
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", *at, "storage %.100s is not there", s->key);
	TRY(sherd_reader_at(b->base.reader, *at, raw, sizeof(raw), err));
	uint64_t count = shd_get_u64(raw);
	count = b->big ? __builtin_bswap64(count) : count;
	if (__builtin_mul_overflow(count, s->unit, &bytes) || bytes != s->bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", *at,
		                   "storage %.100s has %llu elements of %u bytes; the pickle says %llu bytes", s->key,
		                   (unsigned long long)count, s->unit, (unsigned long long)s->bytes);
	if (bytes > size - *at - sizeof(raw))
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size, "storage %.100s ends too early", s->key);
	b->at[storage] = *at + sizeof(raw);
	*at += sizeof(raw) + bytes;
	return SHERD_OK;
}

/* In the order of the list of keys, all of them. */
static int place_storages(legacy_bundle *b, shd_pickle_value keys, uint64_t at, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map names = {0};
	shd_pickle_value key;
	bool ok = true;
	b->at = shd_arena_alloc(&b->base.arena, b->state.storage_count + 1, sizeof(*b->at));
	if (!b->at)
		return shd_fail_nomem(err);
	memset(b->at, 0, (b->state.storage_count + 1) * sizeof(*b->at));
	for (size_t i = 0; ok && i < b->state.storage_count; i++)
		(void)shd_map_add(&names, shd_str_of(b->state.storages[i].key), i, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	if (keys.kind != SHD_PICKLE_LIST)
		return shd_fail(err, SHERD_ECORRUPT, "bad-index", "the keys of storages are no list");
	for (shd_pickle_cursor c = shd_pickle_walk(&keys.node->items); shd_pickle_next(&c, &key);) {
		size_t storage;
		TRY(find_key(&names, key, &storage, err));
		if (b->at[storage])
			return shd_fail(err, SHERD_ECORRUPT, "bad-index", "storage %.100s is listed twice",
			                b->state.storages[storage].key);
		TRY(place_storage(b, storage, &at, err));
	}
	for (size_t i = 0; i < b->state.storage_count; i++)
		if (!b->at[i])
			return shd_fail(err, SHERD_ECORRUPT, "missing-piece", "storage %.100s is not in the file",
			                b->state.storages[i].key);
	return SHERD_OK;
}

/* Number, version, what the writer's machine was like. */
static int read_preamble(legacy_bundle *b, legacy_head *h, shd_arena *arena, sherd_error *err)
{
	shd_pickle magic, version, system;
	TRY(next_pickle(h, arena, &magic, err));
	if (!is_magic(magic.root))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "it does not begin as torch.save() does");
	size_t begin = h->pos;
	TRY(next_pickle(h, arena, &version, err));
	if (version.root.kind != SHD_PICKLE_INT || version.root.integer != 1001)
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", begin,
		                   "a version of torch.save() that is not known");
	TRY(next_pickle(h, arena, &system, err));
	shd_pickle_value little = shd_pickle_find(system.root, "little_endian");
	b->big = little.kind == SHD_PICKLE_BOOL && !little.integer;
	return SHERD_OK;
}

static int legacy_fill(legacy_bundle *b, legacy_head *h, const char *key, const sherd_limits *limits, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena first = {0}, object = {0}, list = {0};
	shd_pickle pickle, keys;
	TRY(read_preamble(b, h, &first, err));
	size_t begin = h->pos;
	TRY(next_pickle(h, &object, &pickle, err));
	/* The tree points into the bytes, which move when more of them are read: so it is done with first. */
	TRY(shd_shift_offset(err, shd_torch_state_of(&pickle, limits, &b->base.arena, &b->state, err), begin));
	TRY(shd_torch_fill_bundle(&b->base, &pickle, &b->state, key, err));
	TRY(next_pickle(h, &list, &keys, err));
	return place_storages(b, keys.root, h->pos, err);
}

static int legacy_open(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	TRY(shd_bundle_new(&base, sizeof(legacy_bundle), &legacy_ops, SHERD_FORMAT_TORCH_LEGACY, err));
	TRY(shd_evidence_take_reader(e, &base->reader, err));
	legacy_head h = {.reader = base->reader, .most = shd_limits_or_default(options->limits).metadata_bytes};
	int rc = read_more(&h, err);
	if (rc >= 0)
		rc = legacy_fill((legacy_bundle *)base, &h, e->key, options->limits, err);
	free(h.bytes);
	TRY(shd_in_reader(err, rc, base->reader));
	*out = TAKE(base);
	return SHERD_OK;
}

enum { MOST_MAGIC = 64 };

static int legacy_probe(shd_evidence *e, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_pickle pickle;
	if (e->first.len < sizeof(MAGIC) || (uint8_t)e->first.ptr[0] != 0x80)
		return 0;
	size_t len = e->first.len < MOST_MAGIC ? e->first.len : MOST_MAGIC;
	int rc = shd_pickle_decode(e->first.ptr, len, &arena, &pickle, NULL);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	return rc == SHERD_OK && is_magic(pickle.root);
}

const shd_format_entry shd_format_torch_legacy = {
	.info = {.id = SHERD_FORMAT_TORCH_LEGACY,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "torch-legacy",
                 .noun = "a file of torch.save() before 1.6"},
	.probe = legacy_probe,
	.open = legacy_open,
};

/* ---- pickles of others */

int shd_torch_refuse_pickle(const shd_evidence *e, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_pickle pickle;
	int rc = shd_pickle_decode(e->first.ptr, e->first.len, &arena, &pickle, NULL);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < pickle.global_count; i++)
		if (shd_pickle_judge_use(&pickle.globals[i]) == SHD_PICKLE_DANGEROUS)
			return shd_fail(err, SHERD_EUNSUPPORTED, "foreign-format",
			                "this is a Python pickle, not read here: loading it would %s %.100s, which is "
			                "dangerous",
			                pickle.globals[i].called ? "call" : "import", pickle.globals[i].name);
	return shd_fail(err, SHERD_EUNSUPPORTED, "foreign-format",
	                "this is a Python pickle: not read here; save it with safetensors.torch.save_file()");
}
