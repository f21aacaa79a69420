/* base/vec.h - a list that grows, of one type of items.
 *
 *	SHD_VEC(uint64_t) ids = {0};
 *	shd_vec_push(&ids, 7);
 *	for (size_t i = 0; i < ids.count; i++)
 *		use(ids.items[i]);
 *
 * Zero is an empty list. As with a byte buffer, pushing needs no checking: the first failed allocation sticks, later
 * ones do nothing, and shd_vec_check() reports it once at the end. Lists that are handed to a function have a typedef.
 * Items move when the list grows. Macros evaluate the
 * list more than once. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SHD_VEC(type)                                    \
	struct {                                         \
		type *items;                             \
		size_t count;                            \
		size_t room; /* items before it grows */ \
		bool failed;                             \
	}

/* Room for more items after count; *items is a pointer to items of that size. False, and *failed, when memory is out
 * or was before. */
bool shd_vec_grow(void *items, size_t size, size_t count, size_t *room, bool *failed, size_t more);
void shd_vec_auto_done(void *vec);

#define shd_vec_reserve(v, more)             \
	((more) <= (v)->room - (v)->count || \
	 shd_vec_grow(&(v)->items, sizeof(*(v)->items), (v)->count, &(v)->room, &(v)->failed, (more)))

/* The item may be a compound literal. */
#define shd_vec_push(v, ...) (shd_vec_reserve(v, 1) ? (void)((v)->items[(v)->count++] = (__VA_ARGS__)) : (void)0)

/* Copies many; from has the type of the items. */
#define shd_vec_append(v, from, n)                                                                            \
	do {                                                                                                  \
		const __typeof__(*(v)->items) *append_from_ = (from);                                         \
		size_t append_count_ = (n);                                                                   \
		if (append_count_ && shd_vec_reserve(v, append_count_)) {                                     \
			memcpy((v)->items + (v)->count, append_from_, append_count_ * sizeof(*append_from_)); \
			(v)->count += append_count_;                                                          \
		}                                                                                             \
	} while (0)

#define shd_vec_check(v, err) ((v)->failed ? shd_fail_nomem(err) : SHERD_OK)

/* A copy of the items in an arena; NULL when memory is out. */
#define shd_vec_copy(v, arena) shd_arena_copy(arena, (v)->items, (v)->count * sizeof(*(v)->items))

/* Checks the list, and puts a copy of it into an arena for good: items and count of *to. */
#define shd_vec_keep(v, arena, to, err)                                                                \
	(!(v)->failed && ((to)->items = shd_vec_copy(v, arena)) ? ((to)->count = (v)->count, SHERD_OK) \
	                                                        : shd_fail_nomem(err))

/* Frees and empties. */
#define shd_vec_done(v) (free((v)->items), (void)(*(v) = (__typeof__(*(v))){0}))

/* Freed at the end of its scope: SHD_AUTO_VEC SHD_VEC(uint64_t) ids = {0}; */
#define SHD_AUTO_VEC __attribute__((cleanup(shd_vec_auto_done)))
