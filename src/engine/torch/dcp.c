/* engine/torch/dcp.c - folders of torch.distributed.checkpoint. docs/formats/dcp.md. */
#include "engine/torch/dcp.h"

#include "base/limits.h"
#include "engine/publish/head.h"
#include "engine/tensors/blame.h"
#include "engine/tensors/folder.h"
#include "engine/torch/format.h"
#include "engine/torch/slice.h"
#include "engine/torch/zip.h"

#include <stdlib.h>

enum { MOST_TRIES = 8 };

static void dcp_close(sherd_bundle *bundle)
{
	shd_dcp_bundle *b = (shd_dcp_bundle *)bundle;
	for (size_t i = 0; i < SHD_DCP_OPEN; i++)
		sherd_reader_close(b->slots[i].reader);
	if (b->locked)
		(void)pthread_mutex_destroy(&b->lock);
}

static const shd_bundle_ops dcp_ops = {.read = shd_dcp_read, .close = dcp_close};

/* The folder that the key names, by itself or by its metadata; and what lies in it. */
static int dcp_key(shd_buf *out, const char *key, const char *leaf, sherd_error *err)
{
	size_t len = strlen(key);
	if (strcmp(shd_str_leaf(key), SHD_DCP_METADATA) == 0)
		len = (size_t)(shd_str_leaf(key) - key);
	shd_buf_append(out, key, len);
	if (len && key[len - 1] != '/')
		shd_buf_u8(out, '/');
	shd_buf_append(out, leaf, strlen(leaf) + 1);
	return shd_buf_check(out, err);
}

/* ---- files */

static int dcp_find_file(shd_dcp_bundle *b, const char *folder, const char *name, shd_dcp_file *f, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	sherd_stat stat;
	TRY(dcp_key(&key, folder, name, err));
	f->key = shd_arena_copy(&b->base.arena, key.data, key.len);
	if (!f->key)
		return shd_fail_nomem(err);
	int rc = sherd_store_stat(&stat, b->store, f->key, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_EINCOMPLETE, "missing-shard",
		              "the metadata name this file and it is not there");
	TRY(shd_in_object(err, rc, f->key));
	f->size = stat.size;
	f->spent = 0;
	memcpy(f->identity, stat.identity, sizeof(f->identity));
	return SHERD_OK;
}

static int find_files(shd_dcp_bundle *b, const char *folder, sherd_error *err)
{
	b->files = shd_arena_alloc(&b->base.arena, b->metadata.file_count + 1, sizeof(*b->files));
	if (!b->files)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < b->metadata.file_count; i++)
		TRY(dcp_find_file(b, folder, b->metadata.files[i], &b->files[i], err));
	return SHERD_OK;
}

static int dcp_check_item(const shd_dcp_bundle *b, const char *name, const shd_dcp_item *i, sherd_error *err)
{
	const shd_dcp_file *f = &b->files[i->file];
	if (i->offset <= f->size && i->length <= f->size - i->offset)
		return SHERD_OK;
	return shd_in_object(err,
	                     shd_fail_at(err, SHERD_ECORRUPT, "truncated", f->size,
	                                 "%.128s lies at %llu and has %llu bytes", name, (unsigned long long)i->offset,
	                                 (unsigned long long)i->length),
	                     f->key);
}

/* ---- entries */

static int describe_entry(shd_dcp_bundle *b, const shd_dcp_entry *e, sherd_tensor *t, sherd_error *err)
{
	uint64_t bytes = e->type->bytes, *shape = shd_arena_alloc(&b->base.arena, e->ndim + 1u, sizeof(*shape));
	uint32_t ndim = e->ndim ? e->ndim : e->type->packed > 1;
	if (!shape)
		return shd_fail_nomem(err);
	shape[0] = 1;
	for (uint32_t d = 0; d < e->ndim; d++) {
		shape[d] = e->shape[d];
		if (__builtin_mul_overflow(bytes, shape[d], &bytes))
			return shd_fail(err, SHERD_ECORRUPT, "overflow", "the size of %.128s does not fit 64 bits",
			                e->name);
	}
	if (ndim)
		shape[ndim - 1] *= e->type->packed;
	*t = (sherd_tensor){.name = e->name,
	                    .dtype = e->type->dtype,
	                    .ndim = ndim,
	                    .shape = shape,
	                    .bytes = bytes,
	                    .type_name = e->type->dtype == SHERD_OPAQUE ? e->type->name : NULL};
	return SHERD_OK;
}

