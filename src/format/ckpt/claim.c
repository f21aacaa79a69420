#include "format/ckpt/claim.h"

#include "base/time.h"
#include "codec/seal.h"
#include "codec/sha256.h"

void sherd_ckpt_claim_encode(const sherd_ckpt_claim *claim, sherd_buf *out)
{
	char id[SHERD_SET_ID_TEXT], when[SHERD_TIME_TEXT];
	sherd_json_writer w;
	sherd_set_id_format(&claim->set_id, id);
	sherd_time_format(claim->time_ns, when);
	sherd_json_writer_init(&w, out);
	sherd_json_put_object(&w, false);
	sherd_json_put_key(&w, "setId");
	sherd_json_put_string(&w, sherd_str_of(id));
	sherd_json_put_key(&w, "worldSize");
	sherd_json_put_u64(&w, claim->world);
	sherd_json_put_key(&w, "removing");
	sherd_json_put_bool(&w, claim->removing);
	sherd_json_put_key(&w, "repairing");
	sherd_json_put_bool(&w, claim->repairing);
	sherd_json_put_key(&w, "replace");
	sherd_json_put_bool(&w, claim->replace);
	sherd_json_put_key(&w, "namedBySet");
	sherd_json_put_bool(&w, claim->named_by_set);
	sherd_json_put_key(&w, "csharp");
	sherd_json_put_bool(&w, claim->csharp);
	sherd_json_put_key(&w, "byRanks");
	sherd_json_put_bool(&w, claim->by_ranks);
	if (claim->source[0]) {
		sherd_json_put_key(&w, "source");
		sherd_json_put_string(&w, sherd_str_of(claim->source));
	}
	sherd_json_put_key(&w, "timestamp");
	sherd_json_put_string(&w, sherd_str_of(when));
	sherd_json_put_key(&w, "host");
	sherd_json_put_string(&w, sherd_str_of(claim->host));
	sherd_json_put_key(&w, "process");
	sherd_json_put_u64(&w, claim->process);
	sherd_seal_put(&w);
}

/* As much of it as there is room for. */
static int take_text(sherd_json *j, char *out, size_t room, sherd_error *err)
{
	sherd_str s;
	TRY(sherd_json_string(j, &s, err));
	size_t n = s.len < room - 1 ? s.len : room - 1;
	memcpy(out, s.ptr, n);
	out[n] = 0;
	return SHERD_OK;
}

static int take_member(sherd_json *j, sherd_str key, sherd_ckpt_claim *c, bool *has_id, sherd_error *err)
{
	sherd_str s;
	if (sherd_str_is(key, "worldSize"))
		return sherd_json_u32(j, &c->world, err);
	if (sherd_str_is(key, "removing"))
		return sherd_json_bool(j, &c->removing, err);
	if (sherd_str_is(key, "repairing"))
		return sherd_json_bool(j, &c->repairing, err);
	if (sherd_str_is(key, "replace"))
		return sherd_json_bool(j, &c->replace, err);
	if (sherd_str_is(key, "namedBySet"))
		return sherd_json_bool(j, &c->named_by_set, err);
	if (sherd_str_is(key, "csharp"))
		return sherd_json_bool(j, &c->csharp, err);
	if (sherd_str_is(key, "byRanks"))
		return sherd_json_bool(j, &c->by_ranks, err);
	if (sherd_str_is(key, "source"))
		return take_text(j, c->source, sizeof(c->source), err);
	if (sherd_str_is(key, "process"))
		return sherd_json_u64(j, &c->process, err);
	if (sherd_str_is(key, "host"))
		return take_text(j, c->host, sizeof(c->host), err);
	if (sherd_str_is(key, "timestamp")) {
		TRY(sherd_json_string(j, &s, err));
		if (!sherd_time_parse(s, &c->time_ns))
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-time", sherd_json_offset(j),
			                     "timestamp is no time");
		return SHERD_OK;
	}
	if (sherd_str_is(key, "setId")) {
		TRY(sherd_json_string(j, &s, err));
		*has_id = sherd_unhex(s.ptr, s.len, c->set_id.bytes, sizeof(c->set_id.bytes));
		return SHERD_OK;
	}
	return sherd_json_skip(j, err);
}

static int decode(sherd_json *j, sherd_ckpt_claim *c, sherd_error *err)
{
	bool has_id = false;
	sherd_str key;
	int rc;
	TRY(sherd_json_object(j, err));
	while ((rc = sherd_json_key(j, &key, err)) > 0)
		TRY(take_member(j, key, c, &has_id, err));
	TRY(rc);
	TRY(sherd_json_end(j, err));
	if (!has_id || !c->world)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-claim", 0, "the claim names no set or no world size");
	return SHERD_OK;
}

int sherd_ckpt_claim_decode(const char *text, size_t len, sherd_ckpt_claim *out, sherd_error *err)
{
	sherd_ckpt_claim c = {0};
	sherd_json *j = NULL;
	if (sherd_seal_check(text, len) != SHERD_SEAL_GOOD)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-seal", 0, "the claim does not match the hash of itself");
	int rc = sherd_json_open(&j, text, len, NULL, err);
	if (rc == SHERD_OK)
		rc = decode(j, &c, err);
	if (rc == SHERD_OK)
		*out = c;
	sherd_json_close(j);
	return rc;
}
