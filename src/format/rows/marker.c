#include "format/rows/marker.h"

#include "base/time.h"
#include "codec/json.h"
#include "codec/seal.h"

#include <inttypes.h>

#define MARKER_FORMAT "sherd-rows-packing"

static void marker_put_text(shd_json_writer *w, const char *key, const char *text)
{
	shd_json_put_key(w, key);
	shd_json_put_string(w, shd_str_of(text));
}

void shd_rows_marker_encode(const shd_rows_marker *marker, shd_buf *out)
{
	shd_json_writer w;
	char when[SHD_TIME_TEXT];
	shd_time_format(marker->time_ns, when);
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	marker_put_text(&w, "format", MARKER_FORMAT);
	shd_json_put_key(&w, "version");
	shd_json_put_u64(&w, 1);
	marker_put_text(&w, "timestamp", when);
	marker_put_text(&w, "host", marker->host);
	shd_json_put_key(&w, "process");
	shd_json_put_u64(&w, marker->process);
	if (marker->has_first) {
		shd_json_put_key(&w, "first");
		shd_json_put_u64(&w, marker->first);
	}
	shd_seal_put(&w);
}

static int expect_format(shd_json *j, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (!shd_str_is(s, MARKER_FORMAT))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "unknown-format", shd_json_offset(j), "%.*s, not %s",
		                   s.len > 64 ? 64 : (int)s.len, s.len ? s.ptr : "", MARKER_FORMAT);
	return SHERD_OK;
}

static int expect_version_1(shd_json *j, sherd_error *err)
{
	uint64_t version;
	TRY(shd_json_u64(j, &version, err));
	if (version != 1)
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", shd_json_offset(j),
		                   "version %" PRIu64 ", only 1 is known", version);
	return SHERD_OK;
}

static int marker_take_member(shd_json *j, shd_str key, shd_rows_marker *m, bool *has_format, sherd_error *err)
{
	shd_str s;
	if (shd_str_is(key, "format")) {
		*has_format = true;
		return expect_format(j, err);
	}
	if (shd_str_is(key, "version"))
		return expect_version_1(j, err);
	if (shd_str_is(key, "process"))
		return shd_json_u64(j, &m->process, err);
	if (shd_str_is(key, "first")) {
		m->has_first = true;
		return shd_json_u32(j, &m->first, err);
	}
	if (shd_str_is(key, "timestamp")) {
		TRY(shd_json_string(j, &s, err));
		if (!shd_time_parse(s, &m->time_ns))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-time", shd_json_offset(j), "timestamp is no time");
		return SHERD_OK;
	}
	if (shd_str_is(key, "host")) {
		TRY(shd_json_string(j, &s, err));
		size_t n = s.len < sizeof(m->host) ? s.len : 0;
		memcpy(m->host, n ? s.ptr : "", n);
		m->host[n] = 0;
		return SHERD_OK;
	}
	return shd_json_skip(j, err);
}

int shd_rows_marker_decode(const void *data, size_t len, shd_rows_marker *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	shd_rows_marker m = {0};
	bool has_format = false;
	shd_str key;
	int rc;
	if (shd_seal_check(data, len) != SHD_SEAL_GOOD)
		return shd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document does not end with the hash of itself");
	TRY(shd_json_open(&j, data, len, NULL, err));
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(marker_take_member(j, key, &m, &has_format, err));
	TRY(rc);
	TRY(shd_json_end(j, err));
	if (!has_format)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key", "the marker has no format");
	*out = m;
	return SHERD_OK;
}
