/* bench/folder.h - folders for databases, below bench_folder(). */
#pragma once

#include <stdint.h>

/* A new one; bench_folder_remove() frees the path too. */
char *bench_folder_make(void);
void bench_folder_remove(char *path);
/* Bytes of all files in it, and of those whose names end so. suffix NULL: all. */
uint64_t bench_folder_bytes(const char *path, const char *suffix);
