#include "engine/tensors/npz.h"

#include "engine/tensors/archive_out.h"
#include "format/tensor/npy.h"
#include "format/tensor/npy_manifest.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

enum { CHUNK = 4 << 20, ALIGN = 64 };

static int npz_write_tensor(shd_conversion *c, shd_archive_out *out, size_t tensor, void *buf, sherd_error *err)
{
	SHD_AUTO_BUF name = {0}, head = {0};
	const sherd_tensor *t = sherd_bundle_tensor(c->from, tensor);
	shd_buf_printf(&name, "%s" SHD_NPY_SUFFIX, t->name);
	TRY(shd_buf_end(&name, err));
	TRY(shd_npy_encode(t, &head, err));
	TRY(shd_archive_out_begin(out, (const char *)name.data, head.len + t->bytes, ALIGN, err));
	TRY(shd_archive_out_append(out, head.data, head.len, err));
	for (uint64_t at = 0; at < t->bytes;) {
		size_t n = (size_t)(t->bytes - at < CHUNK ? t->bytes - at : CHUNK);
		TRY(sherd_bundle_read(c->from, tensor, at, buf, n, err));
		TRY(shd_archive_out_append(out, buf, n, err));
		TRY(shd_meter_add(&c->meter, n, err));
		at += n;
	}
	return shd_archive_out_end(out, err);
}

static int npz_write_all(shd_conversion *c, shd_archive_out *out, sherd_error *err)
{
	SHD_AUTO_FREE void *buf = malloc(CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < sherd_bundle_count(c->from); i++)
		TRY(npz_write_tensor(c, out, i, buf, err));
	return shd_archive_out_finish(out, err);
}

/* Names become names of members, which others unpack: none may lead out of a folder. */
static int npz_check_names(const shd_conversion *c, sherd_error *err)
{
	static const shd_zip_limits any = {0};
	for (size_t i = 0; i < sherd_bundle_count(c->from); i++) {
		SHD_AUTO_BUF name = {0};
		const sherd_tensor *t = sherd_bundle_tensor(c->from, i);
		shd_buf_printf(&name, "%s" SHD_NPY_SUFFIX, t->name);
		TRY(shd_buf_check(&name, err));
		const char *fault = shd_zip_name_fault((shd_str){(const char *)name.data, name.len}, &any);
		if (fault)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
			                "npz cannot hold the name of %.128s, which %s", t->name, fault);
	}
	return SHERD_OK;
}

int shd_write_npz(shd_conversion *c, sherd_error *err)
{
	SHD_DONE(shd_archive_out_done) shd_archive_out out = {0};
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	const sherd_convert_options *o = c->options;
	uint64_t bytes = 0;
	if (sherd_bundle_count(c->from) > SHD_ZIP_MOST_ENTRIES)
		return shd_in_object(err,
		                     shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                              "npz cannot hold more than %u tensors", SHD_ZIP_MOST_ENTRIES),
		                     c->key);
	TRY(shd_in_object(err, npz_check_names(c, err), c->key));
	for (size_t i = 0; i < sherd_bundle_count(c->from); i++)
		bytes += sherd_bundle_tensor(c->from, i)->bytes;
	int level = o->compress == SHERD_COMPRESS_DEFLATE ? o->level ? o->level : 1 : 0;
	TRY(shd_conversion_open_one(c, c->key, level ? 0 : bytes, &writer, err));
	TRY(shd_archive_out_init(&out, writer, level, err));
	TRY(npz_write_all(c, &out, err));
	TRY(sherd_writer_commit(TAKE(writer), err));
	if (o->written)
		*o->written = out.at;
	return SHERD_OK;
}
