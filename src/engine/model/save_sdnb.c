#include "base/buf.h"
#include "engine/publish/claim.h"
#include "engine/publish/part.h"
#include "engine/model/sdnb.h"
#include "engine/model/sdnb_out.h"

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

#define CLAIM ".sdnb.saving" /* after the base of a set */

/* Whose workers, and what they count. */
typedef struct sdnb_saving {
	sherd_pool *pool;
	shd_meter meter;
} sdnb_saving;

static int write_file(const shd_sdnb_out *out, sherd_store *store, const char *key, sherd_write_mode mode,
                      shd_part *part, sdnb_saving *how, sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	shd_sdnb_target target = {.pool = how->pool, .meter = &how->meter};
	size_t part_bytes;
	const sherd_write_options options = {.mode = mode, .size_hint = out->size, .identity = part->identity};
	TRY(sherd_store_write(&writer, store, key, &options, err));
	TRY(sherd_writer_places(&part_bytes, writer, err));
	target.writer = writer;
	TRY(shd_sdnb_put(out, &target, NULL, err));
	int rc = sherd_writer_commit(TAKE(writer), err);
	shd_part_written(part, rc);
	return rc;
}

/* A set being written. */
typedef struct set {
	sherd_store *store;
	shd_str base;
	const char *whole; /* the key that was given: a file of this name would hide the set */
	uint32_t files;
	shd_part *parts; /* by file */
	shd_buf key;
	shd_claim claim;
} set;

static int name(set *s, uint32_t index, sherd_error *err)
{
	s->key.len = 0;
	shd_buf_append(&s->key, s->base.ptr, s->base.len);
	shd_buf_printf(&s->key, ".shard%u-of-%u" SHD_SDNB_SUFFIX, index, s->files);
	shd_buf_u8(&s->key, 0);
	return shd_buf_check(&s->key, err);
}

static int save_sdnb_exists(set *s, const char *key, bool *out, sherd_error *err)
{
	sherd_stat stat;
	sherd_error failure;
	int rc = sherd_store_stat(&stat, s->store, key, &failure);
	*out = rc == SHERD_OK;
	if (rc < 0 && rc != SHERD_ENOTFOUND && err)
		*err = failure;
	return rc == SHERD_ENOTFOUND ? SHERD_OK : rc;
}

/* Nothing may stand there that a reader would take for a set, or for this model: neither can be exchanged for the set
 * in one step. */
static int check_free(set *s, shd_arena *arena, sherd_error *err)
{
	shd_sdnb_files files = {0};
	sherd_error found;
	bool there;
	TRY(save_sdnb_exists(s, s->whole, &there, err));
	if (there)
		return shd_in_object(err,
		                     shd_fail(err, SHERD_EEXIST, "cannot-replace",
		                              "one file of this name would hide the shards: remove it first"),
		                     s->whole);
	int rc = shd_sdnb_find(s->store, s->whole, NULL, arena, &files, &found);
	/* Of a set that lacks a file all but the first may be what a dead save has left. */
	if (rc == SHERD_EINCOMPLETE || rc == SHERD_ENOTFOUND || rc == SHERD_EINVAL) {
		for (uint32_t i = 0; i < s->files; i++) {
			TRY(name(s, i, err));
			TRY(save_sdnb_exists(s, (const char *)s->key.data, &there, err));
			if (there)
				return shd_in_object(err,
				                     shd_fail(err, SHERD_EEXIST, "cannot-replace",
				                              "a file of an unfinished set: remove it first"),
				                     (const char *)s->key.data);
		}
		return SHERD_OK;
	}
	if (rc == SHERD_OK)
		return shd_in_object(err,
		                     shd_fail(err, SHERD_EEXIST, "cannot-replace",
		                              "a set is there, and shards of SDNB cannot be replaced: remove "
		                              "them, or choose another name"),
		                     files.keys[0]);
	return shd_pass(err, rc, &found);
}

