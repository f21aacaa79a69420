#include "engine/tensors/bundle.h"
#include "engine/tensors/files.h"
#include "engine/tensors/layers.h"
#include "engine/tensors/set.h"
#include "format/tensor/safetensors.h"
#include "format/tensor/safetensors_index.h"

#include <sherd/ckpt.h>

#include <stdlib.h>

/* The files of a sharded target, and which tensors go into which. */
typedef struct spread {
	uint32_t *file_of; /* by tensor */
	uint32_t files;
	shd_conversion_object *objects;
} spread;

/* Without that of the types: a file of safetensors has a place for texts only. */
static int texts_of(shd_conversion *c, const sherd_pair **out, size_t *count, sherd_error *err)
{
	const sherd_pair *pairs;
	size_t n = sherd_bundle_pairs(&pairs, c->from);
	sherd_pair *texts = shd_arena_alloc(&c->arena, n + 1, sizeof(*texts));
	if (!texts)
		return shd_fail_nomem(err);
	*out = texts;
	*count = 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(pairs[i].key, SHERD_TYPES_KEY) != 0)
			texts[(*count)++] = pairs[i];
	return SHERD_OK;
}

/* An index holds values as JSON does; the text of one is its JSON, but for reals that JSON has no number for. What
 * nests too deep for an index stays a text. */
static int values_of(shd_conversion *c, shd_safetensors_index *index, sherd_error *err)
{
	const sherd_value *values;
	size_t n;
	TRY(shd_bundle_values(c->from, &values, &n, err));
	sherd_pair *out = shd_arena_alloc(&c->arena, n + 1, sizeof(*out));
	if (!out)
		return shd_fail_nomem(err);
	index->values = out;
	for (size_t i = 0; i < n; i++)
		if (shd_safetensors_index_check_value(values[i].text, NULL) == SHERD_OK)
			out[index->value_count++] = (sherd_pair){values[i].key, values[i].text};
	return texts_of(c, &index->pairs, &index->pair_count, err);
}

/* The head for these tensors, and the order in which their data follows. What only an index said stays in the index,
 * when there will be one. */
static int safetensors_write_prepare(shd_conversion *c, shd_conversion_object *o, const size_t *members, size_t count,
                                     bool part, sherd_error *err)
{
	const sherd_pair *pairs = NULL;
	size_t pair_count = 0;
	TRY(texts_of(c, &pairs, &pair_count, err));
	if (part && c->from->index) {
		pairs = c->from->index->pairs;
		pair_count = c->from->index->pair_count;
	}
	sherd_tensor *tensors = shd_arena_alloc(&c->arena, count + 1, sizeof(*tensors));
	size_t *order = shd_arena_alloc(&c->arena, count + 1, sizeof(*order));
	if (!tensors || !order)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		tensors[i] = *sherd_bundle_tensor(c->from, members[i]);
	TRY(shd_safetensors_encode(tensors, count, pairs, pair_count, &o->head, order, err));
	for (size_t i = 0; i < count; i++)
		order[i] = members[order[i]];
	o->tensors = order;
	o->count = count;
	return SHERD_OK;
}

int shd_write_safetensors(shd_conversion *c, sherd_error *err)
{
	size_t count = sherd_bundle_count(c->from);
	shd_conversion_object object = {.key = c->key};
	size_t *members = shd_arena_alloc(&c->arena, count + 1, sizeof(*members));
	if (!members)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		members[i] = i;
	int rc = safetensors_write_prepare(c, &object, members, count, false, err);
	if (rc == SHERD_OK)
		rc = shd_conversion_write_one(c, &object, err);
	shd_buf_done(&object.head);
	return rc;
}

/* Keeps a text that was put together in a buffer, and empties the buffer. */
static int safetensors_write_keep(shd_conversion *c, shd_buf *text, const char **out, sherd_error *err)
{
	int rc = shd_buf_check(text, err);
	*out = rc == SHERD_OK ? shd_arena_str(&c->arena, (shd_str){(const char *)text->data, text->len}) : NULL;
	shd_buf_done(text);
	return *out || rc < 0 ? rc : shd_fail_nomem(err);
}

/* Files that keep layers whole; all of them get something. */
static int plan_layers(shd_conversion *c, spread *s, sherd_error *err)
{
	s->file_of = shd_arena_alloc(&c->arena, sherd_bundle_count(c->from) + 1, sizeof(*s->file_of));
	if (!s->file_of)
		return shd_fail_nomem(err);
	TRY(shd_layers_plan(s->file_of, &s->files, c->from, c->options->max_shard_bytes, err));
	s->objects = shd_arena_alloc(&c->arena, s->files, sizeof(*s->objects));
	if (!s->objects)
		return shd_fail_nomem(err);
	memset(s->objects, 0, s->files * sizeof(*s->objects));
	return SHERD_OK;
}

/* Whole tensors by size. There are never more files than tensors, so that each file is named by the index. */
static int plan_sizes(shd_conversion *c, spread *s, sherd_error *err)
{
	size_t count = sherd_bundle_count(c->from);
	uint64_t *bytes = shd_arena_alloc(&c->arena, count + 1, sizeof(*bytes));
	s->file_of = shd_arena_alloc(&c->arena, count + 1, sizeof(*s->file_of));
	s->files = c->shards < count ? c->shards : count ? (uint32_t)count : 1;
	s->objects = shd_arena_alloc(&c->arena, s->files, sizeof(*s->objects));
	if (!bytes || !s->file_of || !s->objects)
		return shd_fail_nomem(err);
	memset(s->objects, 0, s->files * sizeof(*s->objects));
	/* An empty tensor counts one byte: else all of them would go where the plan begins, and files stay empty. */
	for (size_t i = 0; i < count; i++) {
		uint64_t size = sherd_bundle_tensor(c->from, i)->bytes;
		bytes[i] = size ? size : 1;
	}
	return sherd_plan_whole(s->file_of, bytes, count, s->files, err);
}

