#include "support/fail_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define REAL (&shd_sys_linux)

static bool fails(const shd_sys *sys, const char *name)
{
	/* The library sees the table as constant; what counts is the test's. */
	fail_sys *f = (fail_sys *)(uintptr_t)sys;
	if (f->only && strcmp(f->only, name) != 0)
		return false;
	if (atomic_load(&f->countdown) <= 0 || atomic_fetch_sub(&f->countdown, 1) != 1)
		return false;
	atomic_store(&f->hit, true);
	errno = f->os_errno;
	return true;
}

static bool refuses(const shd_sys *sys, unsigned what, int os_errno)
{
	if (!(((const fail_sys *)sys)->refuse & what))
		return false;
	errno = os_errno;
	return true;
}

static bool interrupts(const shd_sys *sys)
{
	fail_sys *f = (fail_sys *)(uintptr_t)sys;
	if (!f->stutter || atomic_fetch_add(&f->calls, 1) % 3 != 2)
		return false;
	errno = EINTR;
	return true;
}

static size_t portion(const shd_sys *sys, size_t len)
{
	return ((const fail_sys *)sys)->stutter && len > 777 ? 777 : len;
}

static int fail_open(const shd_sys *sys, int dir, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	if (fails(sys, "open") || interrupts(sys) || (resolve && refuses(sys, FAIL_SYS_NO_OPENAT2, ENOSYS)))
		return -1;
	if ((flags & O_TMPFILE) == O_TMPFILE && refuses(sys, FAIL_SYS_NO_TMPFILE, EOPNOTSUPP))
		return -1;
	return REAL->open(REAL, dir, path, flags, mode, resolve);
}

static int fail_close(const shd_sys *sys, int fd)
{
	(void)sys;
	return REAL->close(REAL, fd);
}

static ssize_t fail_pread(const shd_sys *sys, int fd, void *buf, size_t len, off_t offset)
{
	if (fails(sys, "pread") || interrupts(sys))
		return -1;
	return REAL->pread(REAL, fd, buf, portion(sys, len), offset);
}

static ssize_t fail_pwrite(const shd_sys *sys, int fd, const void *buf, size_t len, off_t offset)
{
	if (fails(sys, "pwrite") || interrupts(sys))
		return -1;
	return REAL->pwrite(REAL, fd, buf, portion(sys, len), offset);
}

static int fail_fsync(const shd_sys *sys, int fd)
{
	return fails(sys, "fsync") || interrupts(sys) ? -1 : REAL->fsync(REAL, fd);
}

static int fail_start_sync(const shd_sys *sys, int fd, off_t offset, off_t len)
{
	return fails(sys, "start_sync") ? -1 : REAL->start_sync(REAL, fd, offset, len);
}

static int fail_fstat(const shd_sys *sys, int fd, struct stat *out)
{
	return fails(sys, "fstat") ? -1 : REAL->fstat(REAL, fd, out);
}

static int fail_fstatat(const shd_sys *sys, int dir, const char *name, struct stat *out, int flags)
{
	return fails(sys, "fstatat") ? -1 : REAL->fstatat(REAL, dir, name, out, flags);
}

static int fail_set_mtime(const shd_sys *sys, int fd, struct timespec mtime)
{
	return fails(sys, "set_mtime") ? -1 : REAL->set_mtime(REAL, fd, mtime);
}

static int fail_chown(const shd_sys *sys, int fd, uid_t owner, gid_t group)
{
	if (fails(sys, "chown") || refuses(sys, FAIL_SYS_NO_CHOWN, EPERM))
		return -1;
	return REAL->chown(REAL, fd, owner, group);
}

static int fail_chmod(const shd_sys *sys, int fd, mode_t mode)
{
	return fails(sys, "chmod") ? -1 : REAL->chmod(REAL, fd, mode);
}

static int fail_link_nameless(const shd_sys *sys, int fd, int dir, const char *name)
{
	if (fails(sys, "link_nameless") || refuses(sys, FAIL_SYS_NO_LINK, EPERM))
		return -1;
	return REAL->link_nameless(REAL, fd, dir, name);
}

static int fail_link(const shd_sys *sys, int dir, const char *from, const char *to)
{
	if (fails(sys, "link") || refuses(sys, FAIL_SYS_NO_LINK, EPERM))
		return -1;
	return REAL->link(REAL, dir, from, to);
}

static int fail_rename(const shd_sys *sys, int dir, const char *from, const char *to, unsigned flags)
{
	if (fails(sys, "rename") || (flags && refuses(sys, FAIL_SYS_NO_NOREPLACE, EINVAL)))
		return -1;
	return REAL->rename(REAL, dir, from, to, flags);
}

static int fail_unlink(const shd_sys *sys, int dir, const char *name)
{
	return fails(sys, "unlink") ? -1 : REAL->unlink(REAL, dir, name);
}

static int fail_mkdir(const shd_sys *sys, int dir, const char *path, mode_t mode)
{
	return fails(sys, "mkdir") ? -1 : REAL->mkdir(REAL, dir, path, mode);
}

static int fail_rmdir(const shd_sys *sys, int dir, const char *name)
{
	return fails(sys, "rmdir") ? -1 : REAL->rmdir(REAL, dir, name);
}

static int fail_flock(const shd_sys *sys, int fd, int operation)
{
	if (fails(sys, "flock") || refuses(sys, FAIL_SYS_NO_FLOCK, ENOLCK))
		return -1;
	return REAL->flock(REAL, fd, operation);
}

static void *fail_map(const shd_sys *sys, int fd, size_t len)
{
	if (fails(sys, "map") || refuses(sys, FAIL_SYS_NO_MAP, ENOMEM))
		return MAP_FAILED;
	return REAL->map(REAL, fd, len);
}

static int fail_unmap(const shd_sys *sys, void *start, size_t len)
{
	(void)sys;
	return REAL->unmap(REAL, start, len);
}

static ssize_t fail_getdents(const shd_sys *sys, int fd, void *buf, size_t len)
{
	return fails(sys, "getdents") ? -1 : REAL->getdents(REAL, fd, buf, len);
}

void fail_sys_init(fail_sys *f)
{
	*f = (fail_sys){.sys = {
				.open = fail_open,
				.close = fail_close,
				.pread = fail_pread,
				.pwrite = fail_pwrite,
				.fsync = fail_fsync,
				.start_sync = fail_start_sync,
				.fstat = fail_fstat,
				.fstatat = fail_fstatat,
				.set_mtime = fail_set_mtime,
				.chown = fail_chown,
				.chmod = fail_chmod,
				.link_nameless = fail_link_nameless,
				.link = fail_link,
				.rename = fail_rename,
				.unlink = fail_unlink,
				.mkdir = fail_mkdir,
				.rmdir = fail_rmdir,
				.flock = fail_flock,
				.map = fail_map,
				.unmap = fail_unmap,
				.getdents = fail_getdents,
			}};
}

void fail_sys_at(fail_sys *f, long nth, const char *only, int os_errno)
{
	f->only = only;
	f->os_errno = os_errno;
	atomic_store(&f->hit, false);
	atomic_store(&f->countdown, nth);
}
