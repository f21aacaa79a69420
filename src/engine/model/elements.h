/* engine/model/elements.h - the elements of a model's arrays in the order and with the bytes that a file wants. */
#ifndef SHERD_ENGINE_MODEL_ELEMENTS_H
#define SHERD_ENGINE_MODEL_ELEMENTS_H

#include "base/meter.h"
#include "engine/model/model.h"

typedef struct sherd_model_elements {
	const sherd_model *model;
	size_t array;
	bool fortran; /* the first dimension varies fastest */
	bool swap;    /* big-endian */
} sherd_model_elements;

/* Appends all of them to the writer. Memory stays below SHERD_ELEMENTS_MEMORY, whatever the array. */
#define SHERD_ELEMENTS_MEMORY (80u << 20)
int sherd_model_elements_write(const sherd_model_elements *e, sherd_writer *writer, sherd_meter *meter,
                               sherd_error *err);

#endif
