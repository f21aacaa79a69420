/* Lines that are read by several workers: the same database, the same lines, the same errors, whoever works. */
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/pool.h"

#include <sherd/graph_json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_pool, sherd_pool_close)

static const unsigned worker_counts[] = {0, 1, 2, 16};

/* ---- sources */

typedef struct feed {
	const char *text;
	size_t len, at;
	size_t step;    /* bytes a read brings at most; they vary below it */
	size_t fail_at; /* reading fails from this byte on; 0: never */
	int fail_with;
	unsigned reads;
} feed;

static int64_t feed_read(void *arg, void *buf, size_t room, sherd_error *err)
{
	feed *f = arg;
	size_t n = f->step > 1 ? 1 + (f->reads++ * 7919) % f->step : 1;
	n = n < room ? n : room;
	n = n < f->len - f->at ? n : f->len - f->at;
	if (f->fail_at && f->at + n > f->fail_at)
		n = f->fail_at - f->at;
	if (f->fail_at && !n)
		return shd_fail(err, f->fail_with, "io", "the wire is cut");
	memcpy(buf, f->text + f->at, n);
	f->at += n;
	return (int64_t)n;
}

static sherd_graph_source source_of(feed *f, sherd_graph_record what)
{
	return (sherd_graph_source){.read = feed_read, .arg = f, .name = "some.jsonl", .what = what, .size = f->len};
}

/* Nodes, then edges between them: several pieces of each. */
static shd_buf make_lines(unsigned nodes, unsigned edges)
{
	shd_buf b = {0};
	for (unsigned i = 0; i < nodes; i++)
		shd_buf_printf(&b,
		               "{\"id\":\"n%u\",\"nodeType\":\"T%u\",\"name\":\"name %u\",\"file\":\"src/%u/f.js\","
		               "\"exported\":%s,\"metadata\":{\"line\":%u,\"a\":[1,2,{\"z\":1,\"b\":2}]}}%s\n",
		               i, i % 7, i % 90, i % 40, i % 5 ? "false" : "true", i, i % 11 ? "" : "\r");
	for (unsigned i = 0; i < edges; i++)
		shd_buf_printf(&b, "{\"src\":\"n%u\",\"dst\":\"n%u\",\"edgeType\":\"E%u\"}\n%s", i % nodes,
		               (i * 31 + i / nodes) % nodes, i % 5, i % 1000 ? "" : "\n");
	assert_false(b.failed);
	return b;
}

/* ---- what comes of it */

static bool note_object(void *arg, const char *key, const sherd_stat *stat)
{
	shd_buf *all = arg;
	(void)stat;
	shd_buf_printf(all, "%s\n", key);
	return true;
}

static int append_object(sherd_store *store, const char *key, shd_buf *out)
{
	sherd_reader *r = NULL;
	assert_ok(sherd_store_read(&r, store, key, err));
	size_t size = (size_t)sherd_reader_size(r);
	assert_true(shd_buf_reserve(out, size));
	assert_ok(sherd_reader_at(r, 0, out->data + out->len, size, err));
	out->len += size;
	sherd_reader_close(r);
	return 0;
}

/* Keys and bytes of all objects. */
static shd_buf all_objects(sherd_store *store)
{
	shd_buf names = {0}, all = {0};
	assert_ok(sherd_store_list(store, "", "", note_object, &names, err));
	shd_buf_u8(&names, 0);
	char *rest = NULL;
	for (char *key = strtok_r((char *)names.data, "\n", &rest); key; key = strtok_r(NULL, "\n", &rest)) {
		shd_buf_str(&all, key);
		(void)append_object(store, key, &all);
	}
	shd_buf_done(&names);
	assert_false(all.failed);
	return all;
}

static void assert_same_bytes(const shd_buf *a, const shd_buf *b)
{
	assert_int_equal(a->len, b->len);
	assert_memory_equal(a->data, b->data, a->len);
}

