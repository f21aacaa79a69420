#include "store/local/sys.h"

#include <fcntl.h>
#include <stdbool.h>
#include <linux/aio_abi.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int linux_open(const shd_sys *sys, int dir, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	(void)sys;
	if (resolve == 0)
		return openat(dir, path, flags, mode);
	/* openat2() refuses a mode where nothing is created. */
	bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags, .mode = creates ? (uint64_t)mode : 0, .resolve = resolve};
	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static int linux_close(const shd_sys *sys, int fd)
{
	(void)sys;
	return close(fd);
}

static ssize_t linux_pread(const shd_sys *sys, int fd, void *buf, size_t len, off_t offset)
{
	(void)sys;
	return pread(fd, buf, len, offset);
}

static ssize_t linux_pwrite(const shd_sys *sys, int fd, const void *buf, size_t len, off_t offset)
{
	(void)sys;
	return pwrite(fd, buf, len, offset);
}

static int linux_fsync(const shd_sys *sys, int fd)
{
	(void)sys;
	return fsync(fd);
}

static int linux_allocate(const shd_sys *sys, int fd, off_t len)
{
	(void)sys;
	return fallocate(fd, 0, 0, len);
}

static int linux_truncate(const shd_sys *sys, int fd, off_t len)
{
	(void)sys;
	return ftruncate(fd, len);
}

static int linux_start_sync(const shd_sys *sys, int fd, off_t offset, off_t len)
{
	(void)sys;
	return sync_file_range(fd, offset, len, SYNC_FILE_RANGE_WRITE);
}

static int linux_fstat(const shd_sys *sys, int fd, struct stat *out)
{
	(void)sys;
	return fstat(fd, out);
}

static int linux_fstatat(const shd_sys *sys, int dir, const char *name, struct stat *out, int flags)
{
	(void)sys;
	return fstatat(dir, name, out, flags);
}

static int linux_set_mtime(const shd_sys *sys, int fd, struct timespec mtime)
{
	(void)sys;
	return futimens(fd, (struct timespec[2]){{.tv_nsec = UTIME_OMIT}, mtime});
}

static int linux_chown(const shd_sys *sys, int fd, uid_t owner, gid_t group)
{
	(void)sys;
	return fchown(fd, owner, group);
}

static int linux_chmod(const shd_sys *sys, int fd, mode_t mode)
{
	(void)sys;
	return fchmod(fd, mode);
}

static int linux_link_nameless(const shd_sys *sys, int fd, int dir, const char *name)
{
	(void)sys;
	char path[32];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW);
}

static int linux_link(const shd_sys *sys, int dir, const char *from, const char *to)
{
	(void)sys;
	return linkat(dir, from, dir, to, 0);
}

static int linux_rename(const shd_sys *sys, int dir, const char *from, const char *to, unsigned flags)
{
	(void)sys;
	return flags ? renameat2(dir, from, dir, to, flags) : renameat(dir, from, dir, to);
}

static int linux_unlink(const shd_sys *sys, int dir, const char *name)
{
	(void)sys;
	return unlinkat(dir, name, 0);
}

static int linux_mkdir(const shd_sys *sys, int dir, const char *path, mode_t mode)
{
	(void)sys;
	return mkdirat(dir, path, mode);
}

static int linux_rmdir(const shd_sys *sys, int dir, const char *name)
{
	(void)sys;
	return unlinkat(dir, name, AT_REMOVEDIR);
}

static int linux_flock(const shd_sys *sys, int fd, int operation)
{
	(void)sys;
	return flock(fd, operation);
}

static void *linux_map(const shd_sys *sys, int fd, size_t len)
{
	(void)sys;
	return mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
}

static int linux_unmap(const shd_sys *sys, void *start, size_t len)
{
	(void)sys;
	return munmap(start, len);
}

static int linux_queue_open(const shd_sys *sys, unsigned depth, unsigned long *queue)
{
	(void)sys;
	aio_context_t context = 0;
	long rc = syscall(SYS_io_setup, depth, &context);
	*queue = context;
	return rc < 0 ? -1 : 0;
}

static int begin_io(unsigned long queue, struct iocb *io)
{
	struct iocb *list[] = {io};
	return syscall(SYS_io_submit, queue, 1L, list) == 1 ? 0 : -1;
}

static int linux_queue_read(const shd_sys *sys, unsigned long queue, uint64_t tag, int fd, void *buf, size_t len,
                            off_t offset)
{
	(void)sys;
	struct iocb read = {
		.aio_data = tag,
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)fd,
		.aio_buf = (uint64_t)(uintptr_t)buf,
		.aio_nbytes = len,
		.aio_offset = offset,
	};
	return begin_io(queue, &read);
}

static int linux_queue_write(const shd_sys *sys, unsigned long queue, uint64_t tag, int fd, const void *buf, size_t len,
                             off_t offset)
{
	(void)sys;
	struct iocb write = {
		.aio_data = tag,
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_fildes = (uint32_t)fd,
		.aio_buf = (uint64_t)(uintptr_t)buf,
		.aio_nbytes = len,
		.aio_offset = offset,
	};
	return begin_io(queue, &write);
}

static int linux_queue_wait(const shd_sys *sys, unsigned long queue, uint64_t *tag, int64_t *result)
{
	(void)sys;
	struct io_event event = {0};
	if (syscall(SYS_io_getevents, queue, 1L, 1L, &event, NULL) != 1)
		return -1;
	*tag = event.data;
	*result = event.res;
	return 0;
}

static void linux_queue_close(const shd_sys *sys, unsigned long queue)
{
	(void)sys;
	(void)syscall(SYS_io_destroy, queue);
}

static ssize_t linux_getdents(const shd_sys *sys, int fd, void *buf, size_t len)
{
	(void)sys;
	return syscall(SYS_getdents64, fd, buf, len);
}

const shd_sys shd_sys_linux = {
	.open = linux_open,
	.close = linux_close,
	.pread = linux_pread,
	.pwrite = linux_pwrite,
	.fsync = linux_fsync,
	.allocate = linux_allocate,
	.truncate = linux_truncate,
	.start_sync = linux_start_sync,
	.fstat = linux_fstat,
	.fstatat = linux_fstatat,
	.set_mtime = linux_set_mtime,
	.chown = linux_chown,
	.chmod = linux_chmod,
	.link_nameless = linux_link_nameless,
	.link = linux_link,
	.rename = linux_rename,
	.unlink = linux_unlink,
	.mkdir = linux_mkdir,
	.rmdir = linux_rmdir,
	.flock = linux_flock,
	.map = linux_map,
	.unmap = linux_unmap,
	.queue_open = linux_queue_open,
	.queue_read = linux_queue_read,
	.queue_write = linux_queue_write,
	.queue_wait = linux_queue_wait,
	.queue_close = linux_queue_close,
	.getdents = linux_getdents,
};
