#include "store/local/local.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

int shd_local_fail(sherd_error *err, int os_errno, const char *fmt, ...)
{
	char text[160];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (os_errno == EXDEV || os_errno == ELOOP)
		return shd_fail(err, SHERD_EUNSUPPORTED, "symlink", "%s: a symbolic link leads out of the store", text);
	return shd_fail_os(err, os_errno, "%s", text);
}

/* Opens one part of a path and follows no link; a link is ELOOP whatever the flags make of it. */
static int open_part(shd_local *s, int dir, const char *part, int flags)
{
	int fd = SHD_RETRY(s->sys->open(s->sys, dir, part, flags | O_NOFOLLOW, 0, 0));
	struct stat st;
	if (fd >= 0) {
		/* O_PATH opens the link itself. */
		if (!(flags & O_PATH) || s->sys->fstat(s->sys, fd, &st) < 0 || !S_ISLNK(st.st_mode))
			return fd;
		(void)s->sys->close(s->sys, fd);
		errno = ELOOP;
	} else if (errno == ENOTDIR) {
		bool link = s->sys->fstatat(s->sys, dir, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
		errno = link ? ELOOP : ENOTDIR;
	}
	return -1;
}

/* Without openat2(): part by part. */
static int walk(shd_local *s, const char *path, int flags)
{
	char part[256];
	int dir = s->root;
	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		int next = open_part(s, dir, part, O_PATH | O_DIRECTORY | O_CLOEXEC);
		int saved = errno;
		if (dir != s->root)
			(void)s->sys->close(s->sys, dir);
		errno = saved;
		if (next < 0)
			return -1;
		dir = next;
	}
	int fd = open_part(s, dir, path, flags);
	int saved = errno;
	if (dir != s->root)
		(void)s->sys->close(s->sys, dir);
	errno = saved;
	return fd;
}

int shd_local_open(shd_local *s, const char *path, int flags)
{
	if (!*path)
		path = ".";
	if (s->follow)
		return SHD_RETRY(s->sys->open(s->sys, s->root, path, flags, 0, 0));
	/* EAGAIN: something was renamed under ".." of a link; a second look settles it. */
	for (int tries = 0; !atomic_load(&s->no_openat2) && tries < 64; tries++) {
		int fd = SHD_RETRY(
			s->sys->open(s->sys, s->root, path, flags, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS));
		if (fd >= 0 || (errno != EAGAIN && errno != ENOSYS))
			return fd;
		if (errno == ENOSYS)
			atomic_store(&s->no_openat2, true);
	}
	return walk(s, path, flags);
}

int shd_local_check_kind(mode_t mode, sherd_error *err)
{
	if (S_ISREG(mode))
		return SHERD_OK;
	if (S_ISDIR(mode))
		return shd_fail(err, SHERD_ENOTFOUND, "is-folder", "a folder, not an object");
	return shd_fail(err, SHERD_EUNSUPPORTED, "not-a-file", "a special file, not an object");
}