typedef struct outcome {
	int rc;
	sherd_error err;
	sherd_graph_import_result result;
	shd_buf objects; /* of the database, when it was flushed */
} outcome;

static outcome import_with(unsigned workers, feed f, const sherd_graph_import_options *options)
{
	outcome o = {0};
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	sherd_graph_import_options mine = options ? *options : (sherd_graph_import_options){0};
	if (workers)
		assert_ok(sherd_pool_open(&pool, workers, err));
	SCOPED_STORE store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	SCOPED_GRAPH g = graph_create(store, "db", NULL, pool);
	const sherd_graph_source source = source_of(&f, SHERD_GRAPH_ANY);
	mine.pool = pool;
	o.rc = sherd_graph_import(g, &source, &mine, &o.result, &o.err);
	if (o.rc == SHERD_OK) {
		graph_flush(g);
		o.objects = all_objects(store);
	}
	return o;
}

TEST(the_database_is_the_same_whatever_the_workers_and_the_reads)
{
	SHD_AUTO_BUF lines = make_lines(5000, 15000);
	const feed f = {.text = (const char *)lines.data, .len = lines.len, .step = 1 << 20};
	assert_true(lines.len > 5 * (256 << 10));
	outcome want = import_with(0, f, NULL);
	assert_int_equal(want.rc, SHERD_OK);
	assert_int_equal(want.result.nodes, 5000);
	assert_int_equal(want.result.edges, 15000);
	for (size_t i = 1; i < sizeof(worker_counts) / sizeof(worker_counts[0]); i++) {
		feed other = f;
		other.step = i % 2 ? 3001 : 1 << 20;
		outcome o = import_with(worker_counts[i], other, NULL);
		assert_int_equal(o.rc, SHERD_OK);
		assert_same_bytes(&o.objects, &want.objects);
		shd_buf_done(&o.objects);
	}
	shd_buf_done(&want.objects);
}

/* More records than a writer holds: room is made at the same lines. */
TEST(room_is_made_at_the_same_places)
{
	SHD_AUTO_BUF b = {0};
	shd_buf_str(&b, "{\"id\":1}\n");
	for (unsigned i = 0; i < 260000; i++)
		shd_buf_printf(&b, "{\"src\":1,\"dst\":%u}\n", i);
	const feed f = {.text = (const char *)b.data, .len = b.len, .step = 1 << 20};
	outcome one = import_with(1, f, NULL), many = import_with(4, f, NULL);
	assert_int_equal(one.rc, SHERD_OK);
	assert_int_equal(many.rc, SHERD_OK);
	assert_int_equal(many.result.edges, 260000);
	assert_same_bytes(&one.objects, &many.objects);
	shd_buf_done(&one.objects);
	shd_buf_done(&many.objects);
}

/* ---- errors */

/* Whoever works, the first bad line is told. */
static void assert_told(const feed *f, const sherd_graph_import_options *options, int code, uint64_t offset,
                        const char *message)
{
	for (size_t i = 0; i < sizeof(worker_counts) / sizeof(worker_counts[0]); i++) {
		feed mine = *f;
		mine.step = i % 2 ? 3001 : 1 << 20;
		outcome o = import_with(worker_counts[i], mine, options);
		assert_int_equal(o.rc, code);
		assert_int_equal(o.err.code, code);
		assert_string_equal(o.err.message, message);
		assert_string_equal(o.err.object, "some.jsonl");
		assert_true(o.err.offset == offset);
	}
}

/* Replaces line n (from 1); returns its offset. */
static size_t put_line(shd_buf *b, unsigned n, const char *text)
{
	size_t at = 0;
	for (unsigned i = 1; i < n; i++)
		at = (size_t)((uint8_t *)memchr(b->data + at, '\n', b->len - at) + 1 - b->data);
	size_t end = (size_t)((uint8_t *)memchr(b->data + at, '\n', b->len - at) - b->data);
	assert_true(strlen(text) <= end - at);
	memset(b->data + at, ' ', end - at);
	memcpy(b->data + at, text, strlen(text));
	return at;
}

