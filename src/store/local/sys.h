/* store/local/sys.h - the system calls of the local store, as a table.
 *
 * What the local store promises about crashes is decided by the order of these
 * calls, so tests put their own table here: one that fails the nth call, one
 * that keeps a log of what a power loss may leave. Results and errno are those
 * of the system calls of the same name. A table must be usable from several
 * threads at once. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

typedef struct shd_sys shd_sys;

struct shd_sys {
	/* openat(), or openat2() with these RESOLVE_ flags when they are not 0. */
	int (*open)(const shd_sys *sys, int dir, const char *path, int flags, mode_t mode, uint64_t resolve);
	int (*close)(const shd_sys *sys, int fd);
	ssize_t (*pread)(const shd_sys *sys, int fd, void *buf, size_t len, off_t offset);
	ssize_t (*pwrite)(const shd_sys *sys, int fd, const void *buf, size_t len, off_t offset);
	int (*fsync)(const shd_sys *sys, int fd);
	/* fallocate() from the start, which makes the file that long, and ftruncate(). A table without queues may do
	 * without these (NULL). */
	int (*allocate)(const shd_sys *sys, int fd, off_t len);
	int (*truncate)(const shd_sys *sys, int fd, off_t len);
	/* Starts write-back and does not wait for it: sync_file_range(WRITE). */
	int (*start_sync)(const shd_sys *sys, int fd, off_t offset, off_t len);
	int (*fstat)(const shd_sys *sys, int fd, struct stat *out);
	int (*fstatat)(const shd_sys *sys, int dir, const char *name, struct stat *out, int flags);
	/* futimens() of the time of modification alone. */
	int (*set_mtime)(const shd_sys *sys, int fd, struct timespec mtime);
	/* fchown() and fchmod(). */
	int (*chown)(const shd_sys *sys, int fd, uid_t owner, gid_t group);
	int (*chmod)(const shd_sys *sys, int fd, mode_t mode);
	/* Gives a file without a name one; EEXIST when the name is taken. */
	int (*link_nameless)(const shd_sys *sys, int fd, int dir, const char *name);
	/* linkat() and renameat2() within one folder. */
	int (*link)(const shd_sys *sys, int dir, const char *from, const char *to);
	int (*rename)(const shd_sys *sys, int dir, const char *from, const char *to, unsigned flags);
	int (*unlink)(const shd_sys *sys, int dir, const char *name);
	int (*mkdir)(const shd_sys *sys, int dir, const char *path, mode_t mode);
	int (*rmdir)(const shd_sys *sys, int dir, const char *name);
	int (*flock)(const shd_sys *sys, int fd, int operation);
	/* mmap() for reading, shared, from the start; MAP_FAILED on failure. */
	void *(*map)(const shd_sys *sys, int fd, size_t len);
	int (*unmap)(const shd_sys *sys, void *start, size_t len);
	/* Reads and writes that are begun and waited for: io_setup(2), io_submit(2), io_getevents(2), io_destroy(2). A
	 * table may do without (NULL). The result of one is as that of pread() and pwrite(), or a negative errno. */
	int (*queue_open)(const shd_sys *sys, unsigned depth, unsigned long *queue);
	int (*queue_read)(const shd_sys *sys, unsigned long queue, uint64_t tag, int fd, void *buf, size_t len,
	                  off_t offset);
	int (*queue_write)(const shd_sys *sys, unsigned long queue, uint64_t tag, int fd, const void *buf, size_t len,
	                   off_t offset);
	int (*queue_wait)(const shd_sys *sys, unsigned long queue, uint64_t *tag, int64_t *result);
	void (*queue_close)(const shd_sys *sys, unsigned long queue); /* waits for what is under way */
	/* Fills buf with struct dirent64 records. */
	ssize_t (*getdents)(const shd_sys *sys, int fd, void *buf, size_t len);
};

extern const shd_sys shd_sys_linux;
