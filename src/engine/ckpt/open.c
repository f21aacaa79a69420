/* engine/ckpt/open.c - from a name to an open checkpoint: metadata and heads, no tensor data. */
#include "engine/ckpt/ckpt.h"

#include "base/limits.h"
#include "base/meter.h"
#include "base/pool.h"
#include "base/time.h"
#include "engine/ckpt/metadata.h"
#include "engine/ckpt/together.h"
#include "engine/tensors/blame.h"
#include "format/ckpt/about.h"
#include "format/ckpt/name.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

/* A set that is replaced while it is opened is opened again, this often. */
enum { MOST_TRIES = 16 };

typedef struct opening {
	sherd_ckpt *ckpt;
	sherd_store *store;
	const char *prefix;
	sherd_pool *pool;
	const sherd_progress *progress;
	bool partial;
	shd_meter meter;
} opening;

typedef struct shard_search {
	const char *prefix;
	bool found;
} shard_search;

static bool stop_at_first(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	shard_search *s = arg;
	shd_ckpt_name name = shd_ckpt_name_parse(key);
	s->found = name.kind == SHD_CKPT_NAME_SHARD && shd_str_is(name.prefix, s->prefix);
	return !s->found;
}

/* There is no metadata: is there anything of a save? */
static int nothing_committed(const opening *o, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	sherd_stat stat;
	shard_search shards = {.prefix = o->prefix};
	shd_ckpt_name_claim(&key, o->prefix);
	TRY(shd_buf_check(&key, err));
	sherd_error found = {0};
	int claimed = sherd_store_stat(&stat, o->store, (const char *)key.data, &found);
	if (claimed < 0 && claimed != SHERD_ENOTFOUND && !shd_ckpt_is_no_object(claimed, &found)) {
		if (err)
			*err = found;
		return claimed;
	}
	key.len = 0;
	shd_buf_printf(&key, "%s_shard_", o->prefix);
	TRY(shd_buf_check(&key, err));
	TRY(sherd_store_list(o->store, (const char *)key.data, "", stop_at_first, &shards, err));
	if (claimed == SHERD_OK || shards.found)
		return shd_fail(err, SHERD_EINCOMPLETE, "incomplete", "%s, but no metadata: the set was not committed",
		                shards.found ? "shards are there" : "a save has begun");
	return shd_fail(err, SHERD_ENOTFOUND, "not-found", "no such checkpoint");
}

static int read_metadata(opening *o, sherd_error *err)
{
	sherd_ckpt *c = o->ckpt;
	int rc = shd_ckpt_metadata_read(o->store, o->prefix, &c->limits, &c->arena, &c->meta, c->identity, err);
	return rc == SHERD_ENOTFOUND ? shd_in_object(err, nothing_committed(o, err), o->prefix) : rc;
}

/* Tensors that the metadata leaves out stand in the shard's index. */
static int list_from_index(sherd_ckpt *c, size_t i, sherd_error *err)
{
	shd_ckpt_meta_shard *m = &c->meta.shards[i];
	shd_ckpt_index index;
	bool found;
	/* The arena is shared by the shards: they are listed one after the other. */
	TRY(shd_ckpt_shard_index(&c->files[i], &c->limits, &c->arena, &index, &found, err));
	if (!found)
		return shd_fail(err, SHERD_ECORRUPT, "no-index", "neither metadata nor shard lists its tensors");
	m->entries = index.entries;
	m->count = index.count;
	m->listed = true;
	return SHERD_OK;
}

static int open_one(void *arg, size_t i, sherd_error *err)
{
	opening *o = arg;
	sherd_error found = {0};
	int rc = shd_ckpt_named_shard_open(&o->ckpt->files[i], o->store, o->prefix, &o->ckpt->meta.shards[i], &found);
	if (rc < 0 && o->partial && rc != SHERD_ENOMEM) {
		o->ckpt->lost[i] = found;
	} else if (rc < 0) {
		return shd_pass(err, rc, &found);
	}
	return shd_meter_add(&o->meter, 1, err);
}