TEST(the_first_bad_line_is_told_with_its_byte)
{
	SHD_AUTO_BUF lines = make_lines(3000, 9000);
	const feed f = {.text = (const char *)lines.data, .len = lines.len};
	size_t late = put_line(&lines, 8000, "{\"src\":[]}");
	assert_told(&f, NULL, SHERD_ECORRUPT, late + 7, "line 8000: an array where a string must stand");
	size_t unknown = put_line(&lines, 3500, "{\"src\":\"stranger\",\"dst\":1}");
	assert_told(&f, NULL, SHERD_ECORRUPT, unknown, "line 3500: no node stranger, which an edge begins at");
	size_t early = put_line(&lines, 2500, "{\"id\":1 2}");
	assert_told(&f, NULL, SHERD_ECORRUPT, early + 8, "line 2500: ',' or '}' must stand here, not '2'");
	size_t first = put_line(&lines, 1, "{}");
	assert_told(&f, NULL, SHERD_ECORRUPT, first, "line 1: \"id\" of the node is missing");
}

TEST(a_line_that_is_too_long_is_told_after_the_lines_before_it)
{
	SHD_AUTO_BUF lines = make_lines(2000, 0);
	const sherd_limits limits = {.metadata_bytes = 1 << 20};
	const sherd_graph_import_options options = {.limits = &limits};
	size_t at = lines.len;
	shd_buf_str(&lines, "{\"id\":\"");
	for (unsigned i = 0; i < 3 << 20; i += 8)
		shd_buf_str(&lines, "aaaaaaaa");
	shd_buf_str(&lines, "\"}\n{\"id\":1}\n");
	const feed f = {.text = (const char *)lines.data, .len = lines.len};
	assert_told(&f, &options, SHERD_ELIMIT, at, "line 2001: longer than 1 MiB");
	size_t bad = put_line(&lines, 2000, "{}");
	assert_told(&f, &options, SHERD_ECORRUPT, bad, "line 2000: \"id\" of the node is missing");
}

TEST(what_cannot_be_read_is_told_after_the_lines_before_it)
{
	SHD_AUTO_BUF lines = make_lines(2500, 0);
	const feed f = {.text = (const char *)lines.data,
	                .len = lines.len,
	                .fail_at = lines.len - 1000,
	                .fail_with = SHERD_EIO};
	assert_told(&f, NULL, SHERD_EIO, SHERD_NO_OFFSET, "the wire is cut");
	size_t bad = put_line(&lines, 2400, "{}");
	assert_told(&f, NULL, SHERD_ECORRUPT, bad, "line 2400: \"id\" of the node is missing");
}

TEST(a_last_line_needs_no_end)
{
	const char *text = "\n{\"id\":1}\n\n{\"id\":2}";
	outcome o = import_with(2, (feed){.text = text, .len = strlen(text), .step = 1}, NULL);
	assert_int_equal(o.rc, SHERD_OK);
	assert_int_equal(o.result.nodes, 2);
	shd_buf_done(&o.objects);
	o = import_with(2, (feed){.text = "", .len = 0, .step = 1}, NULL);
	assert_int_equal(o.rc, SHERD_OK);
	shd_buf_done(&o.objects);
}

TEST(edges_without_a_source_are_left_out_and_counted)
{
	SHD_AUTO_BUF lines = make_lines(100, 4000);
	const feed f = {.text = (const char *)lines.data, .len = lines.len, .step = 1 << 20};
	const sherd_graph_import_options skip = {.skip_unknown = true};
	for (unsigned n = 201; n < 4000; n += 600)
		(void)put_line(&lines, n, "{\"src\":\"x\",\"dst\":1}");
	for (unsigned workers = 1; workers < 4; workers++) {
		outcome o = import_with(workers, f, &skip);
		assert_int_equal(o.rc, SHERD_OK);
		assert_int_equal(o.result.skipped, 7);
		assert_int_equal(o.result.edges, 4000 - 7);
		shd_buf_done(&o.objects);
	}
}

