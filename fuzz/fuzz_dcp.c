/* Whatever metadata are accepted: chunks lie inside of their tensors and cover them, files inside of the folder. */
#include "form.h"
#include "format/dcp/metadata.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_entry(const shd_dcp_metadata *m, const shd_dcp_entry *e)
{
	uint64_t whole = 1, sum = 0;
	if (!e->type) {
		must(e->item.file < m->file_count);
		return;
	}
	for (uint32_t d = 0; d < e->ndim; d++)
		whole *= e->shape[d];
	for (size_t i = 0; i < e->chunk_count; i++) {
		uint64_t elements = 1;
		must(e->chunks[i].item.file < m->file_count);
		for (uint32_t d = 0; d < e->ndim; d++) {
			must(e->chunks[i].at[d] + e->chunks[i].shape[d] <= e->shape[d]);
			elements *= e->chunks[i].shape[d];
		}
		sum += elements;
	}
	must(sum == whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0}, temporary = {0};
	shd_dcp_metadata m;
	if (shd_dcp_metadata_decode(data, len, NULL, &arena, &temporary, &m, NULL) == SHERD_OK) {
		for (size_t i = 0; i < m.count; i++)
			check_entry(&m, &m.entries[i]);
		for (size_t i = 0; i < m.file_count; i++)
			must(m.files[i][0] && m.files[i][0] != '/' && !strstr(m.files[i], "../"));
	}
	shd_arena_done(&arena);
	shd_arena_done(&temporary);
	return 0;
}
