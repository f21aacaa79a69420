/* Whatever is accepted can be read, all of it, unless a storage is damaged; and what cannot be is told by verify. */
#include "form.h"

#include <sherd/bundle.h>
#include <sherd/verify.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_zip;

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Some bytes of each tensor; how many failed. */
static size_t read_ends(const sherd_bundle *b)
{
	size_t failed = 0;
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		uint8_t buf[512];
		uint64_t bytes = sherd_bundle_tensor(b, i)->bytes;
		size_t n = bytes < sizeof(buf) ? (size_t)bytes : sizeof(buf);
		failed += sherd_bundle_read(b, i, 0, buf, n, NULL) < 0;
		failed += sherd_bundle_read(b, i, (bytes - n) / 2, buf, n, NULL) < 0;
		failed += sherd_bundle_read(b, i, bytes - n, buf, n, NULL) < 0;
	}
	return failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	sherd_store *store = NULL;
	sherd_bundle *b = NULL;
	sherd_report *r = NULL;
	must(sherd_store_open_memory(&store, NULL) == SHERD_OK);
	must(sherd_store_put(store, "x.pt", SHERD_WRITE_NEW, data, len, NULL) == SHERD_OK);
	int rc = sherd_bundle_open(&b, store, "x.pt", NULL, NULL);
	bool torch = rc == SHERD_OK && (sherd_bundle_format(b) == SHERD_FORMAT_TORCH ||
	                                sherd_bundle_format(b) == SHERD_FORMAT_TORCH_LEGACY);
	bool damaged = torch && read_ends(b);
	sherd_bundle_close(b);
	if (torch && sherd_verify(&r, store, "x.pt", NULL, NULL) == SHERD_OK)
		must(!damaged || sherd_report_errors(r) > 0);
	sherd_report_close(r);
	sherd_store_close(store);
	return 0;
}
