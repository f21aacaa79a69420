#include "engine/graph/segment.h"

#include <inttypes.h>
#include <stdlib.h>

SHERD_AUTO_DEFINE(graph_segment, sherd_graph_segment_close)

int sherd_graph_segment_blame(const graph_segment *s, sherd_error *err, int rc)
{
	return sherd_in_object(err, rc, s->reader ? sherd_reader_key(s->reader) : "");
}

/* The bytes of an object: mapped, or copied where the store cannot map. */
static int bytes_of(const graph_place *place, const char *name, sherd_reader **reader, char **copy, const void **data,
                    sherd_error *err)
{
	graph_key key;
	TRY(sherd_graph_place_key(place, name, &key, err));
	TRY(sherd_in_object(err, sherd_store_read(place->store, key.text, reader, err), key.text));
	uint64_t size = sherd_reader_size(*reader);
	*data = "";
	if (size > SIZE_MAX)
		return sherd_fail(err, SHERD_ELIMIT, "too-large", "the object does not fit into memory");
	if (!size)
		return SHERD_OK;
	if (sherd_store_caps(place->store) & SHERD_CAP_MAP) {
		TRY(sherd_reader_map(*reader, 0, (size_t)size, data, err));
		/* There may be more segments than files that may be open. */
		sherd_reader_advise(*reader, 0, size, SHERD_ADVICE_MAPPED);
		return SHERD_OK;
	}
	*copy = malloc((size_t)size);
	if (!*copy)
		return sherd_fail_nomem(err);
	*data = *copy;
	return sherd_reader_at(*reader, 0, *copy, (size_t)size, err);
}

static int check_head(const graph_segment *s, const sherd_rfdb_descriptor *about, sherd_error *err)
{
	if (s->rows.kind != about->kind)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-type", "the manifest says it holds the other kind of rows");
	if (s->rows.rows != about->rows)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-count", 8,
		                     "%" PRIu64 " rows, the manifest says %" PRIu64, s->rows.rows, about->rows);
	return SHERD_OK;
}

static int open_rows(graph_segment *s, const graph_place *place, sherd_error *err)
{
	char name[SHERD_RFDB_NAME_MAX];
	const void *data;
	const sherd_rfdb_descriptor *about = &s->about;
	sherd_rfdb_segment_name(about->shard, about->id, about->kind, name);
	TRY(bytes_of(place, name, &s->reader, &s->copy, &data, err));
	uint64_t size = sherd_reader_size(s->reader);
	if (size != about->bytes)
		return sherd_fail(err, SHERD_ECORRUPT, "size-mismatch", "%" PRIu64 " bytes, the manifest says %" PRIu64,
		                  size, about->bytes);
	TRY(sherd_rfdb_segment_open(data, (size_t)size, &s->rows, err));
	return check_head(s, about, err);
}

static bool fits(const graph_segment *s, const sherd_rfdb_sidecar *x)
{
	if (s->about.has_sha256 && memcmp(s->about.sha256, x->segment_sha256, SHERD_SHA256_BYTES) != 0)
		return false;
	return sherd_rfdb_sidecar_fits(x, &s->rows);
}

/* Whatever is wrong with a sidecar, the segment can do without. */
static int open_index(graph_segment *s, const graph_place *place, sherd_error *err)
{
	char name[SHERD_RFDB_NAME_MAX];
	const void *data;
	sherd_error failure = {0};
	sherd_rfdb_sidecar_name(s->about.shard, s->about.id, s->about.kind, name);
	int rc = bytes_of(place, name, &s->index_reader, &s->index_copy, &data, &failure);
	if (rc == SHERD_OK)
		rc = sherd_rfdb_sidecar_open(data, (size_t)sherd_reader_size(s->index_reader), &s->sidecar, &failure);
	if (rc == SHERD_ENOMEM)
		return sherd_fail_nomem(err);
	if (rc == SHERD_OK && fits(s, &s->sidecar)) {
		atomic_store(&s->index, &s->sidecar);
		atomic_store(&s->ready, s->sidecar.sorted ? GRAPH_BY_ID : 0);
	}
	return SHERD_OK;
}

int sherd_graph_segment_open(graph_segment **out, const graph_place *place, const sherd_rfdb_descriptor *about,
                             bool level1, sherd_error *err)
{
	SHERD_AUTO(graph_segment, sherd_graph_segment_close) s = calloc(1, sizeof(*s));
	if (!s)
		return sherd_fail_nomem(err);
	pthread_mutex_init(&s->making, NULL);
	s->about = *about;
	s->shard = about->shard == SHERD_RFDB_FLAT ? 0 : about->shard;
	s->level1 = level1;
	TRY(sherd_graph_segment_blame(s, err, open_rows(s, place, err)));
	TRY(open_index(s, place, err));
	*out = TAKE(s);
	return SHERD_OK;
}

