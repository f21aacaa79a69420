#include "support/crash_log.h"
#include "support/scratch.h"

#include "base/map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What became of an operation. The last three are for writes that were not synced. */
typedef enum fate { ABSENT, DONE, TORN, ZEROS, FATES } fate;

typedef struct name {
	char text[256];
	size_t node;
} name;

/* One node as the disk shows it. */
typedef struct image {
	uint8_t *bytes;
	size_t size;
	name *names;
	size_t name_count;
} image;

typedef struct disk {
	const crash_sys *log;
	image *images; /* one per node */
} disk;

static void *must(void *p)
{
	if (!p) {
		perror("crash_states");
		abort();
	}
	return p;
}

static void check(bool ok)
{
	(void)must(ok ? &ok : NULL);
}

static void drop_name(image *dir, const char *text)
{
	for (size_t i = 0; i < dir->name_count; i++)
		if (strcmp(dir->names[i].text, text) == 0) {
			dir->names[i] = dir->names[--dir->name_count];
			return;
		}
}

static void set_name(image *dir, const char *text, size_t node)
{
	drop_name(dir, text);
	dir->names = must(realloc(dir->names, (dir->name_count + 1) * sizeof(*dir->names)));
	name *n = &dir->names[dir->name_count++];
	(void)snprintf(n->text, sizeof(n->text), "%s", text);
	n->node = node;
}

static void apply_write(image *file, const crash_op *op, fate how, uint64_t random)
{
	size_t end = (size_t)op->offset + op->len, kept = op->len;
	if (how == ZEROS)
		kept = 0;
	if (how == TORN) {
		/* the tear is at a page of the file, somewhere within the write */
		size_t first = (size_t)op->offset / CRASH_PAGE + 1, last = (end - 1) / CRASH_PAGE;
		if (last < first)
			kept = 0;
		else
			kept = (first + (size_t)(random % (last - first + 1))) * CRASH_PAGE - (size_t)op->offset;
		/* without its last pages the file did not grow either */
		end = (size_t)op->offset + kept;
	}
	if (file->size < end) {
		file->bytes = must(realloc(file->bytes, end + 1));
		memset(file->bytes + file->size, 0, end - file->size);
		file->size = end;
	}
	memcpy(file->bytes + op->offset, op->bytes, kept);
}

static void apply(disk *d, const crash_op *op, fate how, uint64_t random)
{
	image *where = &d->images[op->where];
	if (how == ABSENT)
		return;
	switch (op->kind) {
	case CRASH_WRITE: apply_write(where, op, how, random); break;
	case CRASH_LINK: set_name(where, op->name, op->node); break;
	case CRASH_UNLINK: drop_name(where, op->name); break;
	case CRASH_RENAME:
		drop_name(where, op->from);
		set_name(where, op->name, op->node);
		break;
	case CRASH_SYNC: break;
	}
}

static disk disk_begin(const crash_sys *c)
{
	disk d = {c, must(calloc(c->node_count, sizeof(image)))};
	for (size_t i = 0; i < c->node_count; i++) {
		d.images[i].size = c->nodes[i].size;
		d.images[i].bytes = must(malloc(c->nodes[i].size + 1));
		if (c->nodes[i].size)
			memcpy(d.images[i].bytes, c->nodes[i].bytes, c->nodes[i].size);
	}
	return d;
}

static void disk_done(disk *d)
{
	for (size_t i = 0; i < d->log->node_count; i++) {
		free(d->images[i].bytes);
		free(d->images[i].names);
	}
	free(d->images);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const name *)a)->text, ((const name *)b)->text);
}

/* A fingerprint of what can be reached; sorts the names. */
static uint64_t fingerprint(disk *d, size_t node, uint64_t h)
{
	image *im = &d->images[node];
	if (!d->log->nodes[node].folder)
		return shd_hash(h ^ im->size, im->bytes, im->size);
	if (im->name_count)
		qsort(im->names, im->name_count, sizeof(*im->names), by_text);
	for (size_t i = 0; i < im->name_count; i++) {
		h = shd_hash(h + 1, im->names[i].text, strlen(im->names[i].text) + 1);
		h = fingerprint(d, im->names[i].node, h);
	}
	return h + 2;
}