/* The commit gives every object the exact time, so that even a reused inode tells it from its predecessor. */
void shd_local_stat_of(const struct stat *st, sherd_stat *out)
{
	uint64_t ns = (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
	int64_t most = INT64_MAX / 1000000000;
	bool counted = st->st_mtim.tv_sec < most && st->st_mtim.tv_sec > -most;
	*out = (sherd_stat){.size = (uint64_t)st->st_size, .mtime_ns = counted ? (int64_t)ns : 0};
	(void)snprintf(out->identity, sizeof(out->identity), "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64,
	               (uint64_t)st->st_dev, (uint64_t)st->st_ino, out->size, ns);
}

int shd_local_stat(sherd_stat *out, shd_local *s, const char *key, sherd_error *err)
{
	int fd = shd_local_open(s, key, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return shd_local_fail(err, errno, "cannot find it");
	struct stat st;
	int rc = SHERD_OK;
	if (s->sys->fstat(s->sys, fd, &st) < 0)
		rc = shd_local_fail(err, errno, "cannot stat");
	(void)s->sys->close(s->sys, fd);
	TRY(rc);
	TRY(shd_local_check_kind(st.st_mode, err));
	shd_local_stat_of(&st, out);
	return SHERD_OK;
}

static int local_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	return shd_local_stat(out, (shd_local *)store, key, err);
}

/* EINVAL: a file system whose folders need no sync. */
int shd_local_sync_folder(const shd_sys *sys, int fd, sherd_error *err)
{
	if (SHD_RETRY(sys->fsync(sys, fd)) < 0 && errno != EINVAL)
		return shd_local_fail(err, errno, "cannot sync the folder");
	return SHERD_OK;
}

/* Makes sure that the folder `part` in the open folder `dir` exists and survives. */
static int make_part(shd_local *s, int dir, const char *part, sherd_error *err)
{
	if (s->sys->mkdir(s->sys, dir, part, 0777) < 0 && errno != EEXIST)
		return shd_local_fail(err, errno, "cannot make the folder %s", part);
	/* Whoever made it may not have come to its sync yet. */
	return shd_local_sync_folder(s->sys, dir, err);
}

/* Makes what is missing of a way below the root and syncs every folder on it; path is used up. */
static int make_way(shd_local *s, char *path, sherd_error *err)
{
	int dir = shd_local_open(s, "", FOLDER_FLAGS);
	int rc = dir < 0 ? shd_local_fail(err, errno, "cannot open the folder") : SHERD_OK;
	for (char *part = path, *slash; rc == SHERD_OK && part; part = slash) {
		slash = strchr(part, '/');
		if (slash)
			*slash = 0;
		rc = make_part(s, dir, part, err);
		(void)s->sys->close(s->sys, dir);
		dir = rc < 0 ? -1 : shd_local_open(s, path, FOLDER_FLAGS);
		if (rc == SHERD_OK && dir < 0)
			rc = errno == ENOTDIR ? shd_fail(err, SHERD_EEXIST, "not-a-folder",
			                                 "%s is an object, not a folder", part)
			                      : shd_local_fail(err, errno, "cannot open the folder %s", part);
		if (slash)
			*slash++ = '/';
	}
	if (dir >= 0)
		(void)s->sys->close(s->sys, dir);
	return rc;
}

static bool is_ready(shd_local *s, const char *folder)
{
	pthread_mutex_lock(&s->mutex);
	bool ready = shd_map_find(&s->ready, shd_str_of(folder)) != SHD_MAP_NONE;
	pthread_mutex_unlock(&s->mutex);
	return ready;
}

/* Forgetting it for want of memory only means to do the work again. */
static void set_ready(shd_local *s, const char *folder)
{
	pthread_mutex_lock(&s->mutex);
	if (shd_map_find(&s->ready, shd_str_of(folder)) == SHD_MAP_NONE) {
		char *copy = shd_arena_str(&s->ready_names, shd_str_of(folder));
		bool ok;
		if (copy)
			(void)shd_map_add(&s->ready, shd_str_of(copy), 0, &ok);
	}
	pthread_mutex_unlock(&s->mutex);
}

static int open_ready_folder(shd_local *s, char *folder, int *fd, sherd_error *err)
{
	if (is_ready(s, folder)) {
		*fd = shd_local_open(s, folder, FOLDER_FLAGS);
		if (*fd >= 0)
			return SHERD_OK;
		if (errno != ENOENT)
			return shd_local_fail(err, errno, "cannot open the folder");
	}
	if (*folder)
		TRY(make_way(s, folder, err));
	*fd = shd_local_open(s, folder, FOLDER_FLAGS);
	if (*fd < 0)
		return shd_local_fail(err, errno, "cannot open the folder");
	shd_local_sweep(s, *fd);
	set_ready(s, folder);
	return SHERD_OK;
}

int shd_local_open_folder(shd_local *s, const char *key, int *fd, sherd_error *err)
{
	char folder[SHERD_MAX_KEY + 1];
	size_t len = (size_t)(shd_str_leaf(key) - key);
	(void)snprintf(folder, sizeof(folder), "%.*s", len ? (int)len - 1 : 0, key);
	return open_ready_folder(s, folder, fd, err);
}

static int local_mkdir(sherd_store *store, const char *key, sherd_error *err)
{
	char path[SHERD_MAX_KEY + 1];
	(void)snprintf(path, sizeof(path), "%s", key);
	return make_way((shd_local *)store, path, err);
}

/* Removes so many of the last parts of a path, as far as they are empty; uses the path up. */
static void remove_made(const shd_sys *sys, char *path, unsigned count)
{
	for (; count > 0 && sys->rmdir(sys, AT_FDCWD, path) == 0; count--) {
		char *slash = strrchr(path, '/');
		while (slash > path && slash[-1] == '/')
			slash--;
		if (!slash)
			return;
		*slash = 0;
	}
}

static void local_close(sherd_store *store)
{
	shd_local *s = (shd_local *)store;
	if (s->root >= 0)
		(void)s->sys->close(s->sys, s->root);
	shd_local_close_queues(s);
	shd_map_done(&s->ready);
	shd_arena_done(&s->ready_names);
	pthread_mutex_destroy(&s->mutex);
	if (s->made_way)
		remove_made(s->sys, s->made_way, s->made);
	free(s->made_way);
	free(s);
}

void shd_local_tidy(sherd_store *store, const char *folder)
{
	shd_local *s = (shd_local *)store;
	if (s->made)
		s->made_way = realpath(folder, NULL);
}

#define LOCAL_OPS(more_caps)                                                                                      \
	{                                                                                                         \
		.scheme = "file",                                                                                 \
		.caps = SHERD_CAP_MAP | SHERD_CAP_DURABLE | SHERD_CAP_LOCK | SHERD_CAP_MKDIR | (more_caps),       \
		.read = shd_local_read, .write = shd_local_write, .list = shd_local_list, .stat = local_stat,     \
		.remove = shd_local_remove, .close = local_close, .mkdir = local_mkdir, .rmdir = shd_local_rmdir, \
		.lock = shd_local_lock, .create_locked = shd_local_create_locked, .link = shd_local_link,         \
		.queue = shd_local_queue,                                                                         \
	}

static const struct sherd_store_ops local_ops = LOCAL_OPS(0);
static const struct sherd_store_ops network_ops = LOCAL_OPS(SHERD_CAP_REMOTE);

/* File systems whose bytes come over a network, by the numbers that statfs gives them. */
static bool is_remote(int root)
{
	static const uint32_t kinds[] = {
		0x6969,     /* NFS */
		0x517b,     /* SMB */
		0xff534d42, /* CIFS */
		0xfe534d42, /* SMB2 */
		0x65735546, /* FUSE */
		0x00c36400, /* Ceph */
		0x0bd00bd0, /* Lustre */
		0x47504653, /* GPFS */
		0x01021997, /* 9P */
		0x5346414f, /* AFS */
	};
	struct statfs fs;
	if (fstatfs(root, &fs) < 0)
		return false;
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if ((uint32_t)fs.f_type == kinds[i])
			return true;
	return false;
}

/* Syncs the folder that holds the entry named by path[0..len). */
static int sync_parent(const shd_sys *sys, const char *path, size_t len, sherd_error *err)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	char *parent = len ? strndup(path, len) : strdup(".");
	if (!parent)
		return shd_fail_nomem(err);
	int fd = SHD_RETRY(sys->open(sys, AT_FDCWD, parent, FOLDER_FLAGS, 0, 0));
	int rc = fd < 0 ? shd_fail_os(err, errno, "cannot open %s", parent) : shd_local_sync_folder(sys, fd, err);
	if (fd >= 0)
		(void)sys->close(sys, fd);
	free(parent);
	return rc;
}

