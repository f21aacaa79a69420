/* engine/ckpt/list.c - what stands in a folder. */
#include "engine/ckpt/list.h"

#include "base/limits.h"
#include "base/meter.h"
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/metadata.h"
#include "format/ckpt/name.h"

#include "base/map.h"

#include <stdlib.h>

/* The prefix of another one, whose file this one's metadata names. */
typedef struct lender {
	const char *prefix;
	const struct lender *next;
} lender;

typedef struct listed {
	sherd_ckpt_listing item; /* first: sorted by it */
	char identity[72];
	const lender *lenders;
} listed;

struct sherd_ckpt_list {
	shd_arena arena;
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
	sherd_pool *pool;
	sherd_limits limits;
	sherd_ckpt_list *list;
	SHD_VEC(seen) seen;
	shd_map prefixes;
	bool nomem;
	shd_meter meter;
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
	case SHERD_CKPT_UNREADABLE: return "unreadable";
	}
	return "unknown";
}

static seen *seen_of(looking *g, shd_str prefix)
{
	bool ok;
	char *copy = shd_arena_str(&g->list->arena, prefix);
	size_t n = g->seen.count;
	size_t at = copy ? shd_map_add(&g->prefixes, shd_str_of(copy), n, &ok) : SHD_MAP_NONE;
	if (!copy || !ok) {
		g->nomem = true;
		return NULL;
	}
	if (at == SHD_MAP_NONE) {
		seen s = {.prefix = copy};
		shd_vec_push(&g->seen, s);
		at = n;
	}
	g->nomem = g->seen.failed;
	return g->nomem ? NULL : g->seen.items + at;
}

static bool ckpt_list_look(void *arg, const char *key, const sherd_stat *stat)
{
	looking *g = arg;
	shd_ckpt_name name = shd_ckpt_name_parse(key);
	if (shd_meter_ask(&g->meter, NULL) < 0)
		return false;
	if (name.kind == SHD_CKPT_NAME_OTHER || strchr(key + strlen(g->below), '/'))
		return true;
	seen *s = seen_of(g, name.prefix);
	if (!s)
		return false;
	s->bytes += name.kind == SHD_CKPT_NAME_CLAIM ? 0 : stat->size;
	if (name.kind == SHD_CKPT_NAME_METADATA) {
		s->metadata = true;
		s->metadata_bytes = stat->size;
	}
	s->claim = s->claim || name.kind == SHD_CKPT_NAME_CLAIM;
	return true;
}

static int add_lender(looking *g, listed *into, shd_str prefix, sherd_error *err)
{
	lender *l = shd_arena_alloc(&g->list->arena, 1, sizeof(*l));
	if (l)
		*l = (lender){shd_arena_str(&g->list->arena, prefix), into->lenders};
	if (!l || !l->prefix)
		return shd_fail_nomem(err);
	into->lenders = l;
	return SHERD_OK;
}

/* Metadata that somebody copied names the shards of the set that it was copied from. */
static int note_lenders(looking *g, const shd_ckpt_meta *meta, listed *into, sherd_error *err)
{
	const char *prefix = into->item.prefix;
	for (size_t i = 0; i < meta->count; i++) {
		SHD_AUTO_BUF key = {0};
		const char *file = meta->shards[i].file, *behind = file ? shd_ckpt_meta_file_behind(file) : NULL;
		if (!file)
			continue;
		shd_ckpt_name_beside(&key, prefix, behind ? behind : file);
		TRY(shd_buf_check(&key, err));
		shd_ckpt_name name = shd_ckpt_name_parse((const char *)key.data);
		if (name.kind == SHD_CKPT_NAME_SHARD && !shd_str_is(name.prefix, prefix) &&
		    !(into->lenders && shd_str_is(name.prefix, into->lenders->prefix)))
			TRY(add_lender(g, into, name.prefix, err));
	}
	return SHERD_OK;
}

static int describe_meta(looking *g, const seen *s, const shd_ckpt_meta *meta, listed *into, sherd_error *err)
{
	sherd_ckpt_listing *out = &into->item;
	out->timestamp = shd_arena_str(&g->list->arena, shd_str_of(meta->timestamp));
	if (!out->timestamp)
		return shd_fail_nomem(err);
	out->time_ns = meta->time_ns;
	out->step = meta->about.step;
	out->has_step = meta->about.has_step;
	out->world = meta->world;
	out->bytes = s->metadata_bytes;
	for (size_t i = 0; i < meta->count; i++)
		if (__builtin_add_overflow(out->bytes, meta->shards[i].file_size, &out->bytes))
			out->bytes = UINT64_MAX;
	return note_lenders(g, meta, into, err);
}