void sherd_graph_segment_close(graph_segment *s)
{
	if (!s)
		return;
	sherd_reader_close(s->reader);
	sherd_reader_close(s->index_reader);
	free(s->copy);
	free(s->index_copy);
	free(s->fences);
	sherd_buf_done(&s->built);
	sherd_buf_done(&s->contexts);
	sherd_arena_done(&s->arena);
	pthread_mutex_destroy(&s->making);
	free(s);
}

static const sherd_rfdb_rows *part_of(const sherd_rfdb_sidecar *x, unsigned part)
{
	switch (part) {
	case GRAPH_BY_ID: return &x->by_id;
	case GRAPH_BY_DST: return &x->by_dst;
	case GRAPH_BY_TYPE: return &x->by_type.rows;
	case GRAPH_BY_FILE: return &x->by_file.rows;
	default: return &x->by_name.rows;
	}
}

/* Is every part that is asked for whole? */
static bool is_whole(const sherd_rfdb_sidecar *x, unsigned parts)
{
	for (unsigned part = 1; part <= GRAPH_BY_NAME; part <<= 1) {
		if (!(parts & part) || (part == GRAPH_BY_ID && x->sorted))
			continue;
		if (sherd_rfdb_sidecar_check_rows(x, part_of(x, part), NULL) < 0)
			return false;
	}
	return true;
}

static uint32_t front_of(sherd_u128 id)
{
	return (uint32_t)(id >> 96);
}

/* The destination of the row at a place of the order by destination; a row that is not there comes last. */
static sherd_u128 dst_at(const graph_segment *s, sherd_rfdb_rows order, uint64_t place)
{
	uint32_t row = sherd_rfdb_rows_at(order, place);
	return row < s->rows.rows ? sherd_rfdb_segment_dst(&s->rows, row) : ~(sherd_u128)0;
}

/* The order by destination has the rows, not the destinations: finding one in it would be a walk through memory. The
 * fences are small, and lead to a few rows that can be fetched together. */
static int make_fences(graph_segment *s, const sherd_rfdb_sidecar *x, sherd_error *err)
{
	size_t count = (size_t)(x->by_dst.count / GRAPH_FENCE);
	uint32_t *fences = malloc((count + 1) * sizeof(*fences));
	if (!fences)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		fences[i] = front_of(dst_at(s, x->by_dst, i * GRAPH_FENCE));
	free(s->fences);
	s->fences = fences;
	return SHERD_OK;
}

static int build(graph_segment *s, sherd_error *err)
{
	static const uint8_t unknown[SHERD_SHA256_BYTES];
	const uint8_t *sha256 = s->about.has_sha256 ? s->about.sha256 : unknown;
	sherd_buf_done(&s->built);
	TRY(sherd_rfdb_sidecar_build(&s->rows, sha256, &s->built, err));
	TRY(sherd_rfdb_sidecar_open(s->built.data, s->built.len, &s->built_index, err));
	if (s->rows.kind == SHERD_RFDB_EDGES && !s->fences)
		TRY(make_fences(s, &s->built_index, err));
	atomic_store(&s->index, &s->built_index);
	atomic_store(&s->ready, GRAPH_BY_ID | GRAPH_BY_DST | GRAPH_BY_TYPE | GRAPH_BY_FILE | GRAPH_BY_NAME);
	return SHERD_OK;
}

static int prepare(graph_segment *s, unsigned ready, unsigned part, sherd_error *err)
{
	const sherd_rfdb_sidecar *x = atomic_load(&s->index);
	if (!x || !is_whole(x, part & ~ready))
		return build(s, err);
	if (part & ~ready & GRAPH_BY_DST)
		TRY(make_fences(s, x, err));
	atomic_store(&s->ready, ready | part);
	return SHERD_OK;
}

int sherd_graph_segment_prepare(graph_segment *s, unsigned part, sherd_error *err)
{
	int rc = SHERD_OK;
	pthread_mutex_lock(&s->making);
	unsigned ready = atomic_load(&s->ready);
	if ((ready & part) != part)
		rc = sherd_graph_segment_blame(s, err, prepare(s, ready, part, err));
	pthread_mutex_unlock(&s->making);
	return rc;
}

int sherd_graph_segment_node(const graph_segment *s, sherd_u128 id, uint64_t *row, sherd_error *err)
{
	const sherd_rfdb_sidecar *x;
	TRY(sherd_graph_segment_index(s, GRAPH_BY_ID, &x, err));
	if (x->sorted) {
		uint64_t at = sherd_rfdb_segment_seek(&s->rows, id);
		*row = at;
		return at < s->rows.rows && sherd_rfdb_segment_id(&s->rows, at) == id;
	}
	sherd_rfdb_run run = sherd_rfdb_sidecar_id(x, &s->rows, id);
	if (!run.count)
		return 0;
	*row = sherd_rfdb_run_at(&run, run.count - 1);
	return *row < s->rows.rows;
}

