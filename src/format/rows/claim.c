#include "format/rows/claim.h"

#include "base/time.h"
#include "codec/json_members.h"

#define CLAIM_FORMAT "sherd-rows-packing"

void shd_rows_claim_encode(const shd_rows_claim *claim, shd_buf *out)
{
	shd_json_writer w;
	char when[SHD_TIME_TEXT];
	shd_time_format(claim->time_ns, when);
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key_text(&w, "format", CLAIM_FORMAT);
	shd_json_put_key_u64(&w, "version", 1);
	shd_json_put_key_text(&w, "timestamp", when);
	shd_json_put_key_text(&w, "host", claim->host);
	shd_json_put_key_u64(&w, "process", claim->process);
	if (claim->has_first) {
		shd_json_put_key_u64(&w, "first", claim->first);
	}
	shd_seal_put(&w);
}

/* A name without room for it is left out. */
static int rows_claim_take_host(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rows_claim *m = arg;
	shd_str s;
	(void)field;
	TRY(shd_json_string(j, &s, err));
	size_t n = s.len < sizeof(m->host) ? s.len : 0;
	memcpy(m->host, n ? s.ptr : "", n);
	m->host[n] = 0;
	return SHERD_OK;
}

static int rows_claim_take_first(void *arg, void *field, shd_json *j, sherd_error *err)
{
	((shd_rows_claim *)arg)->has_first = true;
	return shd_json_u32(j, field, err);
}

int shd_rows_claim_decode(const void *data, size_t len, shd_rows_claim *out, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"format", SHD_JSON_FORMAT, .text = CLAIM_FORMAT, .needed = true},
		{"version", SHD_JSON_VERSION_1},
		{"process", SHD_JSON_U64, offsetof(shd_rows_claim, process)},
		{"first", .take = rows_claim_take_first, .at = offsetof(shd_rows_claim, first)},
		{"timestamp", SHD_JSON_TIME, offsetof(shd_rows_claim, time_ns)},
		{"host", .take = rows_claim_take_host},
		{0},
	};
	shd_rows_claim m = {0};
	TRY(shd_json_sealed(data, len, NULL, members, &m, &m, err));
	*out = m;
	return SHERD_OK;
}
