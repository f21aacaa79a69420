#include "format/samediff/sdnb.h"

#include <stdlib.h>

enum { VERSION = 1, AT_VERSION = 4, AT_MANIFEST = 8, AT_LENGTH = 16, AT_GRAPH = 24 };

#define MAGIC 0x53444e42 /* SHD_SDNB_MAGIC */

static uint64_t get_big(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

static void put_big(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

int shd_sdnb_head_decode(const uint8_t *raw, size_t len, uint64_t file_size, shd_sdnb_head *out, sherd_error *err)
{
	if (len < SHD_SDNB_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size, "the head ends too early");
	if (memcmp(raw, SHD_SDNB_MAGIC, 4) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "SDNB is not there");
	uint64_t version = get_big(raw + AT_VERSION, 4), graph = get_big(raw + AT_GRAPH, 8);
	shd_sdnb_head h = {get_big(raw + AT_MANIFEST, 8), get_big(raw + AT_LENGTH, 8)};
	if (version != VERSION)
		return shd_fail_at(err, version ? SHERD_EVERSION : SHERD_ECORRUPT, "bad-version", AT_VERSION,
		                   "version %llu", (unsigned long long)version);
	if (graph != SHD_SDNB_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", AT_GRAPH, "the graph lies at %llu, not at %d",
		                   (unsigned long long)graph, SHD_SDNB_HEAD);
	if (h.manifest < SHD_SDNB_HEAD || h.manifest > INT64_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", AT_MANIFEST, "the manifest lies at %lld",
		                   (long long)h.manifest);
	if (h.manifest_bytes > INT64_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-length", AT_LENGTH, "a manifest of %lld bytes",
		                   (long long)h.manifest_bytes);
	if (h.manifest > file_size || h.manifest_bytes > file_size - h.manifest)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                   "a manifest of %llu bytes at %llu is not there",
		                   (unsigned long long)h.manifest_bytes, (unsigned long long)h.manifest);
	*out = h;
	return SHERD_OK;
}

void shd_sdnb_head_encode(const shd_sdnb_head *head, uint8_t raw[SHD_SDNB_HEAD])
{
	put_big(raw, MAGIC, 4);
	put_big(raw + AT_VERSION, VERSION, 4);
	put_big(raw + AT_MANIFEST, head->manifest, 8);
	put_big(raw + AT_LENGTH, head->manifest_bytes, 8);
	put_big(raw + AT_GRAPH, SHD_SDNB_HEAD, 8);
}

static int sdnb_by_offset(const void *a, const void *b)
{
	const shd_java_manifest_entry *const *x = a, *const *y = b;
	return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

int shd_sdnb_check_places(const shd_java_manifest_entry *entries, size_t count, const shd_sdnb_head *head,
                          uint64_t *graph_end, sherd_error *err)
{
	const shd_java_manifest_entry **order = malloc((count + 1) * sizeof(*order));
	int rc = SHERD_OK;
	if (!order)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		order[i] = &entries[i];
	if (count)
		qsort(order, count, sizeof(*order), sdnb_by_offset);
	for (size_t i = 0; rc == SHERD_OK && i < count; i++) {
		const shd_java_manifest_entry *e = order[i];
		uint64_t limit = i + 1 < count ? order[i + 1]->offset : head->manifest;
		if (e->offset < SHD_SDNB_HEAD || e->offset > head->manifest || e->length > head->manifest - e->offset)
			rc = shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", head->manifest,
			                 "%.128s: %llu bytes at %llu do not lie between head and manifest", e->name,
			                 (unsigned long long)e->length, (unsigned long long)e->offset);
		else if (limit < e->offset || e->length > limit - e->offset)
			rc = shd_fail_at(err, SHERD_ECORRUPT, "overlap", e->offset,
			                 "%.128s reaches into what follows it", e->name);
	}
	if (rc == SHERD_OK)
		*graph_end = count ? order[0]->offset : head->manifest;
	free(order);
	return rc;
}

/* The number at the end of the text, which is cut off; false when there is none that fits. */
static bool sdnb_take_number(shd_str *text, uint32_t *out)
{
	uint64_t v = 0, weight = 1;
	size_t digits = 0;
	while (text->len && text->ptr[text->len - 1] >= '0' && text->ptr[text->len - 1] <= '9' && digits < 10) {
		v += (uint64_t)(text->ptr[--text->len] - '0') * weight;
		weight *= 10;
		digits++;
	}
	*out = (uint32_t)v;
	return digits && v <= UINT32_MAX && (digits == 1 || text->ptr[text->len] != '0');
}

static bool sdnb_take_end(shd_str *text, const char *end)
{
	if (!shd_str_ends(*text, end))
		return false;
	text->len -= strlen(end);
	return true;
}

bool shd_sdnb_name_parse(shd_str name, shd_sdnb_name *out)
{
	(void)sdnb_take_end(&name, SHD_SDNB_SUFFIX);
	bool ok = sdnb_take_number(&name, &out->count) && sdnb_take_end(&name, "-of-") &&
	          sdnb_take_number(&name, &out->index) && sdnb_take_end(&name, ".shard") && name.len &&
	          name.ptr[name.len - 1] != '/' && out->index < out->count;
	out->base = name;
	return ok;
}
