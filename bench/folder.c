#include "folder.h"

#include "machine.h"
#include "measure.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *bench_folder_make(void)
{
	char *path = bench_path("bench_folder.XXXXXX");
	if (!mkdtemp(path))
		bench_fail("cannot make a folder");
	return path;
}

static int drop(const char *path, const struct stat *stat, int type, struct FTW *where)
{
	(void)stat, (void)type, (void)where;
	return remove(path);
}

void bench_folder_remove(char *path)
{
	if (nftw(path, drop, 16, FTW_DEPTH | FTW_PHYS) != 0)
		bench_fail("cannot remove %s", path);
	free(path);
}

static uint64_t bytes;
static const char *ending;

static int add(const char *path, const struct stat *stat, int type, struct FTW *where)
{
	(void)where;
	size_t len = strlen(path), tail = strlen(ending);
	if (type == FTW_F && len >= tail && strcmp(path + len - tail, ending) == 0)
		bytes += (uint64_t)stat->st_blocks * 512 < (uint64_t)stat->st_size ? (uint64_t)stat->st_blocks * 512
		                                                                   : (uint64_t)stat->st_size;
	return 0;
}

uint64_t bench_folder_bytes(const char *path, const char *suffix)
{
	bytes = 0;
	ending = suffix ? suffix : "";
	if (nftw(path, add, 16, FTW_PHYS) != 0)
		bench_fail("cannot walk through %s", path);
	return bytes;
}
