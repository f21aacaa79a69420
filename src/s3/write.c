/* s3/write.c - writing one object.
 *
 * What fits into one part is one PUT. More goes as parts, several at a time, when it may replace anything. What must be
 * exclusive, or replace one identity, is one PUT too, since only there servers hold to conditions: until commit it lies
 * in a temporary file without a name. */
#include "call.h"
#include "put.h"
#include "upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct s3_writer {
	sherd_writer base;
	shd_s3 *s;
	char *key;
	bool exclusive;
	char if_identity[SHD_S3_IDENTITY]; /* "" for any */
	char *identity;                    /* the caller's, or NULL */
	char *first;                       /* the first bytes, at most part of them */
	size_t part, room;
	uint64_t size;
	int file;              /* where all of it lies instead; -1 while there is none */
	shd_s3_upload *upload; /* what follows the first part; or NULL */
} s3_writer;

static bool is_one_put(const s3_writer *w)
{
	return w->exclusive || w->if_identity[0];
}

static int fail_file(const char *what, sherd_error *err)
{
	int code = errno;
	sherd_fail(err, SHERD_EIO, code == ENOSPC ? "no-space" : "io", "%s in %.80s: %s", what,
	           getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(code));
	if (err)
		err->os_errno = code;
	return SHERD_EIO;
}

static int write_file(int file, const char *bytes, size_t len, uint64_t offset, sherd_error *err)
{
	while (len > 0) {
		ssize_t n = pwrite(file, bytes, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail_file("writing a temporary file", err);
		bytes += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return SHERD_OK;
}

static int open_file(s3_writer *w, sherd_error *err)
{
	const char *folder = getenv("TMPDIR");
	folder = folder && *folder ? folder : "/tmp";
	int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		char *name;
		if (asprintf(&name, "%s/sherd-s3-XXXXXX", folder) < 0)
			return shd_s3_no_memory(err);
		file = mkostemp(name, O_CLOEXEC);
		if (file >= 0)
			(void)unlink(name);
		free(name);
	}
	if (file < 0)
		return fail_file("making a temporary file", err);
	w->file = file;
	return write_file(file, w->first, (size_t)w->size, 0, err);
}

/* Makes room for that many of the first bytes. */
static int grow_first(s3_writer *w, size_t need, sherd_error *err)
{
	if (need <= w->room)
		return SHERD_OK;
	size_t room = w->room ? w->room : 4096;
	while (room < need)
		room *= 2;
	room = room < w->part ? room : w->part;
	char *first = realloc(w->first, room);
	if (!first)
		return shd_s3_no_memory(err);
	w->first = first;
	w->room = room;
	return SHERD_OK;
}

static int s3_writer_overflow(s3_writer *w, const char *bytes, size_t len, sherd_error *err)
{
	if (!is_one_put(w)) {
		if (!w->upload)
			TRY(shd_s3_upload_open(&w->upload, w->s, w->key, w->part, err));
		return shd_s3_upload_append(w->upload, bytes, len, err);
	}
	if (w->size + len > SHD_S3_MOST_PUT)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "no-exclusive",
		                  "an object of more than 5 GiB cannot be written so that of two writers one wins");
	if (w->file < 0)
		TRY(open_file(w, err));
	return write_file(w->file, bytes, len, w->size, err);
}

static int s3_writer_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	s3_writer *w = (s3_writer *)writer;
	const char *bytes = buf;
	size_t fits = w->size < w->part ? w->part - (size_t)w->size : 0;
	fits = w->file >= 0 ? 0 : fits < len ? fits : len;
	if (fits) {
		TRY(grow_first(w, (size_t)w->size + fits, err));
		memcpy(w->first + w->size, bytes, fits);
		w->size += fits;
	}
	if (fits < len) {
		TRY(s3_writer_overflow(w, bytes + fits, len - fits, err));
		w->size += len - fits;
	}
	return SHERD_OK;
}

/* The head lies in the first part, which is sent last. */
static int s3_writer_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err)
{
	s3_writer *w = (s3_writer *)writer;
	if (w->file >= 0)
		return write_file(w->file, buf, len, offset, err);
	memcpy(w->first + offset, buf, len);
	return SHERD_OK;
}

static void s3_writer_free(s3_writer *w)
{
	shd_s3_upload_abort(w->upload);
	if (w->file >= 0)
		(void)close(w->file);
	free(w->first);
	free(w->key);
	free(w);
}

static int commit_put(s3_writer *w, char *identity, sherd_error *err)
{
	shd_s3_putting p = {.key = w->key,
	                    .body = w->first,
	                    .len = (size_t)w->size,
	                    .exclusive = w->exclusive,
	                    .if_identity = w->if_identity[0] ? w->if_identity : NULL};
	if (w->file < 0)
		return shd_s3_put(w->s, &p, identity, err);
	void *map = mmap(NULL, p.len, PROT_READ, MAP_PRIVATE, w->file, 0);
	if (map == MAP_FAILED)
		return fail_file("mapping a temporary file", err);
	p.body = map;
	int rc = shd_s3_put(w->s, &p, identity, err);
	(void)munmap(map, p.len);
	return rc;
}

static int s3_writer_commit(sherd_writer *writer, sherd_error *err)
{
	s3_writer *w = (s3_writer *)writer;
	char identity[SHD_S3_IDENTITY] = "";
	int rc;
	if (w->upload) {
		shd_s3_upload *upload = w->upload;
		w->upload = NULL;
		rc = shd_s3_upload_commit(upload, w->first, identity, err);
	} else {
		rc = commit_put(w, identity, err);
	}
	if (w->identity)
		memcpy(w->identity, identity, sizeof(identity));
	s3_writer_free(w);
	return rc;
}

static void s3_writer_abort(sherd_writer *writer)
{
	s3_writer_free((s3_writer *)writer);
}

static const struct sherd_writer_ops s3_writer_ops = {
	.append = s3_writer_append, .fill = s3_writer_fill, .commit = s3_writer_commit, .abort = s3_writer_abort};

int shd_s3_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                 sherd_error *err)
{
	shd_s3_manners manners;
	TRY(shd_s3_ask_manners(&manners, (shd_s3 *)store, err));
	s3_writer *w = calloc(1, sizeof(*w));
	char *copy = strdup(key);
	if (!w || !copy) {
		free(w);
		free(copy);
		return shd_s3_no_memory(err);
	}
	w->base.ops = &s3_writer_ops;
	w->s = (shd_s3 *)store;
	w->key = copy;
	w->file = -1;
	w->exclusive = options->mode == SHERD_WRITE_NEW;
	if (options->if_identity)
		(void)snprintf(w->if_identity, sizeof(w->if_identity), "%s", options->if_identity);
	w->identity = options->identity;
	w->part = is_one_put(w) ? w->s->config.part : shd_s3_upload_part(w->s, options->size_hint);
	*out = &w->base;
	return SHERD_OK;
}