static void put_claim(shd_buf *out, uint32_t files)
{
	for (uint32_t i = 0; i < files; i++)
		shd_buf_printf(out, ".shard%u-of-%u" SHD_SDNB_SUFFIX "\n", i, files);
}

/* How many files a claim speaks of; 0 when it is not the text of one. */
static int files_of_claim(shd_str text, uint32_t *out, sherd_error *err)
{
	SHD_AUTO_BUF first = {0}, all = {0};
	shd_sdnb_name parsed;
	const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
	*out = 0;
	if (!end)
		return SHERD_OK;
	shd_buf_u8(&first, 'x');
	shd_buf_append(&first, text.ptr, (size_t)(end - text.ptr));
	TRY(shd_buf_check(&first, err));
	/* Each file has a line as long as the first one's, or longer. */
	if (!shd_sdnb_name_parse((shd_str){(const char *)first.data, first.len}, &parsed) ||
	    parsed.count > text.len / first.len)
		return SHERD_OK;
	put_claim(&all, parsed.count);
	TRY(shd_buf_check(&all, err));
	*out = all.len == text.len && memcmp(all.data, text.ptr, text.len) == 0 ? parsed.count : 0;
	return SHERD_OK;
}

/* Where nobody can lock, a slow save would not notice: its first file has no place to be vacant in. */
static int save_sdnb_may_clear(void *arg, shd_str text, sherd_error *err)
{
	(void)arg, (void)text;
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody may be saving; remove this object if that is dead");
}

/* What a dead save left: its files, unless the first one made them a set. */
static int save_sdnb_clear_dead(void *arg, shd_str text, sherd_error *err)
{
	const set *s = arg;
	set dead = {.store = s->store, .base = s->base};
	bool committed = true;
	int rc = files_of_claim(text, &dead.files, err);
	if (rc == SHERD_OK && dead.files)
		rc = name(&dead, 0, err);
	if (rc == SHERD_OK && dead.files)
		rc = save_sdnb_exists(&dead, (const char *)dead.key.data, &committed, err);
	for (uint32_t i = 1; rc == SHERD_OK && !committed && i < dead.files; i++) {
		rc = name(&dead, i, err);
		if (rc == SHERD_OK)
			rc = sherd_store_remove(s->store, (const char *)dead.key.data, err);
	}
	shd_buf_done(&dead.key);
	return rc;
}

/* Names that are taken are found before the claim lists them, and again after: no file of another's is ever listed.
 * Those of a save that lives by now are in nobody's way but its claim. */
static int save_sdnb_claim(set *s, shd_arena *arena, sherd_error *err)
{
	SHD_AUTO_BUF key = {0}, text = {0};
	shd_buf_append(&key, s->base.ptr, s->base.len);
	shd_buf_append(&key, CLAIM, sizeof(CLAIM));
	put_claim(&text, s->files);
	TRY(shd_buf_check(&key, err));
	TRY(shd_buf_check(&text, err));
	const char *name = (const char *)key.data;
	sherd_error failure;
	bool saving;
	const shd_claim_rules rules = {.mode = SHERD_LOCK_EXCLUSIVE,
	                               .may_clear = save_sdnb_may_clear,
	                               .clear = save_sdnb_clear_dead,
	                               .arg = s};
	TRY(shd_claim_clear(s->store, name, &rules, err));
	int rc = check_free(s, arena, &failure);
	if (rc < 0) {
		TRY(save_sdnb_exists(s, name, &saving, err));
		if (!saving && err)
			*err = failure;
		if (!saving)
			return rc;
	}
	return shd_claim_take(&s->claim, s->store, name, &text, &rules, err);
}

static int save_sdnb_write(set *s, uint32_t index, const shd_sdnb_out *out, sdnb_saving *how, sherd_error *err)
{
	TRY(name(s, index, err));
	return write_file(out, s->store, (const char *)s->key.data, SHERD_WRITE_NEW, &s->parts[index], how, err);
}

