/* Fault: every allocation of reading and writing lines of records fails once; nothing leaks, the code says so. */
#include <sherd/graph_json.h>

#include "support/fail_malloc.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static int add(sherd_graph_lines *lines, const char *line, sherd_error *err)
{
	return sherd_graph_lines_add(lines, SHERD_GRAPH_ANY, line, strlen(line), err);
}

/* Objects, escapes, defaults and marks, so that every place that allocates is reached. */
static int read_lines(sherd_graph_lines *lines, sherd_error *err)
{
	int rc =
		add(lines, "{\"id\":\"a\\n\",\"exported\":true,\"metadata\":{\"b\":[{\"d\":1,\"c\":2}],\"a\":1}}", err);
	if (rc >= 0)
		rc = add(lines, "{\"id\":7,\"file\":\"f\",\"metadata\":\"{\\\"__exported\\\":true}\"}", err);
	if (rc >= 0)
		rc = add(lines, "{\"src\":7,\"dst\":\"b\",\"edgeType\":\"CALLS\",\"metadata\":{\"k\":\"\\u00e4\"}}",
		         err);
	return rc;
}

static int write_lines(const sherd_graph_lines *lines, sherd_error *err)
{
	char *line = NULL;
	const sherd_graph_node *n;
	const sherd_graph_edge *e;
	size_t room = 0, len, nodes = sherd_graph_lines_nodes(&n, lines), edges = sherd_graph_lines_edges(&e, lines);
	int rc = SHERD_OK;
	for (size_t i = 0; rc == SHERD_OK && i < nodes; i++)
		rc = sherd_graph_node_line(&line, &room, &len, &n[i], err);
	for (size_t i = 0; rc == SHERD_OK && i < edges; i++)
		rc = sherd_graph_edge_line(&line, &room, &len, &e[i], err);
	sherd_free(line);
	return rc;
}

static int work(sherd_error *err)
{
	sherd_graph_lines *lines = NULL;
	int rc = sherd_graph_lines_open(&lines, NULL, err);
	if (rc >= 0)
		rc = read_lines(lines, err);
	if (rc >= 0)
		rc = write_lines(lines, err);
	sherd_graph_lines_close(lines);
	return rc;
}

TEST(no_failed_allocation_is_missed)
{
	long n = 1;
	for (bool hit = true; hit; n++) {
		sherd_error err = {0};
		fail_malloc_at(n);
		int rc = work(&err);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		if (rc < 0) {
			assert_true(hit);
			assert_int_equal(rc, SHERD_ENOMEM);
			assert_int_equal(err.code, SHERD_ENOMEM);
		}
	}
	assert_true(n > 20);
}

/* ---- many lines, workers ahead */

typedef struct feed {
	const char *text;
	size_t left;
} feed;

static int64_t feed_read(void *arg, void *buf, size_t room, sherd_error *err)
{
	(void)err;
	feed *f = arg;
	size_t n = f->left < room ? f->left : room;
	memcpy(buf, f->text, n);
	f->text += n;
	f->left -= n;
	return (int64_t)n;
}

static int drop(void *arg, const void *text, size_t len, sherd_error *err)
{
	(void)arg, (void)text, (void)len, (void)err;
	return SHERD_OK;
}

static sherd_pool *pool;

static int import_and_export(sherd_error *err)
{
	static const char text[] = "{\"id\":\"a\",\"exported\":true}\n{\"src\":\"a\",\"dst\":\"b\"}\n";
	sherd_graph *g = NULL;
	feed f = {text, strlen(text)};
	const sherd_graph_source source = {.read = feed_read, .arg = &f, .name = "some"};
	const sherd_graph_import_options in = {.pool = pool};
	const sherd_graph_export_options out = {.nodes = true, .edges = true, .pool = pool};
	sherd_graph_export_result told = {0};
	int rc = sherd_graph_open_ephemeral(&g, NULL, NULL, err);
	if (rc >= 0)
		rc = sherd_graph_import(g, &source, &in, NULL, err);
	if (rc >= 0)
		rc = sherd_graph_export(g, &out, drop, NULL, &told, err);
	sherd_graph_close(g);
	assert_true(rc < 0 || (told.nodes == 1 && told.edges == 1)); /* what is done without is never a record */
	return rc;
}

static void fail_each(void)
{
	long n = 1;
	for (bool hit = true; hit; n++) {
		sherd_error err = {0};
		fail_malloc_at(n);
		int rc = import_and_export(&err);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		assert_true(rc == SHERD_OK || (hit && rc == SHERD_ENOMEM && err.code == SHERD_ENOMEM));
	}
	assert_true(n > 20);
}

TEST(import_and_export_end_well_when_memory_is_out)
{
	fail_each();
	assert_ok(sherd_pool_open(&pool, 2, err));
	fail_each();
	sherd_pool_close(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_failed_allocation_is_missed),
	                                   cmocka_unit_test(import_and_export_end_well_when_memory_is_out)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
