#include "support/test.h"

#include "codec/seal.h"
#include "format/ckpt/claim.h"

static const shd_ckpt_claim full = {
	.set_id = {{0xab, 1, 2, 3}},
	.world = 16,
	.removing = true,
	.repairing = true,
	.replace = true,
	.named_by_set = true,
	.csharp = true,
	.time_ns = INT64_C(1767960000000000001),
	.process = UINT64_MAX,
	.host = "node-7 \"\xc3\xa9\"",
	.has_base = true,
	.base = "other",
	.has_base_identity = true,
	.base_identity = "\"e7\" 1",
};

static void assert_same(const shd_ckpt_claim *a, const shd_ckpt_claim *b)
{
	assert_memory_equal(&a->set_id, &b->set_id, sizeof(a->set_id));
	assert_int_equal(a->world, b->world);
	assert_int_equal(a->removing, b->removing);
	assert_int_equal(a->repairing, b->repairing);
	assert_int_equal(a->replace, b->replace);
	assert_int_equal(a->named_by_set, b->named_by_set);
	assert_int_equal(a->csharp, b->csharp);
	assert_true(a->time_ns == b->time_ns);
	assert_true(a->process == b->process);
	assert_string_equal(a->host, b->host);
	assert_int_equal(a->has_base, b->has_base);
	assert_string_equal(a->base, b->base);
	assert_int_equal(a->has_base_identity, b->has_base_identity);
	assert_string_equal(a->base_identity, b->base_identity);
}

TEST(what_was_claimed_is_read)
{
	for (unsigned flags = 0; flags < 32; flags++) {
		SHD_AUTO_BUF text = {0};
		shd_ckpt_claim c = full, got;
		c.removing = flags & 1;
		c.repairing = flags & 2;
		c.named_by_set = flags & 4;
		c.csharp = flags & 8;
		c.replace = flags & 16;
		shd_ckpt_claim_encode(&c, &text);
		assert_ok(shd_ckpt_claim_decode((const char *)text.data, text.len, &got, err));
		assert_same(&c, &got);
	}
}

TEST(every_flipped_bit_and_every_truncation_is_refused)
{
	SHD_AUTO_BUF text = {0};
	shd_ckpt_claim got;
	shd_ckpt_claim_encode(&full, &text);
	for (size_t bit = 0; bit < text.len * 8; bit++) {
		text.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_refused(SHERD_ECORRUPT, "bad-seal",
		               shd_ckpt_claim_decode((const char *)text.data, text.len, &got, err));
		text.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t len = 0; len < text.len; len++)
		assert_int_equal(shd_ckpt_claim_decode((const char *)text.data, len, &got, NULL), SHERD_ECORRUPT);
}

/* A sealed object of these members. */
static int decode(const char *members, shd_ckpt_claim *out, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_json_writer w;
	shd_buf_printf(&text, "{\n  %s", members);
	shd_json_writer_init(&w, &text);
	w.depth = 1;
	w.first = false;
	shd_seal_put(&w);
	TRY(shd_buf_check(&text, err));
	return shd_ckpt_claim_decode((const char *)text.data, text.len, out, err);
}

#define ID "\"setId\": \"00112233445566778899aabbccddeeff\""

TEST(set_and_world_are_enough_and_other_keys_are_ignored)
{
	shd_ckpt_claim got;
	assert_ok(decode(ID ", \"worldSize\": 2", &got, err));
	assert_false(got.removing || got.repairing || got.replace || got.named_by_set || got.csharp);
	assert_int_equal(got.world, 2);
	assert_string_equal(got.host, "");
	assert_ok(decode(ID ", \"worldSize\": 2, \"later\": {\"a\": [1]}", &got, err));
}

TEST(a_long_host_is_cut)
{
	shd_ckpt_claim got;
	assert_ok(decode(ID ", \"worldSize\": 2, \"host\": "
	                    "\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
	                 &got, err));
	assert_int_equal(strlen(got.host), 64);
}

TEST(a_claim_without_its_parts_is_refused)
{
	static const struct {
		const char *members, *reason;
	} cases[] = {
		{"\"worldSize\": 2", "bad-claim"},
		{ID, "bad-claim"},
		{ID ", \"worldSize\": 0", "bad-claim"},
		{"\"setId\": \"0011\", \"worldSize\": 2", "bad-claim"},
		{"\"setId\": 5, \"worldSize\": 2", "bad-type"},
		{ID ", \"worldSize\": \"2\"", "bad-type"},
		{ID ", \"worldSize\": 4294967296", "bad-number"},
		{ID ", \"worldSize\": 2, \"removing\": 1", "bad-type"},
		{ID ", \"worldSize\": 2, \"timestamp\": \"noon\"", "bad-time"},
		{ID ", \"worldSize\": 2, \"worldSize\": 2", "duplicate-key"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_ckpt_claim got;
		sherd_error err = {0};
		int rc = decode(cases[i].members, &got, &err);
		if (rc != SHERD_ECORRUPT || strcmp(err.reason, cases[i].reason) != 0)
			fail_msg("%s: status %d, %s", cases[i].members, rc, err.reason ? err.reason : "");
	}
}

TEST(a_claim_without_seal_is_refused)
{
	static const char text[] = "{" ID ", \"worldSize\": 2}";
	shd_ckpt_claim got;
	assert_refused(SHERD_ECORRUPT, "bad-seal", shd_ckpt_claim_decode(text, sizeof(text) - 1, &got, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_claimed_is_read),
		cmocka_unit_test(every_flipped_bit_and_every_truncation_is_refused),
		cmocka_unit_test(set_and_world_are_enough_and_other_keys_are_ignored),
		cmocka_unit_test(a_long_host_is_cut),
		cmocka_unit_test(a_claim_without_its_parts_is_refused),
		cmocka_unit_test(a_claim_without_seal_is_refused),
	};
	return cmocka_run_group_tests_name("ckpt_claim", tests, NULL, NULL);
}
