#include "engine/graph/disk/segment.h"

#include "base/large.h"
#include "engine/tensors/blame.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(graph_segment, shd_graph_segment_close)

int shd_graph_segment_blame(const graph_segment *s, sherd_error *err, int rc)
{
	return s->reader ? shd_in_reader(err, rc, s->reader) : rc;
}

/* The bytes of an object: mapped, or copied where the store cannot map. */
static int bytes_of(const graph_place *place, const char *name, sherd_reader **reader, char **copy, const void **data,
                    sherd_error *err)
{
	graph_key key;
	TRY(shd_graph_place_key(place, name, &key, err));
	TRY(shd_in_object(err, sherd_store_read(reader, place->store, key.text, err), key.text));
	uint64_t size = sherd_reader_size(*reader);
	*data = "";
	if (size > SIZE_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "the object does not fit into memory");
	if (!size)
		return SHERD_OK;
	if (sherd_store_caps(place->store) & SHERD_CAP_MAP)
		return sherd_reader_map(data, *reader, 0, (size_t)size, err);
	*copy = malloc((size_t)size);
	if (!*copy)
		return shd_fail_nomem(err);
	*data = *copy;
	return sherd_reader_at(*reader, 0, *copy, (size_t)size, err);
}

static int disk_segment_check_head(const graph_segment *s, const shd_rfdb_descriptor *about, sherd_error *err)
{
	if (s->rows.kind != about->kind)
		return shd_fail(err, SHERD_ECORRUPT, "bad-type", "the manifest says it holds the other kind of rows");
	if (s->rows.rows != about->rows)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 8, "%" PRIu64 " rows, the manifest says %" PRIu64,
		                   s->rows.rows, about->rows);
	return SHERD_OK;
}

enum { WIDE_FROM = 8 << 20 };

static int open_rows(graph_segment *s, const graph_place *place, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	const void *data;
	const shd_rfdb_descriptor *about = &s->about;
	shd_rfdb_segment_name(about->shard, about->id, about->kind, name);
	TRY(bytes_of(place, name, &s->reader, &s->copy, &data, err));
	uint64_t size = sherd_reader_size(s->reader);
	if (size != about->bytes)
		return shd_fail(err, SHERD_ECORRUPT, "size-mismatch", "%" PRIu64 " bytes, the manifest says %" PRIu64,
		                size, about->bytes);
	TRY(shd_rfdb_segment_open(data, (size_t)size, &s->rows, err));
	sherd_reader_advise(s->reader, 0, size, SHERD_ADVICE_APART);
	s->wide = size >= WIDE_FROM;
	return disk_segment_check_head(s, about, err);
}

static bool disk_segment_fits(const graph_segment *s, const shd_rfdb_sidecar *x)
{
	if (s->about.has_sha256 && memcmp(s->about.sha256, x->segment_sha256, SHD_SHA256_BYTES) != 0)
		return false;
	return shd_rfdb_sidecar_fits(x, &s->rows);
}

/* Whatever is wrong with a sidecar, the segment can do without. */
int shd_graph_segment_open_index(graph_segment *s, const graph_place *place, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	const void *data;
	sherd_error failure = {0};
	shd_rfdb_sidecar_name(s->about.shard, s->about.id, s->about.kind, name);
	int rc = bytes_of(place, name, &s->index_reader, &s->index_copy, &data, &failure);
	if (rc == SHERD_OK)
		rc = shd_rfdb_sidecar_open(data, (size_t)sherd_reader_size(s->index_reader), &s->sidecar, &failure);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	if (rc == SHERD_OK && disk_segment_fits(s, &s->sidecar)) {
		sherd_reader_advise(s->index_reader, 0, s->sidecar.size, SHERD_ADVICE_APART);
		atomic_store(&s->index, &s->sidecar);
		atomic_store(&s->ready, s->sidecar.sorted ? GRAPH_BY_ID : 0);
	}
	return SHERD_OK;
}

void shd_graph_segment_sorted(graph_segment *s)
{
	s->built_index = (shd_rfdb_sidecar){.kind = s->rows.kind, .sorted = true, .rows = s->rows.rows};
	atomic_store(&s->index, &s->built_index);
	atomic_store(&s->ready, GRAPH_BY_ID);
}

void shd_graph_segment_scan(const graph_segment *s)
{
	sherd_reader_advise(s->reader, 0, s->rows.size, SHERD_ADVICE_ONWARD);
}

void shd_graph_segment_scanned(const graph_segment *s)
{
	sherd_reader_advise(s->reader, 0, s->rows.size, SHERD_ADVICE_APART);
}

static bool ascends(const shd_rfdb_texts *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (shd_str_compare(t->items[i - 1], t->items[i]) >= 0)
			return false;
	return true;
}

