#include "format/rfdb/plan.h"

#include "base/cursor.h"
#include "codec/blake3.h"
#include "codec/json.h"
#include "format/rfdb/path.h"
#include "format/rfdb/plan_state.h"

#include <stdlib.h>

uint16_t shd_rfdb_hash_shard(shd_str file, uint16_t shards)
{
	uint8_t hash[SHD_BLAKE3_BYTES];
	shd_str parent = shd_rfdb_path_parent(file);
	shd_blake3_of(parent.ptr, parent.len, hash);
	return (uint16_t)(shd_get_u64(hash) % shards);
}

/* ---- the plan as it stands */

void shd_rfdb_plan_init(shd_rfdb_plan *plan, uint32_t min_files)
{
	*plan = (shd_rfdb_plan){.min_files = min_files ? min_files : SHD_RFDB_MIN_FILES};
}

void shd_rfdb_plan_done(shd_rfdb_plan *plan)
{
	shd_map_done(&plan->by_directory);
	shd_map_done(&plan->by_name);
	free(plan->shards);
	free(plan->places);
	shd_arena_done(&plan->arena);
	*plan = (shd_rfdb_plan){0};
}

const char *shd_rfdb_plan_name(const shd_rfdb_plan *plan, uint32_t shard)
{
	return shard < plan->shard_count ? plan->shards[shard].name : NULL;
}

bool shd_rfdb_plan_find(const shd_rfdb_plan *plan, shd_str file, uint16_t *shard)
{
	size_t at = shd_map_find(&plan->by_directory, shd_rfdb_path_parent(file));
	if (at != SHD_MAP_NONE)
		*shard = (uint16_t)plan->places[at].shard;
	return at != SHD_MAP_NONE;
}

/* The items, moved if there was no room for one more; NULL when memory is out, and they stay where they are. */
static void *with_room(void *items, size_t *room, size_t count, size_t size)
{
	if (count < *room)
		return items;
	size_t more = *room ? *room * 2 : 64;
	void *moved = realloc(items, more * size);
	if (moved)
		*room = more;
	return moved;
}

