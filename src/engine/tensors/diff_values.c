#include "base/dtype.h"
#include "codec/apart.h"
#include "engine/tensors/diff.h"
#include "engine/tensors/sweep.h"

#include <math.h>

/* Numbers are widened SOME at a time. */
enum { SOME = 4096 };

/* A side of the comparison. */
typedef struct half {
	const sherd_bundle *bundle;
	size_t index;
	const sherd_tensor *tensor;
	uint32_t bytes;     /* of a block */
	uint32_t per_block; /* values of one */
} half;

typedef struct measuring {
	half sides[2];
	const sherd_diff_options *options;
	shd_meter *meter;
	bool numbers;
	bool bits;        /* elements are equal when their bits are, */
	uint32_t element; /* of which they have so many bytes */
	bool wide;        /* the right side has more bytes than the left one */
	uint64_t common;  /* bytes of the wider side that are read; of strings, those that both have */
	uint32_t unit;    /* values that both sides have in whole blocks */
	shd_apart *parts;
	size_t count;
	shd_apart all; /* of parts that came before */
} measuring;

typedef struct workbench {
	_Alignas(64) uint8_t bytes[2][SHD_SWEEP_PART];
	double values[2][SOME];
	shd_numbers numbers[2];
} workbench;

static half half_of(const sherd_bundle *b, size_t index)
{
	const sherd_tensor *t = &b->tensors[index];
	const sherd_dtype_info *info = sherd_dtype_describe(t->dtype);
	half h = {.bundle = b, .index = index, .tensor = t, .bytes = info->block_bytes, .per_block = 1};
	if (sherd_number_known(t->dtype))
		h.per_block = t->dtype == SHERD_C64 ? 2 : info->block_elements;
	if (!h.bytes)
		h.bytes = 1; /* strings and opaque types, byte by byte */
	return h;
}

static uint64_t measure_bytes(const void *arg, size_t item, uint32_t *block)
{
	const measuring *m = arg;
	const half *h = &m->sides[m->wide];
	(void)item;
	*block = m->unit / h->per_block * h->bytes;
	return m->common;
}

static int measure_begin(void *arg, size_t item, size_t parts, sherd_error *err)
{
	measuring *m = arg;
	(void)item;
	m->count = parts;
	m->parts = calloc(parts + 1, sizeof(*m->parts));
	return m->parts ? SHERD_OK : shd_fail_nomem(err);
}

static void compare_widened(const measuring *m, workbench *w, shd_apart *out, uint64_t first, size_t count)
{
	const shd_apart_rule rule = {
		.bits = m->bits, .tolerance = m->options->tolerance, .relative = m->options->relative};
	for (size_t done = 0; done < count; done += SOME) {
		size_t now = count - done < SOME ? count - done : SOME;
		for (int s = 0; s < 2; s++) {
			const half *h = &m->sides[s];
			if (w->numbers[s].dtype != h->tensor->dtype)
				shd_numbers_init(&w->numbers[s], h->tensor->dtype);
			shd_numbers_f64(&w->numbers[s], w->bytes[s] + done / h->per_block * h->bytes, w->values[s],
			                now / h->per_block);
		}
		shd_apart_add(out, w->values[0], w->values[1], now, first + done, &rule);
	}
}

static int measure_part(void *arg, const shd_sweep_part *part, void *scratch, sherd_error *err)
{
	measuring *m = arg;
	workbench *w = scratch;
	shd_apart *out = &m->parts[part->number];
	const half *wide = &m->sides[m->wide];
	uint64_t first = part->offset / wide->bytes * wide->per_block;
	size_t count = part->len / wide->bytes * wide->per_block;
	for (int s = 0; s < 2; s++) {
		const half *h = &m->sides[s];
		int rc = sherd_bundle_read(h->bundle, h->index, first / h->per_block * h->bytes, w->bytes[s],
		                           count / h->per_block * h->bytes, err);
		TRY(shd_at_index(err, rc, (uint64_t)s));
	}
	if (m->bits)
		shd_apart_bits(out, w->bytes[0], w->bytes[1], part->len / m->element, m->element,
		               part->offset / m->element);
	if (m->numbers)
		compare_widened(m, w, out, first, count);
	return shd_meter_ask(m->meter, err);
}

