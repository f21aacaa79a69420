#include "format/tensor/set_claim.h"

#include "codec/seal.h"

#include <inttypes.h>

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

#define CLAIM_FORMAT "sherd-set-saving"

enum { HAS_FORMAT = 1, HAS_VERSION = 2, HAS_FILES = 4, HAS_ALL = 7 };

void sherd_set_claim_encode(const sherd_set_claim *claim, sherd_buf *out)
{
	sherd_json_writer w;
	sherd_json_writer_init(&w, out);
	sherd_json_put_object(&w, false);
	sherd_json_put_key(&w, "format");
	sherd_json_put_string(&w, SHERD_STR(CLAIM_FORMAT));
	sherd_json_put_key(&w, "version");
	sherd_json_put_u64(&w, 1);
	sherd_json_put_key(&w, "files");
	sherd_json_put_array(&w, false);
	for (size_t i = 0; i < claim->count; i++) {
		sherd_str ending = sherd_str_of(claim->endings[i]);
		size_t bad;
		if (sherd_utf8_valid(ending.ptr, ending.len, &bad))
			sherd_json_put_string(&w, ending);
	}
	sherd_json_put_array_end(&w);
	sherd_seal_put(&w);
}

static int take_endings(sherd_json *j, sherd_arena *arena, sherd_buf *out, sherd_error *err)
{
	int rc;
	TRY(sherd_json_array(j, err));
	while ((rc = sherd_json_item(j, err)) > 0) {
		sherd_str s;
		TRY(sherd_json_string(j, &s, err));
		if (!s.len || memchr(s.ptr, '/', s.len) || memchr(s.ptr, 0, s.len))
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-path", sherd_json_offset(j),
			                     "not the end of a plain name");
		const char *copy = sherd_arena_str(arena, s);
		if (!copy)
			return sherd_fail_nomem(err);
		sherd_buf_append(out, &copy, sizeof(copy));
	}
	TRY(rc);
	return sherd_buf_check(out, err);
}

static int take_member(sherd_json *j, sherd_str key, sherd_arena *arena, sherd_buf *endings, unsigned *has,
                       sherd_error *err)
{
	sherd_str s;
	uint64_t version;
	if (sherd_str_is(key, "format")) {
		*has |= HAS_FORMAT;
		TRY(sherd_json_string(j, &s, err));
		if (!sherd_str_is(s, CLAIM_FORMAT))
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-claim", sherd_json_offset(j),
			                     "not the claim of a set");
		return SHERD_OK;
	}
	if (sherd_str_is(key, "version")) {
		*has |= HAS_VERSION;
		TRY(sherd_json_u64(j, &version, err));
		if (version != 1)
			return sherd_fail_at(err, SHERD_EVERSION, "bad-version", sherd_json_offset(j),
			                     "version %" PRIu64 ", only 1 is known", version);
		return SHERD_OK;
	}
	if (sherd_str_is(key, "files")) {
		*has |= HAS_FILES;
		return take_endings(j, arena, endings, err);
	}
	return sherd_json_skip(j, err);
}

static int decode(const void *data, size_t len, sherd_arena *arena, sherd_buf *endings, sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) j = NULL;
	unsigned has = 0;
	sherd_str key;
	int rc;
	if (sherd_seal_check(data, len) != SHERD_SEAL_GOOD)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document does not end with the hash of itself");
	TRY(sherd_json_open(&j, data, len, NULL, err));
	TRY(sherd_json_object(j, err));
	while ((rc = sherd_json_key(j, &key, err)) > 0)
		TRY(take_member(j, key, arena, endings, &has, err));
	TRY(rc);
	TRY(sherd_json_end(j, err));
	if (has != HAS_ALL)
		return sherd_fail(err, SHERD_ECORRUPT, "missing-key", "a claim needs format, version and files");
	return SHERD_OK;
}

int sherd_set_claim_decode(const void *data, size_t len, sherd_arena *arena, sherd_set_claim *out, sherd_error *err)
{
	SHERD_AUTO_BUF endings = {0}; /* of const char * */
	TRY(decode(data, len, arena, &endings, err));
	sherd_set_claim claim = {.count = endings.len / sizeof(char *)};
	if (claim.count) {
		claim.endings = sherd_arena_copy(arena, endings.data, endings.len);
		if (!claim.endings)
			return sherd_fail_nomem(err);
	}
	*out = claim;
	return SHERD_OK;
}
