#include "engine/graph/disk/head.h"

#include "engine/publish/head.h"

#include <stdlib.h>

int shd_graph_head_fail(sherd_error *err)
{
	return shd_fail(err, SHERD_ECONFLICT, "changed",
	                "somebody else changed the database meanwhile: open it again and repeat");
}

int shd_graph_head_check(const graph_place *p, const graph_head *head, sherd_error *err)
{
	graph_head now;
	TRY(shd_graph_head_look(p, &now, err));
	return strcmp(now.identity, head->identity) == 0 ? SHERD_OK : shd_graph_head_fail(err);
}

int shd_graph_head_judge(const graph_place *p, const graph_head *head, int rc, sherd_error *err)
{
	graph_head now;
	bool strange = rc == SHERD_ENOTFOUND || rc == SHERD_ECORRUPT || rc == SHERD_EEXIST;
	if (!strange || shd_graph_head_look(p, &now, NULL) < 0 || strcmp(now.identity, head->identity) == 0)
		return rc;
	return shd_graph_head_fail(err);
}

static int disk_head_look(const graph_place *p, graph_head *out, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_str text;
	TRY(shd_graph_place_get(p, SHD_RFDB_CURRENT, &arena, &text, out->identity, err));
	return shd_rfdb_current_decode(text.ptr, text.len, &out->current, err);
}

int shd_graph_head_look(const graph_place *p, graph_head *out, sherd_error *err)
{
	graph_head head = {0};
	graph_key key;
	TRY(shd_graph_place_key(p, SHD_RFDB_CURRENT, &key, err));
	TRY(shd_in_object(err, disk_head_look(p, &head, err), key.text));
	*out = head;
	return SHERD_OK;
}

int shd_graph_head_read(const graph_place *p, graph_head *out, sherd_error *err)
{
	graph_head head = {0};
	graph_key key;
	TRY(shd_graph_place_key(p, SHD_RFDB_CURRENT, &key, err));
	int rc = shd_graph_head_look(p, &head, err);
	bool vacant = rc == SHERD_OK && head.current.vacant;
	if (vacant || (rc == SHERD_ENOTFOUND && shd_graph_place_has(p, SHD_RFDB_CLAIM, NULL) == 1))
		rc = shd_fail(err, SHERD_ENOTFOUND, "incomplete",
		              "the database was not made to the end: make it again");
	TRY(shd_in_object(err, rc, key.text));
	*out = head;
	return SHERD_OK;
}

typedef struct versioning {
	const graph_place *place;
	uint64_t version;
	const graph_made *manifest;
} versioning;

/* Numbers come back when a version was never published, objects do not. */
static int is_published(void *arg, const char *text, size_t len)
{
	const versioning *v = arg;
	shd_rfdb_current now;
	graph_key key;
	sherd_stat stat;
	if (shd_rfdb_current_decode(text, len, &now, NULL) < 0 ||
	    shd_graph_place_key(v->place, v->manifest->name, &key, NULL) < 0)
		return -1;
	if (now.vacant || now.version < v->version)
		return 0;
	int rc = sherd_store_stat(&stat, v->place->store, key.text, NULL);
	return rc < 0 ? -1 : strcmp(stat.identity, v->manifest->identity) == 0;
}

/* When it fails, and the object is there nevertheless, head says so. */
static int replace(const graph_place *p, graph_head *head, const shd_rfdb_current *next, versioning *v, bool *unknown,
                   sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	graph_key key;
	shd_published now;
	*unknown = false;
	shd_rfdb_current_encode(next, &text);
	TRY(shd_buf_check(&text, err));
	TRY(shd_graph_place_key(p, SHD_RFDB_CURRENT, &key, err));
	const shd_publication w = {.store = p->store,
	                           .key = key.text,
	                           .base = head->identity,
	                           .text = text.data,
	                           .len = text.len,
	                           .is_ours = v ? is_published : NULL,
	                           .arg = v};
	int rc = shd_head_publish(&w, &now, err);
	*unknown = now.kept;
	if (rc == SHERD_OK || *now.identity) {
		head->current = *next;
		memcpy(head->identity, now.identity, sizeof(head->identity));
	}
	if (rc == SHERD_ECONFLICT || rc == SHERD_EEXIST)
		return shd_graph_head_fail(err);
	return shd_in_object(err, rc, key.text);
}

