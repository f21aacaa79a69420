/* sherd/guard.h - files that fail under a map, without a signal that ends the process.
 *
 * A file that is truncated while it is mapped, and a disk that fails under a map,
 * raise SIGBUS where the bytes are touched. While a guard is open the library
 * handles that signal for its own maps: the bytes that cannot be had read as
 * zeros, the map is marked, and the call that used it fails with
 * SHERD_ECORRUPT, "truncated", or SHERD_EIO, the object, and the first byte
 * that was missing. Signals that are not about its maps go to the handler
 * of before.
 *
 * The library installs no handler unasked. Without a guard, what it does by
 * default does not depend on maps, but for graphs: see sherd/graph.h. */
#ifndef SHERD_GUARD_H
#define SHERD_GUARD_H

#include <sherd/error.h>

#include <stdbool.h>
#include <stddef.h>

SHERD_BEGIN_DECLS

/* Guards are counted, for the whole process: the first one installs the handler, the last one that is closed brings
 * back the one before, unless somebody has installed another since. Who does that while a guard is open has to pass on
 * what is not its own. Maps of before are guarded too, and so are those in a child after fork(). May be called from any
 * thread; no thread that reads from maps may have SIGBUS blocked. */
SHERD_API int sherd_guard_open(sherd_error *err);
/* Closes one guard. */
SHERD_API void sherd_guard_close(void);
/* Whether any guard is open. */
SHERD_API bool sherd_guard_held(void);

/* Were these bytes, borrowed from an open object, what the object held when they were read? To be asked after they were
 * used, and before what was made of them is trusted. Costs a load unless something has failed. Says nothing about bytes
 * that come from no map. SHERD_ECORRUPT, "truncated", or SHERD_EIO when they were not. */
SHERD_API int sherd_guard_check(const void *bytes, size_t len, sherd_error *err);

SHERD_END_DECLS

#endif
