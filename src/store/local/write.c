#include "store/local/local.h"

#include "base/copy.h"
#include "base/large.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* Appends below this size are gathered; larger ones go straight to the file. */
#define GATHER_SIZE ((size_t)256 << 10)
/* Write-back is started whenever so much has been written, to run beside the caller's work (docs/store.md). */
#define SYNC_STEP ((uint64_t)1 << 20)
/* Objects that are expected to have so many bytes go to the disk past the page cache, from a ring of buffers: less work
 * for the processor, which goes on while the disk writes, and nothing that others have cached is driven out. */
#define LARGE_FROM ((uint64_t)8 << 20)
#define BUFFER_SIZE SHD_LOCAL_BUFFER
enum { BUFFERS = 4, PAGE_BYTES = 4096 };

typedef struct local_writer {
	sherd_writer base;
	shd_local *store;
	shd_local_temp temp;
	char *key;
	char *like; /* whose mode it gets; NULL: nobody's */
	sherd_write_mode mode;
	bool conditional;
	char if_identity[72];
	char *identity;            /* where the caller wants it, or NULL */
	bool large;                /* a ring is filled; else one buffer, of GATHER_SIZE */
	uint8_t *buffers[BUFFERS]; /* made when first needed */
	unsigned filling;
	size_t gathered;  /* bytes in that one */
	uint64_t written; /* bytes in the file; the gathered ones follow */
	uint64_t started; /* bytes whose write-back was started */
	int direct;       /* the same file, past the page cache; -1: not opened */
	bool no_direct;   /* this file system, or the system, refused */
	uint64_t hint;    /* how long the file will be, about */
	uint64_t length;  /* that the file was given before it was written */
	shd_local_later later;
	shd_local_places places;
} local_writer;

static int write_out(local_writer *w, const void *buf, size_t len, sherd_error *err)
{
	const shd_sys *sys = w->store->sys;
	for (size_t done = 0; done < len;) {
		size_t step = len - done < SYNC_STEP ? len - done : SYNC_STEP;
		TRY(shd_local_pwrite(sys, w->temp.fd, (const uint8_t *)buf + done, step, w->written, err));
		done += step;
		w->written += step;
		if (w->written - w->started >= SYNC_STEP && !w->temp.fleeting) {
			/* Only a hint: the sync at commit is what counts, and it reports. */
			(void)sys->start_sync(sys, w->temp.fd, (off_t)w->started, (off_t)(w->written - w->started));
			w->started = w->written;
		}
	}
	return SHERD_OK;
}

static int open_direct(local_writer *w)
{
	char path[32];
	const shd_sys *sys = w->store->sys;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", w->temp.fd);
	return SHD_RETRY(sys->open(sys, AT_FDCWD, path, O_WRONLY | O_DIRECT | O_CLOEXEC, 0, 0));
}

/* A write that makes a file longer has to wait for the disk; so it is made long before. */
static void make_long(local_writer *w)
{
	const shd_sys *sys = w->store->sys;
	if (!w->length && sys->queue_write && sys->allocate && sys->truncate &&
	    sys->allocate(sys, w->temp.fd, (off_t)w->hint) == 0)
		w->length = w->hint;
}

/* Without a queue, as far as the system takes whole pages directly; what it does not goes the usual way. */
static int write_direct(local_writer *w, const uint8_t *buf, sherd_error *err)
{
	const shd_sys *sys = w->store->sys;
	size_t done = 0;
	while (!w->no_direct && done < BUFFER_SIZE) {
		ssize_t n = SHD_RETRY(sys->pwrite(sys, w->direct, buf + done, BUFFER_SIZE - done, (off_t)w->written));
		if (n < 0 && errno != EINVAL && errno != EOPNOTSUPP)
			return shd_fail_os(err, errno, "cannot write");
		w->no_direct = n <= 0 || (size_t)n % PAGE_BYTES != 0;
		done += n > 0 ? (size_t)n : 0;
		w->written += n > 0 ? (uint64_t)n : 0;
		w->started = w->written;
	}
	return write_out(w, buf + done, BUFFER_SIZE - done, err);
}

