#include "proof.h"

#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 20 }; /* bytes that are held at a time, unless one UTF8 tensor is larger */

static int prove_all(sherd_cli *cli, const sherd_place *place, sherd_error *err)
{
	sherd_report *report;
	sherd_verify_options options = {.pool = cli->pool, .progress = &cli->progress};
	TRY(sherd_verify(&report, place->store, place->key, &options, err));
	int rc = SHERD_OK;
	if (sherd_report_errors(report)) {
		*err = *sherd_report_error(report, 0);
		rc = err->code;
	}
	sherd_report_close(report);
	sherd_out_clear_bar(&cli->out);
	return rc;
}

typedef struct proving {
	sherd_cli *cli;
	const sherd_ckpt *ckpt;
	uint8_t *buf;
	size_t room;
} proving;

static int prove_box(proving *p, size_t tensor, const uint64_t *at, const uint64_t *shape, uint64_t bytes,
                     sherd_error *err)
{
	if (bytes > p->room) {
		uint8_t *more = realloc(p->buf, (size_t)bytes);
		if (!more)
			return sherd_cli_no_memory(err);
		p->buf = more;
		p->room = (size_t)bytes;
	}
	sherd_ckpt_want want = {.tensor = tensor, .at = at, .shape = shape, .buf = p->buf};
	sherd_ckpt_load_options options = {.pool = p->cli->pool, .progress = &p->cli->progress};
	return sherd_ckpt_load(p->ckpt, &want, 1, &options, err);
}

/* The box in parts of at most CHUNK bytes: single indices of the dimensions before `dim`, runs of that one, all of the
 * later ones. */
static int prove_parts(proving *p, size_t tensor, const uint64_t *at, const uint64_t *shape, sherd_error *err)
{
	const sherd_tensor *t = sherd_ckpt_tensor(p->ckpt, tensor);
	uint64_t inner = sherd_dtype_describe(t->dtype)->block_bytes, part_at[SHERD_MAX_DIMS], part[SHERD_MAX_DIMS];
	uint32_t dim = t->ndim - 1;
	while (dim > 0 && inner * shape[dim] <= CHUNK)
		inner *= shape[dim--];
	uint64_t run = CHUNK / inner;
	memcpy(part_at, at, t->ndim * sizeof(*at));
	memcpy(part, shape, t->ndim * sizeof(*shape));
	for (uint32_t d = 0; d < dim; d++)
		part[d] = 1;
	for (;;) {
		uint64_t left = at[dim] + shape[dim] - part_at[dim];
		part[dim] = left < run ? left : run;
		TRY(prove_box(p, tensor, part_at, part, part[dim] * inner, err));
		part_at[dim] += part[dim];
		uint32_t d = dim;
		for (; part_at[d] == at[d] + shape[d]; d--) {
			if (d == 0)
				return SHERD_OK;
			part_at[d] = at[d];
			part_at[d - 1]++;
		}
	}
}

static int prove_tensor(proving *p, size_t tensor, const sherd_bundle_selection *want, sherd_error *err)
{
	const sherd_tensor *t = sherd_ckpt_tensor(p->ckpt, tensor);
	uint64_t at[SHERD_MAX_DIMS] = {0}, shape[SHERD_MAX_DIMS];
	if (!t->bytes)
		return SHERD_OK;
	if (!t->ndim || t->dtype == SHERD_UTF8)
		return prove_box(p, tensor, NULL, NULL, t->bytes, err);
	memcpy(shape, t->shape, t->ndim * sizeof(*shape));
	if (want->cut) {
		at[0] = (uint64_t)((unsigned __int128)t->shape[0] * want->rank / want->world);
		shape[0] = (uint64_t)((unsigned __int128)t->shape[0] * (want->rank + 1) / want->world) - at[0];
	}
	return shape[0] ? prove_parts(p, tensor, at, shape, err) : SHERD_OK;
}

/* Which tensors the selection takes: those named, and of those the rank's by the size plan unless they are cut. */
static int prove_part(proving *p, const sherd_bundle_selection *want, sherd_error *err)
{
	size_t count = want->names ? want->name_count : sherd_ckpt_count(p->ckpt);
	uint64_t *bytes = calloc(count + 1, sizeof(*bytes));
	uint32_t *rank_of = calloc(count + 1, sizeof(*rank_of));
	size_t *tensors = calloc(count + 1, sizeof(*tensors));
	int rc = bytes && rank_of && tensors ? SHERD_OK : sherd_cli_no_memory(err);
	for (size_t i = 0; rc == SHERD_OK && i < count; i++) {
		tensors[i] = want->names ? sherd_ckpt_find(p->ckpt, want->names[i]) : i;
		if (tensors[i] == SHERD_NO_TENSOR)
			rc = sherd_cli_fail(err, SHERD_ENOTFOUND, "not-found", "no tensor is named %.128s",
			                    want->names[i]);
		else
			bytes[i] = sherd_ckpt_tensor(p->ckpt, tensors[i])->bytes;
	}
	bool planned = want->world > 1 && !want->cut && !want->names;
	if (rc == SHERD_OK && planned)
		rc = sherd_plan_whole(bytes, count, want->world, rank_of, err);
	for (size_t i = 0; rc == SHERD_OK && i < count; i++)
		if (!planned || rank_of[i] == want->rank)
			rc = prove_tensor(p, tensors[i], want, err);
	free(bytes);
	free(rank_of);
	free(tensors);
	return rc;
}

int sherd_proof_selection(sherd_cli *cli, const sherd_place *place, const sherd_ckpt *ckpt,
                          const sherd_bundle_selection *want, sherd_error *err)
{
	if (!want->names && want->world <= 1)
		return prove_all(cli, place, err);
	proving p = {.cli = cli, .ckpt = ckpt};
	int rc = prove_part(&p, want, err);
	free(p.buf);
	return rc;
}