int shd_rfdb_plan_add_place(shd_rfdb_plan *plan, shd_str directory, uint32_t shard, sherd_error *err)
{
	bool ok;
	char *kept = shd_arena_str(&plan->arena, directory);
	void *places = with_room(plan->places, &plan->place_room, plan->place_count, sizeof(*plan->places));
	plan->places = places ? places : plan->places;
	if (!kept || !places)
		return shd_fail_nomem(err);
	struct shd_rfdb_plan_place place = {{kept, directory.len}, shard};
	size_t at = shd_map_add(&plan->by_directory, place.directory, plan->place_count, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	if (at != SHD_MAP_NONE)
		return shd_fail(err, SHERD_ECORRUPT, "duplicate-name", "a directory is assigned twice");
	plan->places[plan->place_count++] = place;
	return SHERD_OK;
}

int shd_rfdb_plan_add_shard(shd_rfdb_plan *plan, const char *name, bool *taken, sherd_error *err)
{
	void *shards = with_room(plan->shards, &plan->shard_room, plan->shard_count, sizeof(*plan->shards));
	bool ok = shards;
	plan->shards = shards ? shards : plan->shards;
	size_t at = ok ? shd_map_add(&plan->by_name, shd_str_of(name), plan->shard_count, &ok) : 0;
	if (!ok)
		return shd_fail_nomem(err);
	*taken = at != SHD_MAP_NONE;
	if (!*taken)
		plan->shards[plan->shard_count++] = (struct shd_rfdb_plan_shard){.name = name, .next = 2};
	return SHERD_OK;
}

/* ---- extending it */

#define NO_SHARD UINT32_MAX
#define NOWHERE SIZE_MAX

/* A directory without a shard: of a file that is new, or on the way from one up to the root. */
typedef struct fresh {
	shd_str path;
	size_t parent; /* in fresh, or NOWHERE: the root, or a parent that has a shard */
	size_t next;   /* of the same length */
	size_t files;  /* its own, and of the small ones below it; exact as long as it is small */
	uint32_t shard;
	bool seen;  /* has files of its own */
	bool owner; /* is large enough */
} fresh;

typedef struct planning {
	shd_rfdb_plan *plan;
	fresh *list;
	size_t count, room;
	shd_map known; /* to list */
	shd_map met;   /* files of directories that were small when they came */
	size_t longest;
} planning;

static int rfdb_plan_note(planning *p, shd_str path, size_t *at, sherd_error *err)
{
	bool ok;
	fresh *list = with_room(p->list, &p->room, p->count, sizeof(*p->list));
	if (!list)
		return shd_fail_nomem(err);
	p->list = list;
	*at = shd_map_add(&p->known, path, p->count, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	if (*at == SHD_MAP_NONE) {
		*at = p->count++;
		p->list[*at] = (fresh){.path = path, .parent = NOWHERE, .next = NOWHERE, .shard = NO_SHARD};
		if (path.len > p->longest)
			p->longest = path.len;
	}
	return SHERD_OK;
}

/* A directory that is large enough is counted no further, so that most files need not be told from those before. */
static int count_file(planning *p, fresh *directory, shd_str file, sherd_error *err)
{
	bool ok;
	if (directory->files >= p->plan->min_files)
		return SHERD_OK;
	bool repeated = shd_map_add(&p->met, file, 0, &ok) != SHD_MAP_NONE;
	if (!ok)
		return shd_fail_nomem(err);
	directory->files += !repeated;
	directory->seen = true;
	return SHERD_OK;
}

static int note_files(planning *p, const shd_str *files, size_t count, sherd_error *err)
{
	shd_str last = {0};
	size_t at = NOWHERE; /* in list; NOWHERE: has a shard */
	for (size_t i = 0; i < count; i++) {
		shd_str path = shd_rfdb_path_parent(files[i]);
		if (!i || path.len != last.len || memcmp(path.ptr, last.ptr, path.len) != 0) {
			at = NOWHERE;
			if (shd_map_find(&p->plan->by_directory, path) == SHD_MAP_NONE)
				TRY(rfdb_plan_note(p, path, &at, err));
			last = path;
		}
		if (at != NOWHERE)
			TRY(count_file(p, &p->list[at], files[i], err));
	}
	return SHERD_OK;
}

/* The list grows while it is walked: parents of parents. */
static int note_parents(planning *p, sherd_error *err)
{
	for (size_t i = 0; i < p->count; i++) {
		shd_str path = p->list[i].path;
		size_t parent = NOWHERE;
		if (!path.len)
			continue;
		shd_str up = shd_rfdb_path_parent(path);
		size_t place = shd_map_find(&p->plan->by_directory, up);
		if (place != SHD_MAP_NONE)
			p->list[i].shard = p->plan->places[place].shard;
		else
			TRY(rfdb_plan_note(p, up, &parent, err));
		p->list[i].parent = parent;
	}
	return SHERD_OK;
}

/* Indexes into the list, longest path first: each directory before the one above it. */
static size_t *by_length(planning *p)
{
	size_t *heads = malloc((p->longest + 1) * sizeof(*heads)), *order = calloc(p->count, sizeof(*order)), n = 0;
	if (heads && order) {
		for (size_t len = 0; len <= p->longest; len++)
			heads[len] = NOWHERE;
		for (size_t i = 0; i < p->count; i++) {
			p->list[i].next = heads[p->list[i].path.len];
			heads[p->list[i].path.len] = i;
		}
		for (size_t len = p->longest + 1; len-- > 0;)
			for (size_t i = heads[len]; i != NOWHERE; i = p->list[i].next)
				order[n++] = i;
	} else {
		free(order);
		order = NULL;
	}
	free(heads);
	return order;
}

static void choose_owners(planning *p, const size_t *order)
{
	for (size_t k = 0; k < p->count; k++) {
		fresh *d = &p->list[order[k]];
		if (!d->files)
			continue;
		d->owner = !d->path.len || d->files >= p->plan->min_files;
		if (!d->owner && d->parent != NOWHERE)
			p->list[d->parent].files += d->files;
	}
}

static int compare_paths(const void *a, const void *b)
{
	return shd_str_compare((*(fresh *const *)a)->path, (*(fresh *const *)b)->path);
}

/* The directory with '/' as '_'; of directories that would get one name, later ones get ~2, ~3, … */
static int make_shard(shd_rfdb_plan *plan, shd_str path, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	bool taken;
	char *name = shd_arena_str(&plan->arena, path.len ? path : SHD_STR("_root"));
	if (!name)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < path.len; i++)
		if (name[i] == '/' || !name[i])
			name[i] = '_';
	TRY(shd_rfdb_plan_add_shard(plan, name, &taken, err));
	if (!taken)
		return SHERD_OK;
	size_t first = shd_map_find(&plan->by_name, shd_str_of(name));
	while (taken) {
		text.len = 0;
		shd_buf_printf(&text, "%s~%u", name, plan->shards[first].next++);
		TRY(shd_buf_check(&text, err));
		char *other = shd_arena_str(&plan->arena, (shd_str){(const char *)text.data, text.len});
		if (!other)
			return shd_fail_nomem(err);
		TRY(shd_rfdb_plan_add_shard(plan, other, &taken, err));
	}
	return SHERD_OK;
}

/* In the order of their bytes, so that the order of the files does not matter; the root and other parents come before
 * what is below them. One number is kept for the root, where all that finds no room ends up. */
static int number_owners(planning *p, fresh **owners, size_t count, sherd_error *err)
{
	bool has_root = shd_map_find(&p->plan->by_directory, SHD_STR("")) != SHD_MAP_NONE;
	qsort(owners, count, sizeof(*owners), compare_paths);
	for (size_t i = 0; i < count; i++) {
		bool is_root = !owners[i]->path.len;
		owners[i]->owner = is_root || p->plan->shard_count + !has_root < SHD_RFDB_MAX_SHARDS;
		if (!owners[i]->owner)
			continue;
		has_root |= is_root;
		owners[i]->shard = p->plan->shard_count;
		TRY(make_shard(p->plan, owners[i]->path, err));
	}
	return SHERD_OK;
}

static int number(planning *p, sherd_error *err)
{
	size_t owners = 0, place;
	shd_rfdb_plan *plan = p->plan;
	SHD_AUTO_FREE fresh **list = malloc((p->count + 1) * sizeof(*list));
	if (!list)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].owner)
			list[owners++] = &p->list[i];
	/* If not all of them can have a number, some may have to go to the root. */
	bool full = plan->shard_count + owners >= SHD_RFDB_MAX_SHARDS;
	if (full && (place = shd_map_find(&p->known, SHD_STR(""))) != SHD_MAP_NONE && !p->list[place].owner) {
		p->list[place].owner = true;
		list[owners++] = &p->list[place];
	}
	return number_owners(p, list, owners, err);
}

