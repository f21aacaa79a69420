/* sherd/shelf.h - an example of a component: stores of shelf://. */
#ifndef SHERD_SHELF_H
#define SHERD_SHELF_H

#include <sherd/sys/component.h>

SHERD_BEGIN_DECLS

/* What the component brings. */
SHERD_API const sherd_component *sherd_shelf_component(void);

SHERD_END_DECLS

#endif
