#include "engine/tensors/convert.h"

#include "base/pool.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/folder.h"
#include "engine/tensors/format.h"
#include "engine/tensors/places.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

/* identity, which may be NULL, is told by the commit. */
static int open_object(shd_conversion *c, const char *key, sherd_write_mode mode, uint64_t size_hint,
                       char *identity, // NOLINT(readability-non-const-parameter): the store fills it in
                       sherd_writer **out, sherd_error *err)
{
	sherd_write_options options = {.mode = mode, .like = c->like, .size_hint = size_hint, .identity = identity};
	return sherd_store_write(out, c->store, key, &options, err);
}

static uint64_t padding_of(const shd_conversion_object *o, uint64_t bytes)
{
	return o->align && bytes % o->align ? o->align - bytes % o->align : 0;
}

static void count_bytes(const shd_conversion *c, shd_conversion_object *o)
{
	o->bytes = o->head.len;
	for (size_t i = 0; !o->write && i < o->count; i++) {
		uint64_t bytes = sherd_bundle_tensor(c->from, o->tensors[i])->bytes;
		o->bytes += bytes + padding_of(o, bytes);
	}
}

/* One object, by the place of each of its bytes. */
typedef struct object_source {
	shd_conversion *conversion;
	const shd_conversion_object *object;
	uint64_t *starts; /* of the head, of each tensor, whose padding follows it, and the end */
} object_source;

/* Bytes of a tensor from one on, or zeros behind its end. */
static int fill_tensor(shd_conversion *c, size_t tensor, uint64_t at, uint8_t *to, size_t len, sherd_error *err)
{
	const uint64_t bytes = sherd_bundle_tensor(c->from, tensor)->bytes, rest = at < bytes ? bytes - at : 0;
	const size_t n = rest < len ? (size_t)rest : len;
	if (n)
		TRY(sherd_bundle_read(c->from, tensor, at, to, n, err));
	memset(to + n, 0, len - n);
	return shd_meter_add(&c->meter, n, err);
}

static int fill_object(void *arg, uint64_t offset, uint8_t *to, size_t len, sherd_error *err)
{
	const object_source *s = arg;
	const shd_conversion_object *o = s->object;
	size_t low = 0, high = o->count; /* the last one that begins at the offset or before it */
	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;
		if (s->starts[middle] <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	for (; len; low++) {
		uint64_t at = offset - s->starts[low], rest = s->starts[low + 1] - offset;
		size_t n = rest < len ? (size_t)rest : len;
		if (!low)
			memcpy(to, o->head.data + at, n);
		else if (n)
			TRY(fill_tensor(s->conversion, o->tensors[low - 1], at, to, n, err));
		offset += n;
		to += n;
		len -= n;
	}
	return SHERD_OK;
}

/* Commits or aborts the writer. */
static int write_object(shd_conversion *c, shd_conversion_object *o, sherd_writer *to, sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = to;
	if (o->write) {
		TRY(o->write(c, o, writer, err));
		return sherd_writer_commit(TAKE(writer), err);
	}
	SHD_AUTO_FREE uint64_t *starts = calloc(o->count + 2, sizeof(*starts));
	if (!starts)
		return shd_fail_nomem(err);
	starts[1] = o->head.len;
	for (size_t i = 0; i < o->count; i++) {
		const uint64_t bytes = sherd_bundle_tensor(c->from, o->tensors[i])->bytes;
		starts[i + 2] = starts[i + 1] + bytes + padding_of(o, bytes);
	}
	object_source source = {c, o, starts};
	const shd_bundle_order order = c->from->order;
	const shd_placing placing = {.writer = writer,
	                             .size = o->bytes,
	                             .fill = fill_object,
	                             .arg = &source,
	                             .in_order = order == SHD_BUNDLE_STREAM,
	                             .cuts = order == SHD_BUNDLE_ANYWHERE ? NULL : starts,
	                             .ranges = o->count + 1,
	                             .pool = c->pool,
	                             .crc = o->summed ? &o->crc32 : NULL};
	TRY(shd_places_write(&placing, err));
	return sherd_writer_commit(TAKE(writer), err);
}

typedef struct batch {
	shd_conversion *conversion;
	shd_conversion_object *objects;
} batch;

static int write_part(void *arg, size_t index, sherd_error *err)
{
	const batch *b = arg;
	shd_conversion_object *o = &b->objects[index];
	sherd_writer *writer = NULL;
	count_bytes(b->conversion, o);
	TRY(open_object(b->conversion, o->key, SHERD_WRITE_NEW, o->bytes, o->part.identity, &writer, err));
	int rc = write_object(b->conversion, o, writer, err);
	shd_part_written(&o->part, rc);
	return rc;
}

bool shd_conversion_undo(shd_conversion *c, shd_conversion_object *objects, size_t count)
{
	bool all = true;
	for (size_t i = 0; i < count; i++)
		all &= shd_part_remove(&objects[i].part, c->store, objects[i].key);
	return all;
}

int shd_conversion_write(shd_conversion *c, shd_conversion_object *objects, size_t count, sherd_error *err)
{
	batch b = {.conversion = c, .objects = objects};
	return shd_pool_run(c->pool, count, write_part, &b, err);
}

int shd_conversion_open_one(shd_conversion *c, const char *key, uint64_t size_hint, sherd_writer **out,
                            sherd_error *err)
{
	int named = shd_folder_look(c->store, key, err);
	if (named == SHD_NAMES_NOTHING || (named == SHD_NAMES_OBJECT && c->replace))
		return open_object(c, key, c->replace ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW, size_hint, NULL, out,
		                   err);
	if (named == SHD_NAMES_FOLDER)
		named = shd_fail(err, SHERD_EEXIST, "is-folder", "a folder is in its place");
	else if (named > 0)
		named = shd_fail(err, SHERD_EEXIST, "exists", "it exists and may not be replaced");
	return shd_in_object(err, named, key);
}

int shd_conversion_write_one(shd_conversion *c, shd_conversion_object *object, sherd_error *err)
{
	sherd_writer *writer = NULL;
	count_bytes(c, object);
	TRY(shd_conversion_open_one(c, object->key, object->bytes, &writer, err));
	return write_object(c, object, writer, err);
}

/* Can the format hold each of the tensors? What its writer knows better, it refuses itself. */
static int tensors_convert_check_tensors(const sherd_bundle *from, const sherd_format_info *to, sherd_error *err)
{
	size_t count = sherd_bundle_count(from);
	if (count != 1 && !(to->holds & SHERD_HOLDS_MANY))
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "%s holds one tensor, not %zu; %s holds any number", to->noun, count,
		                sherd_format_describe(to->several)->noun);
	for (size_t i = 0; i < count; i++) {
		const sherd_tensor *t = sherd_bundle_tensor(from, i);
		if (!sherd_format_holds(to, t->dtype))
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%s cannot hold %.128s, which is %s",
			                to->name, t->name, sherd_tensor_type(t));
		if (to->most_dims && t->ndim > to->most_dims)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
			                "%s cannot hold %.128s, which has %u dimensions", to->name, t->name, t->ndim);
		if (to->most_name && strlen(t->name) > to->most_name)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
			                "%s cannot hold the name of %.128s, which is longer than %llu bytes", to->name,
			                t->name, (unsigned long long)to->most_name);
	}
	return SHERD_OK;
}

