/* engine/tensors/npy_folder.h - NumPy files, and a folder of them by its manifest. */
#pragma once

#include "base/buf.h"
#include "engine/tensors/report.h"
#include "format/tensor/npy.h"

#include <sherd/verify.h>

/* One NumPy file: its head, and elements in C order, little-endian. */
int shd_npy_read_head(const sherd_reader *reader, const sherd_limits *limits, shd_npy *out, sherd_error *err);
int shd_npy_read(const sherd_reader *reader, const shd_npy *head, uint64_t offset, void *buf, size_t len,
                 sherd_error *err);

/* Appends the key of a file in the folder that the key names (itself, or by its manifest), with its NUL. */
int shd_npy_folder_key(shd_buf *out, const char *key, const char *leaf, sherd_error *err);
/* Heads of all files, and unless quick all bytes against the manifest; what else lies in the folder is a warning. */
int shd_npy_folder_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                          sherd_error *err);
