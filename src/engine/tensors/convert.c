#include "engine/tensors/convert.h"

#include "base/pool.h"
#include "codec/crc32.h"
#include "engine/tensors/folder.h"
#include "engine/tensors/format.h"

#include <stdlib.h>

#define CHUNK_BYTES (4u << 20)

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

static int copy_tensor(shd_conversion *c, sherd_writer *writer, size_t tensor, void *buf, uint32_t *crc,
                       sherd_error *err)
{
	uint64_t bytes = sherd_bundle_tensor(c->from, tensor)->bytes;
	for (uint64_t at = 0; at < bytes;) {
		size_t n = (size_t)(bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES);
		TRY(sherd_bundle_read(c->from, tensor, at, buf, n, err));
		TRY(sherd_writer_append(writer, buf, n, err));
		if (crc)
			*crc = shd_crc32(*crc, buf, n);
		TRY(shd_meter_add(&c->meter, n, err));
		at += n;
	}
	return SHERD_OK;
}

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
	for (size_t i = 0; i < o->count; i++) {
		uint64_t bytes = sherd_bundle_tensor(c->from, o->tensors[i])->bytes;
		o->bytes += bytes + padding_of(o, bytes);
	}
}

static int pad_tensor(shd_conversion_object *o, sherd_writer *writer, uint64_t bytes, void *buf, sherd_error *err)
{
	uint64_t left = padding_of(o, bytes);
	memset(buf, 0, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES);
	while (left) {
		size_t n = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
		TRY(sherd_writer_append(writer, buf, n, err));
		if (o->summed)
			o->crc32 = shd_crc32(o->crc32, buf, n);
		left -= n;
	}
	return SHERD_OK;
}

/* Commits or aborts the writer. */
static int write_object(shd_conversion *c, shd_conversion_object *o, sherd_writer *to, sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = to;
	SHD_AUTO_FREE void *buf = malloc(CHUNK_BYTES);
	if (!buf)
		return shd_fail_nomem(err);
	TRY(sherd_writer_append(writer, o->head.data, o->head.len, err));
	if (o->summed)
		o->crc32 = shd_crc32(0, o->head.data, o->head.len);
	for (size_t i = 0; i < o->count; i++) {
		TRY(copy_tensor(c, writer, o->tensors[i], buf, o->summed ? &o->crc32 : NULL, err));
		TRY(pad_tensor(o, writer, sherd_bundle_tensor(c->from, o->tensors[i])->bytes, buf, err));
	}
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
	                    .shards = o->shards ? o->shards : 1,
	                    .replace = o->replace,
	                    .pool = o->pool};
	return tensors_convert(&c, err);
}
