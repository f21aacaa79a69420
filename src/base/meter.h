/* base/meter.h - the library's side of sherd_progress: many threads add, one at a time reports. */
#ifndef SHERD_BASE_METER_H
#define SHERD_BASE_METER_H

#include "base/error.h"

#include <sherd/progress.h>

#include <pthread.h>
#include <stdatomic.h>

typedef struct sherd_meter {
	const sherd_progress *progress; /* may be NULL */
	uint64_t total;
	_Atomic uint64_t done;
	_Atomic bool stop;
	pthread_mutex_t reporting;
} sherd_meter;

void sherd_meter_init(sherd_meter *m, const sherd_progress *progress, uint64_t total);
void sherd_meter_done(sherd_meter *m);
/* Counts bytes, reports unless another thread is reporting; SHERD_ECANCELLED from the moment update() said stop. */
int sherd_meter_add(sherd_meter *m, uint64_t bytes, sherd_error *err);
/* The same with nothing to count: is it to go on? m may be NULL. */
int sherd_meter_ask(sherd_meter *m, sherd_error *err);

#endif
