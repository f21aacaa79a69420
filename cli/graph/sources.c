#include "graph/sources.h"

#include "base/place.h"
#include "base/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const sherd_limits limits = {.metadata_bytes = 64 << 20}; /* the longest line */

static int fail_system(const char *name, const char *what, sherd_error *err)
{
	int cause = errno;
	size_t len = strlen(name), room = sizeof(err->object) - 1;
	sherd_status code = cause == ENOENT || cause == ENOTDIR ? SHERD_ENOTFOUND : SHERD_EIO;
	int rc = cli_fail(err, code, code == SHERD_EIO ? "io" : "not-found", "cannot %s: %s", what, strerror(cause));
	err->os_errno = cause;
	(void)snprintf(err->object, sizeof(err->object), "%s", name + (len > room ? len - room : 0));
	return rc;
}

typedef struct input {
	sherd_graph_source source;
	int fd;
} input;

/* Reading is begun again after a signal, waiting is not: so that a signal is noticed while nothing comes. */
static int64_t input_read(void *arg, void *buf, size_t room, sherd_error *err)
{
	const input *in = arg;
	for (;;) {
		struct pollfd wait = {.fd = in->fd, .events = POLLIN};
		int ready = poll(&wait, 1, -1);
		TRY(cli_watch_check(err));
		ssize_t n = ready < 0 ? -1 : read(in->fd, buf, room);
		if (n >= 0)
			return n;
		if (errno != EINTR && errno != EAGAIN)
			return fail_system(in->source.name, "read", err);
	}
}

static void input_close(input *in)
{
	if (in->fd > STDIN_FILENO)
		(void)close(in->fd);
}
#define AUTO_INPUT __attribute__((cleanup(input_close))) input

static int input_open(input *in, const char *path, sherd_graph_record what, sherd_error *err)
{
	struct stat st;
	bool standard = strcmp(path, "-") == 0;
	const char *name = standard ? "standard input" : path;
	in->fd = standard ? STDIN_FILENO : open(cli_place_plain(path), O_RDONLY | O_CLOEXEC);
	if (in->fd < 0 || fstat(in->fd, &st) < 0)
		return fail_system(name, "open", err);
	in->source = (sherd_graph_source){.read = input_read,
	                                  .arg = in,
	                                  .name = name,
	                                  .what = what,
	                                  .size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0};
	return SHERD_OK;
}

/* One path for both is read once, and tells nodes from edges by itself. */
static int each_source(const cli_sources *from, int (*take)(void *, const sherd_graph_source *, sherd_error *),
                       void *arg, sherd_error *err)
{
	bool same = from->nodes && from->edges && strcmp(from->nodes, from->edges) == 0;
	const char *const paths[] = {from->nodes, same ? NULL : from->edges};
	for (int i = 0; i < 2; i++) {
		AUTO_INPUT in = {.fd = -1};
		if (!paths[i])
			continue;
		TRY(input_open(&in, paths[i], same ? SHERD_GRAPH_ANY : i ? SHERD_GRAPH_EDGE : SHERD_GRAPH_NODE, err));
		TRY(take(arg, &in.source, err));
	}
	return SHERD_OK;
}

static int read_source(void *arg, const sherd_graph_source *source, sherd_error *err)
{
	return sherd_graph_lines_read(arg, source, err);
}

int cli_sources_read(sherd_graph_lines **lines, const cli_sources *from, sherd_error *err)
{
	TRY(sherd_graph_lines_open(lines, &limits, err));
	return each_source(from, read_source, *lines, err);
}

typedef struct importing {
	cli_state *cli;
	sherd_graph *graph;
	sherd_graph_import_options options;
	sherd_graph_import_result *total;
} importing;

static int import_source(void *arg, const sherd_graph_source *source, sherd_error *err)
{
	const importing *m = arg;
	sherd_graph_import_result one;
	int rc = cli_watch_blame(sherd_graph_import(m->graph, source, &m->options, &one, err), err);
	cli_out_clear_bar(&m->cli->out);
	TRY(rc);
	m->total->nodes += one.nodes;
	m->total->edges += one.edges;
	m->total->skipped += one.skipped;
	return SHERD_OK;
}

int cli_sources_import(cli_state *cli, sherd_graph *graph, const cli_sources *from, bool skip_unknown,
                       sherd_graph_import_result *out, sherd_error *err)
{
	importing m = {.cli = cli, .graph = graph, .total = out};
	m.options = (sherd_graph_import_options){
		.skip_unknown = skip_unknown, .pool = cli->pool, .limits = &limits, .progress = &cli->progress};
	*out = (sherd_graph_import_result){0};
	return each_source(from, import_source, &m, err);
}