int shd_graph_segment_open_rows(graph_segment **out, const graph_place *place, const shd_rfdb_descriptor *about,
                                bool level1, sherd_error *err)
{
	SHD_AUTO(graph_segment, shd_graph_segment_close) s = calloc(1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	pthread_mutex_init(&s->making, NULL);
	s->about = *about;
	s->shard = about->shard == SHD_RFDB_FLAT ? 0 : about->shard;
	s->level1 = level1;
	s->types_sorted = ascends(&about->types);
	s->files_sorted = ascends(&about->files);
	TRY(shd_graph_segment_blame(s, err, open_rows(s, place, err)));
	*out = TAKE(s);
	return SHERD_OK;
}

int shd_graph_segment_open(graph_segment **out, const graph_place *place, const shd_rfdb_descriptor *about, bool level1,
                           sherd_error *err)
{
	SHD_AUTO(graph_segment, shd_graph_segment_close) s = NULL;
	TRY(shd_graph_segment_open_rows(&s, place, about, level1, err));
	TRY(shd_graph_segment_open_index(s, place, err));
	*out = TAKE(s);
	return SHERD_OK;
}

void shd_graph_segment_close(graph_segment *s)
{
	if (!s)
		return;
	sherd_reader_close(s->reader);
	sherd_reader_close(s->index_reader);
	free(s->copy);
	free(s->index_copy);
	free(s->fences);
	free(s->keys);
	shd_buf_done(&s->built);
	shd_vec_done(&s->contexts);
	shd_arena_done(&s->arena);
	pthread_mutex_destroy(&s->making);
	free(s);
}

static const shd_rfdb_rows *part_of(const shd_rfdb_sidecar *x, unsigned part)
{
	switch (part) {
	case GRAPH_BY_ID: return &x->by_id;
	case GRAPH_BY_DST: return &x->by_dst;
	case GRAPH_BY_TYPE: return &x->by_type.rows;
	case GRAPH_BY_FILE: return &x->by_file.rows;
	default: return &x->by_name.rows;
	}
}

/* A part is read from end to end before it is used, while the map is for touching here and there. */
static void fetch_parts(const graph_segment *s, unsigned parts)
{
	const shd_rfdb_sidecar *x = &s->sidecar;
	for (unsigned part = 1; part <= GRAPH_BY_NAME; part <<= 1) {
		const shd_rfdb_rows *rows = part_of(x, part);
		if (parts & part && rows->count)
			sherd_reader_advise(s->index_reader, (uint64_t)(rows->list - x->data), 4 * rows->count,
			                    SHERD_ADVICE_SOON);
	}
}

/* Is every part that is asked for whole? */
static bool disk_segment_is_whole(const shd_rfdb_sidecar *x, unsigned parts)
{
	for (unsigned part = 1; part <= GRAPH_BY_NAME; part <<= 1) {
		if (!(parts & part) || (part == GRAPH_BY_ID && x->sorted))
			continue;
		if (shd_rfdb_sidecar_check_rows(x, part_of(x, part), NULL) < 0)
			return false;
	}
	return true;
}

static uint32_t front_of(shd_u128 id)
{
	return (uint32_t)(id >> 96);
}

/* The destination of the row at a place of the order by destination; a row that is not there comes last. */
static shd_u128 dst_at(const graph_segment *s, shd_rfdb_rows order, uint64_t place)
{
	uint32_t row = shd_rfdb_rows_at(order, place);
	return row < s->rows.rows ? shd_rfdb_segment_dst(&s->rows, row) : ~(shd_u128)0;
}

/* Small segments have a fence for every row, so that only rows are looked at that are wanted. */
enum { MANY_FENCES = 1 << 18, MOST_STRIDE = 8 };
/* Fences that a bucket has on average; that are looked at together. */
enum { BUCKET = 4, WINDOW = 16 };

static uint32_t stride_of(uint64_t rows)
{
	uint32_t stride = 1;
	while (stride < MOST_STRIDE && rows / stride > MANY_FENCES)
		stride *= 2;
	return stride;
}

static void fill_buckets(graph_segment *s, size_t fences, size_t buckets)
{
	size_t next = 0;
	for (size_t i = 0; i < fences; i++)
		for (size_t bucket = (uint64_t)s->fences[i] >> s->bucket_shift; next <= bucket; next++)
			s->buckets[next] = (uint32_t)i;
	for (; next <= buckets; next++)
		s->buckets[next] = (uint32_t)fences;
}

/* The order by destination has the rows, not the destinations: finding one in it would be a walk through memory. The
 * fences are small, and lead to a few rows that can be fetched together. */
static int make_fences(graph_segment *s, const shd_rfdb_sidecar *x, sherd_error *err)
{
	uint32_t stride = stride_of(x->by_dst.count);
	size_t count = (size_t)(x->by_dst.count / stride), buckets = 1;
	unsigned shift = 32;
	for (; buckets * BUCKET < count && shift; shift--)
		buckets *= 2;
	uint32_t *fences = shd_large_alloc((count + WINDOW + buckets + 1) * sizeof(*fences));
	if (!fences)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		fences[i] = front_of(dst_at(s, x->by_dst, i * stride));
	for (size_t i = count; i < count + WINDOW; i++)
		fences[i] = UINT32_MAX; /* the window may reach past the end */
	free(s->fences);
	s->fences = fences;
	s->buckets = fences + count + WINDOW;
	s->stride = stride;
	s->bucket_shift = shift;
	fill_buckets(s, count, buckets);
	return SHERD_OK;
}

static int disk_segment_build(graph_segment *s, sherd_error *err)
{
	static const uint8_t unknown[SHD_SHA256_BYTES];
	const uint8_t *sha256 = s->about.has_sha256 ? s->about.sha256 : unknown;
	shd_buf_done(&s->built);
	TRY(shd_rfdb_sidecar_build(&s->rows, sha256, &s->built, err));
	TRY(shd_rfdb_sidecar_open(s->built.data, s->built.len, &s->built_index, err));
	if (s->rows.kind == SHD_RFDB_EDGES && !s->fences)
		TRY(make_fences(s, &s->built_index, err));
	atomic_store(&s->index, &s->built_index);
	atomic_store(&s->ready, GRAPH_BY_ID | GRAPH_BY_DST | GRAPH_BY_TYPE | GRAPH_BY_FILE | GRAPH_BY_NAME);
	return SHERD_OK;
}

static int disk_segment_prepare(graph_segment *s, unsigned ready, unsigned part, sherd_error *err)
{
	const shd_rfdb_sidecar *x = atomic_load(&s->index);
	if (x == &s->sidecar)
		fetch_parts(s, part & ~ready);
	if (!x || !x->data || !disk_segment_is_whole(x, part & ~ready))
		return disk_segment_build(s, err);
	if (part & ~ready & GRAPH_BY_DST)
		TRY(make_fences(s, x, err));
	atomic_store(&s->ready, ready | part);
	return SHERD_OK;
}

int shd_graph_segment_prepare(graph_segment *s, unsigned part, sherd_error *err)
{
	int rc = SHERD_OK;
	pthread_mutex_lock(&s->making);
	unsigned ready = atomic_load(&s->ready);
	if ((ready & part) != part)
		rc = shd_graph_segment_blame(s, err, disk_segment_prepare(s, ready, part, err));
	pthread_mutex_unlock(&s->making);
	return rc;
}

int shd_graph_segment_node(const graph_segment *s, shd_u128 id, uint64_t *row, sherd_error *err)
{
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(s, GRAPH_BY_ID, &x, err));
	if (x->sorted) {
		uint64_t at = shd_rfdb_segment_seek(&s->rows, id);
		*row = at;
		return at < s->rows.rows && shd_rfdb_segment_id(&s->rows, at) == id;
	}
	shd_rfdb_run run = shd_rfdb_sidecar_id(x, &s->rows, id);
	if (!run.count)
		return 0;
	*row = shd_rfdb_run_at(&run, run.count - 1);
	return *row < s->rows.rows;
}

