/* tests/support/place_all.h - threads that place the bytes of one object. */
#pragma once

#include <sherd/store.h>

typedef struct placing {
	const uint8_t *bytes;
	size_t len;
	size_t unit;      /* what a thread takes at a time */
	unsigned threads; /* 1: the caller's */
	bool in_rooms;    /* filled where they are lent, else put */
} placing;

/* Begins places, and ends with SHERD_OK when all are placed; the failure of a thread is handed to the others. */
int place_all(sherd_writer *writer, const placing *p, sherd_error *err);
