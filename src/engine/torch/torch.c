/* engine/torch/torch.c - files of torch.save() since 1.6: ZIP archives. docs/formats/torch.md. */
#include "base/pool.h"
#include "engine/torch/format.h"
#include "engine/torch/zip.h"

#include <stdlib.h>

typedef struct torch_bundle {
	sherd_bundle base;
	shd_torch_zip zip;
} torch_bundle;

/* Its readers have a lock of their own. */
static torch_bundle *torch_of(const sherd_bundle *bundle)
{
	return (torch_bundle *)(uintptr_t)bundle;
}

static int torch_read(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                      sherd_error *err)
{
	torch_bundle *b = torch_of(bundle);
	const shd_torch_view *v = &b->zip.state.views[index];
	shd_torch_place place;
	TRY(shd_torch_zip_place(&b->zip, v->storage, NULL, &place, err));
	return shd_torch_view_read(v, bundle->tensors[index].ndim, &place, offset, buf, len, err);
}

static int torch_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	torch_bundle *b = torch_of(bundle);
	const sherd_tensor *t = &bundle->tensors[index];
	const shd_torch_view *v = &b->zip.state.views[index];
	shd_torch_place place;
	if (!shd_torch_view_is_plain(v, b->zip.big))
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s is stored in another order", t->name);
	TRY(shd_torch_zip_place(&b->zip, v->storage, NULL, &place, err));
	return sherd_reader_map(out, place.reader, place.at + v->offset, (size_t)t->bytes, err);
}

typedef struct preparation {
	torch_bundle *bundle;
	const size_t *storages;
	shd_meter *meter;
} preparation;

static int prepare_storage(void *arg, size_t index, sherd_error *err)
{
	const preparation *p = arg;
	shd_torch_place place;
	return shd_torch_zip_place(&p->bundle->zip, p->storages[index], p->meter, &place, err);
}

/* Each storage once, however many tensors are views of it. */
static int torch_prepare(const sherd_bundle *bundle, const size_t *tensors, size_t count, sherd_pool *pool,
                         shd_meter *meter, sherd_error *err)
{
	torch_bundle *b = torch_of(bundle);
	size_t n = 0, most = b->zip.state.storage_count;
	SHD_AUTO_FREE bool *seen = calloc(most + 1, sizeof(*seen));
	SHD_AUTO_FREE size_t *storages = calloc(most + 1, sizeof(*storages));
	if (!seen || !storages)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		size_t s = b->zip.state.views[tensors[i]].storage;
		if (seen[s] || atomic_load_explicit(&b->zip.members[s].checked, memory_order_relaxed))
			continue;
		seen[s] = true;
		storages[n++] = s;
		meter->total += b->zip.unchecked ? 0 : b->zip.members[s].entry->size;
	}
	preparation p = {.bundle = b, .storages = storages, .meter = meter};
	return shd_pool_run(pool, n, prepare_storage, &p, err);
}

static void torch_close(sherd_bundle *bundle)
{
	shd_torch_zip_done(&((torch_bundle *)bundle)->zip);
}

static const shd_bundle_ops torch_ops = {
	.read = torch_read, .map = torch_map, .prepare = torch_prepare, .close = torch_close};

static int torch_open(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	SHD_DONE(shd_arena_done) shd_arena temporary = {0};
	sherd_reader *reader;
	shd_pickle pickle;
	TRY(shd_bundle_new(&base, sizeof(torch_bundle), &torch_ops, SHERD_FORMAT_TORCH, err));
	torch_bundle *b = (torch_bundle *)base;
	TRY(shd_evidence_take_reader(e, &reader, err));
	TRY(shd_torch_zip_open(&b->zip, reader, options->limits, &base->arena, &temporary, &pickle, err));
	TRY(shd_in_object(err, shd_torch_fill_bundle(base, &pickle, &b->zip.state, e->key, err), e->key));
	TRY(shd_torch_zip_pairs(&b->zip, base, options->limits, err));
	*out = TAKE(base);
	return SHERD_OK;
}

/* ---- verify */

static int check_entries(sherd_report *r, const shd_torch_zip *z, const char *key, const sherd_verify_options *o,
                         sherd_error *err)
{
	const shd_archive *a = &z->archive;
	uint64_t total = 0;
	SHD_AUTO_FREE void *buf = malloc(SHD_ARCHIVE_CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < a->count; i++)
		total += a->entries[i].size;
	SHD_DONE(shd_meter_done) shd_meter meter;
	shd_meter_init(&meter, o->progress, o->quick ? 0 : total);
	for (size_t i = 0; !o->quick && i < a->count; i++) {
		sherd_error found = {0};
		int rc = shd_torch_zip_check(z, &a->entries[i], buf, &meter, &found);
		TRY(shd_report_take(r, rc, &found, key, err));
		r->checked += z->unchecked ? 0 : a->entries[i].stored;
	}
	r->checked += o->quick || z->unchecked ? 0 : sherd_reader_size(a->reader) - total;
	return SHERD_OK;
}

static int torch_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                        sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	const sherd_bundle_options options = {.limits = o->limits};
	shd_evidence e = {.store = store, .key = key};
	sherd_error found = {0};
	int rc = torch_open(&bundle, &e, &options, &found);
	TRY(shd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	const shd_torch_zip *z = &((const torch_bundle *)bundle)->zip;
	TRY(check_entries(r, z, key, o, err));
	if (z->unchecked)
		TRY(shd_report_warn(r, key, "no-checksum", err,
		                    "it was written without checksums: only its structure was checked"));
	if (z->trailing)
		TRY(shd_report_warn(r, key, "trailing-bytes", err, "something follows the end of its pickle"));
	return shd_torch_warn_globals(r, bundle, key, err);
}

/* ---- the entry */

const shd_format_entry shd_format_torch = {
	.info = {.id = SHERD_FORMAT_TORCH,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "torch",
                 .short_name = "pt",
                 .noun = "a file of torch.save()",
                 .endings = {{".pt", SHERD_ENDING_OBJECT}, {".pth", SHERD_ENDING_OBJECT}},
                 .written = true,
                 .holds = SHERD_HOLDS_MANY | SHERD_HOLDS_PAIRS | SHERD_HOLDS_TYPED | SHERD_HOLDS_OPAQUE,
                 .takes = SHERD_TAKES_REPLACE,
                 .dtypes = SHD_TORCH_DTYPES,
                 .most_dims = SHERD_MAX_DIMS,
                 .most_name = UINT16_MAX + 1},
	.zip_entry = "/data.pkl",
	.open = torch_open,
	.verify = torch_verify,
	.write = shd_write_torch,
};
