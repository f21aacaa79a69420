/* base/turns.h - work that a pool does while the caller goes on, taken back in the order in which it was given.
 *
 *	while ((p = shd_turns_next(t)) && fill(p))
 *		shd_turns_give(t);
 *	while ((p = shd_turns_take(t)))
 *		use(p);
 *
 * At most sherd_pool_workers() threads are at it, the caller's among them: it works while it would wait. So with one
 * worker each piece is done when it is taken, by the caller. */
#pragma once

#include "base/pool.h"

typedef struct shd_turns shd_turns;
typedef void shd_turn_fn(void *piece);

/* How many pieces keep that many workers busy. */
size_t shd_turns_pieces(sherd_pool *pool);
/* Over an array of pieces, each of that size, which the caller owns. pool may be NULL. */
int shd_turns_open(shd_turns **out, sherd_pool *pool, shd_turn_fn *work, void *pieces, size_t count, size_t size,
                   sherd_error *err);
/* Waits for whoever is at work; what was not begun is left alone. NULL is fine. */
void shd_turns_close(shd_turns *t);
SHD_AUTO_DEFINE(shd_turns, shd_turns_close)

/* The piece that may be filled and given, or NULL while all are given; the one taken last is free from here on. */
void *shd_turns_next(shd_turns *t);
/* Gives that piece to the workers. */
void shd_turns_give(shd_turns *t);
/* The oldest piece that was given, its work done; NULL when there is none. */
void *shd_turns_take(shd_turns *t);
