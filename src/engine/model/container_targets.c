#include "engine/model/container_writer.h"

#include <sherd/ckpt.h>

#include <stdlib.h>

#define PACKED_UNKNOWN ((uint64_t)8 << 20)
enum { FRONT = 4 << 10 }; /* before the arrays, and more */

/* ---- planning */

static int name_targets(sherd_model_writer *w, sherd_error *err)
{
	if (!w->shards.count) {
		w->targets[0].key = w->key;
		return SHERD_OK;
	}
	for (uint32_t i = 0; i < w->shards.count; i++) {
		SHD_AUTO_BUF name = {0};
		shd_container_name_put(&name, w->base, i, w->shards.count, w->shards.generation);
		TRY(shd_buf_check(&name, err));
		w->targets[i].key = shd_arena_str(&w->arena, (shd_str){(const char *)name.data, name.len});
		if (!w->targets[i].key)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

static int container_targets_spread(sherd_model_writer *w, uint32_t targets, sherd_error *err)
{
	size_t count = w->parts.count;
	SHD_AUTO_FREE uint64_t *bytes = calloc(count + 1, sizeof(uint64_t));
	w->target_of = shd_arena_alloc(&w->arena, count + 1, sizeof(*w->target_of));
	if (!bytes || !w->target_of)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		bytes[i] = w->parts.list[i].a.tensor.bytes;
	TRY(sherd_plan_whole(w->target_of, bytes, count, targets, err));
	for (size_t i = 0; i < count; i++) {
		container_target *t = &w->targets[w->target_of[i]];
		w->parts.list[i].a.shard = w->target_of[i];
		t->left += bytes[i] != 0;
		if (__builtin_add_overflow(t->bytes, bytes[i], &t->bytes) || t->bytes > INT64_MAX)
			return shd_fail(err, SHERD_EINVAL, "overflow", "more bytes than a file can have");
	}
	return SHERD_OK;
}

int shd_container_targets_plan(sherd_model_writer *w, uint32_t shards, sherd_error *err)
{
	uint32_t targets = shards > 1 ? shards : 1;
	w->targets = calloc(targets, sizeof(*w->targets));
	w->peers = calloc(targets, sizeof(*w->peers));
	if (!w->targets || !w->peers)
		return shd_fail_nomem(err);
	w->shards.count = shards > 1 ? shards : 0;
	TRY(shd_container_place_look(w, err));
	TRY(name_targets(w, err));
	return container_targets_spread(w, targets, err);
}

/* ---- files */

/* Shards have names that are not taken, but the first one, which may take the place of the one that was seen. */
static sherd_write_options options_of(sherd_model_writer *w, uint32_t target)
{
	bool over = !target && (w->shards.count ? w->over_first : w->replace);
	sherd_write_options o = {.mode = over ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                         .like = w->like,
	                         .identity = w->targets[target].part.identity};
	/* What is packed may come to much less, and what is large is not made long for nothing. */
	o.size_hint = w->level && w->targets[target].bytes > PACKED_UNKNOWN ? 0 : FRONT + w->targets[target].bytes;
	if (!target && over)
		o.if_identity = w->shards.count ? w->first_identity : w->if_identity;
	return o;
}

int shd_container_target_begin(sherd_model_writer *w, uint32_t target, sherd_error *err)
{
	container_target *t = &w->targets[target];
	const sherd_write_options options = options_of(w, target);
	if (t->out.writer || t->committed)
		return SHERD_OK;
	TRY(shd_container_out_begin(&t->out, w->store, t->key, &options, err));
	t->out.digest = w->digest;
	if (!target && w->kept)
		t->out.head.compatible = w->kept->file->head.compatible;
	return SHERD_OK;
}

/* The arrays that the index of one file tells of: its own with their chunks, and in the first one all others without.
 */
typedef struct told {
	SHD_VEC(shd_container_array) list;
	SHD_VEC(size_t) parts; /* whose they are */
	size_t *order;         /* by entry of the index */
	shd_buf index;
} told;

static void told_done(told *t)
{
	shd_vec_done(&t->list);
	shd_vec_done(&t->parts);
	free(t->order);
	shd_buf_done(&t->index);
}

static int told_make(const sherd_model_writer *w, uint32_t target, told *t, sherd_error *err)
{
	for (size_t i = 0; i < w->parts.count; i++) {
		shd_container_array a = w->parts.list[i].a;
		if (w->target_of[i] == target) {
			a.chunks = w->parts.list[i].chunks.items;
			a.chunk_count = (uint32_t)w->parts.list[i].chunks.count;
		} else if (target) {
			continue;
		}
		shd_vec_push(&t->list, a);
		shd_vec_push(&t->parts, i);
	}
	TRY(shd_vec_check(&t->list, err));
	TRY(shd_vec_check(&t->parts, err));
	t->order = calloc(t->list.count + 1, sizeof(*t->order));
	if (!t->order)
		return shd_fail_nomem(err);
	return shd_container_index_encode(t->list.items, t->list.count, &t->index, t->order, err);
}

/* The values of the arrays that an index tells of. */
typedef struct valued {
	SHD_VEC(shd_digest_array) arrays;
	SHD_VEC(shd_digest_value) chunks;
} valued;

static int valued_make(const sherd_model_writer *w, const told *t, valued *v, sherd_error *err)
{
	for (size_t i = 0; i < t->list.count; i++) {
		const shd_container_array *a = &t->list.items[t->order[i]];
		const container_part *p = &w->parts.list[t->parts.items[t->order[i]]];
		const uint8_t *e = t->index.data + SHD_CONTAINER_INDEX_HEAD + i * SHD_CONTAINER_ENTRY;
		shd_digest_array told_of = {.first = v->chunks.count};
		shd_container_entry entry;
		TRY(shd_container_entry_decode(e, i, t->list.count, t->index.len, &entry, err));
		TRY(shd_digest_of_array(t->index.data + entry.offset, entry.length, p->values.items, a->chunk_count,
		                        &told_of.value, err));
		shd_vec_push(&v->arrays, told_of);
		for (uint32_t c = 0; c < a->chunk_count; c++)
			shd_vec_push(&v->chunks, p->values.items[c]);
	}
	TRY(shd_vec_check(&v->arrays, err));
	return shd_vec_check(&v->chunks, err);
}

static int put_digests(sherd_model_writer *w, uint32_t target, const told *t, sherd_error *err)
{
	valued v = {0};
	int rc = valued_make(w, t, &v, err);
	if (rc == SHERD_OK)
		rc = shd_container_out_digests(&w->targets[target].out, w->set, v.arrays.items, v.arrays.count,
		                               v.chunks.items, v.chunks.count, err);
	shd_vec_done(&v.arrays);
	shd_vec_done(&v.chunks);
	return rc;
}

static int put_index(sherd_model_writer *w, uint32_t target, sherd_error *err)
{
	SHD_DONE(told_done) told t = {0};
	TRY(told_make(w, target, &t, err));
	TRY(shd_container_out_section(&w->targets[target].out, SHD_SECTION_ARRAYS, t.index.data, t.index.len, 0, err));
	return w->digest ? put_digests(w, target, &t, err) : SHERD_OK;
}

static int put_shard_info(sherd_model_writer *w, uint32_t target, sherd_error *err)
{
	SHD_AUTO_BUF raw = {0};
	shd_container_shards info = w->shards;
	if (!info.count)
		return SHERD_OK;
	info.shard = target;
	info.peers = w->peers + 1;
	shd_container_shards_encode(&info, &raw);
	TRY(shd_buf_check(&raw, err));
	return shd_container_out_section(&w->targets[target].out, SHD_SECTION_SHARD_INFO, raw.data, raw.len, 0, err);
}

static int put_kept(sherd_model_writer *w, container_out *out, sherd_error *err)
{
	const container_file *from = w->kept ? w->kept->file : NULL;
	for (uint32_t i = 0; from && i < from->head.count; i++)
		if (from->head.sections[i].type > SHD_SECTION_SHARD_INFO &&
		    (!from->table || from->head.sections[i].type != SHD_SECTION_DIGESTS))
			TRY(shd_container_out_copy(out, from, &from->head.sections[i], err));
	return SHERD_OK;
}

/* Is our first file there? 1, 0, or < 0 when nobody can tell. */
static int has_first(sherd_model_writer *w)
{
	SHD_AUTO(container_file, shd_container_file_close) f = NULL;
	int rc = shd_container_file_open(&f, w->store, w->targets[0].key, NULL, NULL);
	if (rc < 0)
		return rc == SHERD_ENOTFOUND ? 0 : rc;
	const char *identity = sherd_reader_identity(f->reader);
	const char *base = w->shards.count ? w->first_identity : w->file_identity;
	shd_container_shards info = {0};
	if (w->shards.count)
		TRY(shd_container_file_shards(f, &w->arena, &info, NULL));
	/* The same model has the same set id whoever saves it, but not the same parts. */
	bool ours = memcmp(f->head.set, w->set, sizeof(w->set)) == 0 && strcmp(identity, base) != 0 &&
	            info.generation == w->shards.generation;
	if (ours)
		memcpy(w->targets[0].part.identity, identity, strlen(identity) + 1);
	return ours;
}

/* The bytes are gone with the writer, so a write that was lost is not repeated: what it would name stays. */
static int settle_first(sherd_model_writer *w, int rc)
{
	if (rc != SHERD_EUNKNOWN)
		return rc;
	w->unknown = has_first(w) <= 0;
	return w->unknown ? rc : SHERD_OK;
}

static int container_targets_finish(sherd_model_writer *w, uint32_t target, sherd_error *err)
{
	container_target *t = &w->targets[target];
	TRY(shd_container_target_begin(w, target, err));
	shd_container_out_end_data(&t->out);
	if (!target) {
		TRY(shd_container_out_section(&t->out, SHD_SECTION_METADATA, w->pairs.data, w->pairs.len, w->level,
		                              err));
		TRY(shd_container_out_section(&t->out, SHD_SECTION_GRAPH, w->parts.graph, w->parts.graph_len, w->level,
		                              err));
		TRY(put_kept(w, &t->out, err));
	}
	TRY(put_shard_info(w, target, err));
	TRY(put_index(w, target, err));
	if (!target && w->claim.store)
		TRY(shd_claim_check(&w->claim, err));
	w->publishing = !target;
	int rc = shd_container_out_finish(&t->out, w->set, &w->peers[target], err);
	if (rc == SHERD_EEXIST && target)
		rc = shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody else writes a shard of this name");
	rc = target ? rc : settle_first(w, rc);
	shd_part_written(&t->part, rc);
	TRY(rc);
	t->committed = true;
	return SHERD_OK;
}

int shd_container_target_finish(sherd_model_writer *w, uint32_t target, sherd_error *err)
{
	return shd_in_object(err, container_targets_finish(w, target, err), w->targets[target].key);
}

/* ---- what goes */

static bool is_ours(const sherd_model_writer *w, const char *key)
{
	for (uint32_t i = 0; i < w->shards.count; i++)
		if (strcmp(w->targets[i].key, key) == 0)
			return true;
	return false;
}

/* The file that the new set was hidden by. When it stays, so that the old model is opened, nothing of the new one does;
 * it may go yet when nobody answered, and then the new one is all there is. */
static int remove_file(sherd_model_writer *w, sherd_error *err)
{
	sherd_error failure = {0};
	int rc = sherd_store_remove_if(w->store, w->key, w->file_identity, &failure);
	if (rc == SHERD_OK)
		return SHERD_OK;
	w->unknown = rc == SHERD_EUNKNOWN;
	for (uint32_t i = 0; i < w->shards.count && !w->old.count && !w->unknown; i++)
		(void)shd_part_remove(&w->targets[i].part, w->store, w->targets[i].key);
	return shd_pass(err, rc, &failure);
}

/* Another save, whose claim somebody removed, was first: the set that was just made goes again. */
static int withdraw(sherd_model_writer *w, sherd_error *err)
{
	if (sherd_store_remove_if(w->store, w->targets[0].key, w->targets[0].part.identity, NULL) == SHERD_OK)
		for (uint32_t i = 1; i < w->shards.count; i++)
			(void)shd_part_remove(&w->targets[i].part, w->store, w->targets[i].key);
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody else saved under this name meanwhile");
}

/* A shard 0 of a new name does not stand beside one that another save made: who came later gives way. */
static int container_targets_check_alone(sherd_model_writer *w, sherd_error *err)
{
	const char *found = NULL;
	sherd_error failure = {0};
	int rc = shd_container_find_set(w->store, w->base, &w->arena, &found, &failure);
	bool other = rc == SHERD_OK && strcmp(found, w->targets[0].key) != 0;
	return other || (rc == SHERD_ECORRUPT && strcmp(failure.reason, "two-sets") == 0) ? withdraw(w, err) : SHERD_OK;
}

/* Files of the old set, and what lay beside it: each only if it is still the one that was listed. Manifests first: what
 * they tell of must not go before them, and who exchanges one in the same moment was first. */
static int remove_old(sherd_model_writer *w, bool others, sherd_error *err)
{
	for (size_t i = 0; i < w->old.count; i++) {
		const container_listed *f = &w->old.files[i];
		if ((f->name.shard != 0) != others || is_ours(w, f->key))
			continue;
		int rc = sherd_store_remove_if(w->store, f->key, f->identity, NULL);
		if (rc == SHERD_ECONFLICT && !others && w->shards.count && !w->over_first)
			return withdraw(w, err);
	}
	return SHERD_OK;
}

int shd_container_targets_clear(sherd_model_writer *w, sherd_error *err)
{
	if (w->shards.count && !w->over_first)
		TRY(container_targets_check_alone(w, err));
	if (w->over_file)
		TRY(remove_file(w, err));
	TRY(remove_old(w, false, err));
	return remove_old(w, true, err);
}

void shd_container_targets_abort(sherd_model_writer *w)
{
	if (!w->targets)
		return;
	uint32_t count = w->shards.count ? w->shards.count : 1;
	for (uint32_t i = 0; i < count; i++)
		shd_container_out_abort(&w->targets[i].out);
	if (count == 1 || w->targets[0].committed || w->unknown || (w->publishing && has_first(w)))
		return;
	for (uint32_t i = 1; i < count; i++)
		w->unknown |= !shd_part_remove(&w->targets[i].part, w->store, w->targets[i].key);
}
