#include "engine/model/sdnb.h"

#include "base/limits.h"
#include "engine/tensors/blame.h"

#include <stdlib.h>

static int sdnb_part_read_head(const sherd_reader *reader, shd_sdnb_head *out, sherd_error *err)
{
	uint8_t raw[SHD_SDNB_HEAD] = {0};
	uint64_t size = sherd_reader_size(reader);
	size_t len = size < sizeof(raw) ? (size_t)size : sizeof(raw);
	TRY(sherd_reader_at(reader, 0, raw, len, err));
	return shd_sdnb_head_decode(raw, len, size, out, err);
}

static int sdnb_part_read_manifest(const sherd_reader *reader, const shd_sdnb_head *head, const sherd_limits *limits,
                                   shd_arena *arena, shd_sdnb_part *out, sherd_error *err)
{
	shd_java_manifest_entry *entries;
	uint64_t most = shd_limits_or_default(limits).metadata_bytes;
	if (head->manifest_bytes > most)
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", head->manifest, "a manifest of %llu bytes",
		                   (unsigned long long)head->manifest_bytes);
	size_t len = (size_t)head->manifest_bytes;
	SHD_AUTO_FREE void *bytes = malloc(len + 1);
	if (!bytes)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, head->manifest, bytes, len, err));
	int rc = shd_java_manifest_decode(bytes, len, limits, arena, &entries, &out->entry_count, err);
	out->entries = entries;
	return shd_shift_offset(err, rc, head->manifest);
}

/* The graph counts from its own start, errors of the store from that of the file: they are shifted back, as all are
 * shifted later. */
static int sdnb_part_fetch(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	int rc = sherd_reader_at(arg, SHD_SDNB_HEAD + offset, buf, len, err);
	return shd_shift_offset(err, rc, -(uint64_t)SHD_SDNB_HEAD);
}

static int read_graph(const sherd_reader *reader, uint64_t end, const sherd_limits *limits, shd_arena *arena,
                      shd_samediff_graph *out, sherd_error *err)
{
	SHD_DONE(shd_flatbuf_done) shd_flatbuf fb = {0};
	shd_samediff_graph g;
	TRY(shd_flatbuf_open(&fb, sdnb_part_fetch, (void *)reader, end - SHD_SDNB_HEAD, err));
	TRY(shd_shift_offset(err, shd_samediff_decode(&fb, SHD_SAMEDIFF_SDNB, limits, arena, &g, err), SHD_SDNB_HEAD));
	shd_nd4j_array *arrays = (shd_nd4j_array *)g.arrays; /* of our arena */
	for (size_t i = 0; i < g.array_count; i++)
		arrays[i].data += arrays[i].stored ? SHD_SDNB_HEAD : 0;
	*out = g;
	return SHERD_OK;
}

static int open_part(const sherd_reader *reader, const sherd_limits *limits, shd_arena *arena, shd_sdnb_part *out,
                     sherd_error *err)
{
	shd_sdnb_head head;
	uint64_t end;
	TRY(sdnb_part_read_head(reader, &head, err));
	TRY(sdnb_part_read_manifest(reader, &head, limits, arena, out, err));
	TRY(shd_sdnb_check_places(out->entries, out->entry_count, &head, &end, err));
	out->trailing = sherd_reader_size(reader) - head.manifest - head.manifest_bytes;
	return read_graph(reader, end, limits, arena, &out->graph, err);
}

int shd_sdnb_part_open(const sherd_reader *reader, const sherd_limits *limits, shd_arena *arena, shd_sdnb_part *out,
                       sherd_error *err)
{
	return shd_in_reader(err, open_part(reader, limits, arena, out, err), reader);
}
