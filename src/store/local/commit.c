/* store/local/commit.c - how a temporary file becomes an object, and how an object goes.
 *
 * 1. No name of an object ever points to bytes that are not durable: the file is synced before it gets the name.
 * 2. A name appears or changes in one step of the file system: link, rename.
 * 3. Commit and remove return only after the folder that holds the name is synced; the way to that folder was
 *    synced when it was first opened for writing.
 *    Neither is true of what is fleeting: nobody relies on it after a crash.
 * 4. Replacing and removing happen under a lock on the folder, so that what a conditional replacement compared is
 *    still there when it renames. The folder is locked, not the object: locks on objects belong to the user. */
#include "store/local/local.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

/* The kernel's own time stamps are as coarse as its clock tick; identities need finer ones. */
static int sync_file(const shd_sys *sys, const shd_local_temp *temp, sherd_error *err)
{
	struct timespec now;
	int fd = temp->fd;
	TRY(shd_local_mode_keep(sys, fd, &temp->mode, err));
	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (sys->set_mtime(sys, fd, now) < 0)
		return shd_fail_os(err, errno, "cannot set the time");
	if (!temp->fleeting && SHD_RETRY(sys->fsync(sys, fd)) < 0)
		return shd_fail_os(err, errno, "cannot sync");
	return SHERD_OK;
}

static bool is_refusal(int os_errno)
{
	return os_errno == EPERM || os_errno == EOPNOTSUPP || os_errno == ENOSYS || os_errno == EINVAL ||
	       os_errno == EMLINK;
}

