#include "base/turn.h"

void shd_turn_init(shd_turn *t)
{
	*t = (shd_turn){0};
	(void)pthread_mutex_init(&t->mutex, NULL);
	(void)pthread_cond_init(&t->moved, NULL);
}

void shd_turn_done(shd_turn *t)
{
	(void)pthread_cond_destroy(&t->moved);
	(void)pthread_mutex_destroy(&t->mutex);
}

bool shd_turn_take(shd_turn *t, uint64_t n)
{
	(void)pthread_mutex_lock(&t->mutex);
	while (t->next != n && !t->broken)
		(void)pthread_cond_wait(&t->moved, &t->mutex);
	bool ours = !t->broken;
	(void)pthread_mutex_unlock(&t->mutex);
	return ours;
}

void shd_turn_pass(shd_turn *t, bool failed)
{
	(void)pthread_mutex_lock(&t->mutex);
	t->next++;
	t->broken |= failed;
	(void)pthread_cond_broadcast(&t->moved);
	(void)pthread_mutex_unlock(&t->mutex);
}
