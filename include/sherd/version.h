/* sherd/version.h - the version of the headers and of the library. */
#ifndef SHERD_VERSION_H
#define SHERD_VERSION_H

#include <sherd/export.h>

SHERD_BEGIN_DECLS

#define SHERD_VERSION_MAJOR 0
#define SHERD_VERSION_MINOR 1
#define SHERD_VERSION_PATCH 0
#define SHERD_VERSION "0.1.0"

/* The version of the library that is running, as text. Before 1.0 the soname
 * carries major and minor, so headers and library agree on both. */
SHERD_API const char *sherd_version(void);

SHERD_END_DECLS

#endif
