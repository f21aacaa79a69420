#include "store/local/local.h"

#include <fcntl.h>

void shd_local_mode_of(shd_local *s, const char *key, shd_local_mode *out)
{
	struct stat st;
	int fd = shd_local_open(s, key, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	if (s->sys->fstat(s->sys, fd, &st) == 0 && S_ISREG(st.st_mode))
		*out = (shd_local_mode){true, st.st_mode & 0777, st.st_uid, st.st_gid};
	(void)s->sys->close(s->sys, fd);
}

/* A file system without owners or modes, or a user who may not set them. */
static bool is_refusal(int os_errno)
{
	return os_errno == EPERM || os_errno == EACCES || os_errno == EOPNOTSUPP || os_errno == ENOSYS ||
	       os_errno == EINVAL;
}

/* Rights of a group that could not be kept would go to another one: it gets what everybody has. */
static int keep_group(const shd_sys *sys, int fd, const shd_local_mode *want, mode_t *mode, sherd_error *err)
{
	struct stat st;
	if (sys->fstat(sys, fd, &st) < 0)
		return shd_fail_os(err, errno, "cannot stat");
	if (st.st_uid == want->owner && st.st_gid == want->group)
		return SHERD_OK;
	if (sys->chown(sys, fd, want->owner, want->group) == 0)
		return SHERD_OK;
	if (!is_refusal(errno))
		return shd_fail_os(err, errno, "cannot give it its owner");
	if (st.st_gid == want->group || sys->chown(sys, fd, (uid_t)-1, want->group) == 0)
		return SHERD_OK;
	if (!is_refusal(errno))
		return shd_fail_os(err, errno, "cannot give it its group");
	*mode &= ~(mode_t)070 | (*mode & 07) << 3;
	return SHERD_OK;
}

int shd_local_mode_keep(const shd_sys *sys, int fd, const shd_local_mode *mode, sherd_error *err)
{
	mode_t bits = mode->mode;
	if (!mode->known)
		return SHERD_OK;
	TRY(keep_group(sys, fd, mode, &bits, err));
	if (sys->chmod(sys, fd, bits) < 0 && !is_refusal(errno))
		return shd_fail_os(err, errno, "cannot give it its mode");
	return SHERD_OK;
}
