#include "format/rows/marker.h"

#include "base/time.h"
#include "codec/json.h"
#include "codec/seal.h"

#include <inttypes.h>

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

#define MARKER_FORMAT "sherd-rows-packing"

static void put_text(sherd_json_writer *w, const char *key, const char *text)
{
	sherd_json_put_key(w, key);
	sherd_json_put_string(w, sherd_str_of(text));
}

void sherd_rows_marker_encode(const sherd_rows_marker *marker, sherd_buf *out)
{
	sherd_json_writer w;
	char when[SHERD_TIME_TEXT];
	sherd_time_format(marker->time_ns, when);
	sherd_json_writer_init(&w, out);
	sherd_json_put_object(&w, false);
	put_text(&w, "format", MARKER_FORMAT);
	sherd_json_put_key(&w, "version");
	sherd_json_put_u64(&w, 1);
	put_text(&w, "timestamp", when);
	put_text(&w, "host", marker->host);
	sherd_json_put_key(&w, "process");
	sherd_json_put_u64(&w, marker->process);
	if (marker->has_first) {
		sherd_json_put_key(&w, "first");
		sherd_json_put_u64(&w, marker->first);
	}
	sherd_seal_put(&w);
}

static int expect_format(sherd_json *j, sherd_error *err)
{
	sherd_str s;
	TRY(sherd_json_string(j, &s, err));
	if (!sherd_str_is(s, MARKER_FORMAT))
		return sherd_fail_at(err, SHERD_EUNSUPPORTED, "unknown-format", sherd_json_offset(j), "%.*s, not %s",
		                     s.len > 64 ? 64 : (int)s.len, s.len ? s.ptr : "", MARKER_FORMAT);
	return SHERD_OK;
}

static int expect_version_1(sherd_json *j, sherd_error *err)
{
	uint64_t version;
	TRY(sherd_json_u64(j, &version, err));
	if (version != 1)
		return sherd_fail_at(err, SHERD_EVERSION, "bad-version", sherd_json_offset(j),
		                     "version %" PRIu64 ", only 1 is known", version);
	return SHERD_OK;
}

static int take_member(sherd_json *j, sherd_str key, sherd_rows_marker *m, bool *has_format, sherd_error *err)
{
	sherd_str s;
	if (sherd_str_is(key, "format")) {
		*has_format = true;
		return expect_format(j, err);
	}
	if (sherd_str_is(key, "version"))
		return expect_version_1(j, err);
	if (sherd_str_is(key, "process"))
		return sherd_json_u64(j, &m->process, err);
	if (sherd_str_is(key, "first")) {
		m->has_first = true;
		return sherd_json_u32(j, &m->first, err);
	}
	if (sherd_str_is(key, "timestamp")) {
		TRY(sherd_json_string(j, &s, err));
		if (!sherd_time_parse(s, &m->time_ns))
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-time", sherd_json_offset(j),
			                     "timestamp is no time");
		return SHERD_OK;
	}
	if (sherd_str_is(key, "host")) {
		TRY(sherd_json_string(j, &s, err));
		size_t n = s.len < sizeof(m->host) ? s.len : 0;
		memcpy(m->host, n ? s.ptr : "", n);
		m->host[n] = 0;
		return SHERD_OK;
	}
	return sherd_json_skip(j, err);
}

int sherd_rows_marker_decode(const void *data, size_t len, sherd_rows_marker *out, sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) j = NULL;
	sherd_rows_marker m = {0};
	bool has_format = false;
	sherd_str key;
	int rc;
	if (sherd_seal_check(data, len) != SHERD_SEAL_GOOD)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document does not end with the hash of itself");
	TRY(sherd_json_open(&j, data, len, NULL, err));
	TRY(sherd_json_object(j, err));
	while ((rc = sherd_json_key(j, &key, err)) > 0)
		TRY(take_member(j, key, &m, &has_format, err));
	TRY(rc);
	TRY(sherd_json_end(j, err));
	if (!has_format)
		return sherd_fail(err, SHERD_ECORRUPT, "missing-key", "the marker has no format");
	*out = m;
	return SHERD_OK;
}