static bool stop_after(void *arg, uint64_t done, uint64_t total)
{
	unsigned *left = arg;
	assert_true(done <= total);
	return (*left)-- > 1;
}

TEST(who_says_stop_is_heard_while_workers_are_ahead)
{
	SHD_AUTO_BUF lines = make_lines(4000, 0);
	const feed f = {.text = (const char *)lines.data, .len = lines.len, .step = 1 << 20};
	for (unsigned workers = 1; workers < 5; workers++) {
		unsigned left = 2;
		const sherd_progress progress = {stop_after, &left};
		const sherd_graph_import_options options = {.progress = &progress};
		assert_int_equal(import_with(workers, f, &options).rc, SHERD_ECANCELLED);
		feed stopped = f;
		stopped.fail_at = lines.len / 2;
		stopped.fail_with = SHERD_ECANCELLED;
		assert_int_equal(import_with(workers, stopped, NULL).rc, SHERD_ECANCELLED);
	}
}

/* ---- lines that are kept */

TEST(records_of_two_sources_are_blamed_on_their_lines)
{
	sherd_error told = {0};
	sherd_graph_lines *lines = NULL;
	const char *one = "\n{\"id\":\"a\"}\n", *two = "{\"src\":\"a\",\"dst\":\"b\"}\n{\"src\":\"b\",\"dst\":\"a\"}";
	feed first = {.text = one, .len = strlen(one), .step = 5},
	     second = {.text = two, .len = strlen(two), .step = 3};
	sherd_graph_source nodes = source_of(&first, SHERD_GRAPH_NODE), edges = source_of(&second, SHERD_GRAPH_EDGE);
	nodes.name = "n.jsonl";
	assert_ok(sherd_graph_lines_open(&lines, NULL, err));
	assert_ok(sherd_graph_lines_read(lines, &nodes, err));
	assert_ok(sherd_graph_lines_read(lines, &edges, err));
	int rc = shd_at_index(&told, shd_fail(&told, SHERD_EINVAL, "unknown-source", "no node 7"), 2);
	assert_int_equal(sherd_graph_lines_blame(lines, 1, rc, &told), SHERD_ECORRUPT);
	assert_string_equal(told.message, "line 2: no node b, which an edge begins at");
	assert_string_equal(told.object, "some.jsonl");
	assert_int_equal(told.offset, 22);
	rc = shd_at_index(&told, shd_fail(&told, SHERD_EINVAL, "other-file", "not of the file"), 0);
	assert_int_equal(sherd_graph_lines_blame(lines, 1, rc, &told), SHERD_ECORRUPT);
	assert_string_equal(told.message, "line 2: not of the file");
	assert_string_equal(told.object, "n.jsonl");
	assert_int_equal(told.offset, 1);
	second = (feed){.text = "{\"src\":1,\"dst\":2}\n{}", .len = 20, .step = 20};
	assert_fails(SHERD_ECORRUPT, 18, sherd_graph_lines_read(lines, &edges, err));
	sherd_graph_lines_close(lines);
}

/* ---- export */

typedef struct drain {
	shd_buf text;
	size_t most; /* bytes before it says `says`; 0: all */
	int says;
} drain;

static int drain_put(void *arg, const void *text, size_t len, sherd_error *err)
{
	drain *d = arg;
	shd_buf_append(&d->text, text, len);
	assert_true(len && ((const char *)text)[len - 1] == '\n');
	if (!d->most || d->text.len < d->most)
		return SHERD_OK;
	return d->says < 0 ? shd_fail(err, (sherd_status)d->says, "io", "full") : d->says;
}