/* What the metadata says of a shard that is not open. */
static int describe_lost(sherd_ckpt *c, const char *prefix, size_t i, sherd_error *err)
{
	shd_ckpt_meta_shard *m = &c->meta.shards[i];
	SHD_AUTO_BUF plain = {0};
	if (!m->file) {
		shd_ckpt_name_shard(&plain, shd_str_leaf(prefix), m->rank, NULL);
		TRY(shd_buf_check(&plain, err));
		m->file = shd_arena_str(&c->arena, shd_str_of((const char *)plain.data));
		if (!m->file)
			return shd_fail_nomem(err);
	}
	c->shards[i] = (sherd_ckpt_shard){
		.rank = m->rank,
		.file = m->file,
		.file_size = m->file_size,
		.checksum = m->checksum,
		.tensors = m->count,
	};
	return SHERD_OK;
}

/* object: who listed the tensors */
static int describe_shard(sherd_ckpt *c, const char *object, size_t i, sherd_error *err)
{
	shd_ckpt_meta_shard *m = &c->meta.shards[i];
	ckpt_shard *f = &c->files[i];
	if (!m->listed)
		TRY(list_from_index(c, i, err));
	else if (!c->meta.has_set_id)
		shd_ckpt_entries_place(m->entries, m->count, f->data_size);
	TRY(shd_in_object(err, shd_ckpt_entries_check(m->entries, m->count, f->data_size, &c->arena, err), object));
	char *file = shd_arena_str(&c->arena, shd_str_of(shd_str_leaf(sherd_reader_key(f->reader))));
	if (!file)
		return shd_fail_nomem(err);
	m->file = file;
	c->shards[i] = (sherd_ckpt_shard){
		.rank = m->rank,
		.file = file,
		.file_size = m->file_size,
		.data_offset = f->data_offset,
		.data_size = f->data_size,
		.checksum = m->checksum,
		.tensors = m->count,
	};
	return SHERD_OK;
}

/* A shard whose index is damaged, where only that lists its tensors, is lost as one that is missing. */
static int describe_open(const opening *o, const char *metadata, size_t i, sherd_error *err)
{
	sherd_ckpt *c = o->ckpt;
	sherd_error found = {0};
	bool listed = c->meta.shards[i].listed;
	int rc = describe_shard(c, metadata, i, &found);
	if (rc < 0 && o->partial && !listed && (rc == SHERD_ECORRUPT || rc == SHERD_EIO)) {
		(void)shd_in_reader(&found, rc, c->files[i].reader);
		c->lost[i] = found;
		c->meta.shards[i].count = 0;
		shd_ckpt_shard_done(&c->files[i]);
		return describe_lost(c, o->prefix, i, err);
	}
	return shd_pass(err, rc, &found);
}

static int ckpt_open_make_room(sherd_ckpt *c, sherd_error *err)
{
	c->shard_count = c->meta.count;
	c->files = calloc(c->shard_count + 1, sizeof(*c->files));
	c->crcs = calloc(c->shard_count + 1, sizeof(*c->crcs));
	c->shards = shd_arena_alloc(&c->arena, c->shard_count + 1, sizeof(*c->shards));
	if (!c->files || !c->crcs || !c->shards)
		return shd_fail_nomem(err);
	for (; c->opened < c->shard_count; c->opened++)
		(void)pthread_mutex_init(&c->crcs[c->opened].lock, NULL);
	return SHERD_OK;
}

static void ckpt_open_describe(sherd_ckpt *c)
{
	const shd_ckpt_meta *m = &c->meta;
	c->info = (sherd_ckpt_info){
		.version = m->version,
		.timestamp = m->timestamp,
		.time_ns = m->time_ns,
		.world = m->world,
		.has_set_id = m->has_set_id,
		.sealed = m->seal == SHD_SEAL_GOOD,
		.set_id = m->set_id,
		.about = m->about,
	};
}

