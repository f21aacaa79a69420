/* engine/ckpt/list.c - what stands in a folder. */
#include "engine/ckpt/list.h"

#include "base/limits.h"
#include "base/meter.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/metadata.h"
#include "format/ckpt_name.h"

#include "base/map.h"

#include <stdlib.h>

typedef struct listed {
	sherd_ckpt_listing item; /* first: sorted by it */
	char identity[72];
} listed;

struct sherd_ckpt_list {
	sherd_arena arena;
	listed *items;
	size_t count;
};

/* What the names alone tell of a prefix. */
typedef struct seen {
	const char *prefix;
	bool metadata, claim;
	uint64_t bytes;
	uint64_t metadata_bytes;
} seen;

typedef struct looking {
	sherd_store *store;
	const char *below;
	sherd_limits limits;
	sherd_ckpt_list *list;
	sherd_buf seen; /* of seen */
	sherd_map prefixes;
	bool nomem;
	sherd_meter meter;
} looking;

const char *sherd_ckpt_state_name(sherd_ckpt_state state)
{
	switch (state) {
	case SHERD_CKPT_COMMITTED: return "committed";
	case SHERD_CKPT_SAVING: return "saving";
	case SHERD_CKPT_DEAD: return "dead";
	case SHERD_CKPT_ORPHANED: return "orphaned";
	case SHERD_CKPT_DAMAGED: return "damaged";
	case SHERD_CKPT_WAITING: return "waiting";
	}
	return "unknown";
}

static seen *seen_of(looking *g, sherd_str prefix)
{
	bool ok;
	char *copy = sherd_arena_str(&g->list->arena, prefix);
	size_t n = g->seen.len / sizeof(seen);
	size_t at = copy ? sherd_map_add(&g->prefixes, sherd_str_of(copy), n, &ok) : SHERD_MAP_NONE;
	if (!copy || !ok) {
		g->nomem = true;
		return NULL;
	}
	if (at == SHERD_MAP_NONE) {
		seen s = {.prefix = copy};
		sherd_buf_append(&g->seen, &s, sizeof(s));
		at = n;
	}
	g->nomem = g->seen.failed;
	return g->nomem ? NULL : (seen *)(void *)g->seen.data + at;
}

static bool look(const char *key, const sherd_stat *stat, void *arg)
{
	looking *g = arg;
	sherd_ckpt_name name = sherd_ckpt_name_parse(key);
	if (sherd_meter_ask(&g->meter, NULL) < 0)
		return false;
	if (name.kind == SHERD_CKPT_NAME_OTHER || strchr(key + strlen(g->below), '/'))
		return true;
	seen *s = seen_of(g, name.prefix);
	if (!s)
		return false;
	s->bytes += name.kind == SHERD_CKPT_NAME_CLAIM ? 0 : stat->size;
	if (name.kind == SHERD_CKPT_NAME_METADATA) {
		s->metadata = true;
		s->metadata_bytes = stat->size;
	}
	s->claim = s->claim || name.kind == SHERD_CKPT_NAME_CLAIM;
	return true;
}

/* Adds what the claim tells, where nothing is committed. *gone: there is none any more. */
static int describe_claim(looking *g, const seen *s, sherd_ckpt_listing *out, bool *gone, sherd_error *err)
{
	ckpt_claim_look look;
	TRY(sherd_ckpt_claim_look(g->store, s->prefix, &look, err));
	*gone = !look.there;
	if (out->state != SHERD_CKPT_COMMITTED)
		out->state = look.lives             ? SHERD_CKPT_SAVING
		             : look.waiting.waiting ? SHERD_CKPT_WAITING
		                                    : SHERD_CKPT_DEAD;
	if (!look.waiting.waiting)
		return SHERD_OK;
	char text[SHERD_CKPT_WAITING_TEXT];
	SHERD_AUTO_BUF problem = {0};
	sherd_ckpt_waiting_text(&look.waiting, look.claim.world, text);
	sherd_buf_printf(&problem, "%s%s", out->state == SHERD_CKPT_COMMITTED ? "being replaced by ranks: " : "", text);
	TRY(sherd_buf_check(&problem, err));
	out->waiting = true;
	out->waiting_ns = look.waiting.age_ns;
	out->world = out->world ? out->world : look.claim.world;
	out->problem = sherd_arena_str(&g->list->arena, sherd_str_of((const char *)problem.data));
	return out->problem ? SHERD_OK : sherd_fail_nomem(err);
}

