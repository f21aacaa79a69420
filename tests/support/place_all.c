#include "support/place_all.h"

#include "base/error.h"
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct shared {
	const placing *p;
	sherd_writer *writer;
	_Atomic size_t next;
	_Atomic int rc;
	sherd_error *err;
} shared;

static int fill_rooms(sherd_writer *writer, uint64_t at, const uint8_t *bytes, size_t len, sherd_error *err)
{
	for (size_t done = 0, n; done < len; done += n) {
		void *room;
		n = len - done;
		TRY(sherd_writer_room(&room, &n, writer, at + done, err));
		memcpy(room, bytes + done, n);
		TRY(sherd_writer_placed(writer, at + done, n, err));
	}
	return SHERD_OK;
}

static void *place_units(void *arg)
{
	shared *s = arg;
	const placing *p = s->p;
	size_t at;
	while ((at = atomic_fetch_add(&s->next, p->unit)) < p->len) {
		sherd_error failure = {0};
		size_t n = p->len - at < p->unit ? p->len - at : p->unit;
		int rc = p->in_rooms ? fill_rooms(s->writer, at, p->bytes + at, n, &failure)
		                     : sherd_writer_put(s->writer, at, p->bytes + at, n, &failure);
		int none = SHERD_OK;
		if (rc == SHERD_OK)
			continue;
		sherd_writer_give_up(s->writer, &failure);
		if (atomic_compare_exchange_strong(&s->rc, &none, rc) && s->err)
			*s->err = failure;
		break;
	}
	return NULL;
}

int place_all(sherd_writer *writer, const placing *p, sherd_error *err)
{
	shared s = {.p = p, .writer = writer, .err = err};
	pthread_t threads[16];
	size_t part;
	TRY(sherd_writer_places(&part, writer, err));
	assert_true(part > 0 && p->threads <= COUNT_OF(threads));
	for (unsigned i = 1; i < p->threads; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, place_units, &s), 0);
	(void)place_units(&s);
	for (unsigned i = 1; i < p->threads; i++)
		(void)pthread_join(threads[i], NULL);
	return s.rc;
}
