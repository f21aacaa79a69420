/* engine/graph/verify/segment.c - every segment that any version names, as each of them describes it. */
#include "base/pool.h"
#include "engine/graph/verify/check.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- descriptions */

static void add_texts(shd_sha256 *h, const shd_rfdb_texts *t)
{
	shd_sha256_add(h, &t->count, sizeof(t->count));
	for (size_t i = 0; i < t->count; i++) {
		shd_sha256_add(h, &t->items[i].len, sizeof(t->items[i].len));
		shd_sha256_add(h, t->items[i].ptr, t->items[i].len);
	}
}

static void digest_of(const shd_rfdb_descriptor *d, uint8_t out[SHD_SHA256_BYTES])
{
	const uint64_t numbers[] = {d->id, d->kind, d->shard, d->rows, d->bytes, d->has_sha256};
	shd_sha256 h;
	shd_sha256_init(&h);
	shd_sha256_add(&h, numbers, sizeof(numbers));
	if (d->has_sha256)
		shd_sha256_add(&h, d->sha256, sizeof(d->sha256));
	add_texts(&h, &d->types);
	add_texts(&h, &d->files);
	shd_sha256_finish(&h, out);
}

size_t shd_graph_checking_place(const graph_checking *c, const shd_rfdb_descriptor *about)
{
	uint8_t digest[SHD_SHA256_BYTES];
	digest_of(about, digest);
	return shd_map_find(&c->seen, (shd_str){(const char *)digest, sizeof(digest)});
}

