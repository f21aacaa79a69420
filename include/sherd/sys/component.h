/* sherd/sys/component.h - a part that is built where its dependency is there: libsherd_<name>.
 *
 * Each has one function sherd_<name>_component(), by which a program that is
 * linked with it learns what it brings. */
#ifndef SHERD_SYS_COMPONENT_H
#define SHERD_SYS_COMPONENT_H

#include <sherd/sys/backend.h>

SHERD_BEGIN_DECLS

typedef struct sherd_component {
	const char *name;
	const char *with;                   /* the library that it wraps, and its version, as text; or NULL */
	const sherd_scheme *const *schemes; /* for sherd_store_options; ends with NULL, or is NULL */
} sherd_component;

SHERD_END_DECLS

#endif
