#include "engine/graph/disk/version.h"

#include <inttypes.h>
#include <stdlib.h>

/* No program writes so many edits in a row; every one of them is read. */
enum { MOST_EDITS = 1 << 16 };

static int check_number(uint64_t said, uint64_t version, sherd_error *err)
{
	if (said != version)
		return shd_fail(err, SHERD_ECORRUPT, "bad-version", "it says version %" PRIu64, said);
	return SHERD_OK;
}

/* 1, or 0 when there is none. */
static int load_full(graph_version *v, const graph_place *p, uint64_t version, shd_rfdb_manifest *out, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	shd_str text;
	sherd_error failure = {0};
	shd_rfdb_manifest_name(version, false, name);
	TRY(shd_graph_place_key(p, name, &key, err));
	int rc = shd_graph_place_get(p, name, &v->arena, &text, v->base_identity, &failure);
	if (rc == SHERD_ENOTFOUND)
		return 0;
	TRY(shd_pass(err, rc, &failure));
	rc = shd_rfdb_manifest_decode(text.ptr, text.len, &p->limits, &v->arena, out, err);
	if (rc == SHERD_OK)
		rc = check_number(out->version, version, err);
	TRY(shd_in_object(err, rc, key.text));
	v->unsealed += out->seal == SHD_SEAL_ABSENT;
	return 1;
}

static int load_edit(graph_version *v, const graph_place *p, uint64_t version, shd_rfdb_edit *out, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	shd_str text;
	shd_rfdb_manifest_name(version, true, name);
	TRY(shd_graph_place_key(p, name, &key, err));
	int rc = shd_graph_place_get(p, name, &v->arena, &text, NULL, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_ENOTFOUND, "no-version", "no manifest of version %" PRIu64, version);
	if (rc == SHERD_OK)
		rc = shd_rfdb_edit_decode(text.ptr, text.len, &p->limits, &v->arena, out, err);
	if (rc == SHERD_OK) {
		v->unsealed += out->seal == SHD_SEAL_ABSENT;
		rc = check_number(out->version, version, err);
	}
	return shd_in_object(err, rc, key.text);
}

/* 1 and the full manifest, or 0 and the edit. */
static int load_either(graph_version *v, const graph_place *p, uint64_t version, shd_rfdb_manifest *full,
                       shd_rfdb_edit *edit, sherd_error *err)
{
	sherd_error failure = {0};
	int rc = load_full(v, p, version, full, err);
	if (rc)
		return rc;
	rc = load_edit(v, p, version, edit, &failure);
	if (rc == SHERD_ENOTFOUND) {
		/* A version is written in full before its edit goes: between our two looks, perhaps. */
		int again = load_full(v, p, version, full, err);
		if (again)
			return again;
	}
	return shd_pass(err, rc, &failure);
}

static int disk_version_load(graph_version *v, const graph_place *p, uint64_t version, sherd_error *err)
{
	SHD_AUTO_VEC SHD_VEC(shd_rfdb_edit) edits = {0}; /* newest first */
	shd_rfdb_manifest base;
	shd_rfdb_edit edit;
	uint64_t at = version;
	int rc;
	while ((rc = load_either(v, p, at, &base, &edit, err)) == 0) {
		shd_vec_push(&edits, edit);
		if (at-- == 0 || version - at > MOST_EDITS)
			return shd_fail(err, SHERD_ECORRUPT, "bad-version", "no full manifest below version %" PRIu64,
			                version);
	}
	TRY(rc);
	TRY(shd_vec_check(&edits, err));
	v->base = at;
	shd_rfdb_edit *list = edits.items;
	size_t count = edits.count;
	for (size_t i = 0; i < count / 2; i++) {
		shd_rfdb_edit other = list[i];
		list[i] = list[count - 1 - i];
		list[count - 1 - i] = other;
	}
	TRY(shd_rfdb_manifest_apply(&base, list, count, &v->arena, &v->manifest, err));
	return shd_rfdb_manifest_check(&v->manifest, err);
}

int shd_graph_version_load(graph_version *out, const graph_place *p, uint64_t version, sherd_error *err)
{
	graph_version v = {0};
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	shd_rfdb_manifest_name(version, false, name);
	TRY(shd_graph_place_key(p, name, &key, err));
	int rc = shd_in_object(err, disk_version_load(&v, p, version, err), key.text);
	if (rc < 0)
		shd_graph_version_done(&v);
	else
		*out = v;
	return rc;
}

void shd_graph_version_done(graph_version *v)
{
	shd_arena_done(&v->arena);
	*v = (graph_version){0};
}
