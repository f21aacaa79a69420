#include "many.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256, VALUES = 16 };

typedef struct many {
	size_t tensors;
	uint32_t world;
	bool cut;
	char (*names)[128];
	uint64_t (*at)[1]; /* by shard */
	sherd_ckpt_item *items;
	sherd_ckpt_shard_items *shards;
} many;

static const uint8_t data[VALUES * 4];

void bench_many_name(size_t tensor, char out[128])
{
	static const char *const parts[] = {"self_attn.q_proj.weight", "self_attn.k_proj.weight",
	                                    "self_attn.v_proj.weight", "self_attn.o_proj.weight",
	                                    "mlp.experts.gate_proj.weight"};
	(void)snprintf(out, 128, "model.layers.%zu.%s", tensor / 5, parts[tensor % 5]);
}

static sherd_ckpt_item whole_item(const char *name)
{
	static const uint64_t shape[2] = {4, VALUES / 4};
	return (sherd_ckpt_item){.tensor = {.name = name, .dtype = SHERD_F32, .ndim = 2, .shape = shape}, .data = data};
}

static sherd_ckpt_item piece_item(const char *name, const uint64_t *shape, const uint64_t *at)
{
	static const uint64_t whole[1] = {ROWS};
	return (sherd_ckpt_item){.tensor = {.name = name, .dtype = SHERD_U8, .ndim = 1, .shape = shape},
	                         .global_shape = whole,
	                         .global_offset = at,
	                         .data = data};
}

static void fill(many *m, uint64_t shape[1])
{
	size_t next = 0;
	shape[0] = ROWS / m->world;
	for (size_t i = 0; i < m->tensors; i++)
		bench_many_name(i, m->names[i]);
	for (uint32_t r = 0; r < m->world; r++) {
		size_t first = m->cut ? 0 : m->tensors * r / m->world;
		size_t end = m->cut ? m->tensors : m->tensors * (r + 1) / m->world;
		m->at[r][0] = r * shape[0];
		m->shards[r] = (sherd_ckpt_shard_items){.items = m->items + next, .count = end - first};
		for (size_t i = first; i < end; i++)
			m->items[next++] = m->cut ? piece_item(m->names[i], shape, m->at[r]) : whole_item(m->names[i]);
	}
}

void bench_save_many(sherd_store *store, const char *prefix, size_t tensors, uint32_t world, bool cut)
{
	many m = {.tensors = tensors, .world = world, .cut = cut};
	uint64_t shape[1];
	sherd_error err;
	sherd_ckpt_save_options options = {.world = world};
	m.names = malloc(tensors * sizeof(*m.names));
	m.items = malloc(tensors * (cut ? world : 1) * sizeof(*m.items));
	m.at = malloc(world * sizeof(*m.at));
	m.shards = malloc(world * sizeof(*m.shards));
	if (!m.names || !m.items || !m.at || !m.shards)
		bench_fail("no memory");
	fill(&m, shape);
	if (sherd_ckpt_save(store, prefix, m.shards, &options, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	free(m.names);
	free(m.items);
	free(m.at);
	free(m.shards);
}