static int cannot_name(const shd_sys *sys, int dir, const char *leaf, int os_errno, sherd_error *err)
{
	struct stat there;
	if (os_errno == EEXIST && sys->fstatat(sys, dir, leaf, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(there.st_mode))
		return shd_fail(err, SHERD_EEXIST, "is-folder", "a folder is in its place");
	if (os_errno == EEXIST)
		return shd_fail(err, SHERD_EEXIST, "exists", "the object exists");
	return shd_local_fail(err, os_errno, "cannot give it its name");
}

/* Gives a named temporary file the object's name, unless that is taken. */
static int publish_named(shd_local *s, shd_local_temp *temp, const char *leaf, sherd_error *err)
{
	const shd_sys *sys = s->sys;
	if (sys->rename(sys, temp->dir, temp->name, leaf, RENAME_NOREPLACE) == 0) {
		temp->name[0] = 0;
		return SHERD_OK;
	}
	if (is_refusal(errno)) {
		/* The temporary name goes when the temporary file is done with. */
		if (sys->link(sys, temp->dir, temp->name, leaf) == 0)
			return SHERD_OK;
		if (is_refusal(errno))
			return shd_fail(err, SHERD_EUNSUPPORTED, "no-exclusive",
			                "this file system can neither link nor rename exclusively");
	}
	return cannot_name(sys, temp->dir, leaf, errno, err);
}

static int publish_new(shd_local *s, shd_local_temp *temp, const char *leaf, sherd_error *err)
{
	if (temp->name[0])
		return publish_named(s, temp, leaf, err);
	if (s->sys->link_nameless(s->sys, temp->fd, temp->dir, leaf) == 0)
		return SHERD_OK;
	/* ENOENT: no /proc to link through, or no folder any more, which the copy will find out. */
	if (!is_refusal(errno) && errno != ENOENT)
		return cannot_name(s->sys, temp->dir, leaf, errno, err);
	atomic_store(&s->no_nameless, true);
	TRY(shd_local_temp_name(s, temp, err));
	TRY(sync_file(s->sys, temp, err));
	return publish_named(s, temp, leaf, err);
}

/* 1: the folder cannot be locked here. */
static int lock_folder(const shd_sys *sys, int dir, sherd_error *err)
{
	if (SHD_RETRY(sys->flock(sys, dir, LOCK_EX)) == 0)
		return SHERD_OK;
	if (errno == EBADF || errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)
		return 1;
	return shd_fail_os(err, errno, "cannot lock the folder");
}

/* Takes the name away again, if it is still that of our file. */
static void unpublish(shd_local *s, const shd_local_temp *temp, const char *leaf)
{
	struct stat ours, there;
	const shd_sys *sys = s->sys;
	int locked = lock_folder(sys, temp->dir, NULL);
	if (sys->fstat(sys, temp->fd, &ours) == 0 &&
	    sys->fstatat(sys, temp->dir, leaf, &there, AT_SYMLINK_NOFOLLOW) == 0 && ours.st_ino == there.st_ino &&
	    ours.st_dev == there.st_dev)
		(void)sys->unlink(sys, temp->dir, leaf);
	if (locked == SHERD_OK)
		(void)sys->flock(sys, temp->dir, LOCK_UN);
}

int shd_local_commit_new(shd_local *s, shd_local_temp *temp, const char *key, sherd_error *err)
{
	const char *leaf = shd_str_leaf(key);
	TRY(sync_file(s->sys, temp, err));
	TRY(publish_new(s, temp, leaf, err));
	int rc = temp->fleeting ? SHERD_OK : shd_local_sync_folder(s->sys, temp->dir, err);
	if (rc < 0)
		unpublish(s, temp, leaf);
	return rc;
}

static int check_identity(shd_local *s, const char *key, const char *identity, sherd_error *err)
{
	sherd_stat stat;
	int rc = shd_local_stat(&stat, s, key, err);
	if (rc == SHERD_ENOTFOUND)
		return shd_fail(err, SHERD_ECONFLICT, "replaced", "the object was removed");
	TRY(rc);
	if (strcmp(stat.identity, identity) != 0)
		return shd_fail(err, SHERD_ECONFLICT, "replaced", "the object was replaced");
	return SHERD_OK;
}

/* What is no file is not ours to replace: who names /dev/null does not want a file there. */
static int check_replaceable(const shd_sys *sys, int dir, const char *leaf, sherd_error *err)
{
	struct stat there;
	if (sys->fstatat(sys, dir, leaf, &there, 0) < 0 || S_ISDIR(there.st_mode))
		return SHERD_OK; /* renaming will tell */
	return shd_local_check_kind(there.st_mode, err);
}

int shd_local_commit_over(shd_local *s, shd_local_temp *temp, const char *key, const char *if_identity,
                          sherd_error *err)
{
	const shd_sys *sys = s->sys;
	const char *leaf = shd_str_leaf(key);
	TRY(sync_file(sys, temp, err));
	int locked = lock_folder(sys, temp->dir, err);
	TRY(locked);
	int rc = check_replaceable(sys, temp->dir, leaf, err);
	if (rc == SHERD_OK && if_identity && locked == 1)
		rc = shd_fail(err, SHERD_EUNSUPPORTED, "no-lock",
		              "a conditional replacement needs a lock on the folder");
	else if (rc == SHERD_OK && if_identity)
		rc = check_identity(s, key, if_identity, err);
	if (rc == SHERD_OK && sys->rename(sys, temp->dir, temp->name, leaf, 0) < 0)
		rc = errno == EISDIR ? shd_fail(err, SHERD_EEXIST, "is-folder", "a folder is in its place")
		                     : shd_local_fail(err, errno, "cannot give it its name");
	else if (rc == SHERD_OK)
		temp->name[0] = 0;
	if (locked == SHERD_OK)
		(void)sys->flock(sys, temp->dir, LOCK_UN);
	TRY(rc);
	return shd_local_sync_folder(sys, temp->dir, err);
}

/* As check_identity(), but what is not there need not be removed. */
static int check_still(shd_local *s, const char *key, const char *identity, sherd_error *err)
{
	sherd_stat stat;
	sherd_error failure = {0};
	int rc = shd_local_stat(&stat, s, key, &failure);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	TRY(shd_pass(err, rc, &failure));
	return strcmp(stat.identity, identity) == 0
	               ? SHERD_OK
	               : shd_fail(err, SHERD_ECONFLICT, "replaced", "the object was replaced");
}

/* Also when nothing is there the folder is synced: somebody else's removal may not have come to its sync yet. */
static int remove_from(shd_local *s, int dir, const char *key, const char *if_identity, sherd_error *err)
{
	const shd_sys *sys = s->sys;
	int locked = lock_folder(sys, dir, err), rc = SHERD_OK;
	TRY(locked);
	if (if_identity && locked == 1)
		rc = shd_fail(err, SHERD_EUNSUPPORTED, "no-lock", "a conditional removal needs a lock on the folder");
	else if (if_identity)
		rc = check_still(s, key, if_identity, err);
	if (rc == SHERD_OK && sys->unlink(sys, dir, shd_str_leaf(key)) < 0 && errno != ENOENT && errno != EISDIR)
		rc = shd_local_fail(err, errno, "cannot remove");
	if (locked == SHERD_OK)
		(void)sys->flock(sys, dir, LOCK_UN);
	TRY(rc);
	return shd_local_sync_folder(sys, dir, err);
}

static int open_folder_of(shd_local *s, const char *key)
{
	const char *leaf = shd_str_leaf(key);
	char folder[SHERD_MAX_KEY + 1];
	(void)snprintf(folder, sizeof(folder), "%.*s", leaf == key ? 0 : (int)(leaf - key - 1), key);
	return shd_local_open(s, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int shd_local_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	shd_local *s = (shd_local *)store;
	int dir = open_folder_of(s, key);
	if (dir < 0)
		return errno == ENOENT || errno == ENOTDIR ? SHERD_OK
		                                           : shd_local_fail(err, errno, "cannot open the folder");
	int rc = remove_from(s, dir, key, if_identity, err);
	(void)s->sys->close(s->sys, dir);
	return rc;
}

int shd_local_rmdir(sherd_store *store, const char *key, sherd_error *err)
{
	shd_local *s = (shd_local *)store;
	int dir = open_folder_of(s, key), rc = SHERD_OK;
	if (dir < 0)
		return errno == ENOENT || errno == ENOTDIR ? SHERD_OK
		                                           : shd_local_fail(err, errno, "cannot open the folder");
	if (s->sys->rmdir(s->sys, dir, shd_str_leaf(key)) == 0)
		rc = shd_local_sync_folder(s->sys, dir, err);
	else if (errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
		rc = shd_local_fail(err, errno, "cannot remove the folder");
	(void)s->sys->close(s->sys, dir);
	return rc;
}

int shd_local_link(sherd_store *store, const char *key, const char *second, sherd_error *err)
{
	shd_local *s = (shd_local *)store;
	int dir = open_folder_of(s, key), rc;
	if (dir < 0)
		return shd_local_fail(err, errno, "cannot open the folder");
	if (s->sys->link(s->sys, dir, shd_str_leaf(key), shd_str_leaf(second)) == 0) {
		rc = shd_local_sync_folder(s->sys, dir, err);
		if (rc < 0)
			(void)s->sys->unlink(s->sys, dir, shd_str_leaf(second));
	} else if (is_refusal(errno))
		rc = shd_fail(err, SHERD_EUNSUPPORTED, "no-link", "this file system gives a file one name");
	else
		rc = shd_local_fail(err, errno, "cannot give it a second name");
	(void)s->sys->close(s->sys, dir);
	return rc;
}
