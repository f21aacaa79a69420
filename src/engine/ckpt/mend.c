/* engine/ckpt/mend.c - pieces that are damaged, and copies of them that can stand in. */
#include "engine/ckpt/ckpt.h"

#include <string.h>

static bool is_damage(int rc)
{
	return rc == SHERD_ECORRUPT || rc == SHERD_EIO;
}

static int check_piece(const sherd_ckpt *c, const sherd_ckpt_piece *p, shd_meter *meter, sherd_error *err)
{
	TRY(shd_meter_ask(meter, err));
	for (uint64_t at = 0; at < p->bytes; at += SHD_CKPT_BLOCK) {
		uint64_t end = p->bytes - at < SHD_CKPT_BLOCK ? p->bytes : at + SHD_CKPT_BLOCK;
		TRY(shd_ckpt_prove(c, p, at, end, err));
		TRY(shd_meter_add(meter, end - at, err));
	}
	return SHERD_OK;
}

static bool same_dims(const uint64_t *a, const uint64_t *b, uint32_t ndim)
{
	return !ndim || memcmp(a, b, ndim * sizeof(*a)) == 0;
}

/* Does the entry describe the same part of the same tensor? Type and whole shape were compared before. */
static bool is_copy(const shd_ckpt_entry *e, const sherd_tensor *t, const sherd_ckpt_piece *p)
{
	bool same_place = p->at ? e->global_offset && same_dims(e->global_offset, p->at, t->ndim) : true;
	return e->tensor.bytes == p->bytes && same_place && same_dims(e->tensor.shape, p->shape, t->ndim) &&
	       strcmp(e->tensor.name, t->name) == 0;
}

/* Puts a copy in the place of the piece. */
static int find_copy(const sherd_ckpt *c, const sherd_tensor *t, sherd_ckpt_piece *p, shd_meter *meter, bool *found,
                     sherd_error *err)
{
	*found = false;
	for (size_t s = 0; s < c->shard_count; s++) {
		const shd_ckpt_meta_shard *m = &c->meta.shards[s];
		for (size_t i = 0; s != p->shard && c->files[s].reader && i < m->count; i++) {
			sherd_ckpt_piece copy = *p;
			if (!is_copy(&m->entries[i], t, p))
				continue;
			copy.shard = (uint32_t)s;
			copy.entry = (uint32_t)i;
			copy.offset = m->entries[i].offset;
			int rc = check_piece(c, &copy, meter, err);
			*found = rc == SHERD_OK;
			if (*found)
				*p = copy;
			if (*found || !is_damage(rc))
				return rc;
		}
	}
	return SHERD_OK;
}

int shd_ckpt_mend(sherd_ckpt *c, size_t tensor, shd_meter *meter, bool *whole, sherd_error *damage, sherd_error *err)
{
	*whole = true;
	for (size_t i = c->first_piece[tensor]; i < c->first_piece[tensor + 1] && *whole; i++) {
		sherd_error found = {0};
		int rc = check_piece(c, &c->pieces[i], meter, &found);
		if (rc == SHERD_OK)
			continue;
		if (!is_damage(rc))
			return shd_pass(err, rc, &found);
		if (!damage->code)
			*damage = found;
		TRY(find_copy(c, &c->tensors[tensor], &c->pieces[i], meter, whole, err));
	}
	return SHERD_OK;
}
