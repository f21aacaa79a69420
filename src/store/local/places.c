/* store/local/places.c - parts of one file, written past the page cache while threads fill others. */
#include "store/local/local.h"

#include "base/large.h"

#include <stdlib.h>

/* Small files have about 16, and take memory in proportion. */
#define LEAST_PART ((size_t)4 << 10)
#define SMALL_PART ((size_t)256 << 10)
/* How far a file is made long ahead of what is written, where nobody knows how long it will be. */
#define LENGTHEN ((uint64_t)64 << 20)

void shd_local_places_parts(sherd_parts *out, shd_local_places *p, bool large)
{
	p->large = large;
	p->part = large ? SHD_LOCAL_BUFFER : LEAST_PART;
	while (p->part < SMALL_PART && p->part * SHD_LOCAL_LENT < p->hint)
		p->part *= 2;
	(void)pthread_mutex_init(&p->mutex, NULL);
	*out = (sherd_parts){.bytes = p->part, .most = SHD_LOCAL_LENT};
}

/* With the mutex held: one that was under way has come to its end. What the system refuses to write past the cache, or
 * left over, goes the usual way. */
static void room_arrived(shd_local_places *p, struct shd_local_room *room, int64_t got)
{
	size_t done = got < 0 ? 0 : (size_t)got;
	room->under_way = false;
	p->under_way--;
	p->refused |= got == -EINVAL || got == -EOPNOTSUPP;
	if (p->rc < 0)
		return;
	if (got < 0 && got != -EINVAL && got != -EOPNOTSUPP)
		p->rc = shd_fail_os(&p->failure, (int)-got, "cannot write");
	else if (done < p->part)
		p->rc = shd_local_pwrite(p->store->sys, p->plain, room->bytes + done, p->part - done,
		                         room->offset + done, &p->failure);
	if (p->rc < 0)
		p->failure.offset = room->offset;
}

/* With the mutex held: waits for any one. False when nobody can tell what became of them. */
static bool await_any(shd_local_places *p)
{
	uint64_t tag;
	int64_t got;
	if (SHD_RETRY(p->store->sys->queue_wait(p->store->sys, p->queue, &tag, &got)) == 0) {
		room_arrived(p, &p->rooms[tag], got);
		return true;
	}
	if (p->rc == SHERD_OK)
		p->rc = shd_fail_os(&p->failure, errno, "cannot write");
	return false;
}

static int places_report(const shd_local_places *p, sherd_error *err)
{
	return p->rc < 0 ? shd_pass(err, p->rc, &p->failure) : SHERD_OK;
}

/* With the mutex held. */
static struct shd_local_room *room_free(shd_local_places *p)
{
	for (unsigned i = 0; i < p->made; i++)
		if (!p->rooms[i].lent && !p->rooms[i].under_way)
			return &p->rooms[i];
	return NULL;
}

/* With the mutex held: waits for the disk rather than that it takes more memory than keeps that busy. */
static int room_take(shd_local_places *p, struct shd_local_room **out, sherd_error *err)
{
	struct shd_local_room *room = room_free(p);
	while (!room && p->under_way >= SHD_LOCAL_UNDER_WAY) {
		(void)await_any(p);
		TRY(places_report(p, err));
		room = room_free(p);
	}
	if (!room) {
		room = &p->rooms[p->made];
		room->bytes = shd_large_map(p->part);
		if (!room->bytes)
			return shd_fail_nomem(err);
		p->made++;
	}
	*out = room;
	return places_report(p, err);
}

int shd_local_places_room(void **out, shd_local_places *p, sherd_error *err)
{
	struct shd_local_room *room = NULL;
	pthread_mutex_lock(&p->mutex);
	int rc = room_take(p, &room, err);
	if (rc == SHERD_OK && room) {
		room->lent = true;
		*out = room->bytes;
	}
	pthread_mutex_unlock(&p->mutex);
	return rc;
}

/* With the mutex held: may this one be begun past the cache, and is the file that long? A write that lengthens it would
 * wait for the disk. */
static bool is_ready(shd_local_places *p, uint64_t end)
{
	const shd_sys *sys = p->store->sys;
	if (!p->begun) {
		p->begun = true;
		p->queued = p->direct >= 0 && sys->queue_write && sys->allocate && sys->truncate &&
		            shd_local_take_queue(p->store, &p->queue);
		p->refused = !p->queued;
	}
	if (!p->refused && end > p->length) {
		uint64_t length = p->length < p->hint ? p->hint : end + LENGTHEN;
		length = length < end ? end + LENGTHEN : length;
		p->refused = length > INT64_MAX || sys->allocate(sys, p->plain, (off_t)length) < 0;
		p->length = p->refused ? p->length : length;
	}
	return !p->refused;
}

static int write_plain(shd_local_places *p, const struct shd_local_room *room, sherd_error *err)
{
	const shd_sys *sys = p->store->sys;
	TRY(shd_local_pwrite(sys, p->plain, room->bytes, p->part, room->offset, err));
	/* Only a hint: the sync at commit is what counts, and it reports. */
	(void)sys->start_sync(sys, p->plain, (off_t)room->offset, (off_t)p->part);
	return SHERD_OK;
}

static struct shd_local_room *room_of(shd_local_places *p, const void *bytes)
{
	struct shd_local_room *room = p->rooms;
	while (room->bytes != bytes)
		room++;
	return room;
}

/* Begun with the mutex held: whoever waits does so for what is under way indeed, and may hear of it at once. */
int shd_local_places_place(shd_local_places *p, uint64_t offset, const void *bytes, sherd_error *err)
{
	const shd_sys *sys = p->store->sys;
	pthread_mutex_lock(&p->mutex);
	struct shd_local_room *room = room_of(p, bytes);
	room->offset = offset;
	int rc = places_report(p, err);
	bool begun = rc == SHERD_OK && p->large && is_ready(p, offset + p->part) &&
	             sys->queue_write(sys, p->queue, (uint64_t)(room - p->rooms), p->direct, bytes, p->part,
	                              (off_t)offset) == 0;
	room->under_way = begun;
	room->lent = !begun;
	p->under_way += begun;
	pthread_mutex_unlock(&p->mutex);
	TRY(rc);
	if (begun)
		return SHERD_OK;
	rc = write_plain(p, room, err);
	pthread_mutex_lock(&p->mutex);
	room->lent = false;
	pthread_mutex_unlock(&p->mutex);
	return rc;
}

int shd_local_places_settle(shd_local_places *p, sherd_error *err)
{
	pthread_mutex_lock(&p->mutex);
	while (p->under_way && p->rc == SHERD_OK)
		(void)await_any(p);
	int rc = places_report(p, err);
	pthread_mutex_unlock(&p->mutex);
	return rc;
}

void shd_local_places_done(shd_local_places *p)
{
	if (!p->part)
		return;
	bool empty = true;
	while (p->under_way && empty)
		empty = await_any(p);
	if (p->queued)
		shd_local_give_queue(p->store, p->queue, empty);
	for (unsigned i = 0; i < p->made; i++)
		shd_large_unmap(p->rooms[i].bytes, p->part);
	(void)pthread_mutex_destroy(&p->mutex);
}
