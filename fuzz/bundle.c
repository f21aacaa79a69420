#include "bundle.h"

#include <sherd/verify.h>

#include <stdlib.h>

enum { PIECE = 1 << 16 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int read_tensor(const sherd_bundle *b, size_t index)
{
	static uint8_t room[PIECE];
	const sherd_tensor *t = sherd_bundle_tensor(b, index);
	int rc = SHERD_OK;
	size_t n;
	for (uint64_t at = 0; rc == SHERD_OK && at < t->bytes; at += n) {
		n = t->bytes - at < PIECE ? (size_t)(t->bytes - at) : PIECE;
		rc = sherd_bundle_read(b, index, at, room, n, NULL);
	}
	return rc;
}

void fuzz_read_bundle(const sherd_bundle *b, bool sound)
{
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		int rc = read_tensor(b, i);
		must(rc == SHERD_OK || !sound);
	}
}

void fuzz_salvage(sherd_store *store, const char *key, bool sound)
{
	sherd_bundle *all = NULL, *saved = NULL;
	sherd_report *lost = NULL;
	int rc = sherd_bundle_salvage(&saved, &lost, store, key, NULL, NULL);
	must(rc == SHERD_OK || !sound);
	if (rc == SHERD_OK)
		fuzz_read_bundle(saved, true);
	if (sound) {
		must(sherd_bundle_open(&all, store, key, NULL, NULL) == SHERD_OK);
		must(sherd_bundle_count(all) == sherd_bundle_count(saved) && !sherd_report_errors(lost));
	}
	sherd_bundle_close(all);
	sherd_bundle_close(saved);
	sherd_report_close(lost);
}

bool fuzz_is_salvaged(const uint8_t *data, size_t len)
{
	return len && data[len - 1] % 2;
}
