#include "engine/graph/disk/head.h"

#include <stdlib.h>

int sherd_graph_head_fail(sherd_error *err)
{
	return sherd_fail(err, SHERD_ECONFLICT, "changed",
	                  "somebody else changed the database meanwhile: open it again and repeat");
}

int sherd_graph_head_check(const graph_place *p, const graph_head *head, sherd_error *err)
{
	graph_head now;
	TRY(sherd_graph_head_look(p, &now, err));
	return strcmp(now.identity, head->identity) == 0 ? SHERD_OK : sherd_graph_head_fail(err);
}

int sherd_graph_head_judge(const graph_place *p, const graph_head *head, int rc, sherd_error *err)
{
	graph_head now;
	bool strange = rc == SHERD_ENOTFOUND || rc == SHERD_ECORRUPT || rc == SHERD_EEXIST;
	if (!strange || sherd_graph_head_look(p, &now, NULL) < 0 || strcmp(now.identity, head->identity) == 0)
		return rc;
	return sherd_graph_head_fail(err);
}

static int look(const graph_place *p, graph_head *out, sherd_error *err)
{
	char *text;
	size_t len;
	TRY(sherd_graph_place_fetch(p, SHERD_RFDB_CURRENT, &text, &len, out->identity, err));
	int rc = sherd_rfdb_current_decode(text, len, &out->current, err);
	free(text);
	return rc;
}

int sherd_graph_head_look(const graph_place *p, graph_head *out, sherd_error *err)
{
	graph_head head = {0};
	graph_key key;
	TRY(sherd_graph_place_key(p, SHERD_RFDB_CURRENT, &key, err));
	TRY(sherd_in_object(err, look(p, &head, err), key.text));
	*out = head;
	return SHERD_OK;
}

int sherd_graph_head_read(const graph_place *p, graph_head *out, sherd_error *err)
{
	graph_head head = {0};
	graph_key key;
	TRY(sherd_graph_place_key(p, SHERD_RFDB_CURRENT, &key, err));
	int rc = sherd_graph_head_look(p, &head, err);
	bool making = rc == SHERD_OK && head.current.making;
	if (making || (rc == SHERD_ENOTFOUND && sherd_graph_place_has(p, SHERD_RFDB_MAKING, NULL) == 1))
		rc = sherd_fail(err, SHERD_ENOTFOUND, "incomplete",
		                "the database was not made to the end: make it again");
	TRY(sherd_in_object(err, rc, key.text));
	*out = head;
	return SHERD_OK;
}

/* When it fails, and the object is there nevertheless, head says so. */
static int replace(const graph_place *p, graph_head *head, const sherd_rfdb_current *next, bool *unknown,
                   sherd_error *err)
{
	SHERD_AUTO_BUF text = {0};
	graph_head made = {.current = *next}, now = {0};
	const sherd_write_options o = {
		.mode = SHERD_WRITE_REPLACE, .if_identity = head->identity, .identity = made.identity};
	sherd_rfdb_current_encode(next, &text);
	int rc = sherd_graph_place_write(p, SHERD_RFDB_CURRENT, &o, &text, err);
	if (rc == SHERD_ECONFLICT)
		return sherd_graph_head_fail(err);
	if (rc == SHERD_OK)
		*head = made;
	if (rc < 0 && (sherd_graph_head_look(p, &now, NULL) < 0 || strcmp(now.identity, head->identity) != 0)) {
		*unknown = true;
		if (strcmp(now.identity, made.identity) == 0)
			*head = made;
	}
	return rc;
}

int sherd_graph_head_advance(const graph_place *p, graph_head *head, uint64_t version, bool *unknown, sherd_error *err)
{
	const sherd_rfdb_current next = {.version = version};
	*unknown = false;
	return replace(p, head, &next, unknown, err);
}

int sherd_graph_head_fence(const graph_place *p, graph_head *head, sherd_error *err)
{
	sherd_rfdb_current next = head->current;
	bool unknown;
	next.fence++;
	return replace(p, head, &next, &unknown, err);
}

int sherd_graph_head_vacate(const graph_place *p, graph_head *head, sherd_error *err)
{
	const sherd_rfdb_current next = {.making = true, .fence = head->current.fence + 1};
	bool unknown;
	return replace(p, head, &next, &unknown, err);
}

int sherd_graph_head_create(const graph_place *p, graph_head *head, sherd_error *err)
{
	SHERD_AUTO_BUF text = {0};
	const sherd_write_options o = {.mode = SHERD_WRITE_NEW, .identity = head->identity};
	head->current = (sherd_rfdb_current){.making = true};
	sherd_rfdb_current_encode(&head->current, &text);
	int rc = sherd_graph_place_write(p, SHERD_RFDB_CURRENT, &o, &text, err);
	return rc == SHERD_EEXIST ? sherd_graph_head_fail(err) : rc;
}

/* ---- things to remove: name and identity of each, both ended by NUL */

void sherd_graph_note(sherd_buf *list, const char *name, const sherd_stat *stat)
{
	sherd_buf_append(list, name, strlen(name) + 1);
	sherd_buf_append(list, stat->identity, strlen(stat->identity) + 1);
}

int sherd_graph_noted(const sherd_buf *list, int (*each)(void *arg, const char *name, const char *identity), void *arg)
{
	int rc = SHERD_OK;
	for (size_t at = 0; rc == SHERD_OK && at < list->len;) {
		const char *name = (const char *)list->data + at, *identity = name + strlen(name) + 1;
		rc = each(arg, name, identity);
		at += strlen(name) + strlen(identity) + 2;
	}
	return rc;
}

typedef struct removing {
	const graph_place *place;
	sherd_error *err;
} removing;

static int remove_one(void *arg, const char *name, const char *identity)
{
	const removing *r = arg;
	int rc = sherd_graph_place_remove_if(r->place, name, identity, r->err);
	return rc < 0 ? rc : SHERD_OK;
}

int sherd_graph_remove_noted(const graph_place *p, const sherd_buf *list, sherd_error *err)
{
	removing r = {p, err};
	return sherd_graph_noted(list, remove_one, &r);
}
