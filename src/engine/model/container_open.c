#include "engine/model/container.h"

#include "base/cursor.h"
#include "base/dtype.h"
#include "engine/tensors/blame.h"
#include "engine/model/container_set.h"
#include "format/container/pairs.h"
#include "format/samediff/graph.h"

#include <stdlib.h>

enum { MOST_TRIES = 100 };

/* ---- arrays */

static bool same_tensor(const sherd_tensor *a, const sherd_tensor *b)
{
	bool same = shd_tensor_same_type(a, b) && a->ndim == b->ndim && a->bytes == b->bytes;
	for (uint32_t i = 0; same && i < a->ndim; i++)
		same = a->shape[i] == b->shape[i];
	return same;
}

/* Follows the index of shard 0 to the shard that has the chunks. */
static int find_record(const shd_container_model *m, const char *name, container_record **out, sherd_error *err)
{
	SHD_AUTO(container_record, shd_container_record_close) r = NULL;
	int rc = shd_container_file_find(m->file, name, &r, err);
	if (rc == SHERD_ENOTFOUND)
		return shd_fail(err, SHERD_ECORRUPT, "no-data", "the index does not have %.128s", name);
	TRY(rc);
	uint32_t shard = r->array.shard;
	if (shard && r->array.tensor.bytes) {
		const container_file *f;
		if (shard >= m->shards.count)
			return shd_fail(err, SHERD_ECORRUPT, "bad-rank", "%.128s lies in shard %u of %u", name, shard,
			                m->shards.count);
		TRY(shd_container_model_shard(m, shard, &f, err));
		shd_container_record_close(TAKE(r));
		rc = shd_container_file_find(f, name, &r, err);
		if (rc == SHERD_ENOTFOUND)
			return shd_fail(err, SHERD_ECORRUPT, "no-data", "shard %u does not have %.128s", shard, name);
		TRY(rc);
	}
	if (r->array.tensor.bytes && !r->array.chunk_count)
		return shd_fail(err, SHERD_ECORRUPT, "no-data", "%.128s has no chunks", name);
	TRY(shd_container_file_check(r->file, &r->array, err));
	*out = TAKE(r);
	return SHERD_OK;
}

int shd_container_model_record(const shd_container_model *m, size_t array, const container_record **out,
                               sherd_error *err)
{
	const sherd_tensor *t = &m->base.arrays[array];
	_Atomic(container_record *) *place = &m->records[array];
	container_record *r = atomic_load(place), *none = NULL;
	if (!r) {
		TRY(shd_in_reader(err, find_record(m, t->name, &r, err), m->file->reader));
		if (!same_tensor(&r->array.tensor, t)) {
			shd_container_record_close(r);
			int rc = shd_fail(err, SHERD_ECORRUPT, "shape-mismatch",
			                  "graph and index differ in type or shape of %.128s", t->name);
			return shd_in_reader(err, rc, m->file->reader);
		}
		if (!atomic_compare_exchange_strong(place, &none, r)) {
			shd_container_record_close(r);
			r = none;
		}
	}
	*out = r;
	return SHERD_OK;
}

static int container_open_read_array(const sherd_model *model, size_t array, uint64_t offset, void *buf, size_t len,
                                     sherd_error *err)
{
	const shd_container_model *m = (const shd_container_model *)model;
	const container_record *r = NULL;
	TRY(shd_container_model_record(m, array, &r, err));
	return shd_container_read(r, offset, buf, len, m->cache, model->pool, err);
}

static int container_open_map_array(const void **out, const sherd_model *model, size_t array, sherd_error *err)
{
	const container_record *r = NULL;
	TRY(shd_container_model_record((const shd_container_model *)model, array, &r, err));
	return shd_container_map(r, out, err);
}

static void container_open_done(sherd_model *model)
{
	shd_container_model *m = (shd_container_model *)model;
	for (size_t i = 0; m->records && i < model->array_count; i++)
		shd_container_record_close(atomic_load(&m->records[i]));
	for (uint32_t i = 1; m->others && i < m->shards.count; i++)
		shd_container_file_close(atomic_load(&m->others[i - 1]));
	for (uint32_t i = 1; m->readers && i < m->shards.count; i++)
		sherd_reader_close(m->readers[i - 1]);
	free(m->records);
	free(m->others);
	free(m->readers);
	shd_container_cache_free(m->cache);
	shd_container_file_close(m->file);
}

static const shd_model_ops ops = {
	.read = container_open_read_array, .map = container_open_map_array, .close = container_open_done};

const shd_container_model *shd_container_of(const sherd_model *model)
{
	return model->ops == &ops ? (const shd_container_model *)model : NULL;
}

/* ---- opening */

static int container_open_take_pairs(shd_container_model *m, sherd_error *err)
{
	const shd_container_section *s = shd_container_find_section(&m->file->head, SHD_SECTION_METADATA);
	SHD_AUTO_FREE uint8_t *bytes = NULL;
	size_t len;
	if (!s)
		return SHERD_OK;
	TRY(shd_container_file_section(m->file, s, &bytes, &len, err));
	int rc = shd_container_pairs_decode(bytes, len, &m->base.arena, &m->base.pairs, &m->base.pair_count, err);
	return shd_shift_offset(err, rc, shd_section_payload(s));
}

