#include "engine/torch/view.h"

#include "engine/tensors/reorder.h"
#include "engine/tensors/strided.h"

#include <stdlib.h>

enum { MOST_ELEMENT = 16 };

bool shd_torch_view_is_plain(const shd_torch_view *view, bool big)
{
	return view->dense && !view->conj && !view->neg && !(big && view->type->swap > 1);
}

/* Signs of what is stored without them. The number of a part decides where only imaginary ones change. */
static void turn_signs(const shd_torch_view *v, uint8_t *bytes, size_t elements)
{
	bool complex = v->type->bytes == 2 * v->type->swap;
	uint32_t part = v->type->swap;
	for (size_t i = 0; i < elements * (v->type->bytes / part); i++)
		if (v->neg != (v->conj && complex && i % 2))
			bytes[(i + 1) * part - 1] ^= 0x80;
}

static int read_elements(const shd_torch_view *v, uint32_t ndim, const shd_torch_place *p, uint64_t first,
                         uint64_t count, void *buf, sherd_error *err)
{
	uint32_t size = v->type->bytes;
	const shd_strided strided = {.reader = p->reader,
	                             .at = p->at + v->offset,
	                             .element = size,
	                             .ndim = ndim,
	                             .shape = v->shape,
	                             .strides = v->strides};
	if (v->dense)
		TRY(sherd_reader_at(p->reader, strided.at + first * size, buf, (size_t)(count * size), err));
	else
		TRY(shd_strided_read(&strided, first, count, buf, err));
	if (p->big)
		shd_reorder_turn(buf, (size_t)(count * size), v->type->swap);
	if (v->conj || v->neg)
		turn_signs(v, buf, (size_t)count);
	return SHERD_OK;
}

int shd_torch_view_read(const shd_torch_view *v, uint32_t ndim, const shd_torch_place *p, uint64_t offset, void *buf,
                        size_t len, sherd_error *err)
{
	uint32_t size = v->type->bytes;
	uint8_t one[MOST_ELEMENT], *out = buf;
	if (shd_torch_view_is_plain(v, p->big))
		return sherd_reader_at(p->reader, p->at + v->offset + offset, buf, len, err);
	while (len) {
		size_t skip = (size_t)(offset % size);
		size_t n = skip || len < size ? (size - skip < len ? size - skip : len) : len - len % size;
		bool part = skip || n < size;
		TRY(read_elements(v, ndim, p, offset / size, part ? 1 : n / size, part ? one : out, err));
		if (part)
			memcpy(out, one + skip, n);
		out += n;
		offset += n;
		len -= n;
	}
	return SHERD_OK;
}

/* ---- bundles */

int shd_torch_fill_globals(sherd_bundle *b, const shd_pickle *p, sherd_error *err)
{
	sherd_global *all = shd_arena_alloc(&b->arena, p->global_count + 1, sizeof(*all));
	size_t n = 0;
	if (!all)
		return shd_fail_nomem(err);
	for (int verdict = SHD_PICKLE_DANGEROUS; verdict >= SHD_PICKLE_HARMLESS; verdict--)
		for (size_t i = 0; i < p->global_count; i++) {
			const shd_pickle_global *g = &p->globals[i];
			if ((int)shd_pickle_judge_use(g) != verdict)
				continue;
			all[n] = (sherd_global){.name = shd_arena_str(&b->arena, shd_str_of(g->name)),
			                        .called = g->called,
			                        .verdict = (sherd_verdict)verdict};
			if (!all[n++].name)
				return shd_fail_nomem(err);
		}
	b->globals = all;
	b->global_count = n;
	return SHERD_OK;
}

/* In the arena, for as long as the bundle lives. */
int shd_torch_fill_pairs(sherd_bundle *b, const sherd_value *values, size_t count, sherd_error *err)
{
	SHD_AUTO_FREE sherd_pair *pairs = NULL;
	size_t n = 0;
	TRY(sherd_pairs_of_values(&pairs, &n, values, count, err));
	sherd_pair *kept = shd_arena_alloc(&b->arena, n + 1, sizeof(*kept));
	if (!kept)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		kept[i].key = shd_arena_str(&b->arena, shd_str_of(pairs[i].key));
		kept[i].value = shd_arena_str(&b->arena, shd_str_of(pairs[i].value));
		if (!kept[i].key || !kept[i].value)
			return shd_fail_nomem(err);
	}
	b->pairs = kept;
	b->pair_count = n;
	return SHERD_OK;
}

/* A tensor without a name is called like its file, up to the first dot of its last part. */
static int name_single(sherd_bundle *b, sherd_tensor *t, const char *key, sherd_error *err)
{
	shd_str leaf = shd_str_of(shd_str_leaf(key));
	const char *dot = memchr(leaf.ptr, '.', leaf.len);
	if (dot && dot > leaf.ptr)
		leaf.len = (size_t)(dot - leaf.ptr);
	t->name = shd_arena_str(&b->arena, leaf);
	return t->name ? SHERD_OK : shd_fail_nomem(err);
}

/* What a view shows: two that are alike here have the same bytes. */
typedef struct shown {
	uint64_t storage, offset, bytes;
	const shd_torch_dtype *type;
	uint64_t turned;
} shown;

/* Tensors that are one, as tied weights are, so that who writes them need not write them twice. */
static int find_same(sherd_bundle *b, const shd_torch_state *s, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	size_t *same = shd_arena_alloc(&b->arena, s->count + 1, sizeof(*same));
	shown *keys = calloc(s->count + 1, sizeof(*keys));
	bool ok = same && keys;
	for (size_t i = 0; ok && i < s->count; i++) {
		const shd_torch_view *v = &s->views[i];
		keys[i] = (shown){v->storage, v->offset, s->tensors[i].bytes, v->type, v->conj + 2u * v->neg};
		same[i] = i;
		if (!v->dense || !s->tensors[i].bytes)
			continue;
		size_t first = shd_map_add(&seen, (shd_str){(const char *)&keys[i], sizeof(keys[i])}, i, &ok);
		same[i] = first == SHD_MAP_NONE ? i : first;
	}
	free(keys);
	b->same = same;
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

int shd_torch_fill_bundle(sherd_bundle *b, const shd_pickle *p, const shd_torch_state *s, const char *key,
                          sherd_error *err)
{
	if (s->single)
		TRY(name_single(b, &s->tensors[0], key, err));
	b->count = s->count;
	b->tensors = s->tensors;
	TRY(shd_torch_fill_pairs(b, s->values, s->value_count, err));
	TRY(shd_torch_fill_globals(b, p, err));
	TRY(find_same(b, s, err));
	return shd_bundle_finish(b, err);
}

int shd_torch_warn_globals(sherd_report *r, const sherd_bundle *bundle, const char *key, sherd_error *err)
{
	for (size_t i = 0; i < bundle->global_count && bundle->globals[i].verdict == SHERD_DANGEROUS; i++)
		TRY(shd_report_warn(r, key, "dangerous", err, "loading it with Python would %s %.100s",
		                    bundle->globals[i].called ? "call" : "import", bundle->globals[i].name));
	return SHERD_OK;
}