static int new_ckpt(sherd_ckpt **out, const sherd_ckpt_options *options, sherd_error *err)
{
	sherd_ckpt *c = calloc(1, sizeof(*c));
	if (!c)
		return shd_fail_nomem(err);
	c->limits = shd_limits_or_default(options ? options->limits : NULL);
	*out = c;
	return SHERD_OK;
}

static int open_shards(opening *o, const char *metadata, sherd_error *err)
{
	sherd_ckpt *c = o->ckpt;
	TRY(shd_meter_ask(&o->meter, err));
	TRY(shd_pool_run(o->pool, c->shard_count, open_one, o, err));
	for (size_t i = 0; i < c->shard_count; i++) {
		TRY(shd_meter_ask(&o->meter, err));
		TRY(c->files[i].reader ? describe_open(o, metadata, i, err) : describe_lost(c, o->prefix, i, err));
	}
	return SHERD_OK;
}

static bool lost_any(const sherd_ckpt *c)
{
	for (size_t i = 0; c->lost && i < c->shard_count; i++)
		if (!c->files[i].reader)
			return true;
	return false;
}

static int ckpt_open_open_once(opening *o, sherd_error *err)
{
	sherd_ckpt *c = o->ckpt;
	SHD_AUTO_BUF key = {0};
	shd_ckpt_name_metadata(&key, o->prefix);
	TRY(shd_buf_check(&key, err));
	TRY(read_metadata(o, err));
	TRY(ckpt_open_make_room(c, err));
	if (o->partial && !(c->lost = calloc(c->shard_count + 1, sizeof(*c->lost))))
		return shd_fail_nomem(err);
	shd_meter_init(&o->meter, o->progress, c->shard_count);
	int rc = open_shards(o, (const char *)key.data, err);
	shd_meter_done(&o->meter);
	TRY(rc);
	ckpt_open_describe(c);
	return shd_in_object(err, shd_ckpt_build_tensors(c, err), (const char *)key.data);
}

/* The shards first, then the tensors. */
static void ckpt_open_tell_lost(const sherd_ckpt *c, const sherd_ckpt_options *options)
{
	const char *const *gone = c->gone.items;
	if (!options || !options->lost)
		return;
	for (size_t i = 0; c->lost && i < c->shard_count; i++)
		if (!c->files[i].reader)
			options->lost(options->lost_arg, &c->lost[i]);
	for (size_t i = 0; i < c->gone.count; i++) {
		sherd_error e = {0};
		(void)shd_fail(&e, SHERD_ECORRUPT, "missing-piece", "tensor '%.128s' is lost", gone[i]);
		options->lost(options->lost_arg, &e);
	}
}

int shd_ckpt_open_prefix(sherd_ckpt **out, sherd_store *store, const char *prefix, const sherd_ckpt_options *options,
                         sherd_error *err)
{
	for (int tries = 1;; tries++) {
		SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
		TRY(new_ckpt(&c, options, err));
		opening o = {.ckpt = c, .store = store, .prefix = prefix};
		if (options) {
			o.pool = options->pool;
			o.progress = options->progress;
		}
		o.partial = options && options->lost;
		int rc = ckpt_open_open_once(&o, err);
		bool changed = rc == SHERD_OK && lost_any(c) && shd_ckpt_metadata_changed(store, prefix, c->identity);
		if (rc == SHERD_OK && (!changed || tries == MOST_TRIES)) {
			ckpt_open_tell_lost(c, options);
			*out = TAKE(c);
			return SHERD_OK;
		}
		if (rc == SHERD_OK)
			continue;
		/* A shard went away under us because the set was replaced or removed: only then is it worth another
		 * try, which opens the new one or finds nothing. */
		if (rc == SHERD_ECANCELLED || tries == MOST_TRIES ||
		    !shd_ckpt_metadata_changed(store, prefix, c->identity))
			return rc;
	}
}

