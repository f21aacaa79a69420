/* Whatever is accepted can be written, and is the same when it is read again. */
#include "form.h"
#include "format/samediff/java_manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check(const shd_java_manifest_entry *entries, size_t count, shd_arena *arena)
{
	shd_java_manifest_entry *again;
	size_t again_count;
	SHD_AUTO_BUF b = {0};
	must(shd_java_manifest_encode(&b, entries, count, NULL) == SHERD_OK);
	must(shd_java_manifest_decode(b.data, b.len, NULL, arena, &again, &again_count, NULL) == SHERD_OK);
	must(again_count == count);
	for (size_t i = 0; i < count; i++) {
		must(strcmp(again[i].name, entries[i].name) == 0);
		must(again[i].offset == entries[i].offset && again[i].length == entries[i].length);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_java_manifest_entry *entries;
	size_t count;
	if (shd_java_manifest_decode(data, len, NULL, &arena, &entries, &count, NULL) == SHERD_OK)
		check(entries, count, &arena);
	shd_arena_done(&arena);
	return 0;
}
