/* fuzz_graph_json - whatever the line, reading ends with a verdict; a record that was read is written so that the same
 * record comes back. Whatever the lines, and however they are read, the same records and the same verdict come. */
#include "form.h"

#include <sherd/graph_json.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const fuzz_form *const fuzz_target_form = &form_json;

/* The line of the only record. */
static void write_line(const sherd_graph_lines *lines, int what, char **line, size_t *room, size_t *len)
{
	const sherd_graph_node *node;
	const sherd_graph_edge *edge;
	(void)sherd_graph_lines_nodes(&node, lines);
	(void)sherd_graph_lines_edges(&edge, lines);
	int rc = what == SHERD_GRAPH_NODE ? sherd_graph_node_line(line, room, len, node, NULL)
	                                  : sherd_graph_edge_line(line, room, len, edge, NULL);
	if (rc < 0)
		abort();
}

static void try_line(sherd_graph_lines *lines, const char *text, size_t size)
{
	char *first = NULL, *second = NULL;
	size_t first_room = 0, second_room = 0, first_len, second_len;
	int what = sherd_graph_lines_add(lines, SHERD_GRAPH_ANY, text, size, NULL);
	if (what <= 0)
		return;
	write_line(lines, what, &first, &first_room, &first_len);
	sherd_graph_lines_clear(lines);
	if (sherd_graph_lines_add(lines, (sherd_graph_record)what, first, first_len, NULL) != what)
		abort();
	write_line(lines, what, &second, &second_room, &second_len);
	if (first_len != second_len || memcmp(first, second, first_len) != 0)
		abort();
	free(first);
	free(second);
}

typedef struct feed {
	const uint8_t *data;
	size_t left, step;
} feed;

static int64_t feed_read(void *arg, void *buf, size_t room, sherd_error *err)
{
	feed *f = arg;
	size_t n = f->left < f->step ? f->left : f->step;
	(void)err;
	n = n < room ? n : room;
	if (n)
		memcpy(buf, f->data, n);
	f->data += n;
	f->left -= n;
	return (int64_t)n;
}

/* What reading all of it in such steps says: the code, and how many records and which byte. */
static void try_lines(const uint8_t *data, size_t size, size_t step, uint64_t said[4])
{
	sherd_graph_lines *lines;
	const sherd_graph_node *node;
	const sherd_graph_edge *edge;
	sherd_error err = {.offset = 0};
	feed f = {data, size, step};
	const sherd_graph_source source = {.read = feed_read, .arg = &f, .name = "lines"};
	if (sherd_graph_lines_open(&lines, NULL, NULL) < 0)
		abort();
	said[0] = (uint64_t)(int64_t)sherd_graph_lines_read(lines, &source, &err);
	said[1] = sherd_graph_lines_nodes(&node, lines);
	said[2] = sherd_graph_lines_edges(&edge, lines);
	said[3] = err.offset;
	sherd_graph_lines_close(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole[4], piecemeal[4];
	try_lines(data, size, size + 1, whole);
	try_lines(data, size, 3, piecemeal);
	if (memcmp(whole, piecemeal, sizeof(whole)) != 0)
		abort();
	sherd_graph_lines *lines;
	if (sherd_graph_lines_open(&lines, NULL, NULL) < 0)
		return 0;
	try_line(lines, (const char *)data, size);
	sherd_graph_lines_close(lines);
	return 0;
}
