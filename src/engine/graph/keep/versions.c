/* engine/graph/keep/versions.c - listing and tagging versions. */
#include "codec/json.h"
#include "engine/graph/open/hold.h"
#include "engine/graph/keep/snapshots.h"

#include <inttypes.h>
#include <stdlib.h>

/* Tags as the public header has them, ended by NUL. */
static int versions_hand_out(const shd_rfdb_snapshot *s, sherd_graph_snapshot_fn *each, void *arg, bool *go_on,
                             sherd_error *err)
{
	shd_arena arena = {0};
	sherd_graph_tag *tags = shd_arena_alloc(&arena, s->tags.count + 1, sizeof(*tags));
	bool ok = tags;
	for (size_t i = 0; ok && i < s->tags.count; i++) {
		tags[i] = (sherd_graph_tag){shd_arena_str(&arena, s->tags.items[i].key),
		                            shd_arena_str(&arena, s->tags.items[i].value)};
		ok = tags[i].key && tags[i].value;
	}
	if (ok) {
		const uint64_t most = INT64_MAX / 1000000000, seconds = s->created_at < most ? s->created_at : most;
		const sherd_graph_snapshot out = {.version = s->version,
		                                  .time_ns = (int64_t)seconds * 1000000000,
		                                  .tags = tags,
		                                  .tag_count = s->tags.count};
		*go_on = each(arg, &out);
	}
	shd_arena_done(&arena);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

/* A reader lists what there is now, also versions that came after its own. */
static int snapshots_of(const sherd_graph *g, graph_snapshots *out, sherd_error *err)
{
	graph_head head;
	sherd_error failure = {0};
	int rc = shd_graph_head_read(&g->place, &head, &failure);
	if (rc < 0 && rc != SHERD_ECORRUPT && err)
		*err = failure;
	/* Who has opened a version has it, whatever became of current.json. */
	if (rc == SHERD_ECORRUPT)
		head.current.version = UINT64_MAX;
	else
		TRY(rc);
	return shd_graph_take_snapshots(&g->place, head.current.version, out, err);
}

int sherd_graph_versions(const sherd_graph *g, sherd_graph_snapshot_fn *each, void *arg, sherd_error *err)
{
	SHD_DONE(shd_graph_snapshots_done) graph_snapshots s = {0};
	bool go_on = true;
	TRY(snapshots_of(g, &s, err));
	for (size_t i = 0; go_on && i < s.list.count; i++)
		TRY(versions_hand_out(&s.list.items[i], each, arg, &go_on, err));
	return SHERD_OK;
}

static bool has_tag(const shd_rfdb_tags *tags, const char *key, const char *value)
{
	for (size_t i = 0; i < tags->count; i++)
		if (shd_str_is(tags->items[i].key, key) && (!value || shd_str_is(tags->items[i].value, value)))
			return true;
	return false;
}

int sherd_graph_find_tag(uint64_t *version, const sherd_graph *g, const char *key, const char *value, sherd_error *err)
{
	SHD_DONE(shd_graph_snapshots_done) graph_snapshots s = {0};
	TRY(snapshots_of(g, &s, err));
	for (size_t i = s.list.count; i-- > 0;)
		if (has_tag(&s.list.items[i].tags, key, value)) {
			*version = s.list.items[i].version;
			return SHERD_OK;
		}
	return shd_fail(err, SHERD_ENOTFOUND, "no-tag", "no version has the tag \"%s\"", key);
}

typedef SHD_VEC(shd_rfdb_tag) tag_vec;

/* The tags with one more, one replaced, or one less. */
static int change_tags(const shd_rfdb_tags *old, const char *key, const char *value, tag_vec *out, sherd_error *err)
{
	for (size_t i = 0; i < old->count; i++)
		if (!shd_str_is(old->items[i].key, key))
			shd_vec_push(out, old->items[i]);
	if (value)
		shd_vec_push(out, (shd_rfdb_tag){.key = shd_str_of(key), .value = shd_str_of(value)});
	return shd_vec_check(out, err);
}

/* A version with tags is one in full, as it was or in place of its edit: the same graph either way. */
static int tag(sherd_graph *g, graph_version *v, const char *key, const char *value, sherd_error *err)
{
	SHD_AUTO_VEC tag_vec tags = {0};
	shd_rfdb_manifest m = v->manifest;
	TRY(change_tags(&m.tags, key, value, &tags, err));
	m.tags = (shd_rfdb_tags){tags.items, tags.count};
	TRY(shd_graph_hold_replace(&g->place, &m, v->base == m.version ? v->base_identity : "", err));
	/* From here on nobody collects the version who did not see the tag. */
	TRY(shd_graph_head_fence(&g->place, &g->head, err));
	(void)shd_graph_write_index(&g->place, g->version, false, NULL, NULL);
	return SHERD_OK;
}

int sherd_graph_set_tag(sherd_graph *g, uint64_t version, const char *key, const char *value, sherd_error *err)
{
	graph_version v;
	size_t bad;
	TRY(shd_graph_check_writable(g, err));
	TRY(shd_graph_head_check(&g->place, &g->head, err));
	if (!*key || !shd_utf8_valid(key, strlen(key), &bad) || (value && !shd_utf8_valid(value, strlen(value), &bad)))
		return shd_fail(err, SHERD_EINVAL, "bad-utf8", "a tag is a text of UTF-8, its key not empty");
	if (version > g->version)
		return shd_fail(err, SHERD_ENOTFOUND, "no-version", "version %" PRIu64 " is not there", version);
	TRY(shd_graph_version_load(&v, &g->place, version ? version : g->version, err));
	int rc = tag(g, &v, key, value, err);
	shd_graph_version_done(&v);
	return shd_graph_head_judge(&g->place, &g->head, rc, err);
}
