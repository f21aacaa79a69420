#include "graph/lines.h"

#include "base/place.h"
#include "base/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, LONGEST = 64 << 20 };

static void name_input(const char *path, sherd_error *err)
{
	size_t len = strlen(path), room = sizeof(err->object) - 1;
	(void)snprintf(err->object, sizeof(err->object), "%s",
	               strcmp(path, "-") == 0 ? "standard input" : path + (len > room ? len - room : 0));
}

static int fail_system(const char *path, const char *what, sherd_error *err)
{
	int cause = errno;
	sherd_status code = cause == ENOENT || cause == ENOTDIR ? SHERD_ENOTFOUND : SHERD_EIO;
	int rc = cli_fail(err, code, code == SHERD_EIO ? "io" : "not-found", "cannot %s: %s", what, strerror(cause));
	err->os_errno = cause;
	name_input(path, err);
	return rc;
}

int cli_lines_open(cli_lines *in, const char *path, sherd_error *err)
{
	struct stat st;
	*in = (cli_lines){.at = {.path = path}, .fd = STDIN_FILENO};
	if (strcmp(path, "-") != 0)
		in->fd = open(cli_place_plain(path), O_RDONLY | O_CLOEXEC);
	if (in->fd < 0 || fstat(in->fd, &st) < 0) {
		int rc = fail_system(path, "open", err);
		cli_lines_close(in);
		return rc;
	}
	in->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return SHERD_OK;
}

void cli_lines_close(cli_lines *in)
{
	if (in->fd > STDIN_FILENO)
		(void)close(in->fd);
	free(in->data);
	*in = (cli_lines){.fd = -1};
}

/* Makes room after what is kept. */
static int graph_lines_make_room(cli_lines *in, sherd_error *err)
{
	if (in->from) {
		memmove(in->data, in->data + in->from, in->len - in->from);
		in->len -= in->from;
		in->from = 0;
	}
	if (in->cap - in->len >= PIECE)
		return SHERD_OK;
	if (in->len >= LONGEST) {
		int rc = cli_fail(err, SHERD_ELIMIT, "too-long", "longer than %d MiB", LONGEST >> 20);
		in->at.line++;
		in->at.offset = in->next;
		return cli_position_blame(&in->at, rc, err);
	}
	size_t cap = in->cap ? in->cap * 2 : (size_t)PIECE * 4;
	if (cap > LONGEST + PIECE)
		cap = LONGEST + PIECE;
	char *data = realloc(in->data, cap);
	if (!data)
		return cli_no_memory(err);
	in->data = data;
	in->cap = cap;
	return SHERD_OK;
}

/* Reading is begun again after a signal, waiting is not: so that a signal is noticed while nothing comes. */
static int graph_lines_fill(cli_lines *in, sherd_error *err)
{
	TRY(graph_lines_make_room(in, err));
	for (;;) {
		struct pollfd wait = {.fd = in->fd, .events = POLLIN};
		int ready = poll(&wait, 1, -1);
		TRY(cli_watch_check(err));
		ssize_t n = ready < 0 ? -1 : read(in->fd, in->data + in->len, in->cap - in->len);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return fail_system(in->at.path, "read", err);
		in->end = n == 0;
		in->len += (size_t)n;
		return SHERD_OK;
	}
}

int cli_lines_next(cli_lines *in, const char **line, size_t *len, sherd_error *err)
{
	size_t looked = 0;
	const char *end = NULL;
	while (!end) {
		if (in->len - in->from > looked)
			end = memchr(in->data + in->from + looked, '\n', in->len - in->from - looked);
		looked = in->len - in->from;
		if (end || in->end)
			break;
		TRY(graph_lines_fill(in, err));
	}
	if (!looked)
		return 0;
	*line = in->data + in->from;
	*len = end ? (size_t)(end + 1 - *line) : looked;
	in->from += *len;
	in->at.line++;
	in->at.offset = in->next;
	in->next += *len;
	return 1;
}

int cli_position_blame(const cli_position *at, int rc, sherd_error *err)
{
	if (rc >= 0 || rc == SHERD_ENOMEM || rc == SHERD_ECANCELLED)
		return rc;
	char message[sizeof(err->message)];
	memcpy(message, err->message, sizeof(message));
	(void)snprintf(err->message, sizeof(err->message), "line %" PRIu64 ": %.220s", at->line, message);
	err->offset = at->offset + (err->offset == SHERD_NO_OFFSET ? 0 : err->offset);
	name_input(at->path, err);
	return rc;
}