/* What keeps it from being opened. An error of the store, or a format that is not known here, says nothing about the
 * set; bytes that contradict each other do. */
static int describe_problem(looking *g, int rc, const sherd_error *found, listed *into, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	const char *object = shd_str_leaf(found->object);
	bool shard = shd_ckpt_name_parse(object).kind == SHD_CKPT_NAME_SHARD;
	shd_buf_printf(&text, "%s%s%s", shard ? object : "", shard ? ": " : "", found->message);
	TRY(shd_buf_check(&text, err));
	into->item.state = rc == SHERD_ECORRUPT ? SHERD_CKPT_DAMAGED : SHERD_CKPT_UNREADABLE;
	into->item.problem = shd_arena_str(&g->list->arena, (shd_str){(const char *)text.data, text.len});
	return into->item.problem ? SHERD_OK : shd_fail_nomem(err);
}

/* Fails as reading the metadata does. */
static int describe_by_metadata(looking *g, const seen *s, listed *into, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_ckpt_meta meta;
	TRY(shd_ckpt_metadata_read(g->store, s->prefix, &g->limits, &arena, &meta, into->identity, err));
	return describe_meta(g, s, &meta, into, err);
}

/* Checkpoints are counted, not their shards; whoever watches may still stop the opening of a large one. */
static bool go_on(void *arg, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return shd_meter_ask(arg, NULL) == SHERD_OK;
}

/* Fails as opening the set does. */
static int describe_open(looking *g, const seen *s, listed *into, sherd_error *err)
{
	sherd_ckpt *ckpt = NULL;
	sherd_progress asked = {.update = go_on, .arg = &g->meter};
	sherd_ckpt_options options = {.pool = g->pool, .limits = &g->limits, .progress = &asked};
	TRY(shd_ckpt_open_prefix(&ckpt, g->store, s->prefix, &options, err));
	memcpy(into->identity, ckpt->identity, sizeof(into->identity));
	int rc = describe_meta(g, s, &ckpt->meta, into, err);
	sherd_ckpt_close(ckpt);
	return rc;
}

/* 1 when it is gone. */
static int describe_metadata(looking *g, const seen *s, listed *into, sherd_error *err)
{
	sherd_error found = {0};
	int rc = describe_open(g, s, into, &found);
	if (rc == SHERD_OK)
		return SHERD_OK;
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return 1;
	if (rc == SHERD_ENOMEM || rc == SHERD_ECANCELLED)
		return shd_pass(err, rc, &found);
	TRY(describe_problem(g, rc, &found, into, err));
	rc = describe_by_metadata(g, s, into, &found);
	return rc == SHERD_ENOMEM ? shd_fail_nomem(err) : SHERD_OK;
}

/* Adds what the claim tells. *gone: there is none any more. */
static int describe_claim(looking *g, const seen *s, listed *into, bool *gone, sherd_error *err)
{
	ckpt_claim_look look;
	sherd_ckpt_listing *out = &into->item;
	bool committed = out->state == SHERD_CKPT_COMMITTED;
	sherd_error found = {0};
	int rc = shd_ckpt_claim_look(g->store, s->prefix, &look, &found);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	if (rc < 0) /* nobody can tell what a save would do here; a committed set stands all the same */
		return committed ? SHERD_OK : describe_problem(g, SHERD_EIO, &found, into, err);
	*gone = !look.there;
	if (!committed)
		out->state = look.lives             ? SHERD_CKPT_SAVING
		             : look.waiting.waiting ? SHERD_CKPT_WAITING
		                                    : SHERD_CKPT_DEAD;
	if (!look.waiting.waiting)
		return SHERD_OK;
	char text[SHD_CKPT_WAITING_TEXT];
	SHD_AUTO_BUF problem = {0};
	shd_ckpt_waiting_text(&look.waiting, look.claim.world, text);
	shd_buf_printf(&problem, "%s%s", committed ? "being replaced by ranks: " : "", text);
	TRY(shd_buf_check(&problem, err));
	out->waiting = true;
	out->waiting_ns = look.waiting.age_ns;
	out->world = out->world ? out->world : look.claim.world;
	out->problem = shd_arena_str(&g->list->arena, (shd_str){(const char *)problem.data, problem.len});
	return out->problem ? SHERD_OK : shd_fail_nomem(err);
}