int sherd_ckpt_open(sherd_ckpt **out, sherd_store *store, const char *name, const sherd_ckpt_options *options,
                    sherd_error *err)
{
	shd_ckpt_name parsed = shd_ckpt_name_parse(name);
	SHD_AUTO_BUF prefix = {0};
	if (parsed.kind == SHD_CKPT_NAME_METADATA || parsed.kind == SHD_CKPT_NAME_SHARD)
		shd_buf_append(&prefix, parsed.prefix.ptr, parsed.prefix.len);
	else
		shd_buf_str(&prefix, name);
	TRY(shd_buf_end(&prefix, err));
	return options && options->group ? shd_ckpt_open_together(out, store, (const char *)prefix.data, options, err)
	                                 : shd_ckpt_open_prefix(out, store, (const char *)prefix.data, options, err);
}

/* A shard by itself plays a set of one: what its index does not tell stays unknown. */
static int metadata_of_shard(sherd_ckpt *c, ckpt_shard *f, sherd_error *err)
{
	shd_ckpt_index index = {0};
	bool found;
	char *when = shd_arena_alloc(&c->arena, SHD_TIME_TEXT, 1);
	shd_ckpt_meta_shard *m = shd_arena_alloc(&c->arena, 1, sizeof(*m));
	char *checksum = shd_arena_str(&c->arena, shd_str_of(f->checksum));
	if (!when || !m || !checksum)
		return shd_fail_nomem(err);
	TRY(shd_ckpt_shard_index(f, &c->limits, &c->arena, &index, &found, err));
	when[0] = 0;
	if (found)
		shd_time_format(index.time_ns, when);
	*m = (shd_ckpt_meta_shard){
		.rank = f->rank,
		.file = NULL,
		.file_size = sherd_reader_size(f->reader),
		.checksum = checksum,
		.entries = index.entries,
		.count = index.count,
		.listed = true,
	};
	c->meta = (shd_ckpt_meta){
		.version = "1.0.0",
		.timestamp = when,
		.time_ns = index.time_ns,
		.world = index.world,
		.has_set_id = found,
		.set_id = index.set_id,
		.shards = m,
		.count = 1,
	};
	if (index.about.len)
		TRY(shd_ckpt_about_decode(index.about, &c->limits, &c->arena, &c->meta.about, err));
	return SHERD_OK;
}

/* Pieces of a shard by itself are shown as they are: there is nothing to tile. */
static void forget_wholes(sherd_ckpt *c)
{
	for (size_t i = 0; i < c->meta.shards[0].count; i++) {
		c->meta.shards[0].entries[i].global_shape = NULL;
		c->meta.shards[0].entries[i].global_offset = NULL;
	}
}

/* The shard does not describe its tensors: the metadata beside it may. *m stays NULL where it does not name this file.
 */
static int find_in_metadata(sherd_ckpt *c, sherd_store *store, const char *key, shd_ckpt_meta_shard **m,
                            sherd_error *err)
{
	shd_ckpt_name name = shd_ckpt_name_parse(key);
	SHD_AUTO_BUF prefix = {0};
	SHD_DONE(shd_map_done) shd_map files = {0};
	char identity[72];
	if (name.kind != SHD_CKPT_NAME_SHARD)
		return SHERD_OK;
	shd_buf_append(&prefix, name.prefix.ptr, name.prefix.len);
	TRY(shd_buf_end(&prefix, err));
	const char *text = (const char *)prefix.data;
	int rc = shd_ckpt_metadata_read(store, text, &c->limits, &c->arena, &c->meta, identity, err);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	TRY(rc);
	TRY(shd_ckpt_metadata_files(&c->meta, text, &c->arena, &files, err));
	size_t at = shd_map_find(&files, shd_str_of(shd_str_leaf(key)));
	if (at != SHD_MAP_NONE && c->meta.shards[at].listed)
		*m = &c->meta.shards[at];
	return SHERD_OK;
}

