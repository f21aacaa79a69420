#include "support/set_sample.h"

#include "support/test.h"

#include "base/error.h"
#include "format/tensor/safetensors.h"

#include <sherd/verify.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

enum { MOST = 6, BYTES = 300 };

sherd_bundle *set_sample(sherd_store *memory, uint8_t byte, size_t count)
{
	static const uint64_t shape[] = {BYTES};
	static const char *const names[MOST] = {"a", "b/c", "n", "d", "D", "e"};
	const char key[] = {(char)('A' + byte), 0};
	SHD_AUTO_BUF out = {0};
	sherd_tensor tensors[MOST];
	size_t order[MOST];
	sherd_bundle *b = NULL;
	assert_true(count <= MOST);
	for (size_t i = 0; i < count; i++)
		tensors[i] = (sherd_tensor){names[i], SHERD_U8, 1, shape, BYTES};
	assert_ok(shd_safetensors_encode(tensors, count, NULL, 0, &out, order, err));
	for (size_t i = 0; i < count * BYTES; i++)
		shd_buf_u8(&out, byte);
	assert_ok(sherd_store_put(memory, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
	assert_ok(sherd_bundle_open(&b, memory, key, NULL, err));
	return b;
}

uint8_t set_sample_byte(const sherd_bundle *bundle, int *rc, sherd_error *err)
{
	uint8_t first = 0;
	*rc = SHERD_OK;
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		uint8_t bytes[BYTES];
		*rc = sherd_bundle_read(bundle, i, 0, bytes, BYTES, err);
		if (*rc < 0)
			return 0;
		first = i ? first : bytes[0];
		for (size_t k = 0; k < BYTES; k++)
			assert_int_equal(bytes[k], first);
	}
	return first;
}

uint8_t set_sample_content(sherd_store *store, const char *key, size_t tensors)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_error e = {0};
	uint8_t byte = 0;
	int rc = sherd_bundle_open(&b, store, key, NULL, &e);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE)
		return 0;
	if (rc == SHERD_OK) {
		assert_int_equal(sherd_bundle_count(b), tensors);
		byte = set_sample_byte(b, &rc, &e);
	}
	if (rc < 0)
		fail_msg("%s: %s: %s", e.object, e.reason, e.message);
	return byte;
}

void set_sample_assert_clean(sherd_store *store, const char *key)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	assert_ok(sherd_verify(&r, store, key, NULL, err));
	if (sherd_report_errors(r))
		fail_msg("%s: %s", sherd_report_error(r, 0)->object, sherd_report_error(r, 0)->message);
	for (size_t i = 0; i < sherd_report_warnings(r); i++)
		assert_string_equal(sherd_report_warning(r, i)->reason, "no-checksum");
}
