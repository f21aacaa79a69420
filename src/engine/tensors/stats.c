/* engine/tensors/stats.c - one pass over tensors: moments of each part, kept until all parts of the tensor, or of a
 * window of it, are there and merged in their order; a sketch of each part, added to the tensor's. */
#include "base/meter.h"
#include "codec/moments.h"
#include "codec/numbers.h"
#include "codec/sketch.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/sweep.h"

#include <sherd/guard.h>
#include <sherd/stats.h>

#include <math.h>

static const double shares[SHERD_STATS_QUANTILES] = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};

double sherd_stats_share(size_t quantile)
{
	return quantile < SHERD_STATS_QUANTILES ? shares[quantile] : NAN;
}

/* Values are sampled in runs of RUN; of more than ALL of them, one run of each FEW. Values are widened SOME at a time.
 * Quantiles of up to EXACT values are exact. */
enum { RUN = 512, FEW = 16, SOME = FEW * RUN, EXACT = 1024, MAP_ABOVE = 4 << 20 };
#define ALL ((uint64_t)1 << 21)

typedef struct item_state {
	shd_moments *parts; /* one each, but of a large tensor */
	size_t count;
	shd_moments all;       /* of parts that came before */
	shd_sketch *sketch;    /* of several parts; NULL: none is wanted, or there is one part only */
	const uint8_t *mapped; /* its bytes where they lie; NULL: parts are read */
	sherd_stats stats;
} item_state;

typedef struct gathering {
	const sherd_bundle *bundle;
	const size_t *tensors; /* NULL: all */
	const sherd_stats_options *options;
	sherd_stats_fn *each;
	void *arg;
	shd_meter meter;
	item_state **items;   /* NULL before and after their window */
	pthread_mutex_t lock; /* of all sketches */
} gathering;

/* What a worker needs for one part. */
typedef struct workspace {
	_Alignas(64) uint8_t bytes[SHD_SWEEP_PART];
	union {
		float singles[SOME];
		double doubles[SOME];
	} values;
	shd_numbers numbers;
	shd_sketch sketch;
} workspace;

static const sherd_tensor *tensor_of(const gathering *g, size_t item)
{
	return &g->bundle->tensors[g->tensors ? g->tensors[item] : item];
}

static uint64_t stats_bytes(const void *arg, size_t item, uint32_t *block)
{
	const sherd_tensor *t = tensor_of(arg, item);
	bool known = sherd_number_known(t->dtype);
	*block = known ? sherd_dtype_describe(t->dtype)->block_bytes : 1;
	return known ? t->bytes : 0;
}

static void forget(item_state **state)
{
	if (*state) {
		free((*state)->parts);
		free((*state)->sketch);
	}
	free(*state);
	*state = NULL;
}

/* A copy less. Not without a guard, since files may be cut off; nor where bytes are held against checksums, which is
 * done part by part. */
static const uint8_t *map_large(const gathering *g, size_t item)
{
	const sherd_tensor *t = tensor_of(g, item);
	const void *bytes = NULL;
	if (t->bytes < MAP_ABOVE || !sherd_number_known(t->dtype) || g->bundle->ops->check || !sherd_guard_held() ||
	    sherd_bundle_map(&bytes, g->bundle, (size_t)(t - g->bundle->tensors), NULL) < 0)
		return NULL;
	return bytes;
}

static int stats_begin(void *arg, size_t item, size_t parts, sherd_error *err)
{
	gathering *g = arg;
	item_state *state = g->items[item] = calloc(1, sizeof(*state));
	if (!state || !(state->parts = calloc(parts + 1, sizeof(*state->parts))))
		return shd_fail_nomem(err);
	state->count = parts;
	state->stats.known = sherd_number_known(tensor_of(g, item)->dtype);
	state->mapped = map_large(g, item);
	if (parts < 2 || g->options->without_sketch)
		return SHERD_OK;
	state->sketch = malloc(sizeof(*state->sketch));
	if (!state->sketch)
		return shd_fail_nomem(err);
	shd_sketch_init(state->sketch);
	return SHERD_OK;
}

