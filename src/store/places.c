/* store/places.c - bytes that come in any order, from several threads: gathered to parts, which backends take whole.
 *
 * Parts from the first one that is missing on have a slot each, as many as the backend says. Who needs a part beyond
 * waits; who has work before it never does, and so somebody always goes on. */
#include "store/places.h"

#include "base/copy.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>

/* Of stores that take bytes in order only. */
enum { OWN_PART = 256 << 10, OWN_MOST = 16 };

typedef enum slot_state {
	SLOT_FREE = 0,
	SLOT_OPENING, /* a thread is asking for its room */
	SLOT_LENT,
	SLOT_FULL, /* waits to be appended, or is on its way */
	SLOT_DONE  /* waits for those before it */
} slot_state;

typedef struct place_slot {
	slot_state state;
	uint8_t *room;
	size_t filled;
} place_slot;

struct sherd_writer_places {
	pthread_mutex_t mutex;
	pthread_cond_t moved; /* a slot has changed its state, or the writer failed */
	sherd_parts parts;
	bool in_order;       /* parts are appended; rooms are ours */
	bool appending;      /* a thread does that */
	uint64_t first, end; /* the first part that is not done; past the last byte that was lent */
	place_slot slots[];  /* by number % most */
};

static place_slot *slot_of(struct sherd_writer_places *p, uint64_t number)
{
	return &p->slots[number % p->parts.most];
}

int sherd_writer_places(size_t *part, sherd_writer *writer, sherd_error *err)
{
	sherd_parts parts = {.bytes = OWN_PART, .most = OWN_MOST};
	TRY(shd_writer_report(writer, err));
	if (writer->places || writer->length)
		return shd_in_object(err, shd_fail(err, SHERD_EINVAL, "bad-mode", "places begin before anything else"),
		                     writer->key);
	if (writer->ops->place)
		writer->ops->parts(&parts, writer);
	struct sherd_writer_places *p = calloc(1, sizeof(*p) + parts.most * sizeof(p->slots[0]));
	if (!p)
		return shd_in_object(err, shd_fail_nomem(err), writer->key);
	(void)pthread_mutex_init(&p->mutex, NULL);
	(void)pthread_cond_init(&p->moved, NULL);
	p->parts = parts;
	p->in_order = !writer->ops->place;
	writer->places = p;
	*part = parts.bytes;
	return SHERD_OK;
}

/* With the mutex held. The first failure stays; everybody who waits gets it. */
static int places_fail(sherd_writer *w, int rc, const sherd_error *why, uint64_t offset, sherd_error *err)
{
	if (w->failure.code == SHERD_OK) {
		w->failure = *why;
		(void)shd_writer_stick(w, rc, offset, NULL);
	}
	(void)pthread_cond_broadcast(&w->places->moved);
	return shd_writer_report(w, err);
}

void sherd_writer_give_up(sherd_writer *writer, const sherd_error *why)
{
	struct sherd_writer_places *p = writer->places;
	if (p)
		(void)pthread_mutex_lock(&p->mutex);
	if (writer->failure.code == SHERD_OK)
		writer->failure = *why;
	if (p) {
		(void)pthread_cond_broadcast(&p->moved);
		(void)pthread_mutex_unlock(&p->mutex);
	}
}

/* With the mutex held, which is let go meanwhile. */
static int slot_open(sherd_writer *w, uint64_t number, sherd_error *err)
{
	struct sherd_writer_places *p = w->places;
	place_slot *slot = slot_of(p, number);
	sherd_error why = {0};
	void *room = NULL;
	slot->state = SLOT_OPENING;
	(void)pthread_mutex_unlock(&p->mutex);
	int rc = p->in_order ? SHERD_OK : w->ops->room(&room, w, &why);
	if (p->in_order && !(room = malloc(p->parts.bytes)))
		rc = shd_fail_nomem(&why);
	(void)pthread_mutex_lock(&p->mutex);
	*slot = (place_slot){.state = rc < 0 ? SLOT_FREE : SLOT_LENT, .room = room};
	if (rc < 0)
		return places_fail(w, rc, &why, number * p->parts.bytes, err);
	(void)pthread_cond_broadcast(&p->moved);
	return SHERD_OK;
}

