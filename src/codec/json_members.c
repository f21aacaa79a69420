#include "codec/json_members.h"

#include "base/time.h"
#include "codec/sha256.h"

#include <inttypes.h>

static int take_time(shd_json *j, int64_t *out, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (!shd_time_parse(s, out))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-time", shd_json_offset(j), "timestamp is no time");
	return SHERD_OK;
}

static int take_sha256(shd_json *j, uint8_t *out, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (!shd_unhex(s.ptr, s.len, out, SHD_SHA256_BYTES))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(j),
		                   "a SHA-256 is 64 lower-case hexadecimal digits");
	return SHERD_OK;
}

static int take_format(shd_json *j, const char *want, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (!shd_str_is(s, want))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "unknown-format", shd_json_offset(j), "%.*s, not %s",
		                   s.len > 64 ? 64 : (int)s.len, s.len ? s.ptr : "", want);
	return SHERD_OK;
}

static int take_version(shd_json *j, uint32_t most, uint32_t *out, sherd_error *err)
{
	uint64_t version;
	TRY(shd_json_u64(j, &version, err));
	if (!version || version > most)
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", shd_json_offset(j),
		                   "version %" PRIu64 ", the newest that is known is %" PRIu32, version, most);
	*out = (uint32_t)version;
	return SHERD_OK;
}

static int take_member(shd_json *j, const shd_json_member *m, void *arg, void *field, sherd_error *err)
{
	uint32_t version;
	switch (m->value) {
	case SHD_JSON_BY_FN: return m->take(arg, field, j, err);
	case SHD_JSON_U64: return shd_json_u64(j, field, err);
	case SHD_JSON_U32: return shd_json_u32(j, field, err);
	case SHD_JSON_BOOL: return shd_json_bool(j, field, err);
	case SHD_JSON_TIME: return take_time(j, field, err);
	case SHD_JSON_SHA256: return take_sha256(j, field, err);
	case SHD_JSON_FORMAT: return take_format(j, m->text, err);
	case SHD_JSON_VERSION: return take_version(j, m->most, field, err);
	case SHD_JSON_VERSION_1: return take_version(j, 1, &version, err);
	}
	return shd_json_skip(j, err);
}

int shd_json_members(shd_json *j, const shd_json_member *members, void *arg, void *out, sherd_error *err)
{
	uint64_t had = 0;
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	uint64_t where = shd_json_offset(j);
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		const shd_json_member *m = members;
		while (m->key && !shd_str_is(key, m->key))
			m++;
		if (m->key)
			had |= UINT64_C(1) << (m - members);
		TRY(m->key ? take_member(j, m, arg, (uint8_t *)out + m->at, err) : shd_json_skip(j, err));
	}
	TRY(rc);
	for (size_t i = 0; members[i].key; i++)
		if (members[i].needed && !(had >> i & 1))
			return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", where, "\"%s\" is missing",
			                   members[i].key);
	return SHERD_OK;
}

int shd_json_document(const void *data, size_t len, const sherd_limits *limits, const shd_json_member *members,
                      void *arg, void *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	TRY(shd_json_open(&j, data, len, limits, err));
	TRY(shd_json_members(j, members, arg, out, err));
	return shd_json_end(j, err);
}

int shd_json_sealed(const void *data, size_t len, const sherd_limits *limits, const shd_json_member *members, void *arg,
                    void *out, sherd_error *err)
{
	if (shd_seal_check(data, len) != SHD_SEAL_GOOD)
		return shd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document does not end with the hash of itself");
	return shd_json_document(data, len, limits, members, arg, out, err);
}

int shd_json_items(shd_json *j, shd_json_take_fn *take, void *arg, void *field, sherd_error *err)
{
	int rc;
	TRY(shd_json_array(j, err));
	while ((rc = shd_json_item(j, err)) > 0)
		TRY(take(arg, field, j, err));
	return rc;
}