static int export_with(unsigned workers, const sherd_graph *g, drain *d, sherd_graph_export_result *result,
                       const sherd_progress *progress, sherd_error *told)
{
	SHD_AUTO(sherd_pool, sherd_pool_close) pool = NULL;
	if (workers)
		assert_ok(sherd_pool_open(&pool, workers, err));
	const sherd_graph_export_options options = {.nodes = true, .edges = true, .pool = pool, .progress = progress};
	return sherd_graph_export(g, &options, drain_put, d, result, told);
}

TEST(exported_lines_are_the_same_whatever_the_workers_and_read_back)
{
	SHD_AUTO_BUF lines = make_lines(3000, 9000);
	feed f = {.text = (const char *)lines.data, .len = lines.len, .step = 1 << 20};
	const sherd_graph_source source = source_of(&f, SHERD_GRAPH_ANY);
	SCOPED_GRAPH g = NULL;
	drain want = {0};
	sherd_graph_export_result result;
	assert_ok(sherd_graph_open_ephemeral(&g, NULL, NULL, err));
	assert_ok(sherd_graph_import(g, &source, NULL, NULL, err));
	assert_ok(export_with(0, g, &want, &result, NULL, err));
	assert_int_equal(result.nodes, 3000);
	assert_int_equal(result.edges, 9000);
	assert_int_equal(result.bytes, want.text.len);
	for (unsigned workers = 1; workers < 17; workers *= 2) {
		drain d = {0};
		assert_ok(export_with(workers, g, &d, &result, NULL, err));
		assert_same_bytes(&d.text, &want.text);
		shd_buf_done(&d.text);
	}
	SCOPED_GRAPH again = NULL;
	feed back = {.text = (const char *)want.text.data, .len = want.text.len, .step = 1 << 20};
	const sherd_graph_source lines_again = source_of(&back, SHERD_GRAPH_ANY);
	assert_ok(sherd_graph_open_ephemeral(&again, NULL, NULL, err));
	assert_ok(sherd_graph_import(again, &lines_again, NULL, NULL, err));
	assert_same_graph(g, again);
	shd_buf_done(&want.text);
}

static bool never(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return false;
}

TEST(a_sink_stops_fails_and_is_cancelled)
{
	SHD_AUTO_BUF lines = make_lines(3000, 9000);
	feed f = {.text = (const char *)lines.data, .len = lines.len, .step = 1 << 20};
	const sherd_graph_source source = source_of(&f, SHERD_GRAPH_ANY);
	const sherd_progress progress = {.update = never};
	SCOPED_GRAPH g = NULL;
	assert_ok(sherd_graph_open_ephemeral(&g, NULL, NULL, err));
	assert_ok(sherd_graph_import(g, &source, NULL, NULL, err));
	for (unsigned workers = 0; workers < 5; workers++) {
		drain d = {.most = 1, .says = 1};
		assert_ok(export_with(workers, g, &d, NULL, NULL, err));
		assert_true(d.text.len < lines.len);
		d.says = SHERD_EIO;
		assert_refused(SHERD_EIO, "io", export_with(workers, g, &d, NULL, NULL, err));
		d.most = 0;
		assert_refused(SHERD_ECANCELLED, "cancelled", export_with(workers, g, &d, NULL, &progress, err));
		shd_buf_done(&d.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_database_is_the_same_whatever_the_workers_and_the_reads),
		cmocka_unit_test(room_is_made_at_the_same_places),
		cmocka_unit_test(the_first_bad_line_is_told_with_its_byte),
		cmocka_unit_test(a_line_that_is_too_long_is_told_after_the_lines_before_it),
		cmocka_unit_test(what_cannot_be_read_is_told_after_the_lines_before_it),
		cmocka_unit_test(a_last_line_needs_no_end),
		cmocka_unit_test(edges_without_a_source_are_left_out_and_counted),
		cmocka_unit_test(who_says_stop_is_heard_while_workers_are_ahead),
		cmocka_unit_test(records_of_two_sources_are_blamed_on_their_lines),
		cmocka_unit_test(exported_lines_are_the_same_whatever_the_workers_and_read_back),
		cmocka_unit_test(a_sink_stops_fails_and_is_cancelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
