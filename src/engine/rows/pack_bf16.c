/* engine/rows/pack_bf16.c - residual_shard_bf16 becomes rows, in the order of its manifest. */
#include "base/error.h"
#include "codec/floats.h"
#include "engine/rows/bf16.h"
#include "engine/rows/files.h"

#include <sherd/rows.h>

#include <stdlib.h>

typedef struct source {
	sherd_store *store;
	const char *folder;
	sherd_rows_manifest m;
	size_t at;      /* the shard that is read */
	uint64_t first; /* its first row */
	sherd_reader *reader;
	void *scratch;
	size_t scratch_bytes;
} source;

static int go_to(source *s, uint64_t row, sherd_error *err)
{
	while (row - s->first >= s->m.shards[s->at].rows) {
		s->first += s->m.shards[s->at++].rows;
		sherd_reader_close(TAKE(s->reader));
	}
	if (s->reader)
		return SHERD_OK;
	SHERD_AUTO_BUF key = {0};
	TRY(sherd_rows_bf16_check(s->store, s->folder, &s->m.shards[s->at], err));
	TRY(sherd_rows_key(&key, s->folder, s->m.shards[s->at].file, err));
	return sherd_store_read(s->store, (const char *)key.data, &s->reader, err);
}

static int reserve(source *s, size_t bytes, sherd_error *err)
{
	if (bytes <= s->scratch_bytes)
		return SHERD_OK;
	void *more = realloc(s->scratch, bytes);
	if (!more)
		return sherd_fail_nomem(err);
	s->scratch = more;
	s->scratch_bytes = bytes;
	return SHERD_OK;
}

static int read_rows(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	source *s = arg;
	size_t width = (size_t)s->m.width;
	while (count) {
		TRY(go_to(s, first, err));
		uint64_t row = first - s->first, left = s->m.shards[s->at].rows - row;
		size_t n = left < count ? (size_t)left : count;
		TRY(reserve(s, n * width * 2, err));
		TRY(sherd_reader_at(s->reader, row * s->m.width * 2, s->scratch, n * width * 2, err));
		sherd_floats_from_bf16(s->scratch, out, n * width);
		first += n;
		count -= n;
		out += n * width;
	}
	return SHERD_OK;
}

static int pack(source *s, sherd_store *store, const char *folder, sherd_arena *arena,
                const sherd_rows_pack_options *options, sherd_error *err)
{
	TRY(sherd_rows_bf16_read(s->store, s->folder, NULL, arena, &s->m, err));
	for (size_t i = 0; i < s->m.count; i++)
		TRY(sherd_rows_bf16_check(s->store, s->folder, &s->m.shards[i], err));
	return sherd_rows_pack(store, folder, s->m.rows, s->m.width, read_rows, s, options, err);
}

int sherd_rows_pack_bf16(sherd_store *store, const char *folder, sherd_store *from, const char *from_folder,
                         const sherd_rows_pack_options *options, sherd_error *err)
{
	sherd_arena arena = {0};
	source s = {.store = from, .folder = from_folder};
	int rc = pack(&s, store, folder, &arena, options, err);
	sherd_reader_close(s.reader);
	free(s.scratch);
	sherd_arena_done(&arena);
	return rc;
}
