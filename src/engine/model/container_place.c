/* engine/model/container_place.c - what stands under the name that a save was given, and may it be replaced?
 *
 * A key names the file that is called so. When there is none it names the set whose base it is; and a key that ends
 * with .sdc, when it is no base either, the set whose base it is without the ending (shd_container_base()). */
#include "engine/model/container_writer.h"

#include <stdio.h>

static int container_place_exists(sherd_error *err, const char *key, const char *what)
{
	return shd_in_object(err, shd_fail(err, SHERD_EEXIST, "exists", "%s is there already", what), key);
}

/* A shard 0 that was replaced and is still there goes before a new one comes: that names the one set that it replaces,
 * and beside a third one nobody could tell which of them counts. Other shards may be those of a save that lives though
 * somebody removed its claim: they go when the new set is there. */
static int clear_strays(const sherd_model_writer *w, const shd_container_shards *set, sherd_error *err)
{
	for (size_t i = 0; i < w->old.count; i++) {
		bool ours = false;
		if (w->old.files[i].name.shard != 0)
			continue;
		TRY(shd_container_is_of_set(w->base, set, &w->old.files[i], &ours, err));
		if (!ours)
			TRY(sherd_store_remove_if(w->store, w->old.files[i].key, w->old.files[i].identity, err));
	}
	return SHERD_OK;
}

/* A number that the names of none of these have, and none that is smaller than `least`. */
static int choose_generation(sherd_model_writer *w, uint32_t least, sherd_error *err)
{
	const char *last = NULL;
	w->shards.generation = least;
	for (size_t i = 0; i < w->old.count; i++) {
		const shd_container_name *n = &w->old.files[i].name;
		if (n->count != w->shards.count || n->generation < w->shards.generation)
			continue;
		if (__builtin_add_overflow(n->generation, 1, &w->shards.generation))
			last = w->old.files[i].key;
	}
	if (!last)
		return SHERD_OK;
	return shd_in_object(err,
	                     shd_fail(err, SHERD_EEXIST, "cannot-replace",
	                              "no larger number is left for new shards: remove it first"),
	                     last);
}

static bool is_source(const sherd_model_writer *w, const container_file *f)
{
	return w->kept && memcmp(w->kept->file->head.set, f->head.set, sizeof(f->head.set)) == 0;
}

static int replaced(sherd_error *err, const char *key)
{
	return shd_in_object(err, shd_fail(err, SHERD_ECONFLICT, "replaced", "the model was replaced meanwhile"), key);
}

/* The set that is replaced: its identity, when it has another number of shards, or its generation. */
static int take_old(sherd_model_writer *w, const char *key, sherd_error *err)
{
	SHD_AUTO(container_file, shd_container_file_close) f = NULL;
	shd_container_shards info;
	int rc = shd_container_file_open(&f, w->store, key, NULL, err);
	if (rc == SHERD_ENOTFOUND) /* though it was listed */
		return replaced(err, key);
	TRY(rc);
	TRY(shd_container_file_shards(f, &w->arena, &info, err));
	const char *identity = sherd_reader_identity(f->reader);
	if (w->if_identity && strcmp(w->if_identity, identity) != 0)
		return replaced(err, key);
	w->like = key;
	if (info.count == w->shards.count) {
		TRY(choose_generation(w, info.generation + (info.generation < UINT32_MAX), err));
		w->over_first = true;
		(void)snprintf(w->first_identity, sizeof(w->first_identity), "%s", identity);
	} else {
		memcpy(w->shards.replaces, f->head.set, sizeof(w->shards.replaces));
	}
	w->own = is_source(w, f);
	return clear_strays(w, &info, err);
}

static int look_for_set(sherd_model_writer *w, sherd_error *err)
{
	const char *first = NULL;
	sherd_error failure = {0};
	TRY(shd_container_list(w->store, w->base, &w->arena, &w->old, err));
	TRY(choose_generation(w, 0, err));
	int rc = shd_container_find_set(w->store, w->base, &w->arena, &first, &failure);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return SHERD_OK;
	if (rc == SHERD_OK && !w->replace)
		rc = container_place_exists(&failure, first, "a model in shards");
	if (rc == SHERD_OK)
		return take_old(w, first, err);
	return shd_pass(err, rc, &failure);
}

/* 1 when an object is called as the name that was given. */
static int find_file(sherd_model_writer *w, sherd_error *err)
{
	sherd_stat stat;
	sherd_error failure = {0};
	int rc = sherd_store_stat(&stat, w->store, w->key, &failure);
	if (rc == SHERD_ENOTFOUND)
		return 0;
	if (rc == SHERD_OK && !w->replace)
		rc = container_place_exists(&failure, w->key, "it");
	if (rc == SHERD_OK) {
		(void)snprintf(w->file_identity, sizeof(w->file_identity), "%s", stat.identity);
		return 1;
	}
	return shd_pass(err, rc, &failure);
}

/* A set whose shards are written anew leaves a file beside it alone, which is another model. */
static int look_under_set(sherd_model_writer *w, sherd_error *err)
{
	TRY(shd_container_claim_take(&w->claim, w->store, w->base, err));
	TRY(look_for_set(w, err));
	if (w->own)
		return SHERD_OK;
	int file = find_file(w, err);
	TRY(file);
	w->over_file = file;
	w->like = file ? w->key : w->like;
	return SHERD_OK;
}

/* The set that the name stands for until a file has it. The copy <base>.sdc may stand beside the set that it was made
 * of: that still has its own name. */
static int look_under_file(sherd_model_writer *w, sherd_error *err)
{
	SHD_AUTO(container_file, shd_container_file_close) f = NULL;
	const char *first = NULL;
	sherd_error failure = {0};
	int rc = shd_container_find_set(w->store, w->base, &w->arena, &first, &failure);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return SHERD_OK;
	if (rc == SHERD_OK)
		rc = shd_container_file_open(&f, w->store, first, NULL, &failure);
	bool beside = strcmp(w->base, w->key) != 0;
	if (rc == SHERD_OK && beside && is_source(w, f))
		return SHERD_OK;
	if (rc != SHERD_ENOMEM && rc != SHERD_EIO && !w->replace)
		rc = container_place_exists(&failure, first ? first : w->base, "a model in shards");
	if (rc < 0)
		return shd_pass(err, rc, &failure);
	w->like = first;
	TRY(shd_container_claim_take(&w->claim, w->store, w->base, err));
	return shd_container_list(w->store, w->base, &w->arena, &w->old, err);
}

int shd_container_place_look(sherd_model_writer *w, sherd_error *err)
{
	TRY(shd_container_base(w->store, w->key, &w->arena, &w->base, err));
	if (w->shards.count)
		return look_under_set(w, err);
	int file = find_file(w, err);
	TRY(file);
	return file ? SHERD_OK : look_under_file(w, err);
}