static int prepare_files(shd_conversion *c, spread *s, sherd_error *err)
{
	size_t count = sherd_bundle_count(c->from);
	size_t *members = shd_arena_alloc(&c->arena, count + 1, sizeof(*members));
	size_t *first = shd_arena_alloc(&c->arena, (size_t)s->files + 1, sizeof(*first));
	if (!members || !first)
		return shd_fail_nomem(err);
	memset(first, 0, ((size_t)s->files + 1) * sizeof(*first));
	for (size_t i = 0; i < count; i++)
		first[s->file_of[i] + 1]++;
	for (uint32_t f = 0; f < s->files; f++)
		first[f + 1] += first[f];
	/* Filling moves each file's first to its end, which is where the next one's members begin. */
	for (size_t i = 0; i < count; i++)
		members[first[s->file_of[i]]++] = i;
	for (uint32_t f = 0; f < s->files; f++) {
		size_t begin = f ? first[f - 1] : 0;
		TRY(safetensors_write_prepare(c, &s->objects[f], members + begin, first[f] - begin, true, err));
	}
	return SHERD_OK;
}

/* As others name their files; of a set that replaces another with the attempt in it, since nobody reads by the name. */
static int name_files(shd_conversion *c, shd_conversion_set *set, const char *attempt, sherd_error *err)
{
	for (size_t i = 0; i < set->count; i++) {
		shd_buf key = {0};
		shd_buf_printf(&key, "%s%s%s-%05zu-of-%05zu.safetensors", c->key, attempt ? "-" : "",
		               attempt ? attempt : "", i + 1, set->count);
		TRY(safetensors_write_keep(c, &key, &set->objects[i].key, err));
	}
	return SHERD_OK;
}

static int encode_index(shd_conversion *c, const shd_conversion_set *set, shd_buf *out, sherd_error *err)
{
	const spread *s = set->arg;
	size_t count = sherd_bundle_count(c->from);
	shd_safetensors_index index = {.count = count, .file_count = s->files, .has_total_size = true};
	shd_safetensors_index_entry *entries = shd_arena_alloc(&c->arena, count + 1, sizeof(*entries));
	const char **files = shd_arena_alloc(&c->arena, s->files, sizeof(*files));
	if (!entries || !files)
		return shd_fail_nomem(err);
	for (uint32_t f = 0; f < s->files; f++)
		files[f] = shd_str_leaf(s->objects[f].key);
	for (size_t i = 0; i < count; i++) {
		const sherd_tensor *t = sherd_bundle_tensor(c->from, i);
		entries[i] = (shd_safetensors_index_entry){.name = t->name, .file = s->file_of[i]};
		index.total_size += t->bytes;
	}
	index.entries = entries;
	index.files = files;
	if (c->from->index) {
		index.values = c->from->index->values;
		index.value_count = c->from->index->value_count;
	} else {
		TRY(values_of(c, &index, err));
	}
	return shd_safetensors_index_encode(&index, out, err);
}

static int decode_index(shd_conversion *c, const shd_conversion_set *set, const char *text, size_t len,
                        const char *const **keys, size_t *count, sherd_error *err)
{
	shd_safetensors_index index;
	TRY(shd_safetensors_index_decode(text, len, NULL, &c->arena, &index, err));
	const char **all = shd_arena_alloc(&c->arena, (size_t)index.file_count + 1, sizeof(*all));
	if (!all)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < index.file_count; i++) {
		shd_buf key = {0};
		shd_buf_append(&key, set->head, (size_t)(shd_str_leaf(set->head) - set->head));
		shd_buf_str(&key, index.files[i]);
		TRY(safetensors_write_keep(c, &key, &all[i], err));
	}
	*keys = all;
	*count = index.file_count;
	return SHERD_OK;
}

static const shd_conversion_set_ops index_ops = {
	.name = name_files, .encode = encode_index, .decode = decode_index, .suffix = ".safetensors", .beside = true};

int shd_write_safetensors_index(shd_conversion *c, sherd_error *err)
{
	spread s = {0};
	shd_conversion_set set = {.ops = &index_ops, .arg = &s};
	shd_buf head = {0}, claim = {0}, prefix = {0};
	TRY(c->options->max_shard_bytes && !c->options->shards ? plan_layers(c, &s, err) : plan_sizes(c, &s, err));
	shd_buf_printf(&head, "%s" SHD_SAFETENSORS_INDEX_SUFFIX, c->key);
	shd_buf_printf(&claim, "%s" SHD_SAFETENSORS_CLAIM_SUFFIX, c->key);
	shd_buf_printf(&prefix, "%s-", c->key);
	int rc = safetensors_write_keep(c, &head, &set.head, err);
	if (rc == SHERD_OK)
		rc = safetensors_write_keep(c, &claim, &set.claim, err);
	if (rc == SHERD_OK)
		rc = safetensors_write_keep(c, &prefix, &set.prefix, err);
	if (rc == SHERD_OK)
		rc = prepare_files(c, &s, err);
	set.objects = s.objects;
	set.count = s.files;
	if (rc == SHERD_OK)
		rc = shd_conversion_set_write(c, &set, err);
	for (uint32_t f = 0; f < s.files; f++)
		shd_buf_done(&s.objects[f].head);
	return rc;
}
