#include "engine/tensors/zip_stream.h"

#include "codec/inflate.h"

#include <pthread.h>
#include <stdlib.h>

enum { INPUT = 64 << 10, WINDOW = 128 << 10, SPACING = 1 << 20 };

/* The stream at some byte of the entry. */
typedef struct place {
	shd_inflate *z;
	uint64_t in, out; /* compressed bytes taken, bytes made */
} place;

struct shd_zip_stream {
	const sherd_reader *archive;
	uint64_t data, stored, size;
	pthread_mutex_t lock;
	place here;
	place points[SHD_ZIP_POINTS]; /* passed before, by out */
	size_t point_count;
	uint64_t spacing;
	shd_zip_kept kept;
	size_t have;        /* bytes of input that are read and not yet taken; they end with the buffer's */
	size_t input_end;   /* of what was read */
	uint64_t window_at; /* the byte of the entry that the window begins with */
	size_t window_len;
	uint8_t input[INPUT];
	uint8_t window[WINDOW];
};

int shd_zip_stream_open(shd_zip_stream **out, const sherd_reader *archive, const shd_zip_entry *entry, uint64_t data,
                        sherd_error *err)
{
	shd_zip_stream *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_fail_nomem(err);
	s->archive = archive;
	s->data = data;
	s->stored = entry->stored;
	s->size = entry->size;
	s->spacing = SPACING;
	if (pthread_mutex_init(&s->lock, NULL) != 0) {
		free(s);
		return shd_fail_nomem(err);
	}
	*out = s;
	return SHERD_OK;
}

void shd_zip_stream_close(shd_zip_stream *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->point_count; i++)
		shd_inflate_close(s->points[i].z);
	shd_inflate_close(s->here.z);
	shd_zip_kept_done(&s->kept);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Goes on from the last point at or before the offset, or from the start. */
static int jump(shd_zip_stream *s, uint64_t offset, sherd_error *err)
{
	place p = {0};
	size_t i = s->point_count;
	while (i && s->points[i - 1].out > offset)
		i--;
	if (s->here.z && s->here.out <= offset && (!i || s->points[i - 1].out <= s->here.out))
		return SHERD_OK;
	if (i) {
		p = s->points[i - 1];
		TRY(shd_inflate_copy(&p.z, s->points[i - 1].z, err));
	} else {
		TRY(shd_inflate_open(&p.z, err));
	}
	shd_inflate_close(s->here.z);
	s->here = p;
	s->have = 0;
	s->window_len = 0;
	return SHERD_OK;
}

/* Keeps the place, and every other one only when there are too many. */
static int zip_stream_remember(shd_zip_stream *s, sherd_error *err)
{
	uint64_t last = s->point_count ? s->points[s->point_count - 1].out : 0;
	if (s->here.out < last + s->spacing)
		return SHERD_OK;
	if (s->point_count == SHD_ZIP_POINTS) {
		size_t kept = 0;
		for (size_t i = 0; i < SHD_ZIP_POINTS; i++) {
			if (i % 2)
				s->points[kept++] = s->points[i];
			else
				shd_inflate_close(s->points[i].z);
		}
		s->point_count = kept;
		s->spacing *= 2;
	}
	place p = s->here;
	TRY(shd_inflate_copy(&p.z, s->here.z, err));
	s->points[s->point_count++] = p;
	return SHERD_OK;
}

static int read_input(shd_zip_stream *s, sherd_error *err)
{
	uint64_t left = s->stored - s->here.in;
	size_t n = left < INPUT ? (size_t)left : INPUT;
	TRY(sherd_reader_at(s->archive, s->data + s->here.in, s->input, n, err));
	s->have = n;
	s->input_end = n;
	return SHERD_OK;
}

