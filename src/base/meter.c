#include "base/meter.h"

void shd_meter_init(shd_meter *m, const sherd_progress *progress, uint64_t total)
{
	m->progress = progress;
	m->total = total;
	atomic_init(&m->done, 0);
	atomic_init(&m->stop, false);
	(void)pthread_mutex_init(&m->reporting, NULL);
}

void shd_meter_done(shd_meter *m)
{
	(void)pthread_mutex_destroy(&m->reporting);
}

int shd_meter_add(shd_meter *m, uint64_t bytes, sherd_error *err)
{
	uint64_t done = atomic_fetch_add(&m->done, bytes) + bytes;
	if (m->progress && m->progress->update && pthread_mutex_trylock(&m->reporting) == 0) {
		if (!atomic_load(&m->stop) && !m->progress->update(m->progress->arg, done, m->total))
			atomic_store(&m->stop, true);
		(void)pthread_mutex_unlock(&m->reporting);
	}
	if (atomic_load(&m->stop))
		return shd_fail(err, SHERD_ECANCELLED, "cancelled", "cancelled");
	return SHERD_OK;
}

int shd_meter_ask(shd_meter *m, sherd_error *err)
{
	return m ? shd_meter_add(m, 0, err) : SHERD_OK;
}