static int prepare_chunks(shd_dcp_bundle *b, size_t entry, sherd_error *err)
{
	const shd_dcp_entry *e = &b->metadata.entries[entry];
	shd_dcp_place *places = shd_arena_alloc(&b->base.arena, e->chunk_count + 1, sizeof(*places));
	uint64_t *reach = shd_arena_alloc(&b->base.arena, e->chunk_count + 1, sizeof(*reach)), far = 0;
	if (!places || !reach)
		return shd_fail_nomem(err);
	memset(places, 0, (e->chunk_count + 1) * sizeof(*places));
	for (size_t i = 0; i < e->chunk_count; i++) {
		const shd_dcp_chunk *c = &e->chunks[i];
		uint64_t end = e->ndim ? c->at[0] + c->shape[0] : 1;
		far = end > far ? end : far;
		reach[i] = far;
		TRY(dcp_check_item(b, e->name, &c->item, err));
	}
	b->places[entry] = places;
	b->reach[entry] = reach;
	return SHERD_OK;
}

static int take_dcp_tensors(shd_dcp_bundle *b, sherd_error *err)
{
	size_t count = b->metadata.count;
	sherd_tensor *tensors = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*tensors));
	b->entry_of = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*b->entry_of));
	b->places = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*b->places));
	b->reach = shd_arena_alloc(&b->base.arena, count + 1, sizeof(*b->reach));
	if (!tensors || !b->entry_of || !b->places || !b->reach)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		if (!b->metadata.entries[i].type)
			continue;
		TRY(describe_entry(b, &b->metadata.entries[i], &tensors[b->base.count], err));
		TRY(prepare_chunks(b, i, err));
		b->entry_of[b->base.count++] = i;
	}
	b->base.tensors = tensors;
	return SHERD_OK;
}

/* ---- what is no tensor */

typedef SHD_VEC(sherd_value) value_vec;

typedef SHD_VEC(sherd_pair) pair_vec;

/* What the items say. */
typedef struct said {
	value_vec values;
	pair_vec own; /* pairs of the entry that is ours, as they were written */
} said;

static void said_done(said *s)
{
	shd_vec_done(&s->values);
	shd_vec_done(&s->own);
}

/* The walk gives the key of types another name, since it would speak of the values of the walk. */
static int add_own(shd_dcp_bundle *b, const shd_torch_state *s, said *out, sherd_error *err)
{
	for (size_t i = 0; i < s->value_count; i++) {
		const sherd_value *v = &s->values[i];
		bool types = strcmp(v->key, SHERD_TYPES_KEY "~") == 0;
		const char *text = v->type == SHERD_UTF8 && !v->is_array ? *(const char *const *)v->items : "";
		sherd_pair p = {.key = types ? SHERD_TYPES_KEY : v->key, .value = text};
		shd_vec_push(&out->own, p);
	}
	(void)b;
	return shd_vec_check(&out->own, err);
}

/* The values of one entry under its name. */
static int dcp_add_values(shd_dcp_bundle *b, const shd_dcp_entry *e, const shd_torch_state *s, said *out,
                          sherd_error *err)
{
	if (strcmp(e->name, SHD_DCP_PAIRS) == 0)
		return add_own(b, s, out, err);
	for (size_t i = 0; i < s->value_count; i++) {
		SHD_AUTO_BUF key = {0};
		sherd_value v = s->values[i];
		bool alone = s->value_count == 1 && strcmp(v.key, "value") == 0;
		shd_buf_printf(&key, "%s%s%s", e->name, alone ? "" : ".", alone ? "" : v.key);
		TRY(shd_buf_check(&key, err));
		v.key = shd_arena_str(&b->base.arena, (shd_str){(const char *)key.data, key.len});
		if (!v.key)
			return shd_fail_nomem(err);
		shd_vec_push(&out->values, v);
	}
	return shd_vec_check(&out->values, err);
}

