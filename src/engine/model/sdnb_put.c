/* engine/model/sdnb_put.c - the bytes of one SDNB file, put at their places by all workers.
 *
 * What is before the arrays is made in order, by one of them: elements inside of the graph are turned about as they
 * come. Arrays are cut into pieces. */
#include "engine/model/sdnb_out.h"

#include "base/pool.h"
#include "base/turn.h"
#include "codec/crc32.h"
#include "engine/model/elements.h"

#include <sherd/sys/backend.h>

#include <stdlib.h>

#define PIECE ((uint64_t)4 << 20)

/* A range of the file that one worker makes. */
typedef struct sdnb_range {
	uint64_t at, end;
	size_t array; /* by the file's own number; count: none, but the manifest; SHERD_NO_ARRAY: head and graph */
} sdnb_range;

typedef struct sdnb_job {
	const shd_sdnb_out *out;
	const shd_sdnb_target *to;
	SHD_VEC(sdnb_range) ranges;
	uint32_t *crcs; /* by range */
	shd_turn turn;
} sdnb_job;

/* A writer that puts bytes one after the other, or nowhere, and keeps their CRC. It is never committed nor aborted. */
typedef struct sink {
	sherd_writer base;
	const shd_sdnb_target *to;
	uint64_t at;
	uint32_t crc;
} sink;

static int sink_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	sink *s = (sink *)writer;
	s->crc = shd_crc32(s->crc, buf, len);
	if (s->to->writer)
		TRY(sherd_writer_put(s->to->writer, s->to->at + s->at, buf, len, err));
	s->at += len;
	return SHERD_OK;
}

static const struct sherd_writer_ops sink_ops = {.append = sink_append};

static int put_bytes(sink *s, const void *bytes, size_t len, sherd_error *err)
{
	TRY(sherd_writer_append(&s->base, bytes, len, err));
	return shd_meter_add(s->to->meter, len, err);
}

static int put_front(const shd_sdnb_out *out, sink *s, sherd_error *err)
{
	uint8_t head[SHD_SDNB_HEAD];
	shd_sdnb_head_encode(&out->head, head);
	TRY(put_bytes(s, head, sizeof(head), err));
	for (size_t i = 0; i < out->graph.piece_count; i++) {
		const shd_samediff_piece *p = &out->graph.pieces[i];
		TRY(put_bytes(s, p->bytes, p->len, err));
		if (p->array == SHERD_NO_ARRAY)
			continue;
		const shd_model_elements elements = {out->model, p->array, p->fortran, p->swap};
		TRY(shd_model_elements_write(&elements, &s->base, s->to->meter, err));
	}
	return SHERD_OK;
}

/* A piece of an array, or what lies between arrays. */
static int put_piece(const shd_sdnb_out *out, const sdnb_range *r, sink *s, sherd_error *err)
{
	static const uint8_t zeros[SHD_SDNB_ALIGN];
	const uint64_t begin = out->entries[r->array].offset;
	if (r->at < begin)
		return put_bytes(s, zeros, (size_t)(r->end - r->at), err);
	const size_t len = (size_t)(r->end - r->at);
	SHD_AUTO_FREE uint8_t *buf = malloc(len);
	if (!buf)
		return shd_fail_nomem(err);
	TRY(out->model->ops->read(out->model, out->arrays[r->array], r->at - begin, buf, len, err));
	return put_bytes(s, buf, len, err);
}

static int put_range(sdnb_job *j, size_t index, sherd_error *err)
{
	const sdnb_range *r = &j->ranges.items[index];
	const shd_sdnb_out *out = j->out;
	sink s = {.base = {.ops = &sink_ops}, .to = j->to, .at = r->at};
	if (j->to->writer) { /* which it speaks for */
		s.base.key = j->to->writer->key;
		s.base.store = j->to->writer->store;
	}
	if (r->array == SHERD_NO_ARRAY)
		TRY(put_front(out, &s, err));
	else if (r->array == out->count)
		TRY(put_bytes(&s, out->manifest, (size_t)out->head.manifest_bytes, err));
	else
		TRY(put_piece(out, r, &s, err));
	j->crcs[index] = s.crc;
	return SHERD_OK;
}

static int run_range(void *arg, size_t index, sherd_error *err)
{
	sdnb_job *j = arg;
	const bool in_order = j->out->model->stream;
	sherd_error why = {0};
	int rc = !in_order || shd_turn_take(&j->turn, index)
	                 ? put_range(j, index, &why)
	                 : shd_fail(&why, SHERD_ECANCELLED, "cancelled", "one before it failed");
	if (rc < 0 && j->to->writer)
		sherd_writer_give_up(j->to->writer, &why);
	if (in_order)
		shd_turn_pass(&j->turn, rc < 0);
	return shd_pass(err, rc, &why);
}

static void sdnb_cut(sdnb_job *j)
{
	const shd_sdnb_out *out = j->out;
	uint64_t at = SHD_SDNB_HEAD + out->graph.size;
	shd_vec_push(&j->ranges, ((sdnb_range){0, at, SHERD_NO_ARRAY}));
	for (size_t i = 0; i < out->count; i++) {
		const uint64_t begin = out->entries[i].offset, end = begin + out->entries[i].length;
		if (begin > at)
			shd_vec_push(&j->ranges, ((sdnb_range){at, begin, i}));
		for (at = begin; at < end;) {
			const uint64_t stop = end - at < PIECE ? end : at + PIECE;
			shd_vec_push(&j->ranges, ((sdnb_range){at, stop, i}));
			at = stop;
		}
	}
	shd_vec_push(&j->ranges, ((sdnb_range){at, out->size, out->count}));
}

int shd_sdnb_put(const shd_sdnb_out *out, const shd_sdnb_target *to, uint32_t *crc, sherd_error *err)
{
	sdnb_job j = {.out = out, .to = to};
	sdnb_cut(&j);
	int rc = shd_vec_check(&j.ranges, err);
	j.crcs = rc < 0 ? NULL : calloc(j.ranges.count, sizeof(*j.crcs));
	if (rc == SHERD_OK && !j.crcs)
		rc = shd_fail_nomem(err);
	shd_turn_init(&j.turn);
	if (rc == SHERD_OK)
		rc = shd_pool_run(to->pool, j.ranges.count, run_range, &j, err);
	shd_turn_done(&j.turn);
	if (crc)
		*crc = 0;
	for (size_t i = 0; crc && rc == SHERD_OK && i < j.ranges.count; i++)
		*crc = shd_crc32_join(*crc, j.crcs[i], j.ranges.items[i].end - j.ranges.items[i].at);
	free(j.crcs);
	shd_vec_done(&j.ranges);
	return rc;
}