static int copy_texts(shd_arena *arena, shd_rfdb_texts *t, sherd_error *err)
{
	shd_str *copy = shd_arena_alloc(arena, t->count + 1, sizeof(*copy));
	bool ok = copy;
	for (size_t i = 0; ok && i < t->count; i++) {
		copy[i] = (shd_str){shd_arena_str(arena, t->items[i]), t->items[i].len};
		ok = copy[i].ptr;
	}
	t->items = copy;
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int note_segment(graph_checking *c, const shd_rfdb_descriptor *about, bool needed, sherd_error *err)
{
	uint8_t digest[SHD_SHA256_BYTES];
	graph_checked one = {.about = *about, .needed = needed};
	digest_of(about, digest);
	size_t place = shd_map_find(&c->seen, (shd_str){(const char *)digest, sizeof(digest)});
	if (place != SHD_MAP_NONE) {
		graph_checked_at(c, place)->needed |= needed;
		return SHERD_OK;
	}
	bool ok = false;
	const char *key = shd_arena_copy(&c->arena, digest, sizeof(digest));
	TRY(copy_texts(&c->arena, &one.about.types, err));
	TRY(copy_texts(&c->arena, &one.about.files, err));
	if (key)
		(void)shd_map_add(&c->seen, (shd_str){key, sizeof(digest)}, c->descriptors.count, &ok);
	shd_vec_push(&c->descriptors, one);
	return ok ? shd_vec_check(&c->descriptors, err) : shd_fail_nomem(err);
}

int shd_graph_checking_note(graph_checking *c, const shd_rfdb_manifest *m, bool needed, sherd_error *err)
{
	const shd_rfdb_descriptor *d;
	for (size_t i = 0; (d = shd_rfdb_manifest_segment(m, i)); i++)
		TRY(note_segment(c, d, needed, err));
	return SHERD_OK;
}

/* ---- their rows */

static int verify_segment_hash_of(const graph_segment *s, sherd_error *err)
{
	uint8_t sha256[SHD_SHA256_BYTES];
	if (!s->about.has_sha256)
		return SHERD_OK;
	shd_sha256_of(s->rows.data, s->rows.size, sha256);
	if (memcmp(sha256, s->about.sha256, sizeof(sha256)) != 0)
		return shd_fail(err, SHERD_ECORRUPT, "bad-checksum", "the bytes are not those that were written");
	return SHERD_OK;
}

/* Bytes that were looked at: all of them, or where the segment says what it is. */
static uint64_t looked_at(const graph_checking *c, uint64_t bytes)
{
	enum { HEADS = 80 };
	return c->options->quick && bytes > HEADS ? HEADS : bytes;
}

/* After the rows, which have the SHA-256 that the manifest says, if it says one. Ours must be whole; one that does not
 * belong to a segment of another program was left by somebody before it. */
static int check_sidecar(const graph_checking *c, graph_checked *one, const graph_segment *s, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	sherd_error found = {0};
	bool ours = s->about.has_sha256;
	shd_rfdb_sidecar_name(s->about.shard, s->about.id, s->about.kind, name);
	TRY(shd_graph_place_key(&c->place, name, &key, err));
	if (!s->index_reader)
		return shd_report_warn(&one->report, key.text, "no-index", err,
		                       "there is none: it is built in memory whenever it is needed");
	bool fits = atomic_load(&s->index) != NULL;
	int rc = SHERD_OK;
	if (!fits && ours)
		rc = shd_fail(&found, SHERD_ECORRUPT, "bad-index", "it does not belong to the segment");
	else if (fits && !c->options->quick)
		rc = shd_rfdb_sidecar_check(&s->sidecar, &s->rows, ours ? s->about.sha256 : NULL, &found);
	if (rc == SHERD_OK)
		rc = sherd_reader_check(s->index_reader, &found);
	one->report.checked += looked_at(c, sherd_reader_size(s->index_reader));
	TRY(shd_report_take(&one->report, rc, &found, key.text, err));
	if (!fits && !ours)
		return shd_report_warn(&one->report, key.text, "no-index", err, "it belongs to another segment");
	return SHERD_OK;
}

/* Searches pass over segments whose lists do not have what they look for. An empty list says nothing. */
static int check_list(const graph_segment *s, const shd_rfdb_texts *list, shd_rfdb_column column, sherd_error *err)
{
	shd_map listed = {0};
	bool ok = true, whole = true;
	shd_str text;
	uint64_t row = 0;
	for (size_t i = 0; ok && i < list->count; i++)
		(void)shd_map_add(&listed, list->items[i], 0, &ok);
	for (; ok && whole && list->count && row < s->rows.rows; row++)
		whole = !shd_rfdb_segment_text(&s->rows, column, row, &text) ||
		        shd_map_find(&listed, text) != SHD_MAP_NONE;
	shd_map_done(&listed);
	if (!ok)
		return shd_fail_nomem(err);
	return whole ? SHERD_OK
	             : shd_fail(err, SHERD_ECORRUPT, "bad-manifest",
	                        "its types or files of segment %" PRIu64 " are without those of row %" PRIu64,
	                        s->about.id, row - 1);
}

static int check_lists(const graph_segment *s, sherd_error *err)
{
	bool nodes = s->rows.kind == SHD_RFDB_NODES;
	TRY(check_list(s, &s->about.types, nodes ? SHD_RFDB_NODE_TYPE : SHD_RFDB_EDGE_TYPE, err));
	return nodes ? check_list(s, &s->about.files, SHD_RFDB_FILE, err) : SHERD_OK;
}

static int check_rows(const graph_checking *c, const graph_segment *s, sherd_error *err)
{
	if (c->options->quick)
		return SHERD_OK;
	TRY(verify_segment_hash_of(s, err));
	TRY(shd_rfdb_segment_check(&s->rows, err));
	return check_lists(s, err);
}

static int check_segment(void *arg, size_t index, sherd_error *err)
{
	graph_checking *c = arg;
	graph_checked *one = graph_checked_at(c, index);
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	graph_segment *s = NULL;
	sherd_error found = {0}, cut = {0};
	shd_rfdb_segment_name(one->about.shard, one->about.id, one->about.kind, name);
	TRY(shd_graph_place_key(&c->place, name, &key, err));
	int rc = shd_graph_segment_open(&s, &c->place, &one->about, false, &found);
	one->missing = rc == SHERD_ENOTFOUND;
	if (one->missing)
		return shd_meter_add(&c->meter, one->about.bytes, err);
	if (rc == SHERD_OK && !c->options->quick)
		shd_graph_segment_scan(s);
	if (rc == SHERD_OK)
		rc = check_rows(c, s, &found);
	/* What was read of a file that was cut off meanwhile proves nothing. */
	if (s && sherd_reader_check(s->reader, &cut) < 0) {
		found = cut;
		rc = cut.code;
	}
	one->damaged = rc < 0;
	rc = shd_report_take(&one->report, rc, &found, key.text, err);
	one->report.checked += s ? looked_at(c, s->rows.size) : 0;
	if (rc == SHERD_OK && !one->damaged && !one->about.has_sha256)
		rc = shd_report_warn(&one->report, key.text, "no-checksum", err,
		                     "written by another program: only its structure was checked");
	if (rc == SHERD_OK && !one->damaged && s)
		rc = check_sidecar(c, one, s, err);
	shd_graph_segment_close(s);
	return rc < 0 ? rc : shd_meter_add(&c->meter, one->about.bytes, err);
}

/* A segment that several versions describe differently is told of once, as long as it is the same that is wrong. */
static bool was_told(const graph_checked *before, const graph_checked *one)
{
	return before->errors == one->errors && before->warnings == one->warnings;
}

int shd_graph_checking_tell(graph_checking *c, sherd_report *found, bool given_up, sherd_error *err)
{
	for (size_t i = 0; given_up && i < sherd_report_errors(found); i++) {
		const sherd_error *e = sherd_report_error(found, i);
		TRY(shd_report_warn(c->report, e->object, "given-up", err, "%s; a repair gave it up", e->message));
	}
	if (given_up)
		found->errors.count = 0;
	return shd_report_merge(c->report, found, err);
}

int shd_graph_checking_segments(graph_checking *c, sherd_error *err)
{
	size_t count = c->descriptors.count;
	uint64_t bytes = 0;
	graph_ids told = {0};
	bool ok = true;
	for (size_t i = 0; i < count; i++)
		bytes += graph_checked_at(c, i)->about.bytes;
	shd_meter_init(&c->meter, c->options->progress, bytes);
	int rc = shd_pool_run(c->options->pool, count, check_segment, c, err);
	shd_meter_done(&c->meter);
	for (size_t i = 0; ok && rc == SHERD_OK && i < count; i++) {
		graph_checked *one = graph_checked_at(c, i);
		uint32_t at = shd_graph_ids_add(&told, one->about.id, (uint32_t)i, &ok);
		one->errors = one->report.errors.count;
		one->warnings = one->report.warnings.count;
		if (at == GRAPH_IDS_NONE || !was_told(graph_checked_at(c, at), one))
			rc = shd_graph_checking_tell(c, &one->report, !one->needed, err);
	}
	shd_graph_ids_done(&told);
	return ok ? rc : shd_fail_nomem(err);
}

void shd_graph_checking_done(graph_checking *c)
{
	for (size_t i = 0; i < c->descriptors.count; i++) {
		graph_checked *one = graph_checked_at(c, i);
		shd_report_done(&one->report);
		shd_vec_done(&one->proof.witnesses);
		shd_vec_done(&one->proof.loose);
		shd_graph_segment_close(one->segment);
	}
	shd_graph_checking_forget_counts(c);
	shd_graph_runs_done(&c->runs);
	shd_vec_done(&c->descriptors);
	shd_vec_done(&c->files);
	shd_vec_done(&c->bad);
	shd_graph_version_done(&c->now);
	shd_map_done(&c->seen);
	shd_arena_done(&c->arena);
	shd_graph_place_done(&c->place);
}
