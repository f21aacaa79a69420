/* base/turn.h - threads that do the rest of their work at the same time, but one thing in order.
 *
 * Whoever holds number n takes its turn after n-1 has passed it on. Numbers are handed out in order, each to a thread
 * that runs, so that somebody always goes on. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct shd_turn {
	pthread_mutex_t mutex;
	pthread_cond_t moved;
	uint64_t next;
	bool broken;
} shd_turn;

void shd_turn_init(shd_turn *t);
void shd_turn_done(shd_turn *t);
/* Waits for the turn of n. False when one before it broke off. */
bool shd_turn_take(shd_turn *t, uint64_t n);
/* Hands the turn to the next one; or, after a failure, to nobody ever. */
void shd_turn_pass(shd_turn *t, bool failed);
