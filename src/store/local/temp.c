#include "store/local/local.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>

int shd_local_pwrite(const shd_sys *sys, int fd, const void *buf, size_t len, uint64_t offset, sherd_error *err)
{
	for (size_t done = 0; done < len;) {
		uint64_t at = offset + done;
		ssize_t n = SHD_RETRY(sys->pwrite(sys, fd, (const char *)buf + done, len - done, (off_t)at));
		if (n <= 0) {
			int rc = shd_fail_os(err, n == 0 ? EIO : errno, "cannot write");
			if (err)
				err->offset = at;
			return rc;
		}
		done += (size_t)n;
	}
	return SHERD_OK;
}

static bool sweep_one(const char *name, unsigned char type, void *arg)
{
	(void)type;
	const struct {
		const shd_sys *sys;
		int dir;
	} *in = arg;
	if (strncmp(name, SHD_TEMP_PREFIX, strlen(SHD_TEMP_PREFIX)) != 0)
		return true;
	int fd = SHD_RETRY(in->sys->open(in->sys, in->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0, 0));
	if (fd < 0)
		return true;
	/* A live writer holds its lock, so this one is dead, or has not locked yet and will notice. */
	if (in->sys->flock(in->sys, fd, LOCK_EX | LOCK_NB) == 0) {
		(void)in->sys->unlink(in->sys, in->dir, name);
		(void)in->sys->flock(in->sys, fd, LOCK_UN);
	}
	(void)in->sys->close(in->sys, fd);
	return true;
}

/* What cannot be swept now is swept another time. */
void shd_local_sweep(shd_local *s, int dir)
{
	struct {
		const shd_sys *sys;
		int dir;
	} in = {s->sys, dir};
	(void)shd_local_entries(s->sys, dir, sweep_one, &in, NULL);
}

/* Locks a file that has just got a name. false: a sweeper was faster, try another name. */
static bool hold(const shd_sys *sys, int fd, int lock, int *os_errno)
{
	struct stat st;
	*os_errno = 0;
	if (sys->flock(sys, fd, lock | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return false;
		*os_errno = errno;
		return true;
	}
	return sys->fstat(sys, fd, &st) < 0 || st.st_nlink > 0;
}

static int local_temp_open_named(shd_local *s, shd_local_temp *temp, sherd_error *err)
{
	const shd_sys *sys = s->sys;
	for (int tries = 0; tries < 100; tries++) {
		uint64_t random[2];
		if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return shd_fail_os(err, errno, "no random bytes");
		(void)snprintf(temp->name, sizeof(temp->name), SHD_TEMP_PREFIX "%016llx%016llx",
		               (unsigned long long)random[0], (unsigned long long)random[1]);
		temp->fd = SHD_RETRY(sys->open(sys, temp->dir, temp->name,
		                               O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		                               temp->mode.known ? 0600 : 0666, 0));
		if (temp->fd < 0) {
			temp->name[0] = 0;
			if (errno == EEXIST)
				continue;
			return shd_local_fail(err, errno, "cannot make a temporary file");
		}
		int why;
		bool held = hold(sys, temp->fd, temp->lock ? temp->lock : LOCK_SH, &why);
		/* Where nothing can be locked nothing is swept either. */
		if (held && why && temp->lock)
			return shd_fail_os(err, why, "cannot lock");
		if (held)
			return SHERD_OK;
		(void)sys->unlink(sys, temp->dir, temp->name);
		(void)sys->close(sys, temp->fd);
		temp->fd = -1;
		temp->name[0] = 0;
	}
	return shd_fail(err, SHERD_EIO, "io", "cannot make a temporary file: it is always swept");
}

/* 1: this file system has no files without a name. */
static int open_nameless(shd_local *s, shd_local_temp *temp, sherd_error *err)
{
	if (atomic_load(&s->no_nameless))
		return 1;
	temp->fd = SHD_RETRY(s->sys->open(s->sys, temp->dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC,
	                                  temp->mode.known ? 0600 : 0666, 0));
	if (temp->fd < 0) {
		if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)
			return shd_local_fail(err, errno, "cannot make a temporary file");
		atomic_store(&s->no_nameless, true);
		return 1;
	}
	if (temp->lock && s->sys->flock(s->sys, temp->fd, temp->lock | LOCK_NB) < 0)
		return shd_fail_os(err, errno, "cannot lock");
	return SHERD_OK;
}

int shd_local_temp_open(shd_local *s, const char *key, bool named, int lock, const shd_local_mode *mode,
                        shd_local_temp *out, sherd_error *err)
{
	shd_local_temp temp = {.dir = -1, .fd = -1, .lock = lock};
	if (mode)
		temp.mode = *mode;
	int rc = shd_local_open_folder(s, key, &temp.dir, err);
	if (rc == SHERD_OK)
		rc = named ? 1 : open_nameless(s, &temp, err);
	if (rc == 1)
		rc = local_temp_open_named(s, &temp, err);
	if (rc < 0)
		shd_local_temp_done(s, &temp);
	else
		*out = temp;
	return rc;
}

static int copy_bytes(const shd_sys *sys, int from, int to, sherd_error *err)
{
	const size_t size = 1u << 20;
	char *block = malloc(size);
	if (!block)
		return shd_fail_nomem(err);
	int rc = SHERD_OK;
	ssize_t n = 0;
	for (uint64_t at = 0; rc == SHERD_OK; at += (uint64_t)n) {
		n = SHD_RETRY(sys->pread(sys, from, block, size, (off_t)at));
		if (n < 0)
			rc = shd_fail_os(err, errno, "cannot read the temporary file");
		if (n <= 0)
			break;
		rc = shd_local_pwrite(sys, to, block, (size_t)n, at, err);
	}
	free(block);
	return rc;
}

int shd_local_temp_name(shd_local *s, shd_local_temp *temp, sherd_error *err)
{
	shd_local_temp named = {.dir = temp->dir, .fd = -1, .lock = temp->lock, .mode = temp->mode};
	int rc = local_temp_open_named(s, &named, err);
	if (rc == SHERD_OK)
		rc = copy_bytes(s->sys, temp->fd, named.fd, err);
	if (rc == SHERD_OK) {
		(void)s->sys->close(s->sys, temp->fd);
		*temp = named;
	} else {
		named.dir = -1;
		if (named.name[0])
			(void)s->sys->unlink(s->sys, temp->dir, named.name);
		if (named.fd >= 0)
			(void)s->sys->close(s->sys, named.fd);
	}
	return rc;
}

void shd_local_temp_done(shd_local *s, shd_local_temp *temp)
{
	if (temp->name[0])
		(void)s->sys->unlink(s->sys, temp->dir, temp->name);
	if (temp->fd >= 0)
		(void)s->sys->close(s->sys, temp->fd);
	if (temp->dir >= 0)
		(void)s->sys->close(s->sys, temp->dir);
	*temp = SHD_LOCAL_TEMP_NONE;
}