/* Opened again as the metadata names it, so that size and head are those of the set. */
static int open_by_metadata(sherd_ckpt *c, sherd_store *store, const char *key, ckpt_shard *f, sherd_error *err)
{
	shd_ckpt_meta_shard *m = NULL;
	TRY(find_in_metadata(c, store, key, &m, err));
	if (!m)
		return shd_fail(err, SHERD_EINCOMPLETE, "no-index",
		                "the shard does not describe its %" PRIu32 " tensor%s, and no metadata beside it does",
		                f->tensors, f->tensors == 1 ? "" : "s");
	shd_ckpt_name name = shd_ckpt_name_parse(key);
	SHD_AUTO_BUF prefix = {0};
	shd_buf_append(&prefix, name.prefix.ptr, name.prefix.len);
	TRY(shd_buf_end(&prefix, err));
	ckpt_shard named;
	TRY(shd_ckpt_named_shard_open(&named, store, (const char *)prefix.data, m, err));
	shd_ckpt_shard_done(f);
	*f = named;
	c->meta.shards = m;
	c->meta.count = 1;
	return SHERD_OK;
}

static int open_alone(sherd_ckpt *c, sherd_store *store, const char *key, sherd_error *err)
{
	ckpt_shard f;
	TRY(shd_ckpt_shard_open(&f, store, key, 0, err));
	int rc = metadata_of_shard(c, &f, err);
	if (rc == SHERD_OK && !c->meta.has_set_id && f.tensors)
		rc = open_by_metadata(c, store, key, &f, err);
	if (rc == SHERD_OK)
		rc = ckpt_open_make_room(c, err);
	if (rc < 0) {
		shd_ckpt_shard_done(&f);
		return rc;
	}
	c->files[0] = f;
	forget_wholes(c);
	TRY(describe_shard(c, key, 0, err));
	ckpt_open_describe(c);
	return shd_ckpt_build_tensors(c, err);
}

int sherd_ckpt_open_shard(sherd_ckpt **out, sherd_store *store, const char *key, const sherd_ckpt_options *options,
                          sherd_error *err)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	TRY(new_ckpt(&c, options, err));
	TRY(shd_in_object(err, open_alone(c, store, key, err), key));
	*out = TAKE(c);
	return SHERD_OK;
}

void sherd_ckpt_close(sherd_ckpt *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->opened; i++) {
		shd_ckpt_shard_done(&c->files[i]);
		shd_arena_done(&c->crcs[i].arena);
		(void)pthread_mutex_destroy(&c->crcs[i].lock);
	}
	free(c->files);
	free(c->crcs);
	free(c->lost);
	shd_vec_done(&c->gone);
	shd_map_done(&c->names);
	shd_arena_done(&c->arena);
	sherd_store_close(c->relay);
	free(c);
}

const sherd_ckpt_info *sherd_ckpt_describe(const sherd_ckpt *ckpt)
{
	return &ckpt->info;
}

size_t sherd_ckpt_shards(const sherd_ckpt *ckpt)
{
	return ckpt->shard_count;
}

const sherd_ckpt_shard *sherd_ckpt_shard_at(const sherd_ckpt *ckpt, size_t index)
{
	return index < ckpt->shard_count ? &ckpt->shards[index] : NULL;
}

size_t sherd_ckpt_count(const sherd_ckpt *ckpt)
{
	return ckpt->count;
}

const sherd_tensor *sherd_ckpt_tensor(const sherd_ckpt *ckpt, size_t index)
{
	return index < ckpt->count ? &ckpt->tensors[index] : NULL;
}

size_t sherd_ckpt_find(const sherd_ckpt *ckpt, const char *name)
{
	size_t at = shd_map_find(&ckpt->names, shd_str_of(name));
	return at == SHD_MAP_NONE ? SHERD_NO_TENSOR : at;
}

size_t sherd_ckpt_pieces(const sherd_ckpt_piece **out, const sherd_ckpt *ckpt, size_t tensor)
{
	if (tensor >= ckpt->count)
		return 0;
	*out = ckpt->pieces + ckpt->first_piece[tensor];
	return ckpt->first_piece[tensor + 1] - ckpt->first_piece[tensor];
}