/* The buffer that was filled goes its way; there is a free one afterwards. */
static int write_buffer(local_writer *w, sherd_error *err)
{
	const uint8_t *buf = w->buffers[w->filling];
	int begun = 0;
	w->gathered = 0;
	if (w->direct < 0 && !w->no_direct) {
		make_long(w);
		w->direct = open_direct(w);
		w->no_direct = w->direct < 0;
	}
	if (!w->no_direct && w->written + BUFFER_SIZE <= w->length)
		begun = shd_local_later_begin(w->store, &w->later, w->direct, buf, BUFFER_SIZE, w->written, w->temp.fd,
		                              err);
	TRY(begun);
	if (!begun)
		return write_direct(w, buf, err);
	w->written += BUFFER_SIZE;
	w->started = w->written;
	w->filling = (w->filling + 1) % BUFFERS;
	return shd_local_later_settle(w->store, &w->later, BUFFERS - 1, w->temp.fd, err);
}

/* The buffer that is filled next, or NULL: memory is out. Large pages lie together in memory, so that the disk is
 * handed few long parts instead of many short ones. */
static uint8_t *buffer_of(local_writer *w)
{
	uint8_t **buffer = &w->buffers[w->filling];
	if (!*buffer)
		*buffer = w->large ? shd_large_map(BUFFER_SIZE) : malloc(GATHER_SIZE);
	return *buffer;
}

static int flush(local_writer *w, sherd_error *err)
{
	size_t len = w->gathered;
	w->gathered = 0;
	return write_out(w, w->buffers[w->filling], len, err);
}

static int append_large(local_writer *w, const uint8_t *bytes, size_t len, sherd_error *err)
{
	while (len) {
		uint8_t *buffer = buffer_of(w);
		size_t n = BUFFER_SIZE - w->gathered < len ? BUFFER_SIZE - w->gathered : len;
		if (!buffer)
			return shd_fail_nomem(err);
		shd_copy_past(buffer + w->gathered, bytes, n);
		w->gathered += n;
		bytes += n;
		len -= n;
		if (w->gathered == BUFFER_SIZE)
			TRY(write_buffer(w, err));
	}
	return SHERD_OK;
}

static int append_small(local_writer *w, const uint8_t *bytes, size_t len, sherd_error *err)
{
	if (len < GATHER_SIZE && !buffer_of(w))
		return shd_fail_nomem(err);
	if (w->gathered && w->gathered + len >= GATHER_SIZE) {
		size_t part = GATHER_SIZE - w->gathered;
		memcpy(w->buffers[0] + w->gathered, bytes, part);
		w->gathered = GATHER_SIZE;
		TRY(flush(w, err));
		bytes += part;
		len -= part;
	}
	if (len >= GATHER_SIZE)
		return write_out(w, bytes, len, err);
	if (len > 0)
		memcpy(w->buffers[0] + w->gathered, bytes, len);
	w->gathered += len;
	return SHERD_OK;
}

static int writer_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	local_writer *w = (local_writer *)writer;
	return w->large ? append_large(w, buf, len, err) : append_small(w, buf, len, err);
}

/* A part of the head may be in the file already, the rest still gathered. */
static int writer_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err)
{
	local_writer *w = (local_writer *)writer;
	const uint8_t *bytes = buf;
	if (offset < w->written) {
		TRY(shd_local_later_settle(w->store, &w->later, 0, w->temp.fd, err));
		size_t part = len < w->written - offset ? len : (size_t)(w->written - offset);
		TRY(shd_local_pwrite(w->store->sys, w->temp.fd, bytes, part, offset, err));
		if (part == len)
			return SHERD_OK;
		bytes += part;
		len -= part;
		offset += (uint32_t)part;
	}
	memcpy(w->buffers[w->filling] + (offset - w->written), bytes, len);
	return SHERD_OK;
}

static void writer_parts(sherd_parts *out, sherd_writer *writer)
{
	local_writer *w = (local_writer *)writer;
	bool large = w->large || !w->hint;
	w->places.store = w->store;
	w->places.plain = w->temp.fd;
	w->places.hint = w->hint;
	if (large)
		w->direct = open_direct(w);
	w->no_direct = w->direct < 0;
	w->places.direct = w->direct;
	shd_local_places_parts(out, &w->places, large);
}

static int writer_room(void **out, sherd_writer *writer, sherd_error *err)
{
	return shd_local_places_room(out, &((local_writer *)writer)->places, err);
}