int shd_graph_segment_sources(const graph_segment *s, shd_u128 src, shd_rfdb_run *out, sherd_error *err)
{
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(s, GRAPH_BY_ID, &x, err));
	*out = shd_rfdb_sidecar_id(x, &s->rows, src);
	return SHERD_OK;
}

int shd_graph_segment_aim(const graph_segment *s, shd_u128 dst, sherd_error *err)
{
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(s, GRAPH_BY_DST, &x, err));
	__builtin_prefetch(&s->buckets[(uint64_t)front_of(dst) >> s->bucket_shift]);
	return SHERD_OK;
}

/* How many fences are below. Without branches that depend on the fences: those of several segments are waited for
 * together. Destinations that are no hashes stand in few buckets, and are found by halving. */
static size_t fences_below(const graph_segment *s, uint32_t front)
{
	const uint32_t *bucket = &s->buckets[(uint64_t)front >> s->bucket_shift];
	size_t low = bucket[0], high = bucket[1], below = low;
	if (high - low <= WINDOW) {
		for (size_t i = 0; i < WINDOW; i++)
			below += s->fences[low + i] < front;
		return below;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		bool is_below = s->fences[middle] < front;
		low = is_below ? middle + 1 : low;
		high = is_below ? high : middle;
	}
	return low;
}

static shd_rfdb_rows order_of(const graph_segment *s)
{
	return atomic_load_explicit(&s->index, memory_order_acquire)->by_dst;
}