/* Pairs of ours after the others; types are told once. */
static int fill_said(shd_dcp_bundle *b, const said *s, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	bool ok = true;
	TRY(shd_torch_fill_pairs(&b->base, s->values.items, s->values.count, err));
	sherd_pair *all = shd_arena_alloc(&b->base.arena, b->base.pair_count + s->own.count + 1, sizeof(*all));
	size_t n = 0;
	if (!all)
		return shd_fail_nomem(err);
	for (size_t i = 0; ok && i < b->base.pair_count + s->own.count; i++) {
		sherd_pair p = i < b->base.pair_count ? b->base.pairs[i] : s->own.items[i - b->base.pair_count];
		if (shd_map_add(&seen, shd_str_of(p.key), i, &ok) == SHD_MAP_NONE)
			all[n++] = p;
	}
	b->base.pairs = all;
	b->base.pair_count = n;
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

/* An item that is no archive of torch is told by its length. */
static int add_unread(shd_dcp_bundle *b, const shd_dcp_entry *e, said *out, sherd_error *err)
{
	SHD_AUTO_BUF json = {0};
	shd_buf_printf(&json, "{\"$length\": %llu}", (unsigned long long)e->item.length);
	TRY(shd_buf_check(&json, err));
	sherd_value v = {.key = e->name,
	                 .text = shd_arena_str(&b->base.arena, (shd_str){(const char *)json.data, json.len})};
	if (!v.text)
		return shd_fail_nomem(err);
	shd_vec_push(&out->values, v);
	return shd_vec_check(&out->values, err);
}

/* Neither its begin nor its end is that of a ZIP: damage to one of them leaves the other. */
static int is_no_archive(const shd_torch_zip *z, const shd_dcp_item *i, const sherd_reader *file, sherd_error *err)
{
	char begin[4];
	if (z->archive.count)
		return 0;
	if (i->length < sizeof(begin))
		return 1;
	TRY(sherd_reader_at(file, i->offset, begin, sizeof(begin), err));
	return memcmp(begin, "PK\3\4", sizeof(begin)) != 0;
}

static int read_item(shd_dcp_bundle *b, const shd_dcp_entry *e, const sherd_reader *file, said *out, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena temporary = {0};
	shd_torch_zip z = {0};
	sherd_reader *slice;
	sherd_error failure = {0};
	TRY(shd_slice_open(&slice, file, e->item.offset, e->item.length, err));
	int rc = shd_torch_zip_open(&z, slice, NULL, &b->base.arena, &temporary, NULL, &failure);
	int other = rc == SHERD_ECORRUPT ? is_no_archive(&z, &e->item, file, err) : 0;
	if (rc == SHERD_OK)
		rc = dcp_add_values(b, e, &z.state, out, err);
	else if (other > 0)
		rc = add_unread(b, e, out, err);
	else
		rc = other < 0 ? other : shd_pass(err, rc, &failure);
	shd_torch_zip_done(&z);
	return rc;
}

/* Items that lie over each other would be decoded again and again. */
static int spend_item(shd_dcp_bundle *b, const shd_dcp_entry *e, sherd_error *err)
{
	shd_dcp_file *f = &b->files[e->item.file];
	if (e->item.length > f->size - f->spent)
		return shd_in_object(err,
		                     shd_fail_at(err, SHERD_ECORRUPT, "overlap", e->item.offset,
		                                 "%.128s lies over other items: they are longer than the file",
		                                 e->name),
		                     f->key);
	f->spent += e->item.length;
	return SHERD_OK;
}

static int take_dcp_values(shd_dcp_bundle *b, said *out, sherd_error *err)
{
	for (size_t i = 0; i < b->metadata.count; i++) {
		const shd_dcp_entry *e = &b->metadata.entries[i];
		shd_dcp_slot *slot;
		sherd_reader *file;
		if (e->type)
			continue;
		TRY(dcp_check_item(b, e->name, &e->item, err));
		TRY(spend_item(b, e, err));
		TRY(shd_dcp_take(b, e->item.file, &slot, &file, err));
		int rc = read_item(b, e, file, out, err);
		shd_dcp_give(b, slot, file);
		TRY(rc);
	}
	return SHERD_OK;
}

/* ---- opening */

static int open_metadata(sherd_bundle **out, sherd_store *store, const char *folder, const shd_head *head,
                         const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	SHD_DONE(shd_arena_done) shd_arena temporary = {0};
	SHD_DONE(said_done) said items = {0};
	TRY(shd_bundle_new(&base, sizeof(shd_dcp_bundle), &dcp_ops, SHERD_FORMAT_DCP, err));
	shd_dcp_bundle *b = (shd_dcp_bundle *)base;
	b->store = store;
	b->locked = pthread_mutex_init(&b->lock, NULL) == 0;
	if (!b->locked)
		return shd_fail_nomem(err);
	TRY(shd_dcp_metadata_decode(head->text, head->len, options->limits, &base->arena, &temporary, &b->metadata,
	                            err));
	TRY(find_files(b, folder, err));
	TRY(take_dcp_tensors(b, err));
	TRY(take_dcp_values(b, &items, err));
	TRY(fill_said(b, &items, err));
	TRY(shd_torch_fill_globals(base, &b->metadata.pickle, err));
	TRY(shd_bundle_finish(base, err));
	*out = TAKE(base);
	return SHERD_OK;
}

static int dcp_read_metadata(shd_head *out, sherd_store *store, const char *key, shd_buf *name,
                             const sherd_limits *limits, sherd_error *err)
{
	TRY(dcp_key(name, key, SHD_DCP_METADATA, err));
	int rc = shd_head_read(out, store, (const char *)name->data, limits, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_EINCOMPLETE, "incomplete",
		              "a checkpoint that is being written, or was left by who died: there is no .metadata");
	return shd_in_object(err, rc, key);
}

static int dcp_open(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	int rc = SHERD_OK;
	bool again = true;
	for (int tries = 0; again && tries < MOST_TRIES; tries++) {
		SHD_AUTO_BUF name = {0};
		shd_head head;
		TRY(dcp_read_metadata(&head, e->store, e->key, &name, options->limits, err));
		const char *metadata = (const char *)name.data;
		rc = shd_in_object(err, open_metadata(out, e->store, metadata, &head, options, err), metadata);
		/* What the metadata named may have gone because others took their place. */
		again = (rc == SHERD_EINCOMPLETE || rc == SHERD_ECORRUPT || rc == SHERD_ECONFLICT) &&
		        shd_head_changed(&head, e->store, metadata);
		free(head.text);
	}
	return rc;
}

/* ---- verify */

/* All entries of an item's archive. */
static int dcp_check_archive(sherd_report *r, const sherd_reader *file, const shd_dcp_item *item, uint8_t *buf,
                             bool *unchecked, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_torch_zip z = {0};
	sherd_reader *slice;
	TRY(shd_slice_open(&slice, file, item->offset, item->length, err));
	int rc = shd_torch_zip_open(&z, slice, NULL, &arena, &arena, NULL, err);
	for (size_t i = 0; rc == SHERD_OK && i < z.archive.count; i++)
		rc = shd_torch_zip_check(&z, &z.archive.entries[i], buf, NULL, err);
	*unchecked |= z.unchecked;
	shd_torch_zip_done(&z);
	r->checked += rc == SHERD_OK ? item->length : 0;
	return shd_in_reader(err, rc, file);
}

typedef struct checking {
	shd_dcp_bundle *bundle;
	sherd_report *report;
	uint8_t *buf;
	shd_meter meter;
	bool unchecked;
} checking;

static int check_one(checking *k, const shd_dcp_entry *e, const shd_dcp_chunk *c, const shd_dcp_item *item,
                     sherd_error *err)
{
	sherd_error found = {0};
	shd_dcp_slot *slot;
	sherd_reader *file = NULL;
	int rc = shd_dcp_take(k->bundle, item->file, &slot, &file, &found);
	if (rc == SHERD_OK)
		rc = dcp_check_archive(k->report, file, item, k->buf, &k->unchecked, &found);
	if (rc == SHERD_OK && c)
		rc = shd_dcp_check_chunk(k->bundle, e, c, file, NULL, &found);
	if (file)
		shd_dcp_give(k->bundle, slot, file);
	TRY(shd_report_take(k->report, rc, &found, k->bundle->files[item->file].key, err));
	return shd_meter_add(&k->meter, item->length, err);
}

static int dcp_check_items(checking *k, sherd_error *err)
{
	const shd_dcp_metadata *m = &k->bundle->metadata;
	for (size_t i = 0; i < m->count; i++) {
		const shd_dcp_entry *e = &m->entries[i];
		if (!e->type)
			TRY(check_one(k, e, NULL, &e->item, err));
		for (size_t c = 0; c < e->chunk_count; c++)
			TRY(check_one(k, e, &e->chunks[c], &e->chunks[c].item, err));
	}
	return SHERD_OK;
}

/* What else lies in the folder. */
static int check_folder(const checking *k, sherd_store *store, const char *key, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map named = {0};
	SHD_AUTO_BUF claim = {0}, folder = {0};
	SHD_DONE(shd_folder_done) shd_folder files = {0};
	sherd_stat stat;
	bool ok = true;
	for (size_t i = 0; ok && i < k->bundle->metadata.file_count; i++)
		(void)shd_map_add(&named, shd_str_of(k->bundle->files[i].key), i, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	TRY(dcp_key(&claim, key, SHD_DCP_SAVING, err));
	if (sherd_store_stat(&stat, store, (const char *)claim.data, NULL) == SHERD_OK)
		TRY(shd_report_warn(k->report, (const char *)claim.data, "claimed", err,
		                    "a conversion is going on, or died: the next one to this folder clears it"));
	TRY(shd_folder_of(&folder, (const char *)claim.data, err));
	TRY(shd_folder_open_suffix(&files, store, (const char *)folder.data, SHD_DCP_SUFFIX, err));
	for (size_t i = 0; i < files.count; i++)
		if (shd_map_find(&named, shd_str_of(files.list[i].key)) == SHD_MAP_NONE)
			TRY(shd_report_warn(k->report, files.list[i].key, "stray-shard", err,
			                    "the metadata do not name it"));
	return SHERD_OK;
}

static int dcp_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                      sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	const sherd_bundle_options options = {.limits = o->limits};
	shd_evidence e = {.store = store, .key = key};
	sherd_error found = {0};
	uint64_t total = 0;
	int rc = dcp_open(&bundle, &e, &options, &found);
	TRY(shd_report_take(r, rc, &found, key, err));
	if (!bundle)
		return SHERD_OK;
	SHD_AUTO_FREE uint8_t *buf = malloc(SHD_ARCHIVE_CHUNK);
	checking k = {.bundle = (shd_dcp_bundle *)bundle, .report = r, .buf = buf};
	if (!buf)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < k.bundle->metadata.file_count; i++)
		total += k.bundle->files[i].size;
	shd_meter_init(&k.meter, o->progress, o->quick ? 0 : total);
	rc = o->quick ? SHERD_OK : dcp_check_items(&k, err);
	shd_meter_done(&k.meter);
	TRY(rc);
	TRY(shd_report_warn(r, key, "no-checksum", err, "%s",
	                    k.unchecked ? "its items were written without checksums: only their structure was checked"
	                                : ".metadata has no checksum: only its structure was checked"));
	TRY(check_folder(&k, store, key, err));
	return shd_torch_warn_globals(r, bundle, key, err);
}

