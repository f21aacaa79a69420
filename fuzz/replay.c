/* fuzz/replay.c - feeds kept inputs to a fuzz target, without libFuzzer.
 *
 * Arguments are files and folders (with all below them); a folder that does not
 * exist counts as empty. The last line printed names the input that did it, if
 * one does. Fails when there was no input at all. */
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	/* Exactly as long as the input, so that a sanitizer sees the first byte read beyond it. */
	uint8_t *data = malloc(size ? size : 1);
	int rc = 1;
	if (file && data && fread(data, 1, size, file) == size) {
		(void)printf("%s: %zu bytes\n", path, size);
		(void)LLVMFuzzerTestOneInput(data, size);
		rc = 0;
	} else {
		(void)fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
	}
	free(data);
	if (file)
		(void)fclose(file);
	return rc;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int visit(const FTSENT *entry, size_t *inputs)
{
	if (entry->fts_info == FTS_F) {
		(*inputs)++;
		return feed(entry->fts_path, (size_t)entry->fts_statp->st_size);
	}
	bool absent = entry->fts_info == FTS_NS && entry->fts_errno == ENOENT;
	if (absent || (entry->fts_info != FTS_NS && entry->fts_info != FTS_DNR && entry->fts_info != FTS_ERR))
		return 0;
	(void)fprintf(stderr, "%s: %s\n", entry->fts_path, strerror(entry->fts_errno));
	return 1;
}

int main(int argc, char **argv)
{
	size_t inputs = 0;
	int rc = 0;
	/* So that the name is out before the target runs. */
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2) {
		(void)fprintf(stderr, "usage: %s FILE-OR-FOLDER...\n", argv[0]);
		return 2;
	}
	FTS *walk = fts_open(argv + 1, FTS_LOGICAL | FTS_NOCHDIR, by_name);
	if (!walk) {
		perror(argv[0]);
		return 1;
	}
	for (const FTSENT *entry; (entry = fts_read(walk)) != NULL;)
		rc |= visit(entry, &inputs);
	(void)fts_close(walk);
	if (!inputs)
		(void)fprintf(stderr, "%s: no input found\n", argv[0]);
	return rc || !inputs;
}
