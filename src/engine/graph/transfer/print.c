#include "engine/graph/transfer/transfer.h"

static void print_number(shd_sha256 *h, uint64_t v)
{
	uint8_t bytes[8];
	shd_put_u64(bytes, v);
	shd_sha256_add(h, bytes, sizeof(bytes));
}

static void print_id(shd_sha256 *h, shd_u128 id)
{
	print_number(h, (uint64_t)id);
	print_number(h, (uint64_t)(id >> 64));
}

static bool print_list(shd_sha256 *h, const shd_rfdb_descriptors *list)
{
	bool whole = true;
	print_number(h, list->count);
	for (size_t i = 0; i < list->count; i++) {
		const shd_rfdb_descriptor *d = &list->items[i];
		whole = whole && d->has_sha256;
		print_number(h, d->kind);
		print_number(h, d->shard);
		print_number(h, d->rows);
		shd_sha256_add(h, d->sha256, sizeof(d->sha256));
	}
	return whole;
}

bool shd_graph_print(const shd_rfdb_manifest *m, uint8_t out[SHD_SHA256_BYTES])
{
	shd_sha256 h;
	shd_sha256_init(&h);
	bool whole = print_list(&h, &m->nodes);
	whole = print_list(&h, &m->edges) && whole;
	whole = print_list(&h, &m->l1_nodes) && whole;
	whole = print_list(&h, &m->l1_edges) && whole;
	print_number(&h, m->dead_nodes.count);
	for (size_t i = 0; i < m->dead_nodes.count; i++)
		print_id(&h, m->dead_nodes.items[i]);
	print_number(&h, m->dead_edges.count);
	for (size_t i = 0; i < m->dead_edges.count; i++) {
		const shd_rfdb_edge_key *key = &m->dead_edges.items[i];
		print_id(&h, key->src);
		print_id(&h, key->dst);
		print_number(&h, key->type.len);
		shd_sha256_add(&h, key->type.ptr, key->type.len);
	}
	shd_sha256_finish(&h, out);
	return whole;
}
