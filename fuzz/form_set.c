/* fuzz/form_set.c - several objects in one input: for each a line `name length`, and its bytes behind the newline. */
#include "form.h"
#include "set.h"

#include <ctype.h>

enum { NAME, OBJECT };

static const fuzz_form *form_of_name(const char *name, size_t len)
{
	static const struct {
		const char *end;
		const fuzz_form *form;
	} by_end[] = {{".json", &form_sealed},      {".shard", &form_ckpt_shard}, {".sdc", &form_container},
	              {".idx", &form_rfdb_sidecar}, {".sdnb", &form_sdnb},        {".safetensors", &form_safetensors}};
	for (size_t i = 0; i < sizeof(by_end) / sizeof(by_end[0]); i++) {
		size_t n = strlen(by_end[i].end);
		if (len >= n && memcmp(name + len - n, by_end[i].end, n) == 0)
			return by_end[i].form;
	}
	return NULL;
}

bool set_next(const uint8_t *data, size_t len, size_t *at, set_object *out)
{
	const uint8_t *line = data + *at, *end = memchr(line, '\n', len - *at);
	const uint8_t *space = end ? memrchr(line, ' ', (size_t)(end - line)) : NULL;
	uint64_t size = 0;
	if (!space || space == line)
		return false;
	for (const uint8_t *d = space + 1; d < end; d++) {
		if (!isdigit(*d) || size > len)
			return false;
		size = size * 10 + (uint64_t)(*d - '0');
	}
	size_t begin = (size_t)(end + 1 - data);
	if (space + 1 == end || size > len - begin)
		return false;
	*out = (set_object){(const char *)line, (size_t)(space - line), data + begin, (size_t)size};
	*at = begin + (size_t)size;
	return true;
}

static bool split_set(const uint8_t *data, size_t len, form_pieces *out)
{
	set_object o;
	size_t at = 0;
	while (at < len) {
		if (!set_next(data, len, &at, &o) || !form_add(out, FORM_BYTES, NAME, o.name, o.name_len) ||
		    !form_add(out, FORM_OBJECT, OBJECT, o.data, o.len))
			return false;
		out->list[out->count - 1].inner = form_of_name(o.name, o.name_len);
	}
	return out->count > 0;
}

/* A name that was changed into none is left out, with its object. */
static bool is_name(const form_piece *piece)
{
	return piece->tag == NAME && piece->bytes.len && !memchr(piece->bytes.data, '\n', piece->bytes.len);
}

static void join_set(const form_pieces *p, shd_buf *out)
{
	for (size_t i = 0; i + 1 < p->count; i++) {
		const shd_buf *name = &p->list[i].bytes, *object = &p->list[i + 1].bytes;
		if (!is_name(&p->list[i]) || p->list[i + 1].tag != OBJECT)
			continue;
		shd_buf_append(out, name->data, name->len);
		shd_buf_printf(out, " %zu\n", object->len);
		shd_buf_append(out, object->data, object->len);
	}
}

const fuzz_form form_set = {split_set, join_set};