/* ---- the entry */

/* The metadata stand for their folder, under their own name only. */
static int dcp_probe(shd_evidence *e, sherd_error *err)
{
	(void)err;
	return strcmp(shd_str_leaf(e->key), SHD_DCP_METADATA) == 0 && e->first.len > 2 &&
	       (uint8_t)e->first.ptr[0] == 0x80;
}

/* There are metadata, or the claim of who is writing them. */
static int dcp_probe_folder(shd_evidence *e, sherd_error *err)
{
	int found = shd_evidence_inside(e, SHD_DCP_METADATA, err);
	return found ? found : shd_evidence_inside(e, SHD_DCP_SAVING, err);
}

const shd_format_entry shd_format_dcp = {
	.info = {.id = SHERD_FORMAT_DCP,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "dcp",
                 .noun = "a folder of torch.distributed.checkpoint",
                 .folder = true,
                 .written = true,
                 .holds = SHERD_HOLDS_MANY | SHERD_HOLDS_PAIRS | SHERD_HOLDS_TYPED | SHERD_HOLDS_OPAQUE |
                          SHERD_HOLDS_PIECES,
                 .takes = SHERD_TAKES_REPLACE | SHERD_TAKES_SHARDS,
                 .dtypes = SHD_TORCH_DTYPES,
                 .most_dims = SHERD_MAX_DIMS,
                 .most_name = UINT16_MAX + 1},
	.probe = dcp_probe,
	.probe_set = dcp_probe_folder,
	.open = dcp_open,
	.verify = dcp_verify,
	.write = shd_write_dcp,
};
