/* Whatever is accepted can be read, all of it; what is no SDNB file may be an archive of one. */
#include "form.h"

#include <sherd/model.h>
#include <sherd/verify.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_sdnb;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void read_all(const sherd_bundle *b)
{
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		uint64_t bytes = sherd_bundle_tensor(b, i)->bytes;
		uint8_t buf[512];
		/* An entry of an archive may turn out to be damaged. */
		bool sure = sherd_bundle_format(b) == SHERD_FORMAT_SDNB;
		size_t n = bytes < sizeof(buf) ? (size_t)bytes : sizeof(buf);
		int rc = sherd_bundle_read(b, i, 0, buf, n, NULL);
		must(!sure || rc == SHERD_OK);
		rc = sherd_bundle_read(b, i, bytes - n, buf, n, NULL);
		must(!sure || rc == SHERD_OK);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	sherd_store *store = NULL;
	sherd_bundle *b = NULL;
	sherd_report *r = NULL;
	sherd_format format = SHERD_FORMAT_UNKNOWN;
	must(sherd_store_open_memory(&store, NULL) == SHERD_OK);
	must(sherd_store_put(store, "x", SHERD_WRITE_NEW, data, len, NULL) == SHERD_OK);
	int rc = sherd_bundle_open(&b, store, "x", NULL, NULL);
	if (rc == SHERD_OK)
		read_all(b);
	sherd_bundle_close(b);
	/* A shard without an index may be fine, and says nothing of its tensors. */
	bool alone = sherd_detect(&format, store, "x", NULL) == SHERD_OK && format == SHERD_FORMAT_CHECKPOINT_SHARD;
	if (sherd_verify(&r, store, "x", NULL, NULL) == SHERD_OK)
		must(rc == SHERD_OK || sherd_report_errors(r) > 0 || alone);
	sherd_report_close(r);
	sherd_store_close(store);
	return 0;
}
