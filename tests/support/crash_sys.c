#include "support/crash_sys.h"

#include "support/crash_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The table that does the work. */
#define REAL (of(sys)->below)
#define UNKNOWN SIZE_MAX

static void *must(void *p)
{
	if (!p) {
		perror("crash_sys");
		abort();
	}
	return p;
}

/* The library sees the table as constant; the log is the test's. */
static crash_sys *of(const shd_sys *sys)
{
	return (crash_sys *)(uintptr_t)sys;
}

/* The log; all of the following with the mutex held. */

static size_t find_node(const crash_sys *c, const struct stat *st)
{
	for (size_t i = 0; i < c->node_count; i++)
		if (c->nodes[i].ino == st->st_ino && c->nodes[i].dev == st->st_dev)
			return i;
	return UNKNOWN;
}

static size_t node_of(const crash_sys *c, int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 ? find_node(c, &st) : UNKNOWN;
}

static size_t node_at(const crash_sys *c, int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? find_node(c, &st) : UNKNOWN;
}

/* Opened anew as a mere reference, because a duplicate would also hold its locks. */
static size_t add_node(crash_sys *c, int fd)
{
	char path[40];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct stat st;
	int held = open(path, O_PATH | O_CLOEXEC);
	if (held < 0 || fstat(fd, &st) < 0)
		must(NULL);
	c->nodes = must(realloc(c->nodes, (c->node_count + 1) * sizeof(*c->nodes)));
	c->nodes[c->node_count] =
		(crash_node){.dev = st.st_dev, .ino = st.st_ino, .folder = S_ISDIR(st.st_mode), .held = held};
	return c->node_count++;
}

static crash_op *add_op(crash_sys *c, crash_kind kind, size_t where, const char *what)
{
	if (where == UNKNOWN) {
		(void)fprintf(stderr, "crash_sys: %s outside of the folder\n", what);
		abort();
	}
	c->ops = must(realloc(c->ops, (c->op_count + 1) * sizeof(*c->ops)));
	crash_op *op = &c->ops[c->op_count++];
	*op = (crash_op){.kind = kind, .where = where, .node = UNKNOWN};
	(void)snprintf(op->text, sizeof(op->text), "%s", what);
	return op;
}

static void add_name(crash_sys *c, crash_kind kind, size_t dir, const char *from, const char *name, size_t node)
{
	static const char *const words[] = {"write", "link", "unlink", "rename", "sync"};
	char what[320];
	(void)snprintf(what, sizeof(what), "%s %.100s %.100s", words[kind], from, name);
	crash_op *op = add_op(c, kind, dir, what);
	op->node = node;
	(void)snprintf(op->from, sizeof(op->from), "%s", from);
	(void)snprintf(op->name, sizeof(op->name), "%s", name);
}

/* The calls */

static int crash_open(const shd_sys *sys, int dir, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	crash_sys *c = of(sys);
	bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
	if (!(flags & O_CREAT) && !nameless)
		return REAL->open(REAL, dir, path, flags, mode, resolve);
	if ((!nameless && !(flags & O_EXCL)) || (flags & O_TRUNC) || strchr(path, '/'))
		must(NULL);
	pthread_mutex_lock(&c->mutex);
	int fd = REAL->open(REAL, dir, path, flags, mode, resolve);
	if (fd >= 0) {
		size_t node = add_node(c, fd);
		if (!nameless)
			add_name(c, CRASH_LINK, node_of(c, dir), "", path, node);
	}
	pthread_mutex_unlock(&c->mutex);
	return fd;
}

static int crash_close(const shd_sys *sys, int fd)
{
	return REAL->close(REAL, fd);
}

static ssize_t crash_pread(const shd_sys *sys, int fd, void *buf, size_t len, off_t offset)
{
	return REAL->pread(REAL, fd, buf, len, offset);
}

