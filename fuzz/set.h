/* fuzz/set.h - inputs that hold several objects. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct set_object {
	const char *name;
	size_t name_len;
	const uint8_t *data;
	size_t len;
} set_object;

/* Takes the object at *at and moves on; false at the end and where there is none. */
bool set_next(const uint8_t *data, size_t len, size_t *at, set_object *out);
