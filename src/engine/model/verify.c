#include "engine/model/verify.h"

#include "base/cursor.h"
#include "engine/model/container_verify.h"
#include "engine/model/graph_verify.h"
#include "engine/model/model.h"
#include "engine/model/sdnb.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(void, free)

typedef struct check {
	sherd_report *report;
	const char *key;
	const sherd_model *model;
	sherd_error *err;
} check;

/* The offsets of texts must rise, from 0 to the end; opening checked the first and the last only. */
static int check_offsets(const sherd_bundle *b, size_t index, sherd_error *err)
{
	const sherd_tensor *t = sherd_bundle_tensor(b, index);
	uint64_t texts = 0, before = 0, end = 0;
	uint8_t raw[512 * 8];
	(void)sherd_tensor_bytes(&texts, SHERD_U8, t->ndim, t->shape);
	end = t->bytes - 8 * (texts + 1);
	for (uint64_t i = 0; i <= texts;) {
		uint64_t n = texts + 1 - i < sizeof(raw) / 8 ? texts + 1 - i : sizeof(raw) / 8;
		TRY(sherd_bundle_read(b, index, 8 * i, raw, (size_t)(8 * n), err));
		for (uint64_t k = 0; k < n; k++) {
			uint64_t offset = shd_get_u64(raw + 8 * k);
			if (offset < before || offset > end)
				return shd_fail(err, SHERD_ECORRUPT, "bad-offsets", "text %llu of %.128s",
				                (unsigned long long)(i + k), t->name);
			before = offset;
		}
		i += n;
	}
	return SHERD_OK;
}

static bool is_archive(const sherd_model *model)
{
	const shd_sdnb_model *m = shd_sdnb_of(model);
	return m && m->archive;
}

static int check_arrays(check *c)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	/* All their bytes are counted where checksums are held against them. */
	bool summed = shd_container_of(c->model) || is_archive(c->model);
	TRY(sherd_bundle_of_model(&b, c->model, c->err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		sherd_error found = {0};
		if (sherd_bundle_tensor(b, i)->dtype != SHERD_UTF8)
			continue;
		TRY(shd_report_take(c->report, check_offsets(b, i, &found), &found, c->key, c->err));
		if (!summed)
			c->report->checked += sherd_bundle_tensor(b, i)->bytes;
	}
	return SHERD_OK;
}

/* What stands after a manifest is of no use to anyone. */
static int check_trailing(check *c)
{
	const shd_sdnb_model *m = shd_sdnb_of(c->model);
	if (!m || !m->trailing)
		return SHERD_OK;
	/* In an archive the entry's byte, not the file's, would be known. */
	uint64_t at = m->archive ? SHERD_NO_OFFSET : sherd_reader_size(m->readers[0]) - m->trailing;
	return shd_report_warn_at(c->report, c->key, "trailing-bytes", at, c->err, "%llu bytes after the manifest",
	                          (unsigned long long)m->trailing);
}

/* What opening said, unless a look at the file alone finds the same damage and more. */
static int report_unopened(sherd_report *r, sherd_store *store, const char *key, int rc, const sherd_error *found,
                           const sherd_verify_options *o, sherd_error *err)
{
	SHD_AUTO(container_file, shd_container_file_close) f = NULL;
	shd_container_shards info = {0};
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	size_t before = sherd_report_errors(r);
	bool readable = shd_container_file_open(&f, store, key, o->limits, NULL) == SHERD_OK;
	if (readable)
		readable = shd_container_file_shards(f, &arena, &info, NULL) == SHERD_OK;
	if (readable)
		TRY(shd_container_verify_file(r, f, info.shard, o, err));
	return sherd_report_errors(r) > before ? SHERD_OK : shd_report_take(r, rc, found, key, err);
}

int shd_model_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                     sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) model = NULL;
	sherd_error found = {0};
	int rc = sherd_model_open(&model, store, key, &(sherd_model_options){.limits = o->limits}, &found);
	if (rc < 0)
		return report_unopened(r, store, key, rc, &found, o, err);
	check c = {.report = r, .key = key, .model = model, .err = err};
	const shd_container_model *container = shd_container_of(model);
	size_t before = sherd_report_errors(r);
	TRY(shd_model_verify_graph(r, key, model, err));
	if (container)
		TRY(shd_container_verify_model(r, container, o, err));
	if (!o->quick && sherd_report_errors(r) == before)
		TRY(check_arrays(&c));
	TRY(check_trailing(&c));
	if (is_archive(model)) { /* its entries have checksums, which are held against all bytes */
		r->checked += o->quick ? model->checked : 0;
		return SHERD_OK;
	}
	r->checked += model->checked;
	if (container)
		return SHERD_OK;
	return shd_report_warn(r, key, "no-checksum", err,
	                       "the format has no checksums: only its structure was checked");
}
