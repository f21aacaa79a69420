#include "engine/torch/item.h"

#include "engine/tensors/format.h"
#include "format/torch/write.h"

#include <stdlib.h>

enum { CHUNK = 4 << 20, ALIGN = 64 };

int shd_torch_check_tensors(const shd_conversion *c, sherd_error *err)
{
	for (size_t i = 0; i < sherd_bundle_count(c->from); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(c->from, i);
		const char *fault = *t->name ? shd_torch_write_fault(t) : "has no name";
		if (fault)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%s cannot hold %.128s, which %s",
			                sherd_format_name(c->to->info.id), t->name, fault);
	}
	return SHERD_OK;
}

static int begin_entry(shd_archive_out *out, const char *name, uint64_t size, sherd_error *err)
{
	SHD_AUTO_BUF full = {0};
	shd_buf_printf(&full, SHD_TORCH_ROOT "%s", name);
	TRY(shd_buf_end(&full, err));
	return shd_archive_out_begin(out, (const char *)full.data, size, ALIGN, err);
}

int shd_torch_put_entry(shd_archive_out *out, const char *name, const void *data, size_t len, sherd_error *err)
{
	TRY(begin_entry(out, name, len, err));
	TRY(shd_archive_out_append(out, data, len, err));
	return shd_archive_out_end(out, err);
}

int shd_torch_put_constants(shd_archive_out *out, sherd_error *err)
{
	TRY(shd_torch_put_entry(out, ".format_version", "1", 1, err));
	TRY(shd_torch_put_entry(out, ".storage_alignment", "64", 2, err));
	return shd_torch_put_entry(out, "byteorder", "little", 6, err);
}

int shd_torch_put_storage(shd_conversion *c, shd_archive_out *out, const char *name, size_t tensor, sherd_error *err)
{
	uint64_t bytes = sherd_bundle_tensor(c->from, tensor)->bytes;
	SHD_AUTO_FREE void *buf = malloc(CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	TRY(begin_entry(out, name, bytes, err));
	for (uint64_t at = 0; at < bytes;) {
		size_t n = (size_t)(bytes - at < CHUNK ? bytes - at : CHUNK);
		TRY(sherd_bundle_read(c->from, tensor, at, buf, n, err));
		TRY(shd_archive_out_append(out, buf, n, err));
		TRY(shd_meter_add(&c->meter, n, err));
		at += n;
	}
	return shd_archive_out_end(out, err);
}
