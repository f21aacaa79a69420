/* store/local/queue.c - the queues of a store's reads and writes under way, kept for the next user. */
#include "store/local/local.h"

bool shd_local_take_queue(shd_local *s, unsigned long *out)
{
	pthread_mutex_lock(&s->mutex);
	bool idle = s->queue_count > 0;
	if (idle)
		*out = s->queues[--s->queue_count];
	pthread_mutex_unlock(&s->mutex);
	return idle || (s->sys->queue_open && s->sys->queue_open(s->sys, SHD_LOCAL_QUEUE, out) == 0);
}

void shd_local_give_queue(shd_local *s, unsigned long queue, bool empty)
{
	pthread_mutex_lock(&s->mutex);
	bool kept = empty && s->queue_count < COUNT_OF(s->queues);
	if (kept)
		s->queues[s->queue_count++] = queue;
	pthread_mutex_unlock(&s->mutex);
	if (!kept)
		s->sys->queue_close(s->sys, queue);
}

void shd_local_close_queues(shd_local *s)
{
	while (s->queue_count > 0)
		s->sys->queue_close(s->sys, s->queues[--s->queue_count]);
}