/* What was cleared or removed where nobody can lock: beside it may be a claim, and shards. */
static bool has_vacant(const looking *g, const seen *s)
{
	ckpt_committed now;
	return (s->claim || s->bytes > s->metadata_bytes) &&
	       shd_ckpt_committed(g->store, s->prefix, &now, NULL) == SHERD_OK && !now.there && *now.identity;
}

/* 1 when the set went away, or was never finished, while we looked. */
static int ckpt_list_describe(looking *g, const seen *s, listed *into, sherd_error *err)
{
	sherd_ckpt_listing *out = &into->item;
	bool gone = false;
	*into = (listed){.identity = ""};
	*out = (sherd_ckpt_listing){.prefix = s->prefix, .timestamp = "", .problem = "", .bytes = s->bytes};
	if (s->metadata) {
		int rc = describe_metadata(g, s, into, err);
		bool claimed = s->claim && out->state == SHERD_CKPT_COMMITTED;
		if (rc <= 0 || !has_vacant(g, s))
			return rc || !claimed ? rc : describe_claim(g, s, into, &gone, err);
	}
	out->state = SHERD_CKPT_ORPHANED;
	if (s->claim)
		TRY(describe_claim(g, s, into, &gone, err));
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

static int ckpt_list_build(looking *g, sherd_error *err)
{
	sherd_ckpt_list *list = g->list;
	TRY(sherd_store_list(g->store, g->below, "", ckpt_list_look, g, err));
	if (g->nomem)
		return shd_fail_nomem(err);
	TRY(shd_meter_ask(&g->meter, err));
	size_t count = g->meter.total = g->seen.count;
	list->items = shd_arena_alloc(&list->arena, count + 1, sizeof(*list->items));
	if (!list->items)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		int gone = ckpt_list_describe(g, g->seen.items + i, &list->items[list->count], err);
		TRY(gone);
		list->count += !gone;
		TRY(shd_meter_add(&g->meter, 1, err));
	}
	qsort(list->items, list->count, sizeof(*list->items), newest_first);
	return SHERD_OK;
}

int sherd_ckpt_list_open(sherd_ckpt_list **out, sherd_store *store, const char *below,
                         const sherd_ckpt_options *options, sherd_error *err)
{
	looking g = {.store = store,
	             .below = below,
	             .pool = options ? options->pool : NULL,
	             .limits = shd_limits_or_default(options ? options->limits : NULL)};
	g.list = calloc(1, sizeof(*g.list));
	if (!g.list)
		return shd_fail_nomem(err);
	shd_meter_init(&g.meter, options ? options->progress : NULL, 0);
	int rc = ckpt_list_build(&g, err);
	shd_meter_done(&g.meter);
	shd_vec_done(&g.seen);
	shd_map_done(&g.prefixes);
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

const sherd_ckpt_listing *sherd_ckpt_list_newest(const sherd_ckpt_list *list, int64_t now_ns)
{
	const sherd_ckpt_listing *newest = NULL;
	for (size_t i = 0; i < list->count; i++) {
		const sherd_ckpt_listing *c = &list->items[i].item;
		if (c->state != SHERD_CKPT_COMMITTED)
			continue;
		if (!now_ns || c->time_ns <= now_ns)
			return c;
		newest = newest ? newest : c;
	}
	return newest;
}

bool shd_ckpt_list_borrows(const sherd_ckpt_list *list, size_t index, const char *prefix)
{
	for (const lender *l = list->items[index].lenders; l; l = l->next)
		if (strcmp(l->prefix, prefix) == 0)
			return true;
	return false;
}

const char *shd_ckpt_list_identity(const sherd_ckpt_list *list, size_t index)
{
	return list->items[index].identity;
}

void sherd_ckpt_list_close(sherd_ckpt_list *list)
{
	if (!list)
		return;
	shd_arena_done(&list->arena);
	free(list);
}
