#include "format/tensor/set_claim.h"

#include "codec/json_members.h"

#define CLAIM_FORMAT "sherd-set-saving"

void shd_set_claim_encode(const shd_set_claim *claim, shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key_text(&w, "format", CLAIM_FORMAT);
	shd_json_put_key_u64(&w, "version", 1);
	shd_json_put_key_array(&w, "files", false);
	for (size_t i = 0; i < claim->count; i++) {
		shd_str ending = shd_str_of(claim->endings[i]);
		size_t bad;
		if (shd_utf8_valid(ending.ptr, ending.len, &bad))
			shd_json_put_string(&w, ending);
	}
	shd_json_put_array_end(&w);
	shd_seal_put(&w);
}

typedef struct claim_decoder {
	shd_arena *arena;
	SHD_VEC(const char *) endings;
} claim_decoder;

static int take_ending(void *arg, void *field, shd_json *j, sherd_error *err)
{
	claim_decoder *d = arg;
	shd_str s;
	(void)field;
	TRY(shd_json_string(j, &s, err));
	if (!s.len || memchr(s.ptr, '/', s.len) || memchr(s.ptr, 0, s.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-path", shd_json_offset(j), "not the end of a plain name");
	const char *copy = shd_arena_str(d->arena, s);
	if (!copy)
		return shd_fail_nomem(err);
	shd_vec_push(&d->endings, copy);
	return shd_vec_check(&d->endings, err);
}

static int take_endings(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return shd_json_items(j, take_ending, arg, field, err);
}

static int set_claim_decode(const void *data, size_t len, claim_decoder *d, shd_set_claim *out, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"format", SHD_JSON_FORMAT, .text = CLAIM_FORMAT, .needed = true},
		{"version", SHD_JSON_VERSION_1, .needed = true},
		{"files", .take = take_endings, .needed = true},
		{0},
	};
	TRY(shd_json_sealed(data, len, NULL, members, d, d, err));
	shd_set_claim claim = {.count = d->endings.count};
	if (claim.count)
		claim.endings = shd_vec_copy(&d->endings, d->arena);
	if (claim.count && !claim.endings)
		return shd_fail_nomem(err);
	*out = claim;
	return SHERD_OK;
}

int shd_set_claim_decode(const void *data, size_t len, shd_arena *arena, shd_set_claim *out, sherd_error *err)
{
	claim_decoder d = {.arena = arena};
	int rc = set_claim_decode(data, len, &d, out, err);
	shd_vec_done(&d.endings);
	return rc;
}
