/* Whatever is accepted must survive being written and read again, and fit itself. */
#include "base/error.h"
#include "form.h"
#include "format/ckpt/about.h"
#include "format/ckpt/index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_ckpt_index;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void write_again(const shd_ckpt_index *index, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0};
	shd_ckpt_index again;
	shd_ckpt_index_encode(index, &out);
	must(shd_ckpt_index_decode(out.data, out.len, NULL, arena, &again, NULL) == SHERD_OK);
	must(again.count == index->count && again.rank == index->rank && again.world == index->world);
	must(again.time_ns == index->time_ns && again.about.len == index->about.len);
	must(again.part_log == index->part_log && again.value_count == index->value_count);
	must(!index->value_count ||
	     memcmp(again.values, index->values, index->value_count * sizeof(*index->values)) == 0);
	for (size_t i = 0; i < index->count; i++)
		must(shd_ckpt_entry_equal(&again.entries[i], &index->entries[i]));
}

static void try_about(shd_str text, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0};
	SHD_AUTO_BUF twice = {0};
	sherd_ckpt_about about, again;
	if (shd_ckpt_about_decode(text, NULL, arena, &about, NULL) < 0)
		return;
	shd_ckpt_about_encode(&about, &out);
	must(!out.failed && shd_ckpt_about_check(&about, NULL) == SHERD_OK);
	must(shd_ckpt_about_decode((shd_str){(const char *)out.data, out.len}, NULL, arena, &again, NULL) == SHERD_OK);
	shd_ckpt_about_encode(&again, &twice);
	must(out.len == twice.len && memcmp(out.data, twice.data, out.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_ckpt_index index;
	sherd_error err = {0};
	int rc = shd_ckpt_index_decode(data, len, NULL, &arena, &index, &err);
	if (rc == SHERD_OK) {
		write_again(&index, &arena);
		try_about(index.about, &arena);
	} else {
		must(err.reason && err.message[0] && err.offset <= len);
	}
	shd_arena_done(&arena);
	return 0;
}