static uint64_t scattered(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Which of FEW runs is looked at; by the place in the tensor alone. */
static size_t chosen_run(uint64_t first)
{
	return (size_t)(scattered(first / SOME + 1) % FEW);
}

/* Values [first, first+count) of the tensor, count at most SOME. */
static void sample(workspace *w, bool few, uint64_t first, const void *values, bool single, size_t count)
{
	size_t from = few ? chosen_run(first) * RUN : 0, to = few ? from + RUN : count;
	to = to < count ? to : count;
	if (from >= to)
		return;
	if (single)
		shd_sketch_f32(&w->sketch, (const float *)values + from, to - from);
	else
		shd_sketch_f64(&w->sketch, (const double *)values + from, to - from);
}

/* Values that lie in memory as they are, as floats: nothing is widened. */
static void gather_floats(workspace *w, const uint8_t *bytes, shd_moments *out, bool sketched, bool few, uint64_t first,
                          size_t count)
{
	const float *values = (const float *)(const void *)bytes;
	shd_moments_f32(out, values, count);
	for (size_t i = 0; sketched && i < count; i += SOME)
		sample(w, few, first + i, values + i, true, count - i < SOME ? count - i : SOME);
}

static void gather_widened(workspace *w, const uint8_t *bytes, shd_moments *out, bool sketched, bool few,
                           uint64_t first, size_t blocks)
{
	const shd_numbers *n = &w->numbers;
	size_t room = SOME / n->per_block;
	for (size_t done = 0; done < blocks; done += room) {
		shd_moments some;
		size_t now = blocks - done < room ? blocks - done : room, count = now * n->per_block;
		const uint8_t *in = bytes + done * n->bytes;
		if (n->single) {
			shd_numbers_f32(n, in, w->values.singles, now);
			shd_moments_f32(&some, w->values.singles, count);
		} else {
			shd_numbers_f64(n, in, w->values.doubles, now);
			shd_moments_f64(&some, w->values.doubles, count);
		}
		shd_moments_merge(out, &some);
		if (sketched)
			sample(w, few, first + done * n->per_block, &w->values, n->single, count);
	}
}

static void describe(sherd_stats *s, const shd_moments *m, const shd_sketch *sketch)
{
	s->nan = m->nan;
	s->inf = m->inf;
	s->zeros = m->zeros;
	s->finite = m->finite;
	s->count = m->finite + m->nan + m->inf;
	bool some = m->finite > 0;
	double n = (double)m->finite;
	s->min = some ? m->min : NAN;
	s->max = some ? m->max : NAN;
	s->mean = some ? m->mean : NAN;
	s->deviation = some ? sqrt(m->squares / n) : NAN;
	s->norm = some ? sqrt(m->squares + m->mean * m->mean * n) : NAN;
	for (size_t i = 0; i < SHERD_STATS_QUANTILES; i++)
		s->quantiles[i] = NAN;
	s->sampled = sketch ? sketch->count : 0;
	if (!sketch || !some)
		return;
	shd_sketch_quantiles(sketch, shares, s->quantiles, SHERD_STATS_QUANTILES, m->min, m->max);
	shd_sketch_bins(sketch, m->min, m->max, s->bins, SHERD_STATS_BINS);
}

/* Of a tensor that is one part of few values. */
static void take_exact(sherd_stats *s, workspace *w, size_t blocks)
{
	double *values = w->values.doubles;
	size_t kept = 0;
	shd_numbers_f64(&w->numbers, w->bytes, values, blocks);
	for (size_t i = 0; i < s->count; i++)
		if (isfinite(values[i]))
			values[kept++] = values[i];
	shd_sketch_exact(values, kept, shares, s->quantiles, SHERD_STATS_QUANTILES);
}

/* What a part gives the tensor that it is of, or is all of. */
static void add_part_stats(gathering *g, item_state *state, workspace *w, size_t blocks)
{
	bool wanted = !g->options->without_sketch;
	if (state->count == 1)
		describe(&state->stats, state->parts, wanted ? &w->sketch : NULL);
	if (state->count == 1 && wanted && state->stats.count <= EXACT)
		take_exact(&state->stats, w, blocks);
	if (!state->sketch)
		return;
	(void)pthread_mutex_lock(&g->lock);
	shd_sketch_merge(state->sketch, &w->sketch);
	(void)pthread_mutex_unlock(&g->lock);
}

static int stats_part(void *arg, const shd_sweep_part *part, void *scratch, sherd_error *err)
{
	gathering *g = arg;
	workspace *w = scratch;
	item_state *state = g->items[part->item];
	const sherd_tensor *t = tensor_of(g, part->item);
	shd_moments *out = &state->parts[part->number];
	const uint8_t *bytes = state->mapped ? state->mapped + part->offset : w->bytes;
	if (!state->mapped)
		TRY(sherd_bundle_read(g->bundle, (size_t)(t - g->bundle->tensors), part->offset, w->bytes, part->len,
		                      err));
	if (w->numbers.dtype != t->dtype)
		shd_numbers_init(&w->numbers, t->dtype);
	const shd_numbers *n = &w->numbers;
	size_t blocks = part->len / n->bytes;
	uint64_t first = part->offset / n->bytes * n->per_block;
	bool sketched = !g->options->without_sketch, few = t->bytes / n->bytes * n->per_block > ALL;
	shd_sketch_clear(&w->sketch);
	if (t->dtype == SHERD_F32 || t->dtype == SHERD_C64)
		gather_floats(w, bytes, out, sketched, few, first, blocks * n->per_block);
	else
		gather_widened(w, bytes, out, sketched, few, first, blocks);
	if (state->mapped)
		TRY(sherd_guard_check(bytes, part->len, err));
	add_part_stats(g, state, w, blocks);
	return shd_meter_add(&g->meter, part->len, err);
}

static void stats_merge(void *arg, size_t item)
{
	item_state *state = ((gathering *)arg)->items[item];
	for (size_t i = 0; i < state->count; i++) {
		shd_moments_merge(&state->all, &state->parts[i]);
		state->parts[i] = (shd_moments){0};
	}
}

static int stats_end(void *arg, size_t item, sherd_error *err)
{
	gathering *g = arg;
	item_state *state = g->items[item];
	stats_merge(g, item);
	if (state->stats.known && state->count != 1)
		describe(&state->stats, &state->all, state->sketch);
	sherd_stats stats = state->stats;
	forget(&g->items[item]);
	return g->each(g->arg, g->tensors ? g->tensors[item] : item, &stats, err);
}

static int run_gathering(gathering *g, size_t count, sherd_error *err)
{
	uint64_t total = 0;
	uint32_t block;
	for (size_t i = 0; i < count; i++)
		total += stats_bytes(g, i, &block);
	const shd_sweep sweep = {.pool = g->options->pool,
	                         .count = count,
	                         .scratch = sizeof(workspace),
	                         .arg = g,
	                         .bytes = stats_bytes,
	                         .begin = stats_begin,
	                         .part = stats_part,
	                         .merge = stats_merge,
	                         .end = stats_end};
	shd_meter_init(&g->meter, g->options->progress, total);
	int rc = shd_sweep_run(&sweep, err);
	shd_meter_done(&g->meter);
	for (size_t i = 0; i < count; i++)
		forget(&g->items[i]);
	return rc;
}

int sherd_stats_bundle(const sherd_bundle *bundle, const size_t *tensors, size_t count,
                       const sherd_stats_options *options, sherd_stats_fn *each, void *arg, sherd_error *err)
{
	static const sherd_stats_options defaults;
	const sherd_stats_options *o = options ? options : &defaults;
	const sherd_bundle_options prepare = {.pool = o->pool, .progress = o->progress};
	TRY(sherd_bundle_prepare(bundle, tensors, tensors ? count : 0, &prepare, err));
	count = tensors ? count : bundle->count;
	gathering g = {.bundle = bundle,
	               .tensors = tensors,
	               .options = o,
	               .each = each,
	               .arg = arg,
	               .lock = PTHREAD_MUTEX_INITIALIZER};
	g.items = calloc(count + 1, sizeof(*g.items));
	if (!g.items)
		return shd_fail_nomem(err);
	int rc = run_gathering(&g, count, err);
	free(g.items);
	return rc;
}
