#include "format/tensor/set_claim.h"

#include "codec/seal.h"

#include <inttypes.h>

#define CLAIM_FORMAT "sherd-set-saving"

enum { HAS_FORMAT = 1, HAS_VERSION = 2, HAS_FILES = 4, HAS_ALL = 7 };

void shd_set_claim_encode(const shd_set_claim *claim, shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key(&w, "format");
	shd_json_put_string(&w, SHD_STR(CLAIM_FORMAT));
	shd_json_put_key(&w, "version");
	shd_json_put_u64(&w, 1);
	shd_json_put_key(&w, "files");
	shd_json_put_array(&w, false);
	for (size_t i = 0; i < claim->count; i++) {
		shd_str ending = shd_str_of(claim->endings[i]);
		size_t bad;
		if (shd_utf8_valid(ending.ptr, ending.len, &bad))
			shd_json_put_string(&w, ending);
	}
	shd_json_put_array_end(&w);
	shd_seal_put(&w);
}

typedef SHD_VEC(const char *) ending_vec;

static int take_endings(shd_json *j, shd_arena *arena, ending_vec *out, sherd_error *err)
{
	int rc;
	TRY(shd_json_array(j, err));
	while ((rc = shd_json_item(j, err)) > 0) {
		shd_str s;
		TRY(shd_json_string(j, &s, err));
		if (!s.len || memchr(s.ptr, '/', s.len) || memchr(s.ptr, 0, s.len))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-path", shd_json_offset(j),
			                   "not the end of a plain name");
		const char *copy = shd_arena_str(arena, s);
		if (!copy)
			return shd_fail_nomem(err);
		shd_vec_push(out, copy);
	}
	TRY(rc);
	return shd_vec_check(out, err);
}

static int set_claim_take_member(shd_json *j, shd_str key, shd_arena *arena, ending_vec *endings, unsigned *has,
                                 sherd_error *err)
{
	shd_str s;
	uint64_t version;
	if (shd_str_is(key, "format")) {
		*has |= HAS_FORMAT;
		TRY(shd_json_string(j, &s, err));
		if (!shd_str_is(s, CLAIM_FORMAT))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-claim", shd_json_offset(j),
			                   "not the claim of a set");
		return SHERD_OK;
	}
	if (shd_str_is(key, "version")) {
		*has |= HAS_VERSION;
		TRY(shd_json_u64(j, &version, err));
		if (version != 1)
			return shd_fail_at(err, SHERD_EVERSION, "bad-version", shd_json_offset(j),
			                   "version %" PRIu64 ", only 1 is known", version);
		return SHERD_OK;
	}
	if (shd_str_is(key, "files")) {
		*has |= HAS_FILES;
		return take_endings(j, arena, endings, err);
	}
	return shd_json_skip(j, err);
}

static int set_claim_decode(const void *data, size_t len, shd_arena *arena, ending_vec *endings, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	unsigned has = 0;
	shd_str key;
	int rc;
	if (shd_seal_check(data, len) != SHD_SEAL_GOOD)
		return shd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document does not end with the hash of itself");
	TRY(shd_json_open(&j, data, len, NULL, err));
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(set_claim_take_member(j, key, arena, endings, &has, err));
	TRY(rc);
	TRY(shd_json_end(j, err));
	if (has != HAS_ALL)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key", "a claim needs format, version and files");
	return SHERD_OK;
}

int shd_set_claim_decode(const void *data, size_t len, shd_arena *arena, shd_set_claim *out, sherd_error *err)
{
	SHD_AUTO_VEC ending_vec endings = {0};
	TRY(set_claim_decode(data, len, arena, &endings, err));
	shd_set_claim claim = {.count = endings.count};
	if (claim.count) {
		claim.endings = shd_vec_copy(&endings, arena);
		if (!claim.endings)
			return shd_fail_nomem(err);
	}
	*out = claim;
	return SHERD_OK;
}