/* With the mutex held: until the part's slot is lent. */
static int slot_await(sherd_writer *w, uint64_t number, sherd_error *err)
{
	struct sherd_writer_places *p = w->places;
	for (;;) {
		TRY(shd_writer_report(w, err));
		const place_slot *slot = slot_of(p, number);
		bool ahead = number >= p->first + p->parts.most;
		if (number < p->first || (!ahead && slot->state >= SLOT_FULL)) {
			sherd_error why = {0};
			int rc = shd_fail(&why, SHERD_EINVAL, "bad-range", "these bytes were placed before");
			return places_fail(w, rc, &why, number * p->parts.bytes, err);
		}
		if (!ahead && slot->state == SLOT_LENT)
			return SHERD_OK;
		if (!ahead && slot->state == SLOT_FREE)
			TRY(slot_open(w, number, err));
		else
			(void)pthread_cond_wait(&p->moved, &p->mutex);
	}
}

static int places_lend(sherd_writer *w, uint64_t offset, void **room, size_t *len, sherd_error *err)
{
	struct sherd_writer_places *p = w->places;
	const uint64_t number = offset / p->parts.bytes;
	const size_t at = (size_t)(offset % p->parts.bytes), most = p->parts.bytes - at;
	if (offset > INT64_MAX || *len > INT64_MAX - offset) {
		sherd_error why = {0};
		int rc = shd_fail(&why, SHERD_EINVAL, "too-large", "an object ends below 2^63");
		return places_fail(w, rc, &why, offset, err);
	}
	TRY(slot_await(w, number, err));
	*len = *len < most ? *len : most;
	*room = slot_of(p, number)->room + at;
	p->end = offset + *len > p->end ? offset + *len : p->end;
	return SHERD_OK;
}

static int places_missing(sherd_writer *w, sherd_error *err)
{
	if (w->places)
		return SHERD_OK;
	return shd_in_object(err, shd_fail(err, SHERD_EINVAL, "bad-mode", "this writer has no places"), w->key);
}

int sherd_writer_room(void **room, size_t *len, sherd_writer *writer, uint64_t offset, sherd_error *err)
{
	TRY(places_missing(writer, err));
	(void)pthread_mutex_lock(&writer->places->mutex);
	int rc = places_lend(writer, offset, room, len, err);
	(void)pthread_mutex_unlock(&writer->places->mutex);
	return rc;
}

/* With the mutex held: who is done, from the first one on, frees its slot. */
static void places_advance(struct sherd_writer_places *p)
{
	for (place_slot *slot = slot_of(p, p->first); slot->state == SLOT_DONE; slot = slot_of(p, p->first)) {
		*slot = (place_slot){0};
		p->first++;
	}
	(void)pthread_cond_broadcast(&p->moved);
}

/* With the mutex held, which is let go meanwhile: appends what is full from the first part on, unless somebody does. */
static int places_append(sherd_writer *w, sherd_error *err)
{
	struct sherd_writer_places *p = w->places;
	int rc = SHERD_OK;
	if (p->appending)
		return SHERD_OK;
	p->appending = true;
	for (place_slot *slot; rc == SHERD_OK && (slot = slot_of(p, p->first))->state == SLOT_FULL;) {
		sherd_error why = {0};
		const uint64_t offset = p->first * p->parts.bytes;
		(void)pthread_mutex_unlock(&p->mutex);
		rc = w->ops->append(w, slot->room, p->parts.bytes, &why);
		(void)pthread_mutex_lock(&p->mutex);
		free(slot->room);
		*slot = (place_slot){.state = rc < 0 ? SLOT_FREE : SLOT_DONE};
		if (rc < 0)
			rc = places_fail(w, rc, &why, offset, err);
		else
			places_advance(p);
	}
	p->appending = false;
	return rc;
}

