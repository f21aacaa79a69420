/* Whatever document of a graph database is accepted survives being written and read again; edits are applied to
 * whatever they are found with. */
#include "base/error.h"
#include "form.h"
#include "format/rfdb/manifest.h"
#include "format/rfdb/plan.h"
#include "format/rfdb/synced.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_sealed;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool equal(const shd_buf *a, const shd_buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static void try_manifest(const void *data, size_t len, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0}, twice = {0};
	shd_rfdb_manifest m, again;
	if (shd_rfdb_manifest_decode(data, len, NULL, arena, &m, NULL) < 0)
		return;
	(void)shd_rfdb_manifest_check(&m, NULL);
	shd_rfdb_manifest_encode(&m, &out);
	must(shd_rfdb_manifest_decode(out.data, out.len, NULL, arena, &again, NULL) == SHERD_OK);
	must(again.seal == SHD_SEAL_GOOD);
	shd_rfdb_manifest_encode(&again, &twice);
	must(equal(&out, &twice));
}

static void try_edit(const void *data, size_t len, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0}, twice = {0};
	shd_rfdb_edit e, again;
	shd_rfdb_manifest base = {0}, m;
	if (shd_rfdb_edit_decode(data, len, NULL, arena, &e, NULL) < 0)
		return;
	shd_rfdb_edit_encode(&e, &out);
	must(shd_rfdb_edit_decode(out.data, out.len, NULL, arena, &again, NULL) == SHERD_OK);
	shd_rfdb_edit_encode(&again, &twice);
	must(equal(&out, &twice));
	base.version = e.parent;
	base.nodes = e.l1_nodes;
	base.dead_nodes = e.dead_nodes;
	base.dead_edges = e.undead_edges;
	if (e.parent == UINT64_MAX || e.version != e.parent + 1)
		must(shd_rfdb_manifest_apply(&base, &e, 1, arena, &m, NULL) == SHERD_ECORRUPT);
	else
		must(shd_rfdb_manifest_apply(&base, &e, 1, arena, &m, NULL) == SHERD_OK && m.version == e.version);
}

static void try_small(const void *data, size_t len, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0}, twice = {0};
	shd_rfdb_index x, again;
	shd_rfdb_config c;
	shd_rfdb_current head;
	(void)shd_rfdb_config_decode(data, len, &c, NULL);
	(void)shd_rfdb_current_decode(data, len, &head, NULL);
	if (shd_rfdb_index_decode(data, len, NULL, arena, &x, NULL) < 0)
		return;
	shd_rfdb_index_encode(&x, &out);
	must(shd_rfdb_index_decode(out.data, out.len, NULL, arena, &again, NULL) == SHERD_OK);
	shd_rfdb_index_encode(&again, &twice);
	must(equal(&out, &twice));
}

static void try_plan(const void *data, size_t len)
{
	SHD_AUTO_BUF out = {0};
	shd_rfdb_plan plan;
	uint16_t shard;
	shd_rfdb_plan_init(&plan, 0);
	if (shd_rfdb_plan_decode(data, len, NULL, &plan, NULL) == SHERD_OK) {
		const shd_str files[] = {SHD_STR("a/b/1"), SHD_STR("a/c/1"), SHD_STR("1")};
		uint16_t shards[3];
		must(shd_rfdb_plan_extend(&plan, files, 3, shards, NULL) == SHERD_OK);
		for (size_t i = 0; i < 3; i++) {
			must(shd_rfdb_plan_find(&plan, files[i], &shard) && shard == shards[i]);
			must(shd_rfdb_plan_name(&plan, shard));
		}
		shd_rfdb_plan_encode(&plan, &out);
	}
	shd_rfdb_plan_done(&plan);
}

static void try_synced(const void *data, size_t len, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0}, twice = {0};
	shd_rfdb_synced s, again;
	if (shd_rfdb_synced_decode(data, len, arena, &s, NULL) < 0)
		return;
	shd_rfdb_synced_encode(&s, &out);
	must(shd_rfdb_synced_decode(out.data, out.len, arena, &again, NULL) == SHERD_OK);
	shd_rfdb_synced_encode(&again, &twice);
	must(equal(&out, &twice));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	try_manifest(data, len, &arena);
	try_edit(data, len, &arena);
	try_small(data, len, &arena);
	try_plan(data, len);
	try_synced(data, len, &arena);
	shd_arena_done(&arena);
	return 0;
}
