#include "engine/graph/transfer/transfer.h"

#include "base/pool.h"
#include "engine/graph/flush/flush.h"
#include "engine/tensors/blame.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/random.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

static const size_t piece = (size_t)4 << 20;

/* ---- what to send */

static void add_list(graph_transfer *t, const shd_rfdb_descriptors *list)
{
	for (size_t i = 0; i < list->count; i++) {
		shd_vec_push(&t->segments, (graph_sending){.from = &list->items[i], .about = t->abouts.count});
		shd_vec_push(&t->abouts, list->items[i]);
	}
}

static int by_number(const void *left, const void *right)
{
	const graph_sending *a = left, *b = right;
	return a->from->id < b->from->id ? -1 : a->from->id > b->from->id;
}

/* Reads an object of the source piece by piece, to a writer, if there is one, and to a hash. */
static int pass_on(const sherd_reader *reader, sherd_writer *writer, shd_meter *meter, uint8_t sha256[SHD_SHA256_BYTES],
                   sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader);
	size_t room = size < piece ? (size_t)size + 1 : piece;
	SHD_AUTO_FREE void *buf = malloc(room);
	shd_sha256 h;
	if (!buf)
		return shd_fail_nomem(err);
	shd_sha256_init(&h);
	for (uint64_t at = 0; at < size;) {
		size_t n = size - at < room ? (size_t)(size - at) : room;
		TRY(sherd_reader_at(reader, at, buf, n, err));
		shd_sha256_add(&h, buf, n);
		if (writer)
			TRY(sherd_writer_append(writer, buf, n, err));
		TRY(shd_meter_add(meter, writer ? n : 0, err));
		at += n;
	}
	shd_sha256_finish(&h, sha256);
	return SHERD_OK;
}

static int read_from(const graph_transfer *t, const char *name, sherd_reader **out, sherd_error *err)
{
	graph_key key;
	TRY(shd_graph_place_key(&t->from.place, name, &key, err));
	return sherd_store_read(out, t->from.place.store, key.text, err);
}

/* Other programs do not say it. */
static int know_hash(void *arg, size_t index, sherd_error *err)
{
	graph_transfer *t = arg;
	const shd_rfdb_descriptor *from = t->segments.items[index].from;
	shd_rfdb_descriptor *about = &t->abouts.items[t->segments.items[index].about];
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	char name[SHD_RFDB_NAME_MAX];
	if (from->has_sha256)
		return SHERD_OK;
	shd_rfdb_segment_name(from->shard, from->id, from->kind, name);
	TRY(read_from(t, name, &reader, err));
	TRY(pass_on(reader, NULL, &t->meter, about->sha256, err));
	about->has_sha256 = true;
	return SHERD_OK;
}

static shd_str hash_of(const shd_rfdb_descriptor *d)
{
	return (shd_str){(const char *)d->sha256, sizeof(d->sha256)};
}

/* Segments that the target's version names keep their numbers there, each for one of the source. */
static int find_there(graph_transfer *t, sherd_error *err)
{
	const shd_rfdb_manifest *base = &t->to.version.manifest;
	SHD_DONE(shd_map_done) shd_map map = {0};
	SHD_AUTO_VEC SHD_VEC(bool) used = {0};
	const shd_rfdb_descriptor *d;
	bool ok = true;
	for (size_t i = 0; ok && (d = shd_rfdb_manifest_segment(base, i)); i++) {
		shd_vec_push(&used, false);
		if (d->has_sha256)
			(void)shd_map_add(&map, hash_of(d), i, &ok);
	}
	if (!ok || used.failed)
		return shd_fail_nomem(err);
	if (!used.items)
		return SHERD_OK;
	for (size_t i = 0; i < t->segments.count; i++) {
		shd_rfdb_descriptor *about = &t->abouts.items[t->segments.items[i].about];
		size_t at = shd_map_find(&map, hash_of(about));
		d = at == SHD_MAP_NONE ? NULL : shd_rfdb_manifest_segment(base, at);
		if (!d || used.items[at] || d->kind != about->kind || d->shard != about->shard ||
		    d->bytes != about->bytes)
			continue;
		used.items[at] = true;
		t->segments.items[i].there = true;
		about->id = d->id;
	}
	return SHERD_OK;
}

/* Where a key may have rows in two shards the higher number of a segment decides: numbers have to come in the order of
 * the source, else all is sent anew. No number is given twice either way. */
static void keep_order(graph_transfer *t)
{
	bool fresh = false, ordered = true;
	uint64_t last = 0;
	for (size_t i = 0; i < t->segments.count; i++) {
		const graph_sending *s = &t->segments.items[i];
		uint64_t id = t->abouts.items[s->about].id;
		ordered = ordered && (!s->there || (!fresh && (i == 0 || id > last)));
		fresh = fresh || !s->there;
		last = s->there ? id : last;
	}
	for (size_t i = 0; !ordered && !t->next.counts.known && i < t->segments.count; i++)
		t->segments.items[i].there = false;
}

static bool see_number(void *arg, const char *name, const sherd_stat *stat)
{
	uint64_t *highest = arg;
	shd_rfdb_file file;
	(void)stat;
	if (shd_rfdb_file_parse(shd_str_of(name), &file) && file.id > *highest)
		*highest = file.id;
	return true;
}

