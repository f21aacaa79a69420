#include "engine/graph/disk/chain.h"

#include <inttypes.h>
#include <stdlib.h>

static void chain_forget(graph_chain *c)
{
	shd_arena_done(&c->documents);
	shd_arena_done(&c->lists[0]);
	shd_arena_done(&c->lists[1]);
	c->unsealed = 0;
}

void shd_graph_chain_done(graph_chain *c)
{
	chain_forget(c);
	*c = (graph_chain){0};
}

static int check_version(uint64_t said, uint64_t version, sherd_error *err)
{
	if (said != version)
		return shd_fail(err, SHERD_ECORRUPT, "bad-version", "it says version %" PRIu64, said);
	return SHERD_OK;
}

static int take_full(graph_chain *c, uint64_t version, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	shd_str text;
	chain_forget(c);
	shd_rfdb_manifest_name(version, false, name);
	TRY(shd_graph_place_get(c->place, name, &c->documents, &text, NULL, err));
	TRY(shd_rfdb_manifest_decode(text.ptr, text.len, &c->place->limits, &c->documents, &c->manifest, err));
	TRY(check_version(c->manifest.version, version, err));
	c->base = version;
	c->unsealed = c->manifest.seal == SHD_SEAL_ABSENT;
	return SHERD_OK;
}

static int take_edit(graph_chain *c, uint64_t version, shd_str text, sherd_error *err)
{
	shd_rfdb_edit edit;
	shd_rfdb_manifest next;
	shd_arena *fresh = &c->lists[c->turn ^= 1];
	TRY(shd_rfdb_edit_decode(text.ptr, text.len, &c->place->limits, &c->documents, &edit, err));
	TRY(check_version(edit.version, version, err));
	shd_arena_done(fresh);
	TRY(shd_rfdb_manifest_apply(&c->manifest, &edit, 1, fresh, &next, err));
	c->manifest = next;
	c->unsealed += edit.seal == SHD_SEAL_ABSENT;
	return SHERD_OK;
}

static int chain_take(graph_chain *c, const graph_manifest_file *file, bool follows, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	shd_str text;
	sherd_error failure = {0};
	if (!file->edit)
		return take_full(c, file->version, err);
	if (!follows)
		return shd_fail(err, SHERD_ENOTFOUND, "no-version", "no manifest of version %" PRIu64,
		                file->version - 1);
	shd_rfdb_manifest_name(file->version, true, name);
	int rc = shd_graph_place_get(c->place, name, &c->documents, &text, NULL, &failure);
	/* A version is written in full before its edit goes: since it was listed, perhaps. */
	if (rc == SHERD_ENOTFOUND) {
		rc = take_full(c, file->version, &failure);
		if (rc == SHERD_OK)
			return SHERD_OK;
	}
	TRY(shd_pass(err, rc, &failure));
	return take_edit(c, file->version, text, err);
}

int shd_graph_chain_step(graph_chain *c, const graph_manifest_file *file, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	bool again = c->whole && c->manifest.version == file->version;
	if (again)
		return 0;
	shd_rfdb_manifest_name(file->version, file->edit, name);
	TRY(shd_graph_place_key(c->place, name, &key, err));
	bool follows = c->whole && c->manifest.version + 1 == file->version;
	c->whole = false;
	int rc = chain_take(c, file, follows, err);
	if (rc == SHERD_OK)
		rc = shd_rfdb_manifest_check(&c->manifest, err);
	TRY(shd_in_object(err, rc, key.text));
	c->whole = true;
	return 1;
}