static int tensors_convert(shd_conversion *c, sherd_error *err)
{
	uint64_t total = 0;
	sherd_bundle_options reading = {.pool = c->pool, .progress = c->options->progress};
	TRY(sherd_bundle_prepare(c->from, NULL, 0, &reading, err));
	for (size_t i = 0; i < sherd_bundle_count(c->from); i++)
		total += sherd_bundle_tensor(c->from, i)->bytes;
	shd_meter_init(&c->meter, c->options->progress, total);
	int rc = c->to->write(c, err);
	shd_meter_done(&c->meter);
	shd_arena_done(&c->arena);
	return rc;
}

/* As many as the largest shard that is allowed asks for; tensors that are larger go beyond it. */
static uint32_t shards_of(const sherd_bundle *from, const sherd_convert_options *o)
{
	uint64_t total = 0;
	for (size_t i = 0; o->max_shard_bytes && i < sherd_bundle_count(from); i++)
		total += sherd_bundle_tensor(from, i)->bytes;
	uint64_t needed = o->max_shard_bytes ? total / o->max_shard_bytes + (total % o->max_shard_bytes != 0) : 1;
	needed = needed ? needed : 1;
	return o->shards ? o->shards : needed < UINT32_MAX ? (uint32_t)needed : UINT32_MAX;
}

int sherd_convert(const sherd_bundle *from, sherd_store *store, const char *key, sherd_format to,
                  const sherd_convert_options *options, sherd_error *err)
{
	static const sherd_convert_options defaults;
	const sherd_convert_options *o = options ? options : &defaults;
	const shd_format_entry *entry = shd_format_entry_of(to);
	if (!from || !store || !key)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a bundle, a store and a key are needed");
	if (!entry || !entry->write)
		return shd_fail(err, SHERD_EUNSUPPORTED, "unknown-format", "%s cannot be written",
		                sherd_format_name(to));
	if (!o->drop_graph || entry->info.holds & SHERD_HOLDS_GRAPH)
		TRY(sherd_convert_check(from, to, err));
	if (!o->allow_missing)
		TRY(sherd_bundle_missing(from, err));
	SHD_AUTO(sherd_bundle, sherd_bundle_close) without = NULL;
	if (o->without_updater && !entry->save_model) {
		TRY(sherd_bundle_select(&without, from, &(sherd_bundle_select_options){.without_updater = true}, err));
		from = without;
	}
	TRY(shd_in_object(err, tensors_convert_check_tensors(from, &entry->info, err), key));
	shd_conversion c = {.from = from,
	                    .store = store,
	                    .key = key,
	                    .options = o,
	                    .to = entry,
	                    .shards = shards_of(from, o),
	                    .replace = o->replace,
	                    .pool = o->pool};
	return tensors_convert(&c, err);
}
