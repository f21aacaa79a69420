#include "base/arena.h"

#include "base/large.h"

#include <stdalign.h>
#include <stdlib.h>

enum { ALIGN = 16, FIRST_BLOCK = 1 << 10, LARGEST_BLOCK = 4 << 20 };

struct shd_arena_block {
	struct shd_arena_block *next;
	size_t size;
	alignas(ALIGN) unsigned char data[];
};

static struct shd_arena_block *new_block(size_t size)
{
	if (size > SIZE_MAX - sizeof(struct shd_arena_block))
		return NULL;
	struct shd_arena_block *b = shd_large_alloc(sizeof(*b) + size);
	if (b)
		b->size = size;
	return b;
}

/* A large request gets a block of its own, kept after the head so that the head's room stays usable. */
static void *alloc_alone(shd_arena *a, size_t size)
{
	struct shd_arena_block *b = new_block(size);
	if (!b)
		return NULL;
	b->next = a->head->next;
	a->head->next = b;
	return b->data;
}

void *shd_arena_alloc(shd_arena *a, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGN)
		return NULL;
	bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!a->head || bytes > a->cap - a->used) {
		size_t next = a->cap ? a->cap * 2 : FIRST_BLOCK;
		if (next > LARGEST_BLOCK)
			next = LARGEST_BLOCK;
		if (a->head && bytes > next / 4)
			return alloc_alone(a, bytes);
		struct shd_arena_block *b = new_block(bytes > next ? bytes : next);
		if (!b)
			return NULL;
		b->next = a->head;
		a->head = b;
		a->used = 0;
		a->cap = b->size;
	}
	void *p = a->head->data + a->used;
	a->used += bytes;
	return p;
}

char *shd_arena_str(shd_arena *a, shd_str s)
{
	char *copy = s.len == SIZE_MAX ? NULL : shd_arena_alloc(a, s.len + 1, 1);
	if (copy) {
		if (s.len)
			memcpy(copy, s.ptr, s.len);
		copy[s.len] = 0;
	}
	return copy;
}

void *shd_arena_copy(shd_arena *a, const void *data, size_t len)
{
	void *copy = shd_arena_alloc(a, len, 1);
	if (copy && len)
		memcpy(copy, data, len);
	return copy;
}

void shd_arena_done(shd_arena *a)
{
	for (struct shd_arena_block *b = a->head, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (shd_arena){0};
}
