/* Whatever is accepted must survive being written and read again. */
#include "base/error.h"
#include "form.h"
#include "format/ckpt/meta.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_sealed;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void compare(const shd_ckpt_meta *a, const shd_ckpt_meta *b)
{
	must(a->count == b->count && a->world == b->world && a->has_set_id == b->has_set_id);
	must(strcmp(a->version, b->version) == 0 && strcmp(a->timestamp, b->timestamp) == 0);
	must(a->about.field_count == b->about.field_count && a->about.step == b->about.step);
	for (size_t i = 0; i < a->count; i++) {
		const shd_ckpt_meta_shard *x = &a->shards[i], *y = &b->shards[i];
		must(x->rank == y->rank && x->file_size == y->file_size && x->count == y->count &&
		     x->listed == y->listed);
		must(!x->file == !y->file && (!x->file || strcmp(x->file, y->file) == 0));
		for (size_t k = 0; k < x->count; k++)
			must(shd_ckpt_entry_equal(&x->entries[k], &y->entries[k]));
	}
}

static void write_again(const shd_ckpt_meta *meta, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0};
	SHD_AUTO_BUF twice = {0};
	shd_ckpt_meta again;
	shd_ckpt_meta_encode(meta, false, &out);
	must(!out.failed);
	must(shd_ckpt_meta_decode((const char *)out.data, out.len, NULL, arena, &again, NULL) == SHERD_OK);
	must(again.seal == SHD_SEAL_GOOD);
	compare(meta, &again);
	shd_ckpt_meta_encode(&again, false, &twice);
	must(out.len == twice.len && memcmp(out.data, twice.data, out.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_ckpt_meta meta;
	sherd_error err = {0};
	int rc = shd_ckpt_meta_decode((const char *)data, len, NULL, &arena, &meta, &err);
	if (rc == SHERD_OK)
		write_again(&meta, &arena);
	else
		must(err.reason && err.message[0] && err.offset <= len);
	shd_arena_done(&arena);
	return 0;
}
