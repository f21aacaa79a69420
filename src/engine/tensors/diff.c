/* engine/tensors/diff.c - two bundles, tensor by tensor.
 *
 * Bytes are compared first, of many tensors at once: most are equal. Only where they are not, or the types are two, the
 * tensor is read once more as numbers. */
#include "engine/tensors/diff.h"

#include "base/dtype.h"
#include "base/meter.h"
#include "base/vec.h"
#include "engine/tensors/sweep.h"

#include <sherd/name.h>

#include <math.h>
#include <stdatomic.h>

const char *sherd_diff_kind_name(sherd_diff_kind kind)
{
	static const char *const names[] = {"equal", "only-left", "only-right", "dtype", "shape", "values"};
	return (unsigned)kind < COUNT_OF(names) ? names[kind] : NULL;
}

/* One line of what will be told. */
typedef struct pair {
	size_t left, right; /* or SHERD_NO_TENSOR */
	sherd_diff_kind kind;
	bool compared;       /* its bytes are to be read */
	_Atomic bool differ; /* bytes do, somewhere */
} pair;

typedef struct comparing {
	const sherd_bundle *left, *right;
	const sherd_diff_options *options;
	sherd_diff_fn *each;
	void *arg;
	sherd_diff_summary *summary;
	pair *pairs;
	size_t count;
	shd_meter meter;
} comparing;

static const sherd_tensor *tensor_at(const sherd_bundle *b, size_t index)
{
	return index == SHERD_NO_TENSOR ? NULL : &b->tensors[index];
}

static bool same_shape(const sherd_tensor *a, const sherd_tensor *b)
{
	return a->ndim == b->ndim && (!a->ndim || memcmp(a->shape, b->shape, a->ndim * sizeof(*a->shape)) == 0);
}

static bool is_known(const sherd_tensor *t)
{
	return sherd_number_known(t->dtype);
}

/* By heads alone; where values are needed to tell, equal stands for not known yet. */
static void judge_heads(const comparing *c, pair *p)
{
	const sherd_tensor *l = tensor_at(c->left, p->left), *r = tensor_at(c->right, p->right);
	const sherd_diff_options *o = c->options;
	if (!l || !r) {
		p->kind = l ? SHERD_DIFF_ONLY_LEFT : SHERD_DIFF_ONLY_RIGHT;
		return;
	}
	bool typed = shd_tensor_same_type(l, r), numbers = is_known(l) && is_known(r);
	if (!same_shape(l, r))
		p->kind = SHERD_DIFF_SHAPE;
	else if (!typed && !(o->any_dtype && numbers))
		p->kind = SHERD_DIFF_DTYPE;
	p->compared = !o->heads && p->kind != SHERD_DIFF_SHAPE && (typed || numbers);
	/* Of two types only numbers can be compared; strings of two lengths differ without being read. */
	atomic_init(&p->differ, p->compared && (!typed || l->bytes != r->bytes));
}

static bool is_wanted(const comparing *c, const sherd_tensor *t)
{
	return !c->options->match || sherd_name_matches(t->name, c->options->match);
}

static bool is_nameless(const sherd_bundle *b)
{
	return b->count == 1 && !(sherd_format_describe(b->format)->holds & SHERD_HOLDS_MANY);
}

static int pair_up(comparing *c, sherd_error *err)
{
	const sherd_bundle *l = c->left, *r = c->right;
	c->pairs = calloc(l->count + r->count + 1, sizeof(*c->pairs));
	if (!c->pairs)
		return shd_fail_nomem(err);
	bool only = l->count == 1 && r->count == 1 && (is_nameless(l) || is_nameless(r));
	for (size_t i = 0; i < l->count; i++)
		if (is_wanted(c, &l->tensors[i]))
			c->pairs[c->count++] =
				(pair){.left = i, .right = only ? 0 : sherd_bundle_find(r, l->tensors[i].name)};
	for (size_t i = 0; !only && i < r->count; i++)
		if (is_wanted(c, &r->tensors[i]) && sherd_bundle_find(l, r->tensors[i].name) == SHERD_NO_TENSOR)
			c->pairs[c->count++] = (pair){.left = SHERD_NO_TENSOR, .right = i};
	for (size_t i = 0; i < c->count; i++)
		judge_heads(c, &c->pairs[i]);
	return SHERD_OK;
}

/* ---- bytes */

typedef struct both_sides {
	_Alignas(64) uint8_t left[SHD_SWEEP_PART], right[SHD_SWEEP_PART];
} both_sides;

static uint64_t pair_bytes(const void *arg, size_t item, uint32_t *block)
{
	const comparing *c = arg;
	const pair *p = &c->pairs[item];
	*block = 1;
	return p->compared && !atomic_load(&p->differ) ? tensor_at(c->left, p->left)->bytes : 0;
}

