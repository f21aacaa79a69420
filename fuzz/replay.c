/* fuzz/replay.c - feeds kept inputs to a fuzz target, without libFuzzer.
 *
 * Arguments are files and folders (with all below them); a folder that does not
 * exist counts as empty. The last line printed names the input that did it, if
 * one does. Fails when there was no input at all.
 *
 * Where the target has a form (form.h), every input that has it is also tried
 * put together again, which must change nothing the second time, and changed a
 * few times; at least one input must come through the first time as it was. */
#include "form.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t most, unsigned seed);

enum { CHANGES = 16, GROWTH = 4096 };

typedef struct replay {
	size_t inputs, whole; /* fed; of these such as came through as they were */
	int rc;
} replay;

/* What libFuzzer has, in small: one byte changed, added or taken away. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t most)
{
	static form_dice dice = {1};
	size_t at = form_roll(&dice, (uint32_t)len + 1);
	uint32_t what = form_roll(&dice, 4);
	if (what == 0 && len < most) {
		memmove(data + at + 1, data + at, len - at);
		data[at] = (uint8_t)form_roll(&dice, 256);
		return len + 1;
	}
	if (what == 1 && at < len && len > 1) {
		memmove(data + at, data + at + 1, len - at - 1);
		return len - 1;
	}
	if (at < len)
		data[at] = what == 2 ? (uint8_t)form_roll(&dice, 256) : data[at] ^ (uint8_t)(1u << form_roll(&dice, 8));
	return len;
}

/* Exactly as long as the input, so that a sanitizer sees the first byte read beyond it. */
static void feed_bytes(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	if (!copy)
		abort();
	if (len)
		memcpy(copy, data, len);
	(void)LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static bool rejoin(const uint8_t *data, size_t len, shd_buf *out)
{
	static form_pieces pieces;
	bool has = fuzz_target_form->split(data, len, &pieces);
	if (has)
		fuzz_target_form->join(&pieces, out);
	form_clear(&pieces);
	return has && !out->failed;
}

static bool same(const shd_buf *a, const uint8_t *data, size_t len)
{
	return a->len == len && (!len || memcmp(a->data, data, len) == 0);
}

static void feed_changed(const uint8_t *data, size_t len)
{
	uint8_t *room = malloc(len + GROWTH);
	if (!room)
		abort();
	for (unsigned seed = 0; seed < CHANGES; seed++) {
		if (len)
			memcpy(room, data, len);
		feed_bytes(room, LLVMFuzzerCustomMutator(room, len, len + GROWTH, seed));
	}
	free(room);
}

static void feed_form(replay *r, const uint8_t *data, size_t len)
{
	SHD_AUTO_BUF mended = {0}, again = {0};
	if (!rejoin(data, len, &mended))
		return;
	r->whole += same(&mended, data, len);
	if (!rejoin(mended.data, mended.len, &again) || !same(&again, mended.data, mended.len)) {
		(void)fprintf(stderr, "what was put together is another thing the second time\n");
		abort();
	}
	feed_bytes(mended.data, mended.len);
	feed_changed(data, len);
}

static void feed(replay *r, const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size ? size : 1);
	r->inputs++;
	if (file && data && fread(data, 1, size, file) == size) {
		(void)printf("%s: %zu bytes\n", path, size);
		feed_bytes(data, size);
		if (fuzz_target_form->split)
			feed_form(r, data, size);
	} else {
		(void)fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
		r->rc = 1;
	}
	free(data);
	if (file)
		(void)fclose(file);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void visit(replay *r, const FTSENT *entry)
{
	if (entry->fts_info == FTS_F) {
		feed(r, entry->fts_path, (size_t)entry->fts_statp->st_size);
		return;
	}
	bool absent = entry->fts_info == FTS_NS && entry->fts_errno == ENOENT;
	if (absent || (entry->fts_info != FTS_NS && entry->fts_info != FTS_DNR && entry->fts_info != FTS_ERR))
		return;
	(void)fprintf(stderr, "%s: %s\n", entry->fts_path, strerror(entry->fts_errno));
	r->rc = 1;
}

int main(int argc, char **argv)
{
	replay r = {0};
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
		visit(&r, entry);
	(void)fts_close(walk);
	if (!r.inputs)
		(void)fprintf(stderr, "%s: no input found\n", argv[0]);
	/* One file, as it is named after a failure, may be anything. */
	bool shown = r.whole || !fuzz_target_form->split || r.inputs == 1;
	if (!shown)
		(void)fprintf(stderr, "%s: no input keeps its bytes when it is put together again\n", argv[0]);
	return r.rc || !r.inputs || !shown;
}
