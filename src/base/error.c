#include "base/error.h"

#include <sherd/sys/backend.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void error_fill(sherd_error *err, sherd_status code, const char *reason, uint64_t offset, const char *fmt,
                       va_list ap)
{
	*err = (sherd_error){.code = code, .reason = reason, .offset = offset, .index = SHERD_NO_INDEX};
	(void)vsnprintf(err->message, sizeof(err->message), fmt, ap);
}

int shd_fail(sherd_error *err, sherd_status code, const char *reason, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, fmt);
		error_fill(err, code, reason, SHERD_NO_OFFSET, fmt, ap);
		va_end(ap);
	}
	return code;
}

extern __typeof__(shd_fail) sherd_fail __attribute__((alias("shd_fail")));

int shd_fail_at(sherd_error *err, sherd_status code, const char *reason, uint64_t offset, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, fmt);
		error_fill(err, code, reason, offset, fmt, ap);
		va_end(ap);
	}
	return code;
}

static sherd_status status_of(int os_errno)
{
	switch (os_errno) {
	case ENOENT:
	case ENOTDIR: return SHERD_ENOTFOUND;
	case EEXIST: return SHERD_EEXIST;
	case ENOMEM: return SHERD_ENOMEM;
	default: return SHERD_EIO;
	}
}

static const char *reason_of(int os_errno)
{
	switch (os_errno) {
	case ENOENT:
	case ENOTDIR: return "not-found";
	case EEXIST: return "exists";
	case ENOMEM: return "no-memory";
	case EACCES:
	case EPERM:
	case EROFS: return "permission";
	case ENOSPC:
	case EDQUOT: return "no-space";
	case ELOOP:
	case EXDEV: return "symlink";
	default: return "io";
	}
}

int shd_fail_os(sherd_error *err, int os_errno, const char *fmt, ...)
{
	sherd_status code = status_of(os_errno);
	if (!err)
		return code;
	va_list ap;
	va_start(ap, fmt);
	error_fill(err, code, reason_of(os_errno), SHERD_NO_OFFSET, fmt, ap);
	va_end(ap);
	err->os_errno = os_errno;
	char text[96];
	size_t used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, "%s%s", used ? ": " : "",
	               strerror_r(os_errno, text, sizeof(text)));
	return code;
}

int shd_fail_nomem(sherd_error *err)
{
	return shd_fail(err, SHERD_ENOMEM, "no-memory", "out of memory");
}

int shd_pass(sherd_error *err, int rc, const sherd_error *found)
{
	if (rc < 0 && err)
		*err = *found;
	return rc;
}

int shd_in_object(sherd_error *err, int rc, const char *key)
{
	if (rc >= 0 || !err || err->object[0])
		return rc;
	size_t len = strlen(key), room = sizeof(err->object) - 1;
	if (len <= room)
		memcpy(err->object, key, len + 1);
	else
		(void)snprintf(err->object, sizeof(err->object), "...%s", key + (len - room + 3));
	return rc;
}

int shd_in_store(sherd_error *err, int rc, const struct sherd_store *store)
{
	if (rc >= 0 || !err || err->store)
		return rc;
	while (store && store->around)
		store = store->around;
	err->store = store;
	return rc;
}

int shd_shift_offset(sherd_error *err, int rc, uint64_t base)
{
	if (rc < 0 && err && err->offset != SHERD_NO_OFFSET)
		err->offset += base;
	return rc;
}

int shd_at_index(sherd_error *err, int rc, uint64_t index)
{
	if (rc < 0 && err)
		err->index = index;
	return rc;
}

const char *sherd_status_name(sherd_status code)
{
	switch (code) {
	case SHERD_OK: return "success";
	case SHERD_ENOMEM: return "out of memory";
	case SHERD_EIO: return "input/output failure";
	case SHERD_ENOTFOUND: return "not found";
	case SHERD_EEXIST: return "already exists";
	case SHERD_ECORRUPT: return "corrupt data";
	case SHERD_EVERSION: return "unsupported format version";
	case SHERD_ELIMIT: return "limit exceeded";
	case SHERD_EINVAL: return "invalid argument";
	case SHERD_ECONFLICT: return "conflict";
	case SHERD_EUNSUPPORTED: return "not supported";
	case SHERD_EINCOMPLETE: return "incomplete";
	case SHERD_ECANCELLED: return "cancelled";
	case SHERD_EUNKNOWN: return "outcome unknown";
	}
	return "unknown status";
}
