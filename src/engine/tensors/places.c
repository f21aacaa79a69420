#include "engine/tensors/places.h"

#include "base/error.h"
#include "base/pool.h"
#include "base/turn.h"
#include "codec/crc32.h"

#include <stdlib.h>

/* What is filled at a time. Sources that have to look around for a few bytes want it large. */
#define UNIT ((uint64_t)4 << 20)

typedef struct places_job {
	const shd_placing *p;
	bool direct;    /* a unit is lent in one stretch; else it is filled elsewhere, and put */
	uint32_t *crcs; /* by range; or NULL */
	shd_turn turn;  /* of filling, in order */
} places_job;

static uint64_t range_begin(const shd_placing *p, size_t range)
{
	uint64_t begin = p->cuts ? p->cuts[range] : range * UNIT;
	return begin < p->size ? begin : p->size;
}

/* Fills bytes up to the end of a unit, where they will lie if that can be. */
static int places_fill(const places_job *j, uint64_t at, size_t len, uint8_t *scratch, uint32_t *crc, sherd_error *err)
{
	const shd_placing *p = j->p;
	void *room = scratch;
	if (j->direct)
		TRY(sherd_writer_room(&room, &len, p->writer, at, err));
	TRY(p->fill(p->arg, at, room, len, err));
	if (j->crcs)
		*crc = shd_crc32(*crc, room, len);
	return j->direct ? sherd_writer_placed(p->writer, at, len, err)
	                 : sherd_writer_put(p->writer, at, room, len, err);
}

static int places_range(const places_job *j, size_t range, sherd_error *err)
{
	uint64_t at = range_begin(j->p, range), end = range_begin(j->p, range + 1);
	const uint64_t most = end - at < UNIT ? end - at : UNIT;
	uint32_t crc = 0;
	SHD_AUTO_FREE uint8_t *scratch = j->direct ? NULL : malloc((size_t)most + 1);
	if (!j->direct && !scratch)
		return shd_fail_nomem(err);
	while (at < end) {
		uint64_t stop = at / UNIT * UNIT + UNIT;
		stop = stop < end ? stop : end;
		TRY(places_fill(j, at, (size_t)(stop - at), scratch, &crc, err));
		at = stop;
	}
	if (j->crcs)
		j->crcs[range] = crc;
	return SHERD_OK;
}

static int places_run(void *arg, size_t range, sherd_error *err)
{
	places_job *j = arg;
	sherd_error why = {0};
	int rc = !j->p->in_order || shd_turn_take(&j->turn, range)
	                 ? places_range(j, range, &why)
	                 : shd_fail(&why, SHERD_ECANCELLED, "cancelled", "one before it failed");
	if (rc < 0)
		sherd_writer_give_up(j->p->writer, &why);
	if (j->p->in_order)
		shd_turn_pass(&j->turn, rc < 0);
	return shd_pass(err, rc, &why);
}

int shd_places_write(const shd_placing *p, sherd_error *err)
{
	places_job j = {.p = p};
	const size_t ranges = p->cuts ? p->ranges : (size_t)(p->size / UNIT + (p->size % UNIT != 0));
	size_t part;
	TRY(sherd_writer_places(&part, p->writer, err));
	j.direct = part % UNIT == 0;
	SHD_AUTO_FREE uint32_t *crcs = p->crc ? calloc(ranges + 1, sizeof(*crcs)) : NULL;
	if (p->crc && !crcs)
		return shd_fail_nomem(err);
	j.crcs = crcs;
	shd_turn_init(&j.turn);
	int rc = shd_pool_run(p->pool, ranges, places_run, &j, err);
	shd_turn_done(&j.turn);
	uint32_t crc = 0;
	for (size_t i = 0; crcs && rc == SHERD_OK && i < ranges; i++)
		crc = shd_crc32_join(crc, crcs[i], range_begin(p, i + 1) - range_begin(p, i));
	if (p->crc)
		*p->crc = crc;
	return rc;
}
