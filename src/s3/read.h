/* s3/read.h - ranges of an object that was opened, for who asks ahead. */
#pragma once

#include "call.h"

/* Begins to fetch a range; the answer is whole and of the same object when shd_s3_reader_end() says so, which waits. */
int shd_s3_reader_begin(const sherd_reader *reader, shd_s3_call *call, uint64_t offset, char *to, size_t len,
                        sherd_error *err);
int shd_s3_reader_end(const sherd_reader *reader, shd_s3_call *call, uint64_t offset, sherd_error *err);
/* Copies what came with the opening; false when not all of it did. */
bool shd_s3_reader_has(const sherd_reader *reader, uint64_t offset, char *to, size_t len);

int shd_s3_queue(sherd_queue **out, sherd_store *store, uint64_t ahead, sherd_error *err);
