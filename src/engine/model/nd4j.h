/* engine/model/nd4j.h - the elements of arrays that ND4J stored, as everybody else wants them. */
#pragma once

#include "format/samediff/nd4j_array.h"

#include <sherd/store.h>

/* Opens a file that is one array and decodes its head into the arena. */
int shd_nd4j_open(sherd_reader **out, sherd_store *store, const char *key, const sherd_limits *limits, shd_arena *arena,
                  shd_nd4j_array *array, sherd_error *err);
/* Bytes [offset, offset+len) in C order, little-endian, texts with plain offsets; the range was checked. */
int shd_nd4j_read(const sherd_reader *reader, const shd_nd4j_array *array, uint64_t offset, void *buf, size_t len,
                  sherd_error *err);
/* The same of an array that is stored in Fortran order, as it is stored but little-endian. */
int shd_nd4j_read_fortran(const sherd_reader *reader, const shd_nd4j_array *array, uint64_t offset, void *buf,
                          size_t len, sherd_error *err);
/* SHERD_EUNSUPPORTED, "no-map", when the file holds them otherwise. */
int shd_nd4j_map(const void **out, const sherd_reader *reader, const shd_nd4j_array *array, sherd_error *err);