static ssize_t crash_pwrite(const shd_sys *sys, int fd, const void *buf, size_t len, off_t offset)
{
	crash_sys *c = of(sys);
	pthread_mutex_lock(&c->mutex);
	ssize_t n = REAL->pwrite(REAL, fd, buf, len, offset);
	if (n > 0) {
		char what[80];
		(void)snprintf(what, sizeof(what), "write %zd bytes at %lld", n, (long long)offset);
		crash_op *op = add_op(c, CRASH_WRITE, node_of(c, fd), what);
		op->offset = (uint64_t)offset;
		op->len = (size_t)n;
		op->bytes = must(malloc((size_t)n));
		memcpy(op->bytes, buf, (size_t)n);
	}
	pthread_mutex_unlock(&c->mutex);
	return n;
}

static int crash_fsync(const shd_sys *sys, int fd)
{
	crash_sys *c = of(sys);
	int rc = 0;
	pthread_mutex_lock(&c->mutex);
	size_t node = node_of(c, fd);
	bool folder = node != UNKNOWN && c->nodes[node].folder;
	if (node != UNKNOWN && !(folder ? c->drop_folder_syncs : c->drop_file_syncs)) {
		rc = REAL->fsync(REAL, fd);
		if (rc == 0)
			(void)add_op(c, CRASH_SYNC, node, folder ? "sync a folder" : "sync a file");
	}
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

static int crash_start_sync(const shd_sys *sys, int fd, off_t offset, off_t len)
{
	return REAL->start_sync(REAL, fd, offset, len);
}

static int crash_fstat(const shd_sys *sys, int fd, struct stat *out)
{
	return REAL->fstat(REAL, fd, out);
}

static int crash_fstatat(const shd_sys *sys, int dir, const char *name, struct stat *out, int flags)
{
	return REAL->fstatat(REAL, dir, name, out, flags);
}

static int crash_set_mtime(const shd_sys *sys, int fd, struct timespec mtime)
{
	return REAL->set_mtime(REAL, fd, mtime);
}

static int crash_chown(const shd_sys *sys, int fd, uid_t owner, gid_t group)
{
	return REAL->chown(REAL, fd, owner, group);
}

static int crash_chmod(const shd_sys *sys, int fd, mode_t mode)
{
	return REAL->chmod(REAL, fd, mode);
}

static int crash_link_nameless(const shd_sys *sys, int fd, int dir, const char *name)
{
	crash_sys *c = of(sys);
	pthread_mutex_lock(&c->mutex);
	int rc = REAL->link_nameless(REAL, fd, dir, name);
	if (rc == 0)
		add_name(c, CRASH_LINK, node_of(c, dir), "", name, node_of(c, fd));
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

static int crash_link(const shd_sys *sys, int dir, const char *from, const char *to)
{
	crash_sys *c = of(sys);
	pthread_mutex_lock(&c->mutex);
	int rc = REAL->link(REAL, dir, from, to);
	if (rc == 0)
		add_name(c, CRASH_LINK, node_of(c, dir), "", to, node_at(c, dir, to));
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

static int crash_rename(const shd_sys *sys, int dir, const char *from, const char *to, unsigned flags)
{
	crash_sys *c = of(sys);
	pthread_mutex_lock(&c->mutex);
	int rc = REAL->rename(REAL, dir, from, to, flags);
	if (rc == 0)
		add_name(c, CRASH_RENAME, node_of(c, dir), from, to, node_at(c, dir, to));
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

static int crash_unlink(const shd_sys *sys, int dir, const char *name)
{
	crash_sys *c = of(sys);
	pthread_mutex_lock(&c->mutex);
	int rc = REAL->unlink(REAL, dir, name);
	if (rc == 0)
		add_name(c, CRASH_UNLINK, node_of(c, dir), "", name, UNKNOWN);
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

static int crash_mkdir(const shd_sys *sys, int dir, const char *path, mode_t mode)
{
	crash_sys *c = of(sys);
	/* The way to the folder itself is not part of the experiment. */
	if (dir == AT_FDCWD)
		return REAL->mkdir(REAL, dir, path, mode);
	pthread_mutex_lock(&c->mutex);
	int rc = REAL->mkdir(REAL, dir, path, mode);
	if (rc == 0) {
		int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		add_name(c, CRASH_LINK, node_of(c, dir), "", path, add_node(c, fd));
		close(fd);
	}
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

/* The states keep the folder, with nothing in it: as if this had never become durable. */
static int crash_rmdir(const shd_sys *sys, int dir, const char *name)
{
	(void)sys;
	return REAL->rmdir(REAL, dir, name);
}

static int crash_flock(const shd_sys *sys, int fd, int operation)
{
	return REAL->flock(REAL, fd, operation);
}

static void *crash_map(const shd_sys *sys, int fd, size_t len)
{
	return REAL->map(REAL, fd, len);
}

static int crash_unmap(const shd_sys *sys, void *start, size_t len)
{
	return REAL->unmap(REAL, start, len);
}

static ssize_t crash_getdents(const shd_sys *sys, int fd, void *buf, size_t len)
{
	return REAL->getdents(REAL, fd, buf, len);
}

static const shd_sys table = {
	.open = crash_open,
	.close = crash_close,
	.pread = crash_pread,
	.pwrite = crash_pwrite,
	.fsync = crash_fsync,
	.start_sync = crash_start_sync,
	.fstat = crash_fstat,
	.fstatat = crash_fstatat,
	.set_mtime = crash_set_mtime,
	.chown = crash_chown,
	.chmod = crash_chmod,
	.link_nameless = crash_link_nameless,
	.link = crash_link,
	.rename = crash_rename,
	.unlink = crash_unlink,
	.mkdir = crash_mkdir,
	.rmdir = crash_rmdir,
	.flock = crash_flock,
	.map = crash_map,
	.unmap = crash_unmap,
	.getdents = crash_getdents,
};

/* The beginning */

static void snapshot_file(crash_node *node, int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		must(NULL);
	node->size = (size_t)st.st_size;
	node->bytes = must(malloc(node->size + 1));
	if (pread(fd, node->bytes, node->size, 0) != (ssize_t)node->size)
		must(NULL);
}

static void snapshot_folder(crash_sys *c, int fd, size_t self)
{
	DIR *d = must(fdopendir(dup(fd)));
	for (struct dirent *e; (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		int child = openat(fd, e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0)
			must(NULL);
		size_t node = node_of(c, child);
		if (node == UNKNOWN)
			node = add_node(c, child);
		add_name(c, CRASH_LINK, self, "", e->d_name, node);
		if (c->nodes[node].folder)
			snapshot_folder(c, child, node);
		else if (!c->nodes[node].bytes)
			snapshot_file(&c->nodes[node], child);
		close(child);
	}
	closedir(d);
}

crash_sys *crash_sys_new(const char *folder)
{
	return crash_sys_new_over(folder, &shd_sys_linux);
}

crash_sys *crash_sys_new_over(const char *folder, const shd_sys *below)
{
	crash_sys *c = must(calloc(1, sizeof(*c)));
	c->sys = table;
	c->below = below;
	pthread_mutex_init(&c->mutex, NULL);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		must(NULL);
	size_t root = add_node(c, fd);
	snapshot_folder(c, fd, root);
	close(fd);
	c->initial = c->op_count;
	return c;
}

void crash_sys_free(crash_sys *c)
{
	for (size_t i = 0; i < c->node_count; i++) {
		close(c->nodes[i].held);
		free(c->nodes[i].bytes);
	}
	for (size_t i = 0; i < c->op_count; i++)
		free(c->ops[i].bytes);
	free(c->nodes);
	free(c->ops);
	pthread_mutex_destroy(&c->mutex);
	free(c);
}

const shd_sys *crash_sys_table(crash_sys *c)
{
	return &c->sys;
}

void crash_sys_drop_syncs(crash_sys *c, bool files, bool folders)
{
	c->drop_file_syncs = files;
	c->drop_folder_syncs = folders;
}

size_t crash_sys_points(crash_sys *c)
{
	pthread_mutex_lock(&c->mutex);
	size_t points = c->op_count - c->initial;
	pthread_mutex_unlock(&c->mutex);
	return points;
}

const char *crash_sys_describe(crash_sys *c, size_t k)
{
	return k < c->op_count - c->initial ? c->ops[c->initial + k].text : "the end";
}
