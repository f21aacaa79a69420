/* Whatever verify finds nothing wrong with can be opened and read whole. */
#include "form.h"

#include <sherd/model.h>
#include <sherd/verify.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_container;

enum { PIECE = 1 << 16 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void read_all(const sherd_bundle *b)
{
	static uint8_t room[PIECE];
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(b, i);
		size_t n;
		for (uint64_t at = 0; at < t->bytes; at += n) {
			n = t->bytes - at < PIECE ? (size_t)(t->bytes - at) : PIECE;
			must(sherd_bundle_read(b, i, at, room, n, NULL) == SHERD_OK);
		}
	}
}

static void try(const uint8_t *data, size_t len)
{
	sherd_store *store;
	sherd_report *report = NULL;
	sherd_bundle *bundle = NULL;
	if (sherd_store_open_memory(&store, NULL) < 0)
		return;
	if (sherd_store_put(store, "m.sdc", SHERD_WRITE_NEW, data, len, NULL) == SHERD_OK &&
	    sherd_verify(&report, store, "m.sdc", NULL, NULL) == SHERD_OK) {
		sherd_format format;
		int rc = sherd_bundle_open(&bundle, store, "m.sdc", NULL, NULL);
		bool container = sherd_detect(store, "m.sdc", &format, NULL) == SHERD_OK &&
		                 format == SHERD_FORMAT_SAMEDIFF_CONTAINER;
		if (container && !sherd_report_errors(report)) {
			must(rc == SHERD_OK);
			read_all(bundle);
		}
	}
	sherd_bundle_close(bundle);
	sherd_report_close(report);
	sherd_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	try(data, len);
	return 0;
}
