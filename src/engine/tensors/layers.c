#include "engine/tensors/layers.h"

#include "base/error.h"

#include <sherd/name.h>

#include <stdlib.h>

static bool is_number(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return len > 0;
}

shd_str shd_layer_of(const char *name)
{
	size_t last = 0;
	for (const char *at = name;;) {
		size_t len = strcspn(at, "./");
		if (is_number(at, len))
			return (shd_str){name, (size_t)(at + len - name)};
		if (!at[len])
			return last ? (shd_str){name, last} : shd_str_of(name);
		last = (size_t)(at + len - name);
		at += len + 1;
	}
}

typedef struct layered {
	char *layer; /* free() it */
	size_t index;
	uint64_t bytes;
} layered;

static int by_layer(const void *left, const void *right)
{
	const layered *a = left, *b = right;
	int order = sherd_name_compare(a->layer, b->layer);
	return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Where the layer that begins at first ends, and how many bytes it has. */
static size_t layer_end(const layered *list, size_t count, size_t first, uint64_t *bytes)
{
	size_t end = first;
	*bytes = 0;
	while (end < count && strcmp(list[end].layer, list[first].layer) == 0)
		*bytes += list[end++].bytes;
	return end;
}

static void fill_files(uint32_t *file_of, uint32_t *files, const layered *list, size_t count, uint64_t most)
{
	uint64_t used = 0, bytes;
	uint32_t file = 0;
	for (size_t i = 0, end; i < count; i = end) {
		end = layer_end(list, count, i, &bytes);
		bool whole = bytes <= most;
		if (used && used + (whole ? bytes : list[i].bytes) > most) {
			file++;
			used = 0;
		}
		for (size_t k = i; k < end; k++) {
			if (!whole && used && used + list[k].bytes > most) {
				file++;
				used = 0;
			}
			file_of[list[k].index] = file;
			used += list[k].bytes;
		}
	}
	*files = file + 1;
}

int shd_layers_plan(uint32_t *file_of, uint32_t *files, const sherd_bundle *from, uint64_t most, sherd_error *err)
{
	size_t count = sherd_bundle_count(from), made = 0;
	SHD_AUTO_FREE layered *list = calloc(count + 1, sizeof(*list));
	if (!list)
		return shd_fail_nomem(err);
	for (; made < count; made++) {
		const sherd_tensor *t = sherd_bundle_tensor(from, made);
		shd_str layer = shd_layer_of(t->name);
		list[made] = (layered){strndup(layer.ptr, layer.len), made, t->bytes};
		if (!list[made].layer)
			break;
	}
	if (made == count) {
		qsort(list, count, sizeof(*list), by_layer);
		fill_files(file_of, files, list, count, most);
	}
	for (size_t i = 0; i < made; i++)
		free(list[i].layer);
	return made == count ? SHERD_OK : shd_fail_nomem(err);
}
