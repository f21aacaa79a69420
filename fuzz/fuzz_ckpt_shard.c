/* Any bytes as a shard alone: it opens or is refused, and what opens can be read whole. What verify finds nothing
 * wrong with must load under every check. */
#include "base/error.h"
#include "form.h"

#include <sherd/ckpt.h>
#include <sherd/verify.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_ckpt_shard;

#define KEY "x_shard_0.shard"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void load_all(const sherd_ckpt *ckpt, sherd_ckpt_check check, bool sound)
{
	const sherd_ckpt_load_options options = {.check = check};
	for (size_t i = 0; i < sherd_ckpt_count(ckpt); i++) {
		const sherd_tensor *t = sherd_ckpt_tensor(ckpt, i);
		uint8_t *bytes = malloc(t->bytes ? t->bytes : 1);
		must(bytes != NULL);
		sherd_ckpt_want want = {.tensor = i, .buf = bytes};
		int rc = sherd_ckpt_load(ckpt, &want, 1, &options, NULL);
		must(rc == SHERD_OK || (!sound && rc == SHERD_ECORRUPT));
		must(sherd_ckpt_read(ckpt, i, 0, bytes, t->bytes, NULL) == SHERD_OK);
		must(sherd_ckpt_find(ckpt, t->name) == i);
		free(bytes);
	}
}

static bool is_sound(sherd_store *store)
{
	sherd_report *report = NULL;
	int rc = sherd_verify(&report, store, KEY, NULL, NULL);
	/* It may be a file of another program. */
	must(rc == SHERD_OK || rc == SHERD_EUNSUPPORTED);
	bool sound = rc == SHERD_OK && sherd_report_errors(report) == 0;
	sherd_report_close(report);
	return sound;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	sherd_store *store;
	sherd_ckpt *ckpt;
	sherd_error err = {0};
	must(sherd_store_open_memory(&store, NULL) == SHERD_OK);
	must(sherd_store_put(store, KEY, SHERD_WRITE_NEW, data, len, NULL) == SHERD_OK);
	bool sound = is_sound(store);
	if (sherd_ckpt_open_shard(&ckpt, store, KEY, NULL, &err) == SHERD_OK) {
		for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++)
			load_all(ckpt, (sherd_ckpt_check)check, sound);
		sherd_ckpt_close(ckpt);
	} else {
		must(err.reason && err.message[0]);
	}
	sherd_store_close(store);
	return 0;
}
