/* Whatever is accepted lies inside the archive, one entry behind the other. */
#include "form.h"
#include "format/zip.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_zip;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_entry(const uint8_t *data, const shd_zip_end *end, const shd_zip_entry *e)
{
	uint64_t begin;
	must(e->name[0] && e->name[0] != '/' && !strstr(e->name, "/../") && strncmp(e->name, "../", 3) != 0);
	must(e->limit <= end->at && e->head < e->limit);
	must(e->limit - e->head >= SHD_ZIP_LOCAL + strlen(e->name));
	if (shd_zip_decode_local(data + e->head, e, &begin, NULL) < 0)
		return;
	must(begin > e->head && begin <= e->limit && e->stored <= e->limit - begin);
	must(e->method == SHD_ZIP_DEFLATED || e->stored == e->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* By the length: half of the inputs are read under rules for names. */
	const shd_zip_limits limits = {.entries = 1000, .paths = len % 2 == 0};
	shd_arena arena = {0};
	shd_zip_end end;
	shd_zip_entry *entries;
	size_t count, tail = len < SHD_ZIP_TAIL ? len : SHD_ZIP_TAIL;
	if (shd_zip_find_end(data + len - tail, tail, len, &limits, &end, NULL) < 0)
		return 0;
	must(end.at <= len && end.bytes <= len - end.at && end.entries <= limits.entries);
	if (shd_zip_decode_directory(data + end.at, &end, &limits, &arena, &entries, &count, NULL) == SHERD_OK) {
		must(count <= end.entries);
		for (size_t i = 0; i < count; i++)
			check_entry(data, &end, &entries[i]);
	}
	shd_arena_done(&arena);
	return 0;
}