bool shd_graph_segment_near(const graph_segment *s, shd_u128 dst, uint64_t *near)
{
	size_t below = fences_below(s, front_of(dst));
	*near = below ? (uint64_t)(below - 1) * s->stride + 1 : 0;
	__builtin_prefetch(order_of(s).list + 4 * *near);
	return s->stride > 1 || s->fences[below] == front_of(dst);
}

void shd_graph_segment_fetch(const graph_segment *s, uint64_t near)
{
	const shd_rfdb_rows order = order_of(s);
	uint64_t to = near + s->stride + 1;
	for (uint64_t i = near; i < order.count && i < to; i++) {
		uint64_t row = shd_rfdb_rows_at(order, i);
		__builtin_prefetch(s->rows.dst + 16 * row);
		if (s->stride > 1)
			continue;
		__builtin_prefetch(s->rows.ids + 16 * row);
		__builtin_prefetch(s->rows.text[SHD_RFDB_EDGE_TYPE] + 4 * row);
		__builtin_prefetch(s->rows.text[SHD_RFDB_EDGE_METADATA] + 4 * row);
	}
}

shd_rfdb_rows shd_graph_segment_destinations(const graph_segment *s, shd_u128 dst, uint64_t near)
{
	shd_rfdb_rows order = order_of(s);
	uint64_t from = near, most = from + 2 * (uint64_t)MOST_STRIDE;
	while (from < order.count && from < most && dst_at(s, order, from) < dst)
		from++;
	if (from == most) /* no hashes: many of them begin alike */
		return shd_rfdb_sidecar_dst(atomic_load(&s->index), &s->rows, dst);
	uint64_t to = from;
	while (to < order.count && dst_at(s, order, to) == dst)
		to++;
	return (shd_rfdb_rows){order.list + 4 * from, to - from};
}

int shd_graph_segment_read_node(const graph_segment *s, uint64_t row, shd_rfdb_node *out, sherd_error *err)
{
	int rc = s->about.has_sha256 ? shd_rfdb_segment_peek_node(&s->rows, row, out, err)
	                             : shd_rfdb_segment_node(&s->rows, row, out, err);
	return rc < 0 ? shd_graph_segment_blame(s, err, rc) : SHERD_OK;
}

int shd_graph_segment_read_edge(const graph_segment *s, uint64_t row, shd_rfdb_edge *out, sherd_error *err)
{
	int rc = s->about.has_sha256 ? shd_rfdb_segment_peek_edge(&s->rows, row, out, err)
	                             : shd_rfdb_segment_edge(&s->rows, row, out, err);
	return rc < 0 ? shd_graph_segment_blame(s, err, rc) : SHERD_OK;
}

/* Compares destination and type of a row with those of a key: < 0, 0, > 0. */
static int compare_rest(const graph_segment *s, uint64_t row, const shd_rfdb_edge_key *key)
{
	shd_u128 dst = shd_rfdb_segment_dst(&s->rows, row);
	if (dst != key->dst)
		return dst < key->dst ? -1 : 1;
	shd_str type = {"", 0};
	(void)shd_rfdb_segment_text(&s->rows, SHD_RFDB_EDGE_TYPE, row, &type);
	size_t n = type.len < key->type.len ? type.len : key->type.len;
	int c = memcmp(type.ptr, key->type.ptr, n);
	return c ? c : (type.len > key->type.len) - (type.len < key->type.len);
}

/* Within a run of a sorted segment. */
static bool search(const graph_segment *s, uint64_t low, uint64_t high, const shd_rfdb_edge_key *key, uint64_t *row)
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

/* Rows of a source that are looked at one by one. */
enum { MANY_EDGES = 32 };

int shd_graph_segment_edge(const graph_segment *s, const shd_rfdb_edge_key *key, uint64_t *row, sherd_error *err)
{
	shd_rfdb_run run;
	TRY(shd_graph_segment_sources(s, key->src, &run, err));
	if (!run.listed.list)
		return search(s, run.first, run.first + run.count, key, row);
	if (run.count > MANY_EDGES)
		return shd_graph_segment_newest(s, key, row, err);
	for (uint64_t i = run.count; i-- > 0;) {
		uint64_t at = shd_rfdb_run_at(&run, i);
		if (at < s->rows.rows && compare_rest(s, at, key) == 0) {
			*row = at;
			return 1;
		}
	}
	return 0;
}

int shd_graph_segment_edge_from(const graph_segment *s, const shd_rfdb_edge_key *key, uint64_t *row, sherd_error *err)
{
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(s, GRAPH_BY_ID, &x, err));
	if (!x->sorted)
		return shd_graph_segment_edge(s, key, row, err);
	uint64_t from = *row, to = from;
	while (to < s->rows.rows && to - from < MANY_EDGES && shd_rfdb_segment_id(&s->rows, to) == key->src)
		to++;
	return to - from < MANY_EDGES ? search(s, from, to, key, row) : shd_graph_segment_edge(s, key, row, err);
}
