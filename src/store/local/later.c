/* store/local/later.c - direct writes that the disk does while the caller goes on. */
#include "store/local/local.h"

/* Waits for the oldest; others may come first. */
static int await_oldest(shd_local *s, shd_local_later *l, sherd_error *err)
{
	const struct shd_local_write *w = &l->writes[l->oldest];
	while (w->under_way) {
		uint64_t tag;
		int64_t got;
		if (SHD_RETRY(s->sys->queue_wait(s->sys, l->queue, &tag, &got)) < 0)
			return shd_fail_os(err, errno, "cannot write");
		l->writes[tag].under_way = false;
		l->writes[tag].got = got;
	}
	return SHERD_OK;
}

static int settle_oldest(shd_local *s, shd_local_later *l, int plain, sherd_error *err)
{
	const struct shd_local_write *w = &l->writes[l->oldest];
	TRY(await_oldest(s, l, err));
	size_t got = w->got < 0 ? 0 : (size_t)w->got;
	l->refused |= w->got == -EINVAL || w->got == -EOPNOTSUPP;
	l->oldest = (l->oldest + 1) % SHD_LOCAL_LATER;
	l->count--;
	if (w->got < 0 && !l->refused)
		return shd_fail_os(err, (int)-w->got, "cannot write");
	return got < w->len ? shd_local_pwrite(s->sys, plain, w->buf + got, w->len - got, w->offset + got, err)
	                    : SHERD_OK;
}

int shd_local_later_settle(shd_local *s, shd_local_later *l, unsigned most, int plain, sherd_error *err)
{
	while (l->count > most)
		TRY(settle_oldest(s, l, plain, err));
	return SHERD_OK;
}

int shd_local_later_begin(shd_local *s, shd_local_later *l, int fd, const void *buf, size_t len, uint64_t offset,
                          int plain, sherd_error *err)
{
	if (!l->queued && !l->refused) {
		l->queued = s->sys->queue_write && shd_local_take_queue(s, &l->queue);
		l->refused = !l->queued;
	}
	TRY(shd_local_later_settle(s, l, SHD_LOCAL_LATER - 1, plain, err));
	if (l->refused)
		return 0;
	unsigned i = (l->oldest + l->count) % SHD_LOCAL_LATER;
	if (s->sys->queue_write(s->sys, l->queue, i, fd, buf, len, (off_t)offset) < 0)
		return 0;
	l->writes[i] = (struct shd_local_write){.buf = buf, .len = len, .offset = offset, .under_way = true};
	l->count++;
	return 1;
}

void shd_local_later_done(shd_local *s, shd_local_later *l)
{
	bool empty = true;
	for (; l->count && empty; l->count--) {
		empty = await_oldest(s, l, NULL) == SHERD_OK;
		l->oldest = (l->oldest + 1) % SHD_LOCAL_LATER;
	}
	if (l->queued)
		shd_local_give_queue(s, l->queue, empty);
}