static void build(const disk *d, size_t node, const char *path)
{
	const image *im = &d->images[node];
	if (!d->log->nodes[node].folder) {
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		check(fd >= 0 && pwrite(fd, im->bytes, im->size, 0) == (ssize_t)im->size);
		close(fd);
		return;
	}
	check(node == 0 || mkdir(path, 0777) == 0);
	for (size_t i = 0; i < im->name_count; i++) {
		char *child = NULL;
		check(asprintf(&child, "%s/%s", path, im->names[i].text) > 0);
		build(d, im->names[i].node, child);
		free(child);
	}
}

typedef struct walk {
	crash_sys *log;
	size_t end;      /* operations before the power loss */
	size_t *pending; /* indexes of those that no sync covers */
	size_t pending_count;
	uint8_t *fates; /* one per operation */
	uint64_t random;
	uint64_t *seen;
	size_t seen_count;
	crash_state_fn *each;
	void *arg;
} walk;

static uint64_t next_random(walk *w)
{
	w->random += 0x9E3779B97F4A7C15u;
	uint64_t z = w->random;
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

static void show(walk *w)
{
	disk d = disk_begin(w->log);
	for (size_t i = 0; i < w->end; i++)
		apply(&d, &w->log->ops[i], (fate)w->fates[i], w->fates[i] == TORN ? next_random(w) : 0);
	uint64_t print = fingerprint(&d, 0, 1);
	bool known = false;
	for (size_t i = 0; i < w->seen_count && !known; i++)
		known = w->seen[i] == print;
	if (!known) {
		w->seen = must(realloc(w->seen, (w->seen_count + 1) * sizeof(*w->seen)));
		w->seen[w->seen_count++] = print;
		char *folder = must(scratch_make());
		build(&d, 0, folder);
		w->each(folder, w->arg);
		scratch_remove(folder);
	}
	disk_done(&d);
}

/* All fates of the pending operations from the ith on. */
static void show_all(walk *w, size_t i, bool tears)
{
	if (i == w->pending_count) {
		show(w);
		return;
	}
	size_t op = w->pending[i];
	int fates = tears && w->log->ops[op].kind == CRASH_WRITE ? FATES : DONE + 1;
	for (int f = 0; f < fates; f++) {
		w->fates[op] = (uint8_t)f;
		show_all(w, i + 1, tears);
	}
}

static void show_samples(walk *w, bool tears)
{
	for (size_t n = 0; n < CRASH_SAMPLES; n++) {
		for (size_t i = 0; i < w->pending_count; i++) {
			size_t op = w->pending[i];
			unsigned fates = tears && w->log->ops[op].kind == CRASH_WRITE ? FATES : DONE + 1;
			w->fates[op] = (uint8_t)(n == 0 ? ABSENT : n == 1 ? DONE : next_random(w) % fates);
		}
		show(w);
	}
}

static bool is_synced(const walk *w, size_t op)
{
	for (size_t i = op + 1; i < w->end; i++)
		if (w->log->ops[i].kind == CRASH_SYNC && w->log->ops[i].where == w->log->ops[op].where)
			return true;
	return op < w->log->initial;
}

/* Every operation is done, but for the pending ones, whose fates are to be chosen. Returns in how many ways. */
static uint64_t prepare(walk *w)
{
	uint64_t ways = 1;
	for (size_t i = 0; i < w->end; i++) {
		w->fates[i] = DONE;
		if (w->log->ops[i].kind == CRASH_SYNC || is_synced(w, i))
			continue;
		w->pending[w->pending_count++] = i;
		if (ways < UINT32_MAX)
			ways *= w->log->ops[i].kind == CRASH_WRITE ? FATES : DONE + 1;
	}
	return ways;
}

size_t crash_sys_states(crash_sys *c, size_t k, crash_state_fn *each, void *arg)
{
	walk w = {.log = c, .end = c->initial + k, .random = 20260109 + k, .each = each, .arg = arg};
	check(w.end <= c->op_count);
	w.pending = must(calloc(w.end + 1, sizeof(*w.pending)));
	w.fates = must(calloc(w.end + 1, 1));
	uint64_t ways = prepare(&w);
	/* With the fates of torn writes the number of ways may outgrow 2^8 early; presence is always exhausted. */
	if (ways <= 4 * CRASH_SAMPLES) {
		show_all(&w, 0, true);
	} else {
		if (w.pending_count <= CRASH_EXHAUSTIVE)
			show_all(&w, 0, false);
		show_samples(&w, true);
	}
	free(w.pending);
	free(w.fates);
	free(w.seen);
	return w.seen_count;
}