static int pair_begin(void *arg, size_t item, size_t parts, sherd_error *err)
{
	(void)arg, (void)item, (void)parts, (void)err;
	return SHERD_OK;
}

static int pair_part(void *arg, const shd_sweep_part *part, void *scratch, sherd_error *err)
{
	comparing *c = arg;
	both_sides *b = scratch;
	pair *p = &c->pairs[part->item];
	if (!atomic_load_explicit(&p->differ, memory_order_relaxed)) {
		int rc = sherd_bundle_read(c->left, p->left, part->offset, b->left, part->len, err);
		TRY(shd_at_index(err, rc, 0));
		rc = sherd_bundle_read(c->right, p->right, part->offset, b->right, part->len, err);
		TRY(shd_at_index(err, rc, 1));
		if (memcmp(b->left, b->right, part->len) != 0)
			atomic_store(&p->differ, true);
	}
	return shd_meter_add(&c->meter, part->len, err);
}

static void count_pair(sherd_diff_summary *s, sherd_diff_kind kind, const sherd_tensor *compared)
{
	s->tensors[kind]++;
	s->bytes += compared ? compared->bytes : 0;
	s->equal &= kind == SHERD_DIFF_EQUAL;
}

static int pair_end(void *arg, size_t item, sherd_error *err)
{
	comparing *c = arg;
	pair *p = &c->pairs[item];
	const sherd_tensor *l = tensor_at(c->left, p->left), *r = tensor_at(c->right, p->right);
	sherd_diff_values values;
	bool differ = atomic_load(&p->differ);
	sherd_diff_tensor told = {
		.kind = p->kind, .left = l, .right = r, .left_index = p->left, .right_index = p->right};
	if (differ) {
		const shd_diff_sides sides = {c->left, p->left, c->right, p->right};
		TRY(shd_diff_values(&sides, c->options, &c->meter, &values, err));
		told.values = &values;
		if (p->kind == SHERD_DIFF_EQUAL && values.different)
			told.kind = SHERD_DIFF_VALUES;
	}
	count_pair(c->summary, told.kind, p->compared ? l : NULL);
	return c->each ? c->each(c->arg, &told, err) : SHERD_OK;
}

static int run_comparing(comparing *c, sherd_error *err)
{
	uint64_t total = 0;
	uint32_t block;
	for (size_t i = 0; i < c->count; i++)
		total += pair_bytes(c, i, &block);
	const shd_sweep sweep = {.pool = c->options->pool,
	                         .count = c->count,
	                         .scratch = sizeof(both_sides),
	                         .arg = c,
	                         .bytes = pair_bytes,
	                         .begin = pair_begin,
	                         .part = pair_part,
	                         .end = pair_end};
	shd_meter_init(&c->meter, c->options->progress, total);
	int rc = shd_sweep_run(&sweep, err);
	shd_meter_done(&c->meter);
	return rc;
}

/* What both sides have to do before they can be read. */
static int prepare_side(const comparing *c, bool right, sherd_error *err)
{
	const sherd_bundle *b = right ? c->right : c->left;
	const sherd_bundle_options options = {.pool = c->options->pool, .progress = c->options->progress};
	SHD_AUTO_VEC SHD_VEC(size_t) list = {0};
	for (size_t i = 0; i < c->count; i++)
		if (c->pairs[i].compared)
			shd_vec_push(&list, right ? c->pairs[i].right : c->pairs[i].left);
	TRY(shd_vec_check(&list, err));
	return list.count ? shd_at_index(err, sherd_bundle_prepare(b, list.items, list.count, &options, err), right)
	                  : SHERD_OK;
}

int sherd_diff_bundles(sherd_diff_summary *out, const sherd_bundle *left, const sherd_bundle *right,
                       const sherd_diff_options *options, sherd_diff_fn *each, void *arg, sherd_error *err)
{
	static const sherd_diff_options defaults;
	sherd_diff_summary summary = {.equal = true};
	comparing c = {.left = left,
	               .right = right,
	               .options = options ? options : &defaults,
	               .each = each,
	               .arg = arg,
	               .summary = &summary};
	if (!(c.options->tolerance >= 0) || !(c.options->relative >= 0))
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a tolerance is at least 0");
	int rc = pair_up(&c, err);
	rc = rc < 0 ? rc : prepare_side(&c, false, err);
	rc = rc < 0 ? rc : prepare_side(&c, true, err);
	rc = rc < 0 ? rc : run_comparing(&c, err);
	free(c.pairs);
	if (rc >= 0)
		*out = summary;
	return rc;
}