static int writer_place(sherd_writer *writer, uint64_t offset, void *room, sherd_error *err)
{
	return shd_local_places_place(&((local_writer *)writer)->places, offset, room, err);
}

static int writer_settle(sherd_writer *writer, uint64_t length, sherd_error *err)
{
	local_writer *w = (local_writer *)writer;
	w->written = w->started = length;
	w->length = w->places.length;
	return shd_local_places_settle(&w->places, err);
}

static void writer_abort(sherd_writer *writer)
{
	local_writer *w = (local_writer *)writer;
	shd_local_later_done(w->store, &w->later);
	shd_local_places_done(&w->places);
	if (w->direct >= 0)
		(void)w->store->sys->close(w->store->sys, w->direct);
	shd_local_temp_done(w->store, &w->temp);
	for (unsigned i = 0; i < BUFFERS; i++)
		if (w->large)
			shd_large_unmap(w->buffers[i], BUFFER_SIZE);
		else
			free(w->buffers[i]);
	free(w->key);
	free(w->like);
	free(w);
}

static int local_write_commit(local_writer *w, sherd_error *err)
{
	const shd_sys *sys = w->store->sys;
	TRY(shd_local_later_settle(w->store, &w->later, 0, w->temp.fd, err));
	TRY(flush(w, err));
	if (w->length > w->written && sys->truncate(sys, w->temp.fd, (off_t)w->written) < 0)
		return shd_fail_os(err, errno, "cannot cut off what was not written");
	if (w->like) /* it may have changed since, or gone */
		shd_local_mode_of(w->store, w->like, &w->temp.mode);
	if (w->mode == SHERD_WRITE_NEW)
		return shd_local_commit_new(w->store, &w->temp, w->key, err);
	return shd_local_commit_over(w->store, &w->temp, w->key, w->conditional ? w->if_identity : NULL, err);
}

static int writer_commit(sherd_writer *writer, sherd_error *err)
{
	local_writer *w = (local_writer *)writer;
	struct stat st;
	sherd_stat told;
	int rc = local_write_commit(w, err);
	if (w->identity && w->temp.fd >= 0 && w->store->sys->fstat(w->store->sys, w->temp.fd, &st) == 0) {
		shd_local_stat_of(&st, &told);
		memcpy(w->identity, told.identity, sizeof(told.identity));
	}
	writer_abort(writer);
	return rc;
}

static const struct sherd_writer_ops writer_ops = {.append = writer_append,
                                                   .fill = writer_fill,
                                                   .commit = writer_commit,
                                                   .abort = writer_abort,
                                                   .parts = writer_parts,
                                                   .room = writer_room,
                                                   .place = writer_place,
                                                   .settle = writer_settle};

static int local_write_begin(local_writer *w, const char *key, const sherd_write_options *options, sherd_error *err)
{
	w->mode = options->mode;
	w->identity = options->identity;
	if (w->identity)
		*w->identity = 0;
	w->hint = options->size_hint;
	w->large = w->hint >= LARGE_FROM && w->hint <= INT64_MAX;
	w->conditional = options->if_identity != NULL;
	if (w->conditional)
		(void)snprintf(w->if_identity, sizeof(w->if_identity), "%s", options->if_identity);
	const char *like = options->like ? options->like : options->mode == SHERD_WRITE_REPLACE ? key : NULL;
	shd_local_mode mode = {.known = false};
	w->key = strdup(key);
	w->like = like ? strdup(like) : NULL;
	if (!w->key || (like && !w->like))
		return shd_fail_nomem(err);
	if (like)
		shd_local_mode_of(w->store, like, &mode);
	TRY(shd_local_temp_open(w->store, key, options->mode == SHERD_WRITE_REPLACE, 0, &mode, &w->temp, err));
	w->temp.fleeting = options->fleeting && options->mode == SHERD_WRITE_NEW;
	return SHERD_OK;
}

int shd_local_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                    sherd_error *err)
{
	local_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return shd_fail_nomem(err);
	w->base.ops = &writer_ops;
	w->store = (shd_local *)store;
	w->temp = SHD_LOCAL_TEMP_NONE;
	w->direct = -1;
	int rc = local_write_begin(w, key, options, err);
	if (rc < 0)
		writer_abort(&w->base);
	else
		*out = &w->base;
	return rc;
}