/* Above all that are there; without locks, by lot: a name must not be given to two objects. */
static int first_number(const graph_transfer *t, uint64_t *out, sherd_error *err)
{
	uint64_t highest = 0;
	uint32_t jump = 0;
	const shd_rfdb_descriptor *d;
	TRY(shd_graph_place_list(&t->to.place, SHD_RFDB_SEGMENTS, see_number, &highest, err));
	for (size_t i = 0; (d = shd_rfdb_manifest_segment(&t->to.version.manifest, i)); i++)
		highest = d->id > highest ? d->id : highest;
	if (!shd_can_lock(t->to.place.store) && getrandom(&jump, sizeof(jump), 0) != (ssize_t)sizeof(jump))
		return shd_fail_os(err, errno, "cannot get random bytes");
	if (highest > UINT64_MAX / 2)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "the numbers of segments are used up");
	*out = highest + 1 + jump;
	return SHERD_OK;
}

static int number_segments(graph_transfer *t, sherd_error *err)
{
	uint64_t number = 0;
	TRY(first_number(t, &number, err));
	for (size_t i = 0; i < t->segments.count; i++) {
		graph_sending *s = &t->segments.items[i];
		shd_rfdb_descriptor *about = &t->abouts.items[s->about];
		if (s->there) {
			t->result.reused++;
			continue;
		}
		about->id = number++;
		s->written.file = (shd_rfdb_file){.shard = about->shard, .id = about->id, .kind = about->kind};
		t->meter.total += about->bytes;
	}
	return SHERD_OK;
}

static void list_next(graph_transfer *t)
{
	const shd_rfdb_manifest *m = &t->from.version.manifest;
	const size_t counts[] = {m->nodes.count, m->edges.count, m->l1_nodes.count, m->l1_edges.count};
	shd_rfdb_descriptors *lists[] = {&t->next.nodes, &t->next.edges, &t->next.l1_nodes, &t->next.l1_edges};
	size_t at = 0;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		*lists[i] = (shd_rfdb_descriptors){t->abouts.items + at, counts[i]};
		at += counts[i];
	}
}

int shd_graph_transfer_plan(graph_transfer *t, sherd_error *err)
{
	const shd_rfdb_manifest *m = &t->from.version.manifest;
	t->next = *m;
	t->next.given_up = (shd_rfdb_numbers){0};
	add_list(t, &m->nodes);
	add_list(t, &m->edges);
	add_list(t, &m->l1_nodes);
	add_list(t, &m->l1_edges);
	TRY(shd_vec_check(&t->abouts, err));
	TRY(shd_vec_check(&t->segments, err));
	if (t->segments.count)
		qsort(t->segments.items, t->segments.count, sizeof(*t->segments.items), by_number);
	TRY(shd_pool_run(t->pool, t->segments.count, know_hash, t, err));
	list_next(t);
	t->printed = shd_graph_print(&t->next, t->print);
	TRY(find_there(t, err));
	keep_order(t);
	return number_segments(t, err);
}

/* ---- sending */

/* want: what the bytes have to hash to; or NULL. */
/* NOLINTNEXTLINE(readability-non-const-parameter): written through the options. */
static int send_object(graph_transfer *t, const sherd_reader *reader, const char *to, char *identity,
                       const uint8_t *want, sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	uint8_t sha256[SHD_SHA256_BYTES];
	graph_key key, current;
	TRY(shd_graph_place_key(&t->to.place, to, &key, err));
	TRY(shd_graph_place_key(&t->to.place, SHD_RFDB_CURRENT, &current, err));
	const sherd_write_options o = {.mode = SHERD_WRITE_NEW,
	                               .size_hint = sherd_reader_size(reader),
	                               .identity = identity,
	                               .like = current.text};
	TRY(sherd_store_write(&writer, t->to.place.store, key.text, &o, err));
	TRY(pass_on(reader, writer, &t->meter, sha256, err));
	if (want && memcmp(sha256, want, sizeof(sha256)) != 0)
		return shd_in_reader(
			err,
			shd_fail(err, SHERD_ECORRUPT, "bad-checksum", "it is not what its manifest says (SHA-256)"),
			reader);
	return sherd_writer_commit(TAKE(writer), err);
}

/* An index that is not there is built by who needs it. */
static int send_sidecar(graph_transfer *t, graph_sending *s, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	const shd_rfdb_file *f = &s->written.file;
	char name[SHD_RFDB_NAME_MAX];
	sherd_error failure = {0};
	shd_rfdb_sidecar_name(s->from->shard, s->from->id, s->from->kind, name);
	int rc = read_from(t, name, &reader, &failure);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	TRY(shd_pass(err, rc, &failure));
	shd_rfdb_sidecar_name(f->shard, f->id, f->kind, name);
	return send_object(t, reader, name, s->written.sidecar, NULL, err);
}

static int send_segment(void *arg, size_t index, sherd_error *err)
{
	graph_transfer *t = arg;
	graph_sending *s = &t->segments.items[index];
	const shd_rfdb_file *f = &s->written.file;
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	char name[SHD_RFDB_NAME_MAX];
	if (s->there)
		return SHERD_OK;
	shd_rfdb_segment_name(s->from->shard, s->from->id, s->from->kind, name);
	TRY(read_from(t, name, &reader, err));
	shd_rfdb_segment_name(f->shard, f->id, f->kind, name);
	TRY(send_object(t, reader, name, s->written.segment, t->abouts.items[s->about].sha256, err));
	return send_sidecar(t, s, err);
}

int shd_graph_transfer_send(graph_transfer *t, sherd_error *err)
{
	TRY(shd_pool_run(t->pool, t->segments.count, send_segment, t, err));
	for (size_t i = 0; i < t->segments.count; i++) {
		const graph_sending *s = &t->segments.items[i];
		t->result.segments += !s->there;
		t->result.bytes += s->there ? 0 : s->from->bytes;
	}
	return SHERD_OK;
}

void shd_graph_transfer_undo(graph_transfer *t)
{
	for (size_t i = 0; i < t->segments.count; i++)
		shd_graph_remove_written(&t->to.place, &t->segments.items[i].written);
}
