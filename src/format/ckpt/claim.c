#include "format/ckpt/claim.h"

#include "base/time.h"
#include "codec/seal.h"
#include "codec/sha256.h"

void shd_ckpt_claim_encode(const shd_ckpt_claim *claim, shd_buf *out)
{
	char id[SHERD_SET_ID_TEXT], when[SHD_TIME_TEXT];
	shd_json_writer w;
	sherd_set_id_format(id, &claim->set_id);
	shd_time_format(claim->time_ns, when);
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key_text(&w, "setId", id);
	shd_json_put_key_u64(&w, "worldSize", claim->world);
	shd_json_put_key_bool(&w, "removing", claim->removing);
	shd_json_put_key_bool(&w, "repairing", claim->repairing);
	shd_json_put_key_bool(&w, "replace", claim->replace);
	shd_json_put_key_bool(&w, "namedBySet", claim->named_by_set);
	shd_json_put_key_bool(&w, "csharp", claim->csharp);
	shd_json_put_key_bool(&w, "byRanks", claim->by_ranks);
	if (claim->source[0])
		shd_json_put_key_text(&w, "source", claim->source);
	if (claim->has_base)
		shd_json_put_key_text(&w, "base", claim->base);
	if (claim->has_base_identity)
		shd_json_put_key_text(&w, "baseIdentity", claim->base_identity);
	shd_json_put_key_text(&w, "timestamp", when);
	shd_json_put_key_text(&w, "host", claim->host);
	shd_json_put_key_u64(&w, "process", claim->process);
	shd_seal_put(&w);
}

/* As much of it as there is room for. */
static int ckpt_claim_take_text(shd_json *j, char *out, size_t room, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	size_t n = s.len < room - 1 ? s.len : room - 1;
	memcpy(out, s.ptr, n);
	out[n] = 0;
	return SHERD_OK;
}

static int ckpt_claim_take_member(shd_json *j, shd_str key, shd_ckpt_claim *c, bool *has_id, sherd_error *err)
{
	shd_str s;
	if (shd_str_is(key, "worldSize"))
		return shd_json_u32(j, &c->world, err);
	if (shd_str_is(key, "removing"))
		return shd_json_bool(j, &c->removing, err);
	if (shd_str_is(key, "repairing"))
		return shd_json_bool(j, &c->repairing, err);
	if (shd_str_is(key, "replace"))
		return shd_json_bool(j, &c->replace, err);
	if (shd_str_is(key, "namedBySet"))
		return shd_json_bool(j, &c->named_by_set, err);
	if (shd_str_is(key, "csharp"))
		return shd_json_bool(j, &c->csharp, err);
	if (shd_str_is(key, "byRanks"))
		return shd_json_bool(j, &c->by_ranks, err);
	if (shd_str_is(key, "source"))
		return ckpt_claim_take_text(j, c->source, sizeof(c->source), err);
	if (shd_str_is(key, "base")) {
		c->has_base = true;
		return ckpt_claim_take_text(j, c->base, sizeof(c->base), err);
	}
	if (shd_str_is(key, "baseIdentity")) {
		c->has_base_identity = true;
		return ckpt_claim_take_text(j, c->base_identity, sizeof(c->base_identity), err);
	}
	if (shd_str_is(key, "process"))
		return shd_json_u64(j, &c->process, err);
	if (shd_str_is(key, "host"))
		return ckpt_claim_take_text(j, c->host, sizeof(c->host), err);
	if (shd_str_is(key, "timestamp")) {
		TRY(shd_json_string(j, &s, err));
		if (!shd_time_parse(s, &c->time_ns))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-time", shd_json_offset(j), "timestamp is no time");
		return SHERD_OK;
	}
	if (shd_str_is(key, "setId")) {
		TRY(shd_json_string(j, &s, err));
		*has_id = shd_unhex(s.ptr, s.len, c->set_id.bytes, sizeof(c->set_id.bytes));
		return SHERD_OK;
	}
	return shd_json_skip(j, err);
}

static int ckpt_claim_decode(shd_json *j, shd_ckpt_claim *c, sherd_error *err)
{
	bool has_id = false;
	shd_str key;
	int rc;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0)
		TRY(ckpt_claim_take_member(j, key, c, &has_id, err));
	TRY(rc);
	TRY(shd_json_end(j, err));
	if (!has_id || !c->world)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-claim", 0, "the claim names no set or no world size");
	return SHERD_OK;
}

int shd_ckpt_claim_decode(const char *text, size_t len, shd_ckpt_claim *out, sherd_error *err)
{
	shd_ckpt_claim c = {0};
	shd_json *j = NULL;
	if (shd_seal_check(text, len) != SHD_SEAL_GOOD)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-seal", 0, "the claim does not match the hash of itself");
	int rc = shd_json_open(&j, text, len, NULL, err);
	if (rc == SHERD_OK)
		rc = ckpt_claim_decode(j, &c, err);
	if (rc == SHERD_OK)
		*out = c;
	shd_json_close(j);
	return rc;
}
