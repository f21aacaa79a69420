/* Several objects that belong together: a checkpoint, a model, rows or a graph database in a folder. The first one's
 * name up to a dot, a slash or an underscore is that of the set.
 * What verify finds nothing wrong with can be opened and read whole, and every way of asking a graph gives the same.
 * What is left of a checkpoint that lost its first shard can be opened and loaded in bounds.
 * What is salvaged of a container can be read whole. */
#include "base/error.h"
#include "bundle.h"
#include "form.h"
#include "set.h"

#include <sherd/ckpt.h>
#include <sherd/detect.h>
#include <sherd/graph.h>
#include <sherd/rows.h>
#include <sherd/verify.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_set;

enum { MOST_NAME = 200 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void name_set(const uint8_t *data, size_t len, char out[MOST_NAME + 1])
{
	set_object o = {0};
	size_t at = 0, n = 0;
	if (len && set_next(data, len, &at, &o))
		while (n < o.name_len && n < MOST_NAME && !strchr("._/", o.name[n]))
			n++;
	if (n)
		memcpy(out, o.name, n);
	out[n] = 0;
}

static void put_objects(sherd_store *store, const uint8_t *data, size_t len)
{
	char name[MOST_NAME + 1];
	set_object o;
	for (size_t at = 0; at < len && set_next(data, len, &at, &o);) {
		if (o.name_len > MOST_NAME)
			continue;
		memcpy(name, o.name, o.name_len);
		name[o.name_len] = 0;
		(void)sherd_store_put(store, name, SHERD_WRITE_REPLACE, o.data, o.len, NULL);
	}
}

static void read_bundle(sherd_store *store, const char *key, bool sound)
{
	sherd_bundle *b;
	int rc = sherd_bundle_open(&b, store, key, NULL, NULL);
	must(rc == SHERD_OK || !sound);
	if (rc < 0)
		return;
	fuzz_read_bundle(b, sound);
	sherd_bundle_close(b);
}

static void pass_lost(void *arg, const sherd_error *lost)
{
	(void)arg, (void)lost;
}

static int copy_in(void *arg, void *dst, const void *src, size_t len, sherd_error *err)
{
	(void)arg, (void)err;
	memcpy(dst, src, len);
	return SHERD_OK;
}

/* Into rooms of the size that the tensor claims, where the objects' bytes justify that. */
static void load_rest(const sherd_ckpt *c, size_t most)
{
	const sherd_memory device = {.kind = SHERD_MEMORY_DEVICE, .copy_in = copy_in};
	for (size_t i = 0; i < sherd_ckpt_count(c); i++) {
		sherd_ckpt_want want = {.tensor = i};
		uint64_t bytes = sherd_ckpt_tensor(c, i)->bytes;
		must(bytes <= most);
		want.buf = malloc(bytes + 1);
		for (int check = SHERD_CHECK_CRC; want.buf && check <= SHERD_CHECK_DIGEST; check++) {
			const sherd_ckpt_load_options o = {.check = (sherd_ckpt_check)check};
			want.memory = NULL;
			(void)sherd_ckpt_load(c, &want, 1, &o, NULL);
			want.memory = &device;
			(void)sherd_ckpt_load(c, &want, 1, &o, NULL);
		}
		free(want.buf);
	}
}

/* most: bytes of all objects. Of pieces that are whole none is larger than that. */
static void read_rest(sherd_store *store, const char *key, size_t most)
{
	const sherd_ckpt_options options = {.lost = pass_lost};
	sherd_ckpt *c;
	if (sherd_ckpt_open(&c, store, key, &options, NULL) < 0)
		return;
	load_rest(c, most);
	sherd_ckpt_close(c);
}

static void remove_a_shard(sherd_store *store, const uint8_t *data, size_t len)
{
	char name[MOST_NAME + 1];
	set_object o;
	for (size_t at = 0; at < len && set_next(data, len, &at, &o);) {
		if (o.name_len < 6 || o.name_len > MOST_NAME || memcmp(o.name + o.name_len - 6, ".shard", 6) != 0)
			continue;
		memcpy(name, o.name, o.name_len);
		name[o.name_len] = 0;
		(void)sherd_store_remove(store, name, NULL);
		return;
	}
}

static void read_rows(sherd_store *store, const char *key, bool sound)
{
	sherd_rows *rows;
	sherd_rows_cursor *cursor;
	sherd_rows_batch batch;
	int rc = sherd_rows_open_any(&rows, store, key, NULL, NULL);
	must(rc == SHERD_OK || !sound);
	if (rc < 0)
		return;
	must(sherd_rows_cursor_open(&cursor, rows, NULL, NULL) == SHERD_OK);
	while ((rc = sherd_rows_next(&batch, cursor, NULL)) > 0)
		continue;
	must(rc == SHERD_OK || !sound);
	sherd_rows_cursor_close(cursor);
	sherd_rows_close(rows);
}

typedef struct asked {
	const sherd_graph *graph;
	sherd_graph_id id;
	size_t found;
} asked;

static bool count_id(void *arg, const sherd_graph_node *node)
{
	asked *a = arg;
	a->found += node->id.lo == a->id.lo && node->id.hi == a->id.hi;
	return true;
}

/* A node is found by all that it has. */
static bool ask_node(void *arg, const sherd_graph_node *node)
{
	asked a = {.graph = arg, .id = node->id};
	const sherd_graph_query ways[] = {{.type = node->type}, {.file = node->file}, {.name = node->name}};
	sherd_graph_node got;
	must(sherd_graph_get(&got, a.graph, node->id, NULL) == 1);
	for (size_t i = 0; i < 3; i++) {
		a.found = 0;
		must(sherd_graph_find(a.graph, &ways[i], count_id, &a, NULL) == SHERD_OK && a.found == 1);
	}
	return true;
}

static bool count_edge(void *arg, const sherd_graph_edge *edge)
{
	(void)edge;
	(*(size_t *)arg)++;
	return true;
}

typedef struct edges {
	const sherd_graph *graph;
	size_t seen;
} edges;

static bool ask_edge(void *arg, const sherd_graph_edge *edge)
{
	edges *e = arg;
	size_t out = 0, in = 0;
	const sherd_graph_types types = {&edge->type, 1};
	e->seen++;
	must(sherd_graph_outgoing(e->graph, edge->src, &types, count_edge, &out, NULL) == SHERD_OK && out);
	must(sherd_graph_incoming(e->graph, edge->dst, &types, count_edge, &in, NULL) == SHERD_OK && in);
	return true;
}

static bool pass_node(void *arg, const sherd_graph_node *node)
{
	(void)arg, (void)node;
	return true;
}

static bool pass_edge(void *arg, const sherd_graph_edge *edge)
{
	(void)arg, (void)edge;
	return true;
}

static void read_graph(sherd_store *store, const char *key, bool sound)
{
	const sherd_graph_options options = {.read_only = true};
	sherd_graph *g;
	sherd_graph_totals totals;
	int rc = sherd_graph_open(&g, store, key, &options, NULL);
	must(rc == SHERD_OK || !sound);
	if (rc < 0)
		return;
	edges e = {.graph = g};
	rc = sherd_graph_find(g, NULL, sound ? ask_node : pass_node, g, NULL);
	must(rc == SHERD_OK || !sound);
	rc = sherd_graph_edges(g, NULL, sound ? ask_edge : pass_edge, &e, NULL);
	must(rc == SHERD_OK || !sound);
	rc = sherd_graph_stats(&totals, g, NULL);
	must(!sound || (rc == SHERD_OK && totals.edges == e.seen));
	sherd_graph_close(g);
}

static void read_set(sherd_store *store, const char *key, sherd_format format, bool sound)
{
	switch (format) {
	case SHERD_FORMAT_RFDB: read_graph(store, key, sound); break;
	case SHERD_FORMAT_ROWS:
	case SHERD_FORMAT_ROWS_BF16: read_rows(store, key, sound); break;
	default: read_bundle(store, key, sound);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	sherd_store *store;
	sherd_report *report = NULL;
	sherd_format format = SHERD_FORMAT_UNKNOWN;
	char key[MOST_NAME + 1];
	name_set(data, len, key);
	must(sherd_store_open_memory(&store, NULL) == SHERD_OK);
	put_objects(store, data, len);
	bool sound = sherd_verify(&report, store, key, NULL, NULL) == SHERD_OK && !sherd_report_errors(report);
	/* A shard without an index may be fine, and says nothing of its tensors. */
	if (sherd_detect(&format, store, key, NULL) == SHERD_OK)
		read_set(store, key, format, sound && format != SHERD_FORMAT_CHECKPOINT_SHARD);
	if (fuzz_is_salvaged(data, len))
		fuzz_salvage(store, key, sound && format == SHERD_FORMAT_SAMEDIFF_CONTAINER);
	if (format == SHERD_FORMAT_CHECKPOINT) {
		remove_a_shard(store, data, len);
		read_rest(store, key, len);
	}
	sherd_report_close(report);
	sherd_store_close(store);
	return 0;
}
