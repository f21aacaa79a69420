#include "support/scratch.h"

#include "store/local/local.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *scratch_make(void)
{
	const char *base = getenv("SHERD_BUILD");
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/scratch-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(path)) {
		perror(path);
		abort();
	}
	return strdup(path);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st, (void)kind, (void)where;
	return remove(path);
}

void scratch_remove(char *folder)
{
	(void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
}

void scratch_in_memory(void)
{
	if (access("/dev/shm", W_OK) == 0)
		(void)setenv("SHERD_BUILD", "/dev/shm", 1);
}

size_t scratch_temporaries(const char *folder)
{
	size_t count = 0;
	DIR *d = opendir(folder);
	if (!d)
		abort();
	for (struct dirent *e; (e = readdir(d));)
		count += strncmp(e->d_name, SHD_TEMP_PREFIX, strlen(SHD_TEMP_PREFIX)) == 0;
	(void)closedir(d);
	return count;
}
