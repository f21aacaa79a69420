#include "report/report.h"

#include "base/auto.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit_part(const char *part, size_t len)
{
	return len && strspn(part, "0123456789") >= len;
}

/* The name with a star in place of every part that is a number. */
static char *pattern_of(const char *name)
{
	char *out = malloc(strlen(name) + 2), *to = out;
	for (const char *at = name; out; at++) {
		size_t len = strcspn(at, "./");
		if (is_digit_part(at, len)) {
			*to++ = '*';
		} else {
			memcpy(to, at, len);
			to += len;
		}
		at += len;
		*to++ = *at;
		if (!*at)
			break;
	}
	return out;
}

static int by_pattern(const void *left, const void *right)
{
	const cli_group *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	order = order ? order : strcmp(a->type, b->type);
	return order ? order : (a->first > b->first) - (a->first < b->first);
}

static int group_by_bytes(const void *left, const void *right)
{
	const cli_group *a = left, *b = right;
	return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes) : by_pattern(left, right);
}

void cli_groups_close(cli_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		free(groups->items[i].name);
	free(groups->items);
	*groups = (cli_groups){0};
}

/* Joins neighbours of one pattern and type. */
static void join_groups(cli_groups *g)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->count; i++) {
		cli_group *last = kept ? &g->items[kept - 1] : NULL;
		if (last && strcmp(last->name, g->items[i].name) == 0 && strcmp(last->type, g->items[i].type) == 0) {
			last->count++;
			last->bytes += g->items[i].bytes;
			free(g->items[i].name);
		} else {
			g->items[kept++] = g->items[i];
		}
	}
	g->count = kept;
}

int cli_groups_open(cli_groups *out, const sherd_bundle *bundle, sherd_error *err)
{
	size_t count = sherd_bundle_count(bundle);
	cli_groups g = {.items = malloc((count + 1) * sizeof(*g.items))};
	if (!g.items)
		return cli_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		const sherd_tensor *t = sherd_bundle_tensor(bundle, i);
		char *name = pattern_of(t->name);
		if (!name) {
			cli_groups_close(&g);
			return cli_no_memory(err);
		}
		g.items[g.count++] = (cli_group){
			.name = name, .type = sherd_tensor_type(t), .first = i, .count = 1, .bytes = t->bytes};
		g.bytes += t->bytes;
	}
	qsort(g.items, g.count, sizeof(*g.items), by_pattern);
	join_groups(&g);
	/* A single one is called by its own name. */
	for (size_t i = 0; i < g.count; i++) {
		char *own = g.items[i].count == 1 ? strdup(sherd_bundle_tensor(bundle, g.items[i].first)->name) : NULL;
		if (own) {
			free(g.items[i].name);
			g.items[i].name = own;
		}
	}
	qsort(g.items, g.count, sizeof(*g.items), group_by_bytes);
	*out = g;
	return SHERD_OK;
}

static uint64_t elements_of(const sherd_tensor *t)
{
	uint64_t elements = 1;
	for (uint32_t i = 0; i < t->ndim; i++)
		if (__builtin_mul_overflow(elements, t->shape[i], &elements))
			elements = 0;
	return elements;
}

static size_t slot_of(cli_types *types, const char *name)
{
	size_t i = 0;
	while (i < types->count && strcmp(types->items[i].name, name) != 0)
		i++;
	if (i == types->count && types->count < CLI_REPORT_TYPES)
		types->items[types->count++].name = name;
	else if (i == types->count)
		types->items[i = CLI_REPORT_TYPES - 1].name = "others";
	return i;
}

static int type_by_bytes(const void *left, const void *right)
{
	const cli_type *a = left, *b = right;
	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

void cli_types_of(cli_types *out, const sherd_bundle *bundle)
{
	*out = (cli_types){0};
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(bundle, i);
		size_t slot = slot_of(out, sherd_tensor_type(t));
		uint64_t elements = elements_of(t);
		out->items[slot].bytes += t->bytes;
		out->items[slot].elements += elements;
		out->items[slot].tensors++;
		out->bytes += t->bytes;
		out->elements += elements;
		out->tensors++;
	}
	qsort(out->items, out->count, sizeof(out->items[0]), type_by_bytes);
}
