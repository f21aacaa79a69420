/* No segment leads out of its bytes. One that passes the check has the same rows after it was written again, and gets a
 * sidecar that passes its check. */
#include "base/error.h"
#include "form.h"
#include "format/rfdb/sidecar.h"
#include "format/rfdb/writer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int append(void *arg, const void *data, size_t len, sherd_error *err)
{
	shd_buf_append(arg, data, len);
	return shd_buf_check(arg, err);
}

static bool same(shd_str a, shd_str b)
{
	return shd_str_compare(a, b) == 0;
}

static bool same_nodes(const shd_rfdb_node *a, const shd_rfdb_node *b)
{
	return a->id == b->id && a->content_hash == b->content_hash && same(a->semantic_id, b->semantic_id) &&
	       same(a->type, b->type) && same(a->name, b->name) && same(a->file, b->file) &&
	       same(a->metadata, b->metadata);
}

/* Adds row by row; false when one cannot be read. */
static bool copy_rows(const shd_rfdb_segment *s, shd_rfdb_writer *w)
{
	bool all = true;
	for (uint64_t i = 0; i < s->rows; i++) {
		shd_rfdb_node node;
		shd_rfdb_edge edge;
		if (s->kind == SHD_RFDB_NODES && shd_rfdb_segment_node(s, i, &node, NULL) == SHERD_OK)
			must(shd_rfdb_writer_node(w, &node, NULL) == SHERD_OK);
		else if (s->kind == SHD_RFDB_EDGES && shd_rfdb_segment_edge(s, i, &edge, NULL) == SHERD_OK)
			must(shd_rfdb_writer_edge(w, &edge, NULL) == SHERD_OK);
		else
			all = false;
	}
	return all;
}

static void compare(const shd_rfdb_segment *s, const shd_rfdb_segment *t)
{
	must(s->rows == t->rows && s->kind == t->kind);
	for (uint64_t i = 0; i < s->rows; i++) {
		shd_rfdb_node a, b;
		shd_rfdb_edge c, d;
		if (s->kind == SHD_RFDB_NODES) {
			must(shd_rfdb_segment_node(s, i, &a, NULL) == SHERD_OK);
			must(shd_rfdb_segment_node(t, i, &b, NULL) == SHERD_OK);
			must(same_nodes(&a, &b));
		} else {
			must(shd_rfdb_segment_edge(s, i, &c, NULL) == SHERD_OK);
			must(shd_rfdb_segment_edge(t, i, &d, NULL) == SHERD_OK);
			must(c.src == d.src && c.dst == d.dst && same(c.type, d.type) && same(c.metadata, d.metadata));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	SHD_AUTO_BUF raw = {0}, built = {0};
	shd_rfdb_segment s, again;
	shd_rfdb_sidecar x;
	shd_rfdb_writer w;
	uint64_t size;
	if (shd_rfdb_segment_open(data, len, &s, NULL) < 0)
		return 0;
	bool good = shd_rfdb_segment_check(&s, NULL) == SHERD_OK;
	must(shd_rfdb_segment_seek(&s, (shd_u128)len << 100) <= s.rows);
	shd_rfdb_writer_init(&w, s.kind);
	must(copy_rows(&s, &w) || !good);
	must(shd_rfdb_writer_finish(&w, append, &raw, &size, NULL) == SHERD_OK && size == raw.len);
	must(shd_rfdb_segment_open(raw.data, raw.len, &again, NULL) == SHERD_OK);
	must(shd_rfdb_segment_check(&again, NULL) == SHERD_OK);
	if (good) {
		compare(&s, &again);
		must(shd_rfdb_sidecar_build(&s, NULL, &built, NULL) == SHERD_OK);
		must(shd_rfdb_sidecar_open(built.data, built.len, &x, NULL) == SHERD_OK);
		must(shd_rfdb_sidecar_check(&x, &s, NULL, NULL) == SHERD_OK);
	}
	shd_rfdb_writer_done(&w);
	return 0;
}