/* Arrays first; the first file, which has the graph, makes them a set. */
static int write_set(set *s, const shd_sdnb_out *out, sdnb_saving *how, sherd_error *err)
{
	for (uint32_t i = 1; i < s->files; i++)
		TRY(save_sdnb_write(s, i, &out[i], how, err));
	TRY(shd_claim_check(&s->claim, err));
	return save_sdnb_write(s, 0, &out[0], how, err);
}

/* A set of another number of files may have come, of a save whose claim somebody removed: who came later gives way, and
 * so does who cannot tell. */
static int save_sdnb_check_alone(set *s, shd_arena *arena, sherd_error *err)
{
	shd_sdnb_files files = {0};
	sherd_error found = {0};
	int rc = shd_sdnb_find(s->store, s->whole, NULL, arena, &files, &found);
	if (rc == SHERD_ECORRUPT && strcmp(found.reason, "two-sets") == 0)
		rc = shd_in_object(
			&found,
			shd_fail(&found, SHERD_ECONFLICT, "conflict", "somebody else saved under this name meanwhile"),
			s->whole);
	else if (rc != SHERD_ENOMEM && rc != SHERD_EIO)
		return SHERD_OK;
	if (name(s, 0, NULL) == SHERD_OK)
		(void)shd_part_remove(&s->parts[0], s->store, (const char *)s->key.data);
	return shd_pass(err, rc, &found);
}

/* After a failure. False: the first file is there, ours or not, or nobody can tell; or one could not be removed. */
static bool remove_written(set *s)
{
	bool there = true, all = true;
	if (name(s, 0, NULL) < 0 || save_sdnb_exists(s, (const char *)s->key.data, &there, NULL) < 0 || there)
		return false;
	for (uint32_t i = 1; i < s->files; i++)
		all &= name(s, i, NULL) == SHERD_OK &&
		       shd_part_remove(&s->parts[i], s->store, (const char *)s->key.data);
	return all;
}

static int save_set(const shd_sdnb_out *out, sherd_store *store, const char *key, uint32_t files, sdnb_saving *how,
                    shd_arena *arena, sherd_error *err)
{
	set s = {.store = store, .base = shd_str_of(key), .files = files, .whole = key};
	if (shd_str_ends(s.base, SHD_SDNB_SUFFIX))
		s.base.len -= strlen(SHD_SDNB_SUFFIX);
	s.parts = shd_arena_alloc(arena, files, sizeof(*s.parts));
	if (!s.parts)
		return shd_fail_nomem(err);
	memset(s.parts, 0, files * sizeof(*s.parts));
	int rc = save_sdnb_claim(&s, arena, err);
	if (rc == SHERD_OK)
		rc = check_free(&s, arena, err);
	bool left = false;
	if (rc == SHERD_OK) {
		rc = write_set(&s, out, how, err);
		if (rc == SHERD_OK)
			rc = save_sdnb_check_alone(&s, arena, err);
		/* A first file without an answer may come yet. */
		left = rc == SHERD_EUNKNOWN || (rc < 0 && !remove_written(&s));
	}
	if (left)
		shd_claim_leave(&s.claim);
	else
		(void)shd_claim_drop(&s.claim, NULL);
	shd_buf_done(&s.key);
	return rc;
}

int shd_model_save_sdnb(const sherd_model *model, sherd_store *store, const char *key,
                        const sherd_model_save_options *o, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	uint32_t files = o->shards > 1 ? o->shards : 1;
	uint64_t total = 0;
	shd_sdnb_out *out;
	sdnb_saving how = {.pool = o->pool};
	shd_part part = {0};
	TRY(shd_sdnb_lay_out(model, o, files, &arena, &out, err));
	for (uint32_t i = 0; i < files; i++)
		total += out[i].size;
	shd_meter_init(&how.meter, o->progress, total);
	int rc = files > 1 ? save_set(out, store, key, files, &how, &arena, err)
	                   : write_file(out, store, key, o->replace ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW, &part,
	                                &how, err);
	shd_meter_done(&how.meter);
	if (rc == SHERD_OK && o->written)
		*o->written = total;
	return rc;
}