int sherd_graph_segment_sources(const graph_segment *s, sherd_u128 src, sherd_rfdb_run *out, sherd_error *err)
{
	const sherd_rfdb_sidecar *x;
	TRY(sherd_graph_segment_index(s, GRAPH_BY_ID, &x, err));
	*out = sherd_rfdb_sidecar_id(x, &s->rows, src);
	return SHERD_OK;
}

/* How many fences are below. They are hashes mostly: near where it should be, or else anywhere. */
static size_t fences_below(const uint32_t *fences, size_t count, uint32_t front)
{
	enum { AROUND = 64 };
	size_t guess = (size_t)((uint64_t)front * count >> 32);
	size_t low = guess > AROUND ? guess - AROUND : 0, high = guess + AROUND < count ? guess + AROUND : count;
	if (low && fences[low - 1] >= front)
		low = 0;
	if (high < count && fences[high] < front)
		high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		bool below = fences[middle] < front;
		low = below ? middle + 1 : low;
		high = below ? high : middle;
	}
	return low;
}

int sherd_graph_segment_destinations(const graph_segment *s, sherd_u128 dst, sherd_rfdb_rows *out, sherd_error *err)
{
	const sherd_rfdb_sidecar *x;
	TRY(sherd_graph_segment_index(s, GRAPH_BY_DST, &x, err));
	sherd_rfdb_rows order = x->by_dst;
	size_t fences = (size_t)(order.count / GRAPH_FENCE), below = fences_below(s->fences, fences, front_of(dst));
	uint64_t from = below ? (uint64_t)(below - 1) * GRAPH_FENCE : 0;
	uint64_t most = from + 2 * (uint64_t)GRAPH_FENCE;
	while (from < order.count && from < most && dst_at(s, order, from) < dst)
		from++;
	if (from == most) { /* no hashes: many of them begin alike */
		*out = sherd_rfdb_sidecar_dst(x, &s->rows, dst);
		return SHERD_OK;
	}
	uint64_t to = from;
	while (to < order.count && dst_at(s, order, to) == dst)
		to++;
	*out = (sherd_rfdb_rows){order.list + 4 * from, to - from};
	return SHERD_OK;
}

int sherd_graph_segment_read_node(const graph_segment *s, uint64_t row, sherd_rfdb_node *out, sherd_error *err)
{
	int rc = s->about.has_sha256 ? sherd_rfdb_segment_peek_node(&s->rows, row, out, err)
	                             : sherd_rfdb_segment_node(&s->rows, row, out, err);
	return rc < 0 ? sherd_graph_segment_blame(s, err, rc) : SHERD_OK;
}

int sherd_graph_segment_read_edge(const graph_segment *s, uint64_t row, sherd_rfdb_edge *out, sherd_error *err)
{
	int rc = s->about.has_sha256 ? sherd_rfdb_segment_peek_edge(&s->rows, row, out, err)
	                             : sherd_rfdb_segment_edge(&s->rows, row, out, err);
	return rc < 0 ? sherd_graph_segment_blame(s, err, rc) : SHERD_OK;
}

/* Compares destination and type of a row with those of a key: < 0, 0, > 0. */
static int compare_rest(const graph_segment *s, uint64_t row, const sherd_rfdb_edge_key *key)
{
	sherd_u128 dst = sherd_rfdb_segment_dst(&s->rows, row);
	if (dst != key->dst)
		return dst < key->dst ? -1 : 1;
	sherd_str type = {"", 0};
	(void)sherd_rfdb_segment_text(&s->rows, SHERD_RFDB_EDGE_TYPE, row, &type);
	size_t n = type.len < key->type.len ? type.len : key->type.len;
	int c = memcmp(type.ptr, key->type.ptr, n);
	return c ? c : (type.len > key->type.len) - (type.len < key->type.len);
}

/* Within a run of a sorted segment. */
static bool search(const graph_segment *s, uint64_t low, uint64_t high, const sherd_rfdb_edge_key *key, uint64_t *row)
{
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		int c = compare_rest(s, mid, key);
		if (c == 0) {
			*row = mid;
			return true;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

int sherd_graph_segment_edge(const graph_segment *s, const sherd_rfdb_edge_key *key, uint64_t *row, sherd_error *err)
{
	sherd_rfdb_run run;
	TRY(sherd_graph_segment_sources(s, key->src, &run, err));
	if (!run.listed.list)
		return search(s, run.first, run.first + run.count, key, row);
	for (uint64_t i = run.count; i-- > 0;) {
		uint64_t at = sherd_rfdb_run_at(&run, i);
		if (at < s->rows.rows && compare_rest(s, at, key) == 0) {
			*row = at;
			return 1;
		}
	}
	return 0;
}