static void measure_merge(void *arg, size_t item)
{
	measuring *m = arg;
	(void)item;
	for (size_t i = 0; i < m->count; i++) {
		shd_apart_merge(&m->all, &m->parts[i]);
		m->parts[i] = (shd_apart){0};
	}
}

static int measure_end(void *arg, size_t item, sherd_error *err)
{
	(void)err;
	measure_merge(arg, item);
	return SHERD_OK;
}

static void conclude(sherd_diff_values *v, const shd_apart *all, bool numbers)
{
	*v = (sherd_diff_values){.numbers = numbers, .different = all->different, .first = all->first};
	if (!numbers)
		return;
	v->not_finite = all->not_finite;
	v->largest = all->largest;
	v->largest_at = all->largest_at;
	v->norm_left = sqrt(all->left);
	v->norm_right = sqrt(all->right);
	v->norm_difference = sqrt(all->difference);
	v->relative = v->norm_left > 0 ? v->norm_difference / v->norm_left : v->norm_difference > 0 ? INFINITY : 0;
	double product = v->norm_left * v->norm_right;
	v->cosine = product > 0 ? all->both / product : NAN;
	v->cosine = v->cosine > 1 ? 1 : v->cosine < -1 ? -1 : v->cosine;
}

static uint64_t half_bytes(const half *h)
{
	return h->tensor->bytes;
}

static void plan(measuring *m, const shd_diff_sides *sides)
{
	half *l = &m->sides[0], *r = &m->sides[1];
	*l = half_of(sides->left, sides->left_index);
	*r = half_of(sides->right, sides->right_index);
	bool typed = shd_tensor_same_type(l->tensor, r->tensor),
	     exact = m->options->tolerance == 0 && m->options->relative == 0;
	bool alone = sherd_dtype_element_bytes(l->tensor->dtype) != 0;
	m->numbers = sherd_number_known(l->tensor->dtype) && sherd_number_known(r->tensor->dtype);
	m->bits = typed && (!m->numbers || (exact && alone));
	m->element = m->numbers ? l->bytes / l->per_block : l->bytes;
	m->wide = typed ? 0 : half_bytes(r) > half_bytes(l);
	m->common = half_bytes(&m->sides[m->wide]);
	if (!m->numbers && half_bytes(r) < m->common)
		m->common = half_bytes(r);
	/* All are powers of two. */
	m->unit = l->per_block > r->per_block ? l->per_block : r->per_block;
}

int shd_diff_values(const shd_diff_sides *sides, const sherd_diff_options *options, shd_meter *meter,
                    sherd_diff_values *out, sherd_error *err)
{
	measuring m = {.options = options, .meter = meter};
	plan(&m, sides);
	const shd_sweep sweep = {.pool = options->pool,
	                         .count = 1,
	                         .scratch = sizeof(workbench),
	                         .arg = &m,
	                         .bytes = measure_bytes,
	                         .begin = measure_begin,
	                         .part = measure_part,
	                         .merge = measure_merge,
	                         .end = measure_end};
	int rc = shd_sweep_run(&sweep, err);
	free(m.parts);
	if (rc < 0)
		return rc;
	conclude(out, &m.all, m.numbers);
	uint64_t left = half_bytes(&m.sides[0]), right = half_bytes(&m.sides[1]);
	out->count = left / m.sides[0].bytes * m.sides[0].per_block;
	if (!m.numbers && left != right) { /* what only one side has differs too */
		out->first = out->different ? out->first : m.common / m.element;
		out->different += ((left > right ? left : right) - m.common) / m.element;
	}
	return SHERD_OK;
}
