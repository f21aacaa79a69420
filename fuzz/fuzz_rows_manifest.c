/* Whatever list of shards is accepted survives being written and read again. */
#include "base/error.h"
#include "form.h"
#include "format/rows/manifest.h"
#include "format/rows/claim.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_sealed;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void try_manifest(const void *data, size_t len)
{
	shd_arena arena = {0};
	shd_rows_manifest m, again;
	SHD_AUTO_BUF out = {0}, twice = {0};
	if (shd_rows_manifest_decode(data, len, NULL, &arena, &m, NULL) == SHERD_OK) {
		shd_rows_manifest_encode(&m, &out);
		must(shd_rows_manifest_decode(out.data, out.len, NULL, &arena, &again, NULL) == SHERD_OK);
		must(again.rows == m.rows && again.width == m.width && again.count == m.count);
		shd_rows_manifest_encode(&again, &twice);
		must(twice.len == out.len && memcmp(twice.data, out.data, out.len) == 0);
	}
	shd_arena_done(&arena);
}

static void try_claim(const void *data, size_t len)
{
	shd_rows_claim m, again;
	SHD_AUTO_BUF out = {0};
	if (shd_rows_claim_decode(data, len, &m, NULL) < 0)
		return;
	shd_rows_claim_encode(&m, &out);
	must(shd_rows_claim_decode(out.data, out.len, &again, NULL) == SHERD_OK);
	must(again.process == m.process && again.time_ns == m.time_ns && strcmp(again.host, m.host) == 0);
}

static void try_foreign(const void *data, size_t len)
{
	shd_arena arena = {0};
	shd_rows_manifest m;
	bool recognised;
	must(shd_rows_bf16_recognise(data, len, &recognised, NULL) == SHERD_OK);
	if (shd_rows_bf16_decode(data, len, NULL, &arena, &m, NULL) == SHERD_OK) {
		uint64_t rows = 0;
		must(recognised);
		for (size_t i = 0; i < m.count; i++)
			rows += m.shards[i].rows;
		must(rows == m.rows && m.width);
	}
	shd_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	try_foreign(data, len);
	try_manifest(data, len);
	try_claim(data, len);
	return 0;
}
