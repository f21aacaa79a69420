/* base/meter.h - the library's side of sherd_progress: many threads add, one at a time reports. */
#pragma once

#include "base/error.h"

#include <sherd/progress.h>

#include <pthread.h>
#include <stdatomic.h>

typedef struct shd_meter {
	const sherd_progress *progress; /* may be NULL */
	uint64_t total;
	_Atomic uint64_t done;
	_Atomic bool stop;
	pthread_mutex_t reporting;
} shd_meter;

void shd_meter_init(shd_meter *m, const sherd_progress *progress, uint64_t total);
void shd_meter_done(shd_meter *m);
/* Counts bytes, reports unless another thread is reporting; SHERD_ECANCELLED from the moment update() said stop. */
int shd_meter_add(shd_meter *m, uint64_t bytes, sherd_error *err);
/* The same with nothing to count: is it to go on? m may be NULL. */
int shd_meter_ask(shd_meter *m, sherd_error *err);
