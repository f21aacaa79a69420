/* No run leads out of its bytes or to members that it does not have. Checksums would keep a fuzzer out, so the input
 * changes a run that is right: the first byte says which checksums are put right again, then come three bytes for each
 * change, two of an offset and the new value. */
#include "base/error.h"
#include "codec/crc32.h"
#include "form.h"
#include "format/rfdb/run.h"
#include "format/rfdb/writer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

enum { ROWS = 9, PARTS = 2 };

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
	static const shd_str texts[] = {{"a", 1}, {"", 0}, {"a longer one", 12}};
	shd_rfdb_writer w;
	uint64_t size;
	shd_rfdb_writer_init(&w, kind);
	for (unsigned i = 0; i < ROWS; i++) {
		const shd_rfdb_node node = {(shd_u128)i << 90, i,        texts[i % 3], texts[0],
		                            texts[i % 2],      texts[2], texts[1]};
		const shd_rfdb_edge edge = {(shd_u128)(i / 2) << 90, i, texts[0], texts[1]};
		must((kind == SHD_RFDB_NODES ? shd_rfdb_writer_node(&w, &node, NULL)
		                             : shd_rfdb_writer_edge(&w, &edge, NULL)) == SHERD_OK);
	}
	must(shd_rfdb_writer_finish(&w, append, out, &size, NULL) == SHERD_OK);
	shd_rfdb_writer_done(&w);
}

static void make_run(shd_buf *out)
{
	shd_buf raw[PARTS] = {{0}, {0}};
	shd_rfdb_segment s[PARTS];
	shd_rfdb_run_part parts[PARTS] = {0};
	uint8_t head[SHD_RFDB_RUN_HEAD];
	uint64_t size;
	for (unsigned kind = 0; kind < PARTS; kind++) {
		shd_buf bytes = {0};
		make(kind, &bytes);
		raw[kind] = bytes;
		must(shd_rfdb_segment_open(raw[kind].data, raw[kind].len, &s[kind], NULL) == SHERD_OK);
		parts[kind].about = (shd_rfdb_member){.id = kind, .size = raw[kind].len, .rows = ROWS, .kind = kind};
		parts[kind].rows = &s[kind];
	}
	const shd_rfdb_run_plan plan = {.parts = parts, .count = PARTS};
	must(shd_rfdb_run_build(&plan, append, out, head, &size, NULL) == SHERD_OK);
	memcpy(out->data, head, sizeof(head));
	for (unsigned kind = 0; kind < PARTS; kind++)
		shd_buf_done(&raw[kind]);
}

static void change(shd_buf *run, const uint8_t *data, size_t len)
{
	for (size_t i = 1; i + 3 <= len; i += 3)
		run->data[(data[i] | (size_t)data[i + 1] << 8) % run->len] = data[i + 2];
	for (size_t page = 1; data[0] & 1 && page < 6; page++) {
		uint8_t *p = run->data + page * SHD_RFDB_RUN_PAGE;
		shd_put_u32(p, shd_crc32(0, p + 4, SHD_RFDB_RUN_PAGE - 4));
	}
	for (size_t table = 0; data[0] & 2 && table < SHD_RFDB_RUN_TABLES; table++) {
		uint8_t *p = run->data + (size_t)6 * SHD_RFDB_RUN_PAGE + 8 * table;
		shd_put_u32(p + 4, shd_crc32(0, p, 4));
	}
	if (data[0] & 4)
		shd_put_u32(run->data + 72, shd_crc32(0, run->data + SHD_RFDB_RUN_HEAD, (size_t)64 * PARTS));
	if (data[0] & 8)
		shd_put_u32(run->data + 124, shd_crc32(0, run->data, 124));
}

static void ask_page(const shd_rfdb_table_run *r, shd_rfdb_run_table table, uint64_t page, uint64_t hash)
{
	size_t at = 0;
	uint32_t row;
	uint64_t inside;
	while (shd_rfdb_run_next(shd_rfdb_run_page(r, table, page), hash, &at, &row)) {
		const shd_rfdb_member *m = shd_rfdb_run_member(r, shd_rfdb_run_kind(table), row, &inside);
		must(!m || (inside < m->rows && m->kind == shd_rfdb_run_kind(table)));
	}
}

static void ask(const shd_rfdb_table_run *r, shd_rfdb_run_table table)
{
	uint32_t *fences = NULL;
	uint64_t from, to;
	if (shd_rfdb_run_fences(r, table, &fences, NULL) < 0)
		return;
	for (unsigned i = 0; i < 2 * ROWS; i++) {
		uint64_t hash = shd_rfdb_run_hash_id(r->seed, (shd_u128)i << 90);
		shd_rfdb_run_seek(&r->tables[table], fences, hash, &from, &to);
		must(from <= to && to <= r->tables[table].count);
		for (; from < to; from++)
			if (shd_rfdb_run_whole(r, table, from))
				ask_page(r, table, from, hash);
	}
	free(fences);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	SHD_AUTO_BUF run = {0};
	shd_rfdb_table_run r;
	if (!len)
		return 0;
	make_run(&run);
	change(&run, data, len);
	if (shd_rfdb_run_open(run.data, run.len, &r, NULL) < 0)
		return 0;
	for (shd_rfdb_run_table table = 0; table < SHD_RFDB_RUN_TABLES; table++)
		ask(&r, table);
	shd_rfdb_run_done(&r);
	return 0;
}
