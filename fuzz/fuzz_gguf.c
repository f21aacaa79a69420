/* Whatever is accepted can be read, all of it, and survives being written and read again. */
#include "bundle.h"
#include "form.h"

#include "base/dtype.h"

#include <sherd/convert.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_gguf;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void same_tensor(const sherd_tensor *a, const sherd_tensor *b)
{
	must(strcmp(a->name, b->name) == 0 && shd_tensor_same_type(a, b) && a->ndim == b->ndim &&
	     a->bytes == b->bytes && memcmp(a->shape, b->shape, a->ndim * sizeof(uint64_t)) == 0);
}

static void same_pairs(const sherd_bundle *a, const sherd_bundle *b)
{
	const sherd_pair *x, *y;
	size_t count = sherd_bundle_pairs(&x, a);
	must(sherd_bundle_pairs(&y, b) == count);
	for (size_t i = 0; i < count; i++)
		must(strcmp(x[i].key, y[i].key) == 0 && strcmp(x[i].value, y[i].value) == 0);
}

/* Names that are too long and odd alignments are read and not written. */
static void write_again(const sherd_bundle *b, sherd_store *store)
{
	sherd_bundle *again = NULL;
	sherd_error err;
	int rc = sherd_convert(b, store, "y.gguf", SHERD_FORMAT_GGUF, NULL, &err);
	if (rc == SHERD_EUNSUPPORTED && strcmp(err.reason, "cannot-hold") == 0)
		return;
	must(rc == SHERD_OK);
	must(sherd_bundle_open(&again, store, "y.gguf", NULL, NULL) == SHERD_OK);
	must(sherd_bundle_count(again) == sherd_bundle_count(b));
	for (size_t i = 0; i < sherd_bundle_count(b); i++)
		same_tensor(sherd_bundle_tensor(b, i), sherd_bundle_tensor(again, i));
	same_pairs(b, again);
	sherd_bundle_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	sherd_store *store = NULL;
	sherd_bundle *b = NULL;
	must(sherd_store_open_memory(&store, NULL) == SHERD_OK);
	must(sherd_store_put(store, "x.gguf", SHERD_WRITE_NEW, data, len, NULL) == SHERD_OK);
	if (sherd_bundle_open(&b, store, "x.gguf", NULL, NULL) == SHERD_OK &&
	    sherd_bundle_format(b) == SHERD_FORMAT_GGUF) {
		fuzz_read_bundle(b, true);
		write_again(b, store);
	}
	sherd_bundle_close(b);
	sherd_store_close(store);
	return 0;
}
