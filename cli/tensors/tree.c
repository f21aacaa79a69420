#include "tensors/tree.h"

#include "base/auto.h"
#include "base/text.h"
#include "tensors/describe.h"

#include <sherd/name.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper names are not taken apart any further. */
enum { MOST_DEPTH = 32 };

typedef struct tree {
	cli_table *table;
	const sherd_tensor **list;
	bool failed;
} tree;

/* Tensors [from, to) of the list, whose names are the same up to skip. */
typedef struct span {
	size_t from, to, skip;
} span;

/* Neighbours that begin with one part, or with numbers that follow each other and stand before the same. */
typedef struct run {
	span first;         /* of the first of them, behind its part and the dot */
	size_t end;         /* behind the last */
	size_t start, part; /* where the first one's part begins, and its length */
	uint64_t low, high; /* of numbers */
	bool numbered;
} run;

static const char *rest_of(const tree *t, size_t tensor, size_t skip)
{
	return t->list[tensor]->name + skip;
}

/* A number as people write it: no leading zeros, no overflow. */
static bool is_number(const char *part, size_t len, uint64_t *out)
{
	*out = 0;
	if (!len || len > 18 || (len > 1 && part[0] == '0'))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (part[i] < '0' || part[i] > '9')
			return false;
		*out = *out * 10 + (uint64_t)(part[i] - '0');
	}
	return true;
}

/* Those that begin with the same part as the first; one that is that part alone, by itself. */
static run next_part(const tree *t, span s)
{
	const char *name = rest_of(t, s.from, s.skip);
	size_t len = strcspn(name, "."), to = s.from + 1;
	bool leaf = !name[len];
	while (!leaf && to < s.to) {
		const char *other = rest_of(t, to, s.skip);
		if (strncmp(other, name, len + 1) != 0)
			break;
		to++;
	}
	run r = {.first = {s.from, to, s.skip + len + !leaf}, .end = to, .start = s.skip, .part = len};
	r.numbered = is_number(name, len, &r.low);
	r.high = r.low;
	return r;
}

static bool same_tensor(const tree *t, size_t a, size_t a_skip, size_t b, size_t b_skip)
{
	const sherd_tensor *x = t->list[a], *y = t->list[b];
	return strcmp(x->name + a_skip, y->name + b_skip) == 0 && x->dtype == y->dtype && x->ndim == y->ndim &&
	       x->bytes == y->bytes && strcmp(sherd_tensor_type(x), sherd_tensor_type(y)) == 0 &&
	       (!x->ndim || memcmp(x->shape, y->shape, x->ndim * sizeof(*x->shape)) == 0);
}

static bool same_below(const tree *t, const span *a, const span *b)
{
	size_t count = a->to - a->from;
	if (b->to - b->from != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!same_tensor(t, a->from + i, a->skip, b->from + i, b->skip))
			return false;
	return true;
}

static run next_run(const tree *t, span s)
{
	run r = next_part(t, s);
	while (r.numbered && r.end < s.to) {
		run next = next_part(t, (span){r.end, s.to, s.skip});
		if (!next.numbered || next.low != r.high + 1 || !same_below(t, &r.first, &next.first))
			break;
		r.high = next.low;
		r.end = next.end;
	}
	return r;
}

/* A label of len bytes, at its depth. */
static void add_tree_line(tree *t, size_t depth, const char *label, size_t len, const sherd_tensor *tensor,
                          uint64_t times, uint64_t bytes)
{
	char shape[CLI_SHAPE_TEXT + 32] = "", size[CLI_TEXT_SIZE], *name;
	if (tensor)
		cli_describe_shape(tensor, shape);
	if (times > 1) {
		size_t used = strlen(shape);
		(void)snprintf(shape + used, sizeof(shape) - used, "%sx %" PRIu64, used ? " " : "", times);
	}
	if (asprintf(&name, "%*s%.*s", (int)(2 * depth), "", (int)len, label) < 0) {
		t->failed = true;
		return;
	}
	cli_text_size(bytes, size);
	cli_table_add(t->table, name);
	cli_table_add(t->table, tensor ? sherd_tensor_type(tensor) : "");
	cli_table_add(t->table, shape);
	cli_table_add(t->table, size);
	free(name);
}

/* The label of what is below a run: what stood before, the part or the numbers, a dot. */
static char *extend_label(tree *t, const char *label, const run *r)
{
	char *longer = NULL;
	int n;
	if (r->high > r->low)
		n = asprintf(&longer, "%s{%" PRIu64 "..%" PRIu64 "}.", label, r->low, r->high);
	else
		n = asprintf(&longer, "%s%.*s.", label, (int)r->part, rest_of(t, r->first.from, r->start));
	if (n < 0) {
		t->failed = true;
		return NULL;
	}
	return longer;
}

static uint64_t bytes_in(const tree *t, const span *s)
{
	uint64_t bytes = 0;
	for (size_t i = s->from; i < s->to; i++)
		bytes += t->list[i]->bytes;
	return bytes;
}

static void add_leaf(tree *t, size_t depth, const char *label, span s, uint64_t times)
{
	const sherd_tensor *tensor = t->list[s.from];
	char *whole = NULL;
	if (asprintf(&whole, "%s%s", label, tensor->name + s.skip) < 0) {
		t->failed = true;
		return;
	}
	/* The dot behind the last part is the label's, unless the name ends with one. */
	bool dotted = !tensor->name[s.skip] && *label && !(s.skip && tensor->name[s.skip - 1] == '.');
	add_tree_line(t, depth, whole, strlen(whole) - dotted, tensor, times, tensor->bytes * times);
	free(whole);
}

static void add_span(tree *t, size_t depth, const char *label, span s, uint64_t times);

/* Every run of the span as lines of their own. */
static void add_runs(tree *t, size_t depth, span s)
{
	for (size_t at = s.from; at < s.to && !t->failed;) {
		run r = next_run(t, (span){at, s.to, s.skip});
		char *label = extend_label(t, "", &r);
		if (label)
			add_span(t, depth, label, r.first, r.high - r.low + 1);
		free(label);
		at = r.end;
	}
}

/* What stands alone is one line, and so is a row of parts that lead nowhere else. */
static void add_span(tree *t, size_t depth, const char *label, span s, uint64_t times)
{
	CLI_AUTO_FREE char *own = NULL;
	while (s.to - s.from > 1) {
		run r = next_run(t, s);
		if (r.end != s.to)
			break;
		char *longer = extend_label(t, label, &r);
		if (!longer)
			return;
		free(own);
		label = own = longer;
		s = r.first;
		times *= r.high - r.low + 1;
	}
	if (s.to - s.from == 1) {
		add_leaf(t, depth, label, s, times);
		return;
	}
	if (*label)
		add_tree_line(t, depth, label, strlen(label) - 1, NULL, times, bytes_in(t, &s) * times);
	if (depth + 1 < MOST_DEPTH) {
		add_runs(t, depth + (*label != 0), s);
		return;
	}
	for (size_t i = s.from; i < s.to; i++)
		add_leaf(t, depth + 1, "", (span){i, i + 1, s.skip}, 1);
}

static int by_name(const void *left, const void *right)
{
	const sherd_tensor *const *a = left, *const *b = right;
	return sherd_name_compare((*a)->name, (*b)->name);
}

int cli_tree_add(cli_table *table, const sherd_tensor **list, size_t count, sherd_error *err)
{
	tree t = {.table = table, .list = list};
	qsort(list, count, sizeof(*list), by_name);
	if (count)
		add_span(&t, 0, "", (span){0, count, 0}, 1);
	return t.failed ? cli_no_memory(err) : SHERD_OK;
}
