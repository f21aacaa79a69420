/* No sidecar leads out of its bytes or those of its segment. */
#include "base/error.h"
#include "form.h"
#include "format/rfdb/sidecar.h"
#include "format/rfdb/writer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_rfdb_sidecar;

enum { ROWS = 6 };

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

/* A small segment of the kind, the same for every input. */
static void make(shd_rfdb_kind kind, shd_buf *out)
{
	static const shd_str texts[] = {{"b", 1}, {"", 0}, {"a", 1}, {"ab", 2}};
	shd_rfdb_writer w;
	uint64_t size;
	shd_rfdb_writer_init(&w, kind);
	for (unsigned i = 0; i < ROWS; i++) {
		const shd_rfdb_node node = {(shd_u128)(i * 5 % ROWS) << 90,
		                            i,
		                            texts[i % 4],
		                            texts[i % 3],
		                            texts[i % 2],
		                            texts[0],
		                            texts[1]};
		const shd_rfdb_edge edge = {(shd_u128)i << 90, i % 3, texts[i % 2], texts[1]};
		must((kind == SHD_RFDB_NODES ? shd_rfdb_writer_node(&w, &node, NULL)
		                             : shd_rfdb_writer_edge(&w, &edge, NULL)) == SHERD_OK);
	}
	must(shd_rfdb_writer_finish(&w, append, out, &size, NULL) == SHERD_OK);
	shd_rfdb_writer_done(&w);
}

static void ask_groups(const shd_rfdb_groups *g, const shd_rfdb_segment *s)
{
	for (uint32_t i = 0; i < g->count; i++) {
		shd_rfdb_rows rows;
		shd_str key, text;
		if (!shd_rfdb_groups_at(g, s, i, &key, &rows))
			continue;
		(void)shd_rfdb_groups_find(g, s, key);
		for (uint64_t k = 0; k < rows.count; k++)
			(void)shd_rfdb_segment_text(s, g->column, shd_rfdb_rows_at(rows, k), &text);
	}
	must(shd_rfdb_groups_seek(g, s, SHD_STR("ab")) <= g->count);
}

static void ask(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s)
{
	ask_groups(&x->by_type, s);
	if (s->kind == SHD_RFDB_NODES) {
		ask_groups(&x->by_file, s);
		ask_groups(&x->by_name, s);
	}
	for (uint64_t row = 0; row < s->rows; row++) {
		shd_rfdb_run run = shd_rfdb_sidecar_id(x, s, shd_rfdb_segment_id(s, row));
		must(run.count <= s->rows);
		if (s->kind == SHD_RFDB_EDGES)
			must(shd_rfdb_sidecar_dst(x, s, shd_rfdb_segment_dst(s, row)).count <= s->rows);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	SHD_AUTO_BUF raw = {0}, right = {0};
	shd_rfdb_segment s;
	shd_rfdb_sidecar x;
	if (shd_rfdb_sidecar_open(data, len, &x, NULL) < 0)
		return 0;
	make(x.kind, &raw);
	must(shd_rfdb_segment_open(raw.data, raw.len, &s, NULL) == SHERD_OK);
	if (x.rows == s.rows)
		ask(&x, &s);
	/* There is one right sidecar: what passes the check is that one. */
	if (shd_rfdb_sidecar_check(&x, &s, NULL, NULL) == SHERD_OK) {
		must(shd_rfdb_sidecar_build(&s, NULL, &right, NULL) == SHERD_OK);
		must(right.len == len && memcmp(right.data, data, len) == 0);
	}
	return 0;
}
