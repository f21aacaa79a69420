#include "store/local/local.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

typedef struct local_lock {
	sherd_lock base;
	const shd_sys *sys;
	int fd;
} local_lock;

/* Unlocking by name, not only by closing: a child process may still hold the file open. */
static void lock_release(sherd_lock *lock)
{
	local_lock *l = (local_lock *)lock;
	(void)l->sys->flock(l->sys, l->fd, LOCK_UN);
	(void)l->sys->close(l->sys, l->fd);
	free(l);
}

static local_lock *lock_make(const shd_sys *sys)
{
	local_lock *l = calloc(1, sizeof(*l));
	if (l)
		*l = (local_lock){.base.release = lock_release, .sys = sys, .fd = -1};
	return l;
}

static int operation(sherd_lock_mode mode)
{
	return mode == SHERD_LOCK_EXCLUSIVE ? LOCK_EX : LOCK_SH;
}

/* Locks the open file; 1 when the key names another file by now. */
static int lock_open(shd_local *s, int fd, const char *key, sherd_lock_mode mode, sherd_error *err)
{
	struct stat st;
	if (s->sys->fstat(s->sys, fd, &st) < 0)
		return shd_fail_os(err, errno, "cannot stat");
	TRY(shd_local_check_kind(st.st_mode, err));
	if (s->sys->flock(s->sys, fd, operation(mode) | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? shd_fail(err, SHERD_ECONFLICT, "locked", "somebody holds a lock")
		                            : shd_fail_os(err, errno, "cannot lock");
	sherd_stat ours, there;
	shd_local_stat_of(&st, &ours);
	TRY(shd_local_stat(&there, s, key, err));
	return strcmp(ours.identity, there.identity) == 0 ? SHERD_OK : 1;
}

int shd_local_lock(sherd_lock **out, sherd_store *store, const char *key, sherd_lock_mode mode, sherd_error *err)
{
	shd_local *s = (shd_local *)store;
	local_lock *l = lock_make(s->sys);
	if (!l)
		return shd_fail_nomem(err);
	int rc = 1;
	for (int tries = 0; rc == 1 && tries < 1000; tries++) {
		l->fd = shd_local_open(s, key, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		rc = l->fd < 0 ? shd_local_fail(err, errno, "cannot open") : lock_open(s, l->fd, key, mode, err);
		if (rc != SHERD_OK && l->fd >= 0)
			(void)s->sys->close(s->sys, l->fd);
	}
	if (rc == SHERD_OK) {
		*out = &l->base;
		return SHERD_OK;
	}
	free(l);
	return rc == 1 ? shd_fail(err, SHERD_ECONFLICT, "replaced", "the object is replaced all the time") : rc;
}

/* The file is locked before it gets its name. */
int shd_local_create_locked(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                            sherd_lock_mode mode, sherd_error *err)
{
	shd_local *s = (shd_local *)store;
	local_lock *l = lock_make(s->sys);
	if (!l)
		return shd_fail_nomem(err);
	shd_local_temp temp = SHD_LOCAL_TEMP_NONE;
	int rc = shd_local_temp_open(s, key, false, operation(mode), NULL, &temp, err);
	if (rc == SHERD_OK)
		rc = shd_local_pwrite(s->sys, temp.fd, data, len, 0, err);
	if (rc == SHERD_OK)
		rc = shd_local_commit_new(s, &temp, key, err);
	if (rc == SHERD_OK) {
		l->fd = temp.fd;
		temp.fd = -1;
		*out = &l->base;
	} else {
		free(l);
	}
	shd_local_temp_done(s, &temp);
	return rc;
}
