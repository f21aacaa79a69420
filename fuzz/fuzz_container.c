/* Whatever verify finds nothing wrong with can be opened and read whole; of the rest what is salvaged can be. */
#include "bundle.h"
#include "form.h"

#include <sherd/verify.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_container;

static void must(bool holds)
{
	if (!holds)
		abort();
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
		bool container = sherd_detect(&format, store, "m.sdc", NULL) == SHERD_OK &&
		                 format == SHERD_FORMAT_SAMEDIFF_CONTAINER;
		bool sound = container && !sherd_report_errors(report);
		must(rc == SHERD_OK || !sound);
		if (sound)
			fuzz_read_bundle(bundle, true);
		if (fuzz_is_salvaged(data, len))
			fuzz_salvage(store, "m.sdc", sound);
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