/* Inflates some bytes into the room, at least one unless the stream ended; *made tells how many. */
static int inflate(shd_zip_stream *s, shd_inflate_io *io, size_t *made, sherd_error *err)
{
	*made = 0;
	while (!*made && !shd_inflate_ended(s->here.z)) {
		size_t room = io->out_len;
		if (!s->have && s->here.in < s->stored)
			TRY(read_input(s, err));
		io->in = s->input + s->input_end - s->have;
		io->in_len = s->have;
		int rc = shd_inflate_run(s->here.z, io, err);
		size_t taken = s->have - io->in_len;
		*made = room - io->out_len;
		if (rc == SHERD_OK && !taken && !*made && !shd_inflate_ended(s->here.z))
			rc = shd_fail(err, SHERD_ECORRUPT, "bad-deflate", "the compressed data ends too early");
		if (rc < 0) {
			if (err)
				err->offset = s->here.out;
			return rc;
		}
		s->here.in += taken;
		s->here.out += *made;
		s->have -= taken;
	}
	return SHERD_OK;
}

/* Fills the window with what comes next. */
static int zip_stream_step(shd_zip_stream *s, sherd_error *err)
{
	uint64_t left = s->size - s->here.out;
	size_t want = left < WINDOW ? (size_t)left : WINDOW;
	s->window_at = s->here.out;
	s->window_len = 0;
	shd_inflate_io io = {.out = s->window, .out_len = want};
	while (s->window_len < want) {
		size_t made;
		TRY(inflate(s, &io, &made, err));
		s->window_len += made;
		if (!made)
			return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", s->here.out,
			                   "the compressed data gives %llu bytes, not %llu",
			                   (unsigned long long)s->here.out, (unsigned long long)s->size);
	}
	shd_zip_kept_pass(&s->kept, s->window_at, s->window, s->window_len);
	return zip_stream_remember(s, err);
}

void shd_zip_stream_keep(shd_zip_stream *s, shd_zip_part *parts, size_t count)
{
	(void)pthread_mutex_lock(&s->lock);
	shd_zip_kept_done(&s->kept);
	shd_zip_kept_init(&s->kept, parts, count);
	(void)pthread_mutex_unlock(&s->lock);
}

static int read_locked(shd_zip_stream *s, uint64_t offset, uint8_t *buf, size_t len, sherd_error *err)
{
	if (len && shd_zip_kept_give(&s->kept, offset, buf, len))
		return SHERD_OK;
	while (len) {
		if (offset >= s->window_at && offset - s->window_at < s->window_len) {
			size_t skip = (size_t)(offset - s->window_at), n = s->window_len - skip;
			n = n < len ? n : len;
			memcpy(buf, s->window + skip, n);
			buf += n;
			offset += n;
			len -= n;
			continue;
		}
		int rc = jump(s, offset, err);
		if (rc == SHERD_OK)
			rc = zip_stream_step(s, err);
		if (rc < 0) { /* what was half made is not gone on with */
			shd_inflate_close(s->here.z);
			s->here = (place){0};
			s->have = 0;
			s->window_len = 0;
			return rc;
		}
	}
	return SHERD_OK;
}

int shd_zip_stream_at(shd_zip_stream *s, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)pthread_mutex_lock(&s->lock);
	int rc = read_locked(s, offset, buf, len, err);
	(void)pthread_mutex_unlock(&s->lock);
	return rc;
}

static int check_locked(shd_zip_stream *s, sherd_error *err)
{
	uint8_t one;
	size_t made = 0;
	TRY(jump(s, s->size, err));
	while (s->here.out < s->size)
		TRY(zip_stream_step(s, err));
	shd_inflate_io io = {.out = &one, .out_len = 1};
	TRY(inflate(s, &io, &made, err));
	if (made)
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", s->size,
		                   "the compressed data gives more than %llu bytes", (unsigned long long)s->size);
	if (s->here.in - shd_inflate_unused(s->here.z) != s->stored)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", s->size,
		                   "the compressed data ends before its last byte");
	return SHERD_OK;
}

int shd_zip_stream_check_end(shd_zip_stream *s, sherd_error *err)
{
	(void)pthread_mutex_lock(&s->lock);
	int rc = check_locked(s, err);
	shd_inflate_close(s->here.z);
	s->here = (place){0};
	s->have = 0;
	s->window_len = 0;
	(void)pthread_mutex_unlock(&s->lock);
	return rc;
}
