#include "graph_peers.h"

#include <endian.h>

void graph_key_id(sherd_graph_id id, uint8_t out[16])
{
	uint64_t half[2] = {htobe64(id.hi), htobe64(id.lo)};
	memcpy(out, half, 16);
}

sherd_graph_id graph_id_key(const uint8_t key[16])
{
	uint64_t half[2];
	memcpy(half, key, 16);
	return (sherd_graph_id){.hi = be64toh(half[0]), .lo = be64toh(half[1])};
}

size_t graph_key_edge(const sherd_graph_edge *e, bool reverse, uint8_t out[GRAPH_KEY_MAX])
{
	graph_key_id(e->src, out + (reverse ? 16 : 0));
	graph_key_id(e->dst, out + (reverse ? 0 : 16));
	memcpy(out + 32, e->type.ptr, e->type.len);
	return 32 + e->type.len;
}

void graph_edge_key(const void *key, size_t len, bool reverse, sherd_graph_edge *out)
{
	const uint8_t *at = key;
	out->src = graph_id_key(at + (reverse ? 16 : 0));
	out->dst = graph_id_key(at + (reverse ? 0 : 16));
	out->type = (sherd_graph_text){(const char *)at + 32, len - 32};
}

/* The hash, five lengths of 16 bits, six bytes of nothing, the texts. */
enum { VALUE_HEAD = 24 };

size_t graph_value_node(const sherd_graph_node *n, uint8_t out[GRAPH_VALUE_MAX])
{
	const sherd_graph_text texts[5] = {n->semantic_id, n->type, n->name, n->file, n->metadata};
	uint16_t lengths[8] = {0};
	uint8_t *at = out + VALUE_HEAD;
	memcpy(out, &n->content_hash, 8);
	for (int i = 0; i < 5; i++) {
		lengths[i] = (uint16_t)texts[i].len;
		memcpy(at, texts[i].ptr, texts[i].len);
		at += texts[i].len;
	}
	memcpy(out + 8, lengths, sizeof(lengths));
	return (size_t)(at - out);
}

void graph_node_value(const void *value, sherd_graph_node *out)
{
	const uint8_t *from = value;
	const char *at = (const char *)from + VALUE_HEAD;
	sherd_graph_text *texts[5] = {&out->semantic_id, &out->type, &out->name, &out->file, &out->metadata};
	uint16_t lengths[8];
	memcpy(&out->content_hash, from, 8);
	memcpy(lengths, from + 8, sizeof(lengths));
	for (int i = 0; i < 5; i++) {
		*texts[i] = (sherd_graph_text){at, lengths[i]};
		at += lengths[i];
	}
}
