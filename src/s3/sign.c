#include "sign.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_BYTES = 32 };

static void sign_hex(const unsigned char *bytes, char out[SHD_S3_HASH_HEX])
{
	for (size_t i = 0; i < HASH_BYTES; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void shd_s3_hash(const void *data, size_t len, char out[SHD_S3_HASH_HEX])
{
	unsigned char hash[HASH_BYTES] = {0};
	(void)EVP_Digest(len ? data : "", len, hash, NULL, EVP_sha256(), NULL);
	sign_hex(hash, out);
}

void shd_s3_date(time_t when, char out[SHD_S3_DATE_TEXT])
{
	struct tm t = {0};
	(void)gmtime_r(&when, &t);
	(void)strftime(out, SHD_S3_DATE_TEXT, "%Y%m%dT%H%M%SZ", &t);
}

static void keyed_hash(const unsigned char *key, size_t key_len, const char *text, unsigned char out[HASH_BYTES])
{
	unsigned char hash[HASH_BYTES] = {0};
	(void)HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text, strlen(text), hash, NULL);
	memcpy(out, hash, HASH_BYTES);
	explicit_bzero(hash, sizeof(hash));
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const sherd_pair *)a)->key, ((const sherd_pair *)b)->key);
}

/* Adds a value as it is signed: without spaces around it, and with one where there were several. */
static void add_trimmed(shd_s3_text *out, const char *value)
{
	while (*value == ' ')
		value++;
	size_t end = strlen(value);
	while (end > 0 && value[end - 1] == ' ')
		end--;
	for (size_t i = 0; i < end; i++)
		if (value[i] != ' ' || value[i + 1] != ' ')
			shd_s3_text_add(out, value + i, 1);
}

static void add_names(shd_s3_text *out, const sherd_pair *headers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		shd_s3_text_say(out, "%s%s", i ? ";" : "", headers[i].key);
}

static void request_hash(const shd_s3_signing *s, const sherd_pair *headers, char out[SHD_S3_HASH_HEX])
{
	shd_s3_text text = {0};
	shd_s3_text_say(&text, "%s\n%s\n%s\n", s->method, s->path, s->query);
	for (size_t i = 0; i < s->count; i++) {
		shd_s3_text_say(&text, "%s:", headers[i].key);
		add_trimmed(&text, headers[i].value);
		shd_s3_text_add(&text, "\n", 1);
	}
	shd_s3_text_add(&text, "\n", 1);
	add_names(&text, headers, s->count);
	shd_s3_text_say(&text, "\n%s", s->hash);
	shd_s3_hash(text.data, text.len, out);
	shd_s3_text_free(&text);
}

void shd_s3_sign(shd_s3_text *out, const shd_s3_signing *s, const char *id, const char *secret)
{
	sherd_pair headers[SHD_S3_MOST_SIGNED];
	char hash[SHD_S3_HASH_HEX], scope[160], signature[SHD_S3_HASH_HEX];
	memcpy(headers, s->headers, s->count * sizeof(*headers));
	qsort(headers, s->count, sizeof(*headers), compare_names);
	request_hash(s, headers, hash);
	(void)snprintf(scope, sizeof(scope), "%.8s/%s/%s/aws4_request", s->date, s->region, s->service);
	shd_s3_text first = {0}, text = {0};
	unsigned char key[HASH_BYTES];
	char day[9];
	(void)snprintf(day, sizeof(day), "%.8s", s->date);
	shd_s3_text_say(&first, "AWS4%s", secret);
	keyed_hash((const unsigned char *)shd_s3_text_of(&first), first.len, day, key);
	keyed_hash(key, sizeof(key), s->region, key);
	keyed_hash(key, sizeof(key), s->service, key);
	keyed_hash(key, sizeof(key), "aws4_request", key);
	shd_s3_text_say(&text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", s->date, scope, hash);
	keyed_hash(key, sizeof(key), shd_s3_text_of(&text), key);
	sign_hex(key, signature);
	shd_s3_text_say(out, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=", id, scope);
	add_names(out, headers, s->count);
	shd_s3_text_say(out, ", Signature=%s", signature);
	explicit_bzero(key, sizeof(key));
	out->failed = out->failed || first.failed || text.failed;
	shd_s3_text_free(&first);
	shd_s3_text_free(&text);
}
