#include "format/rfdb/path.h"

/* Where the path ends when separators and components "." at its end are left out. They mean nothing, but for a "." that
 * begins a relative path, and the separator that makes a path absolute. */
static size_t trimmed(const char *p, size_t len)
{
	size_t root = len && p[0] == '/';
	while (len > root && (p[len - 1] == '/' || (p[len - 1] == '.' && len > 1 && p[len - 2] == '/')))
		len--;
	return len;
}

shd_str shd_rfdb_path_parent(shd_str path)
{
	size_t root = path.len && path.ptr[0] == '/', len = trimmed(path.ptr, path.len);
	if (len == root)
		return (shd_str){path.ptr, 0};
	const char *slash = memrchr(path.ptr, '/', len);
	return (shd_str){path.ptr, slash ? trimmed(path.ptr, (size_t)(slash + 1 - path.ptr)) : 0};
}