/* With the mutex held, which is let go meanwhile. */
static int places_hand_over(sherd_writer *w, uint64_t number, sherd_error *err)
{
	struct sherd_writer_places *p = w->places;
	place_slot *slot = slot_of(p, number);
	const uint64_t offset = number * p->parts.bytes;
	sherd_error why = {0};
	slot->state = SLOT_FULL;
	if (p->in_order)
		return places_append(w, err);
	(void)pthread_mutex_unlock(&p->mutex);
	int rc = w->ops->place(w, offset, slot->room, &why);
	(void)pthread_mutex_lock(&p->mutex);
	slot->room = NULL;
	if (rc < 0)
		return places_fail(w, rc, &why, offset, err);
	slot->state = SLOT_DONE;
	places_advance(p);
	return SHERD_OK;
}

int sherd_writer_placed(sherd_writer *writer, uint64_t offset, size_t len, sherd_error *err)
{
	TRY(places_missing(writer, err));
	struct sherd_writer_places *p = writer->places;
	const uint64_t number = offset / p->parts.bytes;
	(void)pthread_mutex_lock(&p->mutex);
	place_slot *slot = slot_of(p, number);
	int rc = shd_writer_report(writer, err);
	if (rc == SHERD_OK && (number < p->first || number >= p->first + p->parts.most || slot->state != SLOT_LENT ||
	                       len > p->parts.bytes - slot->filled)) {
		sherd_error why = {0};
		rc = shd_fail(&why, SHERD_EINVAL, "bad-range", "%zu bytes were placed that were not lent", len);
		rc = places_fail(writer, rc, &why, offset, err);
	} else if (rc == SHERD_OK) {
		slot->filled += len;
		if (slot->filled == p->parts.bytes)
			rc = places_hand_over(writer, number, err);
	}
	(void)pthread_mutex_unlock(&p->mutex);
	return rc;
}

int sherd_writer_put(sherd_writer *writer, uint64_t offset, const void *buf, size_t len, sherd_error *err)
{
	const uint8_t *from = buf;
	while (len) {
		void *room = NULL;
		size_t n = len;
		TRY(sherd_writer_room(&room, &n, writer, offset, err));
		shd_copy_past(room, from, n);
		TRY(sherd_writer_placed(writer, offset, n, err));
		from += n;
		offset += n;
		len -= n;
	}
	return places_missing(writer, err);
}

/* What is left is the beginning of one part, or nothing. */
static int places_finish(sherd_writer *w, struct sherd_writer_places *p, sherd_error *err)
{
	const place_slot *last = slot_of(p, p->first);
	const uint64_t whole = p->first * p->parts.bytes;
	if (p->end < whole || p->end - whole != last->filled)
		return shd_fail(err, SHERD_EINVAL, "bad-range", "bytes before %llu were not placed",
		                (unsigned long long)p->end);
	if (!p->in_order)
		TRY(w->ops->settle(w, whole, err));
	return last->filled ? w->ops->append(w, last->room, last->filled, err) : SHERD_OK;
}

int shd_places_end(sherd_writer *w, sherd_error *err)
{
	struct sherd_writer_places *p = w->places;
	if (!p)
		return SHERD_OK;
	int rc = places_finish(w, p, &w->failure);
	if (rc < 0)
		(void)shd_writer_stick(w, rc, p->first * p->parts.bytes, NULL);
	w->length = p->end;
	shd_places_free(w);
	return shd_writer_report(w, err);
}

void shd_places_free(sherd_writer *w)
{
	struct sherd_writer_places *p = w->places;
	if (!p)
		return;
	for (unsigned i = 0; p->in_order && i < p->parts.most; i++)
		free(p->slots[i].room);
	(void)pthread_cond_destroy(&p->moved);
	(void)pthread_mutex_destroy(&p->mutex);
	free(p);
	w->places = NULL;
}