/* 1 when it is gone. */
static int describe_metadata(looking *g, const seen *s, listed *into, sherd_error *err)
{
	sherd_ckpt_listing *out = &into->item;
	sherd_arena arena = {0};
	sherd_ckpt_meta meta;
	sherd_error found = {0};
	int rc = sherd_ckpt_metadata_read(g->store, s->prefix, &g->limits, &arena, &meta, into->identity, &found);
	const char *text = NULL;
	if (rc == SHERD_ENOTFOUND) {
		sherd_arena_done(&arena);
		return 1;
	}
	if (rc == SHERD_OK) {
		text = out->timestamp = sherd_arena_str(&g->list->arena, sherd_str_of(meta.timestamp));
		out->time_ns = meta.time_ns;
		out->step = meta.about.step;
		out->has_step = meta.about.has_step;
		out->world = meta.world;
		out->bytes = s->metadata_bytes;
		for (size_t i = 0; i < meta.count; i++)
			out->bytes += meta.shards[i].file_size;
	} else {
		out->state = SHERD_CKPT_DAMAGED;
		text = out->problem = sherd_arena_str(&g->list->arena, sherd_str_of(found.message));
	}
	sherd_arena_done(&arena);
	if (rc == SHERD_EIO || rc == SHERD_ENOMEM) {
		if (err)
			*err = found;
		return rc;
	}
	return text ? SHERD_OK : sherd_fail_nomem(err);
}

/* 1 when the set went away, or was never finished, while we looked. */
static int describe(looking *g, const seen *s, listed *into, sherd_error *err)
{
	sherd_ckpt_listing *out = &into->item;
	bool gone = false;
	into->identity[0] = 0;
	*out = (sherd_ckpt_listing){.prefix = s->prefix, .timestamp = "", .problem = "", .bytes = s->bytes};
	if (s->metadata) {
		int rc = describe_metadata(g, s, into, err);
		return rc || !s->claim || out->state != SHERD_CKPT_COMMITTED ? rc
		                                                             : describe_claim(g, s, out, &gone, err);
	}
	out->state = SHERD_CKPT_ORPHANED;
	if (s->claim)
		TRY(describe_claim(g, s, out, &gone, err));
	if (gone) {
		out->state = SHERD_CKPT_COMMITTED;
		return describe_metadata(g, s, into, err);
	}
	return SHERD_OK;
}

static int newest_first(const void *a, const void *b)
{
	const sherd_ckpt_listing *x = a, *y = b;
	bool cx = x->state == SHERD_CKPT_COMMITTED, cy = y->state == SHERD_CKPT_COMMITTED;
	if (cx != cy)
		return cx ? -1 : 1;
	if (cx && x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	if (cx && x->has_step != y->has_step)
		return x->has_step ? -1 : 1;
	if (cx && x->step != y->step)
		return x->step > y->step ? -1 : 1;
	return cx ? -strcmp(x->prefix, y->prefix) : strcmp(x->prefix, y->prefix);
}

static int build(looking *g, sherd_error *err)
{
	sherd_ckpt_list *list = g->list;
	TRY(sherd_store_list(g->store, g->below, "", look, g, err));
	if (g->nomem)
		return sherd_fail_nomem(err);
	TRY(sherd_meter_ask(&g->meter, err));
	size_t count = g->meter.total = g->seen.len / sizeof(seen);
	list->items = sherd_arena_alloc(&list->arena, count + 1, sizeof(*list->items));
	if (!list->items)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		int gone = describe(g, (const seen *)(const void *)g->seen.data + i, &list->items[list->count], err);
		TRY(gone);
		list->count += !gone;
		TRY(sherd_meter_add(&g->meter, 1, err));
	}
	qsort(list->items, list->count, sizeof(*list->items), newest_first);
	return SHERD_OK;
}

int sherd_ckpt_list_open(sherd_ckpt_list **out, sherd_store *store, const char *below,
                         const sherd_ckpt_options *options, sherd_error *err)
{
	looking g = {
		.store = store, .below = below, .limits = sherd_limits_or_default(options ? options->limits : NULL)};
	g.list = calloc(1, sizeof(*g.list));
	if (!g.list)
		return sherd_fail_nomem(err);
	sherd_meter_init(&g.meter, options ? options->progress : NULL, 0);
	int rc = build(&g, err);
	sherd_meter_done(&g.meter);
	sherd_buf_done(&g.seen);
	sherd_map_done(&g.prefixes);
	if (rc < 0)
		sherd_ckpt_list_close(g.list);
	else
		*out = g.list;
	return rc;
}

size_t sherd_ckpt_list_count(const sherd_ckpt_list *list)
{
	return list->count;
}

const sherd_ckpt_listing *sherd_ckpt_list_at(const sherd_ckpt_list *list, size_t index)
{
	return index < list->count ? &list->items[index].item : NULL;
}

const char *sherd_ckpt_list_identity(const sherd_ckpt_list *list, size_t index)
{
	return list->items[index].identity;
}

void sherd_ckpt_list_close(sherd_ckpt_list *list)
{
	if (!list)
		return;
	sherd_arena_done(&list->arena);
	free(list);
}
