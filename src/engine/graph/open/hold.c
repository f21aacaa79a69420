#include "engine/graph/open/hold.h"

#include "engine/graph/disk/head.h"

SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

int shd_graph_hold_version(const graph_place *p, uint64_t version, sherd_lock **out, sherd_error *err)
{
	*out = NULL;
	if (!(sherd_store_caps(p->store) & SHERD_CAP_LOCK))
		return SHERD_OK;
	int rc = SHERD_ENOTFOUND;
	sherd_error failure = {0};
	for (int edit = 0; rc == SHERD_ENOTFOUND && edit < 2; edit++) {
		char name[SHD_RFDB_NAME_MAX];
		graph_key key;
		shd_rfdb_manifest_name(version, edit, name);
		TRY(shd_graph_place_key(p, name, &key, err));
		rc = shd_in_object(&failure, sherd_store_lock(out, p->store, key.text, SHERD_LOCK_SHARED, &failure),
		                   key.text);
	}
	return shd_pass(err, rc, &failure);
}

typedef struct held {
	uint64_t version, number;
} held;
typedef SHD_VEC(held) held_vec;

/* Removes the second name: 0, or 1 when somebody holds the manifest. */
static int drop(const graph_place *p, const held *h, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	sherd_error failure = {0};
	shd_rfdb_held_name(h->version, h->number, name);
	TRY(shd_graph_place_key(p, name, &key, err));
	int rc = sherd_store_lock(&lock, p->store, key.text, SHERD_LOCK_EXCLUSIVE, &failure);
	if (rc == SHERD_ECONFLICT)
		return 1;
	if (rc == SHERD_OK)
		return shd_graph_place_remove(p, name, err);
	if (rc == SHERD_ENOTFOUND)
		return 0;
	return shd_pass(err, rc, &failure);
}

/* SHERD_ENOTFOUND when there is no full manifest. */
static int give_second_name(const graph_place *p, const graph_key *full, held *h, sherd_error *err)
{
	int rc = SHERD_EEXIST;
	for (h->number = 1; rc == SHERD_EEXIST; h->number++) {
		char name[SHD_RFDB_NAME_MAX];
		graph_key second;
		shd_rfdb_held_name(h->version, h->number, name);
		TRY(shd_graph_place_key(p, name, &second, err));
		rc = sherd_store_link(p->store, full->text, second.text, err);
		if (rc == SHERD_OK)
			return SHERD_OK;
	}
	return rc;
}

static int write_full(const graph_place *p, const char *name, const shd_rfdb_manifest *m, const char *identity,
                      sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	const sherd_write_options o = {.mode = *identity ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                               .if_identity = *identity ? identity : NULL};
	shd_rfdb_manifest_encode(m, &text);
	int rc = shd_graph_place_write(p, name, &o, &text, err);
	return rc == SHERD_ECONFLICT || rc == SHERD_EEXIST ? shd_graph_head_fail(err) : rc;
}

int shd_graph_hold_replace(const graph_place *p, const shd_rfdb_manifest *m, const char *identity, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	held h = {.version = m->version};
	sherd_error failure = {0};
	int rc = SHERD_ENOTFOUND;
	shd_rfdb_manifest_name(m->version, false, name);
	TRY(shd_graph_place_key(p, name, &key, err));
	if (sherd_store_caps(p->store) & SHERD_CAP_LOCK)
		rc = give_second_name(p, &key, &h, &failure);
	bool named = rc == SHERD_OK;
	if (rc == SHERD_EUNSUPPORTED)
		rc = sherd_store_lock(&lock, p->store, key.text, SHERD_LOCK_EXCLUSIVE, &failure);
	if (rc < 0 && rc != SHERD_ENOTFOUND)
		return shd_pass(err, rc, &failure);
	rc = write_full(p, name, m, identity, err);
	/* What stays for want of a working disk is dropped by the collector. */
	if (named)
		(void)drop(p, &h, NULL);
	return rc;
}

static bool hold_see(void *arg, const char *name, const sherd_stat *stat)
{
	(void)stat;
	held_vec *found = arg;
	held h;
	if (shd_rfdb_held_parse(shd_str_of(name), &h.version, &h.number))
		shd_vec_push(found, h);
	return !found->failed;
}

int shd_graph_hold_list(const graph_place *p, void (*each)(void *arg, uint64_t version), void *arg, sherd_error *err)
{
	SHD_AUTO_VEC held_vec found = {0};
	TRY(shd_graph_place_list(p, SHD_RFDB_MANIFESTS, hold_see, &found, err));
	TRY(shd_vec_check(&found, err));
	for (size_t i = 0; i < found.count; i++) {
		int rc = drop(p, &found.items[i], err);
		TRY(rc);
		if (rc)
			each(arg, found.items[i].version);
	}
	return SHERD_OK;
}
