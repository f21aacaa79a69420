/* engine/model/elements.h - the elements of a model's arrays in the order and with the bytes that a file wants. */
#pragma once

#include "base/meter.h"
#include "engine/model/model.h"

typedef struct shd_model_elements {
	const sherd_model *model;
	size_t array;
	bool fortran; /* the first dimension varies fastest */
	bool swap;    /* big-endian */
} shd_model_elements;

/* Appends all of them to the writer. Memory stays below SHD_ELEMENTS_MEMORY, whatever the array. */
#define SHD_ELEMENTS_MEMORY (80u << 20)
int shd_model_elements_write(const shd_model_elements *e, sherd_writer *writer, shd_meter *meter, sherd_error *err);
