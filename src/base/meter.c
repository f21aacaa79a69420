#include "base/meter.h"

void sherd_meter_init(sherd_meter *m, const sherd_progress *progress, uint64_t total)
{
	m->progress = progress;
	m->total = total;
	atomic_init(&m->done, 0);
	atomic_init(&m->stop, false);
	(void)pthread_mutex_init(&m->reporting, NULL);
}

void sherd_meter_done(sherd_meter *m)
{
	(void)pthread_mutex_destroy(&m->reporting);
}

int sherd_meter_add(sherd_meter *m, uint64_t bytes, sherd_error *err)
{
	uint64_t done = atomic_fetch_add(&m->done, bytes) + bytes;
	if (m->progress && m->progress->update && pthread_mutex_trylock(&m->reporting) == 0) {
		if (!atomic_load(&m->stop) && !m->progress->update(m->progress->arg, done, m->total))
			atomic_store(&m->stop, true);
		(void)pthread_mutex_unlock(&m->reporting);
	}
	if (atomic_load(&m->stop))
		return sherd_fail(err, SHERD_ECANCELLED, "cancelled", "cancelled");
	return SHERD_OK;
}

int sherd_meter_ask(sherd_meter *m, sherd_error *err)
{
	return m ? sherd_meter_add(m, 0, err) : SHERD_OK;
}
