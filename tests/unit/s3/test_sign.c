/* AWS's published examples: the test suite of Signature Version 4 and the examples of the S3 documentation. */
#include "s3/sign.h"
#include "support/test.h"

#include "base/error.h"

#include <string.h>

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

typedef struct vector {
	const char *method, *path, *query, *hash;
	sherd_pair headers[6];
	const char *names, *signature;
} vector;

static void assert_signs(const vector *v, const char *date, const char *service, const char *id)
{
	shd_s3_signing s = {.method = v->method,
	                    .path = v->path,
	                    .query = v->query,
	                    .hash = v->hash,
	                    .date = date,
	                    .region = "us-east-1",
	                    .service = service,
	                    .headers = v->headers};
	while (s.count < COUNT_OF(v->headers) && v->headers[s.count].key)
		s.count++;
	shd_s3_text out = {0}, want = {0};
	shd_s3_sign(&out, &s, id,
	            strcmp(service, "s3") == 0 ? "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	                                       : "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
	shd_s3_text_say(&want,
	                "AWS4-HMAC-SHA256 Credential=%s/%.8s/us-east-1/%s/aws4_request, SignedHeaders=%s, Signature=%s",
	                id, date, service, v->names, v->signature);
	assert_string_equal(out.data, want.data);
	shd_s3_text_free(&out);
	shd_s3_text_free(&want);
}

TEST(the_test_suite_of_version_4)
{
#define HOST                                    \
	{                                       \
		"host", "example.amazonaws.com" \
	}
#define DATE                                     \
	{                                        \
		"x-amz-date", "20150830T123600Z" \
	}
	static const vector vectors[] = {
		{"GET",
	         "/",
	         "",
	         EMPTY,
	         {HOST, DATE},
	         "host;x-amz-date",
	         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"GET",
	         "/",
	         "Param1=value1&Param2=value2",
	         EMPTY,
	         {DATE, HOST},
	         "host;x-amz-date",
	         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"GET",
	         "/%E1%88%B4",
	         "",
	         EMPTY,
	         {HOST, DATE},
	         "host;x-amz-date",
	         "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
		{"POST",
	         "/",
	         "",
	         EMPTY,
	         {HOST, DATE},
	         "host;x-amz-date",
	         "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"GET",
	         "/",
	         "",
	         EMPTY,
	         {DATE, {"my-header2", " \"a   b   c\" "}, {"my-header1", "  value1 "}, HOST},
	         "host;my-header1;my-header2;x-amz-date",
	         "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
	};
	for (size_t i = 0; i < COUNT_OF(vectors); i++)
		assert_signs(&vectors[i], "20150830T123600Z", "service", "AKIDEXAMPLE");
#undef HOST
#undef DATE
}

TEST(the_examples_of_s3)
{
#define HOST                                             \
	{                                                \
		"host", "examplebucket.s3.amazonaws.com" \
	}
#define DATE                                     \
	{                                        \
		"x-amz-date", "20130524T000000Z" \
	}
	static const char put_hash[] = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
	static const vector vectors[] = {
		{"GET",
	         "/test.txt",
	         "",
	         EMPTY,
	         {HOST, {"range", "bytes=0-9"}, {"x-amz-content-sha256", EMPTY}, DATE},
	         "host;range;x-amz-content-sha256;x-amz-date",
	         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT",
	         "/test%24file.text",
	         "",
	         put_hash,
	         {HOST,
	          {"date", "Fri, 24 May 2013 00:00:00 GMT"},
	          {"x-amz-content-sha256", put_hash},
	          {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
	          DATE},
	         "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
	         "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET",
	         "/",
	         "lifecycle=",
	         EMPTY,
	         {HOST, {"x-amz-content-sha256", EMPTY}, DATE},
	         "host;x-amz-content-sha256;x-amz-date",
	         "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"GET",
	         "/",
	         "max-keys=2&prefix=J",
	         EMPTY,
	         {HOST, {"x-amz-content-sha256", EMPTY}, DATE},
	         "host;x-amz-content-sha256;x-amz-date",
	         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	};
	for (size_t i = 0; i < COUNT_OF(vectors); i++)
		assert_signs(&vectors[i], "20130524T000000Z", "s3", "AKIAIOSFODNN7EXAMPLE");
	char hash[SHD_S3_HASH_HEX], date[SHD_S3_DATE_TEXT];
	shd_s3_hash("Welcome to Amazon S3.", 21, hash);
	assert_string_equal(hash, put_hash);
	shd_s3_hash(NULL, 0, hash);
	assert_string_equal(hash, EMPTY);
	shd_s3_date(1369353600, date);
	assert_string_equal(date, "20130524T000000Z");
}

TEST(names_are_encoded_as_they_are_signed)
{
	shd_s3_text text = {0};
	shd_s3_text_encode(&text, "a b/\xc3\xa9+=:@%~-._$", true);
	assert_string_equal(text.data, "a%20b/%C3%A9%2B%3D%3A%40%25~-._%24");
	shd_s3_text_clear(&text);
	shd_s3_text_encode(&text, "a/b", false);
	assert_string_equal(text.data, "a%2Fb");
	shd_s3_text_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_test_suite_of_version_4),
		cmocka_unit_test(the_examples_of_s3),
		cmocka_unit_test(names_are_encoded_as_they_are_signed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