/* Makes one folder of the way to the root; *made counts those that are new, without a gap. */
static int make_root_part(const shd_sys *sys, const char *path, unsigned *made, sherd_error *err)
{
	if (sys->mkdir(sys, AT_FDCWD, path, 0777) < 0) {
		if (errno != EEXIST)
			return shd_fail_os(err, errno, "cannot make the folder");
		*made = 0;
		return SHERD_OK;
	}
	int rc = sync_parent(sys, path, strlen(path), err);
	if (rc == SHERD_OK)
		++*made;
	else
		(void)sys->rmdir(sys, AT_FDCWD, path);
	return rc;
}

/* Makes the folder and its parents; only those that are new are synced, since the way above is not ours. *made is how
 * many of the last parts are new; those go again after a failure. */
static int make_root(const shd_sys *sys, const char *folder, unsigned *made, sherd_error *err)
{
	char *path = strdup(folder);
	if (!path)
		return shd_fail_nomem(err);
	int rc = SHERD_OK;
	for (char *end = path; rc == SHERD_OK && *end;) {
		char *before = end;
		end += strspn(end, "/");
		end += strcspn(end, "/");
		char saved = *end;
		*end = 0;
		rc = make_root_part(sys, path, made, err);
		*end = saved;
		if (rc < 0) {
			*before = 0;
			remove_made(sys, path, *made);
		}
	}
	free(path);
	return rc;
}

/* A quarter of what the process may have open: there may be other stores, and what they write. */
static unsigned most_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 4 >= SHD_LOCAL_DESCRIPTORS)
		return SHD_LOCAL_DESCRIPTORS;
	return (unsigned)(limit.rlim_cur / 4);
}

int shd_store_open_local_sys(sherd_store **out, const char *folder, const sherd_local_options *options,
                             const shd_sys *sys, sherd_error *err)
{
	if (!folder || !*folder)
		return shd_fail(err, SHERD_EINVAL, "bad-path", "the name of the folder is empty");
	shd_local *s = calloc(1, sizeof(*s));
	if (!s)
		return shd_in_object(err, shd_fail_nomem(err), folder);
	s->base.ops = &local_ops;
	s->sys = sys;
	s->root = -1;
	s->most_descriptors = most_descriptors();
	s->follow = options && options->follow_symlinks;
	pthread_mutex_init(&s->mutex, NULL);
	int rc = options && options->create ? make_root(sys, folder, &s->made, err) : SHERD_OK;
	if (rc == SHERD_OK) {
		s->root = SHD_RETRY(sys->open(sys, AT_FDCWD, folder, FOLDER_FLAGS, 0, 0));
		if (s->root < 0) {
			rc = shd_fail_os(err, errno, "cannot open the folder");
			shd_local_tidy(&s->base, folder);
		}
	}
	if (rc < 0) {
		local_close(&s->base);
		return shd_in_object(err, rc, folder);
	}
	if (is_remote(s->root))
		s->base.ops = &network_ops;
	*out = &s->base;
	return SHERD_OK;
}

int sherd_store_open_local(sherd_store **out, const char *folder, const sherd_local_options *options, sherd_error *err)
{
	return shd_store_open_local_sys(out, folder, options, &shd_sys_linux, err);
}