static int take_graph(shd_container_model *m, shd_samediff_graph *graph, sherd_error *err)
{
	const shd_container_section *s = shd_container_find_section(&m->file->head, SHD_SECTION_GRAPH);
	SHD_AUTO_FREE uint8_t *bytes = NULL;
	SHD_DONE(shd_flatbuf_done) shd_flatbuf fb = {0};
	size_t len;
	if (!s)
		return shd_fail(err, SHERD_ECORRUPT, "no-graph", "the container has no GRAPH");
	TRY(shd_container_file_section(m->file, s, &bytes, &len, err));
	shd_flatbuf_over(&fb, bytes, len);
	int rc = shd_samediff_decode(&fb, SHD_SAMEDIFF_CONTAINER, &m->file->limits, &m->base.arena, graph, err);
	return shd_shift_offset(err, rc, shd_section_payload(s));
}

/* The graph tells neither how long texts and opaque arrays are nor what the type of those is called: the index does. */
static int measure_array(shd_container_model *m, sherd_tensor *t, sherd_error *err)
{
	SHD_AUTO(container_record, shd_container_record_close) r = NULL;
	int rc = shd_container_file_find(m->file, t->name, &r, err);
	if (rc == SHERD_ENOTFOUND)
		return shd_fail(err, SHERD_ECORRUPT, "no-data", "the index does not have %.128s", t->name);
	TRY(rc);
	t->bytes = r->array.tensor.bytes;
	if (t->dtype != SHERD_OPAQUE)
		return SHERD_OK;
	if (r->array.tensor.dtype != SHERD_OPAQUE)
		return shd_fail(err, SHERD_ECORRUPT, "shape-mismatch",
		                "graph and index differ in type or shape of %.128s", t->name);
	t->type_name = shd_arena_str(&m->base.arena, shd_str_of(r->array.tensor.type_name));
	return t->type_name ? SHERD_OK : shd_fail_nomem(err);
}

/* The index has all their names, so that they cannot take more bytes than it has. */
static int name_arrays(shd_container_model *m, sherd_tensor *arrays, size_t count, sherd_error *err)
{
	sherd_model *b = &m->base;
	const uint64_t most = m->file->index.stored;
	if (count != m->file->arrays)
		return shd_fail(err, SHERD_ECORRUPT, "bad-index", "the index tells of %llu arrays, the graph of %zu",
		                (unsigned long long)m->file->arrays, count);
	int rc = shd_model_name_arrays(&b->graph, arrays, count, most, &b->arena, err);
	if (rc == SHERD_ELIMIT)
		return shd_fail(err, SHERD_ECORRUPT, "bad-index",
		                "the graph gives arrays longer names than the index has room for");
	return rc;
}

static int container_open_describe_arrays(shd_container_model *m, const shd_samediff_graph *graph, sherd_error *err)
{
	sherd_model *b = &m->base;
	size_t count = graph->array_count;
	sherd_tensor *tensors = shd_arena_alloc(&b->arena, count + 1, sizeof(*tensors));
	m->records = calloc(count + 1, sizeof(*m->records));
	if (!tensors || !m->records)
		return shd_fail_nomem(err);
	b->array_count = count;
	for (size_t i = 0; i < count; i++) {
		const shd_nd4j_array *a = &graph->arrays[i];
		tensors[i] = (sherd_tensor){
			.dtype = a->dtype, .ndim = a->ndim, .shape = a->shape, .bytes = a->bytes, .name = ""};
	}
	TRY(name_arrays(m, tensors, count, err));
	for (size_t i = 0; i < count; i++)
		if (!shd_dtype_is_sized(tensors[i].dtype))
			TRY(measure_array(m, &tensors[i], err));
	b->arrays = tensors;
	return SHERD_OK;
}

static int take_all(shd_container_model *m, sherd_error *err)
{
	shd_samediff_graph graph;
	TRY(container_open_take_pairs(m, err));
	TRY(take_graph(m, &graph, err));
	m->base.graph = graph.graph;
	TRY(container_open_describe_arrays(m, &graph, err));
	return shd_model_finish(&m->base, err);
}

/* ---- opening again */

static int container_open_open_once(sherd_model **out, sherd_store *store, const char *key, const sherd_limits *limits,
                                    bool *whole, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) b = NULL;
	TRY(shd_model_new(&b, sizeof(shd_container_model), &ops, SHERD_FORMAT_SAMEDIFF_CONTAINER, err));
	shd_container_model *m = (shd_container_model *)b;
	m->store = store;
	m->cache = shd_container_cache_new();
	if (!m->cache)
		return shd_fail_nomem(err);
	TRY(shd_container_model_open_files(m, key, limits, whole, err));
	TRY(shd_in_reader(err, take_all(m, err), m->file->reader));
	*out = TAKE(b);
	return SHERD_OK;
}

/* A failure that a set gives which is just being replaced. */
static bool may_pass(int rc)
{
	return rc == SHERD_ECORRUPT || rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE || rc == SHERD_ECONFLICT;
}

/* What looks damaged or incomplete is looked at again, until it has looked so twice while nothing changed. */
int shd_model_open_container(sherd_model **out, shd_evidence *e, const sherd_limits *limits, sherd_error *err)
{
	uint8_t before[SHD_SHA256_BYTES], now[SHD_SHA256_BYTES];
	for (int tries = 0;; tries++) {
		sherd_model *m = NULL;
		sherd_error failure = {0};
		bool whole = true;
		int rc = container_open_open_once(&m, e->store, e->key, limits, &whole, &failure);
		if (rc == SHERD_OK ? !whole : may_pass(rc)) {
			int seen = shd_container_fingerprint(e->store, e->key, now, err);
			bool same = tries && memcmp(before, now, sizeof(now)) == 0;
			if (seen < 0 || (!same && tries < MOST_TRIES)) {
				sherd_model_close(m);
				TRY(seen);
				memcpy(before, now, sizeof(now));
				continue;
			}
		}
		if (rc == SHERD_OK)
			*out = m;
		else if (err)
			*err = failure;
		return rc;
	}
}