static int record(planning *p, const size_t *order, sherd_error *err)
{
	size_t bad;
	for (size_t k = p->count; k-- > 0;) {
		fresh *d = &p->list[order[k]];
		if (d->shard == NO_SHARD && d->parent != NOWHERE)
			d->shard = p->list[d->parent].shard;
		if (!d->owner && !d->seen)
			continue;
		if (!shd_utf8_valid(d->path.ptr, d->path.len, &bad))
			return shd_fail(err, SHERD_EINVAL, "bad-utf8", "the name of a directory is not UTF-8");
		TRY(shd_rfdb_plan_add_place(p->plan, d->path, d->shard, err));
	}
	return SHERD_OK;
}

static int assign(planning *p, sherd_error *err)
{
	size_t *order = by_length(p);
	if (!order)
		return shd_fail_nomem(err);
	choose_owners(p, order);
	int rc = number(p, err);
	if (rc >= 0)
		rc = record(p, order, err);
	free(order);
	return rc;
}

static int extend(planning *p, const shd_str *files, size_t count, sherd_error *err)
{
	TRY(note_files(p, files, count, err));
	TRY(note_parents(p, err));
	return p->count ? assign(p, err) : SHERD_OK;
}

int shd_rfdb_plan_extend(shd_rfdb_plan *plan, const shd_str *files, size_t count, uint16_t *shards, sherd_error *err)
{
	planning p = {.plan = plan};
	int rc = extend(&p, files, count, err);
	shd_map_done(&p.known);
	shd_map_done(&p.met);
	free(p.list);
	for (size_t i = 0; rc >= 0 && shards && i < count; i++)
		(void)shd_rfdb_plan_find(plan, files[i], &shards[i]);
	return rc;
}
