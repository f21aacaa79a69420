#include "support/threads_group.h"

#include "support/test.h"

#include <pthread.h>
#include <string.h>

typedef struct meeting {
	pthread_barrier_t barrier;
	uint32_t size;
	const void *from[THREADS_GROUP_MOST];
} meeting;

typedef struct member {
	meeting *meeting;
	sherd_group group;
	threads_group_fn *fn;
	void *arg;
	pthread_t thread;
} member;

static int member_gather(void *arg, const void *mine, size_t len, void *all, sherd_error *err)
{
	member *m = arg;
	(void)err;
	m->meeting->from[m->group.rank] = mine;
	(void)pthread_barrier_wait(&m->meeting->barrier);
	for (uint32_t r = 0; r < m->meeting->size; r++)
		memcpy((char *)all + r * len, m->meeting->from[r], len);
	(void)pthread_barrier_wait(&m->meeting->barrier);
	return SHERD_OK;
}

static int member_share(void *arg, uint32_t from, void *data, size_t len, sherd_error *err)
{
	member *m = arg;
	(void)err;
	m->meeting->from[m->group.rank] = data;
	(void)pthread_barrier_wait(&m->meeting->barrier);
	if (m->group.rank != from && len)
		memcpy(data, m->meeting->from[from], len);
	(void)pthread_barrier_wait(&m->meeting->barrier);
	return SHERD_OK;
}

static void *member_run(void *arg)
{
	member *m = arg;
	m->fn(&m->group, m->arg);
	return NULL;
}

void threads_group_run(uint32_t size, threads_group_fn *fn, void *arg)
{
	meeting all = {.size = size};
	member members[THREADS_GROUP_MOST];
	assert_in_range(size, 1, THREADS_GROUP_MOST);
	assert_int_equal(pthread_barrier_init(&all.barrier, NULL, size), 0);
	for (uint32_t r = 0; r < size; r++) {
		members[r] = (member){.meeting = &all, .fn = fn, .arg = arg};
		members[r].group = (sherd_group){
			.rank = r, .size = size, .gather = member_gather, .share = member_share, .arg = &members[r]};
		assert_int_equal(pthread_create(&members[r].thread, NULL, member_run, &members[r]), 0);
	}
	for (uint32_t r = 0; r < size; r++)
		assert_int_equal(pthread_join(members[r].thread, NULL), 0);
	(void)pthread_barrier_destroy(&all.barrier);
}
