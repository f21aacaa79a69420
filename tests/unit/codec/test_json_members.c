#include "support/test.h"

#include "codec/json_members.h"

#include <string.h>

typedef struct sample {
	uint64_t rows;
	uint32_t width, version;
	bool ours;
	int64_t time_ns;
	uint64_t sum;
} sample;

static int add_item(void *arg, void *field, shd_json *j, sherd_error *err)
{
	uint64_t v, *sum = field;
	(void)arg;
	TRY(shd_json_u64(j, &v, err));
	*sum += v;
	return SHERD_OK;
}

static int take_items(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return shd_json_items(j, add_item, arg, field, err);
}

static const shd_json_member members[] = {
	{"format", SHD_JSON_FORMAT, .text = "test", .needed = true},
	{"version", SHD_JSON_VERSION, offsetof(sample, version), .most = 2, .needed = true},
	{"rows", SHD_JSON_U64, offsetof(sample, rows), .needed = true},
	{"width", SHD_JSON_U32, offsetof(sample, width)},
	{"ours", SHD_JSON_BOOL, offsetof(sample, ours)},
	{"time", SHD_JSON_TIME, offsetof(sample, time_ns)},
	{"items", .take = take_items, .at = offsetof(sample, sum)},
	{0},
};

static int decode(const char *text, sample *out, sherd_error *err)
{
	return shd_json_document(text, strlen(text), NULL, members, out, out, err);
}

TEST(members_come_in_any_order_and_others_are_skipped)
{
	sample s = {0};
	assert_ok(
		decode("{\"items\": [1, 2, 39], \"more\": {\"rows\": 1}, \"rows\": 7, \"version\": 2, \"ours\": true, "
	               "\"time\": \"1970-01-01T00:00:01Z\", \"width\": 3, \"format\": \"test\"}",
	               &s, err));
	assert_int_equal(s.rows, 7);
	assert_int_equal(s.width, 3);
	assert_int_equal(s.version, 2);
	assert_true(s.ours);
	assert_int_equal(s.time_ns, 1000000000);
	assert_int_equal(s.sum, 42);
}

TEST(what_must_be_there_and_what_it_must_be_is_checked)
{
	static const struct {
		const char *text;
		int code;
		const char *reason, *word;
	} cases[] = {
		{"{\"version\": 1, \"rows\": 1}", SHERD_ECORRUPT, "missing-key", "format"},
		{"{\"format\": \"test\", \"version\": 1}", SHERD_ECORRUPT, "missing-key", "rows"},
		{"{\"format\": \"other\"}", SHERD_EUNSUPPORTED, "unknown-format", "other"},
		{"{\"version\": 0}", SHERD_EVERSION, "bad-version", "0"},
		{"{\"version\": 3}", SHERD_EVERSION, "bad-version", "2"},
		{"{\"rows\": -1}", SHERD_ECORRUPT, "bad-number", ""},
		{"{\"width\": 4294967296}", SHERD_ECORRUPT, "bad-number", ""},
		{"{\"ours\": 1}", SHERD_ECORRUPT, "bad-type", ""},
		{"{\"time\": \"noon\"}", SHERD_ECORRUPT, "bad-time", ""},
		{"{\"items\": [\"1\"]}", SHERD_ECORRUPT, "bad-type", ""},
		{"{\"rows\": 1, \"rows\": 1}", SHERD_ECORRUPT, "duplicate-key", ""},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sample s = {0};
		sherd_error e = {0};
		if (decode(cases[i].text, &s, &e) != cases[i].code || strcmp(e.reason, cases[i].reason) != 0 ||
		    !strstr(e.message, cases[i].word))
			fail_msg("%s: %s, %s", cases[i].text, e.reason ? e.reason : "accepted", e.message);
	}
}

TEST(a_document_that_must_be_sealed_is_refused_without)
{
	static const char text[] = "{\"format\": \"test\", \"version\": 1, \"rows\": 1}";
	sample s = {0};
	assert_refused(SHERD_ECORRUPT, "bad-seal", shd_json_sealed(text, sizeof(text) - 1, NULL, members, &s, &s, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_come_in_any_order_and_others_are_skipped),
		cmocka_unit_test(what_must_be_there_and_what_it_must_be_is_checked),
		cmocka_unit_test(a_document_that_must_be_sealed_is_refused_without),
	};
	return cmocka_run_group_tests_name("json_members", tests, NULL, NULL);
}