int shd_graph_head_advance(const graph_place *p, graph_head *head, uint64_t version, const graph_made *manifest,
                           bool *unknown, sherd_error *err)
{
	const shd_rfdb_current next = {.version = version};
	versioning v = {p, version, manifest};
	return replace(p, head, &next, &v, unknown, err);
}

int shd_graph_head_fence(const graph_place *p, graph_head *head, sherd_error *err)
{
	shd_rfdb_current next = head->current;
	bool unknown;
	next.fence++;
	return replace(p, head, &next, NULL, &unknown, err);
}

int shd_graph_head_vacate(const graph_place *p, graph_head *head, sherd_error *err)
{
	const shd_rfdb_current next = {.vacant = true, .fence = head->current.fence + 1};
	bool unknown;
	return replace(p, head, &next, NULL, &unknown, err);
}

int shd_graph_head_create(const graph_place *p, graph_head *head, sherd_error *err)
{
	const shd_rfdb_current next = {.vacant = true};
	bool unknown;
	*head = (graph_head){0};
	return replace(p, head, &next, NULL, &unknown, err);
}

/* ---- things to remove: name and identity of each, both ended by NUL */

void shd_graph_note(shd_buf *list, const char *name, const sherd_stat *stat)
{
	shd_buf_append(list, name, strlen(name) + 1);
	shd_buf_append(list, stat->identity, strlen(stat->identity) + 1);
}

int shd_graph_noted(const shd_buf *list, int (*each)(void *arg, const char *name, const char *identity), void *arg)
{
	int rc = SHERD_OK;
	for (size_t at = 0; rc == SHERD_OK && at < list->len;) {
		const char *name = (const char *)list->data + at, *identity = name + strlen(name) + 1;
		rc = each(arg, name, identity);
		at += strlen(name) + strlen(identity) + 2;
	}
	return rc;
}

int shd_graph_note_now(const graph_place *p, shd_buf *list, const char *name, sherd_error *err)
{
	graph_key key;
	sherd_stat stat;
	sherd_error failure = {0};
	TRY(shd_graph_place_key(p, name, &key, err));
	int rc = sherd_store_stat(&stat, p->store, key.text, &failure);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	if (rc == SHERD_OK)
		shd_graph_note(list, name, &stat);
	return shd_pass(err, shd_in_object(&failure, rc, key.text), &failure);
}

typedef struct noting {
	const graph_place *place;
	shd_buf now;
	sherd_error *err;
} noting;

static int disk_head_note_one(void *arg, const char *name, const char *identity)
{
	noting *n = arg;
	(void)identity;
	return shd_graph_note_now(n->place, &n->now, name, n->err);
}

int shd_graph_note_again(const graph_place *p, shd_buf *list, sherd_error *err)
{
	noting n = {.place = p, .err = err};
	if (sherd_store_caps(p->store) & SHERD_CAP_LOCK)
		return SHERD_OK;
	int rc = shd_graph_noted(list, disk_head_note_one, &n);
	if (rc == SHERD_OK)
		rc = shd_buf_check(&n.now, err);
	shd_buf_done(list);
	*list = n.now;
	return rc;
}

typedef struct removing {
	const graph_place *place;
	sherd_error *err;
} removing;

static int disk_head_remove_one(void *arg, const char *name, const char *identity)
{
	const removing *r = arg;
	int rc = shd_graph_place_remove_if(r->place, name, identity, r->err);
	return rc < 0 ? rc : SHERD_OK;
}

int shd_graph_remove_noted(const graph_place *p, const shd_buf *list, sherd_error *err)
{
	removing r = {p, err};
	return shd_graph_noted(list, disk_head_remove_one, &r);
}
