#include "base/vec.h"

enum { SMALLEST = 256, LARGE = 4096 }; /* bytes */

bool shd_vec_grow(void *items, size_t size, size_t count, size_t *room, bool *failed, size_t more)
{
	if (*failed)
		return false;
	/* A short list grows a few times only, a long one wastes little. */
	size_t need, now = *room * size;
	size_t bytes = now < SMALLEST ? SMALLEST : now < LARGE ? 4 * now : now + now / 2;
	bool fits = !__builtin_add_overflow(count, more, &need) && !__builtin_mul_overflow(need, size, &need);
	void *data = NULL;
	memcpy(&data, items, sizeof(data));
	data = fits ? realloc(data, need < bytes ? bytes : need) : NULL;
	if (!data) {
		*failed = true;
		*room = count;
		return false;
	}
	memcpy(items, &data, sizeof(data));
	*room = (need < bytes ? bytes : need) / size;
	return true;
}

void shd_vec_auto_done(void *vec)
{
	void *items;
	memcpy(&items, vec, sizeof(items));
	free(items);
}
